"""CMA-ES: pycma behind the three methods of this project."""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass, replace
from math import inf, nan
from typing import Any, ClassVar

import numpy as np

from .shared import checks, settings
from .shared.interface import Array, Ending, Samples, Spread, Stop
from .shared.steps import checked, diverged

# pycma's tests for "good enough" and "taking too long", each switched off: a run ends at the
# paper's target or budget, or when its values have long been at rest (see CMAES).
NO_TOLERANCES = {
    "maxiter": inf,
    "tolfun": 0,
    "tolfunhist": 0,
    "tolfunrel": 0,
    "tolx": 0,
    "tolxstagnation": False,
    "tolstagnation": False,
    "tolupsigma": inf,
    "tolfacupx": inf,
    "tolconditioncov": False,
    "tolflatfitness": inf,
}

EPS = float(np.finfo(float).eps)

# What pycma imports for plots and for its surrogate models, and does without where it is not
# installed: most of the time that its own import takes.
SPARED = ("matplotlib", "scipy.stats")


def pycma() -> Any:
    """The package, imported as if what a run does not need were not installed."""
    hidden = [name for name in SPARED if name not in sys.modules]
    sys.modules.update(dict.fromkeys(hidden))  # type: ignore[arg-type]  # None: not to be found
    try:
        with warnings.catch_warnings(action="ignore"):  # that there are no plots
            import cma
    finally:
        for name in hidden:
            del sys.modules[name]
    return cma


class Noise:
    """pycma's source of standard normal numbers, fed from whichever stream ``ask`` was handed."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng

    def __call__(self, *shape: int) -> Array:
        return self.rng.standard_normal(shape)


@dataclass(frozen=True)
class CMAState:
    """pycma's object, and what it was when this state was made: it changes in place, so each state
    can be asked and told only once.
    """

    library: Any  # cma.CMAEvolutionStrategy
    noise: Noise
    mean: Array  # (d,)
    scales: Array  # (d,) standard deviations along the axes of the distribution
    at_rest: int = 0  # batches in a row
    ended: Ending | None = None

    @classmethod
    def of(
        cls, library: Any, noise: Noise, at_rest: int = 0, ended: Ending | None = None
    ) -> CMAState:
        """What pycma's object is now."""
        # The full covariance has its scales in D, the diagonal one in sigma_vec; the others are 1.
        scales = library.sigma * np.asarray(library.D) * np.asarray(library.sigma_vec.scaling)
        return cls(library, noise, np.array(library.mean), scales, at_rest, ended)

    def spread(self) -> Spread:
        s = self.scales
        return Spread(float(np.exp(np.log(s).mean())), float((s.max() / s.min()) ** 2))


@dataclass(frozen=True)
class CMAES:
    """Covariance Matrix Adaptation Evolution Strategy, as pycma implements it.

    Args:
        samples: λ, points per iteration; None is the paper's 2⌊3 + ⌊3 ln d⌋/2⌋.
        initial_std: σ₀, in units of x.
        active: use negative weights for the worse half (pycma's own default).
        diagonal: keep the covariance diagonal (sep-CMA-ES), the fair peer of Fast-INGO.
        adapt_covariance: False leaves the covariance as it begins and adapts σ alone, by cumulative
            step-size adaptation (CSA-ES): an evolution strategy without second-order information.
        patience: end the run after this many batches in a row whose values differ by rounding
            only; 0 never does.

    Ends as ``diverged`` (a value or a parameter is not finite, or pycma raised an exception, which
    the detail names) or ``stagnated`` (at rest). A batch is at rest if its values differ by at most
    d units of rounding, the error of a sum of d terms, so that selection follows no signal. One
    such batch proves nothing, since the step size may grow again (on the ℓ₁-Ellipsoid it does,
    after hundreds of batches with next to no spread); hence the long patience. A run that closes in
    on a minimum of 0 is never at rest, since its values shrink with their differences.

    Source: Hansen (2006), through pycma. The authors' released code has the frame of Hansen's
        purecmaes, which has no active weights, and so ``active`` is False by default.
    Differs: N is the paper's (18 at d = 100, pycma's default is 17). pycma's tolerances are off,
        and a run that has come to rest is not restarted. Its random numbers come from this
        project's streams (pycma reads the seed 0 as "time").
    """

    samples: int | None = None
    initial_std: float = 0.5
    active: bool = False
    diagonal: bool = False
    adapt_covariance: bool = True
    patience: int = 10_000

    space: ClassVar[str] = "real"

    def __post_init__(self) -> None:
        checks.samples(self.samples, smallest=4)
        checks.scale("initial_std", self.initial_std)
        checks.choice("active", self.active, (False, True))
        checks.choice("diagonal", self.diagonal, (False, True))
        checks.choice("adapt_covariance", self.adapt_covariance, (False, True))
        checks.whole("patience", self.patience, 0)

    def batch_size(self, dim: int) -> int:
        return self.samples or settings.samples(dim)

    def init(self, mean: Array, rng: np.random.Generator) -> CMAState:
        cma = pycma()  # here, because it takes time and only a run needs it
        noise = Noise(rng)
        options = {
            **NO_TOLERANCES,
            "popsize": self.batch_size(mean.size),
            "CMA_active": self.active,
            "CMA_diagonal": self.diagonal,
            "CMA_on": self.adapt_covariance,
            "CMA_mirrors": 0,
            "randn": noise,
            "seed": nan,  # leave numpy's global generator alone
            "signals_filename": "",  # no look at a file in every iteration
            "verbose": -10,
        }
        return CMAState.of(cma.CMAEvolutionStrategy(mean, self.initial_std, options), noise)

    def ask(self, state: CMAState, rng: np.random.Generator) -> Samples:
        state.noise.rng = rng
        return Samples(np.asarray(state.library.ask()))

    def tell(self, state: CMAState, samples: Samples, values: Array) -> CMAState:
        if not np.isfinite(values).all():
            return replace(state, ended=Ending(Stop.DIVERGED))
        try:
            state.library.tell(list(samples.x), values)
        except Exception as error:  # an assertion, mostly, that its numbers are finite
            return diverged(state, f"pycma: {type(error).__name__} {error}".strip())
        at_rest = np.ptp(values) <= samples.x.shape[1] * EPS * np.abs(values).min()
        batches = state.at_rest + 1 if at_rest else 0
        ended = Ending(Stop.STAGNATED, "at rest") if batches == self.patience > 0 else None
        after = CMAState.of(state.library, state.noise, batches, ended)
        return checked(state, after, after.mean, after.scales)
