"""Statistics on hand-made runs, the problems that are ours, and the predicted drift."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import tables

import problems
from experiments.runs import simulate
from experiments.runs.record import TARGETS
from experiments.runs.spec import Spec
from experiments.tables import summaries
from figures import ecdf, stability, style
from problems.rotated import orthogonal

INF = np.inf


def test_art_is_the_evaluations_of_all_runs_over_the_successes():
    """Two runs there after 100 and 300, one gave up after 1000: 1400/2."""
    runs = np.array([[100, 500], [300, 300], [INF, 1000]])
    assert summaries.average_running_time(runs) == 700.0
    assert summaries.average_running_time(runs[2:]) == INF


@pytest.fixture
def runs():
    return pd.concat(
        [
            tables.cell("p", "fast", [1000.0, 2000.0, 3000.0]),
            tables.cell("p", "half", [1000.0, INF], best=[1e-11, 4.0]),
        ],
        ignore_index=True,
    )


def test_fixed_targets(runs):
    table = summaries.fixed_targets(runs).set_index(["algorithm", "target"])
    last = table.loc[("fast", 1e-10)]
    assert last[["runs", "successes", "aRT", "median"]].tolist() == [3, 3, 2000.0, 2000.0]
    assert 1000.0 <= last["aRT_low"] < 2000.0 < last["aRT_high"] <= 3000.0
    half = table.loc[("half", 1e-10)]
    assert half["successes"] == 1
    assert half["aRT"] == 1000.0 + 10**6
    assert half["aRT_high"] == INF  # a resample without a success
    assert len(table) == 2 * 11


def test_no_target_where_no_minimum_is_known(runs):
    control = tables.cell("control", "es", [INF] * 2).assign(minimum=-INF)
    both = pd.concat([runs, control])
    own, wanted = summaries.fixed_targets(both), summaries.fixed_targets(runs)
    pd.testing.assert_frame_equal(own, wanted, check_exact=True)
    for cells, heads in ((both, 2), (control, 1)):
        text = summaries.markdown(summaries.fixed_targets(cells), summaries.final_values(cells))
        assert text.count("# ") == heads
        assert "| control | es | 1e-11 |" in text


def test_final_values(runs):
    table = summaries.final_values(runs).set_index("algorithm")
    assert table.loc["half", ["best", "median", "worst"]].tolist() == [1e-11, (1e-11 + 4) / 2, 4.0]
    assert table.loc["half", "ended"] == "target 1, budget 1"


def test_final_values_are_above_the_minimum_and_ordered():
    cell = tables.cell("p", "a", [INF] * 5, best=[7.0, 3.0, 4.0, 6.0, 5.0]).assign(minimum=2.0)
    row = summaries.final_values(cell).iloc[0]
    assert row[["best", "q1", "median", "q3", "worst"]].tolist() == [1.0, 2.0, 3.0, 4.0, 5.0]


def test_quartiles_of_the_evaluations_are_of_the_runs_that_got_there():
    cell = tables.cell("p", "a", [5000.0, 1000.0, 3000.0, INF, 2000.0, 4000.0])
    row = summaries.fixed_targets(cell).iloc[-1]
    assert row[["q1", "median", "q3"]].tolist() == [2000.0, 3000.0, 4000.0]


def test_statistics_are_written_for_reading_too(runs, tmp_path):
    runs.to_parquet(tmp_path / "runs.parquet")
    summaries.main([str(tmp_path), "--to", str(tmp_path)])
    text = (tmp_path / "statistics.md").read_text()
    assert "| p | fast |" in text
    assert "2e+03 (3/3)" in text
    assert len(pd.read_csv(tmp_path / "fixed_targets.csv")) == 22


def test_ecdf_counts_targets_and_runs(runs):
    """Of the fifty targets below the first batch's 1 the run that failed has none."""
    span = {"p": range(TARGETS.index(1.0) + 1, TARGETS.index(1e-10) + 1)}
    found = ecdf.shares(runs[runs["algorithm"] == "half"], "plain", span)
    assert len(found.times) == 50
    assert found.shares[-1] == pytest.approx(1 / 2)
    assert found.at(np.array([0, 1e9])) == pytest.approx([0, 1 / 2])
    figure, caption = ecdf.draw(runs)
    assert [line.get_ydata()[-1] for line in figure.axes[0].lines] == pytest.approx([1.0, 1 / 2])
    assert "over 1 function and 2 to 3 runs each" in caption
    style.plt.close(figure)


def test_orthogonal_matrices_are_orthogonal_and_uniform():
    rng = np.random.default_rng(0)
    draws = np.array([orthogonal(rng, 4) for _ in range(2000)])
    assert np.allclose(draws @ np.swapaxes(draws, 1, 2), np.eye(4), atol=1e-12)
    # entries have mean 0 and variance 1/4; six standard errors of 2,000 draws
    assert np.abs(draws.mean(axis=0)).max() < 6 * 0.5 / np.sqrt(2000)
    assert np.abs((draws**2).mean(axis=0) - 0.25).max() < 6 * 0.25 / np.sqrt(2000)


def test_a_rotated_function_is_the_function_turned():
    rng = np.random.default_rng(3)
    turned = problems.build("rotated", {"function": "levy", "dim": 6}, np.random.default_rng(7))
    plain = problems.build("levy", {"dim": 6})
    q = orthogonal(np.random.default_rng(7), 6)
    x = rng.standard_normal((5, 6))
    assert np.allclose(turned.evaluate(x @ q.T), plain.evaluate(x), rtol=1e-10, atol=0)
    assert turned.evaluate(turned.minimiser[None, :])[0] == pytest.approx(0.0, abs=1e-25)
    other = problems.build("rotated", {"function": "levy", "dim": 6}, np.random.default_rng(8))
    assert not np.allclose(other.evaluate(x), turned.evaluate(x))


def test_all_optimisers_of_a_seed_see_the_same_rotation():
    seen = []
    for algorithm in ("fast_ingo", "ingo"):
        spec = Spec("rotated", algorithm, 24, 0.0, {"function": "ellipsoid", "dim": 6})
        trace, _ = simulate.run(spec, 3)
        seen.append(trace.rows["f_mean"][0])  # at the paired first mean
    assert seen[0] == seen[1]


def test_drift_formula_against_direct_expectation():
    """E tr A² over random z for one h, by brute force: six standard errors."""
    rng = np.random.default_rng(1)
    n, d = 6, 9
    h = rng.standard_normal(n)
    h = (h - h.mean()) / h.std(ddof=1)
    z = rng.standard_normal((20_000, n, d))
    grams = z @ np.swapaxes(z, 1, 2)
    traces = np.einsum("i,j,kij->k", h, h, grams**2) / n**2
    wanted = stability.predicted_drift(d, n, 0.1) * 2 / 0.1**2
    assert abs(traces.mean() - wanted) < 6 * traces.std() / np.sqrt(len(traces))


@pytest.mark.parametrize(("algorithm", "sign"), [("ingo", 1), ("ingo_step", 1), ("igo", -1)])
def test_pure_noise_widens_ingo_and_narrows_igo_as_predicted(algorithm, sign):
    """The paper's size, 1,500 iterations: 0.0265 per iteration within 15 %."""
    trace, metadata = simulate.run(Spec("noise", algorithm, 27_000, 0.0, {"dim": 100}), 0)
    assert metadata["stop"] == "budget"
    sigma, iteration = trace.rows["sigma"], trace.rows["iteration"]
    drift = 200 * np.log(sigma[-1] / sigma[0]) / (iteration[-1] - iteration[0])
    assert stability.predicted_drift(100, 18, 0.01) == pytest.approx(0.0265, rel=1e-3)
    assert drift == pytest.approx(sign * 0.0265, rel=0.15)
