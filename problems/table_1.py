"""Table 1 of the paper's appendix, from the problem records, as Markdown and LaTeX.

python -m problems.table_1 --to results/tables/table_1
"""

from __future__ import annotations

import argparse
from pathlib import Path

import problems
from problems.interface import Problem

NAMES = ("ellipsoid", "discus", "l1_ellipsoid", "l_half_ellipsoid", "levy", "rastrigin10")


def markdown(rows: list[Problem]) -> str:
    """The table in Markdown, the corrections as a list below it."""
    lines = ["| name | function | minimiser |", "|---|---|---|"]
    lines += [f"| {p.title} | ${_in_cell(p.formula)}$ | x = {p.minimiser[0]:g} |" for p in rows]
    notes = [f"- **{p.title}**: {p.correction}" for p in rows if p.correction]
    return "\n".join([*lines, "", "Where this differs from the paper's print:", "", *notes, ""])


def latex(rows: list[Problem]) -> str:
    """The table in LaTeX (booktabs), the corrections as notes below it."""
    lines = [
        f"{p.title}{_mark(p, rows)} & ${p.formula}$ & $x = {p.minimiser[0]:g}$ \\\\" for p in rows
    ]
    notes = [f"{_mark(p, rows)} {p.correction}\\\\" for p in rows if p.correction]
    head = [r"\begin{tabular}{lll}", r"\toprule", r"name & function & minimiser \\", r"\midrule"]
    return "\n".join([*head, *lines, r"\bottomrule", r"\end{tabular}", "", *notes, ""])


def _mark(problem: Problem, rows: list[Problem]) -> str:
    """A footnote mark if the problem has a correction."""
    corrected = [p.title for p in rows if p.correction]
    return f"$^{'abc'[corrected.index(problem.title)]}$" if problem.correction else ""


def _in_cell(formula: str) -> str:
    """A formula without bars, which would end a Markdown cell."""
    return formula.replace("|x_i|", r"\lvert x_i \rvert")


def main(arguments: list[str] | None = None) -> None:
    """Write the table as .md and .tex."""
    parser = argparse.ArgumentParser(
        prog="python -m problems.table_1", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--to", type=Path, required=True, help="path without suffix")
    stem = parser.parse_args(arguments).to
    rows = [problems.build(name, {"dim": 2}) for name in NAMES]
    stem.parent.mkdir(parents=True, exist_ok=True)
    stem.with_suffix(".md").write_text(markdown(rows), encoding="utf-8")
    stem.with_suffix(".tex").write_text(latex(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
