"""Reinforce gradient descent: plain descent on the estimated gradient of a diagonal Gaussian."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from .shared import checks, settings
from .shared.gaussian import DiagonalGaussian
from .shared.interface import Array, Ending, Samples, Stop
from .shared.shaping import standardise


@dataclass(frozen=True)
class ReinforceGD:
    """Gradient descent in (μ, σ²) with the log-likelihood trick and raw function values.

    μ_{t+1}  = μ_t  − α (1/N) Σ_i f(x_i) z_i / σ_t
    σ²_{t+1} = σ²_t − α (1/N) Σ_i f(x_i) (z_i² − 1) / (2σ_t²), or
    σ_{t+1}  = σ_t  − α (1/N) Σ_i f(x_i) (z_i² − 1) / σ_t

    Args:
        samples: N, points per iteration; None is the paper's 2⌊3 + ⌊3 ln d⌋/2⌋.
        step_size: α, a positive number.
        initial_std: standard deviation of the first distribution along each axis, in units of x.
        parameter: "variance", descent in σ², or "std", in σ.
        shaping: "raw", values f(x_i) as they are, or "standardise", h_i in their place.

    Ends as ``diverged`` when a variance is not positive or a parameter or value is not finite, or,
    with "standardise" only, as ``flat``.

    Source: Appendix, "Evaluation of ES and Standard Reinforce Gradient Descent", and Theorem 2 for
        a diagonal Σ: ĝ = f(x) z/σ, "the update of the variance is also proportional to the inverse
        of the variance".
    Differs: none that the text would show; the values are not normalised, since the text calls the
        method "directly updating with estimated gradients".
    """

    samples: int | None = None
    step_size: float = 1e-6
    initial_std: float = 0.5
    parameter: str = "variance"
    shaping: str = "raw"

    space: ClassVar[str] = "real"

    def __post_init__(self) -> None:
        checks.samples(self.samples)
        checks.positive("step_size", self.step_size)
        checks.scale("initial_std", self.initial_std)
        checks.choice("parameter", self.parameter, ("variance", "std"))
        checks.choice("shaping", self.shaping, ("raw", "standardise"))

    def batch_size(self, dim: int) -> int:
        return self.samples or settings.samples(dim)

    def init(self, mean: Array, rng: np.random.Generator) -> DiagonalGaussian:
        return DiagonalGaussian.isotropic(mean, self.initial_std)

    def ask(self, state: DiagonalGaussian, rng: np.random.Generator) -> Samples:
        return state.sample(self.batch_size(state.mean.size), rng)

    def tell(self, state: DiagonalGaussian, samples: Samples, values: Array) -> DiagonalGaussian:
        if self.shaping == "standardise":
            values, ended = standardise(values)
            if ended:
                return replace(state, ended=ended)
        z, variance = samples.z, state.std**2
        f = self.step_size / values.size * values
        mean = state.mean - f @ z / state.std  # Eq. (mu)
        if self.parameter == "std":
            std = state.std - f @ (z * z - 1.0) / state.std  # Eq. (gsigma), by the chain rule
            variance = np.copysign(std * std, std)  # not positive where σ is not
        else:
            variance = variance - f @ (z * z - 1.0) / (2.0 * variance)  # Eq. (gsigma)
        if not (np.isfinite(mean).all() and np.isfinite(variance).all()):
            return replace(state, ended=Ending(Stop.DIVERGED, "not finite"))
        if variance.min() <= 0.0:
            return replace(state, ended=Ending(Stop.DIVERGED, "a variance is not positive"))
        return DiagonalGaussian(mean, np.sqrt(variance))
