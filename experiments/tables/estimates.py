"""Values with their 95 % intervals: shares, probabilities, bootstrapped statistics of runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.stats import binomtest, norm

from experiments.runs.seeds import stream

Array = NDArray[np.float64]
LEVEL = 0.95  # of every interval
RESAMPLES = 2000
FEWEST = 6  # from the smallest to the largest of five runs there is a median 94 times in 100


@dataclass(frozen=True)
class Estimate:
    """A value with its 95 % interval."""

    value: float
    low: float
    high: float


def wilson(successes: int, n: int) -> Estimate:
    """A share with Wilson's score interval, which is sensible at 0 and at 1 too."""
    low, high = binomtest(successes, n).proportion_ci(LEVEL, method="wilson")
    return Estimate(successes / n, float(low), float(high))


def newcombe(a: Array, b: Array) -> Estimate:
    """P(A < B) + ½ P(A = B) for an entry of either, with Newcombe's score interval.

    The ends are the θ at which the estimate is z standard errors away, with the variance of
    Hanley & McNeil for samples of m and n,

    V(θ) = θ(1 − θ)/(mn) · (1 + n*((1 − θ)/(2 − θ) + θ/(1 + θ))),  n* = (m + n)/2 − 1

    A bootstrap has no interval at 1, and for five runs each calls one in ten equal pairs unequal.
    Where all pairs of two equal methods go one way more often than an interval may err, in one
    study of ten with three runs each, the interval is the whole of [0, 1].

    Source: Newcombe (2006), Statistics in Medicine 25:559, method 5.
    """
    z, mn, more = norm.ppf((1 + LEVEL) / 2), a.size * b.size, (a.size + b.size) / 2 - 1
    share = float(share_smaller(a, b))
    if 2 / comb(a.size + b.size, a.size) > 1 - LEVEL:
        return Estimate(share, 0.0, 1.0)

    def above(theta: float) -> float:
        """(share − θ)² − z² V(θ): positive where θ is outside of the interval."""
        spread = 1 + more * ((1 - theta) / (2 - theta) + theta / (1 + theta))
        return float((share - theta) ** 2 - z * z * theta * (1 - theta) / mn * spread)

    # V is 0 at both ends, where it has a root that is none of the interval's.
    low = 0.0 if share == 0.0 else float(brentq(above, 0.0, min(share, 1 - 1e-9)))
    high = 1.0 if share == 1.0 else float(brentq(above, max(share, 1e-9), 1.0))
    return Estimate(share, low, high)


def bootstrap(statistic: Callable[..., Any], *samples: Array) -> Estimate:
    """A statistic of independent samples, with its percentile interval over resampled runs.

    ``statistic`` reduces the last axis of its arguments, so that all resamples go through at once.
    Where it has no value (0/0, ∞/∞) there is no interval; a resample without one may be anything,
    and widens the interval on both sides.
    """
    value = float(statistic(*samples))
    if np.isnan(value):
        return Estimate(value, value, value)
    resamples = _resamples(RESAMPLES, tuple(map(len, samples)))
    draws = statistic(*(s[chosen] for s, chosen in zip(samples, resamples, strict=True)))
    # Order statistics, not interpolations: a median of evaluations may be infinite.
    low, high = (
        float(np.quantile(np.where(np.isnan(draws), end, draws), level, method="inverted_cdf"))
        for end, level in ((-np.inf, (1 - LEVEL) / 2), (np.inf, (1 + LEVEL) / 2))
    )
    return Estimate(value, low, high)


@lru_cache(maxsize=16)
def _resamples(n: int, sizes: tuple[int, ...]) -> tuple[NDArray[np.int64], ...]:
    """Which entries are drawn from samples of these sizes, n times; each (n, size)."""
    rng = stream(0, "bootstrap")
    return tuple(rng.integers(size, size=(n, size)) for size in sizes)


def resampled(statistic: Callable[..., Any], *samples: Array) -> Estimate:
    """``bootstrap``, with an interval that decides nothing for fewer than FEWEST runs."""
    estimate = bootstrap(statistic, *samples)
    if min(map(len, samples)) < FEWEST:
        return Estimate(estimate.value, -np.inf, np.inf)
    return estimate


def share_smaller(a: Array, b: Array) -> Array:
    """Share of pairs in which the entry of ``a`` is the smaller one, half for equal ones; each
    (…, runs), the result (…).
    """
    a, b = a[..., :, None], b[..., None, :]
    share: Array = ((a < b) + 0.5 * (a == b)).mean(axis=(-2, -1))
    return share
