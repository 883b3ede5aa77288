"""The paper's hyper-parameters that depend on the dimension, by the name config.yaml gives them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import floor, log, sqrt
from typing import Literal

StepSize = float | Literal["1/d", "1/sqrt(d)"]

STEP_SIZES: dict[str, Callable[[int], float]] = {
    "1/d": lambda dim: 1.0 / dim,
    "1/sqrt(d)": lambda dim: 1.0 / sqrt(dim),
}


@cache
def step_size(rule: StepSize, dim: int) -> float:
    """The step size β at dimension ``dim``: a number, or one of the paper's two rules.

    Source: Section 6, "Parameter Settings": 1/d for INGO, INGOstep and IGO, 1/√d for Fast-INGO.
    """
    return STEP_SIZES[rule](dim) if isinstance(rule, str) else rule


@cache
def samples(dim: int) -> int:
    """N = 2⌊3 + ⌊3 ln d⌋/2⌋, an even number of samples per iteration: 18 at d = 100.

    Source: Section 6, "Parameter Settings". Differs: none.
    """
    return 2 * floor(3 + floor(3 * log(dim)) / 2)


def check_step_size(rule: StepSize) -> None:
    """Raise ValueError unless ``rule`` is a positive number or the name of one of the rules."""
    if isinstance(rule, str):
        if rule not in STEP_SIZES:
            raise ValueError(
                f"step_size is {rule!r}; allowed: a positive number, {', '.join(STEP_SIZES)}"
            )
    else:
        check_positive("step_size", rule)


def check_positive(name: str, value: float) -> None:
    """Raise ValueError unless ``value`` is a finite number above zero."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not 0 < value < float("inf"):
        raise ValueError(f"{name} is {value!r}; allowed: a positive number")


def check_samples(value: int | None, smallest: int = 2) -> None:
    """Raise ValueError unless ``value`` is None (the paper's rule) or a whole number ≥ smallest."""
    if value is not None:
        check_whole("samples", value, smallest)


def check_whole(name: str, value: int, smallest: int) -> None:
    """Raise ValueError unless ``value`` is a whole number ≥ smallest."""
    if isinstance(value, bool) or not isinstance(value, int) or value < smallest:
        raise ValueError(f"{name} is {value!r}; allowed: a whole number ≥ {smallest}")


def check_choice(name: str, value: object, allowed: tuple[object, ...]) -> None:
    """Raise ValueError unless ``value`` is one of ``allowed``."""
    if isinstance(value, bool) != isinstance(allowed[0], bool) or value not in allowed:
        raise ValueError(f"{name} is {value!r}; allowed: {', '.join(map(str, allowed))}")
