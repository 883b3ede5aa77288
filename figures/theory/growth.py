"""Average regret after T iterations against the dimension.

python -m figures.theory.growth results/tables/theory/growth.csv --to results/figures/theory_growth
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from figures.style import legend, letters
from figures.theory import shared
from figures.theory.shared import BOUND, LINES, curve, log_log, mean_over, with_interval


def draw(table: pd.DataFrame) -> tuple[Figure, str]:
    """The picture and its caption, both from the table."""
    problems = list(dict.fromkeys(table["problem"]))
    figure, axes = plt.subplots(
        1, len(problems), figsize=(3.0 * len(problems), 3.1), squeeze=False, sharey=True
    )
    said = []
    for ax, problem in zip(axes[0], problems, strict=True):
        here = table[table["problem"] == problem]
        for name, cell in here.groupby("estimator", sort=False):
            line = LINES[str(name)]
            curve(ax, cell, "dim", "regret", line)
            ax.plot(cell["dim"], cell["bound"], color=line.color, **BOUND)
            row = cell.iloc[0]
            factor = cell["bound"] / cell["regret"]
            said.append(
                f"{row['title']}, {line.label}: {with_interval(row, 'slope')}, bound "
                f"{row['bound_slope']:.2f} and {factor.min():.3g} to {factor.max():.3g} times as "
                f"large"
            )
        ax.set_title(here["title"].iloc[0])
        ax.set_xlabel("dimension d")
        log_log(ax)
        ax.set_xticks(here["dim"].unique(), labels=map(str, here["dim"].unique()))
        ax.minorticks_off()
    axes[0, 0].set_ylabel("average regret")
    letters(figure)
    legend(figure, [LINES[name] for name in dict.fromkeys(table["estimator"])], 5)
    both = table.pivot(index=["problem", "dim"], columns="estimator", values="regret")
    gain = both["batch"] / both["orthogonal"]
    return figure, (
        f"Average regret after {table['iterations'].iloc[0]} iterations against d, "
        f"{mean_over(table)}; independent and orthogonal with N = d, whose lines all but "
        f"coincide (their ratio has a figure of its own); dotted the bounds.\n\n"
        f"Fitted powers of d: {'; '.join(said)}. The d² (one sample) and "
        f"d (orthogonal) take R and B₁ for constants, which at least grow like d. Independent "
        f"samples have {gain.min():.2f} to {gain.max():.2f} times the regret of as many orthogonal "
        f"ones. The means stayed within "
        f"{(table['reach'] / table['radius']).max():.2f} of the radius in which the constants hold."
    )


def main(arguments: list[str] | None = None) -> None:
    """Draw from the table."""
    shared.command("growth", __doc__, draw, arguments)


if __name__ == "__main__":
    main()
