"""Keep what is in results (traces, tables, figures and verdicts) and show it in the README.

python -m experiments.publishing.publish
python -m experiments.publishing.publish --tables results/interim/tables  # not all runs are done
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Collection
from pathlib import Path

import pandas as pd

from experiments import command
from experiments import config as configs
from experiments.paths import KEPT, PUBLISHED, ROOT
from experiments.plan import load
from experiments.publishing import archive, manifest, readme, redraw
from experiments.publishing.readme import SPEED

CURVES = "curves.parquet"


def keep_tables(tables: Path, kept: Path, curved: Collection[str]) -> list[str]:
    """Copy the tables of each experiment over the kept ones; the names of what was copied.

    Args:
        tables: a folder for each experiment.
        kept: the same of what is kept.
        curved: the experiments whose curves are kept; `make restore` makes those of the others.

    Raises:
        ValueError: a table is of fewer runs than the kept one; nothing was copied.
    """
    names = sorted(folder.name for folder in tables.iterdir() if folder.is_dir())
    for name in names:
        new, old = (_runs(folder / name / "runs.parquet") for folder in (tables, kept))
        if new < old:
            raise ValueError(
                f"{tables / name} is of {new} runs, the kept one of {old}. "
                f"To keep the smaller one, remove {kept / name} first"
            )
    for name in names:
        without = () if name in curved else (CURVES,)
        shutil.copytree(
            tables / name,
            kept / name,
            ignore=shutil.ignore_patterns(*without),
            dirs_exist_ok=True,
        )
        for file in without:
            (kept / name / file).unlink(missing_ok=True)
    return names


def _runs(table: Path) -> int:
    """How many runs a table is of; 0 where there is none."""
    return len(pd.read_parquet(table, columns=["seed"])) if table.is_file() else 0


def main(arguments: list[str] | None = None) -> None:
    """Keep everything, or say why not."""
    parser = command.parser("experiments.publishing.publish", __doc__)
    parser.add_argument("--tables", type=Path, help="folder of the tables, if not results/tables")
    parser.add_argument("--config", type=Path, nargs="+", default=[ROOT / "config.yaml"])
    args = parser.parse_args(arguments)
    published = ROOT / PUBLISHED
    try:
        plan = load(*args.config, published / "config.yaml")  # what was really run
        names = keep_tables(
            args.tables or plan.results / "tables", published / "tables", plan.curved
        )
        _, other = archive.pack(plan, KEPT)
        for file in (plan.results / "figures").glob("film.*"):
            shutil.copy(file, published / "figures" / file.name)
        for name in SPEED:
            for file in plan.results.glob(f"{name}.*"):
                shutil.copy(file, published / file.name)
        # of all that is kept, not of this run alone
        config = configs.read(*args.config, published / "config.yaml")
        manifest.write(config, published / "manifest.json", KEPT)
    except (ValueError, OSError) as error:
        sys.exit(f"error: {error}")
    redraw.redraw(published)
    readme.main()
    print(f"Kept in {PUBLISHED}: {', '.join(names)}")
    if other:
        print("Not kept, of other settings:", *other, sep="\n", file=sys.stderr)


if __name__ == "__main__":
    main()
