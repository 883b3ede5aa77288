"""What an optimiser itself takes on control, as a share of the roll-outs of its batches.

    python -m experiments.timing.updates --to results/updates

An iteration is ``ask`` and ``tell``, the mean over so many that CMA-ES decomposes its covariance
several times, as it does every d/400 iterations or so; values are random, since they do not matter
to the time. Roll-outs are of the first batch (σ₁ = 0.1 around 0), by the same process: its time
counts, on one core, so others on the machine do not. The pendulum falls early in such a batch.
"""

from __future__ import annotations

import sys
import time

import numpy as np
import pandas as pd

import algorithms
import problems
from experiments.tables import files
from experiments.timing import commands
from experiments.timing.rollouts import Setting
from problems.control_tasks import TASKS

ITERATIONS = 32
METHODS: dict[str, tuple[str, dict[str, object]]] = {
    "Fast-INGO": ("fast_ingo", {"step_size": 0.3}),
    "ES": ("es", {}),
    "ASEBO": ("asebo", {}),
    "sep-CMA-ES": ("cma_es", {"active": False, "diagonal": True}),
    "CMA-ES": ("cma_es", {"active": False}),
}


def own_seconds(name: str, parameters: dict[str, object], dim: int, samples: int) -> float:
    """Processor time of an iteration without its function values."""
    rng = np.random.default_rng(0)
    common = {"initial_std": 0.1, "samples": samples}
    optimiser = algorithms.build(name, common | parameters)
    state = optimiser.init(np.zeros(dim), rng)
    began = time.process_time()
    for _ in range(ITERATIONS):
        batch = optimiser.ask(state, rng)
        state = optimiser.tell(state, batch, rng.standard_normal(samples))
    return (time.process_time() - began) / ITERATIONS


def roll_out_seconds(task: str, x: np.ndarray) -> float:
    """Processor time of the values of a batch."""
    problem = problems.build("control", {"task": task})
    problem.evaluate(x[:2])
    began = time.process_time()
    problem.evaluate(x)
    return time.process_time() - began


def measure(tasks: list[str]) -> pd.DataFrame:
    """A row per task and method: seconds of an iteration of its own, and over the roll-outs'."""
    rows = []
    for task in tasks:
        x = Setting.of(task).x
        samples, dim = x.shape
        rolled = roll_out_seconds(task, x)
        for method, (name, parameters) in METHODS.items():
            own = own_seconds(name, parameters, dim, samples)
            rows.append((task, dim, samples, method, own, rolled, own / rolled))
            print(f"{task}, {method}: {own:.3g} s", file=sys.stderr, flush=True)
    columns = ["task", "dim", "samples", "method", "seconds", "roll_outs", "ratio"]
    return pd.DataFrame(rows, columns=columns)


def markdown(table: pd.DataFrame) -> str:
    """The table for reading."""
    methods = list(dict.fromkeys(table["method"]))
    lines = [
        "What an iteration of an optimiser takes beside the roll-outs of its batch, as a share of "
        "their time",
        "",
        "| task | d | N | roll-outs, s |" + "".join(f" {m} |" for m in methods),
        "|---|---|---|---|" + "---|" * len(methods),
    ]
    for task, cell in table.groupby("task", sort=False):
        of = cell.set_index("method")
        first = of.iloc[0]
        entries = "".join(f" {of.loc[m, 'ratio']:.2g} |" for m in methods)
        lines.append(
            f"| {task} | {first['dim']} | {first['samples']} | {first['roll_outs']:.2g} |{entries}"
        )
    return "\n".join([*lines, ""])


def main(arguments: list[str] | None = None) -> None:
    """Measure and write .csv and .md."""
    args = commands.updates_parser(__doc__).parse_args(arguments)
    table = measure(args.tasks or list(TASKS))
    files.write(table, markdown(table), args.to)


if __name__ == "__main__":
    main()
