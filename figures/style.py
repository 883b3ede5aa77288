"""How every picture looks: one colour, dash and marker an optimiser, readable in grey too."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import cycle
from typing import Any, NamedTuple

import matplotlib

matplotlib.use("agg")  # no screen needed
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import EngFormatter
from numpy.typing import NDArray


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

SMALLEST, LARGEST = 1e-150, 1e100  # beyond, the ends of an axis with its ticks may overflow

SPARE = [
    Look(color, dash, marker)
    for dash in ("-", "--")
    for color, marker in zip((PINK, BLUE, GREEN, ORANGE, SKY, RED, BLACK), "XopsvD^", strict=True)
]


def lines(algorithms: Iterable[str], labels: Mapping[str, str] | None = None) -> dict[str, Line]:
    """The line of each of these optimisers, called as ``labels`` says, or by its name; those
    without a look of their own get a spare, in a colour that none of the others has.
    """
    algorithms, labels = list(algorithms), labels or {}
    taken = {LOOKS[name].color for name in algorithms if name in LOOKS}
    spare = cycle([look for look in SPARE if look.color not in taken] or SPARE)
    return {
        name: Line(labels.get(name, name), *(LOOKS.get(name) or next(spare))) for name in algorithms
    }


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
            "savefig.dpi": 200,
        }
    )


def thousands() -> EngFormatter:
    """The labels of ticks: 1.8M, 300k, 0. Made when it is used, since it reads the style then."""
    return EngFormatter(sep="")


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
