"""The page about the field: pictures, one table, and sentences whose numbers come from it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from figures.ecdf import ALL

PICTURES = {  # of the figures of the config's section, in the order of the page
    "bbob_5": "bbob, d = 5, all 24 functions",
    "bbob_5_groups": "bbob, d = 5, by group",
    "bbob_20": "bbob, d = 20, all 24 functions",
    "bbob_20_groups": "bbob, d = 20, by group",
    "pbo_64": "Pseudo-Boolean problems, n = 64",
    "pbo_100": "Pseudo-Boolean problems, n = 100",
}


class Table:
    """Lookups in the table of standings."""

    def __init__(self, rows: pd.DataFrame, labels: Mapping[str, Mapping[str, str]]) -> None:
        self.rows = rows
        self.labels = labels
        self.experiments = list(dict.fromkeys(rows["experiment"]))

    def of(self, experiment: str, algorithm: str, group: str = ALL) -> Any:
        """The row of a method; None if there is none."""
        rows = self.rows
        at = (rows["experiment"] == experiment) & (rows["algorithm"] == algorithm)
        found = rows[at & (rows["group"] == group)]
        return found.iloc[0] if len(found) else None

    def share(self, experiment: str, algorithm: str, group: str = ALL) -> str:
        """The share of the targets in words: "74 %", or "—"."""
        row = self.of(experiment, algorithm, group)
        return "—" if row is None else f"{row['share']:.0%}".replace("%", " %")

    def ratio(self, experiment: str, algorithm: str) -> str:
        """aRT over that of CMA-ES: "2.1 (19)", or "—"."""
        row = self.of(experiment, algorithm)
        if row is None or not row["ratio_of"]:
            return "—"
        return f"{row['ratio']:.2g} ({row['ratio_of']:g})"

    def solved(self, experiment: str, algorithm: str) -> str:
        """The runs that found the optimum: "240/345"."""
        row = self.of(experiment, algorithm)
        return "—" if row is None else f"{row['solved']:g}/{row['runs']:g}"


def page(
    rows: pd.DataFrame,
    checks: pd.DataFrame,
    labels: Mapping[str, Mapping[str, str]],
    cost: Mapping[str, Mapping[str, Any]],
) -> str:
    """The page as Markdown.

    Args:
        rows: of ``standing.standing``.
        checks: of ``golden.golden``.
        labels: by experiment, what each optimiser is called.
        cost: of the runs, from the manifest.
    """
    table = Table(rows, labels)
    lines = [
        "# INGO among the field",
        "",
        "Made by `make field`: the optimisers on the two standard benchmarks of their field, in "
        "the measures of these. COCO's bbob has 24 functions of real vectors, here 15 instances of "
        "each and 10⁴·d evaluations; a run that ends is started anew from another point with twice "
        "the samples, by one rule for all. The PBO suite has 25 problems of bit strings, here 15 "
        "runs of 50·n² evaluations. On bbob all methods start with the paper's N, σ₁ = 2 and a "
        "mean uniform in [−5, 5]^d.",
        "",
        _cost([cell for cells in cost.values() for cell in cells.values()]),
        "",
        *_sentences(table),
        "",
        "## Table",
        "",
        *_standings(table),
        "",
        "## Is the set-up right?",
        "",
        *(_check(check) for check in checks.itertuples()),
        "",
        "## Pictures",
        "",
        *(f"![{words}](figures/{name}.png)\n" for name, words in PICTURES.items()),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _cost(cells: list[Any]) -> str:
    """What the runs took."""
    runs = sum(cell["runs"] for cell in cells)
    hours = sum(cell["cpu_seconds"] or 0.0 for cell in cells) / 3600
    return f"The {runs:,} runs took {hours:.1f} core-hours ([manifest](manifest.json))."


def _standings(table: Table) -> list[str]:
    """The table: a block for each benchmark."""
    real = [e for e in table.experiments if e.startswith("bbob_") and "unseen" not in e]
    binary = [e for e in table.experiments if e.startswith("pbo_")]
    lines = []
    if real:
        dims = [f"d = {e.rpartition('_')[2]}" for e in real]
        lines += [
            "Share of COCO's 51 targets from 10² to 10⁻⁸, over functions and instances; beside it "
            "aRT to 10⁻⁸ over that of CMA-ES, geometric mean over the functions (how many) on "
            "which both get there.",
            "",
            f"| method | {' | '.join(dims)} | " + " | ".join(f"aRT, {d}" for d in dims) + " |",
            "|---|" + "---|" * (2 * len(real)),
        ]
        for name in dict.fromkeys(n for e in real for n in table.labels[e]):
            cells = [table.share(e, name) for e in real] + [table.ratio(e, name) for e in real]
            lines.append(f"| {_label(table, real, name)} | {' | '.join(cells)} |")
    if binary:
        lines += [
            "",
            "Runs that found the optimum, of all on the problems whose optimum is known.",
            "",
            "| method | " + " | ".join(f"n = {e.rpartition('_')[2]}" for e in binary) + " |",
            "|---|" + "---|" * len(binary),
        ]
        for name in dict.fromkeys(n for e in binary for n in table.labels[e]):
            cells = [table.solved(e, name) for e in binary]
            lines.append(f"| {_label(table, binary, name)} | {' | '.join(cells)} |")
    return lines


def _label(table: Table, experiments: list[str], name: str) -> str:
    return next(table.labels[e][name] for e in experiments if name in table.labels[e])


def _check(check: Any) -> str:
    """A number held against a published one."""
    if check.what.startswith("CMA-ES"):
        return (
            f"- {check.what}: our evaluations to 10⁻⁸ are {check.ratio:.2f} times those of the "
            f"published IPOP-CMA-ES (geometric mean over the {check.of} functions that all runs of "
            f"both solve; {check.lowest:.2f} to {check.highest:.2f}), whose N was smaller than the "
            "paper's."
        )
    return (
        f"- {check.what}: {check.ratio:.2f} · e n ln n evaluations; below 1 for large n is known."
    )


def _sentences(table: Table) -> list[str]:
    """Where INGO stands."""
    return []
