"""Run seeds and write their traces: what a job of the workflow does, and what a reader can paste.

    python -m experiments.run --problem ellipsoid '{"dim": 100}' --algorithm ingo '{}' \\
        --budget 1800000 --target 1e-10 --to results/traces/figure_1/ellipsoid/ingo/0.parquet

The name of the file is the seed; several files are several seeds. A trace that is there is left as
it is. After a signal or a kill the same command goes on where the run was, from SEED.state.
"""

from __future__ import annotations

import argparse
import errno
import json
import sys
import time
from pathlib import Path
from typing import Any

from experiments import command as command_line
from experiments.command import Command
from experiments.runs import job, machine
from experiments.runs.keeper import Stopped
from experiments.runs.spec import BITS, Spec


def command(spec: Spec) -> Command:
    """The command that runs ``spec``, but for what decides no data; the same however the spec is
    written.
    """
    spec = spec.canonical
    return Command.of(
        "experiments.run",
        problem=[spec.problem, json.dumps(spec.problem_parameters)],
        algorithm=[spec.algorithm, json.dumps(spec.algorithm_parameters)],
        budget=spec.budget,
        target=spec.target,
        record_every=spec.record_every,
        root_seed=spec.root_seed,
        bits=None if spec.bits == "native" else spec.bits,
        restarts=None if spec.restarts is None else json.dumps(spec.restarts),
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
    made.add_argument("--bits", choices=BITS, default="native", help="the same on all processors")
    made.add_argument("--restarts", metavar="JSON", help="of runs that end, and how; none if not")
    made.add_argument("--keep-state", action="store_true", help="to go on with a larger budget")
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
    given = sys.argv[1:] if arguments is None else arguments
    args = parser().parse_args(given)
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
            bits=args.bits,
            restarts=json.loads(args.restarts) if args.restarts else None,
        )
        if args.bits == "portable":
            machine.start_portably("experiments.run", given)
        cpu_began = 0.0
        for path in args.to:
            job.run_seed(spec, path, args.code, args.keep_state, cpu_began)
            cpu_began = time.process_time()
    except (ValueError, OSError) as error:
        if getattr(error, "errno", None) == errno.ENOSPC:
            print(f"error: {error}", flush=True)  # the log is on that disk too
        sys.exit(f"error: {error}")
    except MemoryError as error:
        sys.exit(f"error: out of memory: {error or 'Python could not have more'}")
    except Stopped as stopped:
        sys.exit(128 + stopped.number)  # as shells number it


if __name__ == "__main__":
    main()
