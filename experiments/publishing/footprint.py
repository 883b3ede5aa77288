"""What the suite takes of a machine: bytes of environment, clone and traces, and time of targets.

    python -m experiments.publishing.footprint
    python -m experiments.publishing.footprint --time quick test  # runs these targets of make

writes results/published/traces/footprint.json, from which the README takes it. Times that are not
measured again are kept. Time targets on a machine that does nothing else.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from experiments import command
from experiments.paths import KEPT, ROOT
from experiments.publishing import archive
from experiments.runs.machine import processor
from experiments.runs.record import SCHEMA
from experiments.speed import cpu_seconds

NAME = "footprint.json"  # in the folder of kept traces


def size(folder: Path) -> int:
    """Bytes of the files in a folder."""
    return sum(p.stat().st_size for p in folder.rglob("*") if p.is_file() and not p.is_symlink())


def clone_size(root: Path) -> int:
    """Bytes of a fresh clone, history included."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            ["git", "clone", "--quiet", "--no-local", root, f"{folder}/clone"], check=True
        )
        return size(Path(folder))


def trace_sizes(kept: Path) -> dict[str, int]:
    """Bytes of the traces of each experiment, a file per run, as runs write them."""
    sizes: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        one = Path(folder) / "trace.parquet"
        for file in sorted(kept.glob("*/*.parquet")):
            for _, (rows, metadata) in archive.read(file):
                schema = {b"run": json.dumps(metadata).encode()} | (SCHEMA.metadata or {})
                pq.write_table(rows.replace_schema_metadata(schema), one, compression="zstd")
                sizes[file.parent.name] += one.stat().st_size
    return dict(sizes)


def run_dates(kept: Path) -> list[str]:
    """The first and the last day of the commits that the kept traces were made with."""
    commits: set[str] = set()
    for file in kept.glob("*/*.parquet"):
        for text in set(pq.read_table(file, columns=["metadata"])["metadata"].to_pylist()):
            commits.add(json.loads(text)["commit"].removesuffix("-dirty"))
    days = [
        subprocess.run(
            ["git", "-C", ROOT, "show", "-s", "--format=%cs", commit],
            capture_output=True, text=True, check=False,
        ).stdout.strip()
        for commit in sorted(commits)
    ]  # fmt: skip
    known = sorted(day for day in days if day)
    return [known[0], known[-1]] if known else []


def timed(target: str) -> dict[str, int]:
    """Wall and processor seconds of a target of make, and bytes of the results that it makes."""
    before, began = cpu_seconds(), time.monotonic()
    subprocess.run(["make", target], cwd=ROOT, check=True, stdout=sys.stderr)
    folder = ROOT / "results" / target
    return {
        "seconds": round(time.monotonic() - began),
        "core_seconds": round(cpu_seconds() - before),
        "bytes": size(folder) if folder.is_dir() else 0,
    }


def read(kept: Path) -> dict[str, Any]:
    """What is known; empty if nothing was measured."""
    file = kept / NAME
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}


def main(arguments: list[str] | None = None) -> None:
    """Measure, and keep the numbers."""
    parser = command.parser("experiments.publishing.footprint", __doc__)
    parser.add_argument("--time", nargs="*", default=[], metavar="TARGET", help="of make, to run")
    args = parser.parse_args(arguments)
    known = read(KEPT)
    found = {
        "environment": size(ROOT / ".venv"),
        "clone": clone_size(ROOT),
        "traces": trace_sizes(KEPT),
        "runs": run_dates(KEPT) or known.get("runs", []),
        "targets": known.get("targets", {}),
    }
    for target in args.time:
        found["targets"][target] = timed(target) | {
            "processor": processor(), "cores": os.cpu_count(), "date": date.today().isoformat(),
        }  # fmt: skip
    (KEPT / NAME).write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
