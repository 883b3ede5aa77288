"""What is kept is never replaced by less."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
import tables
from tiny import do_run, write_config

from experiments import plan
from experiments.publishing import archive, publish
from experiments.publishing.publish import keep_tables
from experiments.runs import trace


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
    assert keep_tables(new, kept, []) == ["first", "second"]
    assert [runs(kept, name) for name in ("first", "second", "third")] == [3, 5, 7]


def test_curves_are_kept_where_a_picture_draws_them(tmp_path):
    """And none stay beside tables of other runs."""
    new, kept = tmp_path / "new", tmp_path / "kept"
    for folder, name in ((new, "drawn"), (new, "not_drawn"), (kept, "not_drawn")):
        write(folder, name, 2)
        (folder / name / "curves.parquet").touch()
    keep_tables(new, kept, ["drawn"])
    assert [p.parent.name for p in kept.glob("*/curves.parquet")] == ["drawn"]


def test_a_table_of_fewer_runs_is_refused_and_nothing_is_copied(tmp_path):
    new, kept = tmp_path / "new", tmp_path / "kept"
    write(new, "first", 2)
    write(new, "second", 2)
    write(kept, "second", 20)
    with pytest.raises(ValueError, match=r"second is of 2 runs, the kept one of 20\. To keep the"):
        keep_tables(new, kept, [])
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
    made = []
    monkeypatch.setattr(publish.redraw, "redraw", made.append)
    monkeypatch.setattr(publish.readme, "main", lambda: made.append("README"))
    run = plan.load(tmp_path / "config.yaml")
    do_run(run, "ellipsoid", "es", 0)
    beside = ["figures/film.gif", "figures/film.md", "figures/picture.png"]
    beside += [f"{name}.md" for name in ("iteration", "rollouts", "workflow", "usage")]
    for name in beside:
        for folder in (run.results, published):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(str(folder))
    asked = ["--tables", str(tmp_path / "results" / "interim" / "tables")] if interim else []
    publish.main(asked)
    assert runs(published / "tables", "tiny") == (3 if interim else 7)
    of_kept = json.loads((published / "manifest.json").read_text())
    assert of_kept["runs"]["experiments"]["tiny"]["ellipsoid/es"]["runs"] == 1
    assert made == [published, "README"]  # which shows what was redrawn
    # the traces go with the tables, into this folder and no other
    assert [p.name for p in (published / "traces").rglob("*.parquet")] == ["0.parquet"]
    cells = dict(archive.read(published / "traces" / "tiny" / "0.parquet"))
    own = trace.read(Path(run.trace("tiny", "ellipsoid", "es", 0)))
    assert list(cells) == [("ellipsoid", "es")]
    assert trace.sum_of(*cells["ellipsoid", "es"]) == trace.sum_of(*own)
    # film and measurements are kept as they are; pictures are drawn again from the kept tables
    for name in beside:
        came_from = published if name == "figures/picture.png" else run.results
        assert (published / name).read_text() == str(came_from), name


def test_what_was_really_run_is_kept_and_what_was_not_is_named(tmp_path, monkeypatch, capsys):
    """The kept config, laid over the other one, decides of which settings a kept run is."""
    published = tmp_path / publish.PUBLISHED
    published.mkdir(parents=True)
    less = {"experiments": {"tiny": {"problems": {"ellipsoid": {"budget": 300}}}}}
    (published / "config.yaml").write_text(json.dumps(less))
    write_config(tmp_path)
    write(tmp_path / "results" / "tables", "tiny", 1)
    monkeypatch.setattr(publish, "ROOT", tmp_path)
    monkeypatch.setattr(publish, "KEPT", published / "traces")
    monkeypatch.setattr(publish.redraw, "redraw", lambda folder: None)
    monkeypatch.setattr(publish.readme, "main", lambda: None)
    full = plan.load(tmp_path / "config.yaml")
    really = plan.load(tmp_path / "config.yaml", published / "config.yaml")
    do_run(really, "ellipsoid", "es", 0)
    do_run(full, "ellipsoid", "fast_ingo", 0)
    publish.main([])
    assert list(dict(archive.read(published / "traces" / "tiny" / "0.parquet"))) == [
        ("ellipsoid", "es")
    ]
    said = capsys.readouterr()
    assert full.trace("tiny", "ellipsoid", "fast_ingo", 0) in said.err.splitlines()
    assert f"Kept in {publish.PUBLISHED}: tiny" in said.out
    kept = json.loads((published / "manifest.json").read_text())
    assert kept["config"]["experiments"]["tiny"]["problems"]["ellipsoid"] == {"budget": 300}
