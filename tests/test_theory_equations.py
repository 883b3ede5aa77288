"""The equations, theorems and lemmas of the paper that no update of the code is, as equations.

Labels in brackets are those of the paper's LaTeX. Means are exact: closed forms, quadrature, or
sums over all points; a statistical test measures in standard errors and allows 6.
"""

from __future__ import annotations

from itertools import product
from math import exp, log, pi, sqrt

import numpy as np
import pytest
import textbook
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, optimize, stats

from algorithms import framework
from algorithms.framework import Framework
from algorithms.ingo import INGO
from algorithms.shared.gaussian import DiagonalGaussian, Gaussian
from algorithms.shared.interface import Samples
from experiments.theory import bounds, shared
from experiments.theory.unbiased import closed_forms

SEEDS = st.integers(0, 2**32)
DIMS = st.sampled_from([2, 3])
few = settings(derandomize=True, deadline=None, max_examples=25)


def positive(d, rng):
    """A positive definite matrix (d, d), not diagonal."""
    root = np.eye(d) + rng.standard_normal((d, d)) / 3
    return root @ root.T + 0.1 * np.eye(d)


def symmetric(d, rng):
    a = rng.standard_normal((d, d))
    return (a + a.T) / 2


def gaussian(d, seed):
    rng = np.random.default_rng(seed)
    return rng.standard_normal(d) / 2, positive(d, rng), rng


def derivative(f, x, h=1e-5):
    """∇f at x by central differences of fourth order."""
    steps = h * np.eye(len(x))
    return np.array(
        [(8 * (f(x + s) - f(x - s)) - f(x + 2 * s) + f(x - 2 * s)) / (12 * h) for s in steps]
    )


def quadrature(d, nodes=40):
    """Points z (n, d) and weights (n,) with Σ w g(z) = E g(z) under N(0, I)."""
    at, w = np.polynomial.hermite_e.hermegauss(nodes)
    z = np.stack(np.meshgrid(*[at] * d, indexing="ij"), axis=-1).reshape(-1, d)
    return z, np.prod(np.stack(np.meshgrid(*[w] * d, indexing="ij")), axis=0).ravel() / sqrt(
        2 * pi
    ) ** d


# ---- the exponential family: coordinates of a Gaussian -------------------------------------------
# The natural parameters are η₁ and the lower triangle of η₂, which go with the statistics x and
# (2 − δ_ij) x_i x_j: ⟨η₂, xxᵀ⟩ has every entry off the diagonal twice.


def twice(d):
    i, j = np.tril_indices(d)
    return np.where(i == j, 1.0, 2.0)


def natural(mu, Sigma):
    inverse = np.linalg.inv(Sigma)
    return np.concatenate([inverse @ mu, -0.5 * inverse[np.tril_indices(len(mu))]])


def mean_parameters(mu, Sigma):
    d = len(mu)
    return np.concatenate([mu, twice(d) * (Sigma + np.outer(mu, mu))[np.tril_indices(d)]])


def full(triangle, d):
    matrix = np.zeros((d, d))
    i, j = np.tril_indices(d)
    matrix[i, j] = matrix[j, i] = triangle
    return matrix


def from_natural(eta, d):
    Sigma = np.linalg.inv(-2 * full(eta[d:], d))
    return Sigma @ eta[:d], Sigma


def from_mean(m, d):
    return m[:d], full(m[d:] / twice(d), d) - np.outer(m[:d], m[:d])


def log_partition(eta, d):
    """A(η) = ½ μᵀΣ⁻¹μ + ½ log |2πΣ|."""
    mu, Sigma = from_natural(eta, d)
    return 0.5 * mu @ eta[:d] + 0.5 * np.linalg.slogdet(2 * pi * Sigma)[1]


def conjugate(m, d):
    """A*(m) = −½ log |2πe Σ|, the negative entropy."""
    return -0.5 * np.linalg.slogdet(2 * pi * exp(1) * from_mean(m, d)[1])[1]


def kl(mu, Sigma, mu_t, Sigma_t):
    """Lemma 2's first equation."""
    inverse, u = np.linalg.inv(Sigma_t), mu - mu_t
    logs = np.linalg.slogdet(Sigma_t)[1] - np.linalg.slogdet(Sigma)[1]
    return 0.5 * (u @ inverse @ u + np.trace(Sigma @ inverse) + logs - len(mu))


def fisher(mu, Sigma):
    """Cov φ(x) in closed form, from the moments of a Gaussian (Isserlis)."""
    d = len(mu)
    i, j = np.tril_indices(d)
    F = np.zeros((d + len(i), d + len(i)))
    F[:d, :d] = Sigma
    S = Sigma
    for a, (k, h) in enumerate(zip(i, j, strict=True), start=d):
        F[:d, a] = F[a, :d] = twice(d)[a - d] * (S[:, k] * mu[h] + S[:, h] * mu[k])
        for b, (m, n) in enumerate(zip(i, j, strict=True), start=d):
            F[a, b] = S[k, m] * S[h, n] + S[k, n] * S[h, m]
            F[a, b] += mu[k] * (mu[m] * S[h, n] + mu[n] * S[h, m])
            F[a, b] += mu[h] * (mu[m] * S[k, n] + mu[n] * S[k, m])
            F[a, b] *= twice(d)[a - d] * twice(d)[b - d]
    return F


@given(DIMS, SEEDS)
@few
def test_the_coordinates_are_those_of_the_density(d, seed):
    """log p(x) = ⟨φ(x), η⟩ − A(η); ∇A = m, ∇A* = η."""
    mu, Sigma, rng = gaussian(d, seed)
    eta, m = natural(mu, Sigma), mean_parameters(mu, Sigma)
    for x in rng.standard_normal((5, d)):
        statistic = mean_parameters(x, np.zeros((d, d)))
        wanted = stats.multivariate_normal(mu, Sigma).logpdf(x)
        assert statistic @ eta - log_partition(eta, d) == pytest.approx(wanted)
    assert np.allclose(derivative(lambda e: log_partition(e, d), eta), m, atol=1e-6)
    assert np.allclose(derivative(lambda p: conjugate(p, d), m), eta, atol=1e-6)


@given(DIMS, SEEDS)
@few
def test_the_fisher_matrix_is_the_hessian_of_the_log_partition(d, seed):
    mu, Sigma, _ = gaussian(d, seed)
    eta = natural(mu, Sigma)
    hessian = derivative(lambda e: derivative(lambda c: log_partition(c, d), e, 1e-3), eta, 1e-3)
    F = fisher(mu, Sigma)
    assert np.allclose(hessian, F, rtol=0, atol=1e-5 * np.abs(F).max())


@given(DIMS, SEEDS)
@few
def test_the_fisher_matrix_is_the_mean_of_squared_scores(d, seed):
    """F = E ∇log p ∇log pᵀ, by quadrature, which is exact for polynomials."""
    mu, Sigma, _ = gaussian(d, seed)
    z, w = quadrature(d, 4)
    x = mu + z @ np.linalg.cholesky(Sigma).T
    scores = np.array([mean_parameters(p, np.zeros((d, d))) for p in x]) - mean_parameters(
        mu, Sigma
    )
    assert np.allclose(scores.T @ (w[:, None] * scores), fisher(mu, Sigma), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("function", ["quadratic", "exponential", "cosine", "absolute"])
@given(DIMS, SEEDS)
@few
def test_theorem_1(function, d, seed):
    """F(η)⁻¹ ∇_η J = ∇_m J̃, with ∇_m J̃ by (g_m1) and (g_m2), and J̄ in closed form."""
    mu, Sigma, rng = gaussian(d, seed)
    a = rng.standard_normal(d) / sqrt(d)
    _, g, G = closed_forms(mu, Sigma, a)[function]
    implicit = np.concatenate([g - 2 * G @ mu, G[np.tril_indices(d)]])
    explicit = derivative(lambda e: objective(function, *from_natural(e, d), a), natural(mu, Sigma))
    F = fisher(mu, Sigma)
    scale = np.abs(implicit).max()
    assert np.allclose(np.linalg.solve(F, explicit), implicit, rtol=0, atol=1e-5 * scale)
    by_m = derivative(
        lambda m: objective(function, *from_mean(m, d), a), mean_parameters(mu, Sigma)
    )
    assert np.allclose(by_m, implicit, rtol=0, atol=1e-5 * scale)
    # and the gradient by η is another vector, and another distribution's matrix does not turn it
    assert not np.allclose(explicit, implicit, rtol=0, atol=1e-2 * scale)
    other = np.linalg.solve(fisher(mu + 1, 2 * Sigma), explicit)
    assert not np.allclose(other, implicit, rtol=0, atol=1e-2 * scale)


def objective(function, mu, Sigma, a):
    """E f(x) under N(μ, Σ) in closed form, for the functions of closed_forms."""
    slope_at, width, std = a @ mu, a @ Sigma @ a, np.sqrt(np.diag(Sigma))
    if function == "quadratic":
        return 0.5 * np.arange(1.0, len(mu) + 1) @ (mu**2 + np.diag(Sigma)) + slope_at
    if function == "exponential":
        return np.exp(slope_at + width / 2)
    if function == "cosine":
        return np.cos(slope_at) * np.exp(-width / 2)
    t = mu / std
    return np.sum(mu * (2 * stats.norm.cdf(t) - 1) + 2 * std * stats.norm.pdf(t))


@given(DIMS, SEEDS, st.floats(0.05, 1))
@few
def test_a_step_in_the_natural_parameters_is_the_step_in_mu_and_sigma(d, seed, beta):
    """(updateEta) is (Nupdate) by Theorem 1, and is (sigmaupdatem) with (muupdatem)."""
    mu, Sigma, rng = gaussian(d, seed)
    g, G = rng.standard_normal(d), framework.project(symmetric(d, rng), 0.1, 2.0)
    step = np.concatenate([g - 2 * G @ mu, G[np.tril_indices(d)]])
    moved = from_natural(natural(mu, Sigma) - beta * step, d)
    found = bounds.closed_form(np.linalg.inv(Sigma), mu, g, G, beta, "new")
    assert np.allclose(moved[0], found[0], rtol=1e-9, atol=1e-12)
    assert np.allclose(moved[1], found[1], rtol=1e-9, atol=1e-12)
    old = bounds.closed_form(np.linalg.inv(Sigma), mu, g, G, beta, "old")
    assert not np.allclose(moved[0], old[0], atol=1e-6)


# ---- the trust region and its divergence ---------------------------------------------------------


@given(DIMS, SEEDS)
@few
def test_the_kl_divergence_of_gaussians_is_a_bregman_divergence(d, seed):
    """Of A* by mean parameters, and of A by natural ones with the arguments swapped."""
    mu, Sigma, rng = gaussian(d, seed)
    mu_t, Sigma_t = mu + rng.standard_normal(d), positive(d, rng)
    z, w = quadrature(d, 4)
    x = mu + z @ np.linalg.cholesky(Sigma).T
    p, q = stats.multivariate_normal(mu, Sigma), stats.multivariate_normal(mu_t, Sigma_t)
    integral = w @ (p.logpdf(x) - q.logpdf(x))
    assert kl(mu, Sigma, mu_t, Sigma_t) == pytest.approx(integral)
    m, m_t = mean_parameters(mu, Sigma), mean_parameters(mu_t, Sigma_t)
    eta, eta_t = natural(mu, Sigma), natural(mu_t, Sigma_t)
    by_m = conjugate(m, d) - conjugate(m_t, d) - (m - m_t) @ eta_t
    assert by_m == pytest.approx(integral)
    by_eta = log_partition(eta_t, d) - log_partition(eta, d) - (eta_t - eta) @ m
    assert by_eta == pytest.approx(integral)
    swapped = log_partition(eta, d) - log_partition(eta_t, d) - (eta - eta_t) @ m_t
    assert swapped == pytest.approx(kl(mu_t, Sigma_t, mu, Sigma))
    assert swapped != pytest.approx(integral, rel=1e-3)


PROBABILITIES = st.lists(st.floats(0.02, 0.98), min_size=3, max_size=3).map(np.array)


@given(PROBABILITIES, PROBABILITIES)
@few
def test_the_kl_divergence_of_bernoullis_is_a_bregman_divergence(p, q):
    """A(η) = Σ log(1 + e^η), A*(p) = Σ p log p + (1 − p) log(1 − p), over all 2³ points."""
    points = np.array(list(product([0, 1], repeat=3)))
    of_p, of_q = (np.prod(np.where(points, c, 1 - c), axis=1) for c in (p, q))
    summed = of_p @ np.log(of_p / of_q)

    def A(eta):
        return np.sum(np.log1p(np.exp(eta)))

    def A_star(m):
        return np.sum(m * np.log(m) + (1 - m) * np.log(1 - m))

    eta_p, eta_q = (np.log(c / (1 - c)) for c in (p, q))
    assert A_star(p) - A_star(q) - (p - q) @ eta_q == pytest.approx(summed, abs=1e-12)
    assert A(eta_q) - A(eta_p) - (eta_q - eta_p) @ p == pytest.approx(summed, abs=1e-12)


@given(st.floats(0.05, 0.95), st.floats(-2, 2), st.floats(0.05, 1))
@few
def test_the_trust_region_of_a_bernoulli_is_solved_by_the_step_in_eta(p, v, beta):
    """(Mop): argmin ⟨m, v⟩ + KL(p_m ‖ p_{m_t})/β has η = η_t − βv, as (updateEta) says."""

    def value(q):
        return q * v + (q * log(q / p) + (1 - q) * log((1 - q) / (1 - p))) / beta

    found = optimize.minimize_scalar(
        value, bounds=(1e-9, 1 - 1e-9), method="bounded", options={"xatol": 1e-10}
    )
    assert found.x == pytest.approx(1 / (1 + exp(-(log(p / (1 - p)) - beta * v))), abs=1e-6)


@given(DIMS, SEEDS)
@few
def test_the_three_points_of_a_bregman_divergence(d, seed):
    """(KLthree): −⟨∇A*(b) − ∇A*(c), a − b⟩ = KL(b ‖ c) − KL(a ‖ c) + KL(a ‖ b)."""
    rng = np.random.default_rng(seed)
    a, b, c = ((rng.standard_normal(d), positive(d, rng)) for _ in range(3))
    left = -(natural(*b) - natural(*c)) @ (mean_parameters(*a) - mean_parameters(*b))
    assert left == pytest.approx(kl(*b, *c) - kl(*a, *c) + kl(*a, *b))
    assert left != pytest.approx(kl(*c, *b) - kl(*c, *a) + kl(*b, *a), rel=1e-3)


def step(d, seed, beta=0.4):
    """One step of Algorithm 3 from random μ, Σ, ĝ and Ĝ ⪰ 0, and a random (μ*, Σ*)."""
    mu, Sigma, rng = gaussian(d, seed)
    g, G = rng.standard_normal(d), framework.project(symmetric(d, rng), 0.1, 2.0)
    new = bounds.closed_form(np.linalg.inv(Sigma), mu, g, G, beta, "new")
    return (mu, Sigma), new, (rng.standard_normal(d), positive(d, rng)), g, G, beta


def linear(mu, Sigma, mu_t, g, G, beta):
    """F(m) = β⟨m, v̂⟩ with v̂ = {ĝ − 2Ĝμ_t, Ĝ}."""
    return beta * ((g - 2 * G @ mu_t) @ mu + np.sum(G * (Sigma + np.outer(mu, mu))))


@given(DIMS, SEEDS)
@few
def test_lemma_1(d, seed):
    """F(m) + KL(m ‖ m_t) ≥ F(m_{t+1}) + KL(m_{t+1} ‖ m_t) + KL(m ‖ m_{t+1}).

    Where M is the whole cone, m_{t+1} is an inner point, and the two sides are equal. At another
    point than the optimum the inequality fails for some m.
    """
    old, new, star, g, G, beta = step(d, seed)

    def slack(at, m):
        left = linear(*m, old[0], g, G, beta) + kl(*m, *old)
        right = linear(*at, old[0], g, G, beta) + kl(*at, *old) + kl(*m, *at)
        return left - right

    assert slack(new, star) == pytest.approx(0, abs=1e-9)
    assert slack(new, old) == pytest.approx(0, abs=1e-9)
    assert slack((new[0] + 0.1, new[1]), new) < -1e-4


def norm(u, matrix):
    return u @ matrix @ u


@given(DIMS, SEEDS)
@few
def test_lemma_2(d, seed):
    """½‖μ* − μ_{t+1}‖²_{Σ_{t+1}⁻¹} against the four terms; equal, as Lemma 1 is."""
    (mu, Sigma), (mu_1, Sigma_1), (star, _), g, G, beta = step(d, seed)
    inverse, inverse_1 = np.linalg.inv(Sigma), np.linalg.inv(Sigma_1)
    right = 0.5 * norm(star - mu, inverse) + beta * g @ (star - mu_1)
    right += beta * norm(star - mu, G) - 0.5 * norm(mu_1 - mu, inverse_1)
    assert 0.5 * norm(star - mu_1, inverse_1) == pytest.approx(right)
    # the step of Theorem 3, by the old Σ, does not have it
    wrong = bounds.closed_form(inverse, mu, g, G, beta, "old")[0]
    off = right + beta * g @ (mu_1 - wrong)
    off += 0.5 * norm(mu_1 - mu, inverse_1) - 0.5 * norm(wrong - mu, inverse_1)
    assert 0.5 * norm(star - wrong, inverse_1) != pytest.approx(off, rel=1e-6)


@given(DIMS, SEEDS)
@few
def test_the_steps_of_lemma_2s_proof(d, seed):
    """(DistanceT), (trTerm), (linear) and the equation that turns (inner) into the lemma."""
    (mu, Sigma), (mu_1, Sigma_1), (star, Sigma_s), g, G, beta = step(d, seed)
    inverse, inverse_1 = np.linalg.inv(Sigma), np.linalg.inv(Sigma_1)
    v = g - 2 * G @ mu
    M_s, M_1 = Sigma_s + np.outer(star, star), Sigma_1 + np.outer(mu_1, mu_1)
    product_with_v = v @ (star - mu_1) + np.sum((M_s - M_1) * G)  # (linear)
    left = 0.5 * (norm(star - mu_1, inverse_1) + np.sum(Sigma_s * inverse_1))
    right = 0.5 * (norm(star - mu, inverse) + np.sum(Sigma_s * inverse))
    right -= 0.5 * (norm(mu_1 - mu, inverse) + np.sum(Sigma_1 * inverse) - d)
    assert left == pytest.approx(right + beta * product_with_v)  # (DistanceT)
    traces = np.sum(Sigma_s * inverse) - np.sum(Sigma_s * inverse_1) - np.sum(Sigma_1 * inverse) + d
    assert traces == pytest.approx(-2 * beta * np.sum((Sigma_s - Sigma_1) * G))  # (trTerm)
    outer = np.outer(star, star) - np.outer(mu_1, mu_1)
    rest = -2 * (G @ mu) @ (star - mu_1) + np.sum(outer * G)
    assert rest == pytest.approx(norm(star - mu, G) - norm(mu_1 - mu, G))
    sum_of_norms = 0.5 * norm(mu_1 - mu, inverse) + beta * norm(mu_1 - mu, G)
    assert sum_of_norms == pytest.approx(0.5 * norm(mu_1 - mu, inverse_1))


@given(DIMS, SEEDS)
@few
def test_the_closed_form_of_theorem_d_line_by_line(d, seed):
    """(Muinner): Σ'Σ⁻¹μ − βΣ'(ĝ − 2Ĝμ) = μ − βΣ'ĝ."""
    (mu, Sigma), (mu_1, Sigma_1), _, g, G, beta = step(d, seed)
    assert np.allclose(
        Sigma_1 @ np.linalg.inv(Sigma) @ mu - beta * Sigma_1 @ (g - 2 * G @ mu), mu_1,
        rtol=1e-9, atol=1e-12,
    )  # fmt: skip


@given(DIMS, SEEDS)
@few
def test_the_objective_of_theorem_3(d, seed):
    """(Theom4conv) is the trust-region problem written out, and its gradient vanishes at (MuMu)
    and (SigmaSigma).
    """
    mu, Sigma, rng = gaussian(d, seed)
    g, G, beta = rng.standard_normal(d), framework.project(symmetric(d, rng), -0.1, 2.0), 0.4
    new = bounds.closed_form(np.linalg.inv(Sigma), mu, g, G, beta, "old")
    lower = np.tril_indices(d)

    def value(theta):
        at, S = theta[:d], full(theta[d:], d)
        return at @ g + np.trace(S @ G) + kl(at, S, mu, Sigma) / beta

    at = np.concatenate([new[0], new[1][lower]])
    assert np.allclose(derivative(value, at, 1e-4), 0, atol=1e-6)
    assert value(at) < value(np.concatenate([mu, Sigma[lower]]))


# ---- Theorem 2 and Stein's identities ------------------------------------------------------------


SMOOTH = {  # f, ∇f and ∇²f of points (n, 2)
    "exponential": (
        lambda x: np.exp(x @ A),
        lambda x: np.exp(x @ A)[:, None] * A,
        lambda x: np.exp(x @ A)[:, None, None] * np.outer(A, A),
    ),
    "cosine": (
        lambda x: np.cos(x @ A),
        lambda x: -np.sin(x @ A)[:, None] * A,
        lambda x: -np.cos(x @ A)[:, None, None] * np.outer(A, A),
    ),
    "cubic": (
        lambda x: x[:, 0] ** 2 * x[:, 1],
        lambda x: np.stack([2 * x[:, 0] * x[:, 1], x[:, 0] ** 2], axis=1),
        lambda x: np.moveaxis(
            np.array([[2 * x[:, 1], 2 * x[:, 0]], [2 * x[:, 0], 0 * x[:, 0]]]), -1, 0
        ),
    ),
}
A = np.array([0.7, -0.4])


@pytest.mark.parametrize("function", SMOOTH)
@given(SEEDS)
@few
def test_steins_identities(function, seed):
    """(mu2) and (sigma2), and with Bonnet's and Price's theorems (mu), (gsigma) and (sigma)."""
    f, gradient, hessian = SMOOTH[function]
    mu, Sigma, _ = gaussian(2, seed)
    z, w = quadrature(2)
    x = mu + z @ np.linalg.cholesky(Sigma).T
    inverse = np.linalg.inv(Sigma)
    v = (x - mu) @ inverse
    by_values = (w * f(x)) @ v
    curvature = np.einsum("n,ni,nj->ij", w * f(x), v, v) - (w @ f(x)) * inverse
    scale = np.abs(curvature).max() + 1e-3
    assert np.allclose(w @ gradient(x), by_values, rtol=0, atol=1e-8 * scale)
    assert np.allclose(
        np.tensordot(w, hessian(x), axes=1), curvature, rtol=0, atol=1e-8 * scale
    )  # fmt: skip

    def J(at, S):
        return w @ f(at + z @ np.linalg.cholesky(S).T)

    assert np.allclose(derivative(lambda at: J(at, Sigma), mu, 1e-3), by_values, atol=1e-6 * scale)
    lower = np.tril_indices(2)
    by_Sigma = derivative(lambda t: J(mu, full(t, 2)), Sigma[lower], 1e-4)
    assert np.allclose(by_Sigma, twice(2) * 0.5 * curvature[lower], atol=1e-6 * scale)


def test_at_a_kink_the_hessian_is_not_what_the_values_show():
    """(sigma2) asks for a second derivative; |x| has none at 0, and E f'' = 0 beside 2φ(μ/σ)/σ."""
    mu, sigma = 0.3, 0.5
    density = stats.norm(mu, sigma).pdf
    by_values = integrate.quad(
        lambda x: density(x) * (((x - mu) / sigma**2) ** 2 - sigma**-2) * abs(x),
        -5,
        5,
        points=[0.0],
    )[0]
    assert by_values == pytest.approx(2 * stats.norm.pdf(mu / sigma) / sigma)
    assert by_values > 1.0
    # Theorem 2 does not need it
    _, _, G = closed_forms(np.array([mu]), np.array([[sigma**2]]), np.ones(1))["absolute"]
    assert G[0, 0] == pytest.approx(by_values / 2)


@given(SEEDS)
@few
def test_the_updates_by_expected_values(seed):
    """(MC1) and (MC2) are (sigmaupdatem) and (muupdatem) with Theorem 2; so for Theorem 3's."""
    f = SMOOTH["cosine"][0]
    mu, Sigma, _ = gaussian(2, seed)
    beta, inverse = 0.1, np.linalg.inv(Sigma)
    z, w = quadrature(2)
    x = mu + z @ np.linalg.cholesky(Sigma).T
    v = (x - mu) @ inverse
    precision = inverse + beta * (np.einsum("n,ni,nj->ij", w * f(x), v, v) - (w @ f(x)) * inverse)
    Sigma_1 = np.linalg.inv(precision)
    _, g, G = closed_forms(mu, Sigma, A)["cosine"]
    for moved, mean in (
        ("new", mu - beta * Sigma_1 @ ((w * f(x)) @ v)),
        ("old", mu - beta * (w * f(x)) @ (x - mu)),
    ):
        found = bounds.closed_form(inverse, mu, g, G, beta, moved)
        assert np.allclose(found[0], mean, atol=1e-7)
        assert np.allclose(found[1], Sigma_1, atol=1e-7)


def test_the_term_that_algorithm_1_leaves_out_is_zero():
    """(MonteS) and (MonteU) with h(f) in place of f are (unSigmaUpdateM) and (unMuupdate), which is
    Algorithm 1: −Σ⁻¹ is multiplied by Σ h_i = 0. With f itself it is not zero.
    """
    rng = np.random.default_rng(0)
    d, beta = 3, 0.1
    mu, Sigma, _ = gaussian(d, 1)
    inverse = np.linalg.inv(Sigma)
    x, f = mu + rng.standard_normal((8, d)), 5 + rng.standard_normal(8)

    def monte_carlo(values):
        precision, step = inverse.copy(), np.zeros(d)
        for point, value in zip(x, values, strict=True):
            v = inverse @ (point - mu)
            precision += beta / len(x) * (np.outer(v, v) - inverse) * value
            step += v * value / len(x)
        Sigma_1 = np.linalg.inv(precision)
        return mu - beta * Sigma_1 @ step, Sigma_1

    z = (x - mu) @ np.linalg.inv(textbook.symmetric_root(Sigma))
    algorithm_1 = textbook.ingo(mu, Sigma, z, f, beta)
    for found, wanted in zip(monte_carlo(textbook.standardised(f)), algorithm_1, strict=True):
        assert np.allclose(found, wanted, rtol=1e-12, atol=1e-14)
    scaled = monte_carlo(f / f.std(ddof=1))
    assert not np.allclose(scaled[1], algorithm_1[1], atol=1e-3)


# ---- convexity -----------------------------------------------------------------------------------


@given(DIMS, SEEDS, st.floats(0, 1))
@few
def test_lemma_3_j_is_convex_in_mu_and_the_root_of_sigma(d, seed, share):
    """For convex f: ‖x‖₁, e^⟨a, x⟩ and a quadratic, all in closed form."""
    rng = np.random.default_rng(seed)
    a = rng.standard_normal(d) / sqrt(d)
    (mu, root), (mu_2, root_2) = ((rng.standard_normal(d), positive(d, rng)) for _ in range(2))
    between = share * mu + (1 - share) * mu_2, share * root + (1 - share) * root_2
    for function in ("absolute", "exponential", "quadratic"):
        values = [
            objective(function, m, r @ r, a) for m, r in ((mu, root), (mu_2, root_2), between)
        ]
        assert values[2] <= share * values[0] + (1 - share) * values[1] + 1e-9


def test_j_of_a_convex_function_is_not_convex_in_sigma_itself():
    """‖x‖₁ at μ = 0 is σ√(2/π) per coordinate: concave in σ², linear in σ. Nor is J̄ convex in
    Σ^½ for a function that is not: cos.
    """
    zero, a = np.zeros(2), np.ones(2)
    one, four = (objective("absolute", zero, s * np.eye(2), a) for s in (1.0, 4.0))
    assert objective("absolute", zero, 2.5 * np.eye(2), a) > (one + four) / 2 + 0.01
    assert objective("absolute", zero, 2.25 * np.eye(2), a) == pytest.approx((one + four) / 2)
    ends = [objective("cosine", zero, s**2 * np.eye(2), a) for s in (0.0, 0.6)]
    assert objective("cosine", zero, 0.3**2 * np.eye(2), a) > sum(ends) / 2 + 0.01


@given(DIMS, SEEDS)
@few
def test_the_gradient_by_the_root_of_sigma(d, seed):
    """∇_{Σ^½} J̄ = Σ^½ ∇_Σ J̄ + ∇_Σ J̄ Σ^½, so ⟨∇_{Σ^½} J̄, Σ^½⟩ = ⟨∇_Σ J̄, 2Σ⟩ (Lemma 4)."""
    mu, Sigma, rng = gaussian(d, seed)
    a = rng.standard_normal(d) / sqrt(d)
    root = textbook.symmetric_root(Sigma)
    _, _, G = closed_forms(mu, Sigma, a)["exponential"]
    by_root = root @ G + G @ root
    numerical = derivative(
        lambda t: objective("exponential", mu, full(t, d) @ full(t, d), a), root[np.tril_indices(d)]
    )
    assert np.allclose(numerical, twice(d) * by_root[np.tril_indices(d)], rtol=1e-5, atol=1e-7)
    assert np.sum(by_root * root) == pytest.approx(np.sum(G * 2 * Sigma))


def slack_of_lemma_4(d, seed, factor):
    """Right less left of the lemma for f = γ/2 ‖x‖², ĝ = ∇_μ J̄ exact and Ĝ = factor·γ/2 I."""
    mu, Sigma, _ = gaussian(d, seed)
    gamma, beta = 1.3, 0.7
    g, G = gamma * mu, gamma / 2 * np.eye(d)
    J = gamma / 2 * (mu @ mu + np.trace(Sigma))  # less its minimum at (0, 0)
    inverse = np.linalg.inv(Sigma)
    new, Sigma_1 = bounds.closed_form(inverse, mu, g, factor * G, beta, "new")
    right = 0.5 * norm(mu, inverse) - beta * J + beta * np.sum(G * 2 * Sigma)
    right += beta**2 / 2 * np.linalg.norm(Sigma_1, 2) * g @ g
    return right - 0.5 * norm(new, np.linalg.inv(Sigma_1))


@given(DIMS, SEEDS, st.floats(0.01, 1))
@few
def test_lemma_4(d, seed, factor):
    """The recursion of ½‖μ* − μ_t‖²_{Σ_t⁻¹}, (Eineq), for every Ĝ ⪯ (γ/2)I."""
    assert slack_of_lemma_4(d, seed, factor) >= -1e-9


def test_lemma_4_needs_the_upper_limit_of_the_curvature():
    """With Ĝ = 40 · γ/2 I there are distributions for which it fails."""
    assert min(slack_of_lemma_4(2, seed, 40.0) for seed in range(100)) < -0.1


@given(DIMS, SEEDS)
@few
def test_the_square_that_is_completed(d, seed):
    """(beforeSig) to (BlackInq): the largest value of ⟨ĝ, μ_t − μ'⟩β − ½‖μ' − μ_t‖² over μ' is
    β²/2 ‖Σ'ĝ‖², which is ≤ β²/2 ‖Σ'‖‖ĝ‖².
    """
    (mu, _), (mu_1, Sigma_1), (star, _), g, _, beta = step(d, seed)
    inverse_1 = np.linalg.inv(Sigma_1)

    def left(at):
        return -0.5 * norm(at - mu, inverse_1) + beta * g @ (mu - at)

    most = beta**2 / 2 * norm(Sigma_1 @ g, inverse_1)
    assert left(mu_1) == pytest.approx(most)
    assert left(star) == pytest.approx(most - 0.5 * norm(star - mu + beta * Sigma_1 @ g, inverse_1))
    assert most <= beta**2 / 2 * np.linalg.norm(Sigma_1, 2) * g @ g + 1e-12


@given(st.integers(1, 5), SEEDS)
@few
def test_lemma_5(d, seed):
    """(normEq): tr(XY) ≤ ‖Y‖₂‖X‖_tr for X symmetric, Y ⪰ 0, reached by X = vvᵀ for Y's first v."""
    rng = np.random.default_rng(seed)
    X, Y = symmetric(d, rng), positive(d, rng)
    trace_norm = np.abs(np.linalg.eigvalsh(X)).sum()
    assert np.trace(X @ Y) <= np.linalg.norm(Y, 2) * trace_norm + 1e-12
    v = np.linalg.eigh(Y)[1][:, -1]
    assert np.trace(np.outer(v, v) @ Y) == pytest.approx(np.linalg.norm(Y, 2))
    # neither norm may be smaller: Frobenius's is, and then it fails for Y = I, d > 1
    if d > 1:
        assert np.trace(Y @ np.eye(d)) > np.linalg.norm(Y)


@given(st.floats(0.05, 2), st.floats(0.05, 1), st.integers(2, 300))
@few
def test_lemma_6(beta, b, T):
    """(SigmaRate): ‖Σ_{t+1}‖ ≤ 1/(2tβb); and (innerBound), with Σ 1/t ≤ 1 + log T, for
    ‖G_t‖_tr = B₁ at every t.
    """
    rng = np.random.default_rng(T)
    Sigma = positive(2, rng)
    first, B1 = np.linalg.norm(Sigma, 2), 3.0
    inverse, total = np.linalg.inv(Sigma), 0.0
    for t in range(1, T + 1):
        size = 1 / np.linalg.eigvalsh(inverse)[0]
        total += beta * 2 * B1 * size  # ⟨G_t, 2Σ_t⟩ at its largest
        G = framework.project(symmetric(2, rng), b, b + 1)
        inverse = inverse + 2 * beta * G
        assert 1 / np.linalg.eigvalsh(inverse)[0] <= 1 / (2 * t * beta * b) + 1e-12
    assert total <= 2 * B1 * (beta * first + (1 + log(T)) / (2 * b))
    assert sum(1 / t for t in range(1, T + 1)) <= 1 + log(T)


# ---- Algorithm 3 with first-order estimates ------------------------------------------------------


def first_order(method, state, g):
    """The state after a step of the framework with ĝ = g.

    The framework takes function values. On a linear function, at the points one deviation along
    each axis, its estimate is the slope of this function: any g, and so a first-order estimate.
    """
    d = len(g)
    z = np.concatenate([np.zeros((1, d)), np.eye(d)])
    y = z * state.std
    return method.tell(state, Samples(state.mean + y, z, y), d * (z @ (state.std * g)))


def test_a_slope_is_what_the_framework_takes_it_for():
    method = Framework(step_size=0.7, b=0.2, gamma=1.0)
    state = DiagonalGaussian(np.array([1.0, 2.0, 3.0]), np.array([0.5, 1.0, 2.0]))
    g = np.array([0.3, -1.0, 2.0])
    told = first_order(method, state, g)
    mu, Sigma = bounds.closed_form(
        np.diag(state.std**-2.0), state.mean, g, 0.2 * np.eye(3), 0.7, "new"
    )
    assert np.allclose(told.mean, mu, rtol=1e-12, atol=0)
    assert np.allclose(np.diag(told.std**2), Sigma, rtol=1e-12, atol=1e-15)


def regret_with(gradient, name, b, T=400):
    """Average regret after each t with first-order ĝ = gradient(problem, μ, σ), and its bound."""
    problem = shared.convex(name, {"dim": 5})
    method = Framework(step_size=1.0, initial_std="1/sqrt(d)", b=b, gamma=problem.gamma)
    rng = np.random.default_rng(7)
    state, f = method.init(problem.start(rng), rng), []
    for _ in range(T):
        f.append(problem.evaluate(state.mean[None])[0])
        state = first_order(method, state, gradient(problem, state.mean, state.std[0], rng))
    t = np.arange(1.0, T + 1)
    B1 = np.array([problem.bend(s) for s in bounds.smallest_std(t, method, 5)])
    bound = bounds.theorem_4(t, b, 1.0, 0.2, 5.0, B1, problem.lipschitz**2)
    return np.cumsum(f) / t, bound, t


def exact(problem, mu, sigma, rng):
    """∇_μ J̄ of the quadratic, all but exact within the ball."""
    return mu - problem.minimiser


def stochastic(problem, mu, sigma, rng):
    """∇f at one point drawn, unbiased by Bonnet's theorem; also where f has kinks."""
    u = mu + sigma * rng.standard_normal(mu.size) - problem.minimiser
    kink = np.sign(u) / sqrt(mu.size) if problem.lipschitz > problem.radius else 0
    return u * min(1.0, problem.radius / np.linalg.norm(u)) + kink


@pytest.mark.parametrize("b", [0.5, 0.1])
@pytest.mark.parametrize(
    ("gradient", "name"),
    [(exact, "quadratic"), (stochastic, "quadratic"), (stochastic, "l1_quadratic")],
)
def test_theorem_4_holds_for_first_order_estimates(gradient, name, b):
    regret, bound, t = regret_with(gradient, name, b)
    assert (regret <= bound).all()
    rate = shared.slope(t[40:], np.log(t[40:]) / t[40:])
    if name == "quadratic":
        assert shared.slope(t[40:], regret[40:]) < rate
    assert regret[-1] < regret[0] / 5


def test_with_the_exact_gradient_the_mean_moves_as_a_product():
    """u_{t+1} = (1 − βσ²_{t+1}) u_t with 1/σ²_{t+1} = d + 2βbt: u_T = u_1 Π (1 − 1/(d + t))."""
    regret, _, t = regret_with(exact, "quadratic", 0.5, T=50)
    shrunk = np.cumprod(np.concatenate([[1.0], 1 - 1 / (5 + t[:-1])]))
    assert regret == pytest.approx(np.cumsum(0.5 * shrunk**2) / t)


def test_a_curvature_above_half_gamma_freezes_the_mean():
    """Not Theorem 4's case: with b = 50 the regret no longer falls as log T / T."""
    problem = shared.convex("quadratic", {"dim": 5})
    method = Framework(step_size=1.0, initial_std="1/sqrt(d)", b=50.0, gamma=100.0)
    rng = np.random.default_rng(7)
    state, f = method.init(problem.start(rng), rng), []
    for _ in range(400):
        f.append(problem.evaluate(state.mean[None])[0])
        state = first_order(method, state, exact(problem, state.mean, 0.0, rng))
    t = np.arange(1.0, 401.0)
    assert shared.slope(t[40:], (np.cumsum(f) / t)[40:]) > -0.2


# ---- Theorem 5, its estimator and orthogonal samples ---------------------------------------------


def test_algorithm_1s_own_curvature_is_not_bounded_from_below():
    """The remark on Theorem 5 says "when further ensure bI ⪯ Ĝ ⪯ (γ/2)I": Σ h_i = 0, so the Ĝ of
    Algorithm 1 has an eigenvalue < 0 with fewer samples than dimensions. Algorithm 3 projects it.
    """
    rng = np.random.default_rng(3)
    d, n, beta = 12, 6, 0.05
    state = Gaussian.isotropic(np.zeros(d), 1.0)
    z = rng.standard_normal((n, d))
    f = rng.standard_normal(n)
    told = INGO(samples=n, step_size=beta).tell(state, Samples(z, z, z), f)
    G = (np.linalg.inv(told.factor @ told.factor.T) - np.eye(d)) / (2 * beta)
    eigenvalues = np.linalg.eigvalsh(G)
    assert eigenvalues[0] < -0.01
    assert np.sum(np.abs(eigenvalues) > 1e-9) == n
    assert np.linalg.eigvalsh(framework.project(G, 0.1, 0.5))[0] == pytest.approx(0.1)


def test_the_fourth_moment_of_z():
    """E‖z‖⁴ = d(d + 2), below the (d + 4)² of Lemma 7 at every d; by quadrature for d = 1, 2, 3."""
    for d in (1, 2, 3):
        z, w = quadrature(d, 4)
        assert w @ (z * z).sum(axis=1) ** 2 == pytest.approx(d * (d + 2))
    assert all(d * (d + 2) < (d + 4) ** 2 for d in range(1, 1000))


def noise_of(z, inverse_root, values):
    """‖ĝ‖² of (orthgonoalg), and the sum over samples without the cross terms."""
    terms = (z @ inverse_root) * values[:, None] / len(z)
    return np.sum(terms.sum(axis=0) ** 2), np.sum(terms**2)


@given(st.integers(2, 6), SEEDS)
@few
def test_cross_terms_vanish_for_conjugate_samples(d, seed):
    """Lemma 8's step from the double sum to the single one, for any values.

    It takes z_iᵀ Σ⁻¹ z_j = 0, the text's condition, which orthogonal samples meet where Σ = σ²I,
    and not where Σ has another shape.
    """
    rng = np.random.default_rng(seed)
    values = rng.standard_normal(d)
    orthogonal = framework.noise("orthogonal", d, d, rng)
    Sigma = positive(d, rng)
    root = textbook.symmetric_root(Sigma)
    inverse_root = np.linalg.inv(root)
    for z, inverse in ((orthogonal, np.eye(d) / 0.3), (orthogonal @ root, inverse_root)):
        whole, single = noise_of(z, inverse, values)
        assert whole == pytest.approx(single)
    whole, single = noise_of(orthogonal, inverse_root, values)
    assert whole != pytest.approx(single, rel=1e-6)


def test_a_moment_for_orthogonal_samples_needs_an_isotropic_covariance():
    assert bounds.second_moment("orthogonal", 2.0, 5, 5) == 4 * 7
    with pytest.raises(ValueError, match="vanish at an isotropic Σ only"):
        bounds.second_moment("orthogonal", 2.0, 5, 5, condition=2.0)


@pytest.mark.parametrize("blocks", [1, 2, 4])
def test_more_samples_than_dimensions_in_blocks_of_d(blocks):
    """The text names other constructions for N > d; the framework refuses it, as Lemma 8 does.

    Blocks of d with independent rotations are the plain one: E‖ĝ‖² = (1 − 1/k)‖∇J̄‖² + E‖ĝ₁‖²/N
    for k blocks, so that beyond d only the noise of a block is divided. Exact for linear f: L = 1.
    """
    d, repeats = 4, 4000
    with pytest.raises(ValueError, match="samples is 8; allowed: at most d = 4"):
        Framework("orthogonal", samples=8).size(d)
    rng = np.random.default_rng(9)
    a = np.eye(d)[0]
    squares = np.empty(repeats)
    for k in range(repeats):
        z = np.concatenate([framework.noise("orthogonal", d, d, rng) for _ in range(blocks)])
        g = (z @ a) @ z / len(z)
        squares[k] = g @ g
    wanted = (1 - 1 / blocks) + (d + 2) / (blocks * d)
    assert abs(squares.mean() - wanted) <= 6 * squares.std(ddof=1) / sqrt(repeats)
    independent = (1 - 1 / (blocks * d)) + (d + 2) / (blocks * d)
    assert wanted < independent
