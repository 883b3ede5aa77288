"""What an optimiser is: three methods, an open state, and reasons to stop that are data."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
NONE: Array = np.empty((0, 0))  # in place of an array that a method does not use


class Stop(StrEnum):
    """Why a run ended. The loop gives the first two, the algorithms the others."""

    TARGET = "target"  # the minimum of a batch reached the target
    BUDGET = "budget"  # another batch would exceed the allowed evaluations
    FLAT = "flat"  # all values of a batch are equal: nothing to learn from
    NOT_POSITIVE_DEFINITE = "not_positive_definite"  # the updated covariance is none
    DIVERGED = "diverged"  # a value or a parameter is not finite, or a step left its range
    STAGNATED = "stagnated"  # no progress for long; the detail says by which rule
    XTOL = "xtol"  # the points of a batch are close to each other, where a run has tolerances
    FTOL = "ftol"  # the values of the last batches are


class Ending(NamedTuple):
    """A stop reason, with what an algorithm adds to it."""

    reason: Stop
    detail: str = ""


class Samples(NamedTuple):
    """A batch of search points with the noise it was made from, where a method needs that.

    The noise travels with the points because x − μ recovers it badly: at a standard deviation of
    1e-10 around a mean of 1 it has lost ten of its sixteen digits.
    """

    x: Array  # (N, d) points to evaluate
    z: Array = NONE  # (N, d) standard noise
    y: Array = NONE  # (N, d) displacements x − μ before they were rounded into x


class Spread(NamedTuple):
    """How wide a Gaussian search distribution is, for the trace."""

    sigma: float  # geometric mean of the standard deviations along the axes, det(Σ)^(1/2d)
    condition: float  # largest over smallest eigenvalue of Σ


class State(Protocol):
    """What an optimiser knows between two batches: a frozen value.

    One that changes its batches says in ``batch_size`` how many points the next one has.
    """

    @property
    def mean(self) -> Array: ...  # (d,) recommended point: mean, mode or best member

    @property
    def ended(self) -> Ending | None: ...  # set once the method cannot go on

    def spread(self) -> Spread: ...


class Algorithm(Protocol):
    """An optimiser: a frozen dataclass whose fields are exactly its hyper-parameters.

    All randomness is in ``init`` and ``ask``; ``tell`` is algebra. Values are minimised.
    """

    space: ClassVar[str]  # that it can search: "real", "binary" or "categorical"

    def batch_size(self, dim: int) -> int: ...  # points that ``ask`` returns in ``dim`` dimensions

    def init(self, mean: Array, rng: np.random.Generator) -> Any: ...

    def ask(self, state: Any, rng: np.random.Generator) -> Samples: ...

    def tell(self, state: Any, samples: Samples, values: Array) -> Any: ...
