"""The optimisers' own time on control: what is timed, and how it is told."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.timing import updates


def test_an_iteration_is_ask_and_tell_and_no_value(monkeypatch):
    """By a clock that stands still: iterations are counted, and all methods take part."""
    clock = iter(range(100))
    monkeypatch.setattr(updates.time, "process_time", lambda: float(next(clock)))
    for name, parameters in updates.METHODS.values():
        assert updates.own_seconds(name, parameters, 12, 6) == 1 / updates.ITERATIONS


@pytest.fixture
def table(monkeypatch):
    took = {"fast_ingo": 1.0, "es": 2.0, "asebo": 4.0, "cma_es": 8.0}

    def own(name, parameters, dim, samples):
        assert (dim, samples) == (178, 48)  # the paper's, of Swimmer
        return took[name] * (1 if parameters.get("diagonal") else 2)

    def rolled(task, x):
        assert task == "Swimmer"
        assert np.std(x) == pytest.approx(0.1, rel=0.05)
        return 4.0

    monkeypatch.setattr(updates, "own_seconds", own)
    monkeypatch.setattr(updates, "roll_out_seconds", rolled)
    return updates.measure(["Swimmer"])


def test_the_ratio_is_over_the_roll_outs_of_the_same_batch(table):
    ratios = dict(zip(table["method"], table["ratio"], strict=True))
    assert ratios == {"Fast-INGO": 0.5, "ES": 1.0, "ASEBO": 2.0, "sep-CMA-ES": 2.0, "CMA-ES": 4.0}
    assert updates.markdown(table).splitlines()[-1] == (
        "| Swimmer | 178 | 48 | 4 | 0.5 | 1 | 2 | 2 | 4 |"
    )


def test_roll_outs_are_those_of_the_task():
    x = np.zeros((2, 209))
    assert updates.roll_out_seconds("InvertedDoublePendulum", x) > 0.0
