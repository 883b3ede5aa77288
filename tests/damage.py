"""What can happen to a trace on a disk: each is a change of the file at a path."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from tiny import rewrite

from experiments.runs import trace


def _table(change: Callable[[pa.Table], pa.Table]) -> Callable[[Path], None]:
    """A change of what the file holds; whoever made it has not heard of checksums."""
    return lambda path: pq.write_table(change(pq.read_table(path)), path)


def _without(*keys: str) -> Callable[[Path], None]:
    def change(table):
        kept = {k: v for k, v in table.schema.metadata.items() if k.decode() not in keys}
        return table.replace_schema_metadata(kept)

    return _table(change)


def _replace(make: Callable[[Path], None]) -> Callable[[Path], None]:
    """Something else in its place."""

    def change(path):
        path.unlink()
        make(path)

    return change


DAMAGES: dict[str, Callable[[Path], None]] = {
    "no last row": lambda path: rewrite(path, slice(-1)),
    "no first row": _table(lambda table: table.slice(1)),
    "no rows": lambda path: rewrite(path, slice(0)),
    "another number": _table(
        lambda table: table.set_column(
            6, table.schema.field("best"), pa.array(table["best"].to_numpy() / 2)
        )
    ),
    "no metadata": _table(lambda table: table.replace_schema_metadata(None)),
    "no hits": _without("hits", "sum"),
    "no reason": lambda path: rewrite(path, stop=""),
    "no settings": lambda path: rewrite(path, spec={}),
    "settings unheard of": lambda path: rewrite(
        path, spec={**trace.read_metadata(path)["spec"], "unheard_of": 1}
    ),
    "no column": _table(lambda table: table.drop_columns(["best"])),
    "no numbers": _table(
        lambda table: table.set_column(6, "best", pa.nulls(len(table), pa.float64()))
    ),
    "cut": lambda path: path.write_bytes(path.read_bytes()[:-1]),
    "emptied": lambda path: path.write_bytes(b""),
    "zeros": lambda path: path.write_bytes(bytes(path.stat().st_size)),
    "zeros inside": lambda path: path.write_bytes(
        path.read_bytes()[:600] + bytes(400) + path.read_bytes()[1000:]
    ),
    "a folder": _replace(Path.mkdir),
    "a link to nothing": _replace(lambda path: path.symlink_to("nothing")),
    "a link to itself": _replace(lambda path: path.symlink_to(path.name)),
}


def flips(path: Path, count: int) -> Iterator[int]:
    """Flip so many bits of a file, one at a time; each time, where it is."""
    whole, rng = path.read_bytes(), np.random.default_rng(0)
    for bit in rng.choice(8 * len(whole), count, replace=False):
        flipped = bytearray(whole)
        flipped[bit // 8] ^= 1 << (bit % 8)
        path.write_bytes(flipped)
        yield int(bit)
    path.write_bytes(whole)


def remove(path: Path) -> None:
    """Whatever is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
