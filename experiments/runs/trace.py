"""The file of one run: its record and what the record is of.

It holds nothing that depends on the machine's speed, so the same run gives the same data.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Mapping
from dataclasses import asdict
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from algorithms.shared.interface import Stop
from experiments import ledger
from experiments.parquet_io import written_whole
from experiments.runs.record import COLUMNS, SCHEMA, Record
from experiments.runs.spec import Spec

# What the metadata of every trace hold, of whatever age.
HELD = ("spec", "seed", "title", "minimum", "stop", "stop_detail", "hits")

# What comes of reading a file that is no trace.
BROKEN = (pa.ArrowException, OSError, ValueError, TypeError, KeyError, ZeroDivisionError)


def write(path: Path, record: Record, metadata: dict[str, Any]) -> None:
    """Write a trace: the file is whole or absent, and knows when one of its bits is flipped."""
    described = {**metadata, "hits": record.hits}
    described.pop("sum", None)  # of a trace that is written again
    table = record.table({**described, "sum": checksum(record.rows, described)})
    with written_whole(path) as temporary:
        pq.write_table(table, temporary, compression="zstd", write_page_checksum=True)


def checksum(rows: Mapping[str, Any], metadata: Mapping[str, Any]) -> int:
    """Of all that a trace holds: pages have sums of their own, the metadata of a file have not."""
    text = json.dumps({key: metadata[key] for key in sorted(metadata)}, sort_keys=True)
    made = crc32(text.encode())
    for name in COLUMNS:
        made = crc32(memoryview(rows[name]), made)
    return made


def sum_of(rows: pa.Table, metadata: Mapping[str, Any]) -> int:
    """The checksum of a trace that was read."""
    columns = {name: np.ascontiguousarray(rows[name].to_numpy()) for name in COLUMNS}
    return checksum(columns, {key: value for key, value in metadata.items() if key != "sum"})


def is_as_written(rows: pa.Table, metadata: Mapping[str, Any]) -> bool:
    """Whether a trace that was read has the right checksum. Older ones have none, nor machines."""
    has_sum = "sum" in metadata or "machines" in metadata
    return not has_sum or sum_of(rows, metadata) == metadata.get("sum")


def read(path: Path) -> tuple[pa.Table, dict[str, Any]]:
    """The rows and the metadata of a trace.

    Raises:
        ValueError: the file is no whole trace; the message names it and how to redo it.
    """
    try:
        _check_file(path)
        table = pq.read_table(path, page_checksum_verification=True)
        if not table.schema.equals(SCHEMA):
            raise pa.ArrowInvalid(f"its columns are {table.schema.names}, not {SCHEMA.names}")
        metadata = _metadata(table.schema)
        if lacking := _lacking(table, metadata):
            raise pa.ArrowInvalid(lacking)
    except BROKEN as error:
        raise ValueError(f"{path} is not a whole trace: {error}\n{redo(path)}") from error
    return table, metadata


def read_metadata(path: Path) -> dict[str, Any]:
    """The metadata of a trace, of whose rows nothing is read.

    Raises:
        ValueError: it has none; the message names it and how to redo it.
    """
    try:
        _check_file(path)
        return _metadata(pq.read_schema(path))
    except BROKEN as error:
        raise ValueError(f"{path} is not a whole trace: {error}\n{redo(path)}") from error


def redo(path: Path) -> str:
    """How to have a trace made anew, in words, whatever the config."""
    command = f"rm -r {shlex.quote(str(path))}"
    return f"Redo it: {command} and start the workflow again, which makes what is missing."


def _check_file(path: Path) -> None:
    """Raise ValueError unless there is a file; of a pipe, reading would wait for ever."""
    if not path.is_file():
        raise ValueError("it is no file" if os.path.lexists(path) else "there is no such file")


def _metadata(schema: pa.Schema) -> dict[str, Any]:
    """The metadata of a trace with this schema; one of BROKEN if it is none."""
    metadata = {k.decode(): json.loads(v) for k, v in (schema.metadata or {}).items()}
    if missing := [key for key in HELD if key not in metadata]:
        raise ValueError(f"its metadata lack {', '.join(missing)}")
    Spec.recorded(metadata)  # or TypeError
    return metadata


def _lacking(table: pa.Table, metadata: dict[str, Any]) -> str:
    """What is missing of a trace, in words; nothing if it ends where it says that the run did."""
    if not len(table):
        return "it has no rows"
    if not is_as_written(table, metadata):
        return "its content is not what was written"
    last = {name: table[name][-1].as_py() for name in ("iteration", "evaluations", "batch_min")}
    iteration, evaluations = last["iteration"], last["evaluations"]
    spec, stop = metadata["spec"], metadata["stop"]
    reached = metadata["hits"][-1] if metadata["hits"] else 0
    batch = metadata.get("next_batch", evaluations / iteration)
    ended = {
        Stop.BUDGET: evaluations <= spec["budget"] < evaluations + batch,
        Stop.TARGET: last["batch_min"] <= metadata["minimum"] + (spec["target"] or 0.0),
    }
    if not ended.get(stop, bool(stop)) or reached > evaluations:
        return (
            f"its last row is of {evaluations:,} evaluations, where the run did not stop "
            f"({stop or 'no reason'}, budget {spec['budget']:,})"
        )
    return ""


def key(spec: Spec, code: str) -> str:
    """What a trace of this spec and of this fingerprint's class is recognised by, however the spec
    is written.
    """
    text = json.dumps([_numbers_as_floats(asdict(spec.canonical)), ledger.classes()[code]])
    return sha256(text.encode()).hexdigest()[:12]


def _numbers_as_floats(value: Any) -> Any:
    """With 1, 1.0 and true written alike, as they are equal."""
    if isinstance(value, dict):
        return {name: _numbers_as_floats(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_numbers_as_floats(item) for item in value]
    return float(value) if isinstance(value, int) else value


def misfit(metadata: dict[str, Any], spec: Spec, seed: int, code: str) -> str:
    """Why a trace with this metadata is not the one of this spec, seed and fingerprint of code, in
    words; nothing if it is.
    """
    if metadata["seed"] != seed:
        return f"it is of seed {metadata['seed']}, not {seed}"
    if differences := spec.differences(metadata):
        return f"it has {'; '.join(differences)}"
    classes, theirs = ledger.classes(), metadata.get("code", "")
    if classes[theirs] != classes[code]:
        return f"it is of other code, {theirs or 'unknown'}, not {code}"
    return ""


def versions() -> dict[str, str]:
    """Versions of Python and of the libraries that this process has loaded."""
    loaded = ("numpy", "scipy", "pyarrow", "cma", "pymoo", "gymnasium", "mujoco", "cocoex")
    found = {name: sys.modules[name].__version__ for name in loaded if name in sys.modules}
    if "ioh" in sys.modules:  # which does not say it itself
        found["ioh"] = version("ioh")
    return {"python": ".".join(map(str, sys.version_info[:3])), **found}


def difference(old: Path, new: Path) -> str:
    """The first row and column in which two traces differ, or what of their metadata does, in
    words; nothing if all data are equal bit for bit (and NaN equal to NaN).

    Of the metadata, what a run came to is compared, not what code and spec it is of. What an old
    trace does not hold yet is not asked for.

    Raises:
        ValueError: one of them is no whole trace.
    """
    (a, its), (b, theirs) = read(old), read(new)
    rows = min(len(a), len(b))
    first: tuple[int, str] | None = None
    for name in COLUMNS:
        x, y = (np.ascontiguousarray(table[name].to_numpy()[:rows]) for table in (a, b))
        unequal = np.flatnonzero(x.view(np.int64) != y.view(np.int64))
        if len(unequal) and (first is None or unequal[0] < first[0]):
            first = int(unequal[0]), name
    if first:
        row, name = first
        was, now = (table[name][row].as_py() for table in (a, b))
        return f"row {row}, column {name}: {was!r} became {now!r}"
    if len(a) != len(b):
        return f"row {rows}: {len(a)} rows became {len(b)}"
    for key in ("minimum", "hits", "stop", "stop_detail", "last_mean"):
        if key in its and (key not in theirs or its[key] != theirs[key]):
            return f"{key}: {_short(its[key])} became {_short(theirs.get(key, 'nothing'))}"
    return ""


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
