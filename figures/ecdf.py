"""Share of (problem, target, run) triples solved against evaluations: one line an optimiser.

    python -m figures.ecdf results/tables/figure_1 --to results/figures/ecdf_figure_1

The targets are those that the methods span on a problem, and every problem counts alike, as claim
20 is judged; with ``--over cma_es`` a second panel shows each share over that of CMA-ES. With
``--measure bbob`` in COCO's terms: evaluations over d, its targets, and the best of 2009 as a line,
if best_2009.csv is among the tables; with ``--panels groups`` one for each of its groups. COCO's
own pictures go on beyond the budget, by restarts that are simulated, and count evaluations within a
batch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator
from numpy.typing import NDArray

from experiments.runs.record import TARGETS
from experiments.tables.reader import spanned
from figures import commands, files, style
from problems.bbob import GROUPS

Array = NDArray[np.float64]
STEPS = 400  # of a line, at most: more are less than a pixel apart
ALL = "all functions"
BEST = "best of 2009"
BEST_LINE = style.Line(BEST, style.GREY, (0, (1, 1)), "")


class Measure(NamedTuple):
    """What is counted, and against what."""

    targets: tuple[float, ...]  # of TARGETS, from the easiest on; none: those that the runs span
    x: str
    words: str  # what the targets are, for the caption


def _between(easiest: float, hardest: float) -> tuple[float, ...]:
    return TARGETS[TARGETS.index(easiest) : TARGETS.index(hardest) + 1]


OPTIMUM = 0.1585  # of a pseudo-Boolean problem: values that differ do so by a fifth at least (F24)
MEASURES = {
    "plain": Measure(
        (),
        "evaluations",
        "the targets (five a decade, on each function from the largest that some run lacks at its "
        "first batch to the smallest that some run reached)",
    ),
    "bbob": Measure(
        _between(1e2, 1e-8),
        "evaluations / d",
        "COCO's 51 targets from 100 to 1e-8 above the minimum",
    ),
    "pbo": Measure(
        (*_between(1e2, 1.0), OPTIMUM),
        "evaluations",
        "twelve targets, from 100 to 1 below the optimum (five a decade) and the optimum itself,",
    ),
}


class Solved(NamedTuple):
    """Which share of the targets is solved from which evaluations on."""

    times: Array  # sorted, finite
    shares: Array  # rising

    def at(self, evaluations: Array) -> Array:
        """The share that is solved after so many evaluations."""
        return np.concatenate([[0.0], self.shares])[
            np.searchsorted(self.times, evaluations, side="right")
        ]


def shares(runs: pd.DataFrame, measure: str, spans: Mapping[str, range]) -> Solved:
    """Of the runs of one optimiser: of ``plain`` by the spans of their problems, which count
    alike; of the others all pairs of a run and a target.
    """
    if measure != "plain":
        times = solved(runs, measure)
        done = times[np.isfinite(times)]
        return Solved(done, np.arange(1, len(done) + 1) / max(len(times), 1))
    problems = runs.groupby("problem", sort=False)
    parts = [_times(own, spans[str(p)]) for p, own in problems if spans[str(p)]]
    weights = [np.full(len(part), 1 / len(part) / len(parts)) for part in parts]
    times, weight = (np.concatenate([[], *lists]) for lists in (parts, weights))
    order = np.argsort(times, kind="stable")
    order = order[np.isfinite(times[order])]
    return Solved(times[order], np.cumsum(weight[order]))


def solved(runs: pd.DataFrame, measure: str) -> Array:
    """Evaluations at which each (run, target) was solved, sorted; inf where it was not."""
    times = _times(runs, [TARGETS.index(target) for target in MEASURES[measure].targets])
    if measure == "bbob":
        times /= np.repeat(runs["dim"].to_numpy(dtype=float), len(MEASURES[measure].targets))
    return np.sort(times)


def _times(runs: pd.DataFrame, places: Sequence[int]) -> Array:
    """Evaluations at which each run reached each target; inf where it did not."""
    return np.array(
        [[hits[at] if at < len(hits) else np.inf for at in places] for hits in runs["hits"]],
        dtype=float,
    ).reshape(-1)


def draw(
    runs: pd.DataFrame,
    labels: Mapping[str, str] | None = None,
    measure: str = "plain",
    panels: str = "one",
    over: str = "none",
    best: pd.DataFrame | None = None,
) -> tuple[Figure, str]:
    """The picture and its caption, from the table of runs and what each optimiser is called.

    Args:
        over: an optimiser over whose share a second panel shows that of the others.
        best: columns function, target, evaluations: of the best algorithm of 2009, for ``bbob``.
    """
    if over != "none" and (panels == "groups" or over not in set(runs["algorithm"])):
        raise ValueError(f"over {over} needs one panel and runs of {over}")
    style.use()
    runs = runs[np.isfinite(runs["minimum"])]  # where none is known there are no targets
    groups = _groups(runs) if panels == "groups" else {ALL: list(runs["problem"].unique())}
    problems = runs.groupby("problem")
    spans = {str(p): spanned(own) for p, own in problems} if measure == "plain" else {}
    look = style.lines(dict.fromkeys(runs["algorithm"]), labels)
    scale = runs["dim"].max() if measure == "bbob" else 1
    right = float((runs["evaluations"] / scale).max())
    if measure == "bbob":  # the last batch ends a little before 10⁴ d
        right = max(right, float(f"{right:.2g}"))
    left = 1 if measure == "bbob" or right <= 100 else 100
    if panels == "groups":
        figure, axes = style.grid(len(groups), 1, 2.0)
    else:
        beside = 1 if over == "none" else 2
        figure, axes = plt.subplots(
            1, beside, figsize=(4.6 if beside == 1 else 7.4, 3.2), squeeze=False
        )
    panel = dict(zip(groups, axes[0], strict=panels == "groups"))
    for name, ax in panel.items():
        own = runs[runs["problem"].isin(groups[name])]
        for algorithm, line in look.items():
            _step(ax, shares(own[own["algorithm"] == algorithm], measure, spans), right, line)
        if best is not None:
            them = best[best["function"].map("f{}".format).isin(groups[name])]
            targets = MEASURES[measure].targets
            them = them[them["target"].isin(targets)]
            times = np.sort(them["evaluations"].to_numpy(dtype=float) / scale)
            share = np.arange(1, len(times) + 1) / (len(groups[name]) * len(targets))
            _step(ax, Solved(times, share), right, BEST_LINE)
        ax.set_xscale("log")
        ax.set_xlim(left, right)
        ax.set_ylim(0, 1)
        style.few_ticks(ax)
    style.label_x(axes, MEASURES[measure].x)
    style.label_y(axes, ["share of targets reached"])
    if over != "none":
        _ratios(axes[0, 1], runs, measure, spans, over, look, (left, right))
    shown = [*look.values(), *([BEST_LINE] if best is not None else [])]
    if panels == "groups":
        for name, ax in panel.items():
            ax.set_title(name)
        style.letters(figure)
        style.legend(figure, shown, 4)
    else:
        ax.legend(loc="upper left", handlelength=3, fontsize=6 if len(shown) > 6 else None)
        figure.tight_layout()
        style.letters(figure)
    whole = (runs.groupby("algorithm")["problem"].nunique() == len(problems)).all()
    caption = (
        f"Share of {MEASURES[measure].words} that the best value so far has reached, over "
        f"{len(problems)} function{'s' if len(problems) > 1 else ''} and "
        f"{style.runs_per_cell(runs)} each, against evaluations"
        f"{' over d = ' + format(scale, '.0f') if measure == 'bbob' else ''}. "
        f"{'' if whole else 'Some optimisers ran on some of the functions only. '}"
    )
    if over != "none":
        caption += f"Right: that share over the one of {look[over].label}. "
    if best is not None:
        caption += (
            "Runs restart within the budget, none is simulated; evaluations are counted at the end "
            f"of a batch. “{BEST}”: of each target the algorithm of BBOB-2009 with the smallest "
            "average running time, as COCO publishes it. "
        )
    return figure, caption + "Not in the paper."


def _ratios(
    ax: Axes,
    runs: pd.DataFrame,
    measure: str,
    spans: Mapping[str, range],
    over: str,
    look: Mapping[str, style.Line],
    ends: tuple[float, float],
) -> None:
    """The share of each optimiser over that of one, against evaluations."""
    evaluations = np.geomspace(*ends, STEPS)
    share = {
        name: shares(runs[runs["algorithm"] == name], measure, spans).at(evaluations)
        for name in look
    }
    for name, line in look.items():
        if name != over:
            ratio = style.positive(share[name] / np.where(share[over] > 0, share[over], np.nan))
            ax.plot(
                evaluations, ratio, color=line.color, linestyle=line.dash, marker=line.marker,
                markevery=STEPS // 5, markerfacecolor="white", markeredgewidth=0.9,
                label=line.label,
            )  # fmt: skip
    ax.axhline(1, color="0.45", linewidth=0.7)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlim(*ends)
    ax.set_ylim(0.125, 5.5)
    ax.yaxis.set_major_locator(FixedLocator([0.125, 0.25, 0.5, 1, 2, 4]))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda ratio, _: f"{ratio:g}"))
    ax.yaxis.set_minor_locator(NullLocator())
    style.few_ticks(ax)
    ax.set_xlabel(MEASURES[measure].x)
    ax.set_ylabel(f"share over that of {look[over].label}")


def _groups(runs: pd.DataFrame) -> dict[str, list[str]]:
    """The problems of COCO's groups, by the numbers in their names, and all of them."""
    names = list(runs["problem"].unique())
    of = {group: [f"f{k}" for k in numbers] for group, numbers in GROUPS.items()}
    there = {group: [name for name in theirs if name in names] for group, theirs in of.items()}
    if not any(there.values()):
        raise ValueError(f"panels of groups are for bbob's f1 … f24, not for {', '.join(names)}")
    return {group: own for group, own in there.items() if own} | {ALL: names}


def _step(ax: Axes, solved: Solved, right: float, line: style.Line) -> None:
    """A line of shares, which rises at each of the times."""
    done = len(solved.times)
    count = np.arange(1, done + 1)
    if done > STEPS:
        count = np.arange(1, STEPS + 1) * done // STEPS
    x = np.concatenate([solved.times[count - 1] if done else [1.0], [right]])
    y = np.concatenate([solved.shares[count - 1], solved.shares[-1:]]) if done else np.zeros(2)
    # By counts: by distances, the last digit of a logarithm would choose among steps.
    marks = sorted({len(count) * fifth // 5 for fifth in range(1, 6)})
    ax.step(
        x, y, where="post", color=line.color, linestyle=line.dash, marker=line.marker,
        markevery=marks, markerfacecolor="white", markeredgewidth=0.9, label=line.label,
    )  # fmt: skip


def main(arguments: list[str] | None = None) -> None:
    """Draw from the tables of a folder."""
    tables = commands.figure_parser("ecdf", __doc__).parse_args(arguments).tables
    path: Path = tables / "best_2009.csv"
    best = pd.read_csv(path) if path.is_file() else None

    def with_best(runs: pd.DataFrame, **options: Any) -> tuple[Figure, str]:
        return draw(runs, best=best if options["measure"] == "bbob" else None, **options)

    files.draw_tables("ecdf", __doc__, with_best, arguments)


if __name__ == "__main__":
    main()
