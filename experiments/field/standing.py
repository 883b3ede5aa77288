"""Where each method stands on the two benchmarks: a table, and the page that says so.

    python -m experiments.field.standing results/field/tables --golden results/field/golden.csv \\
        --manifest results/field/manifest.json --experiments '{…}' --figures '{…}' \\
        --to results/field/field

The share of (function, target, run) that were reached within the budget (of bit strings the optimum
is the one target), aRT to the last target, and runs that reached it. Evaluations are counted at the
end of a batch.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from math import exp, inf, log
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import wilcoxon

from experiments.field import commands, words
from experiments.tables import files
from experiments.tables.estimates import Estimate, resampled
from experiments.tables.reader import evaluations_to
from experiments.tables.summaries import average_running_time
from figures.ecdf import ALL, MEASURES, solved
from problems.bbob import GROUPS

PEERS = {"bbob": "cma_es", "pbo": "one_plus_one_ea"}  # what the others are compared with
COLUMNS = (
    "experiment", "dim", "group", "algorithm", "share", "share_low", "share_high", "lead",
    "lead_low", "lead_high", "lead_p", "solved", "runs", "ratio", "ratio_of",
)  # fmt: skip


def standing(tables: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """A row for each experiment, group of functions and method.

    Args:
        tables: of runs, by experiment; bbob or pbo by its name.

    Returns columns experiment, dim, group, algorithm; share of the targets that were reached, with
    its 95 % interval over seeds, which are instances on bbob; lead, its difference from that of the
    peer for the same seeds, with lead_p of Wilcoxon's signed-rank test; solved, runs that reached
    the last target, of ``runs``; ratio, the geometric mean over functions of the aRT to it over the
    peer's, where both have one, and ratio_of, the number of these functions. Functions without a
    known minimum are left out.
    """
    rows = []
    for experiment, table in tables.items():
        measure = experiment.partition("_")[0]
        peer = PEERS[measure]
        known = table[np.isfinite(table["minimum"])]
        arts = {
            (str(cell[0]), str(cell[1])): _art(runs, last(measure))
            for cell, runs in known.groupby(["problem", "algorithm"], sort=False)
        }
        groups = {g: [f"f{k}" for k in of] for g, of in GROUPS.items()} if measure == "bbob" else {}
        for group, names in {**groups, ALL: list(known["problem"].unique())}.items():
            of_group = known[known["problem"].isin(names)]
            shares = {
                str(algorithm): by_seed(runs, measure)
                for algorithm, runs in of_group.groupby("algorithm", sort=False)
            }
            for algorithm, own in shares.items():
                runs = of_group[of_group["algorithm"] == algorithm]
                share = mean(own)
                difference = own - shares[peer] if peer in shares else own * np.nan
                lead = mean(difference)
                solutions = int((evaluations_to(runs, last(measure)) < np.inf).sum())
                ratio, of = ratio_to_peer(arts, names, algorithm, peer)
                rows.append(
                    (experiment, int(runs["dim"].iloc[0]), group, algorithm, share.value, share.low,
                     share.high, lead.value, lead.low, lead.high, p_value(difference), solutions,
                     len(runs), ratio, of)
                )  # fmt: skip
    return pd.DataFrame(rows, columns=list(COLUMNS))


def by_seed(runs: pd.DataFrame, measure: str) -> pd.Series:
    """The share of (function, target) that the runs of each seed reached. Of bit strings the
    optimum alone: what is 100 off it and less depends on the scale of a function.
    """

    def reached(own: pd.DataFrame) -> Any:
        return evaluations_to(own, last("pbo")) if measure == "pbo" else solved(own, measure)

    shares = {seed: float(np.isfinite(reached(own)).mean()) for seed, own in runs.groupby("seed")}
    return pd.Series(shares, dtype=float)


def p_value(differences: pd.Series) -> float:
    """That they are as often above 0 as below, by Wilcoxon's signed-rank test, two-sided, with the
    zeros among the ranks (Pratt); NaN where there are none.
    """
    known = differences.dropna().to_numpy()
    if not len(known):
        return float("nan")
    return float(wilcoxon(known, zero_method="pratt").pvalue) if known.any() else 1.0


def mean(shares: pd.Series) -> Estimate:
    """The mean over seeds with its interval, which decides nothing for a few of them."""
    known = shares.dropna().to_numpy()
    if not len(known):
        return Estimate(np.nan, np.nan, np.nan)
    return resampled(lambda own: np.mean(own, axis=-1), known)


def ratio_to_peer(
    arts: dict[tuple[str, str], float], problems: Iterable[str], algorithm: str, peer: str
) -> tuple[float, int]:
    """The geometric mean over functions of aRT over the peer's, and over how many: those on which
    both have reached the target.
    """
    logs = []
    for problem in problems:
        mine, its = (arts.get((problem, name), inf) for name in (algorithm, peer))
        if mine < inf and its < inf:
            logs.append(log(mine / its))
    return (exp(np.mean(logs)), len(logs)) if logs else (float("nan"), 0)


def _art(runs: pd.DataFrame, target: float) -> float:
    """aRT to the target; infinite where no run reached it."""
    pairs = np.stack([evaluations_to(runs, target), runs["evaluations"].to_numpy(float)], axis=-1)
    return float(average_running_time(pairs))


def last(measure: str) -> float:
    """The last target of a benchmark."""
    return MEASURES[measure].targets[-1]


def read(folder: Path, experiments: Iterable[str]) -> dict[str, pd.DataFrame]:
    """The tables of runs of these experiments."""
    return {name: pd.read_parquet(folder / name / "runs.parquet") for name in experiments}


def main(arguments: list[str] | None = None) -> None:
    """Write the table and the page."""
    args = commands.standing_parser(__doc__).parse_args(arguments)
    labels = {name: size["labels"] for name, size in args.experiments.items()}
    rows = standing(read(args.tables, args.experiments))
    rows["label"] = [labels[row.experiment][row.algorithm] for row in rows.itertuples()]
    cost = json.loads(args.manifest.read_text(encoding="utf-8"))["runs"]["experiments"]
    page = words.page(rows, pd.read_csv(args.golden), args.experiments, args.figures, cost)
    files.write(rows, page, args.to)


if __name__ == "__main__":
    main()
