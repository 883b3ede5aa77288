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
from experiments.runs.record import SCHEMA, Record


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


def same_data(a: Path, b: Path) -> bool:
    """Whether two traces hold the same rows, bit for bit (NaN equal to NaN)."""
    left, right = read(a)[0], read(b)[0]
    return left.schema.equals(right.schema) and all(
        np.asarray(x).tobytes() == np.asarray(y).tobytes()
        for x, y in zip(left.columns, right.columns, strict=True)
    )
