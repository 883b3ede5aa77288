"""Keeps a run that is under way: in a checkpoint every few minutes, at a signal, and at its end."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import FrameType

from algorithms.shared.loop import Batch
from experiments.runs import checkpoint, trace
from experiments.runs.effort import Effort
from experiments.runs.log import say
from experiments.runs.simulate import Run, Snapshot

SECONDS = 120.0  # between checkpoints, at least,
SHARE = 0.005  # and so many that writing them takes at most this share of the time
LONG = 0.1  # seconds of a batch that no signal shall wait for
STOPPING = (signal.SIGINT, signal.SIGTERM)


class Stopped(Exception):
    """A signal asks to stop."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.number = number


@dataclass
class Keeper:
    """Of one run."""

    run: Run
    path: Path  # of the checkpoint
    code: str  # fingerprint of the code
    effort: Effort
    label: str  # of the run, in its log
    signal: int = 0  # that asks to stop
    before: Snapshot | None = None  # where the run was before the batch under way, if it is long
    can: bool = True  # whether the optimiser's state can be written
    last: float = field(default_factory=time.monotonic)  # batch
    due: float = field(default_factory=lambda: time.monotonic() + SECONDS)  # next checkpoint

    def load(self) -> None:
        """Have the run go on from its checkpoint, if there is one."""
        if not self.path.is_file():
            return
        try:
            saved = checkpoint.read(self.path, self.run.like_saved())
            if why := self._misfit(saved):
                raise ValueError(f"{self.path} is not of this run: {why}")
        except ValueError as error:
            say(f"{self.label}: starts anew, since {error}")
            return
        self.run.go_on_from(saved)
        self.effort.go_on_from(saved["effort"])
        say(f"{self.label}: goes on after {self.run.evaluations:,} evaluations")

    def _misfit(self, saved: dict[str, object]) -> str:
        """Why a checkpoint is none of this run; nothing if it is. The budget may be larger now."""
        spec = self.run.spec
        metadata = {**saved, "spec": {**saved["spec"], "budget": spec.budget}}  # type: ignore[dict-item]
        if why := trace.misfit(metadata, spec, self.run.seed, self.code):
            return why
        done = saved["position"]["evaluations"]  # type: ignore[index]
        room = spec.budget - done
        state = saved["position"]["state"]  # type: ignore[index]
        batch = getattr(state, "batch_size", self.run.batch_size)
        return "" if room >= batch else f"it is at {done:,} evaluations already"

    @contextmanager
    def listening(self) -> Iterator[None]:
        """While signals that ask to stop have the run saved.

        Raises:
            Stopped: one has come, and the run is saved where it can be.
        """
        handlers = {number: signal.signal(number, self._stop) for number in STOPPING}
        try:
            yield
        except Stopped as stopped:
            kept = self.before is not None and self.save(self.before)
            then = "goes on from there" if kept else "starts anew"
            say(f"{self.label}: {stopped} after {self.run.evaluations:,} evaluations; {then}")
            raise
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)

    def _stop(self, number: int, frame: FrameType | None) -> None:
        """At once if that loses little; else at the end of the batch, when all can be saved."""
        self.signal = number
        if self.before or not self.run.last:
            raise Stopped(number)

    def __call__(self, batch: Batch) -> None:
        """To be called after every batch."""
        now = time.monotonic()
        took, self.last = now - self.last, now
        # for most batches all that there is to do, since they may take 20 microseconds
        if took < LONG and now < self.due and not (self.signal or self.before or batch.ended):
            return
        self.before = self.run.snapshot() if took > LONG or self.signal else None
        if batch.ended:
            return
        if self.signal:
            raise Stopped(self.signal)
        if now > self.due:
            if self.can:
                self.save(self.run.snapshot())
            self.last = time.monotonic()
            self.due = self.last + max(SECONDS, (self.last - now) / SHARE)

    def save(self, at: Snapshot) -> bool:
        """Write the checkpoint; whether that could be done."""
        if not self.can:
            return False
        content = {
            **self.run.saved(at),
            "spec": asdict(self.run.spec),
            "seed": self.run.seed,
            "code": self.code,
            "effort": self.effort.metadata(),
        }
        try:
            checkpoint.write(self.path, content)
        except checkpoint.NotSaved as error:
            say(f"{self.label}: a {error} cannot be saved, so that a stopped run starts anew")
            self.can = False
        except OSError as error:
            say(f"{self.label}: no checkpoint: {error}")
            return False
        return self.can

    def finish(self, keep: bool) -> None:
        """After the trace is written: keep where a run with a larger budget goes on, or nothing."""
        if not (keep and self.run.longer and self.save(self.run.longer)):
            self.path.unlink(missing_ok=True)
