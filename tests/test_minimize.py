"""``minimize``: its rules in closed form, what they leave alone, and bad functions."""

from __future__ import annotations

import itertools
import os
import pickle
import signal
import subprocess
import sys
from dataclasses import replace
from importlib.util import find_spec
from inspect import Parameter, signature
from multiprocessing.pool import ThreadPool
from pathlib import Path

import low_dimension
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import Bounds

import algorithms
from algorithms import minimize
from algorithms.shared import guard
from algorithms.shared.coordinates import Coordinates, read_bounds
from algorithms.shared.gaussian import DiagonalGaussian, Gaussian
from algorithms.shared.guard import Guard, finite
from algorithms.shared.interface import Ending, Samples, Stop
from algorithms.shared.loop import iterate, quiet
from algorithms.shared.stopping import MESSAGES, Seen, Tolerance

ROOT = Path(__file__).parents[1]
NAMES = [
    name
    for name in algorithms.available()
    if algorithms.load(name).space == "real" and (name != "cma_es" or find_spec("cma"))
]
LEARNERS = [n for n in NAMES if n not in ("es", "asebo", "framework", "reinforce_gd")]


def sphere(x):
    return float(np.sum((x - 0.3) ** 2))


def rosenbrock(x):
    return float(np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2))


def same(a, b):
    """Two results of the same search."""
    keys = ("x", "mean", "recommended", "fun", "nfev", "nit", "status", "runs")
    return all(np.array_equal(a[key], b[key]) for key in keys)


# Rules in closed form


def test_values_that_are_none_become_a_tenth_of_the_range_worse_than_the_worst():
    values = np.array([1.0, np.nan, 3.0, np.inf, -np.inf, 1e101, -1e101])
    assert finite(values).tolist() == [1.0, 3.2, 3.0, 3.2, 3.2, 3.2, 3.2]
    assert finite(np.array([-5.0, np.nan, -5.0])).tolist() == [-5.0, 0.0, -5.0]
    assert finite(np.array([0.1, np.nan])).tolist() == [0.1, 1.1]
    as_they_are = np.array([1.0, -1e99, 4.0])
    assert finite(as_they_are) is as_they_are
    assert np.isnan(finite(np.array([np.nan, np.nan]))).all()


def box(lower, upper, sigma0=1.0, method="transform", x0=None):
    bounds = list(zip(np.atleast_1d(lower), np.atleast_1d(upper), strict=True))
    start = np.array([np.clip(0.5, low + 1e-6, high - 1e-6) for low, high in bounds])
    return Coordinates.of(start if x0 is None else np.atleast_1d(x0), sigma0, bounds, method)


def test_the_box_in_numbers():
    """[0, 4] with σ₀ = 1: a = 1; T is (v + 1)²/4 up to 1, v up to 3, 4 − (5 − v)²/4 above."""
    fold = box(0.0, 4.0)
    v = np.array([-3.0, -1.0, 0.0, 1.0, 2.5, 3.0, 4.0, 5.0, 6.0, 11.0, 12.0])
    #             fold  bound                               fold  back  a period on
    expected = [1.0, 0.0, 0.25, 1.0, 2.5, 3.0, 3.75, 4.0, 3.75, 0.0, 0.25]
    assert fold.to_x(v[:, None])[:, 0] == pytest.approx(expected, abs=1e-12)
    # a = (h − l)/4 where σ₀ is larger; one bound only
    assert box(0.0, 4.0, 9.0).to_x(np.array([0.0])) == pytest.approx([0.25])
    below = box(0.0, np.inf)
    assert below.to_x(np.array([[-3.0], [0.0], [7.0], [1e9]]))[:, 0].tolist() == [1, 0.25, 7, 1e9]
    above = box(-np.inf, 0.0, x0=-1.0)
    assert above.to_x(np.array([[3.0], [0.0], [-7.0]]))[:, 0].tolist() == [-1, -0.25, -7]


def test_the_penalty_in_numbers():
    """p = range/10 · Σ_j (distance_j / s_j)²."""
    coordinates = box([0.0, 0.0], [1.0, np.inf], method="penalty")
    u = np.array([[2.0, 1.0], [0.0, -3.0], [0.5, 0.5]])
    s = u.std(axis=0)
    values = np.array([4.0, 2.0, 3.0])
    expected = 0.2 * np.array([(1 / s[0]) ** 2, (3 / s[1]) ** 2, 0.0])
    assert coordinates.penalty(u, values) == pytest.approx(expected)
    assert coordinates.to_x(u).tolist() == [[1.0, 1.0], [0.0, 0.0], [0.5, 0.5]]


def told(tolerance, x, batches):
    """What a tolerance says of each of these batches of values."""
    seen, answers = Seen(), []
    for values in batches:
        met, seen = tolerance(x, np.array(values), seen)
        answers.append(met)
    return answers


def test_tolerances_in_numbers():
    x = np.array([[0.0, 1.0], [0.1, 3.0]])
    assert told(Tolerance(np.array([0.1, 2.0]), 0.0), x, [[1.0, 2.0]]) == ["xtol"]
    assert told(Tolerance(np.array([0.1, 1.9]), 0.0), x, [[1.0, 2.0]]) == [None]
    assert 10 + 30 * 2 // 2 == 40  # K, batches that are looked at
    batches = [[1.0, np.nan]] * 41 + [[1.0, 1.6]] + [[1.5, np.nan]]
    answers = told(Tolerance(np.array([0.0]), 0.5), x, batches)
    assert answers == [None] * 39 + ["ftol"] * 2 + [None] + ["ftol"]  # 0.6 apart, and again 0.5


def test_rounding_is_no_difference_of_values():
    asked = Tolerance(np.array([0.0]), 0.0)
    x = np.array([[0.0], [1.0]])
    small = 1e6 * np.array([1.0, 1.0 + 50 * 2.2e-16])
    answers = told(asked, x, [small] * 25 + [1e6 * np.array([1.0, 1.0 + 1e-12])])
    assert answers == [None] * 24 + ["ftol", None]  # K = 10 + 30/2


# Steps that are too long


def lost(optimiser, seed=0):
    """A state and a batch in one dimension that the whole step has no covariance for."""
    rng = np.random.default_rng(seed)
    state = optimiser.init(np.zeros(1), rng)
    z = np.array([[-2.0], [-0.1], [0.0], [0.1], [0.2], [2.0]])
    y = 0.5 * z
    return state, Samples(y, z, y), np.array([0.0, 2.0, 2.0, 2.0, 2.0, 0.0])


@pytest.mark.parametrize("name", ["ingo", "ingo_step", "fast_ingo"])
def test_a_step_that_is_too_long_is_halved_until_it_is_not(name):
    """By hand: h = ±1.09, ±0.77 …; 1 + β Σ h z²/6 < 0 until β is small enough."""
    optimiser = algorithms.build(name, {"step_size": 3.0})
    state, samples, values = lost(optimiser)
    h = (values - values.mean()) / values.std(ddof=1)
    growth = [1 + 3.0 / 2**k * np.mean(h * samples.z[:, 0] ** 2) for k in range(10)]
    first = next(k for k in range(10) if growth[k] > 0)
    assert first > 1  # one halving does not do
    assert optimiser.tell(state, samples, values).ended.reason == Stop.NOT_POSITIVE_DEFINITE
    guarded = Guard(optimiser)
    told = guarded.tell(state, samples, values)
    by_hand = replace(optimiser, step_size=3.0 / 2**first).tell(state, samples, values)
    assert told.ended is None
    assert np.array_equal(told.mean, by_hand.mean)
    assert told.spread() == by_hand.spread()
    assert told.spread().sigma == pytest.approx(0.5 / np.sqrt(growth[first]))
    assert guarded.halved == 1
    bare = Guard(optimiser, safeguard=False).tell(state, samples, values)
    assert bare.ended.reason == Stop.NOT_POSITIVE_DEFINITE


def test_igo_is_halved_too():
    optimiser = algorithms.build("igo", {"step_size": 3.0})
    state, samples, values = lost(optimiser)
    assert optimiser.tell(state, samples, -values).ended.reason == Stop.NOT_POSITIVE_DEFINITE
    assert Guard(optimiser).tell(state, samples, -values).ended is None


@pytest.mark.parametrize("method", ["ingo", "fast_ingo"])
def test_few_dimensions_break_the_papers_step_and_not_ours(method):
    """Of ten seeds Fast-INGO loses all without the safeguard, and INGO four to nine."""
    rows = low_dimension.low_dimension_study(
        (2,), ("rosenbrock",), (method,), ("paper", "halved when needed"), budget=6000
    )
    paper, ours = rows
    assert paper["lost"] >= 2
    assert ours["lost"] == 0
    assert ours["fun"] < paper["fun"]  # each run goes on where the paper's ends
    assert ours["halved"] < 0.1
    if method == "ingo":
        assert ours["reached"] >= 8


@pytest.mark.parametrize("method", ["ingo", "fast_ingo", "ingo_step"])
def test_one_dimension(method):
    found = [
        minimize(
            lambda x: (x[0] - 10.0) ** 2, 0.0, 0.5, method, target=1e-8, budget=6000, seed=seed
        )
        for seed in range(5)
    ]
    assert all(result.success for result in found)
    assert all(result.x.shape == (1,) for result in found)
    assert {result.runs[0]["samples"] for result in found} == {6}


def test_a_table_of_the_study():
    rows = low_dimension.low_dimension_study((1, 2), ("rosenbrock",), ("ingo",), runs=2, budget=60)
    lines = low_dimension.table(rows).splitlines()
    assert lines[0].count("|") == lines[-1].count("|") == 8
    assert lines[-1].startswith("| ingo | rosenbrock | 2 | 0/")


# What the rules leave alone


@pytest.mark.parametrize("name", NAMES)
def test_without_an_occasion_it_is_the_bare_optimisers_run(name):
    """Bit for bit: x, mean and evaluations, but for the two that confirm the result."""
    optimiser = algorithms.build(name, {"initial_std": 0.5})
    with quiet():
        batches = list(
            iterate(
                optimiser,
                lambda x: np.array([sphere(row) for row in x]),
                np.zeros(20),
                np.random.default_rng(3),
                598,
            )
        )
    seen = []
    result = minimize(
        sphere, np.zeros(20), 0.5, name, budget=600, seed=3,
        callback=lambda batch: seen.append(batch),
    )  # fmt: skip
    assert len(seen) == len(batches)
    for batch, bare in zip(seen, batches, strict=True):
        assert np.array_equal(batch.x, bare.x)
        assert np.array_equal(batch.values, bare.values)
        assert np.array_equal(batch.state.mean, bare.state.mean)
        assert (batch.iteration, batch.evaluations) == (bare.iteration, bare.evaluations)
        assert batch.best == bare.best
    assert result.nfev == batches[-1].evaluations + 2
    assert result.fun == batches[-1].best == sphere(result.x)
    assert result.halved == 0
    assert result.nonfinite == 0.0
    assert result.noise == 0.0


@pytest.mark.parametrize(
    ("changes", "x0"),
    [
        ({"vectorized": True}, np.zeros(4)),
        ({"workers": map}, np.zeros(4)),
        ({"workers": 1}, np.zeros(4)),
        ({"bounds": (-np.inf, None)}, np.zeros(4)),
        ({"bounds": Bounds(-1e9, 1e9)}, np.zeros(4)),
        ({"bounds": [(-1e9, None)] * 4, "bounds_method": "penalty"}, np.zeros(4)),
        ({"sigma0": [0.5] * 4}, np.zeros(4)),
        ({"sigma0": np.float32(0.5)}, [0, 0, 0, 0]),
        ({"step_size": np.float64(0.25), "samples": np.int64(10)}, (0.0, 0, 0, 0)),
        ({"budget": 2e3}, np.zeros(4, dtype=np.float32)),
        ({"seed": np.random.default_rng(1)}, np.zeros(4)),
        ({"nan": "raise", "safeguard": False, "restarts": 0}, np.zeros(4)),
    ],
)
def test_other_ways_to_say_the_same(changes, x0):
    asked = {"sigma0": 0.5, "budget": 2000, "seed": 1}
    reference = minimize(rosenbrock, np.zeros(4), **asked)
    assert reference.status == "budget"
    fun = rosenbrock
    if changes.get("vectorized"):
        fun = lambda x: np.array([rosenbrock(row) for row in x])  # noqa: E731
    assert same(minimize(fun, x0, **asked | changes), reference)


@pytest.mark.parametrize(
    "answer", [float, np.float32, np.float64, lambda v: np.array(v), lambda v: [v], int]
)
def test_values_of_any_kind_of_number(answer):
    result = minimize(lambda x: answer(16 * sphere(x)), np.zeros(3), 0.5, budget=100, seed=0)
    assert type(result.fun) is float
    assert result.fun == 16 * sphere(result.x) or answer in (np.float32, int)


@pytest.mark.parametrize("name", NAMES)
def test_sigma_per_coordinate_is_the_search_in_scaled_coordinates(name):
    """Powers of two: bit for bit."""
    scale = np.array([1.0, 0.25, 0.5, 0.125, 1.0, 0.5])
    x0 = np.linspace(-1, 1, 6)
    whole = minimize(lambda u: sphere(u * scale), x0 / scale, 2.0, name, budget=400, seed=0)
    scaled = minimize(sphere, x0, 2.0 * scale, name, budget=400, seed=0)
    assert np.array_equal(scaled.x, whole.x * scale)
    assert np.array_equal(scaled.mean, whole.mean * scale)
    assert scaled.fun == whole.fun


@pytest.mark.parametrize("bounds_method", ["transform", "penalty"])
@pytest.mark.parametrize("method", LEARNERS)
def test_scaling_f_changes_no_point(method, bounds_method):
    """2ᵏ f, with a region of NaN and bounds, bit for bit."""

    def fun(x, factor):
        return np.nan if x[0] > 0.3 else factor * rosenbrock(x)

    a, b = (
        minimize(
            fun, np.zeros(4), 0.5, method, args=(factor,), bounds=(-0.7, 1.3), budget=500, seed=0,
            bounds_method=bounds_method,
        )
        for factor in (1.0, 1024.0)
    )  # fmt: skip
    assert np.array_equal(a.x, b.x)
    assert 1024 * a.fun == b.fun
    assert 0 < a.nonfinite == b.nonfinite < 1


def test_the_seed_decides():
    runs = [minimize(rosenbrock, np.zeros(4), 0.3, budget=200, seed=seed) for seed in (1, 1, 2)]
    assert same(runs[0], runs[1])
    assert not np.array_equal(runs[0].x, runs[2].x)
    fresh = [minimize(rosenbrock, np.zeros(4), 0.3, budget=100) for _ in range(2)]
    assert not np.array_equal(fresh[0].x, fresh[1].x)


def test_without_a_seed_a_run_is_drawn_anew_and_is_none_of_a_small_seed():
    fresh = minimize(rosenbrock, np.zeros(4), 0.3, budget=60)
    for seed in (0, 1, 2020):
        assert fresh.fun != minimize(rosenbrock, np.zeros(4), 0.3, budget=60, seed=seed).fun


@pytest.mark.parametrize("name", NAMES)
def test_the_first_points_are_drawn_around_x0_as_wide_as_sigma0(name):
    """Of one seed the same points in units of sigma0, for every optimiser."""
    x0 = np.array([1.0, -2.0, 0.5])
    drawn = {}
    for sigma in (0.01, 0.5, 4.0):
        seen = []
        minimize(sphere, x0, sigma, name, seed=3, budget=42, samples=40, callback=seen.append)
        drawn[sigma] = (seen[0].x - x0) / sigma
    assert np.allclose(drawn[0.01], drawn[0.5], rtol=0, atol=1e-12)
    assert np.allclose(drawn[4.0], drawn[0.5], rtol=0, atol=1e-12)
    assert np.sqrt(np.mean(drawn[0.5] ** 2)) == pytest.approx(1.0, rel=0.35)  # of 120 normals


@pytest.mark.parametrize("name", NAMES)
def test_x_is_the_best_of_all_points_and_not_the_last(name):
    """Over ten batches of a function that is noise, nobody's last batch has the best point."""
    noise, points = np.random.default_rng(5), []

    def fun(x):
        points.append((noise.random(), x))
        return points[-1][0]

    result = minimize(fun, np.zeros(3), 0.5, name, seed=0, budget=82, samples=8)
    found = points[: 8 * result.nit]
    value, x = min(found, key=lambda point: point[0])
    assert value < min(value for value, _ in found[-8:])
    assert result.fun == value
    assert np.array_equal(result.x, x)


def test_numpys_warnings_stay_as_they_were_also_inside_the_function():
    before, inside = np.geterr(), []
    minimize(lambda x: inside.append(np.geterr()) or sphere(x), np.zeros(4), 0.3, budget=50)
    assert np.geterr() == before
    assert all(settings == before for settings in inside)


def spoil(x):
    """A sphere that leaves nothing of its argument, one point or a batch."""
    x -= 0.3
    x *= x
    value = np.sum(x, axis=-1)
    x[:] = np.nan
    return value


@pytest.mark.parametrize("method", NAMES)
@pytest.mark.parametrize("bounds_method", [None, "transform", "penalty"])
@pytest.mark.parametrize("vectorized", [False, True])
def test_the_function_may_change_its_argument(method, bounds_method, vectorized):
    kept = {"budget": 200, "seed": 0, "method": method, "vectorized": vectorized, "restarts": 1}
    if bounds_method:
        kept |= {"bounds": (-0.2, None), "bounds_method": bounds_method}
    result = minimize(spoil, np.zeros(4), 0.5, **kept)
    clean = minimize(lambda x: np.sum((x - 0.3) ** 2, axis=-1), np.zeros(4), 0.5, **kept)
    assert same(result, clean)
    assert spoil(result.x.copy()) == result.fun


def spoil_batch(batch):
    """A callback that leaves nothing of what it is shown."""
    batch.x[:] = np.nan
    batch.values[:] = np.nan
    for value in vars(batch.state).values():
        if isinstance(value, np.ndarray):
            value[:] = np.nan


@pytest.mark.parametrize("method", NAMES)
def test_the_callback_may_change_what_it_is_shown(method):
    """Also where a state is shown twice, since its batch said nothing and is drawn again."""

    def stairs(x):
        return np.floor(4 * np.abs(x[0]))

    for fun, target in ((sphere, -np.inf), (sphere, 0.1), (stairs, -np.inf)):
        kept = {"budget": 200, "seed": 0, "method": method, "target": target, "samples": 4}
        clean = minimize(fun, np.zeros(4), 0.2, **kept)
        result = minimize(fun, np.zeros(4), 0.2, callback=spoil_batch, **kept)
        assert same(result, clean)
        assert fun(result.x) == result.fun


# It finds minima, and says why it ends


@pytest.mark.parametrize("method", LEARNERS)
def test_a_minimum_is_found(method):
    kept = {"budget": 40_000, "target": 1e-6 if method == "igo" else 1e-8, "seed": 3}
    if method == "igo":  # it shrinks too early with the paper's step
        kept["step_size"] = 0.05
    result = minimize(sphere, np.zeros(5), 0.5, method, **kept)
    assert result.success
    assert result.status == "target"
    assert result.message == MESSAGES["target"]
    assert result.fun <= kept["target"]
    assert result.fun == sphere(result.x)
    assert np.allclose(result.x, 0.3, atol=1e-3)
    assert np.allclose(result.mean, 0.3, atol=1e-2)
    assert result.nfev < 40_000
    assert same(minimize(sphere, np.zeros(5), 0.5, method, **kept), result)


@pytest.mark.parametrize("method", ["ingo", "fast_ingo"])
@pytest.mark.parametrize(("shift", "status"), [(0.0, "xtol"), (1.0, "ftol"), (-300.0, "ftol")])
def test_it_stops_by_itself_where_there_is_nothing_to_gain(method, shift, status):
    """By x where the minimum is 0, since values shrink with their differences; by f elsewhere."""
    for dim in (1, 2, 8):
        result = minimize(lambda x: x @ x + shift, np.ones(dim), 0.5, method, seed=0)
        assert result.status == status
        assert result.success
        assert result.fun - shift < 1e-11
        assert result.nfev < 20_000


def test_tolerances_end_earlier():
    def asked(**tolerance):
        return minimize(sphere, np.zeros(5), 0.5, "fast_ingo", seed=0, **tolerance)

    by_x, by_f, neither = asked(xtol=1e-3), asked(ftol=1e-4), asked()
    assert (by_x.status, by_f.status) == ("xtol", "ftol")
    assert max(by_x.nfev, by_f.nfev) < 0.7 * neither.nfev
    assert by_x.success
    assert np.abs(by_x.x - 0.3).max() < 2e-2
    assert by_f.fun < 1e-3
    assert asked(xtol=[1e-3] * 5).nfev == by_x.nfev
    assert not asked(xtol=1e-3, target=-1.0).success  # a target was asked for


def test_without_xtol_each_coordinate_has_to_shrink_by_its_own_sigma0():
    """The narrow one is the last: in units of σ₀ f is a thousand times as steep along the other."""
    sigma0, seen = np.array([1.0, 1e-6]), []

    def asked(**more):
        return minimize(
            lambda x: np.sum((x / [1e-3, 1e-6]) ** 2), sigma0 / 2, sigma0, seed=0, **more
        )

    result = asked(callback=seen.append)
    assert result.status == "xtol"
    met = [(np.ptp(batch.x, axis=0) <= 1e-12 * sigma0).all() for batch in seen]
    assert met == [False] * (len(seen) - 1) + [True]
    assert same(asked(xtol=1e-12 * sigma0), result)


def test_the_budget_is_never_exceeded_and_two_confirm():
    for budget in (10, 11, 12, 13, 100, 101, 112):
        called = []
        result = minimize(
            lambda x, called=called: called.append(1) or rosenbrock(x),
            np.zeros(4),
            0.3,
            budget=budget,
            seed=0,
        )
        assert result.nfev == len(called) <= budget
        assert result.status == "budget"
        assert not result.success
        assert result.nfev % 10 == (0 if budget < 12 else 2)
        assert np.isnan(result.noise) == (budget < 12)


def test_the_settings_that_are_not_given():
    """All of them; and the default budget is spent, as far as whole batches go."""
    given = {name: p.default for name, p in signature(minimize).parameters.items()}
    assert given == {
        **dict.fromkeys(("fun", "x0", "sigma0", "parameters"), Parameter.empty),
        "method": "ingo",
        "args": (),
        "budget": 100_000,
        "target": -np.inf,
        "bounds": None,
        "bounds_method": "transform",
        "xtol": None,
        "ftol": 0.0,
        "seed": None,
        "nan": "worst",
        "restarts": 0,
        "safeguard": True,
        "vectorized": False,
        "workers": None,
        "callback": None,
    }
    result = minimize(lambda x: x[:, 0], [0.0], 1.0, "es", vectorized=True, samples=1000)
    assert (result.status, result.nfev, result.nit) == ("budget", 99_002, 99)


def test_the_callback_ends_the_search():
    def stop(batch):
        raise StopIteration

    seen = []
    for callback in (lambda batch: seen.append(batch) or len(seen) == 3, stop):
        result = minimize(rosenbrock, np.zeros(4), 0.3, seed=1, callback=callback)
        assert result.status == "callback"
        assert not result.success
        assert result.nit == (3 if callback is not stop else 1)
    assert seen[2].evaluations == 30


def test_every_end_has_a_message():
    assert {str(stop) for stop in Stop} <= set(MESSAGES)
    ended = minimize(rosenbrock, np.zeros(2), 0.5, "fast_ingo", seed=0, safeguard=False)
    assert ended.status == "not_positive_definite"
    for name in ("step_size", "samples", "safeguard=True"):
        assert name in ended.message


# Functions that have no value everywhere


@pytest.mark.parametrize("method", [name for name in NAMES if name != "reinforce_gd"])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e200, -1e308])
def test_values_that_are_none_end_no_run(method, bad):
    """Half of the space has none; the minimum is 0.3 from there. (ReinforceGD ends by itself.)"""

    def fun(x):
        return bad if x[0] < 0 else sphere(x)

    step = {"step_size": 0.05} if method == "es" else {}
    result = minimize(fun, np.full(3, 0.8), 0.2, method, budget=3000, seed=0, **step)
    assert result.nfev > 1000 or result.fun < 1e-12
    assert result.fun == sphere(result.x) < 0.05
    assert result.x[0] >= 0
    assert 0 <= result.nonfinite < 0.6
    assert np.isfinite(result.mean).all()


@pytest.mark.parametrize("method", ["ingo", "fast_ingo"])
def test_a_minimum_at_the_edge_of_nan_is_found(method):
    """Of 300 seeds, INGO found all and Fast-INGO 298: its mean had drifted into the NaN."""
    found = [
        minimize(
            lambda x: np.nan if x[0] < 0 else float(x @ x), np.ones(3), 0.5, method, target=1e-6,
            budget=20_000, seed=seed,
        )
        for seed in range(4)
    ]  # fmt: skip
    assert sum(result.success for result in found) >= 3
    assert all(0.01 < result.nonfinite < 0.7 for result in found)


def test_a_function_without_a_value_anywhere():
    result = minimize(lambda x: np.nan, np.ones(3), 0.5, seed=0)
    assert result.status == "diverged"
    assert "no finite value in 10 batches" in result.message
    assert result.nfev == 10 * result.runs[0]["samples"]
    assert result.nonfinite == 1.0
    assert result.fun == np.inf
    assert np.array_equal(result.x, np.ones(3))
    assert np.array_equal(result.recommended, np.ones(3))


def test_a_batch_without_a_value_is_drawn_again_from_the_same_distribution():
    calls, seen = [], []

    def fun(x):
        calls.append(1)
        return np.nan if len(calls) <= 9 * 8 else sphere(x)

    result = minimize(fun, np.ones(3), 0.5, budget=2000, target=1e-6, seed=0, callback=seen.append)
    assert result.success
    assert all(np.array_equal(batch.state.mean, np.ones(3)) for batch in seen[:10])
    assert not np.array_equal(seen[0].x, seen[1].x)
    assert np.isnan(seen[0].values).all()
    assert np.isnan(seen[0].minimum)


@pytest.mark.parametrize("safeguard", [True, False])
def test_a_flat_function(safeguard):
    result = minimize(lambda x: 0.1, np.ones(3), 0.5, seed=0, safeguard=safeguard)
    assert result.status == "flat"
    assert result.nit == (10 if safeguard else 1)
    assert not result.success


def test_a_plateau_is_left():
    """Rounded integers, 20 seeds: 9 to 15 arrive with batches drawn again, 2 to 7 without."""

    def steps(x):
        return np.sum((np.round(x) - 2) ** 2, axis=1)

    arrived = {
        safeguard: sum(
            minimize(
                steps, np.zeros(2), 0.3, "ingo", target=0.0, seed=seed, vectorized=True,
                safeguard=safeguard, budget=3000,
            ).success
            for seed in range(20)
        )
        for safeguard in (True, False)
    }  # fmt: skip
    assert arrived[True] >= arrived[False] + 3


def test_nan_can_raise_with_the_point():
    def fun(x):
        return np.nan if len(calls) == 12 else calls.append(x) or sphere(x)

    for vectorized in (False, True):
        calls = []
        asked = (lambda x: np.array([fun(row) for row in x])) if vectorized else fun
        with pytest.raises(ValueError, match=r"fun returned nan at x = \[") as caught:
            minimize(asked, np.ones(3), 0.5, seed=0, nan="raise", vectorized=vectorized)
        result = caught.value.result
        assert result.fun == min(map(sphere, calls))
        assert np.array_equal(result.x, min(calls, key=sphere))
        assert result.status == "exception"
        assert "best so far, after 12 evaluations" in caught.value.__notes__[0]


# Bounds

ENDS = st.one_of(st.none(), st.floats(-1e6, 1e6))


@given(low=ENDS, high=ENDS, sigma=st.floats(1e-3, 1e3), v=st.floats(-1e7, 1e7), at=st.floats(0, 1))
def test_the_transformation_is_onto_the_box_and_smooth(low, high, sigma, v, at):
    a, b = -np.inf if low is None else low, np.inf if high is None else high
    assume(b - a > 1e-3 * (1 + abs(a if np.isfinite(a) else 0)))
    ends = max(a, min(b, 1e6) - 2e6), min(b, max(a, -1e6) + 2e6)
    x = ends[0] + (0.01 + 0.98 * at) * (ends[1] - ends[0])
    assume(a < x < b)
    fold = box(a, b, sigma, x0=x)
    there = fold.to_x(np.array([v]))
    assert a <= there[0] <= b
    # onto: every point inside is reached, at the u that ``to_u`` names
    size = abs(x) + abs(v) + sum(abs(end) for end in (a, b) if np.isfinite(end))
    assert fold.to_x(fold.to_u(np.array([x])))[0] == pytest.approx(x, abs=1e-14 * size)
    # no steeper than the identity
    step = 1e-3 * sigma
    moved = fold.to_x(np.array([v + step]))
    assert abs(moved - there)[0] <= step * (1 + 1e-6) + 1e-14 * size


@pytest.mark.parametrize(
    ("lower", "upper", "x0"), [(0.0, 4.0, 1.0), (0.0, np.inf, 1.0), (-np.inf, 4.0, 1.0)]
)
def test_the_slope_has_no_jump(lower, upper, x0):
    fold = box(lower, upper, x0=x0)
    v = np.linspace(-12, 12, 24_001)[:, None]
    x = fold.to_x(v)[:, 0]
    slope = np.diff(x) / 1e-3
    assert np.abs(np.diff(slope)).max() <= 0.5 * 1e-3 + 1e-9  # its own slope is at most 1/(2a)


@given(
    seed=st.integers(0, 2**32 - 1),
    method=st.sampled_from(NAMES),
    bounds_method=st.sampled_from(["transform", "penalty"]),
    sigma0=st.floats(1e-2, 1e2),
)
def test_the_function_sees_no_point_outside(seed, method, bounds_method, sigma0):
    lower, upper = np.array([-1.0, 0.2, -np.inf]), np.array([1.0, np.inf, 0.5])
    seen = []
    result = minimize(
        lambda x: seen.append(x) or rosenbrock(x), [0.5, 0.5, 0.1], sigma0, method, budget=60,
        bounds=Bounds(lower, upper), bounds_method=bounds_method, seed=seed,
    )  # fmt: skip
    for x in [*seen, result.x, result.mean, result.recommended]:
        assert (lower <= x).all()
        assert (x <= upper).all()
    assert len(seen) == result.nfev


@pytest.mark.parametrize("bounds_method", ["transform", "penalty"])
@pytest.mark.parametrize("method", ["ingo", "fast_ingo"])
def test_a_minimum_in_a_corner_is_found(method, bounds_method):
    """f has its minimum outside; in the box it is 4 at the corner (0, 0, 1, 1)."""
    result = minimize(
        lambda x: float(np.sum((x - np.array([-1, -1, 2, 2])) ** 2)), np.full(4, 0.6), 0.3, method,
        bounds=[(0, None), (0, 5), (None, 1), (-5, 1)], seed=0, bounds_method=bounds_method,
        budget=20_000,
    )  # fmt: skip
    assert result.fun == pytest.approx(4.0, abs=1e-6)
    assert np.allclose(result.x, [0, 0, 1, 1], atol=1e-6)
    assert np.allclose(result.mean, [0, 0, 1, 1], atol=1e-3)


def test_the_limit_of_the_width_in_numbers():
    """The distance of the bounds or σ₀, in units of u; none without two bounds."""
    bounds = [(0, 4), (-1, 1), (0, None), (None, None)]
    fold = Coordinates.of(np.full(4, 0.5), [2.0, 4.0, 1.0, 4.0], bounds, "transform")
    assert fold.scale.tolist() == [0.5, 1.0, 0.25, 1.0]
    assert fold.widest.tolist() == [8.0, 4.0, np.inf, np.inf]


def test_a_gaussian_wider_than_its_limit_is_narrowed_and_another_one_left_alone():
    widest = np.array([1.0, 2.0, np.inf])
    full = Gaussian(np.zeros(3), np.array([[0.0, 3.0, 4.0], [1.0, 1.0, 0.0], [0.0, 9.0, 0.0]]))
    narrow = full.narrowed(widest)
    assert np.allclose(
        narrow.factor, [[0.0, 0.6, 0.8], [1.0, 1.0, 0.0], [0.0, 9.0, 0.0]], atol=1e-15
    )
    diagonal = DiagonalGaussian(np.zeros(3), np.array([5.0, 1.0, 9.0]))
    assert diagonal.narrowed(widest).std.tolist() == [1.0, 1.0, 9.0]
    for state in (full, diagonal):
        assert state.narrowed(np.full(3, 9.0)) is state


@pytest.mark.parametrize(("method", "seeds"), [("ingo", (4, 5)), ("fast_ingo", (4, 5))])
def test_a_distribution_does_not_become_lost_in_the_fold(method, seeds, monkeypatch):
    """Runs in which, without the limit, a standard deviation grows beyond the period."""
    w = 10.0 ** np.linspace(0, 3, 10)

    def statuses():
        return [
            minimize(
                lambda x: float(w @ (x + 1) ** 2 - w.sum()),
                np.random.default_rng(seed).uniform(0, 4, 10), 2.0, method, bounds=(0, 4),
                budget=20_000, target=1e-8, seed=seed,
            ).status
            for seed in seeds
        ]  # fmt: skip

    assert statuses() == ["target"] * len(seeds)
    monkeypatch.setattr(Coordinates, "widest", np.full(10, np.inf))
    assert "budget" in statuses()


def test_bounds_are_read_as_scipy_reads_them():
    low, high = read_bounds([(None, 1), (-2, np.inf), (0, 3)], 3)
    assert low.tolist() == [-np.inf, -2, 0]
    assert high.tolist() == [1, np.inf, 3]
    for whole in ((0, 1), [0, 1], np.array([0.0, 1.0]), Bounds(0, 1), [(0, 1)] * 2):
        low, high = read_bounds(whole, 2)
        assert (low.tolist(), high.tolist()) == ([0, 0], [1, 1])
    assert np.isinf(read_bounds(None, 2)).all()


# Noise


@pytest.mark.parametrize("method", ["ingo", "fast_ingo"])
def test_with_noise_the_mean_is_recommended(method):
    """The best of 5000 noisy values is best by luck: 0.2 to 0.3 there, 0.03 to 0.07 at the mean."""
    at = {"recommended": [], "x": []}
    for seed in range(8):
        noise = np.random.default_rng(100 + seed)
        result = minimize(
            lambda x, noise=noise: np.sum(x**2, axis=1) + noise.standard_normal(len(x)),
            np.ones(10), 0.5, method, budget=5000, seed=seed, vectorized=True,
        )  # fmt: skip
        assert result.noise > 0
        assert any(np.array_equal(result.recommended, p) for p in (result.x, result.mean))
        for key, values in at.items():
            values.append(result[key] @ result[key])
    assert np.median(at["recommended"]) < 0.8 * np.median(at["x"])


def test_the_recommended_point_follows_its_rule():
    """x if f₂ + |f₂ − f₁| ≤ f_mean, else the mean."""
    for again, at_mean, x_expected in [
        (0.0, 1.0, True),  # deterministic, x better
        (0.0, -0.1, False),  # deterministic, the mean better
        (0.4, 0.9, True),  # noisy, x better by more than the noise
        (0.4, 0.7, False),  # noisy, x better by less
        (np.nan, 0.5, False),
        (0.4, np.nan, True),
        (np.nan, np.nan, True),
    ]:
        calls = []

        def fun(x, calls=calls, again=again, at_mean=at_mean):
            calls.append(1)
            answers = {
                **dict.fromkeys(range(1, 9), 2.0 + len(calls)),
                3: 0.0,
                9: again,
                10: at_mean,
            }
            return answers[len(calls)]

        result = minimize(fun, np.zeros(3), 0.5, seed=0, budget=10, samples=8)
        assert len(calls) == 10
        assert result.fun == 0.0  # the first value at x stands
        assert not np.array_equal(result.x, result.mean)
        expected = result.x if x_expected else result.mean
        assert np.array_equal(result.recommended, expected)
        assert result.noise == again or np.isnan(again) == np.isnan(result.noise)


def test_noise_is_how_far_the_second_value_at_x_is_from_the_first_on_either_side():
    for again in (0.25, -0.25):
        answers = iter([2.0, 1.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 1.0 + again, 9.0])
        result = minimize(
            lambda x, a=answers: next(a), np.zeros(3), 0.5, seed=0, budget=10, samples=8
        )
        assert (result.fun, result.noise, result.nfev) == (1.0, 0.25, 10)


# Restarts


def rastrigin(x):
    return 10 * x.shape[1] + np.sum(x**2 - 10 * np.cos(2 * np.pi * x), axis=1)


def test_restarts_grow_and_keep_to_the_budget():
    ends, seen = [], []
    result = minimize(
        rastrigin, np.full(4, 2.0), 0.3, "fast_ingo", budget=20_000, target=-1.0, seed=0,
        restarts=20, vectorized=True, callback=seen.append,
    )  # fmt: skip
    ends = [run["status"] for run in result.runs]
    assert len(ends) > 3
    assert set(ends[:-1]) <= {"xtol", "ftol", "flat"}
    assert result.nfev <= 20_000
    assert result.nfev == sum(run["nfev"] for run in result.runs) + 2
    assert result.nit == len(seen) == sum(run["nit"] for run in result.runs)
    assert [batch.iteration for batch in seen] == list(range(1, result.nit + 1))
    assert seen[-1].evaluations == result.nfev - 2
    assert result.fun == min(run["fun"] for run in result.runs)
    assert rastrigin(result.x[None])[0] == result.fun
    large = [run["samples"] for run in result.runs if run["sigma"] == 1.0]
    assert large == [10 * 2**k for k in range(len(large))]
    small = [run for run in result.runs if run["sigma"] != 1.0]
    assert small
    assert all(0.01 <= run["sigma"] < 1 and run["samples"] == 10 for run in small)


def test_halved_steps_are_those_of_all_runs(monkeypatch):
    made = []
    monkeypatch.setattr(
        "algorithms.shared.search.Guard", lambda *words: made.append(Guard(*words)) or made[-1]
    )
    result = minimize(rosenbrock, np.zeros(2), 0.5, budget=9000, ftol=1e-3, restarts=4, seed=0)
    halved = [guard.halved for guard in made]
    assert sum(map(bool, halved)) > 1
    assert result.halved == sum(halved)


@pytest.mark.parametrize("later", [100.0, -100.0])
def test_mean_and_best_are_those_of_the_run_that_found_x(later):
    """The second run is on the function lifted, so that the first has x; or lowered."""
    first = minimize(sphere, np.zeros(3), 0.5, seed=0)
    calls, seen, found = [], [], []

    def fun(x):
        calls.append(1)
        found.append(sphere(x) + later * (len(calls) > first.runs[0]["nfev"]))
        return found[-1]

    def see(batch):
        seen.append((batch.best, min(found)))

    both = minimize(fun, np.zeros(3), 0.5, seed=0, restarts=1, callback=see)
    assert [run["nfev"] for run in both.runs][:1] == [first.runs[0]["nfev"]]
    assert len(both.runs) == 2
    assert np.array_equal(both.mean, first.mean) == (later > 0)
    assert np.array_equal(both.x, first.x) == (later > 0)
    assert [best for best, _ in seen] == [so_far for _, so_far in seen]


@pytest.mark.parametrize(
    "seed", [lambda: np.random.RandomState(0), lambda: np.random.Philox(key=3), lambda: 3]
)
def test_a_search_with_restarts_is_a_function_of_its_seed(seed):
    """Of all that default_rng takes, also of what knows no seed to make others of."""
    asked = {"method": "fast_ingo", "budget": 9000, "ftol": 1.0, "vectorized": True}
    one, other = (
        minimize(rastrigin, np.full(3, 2.0), 0.5, seed=seed(), restarts=5, **asked)
        for _ in range(2)
    )
    assert len(one.runs) > 2
    assert one.runs == other.runs
    assert np.array_equal(one.x, other.x)


def test_a_callback_sees_the_end_of_each_run_and_may_end_the_search_there():
    seen = []
    asked = {"sigma0": 0.3, "method": "fast_ingo", "budget": 20_000, "vectorized": True, "seed": 0}
    whole = minimize(rastrigin, np.full(4, 2.0), restarts=5, callback=seen.append, **asked)
    ends = [batch.ended.reason for batch in seen if batch.ended]
    assert ends == [run["status"] for run in whole.runs]
    for batch, later in itertools.pairwise(seen):
        if not batch.ended:
            assert np.array_equal(batch.told.mean, later.state.mean)
    stopped = minimize(rastrigin, np.full(4, 2.0), restarts=5, callback=lambda b: b.ended, **asked)
    assert (stopped.status, stopped.success, len(stopped.runs)) == ("callback", False, 1)
    alone = minimize(rastrigin, np.full(4, 2.0), callback=lambda b: b.ended, **asked)
    assert alone.status == ends[0]


def test_a_run_that_gets_no_better_is_restarted_but_for_the_last_one():
    """Values without a direction never come within ftol of each other."""
    values = np.random.default_rng(0)
    found = minimize(
        lambda x: values.random(len(x)), np.zeros(2), 1.0, "cma_es", budget=9000, seed=0,
        restarts=2, vectorized=True,
    )  # fmt: skip
    assert [run["status"] for run in found.runs] == ["stagnated", "stagnated", "budget"]
    (run,) = minimize(
        lambda x: values.random(len(x)), np.zeros(2), 1.0, "cma_es", budget=9000, seed=0,
        vectorized=True,
    ).runs  # fmt: skip
    assert run["status"] == "budget"


def test_a_point_without_a_value_does_not_hide_that_the_medians_get_better():
    batches = iter(range(1000))

    def falling(x):
        middle = 1e3 - next(batches)
        return np.array([0.0, *[middle] * (len(x) - 2), np.nan])

    found = minimize(
        falling, np.zeros(2), 1.0, "cma_es", budget=3000, seed=0, restarts=1, samples=10,
        vectorized=True,
    )  # fmt: skip
    assert [run["status"] for run in found.runs] == ["budget"]
    assert found.nit > 250


def test_restarts_find_the_better_of_many_minima():
    """3-d Rastrigin from 2: one run ends in a minimum nearby, in most of eight seeds; with restarts
    a run ends sooner where it stagnates, so that by chance one may end higher.
    """
    asked = {"sigma0": 0.5, "budget": 30_000, "target": 1e-6, "vectorized": True}
    once, more = (
        [minimize(rastrigin, np.full(3, 2.0), seed=s, **asked, **how).fun for s in range(8)]
        for how in ({}, {"restarts": 30})
    )
    assert sum(b <= a for a, b in zip(once, more, strict=True)) > 4
    assert sum(more) < sum(once)


# Interruptions, errors, processes


def test_ctrl_c_returns_the_best_so_far():
    calls = []

    def fun(x):
        calls.append(x)
        if len(calls) == 25:  # in the middle of the third batch
            os.kill(os.getpid(), signal.SIGINT)
            for _ in range(10**6):  # the signal arrives between two steps of the interpreter
                pass
        return sphere(x)

    result = minimize(fun, np.zeros(4), 0.5, seed=0)
    assert result.status == "interrupted"
    assert result.nfev == 24
    assert result.nit == 2
    assert result.fun == min(map(sphere, calls[:24]))
    assert result.fun == sphere(result.x)
    assert np.array_equal(result.recommended, result.x)
    assert not result.success


def test_ctrl_c_before_the_first_value():
    def fun(x):
        raise KeyboardInterrupt

    result = minimize(fun, [1.0, 2.0], 0.5, seed=0)
    assert (result.status, result.nfev, result.fun) == ("interrupted", 0, np.inf)
    assert result.x.tolist() == result.mean.tolist() == result.recommended.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("vectorized", [False, True])
def test_an_exception_carries_the_best_so_far(vectorized):
    calls = []

    def fun(x):
        if len(calls) >= 20:
            raise LookupError("no such thing")
        calls.extend(x if vectorized else [x])
        return [sphere(row) for row in x] if vectorized else sphere(x)

    with pytest.raises(LookupError, match="no such thing") as caught:
        minimize(fun, np.zeros(4), 0.5, seed=0, vectorized=vectorized)
    result = caught.value.result
    assert result.nfev == 20
    assert result.fun == min(map(sphere, calls)) == sphere(result.x)
    assert f"{result.fun:g}" in caught.value.__notes__[0]


def test_an_exception_before_the_first_value_carries_nothing():
    with pytest.raises(ZeroDivisionError) as caught:
        minimize(lambda x: 1 / 0, np.zeros(4), 0.5)
    assert not hasattr(caught.value, "result")


@pytest.mark.parametrize("workers", [2, -1])
def test_processes_give_the_same_result(workers):
    asked = {"sigma0": 0.5, "budget": 120, "seed": 0, "args": (2.0,), "bounds": (-1, 1)}
    assert same(
        minimize(shifted, np.zeros(4), workers=workers, **asked),
        minimize(shifted, np.zeros(4), **asked),
    )


def test_the_function_may_change_its_argument_in_a_process_too():
    result = minimize(spoil, np.zeros(4), 0.5, budget=100, seed=0, workers=2)
    assert same(result, minimize(spoil, np.zeros(4), 0.5, budget=100, seed=0))
    assert spoil(result.x.copy()) == result.fun


def test_any_function_like_map_gives_the_same_result():
    reference = minimize(rosenbrock, np.zeros(4), 0.5, budget=300, seed=0)
    with ThreadPool(3) as pool:
        for workers in (pool.map, pool.imap):
            again = minimize(rosenbrock, np.zeros(4), 0.5, budget=300, seed=0, workers=workers)
            assert same(again, reference)
    with pytest.raises(ValueError, match="workers returned 3 values for 10 points"):
        minimize(sphere, np.zeros(4), 0.5, workers=lambda fun, x: [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="workers returned 11 values for 10 points"):
        minimize(sphere, np.zeros(4), 0.5, workers=lambda fun, x: [1.0] * 11)


def shifted(x, by):
    return float(np.sum((x - by) ** 2))


def test_an_exception_in_a_process_arrives():
    with pytest.raises(TypeError, match="by") as caught:
        minimize(shifted, np.zeros(4), 0.5, workers=2)
    assert not hasattr(caught.value, "result")


# Ask and tell


def starts(name):
    space = algorithms.load(name).space
    if space == "real":
        return np.linspace(-1, 1, 6)
    return np.full(6, 0.5) if space == "binary" else np.full((6, 3), 1 / 3)


@pytest.mark.parametrize(
    "name", [n for n in algorithms.available() if n != "ga" and (n != "cma_es" or find_spec("cma"))]
)
@pytest.mark.parametrize("guarded", [False, True])
def test_ask_and_tell_can_be_pickled_in_between(name, guarded):
    """Optimiser, state, samples and generator; bit for bit. (Not ``ga``: pymoo's do not pickle.)"""
    optimiser = algorithms.build(name, {})
    optimiser = Guard(optimiser) if guarded else optimiser
    rng = np.random.default_rng(0)

    def values(samples):
        return np.sum((samples.x.reshape(len(samples.x), -1) - 0.3) ** 2, axis=1)

    state = optimiser.init(starts(name), rng)
    for _ in range(3):
        samples = optimiser.ask(state, rng)
        state = optimiser.tell(state, samples, values(samples))
    samples = optimiser.ask(state, rng)
    other = pickle.loads(pickle.dumps((optimiser, state, samples, rng)))
    ways = []
    for again, its, asked, stream in ((optimiser, state, samples, rng), other):
        for _ in range(5):
            its = again.tell(its, asked, values(asked))
            asked = again.ask(its, stream)
        ways.append((its, asked))
    (a, x), (b, y) = ways
    assert np.array_equal(a.mean, b.mean)
    assert np.array_equal(x.x, y.x)


@pytest.mark.parametrize("name", NAMES)
def test_points_clipped_before_they_are_evaluated_are_a_clipped_function(name):
    """The noise stays: told f(clip(x)), the optimiser minimises f ∘ clip."""

    def clipped(x):
        return np.array([sphere(row) for row in np.clip(x, 0, 1)])

    optimiser = algorithms.build(name, {})
    rng = np.random.default_rng(0)
    state = optimiser.init(np.zeros(6), rng)
    for _ in range(4):
        samples = optimiser.ask(state, rng)
        state = optimiser.tell(state, samples, clipped(samples.x))
    n = optimiser.batch_size(6)
    with quiet():
        *_, last = iterate(optimiser, clipped, np.zeros(6), np.random.default_rng(0), 5 * n)
    assert np.array_equal(last.state.mean, state.mean)


def test_a_guarded_tell_names_the_wrong_number_of_values():
    optimiser = Guard(algorithms.build("ingo", {}))
    rng = np.random.default_rng(0)
    state = optimiser.init(np.zeros(3), rng)
    samples = optimiser.ask(state, rng)
    for values in ([1.0] * 7, [1.0] * 9, 1.0, np.ones((8, 1))):
        with pytest.raises(ValueError, match=r"values have shape \(.*\) for 8 samples"):
            optimiser.tell(state, samples, values)
    assert optimiser.tell(state, samples, [*range(7), np.nan]).ended is None


def test_a_guard_counts_batches_in_a_row():
    optimiser = Guard(algorithms.build("ingo", {}))
    rng = np.random.default_rng(0)
    state = first = optimiser.init(np.zeros(3), rng)
    for _ in range(guard.PATIENCE - 1):
        state = optimiser.tell(state, optimiser.ask(state, rng), np.ones(8))
        assert state is first
    state = optimiser.tell(state, optimiser.ask(state, rng), np.arange(8.0))
    for _ in range(guard.PATIENCE):
        assert state.ended is None
        state = optimiser.tell(state, optimiser.ask(state, rng), np.ones(8))
    assert state.ended == Ending(Stop.FLAT)


# What is wrong is named


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"x0": np.zeros((2, 2))}, "x0 must be a vector of finite numbers"),
        ({"x0": [0.0, np.nan]}, "x0 must be a vector of finite numbers"),
        ({"x0": []}, "x0 must be a vector"),
        ({"sigma0": 0}, "sigma0 is 0; allowed: a positive number, or 2 of them"),
        ({"sigma0": [1.0, -1.0]}, r"sigma0 is \[1.0, -1.0\]; allowed"),
        ({"sigma0": [1.0] * 3}, "sigma0 is .*; allowed"),
        ({"sigma0": np.inf}, "sigma0 is inf; allowed"),
        ({"method": "bfgs"}, "no optimiser is called 'bfgs'"),
        ({"method": "simple_ga"}, "simple_ga searches a binary space, not a real one"),
        ({"beta": 1}, "ingo has no hyper-parameter 'beta'"),
        ({"initial_std": 1}, "initial_std is given as sigma0"),
        ({"samples": 1}, "samples is 1; allowed"),
        ({"budget": 5}, "budget is 5; one batch takes 8 evaluations"),
        ({"budget": 10.5}, "budget is 10.5; allowed: a whole number"),
        ({"budget": np.inf}, "budget is inf; allowed: a whole number"),
        ({"restarts": -1}, "restarts is -1; allowed"),
        ({"nan": "ignore"}, "nan is 'ignore'; allowed: worst, raise"),
        ({"xtol": -1}, "xtol is -1; allowed: a number ≥ 0"),
        ({"xtol": [1.0] * 3}, "xtol is .*; allowed"),
        ({"ftol": np.nan}, "ftol is nan; allowed"),
        ({"bounds": (0, 1)}, r"x0\[0\] is 0; allowed: strictly between its bounds 0 and 1"),
        ({"bounds": [(-1, 1), (1, 2)]}, r"x0\[1\] is 0; allowed: strictly between its bounds 1"),
        ({"bounds": [(-1, 1)]}, "bounds must be 2 pairs"),
        ({"bounds": [(-1, 1)] * 3}, "bounds must be 2 pairs"),
        ({"bounds": [(-1, 0, 1)] * 2}, "bounds must be 2 pairs"),
        ({"bounds": (1, -1)}, r"bounds\[0\] are 1 and -1; allowed: low < high"),
        ({"bounds": [(-1, 1), (0, np.nan)]}, r"bounds\[1\] are 0 and nan"),
        ({"bounds_method": "clip"}, "bounds_method is 'clip'; allowed: transform, penalty"),
        ({"workers": 0}, "workers is 0; allowed"),
        ({"workers": "all"}, "workers is 'all'; allowed"),
        ({"workers": 2, "vectorized": True}, "vectorized and workers exclude each other"),
        ({"fun": lambda x: None}, "fun returned None for one point"),
        ({"fun": lambda x: x}, r"fun returned shape \(2,\) for one point"),
        ({"vectorized": True}, r"fun returned shape \(\) for 8 points; vectorized needs \(8,\)"),
        (
            {"vectorized": True, "fun": lambda x: x[1:, 0]},
            r"fun returned shape \(7,\) for 8 points; vectorized needs \(8,\)",
        ),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(changes, message):
    called = []

    def counted(x):
        called.append(x)
        return sphere(x)

    asked = {"fun": counted, "x0": np.zeros(2), "sigma0": 0.3, "seed": 0} | changes
    with pytest.raises(ValueError, match=message):
        minimize(**asked)
    assert not called or changes.get("vectorized")


def test_the_name_is_the_function_whichever_is_imported_first():
    for code in (
        "import algorithms.minimize; from algorithms import minimize",
        "from algorithms import minimize",
        "from algorithms.minimize import minimize",
        "import algorithms; minimize = algorithms.minimize",
    ):
        code += "; import types; assert type(minimize) is types.FunctionType, minimize"
        subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)
