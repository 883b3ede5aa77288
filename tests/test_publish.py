"""What is kept is never replaced by less."""

from __future__ import annotations

import json

import pandas as pd
import pytest
import tables
from tiny import do_run, write_config

from experiments import plan
from experiments.publishing import publish
from experiments.publishing.publish import keep_tables


def write(folder, experiment, runs):
    tables.write(folder, experiment, tables.cell("levy", "ingo", [1000.0] * runs))


def runs(folder, experiment):
    return len(pd.read_parquet(folder / experiment / "runs.parquet"))


def test_new_tables_are_added_and_larger_ones_take_the_place_of_smaller_ones(tmp_path):
    new, kept = tmp_path / "new", tmp_path / "kept"
    write(new, "first", 3)
    write(new, "second", 5)
    write(kept, "second", 4)
    write(kept, "third", 7)
    (new / "table_1.md").write_text("")
    assert keep_tables(new, kept) == ["first", "second"]
    assert [runs(kept, name) for name in ("first", "second", "third")] == [3, 5, 7]


def test_a_table_of_fewer_runs_is_refused_and_nothing_is_copied(tmp_path):
    new, kept = tmp_path / "new", tmp_path / "kept"
    write(new, "first", 2)
    write(new, "second", 2)
    write(kept, "second", 20)
    with pytest.raises(ValueError, match=r"second is of 2 runs, the kept one of 20\. To keep the"):
        keep_tables(new, kept)
    assert runs(kept, "second") == 20
    assert not (kept / "first").exists()


@pytest.mark.parametrize("interim", [True, False])
def test_tables_of_a_study_that_is_still_going_are_kept_if_asked_for(
    tmp_path, monkeypatch, interim
):
    published = tmp_path / publish.PUBLISHED
    published.mkdir(parents=True)
    (published / "config.yaml").write_text("runs: 2")
    write_config(tmp_path, results=str(tmp_path / "results"))
    write(tmp_path / "results" / "tables", "tiny", 7)
    write(tmp_path / "results" / "interim" / "tables", "tiny", 3)
    monkeypatch.setattr(publish, "ROOT", tmp_path)
    monkeypatch.setattr(publish, "KEPT", published / "traces")
    redrawn = []
    monkeypatch.setattr(publish.redraw, "redraw", redrawn.append)
    monkeypatch.setattr(publish.readme, "main", lambda: None)
    run = plan.load(tmp_path / "config.yaml")
    do_run(run, "ellipsoid", "es", 0)
    asked = ["--tables", str(tmp_path / "results" / "interim" / "tables")] if interim else []
    publish.main(asked)
    assert runs(published / "tables", "tiny") == (3 if interim else 7)
    of_kept = json.loads((published / "manifest.json").read_text())
    assert of_kept["runs"]["experiments"]["tiny"]["ellipsoid/es"]["runs"] == 1
    assert redrawn == [published]
    # the traces go with the tables, into this folder and no other
    assert [p.name for p in (published / "traces").rglob("*.parquet")] == ["0.parquet"]
