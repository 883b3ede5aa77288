"""The formulas of the theorems: bounds on the regret, moments of estimators, closed-form solutions.

Constants come from the problems (problems/convex.py); nothing here is fitted.
"""

from __future__ import annotations

import numpy as np

from algorithms.framework import Framework
from algorithms.shared import settings
from algorithms.shared.interface import Array
from problems.convex import ConvexProblem


def theorem_4(T: Array, b: float, beta: float, rho: float, R: float, B1: Array, B: float) -> Array:
    """The bound on (1/T) Σ_t E f(μ_t) − f(μ*) for any unbiased estimator.

    [2bR + 2bβρ(4B₁ + β𝓑) + 4B₁(1 + log T) + (1 + log T)β𝓑] / (4βbT)

    Args:
        T: iterations; ρ ≥ ‖Σ₁‖; R ≥ ‖μ* − μ₁‖²_{Σ₁⁻¹}; B1 ≥ ‖∇_Σ J̄‖_tr; B: 𝓑 ≥ E‖ĝ_t‖².

    Source: Theorem 4. Differs: none.
    """
    logs = 1 + np.log(T)
    top = 2 * b * R + 2 * b * beta * rho * (4 * B1 + beta * B) + (4 * B1 + beta * B) * logs
    bound: Array = top / (4 * beta * b * T)
    return bound


def theorem_5(
    T: Array, b: float, beta: float, rho: float, R: float, B1: Array, L: float, d: int
) -> Array:
    """The bound for one sample a step, E‖Σ_{t+1}‖‖ĝ‖² ≤ L²‖Σ_t‖(d + 4)².

    (bR + bβρ(4B₁ + 2βL²(d+4)²)) / (2βbT) + (4B₁ + βL²(d+4)²)(1 + log T) / (4βbT)

    Source: Theorem 5. Differs: none; it asks for an isotropic Σ_t (experiments/theory/README.md).
    """
    noise = L**2 * (d + 4) ** 2
    first = (b * R + b * beta * rho * (4 * B1 + 2 * beta * noise)) / (2 * beta * b * T)
    bound: Array = first + (4 * B1 + beta * noise) * (1 + np.log(T)) / (4 * beta * b * T)
    return bound


def orthogonal_bound(
    T: Array, b: float, beta: float, R: float, B1: Array, L: float, d: int
) -> Array:
    """The bound for N = d orthogonal samples a step and ρ = 1/d.

    [2bR + 2bβ(4B₁ + 2βL²(d+4)²)/d + 4B₁(1 + log T) + (1 + log T)βL²(d+4)²/d] / (4βbT)

    Source: the appendix, "Variance Reduction". Differs: none.
    """
    noise = L**2 * (d + 4) ** 2
    logs = 1 + np.log(T)
    top = 2 * b * R + 2 * b * beta * (4 * B1 + 2 * beta * noise) / d
    bound: Array = (top + 4 * B1 * logs + logs * beta * noise / d) / (4 * beta * b * T)
    return bound


def second_moment(estimator: str, L: float, d: int, n: int, condition: float = 1.0) -> float:
    """𝓑 ≥ E‖ĝ‖² from L alone: L² κ d(d + 2) for one sample, since E‖z‖⁴ = d(d + 2).

    Independent samples have E‖ĝ‖² = ‖∇J̄‖² (1 − 1/N) + E‖ĝ₁‖²/N with ‖∇J̄‖ ≤ L; pairs are half as
    many independent ones; orthogonal ones have no cross terms, E‖ĝ₁‖²/N.

    Args:
        condition: κ of Σ_t, 1 where it is isotropic.
    """
    one = L**2 * condition * d * (d + 2)
    if estimator == "orthogonal":
        if condition != 1.0:
            raise ValueError("the cross terms of orthogonal samples vanish at an isotropic Σ only")
        return one / n
    independent = {"single": 1, "batch": n, "antithetic": n // 2}[estimator]
    return L**2 * (1 - 1 / independent) + one / independent


def smallest_std(iterations: Array, method: Framework, dim: int) -> Array:
    """The least that a standard deviation of Σ_1 … Σ_T can be: Σ_T⁻¹ ⪯ Σ₁⁻¹ + 2β(T − 1) max Ĝ."""
    beta = settings.resolve(method.step_size, dim)
    top = method.b if method.curvature == "constant" else method.gamma / 2
    first = settings.resolve(method.initial_std, dim)
    std: Array = 1 / np.sqrt(first**-2 + 2 * beta * top * (iterations - 1))
    return std


def bounds(method: Framework, problem: ConvexProblem, T: Array) -> tuple[Array, Array]:
    """Theorem 4's bound at each T, and the one of Theorem 5 or its orthogonal form (else NaN).

    B₁ is taken over the Σ_1 … Σ_T of the run: where f is not smooth it grows with T, and without
    that the assumption ‖∇_Σ J̄‖_tr ≤ B₁ would be false.
    """
    d, L = problem.dim, problem.lipschitz
    beta = settings.resolve(method.step_size, d)
    rho = settings.resolve(method.initial_std, d) ** 2
    R = 1 / rho  # the problems start at distance 1
    B1: Array = np.array([problem.bend(float(s)) for s in smallest_std(T, method, d)])
    # κ(Σ_t) ≤ γ/2b from an isotropic Σ₁, and 1 if Ĝ = bI
    condition = 1.0 if method.curvature == "constant" else method.gamma / (2 * method.b)
    B = second_moment(method.estimator, L, d, method.size(d), condition)
    fourth = theorem_4(T, method.b, beta, rho, R, B1, B)
    fifth: Array = np.full(len(T), np.nan)
    # the printed orthogonal form takes ρ = 1/d and N = d for granted
    as_printed = method.size(d) == d and rho <= 1.001 / d
    if method.curvature == "constant" and method.estimator == "single":
        fifth = theorem_5(T, method.b, beta, rho, R, B1, L, d)
    elif method.curvature == "constant" and method.estimator == "orthogonal" and as_printed:
        fifth = orthogonal_bound(T, method.b, beta, R, B1, L, d)
    return fourth, fifth


def closed_form(
    inverse: Array, mu: Array, g: Array, G: Array, beta: float, moved: str
) -> tuple[Array, Array]:
    """The solution of a trust-region problem: Σ' = (Σ⁻¹ + 2βG)⁻¹, μ' = μ − βSg.

    S is Σ where the problem is in (μ, Σ) ("old", Theorem 3), and Σ' where it is in the mean
    parameters (μ, Σ + μμᵀ) ("new", Theorem D of the appendix). ``inverse`` is Σ⁻¹.
    """
    new: Array = np.linalg.inv(inverse + 2 * beta * G).astype(float)
    step = new if moved == "new" else np.linalg.inv(inverse)
    moved_mu: Array = mu - beta * step @ g
    return moved_mu, new
