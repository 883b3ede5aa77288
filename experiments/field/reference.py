"""Published results that COCO's post-processing brings along, as tables to hold ours against.

    python -m experiments.field.reference --dim 5 --to results/field/tables/bbob_5/best_2009.csv

Read from the files of the package cocopp, which is not imported: it would look for an archive on
the network.
"""

from __future__ import annotations

import gzip
import pickle
import sys
import tarfile
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from experiments.field import commands
from experiments.runs.record import TARGETS
from problems.bbob import NAMES


def best_2009(dim: int) -> pd.DataFrame:
    """Evaluations of the best algorithm of BBOB-2009 to each target, by its average running time.

    Returns columns function, target, evaluations; of targets that none reached there is no row.

    Raises:
        ValueError: cocopp is not installed, or has no results in that dimension.
    """
    rows = []
    with tarfile.open(_package() / "refalgs" / "best2009-bbob.tar.gz") as archive:
        for function in range(1, len(NAMES) + 1):
            try:
                file = archive.extractfile(
                    f"best2009-bbob/bbob-bestalg_f{function:02d}_d{dim:02d}.dat"
                )
            except KeyError:
                raise ValueError(f"there are no results of 2009 in {dim} dimensions") from None
            assert file is not None
            lines = [line.split() for line in file.read().decode().splitlines()]
            known = [(float(w[0]), float(w[1])) for w in lines if w and not w[0].startswith("%")]
            evaluations, value = np.array(known).T
            for target in TARGETS:
                reached = value <= target * 1.001  # ours have four digits, COCO's more
                if reached.any():
                    rows.append((function, target, float(evaluations[reached].min())))
    return pd.DataFrame(rows, columns=["function", "target", "evaluations"])


def published(algorithm: str, function: int, dim: int) -> NDArray[np.float64]:
    """Evaluations to 1e-8 of each published run of an algorithm, by COCO's name for it; inf where
    it did not get there.
    """
    _, *runs = _runs()[algorithm][function][dim][0]
    times: NDArray[np.float64] = np.array(runs, dtype=float)
    return np.where(np.isnan(times), np.inf, times)


@cache
def _runs() -> dict[str, Any]:
    """By algorithm, function and dimension: arrays of the target and the evaluations of runs."""
    with gzip.open(_package() / "pprldistrever_1e-8.pickle.gz") as file:
        runs: dict[str, Any] = pickle.load(file, encoding="latin1")
    return runs


def _package() -> Path:
    """The folder of cocopp."""
    spec = find_spec("cocopp")
    if spec is None or not spec.submodule_search_locations:
        raise ValueError("cocopp is not installed; run: make .venv/field")
    return Path(spec.submodule_search_locations[0])


def main(arguments: list[str] | None = None) -> None:
    """Write the table of the best algorithms."""
    args = commands.reference_parser(__doc__).parse_args(arguments)
    try:
        best_2009(args.dim).to_csv(args.to, index=False)
    except ValueError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
