"""Is the set-up right? Two methods held against what is published of them.

python -m experiments.field.golden results/field/tables --to golden.csv \\
    --experiments '{"bbob_5": {"budget": 50000}}'
"""

from __future__ import annotations

from collections.abc import Mapping
from math import e, exp, log
from typing import NamedTuple

import numpy as np
import pandas as pd

from experiments.field import commands, reference
from experiments.field.standing import PEERS, last, read
from experiments.tables import files
from experiments.tables.reader import evaluations_to

# What the set-up must keep to, written down before the runs. N and the first σ of the published
# CMA-ES were others; 15 runs of the (1+1)-EA have a standard error of a tenth and less.
CMA_ES = (0.7, 1.4)
EA = (0.7, 1.3)
SOLVED = 0.8  # of the functions that all published runs solve within our budget, at least
DIMS = (2, 3, 5, 10, 20, 40)  # of the published runs


class Golden(NamedTuple):
    """Ours over what is published."""

    what: str
    ratio: float  # of evaluations
    low: float  # what it may be
    high: float
    of: int  # functions that all runs of both solve within our budget
    out_of: int  # that all published runs do
    holds: bool


def golden(tables: dict[str, pd.DataFrame], budgets: Mapping[str, int]) -> list[Golden]:
    """Our CMA-ES's mean evaluations to 1e-8 over those of the published IPOP-CMA-ES, geometric mean
    over functions; and the (1+1)-EA's to the optimum over what is expected.

    Args:
        tables: of runs, by experiment.
        budgets: evaluations of a run, by experiment. The published runs had more.
    """
    made = []
    for name, table in tables.items():
        dim = int(table["dim"].iloc[0])
        if name.startswith("bbob") and "unseen" not in name and dim in DIMS:
            own = table[table["algorithm"] == PEERS["bbob"]]
            made.append(of_cma_es(own, dim, budgets[name]))
        if name.startswith("pbo"):
            made += of_ea(table[table["algorithm"] == PEERS["pbo"]], dim)
    return [row for row in made if row is not None]


def of_cma_es(runs: pd.DataFrame, dim: int, budget: int) -> Golden | None:
    """Nothing where no function is among those that all published runs solve within the budget."""
    ratios, out_of = [], 0
    for problem, own in runs.groupby("problem"):
        theirs = reference.published("IPOP-CMA-ES", int(str(problem)[1:]), dim)
        ours = evaluations_to(own, last("bbob"))
        known = bool((theirs <= budget).all())
        out_of += known
        if known and np.isfinite(ours).all():
            ratios.append(ours.mean() / theirs.mean())
    if not out_of:
        return None
    mean = exp(np.mean(np.log(ratios))) if ratios else np.inf
    holds = CMA_ES[0] <= mean <= CMA_ES[1] and len(ratios) >= SOLVED * out_of
    return Golden(f"CMA-ES, d = {dim}", mean, *CMA_ES, len(ratios), out_of, holds)


def of_ea(runs: pd.DataFrame, n: int) -> list[Golden]:
    """OneMax: e n ln n − 1.89 n, to O(log n). LeadingOnes: n²/2 ((1 − 1/n)^(1 − n) − (1 − 1/n)).

    Source: Hwang et al. (2018); Böttcher, Doerr and Neumann (2010).
    """
    stays = 1 - 1 / n
    expected = {
        "f1": ("OneMax", e * n * log(n) - 1.89 * n),
        "f2": ("LeadingOnes", n * n / 2 * (stays ** (1 - n) - stays)),
    }
    made = []
    for problem, (name, evaluations) in expected.items():
        own = runs[runs["problem"] == problem]
        if len(own):
            ratio = float(evaluations_to(own, last("pbo")).mean() / evaluations)
            holds = EA[0] <= ratio <= EA[1]
            made.append(Golden(f"(1+1)-EA on {name}, n = {n}", ratio, *EA, 1, 1, holds))
    return made


def main(arguments: list[str] | None = None) -> None:
    """Write the table."""
    args = commands.golden_parser(__doc__).parse_args(arguments)
    budgets = {name: size["budget"] for name, size in args.experiments.items()}
    rows = golden(read(args.tables, args.experiments), budgets)
    files.write_csv(pd.DataFrame(rows, columns=list(Golden._fields)), args.to)


if __name__ == "__main__":
    main()
