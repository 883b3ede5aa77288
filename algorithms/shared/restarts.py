"""Which sample size and width the runs after the first one have."""

from __future__ import annotations

import numpy as np


class Schedule:
    """Restarts of two kinds; the next one is of the kind that has used fewer evaluations so far.

    large: the k-th has N = 2ᵏ N₀ samples and the first run's σ₀, for functions with many minima;
    small: N₀ samples and 10^(−2u) σ₀, u ~ U(0, 1), to look at a smaller scale.

    Source: the two regimes of BIPOP-CMA-ES (Hansen, 2009). Differs: the small runs keep N₀ and have
        no budget of their own; every run starts at a point of its own from N(x₀, σ₀²).
    """

    def __init__(self, samples: int) -> None:
        self.samples = samples  # N₀
        self.large = 0  # runs of this kind so far
        self.used = {"large": 0, "small": 0}  # evaluations

    def following(self, rng: np.random.Generator) -> tuple[str, int, float]:
        """The kind, N and factor of σ₀ of the next run."""
        if self.used["large"] <= self.used["small"]:
            self.large += 1
            return "large", 2**self.large * self.samples, 1.0
        return "small", self.samples, float(10.0 ** (-2.0 * rng.random()))
