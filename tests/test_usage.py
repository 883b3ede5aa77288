"""The comparison with other methods is fair by construction, and says what its table has."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from experiments.paths import PUBLISHED, ROOT
from experiments.runs.seeds import stream
from experiments.usage import commands, compare, methods, report, svm
from experiments.usage.methods import METHODS, Budgeted, Ended
from experiments.usage.tasks import FEWEST, PRECISION, TASKS, Task

KNOWN = {task.name: task for task in TASKS}
WITH_MINIMUM = [task for task in TASKS if task.minimiser is not None]
PUBLISHED_TABLE = ROOT / PUBLISHED / "usage.csv"


def name(task):
    return task.name if isinstance(task, Task) else None


def recommended(task, method, seed=0):
    """What a method recommends, and the function as it saw it."""
    f = Budgeted(task, np.random.default_rng(seed))
    with np.errstate(all="ignore"):
        try:
            x = METHODS[method](f, task.start(np.random.default_rng(seed)), stream(seed, method))
        except Ended:
            x = f.best_x
    return x, f


# ---- the problems --------------------------------------------------------------------------------


@pytest.mark.parametrize("task", WITH_MINIMUM, ids=name)
def test_the_minimum_is_at_the_minimiser_and_nowhere_lower(task):
    rng = np.random.default_rng(0)
    assert task.f(task.minimiser) == pytest.approx(task.minimum, abs=1e-12)
    assert ((task.low <= task.minimiser) & (task.minimiser <= task.high)).all()
    for scale in (1e-3, 0.1, 1.0, 10.0):
        x = task.minimiser + scale * rng.standard_normal((200, task.dim))
        if task.bounded:
            x = np.clip(x, task.low, task.high)
        values = np.array([task.f(row) for row in x])
        assert not (values < task.minimum - 1e-12).any()
        if not task.integers:
            elsewhere = np.isfinite(values) & (x != task.minimiser).any(axis=1)
            assert (values > task.minimum)[elsewhere].all()


def test_each_problem_has_what_it_is_there_for():
    flat = KNOWN["integers"]
    assert flat.f(flat.minimiser + 0.4) == 0.0 < flat.f(flat.minimiser + 0.6)
    assert ", ".join(f"{k:.0f}" for k in flat.minimiser).replace("-", "−") in flat.formula
    nan = KNOWN["nan_region"]
    assert np.isnan(nan.f(np.append(np.ones(9), -1e-9)))
    box = KNOWN["box"]
    assert box.f(box.minimiser - 0.1) < box.minimum  # outside of the box
    rastrigin = KNOWN["rastrigin"]
    x = np.linspace(-5.0, 5.0, 10)
    assert rastrigin.f(x) == pytest.approx(100 + np.sum(x**2 - 10 * np.cos(2 * np.pi * x)))
    noisy = KNOWN["noisy_sphere"]
    f = Budgeted(noisy, np.random.default_rng(0))
    values = [f(np.zeros(10)) for _ in range(2000)]
    assert np.mean(values) == pytest.approx(0.0, abs=0.01)
    assert np.std(values) == pytest.approx(0.1, abs=0.01)


def test_the_real_task_is_a_cross_validation_over_all_cases():
    tested = [len(points) for _, _, points, _ in svm.folds()]
    assert sum(tested) == 569
    assert max(tested) - min(tested) <= 1
    at_defaults = svm.error(np.array([0.0, 3 + np.log10(1 / 30)]))  # C = 1, γ = 1/d
    assert at_defaults == svm.error(np.array([0.0, 3 + np.log10(1 / 30)]))
    assert at_defaults * 569 == pytest.approx(round(at_defaults * 569))
    assert 0.01 < at_defaults < 0.04
    assert svm.error(np.array([-2.0, 4.0])) == pytest.approx(212 / 569)  # all are called benign


def test_features_are_standardised_on_what_a_fold_trains_on():
    """By the mean and the spread of these cases alone: those that it is tested on are unseen."""
    for train, _, test, _ in svm.folds():
        assert np.allclose(train.mean(axis=0), 0.0, atol=1e-10)
        assert np.allclose(train.std(axis=0), 1.0, rtol=1e-12, atol=0)
        assert np.abs(test.mean(axis=0)).max() > 0.05


def test_starts_are_shared_by_all_methods_and_differ_between_seeds(monkeypatch):
    starts = {}
    for method in METHODS:

        def start(f, x0, rng, method=method):
            starts.setdefault(method, []).append([*x0, rng.random()])
            return x0

        monkeypatch.setitem(methods.METHODS, method, start)
        for seed in (0, 1):
            compare.run(KNOWN["rosenbrock_2"], method, seed, 7)
    seen = np.array(list(starts.values()))  # (methods, seeds, x₀ and a random number)
    assert (seen[:, :, :2] == seen[0, :, :2]).all()
    assert np.unique(seen[0, :, :2]).size == 4
    assert np.unique(seen[:, :, 2]).size == 2 * len(METHODS)


# ---- the methods ---------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("task", TASKS, ids=name)
def test_no_method_takes_more_than_the_budget_or_leaves_the_box(task, method):
    seen = []

    def f(x):
        seen.append(x)
        return task.f(x) if task.name != "svm" else float(np.sum((x - 1.0) ** 2))

    watched = replace(task, f=f, budget=max(FEWEST, 15 * task.dim))
    x, counted = recommended(watched, method)
    assert x.shape == (task.dim,)
    assert len(seen) == counted.evaluations <= watched.budget
    if not counted.solved:
        assert counted.evaluations > watched.budget - 2 * FEWEST  # it used what it was given
    if task.bounded:
        points = np.array([*seen, x])
        assert task.low <= points.min() <= points.max() <= task.high


@pytest.mark.parametrize("method", ["CMA-ES with restarts", "L-BFGS-B", "random search"])
def test_methods_that_restart_use_the_whole_budget(method):
    """On plateaus, where a run ends early; in a box, onto which the new starts are projected."""
    task = Task(
        name="",
        title="",
        formula="",
        f=lambda x: float(np.round(x @ x)),
        dim=3,
        low=-1.0,
        high=1.0,
        bounded=True,
        budget=3000,
    )
    x, f = recommended(task, method)
    assert 2900 <= f.evaluations <= 3000
    assert task.f(x) == 0.0


def test_a_solved_task_ends_at_the_evaluation_that_solves_it():
    task = replace(KNOWN["noisy_sphere"], noise=0.0)
    f = Budgeted(task, np.random.default_rng(0))
    assert f(np.full(10, 2.0)) == 40.0
    with pytest.raises(Ended):
        f(np.full(10, 1e-5))
    assert (f.solved, f.evaluations, f.best) == (2, 2, pytest.approx(1e-9, rel=1e-7, abs=0))


def test_what_cannot_be_known_ends_no_run():
    for unknown in (KNOWN["noisy_sphere"], KNOWN["svm"]):
        assert unknown.target == -np.inf
    assert KNOWN["box"].target == KNOWN["box"].minimum + PRECISION


def test_nan_is_never_the_best_point():
    f = Budgeted(KNOWN["nan_region"], np.random.default_rng(0))
    assert np.isnan(f(np.full(10, -1.0)))
    f(np.full(10, 3.0))
    assert (f.best_x == 3.0).all()


@pytest.mark.parametrize("method", ["CMA-ES", "CMA-ES with restarts"])
def test_with_noise_pycma_recommends_a_mean(method):
    """Of its distribution, whose value it has seen; not the point with the smallest value."""
    task = KNOWN["noisy_sphere"].with_share(0.05)
    seen = []
    watched = replace(task, f=lambda x: seen.append(x) or task.f(x))
    x, f = recommended(watched, method)
    assert (np.array(seen) == x).all(axis=1).any()
    assert not np.array_equal(x, f.best_x)
    assert task.f(x) < 0.01 * task.f(seen[0])


def test_with_noise_the_mean_with_the_smallest_value_is_recommended(monkeypatch):
    """Of three runs that each end with an evaluation of their mean, the second."""

    def fmin2(f, x0, sigma, settings, init_callback, **_):
        for mean in (3.0, 1.0, 2.0):
            init_callback(SimpleNamespace(result=SimpleNamespace(xfavorite=np.full(10, mean))))
            f(np.full(10, mean))

    monkeypatch.setattr("cma.fmin2", fmin2)
    x, _ = recommended(KNOWN["noisy_sphere"], "CMA-ES with restarts")
    assert (x == 1.0).all()


def test_ctrl_c_is_passed_on_by_every_method():
    def f(x):
        nonlocal left
        left -= 1
        if left < 0:
            raise KeyboardInterrupt
        return float(x @ x)

    task = replace(KNOWN["noisy_sphere"], f=f)
    for method in METHODS:
        left = 30
        with pytest.raises(KeyboardInterrupt):
            recommended(task, method)


# ---- the table -----------------------------------------------------------------------------------


def test_the_same_command_gives_the_same_files(tmp_path):
    words = ["--runs", "2", "--share", "0.002", "--problems", "noisy_sphere", "integers", "box"]
    for to, seed in (("a", "1"), ("b", "1"), ("c", "2")):
        compare.main([*words, "--root-seed", seed, "--to", str(tmp_path / to)])
    for suffix in (".csv", ".md"):
        a, b, c = ((tmp_path / to).with_suffix(suffix).read_bytes() for to in "abc")
        assert a == b
        assert a != c
    table = pd.read_csv(tmp_path / "a.csv")
    assert len(table) == 3 * len(METHODS)
    assert (table["evaluations"] <= table["budget"]).all()
    assert report.markdown(table) == (tmp_path / "a.md").read_text(encoding="utf-8")


def test_the_summary_is_of_runs_solved_ones_first():
    solved = [compare.Outcome(n / 1024, n, n) for n in (7, 1, 3)]
    others = [compare.Outcome(error, 1000, None) for error in (5.0, 2.0, np.inf, 3.0, 4.0)]
    cell = compare.summary([*others, *solved])  # solved after 1, 3 and 7; errors 2, 3, 4, 5, ∞
    assert (cell["runs"], cell["solved"], cell["evaluations"]) == (8, 3, 1000)
    assert (cell["solved_after_low"], cell["error_low"]) == (7, 7 / 1024)
    assert np.isnan(cell["solved_after"])
    assert np.isnan(cell["solved_after_high"])
    assert (cell["error"], cell["error_high"]) == (3.0, 4.0)
    ten = compare.summary([compare.Outcome(0.0, n, n) for n in range(1, 11)])
    assert [ten[f"solved_after{end}"] for end in ("_low", "", "_high")] == [3, 6, 8]


def row(problem, method, median, low, high, solved, share=None):
    """Of the table: evaluations if solved, else errors."""
    ends = ("", "_low", "_high")
    values = dict(zip(ends, (median, low, high), strict=True))
    return {
        "problem": problem,
        "method": method,
        "dim": 2,
        "budget": 20000,
        "runs": 10,
        "solved": 10 * solved if share is None else share,
        **{f"error{end}": 1e-9 if solved else v for end, v in values.items()},
        **{f"solved_after{end}": v if solved else np.nan for end, v in values.items()},
    }


def by_hand(problem, cells):
    """Rows of a problem; random search is last everywhere."""
    cells = {**dict.fromkeys(METHODS, (1e5, 1e5, 1e5, False)), **cells}
    return [row(problem, method, *cell) for method, cell in cells.items()]


TABLE = pd.DataFrame(
    by_hand(  # ahead of all
        "noisy_sphere",
        {"INGO": (0.02, 0.01, 0.03, False), "Fast-INGO": (0.025, 0.02, 0.04, False),
         "CMA-ES": (0.5, 0.031, 0.6, False)},
    )
    + by_hand(  # level: the quartiles touch
        "svm",
        {"INGO": (0.02, 0.02, 0.021, False), "CMA-ES": (0.021, 0.021, 0.022, False),
         "L-BFGS-B": (0.03, 0.022, 0.04, False)},
    )
    + by_hand(  # behind, yet ahead of CMA-ES, which is not solved
        "ellipsoid",
        {"Fast-INGO": (8400, 8000, 8800, True), "diagonal CMA-ES": (4700, 4400, 5000, True),
         "CMA-ES": (1e-7, 1e-8, 1e-6, False)},
    )
    + by_hand(  # behind
        "rosenbrock_2",
        {"INGO": (1200, 1100, 1300, True, 9), "CMA-ES": (300, 250, 350, True),
         "L-BFGS-B": (52, 40, 115, True)},
    )
)  # fmt: skip


def test_bold_are_the_best_and_those_whose_quartiles_overlap():
    best = {found.task.name: found.best for found in report.rows(TABLE)}
    assert best == {
        "noisy_sphere": ["INGO", "Fast-INGO"],
        "svm": ["INGO", "CMA-ES"],
        "ellipsoid": ["diagonal CMA-ES"],
        "rosenbrock_2": ["L-BFGS-B"],
    }
    text = report.markdown(TABLE)
    assert "| Noisy sphere | **0.02** | **0.025** | 0.5 | 100k |" in text
    assert "| Ellipsoid 20-d | 100k | ✓ 8.4k | 1e-07 | **✓ 4.7k** |" in text
    assert "| Rosenbrock 2-d | ✓ 1.2k (9/10) | 100k | ✓ 300 |" in text


def test_the_paragraph_is_made_from_the_table():
    assert report.paragraph(TABLE) == (
        "INGO or Fast-INGO is ahead of all others on the noisy sphere (INGO: error 0.02; "
        "CMA-ES: error 0.5). One of them is level with the best on the SVM. Both are behind "
        "diagonal CMA-ES on Ellipsoid 20-d; behind L-BFGS-B on Rosenbrock 2-d. Against CMA-ES with "
        "its defaults, one of them is ahead on Ellipsoid 20-d (Fast-INGO: 8.4k "
        "evaluations; CMA-ES: error 1e-07) too. INGO itself "
        "is behind CMA-ES with its defaults on Ellipsoid 20-d and Rosenbrock 2-d."
    )
    last = report.paragraph(TABLE[TABLE["problem"] == "rosenbrock_2"])
    assert last == (
        "Neither INGO nor Fast-INGO is ahead of all others on any problem. Both are behind "
        "L-BFGS-B on Rosenbrock 2-d. INGO itself is behind CMA-ES with its defaults on Rosenbrock "
        "2-d."
    )


def test_a_tenth_of_the_budget_is_named_where_it_changes_the_place():
    kept, changed = (
        pd.concat(
            [TABLE, pd.DataFrame(by_hand("noisy_sphere_short", {winner: (1.0,) * 3 + (False,)}))]
        )
        for winner in ("INGO", "CMA-ES")
    )
    assert report.paragraph(kept) == report.paragraph(TABLE)
    named = "behind CMA-ES on the noisy sphere with a tenth of the budget."
    assert named in report.paragraph(changed)
    for text in (kept, changed):
        assert "| Noisy sphere with a tenth of the budget |" in report.markdown(text)


def test_the_settings_name_every_problem_and_method():
    assert set(KNOWN) == {task.name for task in TASKS}
    assert {name for names in report.ABOUT for name in names.split(", ")} == set(METHODS)
    assert {*report.OURS, report.DEFAULT} <= set(METHODS)
    assert all(1 < task.budget <= 10_000 * task.dim for task in TASKS)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.00213, "0.0021"),
        (18.7, "19"),
        (999.0, "1k"),
        (8449, "8.4k"),
        (1.24e6, "1.2M"),
        (0.0, "0"),
    ],
)
def test_numbers_have_two_digits(value, text):
    assert report.number(value) == text


def test_the_kept_text_is_what_its_table_gives():
    table = pd.read_csv(PUBLISHED_TABLE)
    kept = PUBLISHED_TABLE.with_suffix(".md").read_text(encoding="utf-8")
    assert report.markdown(table) == kept
    assert report.paragraph(table) in kept
    assert list(table["problem"].unique()) == [task.name for task in TASKS]
    assert list(table["method"].unique()) == list(METHODS)
    budgets = table.set_index("problem")["budget"].to_dict()
    assert budgets == {task.name: task.budget for task in TASKS}
    assert (table["runs"] == commands.RUNS).all()
    assert (table["evaluations"] <= table["budget"]).all()


# ---- the command ---------------------------------------------------------------------------------


def test_the_command_is_read_back():
    command = commands.compare(2020, Path("results/usage"))
    assert command.module == compare.__spec__.name
    args = vars(commands.compare_parser("Doc.").parse_args(command.arguments))
    assert args == {
        "root_seed": 2020,
        "to": Path("results/usage"),
        "runs": 10,
        "share": 1.0,
        "problems": None,
    }


def test_the_commands_load_no_numerical_library():
    script = (
        "import sys, experiments.usage.commands; "
        "print(*{'numpy', 'pandas', 'scipy', 'sklearn', 'cma'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, check=True, capture_output=True, text=True
    )
    assert done.stdout.strip() == ""


def test_an_unknown_problem_is_named():
    with pytest.raises(SystemExit, match="no problem sphere; there are: rosenbrock_2"):
        compare.main(["--problems", "sphere", "--to", "x"])


def test_a_stop_writes_nothing(tmp_path, monkeypatch, capsys):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setitem(methods.METHODS, "INGO", stop)
    with pytest.raises(SystemExit) as ended:
        compare.main(["--problems", "box", "--to", str(tmp_path / "usage")])
    assert ended.value.code == 130
    assert capsys.readouterr().err == "Stopped; nothing was written.\n"
    assert os.listdir(tmp_path) == []
