"""ES: gradient descent on a Gaussian of fixed width, with antithetic pairs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from .shared import checks, settings
from .shared.adam import Adam
from .shared.antithetic import mirrored
from .shared.interface import Array, Ending, Samples, Spread
from .shared.shaping import SHAPINGS
from .shared.steps import checked


@dataclass(frozen=True)
class ESState:
    """The mean, and what Adam knows of the gradients."""

    mean: Array  # (d,)
    std: float  # of the noise, constant
    adam: Adam
    ended: Ending | None = None

    def spread(self) -> Spread:
        return Spread(self.std, 1.0)


@dataclass(frozen=True)
class ES:
    """Evolution strategy of Salimans et al.: antithetic sampling, Adam, centred ranks.

    x_± = μ ± σ z,  g = (1/N) Σ_i u_i z_i,  μ ← μ − α Adam(g)

    with u the shaped values of all N points and z_i the signed noise.

    Args:
        samples: N, even, points per iteration; None is the paper's 2⌊3 + ⌊3 ln d⌋/2⌋.
        step_size: α, "default" 0.01.
        initial_std: σ, which stays as it is.
        shaping: "centred_ranks", "log_ranks", "standardise" or "raw".
        optimiser: "adam" or "sgd" (μ ← μ − α g).
        divide_by_std: divide g by σ, which makes it the gradient of the smoothed f (of u, that is).

    Ends as ``diverged`` (a NaN, or the mean left its range), or ``flat`` (all values equal, with
    "standardise" only).

    Source: Salimans et al. (2017), Algorithm 2 and their released code; the paper, Section 6: "For
        ES, we use the default step-size hyper-parameters", and the same initial σ for all.
    Differs: no weight decay (their code shrinks a policy network's weights by it; the paper names
        none, a test function has no such prior, and no other method here has one). As in their
        code g is not divided by σ, which Algorithm 2 does; Adam is blind to it but for its ε, plain
        descent is not.
    """

    samples: int | None = None
    step_size: float = 0.01
    initial_std: float = 0.5
    shaping: str = "centred_ranks"
    optimiser: str = "adam"
    divide_by_std: bool = False

    space: ClassVar[str] = "real"

    def __post_init__(self) -> None:
        checks.pairs(self.samples)
        checks.positive("step_size", self.step_size)
        checks.scale("initial_std", self.initial_std)
        checks.choice("shaping", self.shaping, tuple(SHAPINGS))
        checks.choice("optimiser", self.optimiser, ("adam", "sgd"))
        checks.choice("divide_by_std", self.divide_by_std, (False, True))

    def batch_size(self, dim: int) -> int:
        return self.samples or settings.samples(dim)

    def init(self, mean: Array, rng: np.random.Generator) -> ESState:
        return ESState(mean, self.initial_std, Adam.start(mean.size))

    def ask(self, state: ESState, rng: np.random.Generator) -> Samples:
        d = state.mean.size
        half = rng.standard_normal((self.batch_size(d) // 2, d))
        z = mirrored(half)
        y = state.std * z
        return Samples(state.mean + y, z, y)

    def tell(self, state: ESState, samples: Samples, values: Array) -> ESState:
        u, ended = SHAPINGS[self.shaping](values)
        if ended:
            return replace(state, ended=ended)
        g = (u @ samples.z) / u.size
        if self.divide_by_std:
            g /= state.std
        if self.optimiser == "sgd":
            step, adam = self.step_size * g, state.adam
        else:
            step, adam = state.adam.step(g, self.step_size)
        mean = state.mean - step
        return checked(state, replace(state, mean=mean, adam=adam), mean)
