"""The commands that judge claims, each beside the parser of its arguments. Light: no scipy here."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

from experiments.command import Command, parser

VERDICTS = "experiments.claims.verdicts"
VARIANTS = "experiments.claims.variants"


def verdicts(tables: Path, to: Path) -> Command:
    """The verdicts on all claims."""
    return Command.of(VERDICTS, tables=tables, to=to)


def verdicts_parser(about: str | None) -> argparse.ArgumentParser:
    made = parser(VERDICTS, about)
    made.add_argument("--tables", type=Path, required=True, help="folder of the tables")
    made.add_argument("--to", type=Path, required=True, help="path without suffix")
    return made


def variants(tables: Path, of: str, by: str, replace: Mapping[str, str], to: Path) -> Command:
    """The verdicts with variants of an experiment's optimisers in place of these.

    Args:
        of: the experiment that claims are about.
        by: the experiment that ran the variants.
        replace: each variant, with the optimiser whose place it takes.
    """
    pairs = [f"{variant}={optimiser}" for variant, optimiser in replace.items()]
    return Command.of(VARIANTS, tables=tables, of=of, by=by, replace=pairs, to=to)


def variants_parser(about: str | None) -> argparse.ArgumentParser:
    made = parser(VARIANTS, about)
    made.add_argument("--tables", type=Path, required=True, help="folder of the tables")
    made.add_argument("--of", required=True, help="experiment that the claims are about")
    made.add_argument("--by", required=True, help="experiment with the variants")
    made.add_argument("--replace", nargs="+", required=True, metavar="VARIANT=OPTIMISER")
    made.add_argument("--to", type=Path, required=True, help="path without suffix")
    return made
