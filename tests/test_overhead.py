"""The cost of the workflow is measured on the workflow, and shared out over the runs."""

from __future__ import annotations

import pytest

from experiments import overhead


def note(folder, experiment, seed, cpu):
    path = folder / experiment / "levy" / "ingo" / f"{seed}.tsv"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"s\th:m:s\tcpu_time\n1.0\t0:00:01\t{cpu}\n")


def test_the_share_is_of_all_cpu_time_and_short_runs_count_as_nothing(tmp_path):
    note(tmp_path, "long", 0, "8.0")
    note(tmp_path, "long", 1, "10.0")
    note(tmp_path, "short", 0, "-")
    shares = overhead.share(tmp_path, 1.0).set_index("experiment")
    assert shares["jobs"].to_dict() == {"long": 2, "short": 1, "all": 3}
    assert shares["share"].to_dict() == pytest.approx({"long": 0.1, "short": 1.0, "all": 1 / 7})
    assert "| long | 2 | 9 | 10.0 % |" in overhead.markdown(3.0, 1.0, shares.reset_index())


def test_without_notes_only_the_job_is_reported(tmp_path):
    shares = overhead.share(tmp_path / "none", 0.3)
    assert "A job costs 0.30 s" in overhead.markdown(3.0, 0.3, shares)


def test_more_jobs_cost_more_and_a_failure_shows_its_words(monkeypatch):
    # twelve more jobs of 0.2 s at least, beside a start of one or two
    assert overhead.cpu_of_workflow(1) < overhead.cpu_of_workflow(13)
    monkeypatch.setattr(overhead, "CELL", ("figure_1", "levy", "nobody"))
    with pytest.raises(RuntimeError, match="nobody"):
        overhead.cpu_of_workflow(1)
