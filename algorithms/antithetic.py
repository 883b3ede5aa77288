"""Antithetic pairs: each noise is used with both signs."""

from __future__ import annotations

import numpy as np

from algorithms import settings
from algorithms.interface import Array


def check_pairs(samples: int | None) -> None:
    """Raise ValueError unless ``samples``, N, is None or even, as pairs want."""
    settings.check_samples(samples)
    if samples is not None and samples % 2:
        raise ValueError(f"samples is {samples}; allowed: an even number (antithetic)")


def mirrored(half: Array) -> Array:
    """The noise (N/2, d) and after it its negative: (N, d)."""
    return np.concatenate([half, -half])
