"""The workflow itself, on a tiny config, in a copy of the project: reruns, kills, errors, bits."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

from experiments.runs.trace import difference, read

ROOT = Path(__file__).parent.parent
SNAKEMAKE = [sys.executable, "-m", "snakemake"]
PARTS = [
    "algorithms",
    "problems",
    "experiments",
    "figures",
    "profiles",
    "Snakefile",
    "environment.yml",
    "requirements.lock",
]

CONFIG = {
    "root_seed": 5,
    "runs": 2,
    "seeds_per_job": 1,
    "results": "results",
    "experiments": {
        "tiny": {
            "dim": 4,
            "budget": 2000,
            "target": 1e-10,
            "problems": {"ellipsoid": {}, "levy": {}},
            "algorithms": {"fast_ingo": {}, "ingo": {}, "es": {"step_size": 0.01}},
        }
    },
    "figures": {"tiny_picture": {"experiment": "tiny"}},
}
CELLS = [f"{p}/{a}" for p in ("ellipsoid", "levy") for a in ("fast_ingo", "ingo", "es")]


class Project:
    """A copy of the project with the tiny config."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for part in PARTS:
            copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy
            copy(ROOT / part, folder / part)
        self.configure()

    def configure(self, **keys):
        (self.folder / "config.yaml").write_text(yaml.safe_dump({**CONFIG, **keys}))

    def start(self, *arguments):
        return subprocess.Popen(
            [*SNAKEMAKE, *arguments],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def snakemake(self, *arguments, ok=True):
        process = self.start(*arguments)
        text, _ = process.communicate(timeout=300)
        assert (process.returncode == 0) is ok, text
        return text

    def trace(self, cell, seed, results="results"):
        return self.folder / results / "traces" / "tiny" / cell / f"{seed}.parquet"

    def traces(self, results="results"):
        return [self.trace(cell, seed, results) for cell in CELLS for seed in (0, 1)]

    def code(self, problem, algorithm):
        """Fingerprint of the code of a cell, as the copy's own plan has it."""
        ask = (
            "from experiments.plan import load;"
            f"print(load('config.yaml').fingerprint('tiny', '{problem}', '{algorithm}'))"
        )
        done = subprocess.run(
            [sys.executable, "-c", ask], cwd=self.folder, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    def would_run(self):
        """The jobs of a dry run, by rule."""
        text = self.snakemake("--cores", "1", "--dry-run")
        if "Nothing to be done" in text:
            return {}
        stats = text.split("Job stats:")[1].split("\n\n")[0].splitlines()[3:]
        return {
            w[0]: int(w[1]) for line in stats if len(w := line.split()) == 2 and w[0] != "total"
        }


@pytest.fixture(scope="module")
def full(tmp_path_factory):
    """A project whose whole workflow has run on two cores; tests leave it as they found it."""
    project = Project(tmp_path_factory.mktemp("full"))
    project.snakemake("--cores", "2")
    return project


@pytest.fixture
def fresh(tmp_path):
    return Project(tmp_path)


def assert_same(project, other, results="results"):
    for a, b in zip(project.traces(), other.traces(results), strict=True):
        assert difference(a, b) == "", f"{a} and {b} differ"


def test_everything_is_made(full):
    results = full.folder / "results"
    made = {str(p.relative_to(results)) for p in results.rglob("*") if p.is_file()}
    assert {f"figures/tiny_picture.{s}" for s in ("png", "pdf", "svg", "md")} <= made
    assert {"tables/tiny/runs.parquet", "tables/tiny/curves.parquet"} <= made
    assert {"tables/table_1.md", "tables/table_1.tex", "claims.csv", "claims.md"} <= made
    assert sum(name.startswith("traces/") for name in made) == 12
    log = (results / "logs/tiny/levy/ingo/1.log").read_text()
    assert re.search(
        r"^ingo on levy, seed 1: 2,0\d\d of 2,000 evaluations, .* ended: budget$", log, re.M
    )
    assert log.endswith("ingo on levy, seed 1: wrote results/traces/tiny/levy/ingo/1.parquet\n")


def test_every_kind_of_figure_and_table_is_made(fresh):
    """Rules that the tiny config does without: control, other readings, and the theory."""
    cell = {"dim": 4, "budget": 200, "target": 1e-10, "problems": {"levy": {}}}
    walk = {"problem": "control", "task": "Swimmer", "horizon": 3}
    fresh.configure(
        runs=1,
        experiments={
            "tiny": {**cell, "algorithms": {"fast_ingo": {}}},
            "others": {
                **cell, "algorithms": {"old": {"algorithm": "fast_ingo", "mean_step": "old"}}
            },
            "walk": {"budget": 12, "target": None, "problems": {"swimmer": walk},
                     "algorithms": {"fast_ingo": {"samples": 6, "step_size": 0.3}}},
        },
        figures={"reward": {"experiment": "walk", "kind": "reward"}},
        variants={"experiment": "others", "of": "tiny"},
        theory={"gap": {"dim": 3, "repeats": 20, "conditions": [1, 10]}, "hyper_parameters": {}},
    )  # fmt: skip
    fresh.snakemake("--cores", "2")
    results = fresh.folder / "results"
    made = {str(p.relative_to(results)) for p in results.rglob("*") if p.is_file()}
    assert {f"tables/walk/rewards.{s}" for s in ("csv", "md")} <= made
    assert not {name for name in made if "rewards" in name} - {
        "tables/walk/rewards.csv", "tables/walk/rewards.md", "logs/walk/rewards.log"
    }  # fmt: skip
    assert {f"figures/{n}.png" for n in ("reward", "theory_gap", "theory_hyper_parameters")} <= made
    assert {"tables/theory/gap.csv", "tables/theory/hyper_parameters.csv"} <= made
    assert {"variants.csv", "variants.md", "claims.csv", "claims.md"} <= made
    # the tables of the theory are among what the verdicts come from
    verdicts = (results / "claims.md").read_text()
    assert "| 26 | INGO has fewer hyper-parameters than CMA-ES. | **partly** |" in verdicts
    assert (
        "| 1 | INGO, INGOstep and Fast-INGO converge linearly in log scale. | **not run** |"
        in verdicts
    )


def add(folder):
    """Put the files that docs/adding.md shows into a copy of the project; the paths of the
    optimiser and of the problem.
    """
    text = (ROOT / "docs" / "adding.md").read_text(encoding="utf-8")
    shown = re.findall(r"```\w+\n# ([\w/]+\.(?:py|yaml))(.*?)```", text, re.DOTALL)
    for file, code in shown:
        (folder / file).write_text(f"# {file}{code}", encoding="utf-8")
    optimiser, problem, config = (folder / file for file, _ in shown)
    assert config.name == "mine.yaml"
    return optimiser, problem


def test_an_optimiser_and_a_problem_are_added_by_adding_a_file(fresh):
    """The documentation's own example, with its figure; nothing is registered."""
    optimiser, problem = add(fresh.folder)
    mine = ["--configfile", "mine.yaml", "--config", "runs=2"]
    figure = "results/mine/figures/mine.png"
    fresh.snakemake(figure, "--cores", "2", *mine)
    assert (fresh.folder / figure).stat().st_size > 10_000
    folder = fresh.folder / "results/mine/traces/mine/cigar"
    assert sum(path.is_file() for path in folder.rglob("*")) == 4
    rows, metadata = read(folder / "random_walk" / "0.parquet")
    assert metadata["title"] == "Cigar"
    best = rows["best"].to_numpy()
    assert best[-1] < 0.1 * best[0]
    # without a word on its space it is refused by name, and so is a problem without its annotation
    text = optimiser.read_text()
    optimiser.write_text(text.replace('    space: ClassVar[str] = "real"\n', ""))
    said = fresh.snakemake(figure, "--cores", "1", *mine, ok=False)
    at = "experiments.mine.algorithms.random_walk"
    assert f"{at}: the class's space is ''; allowed: real" in said
    problem.write_text(problem.read_text().replace(" -> Problem", ""))
    said = fresh.snakemake(figure, "--cores", "1", *mine, ok=False)
    assert "the function cigar in problems/own.py does not say that it returns a Prob" in said


def test_the_example_keeps_to_the_contracts(fresh):
    """The tests that find every optimiser and problem find these two as well."""
    add(fresh.folder)
    (fresh.folder / "tests").mkdir()
    shutil.copy(ROOT / "tests" / "test_contracts.py", fresh.folder / "tests")
    shutil.copy(ROOT / "pyproject.toml", fresh.folder)
    pytest_ = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "tests/test_contracts.py"]
    done = subprocess.run(
        [*pytest_, "-k", "random_walk or cigar", "-vv"],
        cwd=fresh.folder,
        env={**os.environ, "PYTHONPATH": str(fresh.folder)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    passed = re.findall(r"::(test_\w+).*(?:random_walk|cigar).* PASSED", done.stdout)
    assert {"test_bad_values_never_raise", "test_values_that_are_not_allowed_are_named"} <= set(
        passed
    )
    assert {"test_a_problem_is_a_function_of_its_instance"} <= set(passed)
    assert len(passed) >= 25


def test_a_second_run_says_that_nothing_is_to_be_done(full):
    assert "Nothing to be done" in full.snakemake("--cores", "2")


def test_restored_traces_are_not_run_again(full, fresh):
    keep = [sys.executable, "-m", "experiments.publishing.archive"]
    kept = ["--config", "config.yaml", "--kept", str(fresh.folder / "kept")]
    for project, direction in ((full, "pack"), (fresh, "restore")):
        done = subprocess.run(
            [*keep, direction, *kept],
            cwd=project.folder,
            check=True,
            capture_output=True,
            text=True,
        )
    paths = done.stdout.split()
    assert len(paths) == 12
    assert "trace" not in fresh.would_run()
    assert_same(full, fresh)
    # They are under the same watch as traces of this machine: other code, another run.
    code = fresh.folder / "algorithms/es.py"
    code.write_text(code.read_text().replace("(u @ samples.z) / u.size", "(u @ samples.z)"))
    assert fresh.would_run()["trace"] == 4


def order(traces):
    """The cells and seeds, as they were written one after the other."""
    return [path.parts[-3:] for path in sorted(traces, key=lambda path: path.stat().st_mtime_ns)]


def test_one_core_and_another_order_give_the_same_bits(full):
    """The three that came last come first, and all of them one after the other."""
    serial = ["--cores", "1", "--config", "results=serial", "--scheduler", "ilp"]
    last = [str(Path("serial/traces/tiny", *names)) for names in order(full.traces())[-3:]]
    full.snakemake(*serial, "--", *last)
    full.snakemake(*serial, "--until", "trace")
    assert_same(full, full, "serial")
    assert set(order(full.traces("serial"))[:3]) == set(order(full.traces())[-3:])


def test_a_single_trace_is_redone_by_naming_it(full):
    trace = full.trace("levy/ingo", 1)
    before, others = trace.stat().st_mtime_ns, full.trace("levy/ingo", 0).stat().st_mtime_ns
    kept = full.folder / "kept.parquet"
    shutil.copy(trace, kept)
    text = full.snakemake("--cores", "1", "--force", str(trace.relative_to(full.folder)))
    assert "1 of 1 steps (100%) done" in text
    assert trace.stat().st_mtime_ns > before
    assert full.trace("levy/ingo", 0).stat().st_mtime_ns == others
    assert difference(trace, kept) == ""
    full.snakemake("--cores", "2")  # the tables follow


def test_the_printed_command_makes_the_same_trace(full):
    text = full.snakemake(
        "--cores",
        "1",
        "--dry-run",
        "--force",
        "results/traces/tiny/levy/es/0.parquet",
    )
    command = re.search("python -m experiments.run .*parquet", text)[0]
    command = command.replace("results/traces", "pasted")
    python = str(Path(sys.executable).parent)
    env = {**os.environ, "PATH": f"{python}:{os.environ['PATH']}"}
    subprocess.run(command, shell=True, check=True, cwd=full.folder, env=env, capture_output=True)
    assert difference(full.folder / "pasted/tiny/levy/es/0.parquet", full.trace("levy/es", 0)) == ""


def test_an_edit_reruns_what_it_touches_and_a_sentence_nothing(full):
    """One optimiser's code: its four traces. Its docstring or a comment: nothing. Back: nothing."""
    es = full.folder / "algorithms" / "es.py"
    text = es.read_text()
    try:
        es.write_text(text.replace('"""ES: ', '"""Evolution strategy: ') + "\n# a remark\n")
        assert full.would_run() == {}
        es.write_text(text.replace("(u @ samples.z) / u.size", "(u @ samples.z)"))
        assert full.would_run() == {
            "trace": 4, "table": 1, "summaries": 1, "figure": 1, "claims": 1, "manifest": 1,
            "all": 1,
        }  # fmt: skip
    finally:
        es.write_text(text)
    assert full.would_run() == {}


def test_code_that_is_certified_equal_reruns_nothing_and_its_new_traces_carry_its_own_name(full):
    es = full.folder / "algorithms" / "es.py"
    ledger = full.folder / "results" / "published" / "ledger.jsonl"
    ledger.parent.mkdir(parents=True)
    text = es.read_text()
    cell = "ellipsoid/es"
    old = read(full.trace(cell, 0))[1]["code"]
    try:
        es.write_text(text.replace("half = rng", "first = rng").replace("(half)", "(first)"))
        assert full.would_run()["trace"] == 4
        new = full.code("ellipsoid", "es")
        assert new == full.code("levy", "es") != old  # both are problems of one file
        pairs = [[new, old]]
        ledger.write_text(json.dumps({"equal": pairs}) + "\n")
        assert full.would_run() == {}
        path = full.trace(cell, 1)
        full.snakemake("--cores", "1", "--force", str(path.relative_to(full.folder)))
        assert read(path)[1]["code"] == new != old
        full.snakemake("--cores", "1")
        assert full.would_run() == {}
    finally:
        es.write_text(text)
        ledger.unlink()
    full.snakemake("--cores", "1")  # its trace of the other code
    assert full.would_run() == {}


def test_a_hyper_parameter_reruns_its_optimiser_only(full):
    experiment = {**CONFIG["experiments"]["tiny"]}
    experiment["algorithms"] = {**experiment["algorithms"], "es": {"step_size": 0.02}}
    full.configure(experiments={"tiny": experiment})
    try:
        assert full.would_run()["trace"] == 4
    finally:
        full.configure()
    assert full.would_run() == {}


def test_more_runs_add_runs(full):
    assert (
        full.snakemake("--cores", "1", "--dry-run", "--config", "runs=3").count("rule trace:") == 6
    )


def test_seeds_per_job_changes_no_data_and_reruns_nothing_but_the_manifest(full, fresh):
    full.configure(seeds_per_job=2)
    try:
        assert full.would_run() == {"manifest": 1, "all": 1}  # it holds the config
    finally:
        full.configure()
    fresh.configure(seeds_per_job=2)
    text = fresh.snakemake("--cores", "2")
    assert "trace_tiny_0 " in text
    assert_same(full, fresh)


def test_a_trace_that_is_damaged_inside_is_named_and_the_named_command_mends_it(full):
    trace = full.trace("ellipsoid/es", 1)
    content = bytearray(trace.read_bytes())
    content[600] ^= 1
    trace.write_bytes(content)
    text = full.snakemake("--cores", "2", ok=False)
    name = "results/traces/tiny/ellipsoid/es/1.parquet"
    assert f"{name} is not a whole trace" in text
    command = f"rm -r {name}"
    assert f"Redo it: {command} and start the workflow again" in text
    subprocess.run(command, shell=True, check=True, cwd=full.folder)
    full.snakemake("--cores", "2")
    assert full.would_run() == {}


def test_a_bad_config_stops_before_the_first_job(fresh):
    experiment = {**CONFIG["experiments"]["tiny"], "budget": -1}
    fresh.configure(experiments={"tiny": experiment})
    text = fresh.snakemake("--cores", "1", ok=False)
    assert "config: experiments.tiny.budget is -1; allowed: a number ≥ 1" in text
    assert "Traceback" not in text
    assert not (fresh.folder / "results").exists()


def test_a_results_folder_that_cannot_be_written_loses_nothing(full):
    (full.folder / "blocked").write_text("a file, not a folder")
    text = full.snakemake("--cores", "1", "--config", "results=blocked/here", ok=False)
    assert "config: results is 'blocked/here'" in text
    assert full.would_run() == {}


def alive(word):
    """Processes whose command line has this word."""
    found = subprocess.run(["pgrep", "-f", word], capture_output=True, text=True, check=False)
    return [int(pid) for pid in found.stdout.split()]


def kill(pids):
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def wait_for(condition, seconds=120):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)


@pytest.mark.parametrize("how", ["job", "head", "interrupt"])
def test_after_a_kill_the_same_command_finishes_with_the_same_data(
    full, fresh, how, tmp_path_factory
):
    """kill -9 of a job, kill -9 of Snakemake with a job running, Ctrl-C."""
    # a full path makes the jobs of this test findable among all processes
    marker = str(tmp_path_factory.mktemp("results"))
    arguments = ["--cores", "1", "--config", f"results={marker}"]
    process = fresh.start(*arguments)
    jobs = f"experiments.run.*{marker}"
    # with one core the first trace is done and noted as such once there is a second one
    wait_for(lambda: sum(p.is_file() for p in fresh.traces(marker)) >= 2 and alive(jobs))
    written = {p: p.stat().st_mtime_ns for p in fresh.traces(marker) if p.is_file()}
    first = min(written, key=written.get)
    if how == "job":
        # one that is all but done ends as if nothing had been: then it is the next one's turn
        wait_for(lambda: kill(alive(jobs)) or process.poll() is not None)
        assert process.communicate(timeout=200)[0]
        assert process.returncode != 0
    else:
        os.kill(process.pid, signal.SIGKILL if how == "head" else signal.SIGINT)
        process.communicate(timeout=200)
    fresh.snakemake(*arguments)
    assert first.stat().st_mtime_ns == written[first]  # it was not run again
    for a, b in zip(full.traces(), fresh.traces(marker), strict=True):
        assert difference(a, b) == ""
    assert not list(Path(marker).rglob("*.tmp"))
    assert not list(Path(marker).rglob("*.state"))
