"""Fast-INGO: INGO with a diagonal covariance matrix."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .shared import checks, settings
from .shared.gaussian import DiagonalGaussian, GaussianSearch
from .shared.interface import Array, Ending, Samples, Stop
from .shared.steps import checked


@dataclass(frozen=True)
class FastINGO(GaussianSearch):
    """The diagonal case of INGO, O(dN) a step.

    σ_{t+1}⁻² = σ_t⁻² ∘ (1 + β Σ_i (h_i/N) z_i²)
    μ_{t+1}   = μ_t − σ_{t+1}² ∘ σ_t⁻¹ ∘ β Σ_i (h_i/N) z_i

    Args: as GaussianSearch, with the paper's step size 1/√d as the default, and
        mean_step: "new" moves the mean by σ_{t+1}² as above, "old" by σ_t².
        flat: "end" where all values of a batch are equal and h is 0/0, or "continue" with h = 0.
    Ends as ``flat``, ``diverged`` or ``not_positive_definite``.

    Source: Section 6, "Fast-INGO (diagonal case of INGO)", Algorithm 1.
    Differs: none. The authors' released code has "old"; the two need the same evaluations to
        within 1 %.
    """

    step_size: float | settings.Rule = "1/sqrt(d)"
    mean_step: str = "new"
    flat: str = "end"

    def __post_init__(self) -> None:
        super().__post_init__()
        checks.choice("mean_step", self.mean_step, ("new", "old"))
        checks.choice("flat", self.flat, ("end", "continue"))

    def init(self, mean: Array, rng: np.random.Generator) -> DiagonalGaussian:
        return DiagonalGaussian.isotropic(mean, self.initial_std)

    def tell(self, state: DiagonalGaussian, samples: Samples, values: Array) -> DiagonalGaussian:
        w, ended = self.weights(state.mean.size, values)
        if ended and ended.reason == Stop.FLAT and self.flat == "continue":
            return state
        if ended:
            return replace(state, ended=ended)
        z = samples.z
        growth = 1.0 + w @ (z * z)  # σ_t² / σ_{t+1}²
        if growth.min() <= 0.0:
            return replace(state, ended=Ending(Stop.NOT_POSITIVE_DEFINITE))
        step = state.std * (w @ z)
        if self.mean_step == "new":
            step /= growth
        mean, std = state.mean - step, state.std / np.sqrt(growth)
        return checked(state, DiagonalGaussian(mean, std), mean, std)
