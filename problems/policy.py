"""The policies of the control problems: networks with one hidden layer, a batch of them at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from problems.interface import Array

HIDDEN = 16  # the paper's size
OUTPUTS = ("linear", "tanh")


class Weights(NamedTuple):
    """Networks as arrays, one a row."""

    w1: Array  # (N, h, o)
    b1: Array  # (N, h)
    w2: Array  # (N, a, h)
    b2: Array  # (N, a)

    def of(self, rows: NDArray[np.intp]) -> Weights:
        """Those of some rows."""
        return Weights(*(part[rows] for part in self))


@dataclass(frozen=True)
class Policy:
    """a = W₂ tanh(W₁ o + b₁) + b₂, or limit·tanh of that; o an observation, a an action.

    A point x is W₁ (h × o, row by row), b₁ (h), W₂ (a × h, row by row), b₂ (a) in this order, so
    that d = h (o + a) + h + a, and h (o + a) without biases.

    Source: Section 6, "Evaluation on RL test problems": one hidden layer of 16 units, tanh.
    Differs: the paper does not say whether there are biases, nor what the last layer is.
    """

    observation: int  # o, numbers in an observation
    action: int  # a, numbers in an action
    limit: float = 1.0  # actions are clipped to ±limit by the physics
    biases: bool = True
    output: str = "linear"  # or "tanh", which never leaves ±limit
    hidden: int = HIDDEN

    @property
    def sizes(self) -> tuple[int, int, int, int]:
        """How many numbers of a point each part has."""
        h = self.hidden
        return (
            h * self.observation,
            h if self.biases else 0,
            self.action * h,
            self.action if self.biases else 0,
        )

    @property
    def dim(self) -> int:
        """d, the numbers of a point."""
        return sum(self.sizes)

    def weights(self, x: Array) -> Weights:
        """The networks of points (N, d)."""
        n = len(x)
        w1, b1, w2, b2 = np.split(x, np.cumsum(self.sizes[:-1]), axis=1)
        if not self.biases:
            b1, b2 = np.zeros((n, self.hidden)), np.zeros((n, self.action))
        return Weights(
            w1.reshape(n, self.hidden, self.observation),
            b1,
            w2.reshape(n, self.action, self.hidden),
            b2,
        )

    def act(self, weights: Weights, observations: Array) -> Array:
        """The actions (N, a) of N networks on an observation each (N, o).

        Row by row, as one large product is not: an action depends on its own network and
        observation alone, to the last bit, wherever they stand in a batch and however large it is.
        """
        w1, b1, w2, b2 = weights
        hidden = np.matvec(w1, observations)
        hidden += b1
        np.tanh(hidden, out=hidden)
        actions: Array = np.matvec(w2, hidden)
        actions += b2
        return self.limit * np.tanh(actions) if self.output == "tanh" else actions
