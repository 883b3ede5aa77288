"""The command of the comparison beside the parser of its arguments. Light: no numpy here."""

from __future__ import annotations

import argparse
from pathlib import Path

from experiments.command import Command, parser

COMPARE = "experiments.usage.compare"
RUNS = 10


def compare(root_seed: int, to: Path) -> Command:
    """INGO and Fast-INGO beside other methods at equal budgets."""
    return Command.of(COMPARE, root_seed=root_seed, to=to)


def compare_parser(about: str | None) -> argparse.ArgumentParser:
    made = parser(COMPARE, about)
    made.add_argument("--runs", type=int, default=RUNS, help="seeds per cell")
    made.add_argument("--share", type=float, default=1.0, help="of each budget, for a trial")
    made.add_argument("--problems", nargs="+", help="by name; all by default")
    made.add_argument("--root-seed", type=int, default=0, help="0 by default")
    made.add_argument("--to", type=Path, required=True, help="path without suffix")
    return made
