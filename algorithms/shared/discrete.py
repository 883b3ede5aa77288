"""Discrete search: what the methods for binary and categorical points share."""

from __future__ import annotations

from dataclasses import dataclass

from . import checks, settings
from .interface import Array, Ending
from .shaping import standardise


@dataclass(frozen=True)
class DiscreteSearch:
    """The hyper-parameters of the paper's discrete methods, and the half of them that is equal.

    Args:
        samples: N, points per iteration; None is the paper's 20 + 4⌊3 + ⌊3 ln d⌋/2⌋.
        step_size: β, a positive number, "c/d" or "c/sqrt(d)".
        ddof: of the standard deviation that the values are divided by, 1 or 0.
    """

    samples: int | None = None
    step_size: float | settings.Rule = "1/d"
    ddof: int = 1

    def __post_init__(self) -> None:
        checks.samples(self.samples)
        checks.positive_or_rule("step_size", self.step_size)
        checks.choice("ddof", self.ddof, (0, 1))

    def batch_size(self, dim: int) -> int:
        return self.samples or settings.samples_discrete(dim)

    def weights(self, dim: int, values: Array) -> tuple[Array, Ending | None]:
        """w_i = β h_i / N (N,) with Σ w = 0, or why the batch has none."""
        h, ended = standardise(values, self.ddof)
        return settings.resolve(self.step_size, dim) / h.size * h, ended
