"""A step that is too long, taken shorter."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from . import settings
from .interface import Algorithm, Array, Samples, Stop

HALVINGS = 60  # of the step size, at most; far more than any batch of finite values needs


def needs_less(optimiser: Algorithm, told: Any) -> bool:
    """Whether a step was too long: no covariance came of it, and a shorter one could be taken."""
    return _indefinite(told) and hasattr(optimiser, "step_size")


def shorter(optimiser: Any, state: Any, samples: Samples, values: Array) -> Any:
    """The state after the step with the first of β/2, β/4, … that gives a covariance."""
    n, dim = samples.x.shape
    step_size = settings.resolve(optimiser.step_size, dim, n)
    for k in range(1, HALVINGS + 1):
        told = replace(optimiser, step_size=step_size / 2.0**k).tell(state, samples, values)
        if not _indefinite(told):
            break
    return told


class Halving:
    """An optimiser whose steps are halved, one by one, where the covariance would not remain
    positive definite. It has no memory: a run goes on from its state alone.

    Source: ours. Differs: from the paper, whose runs end there.
    """

    def __init__(self, optimiser: Any) -> None:
        self.optimiser = optimiser
        self.space: str = optimiser.space

    def batch_size(self, dim: int) -> int:
        size: int = self.optimiser.batch_size(dim)
        return size

    def init(self, mean: Array, rng: np.random.Generator) -> Any:
        return self.optimiser.init(mean, rng)

    def ask(self, state: Any, rng: np.random.Generator) -> Samples:
        samples: Samples = self.optimiser.ask(state, rng)
        return samples

    def tell(self, state: Any, samples: Samples, values: Array) -> Any:
        told = self.optimiser.tell(state, samples, values)
        if needs_less(self.optimiser, told):
            return shorter(self.optimiser, state, samples, values)
        return told


def _indefinite(state: Any) -> bool:
    return state.ended is not None and state.ended.reason == Stop.NOT_POSITIVE_DEFINITE
