"""On a cluster: what jobs ask for, and the workflow on a Slurm of one node that is put up here."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from test_progress import working_in
from test_workflow import CELLS, CONFIG, Project, assert_same, wait_for

from experiments import expected, plan
from experiments.expected import ALIKE, Expected, minutes
from experiments.paths import KEPT
from experiments.publishing import archive
from experiments.runs.trace import difference

ROOT = Path(__file__).parent.parent
PROFILE = ROOT / "profiles" / "slurm"
UP, DOWN = (ROOT / "tests" / "slurm" / name for name in ("up.sh", "down.sh"))
PROGRAMS = ("slurmctld", "slurmd", "srun", "munged", "runuser")
PLUGIN = "snakemake_executor_plugin_slurm"
# The profile, but with short waits
SLURM = ["--profile", "profiles/slurm", "--slurm-init-seconds-before-status-checks", "1"]
SLURM += ["--seconds-between-status-checks", "1", "--latency-wait", "3"]


# ---- what jobs ask for ---------------------------------------------------------------------------


def test_the_minutes_of_a_job_are_three_times_those_of_its_runs_and_ten(monkeypatch):
    spec = plan.Plan.from_config(CONFIG).experiments["tiny"].cells["levy", "es"]
    rates = [{} for _ in ALIKE[1:]] + [
        {"any": 0.06}
    ]  # seconds per evaluation, of which it has 2000
    monkeypatch.setattr(expected, "_on_slow_node", lambda: Expected(rates, 1.0))
    assert minutes(spec, 1) == 10 + 3 * 2
    assert minutes(spec, 20) == 10 + 3 * 20 * 2


def test_no_kept_run_needed_a_core_for_more_than_half_of_what_is_asked_for_it():
    kept = archive.kept_seconds(KEPT)
    specs = archive.kept_specs(KEPT)
    cells = kept.groupby(list(archive.KEY[:3]))["cpu_seconds"].max()
    assert len(cells) > 200
    late = {c: s for c, s in cells.items() if c in specs and s > 60 * minutes(specs[c], 1) / 2}
    assert late == {}


def test_no_job_asks_for_a_day_and_there_are_few_hundred_of_them():
    """Of all runs at the paper's size, with the seeds per job of the profile."""
    whole = plan.load(ROOT / "config.yaml", PROFILE / "seeds.yaml")
    asked = [
        minutes(spec, len(job.seeds))
        for job in whole.jobs()
        for experiment in whole.experiments.values()
        if re.fullmatch(job.experiment, experiment.name)
        for spec in experiment.own.values()
        for _ in (range(experiment.runs) if job.seeds == ["{seed}"] else [0])
    ]
    assert max(asked) < 24 * 60
    runs = sum(experiment.runs * len(experiment.own) for experiment in whole.experiments.values())
    assert runs / 20 < len(asked) < runs / 8  # some experiments have fewer seeds than a job takes


def test_a_job_asks_for_more_each_time(tmp_path):
    project = Project(tmp_path)
    for attempt in (1, 3):
        said = project.snakemake("--cores", "1", "--dry-run", "--attempt", str(attempt))
        asked = re.findall(r"runtime=(\d+), mem_mb=(\d+)", said)
        assert asked == [(str(11 * attempt), str(1000 * attempt))] * 12


def test_where_no_job_goes_to_a_cluster_nothing_is_looked_up_for_one(tmp_path):
    project = Project(tmp_path)
    (tmp_path / "experiments" / "publishing" / "archive.py").write_text(
        "raise RuntimeError('was looked up')\n"
    )
    project.snakemake("--cores", "1", "results/traces/tiny/levy/es/0.parquet")
    said = project.snakemake("--cores", "1", "--dry-run", ok=False)
    assert "was looked up" in said


@pytest.mark.parametrize(
    ("words", "wanted"),
    [(["quick"], "--cores 100 --profile profiles/slurm --jobs 100 "
      "--configfile config.yaml tests/quick.yaml profiles/slurm/seeds.yaml"),
     (["replicate", "CONFIG=a.yaml", "CORES=7", "RUNS=3"],
      "--cores 7 --profile profiles/slurm --jobs 7 "
      "--configfile config.yaml a.yaml profiles/slurm/seeds.yaml --config runs=3"),
     (["figure_1"], "--cores 100 --profile profiles/slurm --jobs 100 --figure figure_1 "
      "--configfile config.yaml profiles/slurm/seeds.yaml")],
)  # fmt: skip
def test_make_hands_the_profile_on(words, wanted):
    env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL", "CORES")}
    make = ["make", "--dry-run", "--no-print-directory", *words, "PROFILE=profiles/slurm"]
    make += ["--what-if=requirements-slurm.lock"]  # or a plugin that is installed is not named
    said = subprocess.run(make, cwd=ROOT, env=env, check=True, capture_output=True, text=True)
    assert wanted in re.sub(r"\s+", " ", said.stdout)
    assert "--requirements requirements-slurm.lock" in said.stdout


def test_the_plugin_is_pinned_beside_the_same_versions_of_all_else():
    pins = {}
    for name in ("requirements.lock", "requirements-slurm.lock"):
        text = (ROOT / name).read_text(encoding="utf-8")
        pins[name] = dict(re.findall(r"^([\w.-]+)==(\S+)", text, re.MULTILINE))
        assert "://" not in text
    suite, slurm = pins.values()
    assert {name for name, pin in slurm.items() if suite.get(name) != pin} == {
        "snakemake-executor-plugin-slurm", "snakemake-executor-plugin-slurm-jobstep",
    }  # fmt: skip


# ---- on Slurm ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def slurm(tmp_path_factory):
    """A Slurm of one node, in a folder of its own."""
    lacks = [name for name in PROGRAMS if not shutil.which(name)]
    lacks += [] if find_spec(PLUGIN) else [f"{PLUGIN} (requirements-slurm.lock)"]
    lacks += ["root"] if os.geteuid() else []
    if lacks:
        pytest.skip(f"NOT TESTED: Slurm, which cannot be put up here without {', '.join(lacks)}")
    folder = tmp_path_factory.mktemp("slurm")
    up = subprocess.run([UP, folder], capture_output=True, text=True, check=False)
    if "another Slurm is set up here" in up.stderr:
        pytest.skip(f"NOT TESTED: Slurm; {up.stderr}")
    assert up.returncode == 0, up.stderr
    yield folder
    subprocess.run([DOWN, folder], check=True)


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    """The tiny config's traces, run on this machine."""
    project = Project(tmp_path_factory.mktemp("local"))
    project.snakemake("--cores", "2", "--until", "trace")
    return project


@pytest.fixture
def fresh(slurm, tmp_path):
    yield Project(tmp_path)
    subprocess.run(["scancel", "--user=root"], check=True)
    wait_for(lambda: not jobs(), 60)
    for process in working_in(tmp_path):  # of a job that Slurm has lost sight of without cgroups
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


def jobs():
    """The jobs of Slurm that wait or run: what each runs, its state and its id."""
    ask = ["squeue", "--noheader", "--format=%k|%T|%i"]
    said = subprocess.run(ask, check=True, capture_output=True, text=True).stdout
    return [line.split("|") for line in said.splitlines()]


def start(project, *arguments, module="experiments.progress"):
    return subprocess.Popen(
        [sys.executable, "-m", module, *SLURM, *arguments, "--cores", "2"],
        cwd=project.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def finish(process, ok=True):
    said, _ = process.communicate(timeout=600)
    assert (process.returncode == 0) is ok, said
    return said


@pytest.mark.slurm
def test_through_slurm_the_data_are_the_same(local, fresh):
    fresh.configure(seeds_per_job=2, theory={"hyper_parameters": {}})
    finish(start(fresh))
    assert_same(local, fresh)
    results = fresh.folder / "results"
    assert (results / "figures" / "tiny_picture.png").is_file()
    assert (results / "tables" / "tiny" / "statistics.md").is_file()
    # all but runs and tables of the theory is made here
    log = "".join(file.read_text() for file in (fresh.folder / ".snakemake" / "log").glob("*.log"))
    kinds = set(re.findall(r"^(rule|localrule) (\w+):$", log, re.MULTILINE))
    away = {name for kind, name in kinds if kind == "rule"}
    assert away == {"trace_tiny_0", "theory"}
    here = {"table", "summaries", "figure", "theory_figure", "table_1", "claims", "manifest"}
    here |= {"all"}
    assert {name for kind, name in kinds if kind == "localrule"} == here
    assert log.count("has been submitted with SLURM jobid") == len(CELLS) + 1


@pytest.mark.slurm
def test_of_jobs_that_fail_each_is_named_and_the_next_start_makes_the_rest(fresh, tmp_path):
    """One is cancelled, one runs out of its minute, one out of its memory; the others go on."""
    endless = {"budget": 10**10, "dim": 4, "target": None, "problems": {"levy": {}}}
    tiny = {**CONFIG["experiments"]["tiny"], "problems": {"levy": {}}}
    experiments = {
        "late": endless | {"algorithms": {"es": {"step_size": 0.01}}},
        "unwanted": endless | {"algorithms": {"es": {"step_size": 0.02}}},
        # 1.3 GB, more than a first attempt asks for
        "large": endless
        | {"dim": 1000, "algorithms": {"es": {"step_size": 0.01, "samples": 20000}}},
        "tiny": tiny,
    }
    # for each experiment a rule of its own, of which one gets a minute
    keys = {"runs": 1, "seeds_per_job": 2}
    fresh.configure(**keys, experiments=experiments)
    process = start(fresh, "--retries", "0", "--set-resources", "trace_late_0:runtime=1")
    log = fresh.folder / "results" / "logs" / "unwanted" / "levy" / "es" / "0.log"
    wait_for(lambda: log.is_file() and log.stat().st_size, 300)
    ids = [number for what, _, number in jobs() if "_unwanted_" in what]
    subprocess.run(["scancel", *ids], check=True)
    said = finish(process, ok=False)
    for name, state in (("late", "TIMEOUT"), ("unwanted", "CANCELLED"), ("large", "FAILED")):
        message = next(
            text for text in said.split("Error in rule trace_")[1:] if f"/traces/{name}/" in text
        )
        assert f"SLURM status is: '{state}'" in message
        assert f"output: results/traces/{name}/levy/es/0.parquet" in message
        assert f"log: results/logs/{name}/levy/es/0.log" in message
        assert "python -m experiments.run --problem levy" in message
        assert f"--to results/traces/{name}/levy/es/0.parquet" in message
    reasons = re.findall("reason:  SLURM status is: '(\\w+)', error: (.*)", said)
    assert sorted(state for state, _ in reasons) == ["CANCELLED", "FAILED", "TIMEOUT"]
    reason = dict(reasons)
    assert "exceeded memory limit" in reason["FAILED"]
    assert "DUE TO TIME LIMIT" in reason["TIMEOUT"]
    assert "To do: 6 runs" in said
    for name in ("late", "unwanted"):  # Slurm lets them save their state
        words = (fresh.folder / "results" / "logs" / name / "levy" / "es" / "0.log").read_text()
        assert re.search(r"SIGTERM after [\d,]+ evaluations; goes on from there\n$", words)
    assert "Not complete: 3 jobs failed, see above" in said
    traces = [fresh.trace(f"levy/{name}", 0) for name in tiny["algorithms"]]
    assert (fresh.folder / "results" / "tables" / "tiny" / "statistics.md").is_file()
    written = [path.stat().st_mtime_ns for path in traces]
    # with an end of the endless ones, and the profile's attempts, of which the second has 2 GB
    for name, budget in (("late", 2000), ("unwanted", 2000), ("large", 100_000)):
        experiments[name] |= {"budget": budget}
    fresh.configure(**keys, experiments=experiments)
    finish(start(fresh))
    assert [path.stat().st_mtime_ns for path in traces] == written
    made = sorted((fresh.folder / "results" / "traces").rglob("*.parquet"))
    assert len(made) == 6
    (tmp_path / "here").mkdir()
    here = Project(tmp_path / "here")
    here.configure(runs=1, experiments=experiments)
    here.snakemake("--cores", "2", "--until", "trace")
    for path in made:
        assert difference(path, here.folder / path.relative_to(fresh.folder)) == ""


@pytest.mark.slurm
def test_after_a_killed_head_the_documented_command_ends_its_jobs_and_the_rest_is_made(
    local, fresh
):
    fresh.configure(seeds_per_job=2)
    process = start(fresh, module="snakemake")
    wait_for(lambda: any(path.is_file() for path in fresh.traces()), 300)
    process.kill()
    process.communicate()
    first = {p: p.stat().st_mtime_ns for p in fresh.traces() if p.is_file()}
    assert jobs()  # they go on by themselves
    [scancel] = re.findall(
        r"^scancel .*$", (ROOT / "docs" / "cluster.md").read_text(), re.MULTILINE
    )
    subprocess.run(scancel, shell=True, cwd=fresh.folder, check=True)
    wait_for(lambda: not jobs(), 30)
    finish(start(fresh))
    assert_same(local, fresh)
    assert not list((fresh.folder / "results").rglob("*.tmp"))
    assert first


@pytest.mark.slurm
def test_ctrl_c_takes_the_jobs_out_of_the_queue(fresh):
    fresh.configure(experiments={"tiny": {**CONFIG["experiments"]["tiny"], "budget": 10**9}})
    process = start(fresh)
    wait_for(lambda: any(state == "RUNNING" for _, state, _ in jobs()), 300)
    process.send_signal(signal.SIGINT)
    said = finish(process, ok=False)
    assert process.returncode == 128 + signal.SIGINT
    assert said.splitlines()[-1].startswith("Stopped: 0 of 12 runs are done and kept")
    wait_for(lambda: not jobs(), 30)
