"""Traces kept with the project: one file a seed of an experiment, and back again.

    python -m experiments.publishing.archive pack     # results/traces → results/published/traces
    python -m experiments.publishing.archive restore  # the other way

The other way as far as settings are the same and code is equal (``experiments/ledger.py``).
A long study goes on from another machine, and a reader who doubts a table has its runs.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from experiments import command, ledger, parquet_io, speed
from experiments.paths import KEPT, ROOT
from experiments.plan import Plan, load
from experiments.runs import trace
from experiments.runs.record import SCHEMA, Record
from experiments.runs.spec import Spec

JOB = ("problem", "algorithm", "seed")  # of a job: its first seed
KEY = ("experiment", *JOB)
COST = ("seconds", "cpu_seconds", "speed")  # of a job; the speed is that of its machine, as probed
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
    """The same of the kept traces, with the speed of the machine where it is known."""
    tables = [
        pd.read_csv(file).assign(experiment=file.parent.name)
        for file in sorted(kept.glob("*/seconds.csv"))
    ]
    columns = [*KEY, *COST]
    return pd.concat(tables).reindex(columns=columns) if tables else pd.DataFrame(columns=columns)


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
    here = round(speed.probe(), 1) if len(noted) else 0.0
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
        table = pd.concat([*before, jobs.drop(columns="experiment").assign(speed=here)])
        table = table.drop_duplicates(list(JOB), keep="last").merge(pd.concat(labels), on=list(JOB))
        table.sort_values(list(JOB)).to_csv(file, index=False)
        files.append(file)
    return files


class Kept(NamedTuple):
    """A kept trace: which it is, and the settings that it is of."""

    experiment: str
    cell: tuple[str, str]
    seed: int
    spec: dict[str, Any]


@dataclass
class LeftOut:
    """Kept traces that were not restored, by reason."""

    there: int = 0
    of_other_code: int = 0
    of_other_settings: list[Kept] = field(default_factory=list)

    def __str__(self) -> str:
        return (
            f"{self.there} already there, {len(self.of_other_settings)} of other settings, "
            f"{self.of_other_code} of other code"
        )


def restore(plan: Plan, kept: Path) -> tuple[list[Path], LeftOut]:
    """Write the kept traces that ``plan`` asks for and that are not there.

    Args:
        plan: the plan; a trace of another budget, problem or hyper-parameter is none of it.
        kept: folder of the kept files.

    Returns:
        The traces written, and those left out.

    Raises:
        ValueError: a kept file is broken; the message names it.
    """
    written, classes, left_out = [], ledger.classes(), LeftOut()
    for experiment, seeds in _seeds(plan):
        specs = plan.experiments[experiment].own
        for seed in seeds:
            file = kept / experiment / f"{seed}.parquet"
            for cell, (rows, metadata) in read(file) if file.is_file() else ():
                path = Path(plan.trace(experiment, *cell, seed))
                if cell not in specs or not specs[cell].is_that_of(metadata):
                    other = Kept(experiment, cell, seed, metadata["spec"])
                    left_out.of_other_settings.append(other)
                elif classes[metadata["code"]] != plan.code(experiment, *cell):
                    left_out.of_other_code += 1
                elif path.is_file():
                    left_out.there += 1
                else:
                    trace.write(path, _record(rows, metadata.pop("hits")), metadata)
                    written.append(path)
    return written, left_out


def other_settings(traces: list[Kept], plan: Plan, most: int = 8) -> list[str]:
    """In what kept traces differ from what ``plan`` asks for: a line per experiment, problem and
    difference, at ``most`` so many.
    """
    groups: dict[tuple[str, str, str], Counter[str]] = {}
    for experiment, (problem, algorithm), _, spec in traces:
        if (spec["target"] or 0.0) < 0:
            spec = spec | {"target": None}  # as older traces spell it
        asked = plan.experiments[experiment].own.get((problem, algorithm))
        how = "; ".join(_differences(spec, asdict(asked))) if asked else "not in the config"
        groups.setdefault((experiment, problem, how), Counter())[algorithm] += 1
    lines = [
        f"{experiment}, {problem}, {', '.join(names)} ({names.total()}): {how}"
        for (experiment, problem, how), names in groups.items()
    ]
    more = [f"and {len(lines) - most} more such lines"] if len(lines) > most else []
    return lines[:most] + more


def _differences(kept: dict[str, Any], asked: dict[str, Any], of: str = "") -> Iterator[str]:
    """Each setting in which two specs differ, in words."""
    for key in dict.fromkeys([*kept, *asked]):
        has, wanted = kept.get(key, "default"), asked.get(key, "default")
        if isinstance(has, dict) and isinstance(wanted, dict):
            yield from _differences(has, wanted, f"{key.partition('_')[0]}'s ")
        elif has != wanted:
            yield f"kept with {of}{key} {has}, the config asks for {wanted}"


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


def kept_specs(kept: Path) -> dict[tuple[str, str, str], Spec]:
    """The settings of the kept traces, by experiment, problem and optimiser: those of the first
    seed of each problem and optimiser whose seconds are kept.
    """
    found: dict[tuple[str, str, str], Spec] = {}
    firsts = kept_seconds(kept).groupby(list(KEY[:3]))["seed"].min().reset_index()
    files = firsts["experiment"] + "/" + firsts["seed"].astype(str) + ".parquet"
    for file in (kept / name for name in files.unique()):
        if file.is_file():
            labels = pq.read_table(file, columns=list(LABELS)).to_pandas().drop_duplicates()
            for problem, algorithm, metadata in labels.itertuples(index=False):
                spec = Spec(**json.loads(metadata)["spec"])
                found.setdefault((file.parent.name, problem, algorithm), spec)
    return found


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
        advice = _advice(left_out.of_other_settings, plan, args)
    except ValueError as error:
        sys.exit(f"error: {error}")
    print(*written, sep="\n")
    said = [f"{len(written)} traces restored; left out: {left_out}", *advice]
    print(*said, sep="\n", file=sys.stderr)


def _advice(others: list[Kept], plan: Plan, args: argparse.Namespace) -> list[str]:
    """What the kept traces of other settings are, and how to have them."""
    if not others:
        return []
    lines = ["Of other settings:", *(f"  {line}" for line in other_settings(others, plan))]
    own = args.kept.parent / "config.yaml"  # what was really run
    if own.is_file() and own.resolve() not in [path.resolve() for path in args.config]:
        configs = [*args.config, Path(os.path.relpath(own))]
        them = load(*configs).experiments
        takes = sum(
            kept.cell in them[kept.experiment].own
            and them[kept.experiment].own[kept.cell].is_that_of({"spec": kept.spec})
            for kept in others
        )
        if takes:
            # `make` lays all over config.yaml
            words = " ".join(str(path) for path in configs if path != Path("config.yaml"))
            lines.append(
                f'To have {takes} of them: make restore CONFIG="{words}", and the same CONFIG for '
                "make replicate"
            )
    return lines


if __name__ == "__main__":
    main()
