"""Whose a folder of results is, what is known of it, and which of its traces are another run's."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time

import pytest
from damage import DAMAGES
from snakemake.io import is_flagged
from tiny import do_run, rewrite, write_config

from experiments import plan
from experiments.paths import ROOT
from experiments.results_folder import RECORDS, InUse, ResultsFolder, lock

LOCK = (
    "import sys, time; from pathlib import Path; from experiments.results_folder import lock;"
    "held = lock(Path(sys.argv[1])); print('locked', flush=True); time.sleep(60)"
)


def test_a_folder_is_of_one_process_until_that_ends(tmp_path):
    folder = tmp_path / "new" / "results"
    other = subprocess.Popen(
        [sys.executable, "-c", LOCK, folder], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    try:
        assert other.stdout.readline() == "locked\n"
        before = (folder / ".lock").read_text()
        with pytest.raises(InUse) as refused:
            lock(folder)
        assert str(refused.value).startswith(
            f"{folder} is in use by process {other.pid} on {socket.gethostname()}, which works on "
        )
        assert (folder / ".lock").read_text() == before
        assert lock(tmp_path / "another")
    finally:
        other.kill()
        other.communicate()
    mine = lock(folder)
    assert mine
    assert (folder / ".lock").read_text() == f"process {os.getpid()} on {socket.gethostname()}"
    with pytest.raises(InUse):
        lock(folder)
    mine.close()
    assert lock(folder)


def test_a_folder_without_locks_is_used_without(tmp_path, monkeypatch):
    def none(*_):
        raise OSError("no locks here")

    monkeypatch.setattr("experiments.results_folder.fcntl.flock", none)
    assert lock(tmp_path) is None


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A project's folder without anything, as the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def prepared(config, results="results"):
    made = ResultsFolder(plan.load(config, results=results))
    made.prepare()
    return made


def test_records_are_known_as_long_as_they_are_those_of_the_folder(here):
    config = write_config(here)
    records = prepared(config).records
    first, at = records.read_text(), records.stat().st_mtime_ns
    assert (here / RECORDS / first).read_text() == "results"
    prepared(config)
    prepared(config, "other")
    prepared(config)
    assert (records.read_text(), records.stat().st_mtime_ns) == (first, at)
    # a copy of all, as of a disk to another one
    shutil.copytree(here, here / "copy")
    os.chdir("copy")
    assert prepared(config).records.read_text() == first
    os.chdir(here)
    # copied within the project: no records are of these files
    shutil.copytree("results", "copied")
    assert prepared(config, "copied").records.read_text() != first
    assert prepared(config).records.read_text() == first
    shutil.rmtree(".snakemake")
    assert prepared(config).records.read_text() != first
    second = records.read_text()
    records.write_text("")  # the disk was full
    assert prepared(config).records.read_text() not in ("", first, second)


def test_the_marker_of_unfit_traces_is_another_one_each_time(here):
    config = write_config(here)
    unfit = prepared(config).unfit
    before = unfit.read_text()
    assert prepared(config).unfit.read_text() != before


RUN = ("tiny", "ellipsoid", "es")


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    folder = tmp_path_factory.mktemp("done")
    what = plan.load(write_config(folder))
    for seed in (0, 1):
        do_run(what, *RUN[1:], seed)
    return folder


def found(folder, seeds=(0,)):
    """What is unfit of these seeds of RUN."""
    made = ResultsFolder(plan.load(write_config(folder)))
    made.prepare()
    return made.has_unfit(*RUN, seeds)


@pytest.fixture
def trace(done, here):
    """A trace of a copy of the results, and what its config finds."""
    shutil.copytree(done / "results", here / "results")
    return here / "results" / "traces" / "/".join(RUN) / "0.parquet"


def test_a_trace_that_is_asked_for_is_fit_and_one_that_is_not_there_is_missed(trace, here):
    assert not found(here, (0, 1))
    assert trace.stat().st_mtime > 0
    trace.unlink()
    assert not found(here)


# of which the metadata, which are all that is read, say nothing
SILENT = ("no metadata", "no hits", "no settings", "settings unheard of", "cut", "emptied", "zeros")
IN_ITS_PLACE = ("a folder", "a link to nothing", "a link to itself")
UNREADABLE = {name: DAMAGES[name] for name in (*SILENT, *IN_ITS_PLACE)}
FOREIGN = {
    "another seed": lambda path: shutil.copy(path.with_name("1.parquet"), path),
    "other code": lambda path: rewrite(path, code="other"),
    "what is no more": lambda path: rewrite(
        path, spec={"problem": "gone", "algorithm": "gone", "budget": 2000, "target": 1e-10}
    ),
}


@pytest.mark.parametrize("damage", UNREADABLE | FOREIGN)
def test_what_is_not_the_run_that_is_asked_for_is_unfit_and_older_than_the_marker(
    trace, here, damage
):
    (UNREADABLE | FOREIGN)[damage](trace)
    ahead = time.time() + 1e5  # a clock that was
    os.utime(trace, (ahead, ahead), follow_symlinks=False)
    assert found(here)
    assert found(here, (1, 0))
    assert not found(here, (1,))
    assert trace.lstat().st_mtime < (here / "results" / ".unfit").stat().st_mtime
    assert os.path.lexists(trace)


def test_what_is_missing_makes_what_needs_it_anew(trace, here):
    folder = ResultsFolder(plan.load(write_config(here)))
    there, gone = str(trace), str(trace.with_name("7.parquet"))
    for paths, anew in (([there], False), ([there, gone], True)):
        *same, marker = folder.needed(paths)
        assert same == paths
        assert marker == str(folder.unfit)
        assert is_flagged(marker, "ancient") is not anew
