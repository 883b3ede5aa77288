"""One column a task: average reward of the population, and below it the mean policy's.

python -m figures.reward results/tables/figure_2 --x iterations --to results/figures/figure_2
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray

from figures import files, style

ROWS = {"batch_mean": "average reward", "f_mean": "reward of the mean policy"}
WIDE = 10.0  # largest over smallest reward, from which a panel has a log axis


def draw(
    runs: pd.DataFrame,
    curves: pd.DataFrame,
    x: str = "iterations",
    band: str = "range",
    labels: Mapping[str, str] | None = None,
) -> tuple[Figure, str]:
    """The picture and its caption.

    Args:
        runs: a row a run, as experiments.tables.aggregate makes it.
        curves: statistics over the runs of each cell, of values that are negated rewards.
        x: what rewards are drawn against.
        band: what is shaded, a key of style.BANDS.
        labels: what each optimiser is called.
    """
    style.use()
    problems = list(dict.fromkeys(runs["problem"]))
    look = style.lines(dict.fromkeys(runs["algorithm"]), labels)
    figure, axes = plt.subplots(
        len(ROWS),
        len(problems),
        figsize=(1.9 * len(problems) + 0.5, 1.7 * len(ROWS) + 0.5),
        squeeze=False,
        sharex="col",
    )
    for column, problem in zip(axes.T, problems, strict=True):
        for algorithm, line in look.items():
            cell = curves[(curves["problem"] == problem) & (curves["algorithm"] == algorithm)]
            here = runs[(runs["problem"] == problem) & (runs["algorithm"] == algorithm)]
            if cell.empty:
                continue
            at = _positions(cell, here, x)
            for ax, quantity in zip(column, ROWS, strict=True):
                rows = cell[cell["quantity"] == quantity]
                # Rewards were negated once, in the problem; here they are turned back.
                y, high, low = (
                    -style.finite(rows[name]) for name in ("mean", *style.BANDS[band][:2])
                )
                ax.fill_between(at, low, high, color=line.color, alpha=0.15, linewidth=0)
                ax.plot(
                    at, y, color=line.color, linestyle=line.dash, marker=line.marker,
                    markevery=max(1, len(at) // 5), markerfacecolor="white", markeredgewidth=0.9,
                )  # fmt: skip
        for ax, quantity in zip(column, ROWS, strict=True):
            shown = curves[(curves["problem"] == problem) & (curves["quantity"] == quantity)]
            if _wide(shown):
                ax.set_yscale("log")
            style.few_ticks(ax)
            style.say_dropped(ax, _dropped(shown, look))
        column[0].set_title(_title(runs[runs["problem"] == problem], runs["iteration"].max()))
        column[-1].set_xlabel(x.replace("_", " "))
        column[-1].set_xlim(left=0)
        column[-1].xaxis.set_major_formatter(style.thousands())
    for ax, words in zip(axes[:, 0], ROWS.values(), strict=True):
        ax.set_ylabel(words)
    style.letters(figure)
    style.legend(figure, look.values(), min(5, len(look)))
    return figure, _caption(runs, look, x, band)


def _title(runs: pd.DataFrame, most: int) -> str:
    """The title of a problem's panels, with its iterations where other problems have more."""
    iterations = runs["iteration"].max()
    fewer = f"\n{iterations} of {most} iterations" if iterations < most else ""
    # A long name goes on in a second line, before its last capital.
    name = runs["title"].iloc[0]
    return (re.sub(r"(?=[A-Z][^A-Z]*$)", "\n", name) if len(name) > 20 else name) + fewer


def _wide(cells: pd.DataFrame) -> bool:
    """Whether rewards are all positive and span so much that a linear axis would hide the small."""
    least, largest = (-style.finite(cells[name]) for name in ("max", "min"))
    low = np.min(least, initial=np.inf, where=~np.isnan(least))
    high = np.max(largest, initial=0.0, where=~np.isnan(largest))
    return bool(0 < WIDE * low < high)


def _dropped(cells: pd.DataFrame, look: dict[str, style.Line]) -> list[str]:
    """Which lines have points that no axis can show."""
    notes = []
    for name, cell in cells.groupby("algorithm", sort=False):
        if bad := int(np.isnan(style.finite(cell["mean"])).sum()):
            notes.append(f"{look[str(name)].label}: {bad} of {len(cell)} points not finite")
    return notes


def _positions(cell: pd.DataFrame, runs: pd.DataFrame, x: str) -> NDArray[np.float64]:
    """Where the points of a cell's curves stand on the axis of ``x``."""
    if x == "environment_steps":
        steps: NDArray[np.float64] = cell.loc[cell["quantity"] == x, "mean"].to_numpy(dtype=float)
        if not steps.size:
            raise ValueError("its tasks have no steps; x can be iterations or evaluations")
        return steps
    rows = cell.loc[cell["quantity"] == "batch_mean", "evaluations"]
    evaluations: NDArray[np.float64] = rows.to_numpy(dtype=float)
    if x == "iterations":
        evaluations *= runs["iteration"].iloc[0] / runs["evaluations"].iloc[0]  # 1/N
    return evaluations


def _caption(runs: pd.DataFrame, look: dict[str, style.Line], x: str, band: str) -> str:
    algorithms = runs["algorithm"].unique()  # in the legend, so that one without a run here counts
    sizes = []
    for _, cell in runs.groupby("problem", sort=False):
        counts = cell["algorithm"].value_counts().reindex(algorithms, fill_value=0)
        notes = "; ".join([*_fewer(counts, look), *_early(cell, look)])
        sizes.append(
            f"{cell['title'].iloc[0]} {style.count(counts)} of {cell['iteration'].max()} "
            f"iterations{notes and f' ({notes})'}"
        )
    return (
        f"Reward against {x.replace('_', ' ')}, mean over runs in a band from "
        f"{style.BANDS[band][2]}. {'; '.join(sizes)}.\n\n"
        "Upper row: mean over the roll-outs of the current batch. Lower row: the policy at the "
        "distribution's mean, not charged, from start states that all methods share. "
        f"A panel whose rewards are all positive and span more than a factor of {WIDE:g} has a log "
        "axis."
    )


def _fewer(counts: pd.Series, look: dict[str, style.Line]) -> list[str]:
    """The optimisers that have fewer runs than others."""
    fewer = counts[counts < counts.max()]
    return [f"{look[str(name)].label} {number}" for name, number in fewer.items()]


def _early(runs: pd.DataFrame, look: dict[str, style.Line]) -> list[str]:
    """The runs that ended before their budget, by optimiser."""
    early = runs[runs["stop"] != "budget"].groupby(["algorithm", "stop"], sort=False).size()
    return [f"{look[name].label} {count} {stop}" for (name, stop), count in early.items()]


def main(arguments: list[str] | None = None) -> None:
    """Draw from the tables of a folder."""
    files.draw_tables("reward", __doc__, draw, arguments)


if __name__ == "__main__":
    main()
