"""Before a test file loads numpy: one thread, as a run has. Two that wait for each other take
three times as long where the machine does other things too.
"""

import signal

import experiments  # noqa: F401

# isort: split
import numpy as np
import pytest

# Started in the background by a shell, a suite ignores Ctrl-C, and so would all that it starts.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Files that run the workflow many times, minutes each: first, so that no core waits for the last.
LONG = (
    "test_workflow.py",
    "test_faults.py",
    "test_failures.py",
    "test_progress.py",
    "test_certify.py",
    "test_setup.py",
    "test_redraw.py",
    "test_report.py",
    "test_field.py",
    "test_slurm.py",
)


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: LONG.index(item.path.name) if item.path.name in LONG else len(LONG))
    for item in items:
        if item.path.name in LONG:
            item.add_marker("slow")


@pytest.fixture
def rugged():
    """A function of 8 bits without any symmetry."""
    rng = np.random.default_rng(9)
    A, b = rng.standard_normal((8, 8)), rng.standard_normal(8)
    return lambda x: np.einsum("ni,ij,nj->n", x, A, x) + x @ b


@pytest.fixture
def noise():
    """Uniform numbers for 30 batches of 10 points of 8 bits."""
    return np.random.default_rng(10).random((30, 10, 8))
