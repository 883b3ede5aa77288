"""INGO: natural-gradient descent in the natural parameters of a full Gaussian."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .shared import checks, settings
from .shared.gaussian import Gaussian, GaussianSearch
from .shared.interface import Array, Ending, Samples, Stop
from .shared.rank_n import add_to_inverse
from .shared.steps import checked


@dataclass(frozen=True)
class INGO(GaussianSearch):
    """Implicit Natural Gradient Optimizer with a full covariance matrix.

    Σ_{t+1}⁻¹ = Σ_t⁻¹ + β Σ_i (h_i/N) Σ_t^{-½} z_i z_iᵀ Σ_t^{-½}
    μ_{t+1}   = μ_t − β Σ_i (h_i/N) Σ_{t+1} Σ_t^{-½} z_i

    Args: as GaussianSearch; the paper's step size is 1/d. And

        mean_step_size: η, not the paper's: the mean moves by it in place of β, which then is the
            step size of Σ alone. A number or a rule as ``step_size``; None is β.

    Ends as ``flat``, ``diverged`` or ``not_positive_definite``.

    Source: Algorithm 1, Eqs. (unSigmaUpdateM) and (unMuupdate).
    Differs: any square root of Σ_t takes the place of the symmetric one, which leaves the
        distribution of x as it is. The term −Σ_t⁻¹ of Eq. (MonteS) is left out, as in Algorithm 1:
        Σ h_i = 0.

    With η the two steps are those of a block-diagonal metric, as in xNES (Glasmachers et al., 2010,
    η_μ = 1 and a much smaller η_Σ) and in natural-gradient variational inference with two learning
    rates (Khan et al., 2018), where too the mean moves by the new Σ. xNES moves it by the old one
    and Σ by a matrix exponential, with weights by rank. η = 1 is 1/β times the paper's step: the
    d(d + 1)/2 numbers of Σ ask for a small step, the d of μ do not. Where a step is halved to keep
    Σ positive definite, β is, and η is not.
    """

    mean_step_size: float | settings.Rule | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.mean_step_size is not None:
            checks.positive_or_rule("mean_step_size", self.mean_step_size, n=1)

    def init(self, mean: Array, rng: np.random.Generator) -> Gaussian:
        return Gaussian.isotropic(mean, self.initial_std)

    def tell(self, state: Gaussian, samples: Samples, values: Array) -> Gaussian:
        w, ended = self.weights(state.mean.size, values)
        if ended:
            return replace(state, ended=ended)
        update = add_to_inverse(state.factor, samples, w)  # Eq. (unSigmaUpdateM)
        if update is None:
            return replace(state, ended=Ending(Stop.NOT_POSITIVE_DEFINITE))
        factor, direction = update
        if self.mean_step_size is not None:
            eta, beta = (
                settings.resolve(step, state.mean.size, w.size)
                for step in (self.mean_step_size, self.step_size)
            )
            direction = eta / beta * direction
        mean = state.mean - direction  # Eq. (unMuupdate)
        return checked(state, Gaussian(mean, factor), mean, factor)
