"""The loop: when a run ends, and why."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from algorithms.shared.interface import Ending, Samples, Spread, Stop
from algorithms.shared.loop import iterate


@dataclass(frozen=True)
class Fixed:
    """A state that never changes."""

    mean: np.ndarray
    told: int = 0
    ended: Ending | None = None

    def spread(self):
        return Spread(1.0, 1.0)


@dataclass(frozen=True)
class Script:
    """An optimiser of three points a batch that ends itself after ``patience`` batches."""

    patience: int = 10**9

    def batch_size(self, dim):
        return 3

    def init(self, mean, rng):
        return Fixed(mean)

    def ask(self, state, rng):
        return Samples(np.arange(3.0)[:, None] + state.told * 3)

    def tell(self, state, samples, values):
        told = state.told + 1
        ended = Ending(Stop.FLAT) if told == self.patience else None
        return Fixed(state.mean, told, ended)


def run(fun, budget=30, target=-np.inf, patience=10**9):
    rng = np.random.default_rng(0)
    return list(iterate(Script(patience), fun, np.zeros(1), rng, budget, target))


def test_the_budget_is_never_exceeded():
    batches = run(lambda x: x[:, 0], budget=10)
    assert [b.evaluations for b in batches] == [3, 6, 9]
    assert [b.ended and b.ended.reason for b in batches] == [None, None, Stop.BUDGET]
    assert len(run(lambda x: x[:, 0], budget=9)) == 3


def test_an_infinite_value_is_no_success_and_not_the_best():
    """Not even where there is no target, which is −∞."""
    values = iter([[-np.inf, 2.0, 3.0], [5.0, 1.0, np.inf], [np.nan, -np.inf, 4.0]])
    batches = run(lambda x: np.array(next(values)), budget=9)
    assert [b.ended and b.ended.reason for b in batches] == [None, None, Stop.BUDGET]
    assert [b.best for b in batches] == [np.inf, 1.0, 1.0]
    assert [b.minimum for b in batches] == [-np.inf, 1.0, -np.inf]


def test_the_target_ends_the_run_at_once_and_untold():
    batches = run(lambda x: 7 - x[:, 0], target=1.0)
    assert batches[-1].minimum == -1.0  # points 6, 7, 8: the batch that crosses
    assert batches[-1].ended == Ending(Stop.TARGET)
    assert batches[-1].state.told == 2
    assert batches[-1].told is batches[-1].state  # what a run with another target goes on from
    assert [b.told.told for b in batches[:-1]] == [1, 2]


def test_a_value_equal_to_the_target_reaches_it():
    assert run(lambda x: 7 - x[:, 0], target=5.0)[-1].iteration == 1


def test_the_optimisers_own_reason_comes_before_the_budget():
    batches = run(lambda x: x[:, 0], budget=9, patience=3)
    assert batches[-1].ended == Ending(Stop.FLAT)


def test_best_so_far_ignores_nan():
    values = iter([[5.0, np.nan, 6.0], [np.nan] * 3, [7.0, 4.0, np.nan]])
    batches = run(lambda x: np.array(next(values)), budget=9)
    assert [b.best for b in batches] == [5.0, 5.0, 4.0]
    assert batches[0].minimum == 5.0
    assert np.isnan(batches[1].minimum)


def test_a_budget_below_one_batch_is_named():
    evaluated = []
    with pytest.raises(ValueError, match="budget is 2; one batch takes 3 evaluations"):
        run(evaluated.append, budget=2)
    assert evaluated == []


def test_a_function_of_the_wrong_shape_is_named():
    with pytest.raises(ValueError, match=r"evaluate returned shape \(3, 1\) for 3 points"):
        run(lambda x: x)
