"""How does the size of a step depend on the standard deviation σ of the search distribution?

python -m experiments.theory.update_size --dim 10 --stds 1 0.3 0.1 0.03 0.01 \\
    --to results/tables/theory/update_size.csv
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from algorithms.fast_ingo import FastINGO
from algorithms.igo import IGO
from algorithms.ingo import INGO
from algorithms.ingo_step import INGOStep
from algorithms.reinforce_gd import ReinforceGD
from algorithms.shared import settings
from algorithms.shared.gaussian import DiagonalGaussian, Gaussian
from algorithms.shared.interface import Array, Samples
from experiments.runs.seeds import stream
from experiments.theory import shared

Optimiser = INGO | INGOStep | FastINGO | IGO | ReinforceGD
OPTIMISERS: dict[str, Optimiser] = {
    "ingo": INGO(),
    "ingo_step": INGOStep(),
    "fast_ingo": FastINGO(),
    "igo": IGO(),
    # its step is in proportion to the step size; at 1e-6, the paper's smallest, a variance would
    # turn negative at σ = 0.01
    "reinforce_gd": ReinforceGD(step_size=1e-10),
}


def table(dim: int, stds: list[float], root_seed: int) -> pd.DataFrame:
    """Steps ‖Δμ‖/σ and ‖ΔΣ‖/‖Σ‖ (Frobenius) from N(μ, σ²I), made by the same noise at each σ.

    One row per function, algorithm and σ. The functions are a linear one that is 0 at μ ("linear")
    or 1 there ("linear_at_1"), and the quadratic whose minimiser is μ ("quadratic").
    ``mean_power`` and ``variance_power``, the powers of σ fitted to the steps, belong to all σ of a
    function and algorithm; rounding decides their digits beyond the sixth.

    Raises:
        ValueError: a step ended the run, so that it has no size.
    """
    z = stream(root_seed, "update_size").standard_normal((settings.samples(dim), dim))
    slope_at = np.arange(1.0, dim + 1) / dim
    functions: dict[str, Callable[[Array], Array]] = {
        "linear": lambda y: y @ slope_at,
        "linear_at_1": lambda y: 1 + y @ slope_at,
        "quadratic": lambda y: 0.5 * (y * y).sum(axis=1),
    }
    tables = []
    for function, f in functions.items():
        for name, optimiser in OPTIMISERS.items():
            steps = np.array([step(optimiser, std, z, f) for std in stds])
            tables.append(
                pd.DataFrame(
                    {
                        "function": function,
                        "algorithm": name,
                        "step_size": optimiser.step_size,
                        "dim": dim,
                        "std": stds,
                        "mean_step_over_std": steps[:, 0],
                        "variance_step_over_variance": steps[:, 1],
                        "mean_power": round(shared.slope(stds, steps[:, 0]), 6) + 0.0,
                        "variance_power": round(shared.slope(stds, steps[:, 1]), 6) + 0.0,
                    }
                )
            )
    return pd.concat(tables, ignore_index=True)


def step(
    optimiser: Optimiser, std: float, z: Array, f: Callable[[Array], Array]
) -> tuple[float, float]:
    """‖Δμ‖/σ and ‖ΔΣ‖/‖Σ‖ of one step from N(0, σ²I) by the noise z (N, d); f is of x − μ."""
    wide = replace(optimiser, initial_std=std)
    # at the mean 0 the new mean is the step, with all its digits
    before: Any = wide.init(np.zeros(z.shape[1]), np.random.default_rng(0))
    y = std * z
    after: Any = wide.tell(before, Samples(y, z, y), f(y))
    if after.ended:
        raise ValueError(
            f"{type(optimiser).__name__} ended at a standard deviation of {std:g}: {after.ended}"
        )
    first = covariance(before)
    moved = np.linalg.norm(covariance(after) - first) / np.linalg.norm(first)
    return float(np.linalg.norm(after.mean) / std), float(moved)


def covariance(state: Gaussian | DiagonalGaussian) -> Array:
    """Σ (d, d)."""
    if isinstance(state, DiagonalGaussian):
        return np.diag(state.std**2)
    sigma: Array = state.factor @ state.factor.T
    return sigma


def main(arguments: list[str] | None = None) -> None:
    """Write the table."""
    shared.write("update_size", __doc__, table, arguments)


if __name__ == "__main__":
    main()
