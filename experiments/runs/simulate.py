"""One run: an optimiser on a problem from one seed, as rows of a trace."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict
from importlib import import_module
from math import inf
from typing import Any, NamedTuple

import numpy as np

import algorithms
import problems
from algorithms.shared.interface import Algorithm, Stop
from algorithms.shared.loop import Batch, Position, iterate, quiet
from experiments.runs.record import Record, next_row
from experiments.runs.seeds import stream
from experiments.runs.spec import Spec

RESTARTS = "algorithms.shared.restarts"


def batch_size(spec: Spec) -> int:
    """N, the evaluations of a batch."""
    problem = problems.build(spec.problem, spec.problem_parameters)
    return optimiser(spec).batch_size(problem.dim)


def optimiser(spec: Spec) -> Algorithm:
    """The optimiser of a spec, with its restarts.

    Raises:
        ValueError: there is none of its name, or a value is not allowed.
    """
    one = algorithms.build(spec.algorithm, spec.algorithm_parameters)
    if spec.restarts is None:
        return one
    # By name, so that the runs of the paper, which have none, do not depend on it.
    made: Algorithm = import_module(RESTARTS).restarting(one, **spec.restarts)
    return made


def run(
    spec: Spec, seed: int, report: Callable[[Batch], None] = lambda batch: None
) -> tuple[Record, dict[str, Any]]:
    """Do one run, showing every batch to ``report``. A pure function.

    Returns the record, and its metadata: the spec, the seed, the problem's title and minimum, why
    the run stopped, and the mean that the last batch was drawn around.

    Raises:
        ValueError: the spec names something that does not exist or is not allowed.
    """
    under_way = Run(spec, seed)
    with quiet():
        for batch in under_way.batches():
            report(batch)
    return under_way.record, under_way.metadata()


class Snapshot(NamedTuple):
    """Where a run is between two batches: all that it needs to go on bit for bit."""

    position: Position
    streams: list[dict[str, Any]]  # states of the search's and of the problem's random streams
    steps: int  # of the environment
    due: int  # iteration of the next row
    rows: int
    hits: int


class Run:
    """A run under way.

    Raises:
        ValueError: the spec names something that does not exist or is not allowed.
    """

    def __init__(self, spec: Spec, seed: int) -> None:
        instance = stream(spec.root_seed, "instance", spec.problem, seed)
        self.spec, self.seed = spec, seed
        self.problem = problems.build(spec.problem, spec.problem_parameters, instance, seed)
        self.algorithm = optimiser(spec)
        of = (spec.problem, *self.problem.key)
        self.mean = self.problem.start(stream(spec.root_seed, "start", *of, seed))
        self.search = stream(spec.root_seed, "search", *of, spec.algorithm, seed)
        self.record = Record()
        self.last: Batch | None = None
        self.longer: Snapshot | None = None  # what a run with a larger budget goes on from
        self._at: Position | None = None  # where an earlier process stopped
        self._steps = 0  # of the environment, until then
        self._due = 1

    def batches(self) -> Iterator[Batch]:
        """Do it, batch by batch, each one when its row is recorded. Iterate under ``quiet()``."""
        spec, problem, record = self.spec, self.problem, self.record
        best = self._at.best if self._at else inf
        target = -inf if spec.target is None else problem.minimum + spec.target
        for batch in iterate(
            self.algorithm, problem.evaluate, self.mean, self.search, spec.budget, target, self._at
        ):
            self.last = batch
            if batch.best < best:
                best = batch.best
                record.reach(best - problem.minimum, batch.evaluations)
            is_due = batch.iteration == self._due
            if is_due:
                self._append(batch)
                self._due = next_row(batch.iteration, spec.record_every)
            if batch.ended:
                if batch.ended.reason == Stop.BUDGET:
                    self.longer = self.snapshot()
                if not is_due:
                    self._append(batch)
            yield batch

    def _append(self, batch: Batch) -> None:
        spread = batch.state.spread()
        self.record.append(
            iteration=batch.iteration,
            evaluations=batch.evaluations,
            environment_steps=self._environment_steps(),
            f_mean=self.problem.f_at(batch.state.mean),
            batch_min=batch.minimum,
            batch_mean=float(batch.values.mean()),
            best=batch.best,
            sigma=spread.sigma,
            condition=spread.condition,
        )

    def _environment_steps(self) -> int:
        return self._steps + (self.problem.steps() if self.problem.steps else 0)

    def metadata(self) -> dict[str, Any]:
        """Of a run that has ended: what its record is of."""
        assert self.last is not None
        reason, detail = self.last.ended or ("", "")
        return {
            "spec": asdict(self.spec),
            "seed": self.seed,
            "title": self.problem.title,
            "minimum": self.problem.minimum,
            "stop": reason,
            "stop_detail": detail,
            "last_mean": self.last.state.mean.tolist(),
            # with restarts, whose batches grow: why no other one was paid for
            **({"next_batch": self.last.told.batch_size} if self.spec.restarts is not None else {}),
        }

    # ---- from one process to the next ----

    @property
    def streams(self) -> list[np.random.Generator]:
        """All that the run draws from while it goes on."""
        return [self.search, *self.problem.streams]

    def snapshot(self) -> Snapshot:
        """Where it is after the last batch."""
        assert self.last is not None
        return Snapshot(
            self.last.position,
            [dict(s.bit_generator.state) for s in self.streams],
            self._environment_steps(),
            self._due,
            len(self.record.rows["iteration"]),
            len(self.record.hits),
        )

    def saved(self, at: Snapshot) -> dict[str, Any]:
        """The run until then, as a content of a checkpoint."""
        rows = {name: np.array(column[: at.rows]) for name, column in self.record.rows.items()}
        hits = self.record.hits[: at.hits]
        return {**at._asdict(), "position": at.position._asdict(), "rows": rows, "hits": hits}

    def like_saved(self) -> dict[str, Any]:
        """A content with the same types."""
        state = self.algorithm.init(self.mean, np.random.default_rng(0))
        return {"position": {"state": state}}

    def go_on_from(self, saved: dict[str, Any]) -> None:
        """Be where an earlier process saved the same run."""
        self._at = Position(**saved["position"])
        self._steps, self._due = saved["steps"], saved["due"]
        for generator, state in zip(self.streams, saved["streams"], strict=True):
            generator.bit_generator.state = state
        self.record = Record.of(saved["rows"], saved["hits"])

    @property
    def batch_size(self) -> int:
        """N, the evaluations of the next batch."""
        state = self.last.told if self.last else self._at.state if self._at else None
        first = self.algorithm.batch_size(self.problem.dim)
        size: int = getattr(state, "batch_size", first)
        return size

    @property
    def evaluations(self) -> int:
        """So far."""
        if self.last:
            return self.last.evaluations
        return self._at.evaluations if self._at else 0
