"""What must not change an optimiser's path, and what must.

An invariance is tested on one stream of noise: the transformed run, fed the matching noise, must
visit the transformed points. The expected failures are asserted as failures.
"""

from __future__ import annotations

import numpy as np
import pytest

import algorithms
from algorithms.shared.gaussian import DiagonalGaussian, Gaussian
from algorithms.shared.interface import Samples

DIM, N, STEPS = 8, 4, 25
FULL = ["ingo", "ingo_step", "igo"]


def quadratic(x):
    return (x * x) @ np.arange(1.0, DIM + 1) + np.sum(x, axis=1) ** 2


def path(name, fun, state, noise, **parameters):
    """Means over STEPS, from ``state`` with the noise given."""
    optimiser = algorithms.build(name, {"samples": N, "step_size": 0.1, **parameters})
    means = [state.mean]
    for z in noise:
        y = z @ state.factor.T if isinstance(state, Gaussian) else z * state.std
        state = optimiser.tell(state, Samples(state.mean + y, z, y), fun(state.mean + y))
        assert state.ended is None
        means.append(state.mean)
    return np.array(means)


@pytest.fixture
def noise():
    return np.random.default_rng(7).standard_normal((STEPS, N, DIM))


@pytest.fixture
def mean():
    return np.random.default_rng(8).uniform(1, 2, DIM)


@pytest.fixture
def affine():
    """An ill-conditioned map x → Ax + b."""
    rng = np.random.default_rng(9)
    return rng.standard_normal((DIM, DIM)) @ np.diag(np.logspace(0, 2, DIM)), rng.random(DIM)


@pytest.mark.parametrize("name", FULL)
def test_the_full_methods_are_affine_invariant(name, noise, mean, affine):
    """f∘(x → Ax + b)⁻¹, started from the mapped distribution, gives the mapped means."""
    A, b = affine
    B = 0.3 * np.eye(DIM) + 0.01
    plain = path(name, quadratic, Gaussian(mean, B), noise)
    back = np.linalg.inv(A)
    mapped = path(name, lambda x: quadratic((x - b) @ back.T), Gaussian(A @ mean + b, A @ B), noise)
    assert np.allclose(mapped, plain @ A.T + b, rtol=1e-7, atol=0)
    assert np.abs(plain[-1] - plain[0]).max() > 0.1


def test_fast_ingo_is_invariant_to_scales_of_the_axes(noise, mean):
    scale = np.logspace(-3, 3, DIM)
    plain = path("fast_ingo", quadratic, DiagonalGaussian(mean, np.full(DIM, 0.3)), noise)
    scaled = path(
        "fast_ingo",
        lambda x: quadratic(x / scale),
        DiagonalGaussian(scale * mean, scale * 0.3),
        noise,
    )
    assert np.allclose(scaled, scale * plain, rtol=1e-9, atol=0)


def test_fast_ingo_is_not_rotation_invariant(noise, mean):
    Q, _ = np.linalg.qr(np.random.default_rng(1).standard_normal((DIM, DIM)))
    plain = path("fast_ingo", quadratic, DiagonalGaussian(mean, np.full(DIM, 0.3)), noise)
    # The same points x reach the rotated run: z is rotated as well, which σ ∝ 1 allows at first.
    rotated = path(
        "fast_ingo",
        lambda x: quadratic(x @ Q),
        DiagonalGaussian(Q @ mean, np.full(DIM, 0.3)),
        noise @ Q.T,
    )
    assert not np.allclose(rotated, plain @ Q.T, rtol=1e-3)


@pytest.mark.parametrize("name", FULL)
def test_the_full_methods_are_rotation_invariant_from_a_sphere(name, noise, mean):
    """The companion of the test above: the same set-up, where it must hold."""
    Q, _ = np.linalg.qr(np.random.default_rng(1).standard_normal((DIM, DIM)))
    plain = path(name, quadratic, Gaussian(mean, 0.3 * np.eye(DIM)), noise)
    rotated = path(
        name, lambda x: quadratic(x @ Q), Gaussian(Q @ mean, 0.3 * np.eye(DIM)), noise @ Q.T
    )
    assert np.allclose(rotated, plain @ Q.T, rtol=1e-9, atol=0)


@pytest.mark.parametrize("name", [*FULL, "fast_ingo"])
def test_standardised_methods_ignore_scale_and_offset_of_f(name, noise, mean):
    start = (
        DiagonalGaussian(mean, np.full(DIM, 0.3))
        if name == "fast_ingo"
        else Gaussian(mean, 0.3 * np.eye(DIM))
    )
    plain = path(name, quadratic, start, noise)
    shifted = path(name, lambda x: 1e4 * quadratic(x) - 77.0, start, noise)
    assert np.allclose(shifted, plain, rtol=1e-8, atol=0)


@pytest.mark.parametrize("name", [*FULL, "fast_ingo"])
def test_standardised_methods_do_not_ignore_a_monotone_map_of_f(name, noise, mean):
    """The paper calls h monotonic; it is not rank-based, and this is the difference."""
    start = (
        DiagonalGaussian(mean, np.full(DIM, 0.3))
        if name == "fast_ingo"
        else Gaussian(mean, 0.3 * np.eye(DIM))
    )
    plain = path(name, quadratic, start, noise)
    bent = path(name, lambda x: np.exp(quadratic(x) / 50), start, noise)
    assert not np.allclose(bent, plain, rtol=1e-3)


def own_path(name, fun, mean, **parameters):
    optimiser = algorithms.build(name, {"samples": 6, **parameters})
    rng = np.random.default_rng(11)
    state = optimiser.init(mean, rng)
    means = []
    for _ in range(STEPS):
        batch = optimiser.ask(state, rng)
        state = optimiser.tell(state, batch, fun(batch.x))
        means.append(state.mean)
    return np.array(means)


@pytest.mark.parametrize("name", ["es", "cma_es"])
def test_rank_based_methods_ignore_a_monotone_map_of_f(name, mean):
    plain = own_path(name, quadratic, mean)
    bent = own_path(name, lambda x: np.exp(quadratic(x) / 50), mean)
    assert np.array_equal(bent, plain)
    assert np.abs(plain[-1] - plain[0]).max() > 0.01


def test_es_with_standardised_values_does_not(mean):
    plain = own_path("es", quadratic, mean, shaping="standardise", optimiser="sgd")
    bent = own_path(
        "es",
        lambda x: np.exp(quadratic(x) / 50),
        mean,
        shaping="standardise",
        optimiser="sgd",
    )
    assert not np.allclose(bent, plain, rtol=1e-6)


@pytest.mark.parametrize(
    "name", [n for n in algorithms.available() if algorithms.load(n).space == "real"]
)
def test_translation(name, mean):
    """Every optimiser for real problems: f(x − c) from mean + c gives the path plus c."""
    c = 0.5 * np.arange(DIM)
    plain = own_path(name, quadratic, mean)
    moved = own_path(name, lambda x: quadratic(x - c), mean + c)
    assert np.allclose(moved, plain + c, rtol=1e-6, atol=0)
