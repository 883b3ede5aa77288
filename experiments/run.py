"""Run seeds and write their traces: what a job of the workflow does, and what a reader can paste.

    python -m experiments.run --problem ellipsoid '{"dim": 100}' --algorithm ingo '{}' \\
        --budget 1800000 --target 1e-10 --to results/traces/figure_1/ellipsoid/ingo/0.parquet

The name of the file is the seed; several files are several seeds.
"""

from __future__ import annotations

import os

# Before numpy is loaded: two runs with one thread each, not two with two; and the sums of one
# thread come out the same every time.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import argparse
import ctypes
import json
import shlex
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from algorithms.loop import Batch
from experiments import trace
from experiments.single import Spec, run

SECONDS_BETWEEN_LINES = 5.0


def command(spec: Spec) -> str:
    """The command that runs ``spec``, but for ``--to``."""
    problem, algorithm = (
        f"{name} {shlex.quote(json.dumps(parameters))}"
        for name, parameters in (
            (spec.problem, spec.problem_parameters),
            (spec.algorithm, spec.algorithm_parameters),
        )
    )
    return (
        f"python -m experiments.run --problem {problem} --algorithm {algorithm}"
        f" --budget {spec.budget} --target {spec.target!r}"
        f" --record-every {spec.record_every} --root-seed {spec.root_seed}"
    )


def parser() -> argparse.ArgumentParser:
    """The command line of this module, the inverse of ``command``."""
    made = argparse.ArgumentParser(
        prog="python -m experiments.run", description=(__doc__ or "").splitlines()[0]
    )
    named: dict[str, Any] = {"nargs": 2, "required": True, "metavar": ("NAME", "JSON")}
    made.add_argument("--problem", **named, help="problem and its parameters")
    made.add_argument("--algorithm", **named, help="optimiser and its hyper-parameters")
    made.add_argument("--budget", type=int, required=True, help="evaluations")
    made.add_argument("--target", type=float, required=True, help="above the problem's minimum")
    made.add_argument("--record-every", type=int, default=1000, help="iterations between rows")
    made.add_argument("--root-seed", type=int, default=0)
    made.add_argument("--code", default="", help="fingerprint of the code, for the record")
    made.add_argument("--to", type=_trace_path, nargs="+", required=True, metavar="SEED.parquet")
    return made


def _trace_path(text: str) -> Path:
    path = Path(text)
    if not path.stem.isdecimal() or path.suffix != ".parquet":
        raise argparse.ArgumentTypeError(f"{text!r} is not named SEED.parquet")
    return path


def main(arguments: list[str] | None = None) -> None:
    """Run the seeds that the command line names, one trace each."""
    args = parser().parse_args(arguments)
    _keep_memory()
    try:
        spec = Spec(
            problem=args.problem[0],
            problem_parameters=json.loads(args.problem[1]),
            algorithm=args.algorithm[0],
            algorithm_parameters=json.loads(args.algorithm[1]),
            budget=args.budget,
            target=args.target,
            record_every=args.record_every,
            root_seed=args.root_seed,
        )
        for path in args.to:
            label = f"{spec.algorithm} on {spec.problem}, seed {path.stem}"
            progress = Progress(label, spec.budget)
            rows, metadata = run(spec, int(path.stem), progress)
            metadata |= {
                "last_mean": progress.mean,
                "commit": commit(),
                "code": args.code,
                "versions": trace.versions(),
            }
            trace.write(path, rows, metadata)
            print(f"{label}: wrote {path}", file=sys.stderr)
    except (ValueError, OSError) as error:
        sys.exit(f"error: {error}")


def _keep_memory() -> None:
    """Let freed arrays stay with the process. glibc gives large ones back and asks for them anew in
    every iteration, and page faults then take half of the time of a batch of a megabyte.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):  # another C library
        return
    trim_threshold, mmap_threshold = -1, -3  # their numbers in malloc.h
    for option in (trim_threshold, mmap_threshold):
        mallopt(option, 1 << 30)


@dataclass
class Progress:
    """A line in the log of a job every few seconds, and one at the end of a run."""

    label: str
    budget: int
    mean: list[float] = field(default_factory=list)  # that the last batch was drawn around
    began: float = field(default_factory=time.monotonic)
    last: float = field(default_factory=time.monotonic)

    def __call__(self, batch: Batch) -> None:
        now = time.monotonic()
        if batch.ended:
            self.mean = batch.state.mean.tolist()
            reason, detail = batch.ended
            state = f"ended: {reason}" + (f" ({detail})" if detail else "")
        elif now - self.last < SECONDS_BETWEEN_LINES:
            return
        else:
            left = (now - self.began) * (self.budget / batch.evaluations - 1)
            state = f"at most {left:.0f} s left"
        self.last = now
        print(
            f"{self.label}: {batch.evaluations:,} of {self.budget:,} evaluations, "
            f"best {batch.best:.3e}, {now - self.began:.1f} s, {state}",
            file=sys.stderr,
            flush=True,
        )


def commit() -> str:
    """The commit of the sources, marked if they differ from it; "unknown" outside a checkout."""
    describe = ["describe", "--always", "--exclude=*", "--abbrev=40", "--dirty"]
    git = ["git", "-C", str(Path(__file__).parent), *describe]
    try:
        return subprocess.run(git, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


if __name__ == "__main__":
    main()
