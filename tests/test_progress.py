"""What is said of the time that runs take, before and while they run, and how they are stopped."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from test_workflow import CONFIG as STUDY
from test_workflow import Project, wait_for
from tiny import CONFIG, do_run, write_config

from experiments import expected, plan, progress, speed
from experiments.expected import A_JOB, OTHER_JOB, Expected
from experiments.progress import Job, Progress
from experiments.publishing import archive

ROOT = Path(__file__).parent.parent
COMMAND = [sys.executable, "-m", "experiments.progress"]
TINY = CONFIG["experiments"]["tiny"]


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """Kept runs of ES on two problems that took 10 and 30 s of a core of speed 100."""
    folder = tmp_path_factory.mktemp("kept")
    what = plan.load(write_config(folder))
    for problem in ("ellipsoid", "noise"):
        do_run(what, problem, "es", 0)
    archive.pack(what, folder / "kept")
    (folder / "kept" / "tiny" / "seconds.csv").write_text(
        "problem,algorithm,seed,seconds,cpu_seconds,speed\n"
        "ellipsoid,es,0,19.0,10.0,100.0\nnoise,es,0,30.0,30.0,100.0\n"
    )
    return folder / "kept"


def spec(**keys):
    return replace(plan.Plan.from_config(STUDY | {"experiments": {"tiny": TINY}, "figures": {}})
                   .experiments["tiny"].cells["ellipsoid", "es"], **keys)  # fmt: skip


def test_a_run_takes_the_kept_seconds_by_its_budget_and_the_speed_of_the_machine(kept):
    same, faster = (Expected.by_kept(kept, speed) for speed in (100.0, 200.0))
    assert same.seconds(spec()) == (pytest.approx(10.0), True)
    assert same.seconds(spec(budget=6000, record_every=1)) == (pytest.approx(30.0), True)
    assert faster.seconds(spec()) == (pytest.approx(5.0), True)
    assert (same.slower, faster.slower) == (1.0, 0.5)
    assert same.seconds(spec(budget=20)) == (A_JOB, True)  # it starts a process all the same


@pytest.mark.parametrize(
    ("keys", "seconds"),
    [
        ({"algorithm_parameters": {"step_size": 0.5}}, 10.0),  # another setting on this problem
        ({"problem": "noise", "algorithm": "ingo"}, 30.0),  # another optimiser on that problem
        ({"problem": "noise", "problem_parameters": {"dim": 9}}, 30.0),  # the same in 9 dimensions
        ({"problem": "levy"}, 20.0),  # the optimiser on all problems, half way
        ({"problem": "levy", "algorithm": "ingo"}, 20.0),  # all that there is
    ],
)
def test_other_settings_are_guessed_from_the_runs_most_alike(kept, keys, seconds):
    assert Expected.by_kept(kept, 100.0).seconds(spec(**keys)) == (pytest.approx(seconds), False)


def test_where_nothing_is_kept_a_run_is_one_job(tmp_path):
    assert Expected.by_kept(tmp_path).seconds(spec()) == (A_JOB, False)


def test_seconds_without_a_speed_count_as_those_of_the_machine_that_was_derived(kept, tmp_path):
    (tmp_path / "tiny").mkdir()
    text = (kept / "tiny" / "seconds.csv").read_text()
    (tmp_path / "tiny" / "seconds.csv").write_text(text.replace(",speed", "").replace(",100.0", ""))
    (tmp_path / "tiny" / "0.parquet").write_bytes((kept / "tiny" / "0.parquet").read_bytes())
    same, twice = (Expected.by_kept(tmp_path, k * speed.UNKNOWN) for k in (1, 2))
    assert same.seconds(spec()) == (pytest.approx(10.0), True)
    assert twice.seconds(spec()) == (pytest.approx(5.0), True)


def test_packed_seconds_carry_the_speed_of_this_machine(tmp_path, monkeypatch):
    what = plan.load(write_config(tmp_path))
    do_run(what, "noise", "es", 0)
    monkeypatch.setattr(speed, "probe", lambda: 1234.56)
    archive.pack(what, tmp_path / "kept")
    assert archive.kept_seconds(tmp_path / "kept")["speed"].tolist() == [1234.6]


def test_the_probe_counts_processor_time():
    """Twice as long gives twice the rounds: the same speed, to what a busy machine allows."""
    short, long = speed.probe(0.1), speed.probe(0.3)
    assert short == pytest.approx(long, rel=0.5)


def test_all_runs_of_the_config_but_those_of_the_theory_are_expected_from_kept_ones():
    them = Expected.by_kept(speed=speed.UNKNOWN)
    run = plan.load(
        "config.yaml", archive.KEPT.parent / "config.yaml"
    ).experiments  # the others are null
    for name, experiment in run.items():
        known = [them.seconds(cell)[1] for cell in experiment.own.values()]
        assert all(known) or name == "convex", name  # whose traces are not kept
    figure_1 = plan.load("config.yaml").experiments["figure_1"]
    seconds = sum(them.seconds(cell)[0] for cell in figure_1.own.values()) * figure_1.runs
    kept = archive.kept_seconds(archive.KEPT)
    kept["here"] = kept["cpu_seconds"] * kept["speed"].fillna(speed.UNKNOWN) / speed.UNKNOWN
    theirs = kept.loc[kept["experiment"] == "figure_1", "here"].sum()
    assert seconds == pytest.approx(theirs, rel=0.1)  # a setting has runs elsewhere too


# ---- what is to be done --------------------------------------------------------------------------

DRY_RUN = """
[Sat Nov 29 20:50:47 2025]
rule trace:
    output: results/traces/tiny/levy/es/0.parquet, results/traces/tiny/levy/es/1.parquet
    log: results/logs/tiny/levy/es/0.log
    jobid: 1181

rule table:
    input: results/traces/tiny/levy/es/0.parquet, results/traces/tiny/levy/es/1.parquet
    output: results/tables/tiny/runs.parquet, results/tables/tiny/curves.parquet
    log: results/logs/tiny/table.log

rule all:
    input: results/figures/figure_1.png
    jobid: 0
"""


def test_jobs_are_those_of_the_dry_run():
    jobs, guessed = progress.jobs_to_do(
        plan.Plan.from_config(STUDY), DRY_RUN, Expected([{} for _ in expected.ALIKE], 1.0)
    )
    log = Path("results/logs/tiny/levy/es/0.log")
    folder = Path("results/traces/tiny/levy/es")
    assert jobs == [
        Job(folder / "0.parquet", log, A_JOB, 0),
        Job(folder / "1.parquet", log, A_JOB, 1),
        Job(Path("results/tables/tiny/runs.parquet"), log.parents[2] / "table.log", OTHER_JOB),
    ]
    assert guessed == 2


@pytest.fixture
def watched(tmp_path):
    """Runs of 100 and 300 s and a table, on two cores, begun now."""
    log = tmp_path / "0.log"
    jobs = [
        Job(tmp_path / "0.parquet", log, 100.0, 0),
        Job(tmp_path / "1.parquet", log, 300.0, 1),
        Job(tmp_path / "table", tmp_path / "table.log", 4.0),
    ]
    return Progress(jobs, cores=2)


def test_share_and_time_left_are_by_expected_time(watched):
    assert watched.line(0, watched.began) == (
        "0 % of the expected time, 0 of 2 runs, about 5 min left"  # the longest run, on one core
    )
    watched.jobs[0].path.touch()
    # 50 s on two cores, as was expected of what is done
    assert watched.line(0, watched.began + 50) == (
        "25 % of the expected time, 1 of 2 runs, about 5 min left"
    )
    watched.jobs[0].log.write_text(
        "es on levy, seed 1: 1,500 of 2,000 evaluations, best 1, 4.0 s\n"
    )
    # 225 of the longer run's seconds are done as well, for 250 s on two cores that were spent
    began, prior = watched.began, progress.START + progress.PRIOR * 404
    left = (500 + prior) / (325 + prior) * 75
    assert watched.line(2, began + 250) == (
        f"80 % of the expected time, 1 of 2 runs, 2 jobs failed, about {left / 60:.0f} min left"
    )
    for job in watched.jobs:
        job.path.touch()
    assert watched.line(0, began + 200).startswith(
        "100 % of the expected time, 2 of 2 runs, about 0"
    )


def test_what_was_there_before_is_not_done_yet(watched):
    """A trace of other code is made anew, and a log of another day says nothing."""
    watched.jobs[0].path.touch()
    watched.jobs[0].log.write_text(
        "es on levy, seed 1: 1,500 of 2,000 evaluations, best 1, 4.0 s\n"
    )
    for path in (watched.jobs[0].path, watched.jobs[0].log):
        os.utime(path, (watched.began - 100, watched.began - 100))
    assert sum(watched.left()) == 404.0
    assert watched.runs == (0, 2)


def test_a_log_of_several_seeds_is_about_the_one_that_it_names(watched):
    """None of the two runs is done; seed 0 is half way, and seed 1 has not begun."""
    watched.jobs[0].log.write_text(
        "es on levy, seed 0: 1,000 of 2,000 evaluations, best 1, 4.0 s\n"
    )
    assert watched.left() == [50.0, 300.0, 4.0]


@pytest.mark.parametrize(
    ("seconds", "words"), [(40, "40 s"), (700, "12 min"), (12240, "3.4 h"), (181440, "2.1 days")]
)
def test_a_duration_has_the_unit_that_fits(seconds, words):
    assert progress.duration(seconds) == words


def test_of_snakemakes_words_the_errors_are_shown():
    said = """Building DAG of jobs...
[Sat Nov 29 20:50:47 2025]
rule trace:
    output: a
Shell command: python -m experiments.run
RuleException:
CalledProcessError in file "rules.smk", line 26:
[Sat Nov 29 20:50:48 2025]
Error in rule trace:
    log: b
Logfile b:
error: planted
[Sat Nov 29 20:50:49 2025]
Finished jobid: 3 (Rule: trace)
3 of 4 steps (75%) done
MissingRuleException:
No rule to produce c
Exiting because a job execution failed. Look above for error messages
1 job failed:
  a
The disk that holds results is full (0.0 MB free). Free some space, then the same command again.
Complete log(s): d""".splitlines()
    assert [line for line in progress.errors(iter(said)) if line] == [
        *said[8:12], *said[15:17], *said[18:20]
    ]  # fmt: skip
    assert len(list(progress.errors(iter(said)))) == len(said)


# ---- the command ---------------------------------------------------------------------------------


@pytest.fixture
def project(tmp_path):
    made = Project(tmp_path)
    (tmp_path / "Makefile").write_text((ROOT / "Makefile").read_text())
    yield made
    for process in working_in(tmp_path):  # after a test that failed
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


def working_in(folder):
    """Processes of a folder, each with its command."""
    found = {}
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (process / "cwd").resolve() == folder.resolve():
                found[int(process.name)] = (process / "cmdline").read_text()
    return found


def start(project, *arguments, command=COMMAND):
    return subprocess.Popen(
        [*command, *arguments],
        cwd=project.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def test_it_says_what_is_to_be_done_does_it_and_says_where_it_is(project):
    project.configure(runs=1)
    process = start(project, "--cores", "2", "--figure", "tiny_picture")
    text = process.communicate(timeout=200)[0]
    assert process.returncode == 0, text
    assert "To do: 6 runs, and 2 tables and figures\n" in text
    assert "core-hours, about 4 s on 2 cores (a guess: no kept run has these settings)" in text
    assert "Results: results/ " in text
    drawn = "Drawn: results/figures/tiny_picture.png; beside it as .pdf and .svg, and its caption"
    assert text.endswith(f"{drawn}, .md\n")
    assert "rule trace" not in text  # which is in the log
    assert "rule trace" in next((project.folder / ".snakemake" / "log").iterdir()).read_text()
    assert (project.folder / "results/figures/tiny_picture.pdf").stat().st_size > 5000
    again = start(project, "--cores", "2", "--figure", "tiny_picture")
    assert "Nothing to do: all is there.\nDrawn: results/fig" in again.communicate(timeout=100)[0]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--figure", "nobody"], "error: the figure is 'nobody'; allowed: tiny_picture\n"),
        (["--config", "runs=0"], "error: runs is 0; allowed: a number ≥ 1\n"),
        (["--cores", "many"], "argument --cores: 'many'; allowed: all, or a number ≥ 1\n"),
        (["a/b.txt"], "No rule to produce a/b.txt"),
    ],
)
def test_a_mistake_is_named_before_the_first_job(project, arguments, words):
    process = start(project, *arguments)
    text = process.communicate(timeout=100)[0]
    assert process.returncode != 0
    assert words in text
    assert "Traceback" not in text
    assert not list(project.folder.glob("results/[!.]*"))  # marks of the dry run at most


def test_a_failed_job_is_shown_with_its_log_and_the_others_are_made(project):
    es = project.folder / "algorithms" / "es.py"
    es.write_text(es.read_text().replace("y = state.std * z", "raise OSError('planted')"))
    project.configure(runs=1)
    process = start(project, "--cores", "2", "--again", "make it so")
    text = process.communicate(timeout=200)[0]
    assert process.returncode == 1
    assert text.count("Error in rule trace:") == 2
    shown, listed = text.split("2 jobs failed:\n")
    assert shown.count("error: planted") == listed.count("    reason:  error: planted\n") == 2
    assert text.endswith("Not complete: 2 jobs failed, see above. To try again: make it so\n")
    assert sum(path.is_file() for path in project.traces()) == 4


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_and_its_jobs_with_one_line(project, tmp_path, number):
    """With runs that would take minutes more."""
    tiny = STUDY["experiments"]["tiny"]
    project.configure(experiments={"tiny": tiny | {"budget": 10**9, "algorithms": {"es": {}},
                      "problems": {"noise": {"budget": 2000}, "levy": {}}}})  # fmt: skip
    process = start(project, "--cores", "3", "--again", "make it so")
    folder = project.folder / "results"
    # the two long ones, a shell and a process each, leave a core for the two short ones
    wait_for(
        lambda: (
            len(list(folder.rglob("*.parquet"))) == 2
            and sum("experiments.run" in job for job in working_in(tmp_path).values()) >= 4
        )
    )
    time.sleep(1)
    os.kill(process.pid, number)
    began = time.monotonic()
    text = process.communicate(timeout=100)[0]
    assert time.monotonic() - began < 30
    assert process.returncode == 128 + number
    last = text.splitlines()[-1]
    assert last == (
        "Stopped: 2 of 4 runs are done and kept in results/traces, those under way continue where "
        "they stopped, if their optimiser's state can be saved. To continue: make it so"
    )
    assert not re.search("Traceback|Error|Interrupt", text), text
    wait_for(lambda: not working_in(tmp_path), 10)


MAKE = ["make", "-o", ".venv/ready", f"VENV={Path(sys.executable).parents[1]}"]


def test_figures_of_ones_own_config_are_made_by_name_where_the_config_says(project):
    """mine.yaml is laid over config.yaml."""
    project.configure(runs=1)
    (project.folder / "mine.yaml").write_text(
        "results: elsewhere\n"
        "experiments: {tiny: {problems: {ellipsoid: null}, algorithms: {es: null, ingo: null}}}\n"
        "figures: {my_own: {experiment: tiny, column: best}}\n"
    )
    process = start(project, "figure", "FIGURE=my_own", "CONFIG=mine.yaml", "CORES=1", command=MAKE)
    text = process.communicate(timeout=200)[0]
    assert process.returncode == 0, text
    assert "To do: 1 runs, and 2 tables and figures\n" in text
    assert "Drawn: elsewhere/figures/my_own.png" in text
    assert (project.folder / "elsewhere/figures/my_own.svg").is_file()
    assert not (project.folder / "results").exists()
    # and `make clean` takes it away again, but not what else is there, nor the sources
    (project.folder / "elsewhere" / "notes.txt").write_text("mine")
    (project.folder / "results" / "published").mkdir(parents=True)
    subprocess.run([*MAKE, "clean", "CONFIG=mine.yaml"], cwd=project.folder, check=True)
    assert [p.name for p in (project.folder / "elsewhere").iterdir()] == ["notes.txt"]
    assert (project.folder / "results" / "published").is_dir()
    assert (project.folder / "figures" / "convergence.py").is_file()


@pytest.mark.parametrize("results", [".", "results/published", "figures/.."])
def test_clean_leaves_sources_and_kept_results_alone(project, results):
    project.configure(results=results)
    kept = project.folder / "results" / "published" / "traces"
    kept.mkdir(parents=True)
    done = subprocess.run([*MAKE, "clean"], cwd=project.folder, capture_output=True, text=True)
    assert done.returncode != 0
    assert f"error: results is '{results}'; allowed: a folder of its own" in done.stderr
    assert kept.is_dir()
    assert (project.folder / "figures" / "convergence.py").is_file()


def test_it_works_without_a_home_in_any_language(project, tmp_path):
    """As a user whose home cannot be written, with LANG=C: all caches are in .venv."""
    project.configure(runs=1)
    env = {"PATH": os.environ["PATH"], "HOME": "/dev/null/none", "LANG": "C"}
    done = subprocess.run(
        [*MAKE, "replicate"], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("Claims: results/claims.md\n")
    assert done.stderr == ""
    assert (tmp_path / ".venv" / "cache" / "matplotlib").is_dir()
    verdicts = pd.read_csv(tmp_path / "results" / "claims.csv")
    assert len(verdicts) > 20
