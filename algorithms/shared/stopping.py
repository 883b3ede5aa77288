"""When a run of ``minimize`` has converged, and what its ends mean."""

from __future__ import annotations

from dataclasses import dataclass, field
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


@dataclass(frozen=True)
class Seen:
    """What is remembered of the batches of a run, to know whether it has converged."""

    batches: int = 0
    minima: list[float] = field(default_factory=list)  # of the last ones
    medians: list[float] = field(default_factory=list)  # of as many, where stagnation is asked for


class Tolerance:
    """Has a run converged, or come to nothing? Asked after each of its batches.

    "xtol": max x_j − min x_j ≤ xtol_j over the batch, in every coordinate j.
    "ftol": max f − min f ≤ ftol + 100 ε max |f| over the values of the batch and the minima of the
    last K = 10 + ⌈30 d/N⌉ batches, ε = 2.2e-16; values that are NaN are left out.
    "stagnated", if asked for: of the last M batches, a fifth of all of them but from
    120 + ⌈30 d/N⌉ to 20,000, the last 30 % are no better than the first 30 %, neither by the median
    of their minima nor by that of their medians. Looked at in every tenth batch.

    Source: pycma's tolx and tolfun; the stagnation of Hansen (2016), "The CMA evolution strategy: a
        tutorial", B.3. Differs: x is measured on the batch instead of σ, since every optimiser has
        points; rounding never counts as a difference of values.
    """

    def __init__(self, xtol: Array | float, ftol: float, stagnation: bool = False) -> None:
        self.xtol = xtol  # in units of x, a number or (d,)
        self.ftol = ftol  # in units of f
        self.stagnation = stagnation

    def __call__(self, x: Array, values: Array, seen: Seen) -> tuple[str | None, Seen]:
        """Which of these a run meets with the batch x (N, d) and its values (N,), if any; and what
        is to be remembered of its batches, of which ``seen`` was.
        """
        n, dim = x.shape
        batches, wait = seen.batches + 1, ceil(30 * dim / n)
        looked_at = kept = 10 + wait
        medians: list[float] = []
        if self.stagnation:
            kept = min(max(ceil(batches / 5), 120 + wait), 20_000)
            medians = [*seen.medians, float(np.median(values))][-kept:]
        minima = [*seen.minima, float(np.fmin.reduce(values))][-kept:]
        newest = Seen(batches, minima, medians)
        if (np.ptp(x, axis=0) <= self.xtol).all():
            return "xtol", newest
        if len(minima) < looked_at:
            return None, newest
        last = np.concatenate([values, minima[-looked_at:]])
        low, high = np.fmin.reduce(last), np.fmax.reduce(last)
        if high - low <= self.ftol + ROUNDING * max(abs(low), abs(high)):
            return "ftol", newest
        if self.stagnation and len(minima) == kept and batches % 10 == 0:
            return ("stagnated" if not _better(minima) and not _better(medians) else None), newest
        return None, newest


def _better(values: list[float]) -> bool:
    """Whether the last 30 % are better than the first 30 %, by their medians."""
    some = max(1, round(0.3 * len(values)))
    return bool(np.median(values[-some:]) < np.median(values[:some]))
