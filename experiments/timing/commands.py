"""The commands that measure time, each beside the parser of its arguments. Light: no numpy here."""

from __future__ import annotations

import argparse
from pathlib import Path

from experiments.command import Command, parser
from experiments.paths import KEPT

ITERATION = "experiments.timing.iteration"
ROLLOUTS = "experiments.timing.rollouts"
UPDATES = "experiments.timing.updates"
WORKFLOW = "experiments.timing.workflow"


def iteration(to: Path) -> Command:
    """Time per iteration of INGO's update against others."""
    return Command.of(ITERATION, to=to)


def iteration_parser(about: str | None) -> argparse.ArgumentParser:
    made = parser(ITERATION, about)
    made.add_argument("--dims", type=int, nargs="+", default=[10, 30, 100, 300, 1000])
    made.add_argument("--to", type=Path, required=True, help="path without suffix")
    return made


def rollouts(to: Path) -> Command:
    """Control steps per second against bare physics and gymnasium."""
    return Command.of(ROLLOUTS, to=to)


def rollouts_parser(about: str | None) -> argparse.ArgumentParser:
    made = parser(ROLLOUTS, about)
    made.add_argument("--tasks", nargs="+", help="of control; all by default")
    made.add_argument("--to", type=Path, required=True, help="path without suffix")
    return made


def updates(to: Path) -> Command:
    """What an optimiser takes beside the roll-outs of control."""
    return Command.of(UPDATES, to=to)


def updates_parser(about: str | None) -> argparse.ArgumentParser:
    made = parser(UPDATES, about)
    made.add_argument("--tasks", nargs="+", help="of control; all by default")
    made.add_argument("--to", type=Path, required=True, help="path without suffix")
    return made


def workflow(traces: Path, to: Path) -> Command:
    """What the workflow itself costs, as a share of the runs that were timed."""
    return Command.of(WORKFLOW, traces=traces, to=to)


def workflow_parser(about: str | None) -> argparse.ArgumentParser:
    made = parser(WORKFLOW, about)
    made.add_argument("--traces", type=Path, required=True, help="traces, with their seconds")
    made.add_argument("--kept", type=Path, default=KEPT, help="kept traces, with their seconds")
    made.add_argument("--to", type=Path, required=True, help="path without suffix")
    return made
