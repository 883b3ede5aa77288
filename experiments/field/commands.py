"""The commands of the field, each beside the parser of its arguments. Light: no numpy here."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.command import Command, parser
from experiments.runs.spec import Spec

if TYPE_CHECKING:
    from experiments.config import Experiment

REFERENCE = "experiments.field.reference"
GOLDEN = "experiments.field.golden"
STANDING = "experiments.field.standing"
OBSERVED = "experiments.field.observed"


def reference(dim: int, to: Path) -> Command:
    """Evaluations of the best algorithms of 2009 on bbob in these dimensions."""
    return Command.of(REFERENCE, dim=dim, to=to)


def reference_parser(about: str | None) -> argparse.ArgumentParser:
    made = parser(REFERENCE, about)
    made.add_argument("--dim", type=int, required=True)
    made.add_argument("--to", type=Path, required=True, help="the table, .csv")
    return made


def golden(tables: Path, experiments: Mapping[str, Experiment], to: Path) -> Command:
    """Two methods held against what is published of them.

    Args:
        tables: folder of the tables of all experiments.
        experiments: of the study.
        to: the table, .csv.
    """
    return Command.of(GOLDEN, tables, experiments=json.dumps(sizes(experiments)), to=to)


def golden_parser(about: str | None) -> argparse.ArgumentParser:
    made = parser(GOLDEN, about)
    made.add_argument("tables", type=Path, help="folder of the tables of all experiments")
    made.add_argument("--experiments", type=json.loads, required=True, help="with sizes, as JSON")
    made.add_argument("--to", type=Path, required=True, help="the table, .csv")
    return made


def sizes(experiments: Mapping[str, Experiment]) -> dict[str, dict[str, Any]]:
    """What is said of each experiment: labels of the optimisers, runs, budget, dim."""
    return {
        name: {
            "labels": e.labels,
            "runs": e.runs,
            "budget": next(iter(e.cells.values())).budget,
            "dim": next(iter(e.cells.values())).problem_parameters["dim"],
        }
        for name, e in experiments.items()
    }


def standing(
    results: Path, experiments: Mapping[str, Experiment], figures: Mapping[str, str]
) -> Command:
    """Where each method stands, by experiment, and the page that says so.

    Args:
        results: folder of the tables, the golden numbers and the manifest; the page goes there.
        experiments: of the study.
        figures: its pictures, with their titles.
    """
    return Command.of(
        STANDING,
        results / "tables",
        golden=results / "golden.csv",
        manifest=results / "manifest.json",
        experiments=json.dumps(sizes(experiments)),
        figures=json.dumps(dict(figures)),
        to=results / "field",
    )


def standing_parser(about: str | None) -> argparse.ArgumentParser:
    made = parser(STANDING, about)
    made.add_argument("tables", type=Path, help="folder of the tables of all experiments")
    made.add_argument("--golden", type=Path, required=True, help="table of golden numbers")
    made.add_argument("--manifest", type=Path, required=True, help="of what the runs took")
    made.add_argument("--experiments", type=json.loads, required=True, help="with sizes, as JSON")
    made.add_argument("--figures", type=json.loads, required=True, help="with titles, as JSON")
    made.add_argument("--to", type=Path, required=True, help="path without suffix")
    return made


def observed(spec: Spec, label: str, runs: int, to: str) -> Command:
    """COCO's own data of the runs of a cell.

    Args:
        spec: of the cell.
        label: what COCO's tables call the optimiser.
        runs: seeds 0 … runs − 1.
        to: folder of the data.
    """
    return Command.of(OBSERVED, json.dumps(asdict(spec)), label=label, runs=runs, to=to)


def observed_parser(about: str | None) -> argparse.ArgumentParser:
    made = parser(OBSERVED, about)
    made.add_argument("spec", type=json.loads, help="of the cell, as JSON")
    made.add_argument("--label", required=True, help="what COCO's tables call the optimiser")
    made.add_argument("--runs", type=int, required=True)
    made.add_argument("--to", type=Path, required=True, help="folder of the data")
    return made
