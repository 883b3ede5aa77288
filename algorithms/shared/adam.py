"""Adam, which turns a sequence of gradients into steps."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

from .interface import Array

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8


@dataclass(frozen=True)
class Adam:
    """The decayed moments of the gradients so far.

    Source: Kingma & Ba (2015), with their constants, in the reordered form of their Section 2, in
        which ε is not corrected for the bias of v; Salimans et al. (2017) released the same.
    Differs: none.
    """

    mean: Array  # m (d,), decayed mean of the gradient
    mean_square: Array  # v (d,), decayed mean of its square
    steps: int = 0

    @classmethod
    def start(cls, dim: int) -> Adam:
        """No gradient seen yet."""
        return cls(np.zeros(dim), np.zeros(dim))

    def step(self, g: Array, step_size: float) -> tuple[Array, Adam]:
        """The step that the gradient ``g`` (d,) leads to, to be subtracted, and the new moments.

        m ← β₁ m + (1 − β₁) g,  v ← β₂ v + (1 − β₂) g²
        step = α √(1 − β₂ᵗ)/(1 − β₁ᵗ) m / (√v + ε)
        """
        t = self.steps + 1
        m = BETA1 * self.mean + (1 - BETA1) * g
        v = BETA2 * self.mean_square + (1 - BETA2) * g * g
        rate = step_size * sqrt(1 - BETA2**t) / (1 - BETA1**t)
        return rate * m / (np.sqrt(v) + EPSILON), Adam(m, v, t)
