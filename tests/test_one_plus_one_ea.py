"""The (1+1)-EA: its steps, what must not change a path, and its expected times, which are known."""

from __future__ import annotations

from itertools import pairwise
from math import comb, e, log, sqrt

import numpy as np
import pytest

import algorithms
from algorithms.one_plus_one_ea import Parent
from algorithms.shared.interface import Ending, Samples, Stop
from algorithms.shared.loop import iterate, quiet


def build(**parameters):
    return algorithms.build("one_plus_one_ea", parameters)


def one_max(x):
    return x.shape[1] - x.sum(axis=1)


def leading_ones(x):
    return x.shape[1] - x.cumprod(axis=1).sum(axis=1)


def batches(fun, dim=20, budget=2000, seed=0, target=0.0, **parameters):
    rng = np.random.default_rng(seed)
    with quiet():
        return list(iterate(build(**parameters), fun, np.full(dim, 0.5), rng, budget, target))


# --- steps ----------------------------------------------------------------------------------------


def parent(x, value=5.0, rate=0.25):
    return Parent(np.array(x, dtype=float), rate, value)


@pytest.mark.parametrize(("value", "lives"), [(4.9, True), (5.0, True), (5.1, False)])
def test_a_child_that_is_no_worse_is_the_next_parent(value, lives):
    state, child = parent([0, 1, 1]), np.array([[1.0, 1.0, 0.0]])
    told = build().tell(state, Samples(child), np.array([value]))
    assert told.mean.tolist() == ([1.0, 1.0, 0.0] if lives else [0.0, 1.0, 1.0])
    assert told.value == (value if lives else 5.0)
    assert state.mean.tolist() == [0.0, 1.0, 1.0]


def test_the_first_point_is_evaluated_as_it_was_drawn():
    rng, optimiser = np.random.default_rng(0), build(mutation_rate=0.5)
    first = np.tile([0.0, 1.0, 1.0, 0.0], 20)
    state = optimiser.init(first, rng)
    batch = optimiser.ask(state, rng)
    assert np.array_equal(batch.x, first[None])
    told = optimiser.tell(state, batch, np.array([1e300]))
    assert told.value == 1e300
    assert np.array_equal(told.mean, first)
    assert not np.array_equal(optimiser.ask(told, rng).x, first[None])


@pytest.mark.parametrize("p", [0.5, 0.2, 0.999])
def test_the_first_point_has_the_probabilities_it_was_given(p):
    """10,000 bits: six standard errors are at most 0.03."""
    x = build().init(np.full(10_000, p), np.random.default_rng(0)).mean
    assert x.mean() == pytest.approx(p, abs=0.03)
    assert set(x) <= {0.0, 1.0}


@pytest.mark.parametrize(("rate", "flipped"), [("1/d", 0.02), (0.3, 0.3), (0.0, 0.0), (1.0, 1.0)])
def test_each_bit_flips_at_the_rate_by_itself(rate, flipped):
    """20,000 children of 50 bits. A share of flips per place is known to √(p(1 − p)/20,000), their
    variance over children, d p(1 − p) if they are independent, to about √(2/20,000) of itself, and
    for the few flips of a small rate √((2 + 1/(d p))/20,000).
    """
    n, dim = 20_000, 50
    x = (np.arange(dim) % 3 == 0).astype(float)
    optimiser, rng = build(mutation_rate=rate), np.random.default_rng(1)
    state = parent(x, rate=optimiser.init(np.full(dim, 0.5), rng).rate)
    flips = np.array([optimiser.ask(state, rng).x[0] != x for _ in range(n)])
    variance = flipped * (1.0 - flipped)
    assert (np.abs(flips.mean(axis=0) - flipped) <= 6 * sqrt(variance / n)).all()
    error = 6 * sqrt((2 + 1 / max(dim * flipped, 1)) / n)
    assert flips.sum(axis=1).var() == pytest.approx(dim * variance, rel=error)
    assert state.spread() == (sqrt(variance), 1.0)


def test_resampling_flips_one_bit_at_least_and_else_changes_no_share():
    """P(k flips | k > 0) is Bin(k)/(1 − Bin(0)), within six standard errors of 20,000 children."""
    n, dim, rate = 20_000, 8, 0.125
    state = parent(np.zeros(dim), rate=rate)
    rng, optimiser = np.random.default_rng(2), build(resample=True)
    counts = [int(optimiser.ask(state, rng).x.sum()) for _ in range(n)]
    assert min(counts) == 1
    for k in range(1, 5):
        p = comb(dim, k) * rate**k * (1 - rate) ** (dim - k) / (1 - (1 - rate) ** dim)
        assert np.mean(np.array(counts) == k) == pytest.approx(p, abs=6 * sqrt(p * (1 - p) / n))
    kept = [build().ask(state, rng).x.any() for _ in range(200)]
    assert not all(kept)


def test_the_best_never_gets_worse_and_is_the_parent():
    run = batches(leading_ones, dim=15)
    assert run[-1].ended == Ending(Stop.TARGET)
    for before, after in pairwise(run):
        assert after.state.value == before.best
        assert leading_ones(after.state.mean[None])[0] == before.best


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_value_that_is_not_finite_ends_the_run_with_its_parent(bad):
    state = parent([1, 0])
    told = build().tell(state, Samples(np.ones((1, 2))), np.array([bad]))
    assert told.ended == Ending(Stop.DIVERGED)
    assert told.mean.tolist() == [1.0, 0.0]


@pytest.mark.parametrize(
    ("key", "value"),
    [("mutation_rate", 1.5), ("mutation_rate", -0.1), ("mutation_rate", "1/n"),
     ("mutation_rate", True), ("resample", 1), ("resample", None)],
)  # fmt: skip
def test_values_that_are_not_allowed_are_named(key, value):
    with pytest.raises(ValueError, match=f"{key} is .*; allowed: "):
        build(**{key: value})


@pytest.mark.parametrize("rate", [0, 0.0, 1e-7, 1e-300])
def test_it_does_not_look_for_a_flip_that_hardly_ever_comes(rate):
    with pytest.raises(
        ValueError, match="mutation_rate is .*; allowed with resample: 1e-6 or more"
    ):
        build(mutation_rate=rate, resample=True)
    assert build(mutation_rate=rate).mutation_rate == rate


# --- invariances ----------------------------------------------------------------------------------


def rugged(x):
    """A function of 20 bits without any symmetry."""
    rng = np.random.default_rng(9)
    A, b = rng.standard_normal((20, 20)), rng.standard_normal(20)
    return np.einsum("ni,ij,nj->n", x, A, x) + x @ b


def path(fun, first, steps=300):
    optimiser, rng = build(), np.random.default_rng(3)
    state, found = Parent(first, 0.05), []
    for _ in range(steps):
        batch = optimiser.ask(state, rng)
        state = optimiser.tell(state, batch, fun(batch.x))
        found.append(state.mean)
    return np.array(found)


FIRST = (np.arange(20) % 2).astype(float)


def test_a_monotone_map_of_f_changes_no_path():
    plain = path(rugged, FIRST)
    assert len({row.tobytes() for row in plain}) > 5
    for mapped in (np.exp, lambda f: f**3 + f, lambda f: 3 * f - 7):
        assert np.array_equal(path(lambda x, m=mapped: m(rugged(x)), FIRST), plain)
    assert not np.array_equal(path(lambda x: -rugged(x), FIRST), plain)


def test_flipping_bits_flips_the_path():
    """The noise says which bits flip, not what they become."""
    a = (np.arange(20) % 3 == 0).astype(float)
    plain = path(rugged, FIRST)
    flipped = path(lambda x: rugged(np.abs(x - a)), np.abs(FIRST - a))
    assert np.array_equal(flipped, np.abs(plain - a))


# --- expected times -------------------------------------------------------------------------------


def geometric(p):
    """First and second moment of the number of trials until one of probability p succeeds."""
    return 1 / p, (2 - p) / p**2


def one_max_chain(n, moved=1.0):
    """Mean and variance of the steps to the optimum: the exact Markov chain on the zeros left.

    From i zeros to j < i: a of the i zeros flip and b = a − (i − j) of the n − i ones. ``moved`` is
    the share of the children that are asked for: 1 − (1 − 1/n)^n with resampling.
    """
    first, second = np.zeros(n + 1), np.zeros(n + 1)
    for i in range(1, n + 1):
        down = np.zeros(i)
        for a in range(1, i + 1):
            for b in range(min(a, n - i + 1)):
                k = a + b
                p = comb(i, a) * comb(n - i, b) * (1 / n) ** k * (1 - 1 / n) ** (n - k)
                down[i - a + b] += p / moved
        p = down.sum()
        wait, wait2 = geometric(p)
        onward, onward2 = down @ first[:i] / p, down @ second[:i] / p
        first[i], second[i] = wait + onward, wait2 + 2 * wait * onward + onward2
    start = np.array([comb(n, i) for i in range(n + 1)]) / 2.0**n
    return start @ first, start @ second - (start @ first) ** 2


def leading_ones_chain(n, moved=1.0):
    """The same: each level i is visited with probability ½, and left with (1 − 1/n)^i / n."""
    means, squares = geometric((1 - 1 / n) ** np.arange(n) / n / moved)
    return means.sum() / 2, (squares / 2 - means**2 / 4).sum()


def test_the_chains_have_the_known_expectations():
    """LeadingOnes: n²/2 ((1 − 1/n)^(1 − n) − (1 − 1/n)), exactly (Böttcher, Doerr & Neumann, 2010).
    OneMax: below e n ln n, and e n ln n − 1.89 n + O(log n) (Hwang et al., 2018).
    """
    for n in (5, 24, 100):
        known = n**2 / 2 * ((1 - 1 / n) ** (1 - n) - (1 - 1 / n))
        assert leading_ones_chain(n)[0] == pytest.approx(known, rel=1e-12)
    for n in (16, 64):
        mean, _ = one_max_chain(n)
        assert mean < e * n * log(n)
        assert mean == pytest.approx(e * n * log(n) - 1.89 * n, abs=3 * log(n))


@pytest.mark.parametrize("resample", [False, True])
@pytest.mark.parametrize(
    ("fun", "chain", "dim", "runs"),
    [(one_max, one_max_chain, 64, 150), (leading_ones, leading_ones_chain, 24, 150)],
)
def test_the_mean_time_to_the_optimum_is_the_expected_one(fun, chain, dim, runs, resample):
    """Within six standard errors of the mean of so many runs, which the chain's own variance gives:
    a normal variable is farther off once in 5e8, so that any seeds pass. The first point takes an
    evaluation that the chain does not count.
    """
    mean, variance = chain(dim, 1 - (1 - 1 / dim) ** dim if resample else 1.0)
    times = []
    for seed in range(runs):
        last = batches(fun, dim, 10**6, 1000 + seed, resample=resample)[-1]
        assert last.ended == Ending(Stop.TARGET)
        times.append(last.evaluations - 1)
    assert np.mean(times) == pytest.approx(mean, abs=6 * sqrt(variance / runs))
    # 6 √(2/N) for the variance itself if the times were normal; theirs have heavier tails
    assert 0.3 < np.var(times) / variance < 3
