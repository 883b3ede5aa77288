"""ASEBO: its equations against plain ones, its noise, its subspace, and its memory."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
import textbook

import algorithms
from algorithms.asebo import ASEBOState, principal_axes
from algorithms.shared.adam import Adam
from algorithms.shared.loop import iterate, quiet
from problems.synthetic import levy


def axes(state):
    """U (d, n)."""
    return state.gradients.T @ state.weights


def known(dim, rank, alpha, std=0.5, seed=0):
    """A state at zero with an active subspace of ``rank`` random directions."""
    rows = np.random.default_rng(seed).standard_normal((rank, dim))
    weights = principal_axes(rows, 1 - 1e-12)
    adam = Adam(np.zeros(dim), np.zeros(dim), steps=1000)
    return ASEBOState(np.zeros(dim), std, adam, alpha, rows, weights)


def flat(x):
    return np.ones(len(x))


def steps(optimiser, state, fun, rng, count):
    for _ in range(count):
        batch = optimiser.ask(state, rng)
        state = optimiser.tell(state, batch, fun(batch.x))
        assert state.ended is None
        yield batch, state


@pytest.mark.parametrize("normalise", [False, True])
@pytest.mark.parametrize(("dim", "eps"), [(6, 0.99), (40, 0.95)])
def test_thirty_steps_equal_the_textbook(dim, eps, normalise):
    """At d = 6 past gradients are folded into six rows, at d = 40 all thirty stay as they are."""
    rng = np.random.default_rng(dim)
    eta, gamma, first = 0.1, 0.9, 5
    optimiser = algorithms.build(
        "asebo",
        {"samples": 200, "step_size": eta, "explained_variance": eps, "decay": gamma,
         "isotropic_iterations": first, "normalise": normalise},
    )  # fmt: skip
    state = optimiser.init(rng.random(dim), rng)
    zero = np.zeros(dim)
    plain, alphas, ranks = (state.mean, zero, zero, [], 1.0, None), [], []
    for t in range(1, 31):
        batch = optimiser.ask(state, rng)
        f = (batch.x - 2) ** 2 @ np.arange(1.0, dim + 1)
        *_, alpha, P = plain
        plain = textbook.asebo(
            *plain[:4], alpha, P if t >= first else None, batch.z, f, eta, eps, gamma, normalise
        )
        state = optimiser.tell(state, batch, f)
        mu, *_, alpha, P = plain
        assert np.allclose(state.mean, mu, rtol=1e-10, atol=0)
        assert state.alpha == pytest.approx(alpha, rel=1e-9)
        if t >= first - 1:
            U = axes(state)
            assert np.allclose(U @ U.T, P, atol=1e-9)
            n = U.shape[1]
            Sigma = 0.5**2 * dim * (alpha / dim * np.eye(dim) + (1 - alpha) / n * P)
            values = np.linalg.eigvalsh(Sigma)
            assert state.spread().sigma == pytest.approx(np.exp(np.log(values).mean() / 2))
            assert state.spread().condition == pytest.approx(values[-1] / values[0])
            alphas.append(alpha)
            ranks.append(n)
    assert min(alphas) < 0.1  # the comparison would be empty if nothing had adapted
    assert len(set(ranks)) > 1


def test_the_noise_is_the_mixture_at_the_scale_of_es():
    """z = √d (√(α/d) z₁ + √((1 − α)/n) U z₂), from the same stream of normals."""
    state = known(dim=10, rank=3, alpha=0.25, std=0.1)
    batch = algorithms.build("asebo", {"samples": 8}).ask(state, np.random.default_rng(1))
    rng = np.random.default_rng(1)
    z1, z2 = rng.standard_normal((4, 10)), rng.standard_normal((4, 3))
    v = np.sqrt(0.25 / 10) * z1 + np.sqrt(0.75 / 3) * z2 @ axes(state).T
    assert np.allclose(batch.z[:4], np.sqrt(10) * v, rtol=1e-12, atol=0)
    assert np.array_equal(batch.z[:4], -batch.z[4:])
    assert np.array_equal(batch.x, 0.1 * batch.z)
    assert np.allclose(axes(state).T @ axes(state), np.eye(3), atol=1e-12)


@pytest.mark.parametrize("alpha", [0.05, 0.5, 1.0])
def test_the_covariance_of_the_noise(alpha):
    """Σ/σ² = d (α/d I + (1 − α)/n UUᵀ), whose trace is that of ES's noise, d."""
    d, n, pairs = 6, 2, 20_000
    state = known(d, n, alpha)
    z = algorithms.build("asebo", {"samples": 2 * pairs}).ask(state, np.random.default_rng(2)).z
    wanted = d * (alpha / d * np.eye(d) + (1 - alpha) / n * axes(state) @ axes(state).T)
    assert np.trace(wanted) == pytest.approx(d)
    # standard errors are below √2/√20,000 of the largest eigenvalue: 7 of them
    assert np.abs(z.T @ z / len(z) - wanted).max() < 0.07 * np.linalg.eigvalsh(wanted)[-1]


def test_the_first_iterations_are_those_of_es_bit_for_bit():
    """And so are all with α = 1. Then the paths part."""
    problem = levy(12)
    shared = {"samples": 8, "step_size": 0.03, "initial_std": 0.2, "shaping": "standardise"}
    paths = []
    for name, own in [
        ("es", {}),
        ("asebo", {"isotropic_iterations": 30, "explained_variance": 0.8}),
        ("asebo", {"isotropic_iterations": 10**9}),
    ]:
        optimiser = algorithms.build(name, shared | own)
        rng = np.random.default_rng(5)
        state = optimiser.init(rng.random(12), rng)
        run = steps(optimiser, state, problem.evaluate, rng, 60)
        paths.append(np.array([told.mean for _, told in run]))
    es, adaptive, never = paths
    assert np.array_equal(never, es)
    assert np.array_equal(adaptive[:30], es[:30])
    assert not np.array_equal(adaptive[31], es[31])


def test_the_gradient_of_a_linear_function_up_to_the_covariance():
    """For f = cᵀx, E g = C c / √(cᵀCc) with C = αI + (1 − α)(d/n) UUᵀ: C is not divided out."""
    d, n, alpha = 10, 2, 0.3
    state = known(d, n, alpha)
    c = np.linspace(-1, 1, d)
    optimiser = algorithms.build("asebo", {"samples": 40_000})
    batch = optimiser.ask(state, np.random.default_rng(3))
    g = optimiser.tell(state, batch, batch.x @ c).gradients[-1]
    C = alpha * np.eye(d) + (1 - alpha) * d / n * axes(state) @ axes(state).T
    # an entry's standard error is below √(2 · 3.8 / 20,000), 3.8 the largest eigenvalue of C
    assert np.abs(g - C @ c / np.sqrt(c @ C @ c)).max() < 6 * np.sqrt(2 * 3.8 / 20_000)


@pytest.mark.parametrize(("dim", "count"), [(5, 300), (30, 20), (100, 90)])
def test_the_axes_are_those_of_all_past_gradients(dim, count):
    """Rows folded (d = 5) or not: the same subspace as from the SVD of the whole decayed matrix."""
    rng = np.random.default_rng(dim)
    optimiser = algorithms.build("asebo", {})
    rows, everything = np.empty((0, dim)), rng.standard_normal((count, dim)) * np.arange(1, dim + 1)
    for g in everything:
        rows = optimiser.remember(rows, g)
    assert len(rows) == min(dim, count)
    decayed = everything * 0.99 ** np.arange(count - 1, -1, -1)[:, None]
    assert np.allclose(rows.T @ rows, decayed.T @ decayed, rtol=1e-9, atol=0)
    _, s, Vt = np.linalg.svd(decayed, full_matrices=False)
    for share in (0.5, 0.9, 0.995):
        n = int(np.argmax(np.cumsum(s**2) >= share * np.sum(s**2))) + 1
        U = rows.T @ principal_axes(rows, share)
        assert U.shape == (dim, n)
        assert np.allclose(U @ U.T, Vt[:n].T @ Vt[:n], atol=1e-8)


def test_what_is_forgotten_is_a_hundredth_of_what_the_threshold_leaves_out():
    """Where rows are dropped: 0.5 % of the variance lies beyond the axes, at most 0.505 % does."""
    rng = np.random.default_rng(0)
    optimiser = algorithms.build("asebo", {})
    rows, everything = np.empty((0, 600)), rng.standard_normal((700, 600))
    for g in everything:
        rows = optimiser.remember(rows, g)
    assert len(rows) == 493
    decayed = everything * 0.99 ** np.arange(699, -1, -1)[:, None]
    U = rows.T @ principal_axes(rows, 0.995)
    # the gradients' lengths scatter by 1/√300, hence not 0.00505 sharp
    assert 1 - np.sum((decayed @ U) ** 2) / np.sum(decayed**2) < 0.0051


def test_equal_gradients_make_one_axis_and_none_are_no_harm():
    assert principal_axes(np.ones((50, 9)), 0.995).shape == (50, 1)
    optimiser = algorithms.build("asebo", {"shaping": "centred_ranks", "isotropic_iterations": 3})
    rng = np.random.default_rng(0)
    state = optimiser.init(np.ones(4), rng)
    *_, (_, told) = steps(optimiser, state, flat, rng, 10)
    assert np.array_equal(told.mean, np.ones(4))
    assert told.alpha == 1.0
    *_, (_, told) = steps(optimiser, known(4, 2, 0.5), flat, rng, 10)
    assert (told.alpha, told.weights.shape) == (0.5, (2, 2))  # what it knew, it still knows


def test_it_finds_the_subspace_that_gradients_live_in():
    """A gradient that turns about in 3 of 50 dimensions: three axes, near those (random: 0.98)."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        A = np.linalg.qr(rng.standard_normal((50, 3))).Q
        optimiser = algorithms.build("asebo", {"samples": 100, "explained_variance": 0.9})
        state = optimiser.init(np.zeros(50), rng)
        turning = steps(optimiser, state, lambda x: x @ (A @ rng.standard_normal(3)), rng, 300)  # noqa: B023
        *_, (_, state) = turning
        assert state.weights.shape[1] == 3
        cosine = np.linalg.svd(axes(state).T @ A, compute_uv=False)[-1]
        assert np.sqrt(1 - cosine**2) < 0.4  # sine of the largest principal angle
        assert state.alpha < 0.15


@pytest.mark.parametrize(("share", "ahead"), [(0.995, 1.0), (0.9, 0.7)])
def test_it_descends_faster_than_es_where_three_of_fifty_directions_count(share, ahead):
    """From the same start, half way down: the rest left, over that of ES."""
    left = []
    for seed in range(3):
        for name, own in [("es", {}), ("asebo", {"explained_variance": share})]:
            rng = np.random.default_rng(seed)
            A = np.linalg.qr(rng.standard_normal((50, 3))).Q
            optimiser = algorithms.build(
                name, {"samples": 40, "step_size": 0.02, "initial_std": 0.1,
                       "shaping": "standardise", **own},
            )  # fmt: skip
            fun = lambda x: np.sum((x @ A - 10) ** 2, axis=-1)  # noqa: B023, E731
            state = optimiser.init(np.zeros(50), rng)
            *_, (_, state) = steps(optimiser, state, fun, rng, 200)
            left.append(fun(state.mean))
    es, asebo = np.reshape(left, (3, 2)).T
    assert 3 < es.min() < es.max() < 100  # of 300
    assert (asebo < ahead * es).all()


@pytest.mark.parametrize("dim", [1, 2, 7])
def test_alpha_stays_a_share_and_the_run_finite(dim):
    """Also in one dimension, and where a batch has two pairs and the memory is short."""
    optimiser = algorithms.build(
        "asebo", {"samples": 4, "isotropic_iterations": 2, "explained_variance": 0.9, "decay": 0.9}
    )
    rng = np.random.default_rng(dim)
    seen = []
    with quiet():
        for batch in iterate(optimiser, lambda x: x[:, 0] ** 2, rng.random(dim), rng, 2000):
            seen.append(batch.state.alpha)
            assert np.isfinite(batch.x).all()
            assert batch.state.spread().sigma > 0
            assert batch.state.spread().condition >= 1
    assert all(0 < a <= 1 for a in seen)
    assert (min(seen) < 1) is (dim > 1)


def test_a_large_policy_needs_no_square_matrix():
    """d = 6321, N = 72, all 493 rows in use: far below the 320 MB of one d×d matrix."""
    d = 6321
    tracemalloc.start()
    try:
        state = known(d, 493, 0.5)
        optimiser = algorithms.build("asebo", {"samples": 72, "isotropic_iterations": 2})
        batch = optimiser.ask(state, np.random.default_rng(0))
        told = optimiser.tell(state, batch, batch.x[:, 0])
        assert told.gradients.shape == (493, d)
        assert tracemalloc.get_traced_memory()[1] < 100e6
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("key", "value"),
    [("samples", 7), ("step_size", 0.0), ("shaping", "ranks"), ("isotropic_iterations", 1),
     ("isotropic_iterations", 70.0), ("explained_variance", 1.0), ("explained_variance", "most"),
     ("explained_variance", 1), ("decay", 0.0), ("decay", float("nan")), ("normalise", 1)],
)  # fmt: skip
def test_values_that_are_not_allowed_are_named(key, value):
    with pytest.raises(ValueError, match=f"{key} is {value!r}; allowed: "):
        algorithms.build("asebo", {key: value})
