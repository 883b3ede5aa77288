"""The methods of the comparison, each with its defaults and its own documented means.

None is told the minimum, and none is tuned. A method is a function of a Budgeted function, x₀ and a
stream of random numbers; it returns the point that it recommends.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from algorithms import minimize
from experiments.usage.tasks import Task
from problems.interface import Array


class Ended(Exception):
    """The budget is used up, or the function is solved."""


@dataclass
class Budgeted:
    """A task's function as the methods see it: with noise, counted, and ended by ``Ended`` at the
    budget or as soon as the task is solved.
    """

    task: Task
    noise: np.random.Generator
    evaluations: int = 0
    solved: int | None = None  # evaluations when it was
    best: float = np.inf
    best_x: Array = field(init=False)  # (d,)
    last: float = np.nan

    def __call__(self, x: Any) -> float:
        if self.left < 1:
            raise Ended
        self.evaluations += 1
        point = np.array(x, dtype=float)
        value = self.task.f(point)
        if self.task.noise:
            value += self.task.noise * float(self.noise.standard_normal())
        if self.evaluations == 1:
            self.best_x = point
        if value < self.best:
            self.best, self.best_x = value, point
        self.last = value
        if value <= self.task.target:
            self.solved = self.evaluations
            raise Ended
        return value

    @property
    def left(self) -> int:
        """Evaluations left of the budget."""
        return self.task.budget - self.evaluations


Method = Callable[[Budgeted, Array, np.random.Generator], Array]


def ours(method: str) -> Method:
    """``minimize`` of this project. NaN and bounds: its defaults."""

    def run(f: Budgeted, x0: Array, rng: np.random.Generator) -> Array:
        task = f.task
        bounds = (task.low, task.high) if task.bounded else None
        result = minimize(f, x0, task.sigma, method, budget=task.budget, bounds=bounds, seed=rng)
        if result.status == "interrupted":
            raise KeyboardInterrupt
        return np.asarray(result.recommended)

    return run


def pycma(restarts: int = 0, **options: Any) -> Method:
    """``cma.fmin2``. NaN: it draws the point again; bounds: its BoundTransform; integers: its
    ``integer_variables``; noise: its ``xfavorite``, the mean of the distribution, in place of the
    best point. Restarts: BIPOP, from points of N(x₀, σ₀²) as its documentation recommends; with
    noise the mean with the smallest value, which pycma evaluates once at the end of each run.
    """

    def run(f: Budgeted, x0: Array, rng: np.random.Generator) -> Array:
        import cma  # here, because it takes seconds

        task, starts = f.task, points(f.task, x0, rng)
        runs: list[Any] = []
        at_mean: list[float] = []  # the last value of each

        def begins(es: Any) -> None:
            if runs:
                at_mean.append(f.last)
            runs.append(es)

        settings = {
            "seed": int(rng.integers(1, 2**31)),
            # The last evaluation is that of the mean.
            "termination_callback": lambda es: f.left < es.popsize + 1,
            "bounds": [task.low, task.high] if task.bounded else [None, None],
            "integer_variables": list(range(task.dim)) if task.integers else [],
            "verbose": -9,
            "verb_disp": 0,
            "verb_log": 0,
            "signals_filename": "",
            **options,
        }
        more = {"restarts": restarts, "bipop": True} if restarts else {}
        try:
            cma.fmin2(f, lambda: next(starts), task.sigma, settings, init_callback=begins, **more)
            at_mean.append(f.last)
        except Ended:
            if not task.noise:
                raise
        if not task.noise:
            return f.best_x
        return np.asarray(runs[int(np.argmin(at_mean)) if at_mean else 0].result.xfavorite)

    return run


def l_bfgs_b(f: Budgeted, x0: Array, rng: np.random.Generator) -> Array:
    """scipy's, with its numerical gradient, whose evaluations count; from x₀, then again from
    points of N(x₀, σ₀²). Its own limits on evaluations and iterations, of 15,000, give way to the
    budget. Bounds: its own; NaN: it has no means, and a run that ends is restarted.
    """
    from scipy.optimize import minimize as scipy_minimize

    bounds = [(f.task.low, f.task.high)] * f.task.dim if f.task.bounded else None
    limits = {"maxfun": f.task.budget, "maxiter": f.task.budget}
    for x in points(f.task, x0, rng):
        scipy_minimize(f, x, method="L-BFGS-B", bounds=bounds, options=limits)
    raise AssertionError("there is always another point")


def random_search(f: Budgeted, x0: Array, rng: np.random.Generator) -> Array:
    """x₀, and points of N(x₀, σ₀²)."""
    for x in points(f.task, x0, rng):
        f(x)
    raise AssertionError("there is always another point")


def points(task: Task, x0: Array, rng: np.random.Generator) -> Any:
    """x₀, then points of N(x₀, σ₀²) without end; in a box, their projections onto it."""
    yield x0
    while True:
        x = x0 + task.sigma * rng.standard_normal(task.dim)
        yield np.clip(x, task.low, task.high) if task.bounded else x


# By the names that tables and sentences have for them.
METHODS: dict[str, Method] = {
    "INGO": ours("ingo"),
    "Fast-INGO": ours("fast_ingo"),
    "CMA-ES": pycma(),
    "diagonal CMA-ES": pycma(CMA_diagonal=True),
    "CMA-ES with restarts": pycma(restarts=9),
    "L-BFGS-B": l_bfgs_b,
    "random search": random_search,
}
