"""How long runs will take, by what kept runs took.

A run takes the processor's seconds per evaluation of the kept runs of its settings, which are those
of the clock where a run has a core of its own, times its budget, times how much slower this machine
is than the one that they were made on.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cache
from math import ceil
from pathlib import Path
from typing import Any

from experiments import speed as speeds
from experiments.paths import KEPT
from experiments.runs.spec import Spec

A_JOB = 0.5  # seconds beside its iterations (results/published/workflow.md)
OTHER_JOB = 3.0  # seconds of a job that is no run: a table or a picture, more or less

# Runs are alike if they agree in one of these, the first the closest: all but the budget.
ALIKE: tuple[Callable[[Spec], Hashable], ...] = (
    lambda s: (_problem(s), s.algorithm, _text(s.algorithm_parameters)),
    lambda s: (_problem(s), s.algorithm),
    lambda s: (s.problem, s.algorithm),
    lambda s: _problem(s),
    lambda s: s.problem,
    lambda s: s.algorithm,
    lambda s: "any",
)


@dataclass(frozen=True)
class Expected:
    """Seconds of runs on one core of this machine."""

    rates: list[dict[Hashable, float]]  # for each of ALIKE: seconds per evaluation
    slower: float  # this machine than that of the kept runs, as a factor

    @classmethod
    def by_kept(cls, kept: Path = KEPT, speed: float | None = None) -> Expected:
        """What the kept seconds let one expect on a machine of that speed (None: of this one)."""
        # half a second, which a workflow that has no run to do can spare
        import pandas as pd

        from experiments.publishing import archive

        jobs = archive.kept_seconds(kept)
        if jobs.empty:
            return cls([{} for _ in ALIKE], 1.0)
        here = speeds.probe() if speed is None else speed
        theirs = jobs["speed"].astype(float).fillna(speeds.UNKNOWN)
        took = jobs["cpu_seconds"].fillna(jobs["seconds"])
        jobs["here"] = took * theirs / here
        cells = jobs.groupby(list(archive.KEY[:3]))["here"].mean()
        specs = {cell: spec.canonical for cell, spec in archive.kept_specs(kept).items()}
        known = [(specs[cell], seconds) for cell, seconds in cells.items() if cell in specs]
        rates: list[dict[Hashable, float]] = [
            pd.Series([seconds / spec.budget for spec, seconds in known])
            .groupby(pd.Series([key(spec) for spec, _ in known], dtype=object))
            .median()
            .to_dict()
            for key in ALIKE
        ]
        return cls(rates, jobs["here"].sum() / took.sum())

    def seconds(self, spec: Spec) -> tuple[float, bool]:
        """Of a run, and whether runs of its settings are kept, so that this is more than a guess
        from the runs that are most alike.
        """
        spec = spec.canonical
        for key, rates in zip(ALIKE, self.rates, strict=True):
            if (rate := rates.get(key(spec))) is not None:
                return max(A_JOB, rate * spec.budget), key is ALIKE[0]
        return A_JOB, False


def minutes(spec: Spec, seeds: int) -> int:
    """Minutes to ask of a cluster for some runs, one after the other: three times what is expected
    of a slow node, since none was measured, and ten to start.
    """
    return 10 + ceil(3 * seeds * _on_slow_node().seconds(spec)[0] / 60)


@cache
def _on_slow_node() -> Expected:
    return Expected.by_kept(speed=speeds.UNKNOWN)


def _problem(spec: Spec) -> Hashable:
    return spec.problem, _text(spec.problem_parameters)


def _text(parameters: dict[str, Any]) -> str:
    return json.dumps(parameters, sort_keys=True)
