"""One run: an optimiser on a problem from one seed, as rows of a trace. A pure function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

import algorithms
import problems
from algorithms.loop import Batch, iterate, quiet
from experiments.seeds import stream
from experiments.trace import Trace, next_row


@dataclass(frozen=True)
class Spec:
    """All that the data of a run depends on, but for the seed."""

    problem: str
    algorithm: str
    budget: int  # evaluations
    target: float  # for the minimum of a batch, above the problem's minimum
    problem_parameters: dict[str, Any] = field(default_factory=dict)
    algorithm_parameters: dict[str, Any] = field(default_factory=dict)
    record_every: int = 1000  # iterations between rows of the trace
    root_seed: int = 0


def batch_size(spec: Spec) -> int:
    """N, the evaluations of a batch."""
    problem = problems.build(spec.problem, spec.problem_parameters)
    return algorithms.build(spec.algorithm, spec.algorithm_parameters).batch_size(problem.dim)


def run(
    spec: Spec, seed: int, report: Callable[[Batch], None] = lambda batch: None
) -> tuple[Trace, dict[str, Any]]:
    """Do one run, showing every batch to ``report``.

    Returns the trace, and its metadata: the spec, the seed, the problem's title and minimum, and
    why the run stopped.

    Raises:
        ValueError: the spec names something that does not exist or is not allowed.
    """
    instance = stream(spec.root_seed, "instance", spec.problem, seed)
    problem = problems.build(spec.problem, spec.problem_parameters, instance)
    algorithm = algorithms.build(spec.algorithm, spec.algorithm_parameters)
    mean = problem.start(stream(spec.root_seed, "start", spec.problem, seed))
    search = stream(spec.root_seed, "search", spec.problem, spec.algorithm, seed)

    trace = Trace()
    best, due = float("inf"), 1
    target = problem.minimum + spec.target
    with quiet():
        for batch in iterate(algorithm, problem.evaluate, mean, search, spec.budget, target):
            if batch.best < best:
                best = batch.best
                trace.reach(best - problem.minimum, batch.evaluations)
            if batch.iteration == due or batch.ended:
                due = next_row(batch.iteration, spec.record_every)
                spread = batch.state.spread()
                trace.append(
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
    return trace, {
        "spec": asdict(spec),
        "seed": seed,
        "title": problem.title,
        "minimum": problem.minimum,
        "stop": reason,
        "stop_detail": detail,
    }
