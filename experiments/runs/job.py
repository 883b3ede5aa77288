"""A job of the workflow: run a seed, say how far it is, write its trace."""

from __future__ import annotations

import ctypes
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from algorithms.shared.loop import Batch
from experiments.paths import ROOT
from experiments.runs import trace
from experiments.runs.simulate import run
from experiments.runs.spec import Spec

SECONDS_BETWEEN_LINES = 5.0


def run_seed(spec: Spec, path: Path, code: str) -> None:
    """Run the seed that the file is named by, and write its trace.

    Args:
        spec: what is run.
        path: SEED.parquet.
        code: fingerprint of the code, for the record.

    Raises:
        ValueError: the spec names something that does not exist or is not allowed.
        OSError: the trace cannot be written.
    """
    label = f"{spec.algorithm} on {spec.problem}, seed {path.stem}"
    progress = Progress(label, spec.budget)
    record, metadata = run(spec, int(path.stem), progress)
    metadata |= {"commit": commit(), "code": code, "versions": trace.versions()}
    trace.write(path, record, metadata)
    print(f"{label}: wrote {path}", file=sys.stderr)


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
            left = (now - self.began) * (self.budget / batch.evaluations - 1)
            state = f"at most {left:.0f} s left"
        self.last = now
        print(
            f"{self.label}: {batch.evaluations:,} of {self.budget:,} evaluations, "
            f"best {batch.best:.3e}, {now - self.began:.1f} s, {state}",
            file=sys.stderr,
            flush=True,
        )


def commit() -> str:
    """The commit of the sources, marked if they differ from it; "unknown" outside a checkout."""
    describe = ["describe", "--always", "--exclude=*", "--abbrev=40", "--dirty"]
    git = ["git", "-C", str(ROOT), *describe]
    try:
        return subprocess.run(git, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
