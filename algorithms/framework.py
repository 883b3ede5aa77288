"""Algorithm 3: the general framework that the paper's convergence theorems are about."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from .shared import checks, settings
from .shared.antithetic import mirrored
from .shared.gaussian import DiagonalGaussian, Gaussian
from .shared.interface import Array, Ending, Samples, Stop
from .shared.steps import checked, diverged

ESTIMATORS = ("single", "batch", "orthogonal", "antithetic")


@dataclass(frozen=True)
class Framework:
    """Natural-gradient descent with any unbiased gradient and any bounded curvature.

    ĝ_t       = (1/N) Σ_i Σ_t^{-½} z_i (f(μ_t + Σ_t^{½} z_i) − f(μ_t))
    Σ_{t+1}⁻¹ = Σ_t⁻¹ + 2β Ĝ_t,  bI ⪯ Ĝ_t ⪯ (γ/2)I
    μ_{t+1}   = μ_t − β Σ_{t+1} ĝ_t

    Args:
        estimator: how the z_i of ĝ are drawn: "single" (N = 1), "batch" (independent),
            "orthogonal" (N ≤ d orthogonal directions) or "antithetic" (pairs ±z).
        curvature: "constant" is Ĝ = bI; "estimated" is the estimate of Theorem 2 from the same
            samples, ½ (1/N) Σ_i (f(x_i) − f(μ)) Σ^{-½} (z_i z_iᵀ − I) Σ^{-½}, projected.
        samples: N; None is 1 for "single", d for "orthogonal", and else 2⌊3 + ⌊3 ln d⌋/2⌋.
        step_size: β, a positive number, "c/d" or "c/sqrt(d)".
        initial_std: standard deviation of the first distribution along each axis, in units of x: a
            positive number, "c/d" or "c/sqrt(d)".
        b: smallest eigenvalue of Ĝ.
        gamma: γ, of the strong convexity of the problem; γ/2 is the largest eigenvalue of Ĝ.

    Each batch holds N + 1 points: the first is μ itself, with z = 0, so that f(μ) is paid for.
    Ends as ``diverged`` (a value or a parameter is not finite).

    Source: Algorithm 3, Eqs. (SigmaSigmaEstimator), (MuMuEstimator), (singleg), (orthgonoalg).
    Differs: the paper asks of orthogonal samples both that ZᵀZ = I and that z ~ N(0, I), which
        excludes each other; here the directions are orthogonal and the norms chi(d), so that the
        second is true. Any square root B of Σ_t takes the place of the symmetric one, and B⁻ᵀ that
        of Σ_t^{-½}. Antithetic pairs need no f(μ) for ĝ; it is evaluated for Ĝ's sake.
    """

    estimator: str = "batch"
    curvature: str = "constant"
    samples: int | None = None
    step_size: float | settings.Rule = 1.0
    initial_std: float | settings.Rule = 0.5
    b: float = 0.5
    gamma: float = 1.0

    space: ClassVar[str] = "real"

    def __post_init__(self) -> None:
        checks.choice("estimator", self.estimator, ESTIMATORS)
        checks.choice("curvature", self.curvature, ("constant", "estimated"))
        few = self.estimator in ("single", "orthogonal")  # a batch or a pair of one is none
        checks.samples(self.samples, smallest=1 if few else 2)
        checks.positive_or_rule("step_size", self.step_size)
        checks.positive_or_rule("initial_std", self.initial_std)
        checks.scale("initial_std", settings.resolve(self.initial_std, 1))
        checks.positive("b", self.b)
        checks.positive("gamma", self.gamma)
        if self.b > self.gamma / 2:
            raise ValueError(f"b is {self.b}; allowed: at most γ/2 = {self.gamma / 2}")
        if self.estimator == "single" and self.samples not in (None, 1):
            raise ValueError(f"samples is {self.samples}; allowed: 1, or null (single)")
        if self.estimator == "antithetic":
            checks.pairs(self.samples)

    def size(self, dim: int) -> int:
        """N at dimension ``dim``.

        Raises:
            ValueError: more orthogonal directions are asked for than there are dimensions.
        """
        if self.samples is None:
            rule = {"single": 1, "orthogonal": dim}
            return rule.get(self.estimator, settings.samples(dim))
        if self.estimator == "orthogonal" and self.samples > dim:
            raise ValueError(f"samples is {self.samples}; allowed: at most d = {dim} (orthogonal)")
        return self.samples

    def batch_size(self, dim: int) -> int:
        return self.size(dim) + 1  # μ itself comes first

    def init(self, mean: Array, rng: np.random.Generator) -> DiagonalGaussian | Gaussian:
        self.size(mean.size)
        # bI keeps an isotropic Σ isotropic, and then nothing needs a matrix.
        kind = DiagonalGaussian if self.curvature == "constant" else Gaussian
        return kind.isotropic(mean, settings.resolve(self.initial_std, mean.size))

    def ask(self, state: DiagonalGaussian | Gaussian, rng: np.random.Generator) -> Samples:
        dim = state.mean.size
        z = np.concatenate([np.zeros((1, dim)), noise(self.estimator, self.size(dim), dim, rng)])
        y = z * state.std if isinstance(state, DiagonalGaussian) else z @ state.factor.T
        return Samples(state.mean + y, z, y)

    def tell(
        self, state: DiagonalGaussian | Gaussian, samples: Samples, values: Array
    ) -> DiagonalGaussian | Gaussian:
        if not np.isfinite(values).all():
            return replace(state, ended=Ending(Stop.DIVERGED))
        beta = settings.resolve(self.step_size, state.mean.size)
        w, z = weights(values), samples.z
        if isinstance(state, DiagonalGaussian):
            g = (w @ z) / state.std
            variance = 1.0 / (state.std**-2 + 2.0 * beta * self.b)
            mean, std = state.mean - beta * variance * g, np.sqrt(variance)
            return checked(state, DiagonalGaussian(mean, std), mean, std)
        try:
            mean, factor = self.full_step(state, beta, w, z)
        except np.linalg.LinAlgError as error:  # numpy's word for a matrix that is not finite
            return diverged(state, str(error))
        return checked(state, Gaussian(mean, factor), mean, factor)

    def full_step(self, state: Gaussian, beta: float, w: Array, z: Array) -> tuple[Array, Array]:
        """μ_{t+1} and a factor of Σ_{t+1}, with the curvature that the samples show.

        Raises:
            LinAlgError: a matrix is not finite, or the new precision not positive definite.
        """
        inverse = np.linalg.inv(state.factor)  # B⁻¹
        raw = 0.5 * inverse.T @ (z.T @ (w[:, None] * z) - w.sum() * np.eye(len(inverse))) @ inverse
        curvature = project(raw, self.b, self.gamma / 2)
        precision = inverse.T @ inverse + 2.0 * beta * curvature  # Eq. (SigmaSigmaEstimator)
        factor = np.linalg.inv(np.linalg.cholesky(precision)).T
        g = inverse.T @ (w @ z)
        return state.mean - beta * factor @ (factor.T @ g), factor  # Eq. (MuMuEstimator)


def weights(values: Array) -> Array:
    """w_i = (f(x_i) − f(μ))/N (N + 1,), for values of which the first is f(μ); w_0 is 0."""
    w: Array = (values - values[0]) / (values.size - 1)
    return w


def noise(estimator: str, n: int, dim: int, rng: np.random.Generator) -> Array:
    """z (n, dim), each row N(0, I) by itself; how the rows depend on each other is the estimator.

    Source: Section 5, "Black-box Case", after Choromanski et al. (2018). Differs: see Framework.
    """
    if estimator == "antithetic":
        half = rng.standard_normal((n // 2, dim))
        return mirrored(half)
    z = rng.standard_normal((n, dim))
    if estimator != "orthogonal":
        return z
    q, r = np.linalg.qr(z.T)
    q *= np.sign(np.diagonal(r))  # without it q depends on the library's signs and is not uniform
    return (q * np.sqrt(rng.chisquare(dim, n))).T


def project(matrix: Array, low: float, high: float) -> Array:
    """The symmetric matrix nearest to ``matrix`` (Frobenius norm) with eigenvalues in [low, high].

    U clip(Λ) Uᵀ for the symmetric part UΛUᵀ.
    """
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    nearest: Array = (vectors * np.clip(values, low, high)) @ vectors.T
    return nearest
