"""Evaluations to the target, and the final value below, against the step size: a line a method.

    python -m figures.steps results/tables/step_sizes --to results/figures/step_sizes

Of an experiment whose optimisers are methods at multiples of the paper's step size β, as their
names say: ingo_0.5 is INGO at β/2. Beside the picture it writes a table of the best multiples.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from experiments.publishing.symbols import plain
from experiments.tables import files as tables
from experiments.tables.reader import evaluations_to
from figures import commands, files, style

TARGET = 1e-10
ROWS = (f"evaluations to {TARGET:g}", "final best value")
CELL = ["problem", "method"]


def points(runs: pd.DataFrame) -> pd.DataFrame:
    """The points of the picture: of each problem, method and multiple of β, how many runs reached
    the target, the median evaluations of those, and median and range of the best values above the
    minimum at the end of all runs.
    """
    rows = []
    for (problem, algorithm), cell in runs.groupby(["problem", "algorithm"], sort=False):
        method, multiple = commands.step(str(algorithm))
        to_target = evaluations_to(cell, TARGET)
        reached = to_target[np.isfinite(to_target)]
        evaluations = float(np.median(reached)) if len(reached) else np.nan
        known = cell["minimum"].where(np.isfinite(cell["minimum"]), 0.0)
        final = pd.Series(style.finite(cell["best"] - known))
        ends = final.median(), final.min(), final.max()
        name = cell["title"].iloc[0]
        rows.append((problem, name, method, multiple, len(cell), len(reached), evaluations, *ends))
    columns = ["problem", "title", "method", "multiple", "runs", "reached", "evaluations"]
    return pd.DataFrame(rows, columns=[*columns, "final", "final_min", "final_max"])


def best(points: pd.DataFrame) -> pd.DataFrame:
    """Of each problem and method the multiple with which most runs reached the target; of equal
    ones the one that took the fewest evaluations, and then the one that ended lowest. Beside it
    what the paper's β gave, NaN where it was not run.
    """
    order = points.assign(share=-points["reached"] / points["runs"])
    order = order.sort_values(["share", "evaluations", "final"], kind="stable")
    shown = [*CELL, "title", "multiple", "runs", "reached", "evaluations", "final"]
    first = order.drop_duplicates(CELL)[shown]
    counted = [*CELL, "runs", "reached", "evaluations", "final"]
    paper = points.loc[points["multiple"] == 1, counted]
    both = first.merge(paper, on=CELL, how="left", suffixes=("", "_paper"))
    return points[CELL].drop_duplicates().merge(both, on=CELL)


def markdown(table: pd.DataFrame, names: Mapping[str, str]) -> str:
    """What ``best`` returns, for reading.

    Args:
        table: as ``best`` returns it.
        names: what each method is called.
    """
    lines = [
        "# Best step sizes",
        "",
        f"The multiple of the paper's step size β with which most runs reached {TARGET:g}, of "
        "equal ones the fastest, then the one that ended lowest. Evaluations: median of the runs "
        "that reached it, in brackets how many of all. Final: median of the best values.",
        "",
        "| function | method | multiple | evaluations | final | evaluations at β | final at β |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in table.itertuples():
        there = _entries(row.evaluations, row.reached, row.runs, row.final)
        paper = _entries(row.evaluations_paper, row.reached_paper, row.runs_paper, row.final_paper)
        lines.append(
            f"| {plain(row.title)} | {names[row.method]} | {_fraction(row.multiple)} | {there} | "
            f"{paper} |"
        )
    return "\n".join([*lines, ""])


def _entries(evaluations: float, reached: float, runs: float, final: float) -> str:
    """Evaluations and final value of a cell; a dash for what there is not."""
    counted = f"{evaluations:.3g} ({reached:g}/{runs:g})" if reached > 0 else "—"
    return f"{counted} | {'—' if np.isnan(final) else f'{final:.3g}'}"


def _fraction(multiple: float) -> str:
    """A multiple as one writes it: 4, 1/8."""
    return str(Fraction(multiple).limit_denominator(1000))


def _names(runs: pd.DataFrame, labels: Mapping[str, str]) -> dict[str, str]:
    """What each method is called: its labels without the multiple, which goes behind a comma."""
    names: dict[str, str] = {}
    for algorithm in runs["algorithm"].unique():
        method, _ = commands.step(algorithm)
        names.setdefault(method, labels.get(algorithm, "").rpartition(", ")[0] or method)
    return names


def draw(runs: pd.DataFrame, labels: Mapping[str, str] | None = None) -> tuple[Figure, str]:
    """The picture and its caption.

    Args:
        runs: a row a run, as experiments.tables.aggregate makes it.
        labels: what each optimiser is called, "INGO, 1/2".

    Raises:
        ValueError: an optimiser's name does not end in a multiple of β.
    """
    style.use()
    names = _names(runs, labels or {})
    look = style.lines(names, names)
    shown = points(runs)
    problems = list(dict.fromkeys(runs["problem"]))
    figure, axes = style.grid(len(problems), len(ROWS), 1.8)
    for problem, (upper, lower) in zip(problems, axes.T, strict=True):
        here = shown[shown["problem"] == problem]
        for place, (method, line) in enumerate(look.items()):
            cell = here[here["method"] == method].sort_values("multiple")
            _draw_evaluations(upper, cell, line, 4 if place % 2 == 0 else -9)
            _draw_final(lower, cell, line)
        upper.margins(y=0.15)  # for the counts beside the highest and the lowest points
        upper.set_title(here["title"].iloc[0])
        if not here["reached"].any():
            words = f"no run reached {TARGET:g}"
            upper.text(
                0.5, 0.5, words, transform=upper.transAxes, ha="center", va="center",
                bbox={"color": "white", "pad": 1},
            )  # fmt: skip
        style.say_dropped(lower, _dropped(here, look))
        for ax, columns in ((upper, ["evaluations"]), (lower, ["final"])):
            ax.axvline(1, color="0.6", linewidth=0.7, linestyle=(0, (4, 3)), zorder=0)
            ax.set_xscale("log")
            if np.isfinite(style.positive(here[columns])).any():
                ax.set_yscale("log")
            else:
                ax.set_yticks([])
            style.few_ticks(ax)
    multiples = np.unique(shown["multiple"])
    axes[0, 0].xaxis.set_major_locator(FixedLocator(list(multiples)))
    axes[0, 0].xaxis.set_minor_locator(NullLocator())
    axes[0, 0].xaxis.set_major_formatter(FuncFormatter(lambda multiple, _: _fraction(multiple)))
    axes[0, 0].set_xlim(multiples[0] / 1.3, multiples[-1] * 1.3)
    style.label_x(axes, "multiple of the paper's β")
    style.label_y(axes, ROWS)
    figure.align_ylabels()
    style.letters(figure)
    style.legend(figure, look.values(), 6)
    return figure, _caption(runs)


def _draw_evaluations(ax: Axes, cell: pd.DataFrame, line: style.Line, offset: float) -> None:
    """The median evaluations to the target: a full marker where all runs reached it, an open one
    with their share where only some did.
    """
    x, y = cell["multiple"].to_numpy(), cell["evaluations"].to_numpy()
    every = (cell["reached"] == cell["runs"]).to_numpy()
    some = (cell["reached"] > 0).to_numpy() & ~every
    ax.plot(x, y, color=line.color, linestyle=line.dash)
    for rows, face in ((every, line.color), (some, "white")):
        ax.plot(
            x[rows], y[rows], color=line.color, linestyle="none", marker=line.marker,
            markerfacecolor=face, markeredgewidth=0.9,
        )  # fmt: skip
    for row in cell[some].itertuples():
        ax.annotate(
            f"{row.reached}/{row.runs}", (row.multiple, row.evaluations), (0, offset),
            textcoords="offset points", ha="center", fontsize=6, color=line.color,
        )  # fmt: skip


def _draw_final(ax: Axes, cell: pd.DataFrame, line: style.Line) -> None:
    """The median of the final best values, in a band from the smallest to the largest run."""
    x, y = cell["multiple"].to_numpy(), style.positive(cell["final"])
    if not np.isfinite(y).any():  # the panel says so
        return
    low, high = style.positive(cell["final_min"]), style.positive(cell["final_max"])
    low = np.where(np.isnan(low), y, low)
    ax.fill_between(x, low, high, color=line.color, alpha=0.18, linewidth=0)
    ax.plot(
        x, y, color=line.color, linestyle=line.dash, marker=line.marker, markerfacecolor="white",
        markeredgewidth=0.9,
    )  # fmt: skip


def _dropped(points: pd.DataFrame, look: dict[str, style.Line]) -> list[str]:
    """Which lines have final values that a log axis cannot show."""
    notes = []
    for method, cell in points.groupby("method", sort=False):
        if bad := int(np.isnan(style.positive(cell["final"])).sum()):
            words = f"{bad} of {len(cell)} points ≤ 0 or not finite"
            notes.append(f"{look[str(method)].label}: {words}")
    return notes


def _caption(runs: pd.DataFrame) -> str:
    return (
        f"Evaluations until a run has reached {TARGET:g} (upper panel of each function) and its "
        "best value at the end (lower panel), against the step size as a multiple of the paper's β "
        f"(dashed). Medians over {style.runs_per_cell(runs)}{style.setting(runs)}.\n\n"
        "Upper panel: a full marker where all runs reached the target; an open one, with their "
        "number of all, where only some did, whose median it is; nothing where none did. Lower "
        "panel: the band goes from the smallest to the largest run; a run ends at the target or "
        "with its budget, if it is not lost before. Not in the paper."
    )


def main(arguments: list[str] | None = None) -> None:
    """Draw from the tables of a folder, and write the table of the best multiples beside it."""
    files.draw_tables("steps", __doc__, draw, arguments)
    args = commands.figure_parser("steps", __doc__).parse_args(arguments)
    runs = pd.read_parquet(args.tables / "runs.parquet")
    table = best(points(runs))
    text = markdown(table, _names(runs, args.labels))
    tables.write(table, text, args.to.with_name(f"{args.to.name}_best"))


if __name__ == "__main__":
    main()
