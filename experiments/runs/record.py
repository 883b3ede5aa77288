"""The record of one run: its columns, when a row is due, and what it took to reach each target."""

from __future__ import annotations

import json
from array import array
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
from numpy.typing import NDArray

COLUMNS = {
    # name: (type, unit, meaning)
    "iteration": ("int64", "iterations", "batches so far, this one included"),
    "evaluations": ("int64", "evaluations", "points evaluated so far, this batch included"),
    "environment_steps": ("int64", "steps", "control steps so far; 0 where there are none"),
    "f_mean": ("float64", "f", "f at the mean that the batch was drawn around; not charged"),
    "batch_min": ("float64", "f", "smallest value of the batch, NaN ignored"),
    "batch_mean": ("float64", "f", "mean value of the batch"),
    "best": ("float64", "f", "smallest finite value so far"),
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
class Record:
    """Rows of one run, and the evaluations it took to reach each of TARGETS."""

    rows: dict[str, array[Any]] = field(
        default_factory=lambda: {
            name: array("q" if kind == "int64" else "d") for name, (kind, _, _) in COLUMNS.items()
        }
    )
    hits: list[int] = field(default_factory=list)  # evaluations at TARGETS[0], TARGETS[1], …

    @classmethod
    def of(cls, rows: Mapping[str, NDArray[Any]], hits: list[int]) -> Record:
        """The record with these columns."""
        made = cls(hits=hits)
        for name, column in made.rows.items():
            column.frombytes(rows[name].tobytes())
        return made

    def reach(self, excess: float, evaluations: int) -> None:
        """Note the targets that ``excess`` (best value so far minus minimum) has newly reached."""
        while len(self.hits) < len(TARGETS) and excess <= TARGETS[len(self.hits)]:
            self.hits.append(evaluations)

    def append(self, **row: float) -> None:
        """Add a row, every column of it."""
        for name, column in self.rows.items():
            column.append(row[name])

    def table(self, metadata: dict[str, Any]) -> pa.Table:
        """The rows as an Arrow table, ``metadata`` as JSON texts in its schema.

        Built from buffers: pa.array would import pandas.
        """
        columns = [
            pa.Array.from_buffers(f.type, len(values), [None, pa.py_buffer(values)])
            for f, values in zip(SCHEMA, self.rows.values(), strict=True)
        ]
        described = {key: json.dumps(value, sort_keys=True) for key, value in metadata.items()}
        return pa.Table.from_arrays(columns, schema=SCHEMA.with_metadata(described))
