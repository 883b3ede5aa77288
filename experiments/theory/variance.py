"""How does the noise of the gradient estimate fall with the number of samples?

python -m experiments.theory.variance --problems quadratic l1_quadratic --dim 32 --repeats 2000 \\
    --to results/tables/theory/variance.csv
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from algorithms.framework import Framework
from experiments.runs.seeds import stream
from experiments.theory import shared
from experiments.theory.runs import gradient, places
from experiments.theory.shared import interval


def table(problems: list[str], dim: int, repeats: int, root_seed: int) -> pd.DataFrame:
    """E‖ĝ‖² and the total variance E‖ĝ − Eĝ‖² against N, with the lemma's bound L²(d+4)²/N.

    On each problem at the three places of runs.py.
    """
    sizes = [2**k for k in range(20) if 2**k <= dim]
    rows = []
    for name in problems:
        problem = shared.convex(name, {"dim": dim})
        start = problem.start(stream(root_seed, "variance", name))
        for place, state in places(problem, start).items():
            for estimator in ("batch", "orthogonal"):
                for n in sizes:
                    method = Framework(estimator if n > 1 else "single", samples=n)
                    rng = stream(root_seed, "variance", name, place, estimator, n)
                    g = np.array([gradient(method, state, problem, rng) for _ in range(repeats)])
                    squares = (g * g).sum(axis=1)
                    spread = ((g - g.mean(axis=0)) ** 2).sum(axis=1) * repeats / (repeats - 1)
                    rows.append(
                        {
                            "problem": name,
                            "title": problem.title,
                            "place": place,
                            "estimator": estimator,
                            "dim": dim,
                            "samples": n,
                            "repeats": repeats,
                            **interval(squares, "second_moment"),
                            **interval(spread, "variance"),
                            "bound": problem.lipschitz**2 * (dim + 4) ** 2 / n,
                        }
                    )
        shared.progress(f"variance: {name}")
    return pd.DataFrame(rows)


def main(arguments: list[str] | None = None) -> None:
    """Write the table."""
    shared.write("variance", __doc__, table, arguments)


if __name__ == "__main__":
    main()
