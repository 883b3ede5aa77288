"""Where each method stands on the two benchmarks: a table, and the page that says so.

    python -m experiments.field.standing results/field/tables --golden results/field/golden.csv \\
        --manifest results/field/manifest.json --labels '{…}' --to results/field/field

The measures are the benchmarks' own: the share of (function, target, run) that were reached within
the budget, aRT to the last target, runs that found the optimum.
"""

from __future__ import annotations

import json
from math import exp, log
from pathlib import Path

import numpy as np
import pandas as pd

from experiments.field import commands, words
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
                solutions = int((evaluations_to(runs, last(measure)) < np.inf).sum())
                ratio, of = ratio_to_peer(of_group, str(algorithm), last(measure))
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


def last(measure: str) -> float:
    """The last target of a benchmark."""
    return MEASURES[measure].hardest


def read(folder: Path) -> dict[str, pd.DataFrame]:
    """The tables of runs, by experiment."""
    files_of = sorted(folder.glob("*/runs.parquet"), key=lambda file: _natural(file.parent.name))
    return {file.parent.name: pd.read_parquet(file) for file in files_of}


def _natural(name: str) -> tuple[str, int]:
    """The order of bbob_2, bbob_10."""
    word, _, number = name.rpartition("_")
    return word, int(number)


def main(arguments: list[str] | None = None) -> None:
    """Write the table and the page."""
    args = commands.standing_parser(__doc__).parse_args(arguments)
    rows = standing(read(args.tables))
    cost = json.loads(args.manifest.read_text(encoding="utf-8"))["runs"]["experiments"]
    page = words.page(rows, pd.read_csv(args.golden), args.labels, cost)
    files.write(rows, page, args.to)


if __name__ == "__main__":
    main()
