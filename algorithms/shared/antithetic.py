"""Antithetic pairs: each noise is used with both signs."""

from __future__ import annotations

import numpy as np

from .interface import Array


def mirrored(half: Array) -> Array:
    """The noise (N/2, d) and after it its negative: (N, d)."""
    return np.concatenate([half, -half])
