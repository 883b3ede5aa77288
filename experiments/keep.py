"""Traces kept with the project: one file a seed of an experiment, and back again.

    python -m experiments.keep pack      # results/traces → results/published/traces
    python -m experiments.keep restore   # the other way, as far as code and config are the same

A long study thereby goes on from another machine, and a reader who doubts a table has its runs.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from experiments import command, ledger, parquet_io, plan, trace
from experiments.readme import PUBLISHED, ROOT

KEPT = ROOT / PUBLISHED / "traces"
JOB = ("problem", "algorithm", "seed")  # of a job: its first seed
KEY = ("experiment", *JOB)
LABELS = ("problem", "algorithm", "metadata")  # columns of a kept file beside those of a trace


def pack(what: plan.Plan, kept: Path) -> tuple[list[Path], list[Path]]:
    """Add the traces of ``what`` to the kept ones, and the seconds that their jobs took.

    Returns:
        The files that they are in, and the traces that were left out because they are of other
        settings than ``what`` asks for.
    """
    files, left_out = [], []
    for experiment, seeds in _seeds(what):
        for seed in seeds:
            cells = {}
            for cell, spec in what.experiments[experiment].cells.items():
                path = Path(what.trace(experiment, *cell, seed))
                if path.is_file():
                    rows, metadata = trace.read(path)
                    if metadata["spec"] == asdict(spec):
                        cells[cell] = rows, metadata
                    else:
                        left_out.append(path)
            if not cells:
                continue
            file = kept / experiment / f"{seed}.parquet"
            before = dict(read(file)) if file.is_file() else {}
            write(file, before | cells)
            files.append(file)
    return files + _pack_seconds(what.results / "times", kept, left_out), left_out


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


def restore(what: plan.Plan, kept: Path) -> tuple[list[Path], dict[str, int]]:
    """Write the kept traces that ``what`` asks for and that are not there.

    Args:
        what: the plan; a trace of another budget, problem or hyper-parameter is none of it.
        kept: folder of the kept files.

    Returns:
        The traces written, and how many were left out, by reason.

    Raises:
        ValueError: a kept file is broken; the message names it.
    """
    written, classes = [], ledger.classes()
    left_out = {"already there": 0, "of other settings": 0, "of other code": 0}
    for experiment, seeds in _seeds(what):
        specs = what.experiments[experiment].cells
        for seed in seeds:
            file = kept / experiment / f"{seed}.parquet"
            for cell, (rows, metadata) in read(file) if file.is_file() else ():
                path = Path(what.trace(experiment, *cell, seed))
                if cell not in specs or metadata["spec"] != asdict(specs[cell]):
                    left_out["of other settings"] += 1
                elif classes[metadata["code"]] != what.code(experiment, *cell):
                    left_out["of other code"] += 1
                elif path.is_file():
                    left_out["already there"] += 1
                else:
                    trace.write(path, _trace(rows, metadata.pop("hits")), metadata)
                    written.append(path)
    return written, left_out


def _seeds(what: plan.Plan) -> Iterator[tuple[str, range]]:
    return ((name, range(e.runs)) for name, e in what.experiments.items())


def _trace(rows: pa.Table, hits: list[int]) -> trace.Trace:
    made = trace.Trace(hits=hits)
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
        names = [*trace.SCHEMA.names, *LABELS]
        if table.schema.names != names:
            raise pa.ArrowInvalid(f"its columns are {table.schema.names}, not {names}")
    except (pa.ArrowInvalid, OSError) as error:
        raise ValueError(f"{file} is no whole file of kept traces: {error}") from error
    # A cell's rows stand together.
    cells = table.select(["problem", "algorithm"]).to_pandas()
    for cell, rows in cells.groupby(["problem", "algorithm"], sort=False):
        part = table.slice(rows.index[0], len(rows))
        yield cell, (part.select(trace.SCHEMA.names), json.loads(part["metadata"][0].as_py()))


def main(arguments: list[str] | None = None) -> None:
    """Pack or restore; what was written goes to standard output, a path a line."""
    parser = command.parser("experiments.keep", __doc__)
    parser.add_argument("direction", choices=("pack", "restore"))
    parser.add_argument("--config", type=Path, nargs="+", default=[ROOT / "config.yaml"])
    parser.add_argument("--kept", type=Path, default=KEPT)
    args = parser.parse_args(arguments)
    try:
        what = plan.load(*args.config)
        if args.direction == "pack":
            files, other = pack(what, args.kept)
            print(*files, sep="\n")
            if other:
                print("left out, of other settings:", *other, sep="\n", file=sys.stderr)
            return
        written, left_out = restore(what, args.kept)
    except ValueError as error:
        sys.exit(f"error: {error}")
    print(*written, sep="\n")
    reasons = ", ".join(f"{count} {reason}" for reason, count in left_out.items())
    print(f"{len(written)} traces restored; left out: {reasons}", file=sys.stderr)


if __name__ == "__main__":
    main()
