"""Regret and noise with orthogonal samples, over those with as many independent ones.

python -m figures.theory.orthogonal results/tables/theory/orthogonal.csv \\
    --to results/figures/theory_orthogonal
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from figures import style
from figures.style import BLUE, GREEN, ORANGE, Line
from figures.theory import shared

PLACES = {
    "start": Line("distance 1, Σ = I/d (regret: Σ₁ = I/(10d))", GREEN, "-", "D"),
    "narrow": Line("distance 1, Σ = 10⁻⁴ I/d", BLUE, (0, (5, 1.5)), "s"),
    "minimiser": Line("at the minimiser, Σ = I/d", ORANGE, (0, (3, 1, 1, 1)), "^"),
}
QUANTITIES = {
    "regret": ("dim", "dimension d, N = d", "average regret"),
    "second_moment": ("samples", "samples N", "E‖ĝ‖²"),
}


def draw(table: pd.DataFrame) -> tuple[Figure, str]:
    """The picture and its caption, both from the table."""
    problems = list(dict.fromkeys(table["problem"]))
    figure, axes = plt.subplots(
        len(QUANTITIES), len(problems), figsize=(3.0 * len(problems), 5.0),
        squeeze=False, sharey="row",
    )  # fmt: skip
    for row, (quantity, (x, label, name)) in zip(axes, QUANTITIES.items(), strict=True):
        for ax, problem in zip(row, problems, strict=True):
            here = table[(table["quantity"] == quantity) & (table["problem"] == problem)]
            panel(ax, here, x)
            ax.set_xlabel(label)
            ax.set_title(here["title"].iloc[0])
        row[0].set_ylabel(f"{name},\northogonal / independent")
    style.letters(figure)
    style.legend(figure, PLACES.values(), 1)
    regret, moment = (table[table["quantity"] == name] for name in QUANTITIES)
    wide = moment[moment["samples"] == moment["samples"].max()]
    return figure, (
        f"Orthogonal over as many independent samples, ratio of means with its 95 % interval; "
        f"1 is no difference. Above the average regret, N = d, {regret['runs'].iloc[0]} runs of "
        f"either from the same starts; below the second moment of the gradient's estimate, "
        f"d = {moment['dim'].iloc[0]}, {moment['runs'].iloc[0]} repeats.\n\n"
        f"Regret: {spread(regret)}; {clear(regret)} intervals lie below 1. E‖ĝ‖² at N = "
        f"{wide['samples'].iloc[0]}: {spread(wide)}. Orthogonality removes the cross terms, "
        f"(1 − 1/N)‖∇J̄‖², and none of the noise of a single sample."
    )


def panel(ax: Axes, table: pd.DataFrame, x: str) -> None:
    """The ratio of each place against ``x``, with its interval."""
    lost = 0
    for place, cell in table.groupby("place", sort=False):
        line = PLACES[str(place)]
        y, low, high = (style.finite(cell[f"ratio{end}"]) for end in ("", "_low", "_high"))
        shown = ~np.isnan(y + low + high)
        lost += int((~shown).sum())
        at, y = cell[x].to_numpy()[shown], y[shown]
        reach = np.abs([low[shown] - y, high[shown] - y])
        ax.errorbar(at, y, reach, color=line.color, linestyle=line.dash, marker=line.marker,
                    markerfacecolor="white", capsize=2)  # fmt: skip
    style.say_dropped(ax, [f"{lost} points not finite"] if lost else [])
    ax.axhline(1.0, color="0.45", linewidth=0.7)
    ax.set_xscale("log", base=2)
    ax.set_xticks(table[x].unique(), labels=map(str, table[x].unique()))
    ax.minorticks_off()


def spread(table: pd.DataFrame) -> str:
    """The smallest and the largest ratio with their intervals, in words."""
    ends = table.sort_values("ratio").iloc[[0, -1]]
    return " to ".join(shared.with_interval(row, "ratio") for _, row in ends.iterrows())


def clear(table: pd.DataFrame) -> str:
    """How many intervals lie below 1, of all."""
    return f"{int((table['ratio_high'] < 1).sum())} of {len(table)}"


def main(arguments: list[str] | None = None) -> None:
    """Draw from the table."""
    shared.command("orthogonal", __doc__, draw, arguments)


if __name__ == "__main__":
    main()
