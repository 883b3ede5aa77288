"""The commands of the theory: for each question its parser and the builder of its command.

Light: every start of the workflow imports this file, so no numpy, pandas or scipy here.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from experiments import command as command_line
from experiments.command import Command

# Each question, and the sizes of its table in the order of its function's arguments.
QUESTIONS: dict[str, tuple[str, ...]] = {
    "regret": ("folder", "problems", "algorithms", "runs"),
    "growth": ("problems", "dims", "iterations", "runs", "root_seed"),
    "variance": ("problems", "dim", "repeats", "root_seed"),
    "orthogonal": ("problems", "dims", "iterations", "runs", "dim", "repeats", "root_seed"),
    "unbiased": ("dim", "repeats", "root_seed"),
    "trust_region": ("instances", "root_seed"),
    "gap": ("dim", "repeats", "conditions", "root_seed"),
    "update_size": ("dim", "stds", "root_seed"),
    "hyper_parameters": (),
}

# How each size is read from the command line. All are required, except those with a default.
OPTIONS: dict[str, dict[str, Any]] = {
    "problems": {"nargs": "+", "help": "convex problems, by name"},
    "algorithms": {"nargs": "+", "help": "optimisers of the experiment"},
    "runs": {"type": int, "help": "independent runs per cell"},
    "dims": {"type": int, "nargs": "+", "help": "dimensions d"},
    "dim": {"type": int, "help": "dimension d"},
    "iterations": {"type": int, "help": "iterations T per run"},
    "repeats": {"type": int, "help": "Monte-Carlo sample size"},
    "instances": {"type": int, "help": "random trust-region problems"},
    "conditions": {"type": float, "nargs": "+", "help": "condition numbers of the covariance"},
    "stds": {"type": float, "nargs": "+", "help": "standard deviations of the distribution"},
    "root_seed": {"type": int, "default": 0, "help": "0 by default"},
}


def module(question: str) -> str:
    """The module that answers a question.

    Raises:
        ValueError: there is no such question; the message lists those there are.
    """
    if question not in QUESTIONS:
        there_are = ", ".join(QUESTIONS)
        raise ValueError(f"the theory has no question {question!r}; there are: {there_are}")
    return f"experiments.theory.{question}"


def command(
    question: str, *, to: Path | str, folder: Path | str | None = None, **sizes: object
) -> Command:
    """The command that computes the table of a question.

    Args:
        to: the table, .csv.
        folder: of the experiment's traces, for a question that is answered from traces.
        sizes: one per name in QUESTIONS; ``root_seed`` may be left out.

    Raises:
        ValueError: there is no such question, or its sizes are others; the message says which.
    """
    name = module(question)
    given = sizes if folder is None else {"folder": folder, **sizes}
    needed = set(QUESTIONS[question])
    if not needed - {"root_seed"} <= given.keys() <= needed:
        takes, got = (", ".join(names) or "no sizes" for names in (QUESTIONS[question], given))
        raise ValueError(f"{question} takes {takes}; not {got}")
    words = () if folder is None else (folder,)
    return Command.of(name, *words, **sizes, to=to)


def parser(question: str, about: str | None = None) -> argparse.ArgumentParser:
    """The parser of the arguments of that command.

    Args:
        about: the docstring of the question's module, for the help.

    Raises:
        ValueError: there is no such question; the message lists those there are.
    """
    made = command_line.parser(module(question), about or f"The theory: {question}.")
    for size in QUESTIONS[question]:
        if size == "folder":
            made.add_argument("folder", type=Path, help="folder of the experiment's traces")
        else:
            how = {"required": "default" not in OPTIONS[size], **OPTIONS[size]}
            made.add_argument(f"--{size.replace('_', '-')}", **how)
    made.add_argument("--to", type=Path, required=True, help="the table, .csv")
    return made
