"""Tables, figures and verdicts of the runs that are done so far, while others are still to come.

    python -m experiments.so_far

writes them to results/so_far. Captions say how many runs a picture is made of, and claims which
runs they lack.
"""

from __future__ import annotations

import shutil
import sys
from dataclasses import asdict
from pathlib import Path

from experiments import aggregate, command, ledger, plan, redraw, trace
from experiments.redraw import ROOT

FOLDER = "so_far"  # in results


def tables(what: plan.Plan, to: Path) -> dict[str, tuple[int, int]]:
    """Write the tables of each experiment that has a run, and copy those of the theory.

    Returns:
        How many runs of each of these experiments are done, and of how many.

    Raises:
        ValueError: a trace is broken, or there is none.
    """
    counts = {}
    for name, e in what.experiments.items():
        cells = {cell: done for cell in e.cells if (done := _done(what, name, cell))}
        if cells:
            aggregate.write(cells, to / name)
            counts[name] = sum(map(len, cells.values())), e.runs * len(e.cells)
    if not counts:
        raise ValueError(
            f"{what.results / 'traces'} has no run that the config asks for; "
            "`make replicate` starts them, `make restore` takes those that are kept"
        )
    if (theory := what.results / "tables" / "theory").is_dir():
        shutil.copytree(theory, to / "theory")
    return counts


def _done(what: plan.Plan, experiment: str, cell: tuple[str, str]) -> list[Path]:
    """The traces of a cell that are there, but those of other settings or code than it has now."""
    e = what.experiments[experiment]
    paths = (Path(what.trace(experiment, *cell, seed)) for seed in range(e.runs))
    spec, code, classes = asdict(e.cells[cell]), what.code(experiment, *cell), ledger.classes()

    def is_of_now(path: Path) -> bool:
        metadata = trace.read(path)[1]
        return metadata["spec"] == spec and classes[metadata["code"]] == code

    return [path for path in paths if path.is_file() and is_of_now(path)]


def main(arguments: list[str] | None = None) -> None:
    """Draw what there is, and say how much that is."""
    parser = command.parser("experiments.so_far", __doc__)
    parser.add_argument("--config", type=Path, nargs="+", default=[ROOT / "config.yaml"])
    args = parser.parse_args(arguments)
    try:
        what = plan.load(*args.config)
        folder = what.results / FOLDER
        shutil.rmtree(folder, ignore_errors=True)  # of fewer runs
        counts = tables(what, folder / "tables")
        redraw.redraw(folder, args.config)
    except ValueError as error:
        sys.exit(f"error: {error}")
    for experiment, (done, of) in counts.items():
        print(f"{experiment}: {done} of {of} runs")
    print(f"Figures: {folder}/figures  Tables: {folder}/tables  Claims: {folder}/claims.md")


if __name__ == "__main__":
    main()
