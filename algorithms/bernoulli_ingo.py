"""Discrete INGO on binary points: natural-gradient descent in the log-odds of every coordinate."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from .shared.discrete import DiscreteSearch
from .shared.interface import Array, Ending, Samples, Spread


@dataclass(frozen=True)
class Bernoulli:
    """x_j = 1 with probability p_j = 1/(1 + e^−η_j), each coordinate by itself.

    A coordinate has a likelier value, [η > 0], and a rarer one. All is computed from the rarer one,
    whose probability is 1/(1 + e^|η|): nothing overflows, and no small p is the rest of a
    subtraction from 1.
    """

    eta: Array  # (d,) η
    ended: Ending | None = None

    @property
    def mean(self) -> Array:
        """The mode of p."""
        return (self.eta > 0.0).astype(float)

    def spread(self) -> Spread:
        """σ is the root mean square of the standard deviations √(p(1 − p)), ½ at p = ½; the
        condition number is undefined and reported as 1.
        """
        odds = np.exp(-np.abs(self.eta))
        return Spread(float(np.sqrt(np.mean(odds / (1.0 + odds) ** 2))), 1.0)

    def sample(self, n: int, rng: np.random.Generator) -> Samples:
        """z_ij = 1 where the rarer value is drawn, else 0, and x the points that this makes.

        numpy's random() has 53 bits and the likelier value's probability, in [½, 1], is held to
        just these, so that it is drawn with the probability that float64 holds. At |η| > 37.4 that
        is 1: a value of a probability below 2⁻⁵⁴ never comes up.
        """
        likelier = 1.0 / (1.0 + np.exp(-np.abs(self.eta)))
        z = rng.random((n, self.eta.size)) >= likelier
        return Samples((z != (self.eta > 0.0)).astype(float), z.astype(float))


@dataclass(frozen=True)
class BernoulliINGO(DiscreteSearch):
    """Discrete INGO with a Bernoulli distribution.

    η_{t+1} = η_t − β Σ_n (h_n/N) (x_n/p − (1 − x_n)/(1 − p))

    with h_n the standardised values and p = 1/(1 + e^−η_t).

    Args: as DiscreteSearch; the paper's step size is 1/d.
    Starts at the probabilities of a 1 that ``init`` is given.
    Ends as ``flat`` (also once every p has saturated, when all points are the mode) or
    ``diverged``.

    The form below is that of the equation with Σ h = 0 put in. Let q be the probability of the
    rarer value of a coordinate and b = Σ (β h_n/N) over the samples that drew it. The others' sum
    is −b, so the step is b/q + b/(1 − q) = b/(q(1 − q)) towards the likelier value. A coordinate
    whose rarer value was not drawn has b = 0 exactly and stays where it is. So does one that has
    saturated: its rarer value is never drawn (see Bernoulli.sample), and neither 1/q nor η can
    overflow. The method itself makes rare draws count for much: a value of probability q moves η
    by about β/(Nq), which can carry it to the other side and far into saturation. Nothing here
    clips that.

    Source: Appendix A, "Binary Optimization", the normalised update.
    Differs: none. The text leaves the first p open; problems start at ½.
    """

    space: ClassVar[str] = "binary"

    def init(self, mean: Array, rng: np.random.Generator) -> Bernoulli:
        return Bernoulli(np.log(mean) - np.log1p(-mean))

    def ask(self, state: Bernoulli, rng: np.random.Generator) -> Samples:
        return state.sample(self.batch_size(state.eta.size), rng)

    def tell(self, state: Bernoulli, samples: Samples, values: Array) -> Bernoulli:
        w, ended = self.weights(state.eta.size, values)
        if ended:
            return replace(state, ended=ended)
        b, odds = w @ samples.z, np.exp(-np.abs(state.eta))  # odds = q/(1 − q)
        drawn = b != 0.0
        step = np.divide(b * (1.0 + odds) ** 2, odds, out=np.zeros_like(b), where=drawn)
        return Bernoulli(state.eta + np.where(state.eta > 0.0, step, -step))
