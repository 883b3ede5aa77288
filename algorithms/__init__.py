"""The optimisers, one per file. The file's name is the optimiser's name in config.yaml.

An optimiser is a class with ``init``, ``ask`` and ``tell`` whose name, in lower case, is that of
its file without the underscores: ``fast_ingo.py`` holds ``FastINGO``. Adding one is adding a file.
``minimize.py`` is for one's own problem, ``shared/`` is what the optimisers have in common.

To write the loop yourself, use ask and tell (``shared/interface.py``). ``shared.guard.Guard`` wraps
an optimiser so that it continues after NaN values and after steps that are too long. Between ask
and tell, the optimiser, the state, the samples and the generator can be pickled; the run continues
bit for bit (not with ``ga``, since pymoo's objects do not pickle). Points may be clipped or rounded
before they are evaluated, but ``tell`` must get the samples as asked: it uses their noise z, so the
optimiser minimises f ∘ clip.
"""

from __future__ import annotations

from dataclasses import MISSING, fields
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .shared.interface import Algorithm

OTHERS = ("__init__", "minimize")  # files here that hold no optimiser


def available() -> list[str]:
    """The names of all optimisers."""
    return sorted(
        path.stem for path in Path(__file__).parent.glob("*.py") if path.stem not in OTHERS
    )


def load(name: str) -> type[Algorithm]:
    """The class of the optimiser called ``name``. Imports that one file only.

    Raises:
        ValueError: there is no such optimiser; the message lists those there are.
        TypeError: the file holds no class of its name.
    """
    if name not in available():
        raise ValueError(f"no optimiser is called {name!r}; there are: {', '.join(available())}")
    module = import_module(f".{name}", __name__)
    for key, value in vars(module).items():
        if key.lower() == name.replace("_", "") and isinstance(value, type):
            return value
    raise TypeError(f"{module.__file__} holds no class called {name.title().replace('_', '')}")


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


@cache
def defaults(name: str) -> dict[str, Any]:
    """The hyper-parameters of the optimiser called ``name`` that have a default, with it.

    Raises:
        ValueError: there is no such optimiser.
    """
    known = fields(load(name))  # type: ignore[arg-type]
    return {field.name: field.default for field in known if field.default is not MISSING}


# The function, so that it is what `from … import minimize` gives and not the module. By name, since
# no run of the replication depends on it, and its fingerprint is not to.
if TYPE_CHECKING:
    from .minimize import minimize as minimize
else:
    minimize = import_module(".minimize", __name__).minimize
