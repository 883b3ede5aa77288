"""How does the average regret after T iterations grow with the dimension?

python -m experiments.theory.growth --problems quadratic --dims 4 16 64 --iterations 2048 \\
    --runs 4 --to results/tables/theory/growth.csv
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from algorithms.framework import Framework
from experiments.runs.seeds import stream
from experiments.theory import bounds, shared
from experiments.theory.runs import average_regret
from experiments.theory.shared import interval, slope

STEP_SIZE = 10.0  # β
ESTIMATORS = ("single", "batch", "orthogonal")


def table(
    problems: list[str], dims: list[int], iterations: int, runs: int, root_seed: int
) -> pd.DataFrame:
    """Average regret after T iterations against d, for one sample and for N = d of two kinds.

    b = γ/2, β = 10 and Σ₁ = I/(10d) ⪯ I/d (the ρ of the orthogonal form) at every d. The first
    steps are as long as with β = 1 and Σ₁ = I/d, but the curvature of f adds less noise to them:
    with β = 1 it moved the means of one sample per step out of the ball at d = 256. The bound is
    Theorem 5's (single), its orthogonal form, or Theorem 4's with 𝓑 from L (batch).

    One row per problem, estimator and d, with the largest distance of a mean from the minimiser.
    ``slope``, the power of d fitted to each run, belongs to all d of a problem and estimator;
    ``bound_slope`` is the power of d of the bound.
    """
    tables = []
    for name in problems:
        for estimator in ESTIMATORS:
            regrets, limits, reach = np.empty((runs, len(dims))), [], np.zeros(len(dims))
            for column, dim in enumerate(dims):
                problem = shared.convex(name, {"dim": dim})
                samples = 1 if estimator == "single" else dim
                std = (STEP_SIZE * dim) ** -0.5
                method = Framework(estimator, samples=samples, step_size=STEP_SIZE, initial_std=std)
                fourth, fifth = bounds.bounds(method, problem, np.array([float(iterations)]))
                limits.append(fourth[0] if estimator == "batch" else fifth[0])
                for seed in range(runs):
                    rng = stream(root_seed, "growth", name, estimator, dim, seed)
                    start = problem.start(rng)
                    regrets[seed, column], far = average_regret(
                        method, problem, start, iterations, rng
                    )
                    reach[column] = max(reach[column], far)
                shared.progress(f"growth: {name}, {estimator}, d = {dim}")
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


def main(arguments: list[str] | None = None) -> None:
    """Write the table."""
    shared.write("growth", __doc__, table, arguments)


if __name__ == "__main__":
    main()
