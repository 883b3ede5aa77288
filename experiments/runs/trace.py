"""The file of one run: its record and what the record is of.

It holds nothing that depends on the machine's speed, so the same run gives the same data.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from experiments.parquet_io import written_whole
from experiments.runs.record import COLUMNS, SCHEMA, Record


def write(path: Path, record: Record, metadata: dict[str, Any]) -> None:
    """Write a trace: the file is whole or absent."""
    table = record.table({**metadata, "hits": record.hits})
    with written_whole(path) as temporary:
        pq.write_table(table, temporary, compression="zstd")


def read(path: Path) -> tuple[pa.Table, dict[str, Any]]:
    """The rows and the metadata of a trace.

    Raises:
        ValueError: the file is no whole trace; the message names it and the command that redoes it.
    """
    try:
        table = pq.read_table(path)
        if not table.schema.equals(SCHEMA):
            raise pa.ArrowInvalid(f"its columns are {table.schema.names}, not {SCHEMA.names}")
    except (pa.ArrowInvalid, OSError) as error:
        raise ValueError(
            f"{path} is not a whole trace: {error}\nRedo it: snakemake --cores 1 --force {path}"
        ) from error
    return table, {k.decode(): json.loads(v) for k, v in table.schema.metadata.items()}


def versions() -> dict[str, str]:
    """Versions of Python and of the libraries that this process has loaded."""
    loaded = ("numpy", "scipy", "pyarrow", "cma", "pymoo", "gymnasium", "mujoco")
    found = {name: sys.modules[name].__version__ for name in loaded if name in sys.modules}
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
