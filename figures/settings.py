"""One row a setting of an optimiser, one dot a run: the reward averaged over the whole run.

python -m figures.settings results/tables/control_steps --to results/figures/control_steps
"""

from __future__ import annotations

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from experiments.tables.reader import method
from figures import files, style

COLUMN = "area_batch_mean"  # of the table of runs; a negated reward


def draw(runs: pd.DataFrame, labels: Mapping[str, str] | None = None) -> tuple[Figure, str]:
    """The picture and its caption, from the table of runs and what each setting is called.

    A method has its colour, and a filled dot at the setting with the best mean.
    """
    style.use()
    names, labels = list(dict.fromkeys(runs["algorithm"])), labels or {}
    methods = {name: method(name) for name in names}
    look = style.lines(dict.fromkeys(methods.values()))
    tasks = list(dict.fromkeys(runs["problem"]))
    figure, axes = plt.subplots(
        1, len(tasks), figsize=(2.4 * len(tasks) + 1.4, 0.17 * len(names) + 0.9), squeeze=False,
        sharey=True,
    )  # fmt: skip
    said = []
    for ax, task in zip(axes[0], tasks, strict=True):
        here = runs[runs["problem"] == task]
        rewards = {name: -style.finite(own[COLUMN]) for name, own in here.groupby("algorithm")}
        best = _best(rewards, methods)
        for row, name in enumerate(names):
            if name in rewards:
                shown, color = rewards[name], look[methods[name]].color
                ax.plot(
                    shown, np.full(len(shown), row), linestyle="", marker="o", markersize=4,
                    color=color, markeredgewidth=0.9,
                    markerfacecolor=color if name in best.values() else "white",
                )  # fmt: skip
        title = here["title"].iloc[0]
        ax.set_title(title)
        ax.set_xlabel("average reward over the run")
        ax.xaxis.set_major_formatter(style.thousands())
        ax.grid(axis="y", linewidth=0.3, alpha=0.5)
        of = "; ".join(
            f"{labels.get(name, name)} ({np.mean(rewards[name]):.3g})" for name in best.values()
        )
        said.append(f"{title}: {of}.")
    axes[0, 0].set_yticks(range(len(names)), [labels.get(name, name) for name in names])
    axes[0, 0].invert_yaxis()
    figure.tight_layout()
    iterations = runs.groupby("problem", sort=False)["iteration"].max()
    caption = (
        f"Reward averaged over the roll-outs of the first {_range(iterations)} iterations, one dot "
        f"per run ({style.runs_per_cell(runs)} per setting); filled: the setting of each method "
        f"with the best mean.\n\nThe best settings and their means. {' '.join(said)}"
    )
    return figure, caption


def _best(rewards: Mapping[str, np.ndarray], methods: Mapping[str, str]) -> dict[str, str]:
    """The setting of each method with the largest mean."""
    means = {name: mean for name, own in rewards.items() if not np.isnan(mean := np.mean(own))}
    # the last one of a method stays
    return {methods[name]: name for name in sorted(means, key=lambda name: means[name])}


def _range(counts: pd.Series) -> str:
    least, most = counts.min(), counts.max()
    return f"{most}" if least == most else f"{least} to {most}"


def main(arguments: list[str] | None = None) -> None:
    """Draw from the tables of a folder."""
    files.draw_tables("settings", __doc__, draw, arguments)


if __name__ == "__main__":
    main()
