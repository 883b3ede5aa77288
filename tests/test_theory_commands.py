"""The commands of the theory: from config.yaml to a table and its picture."""

from __future__ import annotations

import ast
import inspect
import shlex
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from experiments import plan
from experiments.config import ConfigError
from experiments.theory import commands

ROOT = Path(__file__).parent.parent
SIZES = {
    "regret": {"folder": Path("t"), "problems": ["a", "b"], "algorithms": ["c", "d"], "runs": 3},
    "growth": {"problems": ["a"], "dims": [4, 16], "iterations": 9, "runs": 2, "root_seed": 1},
    "variance": {"problems": ["a", "b"], "dim": 32, "repeats": 20, "root_seed": 2},
    "orthogonal": {
        "problems": ["a"], "dims": [4, 8], "iterations": 9, "runs": 2, "dim": 8, "repeats": 3,
        "root_seed": 6,
    },
    "unbiased": {"dim": 3, "repeats": 10, "root_seed": 3},
    "trust_region": {"instances": 50, "root_seed": 4},
    "gap": {"dim": 10, "repeats": 7, "conditions": [1.0, 30.5, 1e4], "root_seed": 5},
    "update_size": {"dim": 3, "stds": [1.0, 0.25], "root_seed": 7},
    "hyper_parameters": {},
}  # fmt: skip


def test_every_question_has_sizes_here_a_table_and_a_picture():
    pictures = {path.stem for path in (ROOT / "figures" / "theory").glob("*.py")}
    assert set(SIZES) == set(commands.QUESTIONS) == pictures - {"__init__", "shared"}


@pytest.mark.parametrize("question", commands.QUESTIONS)
def test_a_command_is_read_back_as_the_sizes_it_was_built_from(question):
    sizes = SIZES[question]
    command = commands.command(question, to="x.csv", **sizes)
    assert command.module == f"experiments.theory.{question}"
    args = vars(commands.parser(question).parse_args(command.arguments))
    assert args == {**sizes, "to": Path("x.csv")}


@pytest.mark.parametrize("question", commands.QUESTIONS)
def test_a_module_holds_a_table_of_these_sizes_and_a_command_to_paste(question):
    module = import_module(f"experiments.theory.{question}")
    assert tuple(inspect.signature(module.table).parameters) == commands.QUESTIONS[question]
    words = shlex.split(module.__doc__.partition("\n\n")[2].replace("\\\n", " "))
    assert words[:3] == ["python", "-m", module.__name__]
    args = commands.parser(question).parse_args(words[3:])
    assert args.to == Path(f"results/tables/theory/{question}.csv")
    assert getattr(args, "root_seed", 0) == 0


@pytest.mark.parametrize("package", ["experiments", "figures"])
@pytest.mark.parametrize("question", commands.QUESTIONS)
def test_no_question_imports_another(package, question):
    """An edit of one reruns that one only."""
    tree = ast.parse((ROOT / package / "theory" / f"{question}.py").read_text(encoding="utf-8"))
    froms = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    modules = {node.module for node in froms} | {
        f"{node.module}.{alias.name}" for node in froms for alias in node.names
    }
    others = set(commands.QUESTIONS) - {question}
    assert not modules & {
        f"{p}.theory.{other}" for p in (package, "experiments") for other in others
    }


def test_the_commands_load_no_numerical_library():
    script = (
        "import sys, experiments.theory.commands; "
        "print(*{'numpy', 'pandas', 'scipy', 'matplotlib', 'pyarrow'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, check=True, capture_output=True, text=True
    )
    assert done.stdout == "\n"


def test_an_unknown_question_is_named():
    said = "no question 'shrinkage'; there are: regret, growth, .*, hyper_parameters"
    with pytest.raises(ValueError, match=said):
        commands.command("shrinkage", to="x.csv", dim=3)
    with pytest.raises(ValueError, match=said):
        commands.parser("shrinkage")


@pytest.mark.parametrize(
    ("question", "sizes", "said"),
    [("gap", {"dim": 3, "repeats": 2}, "gap takes dim, .*; not dim, repeats"),
     ("trust_region", {"instances": 3, "dim": 3}, "trust_region takes .*; not instances, dim"),
     ("trust_region", {"instances": 3, "folder": "t"}, "trust_region takes .*; not folder, inst"),
     ("regret", {"problems": ["a"], "algorithms": ["b"], "runs": 1}, "regret takes folder, .*; no"),
     ("hyper_parameters", {"dim": 3}, "hyper_parameters takes no sizes; not dim")],
)  # fmt: skip
def test_sizes_that_do_not_fit_the_question_are_named(question, sizes, said):
    with pytest.raises(ValueError, match=said):
        commands.command(question, to="x.csv", **sizes)


# ---- the workflow --------------------------------------------------------------------------------


@pytest.fixture
def quick(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    return plan.load(ROOT / "config.yaml", ROOT / "tests" / "quick.yaml")


def test_every_question_of_the_config_has_a_command_that_its_parser_reads(quick):
    assert set(quick.theory) == set(commands.QUESTIONS)
    for question in quick.theory:
        words = shlex.split(str(quick.theory_command(question)))
        assert words[:3] == ["python", "-m", f"experiments.theory.{question}"]
        args = commands.parser(question).parse_args(words[3:])
        assert getattr(args, "root_seed", 2020) == 2020
    assert len(quick.theory_needs("regret")) == 2 * 3 * 5
    assert quick.theory_needs("growth") == []


@pytest.mark.parametrize(
    ("text", "said"),
    [("{regret: {experiment: concave}}", "theory.regret.experiment is 'concave'; allowed: .*vex"),
     ("{shrinkage: {dim: 3}}", "theory has no key 'shrinkage'; allowed: regret"),
     ("{growth: {problems: [quadratik]}}", "theory.growth.problems is 'quadratik'; allowed: quad"),
     ("{variance: {problems: [levy]}}", "theory.variance.problems is 'levy'; allowed: quadratic"),
     ("{regret: {experiment: figure_1}}", "theory.regret.experiment, .* is 'ellipsoid'; allowed"),
     ("{gap: {dim: 1}}", "theory.gap.dim is 1; allowed: a number ≥ 2")],
)  # fmt: skip
def test_what_the_config_may_not_say_is_named(quick, text, said):
    Path("bad.yaml").write_text(f"theory: {text}")
    with pytest.raises(ConfigError, match=said):
        plan.load(ROOT / "config.yaml", "bad.yaml")


@pytest.mark.parametrize("question", [name for name in commands.QUESTIONS if name != "regret"])
def test_tables_and_pictures_from_the_command_line(quick, question):
    """regret needs the traces of an experiment; test_theory.py draws it from two of its own."""
    quick.theory_command(question).call()
    assert Path(quick.theory_table(question)).is_file()
    quick.theory_figure_command(question).call()
    for suffix in (".png", ".pdf", ".svg", ".md"):
        drawn = quick.results / "figures" / f"theory_{question}{suffix}"
        assert drawn.stat().st_size > 0
