"""Convex functions with the constants of the convergence theorems: γ, L and B₁.

No function is γ-strongly convex and L-Lipschitz on all of ℝᵈ: the first grows like ‖x‖², the second
at most like ‖x‖. So these are quadratic within a ball around the minimiser and go on linearly
beyond it: L holds everywhere, and γ from every point of the ball. The proofs use strong convexity
only between a visited distribution and the minimiser, so a run whose means stay well inside the
ball has both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, log, pi, sqrt

import numpy as np

from problems.interface import Array, Problem


@dataclass(frozen=True)
class ConvexProblem(Problem):
    """A problem with the constants that Theorems 4 and 5 ask for."""

    gamma: float = 0.0  # γ of strong convexity towards the minimiser, from within the ball
    lipschitz: float = inf  # L, everywhere
    radius: float = 0.0  # of the ball
    bend: Callable[[float], float] = lambda sigma: inf  # B₁ ≥ ‖∇_Σ J̄‖_tr wherever Σ ⪰ sigma² I


def quadratic(dim: int, radius: float = 5.0) -> Problem:
    """½‖x − x*‖² within the ball, radius·‖x − x*‖ − ½ radius² beyond: smooth.

    γ = 1, L = radius, B₁ = d/2 (half the trace of a Hessian ⪯ I).
    """
    return _problem("quadratic", dim, radius, 0.0, lambda u: np.zeros(len(u)), lambda sigma: 0.0)


def l1_quadratic(dim: int, radius: float = 5.0, kink: float = 1.0) -> Problem:
    """kink·‖x − x*‖₁/√d + the quadratic: not smooth where any coordinate is at its minimum.

    γ = 1, L = kink + radius. The Gaussian mean of |x_i| has second derivative 2φ(x_i/σ)/σ, so B₁ is
    d/2 + kink·√d/(σ√(2π)): it has no bound as σ → 0.
    """
    return _problem(
        r"$\ell_1$ + quadratic",
        dim,
        radius,
        kink,
        lambda u: np.abs(u).sum(axis=1) / sqrt(dim),
        lambda sigma: sqrt(dim) / (sigma * sqrt(2 * pi)),
    )


def max_quadratic(dim: int, radius: float = 5.0, kink: float = 1.0) -> Problem:
    """kink·max_i |x_i − x*_i| + the quadratic: not smooth where two coordinates are the largest.

    γ = 1, L = kink + radius. tr ∇_Σ J̄ = ½ E⟨Σ^{-½}z, ∇f⟩ and the gradient of the maximum is ±e_i,
    so B₁ is d/2 + kink·E max|z_i|/(2σ) ≤ d/2 + kink·√(2 ln 2d)/(2σ): no bound as σ → 0.
    """
    return _problem(
        "max + quadratic",
        dim,
        radius,
        kink,
        lambda u: np.abs(u).max(axis=1),
        lambda sigma: sqrt(2 * log(2 * dim)) / (2 * sigma),
    )


def _problem(
    title: str,
    dim: int,
    radius: float,
    kink: float,
    cone: Callable[[Array], Array],
    cone_bend: Callable[[float], float],
) -> ConvexProblem:
    """kink·cone + quadratic, around x* = (1, …, 1); ``cone`` is 1-Lipschitz.

    The first mean has distance 1 from x*, in a random direction, so that R = ‖μ* − μ₁‖²_{Σ₁⁻¹} is
    1/σ₁² in every run.
    """
    if isinstance(dim, bool) or not isinstance(dim, int) or dim < 2:
        raise ValueError(f"dim is {dim!r}; allowed: a whole number ≥ 2")
    if not 1 < radius < inf or not 0 <= kink < inf:
        raise ValueError(f"radius is {radius}, kink {kink}; allowed: a radius > 1, a kink ≥ 0")
    minimiser = np.ones(dim)

    def evaluate(x: Array) -> Array:
        u = x - minimiser
        r = np.sqrt((u * u).sum(axis=1))
        inner = np.minimum(r, radius)
        values: Array = kink * cone(u) + inner * (r - inner / 2)
        return values

    def start(rng: np.random.Generator) -> Array:
        direction = rng.standard_normal(dim)
        return minimiser + direction / np.sqrt(direction @ direction)

    return ConvexProblem(
        dim=dim,
        evaluate=evaluate,
        minimum=0.0,
        minimiser=minimiser,
        start=start,
        title=title,
        gamma=1.0,
        lipschitz=kink + radius,
        radius=radius,
        bend=lambda sigma: dim / 2 + kink * cone_bend(sigma),
    )
