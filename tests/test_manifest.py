"""What the manifest says of a set of results is what its traces, jobs and files say."""

from __future__ import annotations

import hashlib
import json

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
import yaml
from test_workflow import CONFIG as STUDY
from test_workflow import Project
from tiny import CONFIG, do_run, write_config

from experiments import config as configs
from experiments import plan
from experiments.paths import KEPT, PUBLISHED, ROOT
from experiments.publishing import archive, commands, manifest
from experiments.publishing.manifest import Run

NONE = {"seconds": None, "cpu_seconds": None, "peak_mb": None}


def run(cell=("levy", "es"), seed=0, stop="budget", experiment="tiny", **metadata):
    common = {"stop": stop, "commit": "c", "versions": {"numpy": "2.0"}, "code": "a"}
    return Run(experiment, cell, seed, common | metadata)


def jobs(*rows):
    """Rows of experiment, problem, algorithm, seed, seconds, cpu_seconds."""
    return pd.DataFrame(rows, columns=[*archive.KEY, "seconds", "cpu_seconds"])


def test_the_cost_of_a_run_is_that_of_its_trace_else_that_of_its_job():
    noted = jobs(("tiny", "levy", "es", 0, 9.0, 8.0)).set_index(list(archive.KEY))
    own = {"seconds": 3.0, "cpu_seconds": 2.5, "peak_mb": 80.0}
    assert manifest.run_cost(run(**own), noted) == own
    assert manifest.run_cost(run(), noted) == NONE | {"seconds": 9.0, "cpu_seconds": 8.0}
    assert manifest.run_cost(run(seed=1), noted) == NONE  # in the job of seed 0
    assert manifest.run_cost(run(experiment="other"), noted) == NONE
    assert manifest.run_cost(run(), jobs().set_index(list(archive.KEY))) == NONE


def test_a_cell_sums_seconds_takes_the_largest_peak_and_counts_stops_and_codes():
    noted = jobs(("tiny", "levy", "es", 2, 10.0, np.nan)).set_index(list(archive.KEY))
    runs = [
        run(seed=0, stop="target", seconds=3.0, cpu_seconds=2.5, peak_mb=80.04),
        run(seed=1, stop="budget", seconds=4.004, cpu_seconds=3.5, peak_mb=70.0),
        run(seed=2, stop="budget"),
        run(seed=3, stop="flat", code="b"),
    ]
    assert manifest.of_cell(runs, noted) == {
        "runs": 4,
        "measured": 3,
        "seconds": 17.0,
        "cpu_seconds": 6.0,
        "peak_mb": 80.0,
        "stops": {"budget": 2, "flat": 1, "target": 1},
        "code": {"a": 3, "b": 1},
    }
    assert manifest.of_cell(runs[2:], noted)["peak_mb"] is None


def test_commits_and_versions_are_counted_and_a_shared_cell_names_the_one_that_is_run():
    other = {"dim": 4, "budget": 2000, "target": 1e-10, "problems": {"noise": {}},
             "algorithms": {"mine": {"same_as": "tiny/es"}, "ingo": {}}}  # fmt: skip
    config = CONFIG | {"results": "r", "experiments": CONFIG["experiments"] | {"other": other}}
    runs = [
        run(("noise", "es"), 0, commit="b", versions={"numpy": "2.0", "cma": "4"}),
        run(("noise", "es"), 1, commit="a"),
        run(("noise", "ingo"), 0, commit="b", versions={"numpy": "2.1"}, experiment="other"),
        run(("gone", "es"), 0, commit="z"),  # kept, but not in the config any more
    ]
    made = manifest.of_runs(runs, jobs(), plan.Plan.from_config(config))
    assert list(made["commits"].items()) == [("a", 1), ("b", 2), ("z", 1)]
    assert list(made["versions"].items()) == [("cma", {"4": 1}), ("numpy", {"2.0": 3, "2.1": 1})]
    assert {name: set(cells) for name, cells in made["experiments"].items()} == {
        "tiny": {"noise/es"}, "other": {"noise/mine", "noise/ingo"}
    }  # fmt: skip
    assert made["experiments"]["other"]["noise/mine"] == {"same_as": "tiny/es"}
    assert made["experiments"]["tiny"]["noise/es"]["runs"] == 2


def test_only_traces_of_these_settings_and_this_code_count(tmp_path):
    what = plan.load(write_config(tmp_path))
    for problem, seed in (("noise", 0), ("noise", 1), ("ellipsoid", 0)):
        do_run(what, problem, "es", seed)
    wanted = [("noise", 0), ("noise", 1), ("ellipsoid", 0)]

    def counted(by):
        return {(found.cell[0], found.seed) for found in manifest.traces(by)}

    assert counted(what) == set(wanted)
    # another fingerprint in one, other settings of the others
    path = what.trace("tiny", "noise", "es", 1)
    table = pq.read_table(path)
    pq.write_table(table.replace_schema_metadata({**table.schema.metadata, b"code": b'"x"'}), path)
    assert counted(what) == {("noise", 0), ("ellipsoid", 0)}
    assert counted(plan.load(tmp_path / "config.yaml", root_seed=6)) == set()


def test_the_files_of_the_config_are_named_once_in_the_order_in_which_they_are_laid():
    own = ROOT / "config.yaml"
    command = commands.manifest(["mine.yaml", own, "mine.yaml"], {"runs": 2}, "r/manifest.json")
    args = commands.manifest_parser("Doc.").parse_args(list(command.arguments))
    assert [path.resolve() for path in args.config] == [own, (ROOT / "mine.yaml").resolve()]
    assert (args.over, str(args.to)) == ({"runs": 2}, "r/manifest.json")
    assert "--over" not in commands.manifest([own], {}, "m").arguments


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A project whose workflow has run with settings from three places, and its manifest."""
    project = Project(tmp_path_factory.mktemp("manifest"))
    mine = project.folder / "mine.yaml"
    mine.write_text("root_seed: 7\nexperiments: {tiny: {problems: {ellipsoid: null}}}\n")
    words = ["--cores", "2", "--configfile", "mine.yaml", "--config", "runs=1", "results=here"]
    project.snakemake(*words)
    return project, words, json.loads((project.folder / "here" / "manifest.json").read_text())


def test_the_workflow_writes_the_config_as_merged_the_lock_and_the_machine(made):
    project, _, found = made
    asked = {"runs": 1, "results": "here", "root_seed": 7}
    over = {"experiments": {"tiny": {"problems": {"ellipsoid": None}}}}
    assert found["config"] == configs.merge(STUDY | asked, over)
    lock = (ROOT / "requirements.lock").read_bytes()
    by = found["made_by"]
    assert by["requirements_lock_sha256"] == hashlib.sha256(lock).hexdigest()
    assert by["versions"]["numpy"] == np.__version__
    assert {"python", "scipy", "pandas", "pyarrow", "snakemake", "cma"} <= set(by["versions"])
    assert by["machine"]["cores"] >= 1
    assert 0.1 < by["machine"]["memory_gb"] < 1e5
    assert by["commit"] == "unknown"  # the copy is no checkout
    assert found["runs"]["commits"] == {"unknown": 3}
    cells = found["runs"]["experiments"]["tiny"]
    assert set(cells) == {f"levy/{name}" for name in ("fast_ingo", "ingo", "es")}
    for cell in cells.values():
        assert (cell["runs"], cell["measured"]) == (1, 1)
        assert 0 < cell["seconds"] < 60
    table = pd.read_parquet(project.folder / "here/tables/tiny/runs.parquet")
    for key, runs in table.groupby(table["problem"] + "/" + table["algorithm"]):
        assert cells[key]["stops"] == runs["stop"].value_counts().to_dict()


def test_another_label_writes_it_anew_and_the_command_by_itself_writes_the_same(made):
    project, words, _ = made
    file = project.folder / "here" / "manifest.json"
    before = file.read_text()
    text = project.snakemake(*words, "--force", "here/manifest.json")
    assert file.read_text() == before
    assert "python -m experiments.publishing.manifest --config config.yaml mine.yaml" in text
    mine = project.folder / "mine.yaml"
    mine.write_text(mine.read_text() + "figures: {tiny_picture: {title: Another}}\n")
    text = project.snakemake(*words, "--dry-run")
    assert "rule manifest:" in text
    assert "rule table:" not in text


def test_captions_and_verdicts_link_to_it(made):
    folder = made[0].folder / "here"
    for file in (folder / "figures" / "tiny_picture.md", folder / "claims.md"):
        target = file.read_text().splitlines()[-1].split("(")[1].split(")")[0]
        assert (file.parent / target).resolve() == (folder / "manifest.json").resolve()


def test_the_kept_manifest_is_that_of_the_kept_traces(tmp_path):
    published = ROOT / PUBLISHED
    to = tmp_path / "manifest.json"
    files = [ROOT / "config.yaml", published / "config.yaml"]
    manifest.main(["--kept", str(KEPT), "--config", *map(str, files), "--to", str(to)])
    assert to.read_text() == (published / "manifest.json").read_text()
    found = json.loads(to.read_text())
    cells = {
        (name, *cell.split("/")): of
        for name, those in found["runs"]["experiments"].items()
        for cell, of in those.items()
        if "runs" in of
    }
    kept = [
        (file.parent.name, *cell)
        for file in KEPT.glob("*/*.parquet")
        for cell in set(
            pq.read_table(file, columns=["problem", "algorithm"])
            .to_pandas()
            .itertuples(False, None)
        )
    ]
    assert sum(found["runs"]["commits"].values()) == len(kept)
    # those of cells that are not whole yet are in no table
    assert {cell: kept.count(cell) for cell in cells} == {c: of["runs"] for c, of in cells.items()}
    table = archive.kept_seconds(KEPT)
    of_cells = table[["experiment", "problem", "algorithm"]].apply(tuple, axis=1).isin(list(cells))
    seconds = table.loc[of_cells, "seconds"].sum()
    assert sum(of.get("seconds", 0) for of in cells.values()) == pytest.approx(seconds, rel=1e-4)
    stops = pd.read_parquet(published / "tables/figure_1/runs.parquet")
    one = stops[(stops["problem"] == "levy") & (stops["algorithm"] == "cma_es")]
    wanted = one["stop"].value_counts().to_dict()
    assert found["runs"]["experiments"]["figure_1"]["levy/cma_es"]["stops"] == wanted


def test_a_config_that_is_not_allowed_is_an_error_in_a_line(tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text(yaml.safe_dump(CONFIG | {"results": "r", "runs": 0}))
    with pytest.raises(SystemExit, match=r"^error: runs is 0"):
        manifest.main(["--config", str(path), "--to", str(tmp_path / "m.json")])
