"""Equal code is certified; code that changes a last digit, a draw, a stop or a row is not."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from tiny import CONFIG, do_run

from experiments import certify, ledger, plan
from experiments.certify import Version
from experiments.checkout import Tree
from experiments.publishing import archive, manifest
from experiments.runs import record, trace
from experiments.runs.spec import Spec
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


FIELD = {
    "results": "results/field",
    "experiments": {
        "bbob_2": {
            "dim": 2,
            "budget": 5000,
            "target": 1e-8,
            "restarts": {"region": [-5, 5]},
            "each_problem": {"problem": "bbob"},
            "problems": {"f1": {"function": 1}, "f3": {"function": 3}},
            "algorithms": {"cma_es": {}, "igo": {}},
        }
    },
    "figures": {},
}


class Repository:
    """A copy of the project with a small study, its kept traces, and a history."""

    config = TINY

    def __init__(self, folder):
        self.folder = folder
        for part in ("algorithms", "problems", "experiments", "figures"):
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / part, folder / part, ignore=ignored)
        (folder / ".gitignore").write_text("__pycache__\nresults/traces\n")
        (folder / "config.yaml").write_text(yaml.safe_dump(self.config))
        published = folder / "results" / "published"
        published.mkdir(parents=True)
        (published / "config.yaml").write_text("# nothing else\n")
        study = plan.load(folder / "config.yaml", results=str(folder / "results"))
        for name in CELLS:
            do_run(study, "levy", name, 0)
        archive.pack(study, published / "traces")
        self.keep_more(published)
        self.git("init", "--quiet")
        self.commit("first")

    def keep_more(self, published):
        """Nothing."""

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

    def run_anew(self, algorithm):
        """Make its run by the code of the folder, and keep it."""
        run = (
            "from experiments import plan, paths; from experiments.publishing import archive\n"
            "from tiny import do_run\n"
            "study = plan.load('config.yaml', results='results')\n"
            f"do_run(study, 'levy', '{algorithm}', 0); archive.pack(study, paths.KEPT)"
        )
        environment = {**os.environ, "PYTHONPATH": f"{self.folder}:{ROOT / 'tests'}"}
        shutil.rmtree(self.folder / "results" / "traces")
        subprocess.run([sys.executable, "-c", run], cwd=self.folder, env=environment, check=True)

    @property
    def ledger(self):
        path = self.folder / "results" / "published" / "ledger.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


class WithField(Repository):
    """The same with tables of the field."""

    config = TINY | {"field": FIELD}

    def keep_more(self, published):
        folder = str(self.folder / "results" / "field")
        config = self.config | {"study": "field", "field": FIELD | {"results": folder}}
        field = plan.Plan.from_config(config)
        cells = {
            cell: [field.trace("bbob_2", *cell, 0)] for cell in field.experiments["bbob_2"].cells
        }
        for cell, (path,) in cells.items():
            stamp = field.fingerprint("bbob_2", *cell)
            field.trace_command("bbob_2", *cell).call("--code", stamp, "--to", path)
        aggregate.write(
            {cell: [Path(path) for path in paths] for cell, paths in cells.items()},
            published / "field" / "tables" / "bbob_2",
        )
        manifest.write(config, published / "field" / "manifest.json")


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
    old = {code for _, code in line["equal"]}
    assert old == {before.fingerprint("tiny", "levy", name) for name in CELLS}
    assert line["not_compared"] == []
    assert line["endings"] == ["es: budget", "fast_ingo: target", "ingo: target"]
    # from then on the plan's class of the new code is the old one, and there is nothing to certify
    project.commit()
    cells = certify.cells_of(Tree(project.folder, "HEAD"))
    assert {its.code for its in cells.values()} == old
    assert "nothing to certify" in project.certify("HEAD~2").stdout
    assert project.ledger == [line]


def test_the_field_is_certified_from_its_kept_tables(tmp_path):
    """Each optimiser on one of its functions, and an ending with restarts: which a change of the
    restarts alone turns red.
    """
    pytest.importorskip("cocoex", reason="make .venv/field installs it")
    project = WithField(tmp_path)
    restarts, old = "algorithms/shared/restarts.py", "samples, scale = 2**large * first, 1.0"
    project.edit(restarts, (old, "scale, samples = 1.0, first * 2**large"))
    project.commit()
    done = project.certify()
    assert done.returncode == 0, done.stderr
    (line,) = project.ledger
    assert line["cells"] == 4
    assert line["endings"] == ["cma_es, restarts: target", "igo, restarts: budget"]

    project.edit(restarts, ("first * 2**large", "first * 2**large + 1"))
    project.commit()
    done = project.certify()
    assert done.returncode == 1
    assert {text.split("/")[0] for text in done.stderr.splitlines() if ": row" in text} == {
        "bbob_2"
    }
    assert "restarts: budget): row " in done.stderr
    assert project.ledger == [line]


FAULTS = {
    "the last digits of h": (
        "algorithms/shared/shaping.py",
        ("s = sqrt(h @ h / (h.size - ddof))", "s = float(h.std(ddof=ddof))"),
        {"fast_ingo", "ingo"},
    ),
    "another order of sums": (
        "algorithms/shared/rank_n.py",
        ("samples.y.T, s.dot(samples.z))", "samples.y.T.dot(s), samples.z)"),
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
        ("< minimum <= target:", "< minimum <= target and best < minimum:"),
        {"fast_ingo", "ingo"},
    ),
    "a lost row": (
        "experiments/runs/simulate.py",
        ("self._due = 1", "self._due = 2"),
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


def test_what_no_commit_holds_is_refused(project):
    project.edit("algorithms/shared/loop.py", ("told", "informed"))
    done = project.certify("HEAD")
    assert done.returncode == 1
    assert "changes that no commit holds:\n M algorithms/shared/loop.py" in done.stderr


def test_a_base_that_is_no_commit_and_code_that_fails_are_named(project):
    assert "not certified: git rev-parse: " in project.certify("nowhere").stderr
    project.edit(
        "algorithms/shared/loop.py", ("    state, iteration", "    1 / 0\n    state, iteration")
    )
    project.commit()
    done = project.certify()
    assert done.returncode == 1
    assert "ZeroDivisionError" in done.stderr


def test_runs_that_have_no_counterpart_are_named_and_new_ones_are_told(project):
    project.edit("algorithms/shared/loop.py", ("told", "informed"))
    project.edit("config.yaml", ("      fast_ingo:", "      igo: {samples: 6}\n      fast_ingo:"))
    project.commit()
    assert project.certify().returncode == 0
    assert project.ledger[0]["not_compared"] == ["tiny/levy/igo"]
    project.edit("algorithms/shared/loop.py", ("informed", "taught"))
    project.edit(
        "config.yaml", ("      es: {}", "      es_other: {algorithm: es, step_size: 0.02}")
    )
    project.commit()
    done = project.certify()
    assert done.returncode == 1
    assert "these have kept runs, and no counterpart to be compared with: tiny/levy/es\n" in (
        done.stderr
    )
    assert len(project.ledger) == 1


def test_runs_that_were_made_anew_are_not_compared_with_what_they_replaced(project):
    """A change of INGO's data: refused, unless its kept runs are of the new code."""
    fault = ("u = root_inverse.dot", "u = (1 + 1e-12) * root_inverse.dot")
    project.edit("algorithms/shared/rank_n.py", fault)
    project.edit("algorithms/shared/loop.py", ("told", "informed"))
    project.commit()
    refused = project.certify()
    assert refused.returncode == 1
    assert "tiny/levy/ingo" in refused.stderr
    project.run_anew("ingo")
    project.commit()
    done = project.certify("HEAD~2")
    assert done.returncode == 0, done.stderr
    (line,) = project.ledger
    assert line["not_compared"] == ["tiny/levy/ingo"]
    assert (line["cells"], len(line["equal"])) == (2, 2)


def test_runs_of_todays_code_need_no_counterpart(project):
    """Those of a cell that the base does not have, and that were made since."""
    project.edit("algorithms/shared/loop.py", ("told", "informed"))
    project.edit("config.yaml", ("      fast_ingo:", "      igo: {samples: 6}\n      fast_ingo:"))
    project.run_anew("igo")
    project.commit()
    done = project.certify()
    assert done.returncode == 0, done.stderr
    assert project.ledger[0]["not_compared"] == ["tiny/levy/igo"]


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_stopped_it_says_so_and_leaves_nothing(project, how, tmp_path):
    project.edit("algorithms/shared/loop.py", ("told", "informed"))
    project.edit("config.yaml", ("budget: 60000", "budget: 600000000"))
    project.commit()
    project.edit("algorithms/shared/loop.py", ("informed", "taught"))
    project.commit()
    temporary = tmp_path / "t"
    temporary.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "experiments.certify", "HEAD~1"],
        cwd=project.folder, env={**os.environ, "PYTHONPATH": str(project.folder),
                                 "TMPDIR": str(temporary)},
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    end = time.monotonic() + 60
    while not list(temporary.glob("*/0/results/traces")) and not _runs(temporary):
        assert time.monotonic() < end
        time.sleep(0.1)
    process.send_signal(how)
    said = process.communicate(timeout=60)[1]
    assert process.returncode == 1
    assert said.endswith("stopped: nothing is certified, and nothing was written\n")
    assert list(temporary.iterdir()) == []
    assert not _runs(temporary)
    assert project.ledger == []


def _runs(folder):
    """Processes that run a commit laid out in the folder."""
    found = subprocess.run(["pgrep", "-f", f"experiments.run.*{folder}"], capture_output=True)
    return found.stdout.split()


def version(code="a", study="", **changes):
    spec = Spec("levy", "es", 100, None, {"dim": 4})
    return Version(asdict(spec) | changes, code, f"{code}1", study)


def test_a_cell_is_compared_with_the_one_of_its_settings_whatever_it_is_called():
    old = {("e", "levy", "es"): version(), ("e", "levy", "es_2"): version("b", budget=200)}
    found = certify.counterparts
    # another name of the experiment, of the optimiser; another way to say that there is no target
    assert found(old, {("f", "levy", "x"): version("c", target=-1)}) == {
        ("f", "levy", "x"): old["e", "levy", "es"]
    }
    # a name that now means another's settings
    assert found(old, {("e", "levy", "es"): version("c", budget=200)}) == {
        ("e", "levy", "es"): old["e", "levy", "es_2"]
    }
    # settings that nobody had, under a name that there was, and under one that there was not
    same = {("e", "levy", "es"): version("c", budget=300)}
    assert found(old, same) == {("e", "levy", "es"): old["e", "levy", "es"]}
    assert found(old, {("e", "levy", "new"): version("c", budget=300)}) == {}


NONE = pd.DataFrame(columns=[*archive.KEY, "stop", "evaluations", "code", "seconds"])


def test_a_beginning_is_three_batches_or_a_hundredth_and_one_for_cells_that_are_the_same():
    before = {("e", "levy", "es"): version(), ("f", "levy", "es"): version()}
    new = {cell: version("c") for cell in before}
    (found,) = certify.beginnings(before, new, NONE)
    assert found.budget == 3 * 10  # N = 10 at d = 4
    long = {("e", "levy", "es"): version("c", budget=10**6)}
    (found,) = certify.beginnings({("e", "levy", "es"): version(budget=10**6)}, long, NONE)
    assert found.budget == 10**4
    short = {("e", "levy", "es"): version("c", budget=7)}
    (found,) = certify.beginnings({("e", "levy", "es"): version(budget=7)}, short, NONE)
    assert found.budget == 7
    assert certify.beginnings(new, new, NONE) == []


def test_of_a_study_beside_the_papers_each_optimiser_begins_on_one_problem():
    """One that nobody chose, and not the same in each experiment."""
    places = [(f"bbob_{dim}", name) for dim in (2, 3, 5, 10, 20) for name in ("es", "es_2")]
    cells = [(e, f"f{k}", name) for e, name in places for k in range(24)]
    old = {cell: version(study="field") for cell in cells}
    new = {cell: version("c", study="field") for cell in cells}
    found = certify.beginnings(old, new, NONE)
    assert sorted((c.cell[0], c.cell[2]) for c in found) == sorted(places)
    assert len({c.cell[1] for c in found}) > 4
    assert len({c.seed for c in found}) == len(places)
    assert all(c.seed < 2**31 for c in found)
    assert found == certify.beginnings(old, new, NONE)
    # code that was two is compared twice
    old[cells[0]] = version("b", study="field")
    assert len(certify.beginnings(old, new, NONE)) == len(places) + 1


def tabled(folder, codes):
    """Kept tables of experiments, each of one cell with three runs, and their manifest."""
    rows = pd.DataFrame({"problem": "f1", "algorithm": "es", "seed": range(3), "stop": "budget",
                         "evaluations": [100, 200, 300]})  # fmt: skip
    cells = {}
    for name, code in codes.items():
        (folder / "tables" / name).mkdir(parents=True)
        rows.to_parquet(folder / "tables" / name / "runs.parquet")
        cells[name] = {"f1/es": {"seconds": 30.0, "code": code}}
    (folder / "manifest.json").write_text(json.dumps({"runs": {"experiments": cells}}))


def test_of_tabled_runs_the_manifest_tells_code_and_cost(tmp_path, monkeypatch):
    equal = ledger.Classes.of([{"equal": [["c", "b"]]}])
    monkeypatch.setattr(ledger, "classes", lambda: equal)
    tabled(tmp_path, {"bbob_2": {"c": 3}, "bbob_3": {"c": 2, "a": 1}, "bbob_5": {"c": 1, "b": 2}})
    runs = certify.tabled_runs(tmp_path)
    assert set(runs["experiment"]) == {"bbob_2", "bbob_3", "bbob_5"}
    assert runs["seconds"].tolist() == 3 * [5.0, 10.0, 15.0]
    new = {(e, "f1", "es"): version("c", "field") for e in set(runs["experiment"])}
    assert certify.current(new, runs) == {(e, "f1", "es") for e in ("bbob_2", "bbob_5")}
    mixed = runs[runs["experiment"] == "bbob_2"].assign(code=["a", "c", "c"])
    assert certify.current(new, mixed) == set()
    (tmp_path / "manifest.json").write_text("{}")
    with pytest.raises(certify.NotCertified, match="does not say which code made the runs"):
        certify.tabled_runs(tmp_path)


def test_an_ending_with_restarts_is_one_for_each_variant():
    cells = [("pbo_16", "f1", name) for name in ("es", "es_2")]
    runs = pd.DataFrame(
        [(*cell, 0, "budget", 100, 1.0) for cell in cells],
        columns=["experiment", "problem", "algorithm", "seed", "stop", "evaluations", "seconds"],
    )
    found = certify.endings(set(cells), {cell: version(restarts={}) for cell in cells}, runs)
    assert [c.why for c in found] == ["es, restarts: budget", "es_2, restarts: budget"]


def test_each_commit_runs_its_own_spec(tmp_path, monkeypatch):
    class Commit:
        def __init__(self, name):
            self.folder, self.commit, self.said = Path(name), name, ""

        def python(self, *arguments):
            self.said = " ".join(arguments)
            return 0, "", ""

    commits = Commit("0"), Commit("1")
    monkeypatch.setattr(trace, "difference", lambda *paths: "")
    specs = version(restarts={}).spec, version(target=1e-3).spec
    run = certify.Comparison(("e", "p", "a"), 7, 30, 0.0, "")
    assert certify.compare(commits, specs, run, tmp_path) == ""
    assert ["--restarts {}" in commit.said for commit in commits] == [True, False]
    assert ["--target 0.001" in commit.said for commit in commits] == [False, True]
    assert all("--budget 30" in commit.said for commit in commits)


def test_what_older_commits_do_not_say_is_the_same_setting():
    its = version()
    older = {key: value for key, value in its.spec.items() if key not in ("bits", "restarts")}
    assert its._replace(spec=older).settings == its.settings


def test_of_a_commit_without_the_study_the_others_are_taken(first):
    tree = Tree(first.folder, "HEAD")
    assert certify.cells_of(tree, ["", "none"]) == certify.cells_of(tree)


def test_the_ending_of_a_kind_is_that_of_its_cheapest_run_whose_seconds_are_known():
    cell = ("e", "levy", "es")
    columns = ["experiment", "problem", "algorithm", "seed", "stop", "evaluations", "seconds"]
    runs = pd.DataFrame(
        [(*cell, 0, "budget", 100, 9.0), (*cell, 1, "budget", 100, 2.0),
         (*cell, 2, "budget", 100, np.nan), (*cell, 3, "target", 50, np.nan),
         ("e", "levy", "igo", 4, "flat", 10, 0.1)],
        columns=columns,
    )  # fmt: skip
    found = certify.endings({cell}, {cell: version("c")}, runs)
    assert [(c.seed, c.why, c.budget) for c in found] == [
        (1, "es: budget", 100), (3, "es: target", 100)
    ]  # fmt: skip


SPEC = {"problem": "levy", "algorithm": "es", "budget": 2, "target": None}
METADATA = {
    "spec": SPEC, "seed": 0, "title": "", "minimum": 0.0, "stop": "budget", "stop_detail": ""
}  # fmt: skip


def rows(**changes):
    made = record.Record(hits=changes.pop("hits", [1]))
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
        ({"hits": [2]}, {}, "hits: [1] became [2]"),
        ({}, {"stop": "flat"}, "stop: 'budget' became 'flat'"),
        ({}, {"stop_detail": "rest"}, "stop_detail: '' became 'rest'"),
        ({}, {"last_mean": [0.0, 2.0]}, "last_mean: [0.0, 1.0] became [0.0, 2.0]"),
        ({}, {"last_mean": None}, "last_mean: [0.0, 1.0] became 'nothing'"),
        ({}, {"minimum": 5.0}, "minimum: 0.0 became 5.0"),
        ({}, {"commit": "another", "code": "too"}, ""),
    ],
)  # fmt: skip
def test_a_difference_is_told_in_words(tmp_path, changed, metadata, words):
    common = {**METADATA, "last_mean": [0.0, 1.0]}
    trace.write(tmp_path / "0.parquet", rows(), common)
    other = {key: value for key, value in (common | metadata).items() if value is not None}
    trace.write(tmp_path / "1.parquet", rows(**changed), other)
    assert trace.difference(tmp_path / "0.parquet", tmp_path / "1.parquet") == words


def test_nan_is_equal_to_nan_and_a_missing_row_is_told(tmp_path):
    nan = rows(f_mean=[float("nan")] * 2)
    for name in ("0", "1"):
        trace.write(tmp_path / f"{name}.parquet", nan, METADATA)
    assert trace.difference(tmp_path / "0.parquet", tmp_path / "1.parquet") == ""
    nan.append(**dict.fromkeys(record.COLUMNS, 3))
    trace.write(tmp_path / "1.parquet", nan, {**METADATA, "stop": "flat"})
    said = trace.difference(tmp_path / "0.parquet", tmp_path / "1.parquet")
    assert said == "row 2: 2 rows became 3"
