"""Scipy-style entry point: minimise one's own function with an optimiser of this project."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import build, load
from .shared.interface import Array, Stop
from .shared.loop import Batch, iterate, quiet


def minimize(
    fun: Callable[[Array], Any],
    x0: Array,
    sigma0: float,
    method: str = "ingo",
    *,
    budget: int = 100_000,
    target: float = -np.inf,
    seed: int | None = None,
    vectorized: bool = False,
    callback: Callable[[Batch], object] | None = None,
    **parameters: Any,
) -> Any:
    """Minimise ``fun`` with one of the optimisers of this project.

    Args:
        fun: from a point (d,) to a number; with ``vectorized``, from (N, d) to (N,).
        x0: (d,) mean of the first search distribution.
        sigma0: its standard deviation along every axis, in units of x.
        method: name of an optimiser, see ``algorithms.available()``.
        budget: at most this many evaluations.
        target: stop once the minimum of a batch is at or below it.
        seed: of the random numbers; None takes fresh ones from the system.
        callback: called with every ``Batch``; a true answer ends the run.
        parameters: further hyper-parameters of the optimiser.

    Returns:
        ``scipy.optimize.OptimizeResult``: x and fun (the best point seen), mean (of the last
        distribution), nfev, nit, success (whether the target was reached), status (the stop
        reason) and message.

    Raises:
        ValueError: no such method or hyper-parameter, or a value that is not allowed.
    """
    from scipy.optimize import OptimizeResult  # here: it takes longer to import than all the rest

    mean = np.array(x0, dtype=float)
    if mean.ndim != 1 or mean.size < 1 or not np.isfinite(mean).all():
        raise ValueError("x0 must be a vector of finite numbers")
    if (space := load(method).space) != "real":
        raise ValueError(f"{method} searches a {space} space, not a real one")
    optimiser = build(method, {"initial_std": sigma0, **parameters})

    def evaluate(x: Array) -> Array:
        return np.asarray(fun(x) if vectorized else [fun(row) for row in x], dtype=float)

    best_x, best = mean, np.inf
    with quiet():
        for batch in iterate(
            optimiser, evaluate, mean, np.random.default_rng(seed), budget, target
        ):
            if batch.best < best:
                best, best_x = batch.best, batch.x[int(np.nanargmin(batch.values))]
            if callback is not None and callback(batch):
                break
    reason, detail = batch.ended or ("callback", "")
    return OptimizeResult(
        x=np.array(best_x),
        fun=best,
        mean=np.array(batch.state.mean),
        nfev=batch.evaluations,
        nit=batch.iteration,
        success=reason == Stop.TARGET,
        status=str(reason),
        message=f"stopped: {reason}" + (f" ({detail})" if detail else ""),
    )
