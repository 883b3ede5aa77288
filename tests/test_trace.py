"""Traces: when a row is due, what a file holds, and what a broken one says."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import asdict, replace
from importlib.metadata import version
from itertools import count

import numpy as np
import pyarrow.parquet as pq
import pytest
from damage import DAMAGES, flips
from tiny import rewrite

import algorithms
from algorithms.shared.loop import iterate, quiet
from experiments.paths import ROOT
from experiments.runs import job, record, simulate, trace
from experiments.runs.seeds import stream
from experiments.runs.spec import Spec

SPEC = Spec("levy", "fast_ingo", 40_000, 1e-10, {"dim": 10}, {"initial_std": 0.5})


def rows_due(every, last):
    due, rows = 1, []
    while due <= last:
        rows.append(due)
        due = record.next_row(due, every)
    return rows


def test_rows_every_thousand_iterations_and_log_spaced_before():
    rows = rows_due(1000, 5000)
    assert rows[:8] == [1, 2, 3, 4, 6, 7, 10, 13]
    assert rows[-6:] == [750, 1000, 2000, 3000, 4000, 5000]
    assert len([r for r in rows if 100 <= r < 1000]) == 8


@pytest.mark.parametrize("every", [1, 2, 7, 100, 1000])
def test_the_grid_contains_every_multiple_and_only_grows(every):
    rows = rows_due(every, 20 * every)
    assert set(range(every, 20 * every + 1, every)) <= set(rows)
    assert rows == sorted(set(rows))


@pytest.fixture(scope="module")
def run():
    return simulate.run(SPEC, 4)


def test_the_rows_of_a_run(run):
    rows, metadata = run
    table = rows.table(metadata).to_pandas()
    assert list(table) == list(record.COLUMNS)
    assert (table["evaluations"] == table["iteration"] * 12).all()
    assert list(table["iteration"][:-1]) == rows_due(1000, table["iteration"].iloc[-1] - 1)
    assert (table["best"] <= table["batch_min"]).all()
    assert (table["best"].diff().dropna() <= 0).all()
    assert (table["batch_min"] <= table["batch_mean"]).all()
    assert metadata["stop"] == "target"
    assert table["batch_min"].iloc[-1] <= 1e-10
    assert table["sigma"].iloc[0] == pytest.approx(0.5)
    assert table["condition"].iloc[0] == 1.0


def test_hits_are_the_first_evaluations_at_each_target(run):
    rows, _ = run
    assert len(rows.hits) == len(record.TARGETS)  # the run reached 1e-10, the last of them
    assert rows.hits == sorted(rows.hits)
    table = rows.table({}).to_pandas()
    for target, hit in zip(record.TARGETS, rows.hits, strict=True):
        before = table[table["evaluations"] < hit]
        after = table[table["evaluations"] >= hit]
        assert (before["best"] > target).all()
        assert (after["best"] <= target).all()


def test_targets_have_five_a_decade():
    assert record.TARGETS[0] == 1e8
    assert record.TARGETS[-1] == 1e-10
    assert len(record.TARGETS) == 18 * 5 + 1
    assert {10.0**k for k in range(-10, 9)} <= set(record.TARGETS)


def test_reading_gives_back_what_was_written(run, tmp_path):
    rows, metadata = run
    path = tmp_path / "deep" / "er" / "4.parquet"
    trace.write(path, rows, metadata)
    table, read = trace.read(path)
    assert table.equals(rows.table({}))
    assert read["spec"]["algorithm"] == "fast_ingo"
    assert read["hits"] == rows.hits
    assert [p.name for p in path.parent.iterdir()] == ["4.parquet"]  # no temporary file is left
    field = table.schema.field("sigma")
    assert field.metadata[b"unit"] == b"x"
    assert b"geometric mean" in field.metadata[b"meaning"]


def test_a_failed_write_leaves_the_old_file_and_no_other(run, tmp_path, monkeypatch):
    rows, metadata = run
    path = tmp_path / "4.parquet"
    trace.write(path, rows, metadata)
    before = path.read_bytes()

    def half(table, where, **_):
        where.write_bytes(b"PAR1")
        raise OSError("disk full")

    monkeypatch.setattr(pq, "write_table", half)
    with pytest.raises(OSError, match="disk full"):
        trace.write(path, rows, metadata)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["4.parquet"]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_named_with_the_command_that_redoes_it(run, tmp_path, damage):
    path = tmp_path / "4.parquet"
    trace.write(path, *run)
    DAMAGES[damage](path)
    with pytest.raises(ValueError, match=r"4\.parquet is not a whole trace: .") as error:
        trace.read(path)
    assert f"Redo it: rm -r {path} and start the workflow again" in str(error.value)


def test_what_is_missing_is_said(tmp_path):
    for read in (trace.read, trace.read_metadata):
        with pytest.raises(ValueError, match="not a whole trace: there is no such file\n"):
            read(tmp_path / "0.parquet")
        with pytest.raises(ValueError, match="not a whole trace: it is no file\n"):
            read(tmp_path)


def test_a_flipped_bit_is_found_or_is_none_of_the_data(run, tmp_path):
    path = tmp_path / "4.parquet"
    rows, metadata = run
    trace.write(path, rows, metadata | {"machines": [], "processes": 1})
    table, whole = trace.read(path)
    found = 0
    for bit in flips(path, 1500):
        try:
            flipped, its = trace.read(path)
        except ValueError as error:
            found += f"rm -r {path}" in str(error)
        else:
            # in a name that nobody asks for, in what is written about a column, or in a gap
            assert flipped.equals(table), bit
            assert its == whole, bit
    assert found > 500


def test_a_trace_of_a_job_without_its_checksum_is_none(run, tmp_path):
    """And one from before there were any is."""
    path = tmp_path / "4.parquet"
    rows, metadata = run
    for added in ({}, {"machines": []}):
        trace.write(path, rows, metadata | added)
        table = pq.read_table(path)
        about = {k: v for k, v in table.schema.metadata.items() if k != b"sum"}
        pq.write_table(table.replace_schema_metadata(about), path)
        if added:
            with pytest.raises(ValueError, match="its content is not what was written"):
                trace.read(path)
        else:
            assert trace.read(path)[0].equals(table)


def test_a_trace_of_what_is_no_more_is_that_of_another_run(run, tmp_path):
    """Of an optimiser or a problem whose file was renamed."""
    path = tmp_path / "4.parquet"
    trace.write(path, *run)
    assert trace.misfit(trace.read_metadata(path), SPEC, 4, "") == ""
    for name in ("algorithm", "problem"):
        rewrite(path, spec={**run[1]["spec"], name: "gone"})
        why = trace.misfit(trace.read(path)[1], SPEC, 4, "")
        assert f"{name} gone, the config asks for {getattr(SPEC, name)}" in why


def test_the_same_run_twice_is_the_same_bits(run, tmp_path):
    trace.write(tmp_path / "a.parquet", *run)
    trace.write(tmp_path / "b.parquet", *simulate.run(SPEC, 4))
    trace.write(tmp_path / "c.parquet", *simulate.run(SPEC, 5))
    assert trace.difference(tmp_path / "a.parquet", tmp_path / "b.parquet") == ""
    assert trace.difference(tmp_path / "a.parquet", tmp_path / "c.parquet") != ""


def test_starts_are_paired_and_noise_is_not():
    """Two optimisers share the first mean of a seed; their samples differ."""
    means, batches = [], []
    for algorithm in ("fast_ingo", "igo"):
        spec = Spec("levy", algorithm, 24, 0.0, {"dim": 10}, {"initial_std": 0.5})
        seen = []
        simulate.run(spec, 0, seen.append)
        means.append(seen[0].state.mean)
        batches.append(seen[0].x)
    assert np.array_equal(*means)
    assert not np.array_equal(*batches)
    other = []
    simulate.run(Spec("levy", "igo", 24, 0.0, {"dim": 10}), 1, other.append)
    assert not np.array_equal(means[0], other[0].state.mean)


def test_targets_are_above_the_minimum_of_the_problem(monkeypatch):
    """Whatever it is: the same function lifted by 5 takes the same evaluations to each target."""
    build = simulate.problems.build

    def lifted(name, parameters, *of_run):
        plain = build(name, parameters, *of_run)
        return replace(plain, evaluate=lambda x: plain.evaluate(x) + 5.0, minimum=5.0)

    spec = Spec("ellipsoid", "fast_ingo", 60_000, 1e-3, {"dim": 4})
    rows, found = simulate.run(spec, 0)
    monkeypatch.setattr(simulate.problems, "build", lifted)
    high, other = simulate.run(spec, 0)
    assert (found["minimum"], other["minimum"]) == (0.0, 5.0)
    assert found["stop"] == other["stop"] == "target"
    assert high.rows["batch_min"][-1] == pytest.approx(5.0, abs=1.001e-3)
    assert len(rows.hits) == len(high.hits)
    # the lift rounds the values, which moves a run in its last digits: a batch or two of 12 points
    assert np.allclose(rows.hits, high.hits, rtol=0.02, atol=24)


@pytest.mark.parametrize("lost", [1, 2])
def test_a_trace_that_ends_before_its_run_did_is_named_though_its_checksum_is_right(tmp_path, lost):
    """One of older code has none, and no other sign of what is lost but where its run stopped."""
    path = tmp_path / "4.parquet"
    trace.write(path, *simulate.run(Spec("levy", "igo", 480, None, {"dim": 10}), 4))
    assert trace.read(path)[1]["stop"] == "budget"
    rewrite(path, slice(-lost))
    with pytest.raises(ValueError, match=r"4\.parquet is not a whole trace: its last row is of"):
        trace.read(path)


def test_a_trace_that_ends_before_its_last_target_is_named_whyever_its_run_stopped(tmp_path):
    """Where neither budget nor target says how long it has to be."""
    path = tmp_path / "4.parquet"
    rows, metadata = simulate.run(Spec("levy", "igo", 480, None, {"dim": 10}), 4)
    trace.write(path, rows, metadata | {"stop": "flat"})
    at = [int(n) for n in trace.read(path)[0]["evaluations"].to_numpy()]
    last = next(k for k, n in enumerate(at, 1) if n >= rows.hits[-1])
    rewrite(path, slice(last))
    assert len(trace.read(path)[0]) == last
    rewrite(path, slice(last - 1))
    with pytest.raises(ValueError, match=r"where the run did not stop \(flat, budget 480\)"):
        trace.read(path)


MINIMUM = 5.0


def lifted(plain):
    """The problem with its values lifted, a report that is none of them, and steps to count."""
    calls, steps = count(1), 0

    def evaluate(x):
        nonlocal steps
        steps += 3 * len(x)
        return plain.evaluate(x) + MINIMUM

    def report(mean):
        return float(mean.sum() + next(calls))

    return replace(
        plain,
        evaluate=evaluate,
        minimum=MINIMUM,
        report=report,
        steps=lambda: steps,
        title="Lifted",
    )


def commit_of_the_sources():
    """As git tells, and unknown where this is no checkout."""

    def git(*words):
        return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True)

    try:
        head = git("rev-parse", "HEAD").stdout.strip()
        edited = git("status", "--porcelain", "--untracked-files=no").stdout
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return f"{head}-dirty" if edited else head


@pytest.mark.parametrize(
    ("budget", "target", "stop"),
    [(20_000, 1e-3, "target"), (200, None, "budget"), (20_000, None, "flat")],
)
def test_every_column_and_all_metadata_are_what_the_batches_say(
    budget, target, stop, monkeypatch, tmp_path
):
    """Computed anew from the batches of the same loop. The minimum is 5, so that no value is its
    own distance to it, and a batch's mean, median and minimum are apart.
    """
    spec = Spec(
        "ellipsoid", "fast_ingo", budget, target, {"dim": 4}, {"samples": 7}, 10, root_seed=3
    )
    build = simulate.problems.build
    monkeypatch.setattr(simulate.problems, "build", lambda *words: lifted(build(*words)))
    path = tmp_path / "2.parquet"
    job.run_seed(spec, path, "c0de")
    table, metadata = trace.read(path)
    table = table.to_pandas()

    problem = lifted(build("ellipsoid", {"dim": 4}))
    mean = problem.start(stream(3, "start", "ellipsoid", 2))
    own = iterate(
        algorithms.build("fast_ingo", {"samples": 7}),
        problem.evaluate,
        mean,
        stream(3, "search", "ellipsoid", "fast_ingo", 2),
        budget,
        -np.inf if target is None else MINIMUM + target,
    )
    with quiet():
        batches = list(own)
    best = np.minimum.accumulate([batch.values.min() for batch in batches])
    due = sorted({*rows_due(10, len(batches)), len(batches)})
    rows = [(batches[i - 1], best[i - 1]) for i in due]
    wanted = {
        "iteration": due,
        "evaluations": [7 * i for i in due],
        "environment_steps": [3 * 7 * i for i in due],
        "f_mean": [batch.state.mean.sum() + k for k, (batch, _) in enumerate(rows, 1)],
        "batch_min": [min(batch.values) for batch, _ in rows],
        "batch_mean": [sum(batch.values) / 7 for batch, _ in rows],
        "best": [so_far for _, so_far in rows],
        "sigma": [np.prod(batch.state.std) ** (1 / 4) for batch, _ in rows],
        "condition": [max(batch.state.std**2) / min(batch.state.std**2) for batch, _ in rows],
    }
    assert list(table) == list(wanted)
    for name, column in wanted.items():
        np.testing.assert_allclose(table[name], column, rtol=1e-12, atol=0, err_msg=name)

    hits = [np.flatnonzero(best - MINIMUM <= t)[:1] for t in record.TARGETS]
    assert metadata.pop("hits") == [7 * (int(first[0]) + 1) for first in hits if len(first)]
    libraries = ("numpy", "scipy", "pyarrow", "cma", "pymoo", "gymnasium", "mujoco", "ioh")
    packages = {name: name for name in libraries} | {"cocoex": "coco-experiment"}
    loaded = {name: version(packages[name]) for name in packages if name in sys.modules}
    assert {"numpy", "pyarrow"} <= loaded.keys()
    measured = {name: metadata.pop(name) for name in ("seconds", "cpu_seconds", "peak_mb")}
    assert all(0 < value < 1e5 for value in measured.values()), measured
    (machine,) = metadata.pop("machines")
    assert set(machine) == {"processor", "blas", "numpy"}
    assert isinstance(metadata.pop("sum"), int)
    assert metadata == {
        "spec": asdict(spec),
        "seed": 2,
        "title": "Lifted",
        "minimum": MINIMUM,
        "stop": stop,
        "stop_detail": "",
        "last_mean": batches[-1].state.mean.tolist(),
        "processes": 1,
        "commit": commit_of_the_sources(),
        "code": "c0de",
        "versions": {"python": ".".join(map(str, sys.version_info[:3])), **loaded},
    }


def test_without_a_report_the_value_at_the_mean_is_the_function_s():
    batches = []
    record_, _ = simulate.run(
        Spec("levy", "ingo", 120, None, {"dim": 4}, record_every=1), 0, batches.append
    )
    means = np.array([batch.state.mean for batch in batches])
    plain = simulate.problems.build("levy", {"dim": 4})
    assert list(record_.rows["f_mean"]) == [plain.evaluate(mean[None, :])[0] for mean in means]
    assert list(record_.rows["environment_steps"]) == [0] * len(batches)
