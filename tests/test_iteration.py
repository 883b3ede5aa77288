"""The benchmark measures what it says; its times are no test."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import linalg, stats

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
    assert len(table) == 2 * 6
    assert (table["microseconds"] > 0).all()
    assert (table.loc[table["contender"] == "INGO", "ratio"] == 1.0).all()
    assert "| 6 |" in iteration.markdown(table)


def test_a_ratio_is_the_contenders_time_over_ingos(monkeypatch):
    """INGO takes 2 s an iteration, the k-th contender after it 2 + k s."""
    order = iter(range(10**6))
    monkeypatch.setattr(iteration, "ROUNDS", 3)
    monkeypatch.setattr(iteration, "seconds_per_iteration", lambda run: 2.0 + next(order) % 6)
    table = iteration.measure([6, 8])
    assert table["contender"].iloc[0] == "INGO"
    assert table["ratio"].to_list() == [1.0, 1.5, 2.0, 2.5, 3.0, 3.5] * 2
    assert table["microseconds"].to_list() == [2e6, 3e6, 4e6, 5e6, 6e6, 7e6] * 2
    assert "| 6 | 2000000 | 1.5 (1.5 to 1.5) |" in iteration.markdown(table)


def test_a_contender_starts_again_before_its_numbers_run_out(monkeypatch):
    """On a fast machine a round at d = 10 is so long that Σ of a single run came to 0."""
    monkeypatch.setattr(iteration, "LONGEST", 3)
    started = []

    def run(rng):
        started.append(rng.random())
        yield from iter(range(10))

    assert [next(found) for found in [iteration.endless(run)] for _ in range(7)] == [
        0,
        1,
        2,
        0,
        1,
        2,
        0,
    ]
    assert len(started) == 3
    assert len(set(started)) == 1
    monkeypatch.undo()
    book = iteration.contenders(10)["textbook"]
    for _ in range(30_000):  # 60 times as many as to 1e-10
        next(book)


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
    assert np.allclose(seen["ours"][0], seen["book"][0], rtol=1e-12, atol=0)
    first, ours, book = (
        np.linalg.norm(v) for v in (seen["ours"][0], seen["ours"][-1], seen["book"][-1])
    )
    assert ours < first / 3
    assert book == pytest.approx(ours, rel=0.5)


def test_the_fisher_matrix_is_estimated_where_it_has_few_entries_only(monkeypatch):
    monkeypatch.setattr(iteration, "SECONDS", 0.001)
    monkeypatch.setattr(iteration, "ROUNDS", 1)
    table = iteration.measure([10, 31])
    own = table[table["contender"] == "Monte-Carlo Fisher"]
    assert list(own["dim"]) == [10]
    text = iteration.markdown(table)
    assert "nan" not in text
    assert text.splitlines()[5].endswith(" | – |")
    assert "Monte-Carlo Fisher" not in iteration.growth(table)  # one dimension has no slope


def test_the_scores_are_derivatives_of_the_log_density():
    """Of log N(x; μ + Bm, B exp(M) Bᵀ) at x = μ + Bz, numerically; μ = 0 and B = I will do."""
    rng = np.random.default_rng(1)
    d, h = 3, 1e-5
    z = rng.standard_normal((4, d))
    lower = np.tril_indices(d)

    def log_density(theta):
        M = np.zeros((d, d))
        M[lower] = M.T[lower] = theta[d:]
        mean, covariance = theta[:d], linalg.expm(M)
        return stats.multivariate_normal(mean, covariance).logpdf(z)

    steps = h * np.eye(d * (d + 3) // 2)
    numerical = np.array([log_density(s) - log_density(-s) for s in steps]).T / (2 * h)
    assert np.allclose(iteration.scores(z), numerical, atol=1e-8)


def test_an_estimated_fisher_matrix_has_an_error_that_falls_as_one_over_root_m():
    """Against the closed form: 1 for the mean and off the diagonal, ½ on it."""
    d = 3
    i, j = np.tril_indices(d)
    exact = np.concatenate([np.ones(d), np.where(i == j, 0.5, 1.0)])
    gradient = np.random.default_rng(2).standard_normal(exact.size)

    def error(m):
        found = [
            iteration.fisher_step(
                iteration.scores(np.random.default_rng(seed).standard_normal((m, d))), gradient
            )
            for seed in range(40)
        ]
        return np.sqrt(np.mean([(s - gradient / exact) ** 2 for s in found]))

    coarse, fine = error(400), error(40_000)
    assert coarse > 0.02
    assert coarse / fine == pytest.approx(10, rel=0.35)


def test_with_fewer_draws_than_parameters_the_fisher_matrix_is_singular():
    drawn = iteration.scores(np.random.default_rng(3).standard_normal((8, 3)))  # p = 9
    assert np.linalg.matrix_rank(drawn.T @ drawn) == 8


@pytest.mark.parametrize(("draws", "descends"), [(20, True), (2, False)])
def test_the_contender_with_an_estimated_fisher_matrix_needs_many_draws(
    monkeypatch, draws, descends
):
    monkeypatch.setattr(iteration, "DRAWS", draws)
    seen = []

    def f(x):
        seen.append(np.linalg.norm(x.mean(axis=0)))
        return (x * x) @ np.arange(1.0, 6.0)

    run = iteration.monte_carlo_fisher(5, f, np.random.default_rng(0))
    for _ in range(250):
        next(run)
    ratio = np.mean(seen[-20:]) / np.mean(seen[:20])
    assert ratio < 1e-3 if descends else ratio > 10
