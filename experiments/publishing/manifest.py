"""What a set of results comes from, in one file: config, commit, versions and machine; and of each
cell how many runs there are, what they cost, why they stopped, and of which code they are.

    python -m experiments.publishing.manifest --config config.yaml --to results/manifest.json

The same results give the same file, but for the time and memory that was measured.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import platform
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import distributions
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from experiments import config as configs
from experiments.paths import ROOT
from experiments.plan import Plan
from experiments.publishing import archive, commands, cost
from experiments.runs import trace
from experiments.runs.job import commit
from experiments.runs.machine import processor
from experiments.tables import files

LIBRARIES = (
    *cost.LIBRARIES[1:],
    *("pandas", "pyarrow", "matplotlib", "snakemake"),
    *("coco-experiment", "cocopp", "ioh"),  # where they are installed
)
COSTS = ("seconds", "cpu_seconds")


class Run(NamedTuple):
    """A run whose trace is there."""

    experiment: str
    cell: tuple[str, str]
    seed: int
    metadata: dict[str, Any]


def traces(plan: Plan) -> Iterator[Run]:
    """The runs that a plan asks for, as far as they are done: by these settings and this code."""
    for name, experiment in plan.experiments.items():
        for cell in experiment.own:
            for seed in range(experiment.runs):
                path = Path(plan.trace(name, *cell, seed))
                if path.is_file() and not plan.unfit(name, *cell, seed):
                    yield Run(name, cell, seed, trace.read_metadata(path))


def kept_traces(kept: Path) -> Iterator[Run]:
    """The runs that are kept."""
    for file in sorted(kept.glob("*/*.parquet")):
        for cell, (_, metadata) in archive.read(file):
            yield Run(file.parent.name, cell, int(file.stem), metadata)


def of_runs(runs: Iterable[Run], jobs: pd.DataFrame, plan: Plan) -> dict[str, Any]:
    """What runs come from, how many of them by commit and by version; and their cells.

    Args:
        runs: with the metadata of their traces.
        jobs: seconds of jobs, for traces that do not say how long they took.
        plan: which experiments show a cell that another one runs.
    """
    commits: Counter[str] = Counter()
    versions: dict[str, Counter[str]] = {}
    cells: dict[tuple[str, tuple[str, str]], list[Run]] = {}
    for run in runs:
        cells.setdefault((run.experiment, run.cell), []).append(run)
        commits[run.metadata["commit"]] += 1
        for library, version in run.metadata["versions"].items():
            versions.setdefault(library, Counter())[version] += 1
    noted = jobs.set_index(list(archive.KEY))
    made: dict[str, dict[str, Any]] = {}
    for name, experiment in plan.experiments.items():
        for problem, algorithm in experiment.cells:
            key = f"{problem}/{algorithm}"
            if algorithm in experiment.shared:
                made.setdefault(name, {})[key] = {"same_as": "/".join(experiment.shared[algorithm])}
            elif found := cells.get((name, (problem, algorithm))):
                made.setdefault(name, {})[key] = of_cell(found, noted)
    return {
        "commits": _sorted(commits),
        "versions": {library: _sorted(versions[library]) for library in sorted(versions)},
        "experiments": made,
    }


def of_cell(runs: Sequence[Run], noted: pd.DataFrame) -> dict[str, Any]:
    """How many runs a cell has, what they cost, why they stopped, and the code that made them."""
    costs = pd.DataFrame([run_cost(run, noted) for run in runs], dtype=float)
    peak = costs["peak_mb"].max()
    return {
        "runs": len(runs),
        "measured": int(costs["seconds"].notna().sum()),
        **{name: round(float(costs[name].sum()), 2) for name in COSTS},
        "peak_mb": None if math.isnan(peak) else round(float(peak), 1),
        "stops": _sorted(Counter(run.metadata["stop"] for run in runs)),
        "code": _sorted(Counter(run.metadata["code"] for run in runs)),
    }


def run_cost(run: Run, noted: pd.DataFrame) -> dict[str, float | None]:
    """Seconds and peak memory of a run, as its trace has them; of an older one the seconds that are
    kept of it.
    """
    if "seconds" in run.metadata:
        return {name: run.metadata.get(name) for name in (*COSTS, "peak_mb")}
    key = (run.experiment, *run.cell, run.seed)
    seconds = noted.loc[key, list(COSTS)].to_dict() if key in noted.index else {}
    return dict.fromkeys((*COSTS, "peak_mb")) | seconds


def made_by() -> dict[str, Any]:
    """The code, packages and machine that make tables and figures, and runs unless restored."""
    lock = (ROOT / "requirements.lock").read_bytes()
    installed = {package.name: package.version for package in distributions()}
    return {
        "commit": commit(),
        "requirements_lock_sha256": hashlib.sha256(lock).hexdigest(),
        "versions": {"python": platform.python_version()}
        | {name: installed[name] for name in LIBRARIES if name in installed},
        "machine": {
            "processor": processor(),
            "cores": os.cpu_count(),
            "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1),
            "system": platform.platform(),
        },
    }


def manifest(config: dict[str, Any], kept: Path | None = None) -> dict[str, Any]:
    """The manifest of the results of a config, or of the kept ones.

    Args:
        config: as merged.
        kept: folder of kept traces; they are of several commits, and of their machine the name of
            its processor is known.

    Raises:
        ConfigError: the config is not allowed.
        ValueError: a kept file is broken.
    """
    plan = Plan.from_config(config)
    if kept:
        by: dict[str, Any] = {"machine": cost.machine(kept.parent / "ledger.jsonl")}
        runs, jobs = kept_traces(kept), archive.kept_seconds(kept)
    else:
        by = made_by()
        runs, jobs = traces(plan), archive.run_seconds(plan.results / "traces")
    return {"made_by": by, "runs": of_runs(runs, jobs, plan), "config": config}


def write(config: dict[str, Any], to: Path, kept: Path | None = None) -> None:
    """Write the manifest.

    Raises:
        ValueError: the config is not allowed, or a kept file is broken.
        OSError: it cannot be written.
    """
    save(manifest(config, kept), to)


def save(made: dict[str, Any], to: Path) -> None:
    """Write one that is made."""
    files.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", to)


def _sorted(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items()))


def main(arguments: list[str] | None = None) -> None:
    """Write it."""
    args = commands.manifest_parser(__doc__).parse_args(arguments)
    try:
        config = configs.merge(configs.read(*args.config), args.over)
        write(config, args.to, args.kept)
    except (ValueError, OSError) as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
