"""The cost of the workflow is measured on the workflow, and shared out over the runs."""

from __future__ import annotations

import pandas as pd
import pytest

from experiments.paths import KEPT, PUBLISHED, ROOT
from experiments.publishing import archive
from experiments.runs import simulate, trace
from experiments.runs.spec import Spec
from experiments.timing import workflow


def note(folder, experiment, seed, cpu):
    """A trace that took so many CPU seconds."""
    path = folder / experiment / "levy" / "ingo" / f"{seed}.parquet"
    record, metadata = simulate.run(Spec("levy", "ingo", 10, None, {"dim": 3}), seed)
    trace.write(path, record, {**metadata, "seconds": 1.0, "cpu_seconds": cpu})


def test_the_share_is_of_all_cpu_time_and_short_runs_count_as_nothing(tmp_path):
    note(tmp_path, "long", 0, 8.0)
    note(tmp_path, "long", 1, 10.0)
    note(tmp_path, "short", 0, 0.0)
    jobs = archive.all_seconds(tmp_path, tmp_path / "kept")
    shares = workflow.share(jobs, 1.0).set_index("experiment")
    assert shares["jobs"].to_dict() == {"long": 2, "short": 1, "all": 3}
    assert shares["share"].to_dict() == pytest.approx({"long": 0.1, "short": 1.0, "all": 1 / 7})
    assert "| long | 2 | 9 | 10.0 % |" in workflow.markdown(3.0, 1.0, {}, shares.reset_index())


def test_without_notes_only_the_job_is_reported(tmp_path):
    shares = workflow.share(archive.all_seconds(tmp_path / "none", tmp_path / "kept"), 0.3)
    assert "d = 100 by +0.5 % (es); checkpoints, at least 120 s apart, at most 0.5 %" in (
        workflow.markdown(3.0, 0.3, {"es": 1.005}, shares)
    )
    assert "A job costs 0.30 s" in workflow.markdown(3.0, 0.3, {"es": 1.005}, shares)


def test_kept_jobs_count_too_and_each_once(tmp_path):
    note(tmp_path / "traces", "tiny", 0, 8.0)
    (tmp_path / "kept" / "tiny").mkdir(parents=True)
    (tmp_path / "kept" / "tiny" / "seconds.csv").write_text(
        "problem,algorithm,seed,seconds,cpu_seconds\nlevy,ingo,0,1.0,5.0\nlevy,ingo,1,1.0,6.0\n"
    )
    jobs = archive.all_seconds(tmp_path / "traces", tmp_path / "kept")
    assert jobs["cpu_seconds"].tolist() == [8.0, 6.0]
    assert workflow.share(jobs, 1.0)["jobs"].tolist() == [2, 2]


def test_the_kept_table_is_of_all_kept_jobs():
    table = pd.read_csv(ROOT / PUBLISHED / "workflow.csv").set_index("experiment")
    kept = archive.kept_seconds(KEPT)
    assert table.loc["all", "jobs"] == len(kept)
    assert table["jobs"].drop("all").to_dict() == kept["experiment"].value_counts().to_dict()


@pytest.mark.slow
def test_more_jobs_cost_more_and_a_failure_shows_its_words(monkeypatch):
    # twelve more jobs of 0.2 s at least, beside a start of one or two
    assert workflow.cpu_of_workflow(1) < workflow.cpu_of_workflow(13)
    monkeypatch.setattr(workflow, "CELL", ("figure_1", "levy", "nobody"))
    with pytest.raises(RuntimeError, match="nobody"):
        workflow.cpu_of_workflow(1)
