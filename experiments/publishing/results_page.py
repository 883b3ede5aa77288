"""The results page: every figure with what is seen and what the paper says, all claims, all tables.

python -m experiments.publishing.results_page
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from experiments.claims.statements import FIXED, written
from experiments.paths import PUBLISHED, ROOT
from experiments.plan import load
from experiments.publishing import findings, grids, verdicts_page
from experiments.publishing.grids import Grid
from experiments.publishing.study import Study
from experiments.publishing.symbols import plain
from experiments.usage import report

SPEED = {  # measurements of time, and what they are of
    "iteration": "An iteration of INGO",
    "rollouts": "A step of control",
    "updates": "An optimiser beside its roll-outs",
    "workflow": "The workflow itself",
}
USAGE = "usage"  # the comparison with other methods on functions that are not the paper's
FEW = 80  # rows of a table of the theory that the page shows
INTRODUCTION = """\
# Results

Made by `make publish` and `make figures` from the kept runs; do not edit by hand. What the project
is and how to run it: [README](../../README.md). Checksums of all files here but the ledger, which
grows: [SHA256SUMS](SHA256SUMS) (`sha256sum --check --quiet SHA256SUMS`).

[In words](#in-words) · [Claims](#claims) · [Figures of the paper](#figures-of-the-paper) ·
[Figures not in the paper](#figures-not-in-the-paper) · [Theory](#theory) ·
[Claim by claim](#claim-by-claim) · [Tables](#tables) ·
[Other readings of the text](#other-readings-of-the-text) · [Speed](#speed) ·
[INGO among the field](field/field.md)"""
THRESHOLDS = """\
A claim is *reproduced* if all of its parts hold, each with its whole 95 % interval; *partly* if
some hold and some fail; *not reproduced* if all fail; *inconclusive* if none fails or none holds,
and of the others the intervals are too wide to tell; *not run* if there are no runs. What can or
may be so counts as one part, for which one case suffices; what is so overall, as one for which most
cases suffice. Where the paper has one step size, start or budget, some claims are judged over
others too, as the settings of their parts say; the rest have that as a reading at most. Parts and
thresholds of {before} claims are those of before the full runs, after trials of one or two seeds;
those of {reduced} were written after runs of a reduced size; of {known}, marked °, some were
changed or added once results had been seen. [claims.yaml](../../experiments/claims/claims.yaml)
lists all that was changed. As data: [claims.csv](claims.csv), and
each of their parts with its value [claims_parts.csv](claims_parts.csv)."""


def page(study: Study) -> str:
    """The page as Markdown, links relative to the folder of the study."""
    sections = [
        INTRODUCTION,
        verdicts_page.counted(study.claims),
        *_in_words(study),
        *_claims(study),
        *_figures(study),
        "## Claim by claim",
        *verdicts_page.details(study),
        *_tables(study),
        *_usage(study),
        *_speed(study),
    ]
    return "\n\n".join(sections) + "\n"


def _in_words(study: Study) -> Iterator[str]:
    yield "## In words"
    groups = findings.findings(study)
    if not groups:
        yield "No runs are kept that these sentences are about."
    else:
        yield "Figures 1, 4 and 5: d = 100 and N = 18 samples per iteration, as in the paper."
    for verdict, sentences in groups.items():
        yield f"**{verdict.capitalize()}:**"
        yield "\n".join(f"- {text}" for text in sentences)


def _claims(study: Study) -> Iterator[str]:
    yield "## Claims"
    fixed = [claim["fixed"] for claim in written().values()]
    yield THRESHOLDS.format(**{when: fixed.count(when) for when in FIXED})
    table = verdicts_page.table(study)
    yield table.about
    yield table.markdown()


def _figures(study: Study) -> Iterator[str]:
    groups: dict[str, list[str]] = {
        "Figures of the paper": [],
        "Figures not in the paper": [],
        "Theory": [],
    }
    for figure in study.figures:
        of_paper, theory = re.fullmatch(r"figure_\d+(_log)?", figure), figure.startswith("theory_")
        groups[list(groups)[2 if theory else 0 if of_paper else 1]].append(figure)
    for title, figures in groups.items():
        yield f"## {title}"
        if title == "Theory":
            yield (
                "What these measure, and where the proofs do not hold: "
                "[experiments/theory](../../experiments/theory/README.md)."
            )
        for figure in figures:
            yield from _figure(study, figure)
            yield from _numbers(study, figure)


def _figure(study: Study, figure: str) -> Iterator[str]:
    """A figure: what is seen, and what the paper says about it."""
    title = study.title(figure)
    suffix = ".gif" if (study.folder / "figures" / f"{figure}.gif").is_file() else ".png"
    yield f'<a id="{figure}"></a>'
    yield f"### {title}"
    yield f"![{title}](figures/{figure}{suffix})"
    seen = " ".join(study.caption(figure))
    note = plain(study.plan.figures.get(figure, {}).get("note", ""))
    yield f"**What is seen.** {seen} {note}".strip()
    if said := verdicts_page.of_figure(study, figure):
        yield "**What the paper says.**"
        yield "\n".join(f"- {text}" for text in said)


def _numbers(study: Study, figure: str) -> Iterator[str]:
    """The numbers of the experiment that a figure is of, with the first figure of it."""
    experiment = study.plan.figures.get(figure, {}).get("experiment", "")
    of_it = [name for name, own in study.plan.figures.items() if own["experiment"] == experiment]
    if experiment not in study.experiments or figure != of_it[0]:
        return
    best = study.folder / "figures" / f"{figure}_best.md"  # of steps; a column each is too many
    if best.is_file():
        title, about, table = best.read_text(encoding="utf-8").strip().split("\n\n", 2)
        yield f"**{title.removeprefix('# ')}.** {about} [All numbers](#tables-{experiment})."
        yield table
        return
    rewarded = experiment in study.plan.rewarded
    grid = (grids.rewards if rewarded else grids.to_target)(study, experiment)
    if grid is not None:
        yield f"**{grid.title}.** {grid.about} [All numbers](#tables-{experiment})."
        yield grid.markdown()


def _tables(study: Study) -> Iterator[str]:
    yield "## Tables"
    yield (
        "What every run did is in [tables](tables), its whole trace in [traces](traces), a parquet "
        "file per seed. (The traces of the theory's convex functions are not kept; they take "
        "minutes.)"
    )
    if (functions := grids.functions(study)) is not None:
        yield f"**{functions.title}.** {functions.about}"
        yield functions.markdown()
    for experiment in study.experiments:
        tables = list(of_experiment(study, experiment))
        yield f'<a id="tables-{experiment}"></a>'
        name = study.title(experiment) if experiment in study.plan.figures else experiment
        yield f"### {plain(name)}: tables"
        yield f"As data: [tables/{experiment}](tables/{experiment})."
        yield from (_folded(table) for table in tables)
    if tables := theory_tables(study):
        yield '<a id="tables-theory"></a>'
        yield "### Theory: tables"
        yield "As data: [tables/theory](tables/theory)."
        yield from (_folded(table) for table in tables if len(table.rows) <= FEW)
    if (readings := verdicts_page.readings(study)) is not None:
        yield f"## {readings.title}"
        yield f"{readings.about} All parts: [variants.csv](variants.csv)."
        yield readings.markdown()


def of_experiment(study: Study, experiment: str) -> Iterator[Grid]:
    """All tables of an experiment."""
    made = (grids.all_targets(study, experiment), grids.final_values(study, experiment))
    yield from (grid for grid in made if grid is not None)
    yield from grids.all_rewards(study, experiment)
    yield from grids.pairs(study, experiment)


def _folded(grid: Grid) -> str:
    """A table that opens with a click."""
    parts = (
        f"<details><summary>{grid.title}</summary>", grid.about, grid.markdown(), "</details>"
    )  # fmt: skip
    return "\n\n".join(parts)


def usage(published: Path) -> str:
    """Where INGO is ahead of other methods and where behind; nothing where it is not kept."""
    file = published / f"{USAGE}.csv"
    return report.paragraph(pd.read_csv(file)) if file.is_file() else ""


def _usage(study: Study) -> Iterator[str]:
    if words := usage(study.folder):
        yield "## INGO beside other methods"
        yield f"{words} [Table and settings]({USAGE}.md), [as data]({USAGE}.csv)."


def _speed(study: Study) -> Iterator[str]:
    tables = [
        (words, (study.folder / f"{name}.md").read_text(encoding="utf-8").strip())
        for name, words in SPEED.items()
        if (study.folder / f"{name}.md").is_file()
    ]
    if tables:
        yield "## Speed"
        yield "Ratios on one machine; `make benchmark` and `make throughput` measure yours."
    for words, text in tables:
        yield f"**{words}.** {text}"


def theory_tables(study: Study) -> list[Grid]:
    """The tables of the theory as they are."""
    found = {question: study.csv("theory", question) for question in study.plan.theory}
    return [
        grids.raw(study.title(f"theory_{question}"), f"{question}.csv", table)
        for question, table in found.items()
        if len(table)
    ]


def write(folder: Path) -> None:
    """Write the page of the kept results."""
    study = Study(folder, load(ROOT / "config.yaml"))
    (folder / "README.md").write_text(page(study), encoding="utf-8")


if __name__ == "__main__":
    write(ROOT / PUBLISHED)
