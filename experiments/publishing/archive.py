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
from contextlib import suppress
from dataclasses import dataclass, field
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

JOB = ("problem", "algorithm", "seed")
KEY = ("experiment", *JOB)
COST = ("seconds", "cpu_seconds", "speed")  # of a run; the speed is that of its machine, as probed
TYPES = {"seed": int, "seconds": float, "cpu_seconds": float}
LABELS = ("problem", "algorithm", "metadata")  # columns of a kept file beside those of a trace


def pack(plan: Plan, kept: Path) -> tuple[list[Path], list[Path]]:
    """Add the traces of ``plan`` to the kept ones, and the seconds that they took.

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
            if any(it not in before or _differ(cells[it], before[it]) for it in cells):
                write(file, before | cells)
            files.append(file)
    return files + _pack_seconds(plan.results / "traces", kept, left_out), left_out


def _differ(one: tuple[pa.Table, dict[str, Any]], other: tuple[pa.Table, dict[str, Any]]) -> bool:
    """Whether two traces do, be one older than the checksum that a restored one has."""
    return trace.sum_of(*one) != trace.sum_of(*other)


def run_seconds(traces: Path) -> pd.DataFrame:
    """A row per trace in a folder, with what its run took; not of traces that do not say so, as the
    kept ones of older code.
    """
    rows = []
    for path in sorted(traces.glob("*/*/*/*.parquet")):
        with suppress(ValueError):  # no trace, which the tables name
            metadata = trace.read_metadata(path)
            if "seconds" in metadata:
                names = *path.relative_to(traces).parts[:-1], metadata["seed"]
                rows.append((*names, metadata["seconds"], metadata["cpu_seconds"]))
    return pd.DataFrame(rows, columns=[*KEY, *COST[:2]]).astype(TYPES)


def kept_seconds(kept: Path) -> pd.DataFrame:
    """The same of the kept traces, with the speed of the machine where it is known."""
    tables = [
        pd.read_csv(file).assign(experiment=file.parent.name)
        for file in sorted(kept.glob("*/seconds.csv"))
    ]
    columns = [*KEY, *COST]
    return pd.concat(tables).reindex(columns=columns) if tables else pd.DataFrame(columns=columns)


def all_seconds(traces: Path, kept: Path) -> pd.DataFrame:
    """The same of both, of a run that is in both by the trace."""
    both = pd.concat([run_seconds(traces), kept_seconds(kept)]).astype(TYPES)
    return both.drop_duplicates(list(KEY)).sort_values(list(KEY), ignore_index=True)


def _pack_seconds(traces: Path, kept: Path, left_out: list[Path]) -> list[Path]:
    """Add what runs took to the kept tables of seconds, but of the traces ``left_out``."""
    others = [(*path.parts[-4:-1], int(path.stem)) for path in left_out]
    took = run_seconds(traces)
    took = took[~pd.MultiIndex.from_frame(took[list(KEY)]).isin(others)]
    here = round(speed.probe(), 1) if len(took) else 0.0
    files = []
    for experiment, runs in took.groupby("experiment"):
        file = kept / str(experiment) / "seconds.csv"
        before = [pd.read_csv(file)] if file.is_file() else []
        table = pd.concat([*before, runs.drop(columns="experiment").assign(speed=here)])
        # A trace that was restored took its seconds on another machine.
        table = table.drop_duplicates([*JOB, "seconds"]).drop_duplicates(list(JOB), keep="last")
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
                    columns = {name: rows[name].to_numpy() for name in SCHEMA.names}
                    trace.write(path, Record.of(columns, metadata.pop("hits")), metadata)
                    written.append(path)
    return written, left_out


def other_settings(traces: list[Kept], plan: Plan, most: int = 8) -> list[str]:
    """In what kept traces differ from what ``plan`` asks for: a line per experiment, problem and
    difference, at ``most`` so many.
    """
    groups: dict[tuple[str, str, str], Counter[str]] = {}
    for experiment, (problem, algorithm), _, spec in traces:
        asked = plan.experiments[experiment].own.get((problem, algorithm))
        differences = asked.differences({"spec": spec}) if asked else []
        how = "; ".join(f"kept with {it}" for it in differences) or "not in the config"
        groups.setdefault((experiment, problem, how), Counter())[algorithm] += 1
    lines = [
        f"{experiment}, {problem}, {', '.join(names)} ({names.total()}): {how}"
        for (experiment, problem, how), names in groups.items()
    ]
    more = [f"and {len(lines) - most} more such lines"] if len(lines) > most else []
    return lines[:most] + more


def _seeds(plan: Plan) -> Iterator[tuple[str, range]]:
    return ((name, range(e.runs)) for name, e in plan.experiments.items())


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
    """The cells of a kept file, each with the rows and metadata of its trace.

    Raises:
        ValueError: the file is damaged; the message names it.
    """
    try:
        yield from _read(file)
    except trace.BROKEN as error:
        raise ValueError(f"{file} is no whole file of kept traces: {error}") from error


def _read(file: Path) -> Iterator[tuple[tuple[str, str], tuple[pa.Table, dict[str, Any]]]]:
    table = pq.read_table(file, page_checksum_verification=True)
    wanted = pa.schema([*SCHEMA, *((name, pa.string()) for name in LABELS)])
    if (table.schema.names, table.schema.types) != (wanted.names, wanted.types):
        raise ValueError(
            f"its columns are {table.schema.names}, not {wanted.names}, or other types"
        )
    # A cell's rows stand together.
    cells = table.select(["problem", "algorithm"]).to_pandas()
    for cell, rows in cells.groupby(["problem", "algorithm"], sort=False):
        part = table.slice(rows.index[0], len(rows))
        steps, metadata = part.select(SCHEMA.names), json.loads(part["metadata"][0].as_py())
        if not trace.is_as_written(steps, metadata):
            raise ValueError(f"the trace of {'/'.join(cell)} is not what was written")
        yield cell, (steps, metadata)


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
    """A row per cell of a kept file: problem, algorithm, why its run stopped, after how many
    evaluations, and the fingerprint of its code.
    """
    rows = [
        (*cell, metadata["stop"], steps["evaluations"][-1].as_py(), metadata["code"])
        for cell, (steps, metadata) in read(file)
    ]
    return pd.DataFrame(rows, columns=["problem", "algorithm", "stop", "evaluations", "code"])


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
