"""When a run of ``minimize`` has converged, and what its ends mean."""

from __future__ import annotations

from math import ceil

import numpy as np

from .interface import Array

# Differences of values below this share of the values are rounding. 100 units in the last place:
# where a smooth f has a minimum f* ≠ 0, INGO settles where the values of a batch differ by a few.
ROUNDING = 100 * float(np.finfo(float).eps)

CONVERGED = ("xtol", "ftol")
MESSAGES = {
    "target": "a value is at or below the target",
    "budget": "the budget is used up",
    "xtol": "the points of a batch differ by at most xtol",
    "ftol": "the values of the last batches differ by at most ftol, or by rounding only",
    "callback": "the callback ended the run",
    "interrupted": "interrupted from the keyboard",
    "exception": "the function raised an exception",
    "flat": "all values of a batch are equal; a larger sigma0 may see differences",
    "not_positive_definite": "the updated covariance is not positive definite; lower step_size, "
    "raise samples, or leave safeguard=True",
    "diverged": "a value or a parameter is not finite, or a step left its range; check fun, or "
    "lower step_size or sigma0",
    "stagnated": "no progress for long",
}


def message(status: str, detail: str = "") -> str:
    """What an end means, with what the optimiser added to it."""
    return MESSAGES[status] + (f" ({detail})" if detail else "")


class Tolerance:
    """Has a run converged? Asked after each of its batches.

    "xtol": max x_j − min x_j ≤ xtol_j over the batch, in every coordinate j.
    "ftol": max f − min f ≤ ftol + 100 ε max |f| over the values of the batch and the minima of the
    last K = 10 + ⌈30 d/N⌉ batches, ε = 2.2e-16; values that are NaN are left out.

    Source: pycma's tolx and tolfun. Differs: x is measured on the batch instead of σ, since every
        optimiser has points; rounding never counts as a difference of values.
    """

    def __init__(self, xtol: Array | float, ftol: float) -> None:
        self.xtol = xtol  # in units of x, a number or (d,)
        self.ftol = ftol  # in units of f

    def __call__(
        self, x: Array, values: Array, minima: list[float]
    ) -> tuple[str | None, list[float]]:
        """Which tolerance the run meets with the batch x (N, d) and its values (N,), if any; and
        the minima of its last batches, which were ``minima`` before.
        """
        n, dim = x.shape
        looked_at = 10 + ceil(30 * dim / n)
        newest = [*minima, float(np.fmin.reduce(values))][-looked_at:]
        if (np.ptp(x, axis=0) <= self.xtol).all():
            return "xtol", newest
        if len(newest) < looked_at:
            return None, newest
        last = np.concatenate([values, newest])
        low, high = np.fmin.reduce(last), np.fmax.reduce(last)
        met = high - low <= self.ftol + ROUNDING * max(abs(low), abs(high))
        return ("ftol" if met else None), newest
