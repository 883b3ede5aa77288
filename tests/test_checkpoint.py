"""A run that is stopped goes on where it was, bit for bit."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import algorithms
from algorithms.shared.loop import quiet
from experiments import run as command
from experiments.runs import checkpoint, job, keeper, trace
from experiments.runs.effort import Effort
from experiments.runs.keeper import Keeper, Stopped
from experiments.runs.simulate import Run
from experiments.runs.spec import Spec

ROOT = Path(__file__).parent.parent
LIBRARIES = ("cma_es", "ga")  # whose states are objects of a library
PROBLEMS = {
    "real": ("rotated", {"function": "ellipsoid", "dim": 6}),
    "binary": ("binary_reconstruction", {"dim": 12}),
    "categorical": ("categorical_reconstruction", {"dim": 5, "categories": 3}),
}
OWN = {
    "asebo": {"isotropic_iterations": 5},  # so that the subspace is in the state too
    "reinforce_gd": {"step_size": 1e-9},  # so that it does not diverge
}


def spec_of(algorithm, problem=None, batches=40, **keys):
    """A run of so many batches on a problem of the optimiser's space."""
    cls = algorithms.load(algorithm)
    name, parameters = problem or PROBLEMS[cls.space]
    made = Spec(name, algorithm, 10**6, None, parameters, OWN.get(algorithm, {}), 7, 3, **keys)
    return replace(made, budget=Run(made, 0).batch_size * batches)


SAVED = [name for name in algorithms.available() if name not in LIBRARIES]
NOISE = ("noise", {"dim": 4})
PENDULUM = ("control", {"task": "InvertedDoublePendulum", "horizon": 9, "starts": "fixed"})
SPECS = [
    *[spec_of(name) for name in SAVED],
    spec_of("framework", NOISE),
    replace(spec_of("framework", NOISE), algorithm_parameters={"curvature": "estimated"}),
    spec_of("fast_ingo", ("control", {"task": "Swimmer", "horizon": 4}), 6),
    spec_of("es", PENDULUM, 6),
]


def undisturbed(spec, seed=1):
    run = Run(spec, seed)
    with quiet():
        for _ in run.batches():
            pass
    return run


def data(run):
    """All that a trace of it holds of the run, bit for bit."""
    rows = {name: column.tobytes() for name, column in run.record.rows.items()}
    return rows, run.record.hits, json.dumps(run.metadata())


@pytest.mark.parametrize("spec", SPECS, ids=lambda s: f"{s.algorithm}-{s.problem}")
def test_a_run_that_is_stopped_at_any_batch_goes_on_bit_for_bit(spec, tmp_path):
    whole = undisturbed(spec)
    file = tmp_path / "0.state"
    for stops in ({1}, {3, 4}, {2, 9, 17}, set(range(1, 12))):
        run = Run(spec, 1)
        with quiet():
            while True:
                for batch in run.batches():
                    if batch.iteration in stops and not batch.ended:
                        break
                if batch.ended:
                    break
                stops = stops - {batch.iteration}
                checkpoint.write(file, run.saved(run.snapshot()))
                run = Run(spec, 1)
                run.go_on_from(checkpoint.read(file, run.like_saved()))
        assert data(run) == data(whole)


@pytest.mark.parametrize("spec", SPECS, ids=lambda s: f"{s.algorithm}-{s.problem}")
def test_a_snapshot_stays_what_it_was_while_the_run_goes_on(spec, tmp_path):
    """It refers to states, which no optimiser may change in place."""
    run, file = Run(spec, 1), tmp_path / "0.state"
    with quiet():
        for batch in run.batches():
            if batch.iteration == 3:
                third = run.snapshot()
            elif batch.iteration == 6:
                break
    checkpoint.write(file, run.saved(third))
    again = Run(spec, 1)
    again.go_on_from(checkpoint.read(file, again.like_saved()))
    with quiet():
        for _ in again.batches():
            pass
    assert data(again) == data(undisturbed(spec))


@pytest.mark.parametrize("batches", [12, 14, 15])  # rows are due at 13 and at 14
@pytest.mark.parametrize("algorithm", ["fast_ingo", "es"])
def test_a_larger_budget_goes_on_from_the_last_state(algorithm, batches, tmp_path):
    """As if there had never been a smaller one: its last row is not there if none was due."""
    problem = ("control", {"task": "Swimmer", "horizon": 3}) if algorithm == "es" else None
    long = spec_of(algorithm, problem, 30)
    short = spec_of(algorithm, problem, batches)
    path, other = tmp_path / "5.parquet", tmp_path / "other" / "5.parquet"
    job.run_seed(short, path, "c", keep_state=True)
    assert trace.read(path)[1]["spec"]["budget"] == short.budget
    job.run_seed(long, path, "c")
    assert trace.read(path)[1]["processes"] == 2
    assert not checkpoint.path_beside(path).exists()  # which was asked for no more
    job.run_seed(long, other, "c")
    assert trace.read(other)[1]["processes"] == 1
    assert trace.difference(path, other) == ""
    job.run_seed(short, path, "c")  # and a smaller one starts anew
    assert trace.read(path)[1]["processes"] == 1


@pytest.mark.parametrize(("missing", "processes"), [(0, 2), (1, 1)])
def test_a_state_that_is_kept_is_for_a_budget_with_room_for_a_batch(
    missing, processes, tmp_path, capsys
):
    spec = spec_of("fast_ingo", batches=10)
    path = tmp_path / "5.parquet"
    job.run_seed(spec, path, "c", keep_state=True)
    job.run_seed(replace(spec, budget=spec.budget * 11 // 10 - missing), path, "c")
    said = capsys.readouterr().err
    assert ("starts anew" in said, "goes on after" in said) == (processes == 1, processes == 2)
    assert trace.read(path)[1]["processes"] == processes


@pytest.mark.parametrize("algorithm", LIBRARIES)
def test_a_library_s_run_starts_anew_and_the_log_says_so(algorithm, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(keeper, "SECONDS", -1.0)
    path = tmp_path / "0.parquet"
    job.run_seed(spec_of(algorithm), path, "c")
    said = capsys.readouterr().err
    assert said.count("cannot be saved, so that a stopped run starts anew") == 1
    assert [file.name for file in tmp_path.iterdir()] == ["0.parquet"]


def test_a_checkpoint_of_another_run_or_a_damaged_one_is_not_used(tmp_path, capsys):
    spec = spec_of("fast_ingo")
    path = tmp_path / "1.parquet"
    state = checkpoint.path_beside(path)

    def stopped(code="c", seed=1, **keys):
        run = Run(replace(spec, **keys), seed)
        with quiet():
            for batch in run.batches():
                if batch.iteration == 5:
                    break
        Keeper(run, state, code, Effort(0.0), "run").save(run.snapshot())

    def processes():
        path.unlink(missing_ok=True)
        job.run_seed(spec, path, "c")
        return trace.read(path)[1]["processes"]

    stopped()
    assert processes() == 2
    for keys, words in (
        ({"code": "d"}, "of other code"),
        ({"seed": 2}, "of seed 2"),
        ({"root_seed": 9}, "root_seed 9"),
        ({"algorithm_parameters": {"step_size": 0.1}}, "step_size 0.1"),
    ):
        stopped(**keys)
        assert processes() == 1
        assert words in capsys.readouterr().err
    for damage in (lambda b: b[:-40], lambda b: b"", lambda b: b"\0" * len(b), lambda b: b"{}"):
        stopped()
        state.write_bytes(damage(state.read_bytes()))
        assert processes() == 1
        assert "no whole checkpoint" in capsys.readouterr().err


def test_a_flipped_bit_of_a_checkpoint_is_found(tmp_path):
    run = Run(spec_of("ingo"), 1)
    with quiet():
        for batch in run.batches():
            if batch.iteration == 5:
                break
    file, like = tmp_path / "0.state", run.like_saved()
    checkpoint.write(file, run.saved(run.snapshot()))
    whole, rng = file.read_bytes(), np.random.default_rng(0)
    good = str(checkpoint.read(file, like))
    for _ in range(200):
        flipped = bytearray(whole)
        flipped[rng.integers(len(whole))] ^= 1 << rng.integers(8)
        file.write_bytes(flipped)
        try:
            assert str(checkpoint.read(file, like)) == good  # a bit of a date or the like
        except ValueError as error:
            assert str(file) in str(error)  # noqa: PT017


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.text() | st.floats(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(min_size=1), inner),
    max_leaves=10,
)


@settings(max_examples=60, deadline=None)
@given(VALUES, st.sampled_from(["f8", "i8", "u8", "?"]), st.integers(0, 3))
def test_what_is_written_comes_back(tmp_path_factory, value, kind, size):
    file = tmp_path_factory.mktemp("state") / "0.state"
    content = {"value": value, "array": np.ones((size, 2), kind).T, "number": np.float64(0.1)}
    checkpoint.write(file, content)
    back = checkpoint.read(file, {})
    assert repr(back["value"]) == repr(value)
    assert back["array"].dtype == kind
    assert back["array"].flags.f_contiguous == content["array"].flags.f_contiguous
    assert np.array_equal(back["array"], content["array"])
    assert type(back["number"]) is np.float64
    assert back["number"] == 0.1


def test_an_object_is_not_written(tmp_path):
    with pytest.raises(checkpoint.NotSaved, match="set"):
        checkpoint.write(tmp_path / "0.state", {"a": {1, 2}})
    assert list(tmp_path.iterdir()) == []


def words(spec, path):
    return [*command.command(spec).arguments, "--code", "c", "--to", str(path)]


LONG = ("control", {"task": "HumanoidStandup", "horizon": 80})


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("problem", [LONG, None], ids=["long batches", "short batches"])
def test_a_signal_saves_the_run_at_once_and_the_same_command_goes_on(problem, number, tmp_path):
    """In the middle of a batch that takes long, and between batches that do not."""
    spec = replace(spec_of("es", problem, 1), budget=10**9, algorithm_parameters={"samples": 8})
    path, other = tmp_path / "1.parquet", tmp_path / "other" / "1.parquet"
    process = subprocess.Popen(
        [sys.executable, "-m", "experiments.run", *words(spec, path)],
        cwd=ROOT, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert "evaluations, best" in process.stderr.readline()  # after five seconds, at a batch's end
    time.sleep(0.3)
    process.send_signal(number)
    began = time.monotonic()
    said = process.communicate(timeout=60)[1]
    assert time.monotonic() - began < 10
    assert process.returncode == 128 + number
    done = int(re.search(rf"{number.name} after ([\d,]+) evalu", said)[1].replace(",", ""))
    assert [file.name for file in tmp_path.iterdir()] == ["1.state"]
    shorter = replace(spec, budget=done + 3 * 8)
    for to, processes in ((path, 2), (other, 1)):
        job.run_seed(shorter, to, "c")
        assert trace.read(to)[1]["processes"] == processes
    assert trace.difference(path, other) == ""


def test_a_checkpoint_is_written_every_few_minutes_and_costs_little(tmp_path, monkeypatch):
    """The clock stands still but for a second a batch, and two for each writing."""
    now = [0.0]
    monkeypatch.setattr(keeper.time, "monotonic", lambda: now[0])
    written = []

    def write(path, content):
        now[0] += 2.0
        written.append((now[0], content["position"]["iteration"]))

    monkeypatch.setattr(checkpoint, "write", write)
    run = Run(spec_of("es", batches=1000), 1)
    one = Keeper(run, tmp_path / "1.state", "c", Effort(0.0), "run", last=0.0, due=keeper.SECONDS)
    with quiet():
        for batch in run.batches():
            now[0] += 1.0
            one(batch)
    times = [0.0, *(at for at, _ in written)]
    assert [iteration for _, iteration in written] == [121, 522, 923]
    assert np.diff(times).min() >= keeper.SECONDS
    assert 2.0 * len(written) <= 2 * keeper.SHARE * now[0]


def test_a_trace_that_is_there_is_left_and_one_that_does_not_fit_is_not(tmp_path, capsys):
    spec = spec_of("fast_ingo")
    path = tmp_path / "1.parquet"
    job.run_seed(spec, path, "c")
    before = path.stat().st_ino
    job.run_seed(replace(spec, algorithm_parameters={"ddof": 1}), path, "c")  # the default
    assert path.stat().st_ino == before
    assert f"{path} is there" in capsys.readouterr().err
    for keys, code in (
        ({}, "d"),
        ({"root_seed": 5}, "c"),
        ({"algorithm_parameters": {"ddof": 0}}, "c"),
    ):
        job.run_seed(replace(spec, **keys), path, code)
        assert path.stat().st_ino != before
        before = path.stat().st_ino
    path.write_bytes(path.read_bytes()[:-9])
    job.run_seed(spec, path, "c")
    assert trace.read(path)[1]["stop"] == "budget"


def test_a_full_disk_is_said_before_the_run(tmp_path, monkeypatch, capsys):
    full = SimpleNamespace(free=100_000)
    monkeypatch.setattr(job.shutil, "disk_usage", lambda folder: full)
    with pytest.raises(SystemExit, match="the disk of .* is full"):
        command.main(words(spec_of("es", batches=10**6), tmp_path / "0.parquet"))
    assert "is full (0.1 MB free)" in capsys.readouterr().out  # the log is on that disk too


def test_a_run_out_of_memory_ends_in_a_line(tmp_path, monkeypatch):
    def huge(*args, **keys):
        return np.empty(1 << 50)

    monkeypatch.setattr(job, "Run", huge)
    with pytest.raises(SystemExit, match="^error: out of memory: Unable to allocate"):
        command.main(words(spec_of("es"), tmp_path / "0.parquet"))


def test_a_stopped_run_raises_before_its_first_batch(tmp_path):
    run = Run(spec_of("es"), 1)
    one = Keeper(run, tmp_path / "1.state", "c", Effort(0.0), "run")
    with pytest.raises(Stopped), one.listening():
        signal.raise_signal(signal.SIGTERM)
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    assert list(tmp_path.iterdir()) == []


def test_seconds_and_machines_of_all_processes_add_up(monkeypatch):
    before = {"seconds": 50.0, "cpu_seconds": 40.0, "peak_mb": 1e6, "processes": 2}
    effort = Effort(0.0)
    effort.go_on_from({**before, "machines": [{"processor": "another"}]})
    after = effort.metadata()
    assert 50.0 <= after["seconds"] < 60.0
    assert after["cpu_seconds"] > 40.0
    assert (after["peak_mb"], after["processes"]) == (1e6, 3)
    assert len(after["machines"]) == 2
    effort.go_on_from(after)
    assert effort.metadata()["machines"] == after["machines"]  # each one once
