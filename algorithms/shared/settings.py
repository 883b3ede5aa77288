"""The paper's hyper-parameters that depend on the dimension, by the name config.yaml gives them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import floor, inf, log, sqrt

Rule = str  # "c/d", "c/sqrt(d)" or "c*sqrt(N)/d", with a positive number c

DENOMINATORS: dict[str, Callable[[int], float]] = {"d": float, "sqrt(d)": sqrt}


@cache
def resolve(value: float | Rule, dim: int, n: int | None = None) -> float:
    """A hyper-parameter at dimension ``dim`` with ``n`` samples: a number as it is, or a rule such
    as "1/d".

    Raises:
        ValueError: a text that is no such rule, or one with N where there is none.

    Source: Section 6, "Parameter Settings": β is 1/d for INGO, INGOstep and IGO, 1/√d for
        Fast-INGO. Differs: "c*sqrt(N)/d" is ours, for samples that grow with restarts.
    """
    if not isinstance(value, str):
        return value
    numerator, _, denominator = value.partition("/")
    numerator, _, growth = numerator.partition("*")
    known = denominator in DENOMINATORS and growth in ("", "sqrt(N)") and (not growth or n)
    if not known or not 0 < (c := float(numerator)) < inf:
        allowed = "c/d, c/sqrt(d)" + ", c*sqrt(N)/d" * bool(n)
        raise ValueError(f"{value!r} is no rule; allowed: {allowed}, c a positive number")
    return c * sqrt(n or 1 if growth else 1) / DENOMINATORS[denominator](dim)


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
