"""One run: an optimiser on a problem from one seed, as rows of a trace. A pure function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from math import inf
from typing import Any

import algorithms
import problems
from algorithms.shared.loop import Batch, iterate, quiet
from experiments.runs.record import Record, next_row
from experiments.runs.seeds import stream
from experiments.runs.spec import Spec


def batch_size(spec: Spec) -> int:
    """N, the evaluations of a batch."""
    problem = problems.build(spec.problem, spec.problem_parameters)
    return algorithms.build(spec.algorithm, spec.algorithm_parameters).batch_size(problem.dim)


def run(
    spec: Spec, seed: int, report: Callable[[Batch], None] = lambda batch: None
) -> tuple[Record, dict[str, Any]]:
    """Do one run, showing every batch to ``report``.

    Returns the record, and its metadata: the spec, the seed, the problem's title and minimum, why
    the run stopped, and the mean that the last batch was drawn around.

    Raises:
        ValueError: the spec names something that does not exist or is not allowed.
    """
    instance = stream(spec.root_seed, "instance", spec.problem, seed)
    problem = problems.build(spec.problem, spec.problem_parameters, instance)
    algorithm = algorithms.build(spec.algorithm, spec.algorithm_parameters)
    mean = problem.start(stream(spec.root_seed, "start", spec.problem, seed))
    search = stream(spec.root_seed, "search", spec.problem, spec.algorithm, seed)

    record = Record()
    best, due = float("inf"), 1
    target = -inf if spec.target is None else problem.minimum + spec.target
    with quiet():
        for batch in iterate(algorithm, problem.evaluate, mean, search, spec.budget, target):
            if batch.best < best:
                best = batch.best
                record.reach(best - problem.minimum, batch.evaluations)
            if batch.iteration == due or batch.ended:
                due = next_row(batch.iteration, spec.record_every)
                spread = batch.state.spread()
                record.append(
                    iteration=batch.iteration,
                    evaluations=batch.evaluations,
                    environment_steps=problem.steps() if problem.steps else 0,
                    f_mean=problem.f_at(batch.state.mean),
                    batch_min=batch.minimum,
                    batch_mean=float(batch.values.mean()),
                    best=batch.best,
                    sigma=spread.sigma,
                    condition=spread.condition,
                )
            report(batch)
    reason, detail = batch.ended or ("", "")
    return record, {
        "spec": asdict(spec),
        "seed": seed,
        "title": problem.title,
        "minimum": problem.minimum,
        "stop": reason,
        "stop_detail": detail,
        "last_mean": batch.state.mean.tolist(),
    }
