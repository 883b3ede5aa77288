"""The six test functions of the paper's Table 1, in any dimension d ≥ 2.

Values are exact where the paper's formula would cancel: 10 − 10 cos 2πy is computed as 20 sin² πy,
and Levy's sin²(πw) with w = 1 + u as sin²(πu).
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, log10

import numpy as np

from problems.interface import Array, Problem


def ellipsoid(dim: int, condition: float = 1e6) -> Problem:
    """Σ c^((i−1)/(d−1)) x_i² with the condition number c. Source: Table 1, where c = 10⁶."""
    if isinstance(condition, bool) or not 1.0 <= condition < inf:
        raise ValueError(f"condition is {condition!r}; allowed: a number ≥ 1")
    w = _scales(dim, log10(condition))
    return _problem(
        "Ellipsoid",
        r"\sum_{i=1}^{d} 10^{\frac{6(i-1)}{d-1}} x_i^2",
        lambda x: (x * x) @ w,
        np.zeros(dim),
    )


def l1_ellipsoid(dim: int) -> Problem:
    """Σ 10^(6(i−1)/(d−1)) |x_i|. Source: Table 1."""
    w = _scales(dim, 6)
    return _problem(
        r"$\ell_1$-Ellipsoid",
        r"\sum_{i=1}^{d} 10^{\frac{6(i-1)}{d-1}} |x_i|",
        lambda x: np.abs(x) @ w,
        np.zeros(dim),
    )


def l_half_ellipsoid(dim: int) -> Problem:
    """Σ 10^(6(i−1)/(d−1)) |x_i|^½. Source: Table 1."""
    w = _scales(dim, 6)
    return _problem(
        r"$\ell_{1/2}$-Ellipsoid",
        r"\sum_{i=1}^{d} 10^{\frac{6(i-1)}{d-1}} |x_i|^{\frac{1}{2}}",
        lambda x: np.sqrt(np.abs(x)) @ w,
        np.zeros(dim),
    )


def discus(dim: int) -> Problem:
    """10⁶ x_1² + Σ_{i≥2} x_i². Source: Table 1. Differs: the square on x_1."""
    _check(dim)
    w = np.ones(dim)
    w[0] = 1e6
    return _problem(
        "Discus",
        r"10^6 x_1^2 + \sum_{i=2}^{d} x_i^2",
        lambda x: (x * x) @ w,
        np.zeros(dim),
        "The paper prints $10^6 x_1$ without the square, which is unbounded below; the authors' "
        "released code squares it.",
    )


def levy(dim: int) -> Problem:
    """sin²(πw_1) + Σ_{i<d} (w_i−1)²(1 + 10 sin²(πw_i+1)) + (w_d−1)²(1 + sin²(2πw_d)).

    w_i = 1 + (x_i − 1)/4; the minimiser is x = 1. Source: Table 1. Differs: none; the authors'
    released code has 10 sin² in the last term too.
    """
    _check(dim)

    def evaluate(x: Array) -> Array:
        u = (x - 1.0) / 4.0  # w − 1
        head, tail = u[:, :-1], u[:, -1]
        bumps = 1.0 + 10.0 * np.sin(np.pi * (head + 1.0) + 1.0) ** 2
        first = np.sin(np.pi * u[:, 0]) ** 2
        last = tail * tail * (1.0 + np.sin(2.0 * np.pi * tail) ** 2)
        middle: Array = np.sum(head * head * bumps, axis=1)
        return first + middle + last

    return _problem(
        "Levy",
        r"\sin^2(\pi w_1) + \sum_{i=1}^{d-1} (w_i-1)^2 \left(1 + 10 \sin^2(\pi w_i + 1)\right)"
        r" + (w_d-1)^2 \left(1 + \sin^2(2\pi w_d)\right),\ w_i = 1 + (x_i-1)/4",
        evaluate,
        np.ones(dim),
        "The authors' released code has $1 + 10 \\sin^2$ in the last term; this is the paper's "
        "print, which is the standard form.",
    )


def rastrigin10(dim: int) -> Problem:
    """10d + Σ [y_i² − 10 cos 2πy_i], y_i = 10^((i−1)/(d−1)) x_i. Source: Table 1."""
    scales = _scales(dim, 1)

    def evaluate(x: Array) -> Array:
        y = x * scales
        ripple = np.sin(np.pi * y)
        values: Array = np.sum(y * y + 20.0 * ripple * ripple, axis=1)
        return values

    return _problem(
        "Rastrigin10",
        r"10d + \sum_{i=1}^{d} \left[ \left(10^{\frac{i-1}{d-1}} x_i\right)^2"
        r" - 10 \cos\left(2\pi 10^{\frac{i-1}{d-1}} x_i\right) \right]",
        evaluate,
        np.zeros(dim),
    )


def _scales(dim: int, decades: float) -> Array:
    """10^(decades·(i−1)/(d−1)) for i = 1 … d."""
    _check(dim)
    return 10.0 ** (decades * np.arange(dim) / (dim - 1))


def _check(dim: int) -> None:
    if isinstance(dim, bool) or not isinstance(dim, int) or dim < 2:
        raise ValueError(f"dim is {dim!r}; allowed: a whole number ≥ 2")


def _problem(
    title: str,
    formula: str,
    evaluate: Callable[[Array], Array],
    minimiser: Array,
    correction: str = "",
) -> Problem:
    """A test function with minimum 0; the first mean is uniform on [0, 1]^d (Section 6)."""
    dim = minimiser.size
    return Problem(
        dim=dim,
        evaluate=evaluate,
        minimum=0.0,
        minimiser=minimiser,
        start=lambda rng: rng.random(dim),
        title=title,
        formula=formula,
        correction=correction,
    )
