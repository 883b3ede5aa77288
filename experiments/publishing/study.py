"""The results of a study for its pages: verdicts, tables, captions, and the names of things."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd

from experiments.claims import verdicts
from experiments.config import Experiment
from experiments.plan import Plan
from experiments.publishing.symbols import plain
from experiments.tables.reader import Missing, Tables
from figures.commands import MANIFEST


@dataclass(frozen=True)
class Study:
    """What is in a folder of results, and the config that it was made with."""

    folder: Path
    plan: Plan

    @cached_property
    def claims(self) -> pd.DataFrame:
        """A row per claim, as the rule of claims wrote it."""
        return pd.read_csv(self.folder / "claims.csv")

    @cached_property
    def verdicts(self) -> dict[int, verdicts.Verdict]:
        """The claims by number, judged on the estimates of their parts that the rule wrote."""
        return verdicts.kept(verdicts.read_parts(self.folder))

    @cached_property
    def tables(self) -> Tables:
        """The tables of runs and of the theory."""
        return Tables(self.folder / "tables")

    @cached_property
    def experiments(self) -> dict[str, Experiment]:
        """The experiments that have a table of runs."""
        return {
            name: experiment
            for name, experiment in self.plan.experiments.items()
            if (self.folder / "tables" / name / "runs.parquet").is_file()
        }

    def csv(self, experiment: str, name: str) -> pd.DataFrame:
        """A table of an experiment, or of the theory; empty if there is none."""
        file = self.folder / "tables" / experiment / f"{name}.csv"
        return pd.read_csv(file) if file.is_file() else pd.DataFrame()

    def optimiser(self, experiment: str, name: str) -> str:
        """What pictures and tables call an optimiser."""
        known = self.plan.experiments.get(experiment)
        return plain(known.labels.get(name, name) if known else name)

    def titles(self, experiment: str) -> dict[str, str]:
        """The titles of an experiment's problems, in the order of the config."""
        try:
            runs = self.tables.table(experiment)
        except Missing:
            return {}
        pairs = runs[["problem", "title"]].drop_duplicates().itertuples(index=False)
        return {problem: plain(title) for problem, title in pairs}

    def theory_titles(self, table: str) -> dict[str, str]:
        """The titles of the problems of a table of the theory."""
        rows = self.csv("theory", table)
        if not {"problem", "title"} <= set(rows.columns):
            return {}
        pairs = rows[["problem", "title"]].drop_duplicates().itertuples(index=False)
        return {problem: plain(title) for problem, title in pairs}

    def title(self, figure: str) -> str:
        """What a figure is called: "Figure 1", or what the config says."""
        return plain(self.plan.title(figure)) if figure in self.plan.figures else _of(figure)

    def caption(self, figure: str) -> list[str]:
        """The paragraphs of a figure's caption, but for the link to the manifest beside it; empty
        if it was not drawn.
        """
        file = self.folder / "figures" / f"{figure}.md"
        text = file.read_text(encoding="utf-8").strip() if file.is_file() else ""
        paragraphs = (paragraph.strip() for paragraph in text.split("\n\n"))
        return [plain(words) for words in paragraphs if words not in ("", MANIFEST)]

    @property
    def figures(self) -> list[str]:
        """The figures that were drawn, in the order of the config, those of the theory last."""
        names = [*self.plan.figures, "film", *(f"theory_{q}" for q in self.plan.theory)]
        return [name for name in names if self.caption(name)]


def _of(figure: str) -> str:
    """The title of a figure that is no entry of the config's figures."""
    return {
        "film": "A trained policy",
        "theory_regret": "Average regret against T",
        "theory_growth": "Average regret against d",
        "theory_variance": "Second moment of the gradient estimate",
        "theory_orthogonal": "Orthogonal over independent samples",
        "theory_unbiased": "Bias of the gradient estimates",
        "theory_trust_region": "Closed form of the trust-region problem",
        "theory_gap": "The lemma behind Theorem 5",
        "theory_update_size": "Size of a step against σ",
        "theory_hyper_parameters": "Number of hyper-parameters",
    }.get(figure, figure.replace("_", " ").capitalize())
