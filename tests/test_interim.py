"""What is drawn of a study that is still going is what its runs say, and how many they are."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from tiny import do_run, write_config

from experiments import plan
from experiments.publishing import interim
from experiments.runs import trace
from experiments.tables import aggregate

DONE = [("ellipsoid", "es", 0), ("ellipsoid", "es", 1), ("ellipsoid", "fast_ingo", 1)]


@pytest.fixture(scope="module")
def config(tmp_path_factory):
    """A config of eight runs, three of which are done."""
    path = write_config(tmp_path_factory.mktemp("interim"))
    for job in DONE:
        do_run(plan.load(path), *job)
    return path


def test_tables_are_of_the_runs_that_are_done(config, tmp_path):
    what = plan.load(config)
    assert interim.tables(what, tmp_path) == {"tiny": (3, 8)}
    runs = pd.read_parquet(tmp_path / "tiny" / "runs.parquet")
    assert sorted(runs[["problem", "algorithm", "seed"]].itertuples(index=False)) == sorted(DONE)
    rows, metadata = trace.read(what.results / "traces/tiny/ellipsoid/es/1.parquet")
    own = aggregate.run_row(rows.to_pandas(), metadata)
    kept = runs[(runs["algorithm"] == "es") & (runs["seed"] == 1)].iloc[0]
    assert kept["best"] == pytest.approx(own["best"], rel=1e-11, abs=0)
    curves = pd.read_parquet(tmp_path / "tiny" / "curves.parquet")
    assert curves.groupby("algorithm")["runs"].unique().map(list).to_dict() == {
        "es": [2], "fast_ingo": [1]
    }  # fmt: skip


def test_pictures_and_verdicts_say_how_many_runs_they_are_of(config, capsys):
    folder = plan.load(config).results / "interim"
    (folder / "tables" / "gone").mkdir(parents=True)  # of an earlier config
    interim.main(["--config", str(config)])
    assert "Mean over 1 to 2 runs" in (folder / "figures" / "picture.md").read_text()
    assert (folder / "figures" / "picture.png").stat().st_size > 10_000
    assert not (folder / "tables" / "gone").exists()
    manifest = json.loads((folder / "manifest.json").read_text())
    cells = manifest["runs"]["experiments"]["tiny"]
    assert {key: cell["runs"] for key, cell in cells.items()} == {
        "ellipsoid/es": 2, "ellipsoid/fast_ingo": 1
    }  # fmt: skip
    assert "tiny: 3 of 8 runs" in capsys.readouterr().out
    claims = pd.read_csv(folder / "claims.csv")
    assert set(claims.loc[claims["figure"] == "figure_1", "verdict"]) == {"not run"}


def test_runs_of_other_settings_do_not_count(config, tmp_path):
    experiment = plan.load(config).experiments["tiny"]
    assert {spec.budget for spec in experiment.cells.values()} == {2000}
    text = config.read_text().replace("budget: 2000", "budget: 3000")
    (tmp_path / "config.yaml").write_text(text)
    with pytest.raises(ValueError, match=r"traces has no run that the config asks for"):
        interim.tables(plan.load(tmp_path / "config.yaml"), tmp_path / "tables")


def test_runs_of_other_code_do_not_count(config, tmp_path, monkeypatch):
    fingerprint = plan.Plan.fingerprint

    def changed(what, experiment, problem, algorithm):
        now = fingerprint(what, experiment, problem, algorithm)
        return f"{now}0" if algorithm == "es" else now

    monkeypatch.setattr(plan.Plan, "fingerprint", changed)
    assert interim.tables(plan.load(config), tmp_path) == {"tiny": (1, 8)}


def test_tables_of_the_theory_are_taken_over(config, tmp_path):
    what = plan.load(config)
    theory = what.results / "tables" / "theory"
    theory.mkdir(parents=True)
    (theory / "gap.csv").write_text("measured\n1\n")
    interim.tables(what, tmp_path)
    assert (tmp_path / "theory" / "gap.csv").read_text() == "measured\n1\n"


def test_without_a_run_it_ends_with_an_error(tmp_path):
    with pytest.raises(SystemExit, match=r"traces has no run that the config asks for; .*restore"):
        interim.main(["--config", str(write_config(tmp_path))])
