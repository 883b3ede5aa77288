"""How does the average regret fall with T, and is it below the bounds of Theorems 4 and 5?

python -m experiments.theory.regret results/traces/convex --problems quadratic l1_quadratic \\
    --algorithms single batch orthogonal --runs 10 --to results/tables/theory/regret.csv
"""

from __future__ import annotations

from math import sqrt
from pathlib import Path

import numpy as np
import pandas as pd

from algorithms import build
from algorithms.framework import Framework
from algorithms.shared.interface import Array
from experiments.runs import trace
from experiments.theory import bounds, shared
from experiments.theory.shared import interval, slope
from problems.convex import ConvexProblem


def table(folder: Path, problems: list[str], algorithms: list[str], runs: int) -> pd.DataFrame:
    """Average regret against iterations, mean over runs, with the bounds of Theorems 4 and 5.

    One row per cell and T: the regret with its interval, both bounds, and four values that belong
    to the whole cell: the slope of log regret against log T over the last decade; the slope that
    log T / T itself has there; the largest distance from the minimiser that a mean can have had
    (f ≥ ½‖x − x*‖² in the ball); and the ball's radius.

    Args:
        folder: of the experiment's traces.
        problems: their labels in the experiment.
        algorithms: their labels in the experiment.
        runs: seeds 0, 1, … per cell.

    Raises:
        ValueError: a trace lacks iterations, or its algorithm or problem is not of the theorems.
    """
    return pd.concat(
        [
            cell(folder / problem / label, runs).assign(problem=problem, algorithm=label)
            for problem in problems
            for label in algorithms
        ],
        ignore_index=True,
    )


def cell(folder: Path, runs: int) -> pd.DataFrame:
    """The rows of one cell from its traces."""
    read = [trace.read(folder / f"{seed}.parquet") for seed in range(runs)]
    spec = read[0][1]["spec"]
    problem = shared.convex(spec["problem"], spec["problem_parameters"])
    method = build(spec["algorithm"], spec["algorithm_parameters"])
    if not isinstance(method, Framework):
        raise ValueError(f"{folder.name} is {spec['algorithm']}; the bounds are of the framework")
    iterations = [rows["iteration"].to_numpy() for rows, _ in read]
    every = np.arange(1, len(iterations[0]) + 1)
    if not all(np.array_equal(own, every) for own in iterations):
        raise ValueError(f"{folder}: not a row every iteration in every run")
    f = np.array([rows["f_mean"].to_numpy() for rows, _ in read]) - problem.minimum
    return summary(f, method, problem)


def summary(f: Array, method: Framework, problem: ConvexProblem) -> pd.DataFrame:
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
            "slope_of_rate": rate_slope(decade.astype(float)),
            "reach": sqrt(2 * f.max()),
            "radius": problem.radius,
        }
    )


def rate_slope(T: Array) -> float:
    """The slope of log T / T, fitted as that of the regret; NaN where T = 1 is among these."""
    return slope(T, np.log(T) / T) if T[0] > 1 else np.nan


def main(arguments: list[str] | None = None) -> None:
    """Write the table."""
    shared.write("regret", __doc__, table, arguments)


if __name__ == "__main__":
    main()
