"""COCO's own data of runs on bbob, for cocopp: the same runs again, with COCO's observer.

    python -m experiments.field.observed '{…}' --label INGO --runs 15 --to coco/ingo/f8

A folder is of one cell. COCO's post-processing takes all that is below a folder as one optimiser:
``python -m cocopp results/field/coco/bbob_5/ingo``. The observer writes under exdata/ whatever it
is told, and two processes would meet there: it writes in a folder of its own, which is renamed.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from contextlib import chdir
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from algorithms.shared.loop import quiet
from experiments.field import commands
from experiments.runs.simulate import Run
from experiments.runs.spec import Spec
from problems.interface import Array


def observe(spec: Spec, label: str, runs: int, to: Path) -> list[int]:
    """Do the runs of a cell with an observer, and put its data where they belong; whole or not.

    Returns the evaluations of each run.

    Raises:
        ValueError: the cell is not on bbob, or in dimensions that its suite does not have.
    """
    import cocoex  # here, because only this needs it

    if spec.problem != "bbob":
        raise ValueError(f"COCO observes runs on bbob, not on {spec.problem}")
    function, dim = (spec.problem_parameters[key] for key in ("function", "dim"))
    first = spec.problem_parameters.get("first_instance", 1)
    if dim not in (2, 3, 5, 10, 20, 40):
        raise ValueError(f"COCO's suite has no {dim} dimensions")
    to.parent.mkdir(parents=True, exist_ok=True)
    name = re.sub(r"[^A-Za-z0-9+.-]+", "_", label)  # COCO takes no other letters
    with tempfile.TemporaryDirectory(dir=to.parent, prefix=".observed") as place:
        target = to.absolute()
        with chdir(place):
            instances = f"instances:{first}-{first + runs - 1}"
            suite = cocoex.Suite("bbob", instances, f"dimensions:{dim} function_indices:{function}")
            observer = cocoex.Observer("bbob", f"result_folder:own algorithm_name:{name}")
            evaluations = []
            for seed, problem in enumerate(suite):
                problem.observe_with(observer)
                evaluations.append(_run(spec, seed, problem))
                problem.free()
        os.rename(Path(place) / "exdata" / "own", target)
    return evaluations


def _run(spec: Spec, seed: int, problem: Any) -> int:
    """The run of a seed on COCO's problem, which counts."""
    run = Run(spec, seed)

    def evaluate(x: Array) -> Array:
        return np.array([problem(row) for row in x])

    # f at the mean, for the trace, is not COCO's to count
    run.problem = replace(run.problem, evaluate=evaluate, report=lambda mean: float("nan"))
    with quiet():
        for _ in run.batches():
            pass
    assert problem.evaluations == run.evaluations
    return run.evaluations


def main(arguments: list[str] | None = None) -> None:
    """Write the data of a cell."""
    args = commands.observed_parser(__doc__).parse_args(arguments)
    try:
        observe(Spec(**args.spec), args.label, args.runs, args.to)
    except (ValueError, OSError) as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
