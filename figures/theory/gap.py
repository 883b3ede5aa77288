"""The lemma behind Theorem 5 against the condition number of Σ.

python -m figures.theory.gap results/tables/theory/gap.csv --to results/figures/theory_gap
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from figures import style
from figures.style import BLACK, BLUE, RED, Line
from figures.theory import shared
from figures.theory.shared import BOUND, curve, log_log


def draw(table: pd.DataFrame) -> tuple[Figure, str]:
    """The picture and its caption, both from the table."""
    table = table.sort_values("condition", ignore_index=True)
    figure, ax = plt.subplots(figsize=(4.4, 3.4))
    curve(ax, table, "condition", "measured", Line("E‖Σ'‖‖ĝ‖², measured", RED, "-", "o"))
    ax.plot(table["condition"], table["exact"], "+", color=BLACK, markersize=9, zorder=3)
    ax.plot(table["condition"], table["bound"], color=BLACK, **BOUND)
    ax.plot(table["condition"], table["repaired"], color=BLUE, **BOUND)
    right = table.iloc[-1]
    for words, name, offset, color in (
        ("the lemma: L²‖Σ‖(d + 4)²", "bound", (0, -10), BLACK),
        ("times κ(Σ)", "repaired", (-45, -4), BLUE),
        ("E‖Σ'‖‖ĝ‖², measured", "measured", (0, -62), RED),
    ):
        if np.isfinite(style.positive(right[name])):
            ax.annotate(words, (right["condition"], right[name]), xytext=offset,
                        textcoords="offset points", ha="right", color=color)  # fmt: skip
    log_log(ax)
    ax.set_xlabel("condition number κ of Σ")
    ax.set_ylabel("E‖Σ'‖‖ĝ‖²")
    figure.tight_layout()
    broken = table[table["measured_low"] > table["bound"]]
    slack = table["repaired"] / table["measured"]
    fails = "It holds at every κ"
    if len(broken):
        fails = (
            f"It fails at κ = {', '.join(f'{k:g}' for k in broken['condition'])}, by a factor of "
            f"up to {(broken['measured'] / broken['bound']).max():.3g}"
        )
    return figure, (
        f"The inequality behind Theorem 5 on a linear function, d = {table['dim'].iloc[0]}, with "
        f"95 % intervals.\n\n{fails}. With κ(Σ) as a factor the bound is {slack.min():.3g} to "
        f"{slack.max():.3g} times as large as what it bounds. Crosses: the left side in closed "
        f"form."
    )


def main(arguments: list[str] | None = None) -> None:
    """Draw from the table."""
    shared.command("gap", __doc__, draw, arguments)


if __name__ == "__main__":
    main()
