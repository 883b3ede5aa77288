"""Independent references: pycma's own run, and the numbers that trials of others reached."""

from __future__ import annotations

from dataclasses import replace

import cma
import numpy as np
import pytest

import algorithms
import problems
from algorithms.shared.interface import Stop
from experiments.runs import simulate
from experiments.runs.seeds import stream
from experiments.runs.spec import Spec


def evaluations(problem, algorithm, seed, budget=1_800_000):
    """Evaluations to 1e-10 at d = 100 with the settings of Figure 1; None if it is not reached."""
    rows, metadata = simulate.run(Spec(problem, algorithm, budget, 1e-10, {"dim": 100}), seed)
    return rows.rows["evaluations"][-1] if metadata["stop"] == "target" else None


# Median evaluations that earlier trials with another implementation needed.
REFERENCE = {"ellipsoid": 54_000, "l1_ellipsoid": 115_000, "discus": 43_000, "levy": 41_000}


@pytest.mark.parametrize("problem", REFERENCE)
def test_fast_ingo_needs_the_reference_evaluations(problem):
    """Five seeds; their spread is below 2 %, the reference is good to 3 %, 10 % are allowed."""
    found = [evaluations(problem, "fast_ingo", seed) for seed in range(5)]
    assert None not in found
    assert np.median(found) == pytest.approx(REFERENCE[problem], rel=0.10)


@pytest.mark.slow
def test_ingo_reaches_the_target_on_the_ellipsoid_where_igo_does_not():
    """The paper's point, at its size: 0.70 million evaluations for INGO, never for IGO."""
    assert evaluations("ellipsoid", "ingo", 0, 900_000) == pytest.approx(700_000, rel=0.10)
    assert evaluations("ellipsoid", "igo", 0, 900_000) is None


@pytest.mark.parametrize(
    ("active", "diagonal", "adapt"),
    [(False, False, True), (True, False, True), (False, True, True), (False, False, False)],
)
def test_cma_es_is_pycmas_own_run(active, diagonal, adapt):
    """pycma in its own loop, fed the same normals, visits the same points bit for bit."""
    problem = problems.build("ellipsoid", {"dim": 10})
    spec = Spec(
        "ellipsoid",
        "cma_es",
        3000,
        1e-10,
        {"dim": 10},
        {"active": active, "diagonal": diagonal, "adapt_covariance": adapt},
    )
    seen = []
    simulate.run(spec, 0, lambda batch: seen.append(batch.x))
    noise = stream(0, "search", "ellipsoid", "cma_es", 0)
    es = cma.CMAEvolutionStrategy(
        problem.start(stream(0, "start", "ellipsoid", 0)),
        0.5,
        {
            "popsize": 12,
            "CMA_active": active,
            "CMA_diagonal": diagonal,
            "CMA_on": float(adapt),
            "randn": lambda *shape: noise.standard_normal(shape),
            "seed": np.nan,
            "verbose": -9,
        },
    )
    for x in seen:
        points = es.ask()
        assert np.array_equal(x, points)
        es.tell(points, [problem.evaluate(p[None, :])[0] for p in points])
    assert len(seen) == 250


@pytest.mark.parametrize("diagonal", [False, True])
def test_the_spread_of_cma_es_is_that_of_its_points(diagonal):
    """On Discus, whose axes it learns apart by far; 20,000 points, 5 % of each scale."""
    spec = Spec("discus", "cma_es", 12_000, 1e-10, {"dim": 6}, {"diagonal": diagonal})
    seen = []
    simulate.run(spec, 0, seen.append)
    state = seen[-1].state
    # the object has been told its last batch, so it is asked anew what it has become
    state = type(state).of(state.library, state.noise)
    x = np.array(state.library.ask(20_000)) - state.mean
    scales = np.sqrt(np.linalg.eigvalsh(x.T @ x / len(x)))
    assert np.sort(state.scales) == pytest.approx(scales, rel=0.05)
    assert state.spread().condition > 1e3
    assert state.spread().condition == pytest.approx((scales[-1] / scales[0]) ** 2, rel=0.2)


def test_without_its_covariance_cma_es_adapts_sigma_alone():
    """CSA-ES closes in on the sphere at a constant rate and keeps the axes as they began, which
    pycma sets apart by 1e-4; on Discus, where the covariance is what matters, it lags far behind.
    """
    spec = Spec("ellipsoid", "cma_es", 20_000, 1e-10, {"dim": 6}, {"adapt_covariance": False})
    found = {}
    for condition in (1.0, 1e6):
        seen = []
        parameters = {"dim": 6, "condition": condition}
        run = replace(spec, problem_parameters=parameters)
        simulate.run(run, 0, seen.append)
        spread = seen[-1].state.spread()
        assert spread.condition == pytest.approx(1, abs=2e-4)
        found[condition] = (seen[-1].evaluations, spread.sigma)
    assert found[1.0][0] < 2500
    assert found[1.0][1] < 1e-5
    assert found[1e6][0] == 20_000 - 20_000 % 10


def test_the_faithful_cma_es_has_no_negative_weights():
    spec = Spec("ellipsoid", "cma_es", 120, 1e-10, {"dim": 10})
    seen = []
    simulate.run(spec, 0, seen.append)
    weights = seen[-1].state.library.sp.weights
    assert len(weights.positive_weights) == 6  # the better half of N = 12
    assert not any(w < 0 for w in weights)


def test_cma_es_at_rest_has_nothing_left_to_gain():
    """Run on beyond the stop, CMA-ES on Levy gains no more than rounding."""
    best = {}
    for patience in (500, 0):
        spec = Spec("levy", "cma_es", 40_000, 1e-10, {"dim": 20}, {"patience": patience})
        rows, metadata = simulate.run(spec, 1)
        best[patience] = rows.rows["best"][-1]
        assert metadata["stop"] == ("stagnated" if patience else "budget")
        assert metadata["stop_detail"] == ("at rest" if patience else "")
    assert best[500] > 1e-3
    assert best[0] == pytest.approx(best[500], rel=1e-14, abs=0)


def test_batches_at_rest_count_in_a_row():
    """One with a signal begins the count anew, and one whose values differ by more than rounding of
    a sum of d terms is one.
    """
    cma_es = algorithms.build("cma_es", {"samples": 6, "patience": 3})
    rng = np.random.default_rng(0)
    state = cma_es.init(np.zeros(4), rng)
    rest, signal = np.full(6, 8.0), np.arange(6.0)
    rounding = 8.0 + 8.0 * np.array([0, 1, 2, 3, 4, 0]) * 2.0**-52
    more = 8.0 + 8.0 * np.array([0, 1, 2, 3, 5, 0]) * 2.0**-52
    counts = []
    for values in (rest, rounding, signal, rounding, rest, more, rest, rest, rest):
        assert state.ended is None
        state = cma_es.tell(state, cma_es.ask(state, rng), values)
        counts.append(state.at_rest)
    assert counts == [1, 2, 0, 1, 2, 0, 1, 2, 3]
    assert state.ended == (Stop.STAGNATED, "at rest")


def test_cma_es_closing_in_on_a_minimum_of_zero_is_never_at_rest():
    spec = Spec("ellipsoid", "cma_es", 30_000, 1e-200, {"dim": 5}, {"patience": 1})
    rows, metadata = simulate.run(spec, 0)
    assert metadata["stop"] == "target", metadata
    assert rows.rows["best"][-1] <= 1e-200
