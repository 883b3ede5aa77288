"""Every figure, table and verdict anew from the kept tables, without a run and without Snakemake.

python -m experiments.redraw results/published
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from pathlib import Path

from experiments import claims, command, plan, readings, rewards, statistics
from problems import table_1

ROOT = Path(__file__).parent.parent


def redraw(results: Path, configs: Sequence[Path] = (ROOT / "config.yaml",)) -> list[str]:
    """Redraw what the tables in ``results`` and the config allow; the names of what was made.

    Raises:
        ValueError: there are no tables, or the name of the folder cannot go into a command.
    """
    if not (results / "tables").is_dir():
        raise ValueError(f"{results} has no folder tables; what is kept: results/published")
    what = plan.load(*configs, results=str(results))
    made, pictures = [], []
    for experiment in what.experiments:
        folder = results / "tables" / experiment
        if (folder / "runs.parquet").is_file():
            statistics.main([str(folder), "--to", str(folder)])
            if experiment in what.rewarded:
                rewards.main([str(folder), "--to", str(folder / "rewards")])
            made.append(f"tables/{experiment}")
    for figure, settings in what.figures.items():
        if f"tables/{settings['experiment']}" in made:
            _, _, module, *arguments = shlex.split(what.figure_command(figure))
            pictures.append((module, arguments))
            made.append(f"figures/{figure}")
    for table in what.theory:
        path = results / "tables" / "theory" / f"{table}.csv"
        if path.is_file():
            to = str(results / "figures" / f"theory_{table}")
            pictures.append(("figures.theory", [table, str(path), "--to", to]))
            made.append(f"figures/theory_{table}")
    with ProcessPoolExecutor() as pool:
        list(pool.map(_draw, pictures))
    table_1.main(["--to", str(results / "tables" / "table_1")])
    claims.main(["--tables", str(results / "tables"), "--to", str(results / "claims")])
    if what.readings and all(Path(path).is_file() for path in what.readings_needs()):
        _, _, _, *arguments = shlex.split(what.readings_command())
        readings.main(arguments)
        made.append("readings")
    return [*made, "tables/table_1", "claims"]


def _draw(picture: tuple[str, list[str]]) -> None:
    """Draw a picture: the module that does it, and its arguments."""
    module, arguments = picture
    import_module(module).main(arguments)


def main(arguments: list[str] | None = None) -> None:
    """Redraw and say what was made."""
    parser = command.parser("experiments.redraw", __doc__)
    parser.add_argument("results", type=Path, help="folder with the kept tables")
    try:
        print("\n".join(redraw(parser.parse_args(arguments).results)))
    except ValueError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
