"""The tables that rules made, read by experiment and cell."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from experiments.runs.record import TARGETS


class Missing(Exception):
    """A table, or a cell of one, that a measure needs is not there."""


class Tables:
    """The tables of runs, by experiment, read when first asked for: the paper's, and those of the
    field's benchmarks where their results lie beside.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.field = folder.parent / "field" / "tables"  # of the field's benchmarks, if there
        self._runs: dict[str, pd.DataFrame] = {}
        self._cells: dict[str, dict[tuple[str, str], pd.DataFrame]] = {}

    def runs(self, experiment: str, problem: str, algorithm: str) -> pd.DataFrame:
        """The runs of a cell, ordered by seed; the same table each time, not to be changed.

        Raises:
            Missing: there are none.
        """
        if experiment not in self._cells:  # all at once, since verdicts ask for most of them
            self._cells[experiment] = {
                (str(cell[0]), str(cell[1])): own.sort_values("seed", ignore_index=True)
                for cell, own in self.table(experiment).groupby(["problem", "algorithm"])
            }
        cell = self._cells[experiment].get((problem, algorithm))
        if cell is None:
            raise Missing(f"no runs of {algorithm} on {problem} in {experiment}")
        return cell

    def table(self, experiment: str) -> pd.DataFrame:
        """All runs of an experiment.

        Raises:
            Missing: it has no table.
        """
        if experiment not in self._runs:
            paths = (folder / experiment / "runs.parquet" for folder in (self.folder, self.field))
            path = next(filter(Path.is_file, paths), None)
            if path is None:
                raise Missing(f"no table {experiment}/runs.parquet")
            self._runs[experiment] = pd.read_parquet(path)
        return self._runs[experiment]

    def but(self, experiment: str, runs: pd.DataFrame) -> Tables:
        """The same tables, with other runs in the place of an experiment's."""
        other = Tables(self.folder)
        other._runs = {**self._runs, experiment: runs}
        return other

    def theory(self, table: str, only: Mapping[str, str | float]) -> pd.DataFrame:
        """The rows of a table of the theory that have these entries.

        Raises:
            Missing: there are none.
        """
        path = self.folder / "theory" / f"{table}.csv"
        if not path.is_file():
            raise Missing(f"no table theory/{table}.csv")
        rows = pd.read_csv(path)
        for column, value in only.items():
            rows = rows[rows[column] == value]
        if rows.empty:
            raise Missing(f"no rows {only} in theory/{table}.csv")
        return rows

    def problems(self, experiment: str, algorithm: str) -> list[str]:
        """The problems that an optimiser ran on."""
        table = self.table(experiment)
        return list(dict.fromkeys(table.loc[table["algorithm"] == algorithm, "problem"]))


def method(name: str) -> str:
    """The method that an optimiser of an experiment is a setting of, by its name: ingo for ingo_0.5
    and ingo_1_0.25; the name itself if it ends in no number.
    """
    return re.sub(r"(_\d[\d.e-]*)+$", "", name)


def rank(runs: pd.DataFrame, target: float) -> tuple[float, float, float]:
    """By which settings of a method are compared, the smaller the better: minus the share of runs
    that reached the target, the median evaluations of those, and the median of all best values.
    """
    times = evaluations_to(runs, target)
    reached = np.isfinite(times)
    evaluations = float(np.median(times[reached])) if reached.any() else np.inf
    return -float(reached.mean()), evaluations, float(runs["best"].median())


def spanned(runs: pd.DataFrame) -> range:
    """The places among TARGETS of those that these runs, all of one problem, span: from the largest
    that some run does not have at its first batch to the smallest that some run reached.
    """
    last = max(len(hits) for hits in runs["hits"])
    worst = (runs["first_batch_min"] - runs["minimum"]).max()
    first = bisect_right(TARGETS, -worst, key=lambda t: -t)
    return range(max(min(first, last - 1), 0), last)


def evaluations_to(runs: pd.DataFrame, target: float) -> NDArray[np.float64]:
    """Evaluations until each run had reached ``target`` above the minimum; inf if it did not.

    Raises:
        ValueError: ``target`` is none of TARGETS.
    """
    at = TARGETS.index(target)
    return np.array([hits[at] if len(hits) > at else np.inf for hits in runs["hits"]], dtype=float)
