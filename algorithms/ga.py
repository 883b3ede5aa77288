"""GA: pymoo's genetic algorithm behind the three methods of this project."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from typing import Any, ClassVar

import numpy as np

from .shared import checks, settings
from .shared.interface import Array, Ending, Samples, Spread, Stop


@dataclass(frozen=True)
class GAState:
    """pymoo's object, and what it was when this state was made: it changes in place, so each state
    can be asked and told only once.
    """

    library: Any  # pymoo.algorithms.soo.nonconvex.ga.GA
    population: Array  # (N, d) members that the next parents are chosen from
    values: Array  # (N,) theirs; inf while none are known
    waiting: int = 0  # generations in a row without a better one
    ended: Ending | None = None

    @property
    def mean(self) -> Array:
        """The best member; the first one, while no values are known."""
        best: Array = self.population[self.values.argmin()]
        return best

    def spread(self) -> Spread:
        """σ is the root mean square of the standard deviations √(p(1 − p)), p the share of ones at
        each place; the condition number is undefined and reported as 1.
        """
        p = self.population.mean(axis=0)
        return Spread(float(np.sqrt(np.mean(p * (1.0 - p)))), 1.0)


@dataclass(frozen=True)
class GA:
    """Genetic algorithm for binary points, as pymoo implements it.

    A generation is N children that are no copies of one another or of their parents' generation;
    the best N of both live on. Parents win tournaments of two; a pair swaps what lies between two
    random places with probability ``crossover_rate``, then every bit flips with probability
    ``mutation_rate``.

    Args:
        samples: N, size of the population; None is the paper's 20 + 4⌊3 + ⌊3 ln d⌋/2⌋.
        crossover_rate: probability that a pair is crossed, 0.9 is pymoo's default.
        mutation_rate: probability that a bit flips; "1/d" is pymoo's default.
        patience: generations in a row without a better point that end the run; 0 never does.

    The first population has ones with the probabilities that ``init`` is given.
    Ends as ``diverged`` (a value is not finite) or ``stagnated`` (out of patience): a generation
    takes pymoo several times as long as the other methods, and elitism keeps its best in any case.

    Source: Blank and Deb (2020), pymoo, with the operators of its page on binary variables. The
        paper says nothing of its GA but that it has one.
    Differs: N is the paper's. pymoo's own termination is off. Its random numbers come from this
        project's streams.
    """

    samples: int | None = None
    crossover_rate: float = 0.9
    mutation_rate: float | settings.Rule = "1/d"
    patience: int = 1000

    space: ClassVar[str] = "binary"

    def __post_init__(self) -> None:
        checks.samples(self.samples)
        checks.probability("crossover_rate", self.crossover_rate)
        checks.probability("mutation_rate", self.mutation_rate, "1/d")
        checks.whole("patience", self.patience, 0)

    def batch_size(self, dim: int) -> int:
        return self.samples or settings.samples_discrete(dim)

    def init(self, mean: Array, rng: np.random.Generator) -> GAState:
        # here, because it takes a second and only a run needs it
        from pymoo.algorithms.soo.nonconvex import ga
        from pymoo.core.problem import Problem
        from pymoo.core.termination import NoTermination
        from pymoo.operators.crossover.pntx import TwoPointCrossover
        from pymoo.operators.mutation.bitflip import BitflipMutation

        n, dim = self.batch_size(mean.size), mean.size
        first = rng.random((n, dim)) < mean
        library = ga.GA(
            pop_size=n,
            sampling=first,
            crossover=TwoPointCrossover(prob=self.crossover_rate),
            mutation=BitflipMutation(prob_var=settings.resolve(self.mutation_rate, dim)),
        )
        library.setup(Problem(n_var=dim, n_obj=1, vtype=bool), termination=NoTermination())
        return GAState(library, first.astype(float), np.full(n, inf))

    def ask(self, state: GAState, rng: np.random.Generator) -> Samples:
        state.library.random_state = rng
        children = state.library.ask()
        if children is None:  # nothing new after a hundred tries
            return Samples(state.population)
        return Samples(np.asarray(children.get("X"), dtype=float))

    def tell(self, state: GAState, samples: Samples, values: Array) -> GAState:
        if not np.isfinite(values).all():
            return replace(state, ended=Ending(Stop.DIVERGED))
        from pymoo.core.population import Population

        state.library.tell(Population.new("X", samples.x.astype(bool), "F", values[:, None]))
        members = state.library.pop
        now = members.get("F")[:, 0]
        waiting = 0 if now.min() < state.values.min() else state.waiting + 1
        ended = Ending(Stop.STAGNATED, "patience") if waiting == self.patience > 0 else None
        population = np.asarray(members.get("X"), dtype=float)
        return GAState(state.library, population, now, waiting, ended)
