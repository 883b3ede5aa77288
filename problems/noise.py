"""Values without a signal, to see what an update does by itself. Not in the paper."""

from __future__ import annotations

import numpy as np

from problems.interface import Array, Problem


def noise(instance: np.random.Generator, dim: int) -> Problem:
    """Standard normal values, independent of x and of each other.

    Whatever an optimiser's distribution does on them is a property of its update alone. There is
    no minimum to reach: the record says −∞.

    Args:
        instance: stream of the values; the same for all optimisers of a seed.
        dim: d ≥ 1, of the points that are ignored.

    Source: ours, for the sentence "the update of inverse of covariance matrix is more stable"
        (Section 6).
    """

    def evaluate(x: Array) -> Array:
        return instance.standard_normal(len(x))

    return Problem(
        dim=dim,
        evaluate=evaluate,
        minimum=-np.inf,
        minimiser=np.zeros(dim),
        start=lambda rng: rng.random(dim),
        report=lambda mean: float("nan"),
        streams=(instance,),
        title="No signal",
    )
