"""From the table of runs to the tables a reader looks up: fixed targets, final values.

    python -m experiments.tables.summaries results/tables/figure_1 --to results/tables/figure_1

Definitions are those of COCO (Hansen et al. 2021): a run succeeds at a target if its best value so
far comes within the target of the minimum; aRT is the sum of the evaluations of all runs, up to the
target or to their end, over the number of runs that succeeded.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from experiments.tables import commands, files
from experiments.tables.estimates import bootstrap
from experiments.tables.reader import evaluations_to

DECADES = tuple(float(f"1e{k}") for k in range(0, -11, -1))


def average_running_time(pairs: NDArray[np.float64]) -> NDArray[np.float64]:
    """aRT = Σ evaluations / #successes; infinite without a success.

    Args:
        pairs: (…, n, 2) evaluations of each run to the target (inf where it was not reached), and
            of the whole run.

    Returns:
        (…) aRT in evaluations.
    """
    reached, spent = pairs[..., 0], pairs[..., 1]
    success = np.isfinite(reached)
    with np.errstate(divide="ignore"):
        total = np.where(success, reached, spent).sum(axis=-1)
        ratio: NDArray[np.float64] = total / success.sum(axis=-1)
    return ratio


def fixed_targets(runs: pd.DataFrame) -> pd.DataFrame:
    """Per cell and target: successes, aRT with its bootstrap interval, and the median and
    quartiles of the evaluations of the runs that reached it. Nothing of a problem whose
    minimum is unknown.
    """
    rows = []
    known = runs[np.isfinite(runs["minimum"])]
    for (problem, algorithm), cell in known.groupby(["problem", "algorithm"], sort=False):
        for target in DECADES:
            reached = evaluations_to(cell, target)
            pairs = np.stack([reached, cell["evaluations"].to_numpy(dtype=float)], axis=-1)
            art = bootstrap(average_running_time, pairs)
            there = reached[np.isfinite(reached)]
            quartiles = np.quantile(there, (0.25, 0.5, 0.75)) if len(there) else [np.nan] * 3
            counts = (len(cell), len(there), art.value, art.low, art.high)
            rows.append((problem, algorithm, target, *counts, *map(float, quartiles)))
    counted = ("runs", "successes", "aRT", "aRT_low", "aRT_high", "q1", "median", "q3")
    return pd.DataFrame(rows, columns=["problem", "algorithm", "target", *counted])


def final_values(runs: pd.DataFrame) -> pd.DataFrame:
    """Per cell: median, quartiles, best and worst of the best values, and why the runs ended."""
    rows = []
    for (problem, algorithm), cell in runs.groupby(["problem", "algorithm"], sort=False):
        known = cell["minimum"].where(np.isfinite(cell["minimum"]), 0.0)
        best = (cell["best"] - known).to_numpy(dtype=float)
        five = np.quantile(best, (0.0, 0.25, 0.5, 0.75, 1.0))
        ends = cell["stop"].value_counts()
        reasons = ", ".join(f"{name} {count}" for name, count in ends.items())
        rows.append((problem, algorithm, len(cell), *map(float, five), reasons))
    columns = ["problem", "algorithm", "runs", "best", "q1", "median", "q3", "worst", "ended"]
    return pd.DataFrame(rows, columns=columns)


def markdown(fixed: pd.DataFrame, final: pd.DataFrame) -> str:
    """Both tables for reading: aRT (successes) by target, and final values."""
    return "\n".join([*(_to_targets(fixed) if len(fixed) else []), *_at_the_end(final), ""])


def _to_targets(fixed: pd.DataFrame) -> list[str]:
    lines = [
        "# Evaluations to a target",
        "",
        "aRT in evaluations, in brackets the runs that reached the target, of all.",
    ]
    shown = [t for t in DECADES if round(np.log10(t)) in (0, -1, -2, -4, -6, -8, -10)]
    lines += ["", "| problem | optimiser |" + "".join(f" {t:.0e} |" for t in shown)]
    lines += ["|---|---|" + "---|" * len(shown)]
    for (problem, algorithm), cell in fixed.groupby(["problem", "algorithm"], sort=False):
        by_target = cell.set_index("target")
        entries = [
            f" {r['aRT']:.3g} ({r['successes']:g}/{r['runs']:g}) |" if r["successes"] else " — |"
            for r in (by_target.loc[t] for t in shown)
        ]
        lines.append(f"| {problem} | {algorithm} |" + "".join(entries))
    return [*lines, ""]


def _at_the_end(final: pd.DataFrame) -> list[str]:
    lines = [
        "# Best value at the end of a run",
        "",
        "Above the minimum; where none is known, the value itself: of control, a negated reward.",
        "",
    ]
    lines += ["| problem | optimiser | best | quartile | median | quartile | worst | ended |"]
    lines += ["|---|---|---|---|---|---|---|---|"]
    for row in final.itertuples():
        five = " | ".join(f"{v:.3g}" for v in (row.best, row.q1, row.median, row.q3, row.worst))
        lines.append(f"| {row.problem} | {row.algorithm} | {five} | {row.ended} |")
    return lines


def main(arguments: list[str] | None = None) -> None:
    """Write fixed_targets.csv, final_values.csv and statistics.md."""
    args = commands.summaries_parser(__doc__).parse_args(arguments)
    runs = pd.read_parquet(args.tables / "runs.parquet")
    fixed, final = fixed_targets(runs), final_values(runs)
    files.write_csv(fixed, args.to / "fixed_targets.csv")
    files.write_csv(final, args.to / "final_values.csv")
    files.write_text(markdown(fixed, final), args.to / "statistics.md")


if __name__ == "__main__":
    main()
