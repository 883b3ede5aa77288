"""The kept results of the field: all their runs, of today's code, held against what is published.

That page, tables and pictures are made of them is tested with all that is kept (test_redraw.py).
"""

from __future__ import annotations

import json
from dataclasses import replace

import pandas as pd
import pytest

from experiments import ledger, plan
from experiments.field import golden, reference, standing
from experiments.field.commands import sizes
from experiments.paths import PUBLISHED, ROOT
from experiments.runs import simulate

pytest.importorskip("cocoex", reason="make .venv/field installs it")
pytest.importorskip("ioh", reason="make .venv/field installs it")

KEPT = ROOT / PUBLISHED / "field"
PLAN = plan.load(ROOT / "config.yaml", study="field")
NAMES = [name for name in PLAN.experiments if (KEPT / "tables" / name).is_dir()]
BATCHES = 30


@pytest.fixture(scope="module")
def tables():
    return standing.read(KEPT / "tables", NAMES)


def test_each_cell_has_all_its_runs(tables):
    for name in NAMES:
        experiment = PLAN.experiments[name]
        runs = tables[name].groupby(["problem", "algorithm"])["seed"].agg(list)
        assert set(runs.index) == set(experiment.cells)
        assert all(seeds == list(range(experiment.runs)) for seeds in runs.map(sorted))


@pytest.mark.parametrize("name", NAMES)
def test_their_code_is_certified_equal_to_todays(name):
    cells = json.loads((KEPT / "manifest.json").read_text())["runs"]["experiments"][name]
    for cell in PLAN.experiments[name].cells:
        codes = cells["/".join(cell)]["code"]
        assert {ledger.classes()[code] for code in codes} == {PLAN.code(name, *cell)}, cell


@pytest.mark.parametrize("name", NAMES)
def test_runs_begin_as_they_did(name, tables):
    """Each method on one function after the other: the evaluations to the targets that its first
    batches reach, another seed for each. On another processor rounding errors, which are others,
    grow: one method may part from its kept run after a third of these batches.
    """
    experiment, table = PLAN.experiments[name], tables[name].set_index(["problem", "algorithm"])
    reached, parted = 0, []
    for k, algorithm in enumerate(experiment.algorithms):
        problem = experiment.problems[(3 * k) % len(experiment.problems)]
        seed = k % experiment.runs
        spec = experiment.cells[problem, algorithm]
        within = min(spec.budget, BATCHES * simulate.batch_size(spec))
        record, _ = simulate.run(replace(spec, budget=within), seed)
        runs = table.loc[(problem, algorithm)].set_index("seed")
        of_kept = [int(hit) for hit in runs.loc[seed, "hits"] if hit <= within]
        first = within // 3
        its, kept = ([hit for hit in hits if hit <= first] for hits in (record.hits, of_kept))
        assert its == kept, (problem, algorithm, seed)
        if record.hits != of_kept:
            parted.append((problem, algorithm, seed))
        reached += len(of_kept)
    assert reached > 5 * len(experiment.algorithms)
    assert len(parted) <= 1, parted


def test_the_checks_are_those_of_the_tables(tables):
    budgets = {name: size["budget"] for name, size in sizes(PLAN.experiments).items()}
    made = pd.DataFrame(golden.golden(tables, budgets))
    pd.testing.assert_frame_equal(made, pd.read_csv(KEPT / "golden.csv"), rtol=1e-11, atol=0)
    assert set(made["what"]) >= {"CMA-ES, d = 5", "CMA-ES, d = 20"}
    assert made["holds"].all()


@pytest.mark.parametrize("name", [name for name in NAMES if name in PLAN.bbob])
def test_the_best_of_2009_are_cocos(name):
    kept = pd.read_csv(KEPT / "tables" / name / "best_2009.csv")
    pd.testing.assert_frame_equal(
        kept, reference.best_2009(PLAN.bbob[name]), check_dtype=False, rtol=1e-11, atol=0
    )
