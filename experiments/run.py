"""Run seeds and write their traces: what a job of the workflow does, and what a reader can paste.

    python -m experiments.run --problem ellipsoid '{"dim": 100}' --algorithm ingo '{}' \\
        --budget 1800000 --target 1e-10 --to results/traces/figure_1/ellipsoid/ingo/0.parquet

The name of the file is the seed; several files are several seeds.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from experiments import command as command_line
from experiments.command import Command
from experiments.runs import job
from experiments.runs.spec import Spec


def command(spec: Spec) -> Command:
    """The command that runs ``spec``, but for ``--to``."""
    return Command.of(
        "experiments.run",
        problem=[spec.problem, json.dumps(spec.problem_parameters)],
        algorithm=[spec.algorithm, json.dumps(spec.algorithm_parameters)],
        budget=spec.budget,
        target=spec.target,
        record_every=spec.record_every,
        root_seed=spec.root_seed,
    )


def parser() -> argparse.ArgumentParser:
    """The parser of its arguments."""
    made = command_line.parser("experiments.run", __doc__)
    named: dict[str, Any] = {"nargs": 2, "required": True, "metavar": ("NAME", "JSON")}
    made.add_argument("--problem", **named, help="problem and its parameters")
    made.add_argument("--algorithm", **named, help="optimiser and its hyper-parameters")
    made.add_argument("--budget", type=int, required=True, help="evaluations")
    made.add_argument("--target", type=float, help="above the problem's minimum; none by default")
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
    job.keep_memory()
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
            job.run_seed(spec, path, args.code)
    except (ValueError, OSError) as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
