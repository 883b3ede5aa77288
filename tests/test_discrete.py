"""Discrete search: the updates over whole spaces, what must not change a path, and the GAs."""

from __future__ import annotations

import subprocess
import sys
from itertools import product
from math import exp
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import algorithms
import problems
from algorithms.bernoulli_ingo import Bernoulli
from algorithms.categorical_ingo import Categorical
from algorithms.ga import GAState
from algorithms.shared.interface import Ending, Samples, Stop
from algorithms.shared.loop import iterate, quiet
from algorithms.shared.settings import samples_discrete
from algorithms.simple_ga import Generation
from experiments.config import ConfigError
from experiments.plan import Plan
from experiments.runs.seeds import stream
from experiments.runs.simulate import run
from experiments.runs.spec import Spec
from figures import regret, style

SPACES = {name: algorithms.load(name).space for name in algorithms.available()}
BINARY = [name for name, space in SPACES.items() if space == "binary"]
ALL = [name for name, space in SPACES.items() if space != "real"]


def test_all_four_methods_are_found():
    assert {"bernoulli_ingo", "ga", "simple_ga"} <= set(BINARY)
    assert "categorical_ingo" in set(ALL) - set(BINARY)


def every(categories, dim):
    """All K^d points, one a row."""
    return np.array(list(product(range(categories), repeat=dim)), dtype=float)


def marked(x, eta):
    """Points as Bernoulli.sample returns them: z marks where the rarer value is."""
    return Samples(x, (x != (eta > 0)).astype(float))


def expected_step(optimiser, state, points, chances, f):
    """The expectation of η_{t+1} − η_t over pairs of points drawn by ``chances``.

    A batch of two with values a and b has h = ±1/√2, whatever the values. Multiplied by |a − b|/√2,
    the standard deviation, its step is the one for the values themselves, measured from their mean:
    half of what N = 2 independent values give, since each is in its own mean.
    """
    total = np.zeros_like(state.eta)
    for i, j in product(range(len(points)), repeat=2):
        values = f[[i, j]]
        if values[0] != values[1]:
            x = points[[i, j]]
            batch = marked(x, state.eta) if state.eta.ndim == 1 else Samples(x)
            moved = optimiser.tell(state, batch, values).eta - state.eta
            total += chances[i] * chances[j] * np.std(values, ddof=1) * moved
    return total


# --- updates --------------------------------------------------------------------------------------


def test_the_bernoulli_step_descends_the_gradient_over_all_points():
    """d = 4: E[s Δη] = −β (1 − 1/N) ∇_p E f, with s the standard deviation that h is divided by.

    ∂E f/∂p_j = E[f | x_j = 1] − E[f | x_j = 0], summed over all 16 points.
    """
    dim, beta = 4, 0.3
    rng = np.random.default_rng(0)
    eta = np.array([0.4, -1.5, 2.5, -0.01])
    p = 1 / (1 + np.exp(-eta))
    x, f = every(2, dim), rng.standard_normal(2**dim)
    chances = np.prod(np.where(x == 1, p, 1 - p), axis=1)
    gradient = [
        np.sum((chances * f)[x[:, j] == 1]) / p[j]
        - np.sum((chances * f)[x[:, j] == 0]) / (1 - p[j])
        for j in range(dim)
    ]
    optimiser = algorithms.build("bernoulli_ingo", {"step_size": beta})
    step = expected_step(optimiser, Bernoulli(eta), x, chances, f)
    assert np.allclose(step, -beta / 2 * np.array(gradient), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("categories", [2, 3])
def test_the_categorical_step_descends_the_gradient_over_all_points(categories):
    """∂E f/∂P_ij = E[f | x_i = j], up to a constant in each row, which a softmax cannot see."""
    dim, beta = 3, 0.3
    rng = np.random.default_rng(1)
    eta = rng.standard_normal((dim, categories))
    P = np.exp(eta) / np.exp(eta).sum(axis=1, keepdims=True)
    x, f = every(categories, dim), rng.standard_normal(categories**dim)
    chances = np.prod(P[np.arange(dim), x.astype(int)], axis=1)
    gradient = np.array(
        [
            [np.sum((chances * f)[x[:, i] == j]) / P[i, j] for j in range(categories)]
            for i in range(dim)
        ]
    )
    optimiser = algorithms.build("categorical_ingo", {"step_size": beta})
    step = expected_step(optimiser, Categorical(eta), x, chances, f)
    gradient -= chances @ f  # the mean that h is measured from
    assert np.allclose(step, -beta / 2 * gradient, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("scale", [1.0, 10.0])
def test_the_bernoulli_step_equals_the_papers_formula(scale):
    """A batch that mixes rare and likely values, h written as the paper prints it."""
    rng = np.random.default_rng(2)
    dim, n, beta = 30, 12, 0.07
    eta = scale * rng.standard_normal(dim)
    p = 1 / (1 + np.exp(-eta))
    x = (rng.random((n, dim)) < 0.5).astype(float)
    f = rng.standard_normal(n)
    h = (f - f.mean()) / f.std(ddof=1)
    wanted = eta - beta / n * h @ ((x == 1) / p - (x == 0) / (1 - p))
    told = algorithms.build("bernoulli_ingo", {"step_size": beta}).tell(
        Bernoulli(eta), marked(x, eta), f
    )
    # 1 − p itself loses digits at large η: 2⁻⁵³ e^η of its size
    assert np.allclose(told.eta, wanted, rtol=1e-14 + 2e-16 * exp(np.abs(eta).max()), atol=1e-14)


def test_the_categorical_step_equals_the_papers_formula():
    rng = np.random.default_rng(3)
    dim, n, categories, beta = 20, 12, 4, 0.07
    eta = 3 * rng.standard_normal((dim, categories))
    P = np.exp(eta) / np.exp(eta).sum(axis=1, keepdims=True)
    x = rng.integers(categories, size=(n, dim)).astype(float)
    f = rng.standard_normal(n)
    h = (f - f.mean()) / f.std(ddof=1)
    H = (x[:, :, None] == np.arange(categories)) / P
    told = algorithms.build("categorical_ingo", {"step_size": beta}).tell(
        Categorical(eta), Samples(x), f
    )
    assert np.allclose(told.eta, eta - beta / n * np.tensordot(h, H, 1), rtol=1e-12, atol=1e-14)


def test_the_step_by_hand():
    """η = (0, ln 3): p = (½, ¾). Points 01 and 10, values 0 and 2, β = ½: w = ∓√2/8."""
    eta = np.array([0.0, np.log(3.0)])
    x = np.array([[0.0, 1.0], [1.0, 0.0]])
    told = algorithms.build("bernoulli_ingo", {"step_size": 0.5}).tell(
        Bernoulli(eta), marked(x, eta), np.array([0.0, 2.0])
    )
    w = np.sqrt(2.0) / 8
    assert np.allclose(
        told.eta, [-w * (2 + 2), np.log(3.0) + w * (4 / 3 + 4)], rtol=1e-14, atol=1e-14
    )


@pytest.mark.parametrize("size", [20.0, 30.0, 36.0, 300.0, 700.0])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_rare_draw_counts_exactly_at_extreme_odds(size, sign):
    """Given that a value of the probability 1/(1 + e^|η|) is in the batch, its weight is exact,
    though 1 − p would have no digit left at |η| > 36.
    """
    eta = np.array([sign * size])
    x = np.array([[1.0], [0.0]])
    f = np.array([1.0, 0.0])
    told = algorithms.build("bernoulli_ingo", {"step_size": 1.0}).tell(
        Bernoulli(eta), marked(x, eta), f
    )
    # h = ±1/√2 and N = 2; 1/q + 1/(1 − q) = e^|η| + 2 + e^−|η|
    step = (exp(size) + 2 + exp(-size)) / np.sqrt(8.0)
    assert told.eta[0] == pytest.approx(sign * size - step, rel=1e-14)


@pytest.mark.parametrize("size", [38.0, 750.0, 1e6, 1e308])
def test_a_saturated_coordinate_rests_and_stays_finite(size):
    """Beyond |η| = 37.4 the rarer value is never drawn, and the coordinate does not move at all."""
    eta = np.array([size, -size, 0.3, 0.0])
    optimiser = algorithms.build("bernoulli_ingo", {"samples": 500, "step_size": 1.0})
    state = Bernoulli(eta)
    rng = np.random.default_rng(4)
    with np.errstate(all="raise", under="ignore"):
        for _ in range(20):
            batch = optimiser.ask(state, rng)
            assert (batch.x[:, 0] == 1).all()
            assert (batch.x[:, 1] == 0).all()
            state = optimiser.tell(state, batch, rng.standard_normal(500))
            assert np.isfinite(state.spread().sigma)
    assert np.array_equal(state.eta[:2], eta[:2])
    assert not np.array_equal(state.eta[2:], eta[2:])
    assert np.isfinite(state.eta).all()


def test_a_saturated_row_rests_and_stays_finite():
    eta = np.array([[1e4, 0.0, -1e4], [0.0, 800.0, 0.0], [0.1, 0.2, 0.0]])
    optimiser = algorithms.build("categorical_ingo", {"samples": 500, "step_size": 1.0})
    state = Categorical(eta)
    rng = np.random.default_rng(5)
    with np.errstate(all="raise", under="ignore"):
        for _ in range(20):
            batch = optimiser.ask(state, rng)
            assert (batch.x[:, 0] == 0).all()
            assert (batch.x[:, 1] == 1).all()
            state = optimiser.tell(state, batch, rng.standard_normal(500))
    assert np.allclose(state.eta[:2], eta[:2], rtol=0, atol=1e-12)
    assert np.isfinite(state.eta).all()
    assert np.isfinite(state.spread().sigma)


# --- sampling -------------------------------------------------------------------------------------


class Fixed:
    """In place of a generator: random() gives these numbers."""

    def __init__(self, u):
        self.u = np.asarray(u)

    def random(self, size):
        return np.broadcast_to(self.u, size).copy()


@pytest.mark.parametrize("eta", [0.0, 1.0, -1.0, 5.0, -20.0, 30.0, 36.0])
def test_the_rarer_value_has_its_probability_to_the_last_bit_of_the_random_numbers(eta):
    """The numbers of random() are the multiples of 2⁻⁵³. The rarer value takes the uppermost of
    them, as many as its probability, rounded to a whole number of them, says.
    """
    step = 2.0**-53
    rarer = 1 / (1 + exp(abs(eta)))
    count = round(rarer / step)
    assert count > 0
    u = 1.0 - np.array([[count + 2], [count - 2 if count > 4 else count]]) * step
    batch = Bernoulli(np.array([eta])).sample(2, Fixed(u))
    assert batch.z[:, 0].tolist() == [0.0, 1.0]
    assert (batch.x[:, 0] == (1.0 if eta > 0 else 0.0)).tolist() == [True, False]


def test_samples_have_their_probabilities():
    """Shares over 40,000 points, within six standard errors."""
    n = 40000
    eta = np.array([0.0, 2.0, -2.0, 4.0])
    share = Bernoulli(eta).sample(n, np.random.default_rng(6)).x.mean(axis=0)
    p = 1 / (1 + np.exp(-eta))
    assert (np.abs(share - p) < 6 * np.sqrt(p * (1 - p) / n)).all()
    rows = np.random.default_rng(7).standard_normal((5, 4))
    x = Categorical(rows).sample(n, np.random.default_rng(8)).x
    P = np.exp(rows) / np.exp(rows).sum(axis=1, keepdims=True)
    share = np.mean(x[:, :, None] == np.arange(4), axis=0)
    assert (np.abs(share - P) < 6 * np.sqrt(P * (1 - P) / n)).all()


def test_the_sample_size_is_the_printed_one():
    assert [samples_discrete(d) for d in (100, 500, 1000, 2000)] == [56, 68, 72, 76]


@pytest.mark.parametrize("name", [n for n in ALL if n != "one_plus_one_ea"])
@pytest.mark.parametrize("samples", [None, 8])
def test_a_batch_has_n_points(name, samples):
    """20 + 4⌊3 + ⌊3 ln 12⌋/2⌋ = 44 unless given."""
    assert batches(name, budget=100, samples=samples)[0].x.shape == (samples or 44, 12)


@pytest.mark.parametrize("p", [0.5, 0.2, 0.999])
def test_the_first_distribution_is_the_one_it_was_given(p):
    rng = np.random.default_rng(0)
    state = algorithms.build("bernoulli_ingo", {}).init(np.full(9, p), rng)
    assert np.allclose(1 / (1 + np.exp(-state.eta)), p, rtol=1e-14, atol=0)
    assert state.spread().sigma == pytest.approx(np.sqrt(p * (1 - p)), rel=1e-12)
    P = np.array([[p, (1 - p) / 3, 2 * (1 - p) / 3]] * 9)
    state = algorithms.build("categorical_ingo", {}).init(P, rng)
    assert np.allclose(state.probabilities(), P, rtol=1e-14, atol=0)
    for name in ("ga", "simple_ga"):
        state = algorithms.build(name, {"samples": 400}).init(np.full(500, p), rng)
        x = algorithms.build(name, {}).ask(state, rng).x
        # 200,000 bits: six standard errors are at most 0.0067
        assert x.mean() == pytest.approx(p, abs=0.0067)


# --- invariances ----------------------------------------------------------------------------------


def path(optimiser, state, points_of, fun, draws):
    """States of a run whose noise is ``draws``."""
    states = [state]
    for u in draws:
        batch = points_of(state, u)
        state = optimiser.tell(state, batch, fun(batch.x))
        assert state.ended is None
        states.append(state)
    return states


ETA = np.array([0.2, -0.4, 1.0, -2.0, 0.1, -0.1, 0.7, 3.0])


def draw(state, u):
    return state.sample(len(u), Fixed(u))


def test_flipping_bits_flips_the_path(rugged, noise):
    """f(x ⊕ a) from the flipped distribution visits the flipped points, to the last bit."""
    a = np.array([1, 0, 1, 1, 0, 0, 1, 0.0])
    sign = 1 - 2 * a
    optimiser = algorithms.build("bernoulli_ingo", {"step_size": 0.05})
    plain = path(optimiser, Bernoulli(ETA), draw, rugged, noise)
    flipped = path(optimiser, Bernoulli(sign * ETA), draw, lambda x: rugged(np.abs(x - a)), noise)
    for s, t in zip(plain, flipped, strict=True):
        assert np.array_equal(t.eta, sign * s.eta)
        assert np.array_equal(t.mean, np.abs(s.mean - a))
    assert np.abs(plain[-1].eta - ETA).max() > 0.2  # it has moved far enough to tell


def test_permuting_coordinates_permutes_the_path(rugged, noise):
    order = np.random.default_rng(11).permutation(8)
    back = np.argsort(order)
    optimiser = algorithms.build("bernoulli_ingo", {"step_size": 0.05})
    plain = path(optimiser, Bernoulli(ETA), draw, rugged, noise)
    permuted = path(
        optimiser, Bernoulli(ETA[order]), draw, lambda x: rugged(x[:, back]), noise[:, :, order]
    )
    for s, t in zip(plain, permuted, strict=True):
        assert np.allclose(t.eta, s.eta[order], rtol=1e-12, atol=1e-14)


def test_permuting_coordinates_and_categories_permutes_the_categorical_path(noise):
    rng = np.random.default_rng(12)
    eta, table = rng.standard_normal((8, 3)), rng.standard_normal((8, 3))
    order, names = rng.permutation(8), np.array([2, 0, 1])  # category k becomes names[k]
    back, old = np.argsort(order), np.argsort(names)

    def fun(x):
        return table[np.arange(8), x.astype(int)].sum(axis=1) + x[:, 0] * x[:, 1]

    optimiser = algorithms.build("categorical_ingo", {"step_size": 0.05})
    plain = path(optimiser, Categorical(eta), draw, fun, noise)
    permuted = path(
        optimiser,
        Categorical(eta[order][:, old]),
        draw,
        lambda x: fun(old[x.astype(int)][:, back].astype(float)),
        noise[:, :, order],
    )
    for s, t in zip(plain, permuted, strict=True):
        assert np.allclose(t.eta, s.eta[order][:, old], rtol=1e-10, atol=1e-14)


def test_a_monotone_map_of_f_changes_the_path_and_an_affine_one_does_not(rugged, noise):
    """The values are standardised, not ranked."""
    optimiser = algorithms.build("bernoulli_ingo", {"step_size": 0.05})
    plain = path(optimiser, Bernoulli(ETA), draw, rugged, noise)[-1].eta
    affine = path(optimiser, Bernoulli(ETA), draw, lambda x: 3 * rugged(x) - 7, noise)[-1].eta
    cubed = path(optimiser, Bernoulli(ETA), draw, lambda x: rugged(x) ** 3, noise)[-1].eta
    assert np.allclose(affine, plain, rtol=1e-9, atol=0)
    assert not np.allclose(cubed, plain, rtol=1e-2)


def test_two_categories_are_the_bernoulli_method(rugged, noise):
    """η_i1 − η_i0 of the one is η_i of the other, at every step; the noise is the same."""
    two = np.stack([np.full(8, 0.3), ETA + 0.3], axis=1)
    parameters = {"step_size": 0.05}
    bits = path(algorithms.build("bernoulli_ingo", parameters), Bernoulli(ETA), draw, rugged, noise)
    categories = path(
        algorithms.build("categorical_ingo", parameters), Categorical(two), draw, rugged, noise
    )
    for s, t in zip(bits, categories, strict=True):
        assert np.allclose(t.eta[:, 1] - t.eta[:, 0], s.eta, rtol=1e-10, atol=1e-14)
        assert np.array_equal(t.mean, s.mean)
        assert t.spread().sigma == pytest.approx(s.spread().sigma, rel=1e-10)


# --- problems -------------------------------------------------------------------------------------


def reconstruction(dim, seed=0):
    """The problem, and its w drawn once more."""
    problem = problems.build("binary_reconstruction", {"dim": dim}, np.random.default_rng(seed))
    return problem, np.random.default_rng(seed).standard_normal(dim)


def test_binary_regret_against_brute_force():
    """d = 8: all 256 values as the paper prints them, whose smallest is at the minimiser."""
    problem, w = reconstruction(8)
    x = every(2, 8)
    plain = [
        np.linalg.norm(np.sign(row - 0.5) - w) ** 2 - np.linalg.norm(np.sign(w) - w) ** 2
        for row in x
    ]
    values = problem.evaluate(x)
    assert np.allclose(values, plain, rtol=1e-12, atol=1e-13)
    assert np.array_equal(x[values.argmin()], problem.minimiser)
    assert values.min() == problem.minimum == 0.0
    assert np.sum(values == 0.0) == 1


@pytest.mark.parametrize("dim", [2, 100, 2000])
def test_binary_regret_against_the_formula(dim):
    problem, w = reconstruction(dim, seed=dim)
    x = (np.random.default_rng(1).random((7, dim)) < 0.5).astype(float)
    plain = np.sum((np.sign(x - 0.5) - w) ** 2, axis=1) - np.sum((np.sign(w) - w) ** 2)
    assert np.allclose(problem.evaluate(x), plain, rtol=1e-11, atol=0)
    assert problem.f_at(problem.minimiser) == 0.0


@pytest.mark.parametrize("name", ["binary", "categorical"])
@pytest.mark.parametrize("n", [1, 7, 76])
def test_a_value_does_not_hang_on_the_place_in_a_batch(name, n):
    """Else a run whose points are all equal, but not optimal, might not be told to be flat."""
    parameters = {"dim": 100} | ({"categories": 3} if name == "categorical" else {})
    problem = problems.build(f"{name}_reconstruction", parameters)
    x = np.random.default_rng(n).integers(2, size=100).astype(float)
    values = problem.evaluate(np.repeat(x[None], n, axis=0))
    assert (values == problem.f_at(x)).all()


def test_one_wrong_bit_of_two_thousand_costs_exactly_its_weight():
    """Through the paper's formula ten of its digits would be lost."""
    problem, w = reconstruction(2000)
    j = np.abs(w).argmin()
    x = problem.minimiser.copy()
    x[j] = 1 - x[j]
    assert problem.f_at(x) == 4 * abs(w[j])


@pytest.mark.parametrize("categories", [2, 3, 10])
def test_categorical_regret_against_the_formula(categories):
    rng = np.random.default_rng(13)
    parameters = {"dim": 4, "categories": categories}
    problem = problems.build("categorical_reconstruction", parameters, np.random.default_rng(3))
    w = np.random.default_rng(3).standard_normal((4, categories))
    codes = np.sqrt(2) * np.eye(categories)
    costs = ((codes[None] - w[:, None]) ** 2).sum(axis=2)  # (d, K)
    x = every(categories, 4) if categories < 10 else rng.integers(10, size=(500, 4)).astype(float)
    plain = costs[np.arange(4), x.astype(int)].sum(axis=1) - costs.min(axis=1).sum()
    assert np.allclose(problem.evaluate(x), plain, rtol=1e-12, atol=1e-12)
    assert problem.f_at(problem.minimiser) == problem.minimum == 0.0
    assert (problem.evaluate(x) > 0.0).sum() >= len(x) - 1
    assert problem.start(rng).shape == (4, categories)


def test_two_categories_are_the_binary_problem():
    parameters = {"dim": 50, "categories": 2}
    problem = problems.build("categorical_reconstruction", parameters, np.random.default_rng(3))
    w = np.diff(np.random.default_rng(3).standard_normal((50, 2)), axis=1)[:, 0] / np.sqrt(2)
    x = np.random.default_rng(4).integers(2, size=(20, 50)).astype(float)
    plain = np.sum((np.sign(x - 0.5) - w) ** 2, axis=1) - np.sum((np.sign(w) - w) ** 2)
    assert np.allclose(problem.evaluate(x), plain, rtol=1e-12, atol=0)


@pytest.mark.parametrize("seed", [0, 1])
def test_each_seed_has_a_target_of_its_own_that_all_optimisers_share(seed):
    """The stream of w is keyed by problem and seed, and by no optimiser."""
    spec = Spec("binary_reconstruction", "bernoulli_ingo", 200, None, {"dim": 30}, root_seed=7)
    w = stream(7, "instance", "binary_reconstruction", seed).standard_normal(30)
    # the first mode is 0 everywhere, so all bits with w > 0 are wrong
    assert run(spec, seed)[0].rows["f_mean"][0] == pytest.approx(4 * w[w > 0].sum(), rel=1e-12)


@pytest.mark.parametrize("dim", [1, 2.0, True, "10", None])
def test_a_dimension_that_is_none_is_named(dim):
    with pytest.raises(ValueError, match=r"dim is .*; allowed: a whole number ≥ 2"):
        problems.build("binary_reconstruction", {"dim": dim})
    with pytest.raises(ValueError, match=r"categories is .*; allowed: a whole number ≥ 2"):
        problems.build("categorical_reconstruction", {"dim": 5, "categories": dim})


# --- runs -----------------------------------------------------------------------------------------


def batches(name, fun=None, budget=3000, seed=0, dim=12, **parameters):
    kind = SPACES[name]
    arguments = {"dim": dim} | ({"categories": 3} if kind == "categorical" else {})
    problem = problems.build(f"{kind}_reconstruction", arguments, np.random.default_rng(seed))
    rng = np.random.default_rng(seed)
    with quiet():
        start = problem.start(rng)
        optimiser = algorithms.build(name, parameters)
        return list(iterate(optimiser, fun or problem.evaluate, start, rng, budget))


@pytest.mark.parametrize("name", ALL)
def test_a_run_finds_the_optimum_of_a_small_problem(name):
    found = batches(name, budget=3000)
    assert found[-1].best == 0.0
    assert found[-1].state.mean.shape == (12,)


@pytest.mark.parametrize("name", ["bernoulli_ingo", "categorical_ingo"])
def test_a_run_at_rest_ends_as_flat_with_its_last_row_kept(name):
    """Once all p have saturated, all points of a batch are the mode."""
    problem = SPACES[name]
    parameters = {"dim": 12} | ({"categories": 3} if problem == "categorical" else {})
    spec = Spec(f"{problem}_reconstruction", name, 10**6, None, parameters, record_every=10**6)
    trace, metadata = run(spec, 3)
    rows = trace.rows
    assert metadata["stop"] == Stop.FLAT
    assert rows["evaluations"][-1] < 10**6
    assert rows["iteration"][-1] > rows["iteration"][-2]
    assert rows["batch_min"][-1] == rows["batch_mean"][-1] == rows["f_mean"][-1]


@pytest.mark.parametrize("name", ALL)
def test_a_flat_function_never_raises(name):
    last = batches(name, fun=lambda x: np.full(len(x), 0.1))[-1]
    flat = name.endswith("ingo")
    assert last.ended.reason == (Stop.FLAT if flat else Stop.BUDGET)
    assert last.iteration == 1 or not flat


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_bad_values_end_a_run_as_diverged(name, bad):
    def fun(x):
        values = x.sum(axis=1)
        values[0] = bad
        return values

    assert batches(name, fun=fun)[-1].ended == Ending(Stop.DIVERGED)


@pytest.mark.parametrize("name", ALL)
def test_the_same_stream_gives_the_same_run_and_another_does_not(name):
    a, b, c = (batches(name, seed=seed, dim=30) for seed in (1, 1, 2))
    assert len(a) > 10
    assert all(np.array_equal(i.x, j.x) for i, j in zip(a, b, strict=True))
    assert not np.array_equal(a[0].x, c[0].x)


@pytest.mark.parametrize("name", ALL)
def test_numpys_global_generator_is_neither_read_nor_moved(name):
    np.random.seed(1)  # noqa: NPY002
    before = np.random.get_state()[1:3]  # noqa: NPY002
    a = batches(name)
    after = np.random.get_state()[1:3]  # noqa: NPY002
    assert np.array_equal(after[0], before[0])
    assert after[1] == before[1]
    np.random.seed(2)  # noqa: NPY002
    b = batches(name)
    assert np.array_equal(a[-1].x, b[-1].x)


@pytest.mark.parametrize("name", ["ga", "simple_ga"])
def test_a_change_of_the_stream_in_mid_run_changes_the_children(name):
    """All randomness comes through the argument of ask, none from a stream of the library's."""

    def children(seed):
        optimiser = algorithms.build(name, {"samples": 20})
        rng = np.random.default_rng(0)
        state = optimiser.init(np.full(30, 0.5), rng)
        batch = optimiser.ask(state, rng)
        state = optimiser.tell(state, batch, batch.x @ np.arange(30.0))
        return optimiser.ask(state, np.random.default_rng(seed)).x

    assert np.array_equal(children(1), children(1))
    assert not np.array_equal(children(1), children(2))


@pytest.mark.parametrize("name", [n for n in ALL if n != "ga"])
def test_tell_is_a_function_that_leaves_its_arguments_alone(name):
    """pymoo's object changes in place, which its state says; the others can be told twice."""
    optimiser = algorithms.build(name, {})
    rng = np.random.default_rng(0)
    start = np.full((7, 3), 1 / 3) if SPACES[name] == "categorical" else np.full(7, 0.5)
    state = optimiser.init(start, rng)
    batch = optimiser.ask(state, rng)
    values = batch.x @ np.arange(7.0)
    copies = [a.copy() for a in (*batch, values)]
    first, second = (optimiser.tell(state, batch, values) for _ in range(2))
    assert np.array_equal(first.mean, second.mean)
    assert first.spread() == second.spread()
    assert all(np.array_equal(a, b) for a, b in zip((*batch, values), copies, strict=True))


def test_only_a_run_of_the_ga_loads_pymoo():
    code = (
        "import sys, numpy as np, algorithms\n"
        "for name in ('bernoulli_ingo', 'simple_ga'):\n"
        "    algorithms.build(name, {}).init(np.full(5, 0.5), np.random.default_rng(0))\n"
        "algorithms.build('ga', {})\n"
        "assert 'pymoo' not in sys.modules\n"
    )
    here = Path(__file__).parent.parent
    assert subprocess.run([sys.executable, "-c", code], cwd=here, check=False).returncode == 0


# --- the genetic algorithms -----------------------------------------------------------------------


def test_pymoos_ga_keeps_its_best_and_stops_out_of_patience():
    found = batches("ga", budget=30000, dim=30, patience=15)
    assert found[-1].ended == Ending(Stop.STAGNATED, "patience")
    assert found[-1].best == found[-16].best < found[-17].best


def test_pymoos_best_member_is_the_best_point_so_far_and_its_children_are_new():
    optimiser = algorithms.build("ga", {"samples": 20})
    rng = np.random.default_rng(0)
    state = optimiser.init(np.full(15, 0.5), rng)
    problem, _ = reconstruction(15)
    best = np.inf
    for k in range(20):
        parents = {row.tobytes() for row in state.population}
        batch = optimiser.ask(state, rng)
        children = {row.tobytes() for row in batch.x}
        assert len(children) == len(batch.x) == 20
        assert k == 0 or not parents & children
        values = problem.evaluate(batch.x)
        best = min(best, values.min())
        before, state = state, optimiser.tell(state, batch, values)
        assert problem.f_at(state.mean) == state.values.min() == best
        assert {row.tobytes() for row in before.population} == parents  # as when it was asked
    assert best < 1.0


def test_pymoos_children_are_mixtures_of_two_as_often_as_is_asked():
    """pymoo's default is 0.9, as ours. Without crossover and mutation there is nothing new."""
    rng = np.random.default_rng(0)
    state = algorithms.build("ga", {"crossover_rate": 0.3}).init(np.full(9, 0.5), rng)
    assert state.library.mating.crossover.prob.value == 0.3
    for rate in (0.0, 1.0):
        optimiser = algorithms.build("ga", {"crossover_rate": rate, "mutation_rate": 0.0})
        state = optimiser.init(np.full(30, 0.5), rng)
        first = optimiser.ask(state, rng)
        state = optimiser.tell(state, first, first.x.sum(axis=1))
        assert np.array_equal(optimiser.ask(state, rng).x, state.population) == (rate == 0)


def test_pymoos_ga_survives_a_space_without_new_points():
    """Four points and a population of 20: at once there is nothing new to try."""
    found = batches("ga", dim=2, budget=16, samples=20)
    assert found[-1].ended == Ending(Stop.BUDGET)
    assert len(found) > 2
    assert found[-1].best == 0.0


def told(x, values, **parameters):
    return (
        algorithms.build("simple_ga", parameters),
        Generation(np.asarray(x, dtype=float), np.asarray(values, dtype=float)),
    )


def test_without_crossover_and_mutation_children_are_copies_drawn_by_roulette():
    """Fitness is max f − f = 3, 2, 1, 0 of six: 10,000 children within six standard errors."""
    n = 10000
    x = np.repeat(np.eye(4), n // 4, axis=0)
    f = np.repeat([0.0, 1.0, 2.0, 3.0], n // 4)
    ga, state = told(x, f, crossover_rate=0.0, mutation_rate=0.0)
    share = ga.ask(state, np.random.default_rng(0)).x.mean(axis=0)
    p = np.array([3, 2, 1, 0]) / 6
    assert (np.abs(share - p) <= 6 * np.sqrt(p * (1 - p) / n)).all()


def test_crossover_swaps_tails_at_one_place_and_keeps_the_pair():
    ga, state = told([[0] * 9, [1] * 9], [1.0, 1.0], crossover_rate=1.0, mutation_rate=0.0)
    seen = set()
    rng = np.random.default_rng(0)
    for _ in range(300):
        a, b = ga.ask(state, rng).x
        if a[0] != b[0]:  # the parents were different ones
            assert np.array_equal(a + b, np.ones(9))
            assert np.abs(np.diff(a)).sum() == 1
            seen.add(int(np.abs(np.diff(a)).argmax()))
    assert seen == set(range(8))


@pytest.mark.parametrize("bit", [0.0, 1.0])
def test_mutation_flips_each_bit_at_its_rate(bit):
    """Within six standard errors of 10,000 bits; their number varies as if independent."""
    x = np.full((200, 50), bit)
    ga, state = told(x, np.zeros(200), crossover_rate=0.0, mutation_rate=0.2)
    rng = np.random.default_rng(0)
    flips = np.array([(ga.ask(state, rng).x != x).sum() for _ in range(300)])
    assert flips[0] / 10000 == pytest.approx(0.2, abs=6 * np.sqrt(0.16 / 10000))
    # 300 draws know a standard deviation to 1/√600 of itself
    assert flips.std() == pytest.approx(np.sqrt(10000 * 0.16), rel=6 / np.sqrt(600))
    where = np.mean([(ga.ask(state, rng).x != x) for _ in range(300)], axis=0)
    assert (np.abs(where - 0.2) <= 7 * np.sqrt(0.16 / 300)).all()
    ga, state = told(x, np.zeros(200), mutation_rate="1/d")
    assert (ga.ask(state, rng).x != x).mean() == pytest.approx(0.02, abs=0.0084)


def test_the_new_generation_replaces_the_old_one_even_if_it_is_worse():
    ga, state = told(np.zeros((5, 4)), np.zeros(5), samples=5)
    worse = Samples(np.eye(5, 4))
    after = ga.tell(state, worse, np.array([3.0, 2.0, 1.0, 5.0, 4.0]))
    assert np.array_equal(after.x, worse.x)
    assert np.array_equal(after.mean, worse.x[2])


def test_an_odd_population_keeps_its_size():
    assert all(b.x.shape == (7, 12) for b in batches("simple_ga", samples=7, budget=70))


def test_the_spread_of_a_population_is_that_of_its_bits():
    """Shares of ones 0, ½ and ¼: √((0 + ¼ + 3/16)/3)."""
    x = np.array([[0, 1, 1], [0, 1, 0], [0, 0, 0], [0, 0, 0]], dtype=float)
    for state in (Generation(x), GAState(None, x, np.zeros(4))):
        assert state.spread() == pytest.approx((np.sqrt((1 / 4 + 3 / 16) / 3), 1.0))


def test_the_first_distribution_is_even():
    rng = np.random.default_rng(0)
    binary = problems.build("binary_reconstruction", {"dim": 4}, rng)
    assert np.array_equal(binary.start(rng), np.full(4, 0.5))
    five = problems.build("categorical_reconstruction", {"dim": 4, "categories": 5}, rng)
    assert np.array_equal(five.start(rng), np.full((4, 5), 0.2))


@pytest.mark.parametrize(
    ("name", "key", "value"),
    [("bernoulli_ingo", "step_size", 0.0), ("categorical_ingo", "ddof", 2),
     ("bernoulli_ingo", "samples", 1), ("ga", "samples", True), ("ga", "crossover_rate", "1/d"),
     ("ga", "mutation_rate", 1.5), ("ga", "mutation_rate", "1/n"), ("ga", "patience", -1),
     ("ga", "patience", 1.5), ("simple_ga", "mutation_rate", True),
     ("simple_ga", "crossover_rate", -0.1)],
)  # fmt: skip
def test_values_that_are_not_allowed_are_named(name, key, value):
    with pytest.raises(ValueError, match=f"{key} is .*; allowed: "):
        algorithms.build(name, {key: value})


# --- experiments and figures ----------------------------------------------------------------------


def config(tmp_path, **entry):
    """A config of one experiment, whose second problem has this entry."""
    return {
        "root_seed": 0, "runs": 2, "seeds_per_job": 1, "results": str(tmp_path),
        "experiments": {
            "e": {
                "dim": 10, "budget": 1000, "target": None, "algorithms": {"simple_ga": {}},
                "problems": {
                    "a": {"problem": "binary_reconstruction"},
                    "b": {"problem": "binary_reconstruction", **entry},
                },
            }
        },
        "figures": {"f": {"experiment": "e", "kind": "regret"}},
    }  # fmt: skip


def test_a_problem_may_have_a_budget_of_its_own(tmp_path):
    cells = Plan.from_config(config(tmp_path, budget=500)).experiments["e"].cells
    assert [cells[label, "simple_ga"].budget for label in "ab"] == [1000, 500]
    assert cells["b", "simple_ga"].problem_parameters == {"dim": 10}
    with pytest.raises(ConfigError, match=r"experiments.e.problems.b.budget is 0; allowed: .* ≥ 1"):
        Plan.from_config(config(tmp_path, budget=0))


def test_a_figure_is_drawn_by_the_module_of_its_kind(tmp_path):
    plan = Plan.from_config(config(tmp_path))
    command = plan.figure_command("f")
    assert command.module == "figures.regret"
    assert "--column" not in command.arguments


def test_the_regret_figure_shows_zero_and_says_how_runs_ended():
    runs = pd.DataFrame(
        [
            {"problem": "p", "algorithm": name, "title": "P, d = 1", "stop": stop}
            for name, stop in (("ga", "stagnated"), ("bernoulli_ingo", "flat"),
                               ("ga", "budget"), ("bernoulli_ingo", "flat"))
        ]
    )  # fmt: skip
    lines = pd.concat(
        pd.DataFrame(
            {"problem": "p", "algorithm": name, "quantity": quantity, "evaluations": [1, 10, 100],
             "mean": [5.0, 1.0, 0.0], "min": 0.0, "max": 9.0}
        )
        for name in ("ga", "bernoulli_ingo") for quantity in regret.ROWS
    )  # fmt: skip
    figure, caption = regret.draw(
        runs, lines, {"ga": "GA, pymoo", "bernoulli_ingo": "Discrete INGO"}
    )
    assert [ax.get_title() for ax in figure.axes] == ["P\nd = 1", "", ""]
    for ax in figure.axes:
        drawn = [line for line in ax.lines if len(line.get_xdata()) == 3]
        assert len(drawn) == 2
        assert all(list(line.get_ydata()) == [5.0, 1.0, 0.0] for line in drawn)
        assert ax.get_ylim()[0] < 0.0
    assert "GA, pymoo: 1 stagnated and 1 budget; Discrete INGO: 2 flat." in caption
    style.plt.close(figure)
