"""What the report's rule and its command share. Light: no pandas here, for the Snakefile."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from pathlib import Path

from experiments.command import Command, parser
from experiments.paths import PUBLISHED, ROOT
from experiments.plan import Plan
from experiments.publishing.commands import laid_over
from experiments.publishing.symbols import plain

PAGES = "experiments.publishing.report_pages"
CLAIMS = "1. Claims"
OF_PAPER = "2. Figures of the paper"
OTHERS = "3. Figures not in the paper"
THEORY = "4. Theory"
TABLES = "5. Tables"
SETTINGS = "6. Settings"


def folder(results: Path) -> Path:
    """Where the report goes: beside its pages, but not into what is kept."""
    return results.parent if results == PUBLISHED or results.name == PUBLISHED.name else results


def pages_folder(results: Path) -> str:
    """Folder of the report's pages."""
    return str(folder(results) / "report")


def figure_category(figure: str) -> str:
    """The category of a figure."""
    return OF_PAPER if re.fullmatch(r"figure_\d+(_log)?", figure) else OTHERS


def page_category(page: str) -> str:
    """The category of a page, by the name of its file."""
    known = {"claims": CLAIMS, "readings": CLAIMS, "film": OTHERS, "config": SETTINGS}
    return known.get(page, THEORY if page.startswith("theory_") else TABLES)


def pages(results: Path, configs: Sequence[str | Path], to: str) -> Command:
    """What writes the pages.

    Args:
        results: folder of what they show.
        configs: the files that Snakemake has read.
        to: folder of the pages.
    """
    return Command.of(PAGES, results, config=laid_over(configs), to=to)


def pages_parser(about: str | None) -> argparse.ArgumentParser:
    made = parser(PAGES, about)
    made.add_argument("results", type=Path, help="folder with verdicts, tables and figures")
    made.add_argument("--config", type=Path, nargs="+", default=[ROOT / "config.yaml"])
    made.add_argument("--to", type=Path, required=True, help="folder of the pages")
    return made


def page_label(plan: Plan, page: str) -> str:
    """What the report calls a page."""
    known = {
        "claims": "Verdicts on all claims",
        "readings": "Other readings of the text",
        "film": "A trained policy",
        "config": "Config",
        "table_1": "Table 1: test functions",
    }
    if page.startswith("theory_"):
        return f"Table: {page.removeprefix('theory_').replace('_', ' ')}"
    if page in known:
        return known[page]
    return figure_label(plan, page) if page in plan.figures else page.replace("_", " ").capitalize()


def figure_label(plan: Plan, figure: str) -> str:
    """What the report calls a figure."""
    return plain(plan.title(figure))
