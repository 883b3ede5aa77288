"""The problems. A problem is a public function that returns a ``Problem``; its name is the name in
config.yaml, its arguments are the problem's parameters. Adding one is adding a function.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import cache
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np

from problems.interface import Problem


@cache
def available() -> dict[str, str]:
    """The names of all problems, each with the module that holds it, which is not imported."""
    found = {}
    for path in sorted(Path(__file__).parent.glob("[!_]*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and _is_problem(node):
                found[node.name] = path.stem
    return found


def _is_problem(function: ast.FunctionDef) -> bool:
    """Whether a function is public and says that it returns a Problem."""
    returned = function.returns
    named = isinstance(returned, ast.Name) and returned.id == Problem.__name__
    return named and not function.name.startswith("_")


def build(
    name: str, parameters: dict[str, Any], instance: np.random.Generator | None = None, run: int = 0
) -> Problem:
    """The problem called ``name`` with these parameters.

    A problem that differs from run to run (a random rotation, a random target) has an argument
    ``instance``, a stream of random numbers, or ``run``, the number of the run, where a library
    numbers its instances. Neither is a parameter of the config.

    Raises:
        ValueError: no such problem, no such parameter, a parameter missing, or a value that is not
            allowed.
    """
    make = load(name)
    arguments = dict(signature(make).parameters)
    of_run = {"instance": instance or np.random.default_rng(0), "run": run}
    own = {key: value for key, value in of_run.items() if arguments.pop(key, None)}
    for key in parameters:
        if key not in arguments:
            raise ValueError(f"{name} has no parameter {key!r}; it has: {', '.join(arguments)}")
    for key, argument in arguments.items():
        if key not in parameters and argument.default is argument.empty:
            raise ValueError(f"{name} lacks its parameter {key!r}")
    return make(**parameters, **own)


def load(name: str) -> Callable[..., Problem]:
    """The function that makes the problem called ``name``. Imports its file only.

    Raises:
        ValueError: there is no such problem; the message lists those there are.
    """
    modules = available()
    if name not in modules:
        raise ValueError(f"no problem is called {name!r}; there are: {', '.join(modules)}")
    make: Callable[..., Problem] = getattr(import_module(f"problems.{modules[name]}"), name)
    return make


@cache
def defaults(name: str) -> dict[str, Any]:
    """The parameters of the problem called ``name`` that have a default, with it.

    Raises:
        ValueError: there is no such problem.
    """
    arguments = signature(load(name)).parameters
    return {key: it.default for key, it in arguments.items() if it.default is not it.empty}
