"""First in the order of trust: every update equals the formula of the paper."""

from __future__ import annotations

import numpy as np
import pytest
import textbook

import algorithms
from algorithms.shared import settings
from algorithms.shared.gaussian import DiagonalGaussian, Gaussian
from algorithms.shared.interface import Samples, Stop
from algorithms.shared.shaping import centred_ranks, standardise
from experiments import config
from experiments.paths import ROOT
from problems.synthetic import ellipsoid, levy

FORMULA = {
    "ingo": textbook.ingo,
    "ingo_step": textbook.ingo_step,
    "fast_ingo": textbook.fast_ingo,
    "igo": textbook.igo,
}


def covariance(state):
    if isinstance(state, DiagonalGaussian):
        return np.diag(state.std**2)
    return state.factor @ state.factor.T


def close(actual, wanted, tolerance):
    """Relative to the largest entry, as matrices are compared."""
    return np.max(np.abs(actual - wanted)) <= tolerance * np.max(np.abs(wanted))


def test_sigma_and_condition_are_those_of_the_covariance():
    """Σ = diag(1, 4, 16): σ = det^(1/6) = 2, and the condition number is that of Σ, not of Σ^½."""
    std = np.array([1.0, 2.0, 4.0])
    rotation = np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))[0]
    full = Gaussian(np.zeros(3), rotation @ np.diag(std))
    for state in (DiagonalGaussian(np.zeros(3), std), full):
        assert state.spread() == pytest.approx((2.0, 16.0))


@pytest.mark.parametrize("name", FORMULA)
@pytest.mark.parametrize(("dim", "samples"), [(30, 8), (12, 12), (5, 20), (20, 16)])
def test_sixty_steps_equal_the_textbook(name, dim, samples):
    """Both ways of the rank-N update (N ≤ d/2 and above), step by step from the same state.

    The textbook gets the same points x through its own symmetric root.
    """
    rng = np.random.default_rng(dim)
    beta = 0.5 / dim
    optimiser = algorithms.build(name, {"samples": samples, "step_size": beta, "initial_std": 0.7})
    problem = levy(dim)
    state = optimiser.init(rng.random(dim), rng)
    mu, Sigma = state.mean, covariance(state)
    for _ in range(60):
        batch = optimiser.ask(state, rng)
        f = problem.evaluate(batch.x)
        z = batch.y @ np.linalg.inv(textbook.symmetric_root(Sigma))
        mu, Sigma = FORMULA[name](mu, Sigma, z, f, beta)
        state = optimiser.tell(state, batch, f)
        assert state.ended is None
        assert close(state.mean, mu, 1e-10)
        assert close(covariance(state), Sigma, 1e-10)


def test_sixty_steps_of_es_equal_the_textbook():
    rng = np.random.default_rng(1)
    es = algorithms.build("es", {"samples": 12, "step_size": 0.05, "initial_std": 0.7})
    problem = levy(10)
    state = es.init(rng.random(10), rng)
    mu, gradients = state.mean, []
    for _ in range(60):
        batch = es.ask(state, rng)
        f = problem.evaluate(batch.x)
        mu, gradients = textbook.es(mu, gradients, batch.z, f, 0.05)
        state = es.tell(state, batch, f)
        assert state.ended is None
        assert close(state.mean, mu, 1e-10)


def test_the_covariance_has_moved_far_enough_to_tell():
    """The comparison above would be empty if Σ stayed near σ₁² I."""
    rng = np.random.default_rng(3)
    optimiser = algorithms.build("ingo", {"samples": 8, "step_size": 0.5 / 30})
    problem = ellipsoid(30)
    state = optimiser.init(rng.random(30), rng)
    for _ in range(60):
        batch = optimiser.ask(state, rng)
        state = optimiser.tell(state, batch, problem.evaluate(batch.x))
    assert state.spread().condition > 2.0


@pytest.mark.parametrize("mean_step", ["new", "old"])
def test_fast_ingo_equals_ingo_on_diagonal_statistics(mean_step):
    """With samples on the axes every outer product is diagonal, and INGO is Fast-INGO."""
    dim, beta = 6, 0.2
    rng = np.random.default_rng(0)
    z = np.diag(rng.standard_normal(dim))
    std = rng.uniform(0.1, 2.0, dim)
    mean = rng.standard_normal(dim)
    batch = Samples(mean + z * std, z, z * std)
    f = rng.standard_normal(dim)
    full = algorithms.build(
        {"new": "ingo", "old": "ingo_step"}[mean_step], {"step_size": beta}
    ).tell(Gaussian(mean, np.diag(std)), batch, f)
    fast = algorithms.build("fast_ingo", {"step_size": beta, "mean_step": mean_step}).tell(
        DiagonalGaussian(mean, std), batch, f
    )
    assert np.allclose(fast.mean, full.mean, rtol=1e-13, atol=0)
    assert np.allclose(np.diag(fast.std**2), full.factor @ full.factor.T, rtol=1e-13, atol=1e-15)


def test_fast_ingo_by_hand():
    """d = 1, N = 2, σ = 2, z = ±1 and 3, values 0 and 2: h = ∓1/√2, β = 1/2."""
    fast = algorithms.build("fast_ingo", {"step_size": 0.5})
    z = np.array([[1.0], [3.0]])
    state = fast.tell(
        DiagonalGaussian(np.array([10.0]), np.array([2.0])),
        Samples(10.0 + 2.0 * z, z, 2.0 * z),
        np.array([0.0, 2.0]),
    )
    growth = 1 + 0.25 / np.sqrt(2) * (9 - 1)  # σ²/σ'²
    assert state.std[0] == pytest.approx(2.0 / np.sqrt(growth), rel=1e-14)
    assert state.mean[0] == pytest.approx(
        10.0 - 2.0 / growth * 0.25 / np.sqrt(2) * (3 - 1), rel=1e-14
    )


def test_es_by_hand():
    """The first Adam step has length α along every axis, against the sign of the gradient."""
    es = algorithms.build("es", {"samples": 2, "step_size": 0.1, "initial_std": 0.5})
    state = es.init(np.array([1.0, -1.0]), np.random.default_rng(0))
    z = np.array([[1.0, -2.0], [-1.0, 2.0]])
    told = es.tell(state, Samples(state.mean + 0.5 * z, z, 0.5 * z), np.array([3.0, 1.0]))
    # the worse point is at +z, so the mean moves along −z
    assert np.allclose(told.mean, [0.9, -0.9], rtol=1e-6, atol=0)
    sgd = algorithms.build("es", {"samples": 2, "step_size": 0.1, "optimiser": "sgd"})
    told = sgd.tell(state, Samples(state.mean + 0.5 * z, z, 0.5 * z), np.array([3.0, 1.0]))
    # g = (1/2)(½ z − ½ (−z)) = z/2
    assert np.allclose(told.mean, [1.0 - 0.05, -1.0 + 0.1], rtol=1e-14, atol=0)


@pytest.mark.parametrize("shaping", ["standardise", "centred_ranks"])
def test_es_divided_by_std_takes_steps_longer_by_one_over_std(shaping):
    """Plain descent moves by 1/σ times the step that leaves σ out; Adam all but ignores it."""
    rng = np.random.default_rng(2)
    batch, start, f = rng.standard_normal((6, 3)), rng.standard_normal(3), rng.standard_normal(6)
    moved = {}
    for optimiser in ("sgd", "adam"):
        for divide in (False, True):
            es = algorithms.build(
                "es",
                {"initial_std": 0.25, "shaping": shaping, "optimiser": optimiser,
                 "divide_by_std": divide},
            )  # fmt: skip
            state = es.init(start, rng)
            told = es.tell(state, Samples(start + 0.25 * batch, batch, 0.25 * batch), f)
            moved[optimiser, divide] = told.mean - start
    assert np.allclose(moved["sgd", True], 4 * moved["sgd", False], rtol=1e-12, atol=0)
    assert np.allclose(moved["adam", True], moved["adam", False], rtol=1e-4, atol=0)


@pytest.mark.parametrize("std", [0.1, 2.0])
def test_es_divided_by_std_estimates_the_gradient_of_the_smoothed_function(std):
    """For f = cᵀx, whatever σ: its gradient c over the standard deviation σ‖c‖ of the values."""
    c = np.array([3.0, -1.0, 2.0])
    es = algorithms.build(
        "es",
        {"samples": 20_000, "step_size": 1.0, "initial_std": std, "shaping": "standardise",
         "optimiser": "sgd", "divide_by_std": True},
    )  # fmt: skip
    rng = np.random.default_rng(4)
    state = es.init(np.zeros(3), rng)
    batch = es.ask(state, rng)
    told = es.tell(state, batch, batch.x @ c)
    wanted = -c / (std * np.linalg.norm(c))
    # one entry's standard error is below √2/√10,000 of the whole, from 10,000 pairs
    assert np.abs(told.mean - wanted).max() < 0.08 * np.linalg.norm(wanted)


def test_es_second_adam_step():
    """Bias-corrected moments over two different gradients, against the recursion written out."""
    es = algorithms.build("es", {"samples": 2, "step_size": 0.1})
    state = es.init(np.zeros(1), np.random.default_rng(0))
    m = v = 0.0
    mean = 0.0
    for t, (a, b) in enumerate([(1.0, 2.0), (5.0, -1.0)], start=1):
        z = np.array([[0.5 * t], [-0.5 * t]])
        state = es.tell(state, Samples(z, z, z), np.array([a, b]))
        g = 0.5 * (-0.5 if a < b else 0.5) * 2 * 0.5 * t
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        mean -= (
            0.1 * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8 / np.sqrt(1 - 0.999**t))
        )
        assert state.mean[0] == pytest.approx(mean, rel=1e-12)


def test_reinforce_gradient_descent_by_hand():
    """d = 1, σ = 2, z = 1 and −3, f = 5 and 1: both gradients of Theorem 2, plain descent."""
    optimiser = algorithms.build("reinforce_gd", {"step_size": 0.1})
    z = np.array([[1.0], [-3.0]])
    state = DiagonalGaussian(np.array([10.0]), np.array([2.0]))
    told = optimiser.tell(state, Samples(10 + 2 * z, z, 2 * z), np.array([5.0, 1.0]))
    g_mean = (5 * 1 / 2 + 1 * -3 / 2) / 2
    g_variance = (5 * (1 - 1) / 8 + 1 * (9 - 1) / 8) / 2
    assert told.mean[0] == pytest.approx(10 - 0.1 * g_mean, rel=1e-14)
    assert told.std[0] ** 2 == pytest.approx(4 - 0.1 * g_variance, rel=1e-14)


def test_reinforce_gradient_descent_ends_when_a_variance_is_lost():
    optimiser = algorithms.build("reinforce_gd", {"step_size": 1.0})
    z = np.array([[3.0], [3.0]])
    state = DiagonalGaussian(np.array([0.0]), np.array([1.0]))
    told = optimiser.tell(state, Samples(z, z, z), np.array([9.0, 9.0]))
    assert told.ended is not None
    assert told.ended.reason is Stop.DIVERGED
    assert told.std is state.std


def test_antithetic_pairs():
    """The noise of ES sums to zero exactly, and every point has its mirror."""
    es = algorithms.build("es", {"samples": 8})
    rng = np.random.default_rng(5)
    batch = es.ask(es.init(np.zeros(4), rng), rng)
    assert np.array_equal(batch.z[:4], -batch.z[4:])


@pytest.mark.parametrize("ddof", [0, 1])
def test_standardise(ddof):
    values = np.array([3.0, -1.0, 4.0, 1.0, 5.0]) * 1e7
    h, ended = standardise(values, ddof)
    assert ended is None
    assert np.allclose(h, (values - values.mean()) / values.std(ddof=ddof), rtol=1e-14, atol=0)
    assert abs(h.sum()) < 1e-14


@pytest.mark.parametrize("value", [0.1, 1e300, -7.0, 0.0])
def test_equal_values_are_flat_to_the_last_bit(value):
    """18 copies of 0.1 have a mean that is not 0.1; a tolerance would guess, the shift knows."""
    _, ended = standardise(np.full(18, value))
    assert ended is not None
    assert ended.reason is Stop.FLAT


def test_values_one_bit_apart_are_not_flat():
    values = np.full(18, 0.1)
    values[3] = np.nextafter(0.1, 1)
    h, ended = standardise(values)
    assert ended is None
    assert np.argmax(h) == 3


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_values_that_are_not_finite_end_as_diverged(bad):
    with np.errstate(all="ignore"):
        _, ended = standardise(np.array([1.0, bad, 2.0]))
    assert ended is not None
    assert ended.reason is Stop.DIVERGED


def test_centred_ranks():
    u, _ = centred_ranks(np.array([30.0, 10.0, np.inf, 20.0, 20.0]))
    assert np.allclose(u, [0.25, -0.5, 0.5, -0.125, -0.125], rtol=1e-14, atol=0)
    flat, ended = centred_ranks(np.full(6, 2.0))
    assert ended is None
    assert not flat.any()
    _, ended = centred_ranks(np.array([1.0, np.nan]))
    assert ended is not None
    assert ended.reason is Stop.DIVERGED


@pytest.mark.parametrize(("name", "sign"), [("ingo", -1.0), ("ingo_step", -1.0), ("igo", 1.0)])
@pytest.mark.parametrize("samples", [4, 16])
def test_loss_of_positive_definiteness_is_a_stop_reason(name, sign, samples):
    """One far sample with a weight beyond the limit; the last good distribution is kept."""
    dim = 10
    rng = np.random.default_rng(1)
    optimiser = algorithms.build(name, {"step_size": 50.0, "samples": samples})
    state = optimiser.init(np.zeros(dim), rng)
    batch = optimiser.ask(state, rng)
    f = np.zeros(samples)
    f[0] = sign  # INGO widens towards good points, IGO narrows away from bad ones
    told = optimiser.tell(state, batch, f)
    assert told.ended is not None
    assert told.ended.reason is Stop.NOT_POSITIVE_DEFINITE
    assert told.mean is state.mean
    assert told.factor is state.factor


def test_fast_ingo_loses_positive_definiteness_as_a_stop_reason():
    fast = algorithms.build("fast_ingo", {"step_size": 50.0, "samples": 4})
    rng = np.random.default_rng(1)
    state = fast.init(np.zeros(10), rng)
    told = fast.tell(state, fast.ask(state, rng), np.array([-1.0, 0.0, 0.0, 0.0]))
    assert told.ended is not None
    assert told.ended.reason is Stop.NOT_POSITIVE_DEFINITE


# ---- the settings of Section 6 -------------------------------------------------------------------


def test_the_settings_of_the_benchmarks():
    """N = 2⌊3 + ⌊3 ln d⌋/2⌋ for all methods, β = 1/d or 1/√d, σ₁ = 0.5; N is even."""
    assert [settings.samples(d) for d in (100, 500, 1000, 2000)] == [18, 24, 26, 28]
    assert all(settings.samples(d) % 2 == 0 for d in range(2, 3000))
    figure_1 = config.read(ROOT / "config.yaml")["experiments"]["figure_1"]
    common = figure_1["common"]
    assert (common["samples"], common["initial_std"]) == (None, 0.5)
    for name, own in figure_1["algorithms"].items():
        hyper = {key: value for key, value in {**common, **own}.items() if key != "label"}
        hyper.pop("algorithm", None)
        assert algorithms.build(name, hyper).batch_size(100) == 18
    for name, beta in (("ingo", 0.01), ("ingo_step", 0.01), ("igo", 0.01), ("fast_ingo", 0.1)):
        own = figure_1["algorithms"][name]
        assert settings.resolve(own.get("step_size", common.get("step_size")), 100) == beta


def test_the_settings_of_control():
    """N = 20 + 4⌊⌊3 ln d⌋/2⌋ at the policies' dimensions, β = 0.3 and σ₁ = 0.1."""
    figure_2 = config.read(ROOT / "config.yaml")["experiments"]["figure_2"]
    dims = {"swimmer": 178, "half_cheetah": 390, "inverted_double_pendulum": 209,
            "humanoid_standup": 6321}  # fmt: skip
    for name, dim in dims.items():
        n = 20 + 4 * (int(3 * np.log(dim)) // 2)
        assert figure_2["problems"][name]["samples"] == n
    assert figure_2["common"]["initial_std"] == 0.1
    assert figure_2["algorithms"]["fast_ingo"]["step_size"] == 0.3
    assert figure_2["runs"] == 5
