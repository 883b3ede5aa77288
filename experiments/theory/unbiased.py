"""Are the gradient estimators unbiased?

python -m experiments.theory.unbiased --dim 3 --repeats 20000 \\
    --to results/tables/theory/unbiased.csv
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt

import numpy as np
import pandas as pd
from scipy import stats

from algorithms import framework
from algorithms.shared import settings
from algorithms.shared.interface import Array
from experiments.runs.seeds import stream
from experiments.theory import shared

# The estimators whose mean is measured, and how their noise is drawn.
ESTIMATORS = {
    "theorem_2": "batch",
    "batch": "batch",
    "orthogonal": "orthogonal",
    "antithetic": "antithetic",
    "centred": "batch",
    "centred_by_others": "batch",
    "h": "batch",
}


def table(dim: int, repeats: int, root_seed: int) -> pd.DataFrame:
    """Every component of the estimators' mean against the exact gradient, in standard errors.

    The functions have a closed-form mean under N(μ, Σ), with Σ full. One row per function,
    estimator, parameter and component. "theorem_2" is the plain estimate. "centred" is the one of
    Algorithms 1 and 2 before their division by σ̂: it uses f(x_i) minus the batch mean, and its own
    mean is ``factor`` = (1 − 1/N) times the gradient, so it is biased, although the paper's
    sentence on h says that it is not. "centred_by_others" subtracts from f(x_i) the mean of the
    other samples, which is independent of x_i. "h" is h(f(x_i)) itself, divided by σ̂ too: there
    ``factor`` is the multiple of the gradient of the function that is nearest to the estimate, and
    z is measured from that.
    """
    rng = stream(root_seed, "unbiased")
    mu = rng.standard_normal(dim) / 2
    root = np.eye(dim) + rng.standard_normal((dim, dim)) / 4
    Sigma, inverse = root @ root.T, np.linalg.inv(root).astype(float)
    a = rng.standard_normal(dim) / sqrt(dim)
    rows = []
    for estimator, draw in ESTIMATORS.items():
        n = dim if draw == "orthogonal" else settings.samples(dim)
        noise = stream(root_seed, "unbiased", estimator)
        z = np.array([framework.noise(draw, n, dim, noise) for _ in range(repeats)])
        x = mu + z @ root.T
        for name, (f, exact_mu, exact_Sigma) in closed_forms(mu, Sigma, a).items():
            values = f(x)
            if estimator in ("centred", "centred_by_others", "h"):
                values = values - values.mean(axis=1, keepdims=True)
                if estimator == "h":
                    values /= values.std(axis=1, ddof=1, keepdims=True)
                if estimator == "centred_by_others":  # f_i − Σ_{j≠i} f_j / (N − 1)
                    values *= n / (n - 1)
            elif estimator != "theorem_2":
                values = values - f(mu)
            mean, curvature = estimates(values, z, inverse)
            upper = np.triu_indices(dim)
            for parameter, found, exact in (
                ("mu", mean, exact_mu),
                ("Sigma", curvature[:, upper[0], upper[1]], exact_Sigma[upper]),
            ):
                estimate, error = found.mean(axis=0), found.std(axis=0, ddof=1) / sqrt(repeats)
                nearest = float(estimate @ exact / (exact @ exact))
                factor = {"centred": 1 - 1 / n, "h": nearest}.get(estimator, 1.0)
                wanted = nearest * exact if estimator == "h" else exact
                z_scores = (estimate - wanted) / error
                columns = (estimate, error, exact, z_scores)
                for k, (e, s, t, score) in enumerate(zip(*columns, strict=True)):
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
                            "z": score,
                            "factor": factor,
                        }
                    )
        shared.progress(f"unbiased: {estimator}")
    return pd.DataFrame(rows)


def estimates(values: Array, z: Array, inverse: Array) -> tuple[Array, Array]:
    """Estimates of ∇_μ J̄ (repeats, d) and ∇_Σ J̄ (repeats, d, d), one per batch.

    (1/N) Σ_i f_i B⁻ᵀz_i and ½ (1/N) Σ_i f_i B⁻ᵀ(z_i z_iᵀ − I)B⁻¹

    Args:
        values: f_i, (repeats, N); z: (repeats, N, d); inverse: B⁻¹, where Σ = BBᵀ.

    Source: Theorem 2. Differs: B takes the place of the symmetric root Σ^½.
    """
    n, dim = z.shape[1:]
    mean = np.einsum("kn,kni->ki", values, z) / n @ inverse
    outer = np.einsum("kn,kni,knj->kij", values, z, z) / n
    outer -= values.mean(axis=1)[:, None, None] * np.eye(dim)
    curvature: Array = 0.5 * inverse.T @ outer @ inverse
    return mean, curvature


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


def main(arguments: list[str] | None = None) -> None:
    """Write the table."""
    shared.write("unbiased", __doc__, table, arguments)


if __name__ == "__main__":
    main()
