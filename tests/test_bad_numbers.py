"""Numbers gone bad: huge, tiny, infinite or none. They end a run with a reason, or it goes on."""

from __future__ import annotations

import subprocess
import sys
import warnings
from dataclasses import replace
from math import sqrt
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import algorithms
from algorithms import minimize
from algorithms.shared import checks
from algorithms.shared.gaussian import DiagonalGaussian
from algorithms.shared.interface import Samples, Stop
from algorithms.shared.loop import quiet
from algorithms.shared.shaping import standardise
from algorithms.shared.steps import checked

ROOT = Path(__file__).parents[1]
NAMES = algorithms.available()
REAL = [name for name in NAMES if algorithms.load(name).space == "real"]
WITHOUT_UNIT = [  # methods that a factor of f changes nothing for
    *[(name, {}) for name in ("ingo", "ingo_step", "fast_ingo", "igo", "asebo")],
    *[("es", {"shaping": "standardise", "optimiser": kind}) for kind in ("adam", "sgd")],
    *[(name, {}) for name in ("es", "cma_es")],
    *[(name, {}) for name in ("bernoulli_ingo", "categorical_ingo", "simple_ga", "ga")],
    *[(name, {}) for name in ("one_plus_one_ea", "umda")],
]
DIM = 7


# Standardised values, whatever their unit


def plain(values, ddof):
    """The formula and nothing else."""
    h = values - values[0]
    h = h - h.sum() / h.size
    return h / sqrt(h @ h / (h.size - ddof))


ORDINARY = st.integers(2, 20).flatmap(
    lambda n: arrays(float, n, elements=st.floats(-1e3, 1e3).map(lambda x: round(x, 6)))
)


@given(ORDINARY.filter(np.ptp), st.sampled_from([0, 1]), st.integers(-400, 490))
def test_ordinary_values_are_standardised_by_the_plain_formula_bit_for_bit(values, ddof, power):
    values = np.ldexp(values, power)
    h, ended = standardise(values, ddof)
    assert ended is None
    assert np.array_equal(h, plain(values, ddof))


# with some more where squares are about to underflow or overflow
POWERS = st.one_of(st.integers(-900, 1010), st.integers(-540, -510), st.integers(500, 520))


@given(ORDINARY.filter(np.ptp), st.sampled_from([0, 1]), POWERS)
def test_a_power_of_two_as_the_unit_changes_no_bit(values, ddof, power):
    """Up to squares that overflow, and down to squares that underflow."""
    with np.errstate(all="ignore"):
        h, ended = standardise(np.ldexp(values, power), ddof)
    assert ended is None
    assert np.array_equal(h, plain(values, ddof))


def test_the_largest_and_the_smallest_numbers_are_standardised():
    top, bottom = np.finfo(float).max, 5e-324
    with np.errstate(all="ignore"):
        for unit in (top, bottom, 1e308, 1e-308, 1e200, 1e-200):
            for shape in ([-1, 1, 1, -1], [0, 1, 1, 1], [0, 0, 0, -1], [1, 1, 1, -1]):
                h, ended = standardise(unit * np.array(shape))
                assert ended is None
                assert np.allclose(h, plain(np.array(shape, float), 1), rtol=1e-15, atol=1e-15)
        h, ended = standardise(np.array([top, 1.0, 2.0, -3.0, 1e-300]))
    assert ended is None
    assert np.allclose(h, plain(np.array([1.0, 0, 0, 0, 0]), 1), rtol=1e-15, atol=1e-15)


@pytest.mark.parametrize("value", [np.finfo(float).max, -1e308, 5e-324, -1e-200, 0.0])
def test_equal_values_of_any_size_are_flat(value):
    values = np.full(9, value)
    h, ended = standardise(values)
    assert ended.reason is Stop.FLAT
    assert np.array_equal(h, values)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("others", [1.0, 1e308, 1e-308])
def test_one_value_that_is_not_finite_is_diverged_among_any_others(bad, others):
    with np.errstate(all="ignore"):
        for at in (0, 3):
            values = others * np.arange(5.0)
            values[at] = bad
            assert standardise(values)[1].reason is Stop.DIVERGED


@pytest.mark.parametrize(("name", "parameters"), WITHOUT_UNIT)
@pytest.mark.parametrize("power", [-900, 900, 1014])
def test_a_run_on_huge_or_tiny_values_is_that_on_plain_ones_bit_for_bit(name, parameters, power):
    def whole(x):
        # few digits, so that none is lost in the unit
        return np.round(8 * np.sum((x - 0.7) ** 2, axis=1))

    usual, scaled = (
        states(name, lambda x, p=p: np.ldexp(whole(x), p), **parameters) for p in (0, power)
    )
    assert len(usual) == len(scaled) > 20
    assert all(np.array_equal(a.mean, b.mean) for a, b in zip(usual, scaled, strict=True))
    assert all(a.spread() == b.spread() for a, b in zip(usual, scaled, strict=True))
    assert not np.array_equal(usual[0].mean, usual[-1].mean)


# Every optimiser


def start(name):
    """Where a run in DIM dimensions starts."""
    space = algorithms.load(name).space
    if space == "categorical":
        return np.full((DIM, 3), 1 / 3)
    return np.full(DIM, 0.5) if space == "binary" else np.linspace(-1, 1, DIM)


def states(name, fun, batches=30, seed=0, **parameters):
    """The states of a run, the last one ended if the run is."""
    optimiser = algorithms.build(name, parameters)
    rng = np.random.default_rng(seed)
    with quiet():
        found = [optimiser.init(start(name), rng)]
        while len(found) <= batches and found[-1].ended is None:
            samples = optimiser.ask(found[-1], rng)
            found.append(optimiser.tell(found[-1], samples, fun(samples.x)))
    return found


def first(value):
    def change(values):
        values[0] = value
        return values

    return change


def two(low, high):
    return lambda values: np.where(np.arange(values.size) % 2, low, high)


AWKWARD = {
    "plain": lambda values: values,
    "equal": lambda values: np.full(values.size, 0.1),
    "equal and huge": lambda values: np.full(values.size, 1e308),
    "one huge": first(1e308),
    "one hugely good": first(-1e308),
    "huge, of both signs": two(1e308, -1e308),
    "all huge": lambda values: 1e308 * (values / values.max()),
    "huge differences": lambda values: 3e200 * values,
    "tiny": lambda values: 1e-200 * values,
    "denormal": lambda values: 5e-324 * np.arange(values.size),
    "one NaN": first(np.nan),
    "one infinite": first(np.inf),
    "one infinitely good": first(-np.inf),
    "infinite, of both signs": two(np.inf, -np.inf),
    "NaN only": lambda values: np.full(values.size, np.nan),
    "infinite only": lambda values: np.full(values.size, np.inf),
}
SCALES = [checks.SMALLEST, 1e-30, 0.5, 1e30, checks.LARGEST]
VARIANTS = [
    *[(name, {"initial_std": scale}) for name in REAL for scale in SCALES],
    *[(name, {}) for name in NAMES if name not in REAL],
    *[("cma_es", {"initial_std": scale, "diagonal": True}) for scale in SCALES],
    *[("framework", {"initial_std": scale, "curvature": "estimated"}) for scale in SCALES],
    *[("es", {"shaping": "standardise", "optimiser": "sgd", "initial_std": s}) for s in SCALES],
]


@pytest.mark.parametrize("case", AWKWARD)
@pytest.mark.parametrize(("name", "parameters"), VARIANTS)
def test_a_state_is_finite_or_the_last_one(name, parameters, case):
    def fun(x):
        near = np.clip(x, -1e100, 1e100)
        return AWKWARD[case](1.0 + np.sum((near - 3.0) ** 2, axis=1) / 1e200 + np.abs(near[:, 0]))

    *going, last = states(name, fun, **parameters)
    if last.ended:
        assert last.ended.reason in set(Stop)
    for state in going + [last] * (last.ended is None):
        assert np.isfinite(state.mean).all()
        assert np.isfinite(state.spread()).all()
    assert np.isfinite(last.mean).all()  # an ended one is what it was before


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("case", ["one NaN", "NaN only"])
def test_a_nan_ends_a_run_at_once_as_diverged(name, case):
    made = states(name, lambda x: AWKWARD[case](np.sum(x, axis=1)))
    assert len(made) == 2
    assert made[-1].ended.reason is Stop.DIVERGED


@pytest.mark.parametrize("name", [n for n in NAMES if n != "es"])
@pytest.mark.parametrize("case", ["one infinite", "one infinitely good", "infinite only"])
def test_an_infinity_ends_a_run_at_once_as_diverged(name, case):
    """But for the ranks of ES, in which it is the best or the worst."""
    made = states(name, lambda x: AWKWARD[case](np.sum(x, axis=1)))
    assert len(made) == 2
    assert made[-1].ended.reason is Stop.DIVERGED


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("case", ["one huge", "huge, of both signs"])
def test_a_run_goes_on_with_huge_values(name, case):
    """But for the two methods that use the values as they are."""
    made = states(name, lambda x: AWKWARD[case](np.sum(x, axis=1)), batches=5)
    if name in ("framework", "reinforce_gd"):
        assert made[-1].ended.reason is Stop.DIVERGED
    else:
        assert len(made) == 6
        assert made[-1].ended is None


# Where a distribution ends


@pytest.mark.parametrize("name", REAL)
@pytest.mark.parametrize("std", [checks.SMALLEST, checks.LARGEST, 1, 10**6])
def test_the_range_of_the_first_standard_deviation(name, std):
    assert algorithms.build(name, {"initial_std": std}).initial_std == std


@pytest.mark.parametrize("name", REAL)
@pytest.mark.parametrize("std", [1e-300, 9e-151, 1.1e150, 1e300, 10**200])
def test_an_absurd_standard_deviation_is_named(name, std):
    with pytest.raises(ValueError, match=r"initial_std is .*; allowed: from 1e-150 to 1e\+150"):
        algorithms.build(name, {"initial_std": std})


@pytest.mark.parametrize("sigma0", [1e-101, 1e-300, 1e101, 1e300, [1.0, 1e-200]])
def test_minimize_names_an_absurd_sigma0(sigma0):
    with pytest.raises(ValueError, match=r"sigma0 is .* from 1e-100 to 1e\+100"):
        minimize(lambda x: x @ x, np.zeros(2), sigma0, seed=0)


@pytest.mark.parametrize("sigma0", [1e-100, 1e100])
@pytest.mark.parametrize("method", REAL)
def test_minimize_lives_with_any_sigma0_that_is_allowed(method, sigma0):
    result = minimize(
        lambda x: float(np.abs(x).sum()), np.zeros(3), sigma0, method, budget=3000, restarts=4,
        samples=8, seed=0, **({"patience": 20} if method == "cma_es" else {}),
    )  # fmt: skip
    assert np.isfinite(result.mean).all()
    assert np.abs(result.x).sum() == result.fun


def test_a_step_out_of_range_keeps_the_distribution_before_it():
    before = DiagonalGaussian(np.zeros(2), np.ones(2))
    for mean, std in [((np.nan, 0), (1, 1)), ((0, 1e160), (1, 1)), ((0, 0), (1, np.inf))]:
        after = DiagonalGaussian(np.array(mean), np.array(std))
        told = checked(before, after, after.mean, after.std)
        assert told.mean is before.mean
        assert told.std is before.std
        assert told.ended == (Stop.DIVERGED, "a step left its range")
    fine = DiagonalGaussian(np.array([1e150, 0]), np.ones(2))
    assert checked(before, fine, fine.mean, fine.std) is fine


@pytest.mark.parametrize(
    ("name", "parameter"),
    [(name, "mean") for name in REAL if name != "reinforce_gd"]
    + [(name, "width") for name in ("ingo", "ingo_step", "fast_ingo", "igo", "cma_es")],
)
def test_every_optimiser_looks_at_the_step_that_it_took(name, parameter):
    """A distribution beyond the range, put there by hand, is not stepped from."""
    optimiser = algorithms.build(name, {})
    rng = np.random.default_rng(0)
    state = optimiser.init(np.full(DIM, 1e160 if parameter == "mean" else 0.0), rng)
    if parameter == "width":
        if name == "cma_es":
            # the sum of squares of the widths is beyond the largest number, that of the mean is not
            state.library.sigma = 1.2 * np.sqrt(np.finfo(float).max / DIM)
        else:
            key = "factor" if hasattr(state, "factor") else "std"
            state = replace(state, **{key: 1e160 * getattr(state, key)})
    with quiet():
        samples = optimiser.ask(state, rng)
        values = np.arange(len(samples.x), dtype=float)
        if parameter == "width" and name != "cma_es":
            # in pairs of opposite points with equal values, so that the mean stays within range
            half, values = len(values) // 2, values // 2
            x, z, y = (np.repeat(part[:half], 2, axis=0) for part in samples)
            for part in (x, z, y):
                part[1::2] *= -1.0
            samples = Samples(x, z, y)
        told = optimiser.tell(state, samples, values)
    assert told.ended == (Stop.DIVERGED, "a step left its range")


@pytest.mark.parametrize("diagonal", [False, True])
def test_a_width_that_grows_without_end_ends_the_run(diagonal):
    """Where every step away from the centre pays."""
    made = states("cma_es", lambda x: -np.abs(x).max(axis=1), 3000, diagonal=diagonal)
    assert made[-1].ended == (Stop.DIVERGED, "a step left its range")
    assert made[-1].spread().sigma > 1e100


# pycma


def test_what_pycma_raises_is_the_detail_of_an_end():
    optimiser = algorithms.build("cma_es", {})
    rng = np.random.default_rng(0)
    state = optimiser.init(np.zeros(DIM), rng)
    samples = optimiser.ask(state, rng)
    with quiet(), warnings.catch_warnings(action="ignore"):
        bad = samples._replace(x=np.full_like(samples.x, np.nan))
        told = optimiser.tell(state, bad, np.arange(len(samples.x), dtype=float))
    assert told.ended == (Stop.DIVERGED, "pycma: AssertionError")
    assert np.array_equal(told.mean, state.mean)


def test_pycma_is_imported_without_what_a_run_does_not_use():
    """And what was hidden from it can be imported afterwards; pycma itself is whole."""
    code = """
import sys, warnings
warnings.simplefilter("error")
import algorithms
algorithms.build("cma_es", {}).init(__import__("numpy").zeros(3), None)
assert "cma" in sys.modules
assert not {"matplotlib", "scipy.stats"} & set(sys.modules), "large libraries are loaded"
import matplotlib, scipy.stats
assert scipy.stats.norm.cdf(0) == 0.5
algorithms.build("cma_es", {}).init(__import__("numpy").zeros(3), None)
assert sys.modules["matplotlib"] is matplotlib
"""
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)
