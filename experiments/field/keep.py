"""Keep what `make field` made: its tables of runs, the page and its pictures.

python -m experiments.field.keep
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from experiments import command
from experiments.paths import PUBLISHED, ROOT
from experiments.plan import Plan, load
from experiments.publishing import redraw

STUDY = "field"
KEPT = ROOT / PUBLISHED / STUDY
TABLES = ("runs.parquet", "best_2009.csv")  # the others are made from them


def keep(plan: Plan, to: Path) -> None:
    """Copy what the page is made from, and make it anew there.

    Raises:
        ValueError: not all of it is there yet.
    """
    tables = [plan.results / "tables" / name for name in plan.experiments]
    lacking = [str(folder) for folder in tables if not (folder / TABLES[0]).is_file()]
    if lacking:
        raise ValueError(f"no tables {', '.join(lacking)}; run: make field")
    for folder in tables:
        for name in TABLES:
            if (folder / name).is_file():
                target = to / "tables" / folder.name / name
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(folder / name, target)
    for name in ("golden.csv", "manifest.json"):
        shutil.copy(plan.results / name, to / name)
    redraw.redraw(to, study=plan.study)


def main(arguments: list[str] | None = None) -> None:
    """Keep it, or say why not."""
    parser = command.parser("experiments.field.keep", __doc__)
    parser.add_argument("--config", type=Path, nargs="+", default=[ROOT / "config.yaml"])
    args = parser.parse_args(arguments)
    try:
        keep(load(*args.config, study=STUDY), KEPT)
    except (ValueError, OSError) as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
