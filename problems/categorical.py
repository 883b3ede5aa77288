"""A categorical test problem in the manner of the paper's binary one. Not in the paper."""

from __future__ import annotations

from math import sqrt

import numpy as np

from problems.interface import Array, Problem


def categorical_reconstruction(instance: np.random.Generator, dim: int, categories: int) -> Problem:
    """Σ_i ‖√2 e_{x_i} − w_i‖² − min_j ‖√2 e_j − w_i‖² on x ∈ {0, …, K−1}^d, e_j the unit vectors.

    Each category has a code, two codes have the distance 2, as the binary problem's −1 and 1 have,
    and w_i ~ N(0, I) in R^K is drawn for each run. At K = 2 this is the binary problem, with its
    w_i = (w_i1 − w_i0)/√2 ~ N(0, 1). Computed as Σ 2√2 (max_j w_ij − w_i,x_i), the same sum without
    its cancellations: 0 at the optimum exactly.

    Args:
        instance: stream for w; the same for all optimisers of a seed.
        dim: d ≥ 2.
        categories: K ≥ 2.

    The first probability of each category is 1/K everywhere.

    Source: ours, for the update of Appendix A, "General Discrete Optimization", which the paper
        runs on nothing.
    """
    for name, value in (("dim", dim), ("categories", categories)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 2:
            raise ValueError(f"{name} is {value!r}; allowed: a whole number ≥ 2")
    w = instance.standard_normal((dim, categories))
    costs = 2.0 * sqrt(2.0) * (w.max(axis=1, keepdims=True) - w)
    rows = np.arange(dim)

    def evaluate(x: Array) -> Array:
        values: Array = costs[rows, x.astype(int)].sum(axis=1)
        return values

    return Problem(
        dim=dim,
        evaluate=evaluate,
        minimum=0.0,
        minimiser=w.argmax(axis=1).astype(float),
        start=lambda rng: np.full((dim, categories), 1.0 / categories),
        space="categorical",
        title=f"Categorical reconstruction, K = {categories}",
        formula=r"\sum_{i=1}^{d} \|\sqrt{2} e_{x_i} - w_i\|_2^2"
        r" - \min_j \|\sqrt{2} e_j - w_i\|_2^2",
    )
