"""The study of the field: its place in the config, its measures, its page, COCO's own data."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
from dataclasses import replace
from importlib.metadata import version
from importlib.util import find_spec
from math import e, log, log10
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from experiments import config as configs
from experiments import plan
from experiments.config import ConfigError
from experiments.field import golden, keep, observed, reference, standing, words
from experiments.publishing import manifest
from experiments.run import command
from experiments.run import main as run_main
from experiments.runs import simulate, trace
from experiments.runs.record import SCHEMA, TARGETS, Record
from experiments.runs.spec import Spec
from figures import ecdf, style

ROOT = Path(__file__).parent.parent
QUICK = ROOT / "tests" / "quick_field.yaml"

pytest.importorskip("cocoex", reason="make .venv/field installs it")
pytest.importorskip("ioh", reason="make .venv/field installs it")


@pytest.fixture(scope="module")
def field():
    return plan.load(ROOT / "config.yaml", study="field")


# ---- a study of its own --------------------------------------------------------------------------


def test_the_field_is_no_part_of_the_paper(field):
    paper = plan.load(ROOT / "config.yaml")
    assert not paper.study
    assert not paper.bbob
    assert not set(paper.experiments) & set(field.experiments)
    assert not set(paper.figures) & set(field.figures)
    assert str(field.results) == "results/field"
    assert (field.theory, field.variants, field.film) == ({}, {}, {})
    assert field.root_seed == paper.root_seed


def test_the_field_is_of_the_size_that_it_names(field):
    assert field.bbob == {
        "bbob_2": 2, "bbob_3": 3, "bbob_5": 5, "bbob_10": 10, "bbob_20": 20, "bbob_unseen_5": 5,
        "bbob_unseen_20": 20,
    }  # fmt: skip
    for name, dim in field.bbob.items():
        e = field.experiments[name]
        assert (e.runs, len(e.problems)) == (15, 24)
        assert {"ingo", "cma_es"} <= set(e.algorithms)
        for spec in e.cells.values():
            assert spec.budget == 10_000 * dim
            assert spec.target == 1e-8
            assert spec.restarts == {"region": [-5, 5]}
            assert spec.problem_parameters.get("first_instance", 1) == (16 if "un" in name else 1)
    for n in (16, 64, 100):
        e = field.experiments[f"pbo_{n}"]
        assert (e.runs, len(e.problems)) == (15, 25)
        assert {spec.budget for spec in e.cells.values()} == {50 * n * n}


def test_a_study_that_is_none_is_named():
    with pytest.raises(ConfigError, match="study is 'fields'; .*field"):
        plan.load(ROOT / "config.yaml", study="fields")


def test_fewer_runs_are_a_key_of_all():
    few = plan.load(ROOT / "config.yaml", study="field", runs=3)
    assert {e.runs for e in few.experiments.values()} == {3}


def test_another_dimension_is_a_key():
    over = {"experiments": {"bbob_20": {"dim": 40, "budget": 400_000}}}
    assert plan.load(ROOT / "config.yaml", study="field", field=over).bbob["bbob_20"] == 40


def test_restarts_that_are_not_allowed_name_their_place():
    over = {"experiments": {"bbob_2": {"restarts": {"region": [5, -5]}}}}
    with pytest.raises(ConfigError, match=r"bbob_2.algorithms.*region is \[5, -5\]"):
        plan.load(ROOT / "config.yaml", study="field", field=over)
    over = {"experiments": {"pbo_16": {"restarts": {"region": [0, 1]}}}}
    with pytest.raises(ConfigError, match=r"pbo_16.*bit strings has no region; leave it out"):
        plan.load(ROOT / "config.yaml", study="field", field=over)
    over = {"experiments": {"pbo_16": {"algorithms": {"one_plus_one_ea": {"restarts": {}}}}}}
    with pytest.raises(ConfigError, match=r"one_plus_one_ea.*restarts has to be null"):
        plan.load(ROOT / "config.yaml", study="field", field=over)


def test_what_comes_to_rest_starts_anew_and_what_does_not_has_no_restarts(field):
    for name, experiment in field.experiments.items():
        restarts = {algorithm: spec.restarts for (_, algorithm), spec in experiment.cells.items()}
        if name.startswith("bbob"):
            assert all(own == {"region": [-5, 5]} for own in restarts.values())
        else:
            none = ("one_plus_one_ea", "umda", "pbil")
            assert restarts == {k: None if k in none else {} for k in experiment.algorithms}


# ---- runs with restarts --------------------------------------------------------------------------

SPEC = Spec(
    "bbob", "ingo", 3000, 1e-8, {"function": 3, "dim": 2}, {"initial_std": 2.0},
    restarts={"region": [-5, 5]},
)  # fmt: skip


def test_a_run_with_restarts_goes_through_the_file_of_its_trace(tmp_path):
    path = tmp_path / "1.parquet"
    run_main([*command(SPEC).arguments, "--to", str(path)])
    _, metadata = trace.read(path)
    assert metadata["versions"]["cocoex"] == version("coco-experiment")
    assert SPEC.is_that_of(metadata)
    assert replace(SPEC, restarts=None).differences(metadata) == [
        "restarts {'region': [-5, 5]}, the config asks for None"
    ]
    record, own = simulate.run(SPEC, 1)
    assert record.hits == metadata["hits"]
    assert own["stop"] in ("budget", "target")


def test_only_runs_with_restarts_depend_on_their_code(field):
    paper = plan.load(ROOT / "config.yaml")
    bare = paper.fingerprint("figure_1", "levy", "ingo")
    assert field.fingerprint("bbob_2", "f1", "ingo") != bare
    assert "restarts" not in str(paper.trace_command("figure_1", "levy", "ingo"))
    assert "--restarts '{\"region\": [-5, 5]}'" in str(field.trace_command("bbob_2", "f1", "ingo"))


def test_the_spec_of_a_trace_that_is_older_than_restarts_is_without_them():
    old = {key: value for key, value in vars(SPEC).items() if key != "restarts"}
    assert Spec.recorded({"spec": old}) == replace(SPEC, restarts=None)


def test_each_function_dimension_and_set_of_instances_has_a_start_and_noise_of_its_own():
    """The same for all methods."""

    def drawn(**parameters):
        run = simulate.Run(
            replace(SPEC, problem_parameters={"function": 3, "dim": 2} | parameters), 1
        )
        return run.mean.tolist()[:2] + run.search.random(2).tolist()

    all_drawn = [drawn(), drawn(function=4), drawn(dim=3), drawn(first_instance=16)]
    numbers = [number for own in all_drawn for number in own]
    assert len(set(numbers)) == len(numbers)
    other = simulate.Run(replace(SPEC, algorithm="cma_es"), 1)
    assert other.mean.tolist() == all_drawn[0][:2]
    assert other.search.random() != all_drawn[0][2]


UNSOLVED = replace(SPEC, budget=3003, problem_parameters={"function": 24, "dim": 5})


def test_a_trace_says_what_the_next_batch_would_have_taken(tmp_path):
    path = tmp_path / "2.parquet"
    run_main([*command(UNSOLVED).arguments, "--to", str(path)])
    table, metadata = trace.read(path)
    last = table["evaluations"][-1].as_py()
    assert metadata["stop"] == "budget"
    assert last <= UNSOLVED.budget < last + metadata["next_batch"]
    trace.write(path, Record.of({n: table[n].to_numpy() for n in SCHEMA.names}, metadata["hits"]),
                {**metadata, "next_batch": 1})  # fmt: skip
    with pytest.raises(ValueError, match="where the run did not stop"):
        trace.read(path)


@pytest.mark.parametrize("more", [1, 40, 5000])
def test_a_kept_run_goes_on_with_a_larger_budget(tmp_path, more):
    """Also with one that is larger, but not by another batch."""
    path = tmp_path / "2.parquet"
    run_main([*command(UNSOLVED).arguments, "--keep-state", "--to", str(path)])
    path.unlink()
    larger = replace(UNSOLVED, budget=UNSOLVED.budget + more)
    run_main([*command(larger).arguments, "--to", str(path)])
    found, whole = trace.read(path)[0], simulate.run(larger, 2)[0]
    assert found["evaluations"].to_pylist() == list(whole.rows["evaluations"])
    assert found["best"].to_pylist() == list(whole.rows["best"])


def test_stagnation_ends_the_runs_of_cma_es_on_schaffers_f7():
    """Near a minimum its values are rough at 1e-6, so that they never agree to 1e-12, and one run
    goes on until the end of the budget; 15 of 15 published runs get there with restarts.
    """

    def ends(**settings):
        parameters = {"function": 18, "dim": 5}
        spec = replace(SPEC, algorithm="cma_es", budget=50_000, problem_parameters=parameters)
        spec = replace(spec, restarts=SPEC.restarts | settings)
        found = []
        _, metadata = simulate.run(spec, 0, lambda batch: found.append(str(batch.told.over)))
        return metadata["stop"], set(found) - {""}

    assert ends(stagnation=False) == ("budget", set())
    stop, over = ends()
    assert stop == "target"
    assert "stagnated" in over


# ---- published results ---------------------------------------------------------------------------


def coco_rows(dim, function):
    """Evaluations by our target, of the line of COCO's own file whose target is nearest to it."""
    package = Path(find_spec("cocopp").submodule_search_locations[0])
    with tarfile.open(package / "refalgs" / "best2009-bbob.tar.gz") as archive:
        file = archive.extractfile(f"best2009-bbob/bbob-bestalg_f{function:02d}_d{dim:02d}.dat")
        lines = [line.split() for line in file.read().decode().splitlines() if line[0] != "%"]
    known = [(float(words[1]), float(words[0])) for words in lines]
    rows = {}
    for target in TARGETS:
        at_or_below = [pair for pair in known if log10(pair[0]) < log10(target) + 0.01]
        if at_or_below:
            rows[target] = min(evaluations for _, evaluations in at_or_below)
    return rows


def test_the_best_of_2009_is_read_from_cocos_own_files():
    best = reference.best_2009(5)
    assert set(best["function"]) == set(range(1, 25))
    for _, own in best.groupby("function"):
        assert own["target"].is_monotonic_decreasing
        assert own["evaluations"].is_monotonic_increasing
    # Lines of COCO's file of f8: 72 evaluations to 3.98e+01 … and never those of the next target
    assert (
        coco_rows(5, 8) == best[best["function"] == 8].set_index("target")["evaluations"].to_dict()
    )
    linear = best[best["function"] == 5]
    assert linear["evaluations"].iloc[-1] < 20  # the linear slope, by a method that extrapolates
    with pytest.raises(ValueError, match="no results of 2009 in 7 dimensions"):
        reference.best_2009(7)


def test_published_runs_are_those_of_the_paper_about_them():
    """Sphere in 20-D: some 2,760 evaluations; the Rastrigin function is not solved by all runs."""
    assert reference.published("IPOP-CMA-ES", 1, 20).mean() == pytest.approx(2761, abs=1)
    assert len(reference.published("IPOP-CMA-ES", 24, 20)) == 15
    assert np.isinf(reference.published("IPOP-CMA-ES", 24, 20)).any()


SIZES = {
    "bbob_5": {
        "labels": {"ingo": "INGO", "cma_es": "CMA-ES"}, "runs": 2, "budget": 1000, "dim": 5,
    },
    "pbo_16": {"labels": {"ga": "GA"}, "runs": 2, "budget": 15, "dim": 16},
}  # fmt: skip


# ---- measures ------------------------------------------------------------------------------------


def runs_of(problem, algorithm, *ends, dim=5, budget=1000.0, minimum=0.0):
    """Runs that have reached all targets down to 1 at 10 evaluations, the others at ``ends``."""
    easy = TARGETS.index(1.0) + 1
    hits = [
        [10] * easy + ([int(end)] * (len(TARGETS) - easy) if end < np.inf else []) for end in ends
    ]
    return pd.DataFrame(
        {
            "problem": problem, "algorithm": algorithm, "seed": range(len(ends)), "dim": dim,
            "minimum": minimum, "hits": hits, "stop": "budget", "best": 0.0,
            "evaluations": [min(end, budget) for end in ends],
        }
    )  # fmt: skip


def test_shares_ratios_and_solutions_in_numbers():
    inf = np.inf
    table = pd.concat(
        [
            runs_of("f1", "ingo", 400, 200), runs_of("f1", "cma_es", 100, 100),
            runs_of("f8", "ingo", 900, inf), runs_of("f8", "cma_es", 190, 190),
            runs_of("f21", "ingo", inf, inf), runs_of("f21", "cma_es", 500, 500),
        ]
    )  # fmt: skip
    rows = standing.standing({"bbob_5": table}).set_index(["group", "algorithm"])
    ingo = rows.loc[("all functions", "ingo")]
    # 51 targets from 1e2 to 1e-8, of which 11 are down to 1
    share = (3 * 51 + 3 * 11) / (6 * 51)
    assert ingo["share"] == pytest.approx(share)
    assert ingo["lead"] == pytest.approx(share - 1)
    assert rows.loc[("separable", "ingo"), "share"] == 1.0
    assert rows.loc[("weakly structured", "ingo"), "share"] == pytest.approx(11 / 51)
    assert rows.loc[("moderate", "ingo"), "solved"] == 1
    assert rows.loc[("all functions", "cma_es"), "solved"] == 6
    # f1: 300/100; f8: (900 + 1000)/1 over 190; f21: none
    assert ingo["ratio"] == pytest.approx(np.sqrt(3 * 10))
    assert ingo["ratio_of"] == 2
    assert rows.loc[("weakly structured", "ingo"), "ratio_of"] == 0


def test_a_lead_is_over_the_same_instances_and_two_of_them_decide_nothing():
    """A method that is behind by the same on each instance is behind, however they differ."""
    hard = [np.inf if k % 2 else 100.0 for k in range(8)]  # of one function half of the targets
    table = pd.concat(
        [
            runs_of("f1", "cma_es", *hard), runs_of("f2", "cma_es", *[100.0] * 8),
            runs_of("f1", "ingo", *hard), runs_of("f2", "ingo", *[np.inf] * 8),
        ]
    )  # fmt: skip
    shown = {"bbob_5": SIZES["bbob_5"]}

    def lead(seeds):
        rows = standing.standing({"bbob_5": table[table["seed"] < seeds]})
        (found,) = words.Table(rows, shown).leads("ingo", [("bbob_5", "all functions")]).values()
        return found

    rows = standing.standing({"bbob_5": table}).set_index(["group", "algorithm"])
    ingo = rows.loc[("all functions", "ingo")]
    assert (ingo["lead_low"], ingo["lead_high"]) == pytest.approx((-20 / 51, -20 / 51))
    assert ingo["share_low"] < ingo["share"] < ingo["share_high"]
    assert ingo["lead_p"] == 2 / 2**8
    assert (lead(8), lead(2)) == (words.FEWER, words.EQUAL)


def test_leads_are_judged_together():
    """Holm: of four places the smallest p counts fourfold, the next one threefold."""
    rows = pd.DataFrame(
        {
            "experiment": "bbob_5", "algorithm": "ingo", "group": list("abcdef"),
            "lead": [-0.1, 0.1, -0.1, 0.1, np.nan, 0.1],
            "lead_p": [0.02, 0.012, 0.9, 0.016, np.nan, 1],
        }
    )  # fmt: skip
    table = words.Table(rows, SIZES)

    def signs(groups):
        found = table.leads("ingo", [("bbob_5", group) for group in groups])
        return {group: sign for (_, group), sign in found.items()}

    assert signs("abcd") == {"a": -1, "b": 1, "c": 0, "d": 1}
    assert signs("abcdef") == {"a": 0, "b": 0, "c": 0, "d": 0, "f": 0}  # 5 · 0.012 is too large
    assert signs("eg") == {}  # without a peer, and without runs
    assert signs("a") == {"a": -1}


def test_where_no_minimum_is_known_nothing_is_counted():
    table = pd.concat(
        [runs_of("f1", "ga", 50, dim=16), runs_of("f18", "ga", np.inf, dim=16, minimum=-np.inf)]
    )
    (row,) = standing.standing({"pbo_16": table}).itertuples()
    assert (row.share, row.solved, row.runs) == (1.0, 1, 1)


def test_a_fifth_below_the_optimum_is_not_the_optimum():
    """F24's values come in steps of a fifth."""
    near = runs_of("f24", "ga", np.inf, dim=100)
    near["hits"] = [[10] * sum(target >= 0.2 for target in TARGETS)]
    (row,) = standing.standing({"pbo_100": near}).itertuples()
    assert (row.solved, row.share) == (0, 0.0)


def of_ours(factor, functions, dim=5):
    """Runs of CMA-ES that take ``factor`` times the published evaluations on these functions."""
    theirs = {f: reference.published("IPOP-CMA-ES", f, dim) for f in range(1, 25)}
    ours = [
        runs_of(f"f{f}", "cma_es", factor * theirs[f].mean() if f in functions else np.inf)
        for f in theirs
    ]
    return {f"bbob_{dim}": pd.concat(ours).assign(dim=dim)}, sum(
        bool(np.isfinite(own).all()) for own in theirs.values()
    )


@pytest.mark.parametrize("dim", [5, 20])
@pytest.mark.parametrize(
    ("factor", "holds"), [(1.0, True), (1.3, True), (1.5, False), (0.6, False)]
)
def test_our_cma_es_has_to_take_what_the_published_one_takes(dim, factor, holds):
    table, known = of_ours(factor, range(1, 25), dim)
    (row,) = golden.golden(table, dict.fromkeys(table, 10**9))
    assert (row.what, row.of, row.out_of) == (f"CMA-ES, d = {dim}", known, known)
    assert row.ratio == pytest.approx(factor, rel=0.01)
    assert row.holds == holds
    assert ("**not as it has to be**" in words._check(row)) == (not holds)


def test_our_cma_es_has_to_solve_what_the_published_one_solves():
    table, known = of_ours(1.0, [1, 2, 5])
    (row,) = golden.golden(table, dict.fromkeys(table, 10**9))
    assert (row.of, row.out_of, row.holds) == (3, known, False)
    assert known > 15
    table = of_ours(1.0, [])[0]
    assert golden.golden(table, dict.fromkeys(table, 10**9))[0].holds is False


def test_the_check_is_of_each_dimension_by_its_own_budget_and_a_geometric_mean(monkeypatch):
    """Published are 100 evaluations at d = 5 and 1,000 at d = 20; ours are 0.5 and 2 times them."""
    theirs = {5: 100.0, 20: 1000.0}
    monkeypatch.setattr(
        reference, "published", lambda name, function, dim: np.full(15, theirs[dim])
    )
    tables = {
        f"bbob_{dim}": pd.concat(
            [
                runs_of("f1", "cma_es", 0.5 * n, 0.5 * n, dim=dim, budget=9e9),
                runs_of("f2", "cma_es", 2 * n, 2 * n, dim=dim, budget=9e9),
            ]
        )
        for dim, n in theirs.items()
    }
    tables["bbob_unseen_5"] = tables["bbob_5"]
    five, twenty = golden.golden(tables, {"bbob_5": 500, "bbob_20": 5000, "bbob_unseen_5": 500})
    assert (five.what, twenty.what) == ("CMA-ES, d = 5", "CMA-ES, d = 20")
    assert five.ratio == pytest.approx(1.0) == twenty.ratio
    assert (five.out_of, twenty.out_of) == (2, 2)


def test_what_the_published_one_solves_later_than_our_budget_is_not_asked_for():
    solved = [1, 2, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 17, 18]  # within 50,000, with its restarts
    table, known = of_ours(1.0, solved)
    (row,) = golden.golden(table, {"bbob_5": 50_000})
    assert (row.of, row.out_of, row.holds) == (14, 14, True)
    assert known == 18


def test_the_ea_has_to_take_what_is_expected():
    n = 100
    expected = {"f1": e * n * log(n) - 1.89 * n, "f2": n * n / 2 * (0.99 ** (1 - n) - 0.99)}
    for factor, holds in ((1.0, True), (1.25, True), (1.4, False), (0.6, False), (np.inf, False)):
        ends = {problem: factor * t for problem, t in expected.items()}
        table = pd.concat([runs_of(p, "one_plus_one_ea", t, dim=n) for p, t in ends.items()])
        rows = golden.golden({"pbo_100": table}, {"pbo_100": 10**6})
        assert [row.what.split(",")[0][12:] for row in rows] == ["OneMax", "LeadingOnes"]
        assert [row.holds for row in rows] == [holds] * 2
        assert [row.ratio for row in rows] == pytest.approx([factor] * 2, rel=0.01)


# ---- pictures ------------------------------------------------------------------------------------


def line(ax, label):
    (found,) = [own for own in ax.lines if own.get_label() == label]
    return found.get_data()


def test_the_measure_of_bbob_is_over_d_and_ends_at_cocos_last_target():
    table = pd.concat([runs_of("f1", "ingo", 400, np.inf), runs_of("f8", "ingo", 200, 300)])
    best = pd.DataFrame(
        {"function": [1, 8, 8], "target": [1.0, 1e-8, 1e-10], "evaluations": [5, 50, 1]}
    )
    figure, caption = ecdf.draw(table, {"ingo": "INGO"}, "bbob", best=best)
    (ax,) = figure.axes
    x, y = line(ax, "INGO")
    assert y[x <= 2.0][-1] == pytest.approx(11 / 51)  # 10 evaluations over d = 5
    assert y[x <= 79][-1] == pytest.approx((3 * 51 + 11 - 40) / (4 * 51))
    assert y[-1] == pytest.approx((3 * 51 + 11) / (4 * 51))
    x, y = line(ax, ecdf.BEST)  # of 2·51 targets two
    assert list(zip(x, y, strict=True)) == [(1.0, 1 / 102), (10.0, 2 / 102), (x[-1], 2 / 102)]
    assert ax.get_xlabel() == "evaluations / d"
    assert "over d = 5" in caption
    style.plt.close(figure)


def test_panels_of_groups_hold_their_functions():
    table = pd.concat(
        [runs_of("f1", "ingo", 100), runs_of("f8", "ingo", np.inf), runs_of("f9", "ingo", 100)]
    )
    figure, _ = ecdf.draw(table, None, "bbob", "groups")
    ends = {ax.get_title(): line(ax, "ingo")[1][-1] for ax in figure.axes}
    assert ends == pytest.approx(
        {"separable": 1.0, "moderate": 31 / 51, "all functions": (2 + 11 / 51) / 3}
    )
    style.plt.close(figure)
    with pytest.raises(ValueError, match=r"for bbob's f1 … f24, not for levy"):
        ecdf.draw(runs_of("levy", "ingo", 10), None, "bbob", "groups")


def test_the_last_target_of_pbo_is_the_optimum():
    table = pd.concat(
        [runs_of("f1", "ga", 100, np.inf), runs_of("f18", "ga", np.inf, minimum=-np.inf)]
    )
    figure, caption = ecdf.draw(table, None, "pbo")
    _, y = line(figure.axes[0], "ga")
    assert y[-1] == pytest.approx((12 + 11) / 24)  # of f18 none is known
    assert "over 1 function and" in caption
    style.plt.close(figure)


# ---- the page ------------------------------------------------------------------------------------


COST = {
    "bbob_5": {"f1/ingo": {"runs": 6, "cpu_seconds": 5400.0}},
    "pbo_16": {
        "f1/ga": {"runs": 2, "cpu_seconds": 1800.0},
        "f2/ga": {"runs": 0, "cpu_seconds": None},
    },
}


def test_the_page_says_what_the_table_says():
    table = pd.concat(
        [
            runs_of("f1", "ingo", 400, 200), runs_of("f1", "cma_es", 100, 100),
            runs_of("f8", "ingo", 900, np.inf), runs_of("f8", "cma_es", 190, 190),
        ]
    )  # fmt: skip
    bits = pd.concat([runs_of("f1", "ga", 30, np.inf, dim=16), runs_of("f2", "ga", 30, 30, dim=16)])
    rows = standing.standing({"bbob_5": table, "pbo_16": bits})
    checks = pd.DataFrame([golden.Golden("CMA-ES, d = 5", 1.234, 0.7, 1.4, 17, 18, True)])
    text = words.page(rows, checks, SIZES, {"bbob_5": "bbob, d = 5"}, COST)
    share = f"{(3 * 51 + 11) / (4 * 51):.0%}".replace("%", " %")
    assert "The 8 runs took 2.0 hours of CPU time" in text
    assert (
        "bbob: 2 functions of real vectors, 2 instances of each; budgets of 1,000 at d = 5" in text
    )
    assert "The PBO suite: 2 problems" in text
    assert "15 at n = 16 evaluations" in text
    assert (
        f"At d = 5 INGO reaches {share} of the targets, not told apart from CMA-ES's 100 %, and "
        "its aRT to 10⁻⁸ is 5.5 (2) times that of CMA-ES"
    ) in text  # √(3·10)
    assert f"| INGO | {share} | 5.5 (2) |" in text
    assert "| CMA-ES | 100 % | 1.0 (2) |" in text
    assert "At n = 16 the optimum is found in so many runs: GA in 3/4." in text
    assert "| GA | 3/4 | — |" in text
    assert "1.23 times those of the published IPOP-CMA-ES" in text
    assert "over the 17 functions that all runs of both solve, of 18" in text
    assert "\n![bbob, d = 5](figures/bbob_5.png)\n" in text
    assert "nan" not in text


def test_bits_are_compared_with_the_ea():
    table = pd.concat(
        [
            runs_of("f1", "one_plus_one_ea", *[50] * 8, dim=16),
            runs_of("f1", "umda", *[100] * 8, dim=16),
            runs_of("f2", "one_plus_one_ea", *[np.inf] * 8, dim=16),
            runs_of("f2", "umda", *[100] * 8, dim=16),
        ]
    )
    rows = standing.standing({"pbo_16": table}).set_index("algorithm")
    assert rows.loc["umda", ["ratio", "ratio_of"]].tolist() == [2.0, 1]
    assert rows.loc["umda", ["share", "lead", "lead_low"]].tolist() == [1.0, 0.5, 0.5]
    assert rows.loc["one_plus_one_ea", ["share", "lead", "lead_p"]].tolist() == [0.5, 0.0, 1.0]


def chosen(runs, sizes):
    """The lines that say for whom a method is the right tool."""
    return words._for_whom(words.Table(standing.standing(runs), sizes))


def test_the_advice_counts_where_a_method_is_ahead_and_where_behind():
    """Of four groups INGO leads in one, lags in none, and in three it reaches as much, later."""
    solved, later, lost = [100.0] * 8, [200.0] * 8, [np.inf] * 8
    table = pd.concat(
        [
            runs_of("f1", "ingo", *[500.0] * 8), runs_of("f1", "cma_es", *lost),
            runs_of("f6", "ingo", *later), runs_of("f6", "cma_es", *solved),
            runs_of("f10", "ingo", *[500.0] * 8), runs_of("f10", "cma_es", *solved),
            runs_of("f15", "ingo", *lost), runs_of("f15", "cma_es", *lost),
        ]
    )  # fmt: skip
    bits = pd.concat(
        [
            runs_of("f1", "bernoulli_ingo", *solved, dim=16),
            runs_of("f1", "one_plus_one_ea", *lost, dim=16),
        ]
    )
    sizes = SIZES | {
        "pbo_16": {**SIZES["pbo_16"], "labels": {"bernoulli_ingo": "Discrete INGO, 1/d"}}
    }
    assert chosen({"bbob_5": table, "pbo_16": bits}, sizes) == [
        "- **On real vectors, INGO rather than CMA-ES.** INGO reaches more targets than CMA-ES in "
        "1 of 4 groups and dimensions (separable at d = 5) and fewer in 0, and is not told apart "
        "from it in 3, where it takes 2.0 to 5.0 times the evaluations to 10⁻⁸ on what both "
        "solve. Over all functions, by dimension: 3.2 times.",
        "- **On bit strings, Discrete INGO, 1/d rather than the (1+1)-EA.** Discrete INGO, 1/d "
        "reaches the optimum in more runs than the (1+1)-EA in 1 of 1 sizes (n = 16) and in fewer "
        "in 0, and is not told apart from it in 0.",
    ]


def test_the_default_is_judged_on_instances_that_it_was_not_chosen_on():
    solved, lost = [100.0] * 8, [np.inf] * 8
    own = pd.concat([runs_of("f1", "ingo_default", *solved), runs_of("f1", "cma_es", *lost)])
    other = pd.concat([runs_of("f1", "ingo_default", *lost), runs_of("f1", "cma_es", *solved)])
    size = {**SIZES["bbob_5"], "labels": {"ingo_default": "ours", "cma_es": "CMA-ES"}}
    sizes = {"bbob_5": size, "bbob_unseen_5": size}
    (line,) = chosen({"bbob_5": own, "bbob_unseen_5": other}, sizes)
    assert line.startswith("- **On real vectors, CMA-ES rather than ours.** ours (not the paper's")
    assert "on instances that these steps were not chosen on, reaches more targets" in line


@pytest.mark.parametrize(
    ("evaluations", "advice", "times"),
    [
        ((200, 300), "CMA-ES rather than INGO", "2.0 to 3.0"),
        ((50, 80), "INGO rather than CMA-ES", "0.50 to 0.80"),
        ((50, 300), "INGO or CMA-ES", "0.50 to 3.0"),
        ((200, np.inf), "CMA-ES rather than INGO", "2.0"),
        ((50, np.inf), "CMA-ES rather than INGO", "0.50"),  # sooner, but seldom
    ],
)
def test_where_nobody_reaches_more_the_sooner_one_is_advised(evaluations, advice, times):
    runs = {
        f"bbob_{dim}": pd.concat(
            [runs_of("f1", "ingo", *[own] * 8), runs_of("f1", "cma_es", *[100] * 8)]
        )
        for dim, own in zip((5, 10), evaluations, strict=True)
    }
    (line,) = chosen(runs, dict.fromkeys(runs, SIZES["bbob_5"]))
    assert line.startswith(f"- **On real vectors, {advice}.** ")
    assert line.endswith(f" Over all functions, by dimension: {times} times.")


def test_the_headline_is_of_the_largest_dimensions_that_are_there():
    five, ten = (
        pd.concat(
            [runs_of("f1", "ingo", own, 100, dim=d), runs_of("f1", "cma_es", 100, 100, dim=d)]
        )
        for own, d in ((100, 5), (np.inf, 10))
    )
    bits = pd.concat(
        [
            runs_of("f1", "bernoulli_ingo", 30, np.inf, dim=16),
            runs_of("f1", "one_plus_one_ea", 30, 30, dim=16),
        ]
    )
    rows = standing.standing({"bbob_10": ten, "bbob_5": five, "pbo_16": bits})  # in any order
    labels = {"ingo": "INGO", "cma_es": "CMA-ES", "bernoulli_ingo": "Discrete INGO"}
    rows["label"] = rows["algorithm"].map(labels).fillna("EA")
    half = f"{(51 + 11) / 102:.0%}".replace("%", " %")
    table = words.Table.alone(rows)
    assert words.headline(table) == (
        f"At d = 10 INGO reaches {half} of COCO's targets, CMA-ES 100 %; at n = 16 Discrete INGO "
        "finds the optimum of bit strings in 1/2 runs, EA 2/2."
    )
    assert table.real == ["bbob_5", "bbob_10"]
    assert words.headline(words.Table(rows, {})) == ""


def test_tests_stop_at_the_first_that_does_not_differ():
    """Holm: 0.03 is above 5 % over two, and 0.04 is not looked at."""
    rows = pd.DataFrame({"experiment": "bbob_5", "algorithm": "ingo", "group": list("ab"),
                         "lead": 0.1, "lead_p": [0.03, 0.04]})  # fmt: skip
    table = words.Table(rows, SIZES)
    assert set(table.leads("ingo", [("bbob_5", "a"), ("bbob_5", "b")]).values()) == {words.EQUAL}


def test_seeds_that_are_level_count_in_the_test_of_a_lead():
    """The two zeros take ranks 1 and 2 (Pratt)."""
    differences = pd.Series([0.0, 0.0, -0.1, -0.2, 0.3, 0.4, 0.5, 0.6])
    assert standing.p_value(differences) == pytest.approx(0.219, abs=1e-3)


def checks_of_none():
    return pd.DataFrame(columns=golden.Golden._fields)


def test_the_page_bears_methods_and_experiments_that_are_not_there():
    table = runs_of("f1", "igo", 400, 200)
    rows = standing.standing({"bbob_5": table})
    sizes = {"bbob_5": {**SIZES["bbob_5"], "labels": {"igo": "IGO"}}}
    text = words.page(rows, checks_of_none(), sizes, {}, {})
    assert "| IGO | 100 % | — |" in text
    table = pd.concat([runs_of("f1", "ingo", np.inf), runs_of("f1", "cma_es", np.inf)])
    text = words.page(standing.standing({"bbob_5": table}), checks_of_none(), SIZES, {}, {})
    assert "not told apart from CMA-ES's 22 %; IGO reaches —" in text
    assert "nan" not in text


def traces_of(asked, but=()):
    """What the manifest says of the runs that are asked for, if the traces of some cells are not
    there.
    """
    cell = {"runs": 1, "cpu_seconds": 1.0}
    cells = {
        name: {"/".join(c): cell for c in e.cells if (name, *c) not in but}
        for name, e in asked.experiments.items()
    }
    return {"runs": {"experiments": cells}}


def test_what_is_whole_is_kept_and_the_rest_named(tmp_path, monkeypatch):
    over = {"study": "field", "field": {"results": str(tmp_path / "made")}}
    config = configs.merge(configs.read(ROOT / "config.yaml", QUICK), over)
    asked = plan.Plan.from_config(config)
    monkeypatch.setattr(manifest, "manifest", lambda config: traces_of(asked))
    with pytest.raises(ValueError, match=r"no experiment is whole in .*made; run: make field"):
        keep.keep(config, tmp_path / "kept")
    for name, dim, lost in (("bbob_5", 5, 0), ("pbo_16", 16, 1)):
        runs = [runs_of(*cell, 100, dim=dim) for cell in asked.experiments[name].cells]
        made = tmp_path / "made" / "tables" / name / "runs.parquet"
        made.parent.mkdir(parents=True)
        pd.concat(runs[lost:]).assign(title="f").to_parquet(made)
    assert keep.keep(config, tmp_path / "kept") == ["bbob_2", "bbob_unseen_5", "pbo_16"]
    kept = {str(p.relative_to(tmp_path / "kept")) for p in (tmp_path / "kept").rglob("*.p*")}
    pictures = {f"figures/bbob_5{x}.{y}" for x in ("", "_groups") for y in ("png", "pdf")}
    assert kept == pictures | {"tables/bbob_5/runs.parquet"}
    text = (tmp_path / "kept" / "field.md").read_text()
    assert "at d = 5" in text
    assert "n = 16" not in text
    assert "CMA-ES" in (tmp_path / "kept" / "golden.csv").read_text()
    best = pd.read_csv(tmp_path / "kept" / "tables" / "bbob_5" / "best_2009.csv")
    assert set(best["function"]) == set(range(1, 25))
    made.write_bytes((tmp_path / "made" / "tables" / "bbob_5" / "runs.parquet").read_bytes())
    (tmp_path / "made" / "tables" / "bbob_5" / "runs.parquet").unlink()
    with pytest.raises(ValueError, match="no experiment is whole"):  # those of other cells
        keep.keep(config, tmp_path / "kept")
    pd.concat(runs).to_parquet(made)
    with pytest.raises(ValueError, match=r"kept are bbob_5 too, which are not whole in .*made"):
        keep.keep(config, tmp_path / "kept")


def test_a_table_whose_traces_are_gone_is_not_kept(tmp_path, monkeypatch):
    """Nor one of more seeds than are asked for."""
    over = {"study": "field", "field": {"results": str(tmp_path / "made")}}
    config = configs.merge(configs.read(ROOT / "config.yaml", QUICK), over)
    asked = plan.Plan.from_config(config)
    runs = pd.concat([runs_of(*cell, 100, 100) for cell in asked.experiments["bbob_5"].cells])
    made = asked.folder("bbob_5") / "runs.parquet"
    made.parent.mkdir(parents=True)
    runs.to_parquet(made)
    assert not keep._whole(asked, "bbob_5")
    runs[runs["seed"] == 0].assign(title="f").to_parquet(made)
    assert keep._whole(asked, "bbob_5")
    gone = [("bbob_5", *next(iter(asked.experiments["bbob_5"].cells)))]
    monkeypatch.setattr(manifest, "manifest", lambda config: traces_of(asked, gone))
    with pytest.raises(ValueError, match="no experiment is whole"):
        keep.keep(config, tmp_path / "kept")


# ---- COCO's own data -----------------------------------------------------------------------------


def test_observed_runs_are_those_of_the_traces(tmp_path):
    spec = replace(SPEC, problem_parameters={"function": 1, "dim": 2})
    counts = observed.observe(spec, "INGO, β = ½√N/d", 2, tmp_path / "ingo" / "f1")
    assert counts == [simulate.run(spec, seed)[0].rows["evaluations"][-1] for seed in range(2)]
    (info,) = (tmp_path / "ingo" / "f1").glob("*.info")
    text = info.read_text()
    assert "algId = 'INGO_N_d'" in text
    said = re.findall(r"(\d+):(\d+)\|([\d.e+-]+)", text)
    assert [(int(k), int(n)) for k, n, _ in said] == list(zip((1, 2), counts, strict=True))
    assert all(float(excess) <= 1e-8 for *_, excess in said)
    assert [p.name for p in (tmp_path / "ingo").iterdir()] == ["f1"]  # nothing is left behind
    assert not (Path.cwd() / "exdata").exists()


def test_runs_of_other_problems_are_not_observed(tmp_path):
    with pytest.raises(ValueError, match="not on levy"):
        observed.observe(Spec("levy", "ingo", 100, None, {"dim": 4}), "x", 1, tmp_path / "x")
    seven = replace(SPEC, problem_parameters={"function": 1, "dim": 7})
    with pytest.raises(ValueError, match="no 7 dimensions"):
        observed.observe(seven, "x", 1, tmp_path / "x")


def test_the_data_are_asked_for_by_a_key(field):
    assert field.all_observed() == []
    asked = plan.load(ROOT / "config.yaml", study="field", field={"observe": True})
    assert len(asked.all_observed()) == sum(len(asked.experiments[e].cells) for e in asked.bbob)


# ---- all of it -----------------------------------------------------------------------------------


def test_the_workflow_makes_the_page(tmp_path):
    """Two functions in d = 2 and 5 on one instance, two pseudo-Boolean problems."""
    env = os.environ | {"OMP_NUM_THREADS": "1"}
    config = f"field: {{results: {tmp_path}/field}}\n"
    (tmp_path / "here.yaml").write_text(config)
    subprocess.run(
        [sys.executable, "-m", "snakemake", "--cores", "2", "--configfile", "config.yaml",
         str(QUICK), str(tmp_path / "here.yaml"), "--config", "study=field"],
        cwd=ROOT, env=env, check=True, capture_output=True,
    )  # fmt: skip
    text = (tmp_path / "field" / "field.md").read_text()
    rows = pd.read_csv(tmp_path / "field" / "field.csv")
    assert set(rows["experiment"]) == {"bbob_2", "bbob_5", "bbob_unseen_5", "pbo_16"}
    assert rows["share"].between(0, 1).all()
    cma = rows[(rows["algorithm"] == "cma_es") & (rows["group"] == "separable")]
    assert (cma["solved"] == 1).all()  # the sphere, in 1,000 evaluations
    assert "| CMA-ES | 100 %" in text
    for name in ("bbob_5", "bbob_5_groups", "pbo_64"):
        assert (tmp_path / "field" / "figures" / f"{name}.png").stat().st_size > 10_000
    assert not (tmp_path / "field" / "claims.md").exists()
