"""INGOstep: the trust-region problem solved in (μ, Σ), which moves the mean by the old Σ."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .shared.gaussian import Gaussian, GaussianSearch
from .shared.interface import Array, Ending, Samples, Stop
from .shared.rank_n import add_to_inverse
from .shared.steps import checked


@dataclass(frozen=True)
class INGOStep(GaussianSearch):
    """INGO with the covariance that the samples came from in the step of the mean.

    Σ_{t+1}⁻¹ = Σ_t⁻¹ + β Σ_i (h_i/N) Σ_t^{-½} z_i z_iᵀ Σ_t^{-½}
    μ_{t+1}   = μ_t − β Σ_i (h_i/N) Σ_t^{½} z_i

    Args: as GaussianSearch; the paper's step size is 1/d.
    Ends as ``flat``, ``diverged`` or ``not_positive_definite``.

    Source: Algorithm 2, Eqs. (SigmaSigmaUpdate) and (MumuUpdate). Differs: as INGO.
    """

    def init(self, mean: Array, rng: np.random.Generator) -> Gaussian:
        return Gaussian.isotropic(mean, self.initial_std)

    def tell(self, state: Gaussian, samples: Samples, values: Array) -> Gaussian:
        w, ended = self.weights(state.mean.size, values)
        if ended:
            return replace(state, ended=ended)
        update = add_to_inverse(state.factor, samples, w)  # Eq. (SigmaSigmaUpdate)
        if update is None:
            return replace(state, ended=Ending(Stop.NOT_POSITIVE_DEFINITE))
        mean, factor = state.mean - w @ samples.y, update[0]  # Eq. (MumuUpdate)
        return checked(state, Gaussian(mean, factor), mean, factor)
