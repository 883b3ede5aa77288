"""The paper's binary test problem: find the signs of a random vector."""

from __future__ import annotations

import numpy as np

from problems.interface import Array, Problem


def binary_reconstruction(
    instance: np.random.Generator, dim: int, w_seed: int | None = None
) -> Problem:
    """‖sign(x − ½) − w‖² − ‖sign(w) − w‖² on x ∈ {0, 1}^d, with w ~ N(0, I) drawn for each run.

    Computed as Σ 4|w_i| over the wrong bits, which is the same sum without its cancellations: both
    signs have square 1, so a bit costs 2|w_i| − 2 sign(x_i − ½) w_i. The value is a regret, 0 at
    the optimum exactly, and relatively exact near it.

    Args:
        instance: stream for w; the same for all optimisers of a seed.
        dim: d ≥ 2.
        w_seed: draw w from this seed instead: the same for all runs.

    The first probability of a 1 is ½ everywhere.

    Source: Appendix, "Evaluation on discrete test problems". Differs: none.
    """
    if isinstance(dim, bool) or not isinstance(dim, int) or dim < 2:
        raise ValueError(f"dim is {dim!r}; allowed: a whole number ≥ 2")
    if w_seed is not None and (type(w_seed) is not int or w_seed < 0):
        raise ValueError(f"w_seed is {w_seed!r}; allowed: null or a whole number ≥ 0")
    w = (instance if w_seed is None else np.random.default_rng(w_seed)).standard_normal(dim)
    solution = (w > 0.0).astype(float)
    costs = 4.0 * np.abs(w)

    def evaluate(x: Array) -> Array:
        # Row by row, as a matrix product does not: equal points have equal values, to the last bit,
        # wherever they stand in a batch. A run at rest is told by that.
        values: Array = np.vecdot(x != solution, costs)
        return values

    return Problem(
        dim=dim,
        evaluate=evaluate,
        minimum=0.0,
        minimiser=solution,
        start=lambda rng: np.full(dim, 0.5),
        space="binary",
        title=f"Binary reconstruction, d = {dim}",
        formula=r"\|\mathrm{sign}(x - \frac{1}{2}) - w\|_2^2 - \|\mathrm{sign}(w) - w\|_2^2",
    )
