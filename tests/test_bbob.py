"""COCO's functions: its code against another library's, what a run gets, and what is refused."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import problems
from problems.bbob import GROUPS, NAMES, bbob

pytest.importorskip("cocoex", reason="make .venv/field installs it")


def test_values_are_those_of_another_library():
    """IOHprofiler has its own code of all 24 functions."""
    ioh = pytest.importorskip("ioh")
    rng = np.random.default_rng(0)
    for function in range(1, 25):
        for dim, run in ((2, 0), (5, 2), (20, 14)):
            ours = bbob(run, function, dim)
            theirs = ioh.get_problem(function, run + 1, dim, ioh.ProblemClass.BBOB)
            x = rng.uniform(-5, 5, (3, dim))
            assert ours.evaluate(x) == pytest.approx([theirs(list(row)) for row in x], rel=1e-9)
            assert ours.minimum == pytest.approx(theirs.optimum.y, abs=1e-12)


@pytest.mark.parametrize("function", range(1, 25))
def test_the_minimum_is_at_the_minimiser(function):
    problem = bbob(3, function, 5)
    assert problem.evaluate(problem.minimiser[None])[0] == pytest.approx(problem.minimum, abs=1e-9)
    around = problem.minimiser + np.random.default_rng(0).normal(0, 0.1, (50, 5))
    assert (problem.evaluate(around) >= problem.minimum).all()  # the slope is flat beyond


def test_the_sphere_by_hand():
    problem = bbob(0, 1, 4)
    x = np.random.default_rng(0).normal(size=(3, 4))
    by_hand = np.sum((x - problem.minimiser) ** 2, axis=1) + problem.minimum
    assert problem.evaluate(x) == pytest.approx(by_hand, rel=1e-12)


def test_run_k_has_instance_k_plus_the_first():
    x = np.zeros((1, 3))

    def value(run, **more):
        return problems.build("bbob", {"function": 8, "dim": 3, **more}, run=run).evaluate(x)[0]

    assert len({value(run) for run in range(15)}) == 15
    assert value(15) == value(0, first_instance=16)
    assert value(2, first_instance=16) == value(17)


def test_the_first_mean_is_anywhere_in_the_region():
    problem = bbob(0, 1, 200)
    start = problem.start(np.random.default_rng(0))
    assert start.shape == (200,)
    assert (np.abs(start) <= 5.0).all()
    assert start.min() < -4.0 < 4.0 < start.max()


def test_names_and_groups():
    assert len(NAMES) == 24
    assert [k for of in GROUPS.values() for k in of] == list(range(1, 25))
    assert bbob(0, 8, 2).title == "f8 Rosenbrock"


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"function": 25}, "function is 25; allowed: from 1 to 24"),
        ({"function": 0}, "function is 0"),
        ({"function": True}, "function is True"),
        ({"dim": 1}, "dim is 1; allowed: a whole number ≥ 2"),
        ({"first_instance": 0}, "first_instance is 0"),
    ],
)
def test_what_would_end_the_process_is_refused(wrong, error):
    with pytest.raises(ValueError, match=error):
        bbob(0, **{"function": 1, "dim": 2, **wrong})


def test_where_coco_is_not_installed_it_says_what_to_do(monkeypatch):
    monkeypatch.setitem(sys.modules, "cocoex", None)
    with pytest.raises(ImportError, match="run: make .venv/field"):
        bbob(0, 1, 2)
