"""Discrete search: what the methods for binary and categorical points share."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import floor, log
from typing import Literal

from algorithms import settings
from algorithms.interface import Array, Ending
from algorithms.shaping import standardise

Rate = float | Literal["1/d"]


@cache
def samples_discrete(dim: int) -> int:
    """N = 20 + 4⌊3 + ⌊3 ln d⌋/2⌋ points per iteration: 56 at d = 100, 76 at d = 2000.

    Source: Appendix, "Evaluation on discrete test problems". Differs: none; the sentence calls
        this "same as INGO", whose printed formula gives 18 at d = 100.
    """
    return 20 + 4 * floor(3 + floor(3 * log(dim)) / 2)


def rate(rule: Rate, dim: int) -> float:
    """A mutation rate at dimension ``dim``: a number, or one bit of a point on average."""
    return 1.0 / dim if rule == "1/d" else rule


def check_rate(name: str, value: object, *rules: str) -> None:
    """Raise ValueError unless ``value`` is a probability or the name of one of ``rules``."""
    known = value in rules
    if isinstance(value, int | float) and not isinstance(value, bool):
        known = 0.0 <= value <= 1.0
    if not known:
        allowed = ", ".join(("a number from 0 to 1", *rules))
        raise ValueError(f"{name} is {value!r}; allowed: {allowed}")


@dataclass(frozen=True)
class DiscreteSearch:
    """The hyper-parameters of the paper's discrete methods, and the half of them that is equal.

    Args:
        samples: N, points per iteration; None is the paper's 20 + 4⌊3 + ⌊3 ln d⌋/2⌋.
        step_size: β, a positive number, "1/d" or "1/sqrt(d)".
        ddof: of the standard deviation that the values are divided by, 1 or 0.
    """

    samples: int | None = None
    step_size: settings.StepSize = "1/d"
    ddof: int = 1

    def __post_init__(self) -> None:
        settings.check_samples(self.samples)
        settings.check_step_size(self.step_size)
        settings.check_choice("ddof", self.ddof, (0, 1))

    def batch_size(self, dim: int) -> int:
        return self.samples or samples_discrete(dim)

    def weights(self, dim: int, values: Array) -> tuple[Array, Ending | None]:
        """w_i = β h_i / N (N,) with Σ w = 0, or why the batch has none."""
        h, ended = standardise(values, self.ddof)
        return settings.step_size(self.step_size, dim) / h.size * h, ended
