"""Three readings of the regret, one column a problem: batch mean, best so far, recommended point.

python -m figures.regret results/tables/figure_3 --to results/figures/figure_3
"""

from __future__ import annotations

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from figures import files, style

ROWS = {"batch_mean": "batch mean", "best": "best so far", "f_mean": "recommended"}
POINTS = 400  # of a line, at most
LINEAR = 0.1  # below this a regret is drawn on a linear axis, so that 0 is on it
BOTTOM = -0.2 * LINEAR  # of the axis


def draw(
    runs: pd.DataFrame, curves: pd.DataFrame, labels: Mapping[str, str] | None = None
) -> tuple[Figure, str]:
    """The picture and its caption.

    Args:
        runs: a row a run, as experiments.tables.aggregate makes it.
        curves: statistics over the runs of each cell.
        labels: what each optimiser is called.
    """
    style.use()
    problems = list(dict.fromkeys(runs["problem"]))
    look = style.lines(dict.fromkeys(runs["algorithm"]), labels)
    figure, axes = plt.subplots(
        len(ROWS),
        len(problems),
        figsize=(max(1.75 * len(problems), 4.0) + 0.5, 1.55 * len(ROWS) + 0.6),
        squeeze=False,
        sharex="col",
        sharey=True,
    )
    top = max(2.0 * _largest(curves, "batch_mean"), *(_largest(curves, name) for name in ROWS))
    for column, problem in zip(axes.T, problems, strict=True):
        here = curves[curves["problem"] == problem]
        right = here["evaluations"].max()
        for ax, quantity in zip(column, ROWS, strict=True):
            for algorithm, line in look.items():
                cell = here[(here["algorithm"] == algorithm) & (here["quantity"] == quantity)]
                if len(cell):
                    _draw_cell(ax, cell, line, right)
            ax.set_xscale("log")
            if (left := here["evaluations"].min()) < right:
                ax.set_xlim(left, right)
            style.say_dropped(ax, _dropped(here[here["quantity"] == quantity], look))
            style.few_ticks(ax)
            ax.set_yscale("symlog", linthresh=LINEAR, linscale=0.5)
            ax.set_ylim(BOTTOM, top)
            ax.axhline(LINEAR, color="0.8", linewidth=0.5, zorder=0)
        title = runs.loc[runs["problem"] == problem, "title"].iloc[0]
        column[0].set_title(title.replace(", ", "\n"))
        column[-1].set_xlabel("evaluations")
    for ax, words in zip(axes[:, 0], ROWS.values(), strict=True):
        ax.set_ylabel(f"regret, {words}")
    style.letters(figure)
    style.legend(figure, look.values(), 3)
    return figure, _caption(runs, look)


def _draw_cell(ax: Axes, cell: pd.DataFrame, line: style.Line, right: float) -> None:
    """The mean over runs in a band from the smallest to the largest run; a thin level line from
    where the last run ended.
    """
    x = cell["evaluations"].to_numpy()
    cell = cell.iloc[_thinned(x)]
    x, y = cell["evaluations"].to_numpy(), _shown(cell)
    if not np.isfinite(y).any():  # the panel says so
        return
    low, high = style.finite(cell["min"]), style.finite(cell["max"])
    ax.fill_between(x, low, high, color=line.color, alpha=0.18, linewidth=0)
    ax.plot(
        x, y, color=line.color, linestyle=line.dash, marker=line.marker, markevery=0.25,
        markerfacecolor="white", markeredgewidth=0.9, clip_on=False,
    )  # fmt: skip
    if x[-1] < 0.999 * right and np.isfinite(y[-1]):
        ax.plot([x[-1], right], [y[-1]] * 2, color=line.color, linewidth=0.6, linestyle=":")


def _largest(curves: pd.DataFrame, quantity: str) -> float:
    """The largest mean of a quantity, and at least LINEAR."""
    means = style.finite(curves.loc[curves["quantity"] == quantity, "mean"])
    return float(np.max(means, initial=LINEAR, where=~np.isnan(means)))


def _shown(cell: pd.DataFrame) -> NDArray[np.float64]:
    """The means of a cell, with those that are not on the axis as NaN."""
    y = style.finite(cell["mean"])
    return np.where(y >= BOTTOM, y, np.nan)


def _dropped(curves: pd.DataFrame, look: dict[str, style.Line]) -> list[str]:
    """Which lines have points that are not on the axis."""
    notes = []
    for name, cell in curves.groupby("algorithm", sort=False):
        if bad := int(np.isnan(_shown(cell)).sum()):
            words = f"{bad} of {len(cell)} points < 0 or not finite"
            notes.append(f"{look[str(name)].label}: {words}")
    return notes


def _thinned(x: NDArray[np.int64]) -> NDArray[np.intp]:
    """Rows that stand apart on the log axis: a picture of thousands of points is a megabyte."""
    at = np.log(x / x[0]) / np.log(x[-1] / x[0]) if len(x) > 1 else np.zeros(1)
    _, rows = np.unique((POINTS * at).astype(int), return_index=True)
    return np.union1d(rows, [len(x) - 1])


def _caption(runs: pd.DataFrame, look: dict[str, style.Line]) -> str:
    ends = "; ".join(f"{line.label}: {_ends(runs, name)}" for name, line in look.items())
    return (
        f"Mean over {style.runs_per_cell(runs)} of the regret, against evaluations, in a band "
        "from the smallest to the largest run. Upper row: mean of the current batch. Middle row: "
        "best point so far. Lower row: the recommended point.\n\n"
        "Recommended point: the mode of the distribution, or the best member of the population. "
        f"The axis is linear below {LINEAR:g}, so that 0 is on it. "
        "A run that has stopped keeps its last value, and so does the mean, dotted, once all have "
        f"stopped. How the runs ended, from left to right: {ends}. A run ends as flat where all "
        "values of a batch are equal, so that its curve has come to rest, as stagnated where it "
        "found no better point for long, and as budget where it was cut."
    )


def _ends(runs: pd.DataFrame, algorithm: str) -> str:
    """Counts of the stop reasons of an optimiser, problem by problem, a dash for one it lacks."""
    own = runs[runs["algorithm"] == algorithm]
    cells = (own.loc[own["problem"] == name, "stop"] for name in runs["problem"].unique())
    return ", ".join(
        " and ".join(f"{count} {reason}" for reason, count in cell.value_counts().items()) or "—"
        for cell in cells
    )


def main(arguments: list[str] | None = None) -> None:
    """Draw from the tables of a folder."""
    files.draw_tables("regret", __doc__, draw, arguments)


if __name__ == "__main__":
    main()
