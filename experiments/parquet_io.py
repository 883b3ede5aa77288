"""Parquet files: whole or absent, and small where they are kept for good."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

# Neighbouring rows differ in their low digits only: split by bytes they pack to half the size.
ENCODINGS = {pa.float64(): "BYTE_STREAM_SPLIT", pa.int64(): "DELTA_BINARY_PACKED"}


@contextmanager
def written_whole(file: Path) -> Iterator[Path]:
    """A path to write to, which is renamed to ``file`` once all is written; what killed processes
    left of the same file is removed.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    temporary = file.with_name(f"{file.stem}.{os.getpid()}.tmp")
    try:
        yield temporary
        os.replace(temporary, file)
    finally:
        temporary.unlink(missing_ok=True)
        for left in file.parent.glob(f"{file.stem}.*.tmp"):
            if not _is_running(left.suffixes[-2].strip(".")):
                left.unlink(missing_ok=True)


def _is_running(process: str) -> bool:
    """Whether there is a process of this number."""
    try:
        os.kill(int(process), 0)
    except PermissionError:
        return True
    except (OSError, ValueError, OverflowError):
        return False
    return True


def write(table: pa.Table, file: Path) -> None:
    """Write ``table`` to be kept: the packing takes longer, and is never undone."""
    encodings = {f.name: ENCODINGS[f.type] for f in table.schema if f.type in ENCODINGS}
    with written_whole(file) as temporary:
        pq.write_table(
            table,
            temporary,
            column_encoding=encodings,
            use_dictionary=[f.name for f in table.schema if f.name not in encodings],
            compression="zstd",
            compression_level=19,
            write_page_checksum=True,
        )
