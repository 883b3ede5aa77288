"""What a problem is: a record of its function, its space, its known optimum and its start."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Problem:
    """A function to minimise.

    ``evaluate`` takes a batch (N, d) and returns its values (N,); ``start`` draws the first mean
    (d,). ``formula`` is LaTeX, as Table 1 prints it, and ``correction`` says where it departs from
    the paper's print, if it does.
    """

    dim: int
    evaluate: Callable[[Array], Array]
    minimum: float
    minimiser: Array  # (d,)
    start: Callable[[np.random.Generator], Array]
    space: str = "real"
    title: str = ""
    formula: str = ""
    correction: str = ""
