"""The picture of settings: its dots are the runs, and the best setting of a method is filled."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import tables
from matplotlib.colors import to_hex

from experiments.tables.reader import rank
from figures import settings, style

LABELS = {"fast_ingo_1": "Alpha, 1", "fast_ingo_2": "Alpha, 2", "es_1": "Beta, 1"}
REWARDS = {
    ("walk", "fast_ingo_1"): [1.0, 2.0, 3.0], ("walk", "fast_ingo_2"): [4.0, 6.0, 5.0],
    ("walk", "es_1"): [9.0, 9.0, 9.0],
    ("stand", "fast_ingo_1"): [30.0, 10.0, 20.0], ("stand", "fast_ingo_2"): [-1.0, 0.0, 1.0],
    ("stand", "es_1"): [7.0, 8.0, 9.0],
}  # fmt: skip


@pytest.fixture
def drawn():
    runs = pd.concat(
        tables.cell(task, name, [np.inf] * 3, area_batch_mean=[-v for v in own])
        for (task, name), own in REWARDS.items()
    )
    figure, caption = settings.draw(runs, LABELS)
    yield figure, caption
    plt.close(figure)


def test_dots_are_the_rewards_in_the_row_of_their_setting(drawn):
    figure, _ = drawn
    assert [ax.get_title() for ax in figure.axes] == ["Walk", "Stand"]
    rows = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert rows == list(LABELS.values())
    assert figure.axes[0].yaxis_inverted()
    for ax, task in zip(figure.axes, ("walk", "stand"), strict=True):
        for line, name in zip(ax.lines, LABELS, strict=True):
            assert set(line.get_ydata()) == {rows.index(LABELS[name])}
            np.testing.assert_array_equal(line.get_xdata(), REWARDS[task, name])


def test_a_method_has_a_colour_and_its_best_setting_is_filled(drawn):
    figure, caption = drawn
    for ax, best in zip(
        figure.axes, ({"fast_ingo_2", "es_1"}, {"fast_ingo_1", "es_1"}), strict=True
    ):
        colors = [to_hex(line.get_color()).upper() for line in ax.lines]
        assert colors == [style.RED, style.RED, style.BLACK]
        filled = {
            name
            for name, line in zip(LABELS, ax.lines, strict=True)
            if line.get_markerfacecolor() == line.get_color()
        }
        assert filled == best
    assert "Walk: Alpha, 2 (5); Beta, 1 (9). Stand: Alpha, 1 (20); Beta, 1 (8)." in caption
    assert "first 101 iterations, one dot per run (3 runs per setting)" in caption
    assert "ended after" not in caption


def test_a_run_that_was_lost_is_not_the_best():
    values = {"fast_ingo_1": [-1.0, np.nan, -1.0], "fast_ingo_2": [-0.5] * 3}
    runs = pd.concat(
        tables.cell("walk", name, [np.inf] * 3, area_batch_mean=own) for name, own in values.items()
    )
    figure, caption = settings.draw(runs, LABELS)
    plt.close(figure)
    assert "Walk: Alpha, 2 (0.5)." in caption


def test_runs_that_stopped_early_are_counted():
    """Their averages are over fewer iterations than those of the others."""
    runs = pd.concat(
        tables.cell(task, "es_1", [np.inf] * 3, area_batch_mean=-1.0) for task in ("walk", "stand")
    )
    runs["iteration"] = [101, 3, 101, 57, 57, 20]
    figure, caption = settings.draw(runs, LABELS)
    plt.close(figure)
    assert "the first 57 to 101 iterations, one dot" in caption
    assert " 2 runs ended after 3 to 20 iterations, and so do their averages.\n" in caption


def test_with_best_values_the_smallest_median_is_filled_and_what_is_not_above_0_is_counted():
    names = {"fast_ingo_1": [1.0, 2.0, 30.0], "fast_ingo_2": [0.0, 3.0, 4.0], "es_1": [5.0] * 3}
    runs = pd.concat(
        tables.cell("walk", name, [np.inf] * 3, best=[v + 10 for v in own], minimum=10.0)
        for name, own in names.items()
    )
    figure, caption = settings.draw(runs, LABELS, "best")
    (ax,) = figure.axes
    for line, own in zip(ax.lines, names.values(), strict=True):
        np.testing.assert_array_equal(line.get_xdata(), [v or np.nan for v in own])
    filled = [line.get_markerfacecolor() == line.get_color() for line in ax.lines]
    assert filled == [True, False, True]
    assert ax.get_xscale() == "log"
    assert [text.get_text() for text in ax.texts] == ["1 of 9 runs ≤ 0 or not finite"]
    assert "The best settings and their medians. Walk: Alpha, 1 (2); Beta, 1 (5)." in caption
    plt.close(figure)


def test_the_best_setting_is_the_one_that_most_runs_get_there_with_then_the_fastest():
    times = {
        "fast_ingo_1": [100.0, 100.0, np.inf], "fast_ingo_2": [900.0, 500.0, 700.0],
        "es_1": [np.inf] * 3,
    }  # fmt: skip
    cells = {name: tables.cell("walk", name, own, best=1.0) for name, own in times.items()}
    ranks = {name: rank(cell, 1e-10) for name, cell in cells.items()}
    assert ranks["fast_ingo_2"] == (-1.0, 700.0, 1.0)
    assert sorted(ranks, key=ranks.get) == ["fast_ingo_2", "fast_ingo_1", "es_1"]
    figure, caption = settings.draw(pd.concat(cells.values()), LABELS, "best")
    assert "Walk: Alpha, 2 (1); Beta, 1 (1)." in caption
    plt.close(figure)


def test_of_settings_with_as_many_that_get_there_the_faster_is_the_better_one():
    """However its other run ended."""
    times = {"fast": [100.0, np.inf], "slow": [200.0, np.inf]}
    ends = {"fast": [1e-11, 9.0], "slow": [1e-11, 1.0]}
    ranks = {n: rank(tables.cell("walk", n, times[n], best=ends[n]), 1e-10) for n in times}
    assert [ranks[name][:2] for name in times] == [(-0.5, 100.0), (-0.5, 200.0)]
    assert min(ranks, key=ranks.get) == "fast"
