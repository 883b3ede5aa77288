"""Judge the claims of claims.yaml on the tables, each with an interval and a verdict.

python -m experiments.claims.verdicts --tables results/tables --to results/claims
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from experiments.claims import commands
from experiments.claims.statements import Part, Statement, read_as, statements, written
from experiments.tables import files
from experiments.tables.estimates import Estimate
from experiments.tables.reader import Missing, Tables

MANIFEST = "Runs, machine and versions: [manifest.json](manifest.json)."
COLUMNS = (
    "id", "claim", "place", "measure", "value", "low", "high", "threshold", "verdict", "why",
    "figure",
)  # fmt: skip
PARTS = (
    "id", "of", "name", "statement", "quantifier", "setting", "part", "value", "low", "high",
    "threshold", "holds", "missing",
)  # fmt: skip
PARTS_FILE = "claims_parts.csv"  # beside the table of claims
HEADINGS = {"setting": "", "reading": "With ", "takes": "What it would take, "}
WORDS = {True: "yes", False: "no", None: "too few runs"}  # of a part, in the table of parts

Estimates = Callable[[Part], Estimate]  # raises Missing where a table is not there


@dataclass(frozen=True)
class Judged:
    """A statement, what came of it, and of its parts: an estimate, or what is missing for it."""

    statement: Statement
    found: list[tuple[Part, Estimate | str]]

    @classmethod
    def of(cls, statement: Statement, estimate: Estimates) -> Judged:
        """A statement, judged on the estimates of its parts."""
        found: list[tuple[Part, Estimate | str]] = []
        for part in statement.parts:
            try:
                found.append((part, estimate(part)))
            except Missing as missing:
                found.append((part, str(missing)))
        return cls(statement, found)

    @property
    def holds(self) -> bool | None:
        """Whether the statement does; None if there are too few runs, or none."""
        return self.statement.holds([outcome(part, found) for part, found in self.found])

    def with_outcome(self, asked: bool | None) -> list[tuple[Part, Estimate]]:
        """Its parts of which this came, each with its estimate."""
        return [
            (part, found)
            for part, found in self.found
            if isinstance(found, Estimate) and part.holds(found) is asked
        ]

    @property
    def together(self) -> str:
        """How many of its parts hold, and how many have to."""
        held = sum(outcome(part, found) is True for part, found in self.found)
        its = self.statement
        where = f" {its.setting}" if its.setting else ""
        cases = f"{held} of {len(self.found)} cases of {its.parts[0].measure} hold{where}"
        return f"{cases} ({its.asked})."


def outcome(part: Part, found: Estimate | str) -> bool | None:
    """Whether a part holds, None without runs."""
    return part.holds(found) if isinstance(found, Estimate) else None


@dataclass(frozen=True)
class Judgement:
    """The statements of a claim, judged."""

    statements: list[Judged]

    @classmethod
    def of(cls, claim: dict[str, Any], estimate: Estimates) -> Judgement:
        """Of a claim, judged on the estimates of its parts."""
        return cls([Judged.of(statement, estimate) for statement in statements(claim)])

    @property
    def verdict(self) -> str:
        """All statements hold: reproduced. Some hold and some fail: partly. All fail: not
        reproduced. Otherwise inconclusive: the runs are too few; or not run, if there are none.
        """
        outcomes = [judged.holds for judged in self.statements]
        if True in outcomes and False in outcomes:
            return "partly"
        if None in outcomes:
            return "inconclusive" if self.ran else "not run"
        return "reproduced" if True in outcomes else "not reproduced"

    @property
    def ran(self) -> bool:
        """Whether any part has an estimate."""
        return any(isinstance(f, Estimate) for judged in self.statements for _, f in judged.found)

    @property
    def holding(self) -> str:
        """How many statements hold, of how many."""
        held = sum(judged.holds is True for judged in self.statements)
        return f"{held} of {len(self.statements)}"

    @property
    def only(self) -> tuple[Part, Estimate] | None:
        """Its part with its estimate, if it is a single one that has a value."""
        pairs = [pair for judged in self.statements for pair in judged.found]
        part, found = pairs[0]
        if len(pairs) > 1 or isinstance(found, str) or np.isnan(found.value):
            return None
        return part, found

    @property
    def deciding(self) -> tuple[Part, Estimate] | None:
        """A part of the first statement that fails; if none fails, of the first inconclusive one;
        otherwise of the first. None if nothing was run.
        """
        return next(
            (
                pair
                for of in (False, None, True)
                for judged in self.statements
                if judged.holds is of
                for asked in (of, False, None, True)
                for pair in judged.with_outcome(asked)
            ),
            None,
        )

    @property
    def failing(self) -> list[tuple[Part, Estimate]]:
        """The parts that fail, of the statements that do."""
        return [p for j in self.statements if j.holds is False for p in j.with_outcome(False)]

    @property
    def open(self) -> list[tuple[Part, Estimate]]:
        """The inconclusive parts of such statements; those that have no value too."""
        return [p for j in self.statements if j.holds is None for p in j.with_outcome(None)]

    @property
    def lacking(self) -> list[str]:
        """What is missing for parts that were not run, each thing once."""
        missing = [f for j in self.statements for _, f in j.found if isinstance(f, str)]
        return list(dict.fromkeys(missing))

    @property
    def settings(self) -> dict[str, Judgement]:
        """By the setting that its statements are judged at, if they say so."""
        named = dict.fromkeys(j.statement.setting for j in self.statements if j.statement.setting)
        return {
            name: Judgement([j for j in self.statements if j.statement.setting == name])
            for name in named
        }


class Beside(NamedTuple):
    """What is judged beside a claim: at one of its settings, in another reading, or what it would
    take.
    """

    kind: str  # of HEADINGS
    name: str
    its: Judgement

    @property
    def heading(self) -> str:
        text = HEADINGS[self.kind] + self.name
        return text[0].upper() + text[1:]


@dataclass(frozen=True)
class Verdict:
    """A claim, judged: as the paper states it, and what is judged beside it."""

    claim: dict[str, Any]
    its: Judgement
    beside: list[Beside]

    @classmethod
    def of(cls, claim: dict[str, Any], estimate: Estimates) -> Verdict:
        """Of a claim of claims.yaml. Where its text leaves open what it is about, its ``readings``
        are judged too (the arguments that they change, or their entries, by name), and where it
        does not hold, what it would take.
        """
        its = Judgement.of(claim, estimate)
        beside = [Beside("setting", name, part) for name, part in its.settings.items()]
        for kind, key in (("reading", "readings"), ("takes", "takes")):
            beside += [
                Beside(kind, name, Judgement.of(read_as(claim, changes), estimate))
                for name, changes in claim.get(key, {}).items()
            ]
        return cls(claim, its, beside)

    @property
    def row(self) -> dict[str, Any]:
        """Its row: the verdict, the reasons, and the numbers of the part that decides."""
        row = {key: self.claim[key] for key in ("id", "claim", "place", "figure")}
        row |= {"verdict": self.its.verdict, "why": self.why}
        if self.its.deciding is None:
            return row | dict.fromkeys(("measure", "value", "low", "high", "threshold"))
        part, e = self.its.deciding
        numbers = {"value": e.value, "low": e.low, "high": e.high, "threshold": part.threshold}
        return row | numbers | {"measure": str(part)}

    @property
    def why(self) -> str:
        """The reasons as one text."""
        lacking = "; ".join(self.its.lacking)
        if not self.its.ran:
            return lacking
        why = [self.claim["why"], f"{self.its.holding} parts hold."]
        why += [judged.together for judged in self.its.statements if len(judged.found) > 1]
        valued = [(part, e) for part, e in self.its.open if not np.isnan(e.value)]
        for word, some in (("Fails", self.its.failing), ("Too few runs to tell", valued)):
            if some:
                why.append(f"{word}: {'; '.join(_shown(*pair) for pair in some)}.")
        if undefined := [str(part) for part, e in self.its.open if np.isnan(e.value)]:
            why.append(f"Has no value: {'; '.join(undefined)}.")
        if lacking:
            why.append(f"Not run: {lacking}.")
        for heading, other in ((b.heading, b.its) for b in self.beside):
            numbers = f", {_shown(*other.only)}" if other.only else ""
            why.append(f"{heading}: {other.verdict}, {other.holding}{numbers}.")
        return " ".join(why)

    @property
    def parts(self) -> Iterator[dict[str, Any]]:
        """A row for each of its parts, and for those of what is judged beside it; its settings are
        a column.
        """
        others = [(b.kind, b.name, b.its) for b in self.beside if b.kind != "setting"]
        for of, name, judgement in [("claim", "", self.its), *others]:
            for number, judged in enumerate(judgement.statements, start=1):
                its = judged.statement
                row = {"id": self.claim["id"], "of": of, "name": name, "statement": number}
                row |= {"quantifier": its.quantifier, "setting": its.setting}
                for part, found in judged.found:
                    of_part = {"part": str(part), "threshold": part.threshold}
                    if isinstance(found, Estimate):
                        holds = {"holds": WORDS[part.holds(found)], "missing": ""}
                        yield row | of_part | vars(found) | holds
                    else:
                        yield row | of_part | {"holds": "not run", "missing": found}


def _shown(part: Part, e: Estimate) -> str:
    """A part with its value and interval."""
    return f"{part} = {e.value:.3g} [{e.low:.3g}, {e.high:.3g}]"


def kept(parts: pd.DataFrame) -> dict[int, Verdict]:
    """The verdicts by number, from the table of parts; a part of claims.yaml that it lacks counts
    as not run.
    """
    claims = written()
    found = parts.drop_duplicates(["id", "part"]).set_index(["id", "part"]).to_dict("index")

    def judge(claim: dict[str, Any]) -> Verdict:
        def estimate(part: Part) -> Estimate:
            row = found.get((claim["id"], str(part)))
            if row is None or row["missing"]:
                raise Missing(row["missing"] if row else f"{part} is newer than the verdicts")
            return Estimate(row["value"], row["low"], row["high"])

        return Verdict.of(claim, estimate)

    return {number: judge(claims[number]) for number in parts["id"].unique() if number in claims}


def read_parts(folder: Path) -> pd.DataFrame:
    """The table of parts in a folder of results."""
    texts = dict.fromkeys(("name", "setting", "missing"), str)
    return pd.read_csv(folder / PARTS_FILE, dtype=texts).fillna(dict.fromkeys(texts, ""))


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
    """Write the claims as .csv and .md, and their parts beside them."""
    args = commands.verdicts_parser(__doc__).parse_args(arguments)
    tables = Tables(args.tables)
    verdicts = [
        Verdict.of(claim, lambda part: part.estimate(tables)) for claim in written().values()
    ]
    table = pd.DataFrame([verdict.row for verdict in verdicts], columns=list(COLUMNS))
    files.write(table, markdown(table), args.to)
    rows = [row for verdict in verdicts for row in verdict.parts]
    files.write_csv(pd.DataFrame(rows, columns=list(PARTS)), args.to.with_name(PARTS_FILE))
    print(table["verdict"].value_counts().to_string(), file=sys.stderr)


if __name__ == "__main__":
    main()
