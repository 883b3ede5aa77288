"""What a run takes, over all processes that it went through, and on which machines."""

from __future__ import annotations

import resource
import time
from dataclasses import dataclass, field
from typing import Any

from experiments.runs import machine


@dataclass
class Effort:
    """Of one run."""

    cpu_began: float  # CPU seconds that the process had taken; 0 of its first run, start included
    began: float = field(default_factory=time.monotonic)
    before: dict[str, Any] = field(default_factory=dict)  # in earlier processes

    def go_on_from(self, before: dict[str, Any]) -> None:
        """Add what an earlier process noted of the same run."""
        self.before = before

    def metadata(self) -> dict[str, Any]:
        """So far: seconds, CPU seconds, peak memory of the process in MB, processes, machines."""
        before, here = self.before, machine.kernels()
        machines = [m for m in before.get("machines", []) if m != here]
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        cpu = time.process_time() - self.cpu_began
        return {
            "seconds": round(before.get("seconds", 0.0) + time.monotonic() - self.began, 3),
            "cpu_seconds": round(before.get("cpu_seconds", 0.0) + cpu, 3),
            "peak_mb": round(max(before.get("peak_mb", 0.0), peak), 1),
            "processes": before.get("processes", 0) + 1,
            "machines": [*machines, here],
        }
