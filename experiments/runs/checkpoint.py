"""Where a run is, as a file beside its trace: what the same command goes on from after a stop.

Arrays and JSON in one ``.npz``, without pickle. An optimiser whose state is more than arrays and
numbers (a library's object) has none.
"""

from __future__ import annotations

import json
import zipfile
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from experiments.parquet_io import written_whole

TEXT = "json"  # the entry that is no array of the run


class NotSaved(Exception):
    """A value cannot be written as arrays and JSON."""


def path_beside(trace: Path) -> Path:
    """Where the checkpoint of a trace is."""
    return trace.with_suffix(".state")


def write(path: Path, content: dict[str, Any]) -> None:
    """Write a checkpoint; the file is whole or absent.

    Raises:
        NotSaved: ``content`` holds more than dataclasses, mappings, lists, arrays, numbers and
            texts.
        OSError: it cannot be written.
    """
    arrays: dict[str, Any] = {}
    text = json.dumps(_taken_apart(content, arrays))
    arrays[TEXT] = np.frombuffer(text.encode(), dtype=np.uint8)
    with written_whole(path) as temporary, temporary.open("wb") as file:
        np.savez(file, allow_pickle=False, **arrays)


def read(path: Path, like: dict[str, Any]) -> dict[str, Any]:
    """What ``write`` was given.

    Args:
        like: a content with the same dataclasses in it; of other values the types do not matter.

    Raises:
        ValueError: the file is damaged, or is of something else; the message names it.
    """
    try:
        with np.load(path, allow_pickle=False) as file:  # checks each entry's sum
            arrays = {name: file[name] for name in file.files}
        content: dict[str, Any] = _put_together(json.loads(arrays[TEXT].tobytes()), like, arrays)
    except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path} is no whole checkpoint: {error!r}") from error
    return content


def _taken_apart(value: Any, arrays: dict[str, Any]) -> Any:
    """``value`` as JSON, its arrays by their numbers in ``arrays``."""
    if isinstance(value, np.generic | np.ndarray):
        name = str(len(arrays))
        arrays[name] = np.asarray(value)
        return {"number" if isinstance(value, np.generic) else "array": name}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: _taken_apart(getattr(value, f.name), arrays) for f in fields(value)}
    if isinstance(value, dict):
        return {key: _taken_apart(item, arrays) for key, item in value.items()}
    if isinstance(value, list):
        return [_taken_apart(item, arrays) for item in value]
    raise NotSaved(type(value).__name__)


def _put_together(value: Any, like: Any, arrays: dict[str, Any]) -> Any:
    """What ``_taken_apart`` took apart, with the dataclasses of ``like``."""
    if isinstance(value, list):
        return [_put_together(item, None, arrays) for item in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {"array"}:
        return arrays[value["array"]]
    if value.keys() == {"number"}:
        return arrays[value["number"]][()]
    if is_dataclass(like) and not isinstance(like, type):
        parts = {
            name: _put_together(item, getattr(like, name), arrays) for name, item in value.items()
        }
        return type(like)(**parts)
    known = like if isinstance(like, dict) else {}
    return {key: _put_together(item, known.get(key), arrays) for key, item in value.items()}
