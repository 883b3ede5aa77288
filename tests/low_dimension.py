"""Which default survives few dimensions? The experiment behind ``minimize(safeguard=True)``.

The paper's step sizes are 1/d and 1/√d, so that a step is long where d is small: an update can make
Σ⁻¹ indefinite, and the run ends. Compared are the paper's step, half and a quarter of it, and the
paper's step halved for one step at a time when it is too long (ours, see ``shared/guard.py``).

    python tests/low_dimension.py        prints the table, a row per method, function and d
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

ROOT = str(Path(__file__).resolve().parents[1])
if ROOT not in sys.path:
    sys.path.insert(0, ROOT)

from algorithms import minimize  # noqa: E402
from algorithms.shared import settings  # noqa: E402

DIMENSIONS = (1, 2, 3, 5, 10, 20, 40)
VARIANTS = {  # share of the paper's β, safeguard
    "paper": (1.0, False),
    "half": (0.5, False),
    "quarter": (0.25, False),
    "halved when needed": (1.0, True),
}
METHODS = {"ingo": "1/d", "fast_ingo": "1/sqrt(d)"}  # and the paper's β


def rosenbrock(x):
    return np.sum(100 * (x[:, 1:] - x[:, :-1] ** 2) ** 2 + (1 - x[:, :-1]) ** 2, axis=1)


FUNCTIONS = {  # and where every coordinate of the mean starts; the minimum is 0, σ₀ = 0.5
    "sphere": (lambda x: np.sum(x**2, axis=1), 1.0),
    "far sphere": (lambda x: np.sum(x**2, axis=1), 10.0),
    "absolute values": (lambda x: np.sum(np.abs(x), axis=1), 1.0),
    "rosenbrock": (rosenbrock, 0.0),
}


def low_dimension_study(
    dimensions=DIMENSIONS,
    functions=tuple(FUNCTIONS),
    methods=tuple(METHODS),
    variants=tuple(VARIANTS),
    runs=10,
    budget=20_000,
):
    """A row per method, function, dimension and variant, over ``runs`` seeds to f ≤ 1e-8:

    ``reached`` and ``lost`` are the runs that reached it, and that ended as not positive definite;
    ``nfev`` is the median over all runs, infinite for those that did not reach it; ``fun`` the
    median of the best values; ``halved`` the share of steps that were shortened.
    """
    rows = []
    for method in methods:
        for function in functions:
            fun, start = FUNCTIONS[function]
            for dim in dimensions:
                if function == "rosenbrock" and dim == 1:
                    continue
                for variant in variants:
                    share, safeguard = VARIANTS[variant]
                    found = [
                        minimize(
                            fun, np.full(dim, start), 0.5, method, budget=budget, target=1e-8,
                            seed=seed, vectorized=True, safeguard=safeguard,
                            step_size=share * settings.resolve(METHODS[method], dim),
                        )
                        for seed in range(runs)
                    ]  # fmt: skip
                    evaluations = [r.nfev if r.success else np.inf for r in found]
                    rows.append(
                        {
                            "method": method,
                            "function": function,
                            "d": dim,
                            "variant": variant,
                            "reached": sum(r.success for r in found),
                            "lost": sum(r.status == "not_positive_definite" for r in found),
                            "nfev": float(np.median(evaluations)),
                            "fun": float(np.median([r.fun for r in found])),
                            "halved": sum(r.halved for r in found) / sum(r.nit for r in found),
                        }
                    )
    return rows


def table(rows):
    """Markdown: reached/lost and the median evaluations (or best value) of each variant."""
    variants = list(dict.fromkeys(row["variant"] for row in rows))
    lines = ["| method | function | d | " + " | ".join(variants) + " |"]
    lines.append("|---|---|---|" + "---|" * len(variants))
    cells = {}
    for row in rows:
        median = f"{row['nfev']:.0f}" if np.isfinite(row["nfev"]) else f"f {row['fun']:.0e}"
        halved = f", {row['halved']:.1%} of steps" if row["halved"] else ""
        cell = f"{row['reached']}/{row['lost']}: {median}{halved}"
        cells.setdefault((row["method"], row["function"], row["d"]), []).append(cell)
    lines += [f"| {m} | {f} | {d} | " + " | ".join(c) + " |" for (m, f, d), c in cells.items()]
    return "\n".join(lines)


if __name__ == "__main__":
    print(table(low_dimension_study()))
