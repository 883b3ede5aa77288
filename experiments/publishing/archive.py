"""Traces kept with the project: one file a seed of an experiment, and back again.

    python -m experiments.publishing.archive pack     # results/traces → results/published/traces
    python -m experiments.publishing.archive restore  # the other way

The other way as far as settings are the same and code is equal (``experiments/ledger.py``).
A long study goes on from another machine, and a reader who doubts a table has its runs.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from experiments import command, ledger, parquet_io
from experiments.paths import KEPT, ROOT
from experiments.plan import Plan, load
from experiments.runs import trace
from experiments.runs.record import SCHEMA, Record

JOB = ("problem", "algorithm", "seed")  # of a job: its first seed
KEY = ("experiment", *JOB)
LABELS = ("problem", "algorithm", "metadata")  # columns of a kept file beside those of a trace


def pack(plan: Plan, kept: Path) -> tuple[list[Path], list[Path]]:
    """Add the traces of ``plan`` to the kept ones, and the seconds that their jobs took.

    Returns:
        The files that they are in, and the traces that were left out because they are of other
        settings than ``plan`` asks for.
    """
    files, left_out = [], []
    for experiment, seeds in _seeds(plan):
        for seed in seeds:
            cells = {}
            for cell, spec in plan.experiments[experiment].own.items():
                path = Path(plan.trace(experiment, *cell, seed))
                if path.is_file():
                    rows, metadata = trace.read(path)
                    if spec.is_that_of(metadata):
                        cells[cell] = rows, metadata
                    else:
                        left_out.append(path)
            if not cells:
                continue
            file = kept / experiment / f"{seed}.parquet"
            before = dict(read(file)) if file.is_file() else {}
            write(file, before | cells)
            files.append(file)
    return files + _pack_seconds(plan.results / "times", kept, left_out), left_out


def job_seconds(times: Path) -> pd.DataFrame:
    """A row a job, from what Snakemake noted in ``times``: NaN where it was too short to note."""
    rows = []
    for path in sorted(times.rglob("*.tsv")):
        noted = pd.read_csv(path, sep="\t", na_values="-").loc[0, ["s", "cpu_time"]]
        rows.append((*path.relative_to(times).with_suffix("").parts, *noted))
    columns = [*KEY, "seconds", "cpu_seconds"]
    return pd.DataFrame(rows, columns=columns).astype(
        {"seed": int, "seconds": float, "cpu_seconds": float}
    )


def kept_seconds(kept: Path) -> pd.DataFrame:
    """The same of the kept traces."""
    tables = [
        pd.read_csv(file).assign(experiment=file.parent.name)
        for file in sorted(kept.glob("*/seconds.csv"))
    ]
    columns = [*KEY, "seconds", "cpu_seconds"]
    return pd.concat(tables)[columns] if tables else pd.DataFrame(columns=columns)


def all_seconds(times: Path, kept: Path) -> pd.DataFrame:
    """The same of both, what was noted here before what is kept of the same job."""
    both = pd.concat([job_seconds(times), kept_seconds(kept)])
    both = both.astype({"seed": int, "seconds": float, "cpu_seconds": float})
    return both.drop_duplicates(list(KEY)).sort_values(list(KEY), ignore_index=True)


def _pack_seconds(times: Path, kept: Path, left_out: list[Path]) -> list[Path]:
    """Add what Snakemake noted of jobs in ``times`` to the kept tables of seconds, as far as the
    traces are kept: not of those ``left_out``, though one of the same cell and seed may be kept.
    """
    files = []
    noted = job_seconds(times)
    others = [(*path.parts[-4:-1], int(path.stem)) for path in left_out]
    noted = noted[~pd.MultiIndex.from_frame(noted[list(KEY)]).isin(others)]
    for experiment, jobs in noted.groupby("experiment"):
        folder = kept / str(experiment)
        labels = [
            pq.read_table(file, columns=["problem", "algorithm"])
            .to_pandas()
            .drop_duplicates()
            .assign(seed=int(file.stem))
            for file in folder.glob("*.parquet")
        ]
        if not labels:
            continue
        file = folder / "seconds.csv"
        before = [pd.read_csv(file)] if file.is_file() else []
        table = pd.concat([*before, jobs.drop(columns="experiment")])
        table = table.drop_duplicates(list(JOB), keep="last").merge(pd.concat(labels), on=list(JOB))
        table.sort_values(list(JOB)).to_csv(file, index=False)
        files.append(file)
    return files


def restore(plan: Plan, kept: Path) -> tuple[list[Path], dict[str, int]]:
    """Write the kept traces that ``plan`` asks for and that are not there.

    Args:
        plan: the plan; a trace of another budget, problem or hyper-parameter is none of it.
        kept: folder of the kept files.

    Returns:
        The traces written, and how many were left out, by reason.

    Raises:
        ValueError: a kept file is broken; the message names it.
    """
    written, classes = [], ledger.classes()
    left_out = {"already there": 0, "of other settings": 0, "of other code": 0}
    for experiment, seeds in _seeds(plan):
        specs = plan.experiments[experiment].own
        for seed in seeds:
            file = kept / experiment / f"{seed}.parquet"
            for cell, (rows, metadata) in read(file) if file.is_file() else ():
                path = Path(plan.trace(experiment, *cell, seed))
                if cell not in specs or not specs[cell].is_that_of(metadata):
                    left_out["of other settings"] += 1
                elif classes[metadata["code"]] != plan.code(experiment, *cell):
                    left_out["of other code"] += 1
                elif path.is_file():
                    left_out["already there"] += 1
                else:
                    trace.write(path, _record(rows, metadata.pop("hits")), metadata)
                    written.append(path)
    return written, left_out


def _seeds(plan: Plan) -> Iterator[tuple[str, range]]:
    return ((name, range(e.runs)) for name, e in plan.experiments.items())


def _record(rows: pa.Table, hits: list[int]) -> Record:
    made = Record(hits=hits)
    for name, column in made.rows.items():
        column.frombytes(rows[name].to_numpy().tobytes())
    return made


def write(file: Path, cells: dict[tuple[str, str], tuple[pa.Table, dict[str, Any]]]) -> None:
    """Write a kept file from the rows and metadata of its cells; it is whole or absent."""
    tables = []
    for (problem, algorithm), (rows, metadata) in sorted(cells.items(), key=lambda item: item[0]):
        labels = (problem, algorithm, json.dumps(metadata, sort_keys=True))
        for name, label in zip(LABELS, labels, strict=True):
            rows = rows.append_column(name, pa.repeat(label, len(rows)))
        tables.append(rows.replace_schema_metadata(None))
    parquet_io.write(pa.concat_tables(tables), file)


def read(file: Path) -> Iterator[tuple[tuple[str, str], tuple[pa.Table, dict[str, Any]]]]:
    """The cells of a kept file, each with the rows and metadata of its trace."""
    try:
        table = pq.read_table(file)
        names = [*SCHEMA.names, *LABELS]
        if table.schema.names != names:
            raise pa.ArrowInvalid(f"its columns are {table.schema.names}, not {names}")
    except (pa.ArrowInvalid, OSError) as error:
        raise ValueError(f"{file} is no whole file of kept traces: {error}") from error
    # A cell's rows stand together.
    cells = table.select(["problem", "algorithm"]).to_pandas()
    for cell, rows in cells.groupby(["problem", "algorithm"], sort=False):
        part = table.slice(rows.index[0], len(rows))
        yield cell, (part.select(SCHEMA.names), json.loads(part["metadata"][0].as_py()))


def stops(file: Path) -> pd.DataFrame:
    """A row per cell of a kept file: problem, algorithm, why its run stopped, and after how many
    evaluations.
    """
    rows = [
        (*cell, metadata["stop"], steps["evaluations"][-1].as_py())
        for cell, (steps, metadata) in read(file)
    ]
    return pd.DataFrame(rows, columns=["problem", "algorithm", "stop", "evaluations"])


def main(arguments: list[str] | None = None) -> None:
    """Pack or restore; what was written goes to standard output, a path a line."""
    parser = command.parser("experiments.publishing.archive", __doc__)
    parser.add_argument("direction", choices=("pack", "restore"))
    parser.add_argument("--config", type=Path, nargs="+", default=[ROOT / "config.yaml"])
    parser.add_argument("--kept", type=Path, default=KEPT)
    args = parser.parse_args(arguments)
    try:
        plan = load(*args.config)
        if args.direction == "pack":
            files, other = pack(plan, args.kept)
            print(*files, sep="\n")
            if other:
                print("left out, of other settings:", *other, sep="\n", file=sys.stderr)
            return
        written, left_out = restore(plan, args.kept)
    except ValueError as error:
        sys.exit(f"error: {error}")
    print(*written, sep="\n")
    reasons = ", ".join(f"{count} {reason}" for reason, count in left_out.items())
    print(f"{len(written)} traces restored; left out: {reasons}", file=sys.stderr)


if __name__ == "__main__":
    main()
