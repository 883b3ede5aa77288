"""Does the lemma behind Theorem 5 hold for a thin Σ?

python -m experiments.theory.gap --dim 10 --repeats 20000 --conditions 1 10 100 1000 \\
    --to results/tables/theory/gap.csv
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from algorithms import framework
from algorithms.framework import Framework
from algorithms.shared.gaussian import DiagonalGaussian
from experiments.runs.seeds import stream
from experiments.theory import shared
from experiments.theory.shared import interval


def table(dim: int, repeats: int, conditions: list[float], root_seed: int) -> pd.DataFrame:
    """E‖Σ_{t+1}‖‖ĝ‖² against L²‖Σ_t‖(d + 4)², the lemma behind Theorem 5, as Σ_t gets thin.

    f is linear with slope L = 1 along the longest axis of Σ_t, all other axes are √κ times shorter,
    ‖Σ_t‖ = 1/d and Ĝ = bI with β = 1, b = ½. One row per condition number κ. ``exact`` is the
    closed form of the left side, ‖Σ_{t+1}‖(3 + (d − 1)κ), and ``repaired`` the bound multiplied by
    the condition number of Σ_t.
    """
    method = Framework("single")
    rows = []
    for condition in conditions:
        variances = np.full(dim, 1 / (dim * condition))
        variances[0] = 1 / dim
        state = DiagonalGaussian(np.zeros(dim), np.sqrt(variances))
        rng = stream(root_seed, "gap", f"{condition:g}")
        norms = np.empty(repeats)
        for k in range(repeats):
            samples = method.ask(state, rng)
            values = samples.y[:, 0]  # f(x) − f(μ)
            g = framework.weights(values) @ samples.z / state.std
            told = method.tell(state, samples, values)
            assert isinstance(told, DiagonalGaussian)
            norms[k] = told.std.max() ** 2 * (g @ g)
        next_norm = 1 / (dim + 2 * method.b)
        bound = (dim + 4) ** 2 / dim
        rows.append(
            {
                "condition": condition,
                "dim": dim,
                **interval(norms, "measured"),
                "exact": next_norm * (3 + (dim - 1) * condition),
                "bound": bound,
                "repaired": condition * bound,
            }
        )
    return pd.DataFrame(rows)


def main(arguments: list[str] | None = None) -> None:
    """Write the table."""
    shared.write("gap", __doc__, table, arguments)


if __name__ == "__main__":
    main()
