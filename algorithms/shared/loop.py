"""The one loop of the project: ask, evaluate, tell, until there is a reason to stop."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .interface import Algorithm, Array, Ending, Stop


class Position(NamedTuple):
    """Where a run is between two batches: all that it needs to go on, but for random streams."""

    state: Any  # the distribution that the next batch is drawn from
    iteration: int = 0
    evaluations: int = 0
    best: float = np.inf


@dataclass
class Batch:
    """What one iteration saw."""

    iteration: int  # from 1
    evaluations: int  # so far, this batch included
    state: Any  # the distribution that the batch was drawn from
    x: Array  # (N, d)
    values: Array  # (N,)
    minimum: float  # of the batch, NaN ignored
    best: float  # so far
    ended: Ending | None  # why this is the last batch, if it is
    told: Any = None  # the distribution after it; of a batch at the target, the same as before

    @property
    def position(self) -> Position:
        """Where the run is after this batch."""
        return Position(self.told, self.iteration, self.evaluations, self.best)


def iterate(
    algorithm: Algorithm,
    evaluate: Callable[[Array], Array],
    mean: Array,
    rng: np.random.Generator,
    budget: int,
    target: float = -np.inf,
    at: Position | None = None,
) -> Iterator[Batch]:
    """Run ``algorithm`` and yield every batch; the last one says why it is the last.

    The run ends as ``target`` when the minimum of a batch is ≤ ``target``, as ``budget`` when
    another batch would take more than ``budget`` evaluations, or for the reason that the algorithm
    gives. An infinite value is neither a target reached nor the best so far. Run it under
    ``quiet()``, where numbers that go bad do not warn.

    A run goes on from ``at``, where an earlier one was stopped; all streams must be where they were
    then. It starts with ``algorithm.init`` if there is none.

    Raises:
        ValueError: the budget does not pay for one batch, or ``evaluate`` returns another shape
            than (N,).
    """
    state, iteration, evaluations, best = at or Position(algorithm.init(mean, rng))
    while True:
        samples = algorithm.ask(state, rng)
        n = len(samples.x)
        if evaluations + n > budget:  # of the first batch; later ones are known to fit
            raise ValueError(f"budget is {budget}; one batch takes {n} evaluations")
        values = evaluate(samples.x)
        if values.shape != (n,):
            raise ValueError(f"evaluate returned shape {values.shape} for {n} points")
        iteration += 1
        evaluations += n
        minimum = float(np.fmin.reduce(values))
        if -np.inf < minimum < best:
            best = minimum
        if -np.inf < minimum <= target:
            told, ended = state, Ending(Stop.TARGET)
        else:
            told = algorithm.tell(state, samples, values)
            ended = told.ended
            if ended is None and evaluations + getattr(told, "batch_size", n) > budget:
                ended = Ending(Stop.BUDGET)
        yield Batch(iteration, evaluations, state, samples.x, values, minimum, best, ended, told)
        if ended:
            return
        state = told


def quiet() -> np.errstate:
    """The floating-point settings to iterate under: an overflow is a value, not a warning.

    Around the loop, and not in it, because a generator would leave them to its caller.
    """
    return np.errstate(all="ignore")
