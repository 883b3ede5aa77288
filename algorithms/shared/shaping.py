"""From raw function values to the weights that an update multiplies its samples with."""

from __future__ import annotations

from math import inf, log, sqrt

import numpy as np

from .interface import Array, Ending, Stop

SMALL = 1e-150  # a standard deviation below this comes of squares that have lost digits


def standardise(values: Array, ddof: int = 1) -> tuple[Array, Ending | None]:
    """Centre the values of a batch and divide by their standard deviation.

    h_i = (f_i − f̄) / s,  s² = Σ (f_i − f̄)² / (N − ddof)

    Args:
        values: (N,) function values.
        ddof: 1 as MATLAB's std, 0 for the population's.

    Returns:
        (N,) values h with Σ h = 0, and None; or, when h does not exist, the values as they are and
        the reason: ``flat`` (all equal) or ``diverged`` (one is not finite). Values of any size
        have an h if they are finite and differ, those whose squares overflow or underflow too.

    Source: Section 4.1, the transformation h(f(x_i)). Differs: none; the text leaves ddof open and
        calls h "monotonic" (for one batch it is; it is not a function of the rank).
    """
    # Measured from the first value, equal values are exact zeros, so "flat" needs no tolerance.
    h = values - values[0]
    h -= h.sum() / h.size
    s = sqrt(h @ h / (h.size - ddof))
    if not SMALL < s < inf:
        return _extreme(values, ddof)
    h /= s
    return h, None


def _extreme(values: Array, ddof: int) -> tuple[Array, Ending | None]:
    """``standardise`` where s is not finite or nearly 0: there is no h, or other units have one.

    A power of two as the unit changes no digit. Where s is nearly 0 and the values differ, they are
    themselves below 1e-130, or they could not be as close: neither unit leads back here.
    """
    if not np.isfinite(values).all():
        return values, Ending(Stop.DIVERGED)
    if (values == values[0]).all():
        return values, Ending(Stop.FLAT)
    large = np.abs(values).max() > 1.0
    return standardise(np.ldexp(values, -600 if large else 900), ddof)


def centred_ranks(values: Array) -> tuple[Array, Ending | None]:
    """Ranks of a batch, spread evenly over [−1/2, 1/2]; the best value gets −1/2.

    u_i = (rank_i − 1)/(N − 1) − 1/2, equal values share the mean of their ranks.

    Args:
        values: (N,) function values; infinities are ranked, a NaN ends the run as ``diverged``.

    Source: Salimans et al. (2017), fitness shaping. Differs: their code breaks ties by position,
        which turns a flat batch into a step in a direction that means nothing.
    """
    if np.isnan(values).any():
        return values, Ending(Stop.DIVERGED)
    ordered = np.sort(values)
    rank = ordered.searchsorted(values, "left") + ordered.searchsorted(values, "right") - 1
    return rank / (2.0 * (values.size - 1)) - 0.5, None


def log_ranks(values: Array) -> tuple[Array, Ending | None]:
    """Weights by rank that favour the better half of a batch, centred.

    u_i = 1 − N max(0, ln(N/2 + 1) − ln rank_i) / Σ_j max(0, ln(N/2 + 1) − ln rank_j)

    Equal values share the mean of their weights.

    Args:
        values: (N,) function values; infinities are ranked, a NaN ends the run as ``diverged``.

    Returns:
        (N,) u with Σ u = 0, negative for good values as those of the other shapings; or the values
        as they are and the reason why there is none.

    Source: Ollivier et al. (2017), Section 2.2, with the selection scheme of CMA-ES as Wierstra et
        al. (2014), "fitness shaping", write it. Differs: times −N, so that a batch is weighed by
        u/N, as by the others.
    """
    if np.isnan(values).any():
        return values, Ending(Stop.DIVERGED)
    n = values.size
    utility = np.maximum(0.0, log(n / 2 + 1) - np.log(np.arange(1, n + 1)))
    utility /= utility.sum()
    # from the mean of the weights of positions below and up to those of equal values
    ordered, total = np.sort(values), np.concatenate([[0.0], utility.cumsum()])
    first, last = ordered.searchsorted(values, "left"), ordered.searchsorted(values, "right")
    return 1.0 - n * (total[last] - total[first]) / (last - first), None


def raw(values: Array) -> tuple[Array, Ending | None]:
    """The values themselves; one that is not finite ends the run as ``diverged``."""
    return values, None if np.isfinite(values).all() else Ending(Stop.DIVERGED)


SHAPINGS = {
    "centred_ranks": centred_ranks,
    "log_ranks": log_ranks,
    "raw": raw,
    "standardise": standardise,
}
