"""The benchmark measures what it says; its times are no test."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from experiments.timing import iteration


def test_growth_finds_the_exponent():
    dims = np.array([10.0, 100.0, 1000.0])
    table = pd.concat(
        pd.DataFrame({"dim": dims, "contender": name, "microseconds": 3 * dims**p})
        for name, p in (("a", 1.5), ("b", 2.0))
    )
    assert iteration.growth(table).to_dict() == pytest.approx({"a": 1.5, "b": 2.0})


def test_a_row_per_dimension_and_contender(monkeypatch):
    monkeypatch.setattr(iteration, "SECONDS", 0.001)
    monkeypatch.setattr(iteration, "ROUNDS", 2)
    table = iteration.measure([6, 8])
    assert len(table) == 2 * 5
    assert (table["microseconds"] > 0).all()
    assert (table.loc[table["contender"] == "INGO", "ratio"] == 1.0).all()
    assert "| 6 |" in iteration.markdown(table)


def test_a_ratio_is_the_contenders_time_over_ingos(monkeypatch):
    """INGO takes 2 s an iteration, the k-th contender after it 2 + k s."""
    order = iter(range(10**6))
    monkeypatch.setattr(iteration, "ROUNDS", 3)
    monkeypatch.setattr(iteration, "seconds_per_iteration", lambda run: 2.0 + next(order) % 5)
    table = iteration.measure([6, 8])
    assert table["contender"].iloc[0] == "INGO"
    assert table["ratio"].to_list() == [1.0, 1.5, 2.0, 2.5, 3.0] * 2
    assert table["microseconds"].to_list() == [2e6, 3e6, 4e6, 5e6, 6e6] * 2
    assert "| 6 | 2000000 | 1.5 (1.5 to 1.5) |" in iteration.markdown(table)


def test_one_iteration_is_timed_however_late_the_clock_is(monkeypatch):
    """The clock of a process may jump over the whole time between two looks at it."""
    clock = iter([0.0, 0.5, 1.0])
    monkeypatch.setattr(iteration.time, "process_time", lambda: next(clock))
    monkeypatch.setattr(iteration, "SECONDS", 0.3)
    assert iteration.seconds_per_iteration(iter([None])) == 0.5


def test_the_textbook_contender_is_ingo():
    """The same first batch from the same normals; then their roots of Σ differ by a rotation, so
    that points differ and their law does not: both descend alike.
    """
    seen = {}
    for name, make in (
        ("ours", lambda *a: iteration.ours("ingo", *a)),
        ("book", iteration.textbook),
    ):
        batches = seen[name] = []

        def f(x, batches=batches):
            batches.append(x.mean(axis=0))
            return (x * x) @ np.arange(1.0, 31.0)

        run = make(30, f, np.random.default_rng(0))
        for _ in range(800):
            next(run)
    assert np.allclose(seen["ours"][0], seen["book"][0], rtol=1e-12)
    first, ours, book = (
        np.linalg.norm(v) for v in (seen["ours"][0], seen["ours"][-1], seen["book"][-1])
    )
    assert ours < first / 3
    assert book == pytest.approx(ours, rel=0.5)
