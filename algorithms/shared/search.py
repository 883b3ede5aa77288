"""What ``minimize`` does: one run or several, and what came of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .coordinates import Coordinates
from .guard import Guard
from .interface import Array
from .loop import Batch, iterate
from .objective import Objective
from .restarts import Schedule
from .stopping import CONVERGED, Tolerance, message

CONFIRMING = 2  # evaluations set aside for ``Search.confirm``


@dataclass
class Run:
    """One run of the optimiser, and how far it has come."""

    guard: Guard
    samples: int
    sigma: float  # standard deviation at the start, in units of sigma0
    nfev: int = 0
    nit: int = 0
    fun: float = np.inf
    status: str = ""  # while it goes on
    detail: str = ""

    def summary(self) -> dict[str, Any]:
        """What the user sees of it."""
        return {key: getattr(self, key) for key in KEYS}


KEYS = ("samples", "sigma", "nfev", "nit", "fun", "status")


@dataclass
class Search:
    """A search by ``optimiser``; its methods are called in the order in which they stand here."""

    optimiser: Any
    objective: Objective
    coordinates: Coordinates
    start: Array  # (d,) x₀
    xtol: Array  # (d,)
    ftol: float
    budget: int
    target: float
    safeguard: bool
    callback: Callable[[Batch], object] | None

    def __post_init__(self) -> None:
        self.runs: list[Run] = []
        self.confirmed: tuple[float, float] | None = None  # f at the best point, again, and at mean

    def search(self, restarts: int, rng: np.random.Generator) -> None:
        """The first run, and others as long as none has reached the target and budget is left."""
        u0 = self.coordinates.to_u(self.start)
        first = self.optimiser
        last = self._run(first, 1.0, u0, rng)
        schedule = Schedule(first.samples or first.batch_size(u0.size)) if restarts else None
        for _ in range(restarts):
            if schedule is None or last.status in ("target", "budget", "callback"):
                return
            kind, samples, sigma = schedule.following(rng)
            std = sigma * self.coordinates.std
            optimiser = replace(first, samples=samples, initial_std=std)
            if self._left() < optimiser.batch_size(u0.size):
                return
            u = u0 + self.coordinates.std * rng.standard_normal(u0.size)
            last = self._run(optimiser, sigma, u, rng)
            schedule.used[kind] += last.nfev

    def confirm(self) -> None:
        """Evaluate f again at the best point and once at the mean, if the budget allows."""
        x, mean = self.objective.best_x, self.mean()
        left = self.budget - self.objective.evaluations
        if x is not None and np.isfinite(mean).all() and left >= CONFIRMING:
            again, at_mean = self.objective.values(np.array([x, mean]))
            self.confirmed = float(again), float(at_mean)

    def mean(self) -> Array:
        """(d,) Mean of the distribution at the end of the run that found the best point."""
        if not self.runs:
            return self.start
        state = min(self.runs, key=lambda run: run.fun).guard.state
        return self.coordinates.to_x(state.mean)

    def recommended(self) -> Array:
        """The best point, or the mean if f does not confirm the best point; see ``minimize``."""
        best = self.start if self.objective.best_x is None else self.objective.best_x
        if self.confirmed is None:
            return best
        again, at_mean = (np.inf if np.isnan(f) else f for f in self.confirmed)
        return best if again + abs(again - self.objective.best) <= at_mean else self.mean()

    def outcome(self, status: str = "") -> dict[str, Any]:
        """The fields of the result; ``status`` takes the place of the last run's."""
        detail = ""
        if not status:
            status, detail = self.runs[-1].status, self.runs[-1].detail
        objective, evaluations = self.objective, self.objective.evaluations
        converged = status in CONVERGED and self.target == -np.inf
        return {
            "x": np.array(self.start if objective.best_x is None else objective.best_x),
            "fun": objective.best,
            "mean": np.array(self.mean()),
            "recommended": np.array(self.recommended()),
            "noise": abs(self.confirmed[0] - objective.best) if self.confirmed else np.nan,
            "nfev": evaluations,
            "nit": sum(run.nit for run in self.runs),
            "success": status == "target" or converged,
            "status": status,
            "message": message(status, detail),
            "nonfinite": objective.nonfinite / evaluations if evaluations else 0.0,
            "halved": sum(run.guard.halved for run in self.runs),
            "runs": [run.summary() for run in self.runs],
        }

    def _left(self) -> int:
        """Evaluations left for a run."""
        return self.budget - self.objective.evaluations - CONFIRMING

    def _run(self, optimiser: Any, sigma: float, u0: Array, rng: np.random.Generator) -> Run:
        n = optimiser.batch_size(u0.size)
        limits = self.coordinates.widest if self.coordinates.bounded else None
        guard = Guard(optimiser, self.coordinates.penalised, self.safeguard, limits)
        run = Run(guard, n, sigma)
        tolerance = Tolerance(self.xtol, self.ftol)
        budget = self._left()
        if budget < n:  # nothing is set aside; for less than a batch ``iterate`` raises
            budget += CONFIRMING
        for batch in iterate(guard, self.objective, u0, rng, budget, self.target):
            if not run.nit:
                self.runs.append(run)
            run.nfev, run.nit, run.fun = batch.evaluations, batch.iteration, batch.best
            status, detail = batch.ended or (tolerance(self.objective.x, batch.values), "")
            if self._stopped(batch):
                status, detail = status or "callback", detail
            if status:
                run.status, run.detail = str(status), detail
                break
        return run

    def _stopped(self, batch: Batch) -> bool:
        """Show the batch to the user's callback, in the user's coordinates and over all runs.

        It may change what it is shown, as ``fun`` its argument: nothing of it is used again.
        """
        if self.callback is None:
            return False
        shown = replace(
            batch,
            state=_copied(batch.state),
            x=self.objective.x,
            iteration=sum(run.nit for run in self.runs),
            evaluations=self.objective.evaluations,
            best=self.objective.best,
        )
        try:
            return bool(self.callback(shown))
        except StopIteration:
            return True


def _copied(state: Any) -> Any:
    """A state with arrays of its own; a library's object stays what it is."""
    arrays = {key: value for key, value in vars(state).items() if isinstance(value, np.ndarray)}
    return replace(state, **{key: array.copy() for key, array in arrays.items()})
