"""One run and one gradient of Algorithm 3, for the questions that make their own."""

from __future__ import annotations

from math import sqrt

import numpy as np

from algorithms import framework
from algorithms.framework import Framework
from algorithms.shared.gaussian import DiagonalGaussian
from algorithms.shared.interface import Array
from algorithms.shared.loop import iterate, quiet
from problems.convex import ConvexProblem


def average_regret(
    method: Framework,
    problem: ConvexProblem,
    start: Array,
    iterations: int,
    rng: np.random.Generator,
) -> tuple[float, float]:
    """The average of f(μ_t), whose minimum is 0, and the largest ‖μ_t − μ*‖ of one run."""
    budget = iterations * (method.size(problem.dim) + 1)
    f, reach = [], 0.0
    with quiet():
        for batch in iterate(method, problem.evaluate, start, rng, budget):
            f.append(batch.values[0])
            u = batch.x[0] - problem.minimiser
            reach = max(reach, sqrt(u @ u))
    return float(np.mean(f)), reach


def gradient(
    method: Framework, state: DiagonalGaussian, problem: ConvexProblem, rng: np.random.Generator
) -> Array:
    """One ĝ (d,) of the framework at ``state``."""
    samples = method.ask(state, rng)
    estimate: Array = framework.weights(problem.evaluate(samples.x)) @ samples.z / state.std
    return estimate


def places(problem: ConvexProblem, start: Array) -> dict[str, DiagonalGaussian]:
    """The distributions at which the estimators are compared.

    At distance 1 from the minimiser with Σ = I/d ("start") and with 1e-4 I/d, at which a smooth f
    is almost linear ("narrow"), and with Σ = I/d at the minimiser itself ("minimiser").
    """
    std = problem.dim**-0.5
    return {
        "start": DiagonalGaussian.isotropic(start, std),
        "narrow": DiagonalGaussian.isotropic(start, 0.01 * std),
        "minimiser": DiagonalGaussian.isotropic(problem.minimiser, std),
    }
