"""The general framework, the convex problems, and the formulas of the theorems.

Statistical tests measure in standard errors s and allow 6: a normal number deviates by more once in
5·10⁸, so one of the few hundred compared here fails by chance for fewer than one seed in 10⁶.
"""

from __future__ import annotations

from math import log, sqrt

import numpy as np
import pytest

import problems
from algorithms import framework
from algorithms.framework import ESTIMATORS, Framework
from algorithms.shared.gaussian import DiagonalGaussian, Gaussian
from algorithms.shared.interface import Samples, Stop
from algorithms.shared.loop import iterate
from experiments.theory import bounds, shared

CONVEX = ("quadratic", "l1_quadratic", "max_quadratic")
MANY = 6.0  # standard errors


def near(samples, expected):
    """Whether the mean over the first axis is ``expected``, to MANY standard errors."""
    error = samples.std(axis=0, ddof=1) / sqrt(len(samples))
    return np.all(np.abs(samples.mean(axis=0) - expected) <= MANY * error)


# ---- Algorithm 3 ---------------------------------------------------------------------------------


def by_hand(mu, Sigma, x, f, beta, b, gamma, estimated):
    """One step of Algorithm 3 in the paper's notation, from the points alone: z = Σ^{-½}(x − μ)."""
    inverse = np.linalg.inv(Sigma)
    values, vectors = np.linalg.eigh(Sigma)
    root_inverse = vectors @ np.diag(values**-0.5) @ vectors.T
    N, d = len(x) - 1, len(mu)
    g, G = np.zeros(d), np.zeros((d, d))
    for i in range(1, N + 1):
        z = root_inverse @ (x[i] - mu)
        g = g + root_inverse @ z * (f[i] - f[0]) / N
        S = inverse @ np.outer(x[i] - mu, x[i] - mu) @ inverse - inverse
        G = G + 0.5 * S * (f[i] - f[0]) / N
    if estimated:
        lam, U = np.linalg.eigh(G)
        G = U @ np.diag(np.minimum(np.maximum(lam, b), gamma / 2)) @ U.T
    else:
        G = b * np.eye(d)
    Sigma_new = np.linalg.inv(inverse + 2 * beta * G)
    return mu - beta * Sigma_new @ g, Sigma_new


@pytest.mark.parametrize("curvature", ["constant", "estimated"])
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_it_is_algorithm_3(estimator, curvature):
    method = Framework(estimator, curvature, step_size=0.7, initial_std=0.4, b=0.1, gamma=1.5)
    rng = np.random.default_rng(1)
    problem = problems.build("l1_quadratic", {"dim": 5})
    state = method.init(problem.start(rng), rng)
    mu, Sigma = state.mean, 0.16 * np.eye(5)
    for _ in range(6):
        samples = method.ask(state, rng)
        assert np.array_equal(samples.x[0], state.mean)  # f(μ) is in the batch, and paid for
        f = problem.evaluate(samples.x)
        mu, Sigma = by_hand(mu, Sigma, samples.x, f, 0.7, 0.1, 1.5, curvature == "estimated")
        state = method.tell(state, samples, f)
        assert np.allclose(state.mean, mu, rtol=0, atol=1e-11)
        factor = state.factor if isinstance(state, Gaussian) else np.diag(state.std)
        assert np.allclose(factor @ factor.T, Sigma, rtol=0, atol=1e-11)


def test_the_two_kinds_of_state_agree_where_both_can_be_used():
    """b = γ/2 leaves the projection one matrix to give: Ĝ = bI."""
    rng = np.random.default_rng(2)
    problem = problems.build("quadratic", {"dim": 4})
    states = [Framework(curvature=c) for c in ("constant", "estimated")]
    means = []
    for method in states:
        search = np.random.default_rng(3)
        batches = list(iterate(method, problem.evaluate, problem.start(rng) * 0, search, 200))
        means.append(batches[-1].state.mean)
    assert np.allclose(*means, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("estimator", "n"), [("single", 1), ("batch", 12), ("orthogonal", 12), ("antithetic", 12)]
)
def test_the_rule_for_n_and_the_price_of_a_batch(estimator, n):
    method = Framework(estimator)  # d = 12, and so is 2⌊3 + ⌊3 ln 12⌋/2⌋
    problem = problems.build("quadratic", {"dim": 12})
    first = next(iterate(method, problem.evaluate, np.zeros(12), np.random.default_rng(0), 1000))
    assert first.evaluations == n + 1


def test_more_orthogonal_directions_than_dimensions_are_refused():
    with pytest.raises(ValueError, match="samples is 6; allowed: at most d = 5"):
        Framework("orthogonal", samples=6).init(np.zeros(5), np.random.default_rng(0))


@pytest.mark.parametrize(
    ("settings", "said"),
    [({"estimator": "pairs"}, "estimator is"), ({"curvature": "none"}, "curvature is"),
     ({"b": 0.6}, "b is 0.6; allowed: at most γ/2 = 0.5"), ({"b": 0.0}, "b is"),
     ({"estimator": "single", "samples": 2}, "samples is 2"), ({"samples": 1}, "samples is 1"),
     ({"estimator": "antithetic", "samples": 5}, "samples is 5; allowed: an even number")],
)  # fmt: skip
def test_settings_that_are_not_allowed_are_named(settings, said):
    with pytest.raises(ValueError, match=said):
        Framework(**settings)


def test_a_value_that_is_not_finite_ends_the_run():
    method = Framework()
    state = DiagonalGaussian.isotropic(np.zeros(3), 1.0)
    told = method.tell(state, Samples(np.zeros((2, 3)), np.zeros((2, 3))), np.array([1.0, np.inf]))
    assert told.ended.reason == Stop.DIVERGED


def test_orthogonal_noise_is_orthogonal_with_chi_norms_and_normal_marginals():
    d, n, repeats = 6, 4, 20000
    rng = np.random.default_rng(4)
    z = np.array([framework.noise("orthogonal", n, d, rng) for _ in range(repeats)])
    gram = z @ z.transpose(0, 2, 1)
    off = gram[:, ~np.eye(n, dtype=bool)]
    assert np.abs(off).max() < 1e-12
    squares = np.diagonal(gram, axis1=1, axis2=2)
    assert near(squares, d)  # chi-square with d degrees
    assert near(squares**2, d * (d + 2))
    assert near(squares[:, :1] * squares[:, 1:], d * d)  # and independent
    assert near(z, np.zeros((n, d)))  # fails without the sign correction
    assert near(z[:, :, :, None] * z[:, :, None, :], np.eye(d))
    assert near(z**4, 3.0)


@pytest.mark.parametrize("estimator", ["batch", "antithetic"])
def test_the_other_noise(estimator):
    z = framework.noise(estimator, 20000, 3, np.random.default_rng(5))
    assert near(z**2, 1.0)
    assert np.array_equal(z[:10000], -z[10000:]) == (estimator == "antithetic")


def test_the_projection_in_closed_form():
    low, high = 0.2, 0.5
    assert np.allclose(framework.project(np.diag([-1.0, 0.3, 9.0]), low, high),
                       np.diag([0.2, 0.3, 0.5]), rtol=0, atol=1e-14)  # fmt: skip
    # [[1, 1], [1, 1]] has eigenvalues 2 along (1, 1) and 0 along (1, −1)
    assert np.allclose(framework.project(np.ones((2, 2)), low, high),
                       np.array([[0.35, 0.15], [0.15, 0.35]]), rtol=0, atol=1e-14)  # fmt: skip


def test_the_projection_is_the_nearest_allowed_matrix():
    rng = np.random.default_rng(6)
    low, high = 0.2, 0.5
    for _ in range(50):
        A = rng.standard_normal((4, 4))
        nearest = framework.project(A, low, high)
        values = np.linalg.eigvalsh(nearest)
        assert np.allclose(nearest, nearest.T, rtol=0, atol=1e-14)
        assert low - 1e-12 <= values[0]
        assert values[-1] <= high + 1e-12
        assert np.allclose(framework.project(nearest, low, high), nearest, rtol=0, atol=1e-14)
        for _ in range(20):  # the variational inequality of a projection onto a convex set
            Q = np.linalg.qr(rng.standard_normal((4, 4)))[0]
            other = Q @ np.diag(rng.uniform(low, high, 4)) @ Q.T
            assert np.sum((A - nearest) * (other - nearest)) <= 1e-12


def test_the_condition_number_stays_below_gamma_over_2b():
    """What repairs Theorem 5 for an estimated Ĝ (experiments/theory/README.md)."""
    method = Framework(curvature="estimated", samples=400, b=0.05, gamma=1.0)
    rng = np.random.default_rng(7)
    run = iterate(method, lambda x: 3 * x[:, 0] ** 2, np.ones(4), rng, 401 * 300)
    conditions = [batch.state.spread().condition for batch in run]
    assert 4 < max(conditions) <= 10 * (1 + 1e-9)


# ---- the problems --------------------------------------------------------------------------------


def numerical_gradient(f, x, h=1e-6):
    steps = h * np.eye(x.size)
    return (f(x + steps) - f(x - steps)) / (2 * h)


@pytest.mark.parametrize(("name", "kink"), [("quadratic", 0), ("l1_quadratic", 6 / 2),
                                            ("max_quadratic", 4)])  # fmt: skip
def test_values_in_closed_form(name, kink):
    """At x* + t·(4, 2, 0, 0): ‖·‖₂ = t√20, ‖·‖₁/√d = 3t, max = 4t; the ball has radius 5."""
    problem = problems.build(name, {"dim": 4})
    u = np.array([4.0, 2.0, 0.0, 0.0])
    inside, beyond = problem.evaluate(problem.minimiser + np.array([u, 2 * u]))
    assert inside == pytest.approx(20 / 2 + kink)
    assert beyond == pytest.approx(5 * sqrt(80) - 25 / 2 + 2 * kink)


@pytest.mark.parametrize("name", CONVEX)
def test_lipschitz_everywhere_and_no_smaller_constant_would_do(name):
    problem = problems.build(name, {"dim": 5})
    rng = np.random.default_rng(8)
    x, y = (rng.standard_normal((4000, 5)) * rng.choice([0.1, 3, 30], (4000, 1)) for _ in "xy")
    slopes = np.abs(problem.evaluate(x) - problem.evaluate(y)) / np.linalg.norm(x - y, axis=1)
    assert slopes.max() <= problem.lipschitz * (1 + 1e-12)
    # along a ray beyond the ball the slope is L: the diagonal for ℓ1, an axis for the maximum
    ray = np.ones(5) / sqrt(5) if name == "l1_quadratic" else np.eye(5)[0]
    far, further = (problem.minimiser + t * ray for t in (10.0, 11.0))
    slope = np.diff(problem.evaluate(np.array([far, further])))
    assert slope == pytest.approx(problem.lipschitz)


@pytest.mark.parametrize("name", CONVEX)
def test_strongly_convex_towards_the_minimiser_within_the_ball_and_not_beyond(name):
    problem = problems.build(name, {"dim": 5})
    assert problem.evaluate(problem.minimiser[None])[0] == problem.minimum
    rng = np.random.default_rng(9)

    def slack(distance):
        """f* − f(x) − ⟨∇f(x), x* − x⟩ − γ/2 ‖x − x*‖² ≥ 0 is what the proof uses."""
        u = rng.standard_normal(5)
        x = problem.minimiser + distance * u / np.linalg.norm(u)
        g = numerical_gradient(problem.evaluate, x)
        f = problem.evaluate(x[None])[0]
        return problem.minimum - f - g @ (problem.minimiser - x) - problem.gamma / 2 * distance**2

    assert min(slack(d) for d in rng.uniform(0.01, problem.radius, 200)) >= -1e-7
    assert max(slack(d) for d in rng.uniform(problem.radius + 1, 20, 50)) < 0


@pytest.mark.parametrize("name", CONVEX)
@pytest.mark.parametrize("sigma", [0.3, 0.01])
def test_b1_bounds_the_trace_norm(name, sigma):
    """tr ∇_Σ J̄ = ½ E⟨z, ∇f(μ + σz)⟩/σ (Stein), at the minimiser, where all kinks are."""
    problem = problems.build(name, {"dim": 4})
    rng = np.random.default_rng(10)
    z = rng.standard_normal((20000, 4))
    u = sigma * z
    gradient = u.copy()  # of the quadratic; the kinks have gradients sign(u)/√d and ±e_i
    if name == "l1_quadratic":
        gradient += np.sign(u) / 2
    if name == "max_quadratic":
        top = np.abs(u).argmax(axis=1)
        rows = np.arange(len(u))
        gradient[rows, top] += np.sign(u[rows, top])
    traces = 0.5 * (z * gradient).sum(axis=1) / sigma
    if name == "max_quadratic":
        assert 0.6 * problem.bend(sigma) < traces.mean() < problem.bend(sigma)
    else:
        assert near(traces, problem.bend(sigma))  # reached, so no smaller B₁ would do


@pytest.mark.parametrize("name", CONVEX)
def test_the_start_has_distance_1(name):
    problem = problems.build(name, {"dim": 6})
    start = problem.start(np.random.default_rng(0))
    assert np.linalg.norm(start - problem.minimiser) == pytest.approx(1.0)


def test_what_a_convex_problem_may_not_be():
    with pytest.raises(ValueError, match="dim is 1; allowed"):
        problems.build("quadratic", {"dim": 1})
    with pytest.raises(ValueError, match="radius is 1, kink"):
        problems.build("quadratic", {"dim": 3, "radius": 1})
    with pytest.raises(ValueError, match="ellipsoid states no constants"):
        shared.convex("ellipsoid", {"dim": 3})


# ---- the formulas --------------------------------------------------------------------------------

T, b, beta, rho, R, B1, B, L, d = 50.0, 0.3, 0.7, 0.2, 4.0, 5.0, 60.0, 2.0, 6


def test_theorem_4_as_its_proof_adds_it_up():
    """The last line before the common denominator, Eq. (iMinbound) with its three sums."""
    sums = 0.5 * R + 2 * B1 * (beta * rho + (1 + log(T)) / (2 * b))
    sums += beta**2 * rho * B / 2 + (1 + log(T)) * beta * B / (4 * b)
    assert bounds.theorem_4(T, b, beta, rho, R, B1, B) == pytest.approx(sums / (T * beta))


def test_theorem_5_as_its_proof_adds_it_up():
    sums = 0.5 * R + 2 * B1 * (beta * rho + (1 + log(T)) / (2 * b))
    sums += beta**2 * rho * L**2 * (d + 4) ** 2
    sums += beta * L**2 * (d + 4) ** 2 / (4 * b) * (1 + log(T))
    assert bounds.theorem_5(T, b, beta, rho, R, B1, L, d) == pytest.approx(sums / (T * beta))


def test_the_orthogonal_form_as_its_proof_adds_it_up():
    sums = 0.5 * R + 2 * B1 * (beta / d + (1 + log(T)) / (2 * b))
    sums += beta**2 / d * L**2 * (d + 4) ** 2
    sums += beta * L**2 * (d + 4) ** 2 / (4 * b * d) * (1 + log(T))
    assert bounds.orthogonal_bound(T, b, beta, R, B1, L, d) == pytest.approx(sums / (T * beta))


def test_theorem_4_is_above_the_sums_it_stands_for():
    """Σ‖Σ_t‖ and Σ‖Σ_{t+1}‖ added up term by term for Ĝ = bI and Σ₁ = ρI."""
    norms = [1 / (1 / rho + 2 * beta * b * t) for t in range(int(T) + 1)]  # ‖Σ_1‖ …
    exact = 0.5 * R + 2 * beta * B1 * sum(norms[:-1]) + beta**2 / 2 * B * sum(norms[1:])
    ratio = bounds.theorem_4(T, b, beta, rho, R, B1, B) / (exact / (T * beta))
    assert 1 < ratio < 4


def test_the_smallest_deviation_is_the_one_that_a_run_ends_with():
    method = Framework("single", step_size=0.5, initial_std=0.4, b=0.2)
    problem = problems.build("quadratic", {"dim": 3})
    rng = np.random.default_rng(0)
    *_, last = iterate(method, problem.evaluate, np.zeros(3), rng, 2 * 25)  # 25 iterations
    assert bounds.smallest_std(np.array([25.0]), method, 3)[0] == pytest.approx(last.state.std[0])


@pytest.mark.parametrize(("estimator", "n"), [("single", 1), ("batch", 4), ("orthogonal", 4),
                                              ("antithetic", 4)])  # fmt: skip
def test_the_second_moment_that_a_lipschitz_constant_allows(estimator, n):
    """L‖x‖ at its tip reaches L²d(d + 2)/N, a linear function stays below."""
    d, L, sigma = 5, 2.0, 0.1
    method = Framework(estimator, samples=n)
    state = DiagonalGaussian.isotropic(np.zeros(d), sigma)
    rng = np.random.default_rng(11)
    allowed = bounds.second_moment(estimator, L, d, n)

    def squares(f):
        def one():
            samples = method.ask(state, rng)
            g = framework.weights(f(samples.x)) @ samples.z / sigma
            return g @ g

        return np.array([one() for _ in range(4000)])

    tip = squares(lambda x: L * np.linalg.norm(x, axis=1))
    linear = squares(lambda x: L * x[:, 0])
    if estimator in ("single", "orthogonal"):
        assert near(tip, allowed)
        assert near(linear, L**2 * (d + 2) / n)
    independent = n // 2 if estimator == "antithetic" else n
    if estimator in ("batch", "antithetic"):
        assert near(linear, L**2 * (1 + (d + 1) / independent))
    assert max(tip.mean(), linear.mean()) <= allowed * 1.1


def test_bounds_take_the_theorem_that_fits():
    T = np.array([10.0, 100.0])
    problem = shared.convex("l1_quadratic", {"dim": 4})
    for estimator, curvature, std, printed in (
        ("single", "constant", 0.5, True), ("orthogonal", "constant", 0.5, True),
        ("orthogonal", "constant", 0.6, False), ("batch", "constant", 0.5, False),
        ("batch", "estimated", 0.5, False),
    ):  # fmt: skip
        method = Framework(estimator, curvature, initial_std=std, b=0.1)
        fourth, fifth = bounds.bounds(method, problem, T)
        assert np.isfinite(fourth).all()
        assert np.isfinite(fifth).all() == printed
    # by hand: one sample, ρ = ¼, R = 4, B₁ = d/2 + √d/(σ_T √2π), β = 1, b = 0.1, L = 6
    method = Framework("single", initial_std=0.5, b=0.1)
    sigma = (4 + 2 * 0.1 * 99) ** -0.5
    B1 = 2 + 2 / (sigma * sqrt(2 * np.pi))
    by_hand = bounds.theorem_5(100.0, 0.1, 1.0, 0.25, 4.0, B1, 6.0, 4)
    assert bounds.bounds(method, problem, T)[1][1] == pytest.approx(by_hand)
    # the condition number of an estimated Ĝ is charged: κ = γ/2b = 5, and σ_T is that of Ĝ = γ/2
    method = Framework("batch", "estimated", samples=10, initial_std=0.5, b=0.1)
    B = 36 * 0.9 + 36 * 5 * 24 / 10
    assert pytest.approx(B) == bounds.second_moment("batch", 6.0, 4, 10, 5.0)
    B1 = 2 + 2 / ((4 + 99) ** -0.5 * sqrt(2 * np.pi))
    by_hand = bounds.theorem_4(100.0, 0.1, 1.0, 0.25, 4.0, B1, B)
    fourth, fifth = bounds.bounds(method, problem, T)
    assert fourth[1] == pytest.approx(by_hand)
    assert np.isnan(fifth).all()
