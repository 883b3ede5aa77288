"""Does another reading of the text change a verdict? The claims with one optimiser replaced.

    python -m experiments.claims.variants --tables results/tables --of figure_1 --by variants \\
        --replace es_sgd_unscaled=es active_cma_es=cma_es --to results/variants

Compared on the seeds that both experiments have, by the values of the measures and not by their
intervals: with half of the runs many verdicts would be inconclusive, and the question is whether
the values meet the threshold.
"""

from __future__ import annotations

import sys
from typing import Any

import pandas as pd

from experiments.claims import commands
from experiments.claims.statements import Part, parts, written
from experiments.tables import files
from experiments.tables.estimates import Estimate
from experiments.tables.reader import Missing, Tables

COLUMNS = ("reading", "replaces", "id", "part", "threshold", "paper", "other", "changes")


def compare(
    tables: Tables, claims: list[dict[str, Any]], of: str, by: str, readings: dict[str, str]
) -> pd.DataFrame:
    """A row for each part of a claim that is about an optimiser with another reading.

    Args:
        tables: of both experiments.
        claims: as in claims.yaml.
        of: the experiment with the paper's reading.
        by: the experiment with the others.
        readings: their names, each with the optimiser in ``of`` whose place it takes.
    """
    rows = []
    for reading, algorithm in readings.items():
        try:
            paper, other = replaced(tables, of, by, reading, algorithm)
        except Missing as missing:  # it has not been run yet
            print(f"left out: {missing}", file=sys.stderr)
            continue
        for claim in claims:
            for part in parts(claim):
                about = {part.arguments.get(key) for key in ("algorithm", "than")}
                if part.arguments.get("experiment") != of or algorithm not in about:
                    continue
                try:
                    a, b = part.estimate(paper).value, part.estimate(other).value
                except Missing:  # a function that one of the two was not run on
                    continue
                changes = _meets(part, a) != _meets(part, b)
                rows.append(
                    (reading, algorithm, claim["id"], str(part), part.threshold, a, b, changes)
                )
    return pd.DataFrame(rows, columns=list(COLUMNS))


def replaced(
    tables: Tables, of: str, by: str, reading: str, algorithm: str
) -> tuple[Tables, Tables]:
    """The tables on the runs, a function and a seed each, that the reading has too, and the same
    with its runs in the place of the optimiser's.

    Raises:
        Missing: there are no runs of the reading.
    """
    old, new = tables.table(of), tables.table(by)
    new = new[new["algorithm"] == reading]
    here, there = (pd.MultiIndex.from_frame(t[["problem", "seed"]]) for t in (old, new))
    old, new = old[here.isin(there)], new[there.isin(here)]
    if new.empty:
        raise Missing(f"no runs of {reading} in {by}")
    others = old[old["algorithm"] != algorithm]
    other = pd.concat([others, new.assign(algorithm=algorithm)], ignore_index=True)
    return tables.but(of, old), tables.but(of, other)


def _meets(part: Part, value: float) -> bool:
    return bool(part.holds(Estimate(value, value, value)))


def markdown(table: pd.DataFrame) -> str:
    """What changes, reading by reading."""
    lines = [
        "Parts of claims that the paper's reading of the text and another one put on different "
        "sides of the threshold.",
        "",
        "| reading | in place of | parts of claims about it | claim | changes | the paper's "
        "| this one | threshold |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for (reading, replaces), rows in table.groupby(["reading", "replaces"], sort=False):
        changed = rows[rows["changes"]]
        if changed.empty:
            lines.append(f"| {reading} | {replaces} | {len(rows)} | — | none | | | |")
        for row in changed.itertuples():
            lines.append(
                f"| {reading} | {replaces} | {len(rows)} | {row.id} | `{row.part}` "
                f"| {row.paper:.3g} | {row.other:.3g} | {row.threshold} |"
            )
    return "\n".join([*lines, ""])


def main(arguments: list[str] | None = None) -> None:
    """Write the comparison as .csv and .md."""
    args = commands.variants_parser(__doc__).parse_args(arguments)
    readings = dict(pair.split("=") for pair in args.replace)
    table = compare(Tables(args.tables), list(written().values()), args.of, args.by, readings)
    files.write(table, markdown(table), args.to)


if __name__ == "__main__":
    main()
