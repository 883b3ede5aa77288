"""From an optimiser's coordinates to those of the user's function: scale, and bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .interface import Array

METHODS = ("transform", "penalty")
SMALLEST, LARGEST = 1e-100, 1e100  # σ₀; a restart may have less, and an optimiser some more


@dataclass(frozen=True)
class Coordinates:
    """x = T(s ∘ u): the optimiser searches u with one standard deviation, the user's function has
    one per coordinate and may have bounds.

    T is the identity without bounds. With ``method`` "penalty" T projects onto the box, and
    ``penalty`` makes points outside worse. With "transform" T folds the line into the box: per
    coordinate, with lower bound l and margin a,

        T(v) = v                        for v ≥ l + a
        T(v) = l + (v − l + a)²/(4a)    for l − a ≤ v ≤ l + a
        T(v) = T(2(l − a) − v)          for v ≤ l − a

    and the mirror image at an upper bound h; between two bounds T has the period 2(h − l + 2a). It
    is continuous with a continuous derivative, the identity away from the bounds, and reaches a
    bound at a finite v. There its slope is 0: a minimum on a bound is one inside for the optimiser.
    a = min(σ₀, (h − l)/4).

    Source: the idea is that of pycma's BoxConstraintsLinQuadTransformation (Hansen). Differs: the
        margin, which here follows σ₀ and not the size of the bounds.
    """

    std: float  # of the first distribution in u; the largest entry of σ₀
    scale: Array  # s (d,), at most 1; exactly 1 where σ₀ is a single number
    lower: Array  # (d,) in units of x, −∞ without a bound
    upper: Array  # (d,)
    method: str  # one of METHODS

    @classmethod
    def of(cls, x0: Array, sigma0: Any, bounds: Any, method: str) -> Coordinates:
        """Check and collect what the user said.

        Raises:
            ValueError: σ₀ is out of range, a bound is not below the other, or x0 is not strictly
                inside; the message says which.
        """
        sigma = _positive_like(x0, sigma0)
        if method not in METHODS:
            raise ValueError(f"bounds_method is {method!r}; allowed: {', '.join(METHODS)}")
        lower, upper = read_bounds(bounds, x0.size)
        for i in np.flatnonzero(~((lower < x0) & (x0 < upper))):
            raise ValueError(
                f"x0[{i}] is {x0[i]:g}; allowed: strictly between its bounds "
                f"{lower[i]:g} and {upper[i]:g}"
            )
        std = float(sigma.max())
        return cls(std, sigma / std, lower, upper, method)

    @property
    def sigma(self) -> Array:
        """σ₀ (d,) in units of x."""
        return self.std * self.scale

    @property
    def bounded(self) -> bool:
        """Whether any coordinate has a bound."""
        return bool(np.isfinite(self.lower).any() or np.isfinite(self.upper).any())

    @property
    def widest(self) -> Array:
        """(d,) The largest standard deviation of u that makes sense: the distance of the two
        bounds, or σ₀ if that is more.

        T has a period. With a standard deviation near it every point of the box is as likely,
        wherever the mean is, and nothing narrows the distribution again.

        Source: the idea is that of pycma's ``maxstd_boundrange``. Differs: that is a third of the
        distance, which many a run passes for a while at no cost. On a quadratic function with its
        minimum in a corner, 19 of 180 runs failed without a limit and none with this one.
        """
        limit: Array = np.maximum(self.sigma, self.upper - self.lower) / self.scale
        return limit

    @property
    def penalised(self) -> Coordinates | None:
        """Itself if points outside of the bounds carry a penalty."""
        return self if self.bounded and self.method == "penalty" else None

    def to_x(self, u: Array) -> Array:
        """x (…, d), a new array, within the bounds to the last digit."""
        x: Array = u * self.scale
        if self.bounded:
            if self.method == "transform":
                x = self._folded(x)
            x = np.clip(x, self.lower, self.upper)
        return x

    def to_u(self, x: Array) -> Array:
        """A u with T(s ∘ u) = x, for x (…, d) inside the bounds."""
        v = np.array(x)
        if self.bounded and self.method == "transform":
            a = self._margin()
            with np.errstate(invalid="ignore", over="ignore"):
                low = self.lower - a + np.sqrt(4.0 * a * (v - self.lower))
                high = self.upper + a - np.sqrt(4.0 * a * (self.upper - v))
            v = np.where(v < self.lower + a, low, np.where(v > self.upper - a, high, v))
        u: Array = v / self.scale
        return u

    def penalty(self, u: Array, values: Array) -> Array:
        """p_i ≥ 0 (N,), to be added to the values of a batch that were taken at the projections.

        p_i = (max f − min f)/10 · Σ_j ((v_ij − x_ij)/s_j)²

        with v = s ∘ u, x its projection and s_j the standard deviation of v_j over the batch, so
        that the order of a batch changes neither with a shift or scale of f nor with one of x.

        Source: ours. With a whole range in place of its tenth, a minimum in a corner of five
        dimensions took INGO forty times as many evaluations.
        """
        v = u * self.scale
        out = v - np.clip(v, self.lower, self.upper)
        s = v.std(axis=0)
        share = np.divide(out, s, out=np.zeros_like(out), where=s > 0.0)
        p: Array = (np.ptp(values) or 1.0) / 10.0 * np.sum(share**2, axis=1)
        return p

    def _margin(self) -> Array:
        a: Array = np.minimum(self.sigma, (self.upper - self.lower) / 4.0)
        return a

    def _folded(self, v: Array) -> Array:
        """T(v) for v (…, d)."""
        a = self._margin()
        # With the upper bound only, −v has the lower bound only.
        flip = np.where(np.isfinite(self.lower), 1.0, -1.0)
        lower = np.where(flip > 0, self.lower, -self.upper)
        upper = np.where(flip > 0, self.upper, np.inf)
        half = upper - lower + 2.0 * a  # half a period
        with np.errstate(invalid="ignore"):
            t = np.abs(flip * v - (lower - a))  # distance from the fold below the lower bound
            t = np.where(np.isfinite(half), np.mod(t, 2.0 * half), t)
            t = np.where(t > half, 2.0 * half - t, t)
            x = np.where(t < 2.0 * a, lower + t**2 / (4.0 * a), lower - a + t)
            x = np.where(half - t < 2.0 * a, upper - (half - t) ** 2 / (4.0 * a), x)
            # Where T is the identity it is so to the last digit.
            inside = (v >= self.lower + a) & (v <= self.upper - a)
        folded: Array = np.where(inside | ~np.isfinite(lower), v, flip * x)
        return folded


def read_bounds(bounds: Any, dim: int) -> tuple[Array, Array]:
    """Lower and upper bounds (d,) from what scipy's ``minimize`` takes as ``bounds``.

    None; d pairs (low, high), in which None or an infinity is no bound; one such pair for all
    coordinates; or an object with ``lb`` and ``ub``, as ``scipy.optimize.Bounds``.

    Raises:
        ValueError: another shape, or a lower bound that is not below the upper one.
    """
    if bounds is None:
        return np.full(dim, -np.inf), np.full(dim, np.inf)
    if hasattr(bounds, "lb") and hasattr(bounds, "ub"):
        pairs: Sequence[Any] = list(
            zip(np.broadcast_to(bounds.lb, dim), np.broadcast_to(bounds.ub, dim), strict=True)
        )
    else:
        pairs = list(bounds)
        if len(pairs) == 2 and all(end is None or np.ndim(end) == 0 for end in pairs):
            pairs = [pairs] * dim
    if len(pairs) != dim or any(np.ndim(pair) == 0 or len(pair) != 2 for pair in pairs):
        raise ValueError(f"bounds must be {dim} pairs (low, high), one per coordinate of x0")
    lower = np.array([-np.inf if low is None else low for low, _ in pairs], dtype=float)
    upper = np.array([np.inf if high is None else high for _, high in pairs], dtype=float)
    for i in np.flatnonzero(~(lower < upper)):
        raise ValueError(f"bounds[{i}] are {lower[i]:g} and {upper[i]:g}; allowed: low < high")
    return lower, upper


def _positive_like(x0: Array, sigma0: Any) -> Array:
    """σ₀ (d,) from a positive number or d of them."""
    sigma = np.asarray(sigma0, dtype=float)
    if sigma.shape not in ((), x0.shape) or not ((sigma >= SMALLEST) & (sigma <= LARGEST)).all():
        raise ValueError(
            f"sigma0 is {sigma0!r}; allowed: a positive number, or {x0.size} of them, one per "
            f"coordinate, from {SMALLEST:g} to {LARGEST:g}"
        )
    return np.broadcast_to(sigma, x0.shape)
