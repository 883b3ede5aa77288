"""Difference of closed form and solver in the trust-region problem of Theorem 3.

python -m figures.theory.trust_region results/tables/theory/trust_region.csv \\
    --to results/figures/theory_trust_region
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from figures import style
from figures.style import BLUE, RED
from figures.theory import shared
from figures.theory.shared import log_log


def draw(table: pd.DataFrame) -> tuple[Figure, str]:
    """The picture and its caption, both from the table."""
    names = {"theorem_3": ("Theorem 3, in (μ, Σ)", BLUE), "framework": ("Algorithm 3, in m", RED)}
    figure, ax = plt.subplots(figsize=(4.4, 3.0))
    for name, cell in table.groupby("problem", sort=False):
        label, color = names[str(name)]
        ax.plot(cell["moved"], np.maximum(cell["error"], 1e-16), ".", color=color, label=label)
    log_log(ax)
    ax.set_xlabel("how far the mean moves")
    ax.set_ylabel("relative difference of closed form and solver")
    ax.set_ylim(top=3 * np.nanmax([1e-2 / 3, *style.finite(table["error"])]))
    ax.legend(fontsize=7)
    figure.tight_layout()
    return figure, (
        f"Largest difference of any entry of (μ', Σ'), as a part of the largest entry, between the "
        f"closed form and scipy's numerical solution of the trust-region problem, for "
        f"{table['instance'].nunique()} random problems in 2-D: at most "
        f"{table['error'].max():.1e}; the closed form's objective is at most "
        f"{table['gap'].max():.1e} above the solver's.\n\nBoth forms need Σ⁻¹ + 2βG to be positive "
        f"definite, which the theorem does not say: without it the problem has no minimum."
    )


def main(arguments: list[str] | None = None) -> None:
    """Draw from the table."""
    shared.command("trust_region", __doc__, draw, arguments)


if __name__ == "__main__":
    main()
