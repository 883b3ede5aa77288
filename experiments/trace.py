"""The trace of one run: its columns, when a row is due, and its file.

A file holds nothing that depends on the machine's speed, so the same run gives the same data.
"""

from __future__ import annotations

import json
import sys
from array import array
from bisect import bisect_right
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from experiments.parquet_io import written_whole

COLUMNS = {
    # name: (type, unit, meaning)
    "iteration": ("int64", "iterations", "batches so far, this one included"),
    "evaluations": ("int64", "evaluations", "points evaluated so far, this batch included"),
    "environment_steps": ("int64", "steps", "control steps so far; 0 where there are none"),
    "f_mean": ("float64", "f", "f at the mean that the batch was drawn around; not charged"),
    "batch_min": ("float64", "f", "smallest value of the batch, NaN ignored"),
    "batch_mean": ("float64", "f", "mean value of the batch"),
    "best": ("float64", "f", "smallest value so far, NaN ignored"),
    "sigma": ("float64", "x", "geometric mean of the standard deviations, det(Σ)^(1/2d)"),
    "condition": ("float64", "1", "largest over smallest eigenvalue of Σ"),
}

SCHEMA = pa.schema(
    [
        pa.field(name, pa.type_for_alias(kind), False, {"unit": unit, "meaning": meaning})
        for name, (kind, unit, meaning) in COLUMNS.items()
    ]
)

TARGETS = tuple(float(f"{10 ** (k / 5):.4g}") for k in range(40, -51, -1))  # 1e8 … 1e-10


EARLY = sorted({round(10 ** (k / 8)) for k in range(64)})  # eight rows a decade


def next_row(iteration: int, every: int) -> int:
    """The first iteration after this one at which a row is due: the next multiple of ``every``,
    and before the first multiple eight rows a decade.
    """
    regular = (iteration // every + 1) * every
    return regular if iteration >= every else min(regular, EARLY[bisect_right(EARLY, iteration)])


@dataclass
class Trace:
    """Rows of one run, and the evaluations it took to reach each of TARGETS."""

    rows: dict[str, array[Any]] = field(
        default_factory=lambda: {
            name: array("q" if kind == "int64" else "d") for name, (kind, _, _) in COLUMNS.items()
        }
    )
    hits: list[int] = field(default_factory=list)  # evaluations at TARGETS[0], TARGETS[1], …

    def reach(self, excess: float, evaluations: int) -> None:
        """Note the targets that ``excess`` (best value so far minus minimum) has newly reached."""
        while len(self.hits) < len(TARGETS) and excess <= TARGETS[len(self.hits)]:
            self.hits.append(evaluations)

    def append(self, **row: float) -> None:
        """Add a row, every column of it."""
        for name, column in self.rows.items():
            column.append(row[name])

    def table(self, metadata: dict[str, Any]) -> pa.Table:
        """The rows as an Arrow table. Built from buffers: pa.array would import pandas."""
        columns = [
            pa.Array.from_buffers(f.type, len(values), [None, pa.py_buffer(values)])
            for f, values in zip(SCHEMA, self.rows.values(), strict=True)
        ]
        packed = {key: json.dumps(value, sort_keys=True) for key, value in metadata.items()}
        return pa.Table.from_arrays(columns, schema=SCHEMA.with_metadata(packed))


def write(path: Path, trace: Trace, metadata: dict[str, Any]) -> None:
    """Write the trace: the file is whole or absent."""
    with written_whole(path) as temporary:
        pq.write_table(trace.table({**metadata, "hits": trace.hits}), temporary, compression="zstd")


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
