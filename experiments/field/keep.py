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
RUNS = "runs.parquet"  # the other tables are made from it


def keep(config: dict[str, Any], to: Path) -> list[str]:
    """Copy what the page is made from, of each experiment that is whole, and make the page anew
    there.

    Args:
        config: as merged.
        to: folder of what is kept.

    Returns:
        The experiments that are not whole, in their table or in their traces, of which nothing
        was copied.

    Raises:
        ValueError: none is whole, or one that is kept is not; nothing was copied.
    """
    plan = Plan.from_config(config)
    made = manifest.manifest(config)
    told = made["runs"]["experiments"]
    whole = {
        name: e
        for name, e in plan.experiments.items()
        if _whole(plan, name)
        and all(told.get(name, {}).get("/".join(c), {}).get("runs") == e.runs for c in e.cells)
    }
    if not whole:
        raise ValueError(f"no experiment is whole in {plan.results}; run: make field")
    kept = {folder.name for folder in (to / "tables").glob("*") if folder.is_dir()}
    if lost := sorted(kept - set(whole)):
        raise ValueError(
            f"kept are {', '.join(lost)} too, which are not whole in {plan.results}; run: make "
            f"field. To keep the others alone, remove {to} first"
        )
    for name in whole:
        target = to / "tables" / name
        target.mkdir(parents=True, exist_ok=True)
        shutil.copy(plan.folder(name) / RUNS, target)
        if name in plan.bbob:
            field.reference(plan.bbob[name], target / "best_2009.csv").call()
    field.golden(to / "tables", whole, to / "golden.csv").call()
    manifest.save(made, to / "manifest.json")
    redraw.redraw(to, study=plan.study)
    return [name for name in plan.experiments if name not in whole]


def _whole(plan: Plan, name: str) -> bool:
    """Whether the table of an experiment is there, of all runs that are asked for."""
    table, e = plan.folder(name) / RUNS, plan.experiments[name]
    if not table.is_file():
        return False
    rows = pd.read_parquet(table, columns=["problem", "algorithm", "seed"])
    return set(rows.itertuples(index=False, name=None)) == {
        (*cell, seed) for cell in e.cells for seed in range(e.runs)
    }


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
