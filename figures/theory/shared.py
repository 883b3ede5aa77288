"""What the pictures of the theory share: their lines, log axes, and the command line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import cycle
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from figures import commands, files, style
from figures.style import BLACK, BLUE, BROWN, GREEN, ORANGE, PINK, PURPLE, RED, SKY, Line

LINES = {
    "single": Line("one sample", RED, "-", "o"),
    "batch": Line("independent", BLUE, (0, (5, 1.5)), "s"),
    "orthogonal": Line("orthogonal", GREEN, "-", "D"),
    "antithetic": Line("antithetic", ORANGE, (0, (3, 1, 1, 1)), "^"),
    "estimated": Line("independent, Ĝ estimated", PINK, (0, (1, 1)), "v"),
    "theorem_2": Line("Theorem 2", BLACK, "-", "o"),
    "centred": Line("centred by the batch's mean", SKY, "-", "X"),
    "centred_by_others": Line("centred by the other samples' mean", PURPLE, "-", "p"),
    "h": Line("h, from a multiple of the gradient", BROWN, "-", "v"),
}
# every bound is dotted, in its estimator's colour
BOUND: dict[str, Any] = {"linewidth": 1.0, "linestyle": ":"}


def lines(names: Iterable[str], labels: Mapping[str, str] | None = None) -> dict[str, Line]:
    """The line of each estimator of an experiment, called as ``labels`` says. One that is not in
    LINES, which config.yaml may have, gets a line whose colour no other has.
    """
    names = list(dict.fromkeys(names))
    taken = {LINES[name].color for name in names if name in LINES}
    spare = cycle([line for line in LINES.values() if line.color not in taken] or LINES.values())
    found = {name: LINES.get(name) or next(spare)._replace(label=name) for name in names}
    return {
        name: line._replace(label=(labels or {}).get(name, line.label))
        for name, line in found.items()
    }


def mean_over(table: pd.DataFrame) -> str:
    """How many runs a curve is the mean of, in words."""
    runs = table["runs"].iloc[0]
    return "one run" if runs == 1 else f"mean over {runs} runs with its 95 % interval"


def with_interval(row: pd.Series, name: str) -> str:
    """A number with its 95 % interval; a single run has none."""
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    return f"{row[name]:.2f}" + (f" ({low:.2f} to {high:.2f})" if pd.notna(low) else "")


def curve(ax: Axes, table: pd.DataFrame, x: str, y: str, line: Line) -> None:
    """A line with its interval."""
    low = np.fmax(style.finite(table[f"{y}_low"].fillna(table[y])), 1e-300)
    high = style.positive(table[f"{y}_high"].fillna(table[y]))
    ax.fill_between(table[x], low, high, color=line.color, alpha=0.2, linewidth=0)
    ax.plot(
        table[x], table[y], color=line.color, linestyle=line.dash, marker=line.marker,
        markevery=max(1, len(table) // 8), markerfacecolor="white", markeredgewidth=0.9,
    )  # fmt: skip


def log_log(ax: Axes) -> None:
    """Log axes scaled to the lines, and said what of them is not there; an interval that reaches
    below zero is cut off.
    """
    lost = any_left = 0
    for line in ax.lines:
        x, y = (style.positive(values) for values in line.get_data())
        shown = ~np.isnan(x + y)
        any_left += int(shown.sum())
        if not shown.all():
            line.set_data(x, y)
            lost += int((~shown).sum())
    if lost:
        style.say_dropped(ax, [f"{lost} points ≤ 0 or not finite"])
        ax.relim()
    drawn = [line for a in ax.get_shared_y_axes().get_siblings(ax) for line in a.lines]
    y = style.positive(np.concatenate([np.asarray(line.get_ydata()) for line in drawn]))
    if np.isfinite(y).any():
        ax.set_ylim(np.nanmin(y) / 3, np.nanmax(y) * 3)
    else:
        ax.set_ylim(0.1, 1.0)
    ax.set_yscale("log")  # with limits, or it would look for some in what it cannot show
    if any_left:
        ax.set_xscale("log")


def command(
    name: str,
    about: str | None,
    draw: Callable[..., tuple[Figure, str]],
    arguments: list[str] | None,
) -> None:
    """The command line of a module that draws one picture from one table.

    Args:
        name: of the picture and of its module.
        about: the module's docstring, for the help.
        draw: from the table, and labels where they are given, to the picture and its caption.
        arguments: of the command line; None takes the process's own.
    """
    args = commands.theory_figure_parser(name, about).parse_args(arguments)
    style.use()
    table = pd.read_csv(args.table)
    figure, caption = draw(table, args.labels) if args.labels else draw(table)
    files.save(figure, args.to, caption, args.formats)
