"""How much smaller are regret and noise with orthogonal than with as many independent samples?

python -m experiments.theory.orthogonal --problems quadratic l1_quadratic --dims 4 16 64 \\
    --iterations 2048 --runs 40 --dim 32 --repeats 4000 --to results/tables/theory/orthogonal.csv
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from algorithms.framework import Framework
from algorithms.shared.interface import Array
from experiments.runs.seeds import stream
from experiments.theory import shared
from experiments.theory.runs import average_regret, gradient, places
from experiments.theory.shared import ratio

# β of the runs; Σ₁ = I/(βd), so that the first steps are equally long. A small Σ leaves the
# estimate little of the noise that the curvature of f adds, which orthogonality does not lessen.
STEP_SIZES = {"start": 10.0, "narrow": 1e4}


def table(
    problems: list[str],
    dims: list[int],
    iterations: int,
    runs: int,
    dim: int,
    repeats: int,
    root_seed: int,
) -> pd.DataFrame:
    """Orthogonal over independent samples: ratio of means, with its 95 % interval.

    One row per quantity, problem, place, d and N. ``quantity`` is "regret", the average regret
    after ``iterations`` for each d of ``dims`` at N = d, over runs that start at the same mean; or
    "second_moment", E‖ĝ‖² at ``dim`` for N = 2, 4, 8, … up to d. A regret's place is the first
    distribution of its runs, Σ₁ = I/(10d) ("start") or 1e-4 I/d ("narrow"); a moment is that of an
    estimate at a place, after no iteration.
    """
    rows = []
    for name in problems:
        for place, beta in STEP_SIZES.items():
            for d in dims:
                both = regrets(name, place, beta, d, iterations, runs, root_seed)
                rows.append(row("regret", name, place, d, d, iterations, both))
                shared.progress(f"orthogonal: regret, {name}, {place}, d = {d}")
        for place in ("start", "narrow", "minimiser"):
            for n in (2**k for k in range(1, dim.bit_length())):
                both = squares(name, place, dim, n, repeats, root_seed)
                rows.append(row("second_moment", name, place, dim, n, 0, both))
        shared.progress(f"orthogonal: second moment, {name}")
    return pd.DataFrame(rows)


def row(
    quantity: str,
    problem: str,
    place: str,
    dim: int,
    n: int,
    iterations: int,
    both: dict[str, Array],
) -> dict[str, object]:
    """A row of the table, from the values of either estimator."""
    return {
        "quantity": quantity,
        "problem": problem,
        "title": shared.convex(problem, {"dim": dim}).title,
        "place": place,
        "dim": dim,
        "samples": n,
        "iterations": iterations,
        "runs": len(both["batch"]),
        "independent": both["batch"].mean(),
        "orthogonal": both["orthogonal"].mean(),
        **ratio(both["orthogonal"], both["batch"]),
    }


def regrets(
    name: str, place: str, beta: float, dim: int, iterations: int, runs: int, root_seed: int
) -> dict[str, Array]:
    """The average regret of each run (runs,), by estimator."""
    problem = shared.convex(name, {"dim": dim})
    found = {}
    for estimator in ("batch", "orthogonal"):
        method = Framework(estimator, samples=dim, step_size=beta, initial_std=(beta * dim) ** -0.5)
        found[estimator] = np.array(
            [
                average_regret(
                    method,
                    problem,
                    problem.start(stream(root_seed, "orthogonal", "start", name, dim, seed)),
                    iterations,
                    stream(root_seed, "orthogonal", name, place, estimator, dim, seed),
                )[0]
                for seed in range(runs)
            ]
        )
    return found


def squares(
    name: str, place: str, dim: int, n: int, repeats: int, root_seed: int
) -> dict[str, Array]:
    """‖ĝ‖² of each repeat (repeats,), by estimator."""
    problem = shared.convex(name, {"dim": dim})
    state = places(problem, problem.start(stream(root_seed, "orthogonal", "start", name)))[place]
    found = {}
    for estimator in ("batch", "orthogonal"):
        method = Framework(estimator, samples=n)
        rng = stream(root_seed, "orthogonal", "moment", name, place, estimator, n)
        g = np.array([gradient(method, state, problem, rng) for _ in range(repeats)])
        found[estimator] = (g * g).sum(axis=1)
    return found


def main(arguments: list[str] | None = None) -> None:
    """Write the table."""
    shared.write("orthogonal", __doc__, table, arguments)


if __name__ == "__main__":
    main()
