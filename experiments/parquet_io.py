"""Parquet files that are kept for good: as small as the format allows, whole or absent."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

# Neighbouring rows differ in their low digits only: split by bytes they pack to half the size.
ENCODINGS = {pa.float64(): "BYTE_STREAM_SPLIT", pa.int64(): "DELTA_BINARY_PACKED"}


def write(table: pa.Table, file: Path) -> None:
    """Write ``table`` under a temporary name and rename it."""
    encodings = {f.name: ENCODINGS[f.type] for f in table.schema if f.type in ENCODINGS}
    file.parent.mkdir(parents=True, exist_ok=True)
    temporary = file.with_suffix(f".{os.getpid()}.tmp")
    try:
        pq.write_table(
            table,
            temporary,
            column_encoding=encodings,
            use_dictionary=[f.name for f in table.schema if f.name not in encodings],
            compression="zstd",
            compression_level=19,
        )
        os.replace(temporary, file)
    finally:
        temporary.unlink(missing_ok=True)
