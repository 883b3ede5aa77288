"""Where each method stands on the two benchmarks: a table, and the page that says so.

    python -m experiments.field.standing results/field/tables --labels '{…}' --to field

The measures are the benchmarks' own: the share of (function, target, run) that were reached within
the budget, aRT to the last target, runs that found the optimum.
"""

from __future__ import annotations

from math import e, exp, log
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from experiments.field import commands, reference, words
from experiments.tables import files
from experiments.tables.estimates import Estimate, bootstrap
from experiments.tables.reader import evaluations_to
from experiments.tables.summaries import average_running_time
from figures.ecdf import ALL, MEASURES, solved
from problems.bbob import GROUPS

LAST = 1e-8  # COCO's last target
PEER = "cma_es"
COLUMNS = (
    "experiment", "dim", "group", "algorithm", "share", "share_low", "share_high", "solved", "runs",
    "ratio", "ratio_of",
)  # fmt: skip


def standing(tables: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """A row for each experiment, group of functions and method.

    Args:
        tables: of runs, by experiment; bbob or pbo by its name.

    Returns columns experiment, dim, group, algorithm; share of the targets that were reached, with
    its 95 % interval over instances; solved, runs that reached the last target, of ``runs``; ratio,
    the geometric mean over functions of the aRT to it over that of CMA-ES, where both have one, and
    ratio_of, the number of these functions. Functions without a known minimum are left out.
    """
    rows = []
    for experiment, table in tables.items():
        measure = experiment.partition("_")[0]
        known = table[np.isfinite(table["minimum"])]
        groups = {g: [f"f{k}" for k in of] for g, of in GROUPS.items()} if measure == "bbob" else {}
        for group, names in {**groups, ALL: list(known["problem"].unique())}.items():
            of_group = known[known["problem"].isin(names)]
            for algorithm, runs in of_group.groupby("algorithm", sort=False):
                share = share_of_targets(runs, measure)
                solutions = int((evaluations_to(runs, _last(measure)) < np.inf).sum())
                ratio, of = ratio_to_peer(of_group, str(algorithm), _last(measure))
                rows.append(
                    (experiment, int(runs["dim"].iloc[0]), group, algorithm, share.value, share.low,
                     share.high, solutions, len(runs), ratio, of)
                )  # fmt: skip
    return pd.DataFrame(rows, columns=list(COLUMNS))


def share_of_targets(runs: pd.DataFrame, measure: str) -> Estimate:
    """The share of (function, target) that runs reached, over seeds: their instances."""
    by_seed = [
        float(np.isfinite(solved(own, measure)).mean())
        for _, own in runs.groupby("seed", sort=True)
    ]
    return bootstrap(lambda shares: np.mean(shares, axis=-1), np.array(by_seed))


def ratio_to_peer(runs: pd.DataFrame, algorithm: str, target: float) -> tuple[float, int]:
    """The geometric mean over functions of aRT over that of CMA-ES, and over how many: those on
    which both have reached the target.
    """
    logs = []
    for _, own in runs.groupby("problem", sort=False):
        mine, peer = (
            _art(own[own["algorithm"] == name], target) for name in (algorithm, PEER)
        )  # fmt: skip
        if np.isfinite([mine, peer]).all():
            logs.append(log(mine / peer))
    return (exp(np.mean(logs)), len(logs)) if logs else (float("nan"), 0)


def _art(runs: pd.DataFrame, target: float) -> float:
    """aRT; infinite where there are no runs."""
    pairs = np.stack([evaluations_to(runs, target), runs["evaluations"].to_numpy(float)], axis=-1)
    return float(average_running_time(pairs)) if len(runs) else float("inf")


def _last(measure: str) -> float:
    return MEASURES[measure].hardest


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
            ratio = evaluations_to(runs, _last("pbo")).mean() / (e * n * log(n))
            made.append(Golden(f"(1+1)-EA on OneMax, n = {n}", ratio, ratio, ratio, 1))
    return made


def main(arguments: list[str] | None = None) -> None:
    """Write the tables and the page."""
    args = commands.standing_parser(__doc__).parse_args(arguments)
    tables = {
        name: pd.read_parquet(Path(args.tables) / name / "runs.parquet") for name in args.labels
    }
    rows, checks = standing(tables), golden(tables)
    files.write_csv(pd.DataFrame(checks, columns=Golden._fields), args.to.with_name("golden.csv"))
    files.write(rows, words.page(rows, checks, args.labels), args.to)


if __name__ == "__main__":
    main()
