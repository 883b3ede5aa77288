"""Deviations from the exact gradient in standard errors, against normal quantiles.

python -m figures.theory.unbiased results/tables/theory/unbiased.csv \\
    --to results/figures/theory_unbiased
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy import stats

from figures import style
from figures.theory import shared
from figures.theory.shared import LINES


def draw(table: pd.DataFrame) -> tuple[Figure, str]:
    """The picture and its caption, both from the table."""
    estimators = list(dict.fromkeys(table["estimator"]))
    figure, ax = plt.subplots(figsize=(4.4, 3.4))
    dropped = []
    for name in estimators:
        z = np.sort(style.finite(table.loc[table["estimator"] == name, "z"]))
        at = stats.norm.ppf((np.arange(len(z)) + 0.5) / len(z))
        if bad := int(np.isnan(z).sum()):
            dropped.append(f"{LINES[name].label}: {bad} of {len(z)} points not finite")
        line = LINES[name]
        ax.plot(at, z, marker=line.marker, color=line.color, linestyle="", markersize=3,
                markerfacecolor="white", label=line.label)  # fmt: skip
    style.say_dropped(ax, dropped)
    fair = np.linspace(*ax.get_xlim(), 2)
    ax.plot(fair, fair, color="0.45", linewidth=0.7)
    ax.set_yscale("symlog", linthresh=4)
    ax.set_yticks([-20, -4, -2, 0, 2, 4, 20], labels=["−20", "−4", "−2", "0", "2", "4", "20"])
    ax.set_xlabel("normal quantile")
    ax.set_ylabel("(estimate − exact) / standard error")
    ax.legend(fontsize=7)
    figure.tight_layout()
    others = table[~table["estimator"].isin(["centred", "h"])]
    worst = others["z"].abs().max()
    chance = 1 - (1 - 2 * stats.norm.sf(worst)) ** len(others)
    centred = table[table["estimator"] == "centred"]
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        ratio = np.sum(centred["estimate"] * centred["exact"]) / np.sum(centred["exact"] ** 2)
    return figure, (
        f"Estimates of ∇_μ J̄ and ∇_Σ J̄ less their exact values, in standard errors, for "
        f"{table['function'].nunique()} functions with a closed-form Gaussian mean, "
        f"{table['repeats'].iloc[0]} repeats; the line is what an unbiased estimator "
        f"gives.\n\n"
        f"Worst of {len(others)} components: {worst:.2f} standard errors, as bad or worse by "
        f"chance with probability {chance:.2f} if independent. The estimate centred by the "
        f"batch's mean, which Algorithms 1 and 2 use before they divide by σ̂, is "
        f"{ratio:.3f} times the gradient where 1 − 1/N = {centred['factor'].iloc[0]:.3f}, up to "
        f"{centred['z'].abs().max():.2g} standard errors away from it. {_divided(table)}"
    )


def _divided(table: pd.DataFrame) -> str:
    """What the division by σ̂ does."""
    own = table[table["estimator"] == "h"]
    return (
        f"Divided by σ̂ too, as h is, it is {own['factor'].min():.2f} to "
        f"{own['factor'].max():.2f} times the gradient, by function, and up to "
        f"{own['z'].abs().max():.2g} standard errors away from that multiple."
    )


def main(arguments: list[str] | None = None) -> None:
    """Draw from the table."""
    shared.command("unbiased", __doc__, draw, arguments)


if __name__ == "__main__":
    main()
