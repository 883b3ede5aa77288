"""The functions of the comparison, each with its domain, its budget and what is known of it.

By rule, not tuned: x₀ is uniform on the domain [low, high]^d, the same for all methods of a seed;
σ₀ is a quarter of the domain's width, as pycma's documentation advises; the budget is 10,000 d
evaluations. It is 50 d for the SVM, where an evaluation trains five models. Noise and many minima,
where most methods stop short of the minimum, are there with a tenth of the budget too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from experiments.usage import svm
from problems.interface import Array

PRECISION = 1e-8  # above the minimum, where a function counts as solved
PER_DIMENSION = 10_000  # evaluations
SHORT = "_short"  # ends the name of a task with a tenth of the budget of another one
FEWEST = 20  # a batch of each method on each task


@dataclass(frozen=True)
class Task:
    """A function to minimise, and how it is handed to every method."""

    name: str
    title: str  # within a sentence
    formula: str  # as the table of settings prints it
    f: Callable[[Array], float]  # of a point (d,), without noise
    dim: int
    low: float = -5.0
    high: float = 5.0
    minimiser: Array | None = None  # (d,); None if it is not known
    minimum: float = 0.0  # what values are measured from
    noise: float = 0.0  # standard deviation of the normal noise added to each evaluation
    bounded: bool = False  # whether the domain is a box that no evaluation may leave
    integers: bool = False  # whether f rounds x
    budget: int = 0  # evaluations; 0 is PER_DIMENSION d

    def __post_init__(self) -> None:
        if not self.budget:
            object.__setattr__(self, "budget", PER_DIMENSION * self.dim)

    @property
    def sigma(self) -> float:
        """σ₀."""
        return (self.high - self.low) / 4

    @property
    def target(self) -> float:
        """The value at which the task is solved; −∞ where no method can know it."""
        known = self.minimiser is not None and not self.noise
        return self.minimum + PRECISION if known else -np.inf

    def start(self, rng: np.random.Generator) -> Array:
        """x₀ (d,)."""
        return rng.uniform(self.low, self.high, self.dim)

    def with_share(self, share: float) -> Task:
        """With this share of the budget, of which FEWEST evaluations stay."""
        return replace(self, budget=max(FEWEST, round(share * self.budget)))

    def short(self) -> Task:
        """With a tenth of the budget, as a task of its own."""
        title = f"{self.title} with a tenth of the budget"
        return replace(self.with_share(0.1), name=f"{self.name}{SHORT}", title=title)


def rosenbrock(x: Array) -> float:
    return float(np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2))


def rosenbrock_task(dim: int) -> Task:
    return Task(
        name=f"rosenbrock_{dim}",
        title=f"Rosenbrock {dim}-d",
        formula="Σ 100 (x_{i+1} − x_i²)² + (1 − x_i)²",
        f=rosenbrock,
        dim=dim,
        low=-2.0,
        high=2.0,
        minimiser=np.ones(dim),
    )


def sphere(x: Array) -> float:
    return float(x @ x)


def log_barrier(x: Array) -> float:
    """NaN where a coordinate is not positive."""
    return float(np.sum(x - 1.0 - np.log(x))) if (x > 0.0).all() else np.nan


def ellipsoid(x: Array, decades: float = 6.0) -> float:
    return float((x * x) @ 10.0 ** (decades * np.arange(x.size) / (x.size - 1)))


def corner(x: Array) -> float:
    """Falls towards x = −1, outside of the box; its least value there is at x = 0."""
    return ellipsoid(x + 1.0, 2.0)


INTEGERS = np.array([3.0, -2.0, 1.0, 4.0, -4.0, 0.0, 2.0, -1.0, -3.0, 5.0])


def rounded(x: Array) -> float:
    return ellipsoid(np.round(x) - INTEGERS, 2.0)


def rastrigin(x: Array) -> float:
    return float(np.sum(x * x + 20.0 * np.sin(np.pi * x) ** 2))  # 10 − 10 cos 2πx = 20 sin² πx


SCALED = "Σ 100^((i−1)/(d−1))"
NOISY = Task(
    name="noisy_sphere",
    title="the noisy sphere",
    formula="Σ x_i² + 0.1 · N(0, 1), the noise drawn anew in every evaluation",
    f=sphere,
    dim=10,
    minimiser=np.zeros(10),
    noise=0.1,
)
RASTRIGIN = Task(
    name="rastrigin",
    title="Rastrigin 10-d",
    formula="10 d + Σ x_i² − 10 cos 2πx_i",
    f=rastrigin,
    dim=10,
    minimiser=np.zeros(10),
)
TASKS = (
    rosenbrock_task(2),
    rosenbrock_task(10),
    Task(
        name="ellipsoid",
        title="Ellipsoid 20-d",
        formula="Σ 10^(6(i−1)/(d−1)) x_i², axes along the coordinates",
        f=ellipsoid,
        dim=20,
        minimiser=np.zeros(20),
    ),
    Task(
        name="nan_region",
        title="the region of NaN",
        formula="Σ x_i − 1 − ln x_i; NaN where any x_i ≤ 0",
        f=log_barrier,
        dim=10,
        low=0.0,
        high=4.0,
        minimiser=np.ones(10),
    ),
    Task(
        name="box",
        title="the box",
        formula=f"{SCALED} (x_i + 1)² in the box [0, 4]^d, its minimum at the corner 0",
        f=corner,
        dim=10,
        low=0.0,
        high=4.0,
        minimiser=np.zeros(10),
        minimum=corner(np.zeros(10)),
        bounded=True,
    ),
    Task(
        name="integers",
        title="rounded integers",
        formula=f"{SCALED} (round(x_i) − k_i)², k = (3, −2, 1, 4, −4, 0, 2, −1, −3, 5)",
        f=rounded,
        dim=10,
        minimiser=INTEGERS,
        integers=True,
    ),
    NOISY,
    NOISY.short(),
    RASTRIGIN,
    RASTRIGIN.short(),
    Task(
        name="svm",
        title="the SVM",
        formula="share of errors of an SVM with RBF kernel in 5-fold cross-validation on the "
        "breast cancer data of scikit-learn; C = 10^x₁ and γ = 10^(x₂−3) in the box [−2, 4]²",
        f=svm.error,
        dim=2,
        low=-2.0,
        high=4.0,
        bounded=True,
        budget=100,
    ),
)
