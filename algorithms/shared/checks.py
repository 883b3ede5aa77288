"""Is the value of a hyper-parameter allowed? Each check raises ValueError that says what is."""

from __future__ import annotations

from math import inf

from .settings import resolve

SMALLEST, LARGEST = 1e-150, 1e150  # standard deviation that an optimiser starts with


def positive(name: str, value: object) -> None:
    """A finite number above zero."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not 0 < value < float("inf"):  # type: ignore[operator]
        raise ValueError(f"{name} is {value!r}; allowed: a positive number")


def scale(name: str, value: object) -> None:
    """A positive number whose square, and its inverse, are far from overflowing."""
    positive(name, value)
    if not SMALLEST <= value <= LARGEST:  # type: ignore[operator]
        raise ValueError(f"{name} is {value!r}; allowed: from {SMALLEST:g} to {LARGEST:g}")


def positive_or_rule(name: str, value: object, n: int | None = None) -> None:
    """A positive number, or a rule by the dimension: "c/d" or "c/sqrt(d)"; where there are samples
    (``n`` is given), also "c*sqrt(N)/d".
    """
    if not isinstance(value, str):
        positive(name, value)
        return
    try:
        resolve(value, 1, n)
    except ValueError:
        allowed = "a positive number c, c/d, c/sqrt(d)" + ", c*sqrt(N)/d" * bool(n)
        raise ValueError(f"{name} is {value!r}; allowed: {allowed}") from None


def probability(name: str, value: object, *rules: str) -> None:
    """A number from 0 to 1, or the name of one of ``rules``."""
    known = value in rules
    if isinstance(value, int | float) and not isinstance(value, bool):
        known = 0.0 <= value <= 1.0
    if not known:
        allowed = ", ".join(("a number from 0 to 1", *rules))
        raise ValueError(f"{name} is {value!r}; allowed: {allowed}")


def between_0_and_1(name: str, value: object) -> None:
    """A number between 0 and 1, both excluded."""
    if not isinstance(value, float) or not 0 < value < 1:
        raise ValueError(f"{name} is {value!r}; allowed: a number between 0 and 1")


def interval(name: str, value: object) -> None:
    """Two finite numbers, the second larger."""
    pair = value if isinstance(value, list | tuple) and len(value) == 2 else (0, 0)
    if not all(type(end) in (int, float) for end in pair) or not -inf < pair[0] < pair[1] < inf:
        raise ValueError(f"{name} is {value!r}; allowed: two numbers, the second larger")


def whole(name: str, value: object, smallest: int) -> None:
    """A whole number ≥ smallest."""
    if isinstance(value, bool) or not isinstance(value, int) or value < smallest:
        raise ValueError(f"{name} is {value!r}; allowed: a whole number ≥ {smallest}")


def samples(value: object, smallest: int = 2) -> None:
    """N: None (the paper's rule) or a whole number ≥ smallest."""
    if value is not None:
        whole("samples", value, smallest)


def pairs(value: object) -> None:
    """N of antithetic pairs: None (the paper's rule) or an even number."""
    samples(value)
    if isinstance(value, int) and value % 2:
        raise ValueError(f"samples is {value}; allowed: an even number (antithetic)")


def choice(name: str, value: object, allowed: tuple[object, ...]) -> None:
    """One of ``allowed``."""
    if isinstance(value, bool) != isinstance(allowed[0], bool) or value not in allowed:
        raise ValueError(f"{name} is {value!r}; allowed: {', '.join(map(str, allowed))}")
