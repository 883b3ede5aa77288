"""Snakemake's own report of results that are there: one HTML file that needs no network.

    python -m experiments.publishing.report                                  # of what is kept
    python -m experiments.publishing.report results/quick --config config.yaml tests/quick.yaml

Nothing is run but the report's own pages. It shows what is there: kept results have no traces of
the theory's functions, and no notes of Snakemake on when each job ran.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from experiments import command
from experiments.config import ConfigError
from experiments.paths import PUBLISHED, ROOT
from experiments.plan import Plan, load
from experiments.publishing import report_commands

STYLE = Path(__file__).with_name("report.css")
NOISE = re.compile(r"^Missing metadata for file ")


def made(plan: Plan) -> Iterator[str]:
    """What the workflow makes at its end, as far as it is there."""
    results = plan.results
    figures = [*plan.figures, *(f"theory_{question}" for question in plan.theory)]
    for path in (
        *(results / "figures" / f"{figure}.png" for figure in figures),
        *(plan.folder(experiment) / "statistics.md" for experiment in plan.experiments),
        results / "tables" / "table_1.md",
        results / "claims.md",
        results / "variants.md",
    ):
        if path.is_file() and (path.stem != "variants" or plan.variants):
            yield str(path)


def report(results: Path, configs: Sequence[Path]) -> Path:
    """Write the report of a folder of results.

    Args:
        results: the folder.
        configs: what it was made with, but for that name; what the folder itself keeps as
            config.yaml is laid over them.

    Returns:
        The file.

    Raises:
        ValueError: there are no verdicts in the folder, or Snakemake failed; the message says why.
    """
    own = results / "config.yaml"
    files = [*configs, *([own] if own.is_file() else [])]
    plan = load(*files, results=str(results))
    if not (results / "claims.csv").is_file():
        raise ValueError(
            f"{results} has no claims.csv: `make replicate` ends with it, `make interim` judges "
            "the runs that are done, and the kept results are in results/published"
        )
    settings = ["--configfile", *map(str, files), "--config", f"results={results}"]
    pages = report_commands.pages_folder(results)
    to = report_commands.folder(results) / "report.html"
    _snakemake("report_pages", "--force", "--allowed-rules", "report_pages", *settings)
    _snakemake(
        *made(plan), pages, "--report", str(to), "--report-stylesheet", str(STYLE), *settings
    )  # fmt: skip
    return to


def _snakemake(*arguments: str) -> None:
    """Run it, and say what it says where it fails."""
    call = [sys.executable, "-m", "snakemake", "--cores", "1", *arguments]
    done = subprocess.run(
        call, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if done.returncode:
        lines = [line for line in done.stdout.splitlines() if not NOISE.match(line)]
        raise ValueError("\n".join(lines))


def main(arguments: list[str] | None = None) -> None:
    """Write the report, and say where it is."""
    parser = command.parser("experiments.publishing.report", __doc__)
    parser.add_argument("results", type=Path, nargs="?", default=PUBLISHED)
    parser.add_argument("--config", type=Path, nargs="+", default=[Path("config.yaml")])
    args = parser.parse_args(arguments)
    try:
        to = report(args.results, args.config)
    except (ValueError, ConfigError) as error:
        sys.exit(f"error: {error}")
    print(f"Report: {to} ({to.stat().st_size / 1e6:.0f} MB)")


if __name__ == "__main__":
    main()
