"""How every picture looks: one colour, dash and marker an optimiser, readable in grey too."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import cycle
from string import ascii_lowercase
from typing import Any, NamedTuple

import matplotlib

matplotlib.use("agg")  # no screen needed
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import EngFormatter, NullLocator
from numpy.typing import NDArray

from experiments.tables.reader import method


class Look(NamedTuple):
    """How the line of an optimiser is drawn."""

    color: str
    dash: Any
    marker: str


class Line(NamedTuple):
    """A line, and what the legend calls it."""

    label: str
    color: str
    dash: Any
    marker: str


# Colours of Okabe and Ito, told apart with every common kind of colour blindness.
BLUE, ORANGE, GREEN, RED = "#0072B2", "#E69F00", "#009E73", "#D55E00"
PINK, SKY, BLACK = "#CC79A7", "#56B4E9", "#000000"
# For lines beyond these seven, which their dashes tell apart.
GREY, PURPLE, BROWN, OLIVE = "#8A8A8A", "#7A3E9D", "#7B4B2A", "#8B8B1A"

# What an optimiser looks like in every picture.
LOOKS = {
    "fast_ingo": Look(RED, "-", "o"),
    "ingo": Look(BLUE, "-", "s"),
    "ingo_step": Look(SKY, (0, (5, 1.5)), "D"),
    "igo": Look(ORANGE, (0, (3, 1, 1, 1)), "^"),
    "cma_es": Look(GREEN, (0, (6, 1, 1, 1, 1, 1)), "v"),
    "es": Look(BLACK, (0, (1, 1)), "P"),
    "es_sgd": Look(PINK, (0, (5, 1.5)), "X"),
    "es_sgd_unscaled": Look(GREEN, (0, (3, 1, 1, 1)), "v"),
    "asebo": Look(BLUE, (0, (6, 1, 1, 1, 1, 1)), "s"),
    "bernoulli_ingo": Look(RED, "-", "o"),
    "categorical_ingo": Look(RED, "-", "o"),
    "ga": Look(BLUE, (0, (5, 1.5)), "s"),
    "simple_ga": Look(GREEN, (0, (3, 1, 1, 1)), "^"),
}

# What is shaded around a line: from which column of the curves to which, and what that is.
BANDS = {
    "range": ("min", "max", "the smallest to the largest run"),
    "quartiles": ("q1", "q3", "the lower to the upper quartile of the runs"),
}

SMALLEST, LARGEST = 1e-150, 1e100  # beyond, the ends of an axis with its ticks may overflow

SPARE = [
    Look(color, dash, marker)
    for dash, colors in (
        ("-", (PINK, BLUE, GREEN, ORANGE, SKY, RED, BLACK)),
        ("--", (GREY, PURPLE, BROWN, OLIVE, BLUE, GREEN, ORANGE)),
    )
    for color, marker in zip(colors, "XopsvD^", strict=True)
]


# Of the settings of one method, from the first on: they differ by their tints too.
TINTED: tuple[tuple[Any, str], ...] = (("-", "o"), ((0, (5, 1.5)), "s"), ((0, (1, 1)), "^"))


def lines(algorithms: Iterable[str], labels: Mapping[str, str] | None = None) -> dict[str, Line]:
    """The line of each of these optimisers, called as ``labels`` says, or by its name. Where there
    are settings of several methods they have their method's colour, in other tints and dashes;
    those without a look of their own get a spare, in a colour that none of the others has.
    """
    algorithms, labels = list(algorithms), labels or {}
    looks = LOOKS | _of_settings(algorithms)
    taken = {looks[name].color for name in algorithms if name in looks}
    spare = cycle([look for look in SPARE if look.color not in taken] or SPARE)
    return {
        name: Line(labels.get(name, name), *(looks.get(name) or next(spare))) for name in algorithms
    }


def _of_settings(algorithms: list[str]) -> dict[str, Look]:
    """The looks of settings of methods, as INGO's ingo_0.5 and ingo_5, if there are several."""
    settings: dict[str, list[str]] = {}
    for name in algorithms:
        if name not in LOOKS and method(name) in LOOKS:
            settings.setdefault(method(name), []).append(name)
    if len(settings) < 2:
        return {}
    looks = {}
    for of, names in settings.items():
        color = np.array(to_rgb(LOOKS[of].color))
        for k, (name, (dash, marker)) in enumerate(zip(names, cycle(TINTED), strict=False)):
            white = 0.55 * k / max(len(names) - 1, 1)
            r, g, b = (1 - white) * color + white
            looks[name] = Look(to_hex((r, g, b)), dash, marker)
    return looks


def use() -> None:
    """Set matplotlib up, whatever its user's own style: small type, thin axes, text kept as text,
    no dates in the files.
    """
    plt.rcdefaults()
    plt.rcParams.update(
        {
            "font.size": 8,
            "axes.titlesize": 9,
            "axes.linewidth": 0.6,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "lines.linewidth": 1.4,
            "lines.markersize": 4.5,
            "legend.frameon": False,
            "pdf.fonttype": 42,
            "svg.fonttype": "none",
            "svg.hashsalt": "fixed",
            "figure.dpi": 200,
        }
    )


def thousands() -> EngFormatter:
    """The labels of ticks: 1.8M, 300k, 0. Made when it is used, since it reads the style then."""
    return EngFormatter(sep="")


def grid(count: int, rows: int, height: float) -> tuple[Figure, NDArray[Any]]:
    """Panels with one axis of x for ``count`` problems, three side by side, with ``rows`` of them
    below each other for each problem.

    Args:
        count: of problems.
        rows: of each problem.
        height: of a panel, in inches.

    Returns:
        The figure, and its axes by row and problem.
    """
    width = min(3, count)
    blocks = -(-count // width)
    size = (2.5 * width, height * blocks * rows + 0.4)
    figure, axes = plt.subplots(blocks * rows, width, figsize=size, squeeze=False, sharex=True)
    by_row = axes.reshape(blocks, rows, width).transpose(1, 0, 2).reshape(rows, -1)
    for ax in by_row[:, count:].flat:
        ax.remove()
    for ax in by_row[-1, max(0, count - width) : count]:
        ax.tick_params(labelbottom=True)  # above a place that is empty, too
    return figure, by_row[:, :count]


def label_x(axes: NDArray[Any], words: str) -> None:
    """Label x below the lowest panel of each column of ``grid``."""
    for ax in axes[-1, -min(3, axes.shape[1]) :]:
        ax.set_xlabel(words)


def label_y(axes: NDArray[Any], words: Iterable[str]) -> None:
    """Label y beside the first panel of each row of ``grid``."""
    for row, label in zip(axes, words, strict=True):
        for ax in row[::3]:
            ax.set_ylabel(label)


def few_ticks(ax: Axes) -> None:
    """Leave the minor ticks of a log axis out where it has two powers of ten or more: they are
    dozens, nobody reads them, and they take half of the time of a picture.
    """
    for axis in (ax.xaxis, ax.yaxis):
        low, high = axis.get_view_interval()
        if axis.get_scale() == "log" and high > 100 * low:
            axis.set_minor_locator(NullLocator())


def letters(figure: Figure) -> None:
    """A letter beside the upper left corner of each panel, in the order in which one reads."""
    if len(figure.axes) > 1:
        for ax, letter in zip(figure.axes, ascii_lowercase, strict=False):
            ax.set_title(f"({letter})", loc="left", x=-0.03, ha="right", fontsize=8)


def legend(figure: Figure, lines: Iterable[Line], columns: int) -> None:
    """One legend above all panels, and the panels below it."""
    handles = [
        Line2D([], [], color=i.color, linestyle=i.dash, marker=i.marker, label=i.label, mfc="white")
        for i in lines
    ]
    columns = min(columns, len(handles))
    rows = -(-len(handles) // columns)
    figure.legend(handles=handles, loc="upper center", ncols=columns, handlelength=3)
    figure.tight_layout(rect=(0, 0, 1, 1 - (0.1 + 0.2 * rows) / figure.get_figheight()))


def say_dropped(ax: Axes, words: list[str]) -> None:
    """Write in a corner of a panel what it does not show."""
    if words:
        ax.text(
            0.98, 0.98, "\n".join(words), transform=ax.transAxes, fontsize=6, ha="right", va="top"
        )


def finite(values: Any) -> NDArray[np.float64]:
    """Values with what no axis can show (not finite, or too large for its ends) as NaN."""
    v = np.asarray(values, dtype=float)
    return np.where(np.abs(v) < LARGEST, v, np.nan)


def positive(values: Any) -> NDArray[np.float64]:
    """Values with what a log axis cannot show (≤ 0, not finite, or too far out) as NaN."""
    v = finite(values)
    return np.where(v > SMALLEST, v, np.nan)


def runs_per_cell(runs: pd.DataFrame) -> str:
    """How many runs the cells of a table have: "20 runs", "1 run", or "3 to 5 runs"."""
    return count(runs.groupby(["problem", "algorithm"], sort=False).size())


def setting(runs: pd.DataFrame) -> str:
    """The dimension and the points a batch, as far as all runs share them: "; d = 100, N = 18"."""
    shared = {"d": runs["dim"], "N": runs["evaluations"] // runs["iteration"]}
    known = [f"{name} = {v.iloc[0]}" for name, v in shared.items() if v.nunique() == 1]
    return "; " + ", ".join(known) if known else ""


def count(counts: pd.Series) -> str:
    """Numbers of runs in words."""
    least, most = counts.min(), counts.max()
    return f"{'' if least == most else f'{least} to '}{most} run{'s' if most > 1 else ''}"
