"""One row a setting of an optimiser, one dot a run: what it came to.

    python -m figures.settings results/tables/control_steps --to results/figures/control_steps

The reward averaged over the whole run, or with ``--column best`` the best value at its end.
"""

from __future__ import annotations

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray

from experiments.tables.reader import method, rank
from experiments.tables.rewards import interquartile_mean
from figures import files, style

Array = NDArray[np.float64]
TARGET = 1e-10
REWARD, BEST = "area_batch_mean", "best"  # columns of the table of runs; rewards are negated there


def draw(
    runs: pd.DataFrame, labels: Mapping[str, str] | None = None, column: str = REWARD
) -> tuple[Figure, str]:
    """The picture and its caption, from the table of runs and what each setting is called.

    A method has its colour, and a filled dot at its best setting: the one with the largest
    interquartile mean of the reward; or with which most runs reached the target, of equal ones the
    fastest, then the one with the smallest median.
    """
    style.use()
    names, labels = list(dict.fromkeys(runs["algorithm"])), labels or {}
    methods = {name: method(name) for name in names}
    look = style.lines(dict.fromkeys(methods.values()))
    problems = list(dict.fromkeys(runs["problem"]))
    figure, axes = plt.subplots(
        1, len(problems), figsize=(2.4 * len(problems) + 1.4, 0.17 * len(names) + 0.9),
        squeeze=False, sharey=True,
    )  # fmt: skip
    said = []
    for ax, problem in zip(axes[0], problems, strict=True):
        here = runs[runs["problem"] == problem]
        values = {str(name): _values(own, column) for name, own in here.groupby("algorithm")}
        middle = np.median if column == BEST else interquartile_mean
        middles = {name: float(middle(own)) for name, own in values.items()}
        if column == BEST:
            ranks = {n: rank(here[here["algorithm"] == n], TARGET) for n in values}
            best = _best(ranks, methods)
            values = {name: style.positive(own) for name, own in values.items()}
        else:
            best = _best({name: (-m,) for name, m in middles.items()}, methods)
        for row, name in enumerate(names):
            if name in values:
                shown, color = values[name], look[methods[name]].color
                ax.plot(
                    shown, np.full(len(shown), row), linestyle="", marker="o", markersize=4,
                    color=color, markeredgewidth=0.9,
                    markerfacecolor=color if name in best.values() else "white",
                )  # fmt: skip
        title = here["title"].iloc[0]
        ax.set_title(title)
        if column == BEST:
            ax.set_xscale("log")
            ax.set_xlabel("best value at the end")
            style.few_ticks(ax)
            if hidden := sum(int(np.isnan(own).sum()) for own in values.values()):
                style.say_dropped(ax, [f"{hidden} of {len(here)} runs ≤ 0 or not finite"])
        else:
            ax.set_xlabel("average reward over the run")
            ax.xaxis.set_major_formatter(style.thousands())
        ax.grid(axis="y", linewidth=0.3, alpha=0.5)
        of = "; ".join(f"{labels.get(name, name)} ({middles[name]:.3g})" for name in best.values())
        said.append(f"{title}: {of}.")
    axes[0, 0].set_yticks(range(len(names)), [labels.get(name, name) for name in names])
    axes[0, 0].invert_yaxis()
    style.letters(figure)
    figure.tight_layout()
    return figure, f"{_about(runs, column)} {' '.join(said)}"


def _about(runs: pd.DataFrame, column: str) -> str:
    """What the picture shows, to the beginning of its last sentence."""
    dots = f"one dot per run ({style.runs_per_cell(runs)} per setting); filled: the setting of "
    if column == BEST:
        counts = runs["stop"].value_counts().items()
        ends = ", ".join(f"{str(stop).replace('_', ' ')} {count}" for stop, count in counts)
        return (
            f"Best value at the end of a run{style.setting(runs)}, {dots}each method with which "
            f"most runs reached {TARGET:g}, of equal ones the fastest. Runs ended by: {ends}. Not "
            "in the paper.\n\nThe best settings and their medians."
        )
    longest = runs.groupby("problem", sort=False)["iteration"]
    short = runs.loc[runs["iteration"] < longest.transform("max"), "iteration"]
    ended = f" {len(short)} runs ended after {_range(short)} iterations, and so do their averages."
    return (
        f"Reward averaged over the roll-outs of the first {_range(longest.max())} iterations, "
        f"{dots}each method with the best interquartile mean.{ended if len(short) else ''}\n\n"
        "The best settings and these means."
    )


def _values(runs: pd.DataFrame, column: str) -> Array:
    """Of each run: the best value above the minimum, or the reward."""
    if column == BEST:
        known = runs["minimum"].where(np.isfinite(runs["minimum"]), 0.0)
        excess: Array = (runs["best"] - known).to_numpy(dtype=float)
        return excess
    return -style.finite(runs[column])


def _best(ranks: Mapping[str, tuple[float, ...]], methods: Mapping[str, str]) -> dict[str, str]:
    """The setting of each method with the smallest rank; none where all of them are NaN."""
    known = [name for name in methods if name in ranks and not np.isnan(ranks[name][-1])]
    return {
        of: min((name for name in known if methods[name] == of), key=lambda name: ranks[name])
        for of in dict.fromkeys(methods[name] for name in known)
    }


def _range(counts: pd.Series) -> str:
    least, most = counts.min(), counts.max()
    return f"{most}" if least == most else f"{least} to {most}"


def main(arguments: list[str] | None = None) -> None:
    """Draw from the tables of a folder."""
    files.draw_tables("settings", __doc__, draw, arguments)


if __name__ == "__main__":
    main()
