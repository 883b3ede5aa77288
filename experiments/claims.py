"""Judge the claims of claims.yaml on the tables, each with an interval and a verdict.

python -m experiments.claims --tables results/tables --to results/claims
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml
from numpy.typing import NDArray

from experiments.seeds import stream
from experiments.trace import TARGETS

Array = NDArray[np.float64]
CLAIMS = Path(__file__).with_name("claims.yaml")
COLUMNS = (
    "id", "claim", "place", "measure", "value", "low", "high", "threshold", "verdict", "why",
    "figure",
)  # fmt: skip
RESAMPLES = 2000


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
        table = self._read(experiment)
        cell = table[(table["problem"] == problem) & (table["algorithm"] == algorithm)]
        if cell.empty:
            raise Missing(f"no runs of {algorithm} on {problem} in {experiment}")
        return cell.sort_values("seed", ignore_index=True)

    def _read(self, experiment: str) -> pd.DataFrame:
        if experiment not in self._runs:
            path = self.folder / experiment / "runs.parquet"
            if not path.is_file():
                raise Missing(f"no table {experiment}/runs.parquet")
            self._runs[experiment] = pd.read_parquet(path)
        return self._runs[experiment]

    def problems(self, experiment: str, algorithm: str) -> list[str]:
        """The problems that an optimiser ran on."""
        table = self._read(experiment)
        return list(dict.fromkeys(table.loc[table["algorithm"] == algorithm, "problem"]))


def wilson(successes: int, n: int) -> Estimate:
    """A share with Wilson's score interval, which is sensible at 0 and at 1 too."""
    z, p = 1.959963984540054, successes / n
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return Estimate(p, max(0.0, centre - half), min(1.0, centre + half))


def bootstrap(statistic: Callable[..., Any], *samples: Array) -> Estimate:
    """A statistic of independent samples, with its percentile interval over resampled runs.

    ``statistic`` reduces the last axis of its arguments, so that all resamples go through at once.
    """
    rng = stream(0, "bootstrap")
    draws = statistic(*(s[rng.integers(len(s), size=(RESAMPLES, len(s)))] for s in samples))
    # Order statistics, not interpolations: a median of evaluations may be infinite.
    known = draws[~np.isnan(draws)]
    if not known.size:
        return Estimate(float("nan"), float("nan"), float("nan"))
    low, high = np.quantile(known, (0.025, 0.975), method="inverted_cdf")
    return Estimate(float(statistic(*samples)), float(low), float(high))


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


def wins(tables: Tables, experiment: str, problem: str, algorithm: str, than: str) -> Estimate:
    """Share of seeds on which ``algorithm`` ends with a smaller best value than ``than``.

    Two runs that both reached the target tie in value; then fewer evaluations win.
    """
    a = tables.runs(experiment, problem, algorithm).set_index("seed")
    b = tables.runs(experiment, problem, than).set_index("seed")
    both = a.index.intersection(b.index)
    a, b = a.loc[both], b.loc[both]
    done = (a["stop"] == "target") & (b["stop"] == "target")
    better = np.where(done, a["evaluations"] < b["evaluations"], a["best"] < b["best"])
    return wilson(int(better.sum()), len(better))


def linearity(tables: Tables, experiment: str, problem: str, algorithm: str) -> Estimate:
    """Median over runs of R² of log10(target) against the evaluations to it, from 1 to 1e-10.

    A run that reached fewer than three of these targets has R² = 0.
    """
    first = TARGETS.index(1.0)

    def r2(hits: Any) -> float:
        x = np.asarray(hits[first:], dtype=float)
        if len(x) < 3:
            return 0.0
        return float(np.corrcoef(x, np.log10(TARGETS[first : first + len(x)]))[0, 1] ** 2)

    runs = tables.runs(experiment, problem, algorithm)
    return bootstrap(_median, np.array([r2(h) for h in runs["hits"]]))


def slowdown(
    tables: Tables, experiment: str, problem: str, algorithm: str, than: str, target: float = 1e-10
) -> Estimate:
    """Ratio of the median evaluations to the target."""
    a, b = (
        evaluations_to(tables.runs(experiment, problem, name), target) for name in (algorithm, than)
    )
    return bootstrap(_ratio_of_medians, a, b)


def rotation(tables: Tables, experiment: str, plain: str, problem: str, algorithm: str) -> Estimate:
    """Ratio of the median evaluations to 1e-10, rotated problem over plain one."""
    a, b = (evaluations_to(tables.runs(e, problem, algorithm), 1e-10) for e in (experiment, plain))
    return bootstrap(_ratio_of_medians, a, b)


def diverged(tables: Tables, experiment: str, problem: str, algorithm: str) -> Estimate:
    """Share of runs that ended as diverged, or with their last batch above the first one's mean."""
    runs = tables.runs(experiment, problem, algorithm)
    lost = (runs["stop"] == "diverged") | ~(runs["batch_min"] <= runs["first_batch_mean"])
    lost |= runs["stop"] == "not_positive_definite"
    return wilson(int(lost.sum()), len(lost))


def reached(tables: Tables, experiment: str, algorithm: str, than: str) -> Estimate:
    """Ratio of the shares of targets 1e2 … 1e-10, over all problems, reached within the budget."""
    first = TARGETS.index(100.0)

    def shares(name: str) -> Array:
        problems = tables.problems(experiment, name)
        hits = [tables.runs(experiment, problem, name)["hits"].map(len) for problem in problems]
        counts = np.array([np.maximum(h.to_numpy() - first, 0.0) for h in hits])
        means: Array = counts.mean(axis=0)
        return means

    return bootstrap(lambda a, b: _mean(a) / _mean(b), shares(algorithm), shares(than))


def drift(tables: Tables, experiment: str, problem: str, algorithm: str) -> Estimate:
    """Change of log det Σ per iteration, mean over runs."""
    runs = tables.runs(experiment, problem, algorithm)
    change = 2 * runs["dim"] * np.log(runs["sigma"] / runs["first_sigma"])
    return bootstrap(_mean, (change / (runs["iteration"] - 1)).to_numpy())


def _mean(a: Array) -> Any:
    return a.mean(axis=-1)


def _median(a: Array) -> Any:
    return np.median(a, axis=-1)


def _ratio_of_medians(a: Array, b: Array) -> Any:
    with np.errstate(invalid="ignore"):
        return _median(a) / _median(b)


MEASURES: dict[str, Callable[..., Estimate]] = {
    f.__name__: f
    for f in (success_rate, wins, linearity, slowdown, rotation, diverged, reached, drift)
}


# --- verdicts -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Part:
    """One measured part of a claim."""

    text: str  # what was measured, on what
    estimate: Estimate
    low: float | None  # at least
    high: float | None  # at most

    @property
    def holds(self) -> bool | None:
        """True if the whole interval keeps the threshold, False if all of it breaks the threshold,
        None if the runs are too few to tell.
        """
        low = -np.inf if self.low is None else self.low
        high = np.inf if self.high is None else self.high
        e = self.estimate
        if low <= e.low and e.high <= high:
            return True
        return False if e.high < low or e.low > high else None

    def __str__(self) -> str:
        e = self.estimate
        return f"{self.text} = {e.value:.3g} [{e.low:.3g}, {e.high:.3g}]"

    @property
    def threshold(self) -> str:
        return " and ".join(
            f"{sign} {bound:g}"
            for sign, bound in (("≥", self.low), ("≤", self.high))
            if bound is not None
        )


def parts(claim: dict[str, Any], tables: Tables) -> Iterator[Part]:
    """The parts of a claim, a list among the arguments spread out into one part each.

    Raises:
        Missing: a table that a part needs is not there.
    """
    for entry in claim["parts"]:
        settings = dict(entry)
        measure = settings.pop("measure")
        low, high = settings.pop("at_least", None), settings.pop("at_most", None)
        choices = [v if isinstance(v, list) else [v] for v in settings.values()]
        for values in product(*choices):
            arguments = dict(zip(settings, values, strict=True))
            named = [str(v) for k, v in arguments.items() if k not in ("experiment", "plain")]
            estimate = MEASURES[measure](tables, **arguments)
            yield Part(f"{measure}({', '.join(named)})", estimate, low, high)


def judge(claim: dict[str, Any], tables: Tables) -> dict[str, Any]:
    """The row of a claim.

    Every part holds: reproduced; some do: partly; every part fails: not reproduced; else, or if a
    table is missing: not tested. The row's numbers are those of the first part that fails, or that
    the runs are too few for, or else of the first part.
    """
    row = {key: claim[key] for key in ("id", "claim", "place", "figure")}
    try:
        found = list(parts(claim, tables))
    except Missing as missing:
        empty = dict.fromkeys(("measure", "value", "low", "high", "threshold"))
        return row | empty | {"verdict": "not tested", "why": str(missing)}
    held = [p for p in found if p.holds]
    failed = [p for p in found if p.holds is False]
    unclear = [p for p in found if p.holds is None]
    if len(held) == len(found):
        verdict = "reproduced"
    elif held:
        verdict = "partly"
    else:
        verdict = "not tested" if unclear else "not reproduced"
    shown = (failed + unclear + held)[0]
    why = [claim["why"], f"{len(held)} of {len(found)} parts hold."]
    why += [f"{word}: {'; '.join(map(str, some))}." for word, some in
            (("Fails", failed), ("Too few runs to tell", unclear)) if some]  # fmt: skip
    e = shown.estimate
    numbers = {"value": e.value, "low": e.low, "high": e.high, "threshold": shown.threshold}
    return row | numbers | {"measure": shown.text, "verdict": verdict, "why": " ".join(why)}


def markdown(table: pd.DataFrame) -> str:
    """The claims as a Markdown table, and the reasons below it."""
    lines = [
        "| | claim | verdict | measure | value (95 %) | threshold |",
        "|---|---|---|---|---|---|",
    ]
    for row in table.to_dict("records"):
        tested = isinstance(row["measure"], str)
        value = f"{row['value']:.3g} ({row['low']:.3g} to {row['high']:.3g})" if tested else ""
        measure = f"`{row['measure']}`" if tested else ""
        lines.append(
            f"| {row['id']} | {row['claim']} | **{row['verdict']}** | {measure} | {value} "
            f"| {row['threshold'] if tested else ''} |"
        )
    reasons = [
        f"- **{row['id']}** ({row['place']}). {row['why']}" for row in table.to_dict("records")
    ]
    return "\n".join([*lines, "", *reasons, ""])


def main(arguments: list[str] | None = None) -> None:
    """Write the claims as .csv and .md."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.claims", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--tables", type=Path, required=True, help="folder of the tables")
    parser.add_argument("--to", type=Path, required=True, help="path without suffix")
    args = parser.parse_args(arguments)
    claims = yaml.safe_load(CLAIMS.read_text(encoding="utf-8"))
    tables = Tables(args.tables)
    table = pd.DataFrame([judge(claim, tables) for claim in claims], columns=list(COLUMNS))
    args.to.parent.mkdir(parents=True, exist_ok=True)
    table.to_csv(args.to.with_suffix(".csv"), index=False)
    args.to.with_suffix(".md").write_text(markdown(table), encoding="utf-8")
    print(table["verdict"].value_counts().to_string(), file=sys.stderr)


if __name__ == "__main__":
    main()
