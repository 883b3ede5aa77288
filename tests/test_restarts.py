"""Restarts around an optimiser, in ask and tell, and what a config asks for them by."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import algorithms
from algorithms.shared.interface import Ending, Stop
from algorithms.shared.loop import Position, iterate, quiet
from algorithms.shared.restarts import Restarts, restarting
from algorithms.shared.stopping import Seen, Tolerance
from experiments.runs import checkpoint

NAMES = ["ingo", "ingo_step", "fast_ingo", "igo", "cma_es"]


def sphere(x):
    return np.sum(x * x, axis=1)


def rastrigin(x):
    return 10 * x.shape[1] + np.sum(x**2 - 10 * np.cos(2 * np.pi * x), axis=1)


def batches(algorithm, fun, dim=3, budget=20_000, seed=0, target=-np.inf, **more):
    with quiet():
        yield from iterate(
            algorithm, fun, np.full(dim, 2.0), np.random.default_rng(seed), budget, target, **more
        )


def runs_of(name, parameters=None, **settings):
    return restarting(algorithms.build(name, parameters or {}), **settings)


def turns(kinds, spent, limit=None):
    """The runs that begin where the runs before them have used so many evaluations each."""
    made = []

    def make(samples, scale):
        made.append((samples, scale))
        return algorithms.build("ingo", {"samples": samples or 10})

    runs = Restarts(make, lambda mean, rng: mean, lambda x, f, seen: (None, seen), kinds, limit)
    state = runs.init(np.zeros(2), np.random.default_rng(0))
    for batches_of_run in spent:
        for k in range(batches_of_run):
            samples = runs.ask(state, np.random.default_rng(0))
            values = np.arange(float(len(samples.x)))
            flat = k == batches_of_run - 1  # at its end
            state = runs.tell(state, samples, 0 * values if flat else values)
    return made, state


def test_ipop_doubles_the_samples():
    made, state = turns("ipop", [3, 1, 1, 1])
    assert made == [(None, 1.0), (20, 1.0), (40, 1.0), (80, 1.0), (160, 1.0)]
    assert (state.run, state.batch_size) == (4, 160)


def test_bipop_takes_turns_by_the_evaluations_they_used():
    # the large one uses 5·20 = 100, the small ones 6·10 and 6·10
    made, state = turns("bipop", [9, 5, 6, 6])
    assert [samples for samples, _ in made] == [None, 20, 10, 10, 40]
    assert [scale for samples, scale in made if samples != 10] == [1.0] * 3
    small = [scale for samples, scale in made if samples == 10]
    assert all(0.01 <= scale <= 1.0 for scale in small)
    assert len(set(small)) == 2
    assert state.used == {"large": 100, "small": 120}


def test_the_scales_of_small_runs_are_uniform_over_two_decades():
    """In the logarithm: mean −1 within six standard errors, and both ends are come near to."""
    made, _ = turns("bipop", [1] * 200)
    small = np.log10([scale for samples, scale in made if samples == 10])
    assert len(small) > 150
    assert abs(small.mean() + 1.0) < 6 * 2 / np.sqrt(12 * len(small))
    assert -2.0 <= small.min() < -1.9
    assert -0.1 < small.max() <= 0.0


def test_the_last_run_that_is_allowed_ends_the_search():
    made, state = turns("ipop", [2, 1], limit=1)
    assert len(made) == 2
    assert state.ended == Ending(Stop.FLAT)
    assert turns("ipop", [2], limit=1)[1].ended is None
    assert turns("ipop", [2], limit=0)[1].ended == Ending(Stop.FLAT)


@pytest.mark.parametrize("name", NAMES)
def test_the_first_run_is_the_bare_one_bit_for_bit(name):
    bare = algorithms.build(name, {"initial_std": 0.5})  # which no run of 600 evaluations ends
    wrapped = runs_of(name, safeguard=False)
    pairs = zip(
        batches(bare, sphere, budget=600), batches(wrapped, sphere, budget=600), strict=True
    )
    for one, other in pairs:
        assert np.array_equal(one.x, other.x)
        assert one.ended == other.ended


@pytest.mark.parametrize("name", NAMES)
def test_a_batch_never_exceeds_the_budget_though_batches_grow(name):
    sizes = []
    for batch in batches(runs_of(name, ftol=1e-3), rastrigin, budget=7000):
        sizes.append(len(batch.values))
        assert batch.evaluations == sum(sizes) <= 7000
    assert batch.ended.reason == Stop.BUDGET
    assert batch.evaluations + batch.told.batch_size > 7000
    steps = sorted(set(sizes))
    assert len(steps) > 1
    assert steps == [steps[0] * 2**k for k in range(len(steps))]
    assert sizes == sorted(sizes)


def test_a_search_ends_where_the_next_run_is_too_large_for_the_budget():
    """On a flat function each run is one batch, of 8, 16, 32, 64 … points."""
    made = list(batches(runs_of("ingo", {"samples": 8}), lambda x: np.zeros(len(x)), budget=100))
    assert [len(batch.values) for batch in made] == [8, 16, 32]
    assert [batch.ended for batch in made] == [None, None, Ending(Stop.BUDGET)]


def test_each_run_starts_at_a_point_of_its_own_in_the_region():
    starts = {}
    for batch in batches(runs_of("cma_es", region=(-5.0, 5.0)), rastrigin, dim=2):
        starts.setdefault(batch.state.run, batch.state.mean)
    assert np.array_equal(starts.pop(0), [2.0, 2.0])
    points = np.array(list(starts.values()))
    assert len(points) > 3
    assert len(np.unique(points)) == points.size
    assert (np.abs(points) <= 5.0).all()
    assert np.abs(points).max() > 2.5  # of 8 numbers, all below in one of 256 seeds; this is seed 0


def test_without_a_region_runs_start_around_the_first_one():
    starts = {}
    for batch in batches(runs_of("ingo", {"initial_std": 0.01}, ftol=1.0), sphere, dim=2):
        starts.setdefault(batch.state.run, batch.state.mean)
    points = np.array(list(starts.values()))
    assert len(points) > 3
    assert np.abs(points - 2.0).max() < 0.1
    assert len(np.unique(points[1:])) == points[1:].size


def answers_to(batches, dim=2, **settings):
    """What a tolerance says of these batches of values, whose points are far apart."""
    seen, answers, tolerance = Seen(), [], Tolerance(0.0, 0.0, **settings)
    for values in batches:
        met, seen = tolerance(np.arange(2.0)[:, None] * np.ones(dim), np.array(values), seen)
        answers.append(met)
    return answers, seen


def test_a_run_stagnates_once_neither_minima_nor_medians_of_its_last_batches_get_better():
    """In numbers: 120 + 30·2/2 = 150 batches are looked at, the first 45 of them and the last."""
    worse = [[k, k + 9.0] for k in range(400)]
    answers, seen = answers_to(worse, stagnation=True)
    assert answers.index("stagnated") == 149  # the 150th
    asked = {k for k, answer in enumerate(answers, 1) if answer}
    assert asked == set(range(150, 401, 10))
    assert (seen.batches, len(seen.minima), len(seen.medians)) == (400, 150, 150)
    assert set(answers_to(worse)[0]) == {None}
    better = [[-k, -k + 9.0] for k in range(400)]
    assert set(answers_to(better, stagnation=True)[0]) == {None}
    # one of the two suffices to go on
    for lower, upper in ((-1.0, 1.0), (1.0, -3.0)):
        either = [[lower * k, 1e6 + upper * k] for k in range(400)]
        assert set(answers_to(either, stagnation=True)[0]) == {None}


def test_no_more_than_20_000_batches_have_to_get_better():
    many = [0.0] * 20_000
    seen = Seen(200_009, [1.0, *many[1:]], many)
    met, newest = Tolerance(0.0, 0.0, stagnation=True)(
        np.arange(2.0)[:, None], np.array([0.0, 2.0]), seen
    )
    assert met == "stagnated"  # 2 apart, so not within ftol
    assert (len(newest.minima), newest.minima[0]) == (20_000, 0.0)


def test_stagnation_does_not_delay_the_tolerance_of_values():
    """K = 10 + 30·2/2 batches, with stagnation and without."""
    equal = [[1.0, 1.0]] * 60
    assert [answers_to(equal, stagnation=on)[0].index("ftol") for on in (True, False)] == [39, 39]
    fell = [[9.0, 9.5]] * 200 + equal
    assert [answers_to(fell, stagnation=on)[0].index("ftol") for on in (False,)] == [239]


def test_it_is_a_fifth_of_all_batches_that_have_to_get_better():
    """After 2,000 batches it is 400: the last 30 % are 120."""
    falls = [[-k, 9.0 - k] for k in range(2000)]
    stays = [[-2000.0 + (k % 2), -1991.0] for k in range(800)]
    answers, seen = answers_to(falls + stays, stagnation=True)
    wait = answers.index("stagnated") + 1 - 2000
    assert len(seen.minima) == 560  # a fifth of 2,800
    # the median of the first 30 % has to be past the fall
    assert wait == pytest.approx(0.85 * 0.2 * (2000 + wait), abs=25)


def leading_ones(x):
    return -np.cumprod(x, axis=1).sum(axis=1)


@pytest.mark.parametrize("name", ["bernoulli_ingo", "umda", "ga"])
def test_the_first_run_on_bits_is_the_bare_one_bit_for_bit(name):
    bare, dim = algorithms.build(name, {}), 12
    mean, rng = np.full(dim, 0.5), np.random.default_rng
    pairs = zip(
        iterate(bare, leading_ones, mean, rng(3), 600, -np.inf),
        iterate(restarting(bare), leading_ones, mean, rng(3), 600, -np.inf),
        strict=True,
    )
    for one, other in pairs:
        assert np.array_equal(one.x, other.x)


def test_on_bits_the_next_run_starts_where_the_first_did_with_twice_the_samples():
    algorithm = restarting(algorithms.build("bernoulli_ingo", {"samples": 6, "step_size": 2.0}))
    runs = {}
    for batch in iterate(
        algorithm, leading_ones, np.full(30, 0.5), np.random.default_rng(0), 20_000, -np.inf
    ):
        runs.setdefault(batch.state.run, []).append(batch)
    assert len(runs) > 3
    for k, batches_of_run in runs.items():
        first, last = batches_of_run[0], batches_of_run[-1]
        assert {len(batch.x) for batch in batches_of_run} == {6 * 2**k}
        assert np.array_equal(first.state.inner.eta, np.zeros(30))
        if k + 1 in runs:
            assert last.told.over == Stop.FLAT
            assert np.ptp(last.values) == 0
    drawn = [batches_of_run[0].x[:6] for batches_of_run in runs.values()]
    assert not any(np.array_equal(drawn[0], other) for other in drawn[1:])


def test_on_bits_nothing_stagnates():
    """A GA on parity: minima and medians stay the same for hundreds of batches."""
    algorithm = restarting(algorithms.build("ga", {"samples": 8, "patience": 1000}))
    made = list(
        iterate(
            algorithm, lambda x: x.sum(axis=1) % 2, np.full(30, 0.5),
            np.random.default_rng(0), 8 * 400, -np.inf,
        )
    )  # fmt: skip
    assert sum(batch.values.min() for batch in made) < 40
    assert len(made) == 400
    assert {batch.state.run for batch in made} == {0}


def test_what_has_no_samples_or_another_space_is_refused():
    with pytest.raises(ValueError, match="restarts has to be null"):
        restarting(algorithms.build("one_plus_one_ea", {}))
    with pytest.raises(ValueError, match="no restarts of a search of a categorical space"):
        restarting(algorithms.build("categorical_ingo", {}))
    with pytest.raises(ValueError, match="bit strings has no region"):
        restarting(algorithms.build("umda", {}), region=(-1.0, 1.0))


def test_the_rules_that_end_a_run_are_those_of_its_settings():
    def first_end(**settings):
        for batch in batches(runs_of("cma_es", **settings), sphere):
            if batch.told.over:
                return batch.told.over, np.ptp(batch.values), np.ptp(batch.x)
        return None

    reason, values, _ = first_end(xtol=0.0, ftol=1e-4)
    assert reason == Stop.FTOL
    assert values <= 1e-4
    reason, _, x = first_end(xtol=1e-3, ftol=0.0)
    assert reason == Stop.XTOL
    assert x <= 1e-3 * 0.5
    assert first_end(xtol=0.0, ftol=0.0)[1] < values


def test_a_step_that_loses_positive_definiteness_is_halved_or_ends_the_run():
    """In two dimensions β = 1 is long: without halving, runs end of it."""
    ends = {
        safeguard: {
            batch.told.over
            for seed in range(5)
            for batch in batches(
                runs_of("ingo", {"step_size": 1.0}, safeguard=safeguard),
                rastrigin,
                dim=2,
                seed=seed,
                budget=4000,
            )
            if batch.told.over
        }
        for safeguard in (True, False)
    }
    assert Stop.NOT_POSITIVE_DEFINITE in ends[False]
    assert Stop.NOT_POSITIVE_DEFINITE not in ends[True]


@pytest.mark.parametrize("name", ["ingo", "ingo_step", "fast_ingo", "igo"])
def test_a_run_goes_on_from_any_state_that_a_checkpoint_holds(name, tmp_path):
    """Also where a run ends and the next one begins, whose optimiser has to be made again."""
    asked = {"region": (-5.0, 5.0), "ftol": 1.0}
    start = np.full(3, 2.0)
    whole = list(batches(runs_of(name, **asked), rastrigin, budget=9000))
    changes = [k for k, b in enumerate(whole[:-1]) if b.told.run != b.state.run]
    assert changes
    for k in {0, changes[0], changes[-1] + 1}:
        rng = np.random.default_rng(0)
        for batch in iterate(runs_of(name, **asked), rastrigin, start, rng, 9000):
            if batch.iteration == k + 1:
                break
        like = {"state": runs_of(name, **asked).init(start, np.random.default_rng(1))}
        checkpoint.write(tmp_path / "0.state", batch.position._asdict())
        at = Position(**checkpoint.read(tmp_path / "0.state", like))
        rest = iterate(runs_of(name, **asked), rastrigin, start, rng, 9000, at=at)
        for one, other in zip(rest, whole[k + 1 :], strict=True):
            assert np.array_equal(one.x, other.x)
            assert one.told.run == other.told.run


def test_tell_is_algebra():
    """A new run is drawn from the state's own seed, not from the stream of the search."""
    runs = runs_of("ingo", region=(-5.0, 5.0))
    state = runs.init(np.zeros(3), np.random.default_rng(0))
    samples = runs.ask(state, np.random.default_rng(1))
    flat = np.zeros(len(samples.x))
    one, other = runs.tell(state, samples, flat), runs.tell(state, samples, flat)
    assert one.run == 1
    assert np.array_equal(one.mean, other.mean)
    assert not np.array_equal(one.mean, runs.tell(replace(state, seed=1), samples, flat).mean)


def test_restarts_solve_what_one_run_does_not():
    """3-d Rastrigin: two of five bare runs do not get there, all of five with restarts do."""
    once = [
        list(batches(algorithms.build("ingo", {"initial_std": 2.0}), rastrigin, seed=s))[-1].best
        for s in range(5)
    ]
    more = [
        list(batches(runs_of("ingo", {"initial_std": 2.0}, region=(-5, 5)), rastrigin, seed=s,
                     budget=100_000, target=1e-8))[-1].best
        for s in range(5)
    ]  # fmt: skip
    assert max(once) > 1.0
    assert max(more) <= 1e-8


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"region": [5, -5]}, "region is .*allowed: two numbers, the second larger"),
        ({"region": [1]}, "region is .*allowed"),
        ({"region": [0, np.inf]}, "region is .*allowed"),
        ({"xtol": -1.0}, "xtol is -1.0"),
        ({"ftol": np.nan}, "ftol is nan"),
        ({"safeguard": 1}, "safeguard is 1"),
    ],
)
def test_what_is_not_allowed_is_named(settings, error):
    with pytest.raises(ValueError, match=error):
        runs_of("ingo", **settings)


def test_samples_are_those_of_the_first_run():
    state = runs_of("ingo", {"samples": 6}).init(np.zeros(2), np.random.default_rng(0))
    assert state.batch_size == 6
    assert runs_of("ingo", {"samples": 6}).batch_size(2) == 6
    assert runs_of("ingo").batch_size(100) == 18
