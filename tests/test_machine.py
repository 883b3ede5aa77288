"""Kernels: which a run has used, and the same ones for all nodes of a cluster."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from experiments import run
from experiments.plan import load
from experiments.runs import machine, trace
from experiments.runs.spec import Spec

ROOT = Path(__file__).parent.parent
pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="kernels of x86-64")
SPEC = Spec("rotated", "ingo", 9000, None, {"function": "ellipsoid", "dim": 30}, bits="portable")


def run_it(spec, path, **variables):
    words = [*run.command(spec).arguments, "--to", str(path)]
    command = [sys.executable, "-m", "experiments.run", *words]
    env = {**os.environ, **variables}
    subprocess.run(command, cwd=ROOT, env=env, check=True, capture_output=True)
    return trace.read(path)[1]


def test_portable_runs_have_the_same_kernels_whatever_the_processor_would_choose(tmp_path):
    """A node that chooses other kernels by itself, as older ones do, makes the same data."""
    metadata = run_it(SPEC, tmp_path / "a" / "0.parquet")
    (here,) = metadata["machines"]
    assert (here["blas"], here["numpy"]) == ("Haswell", "X86_V3")
    assert metadata["spec"]["bits"] == "portable"
    run_it(SPEC, tmp_path / "b" / "0.parquet", OPENBLAS_CORETYPE="Sandybridge")
    assert trace.difference(tmp_path / "a" / "0.parquet", tmp_path / "b" / "0.parquet") == ""


def test_the_kernels_of_a_run_are_in_its_trace_and_may_change_its_bits(tmp_path):
    spec = Spec("rotated", "ingo", 9000, None, {"function": "ellipsoid", "dim": 30})
    found = [
        run_it(spec, tmp_path / name / "0.parquet", OPENBLAS_CORETYPE=name)["machines"][0]["blas"]
        for name in ("Haswell", "Sandybridge")
    ]
    assert found == ["Haswell", "Sandybridge"]
    pair = [tmp_path / name / "0.parquet" for name in found]
    assert trace.difference(*pair) != ""  # or the key would be for nothing


def test_a_processor_without_the_instructions_is_named(monkeypatch):
    monkeypatch.setattr(machine, "_dispatched", lambda: ["X86_V2"])
    with pytest.raises(ValueError, match="takes a processor with X86_V3 .* has X86_V2"):
        machine.portable_environment()


def test_newer_instructions_are_switched_off_and_no_others(monkeypatch):
    monkeypatch.setattr(machine, "_dispatched", lambda: ["X86_V2", "X86_V3", "X86_V4", "Z"])
    assert machine.portable_environment() == {
        "OPENBLAS_CORETYPE": "Haswell",
        "NPY_DISABLE_CPU_FEATURES": "X86_V4 Z",
    }


def test_the_key_of_the_config_makes_all_runs_portable_and_others_than_before():
    native, portable = load(ROOT / "config.yaml"), load(ROOT / "config.yaml", bits="portable")
    cell = ("figure_1", "levy", "ingo")
    assert "--bits" not in str(native.trace_command(*cell))
    assert str(portable.trace_command(*cell)).endswith("--bits portable")
    assert native.key(*cell) != portable.key(*cell)
