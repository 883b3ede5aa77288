"""A job of the workflow: one thread, and a line in its log every few seconds."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from algorithms.shared.interface import Ending, Stop
from algorithms.shared.loop import Batch
from experiments.runs.job import SECONDS_BETWEEN_LINES, Progress

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize("module", ["run", "theory.growth", "timing.iteration", "timing.rollouts"])
def test_numpy_is_loaded_with_one_thread_whatever_the_shell_says(module):
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    script = f"import os, experiments.{module}; print(*(os.environ[n] for n in {names}))"
    env = {**os.environ, **dict.fromkeys(names, "8")}
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env=env,
        check=True,
        capture_output=True,
        text=True,
    )
    assert done.stdout.split() == ["1", "1", "1"]


class State:
    mean = np.array([1.0, 2.0])


def batch(evaluations, ended=None):
    return Batch(1, evaluations, State(), np.zeros((1, 2)), np.zeros(1), 0.5, 0.25, ended)


def test_a_line_comes_every_few_seconds_and_at_the_end(monkeypatch, capsys):
    """A tenth of the evaluations every 2 s: lines at 6 s and 12 s, and when the run ends."""
    clock = iter(range(2, 40, 2))
    monkeypatch.setattr("experiments.runs.job.time.monotonic", lambda: float(next(clock)))
    assert SECONDS_BETWEEN_LINES == 5
    name = "es on levy, seed 0"
    progress = Progress(name, 1000, began=0.0, last=0.0)
    for evaluations in range(100, 700, 100):
        progress(batch(evaluations))
    progress(batch(700, Ending(Stop.FLAT, "at rest")))
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        f"{name}: 300 of 1,000 evaluations, best 2.500e-01, 6.0 s, at most 14 s left",
        f"{name}: 600 of 1,000 evaluations, best 2.500e-01, 12.0 s, at most 8 s left",
        f"{name}: 700 of 1,000 evaluations, best 2.500e-01, 14.0 s, ended: flat (at rest)",
    ]


def test_the_time_left_of_a_run_that_goes_on_is_by_what_this_process_did(monkeypatch, capsys):
    """50 evaluations took it 10 s, and 50 are left."""
    monkeypatch.setattr("experiments.runs.job.time.monotonic", lambda: 10.0)
    Progress("run", 1000, first=900, began=0.0, last=0.0)(batch(950))
    assert capsys.readouterr().err.endswith("10.0 s, at most 10 s left\n")


@pytest.mark.parametrize(
    ("target", "words", "wanted"),
    [("replicate", ["RUNS=2"], "--configfile config.yaml --config runs=2"),
     ("replicate", ["RUNS=2"], "experiments.progress --again 'make replicate RUNS=2' --cores all"),
     ("figure_3", ["RUNS=2"], "--figure figure_3 --configfile config.yaml --config runs=2"),
     ("figure", ["FIGURE=rotated"], "--figure rotated --configfile config.yaml"),
     ("figure", ["FIGURE=a", "CONFIG=b.yaml"], "--figure a --configfile config.yaml b.yaml"),
     ("film", [], "--figure film --configfile config.yaml"),
     ("quick", ["CORES=3"], "--cores 3 --configfile config.yaml tests/quick.yaml"),
     ("replicate", ["CONFIG=a.yaml b.yaml"], "all --configfile config.yaml a.yaml b.yaml"),
     ("replicate", ["CONFIG=config.yaml b.yaml"], "all --configfile config.yaml b.yaml"),
     ("replicate", ["VENV=/opt/there"], "/opt/there/bin/python -m experiments.progress"),
     ("interim", ["CONFIG=a.yaml b.yaml"], "publishing.interim --config config.yaml a.yaml b.yaml"),
     ("publish", ["TABLES=x"], "publishing.publish --config config.yaml \\ --tables x"),
     ("restore", ["CONFIG=a.yaml b.yaml"], "archive restore --config config.yaml a.yaml b.yaml"),
     ("certify", ["BASE=HEAD~1"], "-m experiments.certify HEAD~1")],
)  # fmt: skip
def test_options_of_make_reach_the_command(target, words, wanted):
    make = ["make", "--dry-run", "--no-print-directory", target, *words]
    env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL", "CORES")}
    said = subprocess.run(make, cwd=ROOT, env=env, check=True, capture_output=True, text=True)
    assert wanted in re.sub(r"\s+", " ", said.stdout)
