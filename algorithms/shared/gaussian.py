"""Gaussian search: what INGO, INGOstep, Fast-INGO and IGO share, all but their updates."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from . import checks, settings
from .interface import Array, Ending, Samples, Spread
from .shaping import standardise


@dataclass(frozen=True)
class Gaussian:
    """N(μ, BBᵀ)."""

    mean: Array  # (d,) μ
    factor: Array  # (d, d) B, any square root of Σ
    ended: Ending | None = None

    @classmethod
    def isotropic(cls, mean: Array, std: float) -> Gaussian:
        """N(μ, std² I)."""
        return cls(mean, std * np.eye(mean.size))

    def spread(self) -> Spread:
        s = np.linalg.svd(self.factor, compute_uv=False)
        return Spread(float(np.exp(np.log(s).mean())), float((s[0] / s[-1]) ** 2))

    def narrowed(self, widest: Array) -> Gaussian:
        """Itself, or with the rows of B shorter where a standard deviation is above ``widest``."""
        std = np.linalg.norm(self.factor, axis=1)
        if (std <= widest).all():
            return self
        return replace(self, factor=self.factor * np.minimum(1.0, widest / std)[:, None])

    def sample(self, n: int, rng: np.random.Generator) -> Samples:
        """x_i = μ + B z_i, z_i ~ N(0, I)."""
        z = rng.standard_normal((n, self.mean.size))
        y = z @ self.factor.T
        return Samples(self.mean + y, z, y)


@dataclass(frozen=True)
class DiagonalGaussian:
    """N(μ, diag(σ²))."""

    mean: Array  # (d,) μ
    std: Array  # (d,) σ > 0
    ended: Ending | None = None

    @classmethod
    def isotropic(cls, mean: Array, std: float) -> DiagonalGaussian:
        """N(μ, std² I)."""
        return cls(mean, np.full(mean.size, std))

    def spread(self) -> Spread:
        s = self.std
        return Spread(float(np.exp(np.log(s).mean())), float((s.max() / s.min()) ** 2))

    def narrowed(self, widest: Array) -> DiagonalGaussian:
        """Itself, or with no standard deviation above ``widest``."""
        if (self.std <= widest).all():
            return self
        return replace(self, std=np.minimum(self.std, widest))

    def sample(self, n: int, rng: np.random.Generator) -> Samples:
        """x_i = μ + σ ∘ z_i, z_i ~ N(0, I)."""
        z = rng.standard_normal((n, self.mean.size))
        y = z * self.std
        return Samples(self.mean + y, z, y)


@dataclass(frozen=True)
class GaussianSearch:
    """The hyper-parameters of the paper's Gaussian methods, and the half of them that is equal.

    Args:
        samples: N, points per iteration; None is the paper's 2⌊3 + ⌊3 ln d⌋/2⌋.
        step_size: β, a positive number, "c/d", "c/sqrt(d)" or "c*sqrt(N)/d".
        initial_std: standard deviation of the first distribution along each axis, in units of x.
        ddof: of the standard deviation that the values are divided by, 1 or 0.
    """

    samples: int | None = None
    step_size: float | settings.Rule = "1/d"
    initial_std: float = 0.5
    ddof: int = 1

    space: ClassVar[str] = "real"

    def __post_init__(self) -> None:
        checks.samples(self.samples)
        checks.positive_or_rule("step_size", self.step_size, n=1)
        checks.scale("initial_std", self.initial_std)
        checks.choice("ddof", self.ddof, (0, 1))

    def batch_size(self, dim: int) -> int:
        return self.samples or settings.samples(dim)

    def ask(self, state: Gaussian | DiagonalGaussian, rng: np.random.Generator) -> Samples:
        return state.sample(self.batch_size(state.mean.size), rng)

    def weights(self, dim: int, values: Array) -> tuple[Array, Ending | None]:
        """w_i = β h_i / N (N,), or why the batch has none."""
        h, ended = standardise(values, self.ddof)
        return settings.resolve(self.step_size, dim, h.size) / h.size * h, ended
