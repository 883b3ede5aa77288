"""What ``minimize`` does: one run or several, and what came of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .coordinates import Coordinates
from .guard import Guard
from .interface import Array, Ending, Stop
from .loop import Batch, iterate
from .objective import Objective
from .restarts import Restarts
from .stopping import CONVERGED, Seen, Tolerance, message

CONFIRMING = 2  # evaluations set aside for ``Search.confirm``


@dataclass
class Run:
    """One run of the optimiser, and how far it has come."""

    guard: Guard
    sigma: float  # standard deviation at the start, in units of sigma0
    samples: int = 0
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
        self.begun: list[Run] = []  # with those that the budget allows no batch
        self.confirmed: tuple[float, float] | None = None  # f at the best point, again, and at mean

    def search(self, restarts: int, rng: np.random.Generator) -> None:
        """The first run, and others as long as none has reached the target and budget is left."""
        u0 = self.coordinates.to_u(self.start)
        tolerance = Tolerance(self.xtol, self.ftol, stagnation=restarts > 0)

        def tolerances(u: Array, values: Array, seen: Seen) -> tuple[str | None, Seen]:
            known = values[~np.isnan(values)]
            worst = known.max() if known.size else np.nan  # as what NaN stands for counts
            met, seen = tolerance(self.objective.x, np.where(np.isnan(values), worst, values), seen)
            last = len(self.begun) > restarts  # which goes on as long as it can
            return (None if met == Stop.STAGNATED and last else met), seen

        algorithm = Restarts(
            self._begin,
            start=lambda u, rng: u + self.coordinates.std * rng.standard_normal(u.size),
            tolerances=tolerances,
            kinds="bipop",
            limit=restarts,
        )
        budget = self.budget - CONFIRMING
        if budget < algorithm.batch_size(u0.size):  # nothing is set aside
            budget += CONFIRMING
        for batch in iterate(algorithm, self.objective, u0, rng, budget, self.target):
            run = self.begun[batch.state.run]
            if not run.nit:
                run.samples = len(batch.values)
                self.runs.append(run)
            run.nit += 1
            run.nfev += len(batch.values)
            if -np.inf < batch.minimum < run.fun:
                run.fun = batch.minimum
            # Where no budget is left for another run, the search ends as the last one did.
            next_begins = batch.told.run != batch.state.run
            if next_begins:
                run.status, run.detail = batch.told.over, batch.told.over_detail
            elif batch.ended:
                run.status, run.detail = str(batch.ended.reason), batch.ended.detail
            if self._stopped(batch, run):
                if next_begins or not run.status:
                    run.status, run.detail = "callback", ""
                return

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

    def _begin(self, samples: int | None, sigma: float) -> Guard:
        """The optimiser of another run."""
        changed = {} if samples is None else {"samples": samples}
        optimiser = replace(self.optimiser, initial_std=sigma * self.coordinates.std, **changed)
        limits = self.coordinates.widest if self.coordinates.bounded else None
        guard = Guard(optimiser, self.coordinates.penalised, self.safeguard, limits)
        self.begun.append(Run(guard, sigma))
        return guard

    def _stopped(self, batch: Batch, run: Run) -> bool:
        """Show the batch to the user's callback, in the user's coordinates and over all runs, with
        the end of its own run.

        It may change what it is shown, as ``fun`` its argument: nothing of it is used again.
        """
        if self.callback is None:
            return False
        shown = replace(
            batch,
            state=_copied(batch.state.inner),
            x=self.objective.x,
            evaluations=self.objective.evaluations,
            best=self.objective.best,
            ended=Ending(Stop(run.status), run.detail) if run.status else None,
            told=_copied(run.guard.state),
        )
        try:
            return bool(self.callback(shown))
        except StopIteration:
            return True


def _copied(state: Any) -> Any:
    """A state with arrays of its own; a library's object stays what it is."""
    arrays = {key: value for key, value in vars(state).items() if isinstance(value, np.ndarray)}
    return replace(state, **{key: array.copy() for key, array in arrays.items()})
