"""INGO and Fast-INGO beside CMA-ES, L-BFGS-B and random search, at equal budgets.

    python -m experiments.usage.compare --to results/usage

All methods of a seed have the same x₀, σ₀ and budget. A run ends where the method ends it, at the
budget, or as soon as it evaluates a point within 1e-8 of the minimum: then the task is solved, and
the evaluations until then are what counts. Otherwise it is the error: f without noise at the point
that the method recommends, above the minimum.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from experiments.runs.seeds import stream
from experiments.tables import files
from experiments.usage import commands, report
from experiments.usage.methods import METHODS, Budgeted, Ended
from experiments.usage.tasks import TASKS, Task


@dataclass(frozen=True)
class Outcome:
    """What came of a run."""

    error: float
    evaluations: int
    solved: int | None  # evaluations until the task was


def run(task: Task, method: str, seed: int, root_seed: int) -> Outcome:
    """One run. The start is keyed by task and seed, so that it is the same for all methods."""
    x0 = task.start(stream(root_seed, "usage start", task.name, seed))
    f = Budgeted(task, stream(root_seed, "usage noise", task.name, method, seed))
    try:
        x = METHODS[method](f, x0, stream(root_seed, "usage search", task.name, method, seed))
    except Ended:
        x = f.best_x
    error = task.f(x) - task.minimum
    return Outcome(np.inf if np.isnan(error) else error, f.evaluations, f.solved)


def summary(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """The median run and those at the quartiles, each a run and no average of two: of ten, the
    sixth, the third and the eighth. Of the evaluations to a solution, NaN where that run has none.
    """
    n = len(outcomes)
    errors = sorted(outcome.error for outcome in outcomes)
    after = sorted(outcome.solved or np.inf for outcome in outcomes)
    at = {"": n // 2, "_low": n // 4, "_high": n - 1 - n // 4}
    return {
        "runs": n,
        "solved": sum(outcome.solved is not None for outcome in outcomes),
        **{f"error{end}": errors[i] for end, i in at.items()},
        **{
            f"solved_after{end}": after[i] if np.isfinite(after[i]) else np.nan
            for end, i in at.items()
        },
        "evaluations": sorted(outcome.evaluations for outcome in outcomes)[n // 2],
    }


def compare(
    tasks: Sequence[Task], runs: int, root_seed: int, said: Callable[[str], None]
) -> pd.DataFrame:
    """A row per task and method."""
    rows = []
    for task in tasks:
        for method in METHODS:
            cell = summary([run(task, method, seed, root_seed) for seed in range(runs)])
            about = {"problem": task.name, "method": method}
            rows.append({**about, "dim": task.dim, "budget": task.budget, **cell})
            said(f"{len(rows)} of {len(tasks) * len(METHODS)}: {method} on {task.title}")
    return pd.DataFrame(rows)


def main(arguments: list[str] | None = None) -> None:
    """Compare, and write .csv and .md; nothing is written before the end."""
    args = commands.compare_parser(__doc__).parse_args(arguments)
    known = {task.name: task for task in TASKS}
    if unknown := set(args.problems or ()) - set(known):
        sys.exit(f"error: no problem {', '.join(sorted(unknown))}; there are: {', '.join(known)}")
    tasks = [known[name].with_share(args.share) for name in args.problems or known]
    began = time.monotonic()

    def said(text: str) -> None:
        print(f"{text}, {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)

    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            # L-BFGS-B takes differences of NaN, and pycma warns of what it handles.
            warnings.simplefilter("ignore")
            table = compare(tasks, args.runs, args.root_seed, said)
    except KeyboardInterrupt:
        print("Stopped; nothing was written.", file=sys.stderr)
        sys.exit(130)
    files.write(table, report.markdown(table), args.to)


if __name__ == "__main__":
    main()
