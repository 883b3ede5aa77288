"""The pages of the HTML report that are no pictures, and the captions of those that are.

    python -m experiments.publishing.report_pages results/published --to results/report

Each page stands alone: its tables sort by a click on a column and come as .csv too.
"""

from __future__ import annotations

import base64
import html
import os
import shutil
from collections.abc import Iterator, Sequence
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from platform import python_version

import yaml

from experiments import config as configs
from experiments.plan import load
from experiments.publishing import cost, grids, report_commands, results_page, verdicts_page
from experiments.publishing.grids import Grid, inline
from experiments.publishing.study import Study
from experiments.publishing.symbols import plain
from experiments.runs.job import commit

STYLE, SCRIPT = (Path(__file__).with_name(f"page.{kind}") for kind in ("css", "js"))
VERDICTS = {"reproduced": "reproduced", "partly": "partly", "not reproduced": "not"}


def write(study: Study, files: Sequence[Path], to: Path) -> list[str]:
    """Write all pages and captions into a folder, in the place of what is there.

    Args:
        study: what the report is of.
        files: the config files that the results were made with.
        to: the folder.

    Returns:
        The names of the pages.
    """
    shutil.rmtree(to, ignore_errors=True)
    captions = to / "captions"
    captions.mkdir(parents=True)
    made = dict(pages(study, files))
    for name, text in made.items():
        title = report_commands.page_label(study.plan, name)
        (to / f"{name}.html").write_text(document(title, text), encoding="utf-8")
    for figure in study.figures:
        (captions / f"{figure}.rst").write_text(caption(study, figure), encoding="utf-8")
    (captions / "summary.rst").write_text(summary(study, files), encoding="utf-8")
    return list(made)


def pages(study: Study, files: Sequence[Path]) -> Iterator[tuple[str, str]]:
    """The bodies of the pages by the names of their files."""
    yield "claims", claims(study)
    if (readings := verdicts_page.readings(study)) is not None:
        yield "readings", section(readings, study.folder / "variants.csv", heading=False)
    if (functions := grids.functions(study)) is not None:
        yield "table_1", section(functions, heading=False)
    for experiment in study.experiments:
        tables = results_page.of_experiment(study, experiment)
        body = "\n".join(section(table) for table in tables)
        files_of = sorted((study.folder / "tables" / experiment).glob("*.csv"))
        yield experiment, downloads(*files_of) + body
    for question in study.plan.theory:
        file = study.folder / "tables" / "theory" / f"{question}.csv"
        if len(table := study.csv("theory", question)):
            yield f"theory_{question}", section(grids.raw("", "", table), file, heading=False)
    film = study.folder / "figures" / "film.gif"
    if film.is_file():
        words = " ".join(study.caption("film"))
        yield "film", f'<img src="{data_uri(film, "image/gif")}" alt=""><p>{inline(words)}</p>'
    yield "config", config(study, files)


def claims(study: Study) -> str:
    """The verdicts, and below them how each claim is judged."""
    table = verdicts_page.table(study).html()
    for verdict, colour in VERDICTS.items():
        table = table.replace(f"<b>{verdict}</b>", f'<b class="{colour}">{verdict}</b>')
    reasons = "".join(
        f"<h2>{c.id}. {inline(plain(c.claim))}</h2><p><b>{c.verdict.capitalize()}.</b> "
        f"{inline(plain(c.why))} <i>{inline(plain(c.place))}.</i></p>"
        for c in study.claims.itertuples()
    )
    about = [verdicts_page.counted(study.claims), verdicts_page.table(study).about]
    words = "".join(f"<p>{inline(text)}</p>" for text in about)
    files = (study.folder / name for name in ("claims.csv", "claims_parts.csv"))
    return f"{words}{downloads(*files)}<div class=table>{table}</div>{reasons}"


def section(grid: Grid, file: Path | None = None, heading: bool = True) -> str:
    """A table with its title and what it is about."""
    title = f"<h2>{inline(grid.title)}</h2>" if heading else ""
    about = f"<p>{inline(grid.about)}</p>" if grid.about else ""
    return f"{title}{about}{downloads(file) if file else ''}<div class=table>{grid.html()}</div>"


def downloads(*files: Path) -> str:
    """Links that save these tables; they are in the page itself."""
    links = [
        f'<a download="{file.name}" href="{data_uri(file, "text/csv")}">{file.name}</a>'
        for file in files
        if file.is_file()
    ]
    return f"<p>As data: {', '.join(links)}.</p>" if links else ""


def data_uri(file: Path, kind: str) -> str:
    """A file as an address that holds it."""
    return f"data:{kind};base64,{base64.b64encode(file.read_bytes()).decode()}"


def config(study: Study, files: Sequence[Path]) -> str:
    """All settings, as the config files come to, one laid over the other."""
    names = ", ".join(shown(files))
    merged = configs.merge(configs.read(*files), {"results": str(study.plan.results)})
    text = yaml.safe_dump(merged, sort_keys=False, allow_unicode=True, width=100)
    about = f"{names}, each laid over the ones before."
    return f"<p>{html.escape(about)}</p><pre>{html.escape(text)}</pre>"


def document(title: str, body: str) -> str:
    """A page of HTML that needs nothing else."""
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{html.escape(title)}</title><style>{_text(STYLE)}</style></head>\n"
        f"<body><h1>{inline(title)}</h1>\n{body}\n<script>{_text(SCRIPT)}</script></body></html>\n"
    )


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8")


# ---- captions, in the markup that Snakemake asks for ----


def caption(study: Study, figure: str) -> str:
    """What is seen in a figure, and what the paper says about it."""
    settings = study.plan.figures.get(figure, {})
    seen = [*study.caption(figure), plain(settings.get("note", ""))]
    parts = [rst(paragraph) for paragraph in seen if paragraph]
    own = study.claims[study.claims["figure"] == figure]
    if len(own):
        said = [
            f"- {rst(f'Claim {c.id}: {plain(c.claim)}')} **{c.verdict.capitalize()}.**"
            for c in own.itertuples()
        ]
        parts += ["What the paper says:", "\n".join(said)]
    return "\n\n".join(parts) + "\n"


def summary(study: Study, files: Sequence[Path]) -> str:
    """The first page: the verdicts, where the results are from, and how to read the report."""
    counts = verdicts_page.counted(study.claims)
    title = "INGO, replicated"
    lines = [
        f"- {name}: {rst(text)}"
        for name, text in {
            "Results": f"{study.folder}, with {' and '.join(shown(files))}",
            "Commit of this report": commit(),
            "Versions": ", ".join(f"{k} {v}" for k, v in versions(study).items()),
            "Made on": date.today().isoformat(),
        }.items()
    ]
    return (
        "\n\n".join(
            [
                f"{title}\n{'=' * len(title)}",
                counts,
                f"Start with `{report_commands.CLAIMS}`_. The categories in the menu hold "
                "verdicts, figures, tables and settings; the eye opens an entry, the i shows its "
                "caption. Tables sort by a click on a column. The graph shows the rules that make "
                "the results, from runs to verdicts.",
                "\n".join(lines),
            ]
        )
        + "\n"
    )


def versions(study: Study) -> dict[str, str]:
    """Those that the kept runs were made with; of other results, those that are installed."""
    if kept := cost.versions(study.folder / "traces"):
        return kept
    found = {"Python": python_version()}
    for name in cost.LIBRARIES[1:]:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def shown(files: Sequence[Path]) -> list[str]:
    """Paths as one types them in the project's folder."""
    return [os.path.relpath(file) for file in files]


def rst(text: str) -> str:
    """A text without markup as reStructuredText."""
    for sign in "\\*`_|":
        text = text.replace(sign, f"\\{sign}")
    return text


def main(arguments: list[str] | None = None) -> None:
    """Write them."""
    args = report_commands.pages_parser(__doc__).parse_args(arguments)
    study = Study(args.results, load(*args.config, results=str(args.results)))
    print("\n".join(write(study, args.config, args.to)))


if __name__ == "__main__":
    main()
