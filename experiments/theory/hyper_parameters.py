"""How many hyper-parameters do INGO and CMA-ES have?

python -m experiments.theory.hyper_parameters --to results/tables/theory/hyper_parameters.csv
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import Field, fields
from typing import Any

import pandas as pd
from cma import CMAOptions, purecma

import algorithms
from experiments.theory import shared

OURS = ("ingo", "ingo_step", "fast_ingo", "igo", "es")
# of ours, for what is none of the paper's methods, or a choice that the paper leaves open
READINGS = {
    *((name, "ddof") for name in OURS),
    ("fast_ingo", "flat"),
    ("fast_ingo", "mean_step"),
    ("igo", "shaping"),
    ("ingo", "mean_step_size"),
}
USER = ("popsize", "sigma0")  # λ and σ₀, which a user of CMA-ES sets
# λ again, what follows from μ and the weights, and what only saves time
DERIVED = ("dimension", "lam", "chiN", "mueff", "lazy_gap_evals")


def table() -> pd.DataFrame:
    """Hyper-parameters of the optimisers, read from their code: one row per method and parameter.

    ``kind`` is "set" for what a user sets, "rule" for a constant of the update that a formula
    gives, "strategy" for what pycma lets a user change of its update, "option" for its other
    options. INGO and its variants are read from their dataclasses; textbook CMA-ES from purecma's
    class of constants; pycma's CMA-ES from its table of options.
    """
    rules = [name for name in vars(purecma.CMAESParameters(10, 10)) if name not in DERIVED]
    options = [name for name in CMAOptions.defaults() if name != "popsize"]
    strategy = [name for name in options if name.startswith("CMA_")]
    others = [name for name in options if name not in strategy]
    return pd.DataFrame(
        [
            *(
                {"method": name, "parameter": field.name, "kind": kind(field)}
                for name in OURS
                for field in fields(algorithms.load(name))  # type: ignore[arg-type]
                if (name, field.name) not in READINGS
            ),
            *rows("cma_es", "set", USER),
            *rows("cma_es", "rule", rules),
            *rows("pycma", "set", USER),
            *rows("pycma", "strategy", strategy),
            *rows("pycma", "option", others),
        ]
    )


def kind(field: Field[Any]) -> str:
    """A step size like "1/d" is a formula. N has one too, but is set, as popsize is."""
    return "rule" if field.name == "step_size" and isinstance(field.default, str) else "set"


def rows(method: str, kind: str, parameters: Iterable[str]) -> list[dict[str, str]]:
    """The rows of these parameters."""
    return [{"method": method, "parameter": name, "kind": kind} for name in parameters]


def main(arguments: list[str] | None = None) -> None:
    """Write the table."""
    shared.write("hyper_parameters", __doc__, table, arguments)


if __name__ == "__main__":
    main()
