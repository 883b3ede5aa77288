"""What findings ask of the tables of an experiment, and lists in words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from experiments.publishing.study import Study
from experiments.tables.reader import Missing, evaluations_to
from experiments.tables.summaries import DECADES

TARGET = DECADES[-1]
MOST = 0.8  # of the seeds, as claims ask
INTEGERS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


@dataclass(frozen=True)
class Cells:
    """Questions to the tables of one experiment."""

    study: Study
    experiment: str

    @property
    def titles(self) -> dict[str, str]:
        """The problems by their titles.

        Raises:
            Missing: there are none.
        """
        titles = self.study.titles(self.experiment)
        if not titles:
            raise Missing(f"no table {self.experiment}")
        return titles

    @property
    def optimisers(self) -> list[str]:
        """The optimisers by name."""
        return list(self.study.tables.table(self.experiment)["algorithm"].unique())

    def runs(self, problem: str, algorithm: str) -> pd.DataFrame:
        """The runs of a cell."""
        return self.study.tables.runs(self.experiment, problem, algorithm)

    def reached(self, problem: str, algorithm: str) -> int:
        """How many runs reached the target."""
        return int(np.isfinite(evaluations_to(self.runs(problem, algorithm), TARGET)).sum())

    def solves(self, problem: str, algorithm: str) -> bool:
        """Whether all runs of a cell reached the target."""
        return self.reached(problem, algorithm) == len(self.runs(problem, algorithm))

    def solved(self, algorithm: str) -> list[str]:
        """The problems on which all runs reached the target."""
        return [problem for problem in self.titles if self.solves(problem, algorithm)]

    def evaluations(self, problem: str, algorithm: str) -> float:
        """aRT to the target; infinite if no run reached it."""
        fixed = self.study.csv(self.experiment, "fixed_targets")
        cell = fixed[
            (fixed["problem"] == problem)
            & (fixed["algorithm"] == algorithm)
            & (fixed["target"] == TARGET)
        ]
        if cell.empty:
            raise Missing(f"no targets of {algorithm} on {problem} in {self.experiment}")
        return float(cell["aRT"].iloc[0])

    def median(self, problem: str, algorithm: str, column: str) -> float:
        """The median over runs of a column's last value."""
        return float(self.runs(problem, algorithm)[column].median())

    @property
    def budget(self) -> int:
        """Evaluations of a run."""
        return max(
            spec.budget for spec in self.study.plan.experiments[self.experiment].cells.values()
        )


def listed(words: list[str]) -> str:
    """a, b and c."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def integer(value: int) -> str:
    """A small number as a word."""
    return INTEGERS[value] if value < len(INTEGERS) else str(value)


def on(titles: dict[str, str], problems: list[str]) -> str:
    """ "the Ellipsoid and Discus"; "no function" for none."""
    names = [f"the {t}" if (t := titles[p]).endswith("Ellipsoid") else t for p in problems]
    return listed(names) if names else "no function"
