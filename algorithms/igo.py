"""IGO: the natural gradient followed in (μ, Σ) itself, the paper's explicit counterpart to INGO."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .shared import checks, settings
from .shared.gaussian import Gaussian, GaussianSearch
from .shared.interface import Array, Ending, Samples, Stop
from .shared.rank_n import subtract_from_covariance
from .shared.shaping import log_ranks
from .shared.steps import checked


@dataclass(frozen=True)
class IGO(GaussianSearch):
    """Information-Geometric Optimization with a full covariance matrix.

    μ_{t+1} = μ_t − β Σ_i (h_i/N) (x_i − μ_t)
    Σ_{t+1} = Σ_t − β Σ_i (h_i/N) (x_i − μ_t)(x_i − μ_t)ᵀ

    Args: as GaussianSearch, with the paper's step size 1/d, and
        shaping: "standardise", h as above, or "log_ranks", the weights by rank that are IGO's own.
    Ends as ``flat``, ``diverged`` or ``not_positive_definite``.

    Source: Ollivier et al. (2017), the Gaussian IGO flow with step β. The paper writes no formula,
        only "the same normalization transformation and all same hyper-parameters" (Section 6).
    Differs: the standardised values h take the place of IGO's rank-based weights, as that sentence
        says; −Σ_t in the update of Σ_t is left out because Σ h_i = 0.
    """

    shaping: str = "standardise"

    def __post_init__(self) -> None:
        super().__post_init__()
        checks.choice("shaping", self.shaping, ("standardise", "log_ranks"))

    def weights(self, dim: int, values: Array) -> tuple[Array, Ending | None]:
        if self.shaping == "standardise":
            return super().weights(dim, values)
        u, ended = log_ranks(values)
        return settings.resolve(self.step_size, dim, u.size) / u.size * u, ended

    def init(self, mean: Array, rng: np.random.Generator) -> Gaussian:
        return Gaussian.isotropic(mean, self.initial_std)

    def tell(self, state: Gaussian, samples: Samples, values: Array) -> Gaussian:
        w, ended = self.weights(state.mean.size, values)
        if ended:
            return replace(state, ended=ended)
        factor = subtract_from_covariance(state.factor, samples, w)
        if factor is None:
            return replace(state, ended=Ending(Stop.NOT_POSITIVE_DEFINITE))
        mean = state.mean - w @ samples.y
        return checked(state, Gaussian(mean, factor), mean, factor)
