"""The theorems against what happens: one small table a question (theory.md beside this tells more).

    python -m experiments.theory growth --dims 4 16 64 --iterations 2048 --runs 4 \\
        --to results/tables/theory/growth.csv

Bounds are those of experiments/bounds.py, with constants that the problems state; nothing here is
fitted but the slopes that are called slopes.
"""

from __future__ import annotations

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import argparse
import sys
from collections.abc import Callable
from dataclasses import Field, fields
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import optimize, stats

import algorithms
import problems
from algorithms import framework, settings
from algorithms.framework import Framework
from algorithms.gaussian import DiagonalGaussian
from algorithms.interface import Array
from algorithms.loop import iterate, quiet
from experiments import bounds, command, trace
from experiments.seeds import stream
from problems.convex import ConvexProblem

LEVEL = 0.95  # of every interval


# ---- the tables ----------------------------------------------------------------------------------


def regret(
    folder: Path, problem_labels: list[str], algorithm_labels: list[str], runs: int
) -> pd.DataFrame:
    """Average regret against iterations, mean over runs, with the bounds of Theorems 4 and 5.

    A row a cell and T: the regret with its interval, both bounds, and what belongs to the cell:
    the slope of log regret against log T over the last decade, and the largest distance from the
    minimiser that a mean can have had (f ≥ ½‖x − x*‖² in the ball), beside the ball's radius.
    """
    tables = []
    for problem_label in problem_labels:
        for label in algorithm_labels:
            paths = [folder / problem_label / label / f"{seed}.parquet" for seed in range(runs)]
            read = [trace.read(path) for path in paths]
            spec = read[0][1]["spec"]
            problem = convex(spec["problem"], spec["problem_parameters"])
            method = algorithms.build(spec["algorithm"], spec["algorithm_parameters"])
            if not isinstance(method, Framework):
                raise ValueError(f"{label} is {spec['algorithm']}; the bounds are of the framework")
            iterations = [table["iteration"].to_numpy() for table, _ in read]
            every = np.arange(1, len(iterations[0]) + 1)
            if not all(np.array_equal(own, every) for own in iterations):
                raise ValueError(
                    f"{folder}/{problem_label}/{label}: not a row every iteration in every run"
                )
            f = np.array([table["f_mean"].to_numpy() for table, _ in read]) - problem.minimum
            tables.append(
                _regret_cell(f, method, problem).assign(problem=problem_label, algorithm=label)
            )
    return pd.concat(tables, ignore_index=True)


def _regret_cell(f: Array, method: Framework, problem: ConvexProblem) -> pd.DataFrame:
    """The rows of one cell from f(μ_t) − f(μ*), (runs, T)."""
    average = np.cumsum(f, axis=1) / np.arange(1, f.shape[1] + 1)
    ends = np.unique(np.geomspace(1, f.shape[1], 33).round().astype(int))
    decade = ends[ends >= f.shape[1] / 10]
    slopes = [slope(decade, run[decade - 1]) for run in average]
    T = ends.astype(float)
    fourth, fifth = bounds.bounds(method, problem, T)
    return pd.DataFrame(
        {
            "title": problem.title,
            "dim": problem.dim,
            "samples": method.size(problem.dim),
            "iterations": ends,
            "runs": len(f),
            **interval(average[:, ends - 1], "regret"),
            "theorem_4": fourth,
            "theorem_5": fifth,
            **interval(np.array(slopes), "slope"),
            "reach": sqrt(2 * f.max()),
            "radius": problem.radius,
        }
    )


def growth(
    names: list[str], dims: list[int], iterations: int, runs: int, root_seed: int
) -> pd.DataFrame:
    """Average regret after T iterations against d, for one sample and for N = d of two kinds.

    b = γ/2, β = 10 and Σ₁ = I/(10d) ⪯ I/d (the ρ of the orthogonal form) at every d: the first
    steps are as long as with β = 1 and Σ₁ = I/d, and the noise that f's curvature adds to them is
    not, which at d = 256 threw the means of one sample a step out of the ball. The bound is Theorem
    5's (single), its orthogonal form, or Theorem 4's with 𝓑 from L (batch). A row a problem,
    estimator and d, with the largest distance of a mean from the minimiser; ``slope`` belongs to
    all d of a problem and estimator: the power of d, fitted run by run, and ``bound_slope`` is that
    of the bound.
    """
    beta = 10.0
    T = np.array([float(iterations)])
    tables = []
    for name in names:
        for estimator in ("single", "batch", "orthogonal"):
            regrets, limits, reach = np.empty((runs, len(dims))), [], np.zeros(len(dims))
            for column, dim in enumerate(dims):
                problem = convex(name, {"dim": dim})
                samples = 1 if estimator == "single" else dim
                std = (beta * dim) ** -0.5
                method = Framework(estimator, samples=samples, step_size=beta, initial_std=std)
                fourth, fifth = bounds.bounds(method, problem, T)
                limits.append(fourth[0] if estimator == "batch" else fifth[0])
                for seed in range(runs):
                    rng = stream(root_seed, "growth", name, estimator, dim, seed)
                    budget = iterations * (method.size(dim) + 1)
                    f = []
                    with quiet():
                        start = problem.start(rng)
                        for batch in iterate(method, problem.evaluate, start, rng, budget):
                            f.append(batch.values[0])
                            u = batch.x[0] - problem.minimiser
                            reach[column] = max(reach[column], sqrt(u @ u))
                    regrets[seed, column] = np.mean(f)
                _say(f"growth: {name}, {estimator}, d = {dim}")
            slopes = np.array([slope(dims, run) for run in regrets])
            tables.append(
                pd.DataFrame(
                    {
                        "problem": name,
                        "title": problem.title,
                        "estimator": estimator,
                        "dim": dims,
                        "iterations": iterations,
                        "runs": runs,
                        **interval(regrets, "regret"),
                        "bound": limits,
                        **interval(slopes, "slope"),
                        "bound_slope": slope(dims, limits),
                        "reach": reach,
                        "radius": problem.radius,
                    }
                )
            )
    return pd.concat(tables, ignore_index=True)


def variance(names: list[str], dim: int, repeats: int, root_seed: int) -> pd.DataFrame:
    """E‖ĝ‖² and the total variance E‖ĝ − Eĝ‖² against N, with the lemma's bound L²(d+4)²/N.

    On each problem at distance 1 from the minimiser, with Σ = I/d ("start") and with 1e-4 I/d, at
    which f is all but linear ("narrow"), and with Σ = I/d at the minimiser itself ("minimiser").
    """
    sizes = [2**k for k in range(20) if 2**k <= dim]
    rows = []
    for name in names:
        problem = convex(name, {"dim": dim})
        start = problem.start(stream(root_seed, "variance", name))
        minimiser = problem.minimiser
        for place, mean, scale in (
            ("start", start, 1),
            ("narrow", start, 0.01),
            ("minimiser", minimiser, 1),
        ):
            state = DiagonalGaussian.isotropic(mean, scale * dim**-0.5)
            for estimator in ("batch", "orthogonal"):
                for n in sizes:
                    method = Framework(estimator if n > 1 else "single", samples=n)
                    rng = stream(root_seed, "variance", name, place, estimator, n)
                    g = np.array([gradient(method, state, problem, rng) for _ in range(repeats)])
                    squares = (g * g).sum(axis=1)
                    spread = ((g - g.mean(axis=0)) ** 2).sum(axis=1) * repeats / (repeats - 1)
                    rows.append(
                        {
                            "problem": name,
                            "title": problem.title,
                            "place": place,
                            "estimator": estimator,
                            "dim": dim,
                            "samples": n,
                            **interval(squares, "second_moment"),
                            **interval(spread, "variance"),
                            "bound": problem.lipschitz**2 * (dim + 4) ** 2 / n,
                        }
                    )
        _say(f"variance: {name}")
    return pd.DataFrame(rows)


def gradient(
    method: Framework, state: DiagonalGaussian, problem: ConvexProblem, rng: np.random.Generator
) -> Array:
    """One ĝ (d,) of the framework at ``state``."""
    samples = method.ask(state, rng)
    estimate: Array = framework.weights(problem.evaluate(samples.x)) @ samples.z / state.std
    return estimate


def unbiased(dim: int, repeats: int, root_seed: int) -> pd.DataFrame:
    """Every component of the estimators' mean against the exact gradient, in standard errors.

    The functions have a closed-form mean under N(μ, Σ), with Σ full. A row a function, estimator,
    parameter and component. "theorem_2" is the plain estimate, "centred" the one of Algorithms 1
    and 2 before their division by σ̂, f(x_i) less the batch's mean: its mean is (1 − 1/N) times
    the gradient, ``factor``, so that it is not unbiased, as the sentence on h says.
    """
    rng = stream(root_seed, "unbiased")
    mu = rng.standard_normal(dim) / 2
    root = np.eye(dim) + rng.standard_normal((dim, dim)) / 4
    Sigma, inverse = root @ root.T, np.linalg.inv(root)
    a = rng.standard_normal(dim) / sqrt(dim)
    rows = []
    for estimator, draw in UNBIASED.items():
        n = dim if draw == "orthogonal" else settings.samples(dim)
        noise = stream(root_seed, "unbiased", estimator)
        z = np.array([framework.noise(draw, n, dim, noise) for _ in range(repeats)])
        x = mu + z @ root.T
        for name, make in closed_forms(mu, Sigma, a).items():
            f, exact_mu, exact_Sigma = make
            values = f(x)
            if estimator == "centred":
                values = values - values.mean(axis=1, keepdims=True)
            elif estimator != "theorem_2":
                values = values - f(mu)
            mean = np.einsum("kn,kni->ki", values, z) / n @ inverse
            outer = np.einsum("kn,kni,knj->kij", values, z, z) / n
            outer -= values.mean(axis=1)[:, None, None] * np.eye(dim)
            curvature = 0.5 * inverse.T @ outer @ inverse
            upper = np.triu_indices(dim)
            for parameter, estimates, exact in (
                ("mu", mean, exact_mu),
                ("Sigma", curvature[:, upper[0], upper[1]], exact_Sigma[upper]),
            ):
                error = estimates.std(axis=0, ddof=1) / sqrt(repeats)
                for k, (e, s, t) in enumerate(
                    zip(estimates.mean(axis=0), error, exact, strict=True)
                ):
                    rows.append(
                        {
                            "function": name,
                            "estimator": estimator,
                            "parameter": parameter,
                            "component": k,
                            "samples": n,
                            "repeats": repeats,
                            "exact": t,
                            "estimate": e,
                            "standard_error": s,
                            "z": (e - t) / s,
                            "factor": 1 - 1 / n if estimator == "centred" else 1.0,
                        }
                    )
        _say(f"unbiased: {estimator}")
    return pd.DataFrame(rows)


# The estimators whose mean is measured, and how their noise is drawn.
UNBIASED = {
    "theorem_2": "batch",
    "batch": "batch",
    "orthogonal": "orthogonal",
    "antithetic": "antithetic",
    "centred": "batch",
}

ClosedForm = tuple[Callable[[Array], Array], Array, Array]


def closed_forms(mu: Array, Sigma: Array, a: Array) -> dict[str, ClosedForm]:
    """Functions of (…, d) points, each with ∇_μ J̄ (d,) and ∇_Σ J̄ (d, d) under N(μ, Σ)."""
    scales = np.arange(1.0, mu.size + 1)
    slope_at, width = a @ mu, a @ Sigma @ a
    std = np.sqrt(np.diag(Sigma))
    grown, damped = np.exp(slope_at + width / 2), np.exp(-width / 2)
    aa = np.outer(a, a)
    return {
        "quadratic": (
            lambda x: 0.5 * (x * x) @ scales + x @ a,
            scales * mu + a,
            np.diag(scales) / 2,
        ),
        "exponential": (lambda x: np.exp(x @ a), a * grown, aa * grown / 2),
        "cosine": (
            lambda x: np.cos(x @ a),
            -a * np.sin(slope_at) * damped,
            -aa * np.cos(slope_at) * damped / 2,
        ),
        "absolute": (
            lambda x: np.abs(x).sum(axis=-1),
            2 * stats.norm.cdf(mu / std) - 1,
            np.diag(stats.norm.pdf(mu / std) / std),
        ),
    }


def trust_region(instances: int, root_seed: int) -> pd.DataFrame:
    """The closed forms against scipy's numerical solution of the trust-region problems, in 2-D.

    ⟨θ, v⟩ + KL(p_θ ‖ p_{θ_t})/β over μ and the Cholesky factor of Σ (its diagonal as logarithms).
    A row an instance and problem: "theorem_3" is in θ = (μ, Σ), "framework" in the mean parameters
    (Eq. EstimatorOP). ``error`` is the largest difference of any entry, as a part of the largest
    entry or of 1; ``gap`` is what the closed form's objective has above the solver's, negative
    where it is the better one.
    """
    rng = stream(root_seed, "trust_region")
    rows = []
    for k in range(instances):
        root = np.eye(2) + rng.standard_normal((2, 2)) / 2
        mu, g = rng.standard_normal(2), rng.standard_normal(2)
        Sigma, beta = root @ root.T, float(np.exp(rng.uniform(-2, 0)))
        inverse = np.linalg.inv(Sigma).astype(float)
        H = rng.standard_normal((2, 2))
        # any symmetric G that leaves Σ'⁻¹ positive definite; without that there is no minimum
        G = framework.project(H, -0.9 * float(np.linalg.eigvalsh(inverse)[0]) / (2 * beta), 2.0)
        for name, moved in (("theorem_3", "old"), ("framework", "new")):
            objective = _trust_objective(mu, Sigma, g, G, beta, moved)
            start = _pack(mu, Sigma)
            found = optimize.minimize(objective, start, jac="3-point", options={"gtol": 1e-9})
            x_mu, x_Sigma = _unpack(found.x)
            c_mu, c_Sigma = bounds.closed_form(inverse, mu, g, G, beta, moved)
            size = max(1.0, np.abs(c_mu).max(), np.abs(c_Sigma).max())
            error = np.max([np.abs(x_mu - c_mu).max(), np.abs(x_Sigma - c_Sigma).max()]) / size
            rows.append(
                {
                    "problem": name,
                    "instance": k,
                    "beta": beta,
                    "moved": np.abs(c_mu - mu).max(),
                    "error": error,
                    "gap": objective(_pack(c_mu, c_Sigma)) - found.fun,
                }
            )
    return pd.DataFrame(rows)


def _trust_objective(
    mu_t: Array, Sigma_t: Array, g: Array, G: Array, beta: float, moved: str
) -> Callable[[Array], float]:
    inverse = np.linalg.inv(Sigma_t)

    def objective(packed: Array) -> float:
        mu, Sigma = _unpack(packed)
        u = mu - mu_t
        kl = u @ inverse @ u + np.trace(inverse @ Sigma) - 2
        kl += np.log(np.linalg.det(Sigma_t) / np.linalg.det(Sigma))
        linear = mu @ g + np.sum(G * Sigma)
        if moved == "new":  # v = (g − 2Gμ_t, G) against m = (μ, Σ + μμᵀ)
            linear += mu @ G @ mu - 2 * mu @ G @ mu_t
        return float(linear + kl / (2 * beta))

    return objective


def _pack(mu: Array, Sigma: Array) -> Array:
    c = np.linalg.cholesky(Sigma)
    return np.array([*mu, np.log(c[0, 0]), c[1, 0], np.log(c[1, 1])])


def _unpack(packed: Array) -> tuple[Array, Array]:
    c = np.array([[np.exp(packed[2]), 0.0], [packed[3], np.exp(packed[4])]])
    return packed[:2], c @ c.T


def gap(dim: int, repeats: int, conditions: list[float], root_seed: int) -> pd.DataFrame:
    """E‖Σ_{t+1}‖‖ĝ‖² against L²‖Σ_t‖(d + 4)², the lemma behind Theorem 5, as Σ_t gets thin.

    f is linear with slope L = 1 along the longest axis of Σ_t, all other axes are √κ times shorter,
    ‖Σ_t‖ = 1/d and Ĝ = bI with β = 1, b = ½. ``exact`` is the closed form of the left side,
    ‖Σ_{t+1}‖(3 + (d − 1)κ), and ``repaired`` the bound with the condition number of Σ_t in it.
    """
    method = Framework("single")
    rows = []
    for condition in conditions:
        variances = np.full(dim, 1 / (dim * condition))
        variances[0] = 1 / dim
        state = DiagonalGaussian(np.zeros(dim), np.sqrt(variances))
        rng = stream(root_seed, "gap", f"{condition:g}")
        norms = np.empty(repeats)
        for k in range(repeats):
            samples = method.ask(state, rng)
            values = samples.y[:, 0]  # f(x) − f(μ)
            g = framework.weights(values) @ samples.z / state.std
            told = method.tell(state, samples, values)
            assert isinstance(told, DiagonalGaussian)
            norms[k] = told.std.max() ** 2 * (g @ g)
        next_norm = 1 / (dim + 2 * method.b)
        bound = (dim + 4) ** 2 / dim
        rows.append(
            {
                "condition": condition,
                "dim": dim,
                **interval(norms, "measured"),
                "exact": next_norm * (3 + (dim - 1) * condition),
                "bound": bound,
                "repaired": condition * bound,
            }
        )
    return pd.DataFrame(rows)


def hyper_parameters() -> pd.DataFrame:
    """Hyper-parameters of the optimisers, read from their code: a row a method and parameter.

    ``kind`` is "set" for what a user sets, "rule" for a constant of the update that a formula
    gives, "strategy" for what pycma lets a user change of its update, "option" for its other
    options. INGO and its kin are read from their dataclasses; CMA-ES as the textbook has it from
    purecma's class of constants, and as pycma has it from its table of options.
    """

    def kind(field: Field[Any]) -> str:
        """A step size like "1/d" is a formula. N has one too, and is set, as popsize is."""
        return "rule" if field.name == "step_size" and isinstance(field.default, str) else "set"

    rows = [
        {"method": name, "parameter": field.name, "kind": kind(field)}
        for name in ("ingo", "ingo_step", "fast_ingo", "igo", "es")
        for field in fields(algorithms.load(name))  # type: ignore[arg-type]
    ]
    from cma import CMAOptions, purecma

    own = vars(purecma.CMAESParameters(10, 10))
    user = ("popsize", "sigma0")  # λ and σ₀
    # λ again, what follows from μ and the weights, and what only saves time
    derived = ("dimension", "lam", "chiN", "mueff", "lazy_gap_evals")
    rules = [name for name in own if name not in derived]
    rows += [{"method": "cma_es", "parameter": name, "kind": "set"} for name in user]
    rows += [{"method": "cma_es", "parameter": name, "kind": "rule"} for name in rules]
    options = [name for name in CMAOptions.defaults() if name != "popsize"]
    strategy = [name for name in options if name.startswith("CMA_")]
    rows += [{"method": "pycma", "parameter": name, "kind": "set"} for name in user]
    rows += [{"method": "pycma", "parameter": name, "kind": "strategy"} for name in strategy]
    others = [name for name in options if name not in strategy]
    rows += [{"method": "pycma", "parameter": name, "kind": "option"} for name in others]
    return pd.DataFrame(rows)


# ---- small tools ---------------------------------------------------------------------------------


def convex(name: str, parameters: dict[str, Any]) -> ConvexProblem:
    """A problem that states the theorems' constants.

    Raises:
        ValueError: the problem states none.
    """
    problem = problems.build(name, parameters)
    if not isinstance(problem, ConvexProblem):
        raise ValueError(f"{name} states no constants; allowed: the problems of problems/convex.py")
    return problem


def slope(x: Any, y: Any) -> float:
    """The slope of log y against log x, by least squares."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def interval(values: Array, name: str) -> dict[str, Any]:
    """Mean over the first axis with its t interval, as columns name, name_low and name_high."""
    n, mean = len(values), values.mean(axis=0)
    if n == 1:
        return {name: mean, f"{name}_low": np.nan, f"{name}_high": np.nan}
    half = stats.t.ppf((1 + LEVEL) / 2, n - 1) * values.std(axis=0, ddof=1) / sqrt(n)
    return {name: mean, f"{name}_low": mean - half, f"{name}_high": mean + half}


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def parser() -> argparse.ArgumentParser:
    """The command line: a table and its sizes."""
    made = command.parser("experiments.theory", __doc__)
    tables = made.add_subparsers(dest="table", required=True)
    options: dict[str, dict[str, Any]] = {
        "folder": {"type": Path},
        "--problems": {"nargs": "+", "required": True},
        "--algorithms": {"nargs": "+", "required": True},
        "--runs": {"type": int, "required": True},
        "--dims": {"type": int, "nargs": "+", "required": True},
        "--dim": {"type": int, "required": True},
        "--iterations": {"type": int, "required": True},
        "--repeats": {"type": int, "required": True},
        "--instances": {"type": int, "required": True},
        "--conditions": {"type": float, "nargs": "+", "required": True},
        "--root-seed": {"type": int, "default": 0},
    }
    for table, names in TABLES.items():
        one = tables.add_parser(table, help=(globals()[table].__doc__ or "").splitlines()[0])
        for name in names:
            one.add_argument(name, **options[name])
        one.add_argument("--to", type=Path, required=True, help="the table, .csv")
    return made


# The tables, and what each needs to know, in the order of its function's arguments.
TABLES = {
    "regret": ("folder", "--problems", "--algorithms", "--runs"),
    "growth": ("--problems", "--dims", "--iterations", "--runs", "--root-seed"),
    "variance": ("--problems", "--dim", "--repeats", "--root-seed"),
    "unbiased": ("--dim", "--repeats", "--root-seed"),
    "trust_region": ("--instances", "--root-seed"),
    "gap": ("--dim", "--repeats", "--conditions", "--root-seed"),
    "hyper_parameters": (),
}


def main(arguments: list[str] | None = None) -> None:
    """Write one table."""
    args = vars(parser().parse_args(arguments))
    names = [name.strip("-").replace("-", "_") for name in TABLES[args["table"]]]
    try:
        table: pd.DataFrame = globals()[args["table"]](*(args[name] for name in names))
    except ValueError as error:
        sys.exit(f"error: {error}")
    args["to"].parent.mkdir(parents=True, exist_ok=True)
    table.to_csv(args["to"], index=False)


if __name__ == "__main__":
    main()
