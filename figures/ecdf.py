"""Share of (problem, target, run) triples solved against evaluations: one line an optimiser.

python -m figures.ecdf results/tables/figure_1 --to results/figures/ecdf_figure_1
"""

from __future__ import annotations

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray

from experiments.runs.record import TARGETS
from figures import files, style

HARDEST, EASIEST = 1e-10, 1e2
STEPS = 400  # of a line, at most: more are less than a pixel apart


def solved(runs: pd.DataFrame) -> NDArray[np.float64]:
    """Evaluations at which each (run, target) was solved, sorted; inf where it was not."""
    first, last = TARGETS.index(EASIEST), TARGETS.index(HARDEST)
    times = np.full((len(runs), last - first + 1), np.inf)
    for row, hits in zip(times, runs["hits"], strict=True):
        got = hits[first : last + 1]
        row[: len(got)] = got
    return np.sort(times, axis=None)


def draw(runs: pd.DataFrame, labels: Mapping[str, str] | None = None) -> tuple[Figure, str]:
    """The picture and its caption, from the table of runs and what each optimiser is called."""
    style.use()
    figure, ax = plt.subplots(figsize=(4.6, 3.2))
    look = style.lines(dict.fromkeys(runs["algorithm"]), labels)
    right = float(runs["evaluations"].max())
    for algorithm, line in look.items():
        times = solved(runs[runs["algorithm"] == algorithm])
        done = times[np.isfinite(times)]
        count = np.arange(1, len(done) + 1)
        if len(done) > STEPS:
            count = np.arange(1, STEPS + 1) * len(done) // STEPS
        x = np.concatenate([done[count - 1], [right]])
        y = np.concatenate([count, [len(done)]]) / len(times)
        # By counts: by distances, the last digit of a logarithm would choose among steps.
        marks = sorted({len(count) * fifth // 5 for fifth in range(1, 6)})
        ax.step(
            x, y, where="post", color=line.color, linestyle=line.dash, marker=line.marker,
            markevery=marks, markerfacecolor="white", markeredgewidth=0.9, label=line.label,
        )  # fmt: skip
    ax.set_xscale("log")
    ax.set_xlim(100 if right > 100 else 1, right)
    ax.set_ylim(0, 1)
    style.few_ticks(ax)
    ax.set_xlabel("evaluations")
    ax.set_ylabel("share of targets reached")
    ax.legend(loc="upper left", handlelength=3)
    figure.tight_layout()
    problems = runs["problem"].nunique()
    whole = (runs.groupby("algorithm")["problem"].nunique() == problems).all()
    return figure, (
        f"Share of the targets from {EASIEST:g} to {HARDEST:g} (five a decade) that the best value "
        f"so far has reached, over {problems} function{'s' if problems > 1 else ''} and "
        f"{style.runs_per_cell(runs)} each, against evaluations. "
        f"{'' if whole else 'Some optimisers ran on some of the functions only. '}Not in the paper."
    )


def main(arguments: list[str] | None = None) -> None:
    """Draw from the tables of a folder."""
    files.draw_tables("ecdf", __doc__, draw, ("runs",), arguments)


if __name__ == "__main__":
    main()
