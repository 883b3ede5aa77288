"""ASEBO: evolution strategy that draws most of its noise where past gradients were."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, log, sqrt
from typing import ClassVar

import numpy as np

from .shared import checks, settings
from .shared.adam import Adam
from .shared.antithetic import mirrored
from .shared.interface import NONE, Array, Ending, Samples, Spread
from .shared.shaping import SHAPINGS
from .shared.steps import checked


@dataclass(frozen=True)
class ASEBOState:
    """The mean, what Adam knows, and the active subspace with its share of the noise.

    The subspace is kept as weights of past gradients, U = GᵀW: forming U would cost more than
    every use of it.
    """

    mean: Array  # (d,)
    std: float  # σ of the noise, constant
    adam: Adam
    alpha: float  # 0 < α ≤ 1, share of the noise that is isotropic
    gradients: Array  # (T, d) G, past gradients, decayed
    weights: Array  # (T, n) W; NONE while there is no subspace
    ended: Ending | None = None

    def spread(self) -> Spread:
        d = self.mean.size
        n = self.weights.shape[1] or d
        inside = self.alpha + (1 - self.alpha) * d / n  # variance along U over σ²; α elsewhere
        sigma = self.std * self.alpha ** ((1 - n / d) / 2) * inside ** (n / d / 2)
        return Spread(sigma, inside / self.alpha if n < d else 1.0)


@dataclass(frozen=True)
class ASEBO:
    """Adaptive evolution strategy with active subspaces: ES with another covariance.

    x_± = μ ± σ z,  z = √d (√(α/d) z₁ + √((1 − α)/n) U z₂),  z₁ ~ N(0, I_d), z₂ ~ N(0, I_n)
    g = (1/N) Σ_i h_i z_i,  μ ← μ − η Adam(g)
    α ← min(1, ‖g − UUᵀg‖ / ‖UUᵀg‖)
    G ← [γG; g],  U ← the first n principal axes of GᵀG, n the smallest with a share ε of its trace

    with h the shaped values of all N points and z_i the signed noise. For a linear f, E g is
    proportional to (αI + (1 − α)(d/n) UUᵀ) ∇f, which is downhill but not along ∇f: as in the source
    nothing divides by the covariance, so that g is stretched along U, and α, measured on it, is
    small once it is. Where d is far above N and n most of g is noise outside of U, and α stays 1:
    at d = 6321 and N = 72 even on a linear f, where ASEBO is ES therefore.

    O(T(T + N)d) an iteration, T < 500 by default; no d×d matrix where d is larger than T.

    Args:
        samples: N, even, points per iteration; None is the paper's 2⌊3 + ⌊3 ln d⌋/2⌋.
        step_size: η, of Adam.
        initial_std: σ, which stays as it is.
        shaping: "standardise", "centred_ranks", "log_ranks" or "raw".
        isotropic_iterations: the first ones, drawn with α = 1 while G fills; at least 2.
        explained_variance: ε, between 0 and 1.
        decay: γ, between 0 and 1; a gradient's variance decays by γ² per iteration.
        normalise: give every g the same length d before Adam sees it.

    Ends as ``diverged``, or ``flat`` (all values equal, with "standardise" only).

    Source: Choromanski et al. (2019), arXiv:1903.04268, in the version that its authors released
        (github.com/jparkerholder/ASEBO), from which η = 0.05, ε = 0.995, γ = 0.99 and 70 isotropic
        iterations (they advise 140 for HalfCheetah and Walker2d). INGO's paper names no setting.
    Differs: from Algorithm 1 of ASEBO's paper, which draws every direction either inside or outside
        of the subspace, with a probability from a closed form, and gives it a chi(d) length.
        From the released code:
        (1) Length. It scales every direction to 1, so that σ moves no point. Here √d gives
        E‖z‖² = d, the same as for ES, and σ means the same; α = 1 is ES, bit for bit.
        (2) Covariance. It multiplies by the wrong triangle of the Cholesky factor, and draws
        isotropically where α is too far above 1 for a factor. Here the mixture is drawn as written.
        (3) N is fixed, so that iterations and budgets compare. It takes 2 max(n, 10) points, after
        200 at first; its minimum of 10 for n goes with that.
        (4) GᵀG is not centred, as in the paper: centring takes out what all gradients share.
        (5) Outside is all that U does not span; there it is the other axes of G only.
        (6) ``normalise`` is on there, which hides that g lacks a 1/N. Its σ is 0.1, its count of
        isotropic iterations one less than it is told.
        (7) On control, its policies end in tanh, the environment gets clipped actions and starts
        every roll-out alike, and its first mean is not 0; there η was chosen. Here ``normalise``
        is a key, as are the problem's ``output: tanh`` and ``starts: fixed``; the others are not.
    """

    samples: int | None = None
    step_size: float = 0.05
    initial_std: float = 0.5
    shaping: str = "standardise"
    isotropic_iterations: int = 70
    explained_variance: float = 0.995
    decay: float = 0.99
    normalise: bool = False

    space: ClassVar[str] = "real"

    def __post_init__(self) -> None:
        checks.pairs(self.samples)
        checks.positive("step_size", self.step_size)
        checks.scale("initial_std", self.initial_std)
        checks.choice("shaping", self.shaping, tuple(SHAPINGS))
        checks.whole("isotropic_iterations", self.isotropic_iterations, 2)
        checks.between_0_and_1("explained_variance", self.explained_variance)
        checks.between_0_and_1("decay", self.decay)
        checks.choice("normalise", self.normalise, (False, True))

    def batch_size(self, dim: int) -> int:
        return self.samples or settings.samples(dim)

    def init(self, mean: Array, rng: np.random.Generator) -> ASEBOState:
        d = mean.size
        return ASEBOState(mean, self.initial_std, Adam.start(d), 1.0, np.empty((0, d)), NONE)

    def ask(self, state: ASEBOState, rng: np.random.Generator) -> Samples:
        d = state.mean.size
        pairs = self.batch_size(d) // 2
        half = rng.standard_normal((pairs, d))
        if state.alpha < 1.0:
            n = state.weights.shape[1]
            inside = rng.standard_normal((pairs, n)) @ state.weights.T @ state.gradients
            half = sqrt(state.alpha) * half + sqrt((1 - state.alpha) * d / n) * inside
        z = mirrored(half)
        y = state.std * z
        return Samples(state.mean + y, z, y)

    def tell(self, state: ASEBOState, samples: Samples, values: Array) -> ASEBOState:
        h, ended = SHAPINGS[self.shaping](values)
        if ended:
            return replace(state, ended=ended)
        g = (h @ samples.z) / h.size
        alpha, gradients = state.alpha, state.gradients
        if g.any():  # ranks that are all tied teach nothing, and nothing is forgotten
            alpha = self.isotropic_share(state, g)
            gradients = self.remember(gradients, g)
            if self.normalise:
                g *= g.size / np.linalg.norm(g)
        step, adam = state.adam.step(g, self.step_size)
        # The first α < 1 comes from the last isotropic batch, and needs the axes before it.
        due = adam.steps + 1 >= self.isotropic_iterations and gradients.size > 0
        weights = principal_axes(gradients, self.explained_variance) if due else NONE
        mean = state.mean - step
        after = ASEBOState(mean, state.std, adam, alpha, gradients, weights)
        return checked(state, after, mean)

    def isotropic_share(self, state: ASEBOState, g: Array) -> float:
        """α, the length of ``g`` outside of the subspace over that inside, at most 1."""
        n = state.weights.shape[1]
        if n in (0, g.size):  # no subspace yet, or no outside
            return state.alpha
        G, W = state.gradients, state.weights
        projected = W @ (W.T @ (G @ g)) @ G
        inside, outside = np.linalg.norm(projected), np.linalg.norm(g - projected)
        return float(outside / inside) if outside < inside else 1.0

    def remember(self, gradients: Array, g: Array) -> Array:
        """[γG; g], in at most d rows with the same GᵀG, or as many as matter.

        The variance of what is left out, were all gradients of one length, is a hundredth of what
        the threshold ε leaves out anyway: 493 rows by default.
        """
        longest = ceil(log(0.01 * (1 - self.explained_variance)) / (2 * log(self.decay)))
        kept = gradients[max(0, len(gradients) + 1 - longest) :]
        rows = np.empty((len(kept) + 1, g.size))
        np.multiply(kept, self.decay, out=rows[:-1])
        rows[-1] = g
        return rows if len(rows) <= g.size else np.linalg.qr(rows).R


def principal_axes(gradients: Array, share: float) -> Array:
    """W (T, n): the columns of GᵀW are the first n principal axes of GᵀG, G (T, d) not centred.

    n is the smallest number with λ₁ + … + λ_n ≥ share Σ λ. GGᵀ has the same eigenvalues as GᵀG and
    is T×T. The division is safe: what follows the axes before λ_n is a sizeable part of the trace.
    """
    values, vectors = np.linalg.eigh(gradients @ gradients.T)
    values, vectors = values[::-1], vectors[:, ::-1]
    sums = np.cumsum(values)
    n = int(np.searchsorted(sums, share * sums[-1])) + 1
    weights: Array = vectors[:, :n] / np.sqrt(values[:n])
    return weights
