"""Traces kept with the project come back as they were, and only where they are asked for."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path

import pandas as pd
import pytest
from damage import flips
from tiny import CONFIG, do_run, rewrite, write_config

from experiments import ledger, plan
from experiments.paths import KEPT
from experiments.publishing import archive
from experiments.runs import trace

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """A folder with the four traces of seed 0, those of seed 1 but one, and the packed files."""
    folder = tmp_path_factory.mktemp("done")
    what = plan.load(write_config(folder))
    for problem, algorithm in what.experiments["tiny"].cells:
        for seed in (0, 1):
            if (problem, algorithm, seed) != ("noise", "es", 1):
                do_run(what, problem, algorithm, seed)
    archive.pack(what, folder / "kept")
    return folder


def traces(folder):
    return sorted((folder / "results" / "traces").rglob("*.parquet"))


def restored(done, folder, **keys):
    folder.mkdir(exist_ok=True)
    what = plan.load(write_config(folder, **keys))
    return archive.restore(what, done / "kept")


def test_rows_and_metadata_come_back_bit_for_bit(done, tmp_path):
    written, left_out = restored(done, tmp_path)
    assert len(written) == 7
    assert left_out == archive.LeftOut()
    assert [p.relative_to(tmp_path) for p in traces(tmp_path)] == [
        p.relative_to(done) for p in traces(done)
    ]
    for path in written:
        before = done / path.relative_to(tmp_path)
        assert trace.difference(path, before) == ""
        assert trace.read(path)[1] == trace.read(before)[1]


def note(folder, seed, seconds, cpu):
    """Have a trace of ES on noise say how long it took."""
    path = folder / "results" / "traces" / "tiny" / "noise" / "es" / f"{seed}.parquet"
    rewrite(path, seconds=seconds, cpu_seconds=cpu)


def test_seconds_of_kept_traces_are_kept_and_later_ones_take_the_place_of_earlier_ones(
    done, tmp_path
):
    restored(done, tmp_path)
    what = plan.load(tmp_path / "config.yaml")
    kept = tmp_path / "kept"

    path = tmp_path / "results" / "traces" / "tiny" / "noise" / "es" / "0.parquet"
    note(tmp_path, 0, 0.1, 0.0)
    files, other = archive.pack(what, kept)
    assert other == []
    assert files[-1] == kept / "tiny" / "seconds.csv"

    def of_es():
        table = pd.read_csv(files[-1])
        return table[(table["problem"] == "noise") & (table["algorithm"] == "es")]

    assert of_es()["seed"].tolist() == [0]
    path.unlink()
    do_run(what, "noise", "es", 1)
    note(tmp_path, 1, 8.5, 8.0)
    archive.pack(what, kept)
    table = of_es()
    assert table["seed"].tolist() == [0, 1]
    assert table["seconds"].tolist() == [0.1, 8.5]
    assert table["cpu_seconds"].fillna(0).tolist() == [0.0, 8.0]
    note(tmp_path, 1, 9.5, 9.0)  # made anew
    archive.pack(what, kept)
    assert of_es()["seconds"].tolist() == [0.1, 9.5]
    # of the same seconds it is the same run, restored, and so is the speed of its machine
    noted = of_es().assign(speed=7.0)
    noted.to_csv(files[-1], index=False)
    archive.pack(what, kept)
    assert of_es()["speed"].tolist() == [7.0, 7.0]


def test_a_trace_of_other_settings_does_not_take_the_place_of_a_kept_one(done, tmp_path):
    kept = shutil.copytree(done / "kept", tmp_path / "kept")
    restored(done, tmp_path)
    tiny = CONFIG["experiments"]["tiny"]
    larger = plan.load(write_config(tmp_path, experiments={"tiny": {**tiny, "budget": 3000}}))
    note(tmp_path, 0, 900.0, 900.0)  # nor do its seconds
    files, left_out = archive.pack(larger, kept)
    assert files == []
    assert len(left_out) == 7
    for file in kept.rglob("*.parquet"):
        assert file.read_bytes() == (done / "kept" / file.relative_to(kept)).read_bytes()


def test_a_trace_that_is_there_stays_as_it_is(done, tmp_path):
    written, _ = restored(done, tmp_path)
    times = [p.stat().st_mtime_ns for p in written]
    again, left_out = restored(done, tmp_path)
    assert (again, left_out.there) == ([], 7)
    assert [p.stat().st_mtime_ns for p in written] == times


def test_a_trace_of_other_settings_is_left_out(done, tmp_path):
    tiny = CONFIG["experiments"]["tiny"]
    algorithms = {"fast_ingo": {}, "es": {"step_size": 0.02}}
    changed = {"tiny": {**tiny, "algorithms": algorithms}}
    written, left_out = restored(done, tmp_path, experiments=changed)
    assert {p.parent.name for p in written} == {"fast_ingo"}
    assert len(left_out.of_other_settings) == 3
    for keys in ({"root_seed": 6}, {"experiments": {"tiny": {**tiny, "budget": 2001}}}):
        other = tmp_path / str(keys)[:12].strip("{'")
        assert restored(done, other, **keys)[0] == []


def test_in_what_traces_of_other_settings_differ(done):
    tiny = CONFIG["experiments"]["tiny"]
    algorithms = {"fast_ingo": {}, "es": {"step_size": 0.02, "optimiser": "sgd"}}
    changed = tiny | {"algorithms": algorithms, "problems": {"ellipsoid": {"budget": 9000}}}
    what = plan.Plan.from_config(CONFIG | {"results": "r", "experiments": {"tiny": changed}})
    others = archive.restore(what, done / "kept")[1].of_other_settings
    assert archive.other_settings(others, what) == [
        "tiny, ellipsoid, es (2): kept with budget 2000, the config asks for 9000; "
        "kept with algorithm's step_size 0.01, the config asks for 0.02; "
        "kept with algorithm's optimiser adam, the config asks for sgd",
        "tiny, ellipsoid, fast_ingo (2): kept with budget 2000, the config asks for 9000",
        "tiny, noise, es, fast_ingo (3): not in the config",
    ]
    assert archive.other_settings(others, what, most=1)[1:] == ["and 2 more such lines"]


def test_no_target_is_no_difference_however_it_is_spelt(done):
    """−1 in older traces, None in the config of now."""
    what = plan.load(done / "config.yaml")
    spec = asdict(what.experiments["tiny"].cells["noise", "es"])
    kept = archive.Kept("tiny", ("noise", "es"), 0, spec | {"target": -1.0, "budget": 5})
    assert archive.other_settings([kept], what) == [
        "tiny, noise, es (1): kept with budget 5, the config asks for 2000; kept with target None, "
        "the config asks for 1e-10"
    ]
    cell = replace(what.experiments["tiny"].cells["noise", "es"], target=None)
    what.experiments["tiny"].cells["noise", "es"] = cell
    assert archive.other_settings([kept], what) == [
        "tiny, noise, es (1): kept with budget 5, the config asks for 2000"
    ]


def test_it_is_said_how_to_have_the_traces_of_other_settings(done, tmp_path, capsys, monkeypatch):
    """Kept is what the kept config says, which may be less than config.yaml."""
    shutil.copytree(done / "kept", tmp_path / "published" / "traces")
    tiny = CONFIG["experiments"]["tiny"]
    larger = tiny | {"problems": {"ellipsoid": {"budget": 9000}, "noise": {}}}
    config = str(write_config(tmp_path, experiments={"tiny": larger}))
    own = tmp_path / "published" / "config.yaml"
    own.write_text("experiments: {tiny: {problems: {ellipsoid: {budget: 2000}}}}")
    kept = ["--kept", str(own.parent / "traces")]
    monkeypatch.chdir(tmp_path)
    archive.main(["restore", "--config", config, *kept])
    said = capsys.readouterr()
    assert len(said.out.split()) == 3
    assert said.err.splitlines() == [
        "3 traces restored; left out: 0 already there, 4 of other settings, 0 of other code",
        "Of other settings:",
        "  tiny, ellipsoid, es, fast_ingo (4): kept with budget 2000, the config asks for 9000",
        f'To have 4 of them: make restore CONFIG="{config} published/config.yaml", and the same '
        "CONFIG for make replicate",
    ]
    archive.main(["restore", "--config", config, str(own), *kept])
    said = capsys.readouterr()
    assert len(said.out.split()) == 4
    assert said.err.splitlines() == [
        "4 traces restored; left out: 3 already there, 0 of other settings, 0 of other code"
    ]


def test_the_settings_of_the_kept_traces(done):
    what = plan.load(done / "config.yaml")
    (done / "kept" / "tiny" / "seconds.csv").write_text(
        "problem,algorithm,seed,seconds,cpu_seconds\nnoise,es,0,1.0,1.0\n"
    )
    cells = what.experiments["tiny"].cells
    found = archive.kept_specs(done / "kept")
    assert found == {("tiny", *cell): spec.canonical for cell, spec in cells.items()}
    (done / "kept" / "tiny" / "seconds.csv").unlink()


def test_fewer_runs_take_fewer_seeds(done, tmp_path):
    assert {p.stem for p in restored(done, tmp_path, runs=1)[0]} == {"0"}


def other_code(monkeypatch, which=lambda algorithm: True):
    """Code of which some optimisers have another fingerprint."""
    fingerprint = plan.Plan.fingerprint

    def changed(self, experiment, problem, algorithm):
        return fingerprint(self, experiment, problem, algorithm) + "0" * which(algorithm)

    monkeypatch.setattr(plan.Plan, "fingerprint", changed)


def test_a_trace_of_other_code_is_left_out(done, tmp_path, monkeypatch):
    other_code(monkeypatch, lambda algorithm: algorithm == "es")
    written, left_out = restored(done, tmp_path)
    assert {p.parent.name for p in written} == {"fast_ingo"}
    assert left_out.of_other_code == 3


def test_a_trace_of_code_that_is_certified_equal_comes_back_with_its_own_fingerprint(
    done, tmp_path, monkeypatch
):
    old = {
        metadata["code"] for _, (_, metadata) in archive.read(done / "kept" / "tiny" / "0.parquet")
    }
    other_code(monkeypatch)
    certificate = {"equal": [(code + "0", code) for code in old]}
    monkeypatch.setattr(ledger, "classes", lambda: ledger.Classes.of([certificate]))
    written, _ = restored(done, tmp_path)
    assert len(written) == 7
    assert {trace.read(path)[1]["code"] for path in written} == old


def test_a_trace_keeps_the_code_that_made_it_whatever_the_code_is_when_it_is_packed(
    done, tmp_path, monkeypatch
):
    other_code(monkeypatch)
    kept = tmp_path / "kept"
    archive.pack(plan.load(done / "config.yaml"), kept)
    changed = archive.restore(plan.load(write_config(tmp_path)), kept)
    assert (changed[0], changed[1].of_other_code) == ([], 7)


def test_two_labels_of_one_spec_stay_two(tmp_path):
    tiny = CONFIG["experiments"]["tiny"]
    twins = {"tiny": {**tiny, "algorithms": {"es": {}, "es_too": {"algorithm": "es"}}}}
    what = plan.load(write_config(tmp_path, experiments=twins))
    for algorithm in ("es", "es_too"):
        do_run(what, "ellipsoid", algorithm, 0)
    (file, _), _ = archive.pack(what, tmp_path / "kept")
    cells = dict(archive.read(file))
    assert list(cells) == [("ellipsoid", "es"), ("ellipsoid", "es_too")]
    assert len({len(rows) for rows, _ in cells.values()}) == 1


def test_packing_adds_to_what_is_kept_and_drops_nothing(done, tmp_path):
    kept = shutil.copytree(done / "kept", tmp_path / "kept")
    before = {p: p.read_bytes() for p in kept.rglob("*.parquet")}
    what = plan.load(write_config(tmp_path))
    assert archive.pack(what, kept) == ([], [])
    do_run(what, "noise", "es", 1)
    files = [kept / "tiny" / "1.parquet", kept / "tiny" / "seconds.csv"]
    assert archive.pack(what, kept) == (files, [])
    changed = [p.name for p, old in before.items() if p.read_bytes() != old]
    assert changed == ["1.parquet"]
    Path(what.trace("tiny", "noise", "es", 1)).unlink()
    assert len(archive.restore(what, kept)[0]) == 8


def test_packing_again_gives_the_same_bytes(done, tmp_path):
    what = plan.load(done / "config.yaml")
    archive.pack(what, tmp_path)
    for file in tmp_path.rglob("*.parquet"):
        assert file.read_bytes() == (done / "kept" / file.relative_to(tmp_path)).read_bytes()


def test_packing_what_was_restored_leaves_the_kept_files(done, tmp_path):
    """Older ones as well, whose traces have no checksum until they are restored."""
    kept = tmp_path / "kept"
    for file in (done / "kept").rglob("*.parquet"):
        cells = dict(archive.read(file))
        for _, metadata in cells.values():
            del metadata["sum"], metadata["machines"]
        archive.write(kept / file.relative_to(done / "kept"), cells)
    whole = {file: file.read_bytes() for file in kept.rglob("*.parquet")}
    what = plan.load(write_config(tmp_path))
    assert len(archive.restore(what, kept)[0]) == 7
    files, _ = archive.pack(what, kept)
    assert set(files) > set(whole)
    assert {file: file.read_bytes() for file in kept.rglob("*.parquet")} == whole
    note(tmp_path, 0, 3.0, 2.0)
    archive.pack(what, kept)
    changed = [file for file in whole if file.read_bytes() != whole[file]]
    assert changed == [kept / "tiny" / "0.parquet"]
    assert dict(archive.read(changed[0]))["noise", "es"][1]["seconds"] == 3.0


def test_a_flipped_bit_of_a_kept_file_is_found_or_is_none_of_the_data(done, tmp_path):
    file = Path(shutil.copy(done / "kept" / "tiny" / "0.parquet", tmp_path))
    whole, found = dict(archive.read(file)), 0
    for bit in flips(file, 600):
        try:
            cells = dict(archive.read(file))
        except ValueError as error:
            found += f"{file} is no whole file of kept traces: " in str(error)
        else:
            assert cells.keys() == whole.keys(), bit
            for cell, (rows, metadata) in cells.items():
                assert rows.schema.equals(whole[cell][0].schema), (bit, cell)
                assert trace.sum_of(rows, metadata) == trace.sum_of(*whole[cell]), (bit, cell)
                assert metadata == whole[cell][1], (bit, cell)
    assert found > 200  # a third at least: the rest falls into what no reader looks at


def test_another_number_in_a_kept_file_is_found(done, tmp_path):
    """Where no page says so."""
    cells = dict(archive.read(done / "kept" / "tiny" / "0.parquet"))
    rows, metadata = cells["noise", "es"]
    cells["noise", "es"] = rows, metadata | {"minimum": 1.0}
    archive.write(tmp_path / "0.parquet", cells)
    with pytest.raises(ValueError, match="the trace of noise/es is not what was written"):
        dict(archive.read(tmp_path / "0.parquet"))


def test_a_broken_file_is_named(done, tmp_path):
    kept = shutil.copytree(done / "kept", tmp_path / "kept")
    file = kept / "tiny" / "0.parquet"
    file.write_bytes(file.read_bytes()[:1000])
    with pytest.raises(ValueError, match=r"tiny/0\.parquet is no whole file"):
        archive.restore(plan.load(write_config(tmp_path)), kept)


def test_every_kept_trace_is_of_code_that_is_equal_to_todays():
    """A change of code that keeps its runs lands with a line of the ledger, which `make certify`
    writes; one that changes data lands with new runs.
    """
    what = plan.load(ROOT / "config.yaml", ROOT / "results/published/config.yaml")
    classes, other, count = ledger.classes(), set(), 0
    for name, experiment in what.experiments.items():
        for file in (KEPT / name).glob("*.parquet"):
            for cell, (_, metadata) in archive.read(file):
                count += 1
                if cell in experiment.cells and classes[metadata["code"]] != what.code(name, *cell):
                    other.add((name, *cell))
    assert count > 2900
    assert not other


def test_restoring_loads_no_library_that_draws_or_moves():
    code = (
        "import sys, experiments.publishing.archive;"
        "print([n for n in ('matplotlib', 'PIL', 'mujoco', 'cma', 'pymoo') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr
