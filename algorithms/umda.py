"""UMDA and PBIL: each bit's probability of a 1 moves to the share of ones in the better points."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from .shared import checks, settings
from .shared.interface import Array, Ending, Samples, Spread, Stop


@dataclass(frozen=True)
class Marginals:
    """x_j = 1 with probability p_j, each coordinate by itself."""

    p: Array  # (d,)
    ended: Ending | None = None

    @property
    def mean(self) -> Array:
        """The mode of p."""
        return (self.p > 0.5).astype(float)

    def spread(self) -> Spread:
        """σ is the root mean square of the standard deviations √(p(1 − p)), ½ at p = ½; the
        condition number is undefined and reported as 1.
        """
        return Spread(float(np.sqrt(np.mean(self.p * (1.0 - self.p)))), 1.0)


@dataclass(frozen=True)
class UMDA:
    """Univariate marginal distribution algorithm.

    p_{t+1} = (1 − ρ) p_t + (ρ/μ) Σ_{n among the best μ} x_n,  clipped to [1/d, 1 − 1/d]

    Args:
        samples: λ, points per iteration; None is N of the paper's discrete methods,
            20 + 4⌊3 + ⌊3 ln d⌋/2⌋.
        selected: μ, the best of them that count; None is ⌊λ/2⌋.
        step_size: ρ, from above 0 to 1. At 1 this is UMDA, below it PBIL.

    Of equal values the earlier point counts as better: points of a batch are drawn alike, so that
    none is preferred. Starts at the probabilities of a 1 that ``init`` is given, not clipped.
    Ends as ``diverged`` (a value is not finite). The borders keep it drawing new points: it does
    not come to rest. At the borders about 1/e of the points have all bits as
    the mode has. Where a point with one of them wrong counts for nothing, as on LeadingOnes, more
    than that must not be selected: with ⌊λ/2⌋ it takes ten times as long as with λ/4 on 64 bits,
    and exponentially long on many (Lehre & Nguyen, 2019).

    Both this and discrete INGO follow the natural gradient of a Bernoulli distribution,
    Σ_n w_n (x_n − p) in p. Here the step is taken in p with w = ρ/μ for the best μ, a function of
    ranks; in bernoulli_ingo it is taken in the log-odds, where p(1 − p) divides it, with
    w = −βh/N, a function of the standardised values, good and bad. To first order in the step the
    parameters make no difference, the weights do (Ollivier et al., 2017: PBIL and the compact GA
    are IGO for Bernoulli).

    Source: Mühlenbein & Paaß (1996), with the borders of Krejca & Witt (2020), "Theory of
        estimation-of-distribution algorithms". ρ < 1: Baluja (1994).
    Differs: λ and μ, which have no standard values, are as for the other methods and half of that.
    """

    samples: int | None = None
    selected: int | None = None
    step_size: float = 1.0

    space: ClassVar[str] = "binary"

    def __post_init__(self) -> None:
        checks.samples(self.samples)
        if self.selected is not None:
            checks.whole("selected", self.selected, 1)
        checks.positive("step_size", self.step_size)
        if self.step_size > 1:
            raise ValueError(f"step_size is {self.step_size!r}; allowed: above 0, at most 1")

    def batch_size(self, dim: int) -> int:
        n = self.samples or settings.samples_discrete(dim)
        if self.selected is not None and self.selected > n:
            raise ValueError(f"selected is {self.selected}; allowed: at most {n}, the sample size")
        return n

    def init(self, mean: Array, rng: np.random.Generator) -> Marginals:
        return Marginals(mean)

    def ask(self, state: Marginals, rng: np.random.Generator) -> Samples:
        n = self.batch_size(state.p.size)
        return Samples((rng.random((n, state.p.size)) < state.p).astype(float))

    def tell(self, state: Marginals, samples: Samples, values: Array) -> Marginals:
        if not np.isfinite(values).all():
            return replace(state, ended=Ending(Stop.DIVERGED))
        n, dim = samples.x.shape
        best = np.argsort(values, kind="stable")[: self.selected or n // 2]
        share = samples.x[best].mean(axis=0)
        p = (1.0 - self.step_size) * state.p + self.step_size * share
        return Marginals(np.clip(p, 1.0 / dim, 1.0 - 1.0 / dim))
