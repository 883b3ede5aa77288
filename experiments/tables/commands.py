"""The commands that make tables, each beside the parser of its arguments. Light: no pandas here."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from experiments.command import Command, parser

AGGREGATE = "experiments.tables.aggregate"
SUMMARIES = "experiments.tables.summaries"
REWARDS = "experiments.tables.rewards"


def aggregate(
    traces: Path, problems: Sequence[str], algorithms: Sequence[str], runs: int, to: Path
) -> Command:
    """The tables of an experiment from its traces.

    Args:
        traces: folder of the experiment's traces.
        algorithms: NAME, or NAME=EXPERIMENT/NAME where another experiment has made the runs.
    """
    return Command.of(AGGREGATE, traces, problems=problems, algorithms=algorithms, runs=runs, to=to)


def aggregate_parser(about: str | None) -> argparse.ArgumentParser:
    made = parser(AGGREGATE, about)
    made.add_argument("traces", type=Path, help="folder of the experiment's traces")
    made.add_argument("--problems", nargs="+", required=True)
    made.add_argument(
        "--algorithms", nargs="+", required=True, metavar="NAME[=EXPERIMENT/NAME]",
        help="with the experiment beside this one that has made the runs, if it is another",
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
