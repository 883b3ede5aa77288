"""Second moment of the gradient estimate against the number of samples.

python -m figures.theory.variance results/tables/theory/variance.csv \\
    --to results/figures/theory_variance
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from figures.style import BLACK, Line, legend, letters
from figures.theory import shared
from figures.theory.shared import BOUND, LINES, curve, log_log

PLACES = {
    "start": "distance 1, Σ = I/d",
    "narrow": "distance 1, Σ = 10⁻⁴ I/d",
    "minimiser": "at the minimiser, Σ = I/d",
}


def draw(table: pd.DataFrame) -> tuple[Figure, str]:
    """The picture and its caption, both from the table."""
    problems, places = (list(dict.fromkeys(table[name])) for name in ("problem", "place"))
    figure, axes = plt.subplots(
        len(problems), len(places), figsize=(2.5 * len(places), 2.1 * len(problems) + 0.4),
        squeeze=False, sharex=True, sharey="row",
    )  # fmt: skip
    for row, problem in zip(axes, problems, strict=True):
        for ax, place in zip(row, places, strict=True):
            here = table[(table["problem"] == problem) & (table["place"] == place)]
            for name, cell in here.groupby("estimator", sort=False):
                curve(ax, cell, "samples", "second_moment", LINES[str(name)])
            ax.plot(cell["samples"], cell["bound"], color=BLACK, **BOUND)
            ax.set_title(f"{here['title'].iloc[0]}\n{PLACES[place]}", fontsize=8)
            log_log(ax)
        row[0].set_ylabel("E‖ĝ‖²")
    for ax in axes[-1]:
        ax.set_xlabel("samples N")
    bound = Line("lemma: L²(d + 4)²/N", BLACK, ":", "")
    letters(figure)
    legend(figure, [*(LINES[name] for name in dict.fromkeys(table["estimator"])), bound], 5)
    wide = table[table["samples"] == table["samples"].max()]
    both = wide.pivot(index=["title", "place"], columns="estimator", values="second_moment")
    gain = both["batch"] / both["orthogonal"]
    factor = table["bound"] / table["second_moment"]
    return figure, (
        f"Second moment of the gradient's estimate against the number of samples, d = "
        f"{table['dim'].iloc[0]}, with 95 % intervals.\n\nThe lemma's bound "
        f"{'holds' if factor.min() >= 1.0 else 'FAILS'}: it is {factor.min():.3g} to "
        f"{factor.max():.3g} times as large. At N = {wide['samples'].iloc[0]} independent samples "
        f"have {gain.min():.2f} to {gain.max():.2f} times the second moment of orthogonal ones, "
        f"which lack the cross terms, (1 − 1/N)‖∇J̄‖²."
    )


def main(arguments: list[str] | None = None) -> None:
    """Draw from the table."""
    shared.command("variance", __doc__, draw, arguments)


if __name__ == "__main__":
    main()
