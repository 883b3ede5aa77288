"""What a claim is measured by: functions of the tables that give a value with its 95 % interval.

The arguments after ``tables`` are those of a part in claims.yaml.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from experiments.runs.record import TARGETS
from experiments.tables.estimates import Array, Estimate, newcombe, resampled, wilson
from experiments.tables.reader import Missing, Tables, evaluations_to


def success_rate(
    tables: Tables, experiment: str, problem: str, algorithm: str, target: float = 1e-10
) -> Estimate:
    """Share of runs that reached the target."""
    reached = np.isfinite(evaluations_to(tables.runs(experiment, problem, algorithm), target))
    return wilson(int(reached.sum()), len(reached))


def wins(
    tables: Tables,
    experiment: str,
    problem: str,
    algorithm: str,
    than: str,
    column: str = "best",
    within: float | None = None,
) -> Estimate:
    """Share of seeds on which ``algorithm`` ends with a smaller value of a column than ``than``.

    Of two runs that both reached 1e-10 the one that took fewer evaluations to it wins. If the runs
    are cut ``within`` so many evaluations, the best value is known by the TARGETS that it has
    reached: the one with more of them wins, and of equal ones the one that was there first.

    Raises:
        Missing: they have no seed in common.
        ValueError: ``within`` goes with the best value only.
    """
    if within is not None and column != "best":
        raise ValueError(f"column is {column!r}, of which a trace has no value at {within:g}")
    a = tables.runs(experiment, problem, algorithm).set_index("seed")
    b = tables.runs(experiment, problem, than).set_index("seed")
    both = a.index.intersection(b.index)
    if both.empty:
        raise Missing(f"no seed of both {algorithm} and {than} on {problem} in {experiment}")
    a, b = a.loc[both], b.loc[both]
    if within is not None:
        pairs = zip(a["hits"], b["hits"], strict=True)
        return wilson(sum(_got(x, within) > _got(y, within) for x, y in pairs), len(both))
    time_a, time_b = evaluations_to(a, 1e-10), evaluations_to(b, 1e-10)
    done = np.isfinite(time_a) & np.isfinite(time_b)
    better = np.where(done, time_a < time_b, a[column] < b[column])
    return wilson(int(better.sum()), len(better))


def _got(hits: Any, within: float) -> tuple[int, float]:
    """How many targets a run reached within so many evaluations, and how early the last of them;
    the larger pair is the better run.
    """
    times = [float(t) for t in hits if t <= within]
    return len(times), -times[-1] if times else 0.0


def final_ratio(
    tables: Tables, experiment: str, problem: str, algorithm: str, than: str, column: str
) -> Estimate:
    """Ratio of the medians over runs of a column's last value."""
    a, b = (
        tables.runs(experiment, problem, name)[column].to_numpy(dtype=float)
        for name in (algorithm, than)
    )
    return resampled(_ratio_of_medians, a, b)


def linearity(tables: Tables, experiment: str, problem: str, algorithm: str) -> Estimate:
    """Median over runs of R² of log10(target) against the evaluations to it, from 1 to 1e-10.

    A run that did not reach the last of them has R² = 0: it may have stalled on a straight way.
    """
    first = TARGETS.index(1.0)

    def r2(hits: Any) -> float:
        x = np.asarray(hits[first:], dtype=float)
        if len(x) < len(TARGETS) - first:
            return 0.0
        return float(np.corrcoef(x, np.log10(TARGETS[first:]))[0, 1] ** 2)

    runs = tables.runs(experiment, problem, algorithm)
    return resampled(_median, np.array([r2(h) for h in runs["hits"]]))


def slowdown(
    tables: Tables, experiment: str, problem: str, algorithm: str, than: str, target: float = 1e-10
) -> Estimate:
    """Ratio of the median evaluations to the target."""
    a, b = (
        evaluations_to(tables.runs(experiment, problem, name), target) for name in (algorithm, than)
    )
    return resampled(_ratio_of_medians, a, b)


def rotation(tables: Tables, experiment: str, plain: str, problem: str, algorithm: str) -> Estimate:
    """Ratio of the median evaluations to 1e-10, rotated problem over plain one."""
    a, b = (evaluations_to(tables.runs(e, problem, algorithm), 1e-10) for e in (experiment, plain))
    return resampled(_ratio_of_medians, a, b)


def diverged(
    tables: Tables,
    experiment: str,
    problem: str,
    algorithm: str,
    column: str = "batch_min",
    first: str = "batch_mean",
) -> Estimate:
    """Share of runs that ended as diverged or with a variance that is not positive, or with a last
    value of ``column`` above the first one of ``first``.
    """
    runs = tables.runs(experiment, problem, algorithm)
    lost = runs["stop"].isin(["diverged", "not_positive_definite"])
    lost |= ~(runs[column] <= runs[f"first_{first}"])
    return wilson(int(lost.sum()), len(lost))


def reached(
    tables: Tables, experiment: str, algorithm: str, than: str, within: float = np.inf
) -> Estimate:
    """Ratio of the shares of targets 1e2 … 1e-10, over all problems, reached within so many
    evaluations; of the seeds that an optimiser has run on all of them.

    Raises:
        Missing: one of the two lacks a problem of the other, or has no such seed.
    """
    first = TARGETS.index(100.0)
    problems = tables.problems(experiment, algorithm)
    problems += [p for p in tables.problems(experiment, than) if p not in problems]

    def shares(name: str) -> Array:
        cells = [tables.runs(experiment, p, name).set_index("seed")["hits"] for p in problems]
        counts = [cell.map(lambda run: np.sum(np.asarray(run[first:]) <= within)) for cell in cells]
        means: Array = pd.concat(counts, axis=1, join="inner").mean(axis=1).to_numpy(dtype=float)
        if not means.size:
            raise Missing(f"no seed of {name} on all problems of {experiment}")
        return means

    return resampled(lambda a, b: _mean(a) / _mean(b), shares(algorithm), shares(than))


def drift(tables: Tables, experiment: str, problem: str, algorithm: str) -> Estimate:
    """Change of log det Σ per iteration, mean over runs."""
    runs = tables.runs(experiment, problem, algorithm)
    change = 2 * runs["dim"] * np.log(runs["sigma"] / runs["first_sigma"])
    return resampled(_mean, (change / (runs["iteration"] - 1)).to_numpy())


def larger_reward(
    tables: Tables, experiment: str, problem: str, algorithm: str, than: str, column: str
) -> Estimate:
    """Probability that a run of ``algorithm`` has a larger reward (a smaller value) than one of
    ``than``; half for equal ones. A run that was lost to NaN has the smallest reward.
    """
    a, b = (
        tables.runs(experiment, problem, name)[column].fillna(np.inf).to_numpy(dtype=float)
        for name in (algorithm, than)
    )
    return newcombe(a, b)


def bound_ratio(tables: Tables, table: str, value: str, bound: str, **only: str) -> Estimate:
    """The largest ratio of a measured value to its bound in a table of the theory.

    The interval's ends are the largest ratios of the value's own ends.

    Raises:
        Missing: no row has a bound.
    """
    rows = tables.theory(table, only).dropna(subset=bound)
    if rows.empty:
        raise Missing(f"no bound {bound} for {only} in theory/{table}.csv")
    low, middle, high = (
        float((rows[name] / rows[bound]).max()) for name in (f"{value}_low", value, f"{value}_high")
    )
    return Estimate(middle, low, high)


def exponent(tables: Tables, table: str, **only: str) -> Estimate:
    """The fitted power in a table of the theory, the mean over its runs with its interval."""
    row = tables.theory(table, only).iloc[0]
    return Estimate(float(row["slope"]), float(row["slope_low"]), float(row["slope_high"]))


def largest(tables: Tables, table: str, column: str, **only: str) -> Estimate:
    """The largest absolute value of a column of a table of the theory; NaN where one of them is."""
    value = float(tables.theory(table, only)[column].abs().max(skipna=False))
    return Estimate(value, value, value)


def hyper_parameters(tables: Tables, method: str, than: str, **only: str) -> Estimate:
    """Number of one method's hyper-parameters over the other's; ``kind: set`` are the user's."""
    counts = [len(tables.theory("hyper_parameters", {"method": m, **only})) for m in (method, than)]
    ratio = counts[0] / counts[1]
    return Estimate(ratio, ratio, ratio)


def _mean(a: Array) -> Any:
    return a.mean(axis=-1)


def _median(a: Array) -> Any:
    return np.median(a, axis=-1)


def _ratio_of_medians(a: Array, b: Array) -> Any:
    with np.errstate(invalid="ignore", divide="ignore"):
        return _median(a) / _median(b)


MEASURES: dict[str, Callable[..., Estimate]] = {
    f.__name__: f
    for f in (
        success_rate,
        wins,
        final_ratio,
        linearity,
        slowdown,
        rotation,
        diverged,
        reached,
        drift,
        larger_reward,
        bound_ratio,
        exponent,
        largest,
        hyper_parameters,
    )
}
