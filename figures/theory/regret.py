"""Average regret against iterations, with the bounds of Theorems 4 and 5.

python -m figures.theory.regret results/tables/theory/regret.csv --to results/figures/theory_regret
"""

from __future__ import annotations

from collections.abc import Mapping

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from figures.style import legend, letters
from figures.theory import shared
from figures.theory.shared import BOUND, curve, lines, log_log, mean_over, with_interval


def draw(table: pd.DataFrame, labels: Mapping[str, str] | None = None) -> tuple[Figure, str]:
    """The picture and its caption, from the table and what each estimator is called."""
    problems = list(dict.fromkeys(table["problem"]))
    look = lines(table["algorithm"], labels)
    bound = table["theorem_5"].fillna(table["theorem_4"])
    figure, axes = plt.subplots(
        1, len(problems), figsize=(2.6 * len(problems), 3.1), squeeze=False, sharey=True
    )
    for ax, problem in zip(axes[0], problems, strict=True):
        here = table[table["problem"] == problem]
        for name, cell in here.groupby("algorithm", sort=False):
            line = look[str(name)]
            curve(ax, cell, "iterations", "regret", line)
            ax.plot(cell["iterations"], bound[cell.index], color=line.color, **BOUND)
        ax.set_title(here["title"].iloc[0])
        ax.set_xlabel("iterations T")
        log_log(ax)
    axes[0, 0].set_ylabel("average regret over T iterations")
    letters(figure)
    legend(figure, look.values(), 5)

    last = table[table["iterations"] == table.groupby(["problem", "algorithm"])["iterations"]
                 .transform("max")]  # fmt: skip
    factor = bound[last.index] / last["regret"]
    slopes = "; ".join(
        f"{row['title']} {look[row['algorithm']].label} {with_interval(row, 'slope')}"
        for _, row in last.iterrows()
    )
    highest = table["regret_high"].fillna(table["regret"])  # a single run has no interval
    held = (highest <= bound).all()
    far = (table["reach"] / table["radius"]).max()
    return figure, (
        f"Average regret (1/T) Σ f(μ_t) − f(μ*) in d = {table['dim'].iloc[0]}, "
        f"{mean_over(table)}, and dotted in the same colour the bound: Theorem 5 where it "
        f"applies, to one sample and, in another form, to orthogonal samples with Σ₁ ⪯ I/d, "
        f"else Theorem 4 with 𝓑 from L.\n\n"
        f"{'Every' if held else 'NOT every'} regret lies below its bound; at the last T the bound "
        f"is {factor.min():.3g} to {factor.max():.3g} times as large. Slope of log regret against "
        f"log T over the last decade, where T⁻¹ log T has {last['slope_of_rate'].min():.2f} to "
        f"{last['slope_of_rate'].max():.2f}: {slopes}. What the "
        f"bounds do where f is not smooth, and why antithetic pairs do not feel its kinks: "
        f"experiments/theory/README.md. The means stayed within {far:.2f} of the radius in which "
        f"the constants hold.{_hidden(last)}"
    )


def _hidden(last: pd.DataFrame) -> str:
    """The ratio of two curves where one may cover the other."""
    at = last.pivot(index="title", columns="algorithm", values="regret")
    if not {"batch", "orthogonal"} <= set(at):
        return ""
    ratios = (at["orthogonal"] / at["batch"]).map("{:.3g}".format)
    of = ", ".join(f"{ratio} on {title}" for title, ratio in ratios.items())
    return f" At the last T orthogonal samples have, times the regret of independent ones, {of}."


def main(arguments: list[str] | None = None) -> None:
    """Draw from the table."""
    shared.command("regret", __doc__, draw, arguments)


if __name__ == "__main__":
    main()
