"""Time per iteration of INGO's update against others, as ratios taken in turn on one core.

    python -m experiments.timing.iteration --dims 10 30 100 300 1000 --to results/iteration

Contenders, all with the paper's N on the Ellipsoid: INGO as in algorithms/ingo.py; the textbook
update (an eigendecomposition and an inverse a step); pycma and the cmaes package, full covariance;
and the floor, what no such method can do without: N·d normal numbers, two products of N×d with d×d
entries (to draw, and to move a covariance by N outer products), and the function values. Up to
d = 30 also a natural gradient whose Fisher matrix is estimated, as the first NES did. Time is the
processor's for this process: others on the machine do not count.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import linalg

import algorithms
import problems
from algorithms.shared import settings
from algorithms.shared.shaping import standardise
from experiments.tables import files
from experiments.timing import commands

Array = NDArray[np.float64]
Values = Callable[[Array], Array]
ROUNDS = 7
FISHER_UP_TO = 30  # the Fisher matrix has (d(d + 3)/2)² entries: 2·10¹¹ of them at d = 1000
DRAWS = 20  # per parameter, for a Fisher matrix; p of them make it regular, with 2p a run diverges
LONGEST = 1000  # iterations of a run: after 10⁴ a small Σ has run out of the range of numbers
SECONDS = 0.25  # of each contender in each round, at least one iteration


def ours(name: str, dim: int, f: Values, rng: np.random.Generator) -> Iterator[None]:
    """An optimiser of this project."""
    optimiser = algorithms.build(name, {})
    state = optimiser.init(rng.random(dim), rng)
    while True:
        samples = optimiser.ask(state, rng)
        state = optimiser.tell(state, samples, f(samples.x))
        yield


def textbook(dim: int, f: Values, rng: np.random.Generator) -> Iterator[None]:
    """Algorithm 1 as printed: symmetric Σ^½ and Σ^-½ by eigendecomposition, Σ by an inverse."""
    n = settings.samples(dim)
    mu, sigma, precision = rng.random(dim), 0.25 * np.eye(dim), 4.0 * np.eye(dim)
    while True:
        values, vectors = np.linalg.eigh(sigma)
        root = (vectors * np.sqrt(values)) @ vectors.T
        root_inverse = (vectors / np.sqrt(values)) @ vectors.T
        z = rng.standard_normal((n, dim))
        h, _ = standardise(f(mu + z @ root))
        v = z @ root_inverse
        w = h / (n * dim)
        precision = precision + v.T @ (w[:, None] * v)
        sigma = np.linalg.inv(precision)
        sigma = (sigma + sigma.T) / 2
        mu = mu - sigma @ (w @ v)
        yield


def cmaes_package(dim: int, f: Values, rng: np.random.Generator) -> Iterator[None]:
    """The cmaes package, one point asked at a time as it wants."""
    from cmaes import CMA

    es = CMA(mean=rng.random(dim), sigma=0.5, population_size=settings.samples(dim), seed=1)
    while True:
        points = [es.ask() for _ in range(es.population_size)]
        es.tell(list(zip(points, f(np.array(points)), strict=True)))
        yield


def floor(dim: int, f: Values, rng: np.random.Generator) -> Iterator[None]:
    """Random numbers, two matrix products and f."""
    n = settings.samples(dim)
    b, mu = rng.standard_normal((dim, dim)), rng.random(dim)
    while True:
        z = rng.standard_normal((n, dim))
        y = z @ b.T
        f(mu + y)
        y.T @ z
        yield


def monte_carlo_fisher(dim: int, f: Values, rng: np.random.Generator) -> Iterator[None]:
    """Natural gradient with a Fisher matrix estimated from M = 20p more draws, at which f is not
    evaluated.

    δ = F̂⁻¹ g, F̂ = (1/M) Σ s sᵀ, g = β Σ_i (h_i/N) s(z_i); μ' = μ − Bδ_μ, Σ' = B exp(−δ_Σ) Bᵀ

    Source: Wierstra et al. (2014), Sections 2 and 3. Differs: they estimate F̂ in coordinates of x,
        from the points that f was evaluated at, which must be p = d(d + 3)/2 or more. The form they
        arrive at, xNES, needs no estimate: the matrix has a closed form in these coordinates.
    """
    n, p = settings.samples(dim), dim * (dim + 3) // 2
    lower = np.tril_indices(dim)
    mu, b = rng.random(dim), 0.5 * np.eye(dim)
    while True:
        z = rng.standard_normal((n, dim))
        h, _ = standardise(f(mu + z @ b.T))
        step = fisher_step(scores(rng.standard_normal((DRAWS * p, dim))), h @ scores(z) / (n * dim))
        mu = mu - b @ step[:dim]
        move = np.empty((dim, dim))
        move[lower] = move.T[lower] = step[dim:]
        b = b @ linalg.expm(-move / 2)
        yield


def scores(z: Array) -> Array:
    """Derivatives (n, p) of log N(μ + Bz; …) by μ in units of B, and by the lower triangle of a
    symmetric M in Σ = B exp(M) Bᵀ at M = 0: z, and tr((zzᵀ − I)M)/2 by each entry.
    """
    i, j = np.tril_indices(z.shape[1])
    return np.hstack([z, (z[:, i] * z[:, j] - (i == j)) * np.where(i == j, 0.5, 1.0)])


def fisher_step(drawn: Array, gradient: Array) -> Array:
    """F̂⁻¹ g with the Fisher matrix of these scores (m, p)."""
    step: Array = linalg.solve(drawn.T @ drawn / len(drawn), gradient, assume_a="pos")
    return step


def contenders(dim: int) -> dict[str, Iterator[None]]:
    """One endless run of each contender; ``next`` does an iteration."""
    f = problems.build("ellipsoid", {"dim": dim}).evaluate
    made: dict[str, Callable[..., Iterator[None]]] = {
        "INGO": partial(ours, "ingo"),
        "floor": floor,
        "textbook": textbook,
        "pycma": partial(ours, "cma_es"),
        "cmaes": cmaes_package,
    }
    if dim <= FISHER_UP_TO:
        made["Monte-Carlo Fisher"] = monte_carlo_fisher
    return {name: endless(partial(make, dim, f)) for name, make in made.items()}


def endless(make: Callable[[np.random.Generator], Iterator[None]]) -> Iterator[None]:
    """Runs of a contender one after the other, each of LONGEST iterations."""
    while True:
        yield from islice(make(np.random.default_rng(0)), LONGEST)


def seconds_per_iteration(run: Iterator[None]) -> float:
    """Mean over as many iterations as fit in SECONDS, and over one at least."""
    began, count, spent = time.process_time(), 0, 0.0
    while spent < SECONDS or not count:
        next(run)
        count += 1
        spent = time.process_time() - began
    return spent / count


def measure(dims: list[int]) -> pd.DataFrame:
    """A row per dimension and contender: microseconds an iteration (median over rounds), and the
    ratio to INGO's in the same round: median, smallest and largest.
    """
    rows = []
    for dim in dims:
        runs = contenders(dim)
        for run in runs.values():
            for _ in range(5):  # imports, first allocations, first decompositions
                next(run)
        times = np.array([[seconds_per_iteration(r) for r in runs.values()] for _ in range(ROUNDS)])
        ratios = times / times[:, :1]
        for name, t, r in zip(runs, times.T, ratios.T, strict=True):
            rows.append((dim, name, 1e6 * np.median(t), np.median(r), r.min(), r.max()))
        print(f"d = {dim}: done", file=sys.stderr, flush=True)
    columns = ["dim", "contender", "microseconds", "ratio", "ratio_min", "ratio_max"]
    return pd.DataFrame(rows, columns=columns)


def growth(table: pd.DataFrame) -> pd.Series:
    """Exponent p of time ∝ d^p per contender of two dimensions or more, by least squares on
    logarithms.
    """
    return pd.Series(
        {
            name: np.polyfit(np.log(cell["dim"]), np.log(cell["microseconds"]), 1)[0]
            for name, cell in table.groupby("contender", sort=False)
            if len(cell) > 1
        }
    )


def markdown(table: pd.DataFrame) -> str:
    """The table for reading."""
    wide = table.pivot(index="dim", columns="contender")
    names = list(dict.fromkeys(table["contender"]))
    lines = ["Time per iteration over INGO's, median of rounds (smallest to largest)", ""]
    lines += ["| d | INGO, µs |" + "".join(f" {name} / INGO |" for name in names[1:])]
    lines += ["|---|---|" + "---|" * (len(names) - 1)]
    for dim, row in wide.iterrows():
        entries = [
            f" {row['ratio', n]:.3g} ({row['ratio_min', n]:.3g} to {row['ratio_max', n]:.3g}) |"
            if np.isfinite(row["ratio", n])
            else " – |"
            for n in names[1:]
        ]
        lines.append(f"| {dim} | {row['microseconds', 'INGO']:.0f} |" + "".join(entries))
    fitted = ", ".join(f"{name} {p:.2f}" for name, p in growth(table).items())
    return "\n".join([*lines, "", f"Growth: time ∝ d^p with p = {fitted}.", ""])


def main(arguments: list[str] | None = None) -> None:
    """Measure and write .csv and .md."""
    args = commands.iteration_parser(__doc__).parse_args(arguments)
    table = measure(args.dims)
    files.write(table, markdown(table), args.to)


if __name__ == "__main__":
    main()
