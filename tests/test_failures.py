"""What is said at the end of a workflow that failed: its jobs, reasons, and a full disk."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from collections import namedtuple
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_workflow import CONFIG, Project, assert_same, wait_for

from experiments import failures, progress
from experiments.failures import INTERRUPTED, MOST, Failure

COMMAND = "python -m experiments.run --problem levy '{\"dim\": 4}' --to a 2> a.log"


def block(jobid, command=COMMAND, rule="trace", output="a", log="a.log"):
    return f"""[Sun Nov 29 22:41:58 2026]
Error in rule {rule}:
    message: None
    jobid: {jobid}
    input: x, y
    output: {output}
    log: {log} (check log file(s) for error details)
    conda-env: .snakemake/conda/3
    shell:
        {command}
        (command exited with non-zero exit code)
Logfile {log}:
==============
error: whatever stands here
==============
"""


def ended(how, command=COMMAND):
    return f"""RuleException:
CalledProcessError in file "/somewhere/rules.smk", line 26:
Command 'set -euo pipefail;  {command}' {how}.
"""


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("returned non-zero exit status 1", "exit code 1"),
        ("returned non-zero exit status 2", "exit code 2"),
        ("returned non-zero exit status 130", INTERRUPTED),
        (
            "returned non-zero exit status 137",
            "killed (SIGKILL; the kernel does that when memory runs out)",
        ),
        (
            "died with <Signals.SIGKILL: 9>",
            "killed (SIGKILL; the kernel does that when memory runs out)",
        ),
        ("returned non-zero exit status 143", "ended from outside (SIGTERM)"),
        ("died with <Signals.SIGTERM: 15>", "ended from outside (SIGTERM)"),
        ("returned non-zero exit status 139", "ended by SIGSEGV"),
        ("returned non-zero exit status 255", "exit code 255"),
    ],
)
def test_a_failed_job_is_read_from_snakemakes_log(how, words):
    said = "Building DAG of jobs...\n" + ended(how) + block(3, output="a, b, c")
    assert failures.failed(said) == [Failure(("a", "b", "c"), "a.log", COMMAND, words)]
    # the other order of what two jobs at a time make of it, and the environment of conda before it
    others = ended("returned non-zero exit status 77", "python -m other 2> b.log")
    said = ended(how).replace("'set", "'source x/activate 'y'; set") + others + block(3)
    assert failures.failed(said) == [Failure(("a",), "a.log", COMMAND, words)]


def test_a_job_of_a_cluster_is_listed_once_with_what_the_cluster_says(tmp_path):
    """Its log there is a Snakemake's, which says of the same job that it failed."""
    log = tmp_path / "slurm_logs" / "9.log"
    log.parent.mkdir()
    log.write_text(
        "slurmstepd: error: StepId=9.0 exceeded memory limit\nsrun: error: vm: task 0: Killed\n"
        + (inner := block(0, output="a (update), b (update)").replace("=" * 14, "=" * 80))
        + inner
    )
    message = "SLURM-job '9' failed, SLURM status is: 'FAILED'. Detailed failure reason unavailable"
    outer = block(3, output="a (update), b (update)", log=f"none.log, {log}").split("Logfile")[0]
    fence = "=" * 80
    shown = f"Logfile {log}:\n{fence}\n{log.read_text()}{fence}\n"
    said = outer.replace("message: None", f"message: {message}") + shown
    [job] = failures.failed(said)
    assert job.outputs == ("a", "b")
    assert job.log == f"none.log, {log}"
    assert job.reason == "SLURM status is: 'FAILED', error: StepId=9.0 exceeded memory limit"
    lines = [line for line in progress.errors(iter(said.splitlines())) if line]
    assert sum(line.startswith("Error in") for line in lines) == 1
    assert f"    message: {message}" in lines
    after = [*said.splitlines(), "WorkflowError:", "At least one job did not complete"]
    assert [line for line in progress.errors(iter(after)) if line] == [*lines, *after[-2:]]


def test_a_job_that_failed_twice_is_one_and_one_that_was_done_at_last_is_none():
    done = "Finished jobid: 3 (Rule: trace)\n1 of 4 steps (25%) done\n"
    again = block(3) + block(5, output="b") + block(3)
    assert [f.outputs for f in failures.failed(again)] == [("a",), ("b",)]
    assert [f.outputs for f in failures.failed(again + done)] == [("b",)]
    assert [f.outputs for f in failures.failed(done + again)] == [("a",), ("b",)]
    assert [f.outputs for f in failures.failed(again + done.replace("3", "33"))] == [("a",), ("b",)]
    assert failures.failed(done) == []


@given(st.integers(-64, 255))
def test_every_exit_code_has_words(code):
    words = failures.exit_in_words(code)
    signals = {known.value for known in signal.Signals}
    number = -code if code < 0 else code - 128
    assert (words == f"exit code {code}") is (number not in signals)


@pytest.mark.parametrize(
    ("log", "reason"),
    [
        ("es on levy: 5 of 9\nerror: first\nerror: out of memory\n", "error: out of memory"),
        ("python -m experiments.run: error: argument --to: none", "error: argument --to: none"),
        ("Traceback (most recent call last):\n  File x\nKeyError: 'no'\n", "KeyError: 'no'"),
        ("  File x\nlinux.OtherException\n", "linux.OtherException"),
        ("es on levy, seed 1: best error 3\n", "exit code 1"),
        ("", "exit code 1"),
        (None, "exit code 1"),
    ],
)
def test_the_reason_is_the_last_error_of_the_log_else_how_the_process_ended(tmp_path, log, reason):
    path = tmp_path / "a.log"
    if log is not None:
        path.write_text(log)
    failure = Failure(("a", "b", "c"), str(path), COMMAND, "exit code 1")
    assert list(failure.lines()) == [
        "  a and 2 more",
        f"    reason:  {reason}",
        f"    log:     {path}",
        f"    command: {COMMAND}",
    ]
    assert Failure(("a",), "", "", "").reason == "none is known"


def test_at_most_so_many_are_listed_and_what_was_interrupted_is_counted():
    def jobs(count, ended):
        return [Failure((str(k),), "none", COMMAND, ended) for k in range(count)]

    lines = list(failures.listed([*jobs(MOST + 3, "exit code 1"), *jobs(2, INTERRUPTED)]))
    assert lines[0] == f"{MOST + 3} jobs failed:"
    assert failures.HEADING.match(lines[0])
    assert sum("reason" in line for line in lines) == MOST
    assert lines[-2:] == [
        "  and 3 more, which Snakemake's log names",
        "2 jobs interrupted (SIGINT); the same command continues",
    ]
    assert next(failures.listed(jobs(1, "exit code 1"))) == "1 job failed:"
    assert list(failures.listed([])) == []


@pytest.mark.parametrize("free", [0, failures.FULL - 1, failures.FULL, 1e12])
def test_a_disk_with_next_to_nothing_free_is_full(tmp_path, monkeypatch, free):
    asked = []

    def usage(path):
        asked.append(path)
        return namedtuple("Usage", "free")(free)

    monkeypatch.setattr(failures.shutil, "disk_usage", usage)
    folder = tmp_path / "not" / "there"
    words = f"The disk that holds {folder} is full ({free / 1e6:.1f} MB free). Free some space"
    assert failures.disk_full(folder) == (words if free < 10e6 else "")
    assert asked == [tmp_path]


EVERY_SECOND = "progress.SECONDS_BETWEEN_LINES[False] = 1.0; progress.main()"


# ---- the workflow itself -------------------------------------------------------------------------


def test_snakemake_lists_failed_jobs_at_its_end_with_commands_that_repeat_them(tmp_path):
    project = Project(tmp_path)
    project.configure(runs=1)
    es = tmp_path / "algorithms" / "es.py"
    sound = es.read_text()
    es.write_text(sound.replace("y = state.std * z", "raise OSError('planted')"))
    text = project.snakemake("--cores", "2", ok=False)
    end = text[text.index("2 jobs failed:\n") :]
    for problem in ("ellipsoid", "levy"):
        trace = project.trace(f"{problem}/es", 0)
        assert end.count(f"  {trace.relative_to(tmp_path)}\n    reason:  error: planted\n") == 1
    command = end.split("    command: ")[1].splitlines()[0]
    es.write_text(sound)
    env = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    subprocess.run(command, shell=True, check=True, cwd=tmp_path, env=env)
    assert sum(path.is_file() for path in project.traces()) == 5


def test_an_interrupted_job_is_no_failed_one(tmp_path):
    project = Project(tmp_path)
    tiny = CONFIG["experiments"]["tiny"]
    endless = {"budget": 10**9, "target": None, "algorithms": {"es": {}}}
    project.configure(runs=1, experiments={"tiny": tiny | endless})
    process = project.start("--cores", "2")
    logs = tmp_path / "results" / "logs"
    wait_for(lambda: len([log for log in logs.rglob("0.log") if log.stat().st_size]) == 2)
    os.killpg(process.pid, signal.SIGINT)  # as the terminal does at Ctrl-C
    text = process.communicate(timeout=60)[0]
    assert "2 jobs interrupted (SIGINT); the same command continues\n" in text
    assert "failed:\n" not in text


@contextmanager
def disk(folder, megabytes):
    """A disk of this size; the test is skipped where none can be mounted."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", folder]
    try:
        subprocess.run(mount, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("SKIPPED: a small disk can be mounted by root only")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


def fill(folder, free):
    """Leave so many bytes of the disk."""
    at = os.statvfs(folder)
    with (folder / "filled").open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, at.f_bavail * at.f_frsize - free)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    made = Project(tmp_path_factory.mktemp("undisturbed"))
    made.snakemake("--cores", "2", "--until", "trace")
    return made


@pytest.mark.parametrize("module", ["snakemake", "experiments.progress"])
def test_a_full_disk_is_named_and_with_more_room_the_same_command_finishes(
    tmp_path, undisturbed, module
):
    """Full but for some bytes before the first trace is written."""
    project = Project(tmp_path)
    small = tmp_path / "small"
    command = [sys.executable, "-m", module, "--cores", "2", "--config", f"results={small}/results"]
    keys = {"cwd": tmp_path, "capture_output": True, "text": True, "timeout": 200, "check": False}
    with disk(small, 24):
        fill(small, 60_000)
        began = time.monotonic()
        done = subprocess.run(command, **keys)
        said = done.stdout + done.stderr
        assert done.returncode != 0
        assert said.count("The disk that holds small/results is full (0.") == 1, said
        if module == "experiments.progress":
            assert said.endswith(f"Free some space, then: {shlex.join(['python', *command[1:]])}\n")
            assert time.monotonic() - began < 60
        subprocess.run(["mount", "-o", "remount,size=64m", small], check=True)
        done = subprocess.run(command, **keys)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "is full" not in done.stdout + done.stderr
        assert_same(undisturbed, project, small / "results")


def test_a_disk_that_gets_full_while_runs_go_on_stops_them(tmp_path):
    """Not only what starts anew."""
    project = Project(tmp_path)
    small = tmp_path / "small"
    tiny = CONFIG["experiments"]["tiny"]
    endless = {"budget": 10**9, "target": None, "algorithms": {"es": {}}}
    project.configure(runs=1, experiments={"tiny": tiny | endless}, results=f"{small}/results")
    command = [sys.executable, "-c", f"from experiments import progress; {EVERY_SECOND}"]
    with disk(small, 24):
        process = subprocess.Popen(
            [*command, "--cores", "2"], cwd=tmp_path, stdout=subprocess.PIPE, text=True
        )
        try:
            wait_for(lambda: any(log.stat().st_size for log in small.rglob("0.log")))
            fill(small, 60_000)
            text = process.communicate(timeout=60)[0]
        finally:
            process.send_signal(signal.SIGINT)  # nothing to one that has ended
            process.wait(60)
        assert process.returncode == 1
        assert "The disk that holds small/results is full (0." in text.splitlines()[-1]
