"""The general framework, the convex problems, and the tables and pictures of the theory.

Statistical tests measure in standard errors s and allow 6: a normal number is further away once in
5·10⁸, so that of the few hundred compared here one fails by chance less than once in 10⁶ seeds.
"""

from __future__ import annotations

from math import log, sqrt
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import problems
from algorithms import framework
from algorithms.framework import ESTIMATORS, Framework
from algorithms.gaussian import DiagonalGaussian, Gaussian
from algorithms.interface import Samples, Stop
from algorithms.loop import iterate
from experiments import bounds, plan, theory, trace
from experiments.readme import PUBLISHED
from experiments.seeds import stream
from experiments.single import Spec, run
from figures import style
from figures import theory as pictures

HERE = Path(__file__).parent
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
                       np.diag([0.2, 0.3, 0.5]))  # fmt: skip
    # [[1, 1], [1, 1]] has eigenvalues 2 along (1, 1) and 0 along (1, −1)
    assert np.allclose(framework.project(np.ones((2, 2)), low, high),
                       np.array([[0.35, 0.15], [0.15, 0.35]]))  # fmt: skip


def test_the_projection_is_the_nearest_allowed_matrix():
    rng = np.random.default_rng(6)
    low, high = 0.2, 0.5
    for _ in range(50):
        A = rng.standard_normal((4, 4))
        nearest = framework.project(A, low, high)
        values = np.linalg.eigvalsh(nearest)
        assert np.array_equal(nearest, nearest.T) or np.allclose(nearest, nearest.T)
        assert low - 1e-12 <= values[0]
        assert values[-1] <= high + 1e-12
        assert np.allclose(framework.project(nearest, low, high), nearest)
        for _ in range(20):  # the variational inequality of a projection onto a convex set
            Q = np.linalg.qr(rng.standard_normal((4, 4)))[0]
            other = Q @ np.diag(rng.uniform(low, high, 4)) @ Q.T
            assert np.sum((A - nearest) * (other - nearest)) <= 1e-12


def test_the_condition_number_stays_below_gamma_over_2b():
    """What repairs Theorem 5 for an estimated Ĝ (theory.md)."""
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
        theory.convex("ellipsoid", {"dim": 3})


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
    problem = theory.convex("l1_quadratic", {"dim": 4})
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


def test_slope_and_interval():
    x = np.array([1.0, 2.0, 4.0, 8.0])
    assert theory.slope(x, 3 * x**1.7) == pytest.approx(1.7)
    values = np.array([1.0, 2.0, 4.0])
    # mean 7/3, s = 1.5275, t(0.975, 2) = 4.3027
    found = theory.interval(values, "a")
    assert found["a"] == pytest.approx(7 / 3)
    assert found["a_high"] - found["a"] == pytest.approx(4.3027 * 1.52753 / sqrt(3), rel=1e-4)
    assert found["a"] - found["a_low"] == pytest.approx(found["a_high"] - found["a"])


# ---- the tables ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def unbiased():
    return theory.unbiased(3, 4000, 12)


def test_the_estimators_are_unbiased(unbiased):
    fair = unbiased[unbiased["estimator"] != "centred"]
    assert len(fair) == 4 * 4 * (3 + 6)
    assert fair["z"].abs().max() <= MANY
    assert 0.7 < fair["z"].std() < 1.3  # the standard errors are none too large


def test_centring_by_the_batch_mean_shrinks_the_gradient(unbiased):
    centred = unbiased[unbiased["estimator"] == "centred"]
    scaled = (centred["estimate"] - centred["factor"] * centred["exact"]) / centred[
        "standard_error"
    ]
    assert scaled.abs().max() <= MANY  # (1 − 1/N) times the gradient
    assert centred["z"].abs().max() > MANY  # and not the gradient


def test_the_exact_gradients_are_derivatives_of_the_mean():
    """J̄ by Gauss-Hermite quadrature in two dimensions, differentiated numerically."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    grid = np.stack(np.meshgrid(nodes, nodes), axis=-1).reshape(-1, 2)
    w = np.outer(weights, weights).ravel() / (2 * np.pi)
    mu, a = np.array([0.3, -0.2]), np.array([0.7, 0.4])
    Sigma = np.array([[0.8, 0.3], [0.3, 0.5]])

    def J(f, mu, Sigma):
        return w @ f(mu + grid @ np.linalg.cholesky(Sigma).T)

    h = 1e-4
    for name, (f, exact_mu, exact_Sigma) in theory.closed_forms(mu, Sigma, a).items():
        if name == "absolute":
            continue  # quadrature needs a smooth f; the Monte-Carlo means above have this one
        for i in range(2):
            e = h * np.eye(2)[i]
            slope = (J(f, mu + e, Sigma) - J(f, mu - e, Sigma)) / (2 * h)
            assert slope == pytest.approx(exact_mu[i], abs=1e-6), name
            for j in range(2):
                E = np.zeros((2, 2))
                E[i, j] += h / 2
                E[j, i] += h / 2
                slope = (J(f, mu, Sigma + E) - J(f, mu, Sigma - E)) / (2 * h)
                assert slope == pytest.approx(exact_Sigma[i, j], abs=1e-6), name


def test_theorem_3_is_what_a_solver_finds():
    table = theory.trust_region(6, 13)
    assert set(table["problem"]) == {"theorem_3", "framework"}
    assert table["error"].max() < 1e-4
    assert table["gap"].max() < 1e-9


def test_the_old_and_the_new_covariance_solve_different_problems(monkeypatch):
    swapped = {"old": "new", "new": "old"}
    right = bounds.closed_form
    monkeypatch.setattr(bounds, "closed_form", lambda *a: right(*a[:-1], swapped[a[-1]]))
    table = theory.trust_region(6, 13)
    assert table["error"].min() > 1e-3


def test_the_lemma_fails_for_a_thin_covariance_and_not_with_its_condition_number():
    table = theory.gap(6, 4000, [1.0, 1000.0], 14)
    error = (table["measured_high"] - table["measured"]) / 1.96
    assert ((table["measured"] - table["exact"]).abs() <= MANY * error).all()
    assert table["measured"].iloc[0] < table["bound"].iloc[0]
    assert table["measured_low"].iloc[1] > 10 * table["bound"].iloc[1]
    assert (table["measured_high"] < table["repaired"]).all()


def test_variance_falls_with_n_for_both_kinds_of_samples():
    table = theory.variance(["quadratic"], 8, 1500, 15)
    assert (table["second_moment_high"] < table["bound"]).all()
    L = theory.convex("quadratic", {"dim": 8}).lipschitz
    assert table["bound"].to_numpy() == pytest.approx(L**2 * 12**2 / table["samples"].to_numpy())
    # E‖ĝ − Eĝ‖² = E‖ĝ‖² − ‖∇J̄‖²; f is ½‖x‖² about its minimiser, where one starts at distance 1
    squared = {"start": 1.0, "narrow": 1.0, "minimiser": 0.0}
    for row in table.itertuples():
        error = (row.second_moment_high - row.second_moment) / 1.96
        assert row.variance == pytest.approx(
            row.second_moment - squared[row.place], abs=MANY * error + 0.03
        )
        assert row.variance_low < row.variance < row.variance_high
    one = table[table["samples"] == 1].groupby("place")["second_moment"].mean()
    for place, mean in one.items():
        cell = table[(table["place"] == place) & (table["samples"] == 8)]
        orthogonal = cell[cell["estimator"] == "orthogonal"].iloc[0]
        # no cross terms: exactly E‖ĝ₁‖²/N; each side is estimated to within some 4 %
        assert orthogonal["second_moment"] == pytest.approx(mean / 8, rel=0.3)
    narrow = table[(table["place"] == "narrow") & (table["samples"] == 8)].set_index("estimator")
    # f all but linear with slope 1: (d + 2)/N against 1 + (d + 1)/N
    for estimator, exact in (("orthogonal", 10 / 8), ("batch", 1 + 9 / 8)):
        row = narrow.loc[estimator]
        error = (row["second_moment_high"] - row["second_moment"]) / 1.96
        assert abs(row["second_moment"] - exact) <= MANY * error + 0.03


def power_by_hand(estimator, dims, iterations, runs, root_seed):
    """The power of d of the average of f(μ_t) on the quadratic, whose minimum is 0: for two
    dimensions a line through two points, mean over runs.
    """
    powers = []
    for seed in range(runs):
        average = []
        for d in dims:
            n = 1 if estimator == "single" else d
            method = Framework(estimator, samples=n, step_size=10.0, initial_std=(10 * d) ** -0.5)
            problem = theory.convex("quadratic", {"dim": d})
            rng = stream(root_seed, "growth", "quadratic", estimator, d, seed)
            state = method.init(problem.start(rng), rng)
            means = []
            for _ in range(iterations):
                means.append(problem.evaluate(state.mean[None])[0])
                samples = method.ask(state, rng)
                state = method.tell(state, samples, problem.evaluate(samples.x))
            average.append(sum(means) / iterations)
        powers.append(log(average[1] / average[0]) / log(dims[1] / dims[0]))
    return sum(powers) / runs


def test_growth_is_measured_inside_the_ball_and_below_its_bound():
    table = theory.growth(["quadratic"], [4, 8], 64, 2, 16)
    assert list(table["estimator"].unique()) == ["single", "batch", "orthogonal"]
    assert (table["regret"] < table["bound"]).all()
    for estimator, own in table.groupby("estimator"):
        assert own["slope"].nunique() == 1
        assert own["slope"].iloc[0] == pytest.approx(power_by_hand(estimator, [4, 8], 64, 2, 16))
    assert (table["reach"] < table["radius"]).all()
    single = table[table["estimator"] == "single"]
    assert single["bound_slope"].iloc[0] == pytest.approx(
        log(single["bound"].iloc[1] / single["bound"].iloc[0]) / log(2)
    )


def cell(folder, record_every=1, runs=2):
    spec = Spec(
        "quadratic", "framework", 120, -1.0, {"dim": 3},
        {"estimator": "orthogonal", "initial_std": 0.5}, record_every,
    )  # fmt: skip
    for seed in range(runs):
        path = folder / "quadratic" / "orthogonal" / f"{seed}.parquet"
        trace.write(path, *run(spec, seed))
    return spec


def test_average_regret_is_the_mean_of_the_traces(tmp_path):
    cell(tmp_path)
    table = theory.regret(tmp_path, ["quadratic"], ["orthogonal"], 2)
    f = [
        trace.read(tmp_path / f"quadratic/orthogonal/{s}.parquet")[0]["f_mean"].to_numpy()
        for s in (0, 1)
    ]
    assert table["iterations"].iloc[-1] == len(f[0]) == 30
    for T in (1, 7, 30):
        row = table[table["iterations"] == T].iloc[0]
        assert row["regret"] == pytest.approx((f[0][:T].mean() + f[1][:T].mean()) / 2)
    assert table["reach"].iloc[0] == pytest.approx(sqrt(2 * max(f[0].max(), f[1].max())))
    assert (table["regret"] < table["theorem_5"]).all()
    method = Framework("orthogonal", initial_std=0.5)
    fourth, fifth = bounds.bounds(
        method, theory.convex("quadratic", {"dim": 3}), table["iterations"].to_numpy(dtype=float)
    )
    assert table["theorem_4"].to_numpy() == pytest.approx(fourth)
    assert table["theorem_5"].to_numpy() == pytest.approx(fifth)


def test_the_power_of_t_is_that_of_the_last_decade():
    """f(μ_t) of which the average is c·t^-½ to t = 100 and falls like t^-1 from there on."""
    t = np.arange(1.0, 1001.0)
    average = np.where(t <= 100, t**-0.5, 10 / t)
    f = np.diff(average * t, prepend=0.0)
    method, problem = Framework("single"), theory.convex("quadratic", {"dim": 3})
    table = theory._regret_cell(np.stack([f, 3 * f]), method, problem)
    assert table["slope"].iloc[0] == pytest.approx(-1.0)
    assert table["slope_high"].iloc[0] == pytest.approx(-1.0)
    assert table["regret"].to_numpy() == pytest.approx(2 * average[table["iterations"] - 1])


def test_regret_needs_a_row_every_iteration(tmp_path):
    cell(tmp_path, record_every=7)
    with pytest.raises(ValueError, match="not a row every iteration in every run"):
        theory.regret(tmp_path, ["quadratic"], ["orthogonal"], 2)


def test_regret_is_the_frameworks(tmp_path):
    spec = Spec("quadratic", "ingo", 120, -1.0, {"dim": 3}, {}, 1)
    trace.write(tmp_path / "quadratic" / "ingo" / "0.parquet", *run(spec, 0))
    with pytest.raises(ValueError, match="ingo is ingo; the bounds are of the framework"):
        theory.regret(tmp_path, ["quadratic"], ["ingo"], 1)


def test_hyper_parameters_are_read_from_the_code():
    table = theory.hyper_parameters()
    named = {name: list(own["parameter"]) for name, own in table.groupby("method")}
    assert named["ingo"] == ["samples", "step_size", "initial_std", "ddof"]
    assert named["fast_ingo"] == [*named["ingo"], "mean_step"]
    constants = ["popsize", "sigma0", "mu", "weights", "cc", "cs", "c1", "cmu", "damps"]
    assert named["cma_es"] == constants
    assert {"CMA_active", "tolfun", "maxiter"} <= set(named["pycma"])
    assert len(named["pycma"]) == len(set(named["pycma"]))
    rules = table[table["kind"] == "rule"].groupby("method")["parameter"].agg(list)
    assert rules["ingo"] == rules["fast_ingo"] == ["step_size"]
    assert rules["cma_es"] == constants[2:]
    kept = HERE.parent / PUBLISHED / "tables" / "theory" / "hyper_parameters.csv"
    pd.testing.assert_frame_equal(pd.read_csv(kept), table)


# ---- the workflow and the pictures ---------------------------------------------------------------


@pytest.fixture
def quick(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    return plan.load(HERE.parent / "config.yaml", HERE / "quick.yaml")


def test_every_table_has_a_command_that_its_parser_reads(quick):
    assert set(quick.theory) == set(theory.TABLES) == set(pictures.PICTURES)
    for table in quick.theory:
        words = quick.theory_command(table).split()
        assert words[:3] == ["python", "-m", "experiments.theory"]
        args = theory.parser().parse_args([*words[3:], "--to", "x.csv"])
        assert args.table == table
        assert getattr(args, "root_seed", 2020) == 2020
    assert len(quick.theory_needs("regret")) == 2 * 3 * 5
    assert quick.theory_needs("growth") == []


@pytest.mark.parametrize(
    ("text", "said"),
    [("{regret: {experiment: concave}}", "theory.regret.experiment is 'concave'; allowed: .*vex"),
     ("{shrinkage: {dim: 3}}", "theory has no key 'shrinkage'; allowed: regret"),
     ("{growth: {problems: [quadratik]}}", "theory.growth.problems is 'quadratik'; allowed: quad"),
     ("{variance: {problems: [levy]}}", "theory.variance.problems is 'levy'; allowed: quadratic"),
     ("{regret: {experiment: figure_1}}", "theory.regret.experiment, .* is 'ellipsoid'; allowed"),
     ("{gap: {dim: 1}}", "theory.gap.dim is 1; allowed: a number ≥ 2")],
)  # fmt: skip
def test_what_the_config_may_not_say_is_named(quick, text, said):
    Path("bad.yaml").write_text(f"theory: {text}")
    with pytest.raises(plan.ConfigError, match=said):
        plan.load(HERE.parent / "config.yaml", "bad.yaml")


@pytest.mark.parametrize("name", [n for n in theory.TABLES if n != "regret"])
def test_tables_and_pictures_from_the_command_line(quick, name):
    theory.main([*quick.theory_command(name).split()[3:], "--to", f"{name}.csv"])
    pictures.main([name, f"{name}.csv", "--to", f"theory_{name}"])
    for suffix in (".png", ".pdf", ".svg", ".md"):
        assert Path(f"theory_{name}{suffix}").stat().st_size > 0


def test_the_caption_says_whether_the_bound_holds(tmp_path):
    cell(tmp_path)
    table = theory.regret(tmp_path, ["quadratic"], ["orthogonal"], 2)
    table["theorem_5"] = 10 * table["regret_high"].abs()
    figure, caption = pictures.regret(table)
    style.save(figure, tmp_path / "good", caption)
    assert "\n\nEvery regret lies below its bound" in caption
    assert "quadratic orthogonal " in caption
    table.loc[3, "theorem_5"] = 0.5 * table.loc[3, "regret"]
    assert "\n\nNOT every regret lies below its bound" in pictures.regret(table)[1]


def test_a_single_run_and_an_arm_of_any_name_are_drawn(tmp_path):
    cell(tmp_path, runs=1)
    table = theory.regret(tmp_path, ["quadratic"], ["orthogonal"], 1)
    table["theorem_5"] = 10 * table["regret"]
    figure, caption = pictures.regret(table.assign(algorithm="batch_20"))
    style.plt.close(figure)
    assert ", one run, and dotted" in caption
    assert "Every regret lies below its bound; at the last T the bound is 10 to 10 " in caption
    assert "quadratic batch, 20 -" in caption
    assert "nan" not in caption


def test_the_caption_names_where_the_lemma_fails():
    table = theory.gap(10, 400, [100.0, 1.0], 1)
    figure, caption = pictures.gap(table)
    style.plt.close(figure)
    assert "It fails at κ = 100, by a factor of up to 4." in caption
    figure, caption = pictures.gap(table[1:])
    style.plt.close(figure)
    assert "It holds at every κ." in caption


def test_the_line_of_an_unbiased_estimator_has_a_slope_of_one(unbiased):
    figure, _ = pictures.unbiased(unbiased)
    x, y = figure.axes[0].lines[-1].get_data()
    assert x[0] < -2
    assert np.array_equal(x, y)
    style.plt.close(figure)


def test_the_same_seed_gives_the_same_table_and_another_does_not():
    a, b, c = (theory.gap(3, 20, [1.0, 10.0], seed) for seed in (1, 1, 2))
    pd.testing.assert_frame_equal(a, b)
    assert not a["measured"].equals(c["measured"])
