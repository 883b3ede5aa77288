"""What the questions share: problems with constants, slopes, intervals, and the command line."""

from __future__ import annotations

import sys
from collections.abc import Callable
from math import sqrt
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

import problems
from algorithms.shared.interface import Array
from experiments.tables import files
from experiments.theory import commands
from problems.convex import ConvexProblem

LEVEL = 0.95  # of every confidence interval


def convex(name: str, parameters: dict[str, Any]) -> ConvexProblem:
    """A problem that states the theorems' constants.

    Raises:
        ValueError: the problem states none.
    """
    problem = problems.build(name, parameters)
    if not isinstance(problem, ConvexProblem):
        raise ValueError(f"{name} states no constants; allowed: the problems of problems/convex.py")
    return problem


def slope(x: Any, y: Any) -> float:
    """The slope of log y against log x, by least squares."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def interval(values: Array, name: str) -> dict[str, Any]:
    """Mean over the first axis with its t interval, as columns name, name_low and name_high."""
    n, mean = len(values), values.mean(axis=0)
    if n == 1:
        return {name: mean, f"{name}_low": np.nan, f"{name}_high": np.nan}
    half = stats.t.ppf((1 + LEVEL) / 2, n - 1) * values.std(axis=0, ddof=1) / sqrt(n)
    return {name: mean, f"{name}_low": mean - half, f"{name}_high": mean + half}


def ratio(above: Array, below: Array) -> dict[str, float]:
    """Ratio of the means of paired samples, as columns ratio, ratio_low and ratio_high.

    The interval is the t interval of a_i − (ā/b̄) b_i, over b̄.
    """
    found = float(above.mean() / below.mean())
    half = interval(above - found * below, "rest")["rest_high"] / below.mean()
    return {"ratio": found, "ratio_low": found - half, "ratio_high": found + half}


def progress(text: str) -> None:
    """Report what is done, at once and not into the table."""
    print(text, file=sys.stderr, flush=True)


def write(
    question: str,
    about: str | None,
    table: Callable[..., pd.DataFrame],
    arguments: list[str] | None,
) -> None:
    """The command of a question: read its sizes, compute its table, write it.

    Args:
        about: the docstring of the question's module, for the help.
        table: the function of the question; its arguments are named like the sizes.
        arguments: of the command line; None takes the process's own.
    """
    sizes = vars(commands.parser(question, about).parse_args(arguments))
    to = sizes.pop("to")
    try:
        computed = table(**sizes)
    except ValueError as error:
        sys.exit(f"error: {error}")
    files.write_csv(computed, to)
