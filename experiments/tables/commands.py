"""The commands that make tables, each beside the parser of its arguments. Light: no pandas here."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from experiments.command import Command, parser

AGGREGATE = "experiments.tables.aggregate"
SUMMARIES = "experiments.tables.summaries"
REWARDS = "experiments.tables.rewards"


class Cell(NamedTuple):
    """A cell of a table: what it is called, what its traces are recognised by, and where they are.

    As a text PROBLEM/ALGORITHM=KEY, with @EXPERIMENT/ALGORITHM after it where another experiment
    has made the runs. No key is any key.
    """

    problem: str
    algorithm: str
    key: str = ""
    experiment: str = ""  # that has made the runs, if it is another one,
    name: str = ""  # and what it calls the algorithm

    @classmethod
    def of(cls, text: str) -> Cell:
        """The cell that a text is of."""
        what, _, place = text.partition("@")
        names, _, key = what.partition("=")
        problem, _, algorithm = names.partition("/")
        experiment, _, name = place.partition("/")
        return cls(problem, algorithm, key, experiment, name)

    def __str__(self) -> str:
        key = f"={self.key}" if self.key else ""
        place = f"@{self.experiment}/{self.name}" if self.experiment else ""
        return f"{self.problem}/{self.algorithm}{key}{place}"

    def traces(self, folder: Path, runs: int) -> list[Path]:
        """Its traces, of the experiment whose traces are in ``folder``."""
        beside = folder.parent / self.experiment if self.experiment else folder
        cell = beside / self.problem / (self.name or self.algorithm)
        return [cell / f"{seed}.parquet" for seed in range(runs)]


def aggregate(traces: Path, cells: Sequence[Cell], runs: int, to: Path) -> Command:
    """The tables of an experiment from its traces, which are in the folder ``traces``."""
    return Command.of(AGGREGATE, traces, cells=cells, runs=runs, to=to)


def aggregate_parser(about: str | None) -> argparse.ArgumentParser:
    made = parser(AGGREGATE, about)
    made.add_argument("traces", type=Path, help="folder of the experiment's traces")
    made.add_argument(
        "--cells", nargs="+", required=True, type=Cell.of,
        metavar="PROBLEM/ALGORITHM[=KEY][@EXPERIMENT/ALGORITHM]",
        help="with the key that its traces must have, and the experiment beside this one that "
        "has made them, if it is another",
    )  # fmt: skip
    made.add_argument("--runs", type=int, required=True)
    made.add_argument("--to", type=Path, required=True, help="folder of the tables")
    return made


def summaries(tables: Path) -> Command:
    """Fixed targets and final values, beside the tables that they come from."""
    return Command.of(SUMMARIES, tables, to=tables)


def summaries_parser(about: str | None) -> argparse.ArgumentParser:
    made = parser(SUMMARIES, about)
    made.add_argument("tables", type=Path, help="folder with runs.parquet")
    made.add_argument("--to", type=Path, required=True, help="folder of the tables")
    return made


def rewards(tables: Path) -> Command:
    """Interquartile means and probabilities of control, beside the tables that they come from."""
    return Command.of(REWARDS, tables, to=tables / "rewards")


def rewards_parser(about: str | None) -> argparse.ArgumentParser:
    made = parser(REWARDS, about)
    made.add_argument("tables", type=Path, help="folder with runs.parquet")
    made.add_argument("--to", type=Path, required=True, help="path without suffix")
    return made
