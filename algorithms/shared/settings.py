"""The paper's hyper-parameters that depend on the dimension, by the name config.yaml gives them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import floor, log, sqrt
from typing import Literal

Rule = Literal["1/d", "1/sqrt(d)"]

RULES: dict[str, Callable[[int], float]] = {
    "1/d": lambda dim: 1.0 / dim,
    "1/sqrt(d)": lambda dim: 1.0 / sqrt(dim),
}


def resolve(value: float | Rule, dim: int) -> float:
    """A hyper-parameter at dimension ``dim``: a number as it is, or one of the paper's two rules.

    Source: Section 6, "Parameter Settings": β is 1/d for INGO, INGOstep and IGO, 1/√d for
        Fast-INGO.
    """
    return RULES[value](dim) if isinstance(value, str) else value


@cache
def samples(dim: int) -> int:
    """N = 2⌊3 + ⌊3 ln d⌋/2⌋, an even number of samples per iteration: 18 at d = 100.

    Source: Section 6, "Parameter Settings". Differs: none.
    """
    return 2 * floor(3 + floor(3 * log(dim)) / 2)


@cache
def samples_discrete(dim: int) -> int:
    """N = 20 + 4⌊3 + ⌊3 ln d⌋/2⌋ points per iteration: 56 at d = 100, 76 at d = 2000.

    Source: Appendix, "Evaluation on discrete test problems". Differs: none; the sentence calls
        this "same as INGO", whose printed formula gives 18 at d = 100.
    """
    return 20 + 4 * floor(3 + floor(3 * log(dim)) / 2)
