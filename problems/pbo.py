"""The pseudo-Boolean functions of IOHprofiler, the benchmark of the field. Not in the paper."""

from __future__ import annotations

from functools import cache
from math import isqrt
from typing import Any

import numpy as np

from algorithms.shared import checks
from problems.interface import Array, Problem

NAMES = (
    *("OneMax", "LeadingOnes", "Linear"),
    *("OneMaxDummy1", "OneMaxDummy2", "OneMaxNeutrality", "OneMaxEpistasis"),
    *("OneMaxRuggedness1", "OneMaxRuggedness2", "OneMaxRuggedness3"),
    *("LeadingOnesDummy1", "LeadingOnesDummy2", "LeadingOnesNeutrality", "LeadingOnesEpistasis"),
    *("LeadingOnesRuggedness1", "LeadingOnesRuggedness2", "LeadingOnesRuggedness3"),
    *("LABS", "IsingRing", "IsingTorus", "IsingTriangular", "MIS", "NQueens"),
    *("ConcatenatedTrap", "NKLandscapes"),
)  # F1 to F25
EPISTASIS, MIS, QUEENS, TRAP = (7, 14), 22, 23, 24
SQUARE = (20, 21, QUEENS)  # on a lattice or board of √d × √d
NO_OPTIMUM = (18, 25)  # LABS and NK landscapes
TRAPPED = 5  # bits of one trap
INSTANCES = 100


def pbo(function: int, dim: int, instance_id: int = 1) -> Problem:
    """max f − f(x) on x ∈ {0, 1}^d, with f one of IOHprofiler's functions F1 to F25.

    The value is 0 at the optimum exactly. LABS (18) and the NK landscape (25) have no known
    optimum: there the value is −f, and the record of the minimum says −∞.

    Args:
        function: its number, 1 to 25.
        dim: d ≥ 2; a square number for 20, 21 and 23.
        instance_id: 1 is the function itself. The others are it with flipped bits (2 to 50) or
            permuted ones (51 to 100), times a factor and plus a constant that belong to the number:
            a function is the same in all runs.

    The first probability of a 1 is ½ everywhere. The package ``ioh`` is imported when the first
    point is evaluated. The minimiser is NaN where it is not known without it: for 7, 14, 18, 22, 23
    and 25, and on instances but 1.

    Raises:
        ValueError: an argument has a value that is not allowed.
        ModuleNotFoundError: at the first point, ``ioh`` is not installed.

    Source: Doerr, Ye, Horesh, Wang, Shir & Bäck (2020), "Benchmarking discrete optimization
        heuristics with IOHprofiler", F1 to F23; all 25 as ioh 0.4.2 computes them.
    Differs: from what ioh says of its optima, where an exhaustive search shows otherwise. 22: it
        transforms the maximum of instances but 1 twice. 23: two and three queens on boards of 2 × 2
        and 3 × 3 attack each other; the maximum is 1 and 2. 24: the ones are not optimal unless 5
        divides d, since ioh counts the last, shorter block from bit 4⌊d/5⌋ on, not 5⌊d/5⌋, so that
        it overlaps with others; at d = 16 the maximum is 3.8, and ioh says −1. Its points of the
        optimum of 7 and 14 are none, their values are right. The last bit of an odd d does not
        count in 22.
    """
    if isinstance(function, bool) or function not in range(1, len(NAMES) + 1):
        raise ValueError(f"function is {function!r}; allowed: a whole number from 1 to 25")
    checks.whole("dim", dim, 2)
    checks.whole("instance_id", instance_id, 1)
    if instance_id > INSTANCES:
        raise ValueError(f"instance_id is {instance_id}; allowed: from 1 to {INSTANCES}")
    if function in SQUARE and isqrt(dim) ** 2 != dim:
        raise ValueError(f"dim is {dim}; allowed with function {function}: a square number")
    if function == TRAP and instance_id > 1 and dim % TRAPPED:
        raise ValueError(
            f"dim is {dim}; allowed with function 24 and instance_id {instance_id}: 5, 10, 15, …"
        )

    @cache
    def made() -> tuple[Any, float]:
        """ioh's function and its maximum. Here, because building a plan needs neither."""
        f = _ioh().create(function, instance_id, dim)
        return f, _maximum(f, function, dim, instance_id)

    def evaluate(x: Array) -> Array:
        f, maximum = made()
        values: Array = maximum - f(x.astype(np.int32))
        return values

    return Problem(
        dim=dim,
        evaluate=evaluate,
        minimum=-np.inf if function in NO_OPTIMUM else 0.0,
        minimiser=_minimiser(function, dim, instance_id),
        start=lambda rng: np.full(dim, 0.5),
        space="binary",
        title=f"F{function} {NAMES[function - 1]}, d = {dim}",
        key=(function, dim, instance_id),
    )


def _ioh() -> Any:
    """The class of ioh that makes the functions."""
    try:
        import ioh
    except ModuleNotFoundError as error:
        message = f"{error}; the problem pbo needs the package ioh: make .venv/field"
        raise ModuleNotFoundError(message) from None
    return ioh.problem.PBO


def _maximum(f: Any, function: int, dim: int, instance_id: int) -> float:
    """The maximum of ioh's function ``f``; 0 if it is not known."""
    if function in NO_OPTIMUM:
        return 0.0
    if function == TRAP and dim % TRAPPED:
        return float(f(_trap_maximiser(dim).astype(np.int32)))
    if function not in (MIS, QUEENS):
        return float(f.optimum.y)
    if function == MIS:
        # The graph has ⌊d/2⌋ columns of two, joined to all of the next column: every other one is
        # in the set, as a whole.
        plain = 2 * ((dim // 2 + 1) // 2)
    else:
        queens = isqrt(dim)
        plain = queens - (queens in (2, 3))
    # The instance's factor and constant, as those of OneMax have them at its maximum ``plain``.
    return float(_ioh().create(1, instance_id, plain).optimum.y)


def _minimiser(function: int, dim: int, instance_id: int) -> Array:
    if instance_id > 1 or function in (*EPISTASIS, MIS, QUEENS, *NO_OPTIMUM):
        return np.full(dim, np.nan)
    return _trap_maximiser(dim) if function == TRAP else np.ones(dim)


def _trap_maximiser(dim: int) -> Array:
    """Where ioh's concatenated trap is largest.

    With m blocks of five and r < 5 bits behind them, a last block has the s ones from bit 4m on:
    it counts 1 if s = r, else (r − 1 − s)/r. A full block counts 0.2 more than an empty one, but
    its ones in s cost 1/r or more each once s > r. So blocks that lie in s as a whole are empty;
    the one that lies there in part is full if its ones are no more than r; and the last bits make
    s = r.
    """
    blocks, rest = divmod(dim, TRAPPED)
    x = np.ones(dim)
    if rest:
        shared = -4 * blocks % TRAPPED  # bits that s has of a block that lies there in part
        first, last = 4 * blocks + shared, TRAPPED * blocks + shared
        if shared > rest:
            first, last = first - TRAPPED, TRAPPED * blocks
        x[first:last] = 0.0
    return x
