"""Small tables of runs, made by hand, for the tests of what reads them."""

from __future__ import annotations

import numpy as np
import pandas as pd

from experiments.runs.record import TARGETS


def cell(problem, algorithm, evaluations, best=1e-11, stop="target", **columns):
    """Runs of one cell; ``evaluations`` is a list of the evaluations to 1e-10 (inf: never), and
    the targets from 1 down are reached at equal distances on the way there.
    """
    n = len(evaluations)
    first = TARGETS.index(1.0)

    def hits(e):
        if not np.isfinite(e):
            return [1] * (first + 1)
        later = np.linspace(e / 10, e, len(TARGETS) - first)
        return [1] * first + [int(v) for v in later]

    return pd.DataFrame(
        {
            "problem": problem,
            "algorithm": algorithm,
            "seed": range(n),
            "title": problem.title(),
            "minimum": 0.0,
            "stop": [stop if np.isfinite(e) else "budget" for e in evaluations],
            "stop_detail": "",
            "dim": 10,
            "iteration": 101,
            "evaluations": [int(e) if np.isfinite(e) else 10**6 for e in evaluations],
            "best": best,
            "batch_min": best,
            "first_batch_mean": 100.0,
            "first_batch_min": 1.0,
            "first_sigma": 1.0,
            "sigma": 1.0,
            "hits": [hits(e) for e in evaluations],
            **columns,
        }
    )


def write(folder, experiment, *cells):
    """The table of runs of an experiment, where experiments.claims.verdicts looks for it."""
    (folder / experiment).mkdir(parents=True, exist_ok=True)
    pd.concat(cells, ignore_index=True).to_parquet(folder / experiment / "runs.parquet")
