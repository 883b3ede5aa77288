"""A job of the workflow: run a seed, say how far it is, keep it, write its trace."""

from __future__ import annotations

import ctypes
import errno
import shutil
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

from algorithms.shared.loop import Batch, quiet
from experiments.paths import ROOT
from experiments.runs import checkpoint, trace
from experiments.runs.effort import Effort
from experiments.runs.keeper import Keeper
from experiments.runs.log import say
from experiments.runs.simulate import Run
from experiments.runs.spec import Spec

SECONDS_BETWEEN_LINES = 5.0
ROOM = 10e6  # bytes free on the disk without which no run starts


def run_seed(
    spec: Spec, path: Path, code: str, keep_state: bool = False, cpu_began: float = 0.0
) -> None:
    """Run the seed that the file is named by, and write its trace, unless it is there.

    A run that was stopped goes on from its checkpoint, bit for bit.

    Args:
        spec: what is run.
        path: SEED.parquet.
        code: fingerprint of the code, for the record.
        keep_state: keep the last state of a run that its budget ends, so that the same command with
            a larger budget goes on from there.
        cpu_began: CPU seconds of this process that were another run's.

    Raises:
        ValueError: the spec names something that does not exist or is not allowed.
        OSError: the disk is full, or the trace cannot be written, as where a folder with files is.
        Stopped: a signal has asked to stop.
    """
    label, seed = f"{spec.algorithm} on {spec.problem}, seed {path.stem}", int(path.stem)
    if is_there(path, spec, seed, code):
        say(f"{label}: {path} is there")
        return
    check_room(path.parent)
    run, effort = Run(spec, seed), Effort(cpu_began)
    keeper = Keeper(run, checkpoint.path_beside(path), code, effort, label)
    keeper.load()
    progress = Progress(label, spec.budget, run.evaluations)
    with keeper.listening(), quiet():
        for batch in run.batches():
            progress(batch)
            keeper(batch)
    metadata = run.metadata() | effort.metadata()
    metadata |= {"commit": commit(), "code": code, "versions": trace.versions()}
    trace.write(path, run.record, metadata)
    keeper.finish(keep_state)
    say(f"{label}: wrote {path}")


def is_there(path: Path, spec: Spec, seed: int, code: str) -> bool:
    """Whether the trace of this spec, seed and fingerprint of code is there, whole."""
    if not path.is_file():
        return False
    try:
        _, metadata = trace.read(path)
    except ValueError:
        return False
    return not trace.misfit(metadata, spec, seed, code)


def check_room(folder: Path) -> None:
    """Raise OSError if the disk has no room for a trace: now, and not when it is computed."""
    folder.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(folder).free
    if free < ROOM:
        raise OSError(errno.ENOSPC, f"the disk of {folder} is full ({free / 1e6:.1f} MB free)")


def keep_memory() -> None:
    """Let freed arrays stay with the process. glibc gives large ones back and asks for them anew in
    every iteration, and page faults then take half of the time of a batch of a megabyte.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):  # another C library
        return
    trim_threshold, mmap_threshold = -1, -3  # their numbers in malloc.h
    for option in (trim_threshold, mmap_threshold):
        mallopt(option, 1 << 30)


@dataclass
class Progress:
    """A line in the log of a job every few seconds, and one at the end of a run."""

    label: str
    budget: int
    first: int = 0  # evaluations that an earlier process made
    began: float = field(default_factory=time.monotonic)
    last: float = field(default_factory=time.monotonic)

    def __call__(self, batch: Batch) -> None:
        now = time.monotonic()
        if batch.ended:
            reason, detail = batch.ended
            state = f"ended: {reason}" + (f" ({detail})" if detail else "")
        elif now - self.last < SECONDS_BETWEEN_LINES:
            return
        else:
            done = batch.evaluations - self.first
            left = (now - self.began) * (self.budget - batch.evaluations) / done
            state = f"at most {left:.0f} s left"
        self.last = now
        say(
            f"{self.label}: {batch.evaluations:,} of {self.budget:,} evaluations, "
            f"best {batch.best:.3e}, {now - self.began:.1f} s, {state}"
        )


def commit() -> str:
    """The commit of the sources, marked if they differ from it; "unknown" outside a checkout."""
    describe = ["describe", "--always", "--exclude=*", "--abbrev=40", "--dirty"]
    git = ["git", "-C", str(ROOT), *describe]
    try:
        return subprocess.run(git, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
