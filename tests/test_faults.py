"""What can go wrong around a study: its files, its processes, its memory. The same command mends it
and comes to the data of a run that nothing has disturbed.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time

import pandas as pd
import pytest
from damage import DAMAGES
from test_workflow import CONFIG, Project, alive, assert_same, kill, wait_for
from tiny import rewrite

from experiments.runs.trace import difference, read, read_metadata

TINY = CONFIG["experiments"]["tiny"]


class Clone(Project):
    """A copy of a project, as ``cp -a`` makes it: what Snakemake noted is in it."""

    def __init__(self, project, folder):
        self.folder = shutil.copytree(project.folder, folder, symlinks=True)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    made = Project(tmp_path_factory.mktemp("undisturbed"))
    made.snakemake("--cores", "2")
    return made


@pytest.fixture
def clone(undisturbed, tmp_path):
    return Clone(undisturbed, tmp_path / "clone")


def stamps(paths):
    """By which it is seen that a file was not made again."""
    return {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in paths}


def inodes(paths):
    """The same of a job of several seeds, which Snakemake touches when it is done."""
    return {path: path.stat().st_ino for path in paths}


# no times, versions or paths in them
MADE = ("tables/**/*.*", "figures/*.png", "claims.*")


def made(project):
    """The content of what is made of traces."""
    results = project.folder / "results"
    paths = sorted(path for pattern in MADE for path in results.glob(pattern))
    return {str(path.relative_to(results)): path.read_bytes() for path in paths}


def assert_all_same(project, other):
    assert_same(project, other)
    assert len(made(project)) > 8
    assert made(project) == made(other)


# ---- files ---------------------------------------------------------------------------------------


def copied_from(cell, seed):
    def change(path):
        tiny = path.parents[2]
        shutil.copy(tiny / cell / f"{seed}.parquet", path)

    return change


WRONG = {  # what is in the place of which trace
    ("ellipsoid/es", 0): copied_from("ellipsoid/es", 1),
    ("ellipsoid/ingo", 1): copied_from("ellipsoid/fast_ingo", 1),
    ("levy/es", 1): copied_from("ellipsoid/es", 1),
    ("levy/ingo", 0): lambda path: rewrite(path, spec=read_metadata(path)["spec"] | {"budget": 9}),
    ("ellipsoid/ingo", 0): lambda path: rewrite(path, code="other"),
    ("levy/ingo", 1): DAMAGES["no metadata"],
    ("levy/fast_ingo", 0): DAMAGES["cut"],
    ("levy/fast_ingo", 1): DAMAGES["emptied"],
    ("ellipsoid/fast_ingo", 0): DAMAGES["zeros"],
    ("ellipsoid/fast_ingo", 1): DAMAGES["a folder"],
    ("levy/es", 0): DAMAGES["a link to nothing"],
}


@pytest.mark.parametrize("seeds_per_job", [1, 2])
def test_a_trace_that_is_not_the_run_is_made_anew(undisturbed, clone, seeds_per_job):
    for (cell, seed), change in WRONG.items():
        # the later ones are to be copied whole
        change(clone.trace(cell, seed))
    assert len(WRONG) == 11
    whole = inodes([clone.trace("ellipsoid/es", 1)])
    clone.configure(seeds_per_job=seeds_per_job)
    text = clone.snakemake("--cores", "2")
    assert text.count("rule trace") == (11 if seeds_per_job == 1 else 6)
    assert inodes(whole) == whole
    assert_all_same(undisturbed, clone)


def test_without_snakemakes_records_results_still_follow_the_config(clone, tmp_path):
    """Runs of another budget are done again, and nothing stays that was made of the old ones."""
    before, traces = made(clone), stamps(clone.traces())
    shutil.rmtree(clone.folder / ".snakemake")
    shorter = {"tiny": {**TINY, "budget": 1000}}
    clone.configure(experiments=shorter)
    clone.snakemake("--cores", "2")
    assert not set(stamps(clone.traces()).values()) & set(traces.values())
    after = made(clone)
    same = {name for name in before if before[name] == after[name]}
    assert {name for name in same if "tiny" in name} == set()
    (tmp_path / "fresh").mkdir()
    fresh = Project(tmp_path / "fresh")
    fresh.configure(experiments=shorter)
    fresh.snakemake("--cores", "2", "--until", "trace")
    assert_same(fresh, clone)
    runs = pd.read_parquet(clone.folder / "results/tables/tiny/runs.parquet")
    last = [read(path)[0]["evaluations"][-1].as_py() for path in fresh.traces()]
    assert sorted(runs["evaluations"]) == sorted(last)
    assert clone.would_run() == {}


def test_results_that_are_copied_to_another_clone_follow_its_config(undisturbed, tmp_path):
    """Its figures are drawn as it says; the runs are taken over."""
    other = Project(tmp_path)
    subprocess.run(["cp", "-a", undisturbed.folder / "results", tmp_path], check=True)
    traces = stamps(other.traces())
    other.configure(figures={"tiny_picture": {"experiment": "tiny", "column": "f_mean"}})
    text = other.snakemake("--cores", "2")
    assert "rule trace" not in text
    assert "rule table:" in text
    assert stamps(traces) == traces
    ours, theirs = made(other), made(undisturbed)
    assert {n for n in ours if ours[n] != theirs[n]} == {"figures/tiny_picture.png"}
    assert other.would_run() == {}


# ---- processes -----------------------------------------------------------------------------------

# A job of two seeds, each of a second.
PAIR = {
    "seeds_per_job": 2,
    "experiments": {
        "tiny": {
            "dim": 4,
            "budget": 600_000,  # a second or two
            "target": None,
            "problems": {"levy": {}},
            "algorithms": {"es": {"step_size": 0.01}},
        }
    },
}


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """The two traces of PAIR."""
    project = Project(tmp_path_factory.mktemp("pair"))
    project.configure(**PAIR)
    project.snakemake("--cores", "1", "--until", "trace_tiny_0")
    return [project.trace("levy/es", seed) for seed in (0, 1)]


@pytest.mark.parametrize("what", ["job", "Snakemake", "both", "Ctrl-C"])
def test_after_a_kill_seeds_that_are_done_are_not_run_again(pair, tmp_path, tmp_path_factory, what):
    """Nor are older traces put in their place."""
    project = Project(tmp_path)
    project.configure(**PAIR)
    # outside of the project its jobs are found by its path among all processes
    results = tmp_path_factory.mktemp("results")
    jobs = f"experiments.run .*{results}/"
    command = ["--cores", "1", "--until", "trace_tiny_0", "--config", f"results={results}"]
    first, second = (project.trace("levy/es", seed, results) for seed in (0, 1))
    first.parent.mkdir(parents=True)
    for trace, older in zip(pair, (first, second), strict=True):
        shutil.copy(trace, older)
        rewrite(older, code="other")
    process = project.start(*command)
    wait_for(lambda: "seed 0: wrote" in log(results))
    time.sleep(0.2)  # seed 1 is past its first batch
    if what == "job":
        kill(alive(jobs))
    elif what == "Snakemake":
        os.kill(process.pid, signal.SIGKILL)
    else:
        os.killpg(process.pid, signal.SIGKILL if what == "both" else signal.SIGINT)
    process.communicate(timeout=100)
    assert process.returncode != 0
    code = read_metadata(first)["code"]
    assert code != "other"
    assert what == "Snakemake" or read_metadata(second)["code"] == "other"
    done = inodes([first])
    project.snakemake(*command)
    assert inodes([first]) == done
    for a, b in zip(pair, (first, second), strict=True):
        assert difference(a, b) == ""
    assert read_metadata(second)["code"] == code
    if what == "Ctrl-C":
        assert "seed 1: goes on after" in log(results)
        assert read_metadata(second)["processes"] == 2
    wait_for(lambda: not alive(jobs))
    assert [path.name for path in sorted(first.parent.iterdir())] == ["0.parquet", "1.parquet"]


def log(results):
    path = results / "logs/tiny/levy/es/0.log"
    return path.read_text() if path.is_file() else ""


def test_a_second_snakemake_says_who_has_the_folder_and_changes_nothing(pair, tmp_path):
    project = Project(tmp_path)
    project.configure(**PAIR)
    first = project.start("--cores", "1", "--until", "trace_tiny_0")
    wait_for(project.trace("levy/es", 0).is_file)
    os.killpg(first.pid, signal.SIGSTOP)  # it must not end before the second has tried
    try:
        before = contents(project)
        text = project.snakemake("--cores", "1", "--config", "runs=3", ok=False)
        after = contents(project)
    finally:
        os.killpg(first.pid, signal.SIGCONT)
    assert f"results is in use by process {first.pid} on " in text
    assert "Traceback" not in text
    assert "rule trace" not in text
    assert after == before
    assert first.communicate(timeout=100)
    assert first.returncode == 0
    for seed, trace in enumerate(pair):
        assert difference(trace, project.trace("levy/es", seed)) == ""


def contents(project):
    """Of all results but for logs, which grow."""
    results = project.folder / "results"
    paths = [path for path in results.rglob("*") if path.is_file() and path.suffix != ".log"]
    return {path: path.read_bytes() for path in paths}


@pytest.mark.skipif(not os.environ.get("MOMENTS"), reason="takes five minutes; MOMENTS=1 runs it")
@pytest.mark.parametrize("seeds_per_job", [1, 2])
def test_after_kills_at_random_moments_all_that_is_there_is_whole(
    undisturbed, clone, seeds_per_job
):
    """Of Snakemake and its jobs, 13 times each. Some files are taken away before, to be made."""
    clone.configure(seeds_per_job=seeds_per_job)
    draw = random.Random(seeds_per_job)
    pairs = list(zip(undisturbed.traces(), clone.traces(), strict=True))
    for _ in range(13):
        for _, path in draw.sample(pairs, 4):
            path.unlink(missing_ok=True)
        process = clone.start("--cores", "2")
        time.sleep(draw.uniform(0.5, 8))
        kill_group(process)
        for a, b in pairs:
            assert not b.is_file() or difference(a, b) == ""
    clone.snakemake("--cores", "2")
    assert_all_same(undisturbed, clone)
    assert not [p for p in clone.folder.rglob("*") if p.suffix in (".tmp", ".state")]
    assert clone.would_run() == {}


def kill_group(process):
    """The process and all that it has started."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=100)


# ---- code and memory -----------------------------------------------------------------------------


def test_others_go_on_beside_an_optimiser_that_raises_and_once_it_is_mended_all_is_made(
    undisturbed, clone
):
    es = clone.folder / "algorithms" / "es.py"
    sound = es.read_text()
    es.write_text(sound.replace("y = state.std * z", "raise RuntimeError('planted')"))
    clone.trace("levy/ingo", 0).unlink()
    text = clone.snakemake("--cores", "2", ok=False)
    end = text[text.index("4 jobs failed:\n") :]
    for problem in ("ellipsoid", "levy"):
        for seed in (0, 1):
            name = f"tiny/{problem}/es/{seed}"
            assert (
                f"  results/traces/{name}.parquet\n    reason:  RuntimeError: planted\n"
                f"    log:     results/logs/{name}.log\n    command: python -m experiments.run "
            ) in end
    assert clone.trace("levy/ingo", 0).is_file()
    others = stamps(path for path in clone.traces() if path.parent.name != "es")
    es.write_text(sound)
    clone.snakemake("--cores", "2")
    assert stamps(others) == others
    assert_all_same(undisturbed, clone)


LOADED = (
    "from pathlib import Path; from experiments import run;"
    "print(Path('/proc/self/status').read_text().split('VmPeak:')[1].split()[0])"
)


def test_a_job_that_is_out_of_memory_says_so_and_with_more_of_it_is_done(tmp_path, monkeypatch):
    """One of two, which may have 100 MB more than the libraries take, and needs 500."""
    project = Project(tmp_path)
    large = {"dim": 50_000, "budget": 200, "target": None, "problems": {"levy": {}}}
    methods = {"es": {"samples": 200}, "small": {"algorithm": "es", "samples": 2}}
    project.configure(runs=1, experiments={"tiny": {**large, "algorithms": methods}})
    loaded = subprocess.run(
        [sys.executable, "-c", LOADED], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    limit = int(loaded.stdout) + 100_000  # in kB
    start = tmp_path / "start.sh"  # of every shell
    start.write_text(
        f'case "$BASH_EXECUTION_STRING" in *levy/es/0.parquet*) ulimit -v {limit};; esac\n'
    )
    command = ["--cores", "2", "--until", "trace"]
    monkeypatch.setenv("BASH_ENV", str(start))
    text = project.snakemake(*command, ok=False)
    assert "1 job failed:\n" in text
    assert "    reason:  error: out of memory: Unable to allocate " in text
    assert "Traceback" not in text
    assert not project.trace("levy/es", 0).exists()
    small = stamps([project.trace("levy/small", 0)])
    monkeypatch.delenv("BASH_ENV")
    project.snakemake(*command)
    assert stamps(small) == small
    again = tmp_path / "again"
    project.snakemake(*command, "--config", f"results={again}")
    assert difference(project.trace("levy/es", 0), project.trace("levy/es", 0, again)) == ""
