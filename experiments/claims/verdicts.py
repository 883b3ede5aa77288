"""Judge the claims of claims.yaml on the tables, each with an interval and a verdict.

python -m experiments.claims.verdicts --tables results/tables --to results/claims
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from inspect import signature
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml

from experiments.claims import commands
from experiments.claims.measures import MEASURES
from experiments.tables import files
from experiments.tables.estimates import Estimate
from experiments.tables.reader import Missing, Tables

CLAIMS = Path(__file__).with_name("claims.yaml")
MANIFEST = "Runs, machine and versions: [manifest.json](manifest.json)."
COLUMNS = (
    "id", "claim", "place", "measure", "value", "low", "high", "threshold", "verdict", "why",
    "figure",
)  # fmt: skip


@dataclass(frozen=True)
class Part:
    """One part of a claim: what is measured, on what, and the threshold."""

    measure: str
    arguments: dict[str, Any]
    low: float | None  # at least
    high: float | None  # at most

    def __str__(self) -> str:
        named = [str(v) for k, v in self.arguments.items() if k not in ("experiment", "plain")]
        return f"{self.measure}({', '.join(named)})"

    @property
    def threshold(self) -> str:
        return " and ".join(
            f"{sign} {bound:g}"
            for sign, bound in (("≥", self.low), ("≤", self.high))
            if bound is not None
        )

    def estimate(self, tables: Tables) -> Estimate:
        """The value with its interval.

        Raises:
            Missing: a table that it needs is not there.
        """
        return MEASURES[self.measure](tables, **self.arguments)

    def holds(self, e: Estimate) -> bool | None:
        """True if the whole interval meets the threshold, False if none of it does, None if it is
        inconclusive: too few runs.
        """
        low = -np.inf if self.low is None else self.low
        high = np.inf if self.high is None else self.high
        if low <= e.low and e.high <= high:
            return True
        return False if e.high < low or e.low > high else None


def parts(claim: dict[str, Any]) -> Iterator[Part]:
    """The parts of a claim: a list among the arguments stands for one part each."""
    for entry in claim["parts"]:
        settings = dict(entry)
        measure = settings.pop("measure")
        low, high = settings.pop("at_least", None), settings.pop("at_most", None)
        choices = [v if isinstance(v, list) else [v] for v in settings.values()]
        for values in product(*choices):
            yield Part(measure, dict(zip(settings, values, strict=True)), low, high)


def read_as(claim: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """The claim with other arguments, in those of its parts whose measure takes them."""

    def other(entry: dict[str, Any]) -> dict[str, Any]:
        taken = signature(MEASURES[entry["measure"]]).parameters
        return entry | {key: value for key, value in changes.items() if key in taken}

    return claim | {"parts": [other(entry) for entry in claim["parts"]]}


@dataclass(frozen=True)
class Judgement:
    """The parts of a claim that hold, that fail, and that are inconclusive (too few runs, or no
    value), each with its estimate; and those without runs, each with what is missing.
    """

    held: list[tuple[Part, Estimate]]
    failed: list[tuple[Part, Estimate]]
    unclear: list[tuple[Part, Estimate]]
    missing: list[tuple[Part, str]]

    @classmethod
    def of(cls, claim: dict[str, Any], tables: Tables) -> Judgement:
        """The parts of a claim, judged on the tables."""
        judgement = cls([], [], [], [])
        by_outcome = {True: judgement.held, False: judgement.failed, None: judgement.unclear}
        for part in parts(claim):
            try:
                estimate = part.estimate(tables)
            except Missing as missing:
                judgement.missing.append((part, str(missing)))
            else:
                by_outcome[part.holds(estimate)].append((part, estimate))
        return judgement

    @property
    def verdict(self) -> str:
        """Every part holds: reproduced. Some hold and some fail: partly. Every part fails: not
        reproduced. Otherwise not tested: there are too few runs, or none.
        """
        if self.held and self.failed:
            return "partly"
        if self.unclear or self.missing:
            return "not tested"
        return "reproduced" if self.held else "not reproduced"

    @property
    def holding(self) -> str:
        """How many parts hold, of how many."""
        others = len(self.failed) + len(self.unclear) + len(self.missing)
        return f"{len(self.held)} of {len(self.held) + others}"


def judge(claim: dict[str, Any], tables: Tables) -> dict[str, Any]:
    """The row of a claim: its verdict, the reasons, and the numbers of one part: the first that
    fails; if none fails, the first inconclusive one; otherwise the first.

    Where the text leaves open what a claim is about, the claim has other ``readings``, by name: the
    arguments that they change. The reasons include their verdicts.
    """
    row = {key: claim[key] for key in ("id", "claim", "place", "figure")}
    its = Judgement.of(claim, tables)
    lacking = "; ".join(dict.fromkeys(reason for _, reason in its.missing))
    if not (found := its.failed + its.unclear + its.held):
        empty = dict.fromkeys(("measure", "value", "low", "high", "threshold"))
        return row | empty | {"verdict": its.verdict, "why": lacking}
    why = [claim["why"], f"{its.holding} parts hold."]
    few = [(part, e) for part, e in its.unclear if not np.isnan(e.value)]
    for word, some in (("Fails", its.failed), ("Too few runs to tell", few)):
        if some:
            shown = "; ".join(
                f"{part} = {e.value:.3g} [{e.low:.3g}, {e.high:.3g}]" for part, e in some
            )
            why.append(f"{word}: {shown}.")
    if undefined := [str(part) for part, e in its.unclear if np.isnan(e.value)]:
        why.append(f"Has no value: {'; '.join(undefined)}.")
    if lacking:
        why.append(f"Not run: {lacking}.")
    for reading, changes in claim.get("readings", {}).items():
        judged = Judgement.of(read_as(claim, changes), tables)
        why.append(f"With {reading}: {judged.verdict}, {judged.holding}.")
    part, e = found[0]
    numbers = {"value": e.value, "low": e.low, "high": e.high, "threshold": part.threshold}
    return row | numbers | {"measure": str(part), "verdict": its.verdict, "why": " ".join(why)}


def markdown(table: pd.DataFrame) -> str:
    """The claims as a Markdown table, the reasons below it, and what the results come from."""
    lines = [
        "| | claim | verdict | measure | value (95 %) | threshold |",
        "|---|---|---|---|---|---|",
    ]
    for row in table.to_dict("records"):
        tested = isinstance(row["measure"], str)
        value = f"{row['value']:.3g} ({row['low']:.3g} to {row['high']:.3g})" if tested else ""
        measure = f"`{row['measure']}`" if tested else ""
        lines.append(
            f"| {row['id']} | {row['claim']} | **{row['verdict']}** | {measure} | {value} "
            f"| {row['threshold'] if tested else ''} |"
        )
    reasons = [
        f"- **{row['id']}** ({row['place']}). {row['why']}" for row in table.to_dict("records")
    ]
    return "\n".join([*lines, "", *reasons, "", MANIFEST, ""])


def main(arguments: list[str] | None = None) -> None:
    """Write the claims as .csv and .md."""
    args = commands.verdicts_parser(__doc__).parse_args(arguments)
    claims = yaml.safe_load(CLAIMS.read_text(encoding="utf-8"))
    tables = Tables(args.tables)
    table = pd.DataFrame([judge(claim, tables) for claim in claims], columns=list(COLUMNS))
    files.write(table, markdown(table), args.to)
    print(table["verdict"].value_counts().to_string(), file=sys.stderr)


if __name__ == "__main__":
    main()
