"""Judge the claims of claims.yaml on the tables, each with an interval and a verdict.

python -m experiments.claims.verdicts --tables results/tables --to results/claims
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
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
        named = [str(v) for k, v in self.arguments.items() if k != "plain"]
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


TAKES = "What it would take,"  # before the name of such a thing in the reasons
QUANTIFIERS = ("all", "can", "may", "overall")
FIXED = ("before", "reduced", "known")  # when a claim's parts and thresholds were


@dataclass(frozen=True)
class Statement:
    """What a claim says of some parts together, by its quantifier.

    all       holds if every part holds; it is about one part, since each of them is a statement
    can, may  holds if one part holds, fails if all fail
    overall   holds if more than half of the parts hold, fails if half of them fail
    """

    quantifier: str
    setting: str  # at which it is judged, if it says so
    parts: tuple[Part, ...]

    def holds(self, outcomes: Sequence[bool | None]) -> bool | None:
        """Whether it does, given what came of its parts; None if that is inconclusive."""
        held, failed, n = outcomes.count(True), outcomes.count(False), len(outcomes)
        if self.quantifier == "overall":
            return True if 2 * held > n else False if 2 * failed >= n else None
        if self.quantifier in ("can", "may"):
            return True if held else False if failed == n else None
        return True if held == n else False if failed else None

    @property
    def asked(self) -> str:
        """How many of its parts have to hold."""
        n = len(self.parts)
        least = n // 2 + 1 if self.quantifier == "overall" else 1
        return f"{self.quantifier}: {least} of {n} suffices"


def statements(claim: dict[str, Any]) -> Iterator[Statement]:
    """The statements of a claim. A list among the arguments of an entry stands for one part each,
    which are one statement each if the quantifier is ``all``, and one together otherwise.
    """
    for entry in claim["parts"]:
        settings = dict(entry)
        measure = settings.pop("measure")
        quantifier = settings.pop("quantifier", claim["quantifier"])
        setting = settings.pop("setting", "")
        low, high = settings.pop("at_least", None), settings.pop("at_most", None)
        choices = [v if isinstance(v, list) else [v] for v in settings.values()]
        entries = tuple(
            Part(measure, dict(zip(settings, values, strict=True)), low, high)
            for values in product(*choices)
        )
        together = [entries] if quantifier != "all" else [(part,) for part in entries]
        yield from (Statement(quantifier, setting, some) for some in together)


def parts(claim: dict[str, Any]) -> Iterator[Part]:
    """The parts of all its statements."""
    for statement in statements(claim):
        yield from statement.parts


def every_part(claim: dict[str, Any]) -> Iterator[Part]:
    """Its parts, and those of its readings and of what it would take."""
    for changes in ({}, *claim.get("readings", {}).values(), *claim.get("takes", {}).values()):
        yield from parts(read_as(claim, changes))


def read_as(claim: dict[str, Any], changes: dict[str, Any] | list[Any]) -> dict[str, Any]:
    """The claim with other entries, or with other arguments in those whose measure takes them."""
    if isinstance(changes, list):
        return claim | {"parts": changes}

    def other(entry: dict[str, Any]) -> dict[str, Any]:
        taken = signature(MEASURES[entry["measure"]]).parameters
        return entry | {key: value for key, value in changes.items() if key in taken}

    return claim | {"parts": [other(entry) for entry in claim["parts"]]}


@dataclass(frozen=True)
class Judged:
    """A statement, what came of it, and of its parts: an estimate, or what is missing for it."""

    statement: Statement
    found: list[tuple[Part, Estimate | str]]

    @classmethod
    def of(cls, statement: Statement, tables: Tables) -> Judged:
        """A statement, judged on the tables."""
        found: list[tuple[Part, Estimate | str]] = []
        for part in statement.parts:
            try:
                found.append((part, part.estimate(tables)))
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


def outcome(part: Part, found: Estimate | str) -> bool | None:
    """Whether a part holds, None without runs."""
    return part.holds(found) if isinstance(found, Estimate) else None


@dataclass(frozen=True)
class Judgement:
    """The statements of a claim, judged."""

    statements: list[Judged]

    @classmethod
    def of(cls, claim: dict[str, Any], tables: Tables) -> Judgement:
        """Of a claim, judged on the tables."""
        return cls([Judged.of(statement, tables) for statement in statements(claim)])

    @property
    def verdict(self) -> str:
        """All statements hold: reproduced. Some hold and some fail: partly. All fail: not
        reproduced. Otherwise inconclusive: the runs are too few; or not run, if there are none.
        """
        outcomes = [judged.holds for judged in self.statements]
        if True in outcomes and False in outcomes:
            return "partly"
        if None in outcomes:
            some = any(
                isinstance(f, Estimate) for judged in self.statements for _, f in judged.found
            )
            return "inconclusive" if some else "not run"
        return "reproduced" if True in outcomes else "not reproduced"

    @property
    def holding(self) -> str:
        """How many statements hold, of how many."""
        held = sum(judged.holds is True for judged in self.statements)
        return f"{held} of {len(self.statements)}"

    @property
    def shown(self) -> str:
        """How many hold; of a single part its numbers too."""
        pairs = [pair for judged in self.statements for pair in judged.found]
        if len(pairs) != 1:
            return self.holding
        part, found = pairs[0]
        if isinstance(found, str) or np.isnan(found.value):
            return self.holding
        return f"{self.holding}, {_shown(part, found)}"

    @property
    def settings(self) -> dict[str, Judgement]:
        """By the setting that its statements are judged at, if they say so."""
        named = dict.fromkeys(j.statement.setting for j in self.statements if j.statement.setting)
        return {
            name: Judgement([j for j in self.statements if j.statement.setting == name])
            for name in named
        }


def judge(claim: dict[str, Any], tables: Tables) -> dict[str, Any]:
    """The row of a claim: its verdict, the reasons, and the numbers of one part: of the first
    statement that fails; if none fails, of the first inconclusive one; otherwise of the first.

    Where a claim is judged at several settings, or the text leaves open what it is about, the
    reasons include the verdict at each setting, with each of its other ``readings`` (the arguments
    that they change, or their entries, by name), and with what it would take.
    """
    row = {key: claim[key] for key in ("id", "claim", "place", "figure")}
    its = Judgement.of(claim, tables)
    missing = [f for j in its.statements for _, f in j.found if isinstance(f, str)]
    lacking = "; ".join(dict.fromkeys(missing))
    found = [
        (part, estimate)
        for of in (False, None, True)
        for judged in its.statements
        if judged.holds is of
        for asked in (of, False, None, True)
        for part, estimate in judged.with_outcome(asked)
    ]
    if not found:
        empty = dict.fromkeys(("measure", "value", "low", "high", "threshold"))
        return row | empty | {"verdict": its.verdict, "why": lacking}
    why = [claim["why"], f"{its.holding} parts hold."]
    why += [_together(judged) for judged in its.statements if len(judged.found) > 1]
    open_parts = [pair for j in its.statements if j.holds is None for pair in j.with_outcome(None)]
    for word, some in (
        ("Fails", [p for j in its.statements if j.holds is False for p in j.with_outcome(False)]),
        ("Too few runs to tell", [(p, e) for p, e in open_parts if not np.isnan(e.value)]),
    ):
        if some:
            why.append(f"{word}: {'; '.join(_shown(*pair) for pair in some)}.")
    if undefined := [str(part) for part, e in open_parts if np.isnan(e.value)]:
        why.append(f"Has no value: {'; '.join(undefined)}.")
    if lacking:
        why.append(f"Not run: {lacking}.")
    others = {name[0].upper() + name[1:]: judged for name, judged in its.settings.items()}
    for word, key in (("With", "readings"), (TAKES, "takes")):
        for name, changes in claim.get(key, {}).items():
            others[f"{word} {name}"] = Judgement.of(read_as(claim, changes), tables)
    why += [f"{name}: {other.verdict}, {other.shown}." for name, other in others.items()]
    part, e = found[0]
    numbers = {"value": e.value, "low": e.low, "high": e.high, "threshold": part.threshold}
    return row | numbers | {"measure": str(part), "verdict": its.verdict, "why": " ".join(why)}


def _shown(part: Part, e: Estimate) -> str:
    """A part with its value and interval."""
    return f"{part} = {e.value:.3g} [{e.low:.3g}, {e.high:.3g}]"


def _together(judged: Judged) -> str:
    """How many parts of a statement hold, and how many have to."""
    held = sum(outcome(part, found) is True for part, found in judged.found)
    its = judged.statement
    where = f" {its.setting}" if its.setting else ""
    cases = f"{held} of {len(judged.found)} cases of {its.parts[0].measure} hold{where}"
    return f"{cases} ({its.asked})."


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
