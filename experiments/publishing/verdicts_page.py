"""The claims for reading: verdicts in plain words, measures as a second line, and reasons."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from experiments.claims.statements import Part, parts, written
from experiments.publishing.grids import Grid
from experiments.publishing.study import Study
from experiments.publishing.symbols import plain
from experiments.publishing.words import asked, number, sentence
from experiments.tables.estimates import Estimate

ORDER = ("reproduced", "partly", "not reproduced", "inconclusive", "not run")


def counted(claims: pd.DataFrame) -> str:
    """How often each verdict was reached."""
    counts = claims["verdict"].value_counts()
    said = ", ".join(f"{counts[v]} **{v}**" for v in ORDER if v in counts)
    return f"Of {len(claims)} sentences of the paper: {said}."


def table(study: Study) -> Grid:
    """A row per claim, with one of its parts in words, and what was asked of it."""
    rows = []
    for key, verdict in study.verdicts.items():
        its, claim = verdict.its, verdict.claim
        said = f"**{its.verdict}**" + (f", {its.holding} parts" if its.ran else "")
        late = "°" if claim["fixed"] == "known" else ""
        shown = in_words(study, *its.deciding) if its.deciding else "no runs"
        rows.append([f"[{key}](#claim-{key}){late}", plain(claim["claim"]), said, shown])
    about = (
        "Of each claim one part is shown: the first that fails; if none fails, the first that is "
        "inconclusive because of too few runs; otherwise the first. Intervals are 95 %. °: some of "
        "the parts or thresholds were changed or added once results had been seen."
    )
    return Grid("Verdicts", about, ["", "the paper says", "verdict", "measured"], rows, 4)


def in_words(study: Study, part: Part, estimate: Estimate) -> str:
    """What was measured and asked, and the measure with its threshold as a small second line."""
    said = sentence(study, part, estimate)
    code = f"{part} {part.threshold}"
    return f"{said[0].upper()}{said[1:]}; asked: {asked(part)}.<br><sub>`{code}`</sub>"


def details(study: Study) -> Iterator[str]:
    """An entry per claim: place, how it is read, the parts that fail, and what is judged beside
    it.
    """
    for key, verdict in study.verdicts.items():
        its, claim = verdict.its, verdict.claim
        about = f"({plain(claim['place'])}) Figure: {_figure(study, claim['figure'])}."
        lines = [
            f'<a id="claim-{key}"></a>',
            "",
            f"**{key}. {plain(claim['claim'])}** {about}",
            "",
            f"- Verdict: **{its.verdict}**" + (f", {its.holding} parts hold." if its.ran else "."),
            f"- How it is judged: {plain(claim['why'])}",
        ]
        lines += [f"- {judged.together}" for judged in its.statements if len(judged.found) > 1]
        for word, some in (("Fails", its.failing), ("Inconclusive, too few runs", its.open)):
            lines += [f"- {word}: {in_words(study, *p)}" for p in some if not np.isnan(p[1].value)]
        if undefined := [f"`{part}`" for part, e in its.open if np.isnan(e.value)]:
            lines.append(f"- Has no value: {'; '.join(undefined)}.")
        if its.lacking:
            lines.append(f"- Not run: {'; '.join(its.lacking)}.")
        for beside in verdict.beside:
            other = beside.its
            only = f" {in_words(study, *other.only)}" if other.only else ""
            lines.append(
                f"- {plain(beside.heading)}: **{other.verdict}**, {other.holding} parts.{only}"
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
