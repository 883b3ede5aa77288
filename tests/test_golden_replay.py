"""The code of today begins the kept runs as they began: their first twenty batches, seed 0.

Kept runs are of several processors, whose last digits differ, hence the tolerance. That the kept
traces are of code that is certified equal to today's is in test_archive.py.
"""

from __future__ import annotations

from functools import cache
from itertools import islice

import numpy as np
import pytest

from algorithms.shared.loop import quiet
from experiments.paths import KEPT, PUBLISHED, ROOT
from experiments.plan import load
from experiments.publishing import archive
from experiments.runs.record import COLUMNS
from experiments.runs.simulate import Run
from experiments.runs.spec import Spec

PLAN = load(ROOT / "config.yaml", ROOT / PUBLISHED / "config.yaml")
CELLS = [
    (name, *cell)
    for name, experiment in PLAN.experiments.items()
    for cell in experiment.own
    if (KEPT / name / "0.parquet").is_file()
]
BATCHES = 20
BODIES = ("swimmer", "inverted_double_pendulum")  # whose steps are short
WITHOUT_BODIES = [
    cell for cell in CELLS if PLAN.experiments[cell[0]].cells[cell[1:]].problem != "control"
]
CONTROL = [cell for cell in CELLS if cell[0] == "figure_2" and cell[1] in BODIES]


@cache
def kept(experiment):
    """The kept cells of seed 0."""
    return dict(archive.read(KEPT / experiment / "0.parquet"))


def spec_of(experiment, *cell):
    return PLAN.experiments[experiment].cells[cell]


def assert_near(found, wanted, what):
    """Equal to a millionth, and NaN and infinities as they are."""
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=0, err_msg=what)


def test_every_kept_experiment_is_replayed():
    assert {cell[0] for cell in CELLS} == {path.name for path in KEPT.iterdir() if path.is_dir()}
    assert len(WITHOUT_BODIES) == 416
    assert len(CONTROL) == 10


@pytest.mark.parametrize("cell", CELLS, ids="/".join)
def test_what_is_kept_is_of_the_settings_of_the_config(cell):
    """All of them, as they are written in a command."""
    experiment, *names = cell
    _, metadata = kept(experiment)[tuple(names)]
    assert Spec.recorded(metadata).canonical == spec_of(*cell).canonical


@pytest.mark.parametrize("cell", WITHOUT_BODIES, ids="/".join)
def test_a_run_begins_as_the_kept_one_did(cell):
    run = Run(spec_of(*cell), 0)
    with quiet():
        for batch in islice(run.batches(), BATCHES):
            last = batch
    rows, metadata = kept(cell[0])[cell[1:]]
    count = len(run.record.rows["iteration"])
    assert count == len(rows) if last.ended else count >= 9
    for name in COLUMNS:
        assert_near(run.record.rows[name], rows[name].to_numpy()[:count], name)
    assert run.record.hits == [hit for hit in metadata["hits"] if hit <= last.evaluations]
    assert run.problem.title == metadata["title"]
    assert run.problem.minimum == metadata["minimum"]
    if last.ended:
        assert (last.ended.reason, last.ended.detail) == (metadata["stop"], metadata["stop_detail"])
    else:
        assert metadata["hits"] == [] or len(rows) > count


@pytest.mark.parametrize("cell", CONTROL, ids="/".join)
def test_a_body_moves_as_in_the_kept_run(cell):
    """Its first batch, and the first update by the value at the mean that it leads to."""
    run = Run(spec_of(*cell), 0)
    with quiet():
        batch = next(run.batches())
        second = run.problem.f_at(batch.told.mean)
    rows, metadata = kept(cell[0])[cell[1:]]
    for name in COLUMNS:
        assert_near(run.record.rows[name], rows[name].to_numpy()[:1], name)
    assert_near(second, rows["f_mean"][1].as_py(), "second f_mean")
    assert run.problem.title == metadata["title"]
