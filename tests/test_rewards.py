"""Statistics and picture of a control experiment, on tables made by hand."""

from __future__ import annotations

from itertools import combinations, combinations_with_replacement

import numpy as np
import pandas as pd
import pytest
import tables
from matplotlib import pyplot as plt
from scipy.stats import mannwhitneyu, norm

from experiments.claims.measures import larger_reward
from experiments.tables.estimates import bootstrap, newcombe
from experiments.tables.reader import Tables
from experiments.tables.rewards import ALL, improvement, interquartile_mean, markdown, rewards
from figures import reward


def cell(problem, algorithm, scores, start=0.0):
    """Runs whose four columns of rewards are all ``scores``; tables hold values, −reward."""
    values = -np.asarray(scores, dtype=float)
    columns = dict.fromkeys(("batch_mean", "f_mean", "area_batch_mean", "area_f_mean"), values)
    return tables.cell(
        problem, algorithm, [np.inf] * len(values), **columns, first_batch_mean=-start
    )


@pytest.fixture
def runs():
    return pd.concat(
        [
            cell("walk", "ours", [1.0, 2.0, 3.0, 4.0, 100.0]),
            cell("walk", "theirs", [0.0, 2.0, 2.5, 2.5, 2.5]),
            cell("stand", "ours", [50.0, 60.0, 70.0], start=40.0),
            cell("stand", "theirs", [90.0, 80.0, 100.0], start=40.0),
            cell("stand", "third", [90.0] * 3, start=40.0),
        ],
        ignore_index=True,
    )


def entry(table, task, algorithm, than=""):
    rows = table[(table["task"] == task) & (table["algorithm"] == algorithm)]
    return rows[(rows["column"] == "batch_mean") & (rows["than"] == than)].iloc[0]


def test_an_outlier_is_outside_the_middle_half(runs):
    row = entry(rewards(runs), "walk", "ours")
    assert row["value"] == 3.0  # of 2, 3, 4
    assert 1.0 <= row["low"] <= 3.0 <= row["high"]
    assert interquartile_mean(np.arange(8.0)) == np.arange(2, 6).mean()
    # of five, a quarter of 5 is 1.25: the second and fourth count by three quarters
    five = np.array([100.0, 4.0, -50.0, 2.0, 1.0])
    assert interquartile_mean(five) == pytest.approx((0.75 * 1 + 2 + 0.75 * 4) / 2.5, rel=1e-15)
    assert interquartile_mean(np.array([7.0])) == 7.0
    both = interquartile_mean(np.array([[1.0, 2], [5, 6]]), np.array([[3.0], [7]]))
    np.testing.assert_allclose(both, [2.0, 6.0], rtol=1e-15)


def test_the_probability_of_improvement_is_mann_whitneys(runs):
    rng = np.random.default_rng(0)
    for _ in range(20):
        a, b = rng.integers(0, 4, 6).astype(float), rng.integers(0, 4, 5).astype(float)
        assert improvement((a, b)).value == pytest.approx(mannwhitneyu(a, b).statistic / 30)
    table = rewards(runs)
    assert entry(table, "stand", "ours", "theirs")["value"] == 0.0
    assert entry(table, "stand", "theirs", "ours")["value"] == 1.0
    assert entry(table, "walk", "ours", "theirs")["value"] == pytest.approx(17.5 / 25)


def test_the_probability_on_one_task_has_the_interval_of_the_claims():
    a, b = np.array([3.0, 5.0, 6.0, 9.0]), np.array([1.0, 2.0, 7.0])
    one, claimed = improvement((a, b)), newcombe(b, a)
    assert (one.value, one.value) == (claimed.value, 9 / 12)
    assert [one.low, one.high] == pytest.approx([claimed.low, claimed.high])


def test_the_probability_over_all_tasks_is_as_sure_as_it_says():
    """Three tasks of five runs each, one standard deviation apart, half of one, and equal."""
    rng = np.random.default_rng(0)
    shifts = (1.0, 0.5, 0.0)
    truth = np.mean([norm.cdf(shift / np.sqrt(2)) for shift in shifts])
    found = [
        improvement(*((rng.normal(shift, 1, 5), rng.normal(0, 1, 5)) for shift in shifts))
        for _ in range(500)
    ]
    inside = np.mean([e.low <= truth <= e.high for e in found])
    assert 0.92 < inside < 0.99
    narrower = np.mean([e.high - e.low for e in found])
    alone = newcombe(np.array([1.0, 3, 5, 7, 9]), np.array([2.0, 4, 6, 8, 10]))
    assert narrower < 0.75 * (alone.high - alone.low)  # by √3, were all alike


def test_a_mean_of_fewer_than_five_runs_has_no_interval():
    few = pd.concat([cell("walk", "ours", [1.0] * 4), cell("walk", "theirs", [*range(2, 7)])])
    table = rewards(few)
    assert np.isnan([entry(table, "walk", "ours")[end] for end in ("low", "high")]).all()
    assert entry(table, "walk", "theirs")["low"] < 4.0
    assert "| ours | 1 (n = 4) |" in markdown(table)
    assert "| ours over theirs | 0 (0 to 0.3" in markdown(table)


def test_the_interval_of_a_mean_of_five_runs_holds_it_in_9_studies_of_10():
    """As the text of the table says, of what is sampled from a normal distribution."""
    rng = np.random.default_rng(0)
    found = [bootstrap(interquartile_mean, rng.normal(size=5)) for _ in range(500)]
    assert 0.85 < np.mean([e.low <= 0.0 <= e.high for e in found]) < 0.94


def test_a_task_on_which_nobody_came_above_the_start_is_no_unit():
    walk = [cell("walk", "ours", [3.0], start=100.0), cell("walk", "theirs", [5.0], start=100.0)]
    assert ALL not in set(rewards(pd.concat(walk))["task"])
    stand = [cell("stand", "ours", [50.0]), cell("stand", "theirs", [30.0])]
    table = rewards(pd.concat([*walk, *stand]))
    assert entry(table, ALL, "ours")["value"] == entry(table, ALL, "ours", "theirs")["value"] == 1.0


def test_all_tasks_are_on_one_scale_and_weigh_the_same(runs):
    table = rewards(runs)
    over = [entry(table, task, "ours", "theirs")["value"] for task in ("walk", "stand")]
    assert entry(table, ALL, "ours", "theirs")["value"] == pytest.approx(np.mean(over))
    assert "third" not in set(table.loc[table["task"] == ALL, "algorithm"])  # it lacks a task
    assert entry(table, "walk", "ours", "theirs")["runs"] == 5
    assert entry(table, ALL, "ours", "theirs")["runs"] == 3  # the fewest
    # five runs against three would not weigh the same, so that there is no mean of them
    means = table[(table["task"] == ALL) & (table["than"] == "")]
    assert means.empty
    same = runs.groupby(["problem", "algorithm"]).tail(3)
    # walk runs from 0 to 100 and stand from 40 to 100; of six scores the middle three
    # count, by half at its ends
    scaled = np.sort([0.03, 0.04, 1.0, 1 / 6, 2 / 6, 3 / 6])
    mean = entry(rewards(same), ALL, "ours")
    assert (mean["value"], mean["runs"]) == (pytest.approx(scaled[1:5] @ [0.5, 1, 1, 0.5] / 3), 3)


def test_the_runs_of_a_pair_are_those_of_the_one_that_has_fewer():
    table = rewards(pd.concat([cell("walk", "ours", [1.0] * 5), cell("walk", "theirs", [2.0] * 3)]))
    for task in ("walk", ALL):
        pairs = (("ours", "theirs"), ("theirs", "ours"))
        assert [entry(table, task, *pair)["runs"] for pair in pairs] == [3, 3]


def test_the_bootstrap_resamples_each_task_by_itself():
    """Two tasks without any spread have no interval, however far they are apart on the scale."""
    scores = {"walk": (1.0, 10.0), "stand": (7.0, 7.0)}
    same = pd.concat(
        cell(task, name, [score] * 5)
        for task, both in scores.items()
        for name, score in zip(("ours", "best"), both, strict=True)
    )
    row = entry(rewards(same), ALL, "ours")
    assert row["low"] == row["value"] == row["high"] == pytest.approx(0.55)  # of 0.1 and 1


def test_the_text_has_a_row_an_optimiser_and_a_pair(runs):
    text = markdown(rewards(runs))
    assert "| ours | 3 (" in text
    assert "| theirs over ours | 0.3 (" in text
    assert "| third | | 90 (n = 3) | |" in text


def test_a_claim_about_rewards_reads_values_the_other_way_round(tmp_path, runs):
    tables.write(tmp_path, "figure", runs)
    column = "area_batch_mean"
    e = larger_reward(Tables(tmp_path), "figure", "stand", "theirs", "ours", column)
    assert (e.value, e.low, e.high) == (1.0, 0.0, 1.0)  # three runs each decide nothing
    e = larger_reward(Tables(tmp_path), "figure", "walk", "ours", "theirs", column)
    assert e.value == pytest.approx(17.5 / 25)
    assert e.low < 0.7 < e.high


def test_a_run_that_was_lost_is_beaten_by_all_others(tmp_path):
    lost = pd.concat([cell("walk", "ours", [1.0, 2.0]), cell("walk", "theirs", [np.nan, 5.0])])
    tables.write(tmp_path, "figure", lost)
    e = larger_reward(Tables(tmp_path), "figure", "walk", "ours", "theirs", "batch_mean")
    assert e.value == 0.5
    table = rewards(lost)
    assert entry(table, "walk", "ours", "theirs")["value"] == 0.5
    assert entry(table, "walk", "theirs")["value"] == -np.inf


def test_the_interval_of_a_probability_is_as_sure_as_it_says():
    """Of equal methods with five runs each, all orders of ten runs enumerated, few are called
    unequal; of unequal normal ones, most intervals hold the true probability.
    """
    orders = [np.array(c, dtype=float) for c in combinations(range(10), 5)]
    sure = [newcombe(a, np.setdiff1d(np.arange(10.0), a)) for a in orders]
    assert len(sure) == 252
    assert sum(e.low >= 0.5 for e in sure) == sum(e.high <= 0.5 for e in sure) == 7
    rng = np.random.default_rng(0)
    truth = norm.cdf(1.0 / np.sqrt(2))  # one standard deviation apart
    found = [newcombe(rng.normal(0, 1, 5), rng.normal(1, 1, 5)) for _ in range(1000)]
    assert np.mean([e.low <= truth <= e.high for e in found]) > 0.93
    assert all(0.0 <= e.low <= e.value <= e.high <= 1.0 for e in found)


@pytest.mark.parametrize(("m", "n"), [*combinations_with_replacement(range(1, 6), 2)])
def test_equal_methods_are_called_unequal_in_one_study_of_18_at_most(m, n):
    """All orders of the runs of two methods, from one run to five each."""
    ranks = np.arange(m + n, dtype=float)
    orders = [np.array(chosen) for chosen in combinations(ranks, m)]
    sure = [newcombe(a, np.setdiff1d(ranks, a)) for a in orders]
    assert np.mean([not e.low < 0.5 < e.high for e in sure]) <= 1 / 17


def test_the_interval_ends_where_hanley_and_mcneils_variance_says():
    """Their form of it, with Q1 and Q2, and m = n."""
    for a, b in (([1.0, 3.0, 5.0, 7.0], [2.0, 4.0, 6.0, 8.0]), ([1.0] * 4, [2.0] * 4)):
        e, n = newcombe(np.array(a), np.array(b)), len(a)
        for theta in {e.low, e.high} - {1.0}:
            q1, q2 = theta / (2 - theta), 2 * theta**2 / (1 + theta)
            variance = theta * (1 - theta) + (n - 1) * (q1 + q2 - 2 * theta**2)
            assert abs(e.value - theta) == pytest.approx(1.96 * np.sqrt(variance) / n, rel=1e-4)


def curves(problem, algorithm, quantity, mean):
    mean = np.asarray(mean, dtype=float)
    return pd.DataFrame(
        {
            "problem": problem, "algorithm": algorithm, "quantity": quantity,
            "evaluations": 10 * np.arange(1, len(mean) + 1), "mean": mean,
            "min": mean - 1, "max": mean + 2,
        }
    )  # fmt: skip


@pytest.mark.parametrize(
    ("x", "at"),
    [
        ("iterations", [1, 2, 3]),
        ("evaluations", [10, 20, 30]),
        ("environment_steps", [500, 900, 1700]),
    ],
)
def test_the_picture_turns_values_into_rewards(x, at):
    runs = cell("walk", "ours", [3.0, 3.0]).assign(iteration=3, evaluations=30, stop="budget")
    lines = pd.concat(
        [
            curves("walk", "ours", "batch_mean", [-1.0, -2.0, -3.0]),
            curves("walk", "ours", "f_mean", [-5.0, -6.0, -7.0]),
            curves("walk", "ours", "environment_steps", [500, 900, 1700]),
        ]
    )
    figure, caption = reward.draw(runs, lines, x)
    upper, lower = (ax.lines[0] for ax in figure.axes)
    assert upper.get_markevery() == 1  # of three points; of 300 it is 60
    assert list(upper.get_ydata()) == [1, 2, 3]
    assert list(lower.get_ydata()) == [5, 6, 7]
    assert list(upper.get_xdata()) == at
    band = figure.axes[0].collections[0].get_paths()[0].vertices
    assert (band[:, 1].min(), band[:, 1].max()) == (-1.0, 4.0)
    assert "2 runs of 3 iterations." in caption
    plt.close(figure)


@pytest.mark.parametrize(
    ("values", "scale"), [([-4, -78], "log"), ([-4, -18], "linear"), ([1, -78], "linear")]
)
def test_a_panel_of_positive_rewards_over_a_decade_has_a_log_axis(values, scale):
    """Bands from 2 to 79, from 2 to 19, and from -3."""
    runs = cell("walk", "ours", [3.0]).assign(iteration=2, evaluations=20, stop="budget")
    lines = [curves("walk", "ours", "batch_mean", values), curves("walk", "ours", "f_mean", [0, 0])]
    figure, _ = reward.draw(runs, pd.concat(lines))
    assert [ax.get_yscale() for ax in figure.axes] == [scale, "linear"]
    plt.close(figure)


def test_every_task_and_method_has_its_own_line():
    runs, lines = [], []
    for i, task in enumerate(("walk", "stand")):
        for j, name in enumerate(("ours", "theirs")):
            last = 4 + 2 * i + j
            runs.append(
                cell(task, name, [1.0, 1.0]).assign(iteration=[last - 1, last], stop="budget")
            )
            level = np.full(last, -10.0 * i - j)
            lines += [curves(task, name, q, level) for q in ("batch_mean", "f_mean")]
    figure, caption = reward.draw(pd.concat(runs), pd.concat(lines), "evaluations")
    drawn = [[(set(line.get_ydata()), len(line.get_xdata())) for line in ax.lines]
             for ax in figure.axes[:2]]  # fmt: skip
    assert drawn == [[({0.0}, 4), ({1.0}, 5)], [({10.0}, 6), ({11.0}, 7)]]
    assert "Walk 2 runs of 5 iterations; Stand 2 runs of 7 iterations." in caption
    with pytest.raises(ValueError, match="no steps; x can be iterations or evaluations"):
        reward.draw(pd.concat(runs), pd.concat(lines), "environment_steps")
    plt.close("all")


def test_the_caption_counts_a_method_that_was_not_run_on_a_task():
    runs = [cell("walk", "ours", [1.0, 2.0]), cell("walk", "theirs", [1.0]),
            cell("stand", "ours", [1.0, 2.0])]  # fmt: skip
    runs = pd.concat(runs).assign(stop="budget", iteration=3)
    lines = [
        curves(*labels, quantity, [-1.0] * 3)
        for labels in (("walk", "ours"), ("walk", "theirs"), ("stand", "ours"))
        for quantity in ("batch_mean", "f_mean")
    ]
    _, caption = reward.draw(runs, pd.concat(lines))
    assert (
        "Walk 1 to 2 runs of 3 iterations (theirs 1); "
        "Stand 0 to 2 runs of 3 iterations (theirs 0)." in caption
    )
    plt.close("all")


def test_zero_is_the_mean_of_all_first_batches():
    runs = pd.concat([cell("walk", "ours", [50.0] * 4), cell("walk", "theirs", [0.0] * 4)])
    runs["first_batch_mean"] = [-10.0, 0, 0, 0, -10.0, 0, 0, 0]  # 2.5 on average
    row = entry(rewards(runs), ALL, "theirs")
    assert row["value"] == pytest.approx(-2.5 / 47.5)


def test_the_caption_names_runs_that_ended_early():
    runs = cell("walk", "ours", [3.0, 3.0]).assign(stop=["budget", "not_positive_definite"])
    lines = [curves("walk", "ours", quantity, [-1.0]) for quantity in ("batch_mean", "f_mean")]
    _, caption = reward.draw(runs, pd.concat(lines))
    assert "(ours 1 not_positive_definite)" in caption
    plt.close("all")
