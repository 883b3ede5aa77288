"""Make every figure, table and verdict again from the kept tables, without a run or Snakemake.

python -m experiments.publishing.redraw results/published
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from experiments import command
from experiments.command import Command
from experiments.paths import ROOT
from experiments.plan import load
from figures.commands import FORMATS

KEPT = ("png", "pdf")  # of the formats of pictures
CONTEXT = get_context("fork" if sys.platform == "linux" else None)  # elsewhere it is not safe


def redraw(
    results: Path,
    configs: Sequence[Path] = (ROOT / "config.yaml",),
    formats: Sequence[str] = KEPT,
    study: str = "",
) -> list[str]:
    """Redraw what the tables in ``results`` and the config allow, on all cores.

    Args:
        results: folder with the folder ``tables``.
        configs: laid over each other.
        formats: of the pictures.
        study: the section of the config that they are of; none: the paper's.

    Returns:
        The names of what was made.

    Raises:
        ValueError: there are no tables, or the name of the folder cannot go into a command.
    """
    if not (results / "tables").is_dir():
        raise ValueError(f"{results} has no folder tables; what is kept: results/published")
    plan = load(*configs, results=str(results), **_of(study, results))
    there = [name for name in plan.experiments if Path(plan.tables(name)[0]).is_file()]
    pictures = {
        f"figures/{figure}": plan.figure_command(figure)
        for figure, settings in plan.figures.items()
        if settings["experiment"] in there
    } | {
        f"figures/theory_{question}": plan.theory_figure_command(question)
        for question in plan.theory
        if Path(plan.theory_table(question)).is_file()
    }
    tables: dict[str, Command] = {}  # those that take longest first, for even loads
    if plan.study:
        tables["field"] = plan.standing_command(there)
    else:
        tables |= {"claims": plan.claims_command(), "tables/table_1": plan.table_1_command()}
    if plan.variants and all(Path(path).is_file() for path in plan.variants_needs()):
        tables["variants"] = plan.variants_command()
    tables |= {f"tables/{name}": plan.summaries_command(name) for name in there}
    tables |= {
        f"tables/{name}/rewards": plan.rewards_command(name)
        for name in plan.rewarded
        if name in there
    }
    made = tables | pictures
    for task in made.values():  # once, for all processes that are forked
        import_module(task.module)
    with ProcessPoolExecutor(mp_context=CONTEXT) as pool:
        done = [pool.submit(Command.call, task) for task in tables.values()]
        done += [
            pool.submit(Command.call, task, "--formats", *formats) for task in pictures.values()
        ]
        for job in done:
            job.result()
    return list(made)


def _of(study: str, results: Path) -> dict[str, Any]:
    """The keys that make a study's plan, with its results there."""
    return {"study": study, study: {"results": str(results)}} if study else {}


def main(arguments: list[str] | None = None) -> None:
    """Redraw and say what was made."""
    parser = command.parser("experiments.publishing.redraw", __doc__)
    parser.add_argument("results", type=Path, help="folder with the kept tables")
    parser.add_argument("--study", default="", help="section of the config that they are of")
    parser.add_argument("--formats", nargs="+", choices=FORMATS, default=KEPT, help="of pictures")
    args = parser.parse_args(arguments)
    try:
        print("\n".join(redraw(args.results, formats=args.formats, study=args.study)))
    except ValueError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
