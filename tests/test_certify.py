"""Equal code is certified; code that changes a last digit, a draw, a stop or a row is not."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from tiny import CONFIG, do_run

from experiments import certify, plan
from experiments.runs import record, trace
from experiments.tables import aggregate

ROOT = Path(__file__).parent.parent
CELLS = ("fast_ingo", "ingo", "es")
TINY = {
    **CONFIG,
    "runs": 1,
    "results": "results",
    "experiments": {
        "tiny": {
            "dim": 12, # so large that N is below d/2, as in the paper's runs
            "budget": 60_000,
            "target": 1e-3,
            "problems": {"levy": {}},
            "algorithms": {"fast_ingo": {"samples": 6}, "ingo": {"samples": 6}, "es": {}},
        }
    },
}  # fmt: skip


class Repository:
    """A copy of the project with a small study, its kept tables, and a history."""

    def __init__(self, folder):
        self.folder = folder
        for part in ("algorithms", "problems", "experiments", "figures"):
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / part, folder / part, ignore=ignored)
        (folder / ".gitignore").write_text("__pycache__\nresults/traces\n")
        (folder / "config.yaml").write_text(yaml.safe_dump(TINY))
        published = folder / "results" / "published"
        published.mkdir(parents=True)
        (published / "config.yaml").write_text("# nothing else\n")
        what = plan.load(folder / "config.yaml", results=str(folder / "results"))
        for name in CELLS:
            do_run(what, "levy", name, 0)
        cells = {("levy", name): [Path(what.trace("tiny", "levy", name, 0))] for name in CELLS}
        aggregate.write(cells, published / "tables" / "tiny")
        self.git("init", "--quiet")
        self.commit("first")

    def git(self, *arguments):
        names = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
        subprocess.run(["git", *names, *arguments], cwd=self.folder, check=True)

    def commit(self, message="next"):
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", message)

    def edit(self, file, *changes):
        path = self.folder / file
        text = path.read_text(encoding="utf-8")
        for old, new in changes:
            assert text.count(old) >= 1, old
            text = text.replace(old, new)
        path.write_text(text, encoding="utf-8")

    def certify(self, base="HEAD~1"):
        return subprocess.run(
            [sys.executable, "-m", "experiments.certify", base],
            cwd=self.folder, env={**os.environ, "PYTHONPATH": str(self.folder)},
            capture_output=True, text=True, check=False,
        )  # fmt: skip

    @property
    def ledger(self):
        path = self.folder / "results" / "published" / "ledger.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    return Repository(tmp_path_factory.mktemp("first"))


@pytest.fixture
def project(first, tmp_path):
    """A copy of ``first``, history included, to be changed."""
    copy = object.__new__(Repository)
    copy.folder = tmp_path / "copy"
    shutil.copytree(first.folder, copy.folder)
    return copy


def test_a_new_name_is_certified_and_the_plan_asks_for_the_old_class(project):
    before = plan.load(project.folder / "config.yaml")
    project.edit("algorithms/shared/loop.py", ("told", "informed"))
    project.edit(
        "algorithms/shared/shaping.py", ("h -= h.sum() / h.size", "h -= (h.sum() / h.size)")
    )
    project.commit()
    done = project.certify()
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("certified: 3 cells and 3 endings are equal bit for bit, 3 finge")
    (line,) = project.ledger
    assert sorted(line["equal"].values()) == sorted(
        before.fingerprint("tiny", "levy", name) for name in CELLS
    )
    assert line["endings"] == ["es: budget", "fast_ingo: target", "ingo: target"]
    assert not list(project.folder.glob(".git/worktrees/*"))
    # from then on the plan's class of the new code is the old one, and there is nothing to certify
    project.commit()
    cells = certify.Tree(project.folder, "HEAD").cells()
    assert {code for _, code in cells.values()} == set(line["equal"].values())
    assert "nothing to certify" in project.certify("HEAD~2").stdout
    assert project.ledger == [line]


FAULTS = {
    "the last digits of h": (
        "algorithms/shared/shaping.py",
        ("s = sqrt(h @ h / (h.size - ddof))", "s = float(h.std(ddof=ddof))"),
        {"fast_ingo", "ingo"},
    ),
    "another order of sums": (
        "algorithms/shared/rank_n.py",
        ("return factor + y.T @ (s @ z), (c", "return factor + (y.T @ s) @ z, (c"),
        {"ingo"},
    ),
    "one draw more": (
        "algorithms/shared/gaussian.py",
        ("        z = rng.standard_normal((n, self.mean.size))\n",
         "        z = rng.standard_normal((n, self.mean.size))\n        rng.random()\n"),
        {"fast_ingo", "ingo"},
    ),
    "a stop one batch late": (
        "algorithms/shared/loop.py",
        ("        if minimum <= target:", "        if minimum <= target and best < minimum:"),
        {"fast_ingo", "ingo"},
    ),
    "a lost last row": (
        "experiments/runs/simulate.py",
        ("if batch.iteration == due or batch.ended:", "if batch.iteration == due:"),
        {"fast_ingo", "ingo", "es"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_change_of_data_is_named_and_nothing_is_written(project, fault):
    file, change, cells = FAULTS[fault]
    project.edit(file, change)
    project.commit()
    done = project.certify()
    assert done.returncode == 1
    named = {line.split("/")[2].partition(",")[0] for line in done.stderr.splitlines()
             if line.startswith("tiny/levy/")}  # fmt: skip
    assert named == cells
    assert "row " in done.stderr
    assert project.ledger == []
    assert not list(project.folder.glob(".git/worktrees/*"))


def test_what_no_commit_holds_is_refused(project):
    project.edit("algorithms/shared/loop.py", ("told", "informed"))
    done = project.certify("HEAD")
    assert done.returncode == 1
    assert "changes that no commit holds:\n M algorithms/shared/loop.py" in done.stderr


def test_a_base_that_is_no_commit_and_code_that_fails_are_named(project):
    assert "not certified: git rev-parse: " in project.certify("nowhere").stderr
    project.edit(
        "algorithms/shared/loop.py", ("    best, iteration", "    1 / 0\n    best, iteration")
    )
    project.commit()
    done = project.certify()
    assert done.returncode == 1
    assert "ZeroDivisionError" in done.stderr


def rows(**changes):
    made = record.Record(hits=changes.pop("hits", [6]))
    for k in (1, 2):
        row = dict.fromkeys(record.COLUMNS, k) | {
            name: values[k - 1] for name, values in changes.items()
        }
        made.append(**row)
    return made


@pytest.mark.parametrize(
    ("changed", "metadata", "words"),
    [
        ({}, {}, ""),
        ({"f_mean": [1.0, 2.0 + 4e-16]}, {}, "row 1, column f_mean: 2.0 became 2.0000000000000004"),
        ({"best": [float("nan"), 2.0]}, {}, "row 0, column best: 1.0 became nan"),
        ({"sigma": [1.0, 3.0], "best": [2.0, 2.0]}, {}, "row 0, column best: 1.0 became 2.0"),
        ({"iteration": [1, 3]}, {}, "row 1, column iteration: 2 became 3"),
        ({"hits": [12]}, {}, "hits: [6] became [12]"),
        ({}, {"stop": "flat"}, "stop: 'budget' became 'flat'"),
        ({}, {"stop_detail": "rest"}, "stop_detail: '' became 'rest'"),
        ({}, {"last_mean": [0.0, 2.0]}, "last_mean: [0.0, 1.0] became [0.0, 2.0]"),
        ({}, {"commit": "another", "code": "too"}, ""),
    ],
)  # fmt: skip
def test_a_difference_is_told_in_words(tmp_path, changed, metadata, words):
    common = {"stop": "budget", "stop_detail": "", "last_mean": [0.0, 1.0], "commit": "this"}
    trace.write(tmp_path / "0.parquet", rows(), common)
    trace.write(tmp_path / "1.parquet", rows(**changed), common | metadata)
    assert certify.difference(tmp_path / "0.parquet", tmp_path / "1.parquet") == words


def test_nan_is_equal_to_nan_and_a_missing_row_is_told(tmp_path):
    nan = rows(f_mean=[float("nan")] * 2)
    for name in ("0", "1"):
        trace.write(tmp_path / f"{name}.parquet", nan, {})
    assert certify.difference(tmp_path / "0.parquet", tmp_path / "1.parquet") == ""
    nan.append(**dict.fromkeys(record.COLUMNS, 3))
    trace.write(tmp_path / "1.parquet", nan, {})
    said = certify.difference(tmp_path / "0.parquet", tmp_path / "1.parquet")
    assert said == "row 2: 2 rows became 3"
