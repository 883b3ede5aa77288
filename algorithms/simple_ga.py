"""A textbook genetic algorithm: roulette selection, one-point crossover, bit-flip mutation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from typing import ClassVar

import numpy as np

from .shared import checks, settings
from .shared.interface import Array, Ending, Samples, Spread, Stop


@dataclass(frozen=True)
class Generation:
    """A population, and its values once they are known."""

    x: Array  # (N, d) of 0 and 1
    values: Array | None = None  # (N,)
    ended: Ending | None = None

    @property
    def mean(self) -> Array:
        """The best member; the first one, while no values are known."""
        best: Array = self.x[0 if self.values is None else self.values.argmin()]
        return best

    def spread(self) -> Spread:
        """σ is the root mean square of the standard deviations √(p(1 − p)), p the share of ones at
        each place; the condition number is undefined and reported as 1.
        """
        p = self.x.mean(axis=0)
        return Spread(float(np.sqrt(np.mean(p * (1.0 - p)))), 1.0)


@dataclass(frozen=True)
class SimpleGA:
    """Generational genetic algorithm without elitism.

    Each generation is N children of the last one, and replaces it. Parents are drawn by roulette:
    with probability proportional to the fitness max(f) − f, where the maximum is over the
    generation. A pair swaps its tails behind a random place with probability ``crossover_rate``,
    then every bit flips with probability ``mutation_rate``.

    Args:
        samples: N, size of the population; None is the paper's 20 + 4⌊3 + ⌊3 ln d⌋/2⌋.
        crossover_rate: probability that a pair is crossed.
        mutation_rate: probability that a bit flips, or "1/d".

    The first population has ones with the probabilities that ``init`` is given.
    Ends as ``diverged`` (a value is not finite). A flat generation has parents drawn evenly.

    Source: Goldberg (1989), "Genetic Algorithms in Search, Optimization, and Machine Learning", the
        simple genetic algorithm, with windowed fitness. The paper says nothing of its GA but that
        it has one.
    Differs: from Goldberg in the rates, which are pymoo's defaults (0.9 and 1/d), so that the two
        GAs differ in their operators, and in that pymoo's keeps its best and has no copies.
    """

    samples: int | None = None
    crossover_rate: float = 0.9
    mutation_rate: float | settings.Rule = "1/d"

    space: ClassVar[str] = "binary"

    def __post_init__(self) -> None:
        checks.samples(self.samples)
        checks.probability("crossover_rate", self.crossover_rate)
        checks.probability("mutation_rate", self.mutation_rate, "1/d")

    def batch_size(self, dim: int) -> int:
        return self.samples or settings.samples_discrete(dim)

    def init(self, mean: Array, rng: np.random.Generator) -> Generation:
        n = self.batch_size(mean.size)
        return Generation((rng.random((n, mean.size)) < mean).astype(float))

    def ask(self, state: Generation, rng: np.random.Generator) -> Samples:
        if state.values is None:
            return Samples(state.x)
        n, dim = state.x.shape
        fitness = state.values.max() - state.values
        total = fitness.sum()
        if total == inf:  # in a larger unit the shares are the same
            values = np.ldexp(state.values, -n.bit_length() - 1)
            fitness = values.max() - values
            total = fitness.sum()
        share = fitness / total if total > 0.0 else np.full(n, 1.0 / n)
        pairs = -(-n // 2)
        parents = rng.choice(n, size=2 * pairs, p=share)
        children = state.x[parents]  # the mother of pair i is row i, its father row pairs + i
        cut = rng.integers(1, dim, size=pairs)
        # A loop over pairs of slices: with masks of N × d a generation takes three times as long.
        for i in np.flatnonzero(rng.random(pairs) < self.crossover_rate):
            pair, tail = [i, pairs + i], slice(cut[i], None)
            children[pair, tail] = children[pair[::-1], tail]
        children = children[:n]
        # Independent flips, drawn as their number and then their places, since few are due.
        bits = children.reshape(-1)
        flips = rng.binomial(bits.size, settings.resolve(self.mutation_rate, dim))
        places = rng.choice(bits.size, size=flips, replace=False, shuffle=False)
        bits[places] = 1.0 - bits[places]
        return Samples(children)

    def tell(self, state: Generation, samples: Samples, values: Array) -> Generation:
        if not np.isfinite(values).all():
            return replace(state, ended=Ending(Stop.DIVERGED))
        return Generation(samples.x, values)
