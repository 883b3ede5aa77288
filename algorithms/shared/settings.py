"""The paper's hyper-parameters that depend on the dimension, by the name config.yaml gives them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import floor, inf, log, sqrt

Rule = str  # "c/d" or "c/sqrt(d)", with a positive number c

DENOMINATORS: dict[str, Callable[[int], float]] = {"d": float, "sqrt(d)": sqrt}


@cache
def resolve(value: float | Rule, dim: int) -> float:
    """A hyper-parameter at dimension ``dim``: a number as it is, or a rule such as "1/d".

    Raises:
        ValueError: a text that is no such rule.

    Source: Section 6, "Parameter Settings": β is 1/d for INGO, INGOstep and IGO, 1/√d for
        Fast-INGO.
    """
    if not isinstance(value, str):
        return value
    numerator, _, denominator = value.partition("/")
    if denominator not in DENOMINATORS or not 0 < (c := float(numerator)) < inf:
        raise ValueError(f"{value!r} is no rule; allowed: c/d and c/sqrt(d), c a positive number")
    return c / DENOMINATORS[denominator](dim)


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
