"""The commands that draw, each beside the parser of its arguments. Light: no matplotlib here."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from experiments.command import Command, parser

# The last paragraph of a caption, which lies in the folder figures of the results.
MANIFEST = "Runs, machine and versions: [manifest.json](../manifest.json)."

FORMATS = ("png", "pdf", "svg")  # of the files of a picture

# What a figure may set, by its kind: each option with what it may be, of which the first is the
# default, or with a type.
OPTIONS: dict[str, dict[str, Any]] = {
    "convergence": {
        "column": ("batch_min", "best", "f_mean", "batch_mean"),
        "band": ("range", "quartiles"),
        "x": ("linear", "log"),
        "below": ("none", "f_mean", "best", "batch_min", "batch_mean"),
        "target": float,
    },
    "ecdf": {
        "measure": ("plain", "bbob", "pbo"),
        "panels": ("one", "groups"),
        "over": ("none", "cma_es"),
    },
    "regret": {},
    "reward": {
        "x": ("iterations", "evaluations", "environment_steps"),
        "band": ("range", "quartiles"),
    },
    "settings": {"column": ("area_batch_mean", "best")},
    "stability": {},
    "steps": {},
}

CURVED = ("convergence", "regret", "reward", "stability")  # the kinds that draw curves over a run


def tables(kind: str) -> tuple[str, ...]:
    """The tables of an experiment that a kind takes, without suffix."""
    return ("runs", "curves") if kind in CURVED else ("runs",)


def step(name: str) -> tuple[str, float]:
    """The method, and the multiple of its step size, that the kind ``steps`` takes from the name of
    an optimiser: of ingo_0.5, ingo and 0.5.

    Raises:
        ValueError: the name does not end so.
    """
    found = re.fullmatch(r"(.+)_(\d+(?:\.\d+)?)", name)
    if not found or not float(found[2]):
        raise ValueError(
            f"{name!r} does not end in a multiple of a step size, as ingo_0.5 does; the kind "
            "steps needs that"
        )
    return found[1], float(found[2])


def figure(kind: str, tables: Path, labels: Mapping[str, str], to: Path, **options: Any) -> Command:
    """A picture of the tables of an experiment.

    Args:
        kind: the module that draws it, a key of OPTIONS.
        tables: folder of the tables.
        labels: what the picture calls each optimiser.
        to: path without suffix.
        options: those of its kind.
    """
    return Command.of(f"figures.{kind}", tables, **options, labels=json.dumps(labels), to=to)


def figure_parser(kind: str, about: str | None) -> argparse.ArgumentParser:
    made = parser(f"figures.{kind}", about)
    made.add_argument("tables", type=Path, help=f"folder with {_named(kind)}")
    for option, allowed in OPTIONS[kind].items():
        if isinstance(allowed, tuple):
            made.add_argument(f"--{option}", choices=allowed, default=allowed[0])
        else:
            made.add_argument(f"--{option}", type=allowed)
    made.add_argument("--labels", type=json.loads, default={}, help="of optimisers, as JSON")
    _files(made)
    return made


def _named(kind: str) -> str:
    return " and ".join(f"{name}.parquet" for name in tables(kind))


def _files(made: argparse.ArgumentParser) -> None:
    made.add_argument("--formats", nargs="+", choices=FORMATS, default=FORMATS)
    made.add_argument("--to", type=Path, required=True, help="path without suffix")


def theory_figure(
    question: str, table: Path, labels: Mapping[str, str] | None, to: Path
) -> Command:
    """A picture of a table of the theory.

    Args:
        question: the module of figures/theory that draws it.
        table: .csv.
        labels: what the picture calls each estimator, where the table is of an experiment.
        to: path without suffix.
    """
    named = json.dumps(labels) if labels else None
    return Command.of(f"figures.theory.{question}", table, labels=named, to=to)


def theory_figure_parser(question: str, about: str | None) -> argparse.ArgumentParser:
    made = parser(f"figures.theory.{question}", about)
    made.add_argument("table", type=Path, help="the table, .csv")
    made.add_argument("--labels", type=json.loads, help="of estimators, as JSON")
    _files(made)
    return made


def film(trace: str, label: str, to: Path) -> Command:
    """A film of the policy that a run came to."""
    return Command.of("figures.film", trace, label=label, to=to)


def film_parser(about: str | None) -> argparse.ArgumentParser:
    made = parser("figures.film", about)
    made.add_argument("trace", type=Path, help="of a run on a control problem")
    made.add_argument("--label", help="what the caption calls the optimiser")
    made.add_argument("--to", type=Path, required=True, help="path without suffix")
    return made
