"""What the targets of make cost: core-hours from the seconds of the kept jobs, wall time, disk."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq

from experiments.paths import PUBLISHED
from experiments.plan import Plan
from experiments.publishing import archive, footprint
from experiments.publishing.grids import Grid
from experiments.publishing.words import number

CELL = list(archive.KEY[:3])
CORES = 2  # that wall times are given for
WHAT = {  # what a figure is of; a new one of config.yaml is called by its experiment
    "figure_1": "six methods on six functions",
    "figure_2": "control",
    "figure_3": "discrete INGO and two GAs",
    "figure_4": "ES with five step sizes",
    "figure_5": "reinforce gradient descent",
}
LIBRARIES = ("python", "numpy", "scipy", "cma", "pymoo", "gymnasium", "mujoco")


def table(kept: Path, whole: Plan, ran: Plan) -> Grid | None:
    """A row per target; nothing where no seconds are kept.

    Args:
        kept: folder of the kept traces.
        whole: the plan of config.yaml.
        ran: the plan of what was run, which may have smaller budgets.
    """
    jobs = archive.kept_seconds(kept)
    if jobs.empty:
        return None
    hours = jobs.groupby(CELL)["seconds"].sum() / 3600  # CPU time is noted every 15 or 30 s only
    longer = (_budgets(whole) / _budgets(ran)).reindex(hours.index).fillna(1.0)
    known = footprint.read(kept)
    bytes_of = pd.Series(known.get("traces", {}), dtype=float)
    rows = [
        _measured(target, known["targets"][target])
        for target in ("quick", "test")
        if target in known.get("targets", {})
    ]
    shown = [figure for figure in WHAT if figure in ran.figures]
    for figure in shown:
        experiment = ran.figures[figure]["experiment"]
        cells = _cells(ran, experiment)
        mine = (hours * longer)[hours.index.isin(cells)].sum()
        asked = mine > hours[hours.index.isin(cells)].sum()  # more than what was run
        rows.append(_row(f"`make {figure}`", WHAT[figure], mine, bytes_of.get(experiment), asked))
    total = bytes_of.sum() if len(bytes_of) else None
    rows += [
        _row(
            "`make replicate CONFIG=results/published/config.yaml`",
            "everything, as kept",
            hours.sum(),
            total,
        ),
        _row(
            "`make replicate`",
            "everything, at the paper's size",
            (hours * longer).sum(),
            total,
            True,
        ),
    ]
    header = ["target", "what it makes", "core-hours", f"wall time on {CORES} cores", "disk"]
    return Grid("What it takes", "", header, rows, 2)


def _cells(plan: Plan, experiment: str) -> list[tuple[str, str, str]]:
    """The cells that an experiment needs, under the names of the experiments that run them."""
    e = plan.experiments[experiment]
    places = {name: e.shared.get(name, (experiment, name)) for name in e.algorithms}
    return [(places[name][0], problem, places[name][1]) for problem, name in e.cells]


def _row(
    target: str, what: str, hours: float, size: float | None, larger: bool = False
) -> list[str]:
    """A row; ``larger`` if the traces were of less than is asked for."""
    traces = ("> " if larger and size else "") + megabytes(size)
    return [target, what, number(hours, 2), duration(hours / CORES), traces]


def _measured(target: str, cost: dict[str, Any]) -> list[str]:
    what = {"quick": "everything, on tiny budgets", "test": "the test suite"}[target]
    size = megabytes(cost["bytes"] or None)
    hours = cost["core_seconds"] / 3600
    return [f"`make {target}`", what, number(hours, 2), duration(cost["seconds"] / 3600), size]


def duration(hours: float) -> str:
    """4 min, 16 h, 2.4 days."""
    if hours < 1:
        return f"{max(1, round(60 * hours))} min"
    return f"{number(hours, 2)} h" if hours < 48 else f"{number(hours / 24, 2)} days"


def megabytes(size: float | None) -> str:
    """7 MB; empty where it is not known."""
    return "" if size is None else f"{number(max(1, round(size / 1e6)), 2)} MB"


def _budgets(plan: Plan) -> pd.Series:
    """Evaluations of a run, by experiment, problem and optimiser."""
    return pd.Series(
        {
            (name, *cell): spec.budget
            for name, experiment in plan.experiments.items()
            for cell, spec in experiment.cells.items()
        }
    )


def about(kept: Path, ledger: Path) -> str:
    """Where the numbers are from (machine, days, versions), and sizes that belong to no target."""
    known, jobs = footprint.read(kept), archive.kept_seconds(kept)
    days = " to ".join(dict.fromkeys(known.get("runs", [])))
    where = "; ".join(text for text in (machine(ledger), days) if text)
    sentences = [
        f"From the kept wall time of {len(jobs):,} jobs on one core "
        f"each{f' ({where})' if where else ''}."
    ]
    if known:
        environment, clone = (megabytes(known[name]) for name in ("environment", "clone"))
        sentences.append(f"The environment takes {environment}, a clone {clone}.")
    sentences.append(f"[Versions]({(PUBLISHED / 'manifest.json').as_posix()}).")
    return " ".join(sentences)


def versions(kept: Path) -> dict[str, str]:
    """Those in the metadata of the kept traces, one seed of each experiment."""
    found: dict[str, set[str]] = {}
    for folder in sorted(path for path in kept.glob("*") if path.is_dir()):
        for file in sorted(folder.glob("*.parquet"))[:1]:
            for text in set(pq.read_table(file, columns=["metadata"])["metadata"].to_pylist()):
                for name, version in json.loads(text)["versions"].items():
                    found.setdefault(name, set()).add(version)
    return {
        name.replace("python", "Python"): " and ".join(sorted(found[name]))
        for name in LIBRARIES
        if name in found
    }


def machine(ledger: Path) -> str:
    """The machine of the ledger's last entry: system, architecture, processor."""
    lines = ledger.read_text(encoding="utf-8").splitlines() if ledger.is_file() else []
    return str(json.loads(lines[-1]).get("machine", "")) if lines else ""
