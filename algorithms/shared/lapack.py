"""Cholesky factor and triangular inverse by LAPACK itself.

numpy's wrappers cost three to five times as much at 18×18.
"""

from __future__ import annotations

import os
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from typing import Any

import scipy

from .interface import Array


def _lapack() -> Any:
    """``scipy.linalg.lapack`` from its own extension module.

    The package around it takes 0.3 s to import, twice as long as all else that a job loads. Where
    the extension cannot be found by itself, the public door is taken.
    """
    found = PathFinder.find_spec("_flapack", [os.path.join(scipy.__path__[0], "linalg")])
    if found is None or found.loader is None:
        from scipy.linalg import lapack

        return lapack
    module = module_from_spec(found)
    found.loader.exec_module(module)
    return module


lapack = _lapack()


def cholesky(a: Array) -> Array | None:
    """The lower Cholesky factor, or None if ``a`` is not positive definite."""
    lower, info = lapack.dpotrf(a, lower=1, clean=1)
    return lower if info == 0 else None


def inverse(lower: Array) -> Array:
    """The inverse of a lower triangle."""
    inverted: Array = lapack.dtrtri(lower, lower=1)[0]
    return inverted
