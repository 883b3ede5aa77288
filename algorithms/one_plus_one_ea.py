"""(1+1) evolutionary algorithm: a parent, a child with some bits flipped, the better lives on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf, isfinite, sqrt
from typing import ClassVar

import numpy as np

from .shared import checks, settings
from .shared.interface import Array, Ending, Samples, Spread, Stop


@dataclass(frozen=True)
class Parent:
    """The best point so far, of equal ones the latest."""

    x: Array  # (d,) of 0 and 1
    rate: float  # probability that a bit of a child differs
    value: float = inf  # while it is not known
    ended: Ending | None = None

    @property
    def mean(self) -> Array:
        return self.x

    def spread(self) -> Spread:
        """σ is the standard deviation √(p(1 − p)) of a child's bits, whose probabilities are the
        rate or 1 less it; the condition number is undefined and reported as 1.
        """
        return Spread(sqrt(self.rate * (1.0 - self.rate)), 1.0)


@dataclass(frozen=True)
class OnePlusOneEA:
    """(1+1)-EA with standard bit mutation.

    Every bit of the child differs from its parent's with probability ``mutation_rate``, each by
    itself. The child is the next parent if its value is at most the parent's.

    Args:
        mutation_rate: probability that a bit flips, or "1/d".
        resample: flip anew until a bit has flipped, so that no child is a copy of its parent.

    A batch is one point. The first one has ones with the probabilities that ``init`` is given.
    Ends as ``diverged`` (a value is not finite).

    Unlike discrete INGO it has no distribution that learns: the probabilities of a child's bits are
    those of its parent, all as far from 0 and 1. It uses the order of two values only.

    Source: Droste, Jansen & Wegener (2002), "On the analysis of the (1+1) evolutionary algorithm".
        With ``resample`` it is the (1+1)-EA>0 of Doerr et al. (2020).
    Differs: none.
    """

    mutation_rate: float | settings.Rule = "1/d"
    resample: bool = False

    space: ClassVar[str] = "binary"

    def __post_init__(self) -> None:
        checks.probability("mutation_rate", self.mutation_rate, "1/d")
        checks.choice("resample", self.resample, (False, True))
        rate = settings.resolve(self.mutation_rate, 1)
        if self.resample and rate < 1e-6:  # it would look for a flip for ever
            raise ValueError(f"mutation_rate is {rate}; allowed with resample: 1e-6 or more")

    def batch_size(self, dim: int) -> int:
        return 1

    def init(self, mean: Array, rng: np.random.Generator) -> Parent:
        rate = settings.resolve(self.mutation_rate, mean.size)
        return Parent((rng.random(mean.size) < mean).astype(float), rate)

    def ask(self, state: Parent, rng: np.random.Generator) -> Samples:
        if state.value == inf:
            return Samples(state.x[None])
        flips = rng.random(state.x.size) < state.rate
        while self.resample and not flips.any():
            flips = rng.random(state.x.size) < state.rate
        return Samples((state.x != flips).astype(float)[None])

    def tell(self, state: Parent, samples: Samples, values: Array) -> Parent:
        value = float(values[0])
        if not isfinite(value):
            return replace(state, ended=Ending(Stop.DIVERGED))
        return Parent(samples.x[0], state.rate, value) if value <= state.value else state
