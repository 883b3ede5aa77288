"""Cholesky factor, triangular inverse and an accumulated product by LAPACK and BLAS themselves.

numpy's wrappers cost three to five times as much at 18×18, and a product takes another array there
before it can be added.
"""

from __future__ import annotations

import os
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from typing import Any

import scipy

from .interface import Array


def _extension(name: str) -> Any:
    """``scipy.linalg.lapack`` or ``scipy.linalg.blas`` from its own extension module.

    The package around it takes 0.3 s to import, twice as long as all else that a job loads. Where
    the extension cannot be found by itself, the public door is taken.
    """
    found = PathFinder.find_spec(f"_f{name}", [os.path.join(scipy.__path__[0], "linalg")])
    if found is None or found.loader is None:
        return import_module(f"scipy.linalg.{name}")
    module = module_from_spec(found)
    found.loader.exec_module(module)
    return module


lapack, blas = _extension("lapack"), _extension("blas")


def cholesky(a: Array) -> Array | None:
    """The lower Cholesky factor, or None if ``a`` is not positive definite."""
    lower, info = lapack.dpotrf(a, lower=1, clean=1)
    return lower if info == 0 else None


def inverse(lower: Array) -> Array:
    """The inverse of a lower triangle."""
    inverted: Array = lapack.dtrtri(lower, lower=1)[0]
    return inverted


def add_product(c: Array, a: Array, b: Array) -> Array:
    """``c + a @ b`` as a new array in Fortran's order; no copy is made of an ``a`` in that
    order and a ``b`` in C's.
    """
    total: Array = blas.dgemm(1.0, a, b.T, 1.0, c, trans_b=1)
    return total
