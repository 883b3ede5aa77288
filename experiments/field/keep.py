"""Keep what `make field` made: its tables of runs, the page and its pictures.

python -m experiments.field.keep
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import pandas as pd

from experiments import command
from experiments import config as configs
from experiments.field import commands as field
from experiments.paths import PUBLISHED, ROOT
from experiments.plan import Plan
from experiments.publishing import manifest, redraw

STUDY = "field"
KEPT = ROOT / PUBLISHED / STUDY
TABLES = ("runs.parquet", "best_2009.csv")  # the others are made from them


def keep(config: dict[str, Any], to: Path) -> list[str]:
    """Copy what the page is made from, of each experiment that is whole, and make the page anew
    there.

    Args:
        config: as merged.
        to: folder of what is kept.

    Returns:
        The experiments that are not whole, of which nothing was copied.

    Raises:
        ValueError: none is whole.
    """
    plan = Plan.from_config(config)
    whole = {
        name: plan.results / "tables" / name for name in plan.experiments if _whole(plan, name)
    }
    if not whole:
        raise ValueError(f"no experiment is whole in {plan.results}; run: make field")
    for name, folder in whole.items():
        for file in TABLES:
            if (folder / file).is_file():
                target = to / "tables" / name / file
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(folder / file, target)
    done = {k: e for k, e in plan.experiments.items() if (to / "tables" / k / TABLES[0]).is_file()}
    field.golden(to / "tables", done, to / "golden.csv").call()
    manifest.write(config, to / "manifest.json")
    redraw.redraw(to, study=plan.study)
    return [name for name in plan.experiments if name not in done]


def _whole(plan: Plan, name: str) -> bool:
    """Whether the table of an experiment is there, of all its runs."""
    table, e = plan.results / "tables" / name / TABLES[0], plan.experiments[name]
    return table.is_file() and len(pd.read_parquet(table, columns=["seed"])) == e.runs * len(
        e.cells
    )


def main(arguments: list[str] | None = None) -> None:
    """Keep it, or say why not."""
    parser = command.parser("experiments.field.keep", __doc__)
    parser.add_argument("--config", type=Path, nargs="+", default=[ROOT / "config.yaml"])
    args = parser.parse_args(arguments)
    try:
        lacking = keep(configs.merge(configs.read(*args.config), {"study": STUDY}), KEPT)
    except (ValueError, OSError) as error:
        sys.exit(f"error: {error}")
    if lacking:
        print("Not run yet, so not kept:", *lacking, file=sys.stderr)


if __name__ == "__main__":
    main()
