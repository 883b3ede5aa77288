"""The problems. A problem is a public function that returns a ``Problem``; its name is the name in
config.yaml, its arguments are the problem's parameters. Adding one is adding a function.
"""

from __future__ import annotations

import re
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any

from problems.interface import Problem

HERE = Path(__file__).parent
MAKER = re.compile(r"^def ([a-z]\w*)\([^)]*\) -> Problem:", re.MULTILINE)


def available() -> dict[str, str]:
    """The names of all problems, each with the module that holds it, read without importing it."""
    return {
        name: path.stem
        for path in sorted(HERE.glob("*.py"))
        for name in MAKER.findall(path.read_text(encoding="utf-8"))
        if path.stem != "__init__"
    }


def build(name: str, parameters: dict[str, Any]) -> Problem:
    """The problem called ``name`` with these parameters.

    Raises:
        ValueError: no such problem, no such parameter, or a value that is not allowed.
    """
    modules = available()
    if name not in modules:
        raise ValueError(f"no problem is called {name!r}; there are: {', '.join(modules)}")
    make = getattr(import_module(f"problems.{modules[name]}"), name)
    known = list(signature(make).parameters)
    for key in parameters:
        if key not in known:
            raise ValueError(f"{name} has no parameter {key!r}; it has: {', '.join(known)}")
    problem: Problem = make(**parameters)
    return problem
