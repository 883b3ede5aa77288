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
from experiments.tables.reader import Missing, Tables, evaluations_to, method, spanned

SPANS = {"fixed": (1e2, 1e-10), "bbob": (1e2, 1e-8)}  # first and last of targets
Key = tuple[bool, float]  # by which runs are compared


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
    beside: str | None = None,
) -> Estimate:
    """Share of seeds on which ``algorithm`` ends with a smaller value of a column than ``than``,
    whose runs are of the experiment ``beside`` if that is given.

    Of two runs that both reached 1e-10 the one that took fewer evaluations to it wins.

    Raises:
        Missing: they have no seed in common.
    """
    a, b = _paired(tables, experiment, problem, algorithm, than, beside)
    time_a, time_b = evaluations_to(a, 1e-10), evaluations_to(b, 1e-10)
    done = np.isfinite(time_a) & np.isfinite(time_b)
    better = np.where(done, time_a < time_b, a[column] < b[column])
    return wilson(int(better.sum()), len(better))


def ahead(
    tables: Tables, experiment: str, problem: str, algorithm: str, than: str, within: float
) -> Estimate:
    """Share of seeds on which ``algorithm`` has reached more of the TARGETS than ``than`` within so
    many evaluations, or as many and the last of them sooner.

    Raises:
        Missing: they have no seed in common.
    """
    a, b = _paired(tables, experiment, problem, algorithm, than)
    pairs = zip(a["hits"], b["hits"], strict=True)
    return wilson(sum(_got(x, within) > _got(y, within) for x, y in pairs), len(a))


def _paired(
    tables: Tables,
    experiment: str,
    problem: str,
    algorithm: str,
    than: str,
    beside: str | None = None,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The runs of two optimisers on the seeds that both have run."""
    a = tables.runs(experiment, problem, algorithm).set_index("seed")
    b = tables.runs(beside or experiment, problem, than).set_index("seed")
    both = a.index.intersection(b.index)
    if both.empty:
        raise Missing(f"no seed of both {algorithm} and {than} on {problem} in {experiment}")
    return a.loc[both], b.loc[both]


def _got(hits: Any, within: float) -> tuple[int, float]:
    """How many targets a run reached within so many evaluations, and how early the last of them;
    the larger pair is the better run.
    """
    times = [float(t) for t in hits if t <= within]
    return len(times), -times[-1] if times else 0.0


# ---- over several settings of a method, the optimisers NAME_1, NAME_0.5, … of an experiment ----


def _settings(tables: Tables, experiment: str, algorithm: str) -> list[str]:
    """The optimisers that are ``algorithm`` with other settings, by their names; or it alone."""
    named = tables.table(experiment)["algorithm"].unique()
    found = [name for name in named if method(name) == algorithm]
    if not found:
        raise Missing(f"no settings of {algorithm} in {experiment}")
    return found


def more_solved(
    tables: Tables, experiment: str, algorithm: str, than: str, target: float = 1e-10
) -> Estimate:
    """Share of the runs that reached the target, over all problems and settings of a method, minus
    that of another; mean over the seeds that have run all of them.
    """

    def shares(method: str) -> pd.Series:
        runs = tables.table(experiment)
        runs = runs[runs["algorithm"].isin(_settings(tables, experiment, method))]
        reached = np.isfinite(evaluations_to(runs, target))
        by_seed = runs.assign(reached=reached).groupby("seed")["reached"].agg(["mean", "size"])
        whole: pd.Series = by_seed.loc[by_seed["size"] == by_seed["size"].max(), "mean"]
        return whole

    both = pd.concat([shares(algorithm), shares(than)], axis=1, join="inner")
    if both.empty:
        raise Missing(f"no seed of all settings of {algorithm} and {than} in {experiment}")
    return resampled(_mean, (both.iloc[:, 0] - both.iloc[:, 1]).to_numpy(dtype=float))


def wins_at_best(
    tables: Tables,
    experiment: str,
    problem: str,
    algorithm: str,
    than: str,
    column: str = "best",
    beside: str | None = None,
) -> Estimate:
    """As ``wins``, each method at the setting that is its best on the other seeds: the one with
    which most of those runs reached 1e-10, of equal ones the one whose median run took the fewest
    evaluations to it, or else ends with the smallest value.
    """

    def by_setting(experiment: str, method: str) -> list[dict[int, Key]]:
        """By setting and seed, what the run is compared by, the smaller the better: whether it
        missed the target, and its evaluations to it or its last value.
        """
        found = []
        for name in _settings(tables, experiment, method):
            runs = tables.runs(experiment, problem, name)
            rows = zip(runs["seed"], evaluations_to(runs, 1e-10), runs[column], strict=True)
            found.append({s: (not np.isfinite(t), t if np.isfinite(t) else v) for s, t, v in rows})
        return found

    a, b = by_setting(experiment, algorithm), by_setting(beside or experiment, than)
    seeds = set.intersection(*map(set, a + b))
    if len(seeds) < 2:
        raise Missing(f"no seeds of all settings of {algorithm} and {than} on {problem}")

    def rank(runs: list[Key]) -> tuple[int, Key]:
        """Of a setting: how many runs missed the target, and the median run."""
        return sum(missed for missed, _ in runs), sorted(runs)[len(runs) // 2]

    def at_best(settings: list[dict[int, Key]], seed: int) -> Key:
        others = seeds - {seed}
        return min(settings, key=lambda runs: rank([runs[other] for other in others]))[seed]

    return wilson(sum(at_best(a, seed) < at_best(b, seed) for seed in seeds), len(seeds))


def final_ratio(
    tables: Tables, experiment: str, problem: str, algorithm: str, than: str, column: str
) -> Estimate:
    """Ratio of the medians over runs of a column's last value."""
    a, b = (
        tables.runs(experiment, problem, name)[column].to_numpy(dtype=float)
        for name in (algorithm, than)
    )
    return resampled(_ratio_of_medians, a, b)


def linearity(
    tables: Tables, experiment: str, problem: str, algorithm: str, start: float = 1.0
) -> Estimate:
    """Median over runs of R² of log10(target) against the evaluations to it, from ``start`` to
    1e-10.

    A run that did not reach the last of them has R² = 0: it may have stalled on a straight way.
    """
    first = TARGETS.index(start)

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


def fewer_evaluations(
    tables: Tables, experiment: str, problem: str, algorithm: str, than: str, target: float
) -> Estimate:
    """aRT to the target, ``than`` over ``algorithm``: evaluations of all runs, up to the target or
    to their ends, over the number of runs that reached it.
    """

    def runs(name: str) -> Array:
        """A row per run: its evaluations, and whether it reached the target."""
        table = tables.runs(experiment, problem, name)
        time = evaluations_to(table, target)
        reached = np.isfinite(time)
        spent = np.where(reached, time, table["evaluations"])
        return np.stack([spent, reached], axis=-1).astype(float)

    a, b = runs(algorithm), runs(than)
    return resampled(lambda x, y: _art(y) / _art(x), a, b)


def last_progress(tables: Tables, experiment: str, problem: str, algorithm: str) -> Estimate:
    """Median over runs of the evaluations to the last of the TARGETS that a run reached, five a
    decade, over all its evaluations: 1 for a run that still descends, small for one that stalled.
    """
    runs = tables.runs(experiment, problem, algorithm)
    last = np.array([hits[-1] if len(hits) else 0.0 for hits in runs["hits"]], dtype=float)
    return resampled(_median, last / runs["evaluations"].to_numpy(dtype=float))


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
    tables: Tables,
    experiment: str,
    algorithm: str,
    than: str,
    within: float = np.inf,
    targets: str = "spanned",
) -> Estimate:
    """Ratio of the shares of targets that were reached within so many evaluations: of each
    problem's own targets, mean over problems; of the seeds that an optimiser has run on all of
    them.

    The targets of a problem are those that the methods span: from the largest that some run of the
    experiment does not have at its first batch, to the smallest that some run reached. With
    ``fixed`` ones they are 1e2 … 1e-10 on all problems, with those of ``bbob`` 1e2 … 1e-8.

    Raises:
        Missing: one of the two lacks a problem of the other, or has no such seed.
    """
    problems = tables.problems(experiment, algorithm)
    problems += [p for p in tables.problems(experiment, than) if p not in problems]
    runs = tables.table(experiment)
    if targets == "spanned":
        spans = {p: spanned(runs[runs["problem"] == p]) for p in problems}
    else:
        first, last = (TARGETS.index(target) for target in SPANS[targets])
        spans = dict.fromkeys(problems, range(first, last + 1))

    def shares(name: str) -> Array:
        found = []
        for p, span in spans.items():
            cell = tables.runs(experiment, p, name).set_index("seed")["hits"]
            own = slice(span.start, span.stop)
            count = cell.map(lambda run, own=own: np.sum(np.asarray(run[own]) <= within))
            found.append(count / len(span))
        means: Array = pd.concat(found, axis=1, join="inner").mean(axis=1).to_numpy(dtype=float)
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


def exponent_over_rate(tables: Tables, table: str, **only: str) -> Estimate:
    """The fitted power minus that of log T / T, fitted over the same range in the same way."""
    row = tables.theory(table, only).iloc[0]
    ends = (
        float(row[name] - row["slope_of_rate"]) for name in ("slope", "slope_low", "slope_high")
    )
    return Estimate(*ends)


def power(tables: Tables, table: str, column: str, **only: str) -> Estimate:
    """The fitted power that a column of a table of the theory holds, the same in all rows."""
    (value,) = set(tables.theory(table, only)[column])
    return Estimate(value, value, value)


def ratio(tables: Tables, table: str, **only: str | float) -> Estimate:
    """A ratio that a table of the theory holds, with its interval."""
    row = tables.theory(table, only).iloc[0]
    return Estimate(float(row["ratio"]), float(row["ratio_low"]), float(row["ratio_high"]))


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


def _art(runs: Array) -> Any:
    with np.errstate(divide="ignore"):
        return runs[..., 0].sum(axis=-1) / runs[..., 1].sum(axis=-1)


def _ratio_of_medians(a: Array, b: Array) -> Any:
    with np.errstate(invalid="ignore", divide="ignore"):
        return _median(a) / _median(b)


MEASURES: dict[str, Callable[..., Estimate]] = {
    f.__name__: f
    for f in (
        success_rate,
        wins,
        ahead,
        more_solved,
        wins_at_best,
        final_ratio,
        linearity,
        slowdown,
        fewer_evaluations,
        last_progress,
        rotation,
        diverged,
        reached,
        drift,
        larger_reward,
        bound_ratio,
        exponent,
        exponent_over_rate,
        power,
        ratio,
        largest,
        hyper_parameters,
    )
}
