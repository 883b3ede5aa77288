"""What a claim is measured by: functions of the tables that give a value with its 95 % interval."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.stats import binomtest, norm

from experiments.seeds import stream
from experiments.trace import TARGETS

Array = NDArray[np.float64]
LEVEL = 0.95  # of every interval
RESAMPLES = 2000
FEWEST = 6  # from the smallest to the largest of five runs there is a median 94 times in 100


class Missing(Exception):
    """A table, or a cell of one, that a measure needs is not there."""


@dataclass(frozen=True)
class Estimate:
    """A value with its 95 % interval."""

    value: float
    low: float
    high: float


class Tables:
    """The tables of runs, by experiment, read when first asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._runs: dict[str, pd.DataFrame] = {}

    def runs(self, experiment: str, problem: str, algorithm: str) -> pd.DataFrame:
        """The runs of a cell, ordered by seed.

        Raises:
            Missing: there are none.
        """
        table = self.table(experiment)
        cell = table[(table["problem"] == problem) & (table["algorithm"] == algorithm)]
        if cell.empty:
            raise Missing(f"no runs of {algorithm} on {problem} in {experiment}")
        return cell.sort_values("seed", ignore_index=True)

    def table(self, experiment: str) -> pd.DataFrame:
        """All runs of an experiment.

        Raises:
            Missing: it has no table.
        """
        if experiment not in self._runs:
            path = self.folder / experiment / "runs.parquet"
            if not path.is_file():
                raise Missing(f"no table {experiment}/runs.parquet")
            self._runs[experiment] = pd.read_parquet(path)
        return self._runs[experiment]

    def but(self, experiment: str, runs: pd.DataFrame) -> Tables:
        """The same tables, with other runs in the place of an experiment's."""
        other = Tables(self.folder)
        other._runs = {**self._runs, experiment: runs}
        return other

    def theory(self, table: str, only: dict[str, str]) -> pd.DataFrame:
        """The rows of a table of the theory that have these entries.

        Raises:
            Missing: there are none.
        """
        path = self.folder / "theory" / f"{table}.csv"
        if not path.is_file():
            raise Missing(f"no table theory/{table}.csv")
        rows = pd.read_csv(path)
        for column, value in only.items():
            rows = rows[rows[column] == value]
        if rows.empty:
            raise Missing(f"no rows {only} in theory/{table}.csv")
        return rows

    def problems(self, experiment: str, algorithm: str) -> list[str]:
        """The problems that an optimiser ran on."""
        table = self.table(experiment)
        return list(dict.fromkeys(table.loc[table["algorithm"] == algorithm, "problem"]))


def wilson(successes: int, n: int) -> Estimate:
    """A share with Wilson's score interval, which is sensible at 0 and at 1 too."""
    low, high = binomtest(successes, n).proportion_ci(LEVEL, method="wilson")
    return Estimate(successes / n, float(low), float(high))


def newcombe(a: Array, b: Array) -> Estimate:
    """P(A < B) + ½ P(A = B) for an entry of either, with Newcombe's score interval.

    The ends are the θ at which the estimate is z standard errors away, with the variance of
    Hanley & McNeil for samples of m and n,

    V(θ) = θ(1 − θ)/(mn) · (1 + n*((1 − θ)/(2 − θ) + θ/(1 + θ))),  n* = (m + n)/2 − 1

    A bootstrap has no interval at 1, and for five runs each calls one in ten equal pairs unequal.
    Where all pairs of two equal methods go one way more often than an interval may err, in one
    study of ten with three runs each, the interval is the whole of [0, 1].

    Source: Newcombe (2006), Statistics in Medicine 25:559, method 5.
    """
    z, mn, more = norm.ppf((1 + LEVEL) / 2), a.size * b.size, (a.size + b.size) / 2 - 1
    share = float(share_smaller(a, b))
    if 2 / comb(a.size + b.size, a.size) > 1 - LEVEL:
        return Estimate(share, 0.0, 1.0)

    def above(theta: float) -> float:
        """(share − θ)² − z² V(θ): positive where θ is outside of the interval."""
        spread = 1 + more * ((1 - theta) / (2 - theta) + theta / (1 + theta))
        return float((share - theta) ** 2 - z * z * theta * (1 - theta) / mn * spread)

    # V is 0 at both ends, where it has a root that is none of the interval's.
    low = 0.0 if share == 0.0 else float(brentq(above, 0.0, min(share, 1 - 1e-9)))
    high = 1.0 if share == 1.0 else float(brentq(above, max(share, 1e-9), 1.0))
    return Estimate(share, low, high)


def bootstrap(statistic: Callable[..., Any], *samples: Array) -> Estimate:
    """A statistic of independent samples, with its percentile interval over resampled runs.

    ``statistic`` reduces the last axis of its arguments, so that all resamples go through at once.
    Where it has no value (0/0, ∞/∞) there is no interval; a resample without one may be anything,
    and widens the interval on both sides.
    """
    value = float(statistic(*samples))
    if np.isnan(value):
        return Estimate(value, value, value)
    rng = stream(0, "bootstrap")
    draws = statistic(*(s[rng.integers(len(s), size=(RESAMPLES, len(s)))] for s in samples))
    # Order statistics, not interpolations: a median of evaluations may be infinite.
    low, high = (
        float(np.quantile(np.where(np.isnan(draws), end, draws), level, method="inverted_cdf"))
        for end, level in ((-np.inf, (1 - LEVEL) / 2), (np.inf, (1 + LEVEL) / 2))
    )
    return Estimate(value, low, high)


def resampled(statistic: Callable[..., Any], *samples: Array) -> Estimate:
    """``bootstrap``, with an interval that decides nothing for fewer than FEWEST runs."""
    estimate = bootstrap(statistic, *samples)
    if min(map(len, samples)) < FEWEST:
        return Estimate(estimate.value, -np.inf, np.inf)
    return estimate


def share_smaller(a: Array, b: Array) -> Array:
    """Share of pairs in which the entry of ``a`` is the smaller one, half for equal ones; each
    (…, runs), the result (…).
    """
    a, b = a[..., :, None], b[..., None, :]
    share: Array = ((a < b) + 0.5 * (a == b)).mean(axis=(-2, -1))
    return share


def evaluations_to(runs: pd.DataFrame, target: float) -> Array:
    """Evaluations until each run had reached ``target`` above the minimum; inf if it did not.

    Raises:
        ValueError: ``target`` is none of TARGETS.
    """
    at = TARGETS.index(target)
    return np.array([hits[at] if len(hits) > at else np.inf for hits in runs["hits"]], dtype=float)


# --- measures: arguments of a part → estimate -----------------------------------------------------


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
