"""From traces to the two tables of an experiment: one row a run, and curves over its runs.

    python -m experiments.tables.aggregate results/traces/figure_1 \\
        --cells ellipsoid/ingo levy/ingo --runs 20 --to results/tables/figure_1

Traces are held against the seed that they are named by and, where a cell is given with a key, as
the workflow does, against the settings and the code that the config asks for.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import problems
from experiments.runs import trace
from experiments.runs.spec import Spec
from experiments.tables import commands, files

QUANTITIES = ("f_mean", "batch_min", "batch_mean", "best", "sigma", "condition")
FIRST = ("f_mean", "batch_min", "batch_mean", "sigma")  # of the first row
QUANTILES = {"min": 0.0, "q1": 0.25, "median": 0.5, "q3": 0.75, "max": 1.0}
NO_KEYS: Mapping[tuple[str, str], str] = MappingProxyType({})
AREAS = ("f_mean", "batch_mean")  # averaged over a run, to say how fast it was


def run_row(rows: pd.DataFrame, metadata: dict[str, Any]) -> dict[str, Any]:
    """A trace as its row of the table of runs: its last row and why it ended, what it began with,
    and what it was on average.
    """
    last = rows.iloc[-1].to_dict()
    ints = {name: int(last[name]) for name in ("iteration", "evaluations", "environment_steps")}
    kept = {name: metadata[name] for name in ("seed", "title", "minimum", "stop", "stop_detail")}
    first = {f"first_{name}": rows[name].iloc[0] for name in FIRST}
    spec = metadata["spec"]
    areas = {
        f"area_{name}": _average(rows["evaluations"], rows[name], spec["budget"]) for name in AREAS
    }
    dim = spec["problem_parameters"].get("dim")
    return {**kept, "dim": dim, **first, **areas, **last, **ints, "hits": metadata["hits"]}


def _average(x: pd.Series, y: pd.Series, end: int) -> float:
    """The area under the curve y(x), carried forward to ``end``, over its length; of a single point
    its y.
    """
    length = end - x.iloc[0]
    if not length:
        return float(y.iloc[0])
    with np.errstate(all="ignore"):  # what is not finite stays so
        return float((np.trapezoid(y, x) + y.iloc[-1] * (end - x.iloc[-1])) / length)


def curve(runs: list[pd.DataFrame], quantity: str) -> pd.DataFrame:
    """Statistics of one quantity over the runs of a cell, at every grid point.

    A run that has ended carries its last value forward to where the last run ends. Statistics
    are over the finite values, and ``finite`` counts them: one lost run must not poison a mean.

    Returns columns evaluations, runs, finite, mean, min, q1, median, q3, max.
    """
    # On the grid, every run that is still going has a row of its own.
    last = max(int(rows["evaluations"].iloc[-1]) for rows in runs)
    on_grid = [rows["evaluations"].iloc[:-1] for rows in runs]
    grid = np.unique(np.concatenate([*on_grid, [last]]))
    values = np.array([_step(rows, quantity, grid) for rows in runs])  # (runs, grid)
    finite = pd.DataFrame(np.where(np.isfinite(values), values, np.nan))
    return pd.DataFrame(
        {
            "evaluations": grid,
            "runs": len(runs),
            "finite": finite.count(),
            "mean": finite.mean(),
            **{name: finite.quantile(level) for name, level in QUANTILES.items()},
        }
    )


def _step(rows: pd.DataFrame, quantity: str, grid: NDArray[np.int64]) -> NDArray[np.float64]:
    """The value of the last row at or before each grid point."""
    at = np.searchsorted(rows["evaluations"].to_numpy(), grid, side="right") - 1
    values: NDArray[np.float64] = rows[quantity].to_numpy(dtype=float)
    return values[np.maximum(at, 0)]


def aggregate(
    cells: Mapping[tuple[str, str], Sequence[Path]], keys: Mapping[tuple[str, str], str] = NO_KEYS
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The table of runs and the table of curves of an experiment.

    Args:
        cells: the traces of each (problem, optimiser), at least one each.
        keys: what the traces of each are recognised by, where that is asked for.

    Raises:
        ValueError: traces are missing, broken, or others than they should be; all of them are
            named, with what to do.
    """
    rows, curves, broken = [], [], []
    specs: dict[str, Spec] = {}  # one of each problem
    for (problem, algorithm), paths in cells.items():
        label = {"problem": problem, "algorithm": algorithm}
        cell = []
        for path in paths:
            try:
                table, metadata = trace.read(path)
                check(path, metadata, keys.get((problem, algorithm), ""))
            except ValueError as error:
                broken.append(str(error))
            else:
                cell.append(table.to_pandas())
                specs[problem] = Spec.recorded(metadata)
                rows.append({**label, **run_row(cell[-1], metadata)})
        if cell:
            stepping = any(run["environment_steps"].iloc[-1] for run in cell)
            quantities = (*QUANTITIES, "environment_steps") if stepping else QUANTITIES
            curves += [
                curve(cell, quantity).assign(**label, quantity=quantity) for quantity in quantities
            ]
    if broken:
        raise ValueError("\n".join(broken))
    runs = pd.DataFrame(rows)
    return runs.assign(title=titles(runs, specs)), pd.concat(curves, ignore_index=True)


def titles(runs: pd.DataFrame, specs: Mapping[str, Spec]) -> pd.Series:
    """The titles of the runs. Where problems have the same one, the parameters in which they differ
    come after it.

    Args:
        specs: one of each problem.
    """
    made = runs["title"].copy()
    for title, rows in runs.groupby("title"):
        alike = list(rows["problem"].unique())
        if len(alike) == 1:
            continue
        own = {p: problems.defaults(specs[p].problem) | specs[p].problem_parameters for p in alike}
        first = own[alike[0]]
        differ = [key for key in first if any(its.get(key) != first[key] for its in own.values())]
        for problem, its in own.items():
            what = [f"{key} {_short(its[key])}" for key in differ if key in its]
            here = (runs["title"] == title) & (runs["problem"] == problem)
            made[here] = ", ".join([str(title), *what])
    return made


def _short(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def check(path: Path, metadata: dict[str, Any], key: str) -> None:
    """Raise ValueError unless a trace is of the seed that it is named by, and of the settings and
    the code that ``key`` is of.
    """
    spec = Spec.recorded(metadata)
    why = ""
    if str(metadata["seed"]) != path.stem:
        why = f"it is of seed {metadata['seed']}"
    elif key and trace.key(spec, metadata.get("code", "")) != key:
        why = f"it is of {spec}, or of other code, {metadata.get('code') or 'unknown'}"
    if why:
        raise ValueError(f"{path} is not the run that is asked for: {why}\n{trace.redo(path)}")


def write(
    cells: Mapping[tuple[str, str], Sequence[Path]],
    folder: Path,
    keys: Mapping[tuple[str, str], str] = NO_KEYS,
) -> None:
    """Write runs.parquet and curves.parquet of an experiment.

    Raises:
        ValueError: as ``aggregate``.
    """
    for name, table in zip(("runs", "curves"), aggregate(cells, keys), strict=True):
        files.write_parquet(table, folder / f"{name}.parquet")


def main(arguments: list[str] | None = None) -> None:
    """Write the tables of an experiment whose runs are all done."""
    args = commands.aggregate_parser(__doc__).parse_args(arguments)
    cells = {cell[:2]: cell.traces(args.traces, args.runs) for cell in args.cells}
    try:
        write(cells, args.to, {cell[:2]: cell.key for cell in args.cells})
    except ValueError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
