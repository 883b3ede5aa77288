"""The claims for reading: verdicts in plain words, measures as a second line, and reasons."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pandas as pd
import yaml

from experiments.claims.verdicts import CLAIMS, Part, every_part, parts
from experiments.publishing.grids import Grid
from experiments.publishing.study import Study
from experiments.publishing.symbols import plain
from experiments.publishing.words import asked, number, sentence
from experiments.tables.estimates import Estimate

ORDER = ("reproduced", "partly", "not reproduced", "inconclusive", "not run")
SEGMENT = re.compile(
    r"(?<=\.) (?=Fails: |Too few runs to tell: |Has no value: |Not run: |\d+ of \d+ (?:parts|cases)"
    rf"|[A-Z][^:]*: (?:{'|'.join(ORDER)}), \d+ of)"
)
JUDGED = re.compile(r"(\w+\([^()]*\)) = (\S+) \[(\S+), (\S+)\]")
READ = re.compile(rf"(.+): ({'|'.join(ORDER)}), (\d+ of \d+)(?:, (.+))?\.$")


class Reading(NamedTuple):
    """Of a setting, another reading, or what a claim would take."""

    name: str
    verdict: str
    holding: str  # 3 of 4
    part: tuple[str, Estimate] | None  # if it is a single one


@dataclass
class Reasons:
    """Why a claim is judged as it is, taken from the text that the rule of claims wrote."""

    how: str  # it is read and measured
    holding: str = ""  # 3 of 4
    parts: dict[str, list[tuple[str, Estimate]]] = field(default_factory=dict)  # by outcome
    other: list[str] = field(default_factory=list)  # what has no value, or was not run
    readings: list[Reading] = field(default_factory=list)

    @classmethod
    def of(cls, why: str, claim: dict[str, Any]) -> Reasons:
        """From the column ``why``."""
        if not why.startswith(claim["why"]):
            return cls(claim["why"], other=[why])
        made = cls(claim["why"])
        for segment in SEGMENT.split("." + why.removeprefix(claim["why"])):
            kind, _, rest = segment.partition(": ")
            if found := re.match(r"(\d+ of \d+) parts hold", segment):
                made.holding = found[1]
            elif kind in ("Fails", "Too few runs to tell"):
                made.parts[kind] = _judged(rest)
            elif found := READ.match(segment):
                single = next(iter(_judged(found[4] or "")), None)
                made.readings.append(Reading(found[1], found[2], found[3], single))
            elif segment.strip("."):
                made.other.append(segment)
        return made


def _judged(text: str) -> list[tuple[str, Estimate]]:
    return [(m[1], Estimate(*map(float, m.groups()[1:]))) for m in JUDGED.finditer(text)]


def written() -> dict[int, dict[str, Any]]:
    """The claims of claims.yaml, by number."""
    claims = yaml.safe_load(CLAIMS.read_text(encoding="utf-8"))
    return {claim["id"]: claim for claim in claims}


def counted(claims: pd.DataFrame) -> str:
    """How often each verdict was reached."""
    counts = claims["verdict"].value_counts()
    said = ", ".join(f"{counts[v]} **{v}**" for v in ORDER if v in counts)
    return f"Of {len(claims)} sentences of the paper: {said}."


def table(study: Study) -> Grid:
    """A row per claim, with one of its parts in words, and what was asked of it."""
    claims = written()
    rows = []
    for c in study.claims.itertuples():
        claim = claims[c.id]
        holding = Reasons.of(c.why, claim).holding
        verdict = f"**{c.verdict}**" + (f", {holding} parts" if holding else "")
        late = "°" if claim["fixed"] == "known" else ""
        rows.append(
            [f"[{c.id}](#claim-{c.id}){late}", plain(c.claim), verdict, _part(study, claim, c)]
        )
    about = (
        "Of each claim one part is shown: the first that fails; if none fails, the first that is "
        "inconclusive because of too few runs; otherwise the first. Intervals are 95 %. °: some of "
        "the parts or thresholds were changed or added once results had been seen."
    )
    return Grid("Verdicts", about, ["", "the paper says", "verdict", "measured"], rows, 4)


def _part(study: Study, claim: dict[str, Any], row: Any) -> str:
    """The part that decides, in words; the measure and its threshold as a small second line."""
    if not isinstance(row.measure, str):
        return "no runs"
    estimate = Estimate(row.value, row.low, row.high)
    return in_words(study, claim, row.measure, estimate)


def in_words(study: Study, claim: dict[str, Any], measure: str, estimate: Estimate) -> str:
    """A part by its text: what was measured and asked, and the measure as a small second line."""
    part = next((p for p in every_part(claim) if str(p) == measure), None)
    if part is None:  # claims.yaml has changed since the verdicts were made
        return f"`{measure}` = {number(estimate.value)}"
    said = sentence(study, part, estimate)
    return f"{said[0].upper()}{said[1:]}; asked: {asked(part)}.<br><sub>`{_code(part)}`</sub>"


def _code(part: Part) -> str:
    return f"{part} {part.threshold}"


def details(study: Study) -> Iterator[str]:
    """An entry per claim: place, how it is read, the parts that fail, the other readings."""
    claims = written()
    for c in study.claims.itertuples():
        claim = claims[c.id]
        reasons = Reasons.of(c.why, claim)
        lines = [
            f'<a id="claim-{c.id}"></a>',
            "",
            f"**{c.id}. {plain(c.claim)}** ({plain(c.place)}) Figure: {_figure(study, c.figure)}.",
            "",
            f"- Verdict: **{c.verdict}**"
            + (f", {reasons.holding} parts hold." if reasons.holding else "."),
            f"- How it is judged: {plain(reasons.how)}",
        ]
        words = {"Fails": "Fails", "Too few runs to tell": "Inconclusive, too few runs"}
        for kind, some in reasons.parts.items():
            lines += [f"- {words[kind]}: {in_words(study, claim, *part)}" for part in some]
        lines += [f"- {plain(text)}" for text in reasons.other]
        for reading in reasons.readings:
            said = f"- {plain(reading.name)}: **{reading.verdict}**, {reading.holding} parts."
            lines.append(
                f"{said} {in_words(study, claim, *reading.part)}" if reading.part else said
            )
        yield "\n".join(lines)


def _figure(study: Study, figure: str) -> str:
    """A link to a figure of a claim, or its title where it has not been drawn."""
    title = study.title(figure)
    return f"[{title}](#{figure})" if figure in study.figures else title


def of_figure(study: Study, figure: str) -> list[str]:
    """What the paper says that this figure is about, each with its verdict."""
    claims = study.claims[study.claims["figure"] == figure]
    return [
        f"[{c.id}](#claim-{c.id}). {plain(c.claim)} **{c.verdict.capitalize()}.**"
        for c in claims.itertuples()
    ]


def readings(study: Study) -> Grid | None:
    """What other readings of the text would change, a row per part that falls on the other side."""
    file = study.folder / "variants.csv"
    if not file.is_file() or "experiment" not in study.plan.variants:
        return None
    table, claims = pd.read_csv(file), written()
    of, by = study.plan.variants["of"], study.plan.variants["experiment"]
    rows = []
    for (reading, replaced), own in table.groupby(["reading", "replaces"], sort=False):
        about = [
            study.optimiser(by, str(reading)),
            study.optimiser(of, str(replaced)),
            str(len(own)),
        ]
        changed = own[own["changes"]]
        if changed.empty:
            rows.append([*about, "none", "", ""])
        for row in changed.itertuples():
            part = next((p for p in parts(claims[row.id]) if str(p) == row.part), None)
            what = f"[{row.id}](#claim-{row.id})"
            if part is not None:
                said = sentence(study, part, Estimate(*[row.other] * 3))
                what += f": {said}; asked: {asked(part)}"
            rows.append(
                [*about, f"{what}<br><sub>`{row.part}`</sub>", number(row.paper), number(row.other)]
            )
    note = (
        "Parts of claims that come to the other side of their threshold if another reading of the "
        "text takes the place of the paper's, compared by value on the seeds that both have."
    )
    header = ["reading", "in place of", "parts about it", "what changes", "before", "with it"]
    return Grid("Other readings of the text", note, header, rows, 4)
