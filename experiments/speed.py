"""What machine this is and how fast: beside the seconds of kept runs, and to expect others by."""

from __future__ import annotations

import resource
import time

import numpy as np

# Of the machines of the kept runs whose speed was not noted. It was not probed there but derived
# later: on a machine of speed 13,750 twelve kinds of cell took 0.53 times the seconds that are kept
# of them (0.4 to 0.6).
UNKNOWN = 7200.0


def probe(seconds: float = 1.0) -> float:
    """Rounds per second of processor time of a piece of work like an optimiser's at d = 100.

    The work stays as it is, or the numbers that are kept say nothing any more.
    """
    rng = np.random.default_rng(0)
    a = rng.standard_normal((100, 100))
    b = a @ a.T + 100 * np.eye(100)
    began, rounds, spent = time.process_time(), 0, 0.0
    while spent < seconds:
        z = rng.standard_normal((18, 100))
        y = z @ a
        np.sort(np.einsum("nd,nd->n", y, y))
        np.linalg.cholesky(b)
        rounds += 1
        spent = time.process_time() - began
    return rounds / spent


def cpu_seconds() -> float:
    """CPU seconds of all processes that this one has waited for, and that those have."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
