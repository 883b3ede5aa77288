"""What a run's last bits depend on beside code and versions: the processor, by the kernels that
OpenBLAS and numpy choose for it. ``bits: portable`` has both choose the same everywhere.
"""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path
from typing import Any

from numpy._core import _multiarray_umath as core  # type: ignore[attr-defined] # what numpy.show_runtime() shows
from threadpoolctl import threadpool_info

# The oldest instructions that portable runs ask for: x86-64-v3, of 2013, with AVX2 and FMA.
PORTABLE_BLAS, PORTABLE_NUMPY = "Haswell", "X86_V3"


def kernels() -> dict[str, Any]:
    """The processor, OpenBLAS's kernels, and the newest instructions that numpy dispatches to."""
    blas = sorted({str(library.get("architecture")) for library in threadpool_info()})
    return {"processor": processor(), "blas": "/".join(blas), "numpy": _dispatched()[-1]}


def _dispatched() -> list[str]:
    """The groups of instructions that numpy uses here, the oldest first."""
    groups = [name for name in core.__cpu_dispatch__ if core.__cpu_features__[name]]
    return [*core.__cpu_baseline__, *groups]


def portable_environment() -> dict[str, str]:
    """The variables that have OpenBLAS and numpy use PORTABLE_BLAS and PORTABLE_NUMPY, read when
    they are loaded.

    Raises:
        ValueError: this processor does not have these instructions.
    """
    used = _dispatched()
    if PORTABLE_NUMPY not in used:
        raise ValueError(
            f"bits is portable, which takes a processor with {PORTABLE_NUMPY} (x86-64 with AVX2); "
            f"this one, {processor()}, has {', '.join(used)}"
        )
    newer = used[used.index(PORTABLE_NUMPY) + 1 :]
    return {"OPENBLAS_CORETYPE": PORTABLE_BLAS, "NPY_DISABLE_CPU_FEATURES": " ".join(newer)}


def start_portably(module: str, arguments: list[str]) -> None:
    """Start ``module`` anew in the place of this process, with the portable kernels, unless it has
    them: they are chosen when numpy is loaded, and here it is.

    Raises:
        ValueError: as ``portable_environment``.
    """
    if os.environ.get("OPENBLAS_CORETYPE") == PORTABLE_BLAS and _dispatched()[-1] == PORTABLE_NUMPY:
        return
    environment = os.environ | portable_environment()
    os.execve(sys.executable, [sys.executable, "-m", module, *arguments], environment)


def processor() -> str:
    """The name of the processor, as far as the system tells."""
    file = Path("/proc/cpuinfo")
    lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()
