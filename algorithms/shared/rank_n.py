"""Two ways to move a covariance by N samples, on a factor of it.

With N samples a step changes a d×d covariance in N directions only. Keeping a factor Σ = BBᵀ, both
updates cost O(d²N) and factorise nothing larger than N×N; they equal the textbook formulas with a
symmetric root to rounding, for the same points x.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from .interface import Array, Samples
from .lapack import add_product, cholesky, inverse


def add_to_inverse(factor: Array, samples: Samples, w: Array) -> tuple[Array, Array] | None:
    """Move the inverse covariance by a weighted sum of outer products of the noise.

    Σ'⁻¹ = B⁻ᵀ (I + ZᵀWZ) B⁻¹,  W = diag(w)

    Args:
        factor: (d, d) B with Σ = BBᵀ.
        samples: N points with their noise z (the rows of Z) and displacements y (Y = ZBᵀ).
        w: (N,) weights, βh/N.

    Returns:
        B' (d, d) with Σ' = B'B'ᵀ, and the direction Σ'B⁻ᵀZᵀw (d,) that INGO's mean moves along;
        None if Σ'⁻¹ is not positive definite.

    Source: Eqs. (unSigmaUpdateM) and (unMuupdate). Differs: in form only. B' = BF for any F with
        FFᵀ = (I + ZᵀWZ)⁻¹; ours is F = I + ZᵀSZ with S = L⁻ᵀ(R⁻ᵀ − I)L⁻¹, where LLᵀ = ZZᵀ and
        RRᵀ = I + LᵀWL are N×N. Then B' = B + YᵀSZ, and the direction is Yᵀu with
        u = (I + WZZᵀ)⁻¹w = L⁻ᵀ(RRᵀ)⁻¹Lᵀw.
    """
    z, y = samples.z, samples.y
    if _low_rank(z):
        triangles = _triangles(z, w)
        if triangles is None:
            return None
        lower, root = triangles
        lower_inverse, root_inverse = inverse(lower), inverse(root)
        u = root_inverse.dot(w.dot(lower)).dot(root_inverse).dot(lower_inverse)
        return _moved(factor, samples, lower_inverse, root_inverse.T), u.dot(y)
    whole = cholesky(_identity(z.shape[1]) + z.T @ (w[:, None] * z))
    if whole is None:
        return None
    inverse_root = inverse(whole)
    new = factor @ inverse_root.T
    return new, new @ (inverse_root @ (w @ z))


def subtract_from_covariance(factor: Array, samples: Samples, w: Array) -> Array | None:
    """Move the covariance itself by a weighted sum of outer products.

    Σ' = B (I − ZᵀWZ) Bᵀ = Σ − Σ_i w_i y_i y_iᵀ

    Returns B' (d, d) with Σ' = B'B'ᵀ, or None if Σ' is not positive definite. Arguments as in
    ``add_to_inverse``; here B' = B + YᵀSZ with S = L⁻ᵀ(R − I)L⁻¹ and RRᵀ = I − LᵀWL.
    """
    z = samples.z
    if _low_rank(z):
        triangles = _triangles(z, -w)
        if triangles is None:
            return None
        lower, root = triangles
        return _moved(factor, samples, inverse(lower), root)
    whole = cholesky(_identity(z.shape[1]) - z.T @ (w[:, None] * z))
    return None if whole is None else factor @ whole


# At N×N, ndarray.dot takes half the time of @.


def _low_rank(z: Array) -> bool:
    """Whether the N×N way is open: it needs ZZᵀ far from singular, so N well below d."""
    n, d = z.shape
    return bool(2 * n <= d)


def _triangles(z: Array, w: Array) -> tuple[Array, Array] | None:
    """The Cholesky factors L of ZZᵀ and R of I + LᵀWL; None if there is no such factor."""
    lower = cholesky(z.dot(z.T))
    if lower is None:
        return None
    root = cholesky(_identity(w.size) + lower.T.dot(w[:, None] * lower))
    return None if root is None else (lower, root)


def _moved(factor: Array, samples: Samples, lower_inverse: Array, root: Array) -> Array:
    """B' = B + YᵀSZ with S = L⁻ᵀ (root − I) L⁻¹, so that I + ZᵀSZ is ``root`` on the span of Z.

    In Fortran's order, in which the product that draws the next samples is faster too.
    """
    s = lower_inverse.T.dot(root - _identity(len(root))).dot(lower_inverse)
    return add_product(factor, samples.y.T, s.dot(samples.z))


@cache
def _identity(n: int) -> Array:
    return np.eye(n)
