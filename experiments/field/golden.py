"""Is the set-up right? Two methods held against what is published of them.

python -m experiments.field.golden results/field/tables --to results/field/golden.csv
"""

from __future__ import annotations

from math import e, exp, log
from typing import NamedTuple

import numpy as np
import pandas as pd

from experiments.field import commands, reference
from experiments.field.standing import LAST, PEER, last, read
from experiments.tables import files
from experiments.tables.reader import evaluations_to


class Golden(NamedTuple):
    """Ours over what is published."""

    what: str
    ratio: float
    lowest: float
    highest: float
    of: int


def golden(tables: dict[str, pd.DataFrame]) -> list[Golden]:
    """Our CMA-ES's mean evaluations to 1e-8 over those of the published IPOP-CMA-ES, on the
    functions that all runs of both solve; and the (1+1)-EA's to OneMax's optimum over e n ln n.
    """
    made = []
    for dim in (5, 20):
        ratios = []
        table = tables.get(f"bbob_{dim}", pd.DataFrame({"problem": [], "algorithm": []}))
        for problem, runs in table[table["algorithm"] == PEER].groupby("problem"):
            theirs = reference.published("IPOP-CMA-ES", int(str(problem)[1:]), dim)
            ours = evaluations_to(runs, LAST)
            if np.isfinite(ours).all() and np.isfinite(theirs).all():
                ratios.append(ours.mean() / theirs.mean())
        if ratios:
            mean = exp(np.mean(np.log(ratios)))
            what = f"CMA-ES, d = {dim}"
            made.append(Golden(what, mean, min(ratios), max(ratios), len(ratios)))
    for name, table in tables.items():
        runs = table[(table["algorithm"] == "one_plus_one_ea") & (table["problem"] == "f1")]
        if name.startswith("pbo") and len(runs):
            n = int(runs["dim"].iloc[0])
            ratio = evaluations_to(runs, last("pbo")).mean() / (e * n * log(n))
            made.append(Golden(f"(1+1)-EA on OneMax, n = {n}", ratio, ratio, ratio, 1))
    return made


def main(arguments: list[str] | None = None) -> None:
    """Write the table."""
    args = commands.golden_parser(__doc__).parse_args(arguments)
    rows = golden(read(args.tables))
    files.write_csv(pd.DataFrame(rows, columns=list(Golden._fields)), args.to)


if __name__ == "__main__":
    main()
