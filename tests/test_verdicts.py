"""Measures on tables made by hand, verdicts at their edges, and the claims as they stand."""

from __future__ import annotations

import json
import re
from functools import partial
from hashlib import sha256
from inspect import signature
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import tables
from scipy.stats import binom, norm

from experiments import plan
from experiments.claims import measures, statements, verdicts
from experiments.claims.measures import MEASURES
from experiments.claims.statements import Part
from experiments.claims.verdicts import COLUMNS, PARTS, PARTS_FILE, Verdict
from experiments.paths import KEPT, PUBLISHED
from experiments.publishing import archive
from experiments.runs.record import TARGETS
from experiments.tables import estimates
from experiments.tables.estimates import Estimate, bootstrap, wilson
from experiments.tables.reader import Missing, Tables, method, spanned

INF = np.inf
ROOT = Path(__file__).parent.parent


@pytest.fixture
def made(tmp_path):
    tables.write(
        tmp_path,
        "e",
        tables.cell("p", "fast", [1000] * 20),
        tables.cell("p", "slow", [4000] * 20),
        tables.cell("p", "never", [INF] * 20, best=5.0),
        tables.cell("p", "half", [1000] * 10 + [INF] * 10, best=[1e-11] * 10 + [9.0] * 10),
        tables.cell("p", "lost", [INF] * 20, best=7.0, batch_min=[1e3] * 15 + [1.0] * 5),
        tables.cell("p", "wide", [INF] * 20, sigma=np.exp(0.5)),
    )
    return Tables(tmp_path)


def test_wilson_against_published_numbers():
    """Newcombe (1998), table I, method 3: 81/263 and 0/20 and 15/148."""
    for k, n, low, high in [
        (81, 263, 0.2553, 0.3662),
        (0, 20, 0.0, 0.1611),
        (15, 148, 0.0624, 0.1605),
    ]:
        e = wilson(k, n)
        assert e.low == pytest.approx(low, abs=5e-5)
        assert e.high == pytest.approx(high, abs=5e-5)


def test_twenty_of_twenty_is_enough_for_the_thresholds():
    assert all((wilson(0, n).low, wilson(n, n).high) == (0.0, 1.0) for n in range(1, 30))
    assert wilson(20, 20).low >= 0.8
    assert wilson(0, 20).high <= 0.2
    assert wilson(19, 20).low < 0.8


def test_bootstrap_of_a_mean_is_near_the_normal_interval():
    sample = np.random.default_rng(0).standard_normal(400)
    e = bootstrap(measures._mean, sample)
    half = 1.96 * sample.std() / 20
    assert e.value == sample.mean()
    assert e.low == pytest.approx(sample.mean() - half, abs=0.02)
    assert e.high == pytest.approx(sample.mean() + half, abs=0.02)
    assert bootstrap(measures._mean, sample) == e  # the seed is honoured


@pytest.mark.parametrize("level", [0.025, 0.975])
def test_the_ends_of_the_bootstrap_leave_out_one_in_forty(level):
    """Of ten runs, nine at 0 and one at 1, the mean of a resample is a binomial share."""
    e = bootstrap(measures._mean, np.array([0.0] * 9 + [1.0]))
    assert {0.025: e.low, 0.975: e.high}[level] == binom.ppf(level, 10, 0.1) / 10
    e = bootstrap(measures._mean, np.arange(1000.0))
    end = 499.5 + norm.ppf(level) * np.arange(1000).std() / 1000**0.5
    assert {0.025: e.low, 0.975: e.high}[level] == pytest.approx(end, abs=1.5)  # 0.05: 2.9 off


def test_what_has_no_value_has_no_interval_and_is_not_judged(tmp_path):
    """One run of ten lost to NaN: its median, and any claim about it, is open."""
    tables.write(
        tmp_path,
        "e",
        tables.cell("p", "lost", [INF] * 10, best=[np.nan] + [1e-3] * 9),
        tables.cell("p", "other", [INF] * 10, best=1.0),
    )
    ratio = {"measure": "final_ratio", "experiment": "e", "problem": "p", "algorithm": "lost",
             "than": "other", "column": "best", "at_most": 0.1}  # fmt: skip
    row = judge(claim(ratio), Tables(tmp_path))
    assert np.isnan([row["value"], row["low"], row["high"]]).all()
    assert row["verdict"] == "inconclusive"
    assert row["why"].endswith("Has no value: final_ratio(e, p, lost, other, best).")


def test_a_resample_without_a_value_widens_the_interval():
    """3 of 9 runs got there: the ratio of medians is ∞/1, and ∞/∞ in most resamples."""
    some, half = np.array([1.0] * 3 + [INF] * 6), np.array([1.0] * 5 + [INF] * 4)
    e = bootstrap(measures._ratio_of_medians, some, half)
    assert (e.value, e.high) == (INF, INF)
    assert e.low == -INF


@pytest.mark.parametrize(
    ("n", "verdict"), [(1, "inconclusive"), (5, "inconclusive"), (6, "reproduced")]
)
@pytest.mark.parametrize("measure", ["linearity", "slowdown"])
def test_a_handful_of_runs_decides_nothing(tmp_path, n, verdict, measure):
    """However equal they are: five hold the median between them only 94 times in 100."""
    assert 1 - 2 * 0.5 ** (estimates.FEWEST - 1) < estimates.LEVEL < 1 - 2 * 0.5**estimates.FEWEST
    tables.write(
        tmp_path, "e", tables.cell("p", "fast", [1000] * n), tables.cell("p", "slow", [4000] * n)
    )
    entry = {"measure": measure, "experiment": "e", "problem": "p", "algorithm": "slow"}
    than = {"than": "fast"} if measure == "slowdown" else {}
    assert judge(claim(entry | than | {"at_least": 0.9}), Tables(tmp_path))["verdict"] == verdict


def test_success_rate(made):
    assert MEASURES["success_rate"](made, "e", "p", "fast").value == 1.0
    assert MEASURES["success_rate"](made, "e", "p", "half").value == 0.5
    assert MEASURES["success_rate"](made, "e", "p", "never").value == 0.0
    assert MEASURES["success_rate"](made, "e", "p", "never", target=1.0).value == 1.0


def test_final_ratio(made):
    e = MEASURES["final_ratio"](made, "e", "p", "never", "lost", "batch_min")
    assert e.value == 5.0 / 1e3
    assert MEASURES["final_ratio"](made, "e", "p", "never", "never", "best").value == 1.0


def test_a_target_off_the_grid_is_refused(made):
    with pytest.raises(ValueError, match="not in tuple"):
        MEASURES["success_rate"](made, "e", "p", "fast", target=3e-10)


def test_wins_counts_values_and_then_evaluations(made):
    assert MEASURES["wins"](made, "e", "p", "never", "lost").value == 1.0
    assert MEASURES["wins"](made, "e", "p", "lost", "never").value == 0.0
    assert MEASURES["wins"](made, "e", "p", "fast", "slow").value == 1.0  # both at the target
    assert MEASURES["wins"](made, "e", "p", "slow", "fast").value == 0.0
    assert MEASURES["wins"](made, "e", "p", "half", "never").value == 0.5
    for tied in ("fast", "never"):
        assert MEASURES["wins"](made, "e", "p", tied, tied).value == 0.0  # a tie is no win


def test_linearity_slowdown_and_reached(made):
    assert MEASURES["linearity"](made, "e", "p", "fast").value == pytest.approx(1.0, abs=1e-4)
    assert MEASURES["linearity"](made, "e", "p", "never").value == 0.0
    e = MEASURES["slowdown"](made, "e", "p", "slow", "fast")
    assert (e.value, e.low, e.high) == (4.0, 4.0, 4.0)
    assert MEASURES["slowdown"](made, "e", "p", "never", "fast").value == INF
    # 61 targets from 1e2 to 1e-10, of which "never" reached those above and at 1
    of = {"targets": "fixed"}
    assert MEASURES["reached"](made, "e", "never", "fast", **of).value == pytest.approx(11 / 61)


def test_two_that_never_get_there_have_no_ratio(made):
    e = MEASURES["slowdown"](made, "e", "p", "never", "lost")
    assert np.isnan([e.value, e.low, e.high]).all()
    never = {"measure": "slowdown", "experiment": "e", "problem": "p", "algorithm": "never"}
    assert (
        judge(claim({**never, "than": "lost", "at_least": 1.0}), made)["verdict"] == "inconclusive"
    )


def test_linearity_sees_a_bend(tmp_path):
    bent = tables.cell("p", "bent", [1000] * 5)
    first = len(bent["hits"][0]) - 51
    bent["hits"] = [[1] * first + [int(v) for v in 1000 * np.linspace(0, 1, 51) ** 6]] * 5
    tables.write(tmp_path, "e", bent)
    assert MEASURES["linearity"](Tables(tmp_path), "e", "p", "bent").value < 0.75


def test_a_run_that_stalls_after_a_straight_start_is_not_linear(tmp_path):
    stalled = tables.cell("p", "stalled", [1000] * 5)
    stalled["hits"] = [hits[:-1] for hits in stalled["hits"]]
    tables.write(tmp_path, "e", stalled)
    assert MEASURES["linearity"](Tables(tmp_path), "e", "p", "stalled").value == 0.0


def test_only_targets_within_the_evaluations_count(made):
    """Ten of 61 targets are reached at once, and that of 1 after 100 evaluations; the other method
    has those eleven at once.
    """
    for within, count in ((99, 10), (100, 11), (1000, 61)):
        e = MEASURES["reached"](made, "e", "fast", "never", within=within, targets="fixed")
        assert e.value == pytest.approx(count / 11)


def test_a_reading_changes_the_arguments_that_a_measure_takes():
    entry = claim(part("slow", at_least=0.8), {"measure": "wins", "algorithm": "slow"})
    success, win = statements.read_as(entry, {"column": "f_mean", "target": 1.0})["parts"]
    assert (success["target"], "column" in success) == (1.0, False)
    assert (win["column"], "target" in win) == ("f_mean", False)
    assert "column" not in entry["parts"][1]


def test_who_is_ahead_has_reached_more_targets_by_then(tmp_path):
    """Of two that have reached as many, who was there first; and nobody of two that are alike."""
    hits = {"a": [5, 90, 300], "b": [7, 80, 200, 400], "none": []}
    cells = [tables.cell("p", name, [INF]).assign(hits=[own]) for name, own in hits.items()]
    tables.write(tmp_path, "e", *cells)

    def first(a, b, within):
        return MEASURES["ahead"](Tables(tmp_path), "e", "p", a, b, within=within).value

    for within, winner in ((4, None), (6, "a"), (79, "a"), (80, "b"), (90, "b"), (9999, "b")):
        assert first("a", "b", within) == (winner == "a"), within
        assert first("b", "a", within) == (winner == "b"), within
    assert first("none", "a", 1000) == first("a", "a", 1000) == 0.0
    assert first("a", "none", 1000) == 1.0


def test_wins_and_diverged_look_at_the_column_that_they_are_given(tmp_path):
    """At the mean the order of the two is another one than by the best value, run by run."""
    first = {"first_f_mean": [9.0, 9.0, 9.0, 1.0]}
    tables.write(
        tmp_path,
        "e",
        tables.cell("p", "a", [INF] * 4, best=2.0, f_mean=[1.0, 1.0, 1.0, 4.0], **first),
        tables.cell("p", "b", [INF] * 4, best=1.0, f_mean=3.0, **first),
    )
    own = Tables(tmp_path)
    assert MEASURES["wins"](own, "e", "p", "a", "b").value == 0.0
    assert MEASURES["wins"](own, "e", "p", "a", "b", column="f_mean").value == 0.75
    lost = {"column": "f_mean", "first": "f_mean"}
    assert MEASURES["diverged"](own, "e", "p", "a").value == 0.0
    assert MEASURES["diverged"](own, "e", "p", "a", **lost).value == 0.25


@pytest.mark.parametrize("stop", ["diverged", "not_positive_definite"])
def test_a_run_that_broke_off_has_diverged_however_low_it_was(tmp_path, stop):
    runs = tables.cell("p", "broken", [INF] * 4, best=1.0)
    runs["stop"] = ["budget", stop, "flat", "stagnated"]
    tables.write(tmp_path, "e", runs)
    assert MEASURES["diverged"](Tables(tmp_path), "e", "p", "broken").value == 0.25


def test_a_run_that_ends_where_it_began_has_not_diverged(tmp_path):
    runs = tables.cell("p", "still", [INF] * 2, batch_min=[100.0, 100.5], first_batch_mean=100.0)
    tables.write(tmp_path, "e", runs)
    assert MEASURES["diverged"](Tables(tmp_path), "e", "p", "still").value == 0.5


def test_a_run_whose_last_value_is_none_has_diverged(tmp_path):
    """NaN is neither above nor below the first one."""
    runs = tables.cell("p", "lost", [INF] * 4, batch_min=[1.0, np.nan, 1.0, np.nan])
    assert set(runs["stop"]) == {"budget"}
    tables.write(tmp_path, "e", runs)
    assert MEASURES["diverged"](Tables(tmp_path), "e", "p", "lost").value == 0.5


def test_targets_are_those_that_the_runs_span(tmp_path):
    """On p from below the largest first value, 50, down to 1e-10; on q down to 1 only, which "b"
    alone reached; so that q, where "a" is far behind, weighs as much as p.
    """
    at = {target: TARGETS.index(target) for target in (39.81, 1.0, 1e-10)}

    def hits(last):
        return [list(range(1, at[last] + 2))] * 8

    tables.write(
        tmp_path,
        "e",
        tables.cell("p", "a", [INF] * 8, first_batch_min=50.0).assign(hits=hits(1e-10)),
        tables.cell("p", "b", [INF] * 8, first_batch_min=[50.0] + [20.0] * 7).assign(
            hits=hits(1.0)
        ),
        tables.cell("q", "a", [INF] * 8, first_batch_min=50.0).assign(hits=hits(39.81)),
        tables.cell("q", "b", [INF] * 8, first_batch_min=50.0).assign(hits=hits(1.0)),
    )
    own = Tables(tmp_path)
    of = own.table("e").groupby("problem")
    assert spanned(of.get_group("p")) == range(at[39.81], at[1e-10] + 1)
    assert spanned(of.get_group("q")) == range(at[39.81], at[1.0] + 1)
    never = tables.cell("r", "a", [INF] * 2).assign(hits=[[]] * 2)
    assert len(spanned(never)) == 0
    n = at[1.0] + 1 - at[39.81]
    p_b = n / (at[1e-10] + 1 - at[39.81])
    assert MEASURES["reached"](own, "e", "a", "b").value == pytest.approx((1 + 1 / n) / (p_b + 1))
    fixed = MEASURES["reached"](own, "e", "a", "b", targets="fixed").value
    assert fixed == pytest.approx((61 + 3) / (11 + 11))
    bbob = MEASURES["reached"](own, "e", "a", "b", targets="bbob").value  # ten fewer: 1e2 … 1e-8
    assert bbob == pytest.approx((51 + 3) / (11 + 11))


def test_the_runs_of_the_field_are_found_beside_the_papers(tmp_path):
    tables.write(tmp_path / "tables", "e", tables.cell("p", "a", [1000]))
    tables.write(tmp_path / "field" / "tables", "bbob_2", tables.cell("f1", "igo", [2000]))
    tables.write(tmp_path / "field" / "tables", "e", tables.cell("p", "b", [1000]))
    own = Tables(tmp_path / "tables")
    assert len(own.runs("bbob_2", "f1", "igo")) == 1
    assert list(own.table("e")["algorithm"]) == ["a"]  # its own first
    with pytest.raises(Missing, match="no table bbob_3/runs.parquet"):
        own.table("bbob_3")


def test_reached_is_a_ratio_of_shares_over_all_problems(tmp_path):
    """Of 61 targets on each of two problems: all and 11, over 11 and 11; and run by run."""
    tables.write(
        tmp_path,
        "e",
        tables.cell("p", "a", [1000] * 8),
        tables.cell("q", "a", [INF] * 8),
        tables.cell("p", "b", [INF] * 8),
        tables.cell("q", "b", [INF] * 8),
    )
    e = MEASURES["reached"](Tables(tmp_path), "e", "a", "b", targets="fixed")
    assert (e.value, e.low, e.high) == pytest.approx(((61 + 11) / 22,) * 3)


def test_reached_counts_the_seeds_that_are_done_on_all_problems(tmp_path):
    uneven = [
        tables.cell("p", "a", [1000] * 8),
        tables.cell("q", "a", [INF, 1000, INF]),
        tables.cell("p", "b", [INF] * 3),
        tables.cell("q", "b", [INF] * 3),
    ]
    tables.write(tmp_path, "e", *uneven)
    e = MEASURES["reached"](Tables(tmp_path), "e", "a", "b", targets="fixed")
    assert e.value == pytest.approx((61 + (11 + 61 + 11) / 3) / 22)
    tables.write(tmp_path, "e", uneven[0], uneven[1].assign(seed=[8, 9, 10]), *uneven[2:])
    with pytest.raises(Missing, match="no seed of a on all problems of e"):
        MEASURES["reached"](Tables(tmp_path), "e", "a", "b")


@pytest.mark.parametrize(("one", "other"), [("a", "b"), ("b", "a")])
def test_reached_compares_no_different_sets_of_problems(tmp_path, one, other):
    whole = [tables.cell(p, "b", [INF] * 8) for p in ("p", "q")]
    tables.write(tmp_path, "e", tables.cell("p", "a", [1000] * 8), *whole)
    with pytest.raises(Missing, match="no runs of a on q in e"):
        MEASURES["reached"](Tables(tmp_path), "e", one, other)


def test_wins_needs_a_seed_that_both_have_run(tmp_path):
    later = tables.cell("p", "b", [100.0, 200.0]).assign(seed=[2, 3])
    tables.write(tmp_path, "e", tables.cell("p", "a", [100.0, 200.0]), later)
    with pytest.raises(Missing, match="no seed of both a and b on p in e"):
        MEASURES["wins"](Tables(tmp_path), "e", "p", "a", "b")


def test_last_progress_is_the_share_of_the_run_before_its_last_target(tmp_path):
    """Of 1e6 evaluations: the last target after half of them in most runs; none at all is 0."""
    hits = [[1, 500_000]] * 5 + [[1, 900_000]] * 2 + [[]]
    tables.write(tmp_path, "e", tables.cell("p", "a", [INF] * 8).assign(hits=hits))
    assert MEASURES["last_progress"](Tables(tmp_path), "e", "p", "a").value == 0.5


def test_linearity_may_start_later(tmp_path):
    """Bent down to 1e-4, and straight from there on."""
    bent = tables.cell("p", "bent", [INF] * 8)
    first, late = TARGETS.index(1.0), TARGETS.index(1e-4)
    x = np.arange(len(TARGETS))
    x[:late] = x[:late] ** 3 // late**2
    tables.write(tmp_path, "e", bent.assign(hits=[list(x)] * 8))
    own = Tables(tmp_path)
    assert x[first] < first
    assert MEASURES["linearity"](own, "e", "p", "bent").value < 0.999
    assert MEASURES["linearity"](own, "e", "p", "bent", start=1e-4).value == pytest.approx(1.0)


def test_fewer_evaluations_is_a_ratio_of_expected_running_times(tmp_path):
    """Of eight runs four reach 1e-10 after 1,000 and four end after 1e6: (4·1,000 + 4e6)/4."""
    tables.write(
        tmp_path,
        "e",
        tables.cell("p", "all", [500] * 8),
        tables.cell("p", "half", [1000] * 4 + [INF] * 4),
        tables.cell("p", "never", [INF] * 8),
    )
    own = Tables(tmp_path)
    art = 1000 + 1e6
    e = MEASURES["fewer_evaluations"](own, "e", "p", "all", "half", target=1e-10)
    assert e.value == pytest.approx(art / 500)
    assert e.low < e.value < e.high
    assert MEASURES["fewer_evaluations"](own, "e", "p", "all", "never", target=1e-10).value == INF
    back = MEASURES["fewer_evaluations"](own, "e", "p", "half", "all", target=1e-10)
    assert back.value == pytest.approx(500 / art)


@pytest.fixture
def steps(tmp_path):
    """Two methods at two steps on two functions; a_step_1 is of another method."""
    tables.write(
        tmp_path,
        "e",
        *(
            tables.cell(p, name, times, best=best)
            for p in ("p", "q")
            for name, times, best in (
                ("a_1", [4000] * 8, 1e-11),
                ("a_0.5", [2000] * 7 + [INF], [1e-11] * 7 + [9.0]),
                ("b_1", [3000] * 8, 1e-11),
                ("b_0.5", [INF] * 8, 5.0),
                ("a_step_1", [10] * 8, 1e-11),
            )
        ),
    )
    return Tables(tmp_path)


def test_a_setting_is_named_by_its_method_and_numbers():
    names = ("ingo_0.5", "ingo_step_4", "ingo_1_0.25", "reinforce_1e-6", "es_sgd", "ingo")
    found = ["ingo", "ingo_step", "ingo", "reinforce", "es_sgd", "ingo"]
    assert [method(name) for name in names] == found


def test_more_solved_counts_all_steps_of_a_method(steps):
    """15 of 16 runs against 8 of 16, on each function."""
    e = MEASURES["more_solved"](steps, "e", "a", "b")
    assert e.value == pytest.approx(15 / 16 - 8 / 16)
    assert MEASURES["more_solved"](steps, "e", "b", "a").value == -e.value
    assert MEASURES["more_solved"](steps, "e", "a", "a").value == 0.0
    assert MEASURES["more_solved"](steps, "e", "a_step", "b").value == 0.5
    with pytest.raises(Missing, match="no settings of c in e"):
        MEASURES["more_solved"](steps, "e", "c", "a")


def test_more_solved_leaves_out_a_seed_that_not_all_settings_have_run(tmp_path):
    """On the first two seeds 2 of 2 and 1 of 2; the third would be 1 of 1."""
    tables.write(
        tmp_path,
        "e",
        tables.cell("p", "a_1", [1000] * 3),
        tables.cell("p", "a_2", [1000, INF]),
        tables.cell("p", "b_1", [INF] * 3),
    )
    assert MEASURES["more_solved"](Tables(tmp_path), "e", "a", "b").value == 0.75


def test_the_best_setting_cannot_be_chosen_on_other_seeds_where_there_is_one(tmp_path):
    tables.write(tmp_path, "e", tables.cell("p", "a_1", [100]), tables.cell("p", "b_1", [200]))
    with pytest.raises(Missing, match="no seeds of all settings of a and b on p"):
        MEASURES["wins_at_best"](Tables(tmp_path), "e", "p", "a", "b")


def test_wins_at_best_takes_the_step_that_is_best_on_the_other_seeds(steps):
    """b at one takes 3,000; a at a half 2,000, but it misses the target on the last seed, so that a
    is judged there, and at one, with its 4,000, on the others.
    """
    assert MEASURES["wins_at_best"](steps, "e", "p", "a", "b").value == 0.0
    assert MEASURES["wins_at_best"](steps, "e", "p", "b", "a").value == 1.0
    assert MEASURES["wins_at_best"](steps, "e", "p", "a_step", "b").value == 1.0
    assert MEASURES["wins_at_best"](steps, "e", "p", "a", "a").value == 0.0


def test_the_step_is_chosen_without_the_seed_that_it_is_judged_on(tmp_path):
    """Were it chosen on all three seeds, the median of the second would decide for a_2 on it."""
    tables.write(
        tmp_path,
        "e",
        tables.cell("p", "a_1", [100, 900, 200]),
        tables.cell("p", "a_2", [150, 110, 400]),
        tables.cell("p", "b_1", [140, 140, 140]),
    )
    # without seed 0: medians (the larger of two) 900 and 400, so a_2: 150 against 140 loses
    # without seed 1: 200 and 400, so a_1: 900 loses; without seed 2: 900 and 150, so a_2: 400 loses
    assert MEASURES["wins_at_best"](Tables(tmp_path), "e", "p", "a", "b").value == 0.0


def test_the_best_step_is_the_one_that_most_runs_get_there_with(tmp_path):
    """a_1 is sooner where it gets there, its median run too, but one of five is lost."""
    tables.write(
        tmp_path,
        "e",
        tables.cell("p", "a_1", [100, 100, 100, 100, np.inf]),
        tables.cell("p", "a_2", [300] * 5),
        tables.cell("p", "b_1", [200] * 5),
    )
    # a_2 loses on each seed but the last, without which a_1 reached it always and is lost there
    assert MEASURES["wins_at_best"](Tables(tmp_path), "e", "p", "a", "b").value == 0.0


def test_the_other_method_may_be_of_another_experiment_and_have_one_setting(tmp_path):
    never = [np.inf] * 6
    tables.write(tmp_path, "e", tables.cell("p", "a", never, best=[4.0] * 6, f_mean=[0.5] * 6))
    tables.write(
        tmp_path,
        "f",
        tables.cell("p", "b_1", never, best=[5.0] * 6, f_mean=[1.0] * 6),
        tables.cell("p", "b_2", never, best=[9.0] * 6, f_mean=[0.1] * 6),
    )
    both = Tables(tmp_path)
    at_best = {
        c: MEASURES["wins_at_best"](both, "e", "p", "a", "b", c, "f") for c in ("best", "f_mean")
    }
    assert {c: e.value for c, e in at_best.items()} == {"best": 1.0, "f_mean": 0.0}
    assert MEASURES["wins"](both, "e", "p", "a", "b_1", "f_mean", "f").value == 1.0
    assert MEASURES["wins"](both, "e", "p", "a", "b_2", "f_mean", "f").value == 0.0
    with pytest.raises(Missing, match="no runs of b_1"):
        MEASURES["wins"](both, "e", "p", "a", "b_1")


def test_diverged_and_drift(made):
    assert MEASURES["diverged"](made, "e", "p", "lost").value == 0.75
    assert MEASURES["diverged"](made, "e", "p", "fast").value == 0.0
    # log σ grew by 1/2 in 100 steps at d = 10: 2·10·0.5/100
    assert MEASURES["drift"](made, "e", "p", "wide").value == pytest.approx(0.1)


def test_rotation(made, tmp_path):
    tables.write(tmp_path, "turned", tables.cell("p", "fast", [1100] * 20))
    e = MEASURES["rotation"](made, "turned", "e", "p", "fast")
    assert e.value == pytest.approx(1.1)


@pytest.fixture
def theory(tmp_path):
    folder = tmp_path / "theory"
    folder.mkdir()
    pd.DataFrame(
        {
            "problem": ["a", "a", "b"], "v": [1.0, 2.0, 9.0], "v_low": [0.5, 1.5, 8.0],
            "v_high": [1.5, 3.0, 10.0], "bound": [4.0, 4.0, np.nan], "z": [-3.0, 1.0, 2.0],
            "slope": -1.0, "slope_low": -1.2, "slope_high": -0.9, "slope_of_rate": -0.75,
            "ratio": [0.5, 0.6, 0.7], "ratio_low": 0.25, "ratio_high": 0.875,
        }
    ).to_csv(folder / "t.csv")  # fmt: skip
    pd.DataFrame(
        {"method": ["x", "y", "y"], "parameter": ["p", "q", "r"], "kind": ["set", "set", "rule"]}
    ).to_csv(folder / "hyper_parameters.csv")
    return Tables(tmp_path)


def test_measures_of_the_theory(theory):
    """The worst row counts, a row without a bound does not, and columns filter."""
    e = MEASURES["bound_ratio"](theory, "t", "v", "bound")
    assert (e.low, e.value, e.high) == (0.375, 0.5, 0.75)
    assert MEASURES["exponent"](theory, "t", problem="b").high == -0.9
    e = MEASURES["exponent_over_rate"](theory, "t", problem="b")
    assert (e.low, e.value, e.high) == pytest.approx((-0.45, -0.25, -0.15))
    assert MEASURES["power"](theory, "t", "slope", problem="b").value == -1.0
    e = MEASURES["ratio"](theory, "t", problem="a", v=2.0)
    assert (e.low, e.value, e.high) == (0.25, 0.6, 0.875)
    assert MEASURES["largest"](theory, "t", "z").value == 3.0
    assert MEASURES["largest"](theory, "t", "z", problem="b").value == 2.0
    assert MEASURES["hyper_parameters"](theory, "x", "y").value == 0.5
    assert MEASURES["hyper_parameters"](theory, "x", "y", kind="set").value == 1.0
    with pytest.raises(Missing, match="no bound bound for {'problem': 'b'} in theory/t.csv"):
        MEASURES["bound_ratio"](theory, "t", "v", "bound", problem="b")
    assert np.isnan(MEASURES["largest"](theory, "t", "bound").value)
    with pytest.raises(Missing, match="no rows"):
        MEASURES["largest"](theory, "t", "z", problem="c")
    with pytest.raises(Missing, match="no table theory/u.csv"):
        MEASURES["exponent"](theory, "u")


def judge(claim, tables):
    return Verdict.of(claim, partial(Part.estimate, tables=tables)).row


def claim(*parts):
    base = {"id": 1, "claim": "c", "place": "p", "figure": "f", "why": "because."}
    return {**base, "quantifier": "all", "parts": list(parts)}


def part(algorithm, **bounds):
    return {
        "measure": "success_rate", "experiment": "e", "problem": "p", "algorithm": algorithm,
        **bounds,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("low", "high", "interval", "holds"),
    [
        (0.5, None, (0.5, 0.9), True),
        (0.5, None, (0.1, 0.5), None),
        (None, 0.5, (0.1, 0.5), True),
        (None, 0.5, (0.5, 0.9), None),
        (0.5, 0.5, (0.5, 0.5), True),
    ],
)
def test_an_interval_that_ends_at_a_threshold_is_not_beyond_it(low, high, interval, holds):
    assert Part("wins", {}, low, high).holds(Estimate(0.5, *interval)) is holds


@pytest.mark.parametrize(
    ("parts", "verdict"),
    [
        ([part("fast", at_least=0.8)], "reproduced"),
        ([part(["fast", "slow"], at_least=0.8), part("never", at_most=0.2)], "reproduced"),
        ([part(["fast", "never"], at_least=0.8)], "partly"),
        ([part("never", at_least=0.8)], "not reproduced"),
        ([part("half", at_least=0.5)], "inconclusive"),  # 0.3 to 0.7: the runs cannot tell
        ([part("half", at_least=0.5), part("fast", at_least=0.8)], "inconclusive"),
        ([part("half", at_least=0.5), part(["fast", "never"], at_least=0.8)], "partly"),
        ([part("half", at_least=0.5), part("never", at_least=0.8)], "inconclusive"),
        ([part(["never", "lost"], at_least=0.8)], "not reproduced"),
        ([part("fast", at_least=0.8), part("absent", at_least=0.8)], "inconclusive"),
    ],
)
def test_verdicts(made, parts, verdict):
    assert judge(claim(*parts), made)["verdict"] == verdict


@pytest.mark.parametrize(
    ("quantifier", "algorithms", "verdict"),
    [
        ("can", ["fast", "never"], "reproduced"),
        ("may", ["never", "fast"], "reproduced"),
        ("can", ["never", "lost"], "not reproduced"),
        ("can", ["never", "half"], "inconclusive"),
        ("can", ["never", "absent"], "inconclusive"),
        ("can", ["fast", "absent"], "reproduced"),
        ("overall", ["fast", "slow", "never"], "reproduced"),
        ("overall", ["fast", "never"], "not reproduced"),
        ("overall", ["fast", "slow", "half", "never"], "inconclusive"),
        ("overall", ["fast", "never", "lost", "half"], "not reproduced"),
        ("overall", ["fast", "slow", "half"], "reproduced"),
        ("all", ["fast", "never"], "partly"),
    ],
)
def test_the_quantifier_says_how_many_parts_have_to_hold(made, quantifier, algorithms, verdict):
    entry = claim(part(algorithms, at_least=0.65))
    assert judge(entry | {"quantifier": quantifier}, made)["verdict"] == verdict
    own = claim(part(algorithms, at_least=0.65) | {"quantifier": quantifier})
    assert judge(own, made)["verdict"] == verdict


def test_parts_that_count_together_are_one_and_the_reasons_say_so(made):
    entry = claim(part(["fast", "never"], at_least=0.8), part("slow", at_least=0.8))
    row = judge(entry | {"quantifier": "can"}, made)
    assert row["measure"] == "success_rate(e, p, fast)"
    assert row["why"] == (
        "because. 2 of 2 parts hold. 1 of 2 cases of success_rate hold (can: 1 of 2 suffices)."
    )
    row = judge(entry | {"quantifier": "overall"}, made)
    assert row["measure"] == "success_rate(e, p, never)"
    assert (
        "1 of 2 parts hold. 1 of 2 cases of success_rate hold (overall: 2 of 2 suffices). Fails: "
        "success_rate(e, p, never) = 0 [0, 0.161]." in row["why"]
    )


def test_settings_and_what_it_would_take_are_judged_beside_the_claim(made):
    entry = claim(
        part("fast", at_least=0.8) | {"setting": "at the paper's step"},
        part(["slow", "never"], at_least=0.8) | {"setting": "over the steps"},
    ) | {"takes": {"patience": [part("half", at_least=0.25)]}}
    row = judge(entry, made)
    assert (row["verdict"], row["measure"]) == ("partly", "success_rate(e, p, never)")
    assert row["why"].endswith(
        "At the paper's step: reproduced, 1 of 1, success_rate(e, p, fast) = 1 [0.839, 1]. "
        "Over the steps: partly, 1 of 2. "
        "What it would take, patience: reproduced, 1 of 1, "
        "success_rate(e, p, half) = 0.5 [0.299, 0.701]."
    )


def test_the_row_shows_the_part_that_decides(made):
    row = judge(claim(part(["fast", "never"], at_least=0.8)), made)
    assert row["measure"] == "success_rate(e, p, never)"
    assert row["value"] == 0.0
    assert row["threshold"] == "≥ 0.8"
    assert "1 of 2 parts hold. Fails: success_rate(e, p, never) = 0 [0, 0.161]." in row["why"]


@pytest.mark.parametrize(
    ("algorithms", "decides"),
    [
        (["fast", "never", "lost"], "never"),
        (["fast", "lost", "never"], "lost"),
        (["fast", "half", "never"], "never"),  # it fails, the one before it is open
        (["fast", "half", "slow"], "half"),
        (["slow", "fast"], "slow"),
    ],
)
def test_what_fails_decides_then_what_is_open_then_the_first(made, algorithms, decides):
    row = judge(claim(part(algorithms, at_least=0.65)), made)
    assert row["measure"] == f"success_rate(e, p, {decides})"


@pytest.mark.parametrize(
    ("quantifier", "algorithms", "decides"),
    [
        ("can", ["never", "lost"], "never"),
        ("can", ["half", "never", "slow", "fast"], "slow"),  # holds: a part that does
        ("can", ["never", "half"], "half"),  # open: a part that is
        ("can", ["absent", "never"], "never"),  # open for want of runs: a part that has some
        ("overall", ["fast", "absent", "never"], "never"),  # so too, and it fails
        ("overall", ["fast", "half", "lost", "never"], "lost"),  # fails: a part that does
    ],
)
def test_of_parts_that_count_together_the_first_of_their_outcome_is_shown(
    made, quantifier, algorithms, decides
):
    entry = claim(part(algorithms, at_least=0.65)) | {"quantifier": quantifier}
    assert judge(entry, made)["measure"] == f"success_rate(e, p, {decides})"


def test_other_readings_are_judged_beside_the_claim(made):
    entry = claim(part("never", at_least=0.8)) | {"readings": {"the fast": {"algorithm": "fast"}}}
    row = judge(entry, made)
    assert row["verdict"] == "not reproduced"
    assert row["measure"] == "success_rate(e, p, never)"
    assert row["why"].endswith(
        "With the fast: reproduced, 1 of 1, success_rate(e, p, fast) = 1 [0.839, 1]."
    )


@pytest.mark.parametrize(
    ("algorithms", "verdict", "decides", "counted"),
    [
        (["fast", "absent"], "inconclusive", "fast", "1 of 2 parts hold. Not run:"),
        (
            ["never", "absent"],
            "inconclusive",
            "never",
            "0 of 2 parts hold. Fails: success_rate(e, p, n",
        ),
        (["fast", "absent", "never"], "partly", "never", "1 of 3 parts hold. Fails: success_rate"),
    ],
)
def test_a_part_without_runs_is_said_and_the_others_are_judged(
    made, algorithms, verdict, decides, counted
):
    row = judge(claim(part(algorithms, at_least=0.8)), made)
    assert (row["verdict"], row["measure"]) == (verdict, f"success_rate(e, p, {decides})")
    assert counted in row["why"]
    assert row["why"].endswith("Not run: no runs of absent on p in e.")


def test_a_reading_without_runs_is_not_run(made):
    entry = claim(part("fast", at_least=0.8)) | {"readings": {"none": {"algorithm": "absent"}}}
    assert judge(entry, made)["why"].endswith("With none: not run, 0 of 1.")


def test_a_missing_table_is_said(tmp_path):
    row = judge(claim(part("fast", at_least=0.8)), Tables(tmp_path))
    assert row["verdict"] == "not run"
    assert row["why"] == "no table e/runs.parquet"
    with pytest.raises(Missing):
        Tables(tmp_path).runs("e", "p", "a")


CLAIMS = list(statements.written().values())
CONFIG = plan.load(ROOT / "config.yaml")
EXPERIMENTS = CONFIG.experiments | plan.load(ROOT / "config.yaml", study="field").experiments


def others(entry):
    """What the readings of a claim change, and what it would take."""
    return [*entry.get("readings", {}).values(), *entry.get("takes", {}).values()]


def test_the_claims_that_were_changed_with_the_outcome_known_are_those_of_the_list():
    header = statements.CLAIMS.read_text(encoding="utf-8").partition("\n- id:")[0]
    changed = header.partition("once results had been seen (outcome known):\n")[2]
    listed = set()
    for numbers in re.findall(r"(?m)^#   (\d+(?:(?:, | to )\d+)*)  ", changed):
        for one in numbers.split(", "):
            first, _, last = one.partition(" to ")
            listed |= set(range(int(first), int(last or first) + 1))
    assert listed == {entry["id"] for entry in CLAIMS if entry["fixed"] == "known"}


@pytest.mark.parametrize("entry", CLAIMS, ids=lambda c: f"claim_{c['id']}")
def test_every_claim_is_whole(entry):
    """Known measures with their own arguments, a threshold for each part, a reason, a place."""
    assert set(entry) - {"readings", "takes"} == {
        "id", "claim", "quantifier", "fixed", "place", "figure", "why", "parts",
    }  # fmt: skip
    assert entry["fixed"] in statements.FIXED
    assert all(entry.values())
    assert entry["quantifier"] in statements.QUANTIFIERS
    entries = list(entry["parts"])
    for changes in others(entry):
        read = statements.read_as(entry, changes)
        if isinstance(changes, list):
            entries += changes
        else:
            assert all(any(p.get(k) == v for p in read["parts"]) for k, v in changes.items())
    for p in entries:
        assert p.get("quantifier", "all") in statements.QUANTIFIERS
        arguments = set(p) - {"measure", "at_least", "at_most", "quantifier", "setting"}
        wanted = signature(MEASURES[p["measure"]]).parameters.values()
        named = {a.name for a in wanted if a.kind is not a.VAR_KEYWORD} - {"tables"}
        needed = {a.name for a in wanted if a.default is a.empty} & named
        assert needed <= arguments
        # a filter of rows may have any column's name
        assert arguments <= named or any(a.kind is a.VAR_KEYWORD for a in wanted)
        assert {"at_least", "at_most"} & set(p)


@pytest.mark.parametrize("entry", CLAIMS, ids=lambda c: f"claim_{c['id']}")
def test_every_claim_and_reading_is_about_what_the_config_runs(entry):
    """A name that is run nowhere would turn a claim into "not run" without a word."""
    theory = {f"theory_{name}" for name in CONFIG.theory}
    assert entry["figure"] in CONFIG.figures.keys() | theory
    for changes in ({}, *others(entry)):
        for p in statements.parts(statements.read_as(entry, changes)):
            own = p.arguments
            if "experiment" not in own:
                assert np.isfinite(p.estimate(Tables(ROOT / PUBLISHED / "tables")).value)
            of_than = own.get("beside", own.get("experiment"))
            pairs = {("algorithm", own.get("experiment")), ("algorithm", own.get("plain"))}
            for key, experiment in pairs | {("than", of_than)}:
                if key in own and experiment:
                    run, name = EXPERIMENTS[experiment], own[key]
                    if p.measure in ("more_solved", "wins_at_best"):
                        assert name in map(method, run.algorithms)
                        continue
                    assert name in run.algorithms
                    assert "problem" not in own or (own["problem"], name) in run.cells


@pytest.mark.parametrize("entry", CLAIMS, ids=lambda c: f"claim_{c['id']}")
def test_the_runs_of_the_config_suffice_for_every_threshold_on_a_share(entry):
    """All of them for it, or all against it, must be able to clear the threshold."""
    judged = [statements.read_as(entry, changes) for changes in ({}, *others(entry))]
    for p in (p for of in judged for p in statements.parts(of)):
        if p.measure in ("success_rate", "wins", "ahead", "wins_at_best", "diverged"):
            n = EXPERIMENTS[p.arguments["experiment"]].runs
            outcomes = {p.holds(wilson(k, n)) for k in (0, n)}
            assert outcomes == {True, False}, f"{p} with {n} runs"


# What each claim is judged by: its quantifier and its parts, all of their arguments and thresholds.
FIXED = {
    1: "40c351d6cba6",
    2: "73cedf2bad47",
    3: "240fee9639c5",
    4: "d08eadbce201",
    5: "25e04c1e06cf",
    6: "44ce6eee8e2b",
    7: "5286aa04933b",
    8: "91c467c7bfe1",
    9: "2f9be0d97893",
    10: "7ee5c8914cd3",
    11: "c437fdcc13a3",
    12: "6584531ec8f2",
    13: "a0b60ab666b1",
    14: "47354145dcf2",
    15: "710de4068dab",
    16: "e920738cf0b5",
    17: "f5584ab430e8",
    18: "61e40c90121c",
    19: "4f38f45229b0",
    20: "2b23afe9ed13",
    21: "731475bb62c6",
    22: "806b628ae0b8",
    23: "3da88b9bb0cb",
    24: "b754b25687fe",
    25: "351714ea9ca6",
    26: "11526959dec2",
    27: "b85ff3343362",
    28: "3234be30e0e0",
    29: "2dbe0262dd90",
    30: "6180a23d3e86",
    31: "7ebeb0b605cd",
}


def test_what_claims_are_judged_by_is_what_was_fixed():
    """Before the runs that it is about, or listed in the header of claims.yaml as changed: whoever
    changes a part, a threshold or a quantifier writes it there, and its new digest here.
    """
    found = {
        entry["id"]: sha256(
            json.dumps([entry["quantifier"], entry["parts"]], sort_keys=True).encode()
        ).hexdigest()[:12]
        for entry in CLAIMS
    }
    assert found == FIXED


def test_ids_are_unique_and_ordered():
    ids = [c["id"] for c in CLAIMS]
    assert ids == sorted(set(ids))


def why(number):
    return next(c["why"] for c in CLAIMS if c["id"] == number)


def test_numbers_in_the_words_on_asebo_are_those_of_the_kept_runs():
    """The first iteration drawn with another covariance than the identity's, by task."""
    first = {}
    for file in KEPT.glob("figure_2/*.parquet"):
        for (task, algorithm), (rows, _) in archive.read(file):
            if algorithm == "asebo":
                stretched = rows["iteration"].to_numpy()[rows["condition"].to_numpy() > 1.0]
                first.setdefault(task, []).append(min(stretched, default=None))
    assert first.pop("humanoid_standup") == [None] * 5  # "isotropic throughout"
    assert {len(iterations) for iterations in first.values()} == {5}
    swimmer, pendulum, cheetah = (
        f"{min(first[task])} to {max(first[task])} on"
        for task in ("swimmer", "inverted_double_pendulum", "half_cheetah")
    )
    words = f"iteration {swimmer} Swimmer, {pendulum} the pendulum and {cheetah} HalfCheetah"
    assert words in why(15)


def test_numbers_in_the_words_on_pairs_of_runs_are_those_of_the_measure():
    """How many of 25 pairs may be lost, and how often as few are, for normal rewards."""
    ours = np.arange(5.0)
    lost_to_their_best = [
        measures.newcombe(np.array([-1.0, -1, -1, -1, lost - 0.5]), ours).low >= 0.5
        for lost in range(6)
    ]
    assert lost_to_their_best == [True, True, True, True, False, False]
    assert "at most three of the 25 pairs may be lost" in why(14)
    rng = np.random.default_rng(0)
    theirs = rng.standard_normal((4000, 5, 1))
    share = [
        np.mean((rng.normal(apart, 1, (4000, 1, 5)) > theirs).sum(axis=(1, 2)) >= 22)
        for apart in (2.0, 3.0)
    ]
    assert share == pytest.approx([0.78, 0.98], abs=0.03)
    assert "8 studies of 10 if they are two standard deviations apart, and in 98 of 100" in why(14)


def test_the_rule_writes_both_forms(made, tmp_path):
    verdicts.main(["--tables", str(made.folder), "--to", str(tmp_path / "out" / "claims")])
    table = pd.read_csv(tmp_path / "out" / "claims.csv")
    assert tuple(table.columns) == COLUMNS
    assert len(table) == len(CLAIMS)
    text = (tmp_path / "out" / "claims.md").read_text()
    assert text.count("\n- **") == len(CLAIMS)
    assert "nan" not in text
    parts = pd.read_csv(tmp_path / "out" / PARTS_FILE)
    assert tuple(parts.columns) == PARTS
    assert len(parts) == sum(1 for entry in CLAIMS for _ in statements.every_part(entry))


def test_the_table_of_parts_says_what_came_of_each(made):
    entry = claim(
        part(["fast", "half"], at_least=0.5) | {"setting": "here"},
        part(["never", "absent"], at_least=0.8) | {"quantifier": "can"},
    ) | {
        "readings": {"the rest": {"algorithm": "never"}},
        "takes": {"luck": [part("fast", at_least=0.8)]},
    }
    rows = pd.DataFrame(Verdict.of(entry, partial(Part.estimate, tables=made)).parts)
    columns = ["of", "name", "statement", "quantifier", "setting", "part", "holds"]
    assert rows[columns].to_numpy().tolist() == [
        ["claim", "", 1, "all", "here", "success_rate(e, p, fast)", "yes"],
        ["claim", "", 2, "all", "here", "success_rate(e, p, half)", "too few runs"],
        ["claim", "", 3, "can", "", "success_rate(e, p, never)", "no"],
        ["claim", "", 3, "can", "", "success_rate(e, p, absent)", "not run"],
        ["reading", "the rest", 1, "all", "here", "success_rate(e, p, never)", "no"],
        ["reading", "the rest", 2, "can", "", "success_rate(e, p, never)", "no"],
        ["takes", "luck", 1, "all", "", "success_rate(e, p, fast)", "yes"],
    ]
    assert rows.loc[1, ["value", "low", "high"]].tolist() == pytest.approx(
        [0.5, 0.299, 0.701], abs=1e-3
    )
    assert rows["missing"].tolist()[3] == "no runs of absent on p in e"


def test_verdicts_come_back_from_the_table_of_parts(made, tmp_path):
    """Also those that lack runs, an interval or a value: pages are written from this table."""
    verdicts.main(["--tables", str(made.folder), "--to", str(tmp_path / "claims")])
    table, parts = pd.read_csv(tmp_path / "claims.csv"), verdicts.read_parts(tmp_path)
    again = verdicts.kept(parts)
    assert [verdict.why for verdict in again.values()] == table["why"].tolist()
    first = parts["part"][0]
    newer = verdicts.kept(parts[(parts["part"] != first) | (parts["id"] != CLAIMS[0]["id"])])
    assert f"{first} is newer than the verdicts" in newer[CLAIMS[0]["id"]].its.lacking


@pytest.mark.parametrize("entry", CLAIMS, ids=lambda c: f"claim_{c['id']}")
def test_no_two_parts_of_a_claim_have_one_name(entry):
    """By which the table of parts is read."""
    named = {}
    for p in statements.every_part(entry):
        assert named.setdefault(str(p), (p.measure, p.arguments)) == (p.measure, p.arguments)
