"""Size of a step, relative to the distribution, against its standard deviation.

python -m figures.theory.update_size results/tables/theory/update_size.csv \\
    --to results/figures/theory_update_size
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from figures import style
from figures.theory import shared
from figures.theory.shared import log_log

LABELS = {
    "ingo": "INGO",
    "ingo_step": "INGOstep",
    "fast_ingo": "Fast-INGO",
    "igo": "IGO",
    "reinforce_gd": "reinforce gradient descent",
}
FUNCTIONS = {
    "linear": "linear, f(μ) = 0",
    "linear_at_1": "linear, f(μ) = 1",
    "quadratic": "quadratic, at its minimiser",
}
STEPS = {"mean_step_over_std": "‖Δμ‖/σ", "variance_step_over_variance": "‖ΔΣ‖/‖Σ‖"}


def draw(table: pd.DataFrame) -> tuple[Figure, str]:
    """The picture and its caption, both from the table."""
    functions = list(dict.fromkeys(table["function"]))
    look = style.lines(dict.fromkeys(table["algorithm"]), LABELS)
    figure, axes = plt.subplots(
        len(STEPS), len(functions), figsize=(2.5 * len(functions), 4.6),
        squeeze=False, sharex=True, sharey="row",
    )  # fmt: skip
    for row, (column, label) in zip(axes, STEPS.items(), strict=True):
        for ax, function in zip(row, functions, strict=True):
            here = table[table["function"] == function]
            for name, cell in here.groupby("algorithm", sort=False):
                line = look[str(name)]
                ax.plot(cell["std"], cell[column], color=line.color, linestyle=line.dash,
                        marker=line.marker, markerfacecolor="white", label=line.label)  # fmt: skip
            log_log(ax)
        row[0].set_ylabel(label)
    for ax, function in zip(axes[0], functions, strict=True):
        ax.set_title(FUNCTIONS[function], fontsize=8)
    for ax in axes[-1]:
        ax.set_xlabel("standard deviation σ")
    style.letters(figure)
    style.legend(figure, look.values(), 3)
    plain = table["algorithm"] == "reinforce_gd"
    powers = "; ".join(
        f"{FUNCTIONS[row['function']]}: {row['mean_power']:.2f} and {row['variance_power']:.2f}"
        for _, row in table[plain].drop_duplicates("function").iterrows()
    )
    alpha = float(table.loc[plain, "step_size"].iloc[0])
    others = table.loc[~plain, ["mean_power", "variance_power"]].abs().max().max()
    return figure, (
        f"Size of the first step from N(μ, σ²I) in d = {table['dim'].iloc[0]}, by the same noise "
        f"at every σ: of the mean over σ (above), and of the covariance over its own size "
        f"(below).\n\nFitted powers of σ, of the mean's step and of the covariance's, of "
        f"reinforce gradient descent: {powers}. (Its step size, here {alpha:g}, moves its lines up "
        f"and down.) Those of the other methods are at most {others:.1g}, where 0 is a step of "
        f"the same size, relative to the distribution, at every σ."
    )


def main(arguments: list[str] | None = None) -> None:
    """Draw from the table."""
    shared.command("update_size", __doc__, draw, arguments)


if __name__ == "__main__":
    main()
