"""What a problem is: a record of its function, its space, its known optimum and its start."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Problem:
    """A function to minimise."""

    dim: int
    evaluate: Callable[[Array], Array]  # a batch of points (N, d) to its values (N,)
    minimum: float
    minimiser: Array  # (d,)
    start: Callable[[np.random.Generator], Array]  # draws the first mean (d,)
    space: str = "real"
    title: str = ""  # as figures print it
    formula: str = ""  # LaTeX, as Table 1 prints it
    correction: str = ""  # where the formula departs from the paper's print
    report: Callable[[Array], float] | None = None  # f at a mean (d,) for the trace, not charged
    steps: Callable[[], int] | None = None  # environment steps charged so far
    streams: tuple[np.random.Generator, ...] = ()  # that values are drawn from, run-time ones only
    # More words of the keys of a run's streams, where one function makes many problems.
    key: tuple[str | int, ...] = ()

    def f_at(self, mean: Array) -> float:
        """The value at a mean (d,), for the trace: ``report`` if there is one."""
        return self.report(mean) if self.report else float(self.evaluate(mean[None, :])[0])
