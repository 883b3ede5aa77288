"""Tables of the published pages: built once, written as Markdown and as HTML."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from experiments.publishing.study import Study
from experiments.publishing.symbols import plain
from experiments.publishing.words import count, number
from experiments.tables.rewards import ALL
from experiments.tables.rewards import COLUMNS as REWARDS
from experiments.tables.summaries import DECADES

TARGETS = [t for t in DECADES if round(np.log10(t)) in (0, -1, -2, -4, -6, -8, -10)]


@dataclass(frozen=True)
class Grid:
    """A table, its title and a sentence about it. Cells may have Markdown's **, *, ` and <sub>."""

    title: str
    about: str
    header: list[str]
    rows: list[list[str]]
    texts: int = 1  # so many columns, from the left, are words; the others are numbers

    def markdown(self) -> str:
        """The table as GitHub's Markdown."""
        rule = ["---"] * self.texts + ["---:"] * (len(self.header) - self.texts)
        lines = [self.header, rule, *self.rows]
        return "\n".join(
            f"| {' | '.join(c.replace('|', chr(92) + '|') for c in line)} |" for line in lines
        )

    def html(self) -> str:
        """The table as HTML, its numbers to the right."""

        def line(cells: Sequence[str], tag: str) -> str:
            sides = ["" if i < self.texts else ' class="number"' for i in range(len(cells))]
            pairs = zip(cells, sides, strict=True)
            return "<tr>" + "".join(f"<{tag}{s}>{inline(c)}</{tag}>" for c, s in pairs) + "</tr>"

        body = "\n".join(line(row, "td") for row in self.rows)
        head = line(self.header, "th")
        return f"<table>\n<thead>{head}</thead>\n<tbody>\n{body}\n</tbody>\n</table>"


def inline(text: str) -> str:
    """Markdown within a line as HTML; a link is its text, since pages of the report stand alone."""
    text = html.escape(text, quote=False)
    for tag in ("sub", "br"):
        text = re.sub(f"&lt;(/?{tag})&gt;", r"<\1>", text)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"`([^`]*)`", r"<code>\1</code>", text)
    text = re.sub(r"\*\*([^*]+)\*\*", r"<b>\1</b>", text)
    return re.sub(r"(?<![\w*])\*([^*]+)\*(?!\w)", r"<i>\1</i>", text)


# ---- runs ----


def to_target(study: Study, experiment: str, target: float = DECADES[-1]) -> Grid | None:
    """A row per problem, a column per optimiser: aRT to the target, with the successes where some
    runs did not reach it; where none did, the median of the best values in italics.
    """
    fixed, final = (study.csv(experiment, name) for name in ("fixed_targets", "final_values"))
    if fixed.empty:
        return None
    key = ["problem", "algorithm"]
    cells = fixed[fixed["target"] == target].merge(final[[*key, "median"]], on=key)
    cells = cells.rename(columns={"median_y": "best"}).set_index(key)
    about = (
        f"aRT until f is {number(target)} above its minimum: evaluations of all runs, over the "
        "number of runs that succeeded. In brackets the successes, where not all runs succeeded; "
        "in italics, where none did, the median of the best values."
    )
    rows, names = _cells(study, experiment, cells, _target)
    return Grid(f"Evaluations to {number(target)}", about, ["", *names], rows)


def all_targets(study: Study, experiment: str) -> Grid | None:
    """A row per cell, a column per target: aRT and successes."""
    fixed = study.csv(experiment, "fixed_targets")
    if fixed.empty:
        return None
    rows = []
    for (problem, algorithm), cell in fixed.groupby(["problem", "algorithm"], sort=False):
        by_target = cell.set_index("target")
        entries = (_reached(by_target.loc[target]) for target in TARGETS)
        rows.append([*_labels(study, experiment, problem, algorithm), *entries])
    about = "aRT in evaluations; in brackets the successful runs of all. None succeeded: —."
    header = ["problem", "optimiser", *map(number, TARGETS)]
    return Grid("Evaluations to each target", about, header, rows, 2)


def final_values(study: Study, experiment: str) -> Grid | None:
    """A row per cell: best values at the end of its runs, and why they stopped."""
    final = study.csv(experiment, "final_values")
    if final.empty:
        return None
    five = ("best", "q1", "median", "q3", "worst")
    rows = [
        [
            *_labels(study, experiment, row["problem"], row["algorithm"]),
            row["ended"],
            *(number(row[column]) for column in five),
        ]
        for row in final.to_dict("records")
    ]
    about = (
        "Best value of a run above the minimum; where the minimum is unknown, the value itself "
        "(control: the negated reward). Over runs: smallest, quartiles, largest."
    )
    header = [
        "problem",
        "optimiser",
        "runs ended by",
        "best",
        "quartile",
        "median",
        "quartile",
        "worst",
    ]
    return Grid("Best values at the end", about, header, rows, 3)


def _labels(study: Study, experiment: str, problem: str, algorithm: str) -> tuple[str, str]:
    return study.titles(experiment).get(problem, problem), study.optimiser(experiment, algorithm)


def _reached(r: pd.Series) -> str:
    return f"{count(r['aRT'])} ({r['successes']:g}/{r['runs']:g})" if r["successes"] else "—"


def _target(c: pd.Series) -> str:
    if not c["successes"]:
        return f"*{number(c['best'], 2)}*"
    share = "" if c["successes"] == c["runs"] else f" ({c['successes']:g}/{c['runs']:g})"
    return count(c["aRT"]) + share


# ---- control ----


def rewards(study: Study, experiment: str) -> Grid | None:
    """A row per task, a column per optimiser: interquartile mean of the average reward over the
    whole run, with the number of runs where others have more.
    """
    table = study.csv(experiment, "rewards")
    if table.empty:
        return None
    table = table[(table["column"] == "area_batch_mean") & table["than"].isna()]
    cells = table.rename(columns={"task": "problem"}).set_index(["problem", "algorithm"])
    cells["most"] = most = cells["runs"].max()
    about = (
        f"Average reward over the whole run; interquartile mean of {most:.0f} runs, in brackets "
        "their number where it is smaller."
    )
    rows, names = _cells(study, experiment, cells, _reward)
    return Grid("Average rewards", about, ["", *names], rows)


def all_rewards(study: Study, experiment: str) -> Iterator[Grid]:
    """A table per way to read a run: interquartile means with intervals."""
    for column, means in _rewards_by_column(study, experiment, single=True):
        header, rows = _by_task(study, experiment, means, ["algorithm"])
        about = "Interquartile mean over runs, with its 95 % interval."
        yield Grid(REWARDS[column].capitalize(), about, header, rows)


def pairs(study: Study, experiment: str) -> Iterator[Grid]:
    """A table per way to read a run: the probability that a run of one optimiser has a larger
    reward than a run of another; each pair once, since the other way round it is one minus that.
    """
    for column, both in _rewards_by_column(study, experiment, single=False):
        order = list(dict.fromkeys(both["algorithm"]))
        first = both["algorithm"].map(order.index) < both["than"].map(order.index)
        header, rows = _by_task(study, experiment, both[first], ["algorithm", "than"])
        about = "Probability that a run of the first has a larger reward than one of the second."
        yield Grid(f"Pairs: {REWARDS[column]}", about, header, rows)


def _rewards_by_column(
    study: Study, experiment: str, single: bool
) -> Iterator[tuple[str, pd.DataFrame]]:
    table = study.csv(experiment, "rewards")
    if len(table):
        table = table[table["than"].isna() == single]
        yield from ((str(column), rows) for column, rows in table.groupby("column", sort=False))


def _by_task(
    study: Study, experiment: str, table: pd.DataFrame, keys: list[str]
) -> tuple[list[str], list[list[str]]]:
    """A row per optimiser or pair of them, a column per task."""
    titles = study.titles(experiment) | {ALL: ALL}
    tasks = list(dict.fromkeys(table["task"]))
    rows = []
    for names, cells in table.groupby(keys, sort=False):
        by_task = cells.set_index("task")
        entries = (_with_interval(by_task.loc[t]) if t in by_task.index else "" for t in tasks)
        rows.append([" over ".join(study.optimiser(experiment, n) for n in names), *entries])
    return ["", *(titles.get(task, task) for task in tasks)], rows


def _with_interval(row: pd.Series) -> str:
    known = pd.notna(row["low"])
    sure = f"{number(row['low'])} to {number(row['high'])}" if known else f"n = {row['runs']}"
    return f"{number(row['value'])} ({sure})"


def _reward(c: pd.Series) -> str:
    fewer = "" if c["runs"] == c["most"] else f" ({c['runs']:.0f})"
    value = float(c["value"])
    return (f"{value:,.0f}".replace("-", "−") if abs(value) >= 100 else number(value)) + fewer


def _cells(
    study: Study, experiment: str, cells: pd.DataFrame, entry: Callable[[pd.Series], str]
) -> tuple[list[list[str]], list[str]]:
    """A row per problem and a column per optimiser, empty where there is no cell; and what the
    optimisers are called.
    """
    algorithms = list(study.tables.table(experiment)["algorithm"].unique())
    rows = []
    for problem, title in study.titles(experiment).items():
        keys = [(problem, algorithm) for algorithm in algorithms]
        if any(key in cells.index for key in keys):
            rows.append([title, *(entry(cells.loc[k]) if k in cells.index else "" for k in keys)])
    return rows, [study.optimiser(experiment, name) for name in algorithms]


# ---- the paper's Table 1, and tables as they are ----


def functions(study: Study) -> Grid | None:
    """Table 1 of the paper, its formulas as text."""
    file = study.folder / "tables" / "table_1.md"
    if not file.is_file():
        return None
    lines = [
        line for line in file.read_text(encoding="utf-8").splitlines() if line.startswith("| ")
    ]
    header, *rows = ([plain(c.strip()) for c in line.strip("| ").split(" | ")] for line in lines)
    about = "The test functions, to be minimised, with a correction to the paper's print (Discus)."
    return Grid("Table 1", about, header, rows, 3)


def raw(title: str, about: str, table: pd.DataFrame) -> Grid:
    """A table as it is, its numbers in three digits."""

    def cell(value: object) -> str:
        if isinstance(value, float):
            return "" if np.isnan(value) else number(value)
        return plain(str(value))

    texts = next(
        (i for i, name in enumerate(table) if pd.api.types.is_numeric_dtype(table[name])),
        len(table.columns),
    )
    rows = [[cell(value) for value in row] for row in table.itertuples(index=False)]
    return Grid(title, about, [str(name).replace("_", " ") for name in table], rows, texts)
