"""What the workflow itself costs: CPU time of jobs that do next to nothing, and its share of all.

    python -m experiments.timing.workflow --traces results/traces --to results/workflow

Two workflows of one-batch runs of Figure 1 differ by some jobs; the difference of their CPU time,
Snakemake and all processes that it started, over that of the jobs is what a job costs beside its
iterations: its place in Snakemake's plan, a shell, Python with its imports, the writing of a trace.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pandas as pd
import yaml

from algorithms.shared.loop import quiet
from experiments.paths import ROOT
from experiments.publishing import archive
from experiments.runs.effort import Effort
from experiments.runs.keeper import SECONDS, SHARE, Keeper
from experiments.runs.simulate import Run
from experiments.runs.spec import Spec
from experiments.speed import cpu_seconds
from experiments.tables import files
from experiments.timing import commands

FEW, MANY = 10, 60
KEPT_RUNS = ("ingo", "fast_ingo", "es")  # of 90, 40 and 25 microseconds an iteration
CELL = ("figure_1", "levy", "ingo")


def cpu_of_workflow(jobs: int) -> float:
    """CPU seconds of a workflow with so many runs of one batch, its processes included.

    Raises:
        RuntimeError: it failed; the message is its own.
    """
    experiment, problem, algorithm = CELL
    config = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
    config |= {"results": "results", "runs": jobs, "seeds_per_job": 1}
    config["experiments"][experiment]["budget"] = 18  # one batch at d = 100
    folder = f"results/traces/{experiment}/{problem}/{algorithm}"
    with tempfile.TemporaryDirectory() as here:
        (Path(here) / "config.yaml").write_text(
            yaml.safe_dump(config, sort_keys=False), encoding="utf-8"
        )
        before = cpu_seconds()
        done = subprocess.run(
            [
                sys.executable, "-m", "snakemake", "--cores", "1", "--directory", here,
                "--snakefile", ROOT / "Snakefile",
                "--workflow-profile", ROOT / "profiles" / "default",
                *(f"{folder}/{seed}.parquet" for seed in range(jobs)),
            ],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
        )  # fmt: skip
    if done.returncode:
        raise RuntimeError(done.stdout)
    return cpu_seconds() - before


def kept(algorithm: str, times: int = 7) -> float:
    """CPU time of a run that is kept by its keeper over that of the bare run, the least of some of
    each; one checkpoint is written every two minutes, and takes milliseconds.
    """
    spec = Spec("ellipsoid", algorithm, 180_000, None, {"dim": 100})

    def seconds(watched: bool) -> float:
        run = Run(spec, 0)
        with tempfile.TemporaryDirectory() as here, quiet():
            keeper = Keeper(run, Path(here) / "0.state", "", Effort(0.0), algorithm)
            began = time.process_time()
            for batch in run.batches():
                if watched:
                    keeper(batch)
            return time.process_time() - began

    pairs = [(seconds(True), seconds(False)) for _ in range(times)]
    return min(with_it for with_it, _ in pairs) / min(bare for _, bare in pairs)


def share(jobs: pd.DataFrame, a_job: float) -> pd.DataFrame:
    """Per experiment: runs, their mean CPU seconds, and the part of all CPU time that is not
    iterations, ``a_job`` seconds a run.

    The seconds of a run are those of its process, of which ``a_job`` has the start too, so that a
    part of it is in both: the share is an upper bound.
    """
    found = jobs.groupby("experiment")["cpu_seconds"].agg(["size", "sum"]).reset_index()
    total = pd.DataFrame([("all", found["size"].sum(), found["sum"].sum())], columns=found.columns)
    found = pd.concat([found, total], ignore_index=True)
    spent = found["size"] * a_job
    found["mean"] = found["sum"] / found["size"]
    found["share"] = spent / (spent + found["sum"])
    return found.rename(columns={"size": "jobs", "sum": "cpu"})


def markdown(start: float, a_job: float, keeping: dict[str, float], shares: pd.DataFrame) -> str:
    """The measurement for reading."""
    ratios = ", ".join(f"{100 * (ratio - 1):+.1f} % ({name})" for name, ratio in keeping.items())
    lines = [
        f"A job costs {a_job:.2f} s of CPU time beside its iterations, and a start of the "
        f"workflow {start:.1f} s.",
        "",
        f"To be ready to stop and to go on changes the CPU time of a run at d = 100 by {ratios}; "
        f"checkpoints, at least {SECONDS:.0f} s apart, at most {100 * SHARE:.1f} %.",
        "",
    ]
    if len(shares):
        lines += [
            "| experiment | jobs | mean CPU time, s | workflow's share, at most |",
            "|---|---:|---:|---:|",
        ]
        lines += [
            f"| {row.experiment} | {row.jobs} | {row.mean:.3g} | {100 * row.share:.1f} % |"
            for row in shares.itertuples(index=False)
        ]
    return "\n".join([*lines, ""])


def main(arguments: list[str] | None = None) -> None:
    """Measure and write .csv and .md."""
    args = commands.workflow_parser(__doc__).parse_args(arguments)
    few, many = (cpu_of_workflow(jobs) for jobs in (FEW, MANY))
    a_job = (many - few) / (MANY - FEW)
    jobs = archive.all_seconds(args.traces, args.kept)
    shares = share(jobs, a_job)
    start = few - FEW * a_job
    keeping = {name: kept(name) for name in KEPT_RUNS}
    table = shares.assign(start=start, a_job=a_job, **{f"keep_{k}": v for k, v in keeping.items()})
    files.write(table, markdown(start, a_job, keeping, shares), args.to)


if __name__ == "__main__":
    main()
