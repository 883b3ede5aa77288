"""Two ways to move a covariance by N samples, on a factor of it.

With N samples a step changes a d×d covariance in N directions only. Keeping a factor Σ = BBᵀ, both
updates cost O(d²N) and factorise nothing larger than N×N; they equal the textbook formulas with a
symmetric root to rounding, for the same points x.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from .interface import Array, Samples
from .lapack import cholesky, inverse


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
        RRᵀ = I + LᵀWL are N×N. Then B' = B + YᵀSZ, and the direction is Yᵀ(I + SG)(I + SᵀG)w with
        G = ZZᵀ.
    """
    z, y = samples.z, samples.y
    if _low_rank(z):
        triangles = _triangles(z, w)
        if triangles is None:
            return None
        gram, lower, root = triangles
        s = _core(lower, inverse(root).T)
        c = w + (w @ gram) @ s
        return factor + y.T @ (s @ z), (c + s @ (gram @ c)) @ y
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
    z, y = samples.z, samples.y
    if _low_rank(z):
        triangles = _triangles(z, -w)
        if triangles is None:
            return None
        _, lower, root = triangles
        return factor + y.T @ (_core(lower, root) @ z)
    whole = cholesky(_identity(z.shape[1]) - z.T @ (w[:, None] * z))
    return None if whole is None else factor @ whole


def _low_rank(z: Array) -> bool:
    """Whether the N×N way is open: it needs ZZᵀ far from singular, so N well below d."""
    n, d = z.shape
    return bool(2 * n <= d)


def _triangles(z: Array, w: Array) -> tuple[Array, Array, Array] | None:
    """G = ZZᵀ, its Cholesky factor L and that of I + LᵀWL; None if there is no such factor."""
    gram = z @ z.T
    lower = cholesky(gram)
    if lower is None:
        return None
    root = cholesky(_identity(w.size) + lower.T @ (w[:, None] * lower))
    return None if root is None else (gram, lower, root)


def _core(lower: Array, root: Array) -> Array:
    """S = L⁻ᵀ (root − I) L⁻¹, so that I + ZᵀSZ is ``root`` on the span of the samples."""
    q = inverse(lower)
    return q.T @ (root - _identity(len(q))) @ q


@cache
def _identity(n: int) -> Array:
    return np.eye(n)
