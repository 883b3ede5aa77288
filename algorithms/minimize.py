"""Scipy-style entry point: minimise one's own function with an optimiser of this project."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from . import build, load
from .shared import checks
from .shared.interface import Algorithm, Array

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult

    from .shared.loop import Batch
    from .shared.objective import Map


def minimize(
    fun: Callable[..., Any],
    x0: Any,
    sigma0: Any,
    method: str = "ingo",
    *,
    args: Any = (),
    budget: float = 100_000,
    target: float = -np.inf,
    bounds: Any = None,
    bounds_method: str = "transform",
    xtol: Any = None,
    ftol: float = 0.0,
    seed: Any = None,
    nan: str = "worst",
    restarts: int = 0,
    safeguard: bool = True,
    vectorized: bool = False,
    workers: int | Map | None = None,
    callback: Callable[[Batch], object] | None = None,
    **parameters: Any,
) -> OptimizeResult:
    """Minimise ``fun``, from points (d,) to numbers, without derivatives.

    Args:
        fun: ``fun(x, *args)``, from a point (d,) to a number; with ``vectorized``, from (N, d) to
            (N,). NaN, infinities and values beyond ±1e100 mean that f has no value there.
        x0: (d,) or a number, mean of the first search distribution.
        sigma0: its standard deviation, a number or one per coordinate, in units of x. The minimum
            should lie within a few sigma0 of x0.
        method: "ingo", "fast_ingo" or another of ``available()`` that searches real vectors.
        args: further arguments of ``fun``.
        budget: at most this many evaluations. Two are set aside for ``recommended``.
        target: stop once a value is at or below it.
        bounds: pairs (low, high), one per coordinate or one for all, with None for no bound; or
            ``scipy.optimize.Bounds``. x0 must be strictly inside.
        bounds_method: "transform" folds the search space into the box, smoothly and such that a
            minimum on a bound is reached; "penalty" evaluates points outside at their projection
            and makes them worse (``shared/coordinates.py``). ``fun`` sees points inside only.
        xtol: stop once all points of a batch are within xtol of each other in every coordinate; a
            number or one per coordinate, in units of x. None is 1e-12 sigma0.
        ftol: stop once the values of a batch, and the minima of the last 10 + ⌈30 d/N⌉ batches,
            are within ftol of each other; in units of f. Rounding never counts as a difference.
        seed: of the random numbers, whatever ``numpy.random.default_rng`` takes.
        nan: "worst" has points without a value count as a tenth of the batch's range worse than its
            worst value; "raise" ends with a ValueError that names the point.
        restarts: at most this many further runs, as long as the budget lasts, where a run ends
            without the target or, if another may follow, gets no better for a fifth of its
            batches: by turns with 2, 4, 8, … times the samples, and with the first number of
            samples and a smaller sigma0 (``shared/restarts.py``).
        safeguard: halve the step size, for that step only, where the covariance would not remain
            positive definite; draw a batch of equal values again, up to ten times in a row; let no
            Gaussian become wider than the box of its bounds. False is the paper's algorithm, whose
            run ends there.
        workers: evaluate the points of a batch in this many processes (−1: one per processor), or
            with this function like ``map``; ``fun`` must pickle for the first. The result is the
            same bit for bit.
        callback: called with every ``Batch`` (its x as ``fun`` saw them, its state in the
            optimiser's coordinates); a true answer or a StopIteration ends the search.
        parameters: hyper-parameters of the optimiser, such as ``samples`` and ``step_size``.

    Returns:
        ``scipy.optimize.OptimizeResult`` with

        - x (d,), fun: the best point of all batches and its value (x0 and inf if there is none);
        - mean (d,): mean of the distribution at the end of the run that found x;
        - recommended (d,): the point to use. f is evaluated again at x and once at the mean, f₁
          being the first value at x, f₂ and f_mean the new ones. Where f₂ + |f₂ − f₁| ≤ f_mean
          it is x, else the mean: without noise the better of the two, with noise nearly always the
          mean, since the best of many noisy values is best by luck;
        - noise: |f₂ − f₁|, 0 for a deterministic f, NaN where f was not evaluated again;
        - nfev, nit: evaluations (all of them) and batches;
        - success: the target was reached or, if none was given, a tolerance met;
        - status, message: why the search ended: target, budget, xtol, ftol, callback, interrupted,
          flat, not_positive_definite, diverged or stagnated;
        - nonfinite: share of the evaluations that gave no value;
        - halved: steps for which the step size was halved;
        - runs: a dict per run: samples, sigma, nfev, nit, fun, status.

        After Ctrl-C the best so far, with status "interrupted" and x as recommended.

    Raises:
        ValueError: no such method or hyper-parameter, a value that is not allowed, ``fun`` or
            ``workers`` do not return one number per point, or ``nan`` is "raise" and one is none.
        Exception: what ``fun`` or ``callback`` raises, with the best so far as its ``result``.

    Source: that of each optimiser. Differs: from the paper, which has no bounds, tolerances or
        restarts, and whose runs end where ``safeguard`` and ``nan`` let them go on. Where none of
        these has anything to do, a run is the paper's.
    """
    # Here, since the package imports this module: scipy.optimize takes longer than all the rest,
    # and ask and tell need none of it.
    from scipy.optimize import OptimizeResult

    from .shared.coordinates import Coordinates
    from .shared.loop import quiet
    from .shared.objective import Objective, mapping
    from .shared.search import Search

    start = _start(x0)
    space = load(method).space
    if space != "real":
        raise ValueError(f"{method} searches a {space} space, not a real one")
    checks.choice("nan", nan, ("worst", "raise"))
    checks.choice("safeguard", safeguard, (True, False))
    checks.whole("restarts", restarts, 0)
    if vectorized and workers is not None:
        raise ValueError("vectorized and workers exclude each other: fun gets a whole batch")
    coordinates = Coordinates.of(start, sigma0, bounds, bounds_method)
    arguments = args if isinstance(args, tuple) else (args,)
    objective = Objective(fun, arguments, coordinates.to_x, vectorized, nan)
    search = Search(
        optimiser=_optimiser(method, coordinates.std, parameters),
        objective=objective,
        coordinates=coordinates,
        start=start,
        xtol=_tolerance("xtol", 1e-12 * coordinates.sigma if xtol is None else xtol, start.shape),
        ftol=float(_tolerance("ftol", ftol, ())),
        budget=_whole(budget),
        target=float(target),
        safeguard=safeguard,
        callback=callback,
    )
    status = "interrupted"
    try:
        with quiet(), mapping(workers) as objective.map:
            search.search(restarts, np.random.default_rng(seed))
            status = ""
            search.confirm()
    except KeyboardInterrupt:
        pass
    except Exception as error:
        if objective.evaluations:
            _attach(error, OptimizeResult(search.outcome("exception")))
        raise
    return OptimizeResult(search.outcome(status))


def _start(x0: Any) -> Array:
    """The mean (d,) of the first distribution."""
    start = np.atleast_1d(np.array(x0, dtype=float))
    if start.ndim != 1 or start.size < 1 or not np.isfinite(start).all():
        raise ValueError("x0 must be a vector of finite numbers")
    return start


def _whole(budget: float) -> int:
    """The budget, which may be written 1e5."""
    if isinstance(budget, bool) or not float(budget).is_integer():
        raise ValueError(f"budget is {budget!r}; allowed: a whole number")
    return int(budget)


def _optimiser(method: str, std: float, parameters: dict[str, Any]) -> Algorithm:
    """The optimiser with its hyper-parameters, which may be numpy's numbers."""
    if "initial_std" in parameters:
        raise ValueError("initial_std is given as sigma0")
    plain = {
        key: value.item() if isinstance(value, np.generic) else value
        for key, value in parameters.items()
    }
    return build(method, {"initial_std": std, **plain})


def _tolerance(name: str, value: Any, shape: tuple[int, ...]) -> Array:
    """A number ≥ 0, or one per coordinate if ``shape`` is theirs."""
    tolerance = np.asarray(value, dtype=float)
    if tolerance.shape not in ((), shape) or not (tolerance >= 0).all():
        raise ValueError(f"{name} is {value!r}; allowed: a number ≥ 0")
    return tolerance


def _attach(error: Exception, result: OptimizeResult) -> None:
    """Put the best so far on an exception of the user's function."""
    error.add_note(f"best so far, after {result.nfev} evaluations: {result.fun:g}, in its .result")
    with suppress(AttributeError):  # a class with slots
        error.result = result  # type: ignore[attr-defined]
