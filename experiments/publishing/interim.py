"""Tables, figures and verdicts of the runs that are done so far.

    python -m experiments.publishing.interim

writes them to results/interim. Captions say how many runs a figure shows, and claims which runs are
missing.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from experiments import command
from experiments import config as configs
from experiments.paths import ROOT
from experiments.plan import Plan, load
from experiments.publishing import manifest, redraw
from experiments.runs import trace
from experiments.tables import aggregate

FOLDER = "interim"  # in results


def tables(plan: Plan, to: Path) -> dict[str, tuple[int, int]]:
    """Write the tables of each experiment that has a run, and copy those of the theory.

    Returns:
        How many runs of each of these experiments are done, and of how many.

    Raises:
        ValueError: a trace is broken, or there is none.
    """
    counts = {}
    for name, e in plan.experiments.items():
        cells = {cell: done for cell in e.cells if (done := _done(plan, name, cell))}
        if cells:
            aggregate.write(cells, to / name)
            counts[name] = sum(map(len, cells.values())), e.runs * len(e.cells)
    if not counts:
        raise ValueError(
            f"{plan.results / 'traces'} has no run that the config asks for; "
            "`make replicate` starts them, `make restore` takes those that are kept"
        )
    if (theory := plan.results / "tables" / "theory").is_dir():
        shutil.copytree(theory, to / "theory")
    return counts


def _done(plan: Plan, experiment: str, cell: tuple[str, str]) -> list[Path]:
    """The traces of a cell that are there, but those of other settings or code than it has now."""
    e = plan.experiments[experiment]
    paths = (Path(plan.trace(experiment, *cell, seed)) for seed in range(e.runs))
    spec, code = e.cells[cell], plan.fingerprint(experiment, *cell)

    def is_of_now(path: Path) -> bool:
        return not trace.misfit(trace.read(path)[1], spec, int(path.stem), code)

    return [path for path in paths if path.is_file() and is_of_now(path)]


def main(arguments: list[str] | None = None) -> None:
    """Draw what there is, and say how much that is."""
    parser = command.parser("experiments.publishing.interim", __doc__)
    parser.add_argument("--config", type=Path, nargs="+", default=[ROOT / "config.yaml"])
    args = parser.parse_args(arguments)
    try:
        plan = load(*args.config)
        folder = plan.results / FOLDER
        shutil.rmtree(folder, ignore_errors=True)  # of fewer runs
        counts = tables(plan, folder / "tables")
        redraw.redraw(folder, args.config)
        manifest.write(configs.read(*args.config), folder / Path(plan.manifest).name)
    except ValueError as error:
        sys.exit(f"error: {error}")
    for experiment, (done, of) in counts.items():
        print(f"{experiment}: {done} of {of} runs")
    print(f"Figures: {folder}/figures  Tables: {folder}/tables  Claims: {folder}/claims.md")


if __name__ == "__main__":
    main()
