"""Discrete INGO on points with K categories: natural-gradient descent in the logits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from .shared.discrete import DiscreteSearch
from .shared.interface import Array, Ending, Samples, Spread


@dataclass(frozen=True)
class Categorical:
    """x_i = j with probability P_ij = e^η_ij / Σ_k e^η_ik, each coordinate by itself."""

    eta: Array  # (d, K) η
    ended: Ending | None = None

    @property
    def mean(self) -> Array:
        """The mode of P."""
        mode: Array = self.eta.argmax(axis=1).astype(float)
        return mode

    def probabilities(self) -> Array:
        """P (d, K), the softmax of the rows of η."""
        # Measured from the largest of a row, nothing overflows.
        e = np.exp(self.eta - self.eta.max(axis=1, keepdims=True))
        p: Array = e / e.sum(axis=1, keepdims=True)
        return p

    def spread(self) -> Spread:
        """σ² is the mean over coordinates of (1 − Σ_j P_ij²)/2, which is p(1 − p) at K = 2; the
        condition number is undefined and reported as 1.
        """
        p = self.probabilities()
        return Spread(float(np.sqrt(np.mean((p * (1.0 - p)).sum(axis=1)) / 2.0)), 1.0)

    def sample(self, n: int, rng: np.random.Generator) -> Samples:
        """Points x, by inversion over the categories of each coordinate, the likeliest first.

        The rare ones then share the end of [0, 1), where numpy's random() and float64 have the same
        2⁻⁵³ between neighbours: a category is drawn with its probability, rounded to that, and
        never if all that are as rare sum to less than half of it.
        """
        p = self.probabilities()
        order = np.argsort(-p, axis=1, kind="stable")
        upwards = np.take_along_axis(p, order[:, ::-1], axis=1)
        edges = 1.0 - upwards.cumsum(axis=1)[:, :-1]  # above them the rarest, the two rarest, …
        u = rng.random((n, len(p)))
        rank = np.sum([u >= edge for edge in edges.T], axis=0)
        return Samples(order[np.arange(len(p)), rank].astype(float))


@dataclass(frozen=True)
class CategoricalINGO(DiscreteSearch):
    """Discrete INGO with a categorical distribution.

    η_{t+1} = η_t − β Σ_n (h_n/N) H_n,  (H_n)_ij = [x_ni = j] / P_ij

    with h_n the standardised values and P the softmax of η_t.

    Args: as DiscreteSearch; the paper's step size is 1/d.
    Starts at the probabilities (d, K) that ``init`` is given, which say what K is.
    Ends as ``flat`` (also once every row of P has saturated) or ``diverged``.

    At K = 2 this is the Bernoulli method: η_i1 − η_i0 moves as its η_i does, for the same points.

    Source: Appendix A, "General Discrete Optimization", with the normalised values.
    Differs: categories are counted from 0, so that K = 2 is binary.
    """

    space: ClassVar[str] = "categorical"

    def init(self, mean: Array, rng: np.random.Generator) -> Categorical:
        return Categorical(np.log(mean))

    def ask(self, state: Categorical, rng: np.random.Generator) -> Samples:
        return state.sample(self.batch_size(len(state.eta)), rng)

    def tell(self, state: Categorical, samples: Samples, values: Array) -> Categorical:
        dim, categories = state.eta.shape
        w, ended = self.weights(dim, values)
        if ended:
            return replace(state, ended=ended)
        b = np.stack([w @ (samples.x == j) for j in range(categories)], axis=1)  # Σ w [x_i = j]
        # A category that was not drawn stays where it is, whatever its P has underflowed to.
        step = np.divide(b, state.probabilities(), out=np.zeros_like(b), where=b != 0.0)
        return Categorical(state.eta - step)
