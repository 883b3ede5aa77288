"""The user's function on batches: point by point, at once or in parallel, and counted."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from .guard import LARGE
from .interface import Array

Map = Callable[[Callable[[Array], Any], Iterable[Array]], Iterable[Any]]


@dataclass(frozen=True)
class WithArgs:
    """x → fun(x, *args), as a class so that processes can be handed one."""

    fun: Callable[..., Any]
    args: tuple[Any, ...]

    def __call__(self, x: Array) -> Any:
        return self.fun(x, *self.args)


class Objective:
    """Maps a batch of the optimiser's points u (N, d) to values (N,), for ``loop.iterate``.

    A value that is not finite, or beyond ±1e100, is returned as NaN, or raises if ``nan`` says so.
    ``fun`` gets copies of the points and the caller's floating-point settings. What was evaluated
    counts even if a batch is interrupted or fails in the middle.

    Raises:
        ValueError: ``fun`` does not return one number per point, or a value counts as NaN and
            ``nan`` is "raise".
    """

    def __init__(
        self,
        fun: Callable[..., Any],
        args: tuple[Any, ...],
        to_x: Callable[[Array], Array],
        vectorized: bool,
        nan: str,
    ) -> None:
        self.fun = WithArgs(fun, args)
        self.to_x = to_x
        self.vectorized = vectorized
        self.nan = nan
        self.map: Map = map
        self.settings = np.geterr()
        self.x: Array = np.empty((0, 0))  # (N, d) the last batch, in the user's coordinates
        self.found: list[float] = []  # its values so far
        self.best_x: Array | None = None  # (d,) the best point so far
        self.best = np.inf
        self.evaluations = 0
        self.nonfinite = 0  # of them, counted as NaN

    def __call__(self, u: Array) -> Array:
        self.x = self.to_x(u)
        try:
            return self.values(self.x)
        finally:
            for value, x in zip(self.found, self.x, strict=False):
                if value < self.best:
                    self.best, self.best_x = value, x.copy()

    def values(self, x: Array) -> Array:
        """The values (N,) at x (N, d), in the user's coordinates; counted, but not for the best."""
        self.found = []
        try:
            with np.errstate(**self.settings):
                for answer in self._answers(x):
                    self.found.append(self._number(answer, x[min(len(self.found), len(x) - 1)]))
        finally:
            self.evaluations += len(self.found)
            self.nonfinite += int(np.isnan(self.found).sum())
        if len(self.found) != len(x):
            raise ValueError(f"workers returned {len(self.found)} values for {len(x)} points")
        return np.array(self.found)

    def _answers(self, x: Array) -> Iterable[Any]:
        if not self.vectorized:
            return self.map(self.fun, [row.copy() for row in x])
        values = np.asarray(self.fun(x.copy()), dtype=float)
        if values.shape != (len(x),):
            raise ValueError(
                f"fun returned shape {values.shape} for {len(x)} points; vectorized needs "
                f"({len(x)},)"
            )
        answers: list[float] = values.tolist()
        return answers

    def _number(self, answer: Any, x: Array) -> float:
        value = answer if type(answer) is float else _scalar(answer)
        if -LARGE <= value <= LARGE:
            return value
        if self.nan == "raise":
            raise ValueError(f"fun returned {value} at x = {x.tolist()}")
        return np.nan


def _scalar(answer: Any) -> float:
    value = np.asarray(np.nan if answer is None else answer, dtype=float)
    if answer is None or value.size != 1:
        what = "None" if answer is None else f"shape {value.shape}"
        raise ValueError(f"fun returned {what} for one point; it must return one number")
    return float(value.reshape(())[()])


@contextmanager
def mapping(workers: int | Map | None) -> Iterator[Map]:
    """A map over points: the built-in one, that of a pool of processes, or the user's.

    Raises:
        ValueError: ``workers`` is none of None, −1 (one per processor), a whole number ≥ 1 and a
            function like ``map``.
    """
    if workers is None or (not callable(workers) and workers == 1):
        yield map
    elif callable(workers):
        yield workers
    elif isinstance(workers, int | np.integer) and (workers == -1 or workers > 1):
        from multiprocessing import Pool

        count = os.cpu_count() if workers == -1 else int(workers)
        with Pool(count, _leave_ctrl_c_to_the_parent) as pool:  # its end terminates the processes
            yield pool.imap
    else:
        raise ValueError(
            f"workers is {workers!r}; allowed: None, -1, a whole number ≥ 1, or a function like map"
        )


def _leave_ctrl_c_to_the_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
