"""What every optimiser and problem keeps to, whichever file it is in; a new one is found here."""

from __future__ import annotations

import dataclasses
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import algorithms
import problems
from algorithms.shared import settings
from algorithms.shared.halving import shorter
from algorithms.shared.interface import Stop
from algorithms.shared.loop import iterate, quiet

SPACES = {name: algorithms.load(name).space for name in algorithms.available()}
NAMES = [name for name, space in SPACES.items() if space == "real"]  # others: test_discrete.py
DIM = 7
PROBLEMS = {name: {"dim": 6} for name in problems.available()} | {
    "bbob": {"function": 8, "dim": 6},
    "categorical_reconstruction": {"dim": 6, "categories": 3},
    "control": {"task": "Swimmer", "horizon": 3},
    "rotated": {"function": "levy", "dim": 6},
    "pbo": {"function": 1, "dim": 6},
}
if not find_spec("ioh"):  # which not every environment has
    del PROBLEMS["pbo"]


def sphere(x):
    return np.sum((x - 3.0) ** 2, axis=1)


def batches(name, budget=2000, seed=0, fun=sphere, **parameters):
    optimiser = algorithms.build(name, parameters)
    start = np.linspace(-1, 1, DIM)
    with quiet():
        return list(iterate(optimiser, fun, start, np.random.default_rng(seed), budget))


def test_the_methods_and_problems_of_the_paper_are_found():
    assert {"ingo", "ingo_step", "fast_ingo", "igo", "cma_es", "es"} <= set(NAMES)
    table_1 = {"ellipsoid", "l1_ellipsoid", "l_half_ellipsoid", "discus", "levy", "rastrigin10"}
    assert table_1 | {"binary_reconstruction", "control"} <= set(problems.available())


@pytest.mark.parametrize("name", algorithms.available())
def test_an_optimiser_is_a_documented_frozen_dataclass(name):
    cls = algorithms.load(name)
    assert dataclasses.is_dataclass(cls)
    assert cls.__dataclass_params__.frozen
    assert "Source:" in cls.__doc__
    assert "Differs:" in cls.__doc__
    assert cls.space in ("real", "binary", "categorical")
    for field in dataclasses.fields(cls):
        assert field.default is not dataclasses.MISSING, f"{field.name} has no default"


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("scale", [0.01, 5.0])
def test_the_start_has_the_scale_it_was_given(name, scale):
    optimiser = algorithms.build(name, {"initial_std": scale, "samples": 400})
    rng = np.random.default_rng(0)
    mean = np.linspace(-1, 1, 25)
    state = optimiser.init(mean, rng)
    assert np.array_equal(state.mean, mean)
    # pycma spreads its first eigenvalues by a part in 10⁴, so that none are equal
    assert state.spread().sigma == pytest.approx(scale, rel=1e-4)
    assert state.spread().condition == pytest.approx(1.0, rel=1e-3)
    x = optimiser.ask(state, rng).x
    # 10,000 normals (5,000 pairs for ES): 8 standard errors are 8/√(2·5000) = 8 %
    assert np.std(x - mean) == pytest.approx(scale, rel=0.08)


@pytest.mark.parametrize("name", NAMES)
def test_a_batch_comes_with_the_state_that_it_was_drawn_from(name):
    """Even if the batch is looked at after it has been told, as a trace does."""
    found = batches(name)
    assert np.array_equal(found[0].state.mean, np.linspace(-1, 1, DIM))
    means = {b.state.mean.tobytes() for b in found}
    assert len(means) > 1
    sigmas = [b.state.spread().sigma for b in found]
    optimiser = algorithms.build(name, {})
    rng = np.random.default_rng(0)
    state = optimiser.init(np.linspace(-1, 1, DIM), rng)
    for batch, sigma in zip(found, sigmas, strict=True):
        assert np.array_equal(batch.state.mean, state.mean)
        assert sigma == state.spread().sigma
        samples = optimiser.ask(state, rng)
        assert np.array_equal(samples.x, batch.x)
        state = optimiser.tell(state, samples, batch.values)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("samples", [None, 6, 20])
def test_a_batch_has_n_points(name, samples):
    batch = batches(name, budget=100, samples=samples)[0]
    n = samples or 2 * (3 + int(3 * np.log(DIM)) // 2)
    extra = name == "framework"  # f(μ) is paid for
    assert batch.x.shape == (n + extra, DIM)
    assert algorithms.build(name, {"samples": samples}).batch_size(DIM) == n + extra


@pytest.mark.parametrize("name", NAMES)
def test_the_same_stream_gives_the_same_run_and_another_does_not(name):
    a, b, c = (batches(name, seed=seed) for seed in (1, 1, 2))
    assert all(np.array_equal(i.x, j.x) for i, j in zip(a, b, strict=True))
    assert not np.array_equal(a[0].x, c[0].x)


@pytest.mark.parametrize("name", NAMES)
def test_numpys_global_generator_is_neither_read_nor_moved(name):
    np.random.seed(1)  # noqa: NPY002
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    a = batches(name)
    assert np.array_equal(np.random.get_state()[1], before)  # noqa: NPY002
    np.random.seed(2)  # noqa: NPY002
    b = batches(name)
    assert np.array_equal(a[-1].x, b[-1].x)


@pytest.mark.parametrize("name", NAMES)
def test_tell_leaves_its_arguments_alone(name):
    optimiser = algorithms.build(name, {})
    rng = np.random.default_rng(0)
    start = np.zeros(DIM)
    state = optimiser.init(start, rng)
    batch = optimiser.ask(state, rng)
    values = sphere(batch.x)
    copies = [a.copy() for a in (*batch, values)]
    optimiser.tell(state, batch, values)
    assert all(np.array_equal(a, b) for a, b in zip((*batch, values), copies, strict=True))
    assert not start.any()


@pytest.mark.parametrize("name", [n for n in NAMES if n != "cma_es"])
def test_tell_is_a_function_of_its_arguments(name):
    """pycma's object changes in place, which its state says; all others can be told twice."""
    optimiser = algorithms.build(name, {})
    rng = np.random.default_rng(0)
    state = optimiser.init(np.zeros(DIM), rng)
    batch = optimiser.ask(state, rng)
    first, second = (optimiser.tell(state, batch, sphere(batch.x)) for _ in range(2))
    assert np.array_equal(first.mean, second.mean)
    assert np.array_equal(state.mean, np.zeros(DIM))


@pytest.mark.parametrize("name", [n for n in NAMES if n != "reinforce_gd"])
def test_it_gets_better_on_a_sphere(name):
    """All but the paper's own example of a method that does not."""
    run = batches(name, budget=20000)
    assert np.median([b.minimum for b in run[-10:]]) < 0.5 * run[0].minimum


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_bad_values_never_raise(name, bad):
    """A NaN ends the run as diverged; an infinity may be ranked, or end it."""

    def fun(x):
        values = sphere(x)
        values[0] = bad
        return values

    run = batches(name, fun=fun)
    assert run[-1].ended is not None
    allowed = {Stop.DIVERGED} if np.isnan(bad) else {Stop.DIVERGED, Stop.BUDGET}
    assert run[-1].ended.reason in allowed
    assert np.isfinite(run[-1].best)


@pytest.mark.parametrize("name", NAMES)
def test_a_flat_function_never_raises(name):
    run = batches(name, fun=lambda x: np.full(len(x), 0.1))
    assert run[-1].ended is not None
    assert run[-1].ended.reason in {Stop.FLAT, Stop.STAGNATED, Stop.BUDGET}


@pytest.mark.parametrize("name", algorithms.available())
@pytest.mark.parametrize("key", ["stepsize", "space"])
def test_wrong_hyper_parameters_are_named(name, key):
    """The class's space is not one of them."""
    with pytest.raises(ValueError, match=f"{name} has no hyper-parameter '{key}'; it has: "):
        algorithms.build(name, {key: 1})


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("key", "value"),
    [("samples", 1), ("samples", 2.5), ("samples", "18"), ("initial_std", 0), ("initial_std", -1.0),
     ("initial_std", "wide"), ("initial_std", float("nan")), ("samples", True)],
)  # fmt: skip
def test_values_that_are_not_allowed_are_named(name, key, value):
    with pytest.raises(ValueError, match=f"{key} is .*; allowed: "):
        algorithms.build(name, {key: value})


@pytest.mark.parametrize(
    ("name", "key", "value"),
    [("ingo", "step_size", "1/n"), ("ingo", "step_size", 0.0), ("ingo", "ddof", 2),
     ("ingo", "ddof", True), ("fast_ingo", "mean_step", "newer"), ("es", "shaping", "ranks"),
     ("es", "optimiser", "rmsprop"), ("es", "divide_by_std", 1), ("cma_es", "active", 1),
     ("cma_es", "patience", -1)],
)  # fmt: skip
def test_values_of_one_methods_keys(name, key, value):
    with pytest.raises(ValueError, match=f"{key} is .*; allowed: "):
        algorithms.build(name, {key: value})


@pytest.mark.parametrize("rule", ["2/n", "/d", "0/d", "-1/d", "inf/d", "nan/d", "1/d/d", "d", ""])
@pytest.mark.parametrize("name", ["ingo", "fast_ingo", "igo", "bernoulli_ingo", "framework"])
def test_a_step_size_that_is_no_rule_is_named(name, rule):
    with pytest.raises(ValueError, match="step_size is .*; allowed: a positive number c, c/d, c/s"):
        algorithms.build(name, {"step_size": rule})


@pytest.mark.parametrize("name", ["ingo", "ingo_step", "fast_ingo", "igo"])
def test_a_step_size_may_grow_with_the_samples(name):
    """c·√N/d, and as a number the same, bit for bit; also where the step is halved."""
    a, b = (
        algorithms.build(name, {"step_size": step, "samples": 16})
        for step in ("0.5*sqrt(N)/d", 0.5 * 4 / DIM)
    )
    rng = np.random.default_rng(0)
    state = a.init(np.zeros(DIM), rng)
    samples = a.ask(state, rng)
    moved = [i.tell(state, samples, sphere(samples.x)).mean for i in (a, b)]
    assert np.array_equal(*moved)
    again = [shorter(i, state, samples, sphere(samples.x)).mean for i in (a, b)]
    assert np.array_equal(*again)
    assert not np.array_equal(moved[0], again[0])


@pytest.mark.parametrize("rule", ["1*sqrt(n)/d", "sqrt(N)/d", "1*N/d", "0*sqrt(N)/d", "1*sqrt(N)"])
def test_a_rule_of_the_samples_that_is_none_is_named(rule):
    with pytest.raises(ValueError, match=r"step_size is .*c\*sqrt\(N\)/d"):
        algorithms.build("ingo", {"step_size": rule})


def test_a_discrete_step_size_does_not_depend_on_the_samples():
    with pytest.raises(ValueError, match=r"step_size is .*c/sqrt\(d\)$"):
        algorithms.build("bernoulli_ingo", {"step_size": "1*sqrt(N)/d"})


@pytest.mark.parametrize(
    ("rule", "value"),
    [(0.3, 0.3), ("1/d", 1 / 25), ("2/d", 2 / 25), ("0.5/sqrt(d)", 0.1), ("1e-1/d", 0.004)],
)
def test_a_step_size_may_depend_on_the_dimension(rule, value):
    assert settings.resolve(rule, 25) == value
    a, b = (algorithms.build("ingo", {"step_size": step}) for step in (rule, value))
    rng = np.random.default_rng(0)
    state = a.init(np.zeros(25), rng)
    samples = a.ask(state, rng)
    moved = [i.tell(state, samples, sphere(samples.x)).mean for i in (a, b)]
    assert np.array_equal(*moved)


def test_es_wants_an_even_number():
    with pytest.raises(ValueError, match="samples is 7; allowed: an even number"):
        algorithms.build("es", {"samples": 7})


def test_no_such_optimiser():
    with pytest.raises(ValueError, match="no optimiser is called 'adam'; there are: .*ingo"):
        algorithms.build("adam", {})
    for name in ("minimize", "shared", "__init__"):  # in the folder, but no optimisers
        with pytest.raises(ValueError, match=f"no optimiser is called '{name}'"):
            algorithms.load(name)


def test_a_file_without_a_class_of_its_name_is_named(monkeypatch):
    monkeypatch.setattr(algorithms, "available", lambda: ["shared"])
    with pytest.raises(TypeError, match=r"shared/__init__\.py holds no class called Shared"):
        algorithms.load("shared")


def test_every_file_beside_the_optimisers_is_one():
    files = {path.stem for path in Path(algorithms.__file__).parent.glob("*.py")}
    assert set(algorithms.available()) == files - {"__init__", "minimize"}
    assert all(algorithms.load(name) for name in algorithms.available())


def test_the_package_works_under_another_name(tmp_path):
    """Imports inside it are relative: it will be installed as another package."""
    shutil.copytree(Path(algorithms.__file__).parent, tmp_path / "ingo")
    code = (
        "import numpy as np, sys; from ingo.minimize import minimize;"
        "print(minimize(lambda x: x @ x, np.ones(3), 0.5, budget=600, seed=0).fun < 0.1);"
        "import ingo; [ingo.build(name, {}) for name in ingo.available()];"
        "print('algorithms' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["True", "False"]


def points(problem, n=5):
    """Points of the problem's space."""
    x = np.random.default_rng(1).standard_normal((n, problem.dim))
    return x if problem.space == "real" else (x > 0).astype(float)


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_problem_maps_a_batch_to_its_values_and_leaves_it_alone(name):
    problem = problems.build(name, PROBLEMS[name], np.random.default_rng(0))
    x = points(problem)
    copy = x.copy()
    values = problem.evaluate(x)
    assert values.shape == (5,)
    assert values.dtype == np.float64
    assert (values >= problem.minimum).all()
    assert np.array_equal(x, copy)
    assert problem.minimiser.shape == (problem.dim,)
    assert problem.start(np.random.default_rng(0)).shape[0] == problem.dim
    assert problem.title


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_problem_is_a_function_of_its_instance(name):
    a, b = (problems.build(name, PROBLEMS[name], np.random.default_rng(3)) for _ in range(2))
    x = points(a)
    for _ in range(2):
        assert np.array_equal(a.evaluate(x), b.evaluate(x))
    assert a.start(np.random.default_rng(4)).tolist() == b.start(np.random.default_rng(4)).tolist()


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_value_at_a_mean_is_not_charged_and_changes_nothing(name):
    a, b = (problems.build(name, PROBLEMS[name], np.random.default_rng(3)) for _ in range(2))
    x = points(a)
    assert isinstance(a.f_at(x[0]), float)
    assert np.array_equal(a.evaluate(x), b.evaluate(x))
    assert (a.steps() if a.steps else 0) == (b.steps() if b.steps else 0)
