"""Properties that hold for any input, on inputs that hypothesis thinks up."""

from __future__ import annotations

import json
import shlex

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from test_loop import Script

from algorithms.shared.interface import Samples, Stop
from algorithms.shared.loop import iterate
from algorithms.shared.rank_n import add_to_inverse, subtract_from_covariance
from algorithms.shared.shaping import centred_ranks, standardise
from experiments import run
from experiments.runs import record
from experiments.runs.spec import Spec
from experiments.tables.estimates import newcombe, wilson

# the same examples in every run: a failure is then one of the code, and not of the day
settings.register_profile("steady", derandomize=True, deadline=None, max_examples=100)
settings.load_profile("steady")

SIZES = st.integers(2, 12)
NUMBERS = st.floats(-1e6, 1e6).map(lambda x: round(x, 3))
BATCHES = SIZES.flatmap(lambda n: arrays(float, n, elements=NUMBERS))
SEEDS = st.integers(0, 2**32)


# ---- shaping -------------------------------------------------------------------------------------


@given(BATCHES, st.sampled_from([0, 1]), st.floats(0.1, 100), NUMBERS, SEEDS)
def test_standardised_values_know_no_unit_no_zero_and_no_order(values, ddof, scale, offset, seed):
    h, ended = standardise(values, ddof)
    assert (ended is not None) == (values.min() == values.max())
    assume(np.ptp(values) > 1e-3)
    assert h.sum() == pytest.approx(0, abs=1e-9)
    assert h @ h == pytest.approx(len(h) - ddof)
    assert np.all(np.diff(h[np.argsort(values)]) >= 0)
    again, _ = standardise(scale * values + offset, ddof)
    assert np.allclose(again, h, atol=1e-5)  # 1e6 + 1e-3 has lost digits
    order = np.random.default_rng(seed).permutation(len(h))
    assert np.allclose(standardise(values[order], ddof)[0], h[order], atol=1e-5)


@given(BATCHES, SEEDS)
def test_ranks_know_nothing_but_the_order(values, seed):
    u, ended = centred_ranks(values)
    assert ended is None
    assert u.sum() == pytest.approx(0, abs=1e-12)
    assert np.abs(u).max() <= 0.5
    assert np.array_equal(np.sign(u[:, None] - u), np.sign(values[:, None] - values))
    assert np.array_equal(centred_ranks(values**3)[0], u)
    order = np.random.default_rng(seed).permutation(len(u))
    assert np.array_equal(centred_ranks(values[order])[0], u[order])


# ---- updates of Σ --------------------------------------------------------------------------------


@given(st.integers(1, 9), st.integers(1, 9), st.floats(0.01, 2), SEEDS)
def test_both_rank_n_updates_are_their_formulas_or_none(dim, n, scale, seed):
    """Wherever N is against d; None where the result is not positive definite, and only there."""
    rng = np.random.default_rng(seed)
    factor = np.eye(dim) + 0.3 * rng.standard_normal((dim, dim))
    assume(np.linalg.cond(factor) < 1e3)
    z, w = rng.standard_normal((n, dim)), scale * rng.standard_normal(n)
    samples = Samples(z @ factor.T, z, z @ factor.T)
    inverse = np.linalg.inv(factor)
    outer = z.T @ (w[:, None] * z)
    for sign, found in (
        (1, add_to_inverse(factor, samples, w)),
        (-1, subtract_from_covariance(factor, samples, w)),
    ):
        moved = np.eye(dim) + sign * outer
        smallest = np.linalg.eigvalsh(moved)[0]
        assume(abs(smallest) > 1e-3)
        assert (found is None) == (smallest < 0)
        if found is None:
            continue
        if sign == 1:
            new, direction = found
            wanted = np.linalg.inv(inverse.T @ moved @ inverse)
            assert np.allclose(direction, wanted @ inverse.T @ z.T @ w, atol=1e-6 / smallest**2)
        else:
            new, wanted = found, factor @ moved @ factor.T
        assert np.allclose(new @ new.T, wanted, atol=1e-6 / smallest**2)


# ---- loop and trace ------------------------------------------------------------------------------


@given(st.integers(3, 60), st.integers(1, 30))
def test_the_budget_is_spent_as_far_as_whole_batches_go(budget, patience):
    """Batches of three, ended by the optimiser after ``patience``, or by the budget."""
    rng = np.random.default_rng(0)
    batches = list(iterate(Script(patience), lambda x: x[:, 0], np.zeros(1), rng, budget))
    wanted = min(budget // 3, patience)
    assert [b.evaluations for b in batches] == [3 * k for k in range(1, wanted + 1)]
    assert all(b.ended is None for b in batches[:-1])
    reason = Stop.FLAT if patience <= budget // 3 else Stop.BUDGET
    assert batches[-1].ended.reason == reason


@given(st.lists(st.floats(-12, 9).map(lambda p: 10.0**p), min_size=1, max_size=20))
def test_the_evaluations_to_a_target_are_those_of_the_first_value_below_it(values):
    made = record.Record()
    best = np.inf
    for k, value in enumerate(values):
        if value < best:
            best = value
            made.reach(best, k)
    for at, target in enumerate(record.TARGETS):
        below = [k for k, value in enumerate(values) if value <= target]
        assert (made.hits[at] if at < len(made.hits) else None) == (below[0] if below else None)


VALUES = st.one_of(st.text(), st.integers(), st.floats(-9, 9), st.booleans(), st.none())
PARAMETERS = st.dictionaries(st.text(), VALUES)


@given(PARAMETERS, PARAMETERS, st.integers(1), st.none() | st.floats(0, 1), st.integers(0))
def test_the_command_of_a_run_is_read_as_it_was_meant(own, hyper, budget, target, root_seed):
    """Whatever its parameters are: a shell that reads it hands on the same words."""
    spec = Spec("levy", "es", budget, target, own, hyper, root_seed=root_seed)
    words = shlex.split(str(run.command(spec)))[3:]
    args = run.parser().parse_args([*words, "--to", "0.parquet"])
    assert (args.problem[0], json.loads(args.problem[1])) == ("levy", own)
    assert (args.algorithm[0], json.loads(args.algorithm[1])) == ("es", hyper)
    assert (args.budget, args.target, args.root_seed) == (budget, target, root_seed)


# ---- intervals -----------------------------------------------------------------------------------


@given(st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_interval_of_a_share_is_around_it_and_mirrors(count):
    k, n = count
    e, other = wilson(k, n), wilson(n - k, n)
    assert 0 <= e.low <= e.value <= e.high <= 1
    assert (other.low, other.high) == pytest.approx((1 - e.high, 1 - e.low))
    more = wilson(2 * k, 2 * n)
    assert more.high - more.low < e.high - e.low


@given(*2 * [st.lists(st.integers(0, 9), min_size=4, max_size=9).map(lambda v: np.array(v, float))])
def test_the_probability_to_be_smaller_mirrors_and_knows_the_order_only(a, b):
    e, other = newcombe(a, b), newcombe(b, a)
    assert 0 <= e.low <= e.value <= e.high <= 1
    assert (other.value, other.low, other.high) == pytest.approx(
        (1 - e.value, 1 - e.high, 1 - e.low), abs=1e-6
    )
    assert newcombe(np.exp(a), np.exp(b)) == e
