"""Several runs, one after the other, as one optimiser that asks and tells."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from . import checks
from .halving import Halving
from .interface import Algorithm, Array, Ending, Samples, Spread, Stop
from .stopping import Seen, Tolerance

# Of the two kinds of runs after the first, the evaluations that they have used.
Used = dict[str, int]
# Which tolerance a run meets with a batch x (N, d) and its values (N,), if any; and what is to be
# remembered of its batches.
Tolerances = Callable[[Array, Array, Seen], tuple[str | None, Seen]]


@dataclass(frozen=True)
class Restarted:
    """A run under way, and those before it in numbers."""

    inner: Any  # state of the run under way
    batch_size: int  # points of its batches
    home: Array  # (d,) mean that the first run started with
    seed: int  # of all that is drawn for the runs to come
    run: int = 0  # its number
    kind: str = "first"
    samples: int | None = None  # its N; None is the first run's own
    scale: float = 1.0  # its σ₁ over that of the first run
    large: int = 0  # runs of this kind so far
    used: Used = field(default_factory=lambda: {"large": 0, "small": 0})
    seen: Seen = field(default_factory=Seen)  # of its batches, for the tolerances
    over: str = ""  # why the run before it ended, until it has told a batch of its own
    over_detail: str = ""
    ended: Ending | None = None

    @property
    def mean(self) -> Array:
        """That of the run under way."""
        mean: Array = self.inner.mean
        return mean

    def spread(self) -> Spread:
        spread: Spread = self.inner.spread()
        return spread


class Restarts:
    """Where a run of an optimiser ends, the next one begins, at a point of its own.

    ipop: the k-th run after the first has N = 2ᵏ N₀ samples and the first run's σ₁.
    bipop: by turns such a large one, and a small one with N₀ samples and 10^(−2u) σ₁, u ~ U(0, 1),
        to look at a smaller scale; the next is of the kind that has used fewer evaluations so far.

    Args:
        make: the optimiser for a run, from its N (None: its own) and its σ₁ over the first run's;
            called once a run.
        start: where a run after the first starts, from the first run's mean (d,) and a stream.
        tolerances: ends of a run that the optimiser itself does not see.
        kinds: "ipop" or "bipop".
        limit: of the runs after the first; None is none.

    Ends as the last run that ``limit`` allows ends.

    Source: IPOP-CMA-ES (Auger and Hansen, 2005), and the two regimes of BIPOP-CMA-ES (Hansen,
        2009). Differs: the small runs keep N₀ and have no budget of their own.
    """

    space: ClassVar[str] = "real"

    def __init__(
        self,
        make: Callable[[int | None, float], Algorithm],
        start: Callable[[Array, np.random.Generator], Array],
        tolerances: Tolerances,
        kinds: str = "ipop",
        limit: int | None = None,
    ) -> None:
        self.make = make
        self.start = start
        self.tolerances = tolerances
        self.kinds = kinds
        self.limit = limit
        self._optimisers: dict[int, Algorithm] = {}  # by the number of the run

    def batch_size(self, dim: int) -> int:
        return self._of(0, None, 1.0).batch_size(dim)

    def init(self, mean: Array, rng: np.random.Generator) -> Restarted:
        # Of a copy of the stream: a first run is the bare optimiser's, bit for bit.
        seed = int(deepcopy(rng).integers(2**63))
        first = self._of(0, None, 1.0)
        return Restarted(first.init(mean, rng), first.batch_size(mean.size), mean, seed)

    def ask(self, state: Restarted, rng: np.random.Generator) -> Samples:
        return self._of(state.run, state.samples, state.scale).ask(state.inner, rng)

    def tell(self, state: Restarted, samples: Samples, values: Array) -> Restarted:
        optimiser = self._of(state.run, state.samples, state.scale)
        inner = optimiser.tell(state.inner, samples, values)
        met, seen = self.tolerances(samples.x, values, state.seen)
        used = dict(state.used)
        if state.kind in used:
            used[state.kind] += len(values)
        size = getattr(inner, "batch_size", state.batch_size)
        told = replace(
            state, inner=inner, batch_size=size, seen=seen, used=used, over="", over_detail=""
        )
        over = inner.ended or (Ending(Stop(met)) if met else None)
        if over is None:
            return told
        if state.run == self.limit:
            return replace(told, ended=over)
        return self._next(told, over)

    def _next(self, state: Restarted, over: Ending) -> Restarted:
        """The run after this one, which is over."""
        run = state.run + 1
        rng = np.random.default_rng([state.seed, run])
        first = self._of(0, None, 1.0).batch_size(state.home.size)  # N₀
        if self.kinds == "ipop" or state.used["large"] <= state.used["small"]:
            kind, large = "large", state.large + 1
            samples, scale = 2**large * first, 1.0
        else:
            kind, large = "small", state.large
            samples, scale = first, float(10.0 ** (-2.0 * rng.random()))
        optimiser = self._of(run, samples, scale)
        return Restarted(
            inner=optimiser.init(self.start(state.home, rng), rng),
            batch_size=optimiser.batch_size(state.home.size),
            home=state.home, seed=state.seed, run=run, kind=kind, samples=samples, scale=scale,
            large=large, used=state.used, over=str(over.reason), over_detail=over.detail,
        )  # fmt: skip

    def _of(self, run: int, samples: int | None, scale: float) -> Algorithm:
        """The optimiser of a run."""
        if run not in self._optimisers:
            self._optimisers[run] = self.make(samples, scale)
        return self._optimisers[run]


class RestartsOnBits(Restarts):
    """The same of a search of bit strings."""

    space: ClassVar[str] = "binary"


def restarting(
    optimiser: Any,
    region: Sequence[float] | None = None,
    safeguard: bool = True,
    xtol: float = 1e-12,
    ftol: float = 1e-12,
    stagnation: bool = True,
) -> Restarts:
    """Runs of an optimiser as long as the budget pays for a batch of the next one, the k-th restart
    with 2ᵏ N₀ samples. Without a memory: a search goes on from its state.

    A run ends where the optimiser's own does, or where all points of a batch are within xtol σ₁ of
    each other in every coordinate, or the values of a batch and the minima of the last batches
    within ftol, or where it has stagnated (``stopping.Tolerance``): one rule for all optimisers. On
    bit strings σ₁ is 1, each run starts at the probabilities of the first one, and none stagnates:
    there values stay the same for long and then go on.

    Args:
        optimiser: with its hyper-parameters; N and σ₁ are those of the first run.
        region: (low, high): each run after the first starts at a point drawn uniformly from
            [low, high]^d. None: at one drawn from N(x₀, σ₁² I).
        safeguard: halve a step that would lose positive definiteness, which else ends the run.
        xtol: in units of σ₁; 0 asks for equal points.
        ftol: in units of f; 0 leaves differences that are rounding.
        stagnation: end a run that gets no better, too.

    Raises:
        ValueError: a value that is not allowed; an optimiser of another space, or without N.

    Source: ours; the paper has no restarts.
    """
    space = optimiser.space
    if space not in ("real", "binary"):
        raise ValueError(f"there are no restarts of a search of a {space} space")
    if not hasattr(optimiser, "samples"):
        raise ValueError("it has no samples that restarts could double: restarts has to be null")
    checks.choice("safeguard", safeguard, (True, False))
    checks.choice("stagnation", stagnation, (True, False))
    for name, value in (("xtol", xtol), ("ftol", ftol)):
        if value != 0:
            checks.positive(name, value)
    if space == "binary":
        if region is not None:
            raise ValueError("a search of bit strings has no region; leave it out")
        return RestartsOnBits(
            lambda samples, scale: replace(optimiser, samples=samples or optimiser.samples),
            lambda mean, rng: mean,
            Tolerance(xtol, ftol),
        )
    if region is not None:
        checks.interval("region", region)
    std: float = optimiser.initial_std

    def make(samples: int | None, scale: float) -> Any:
        made = replace(optimiser, samples=samples or optimiser.samples, initial_std=scale * std)
        return Halving(made) if safeguard else made

    def start(mean: Array, rng: np.random.Generator) -> Array:
        if region is None:
            return mean + std * rng.standard_normal(mean.size)
        drawn: Array = rng.uniform(region[0], region[1], mean.size)
        return drawn

    return Restarts(make, start, Tolerance(xtol * std, ftol, stagnation))
