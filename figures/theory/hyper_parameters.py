"""Numbers of hyper-parameters of INGO and CMA-ES.

python -m figures.theory.hyper_parameters results/tables/theory/hyper_parameters.csv \\
    --to results/figures/theory_hyper_parameters
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from figures.style import BLUE, ORANGE, SKY
from figures.theory import shared


def draw(table: pd.DataFrame) -> tuple[Figure, str]:
    """The picture and its caption, both from the table."""
    kinds = {
        "set": ("set by the user", BLUE),
        "rule": ("constants of the update with a formula", SKY),
        "strategy": ("pycma's options of the update", ORANGE),
        "option": ("pycma's other options", "0.8"),
    }
    labels = {
        "ingo": "INGO", "ingo_step": "INGOstep", "fast_ingo": "Fast-INGO", "igo": "IGO", "es": "ES",
        "cma_es": "CMA-ES (purecma)", "pycma": "CMA-ES (pycma)",
    }  # fmt: skip
    counts = table.groupby(["method", "kind"], sort=False).size().unstack(fill_value=0)
    counts = counts.reindex(columns=list(kinds), fill_value=0)
    figure, ax = plt.subplots(figsize=(5.4, 2.5))
    left = np.zeros(len(counts))
    rows = np.arange(len(counts))
    for kind, (label, color) in kinds.items():
        ax.barh(rows, counts[kind], left=left, color=color, label=label)
        left += counts[kind].to_numpy()
    for row, total in enumerate(left):
        ax.text(total + 0.8, row, f"{total:.0f}", va="center")
    ax.set_yticks(rows, [labels[name] for name in counts.index])
    ax.invert_yaxis()
    ax.set_xlabel("hyper-parameters")
    ax.legend(fontsize=7, loc="upper right")
    figure.tight_layout()
    names = {name: ", ".join(own["parameter"]) for name, own in table.groupby("method")}
    total = counts.sum(axis=1)
    return figure, (
        f"Hyper-parameters, read from the code.\n\n"
        f"INGO: {names['ingo']}. CMA-ES in its textbook form (purecma): {names['cma_es']}. The "
        f"update of INGO has {total['ingo']}, that of CMA-ES {total['cma_es']}; but all of "
        f"CMA-ES's constants have a formula, as INGO's step size has, and of what its user does "
        f"set there are {counts.loc['cma_es', 'set']}, of INGO {counts.loc['ingo', 'set']}. pycma "
        f"lets its user change {total['pycma']}, "
        f"{counts.loc['pycma', 'strategy']} of them of the update."
    )


def main(arguments: list[str] | None = None) -> None:
    """Draw from the table."""
    shared.command("hyper_parameters", __doc__, draw, arguments)


if __name__ == "__main__":
    main()
