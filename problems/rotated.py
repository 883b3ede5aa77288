"""The test functions turned by a random rotation, one for each run. Not in the paper."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import problems
from problems.interface import Array, Problem


def rotated(instance: np.random.Generator, function: str, dim: int) -> Problem:
    """f(Qᵀ x) with Q drawn uniformly from the orthogonal group, by the run's own stream.

    The minimiser turns along, Q x*. The first mean is drawn as for f itself and does not turn, but
    from another stream: runs are paired over optimisers, not with those on the plain function. A
    seed has one Q and one start for all functions. Where x* = 0 the start is as far from Q x* as
    with f; on Levy, x* = 1, it is farther, so that the two do not compare.

    Args:
        instance: stream for Q; the same for all optimisers of a seed.
        function: name of a problem with a parameter ``dim``.
        dim: d ≥ 2.

    Source: ours, for the sentence "Fast-INGO is not rotation invariant" (Section 6).
    """
    plain = problems.build(function, {"dim": dim})
    q = orthogonal(instance, dim)

    def evaluate(x: Array) -> Array:
        return plain.evaluate(x @ q)

    return replace(
        plain, evaluate=evaluate, minimiser=q @ plain.minimiser, title=f"{plain.title}, rotated"
    )


def orthogonal(rng: np.random.Generator, dim: int) -> Array:
    """A matrix drawn uniformly from the orthogonal group: QR of a Gaussian, signs of R made +."""
    q, r = np.linalg.qr(rng.standard_normal((dim, dim)))
    turned: Array = q * np.sign(np.diag(r))
    return turned
