"""The optimisers, one a file. The file's name is the optimiser's name in config.yaml.

An optimiser is a class with ``init``, ``ask`` and ``tell`` whose name, in lower case, is that of
its file without the underscores: ``fast_ingo.py`` holds ``FastINGO``. Adding one is adding a file.
"""

from __future__ import annotations

import re
from dataclasses import fields
from importlib import import_module
from pathlib import Path
from typing import Any

from algorithms.interface import Algorithm

HERE = Path(__file__).parent


def _class_name(path: Path) -> str | None:
    """The optimiser that a file defines, read without importing it (pycma alone takes a second)."""
    text = path.read_text(encoding="utf-8")
    for name in re.findall(r"^class (\w+)", text, re.MULTILINE):
        if name.lower() == path.stem.replace("_", "") and "    def tell(" in text:
            return str(name)
    return None


def available() -> list[str]:
    """The names of all optimisers."""
    return sorted(p.stem for p in HERE.glob("*.py") if p.stem != "interface" and _class_name(p))


def load(name: str) -> type[Algorithm]:
    """The class of the optimiser called ``name``. Imports that one file only.

    Raises:
        ValueError: there is no such optimiser; the message lists those there are.
    """
    path = HERE / f"{name}.py"
    class_name = _class_name(path) if path.is_file() else None
    if class_name is None:
        raise ValueError(f"no optimiser is called {name!r}; there are: {', '.join(available())}")
    cls: type[Algorithm] = getattr(import_module(f"algorithms.{name}"), class_name)
    return cls


def build(name: str, parameters: dict[str, Any]) -> Algorithm:
    """The optimiser called ``name`` with these hyper-parameters.

    Raises:
        ValueError: no such optimiser, no such hyper-parameter, or a value that is not allowed.
    """
    cls = load(name)
    known = [field.name for field in fields(cls)]  # type: ignore[arg-type]
    for key in parameters:
        if key not in known:
            raise ValueError(f"{name} has no hyper-parameter {key!r}; it has: {', '.join(known)}")
    return cls(**parameters)
