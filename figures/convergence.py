"""One panel a problem, one line an optimiser: the mean over runs against evaluations, log scale.

Another quantity may be drawn in a panel below each of them.

    python -m figures.convergence results/tables/figure_1 --column batch_min --band range \\
        --to results/figures/figure_1
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from figures import files, style

# What the axis and the caption call a quantity.
COLUMNS = {
    "batch_min": ("batch minimum", "the minimum f of the current batch"),
    "best": ("best value", "the smallest f so far"),
    "f_mean": ("f at the mean", "f at the mean of the distribution"),
    "batch_mean": ("batch mean", "the mean f of the current batch"),
}
NEAR = 1e-3


def draw(
    runs: pd.DataFrame,
    curves: pd.DataFrame,
    column: str = "batch_min",
    band: str = "range",
    x: str = "linear",
    below: str = "none",
    target: float | None = None,
    labels: Mapping[str, str] | None = None,
) -> tuple[Figure, str]:
    """The picture and its caption.

    Args:
        runs: a row a run, as experiments.tables.aggregate makes it.
        curves: statistics over the runs of each cell.
        column: which quantity, a key of COLUMNS.
        band: what is shaded, a key of style.BANDS.
        x: scale of the evaluations, "linear" or "log".
        below: the quantity in a second panel of each problem, a key of COLUMNS; or "none".
        target: drawn as a line in panels where a mean comes below NEAR; elsewhere it would only
            press all others together. None draws no line.
        labels: what each optimiser is called.
    """
    style.use()
    columns = [column] if below == "none" else [column, below]
    curves = curves[curves["quantity"].isin(columns)]
    problems = list(dict.fromkeys(runs["problem"]))
    look = style.lines(dict.fromkeys(runs["algorithm"]), labels)
    figure, axes = style.grid(len(problems), len(columns), 2.05 if len(columns) == 1 else 1.8)
    left, right = 0 if x == "linear" else curves["evaluations"].min(), curves["evaluations"].max()
    for problem, panels in zip(problems, axes.T, strict=True):
        ends = runs[runs["problem"] == problem]
        for ax, quantity in zip(panels, columns, strict=True):
            here = curves[(curves["problem"] == problem) & (curves["quantity"] == quantity)]
            _draw_panel(ax, here, ends, look, band, right)
            if target is not None and (here["mean"] < NEAR).any():
                ax.axhline(target, color="0.45", linewidth=0.7, linestyle=(0, (4, 3)), zorder=0)
            ax.set_yscale("log")
            ax.set_xscale(x)
            if left < right:
                ax.set_xlim(left, right)
            style.few_ticks(ax)
        panels[0].set_title(ends["title"].iloc[0])
    style.label_x(axes, "evaluations")
    if x == "linear":
        axes[0, 0].xaxis.set_major_formatter(style.thousands())
    style.label_y(axes, [COLUMNS[name][0] for name in columns])
    figure.align_ylabels()
    style.letters(figure)
    long = max(len(i.label) for i in look.values()) > 12
    style.legend(figure, look.values(), 3 if long else 6)
    return figure, _caption(runs, look, columns, band, target)


def _draw_panel(
    ax: Axes,
    curves: pd.DataFrame,
    runs: pd.DataFrame,
    look: dict[str, style.Line],
    band: str,
    right: float,
) -> None:
    """The lines of a problem, and in words what they do not show."""
    shown = style.positive(curves[["mean", *style.BANDS[band][:2]]])
    lowest = np.min(shown, initial=np.inf, where=~np.isnan(shown))
    for algorithm, line in look.items():
        cell = curves[curves["algorithm"] == algorithm]
        if len(cell):
            ends = runs[runs["algorithm"] == algorithm]
            _draw_cell(ax, cell, ends, line, style.BANDS[band][:2], right, lowest)
    style.say_dropped(ax, _dropped(curves, look, style.BANDS[band][0]))
    lost = _lost(runs)
    if len(lost) == runs["algorithm"].nunique():
        words = f"all {len(runs)} runs lost\nin the first iteration"
        ax.text(0.5, 0.95, words, transform=ax.transAxes, ha="center", va="top")
    elif lost:
        names = [look[name].label for name in lost]
        pairs = ["; ".join(names[at : at + 2]) for at in range(0, len(names), 2)]
        words = "\n".join(["all runs lost in the first iteration:", *pairs])
        ax.text(0.03, 0.03, words, transform=ax.transAxes, fontsize=6)


def _lost(runs: pd.DataFrame) -> list[str]:
    """The optimisers of which no run has come past its first iteration."""
    ended = ~runs["stop"].isin(["target", "budget"]) & (runs["iteration"] == 1)
    all_ended = ended.groupby(runs["algorithm"], sort=False).all()
    return [str(name) for name in all_ended.index[all_ended]]


def _draw_cell(
    ax: Axes,
    cell: pd.DataFrame,
    ends: pd.DataFrame,
    line: style.Line,
    band: Any,
    right: float,
    lowest: float,
) -> None:
    """One line with its band, which ends at the lowest point of the panel where a run is lower than
    a log axis can show; a dot where all its runs had reached the target, a cross where the
    last of them stopped for another reason than the budget, and a thin level line from there on.
    """
    x = cell["evaluations"].to_numpy()
    y = style.positive(cell["mean"])
    if not np.isfinite(y).any():  # the panel says how many points a log axis cannot show
        return
    low, high = (style.positive(cell[name]) for name in band)
    low = np.where(np.isnan(low), lowest, low)
    ax.fill_between(x, low, high, color=line.color, alpha=0.18, linewidth=0)
    ax.plot(
        x, y, color=line.color, linestyle=line.dash, marker=line.marker, markevery=0.22,
        markerfacecolor="white", markeredgewidth=0.9,
    )  # fmt: skip
    cut = (ends["stop"] == "budget").any()  # of a problem with a smaller budget than the others
    if x[-1] < 0.999 * right and np.isfinite(y[-1]) and not cut:
        reached = (ends["stop"] == "target").all()
        ax.plot(x[-1], y[-1], "o" if reached else "x", color=line.color, clip_on=False, zorder=5)
        if not reached:
            ax.plot([x[-1], right], [y[-1]] * 2, color=line.color, linewidth=0.6, linestyle=":")


def _dropped(curves: pd.DataFrame, look: dict[str, style.Line], low: str) -> list[str]:
    """Which lines have points that a log axis cannot show, or a band that goes below it, and which
    are means over fewer runs than they seem, because some are not finite.
    """
    notes = []
    for name, cell in curves.groupby("algorithm", sort=False):
        label = look[str(name)].label
        lost = np.isnan(style.positive(cell["mean"]))
        if bad := int(lost.sum()):
            notes.append(f"{label}: {bad} of {len(cell)} points ≤ 0 or not finite")
        if cut := int((np.isnan(style.positive(cell[low])) & ~lost).sum()):
            notes.append(f"{label}: band cut off at {cut} of {len(cell)} points, with runs ≤ 0")
        if 0 < (least := int(cell["finite"].min())) < (runs := int(cell["runs"].max())):
            notes.append(f"{label}: mean over the {least} of {runs} runs that are finite")
    return notes


def _caption(
    runs: pd.DataFrame,
    look: dict[str, style.Line],
    columns: list[str],
    band: str,
    target: float | None,
) -> str:
    drawn = COLUMNS[columns[0]][1]
    if len(columns) > 1:
        drawn += f" (upper panel of each function) and of {COLUMNS[columns[1]][1]} (lower panel)"
    dashed = ""
    if target is not None:
        dashed = f"Dashed: the target {target:g}, in panels where a line comes below {NEAR:g}. "
    return (
        f"Mean over {style.runs_per_cell(runs)} of {drawn}, against evaluations, "
        f"in a band from {style.BANDS[band][2]}{style.setting(runs)}.\n\n"
        f"{dashed}A run that has stopped keeps its last value in the mean; dotted: last value held "
        "constant after all runs have stopped. A dot ends a line whose runs have all reached the "
        "target; a cross ends one where a run stopped for another reason than its budget. Of lines "
        f"that coincide, the last one in the legend is on top. {_ends(runs, look)}"
    ).rstrip()


def _ends(runs: pd.DataFrame, look: Mapping[str, style.Line]) -> str:
    """How often runs ended for a reason other than target and budget, and on which functions;
    optimisers that ended alike share an entry.
    """
    everywhere = runs["title"].nunique()
    early = runs[~runs["stop"].isin(["target", "budget"])]
    reasons = early["stop"].where(
        early["stop_detail"] == "", early["stop"] + " (" + early["stop_detail"] + ")"
    )
    alike: dict[str, list[str]] = {}
    for name, own in reasons.groupby(early["algorithm"], sort=False):
        counts = own.value_counts(sort=False).items()
        words = ", ".join(f"{count} {reason}" for reason, count in counts)
        titles = early.loc[own.index, "title"].drop_duplicates()
        if len(titles) < everywhere:
            words += f" on {' and '.join(titles)}"
        alike.setdefault(words, []).append(look[str(name)].label)
    ends = [f"{words}: {'; '.join(names)}" for words, names in alike.items()]
    return f"Runs that ended before target and budget. {'. '.join(ends)}." if ends else ""


def main(arguments: list[str] | None = None) -> None:
    """Draw from the tables of a folder."""
    files.draw_tables("convergence", __doc__, draw, arguments)


if __name__ == "__main__":
    main()
