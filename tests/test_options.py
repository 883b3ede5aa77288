"""The options that take another reading of the text, each against its equation by hand."""

from __future__ import annotations

from math import log

import numpy as np
import pytest

import algorithms
import problems
from algorithms.shared.gaussian import DiagonalGaussian, Gaussian
from algorithms.shared.halving import shorter
from algorithms.shared.interface import Samples, Stop
from algorithms.shared.loop import iterate
from algorithms.shared.shaping import log_ranks, raw

VALUES = np.array([3.0, 1.0, 2.0, 7.0])


def state_and_samples(kind):
    """A Gaussian in two dimensions whose axes differ, and four samples of it."""
    z = np.array([[1.0, -1.0], [0.5, 2.0], [-1.5, 0.25], [0.0, -0.5]])
    mean, std = np.array([1.0, -2.0]), np.array([0.5, 2.0])
    y = z * std
    state = Gaussian(mean, np.diag(std)) if kind == "full" else DiagonalGaussian(mean, std)
    return state, Samples(mean + y, z, y)


def test_weights_by_rank_are_those_of_cma_es_by_hand():
    """N = 4: ln 3 − ln i of the better half and a third, 1.0986, 0.4055, 0 and 0."""
    best, second = log(3), log(3) - log(2)
    total = best + second
    u, ended = log_ranks(VALUES)
    assert ended is None
    np.testing.assert_allclose(u, [1.0, 1 - 4 * best / total, 1 - 4 * second / total, 1.0])
    assert u.sum() == pytest.approx(0.0, abs=1e-15)


def test_equal_values_share_the_mean_of_their_weights_wherever_they_stand():
    u, _ = log_ranks(np.array([5.0, 1.0, 1.0, 9.0]))
    whole, _ = log_ranks(np.arange(4.0))
    assert u[1] == u[2] == pytest.approx(whole[:2].mean())
    flat, _ = log_ranks(np.full(5, 2.0))
    np.testing.assert_allclose(flat, 0.0, atol=1e-15)
    turned, _ = log_ranks(np.array([9.0, 1.0, 1.0, 5.0]))
    np.testing.assert_array_equal(turned[[3, 1, 2, 0]], u)


def test_ranks_bear_infinities_and_end_at_nan():
    u, ended = log_ranks(np.array([np.inf, 1.0, -np.inf]))
    assert ended is None
    assert u[2] < u[1] < u[0]
    assert log_ranks(np.array([1.0, np.nan]))[1].reason == Stop.DIVERGED


def test_raw_values_are_as_they_are_and_end_where_one_is_not_finite():
    values, ended = raw(VALUES)
    assert ended is None
    np.testing.assert_array_equal(values, VALUES)
    assert raw(np.array([1.0, np.inf]))[1].reason == Stop.DIVERGED


def test_igo_by_ranks_is_igo_with_their_weights():
    """μ' = μ − β Σ (u_i/N) y_i and Σ' = Σ − β Σ (u_i/N) y_i y_iᵀ, the same for any increasing f."""
    igo = algorithms.build("igo", {"step_size": 0.3, "shaping": "log_ranks"})
    state, samples = state_and_samples("full")
    u, _ = log_ranks(VALUES)
    w = 0.3 * u / 4
    told = igo.tell(state, samples, VALUES)
    np.testing.assert_allclose(told.mean, state.mean - w @ samples.y, rtol=1e-14)
    sigma = state.factor @ state.factor.T - samples.y.T @ (w[:, None] * samples.y)
    np.testing.assert_allclose(told.factor @ told.factor.T, sigma, rtol=1e-13)
    other = igo.tell(state, samples, np.exp(VALUES))
    np.testing.assert_array_equal(other.mean, told.mean)
    plain = algorithms.build("igo", {"step_size": 0.3})
    assert not np.allclose(plain.tell(state, samples, VALUES).mean, told.mean)


@pytest.mark.parametrize("shaping", ["raw", "standardise"])
@pytest.mark.parametrize("parameter", ["variance", "std"])
def test_reinforce_descent_by_hand(parameter, shaping):
    reinforce = algorithms.build(
        "reinforce_gd", {"step_size": 0.01, "parameter": parameter, "shaping": shaping}
    )
    state, samples = state_and_samples("diagonal")
    z, std = samples.z, state.std
    f = VALUES
    if shaping == "standardise":
        f = (f - 3.25) / np.sqrt(((f - 3.25) ** 2).sum() / 3)
    told = reinforce.tell(state, samples, VALUES)
    np.testing.assert_allclose(told.mean, state.mean - 0.01 * (f / 4) @ z / std, rtol=1e-14)
    gradient = (f / 4) @ (z * z - 1.0) / (2 * std**2)  # by σ²
    if parameter == "variance":
        wanted = np.sqrt(std**2 - 0.01 * gradient)
    else:
        wanted = std - 0.01 * gradient * 2 * std  # dσ²/dσ = 2σ
    np.testing.assert_allclose(told.std, wanted, rtol=1e-13)


def test_reinforce_descent_in_sigma_ends_where_sigma_is_not_positive():
    """Also where its square is."""
    reinforce = algorithms.build("reinforce_gd", {"step_size": 10.0, "parameter": "std"})
    state, samples = state_and_samples("diagonal")
    told = reinforce.tell(state, samples, np.array([1.0, 1.0, 100.0, 1.0]))
    assert told.ended.reason == Stop.DIVERGED
    assert told.ended.detail == "a variance is not positive"


def test_reinforce_with_standardised_values_ends_at_a_flat_batch():
    reinforce = algorithms.build("reinforce_gd", {"shaping": "standardise"})
    state, samples = state_and_samples("diagonal")
    assert reinforce.tell(state, samples, np.ones(4)).ended.reason == Stop.FLAT


def test_fast_ingo_goes_on_through_a_flat_batch_with_the_same_distribution():
    state, samples = state_and_samples("diagonal")
    through = algorithms.build("fast_ingo", {"flat": "continue"})
    assert through.tell(state, samples, np.ones(4)) is state
    ends = algorithms.build("fast_ingo", {})
    assert ends.tell(state, samples, np.ones(4)).ended.reason == Stop.FLAT
    lost = np.array([1.0, np.nan, 1.0, 1.0])
    assert through.tell(state, samples, lost).ended.reason == Stop.DIVERGED


def test_fast_ingo_through_flat_batches_uses_its_budget():
    """f is flat, so that the run would end at its first batch."""
    through = algorithms.build("fast_ingo", {"flat": "continue", "samples": 4})
    rng = np.random.default_rng(0)
    *_, last = iterate(through, lambda x: np.zeros(len(x)), np.zeros(3), rng, 40)
    assert (last.evaluations, last.ended.reason) == (40, Stop.BUDGET)


def test_one_w_for_all_runs_is_that_of_its_seed():
    def solution(run, **own):
        instance = np.random.default_rng(run)
        made = problems.build("binary_reconstruction", {"dim": 50, **own}, instance)
        return made.minimiser

    assert (solution(1, w_seed=3) == solution(2, w_seed=3)).all()
    assert (solution(1, w_seed=3) == (np.random.default_rng(3).standard_normal(50) > 0)).all()
    assert (solution(1, w_seed=3) != solution(1, w_seed=4)).any()
    assert (solution(1) != solution(2)).any()
    for wrong in (-1, True, 1.0, "a"):
        with pytest.raises(ValueError, match="w_seed is .*; allowed: null or a whole number"):
            solution(1, w_seed=wrong)


def test_the_condition_of_the_ellipsoid_is_the_ratio_of_its_ends():
    for condition in (1.0, 1e3, 1e6):
        f = problems.build("ellipsoid", {"dim": 7, "condition": condition}).evaluate
        first, *_, last = f(np.eye(7))
        assert first == 1.0
        assert last == pytest.approx(condition, rel=1e-14)
    assert (f(np.eye(7)) == problems.build("ellipsoid", {"dim": 7}).evaluate(np.eye(7))).all()
    for wrong in (0.5, True, float("inf"), float("nan")):
        with pytest.raises(ValueError, match="condition is .*; allowed: a number ≥ 1"):
            problems.build("ellipsoid", {"dim": 7, "condition": wrong})


@pytest.mark.parametrize(
    ("name", "wrong", "allowed"),
    [
        ("igo", {"shaping": "raw"}, "standardise, log_ranks"),
        ("fast_ingo", {"flat": "stop"}, "end, continue"),
        ("reinforce_gd", {"parameter": "sigma"}, "variance, std"),
        ("reinforce_gd", {"shaping": "log_ranks"}, "raw, standardise"),
        ("es", {"shaping": "none"}, "centred_ranks, log_ranks, raw, standardise"),
    ],
)
def test_a_value_that_is_not_allowed_is_refused_with_those_that_are(name, wrong, allowed):
    (key,) = wrong
    with pytest.raises(ValueError, match=f"{key} is .*; allowed: {allowed}"):
        algorithms.build(name, wrong)


def test_a_mean_step_of_ingos_own_moves_the_mean_by_it_and_the_covariance_by_beta():
    """μ' = μ − η Σ' Σ^{-½} Σ (h_i/N) z_i, Σ'⁻¹ = Σ⁻¹ + β Σ (h_i/N) Σ^{-½} z_i z_iᵀ Σ^{-½}."""
    state, samples = state_and_samples("full")
    h = (VALUES - VALUES.mean()) / VALUES.std(ddof=1)
    root = np.linalg.inv(state.factor)
    beta, eta = 0.2, 0.7
    inverse = root @ (np.eye(2) + beta / 4 * (samples.z.T * h) @ samples.z) @ root
    expected = state.mean - eta * np.linalg.solve(inverse, root @ (samples.z.T @ h / 4))
    own = algorithms.build("ingo", {"step_size": beta, "mean_step_size": eta})
    told = own.tell(state, samples, VALUES)
    np.testing.assert_allclose(told.mean, expected, rtol=1e-12)
    np.testing.assert_allclose(np.linalg.inv(told.factor @ told.factor.T), inverse, rtol=1e-12)
    plain = algorithms.build("ingo", {"step_size": beta}).tell(state, samples, VALUES)
    assert np.array_equal(plain.factor, told.factor)
    same = algorithms.build("ingo", {"step_size": beta, "mean_step_size": beta})
    np.testing.assert_allclose(same.tell(state, samples, VALUES).mean, plain.mean, rtol=1e-14)


def test_halving_a_step_halves_beta_and_leaves_the_mean_step():
    state, samples = state_and_samples("full")
    own = algorithms.build("ingo", {"step_size": 0.2, "mean_step_size": 0.7})
    half = algorithms.build("ingo", {"step_size": 0.1, "mean_step_size": 0.7})
    told, wanted = shorter(own, state, samples, VALUES), half.tell(state, samples, VALUES)
    np.testing.assert_array_equal(told.mean, wanted.mean)
    np.testing.assert_array_equal(told.factor, wanted.factor)


def test_a_mean_step_may_be_a_rule():
    state, samples = state_and_samples("full")
    rule, number = (
        algorithms.build("ingo", {"step_size": 0.1, "mean_step_size": step})
        for step in ("1*sqrt(N)/d", 1.0)
    )
    moved = [i.tell(state, samples, VALUES).mean for i in (rule, number)]
    np.testing.assert_array_equal(*moved)  # √4/2
    with pytest.raises(ValueError, match=r"mean_step_size is -1\.0; allowed: a positive number"):
        algorithms.build("ingo", {"mean_step_size": -1.0})
