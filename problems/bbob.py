"""The functions of COCO's bbob suite, which the field compares optimisers of real vectors on."""

from __future__ import annotations

from typing import Any

import numpy as np

from algorithms.shared import checks
from problems.interface import Array, Problem

NAMES = (
    "Sphere", "Ellipsoid, separable", "Rastrigin, separable", "Büche-Rastrigin", "Linear slope",
    "Attractive sector", "Step-ellipsoid", "Rosenbrock", "Rosenbrock, rotated",
    "Ellipsoid", "Discus", "Bent cigar", "Sharp ridge", "Different powers",
    "Rastrigin", "Weierstrass", "Schaffers F7", "Schaffers F7, ill-conditioned",
    "Composite Griewank-Rosenbrock", "Schwefel", "Gallagher, 101 peaks", "Gallagher, 21 peaks",
    "Katsuura", "Lunacek bi-Rastrigin",
)  # fmt: skip

# COCO's five groups of them: separable, moderate, ill-conditioned, multimodal with and without a
# global structure.
GROUPS = {
    "separable": range(1, 6),
    "moderate": range(6, 10),
    "ill-conditioned": range(10, 15),
    "multimodal": range(15, 20),
    "weakly structured": range(20, 25),
}


def bbob(run: int, function: int, dim: int, first_instance: int = 1) -> Problem:
    """f_1 … f_24 of the bbob suite, each run on an instance of its own.

    Args:
        run: number of the run; its instance is ``first_instance`` + run.
        function: 1 … 24.
        dim: d ≥ 2. COCO's own dimensions are 2, 3, 5, 10, 20 and 40.
        first_instance: ≥ 1; an instance shifts and turns the function, and shifts its values.

    The first mean is uniform on [−5, 5]^d, where the minimum lies.

    Raises:
        ValueError: a value that is not allowed.
        ImportError: COCO is not installed, with what to do.

    Source: Hansen, Finck, Ros and Auger (2009), by COCO's own code (Hansen et al., 2021). Differs:
        none; COCO leaves the first point to the optimiser.
    """
    # COCO itself would end the process.
    checks.whole("function", function, 1)
    if function > len(NAMES):
        raise ValueError(f"function is {function}; allowed: from 1 to {len(NAMES)}")
    checks.whole("dim", dim, 2)
    checks.whole("first_instance", first_instance, 1)
    bare = _cocoex().BareProblem
    f = bare("bbob", function, dim, first_instance + run)
    known = bare("bbob", function, dim, first_instance + run)  # which has been asked for its answer

    def evaluate(x: Array) -> Array:
        return np.array([f(row) for row in x])

    return Problem(
        dim=dim,
        evaluate=evaluate,
        minimum=float(known.best_value()),
        minimiser=np.array(known.best_parameter()),
        start=lambda rng: rng.uniform(-5.0, 5.0, dim),
        key=(function, dim, first_instance),
        title=f"f{function} {NAMES[function - 1]}",
    )


def _cocoex() -> Any:
    """COCO's functions, or what to do where they are not installed."""
    try:
        import cocoex  # here, because it takes time and only these runs need it
    except ImportError as error:
        raise ImportError("COCO is not installed; run: make .venv/field") from error
    return cocoex
