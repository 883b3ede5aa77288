"""The test functions: the formulas of Table 1 written out plainly, their minima, their batches."""

from __future__ import annotations

from math import cos, pi, sin

import numpy as np
import pytest

import problems
from problems import table_1


def ellipsoid(x):
    d = len(x)
    return sum(10 ** (6 * i / (d - 1)) * x[i] ** 2 for i in range(d))


def l1_ellipsoid(x):
    d = len(x)
    return sum(10 ** (6 * i / (d - 1)) * abs(x[i]) for i in range(d))


def l_half_ellipsoid(x):
    d = len(x)
    return sum(10 ** (6 * i / (d - 1)) * abs(x[i]) ** 0.5 for i in range(d))


def discus(x):
    return 10**6 * x[0] ** 2 + sum(v**2 for v in x[1:])


def levy(x):
    w = [1 + (v - 1) / 4 for v in x]
    return (
        sin(pi * w[0]) ** 2
        + sum((v - 1) ** 2 * (1 + 10 * sin(pi * v + 1) ** 2) for v in w[:-1])
        + (w[-1] - 1) ** 2 * (1 + sin(2 * pi * w[-1]) ** 2)
    )


def rastrigin10(x):
    d = len(x)
    y = [10 ** (i / (d - 1)) * x[i] for i in range(d)]
    return 10 * d + sum(v**2 - 10 * cos(2 * pi * v) for v in y)


PLAIN = [ellipsoid, l1_ellipsoid, l_half_ellipsoid, discus, levy, rastrigin10]


@pytest.mark.parametrize("plain", PLAIN, ids=lambda f: f.__name__)
@pytest.mark.parametrize("dim", [2, 3, 17, 100])
def test_a_batch_equals_the_formula_point_by_point(plain, dim):
    problem = problems.build(plain.__name__, {"dim": dim})
    x = np.random.default_rng(dim).uniform(-3, 3, (7, dim))
    assert np.allclose(problem.evaluate(x), [plain(row) for row in x], rtol=1e-12, atol=0)


# Computed once with thirty digits (mpmath) at x = (1/2, −1/4, 2).
GOLDEN = {
    "ellipsoid": 4000062.75,
    "l1_ellipsoid": 2000250.5,
    "l_half_ellipsoid": 1414714.2694798762,
    "discus": 250004.0625,
    "levy": 0.43593518282845581,
    "rastrigin10": 428.35346372931599,
}


@pytest.mark.parametrize("name", GOLDEN)
def test_golden_values(name):
    value = problems.build(name, {"dim": 3}).evaluate(np.array([[0.5, -0.25, 2.0]]))
    assert value[0] == pytest.approx(GOLDEN[name], rel=1e-12)


@pytest.mark.parametrize("plain", PLAIN, ids=lambda f: f.__name__)
def test_the_minimum_is_exact_and_nothing_near_is_below(plain):
    problem = problems.build(plain.__name__, {"dim": 20})
    assert problem.evaluate(problem.minimiser[None, :])[0] == problem.minimum == 0.0
    rng = np.random.default_rng(0)
    for scale in (1e-9, 1e-3, 1.0):
        x = problem.minimiser + scale * rng.standard_normal((200, 20))
        assert (problem.evaluate(x) > problem.minimum).all()


@pytest.mark.parametrize("plain", PLAIN, ids=lambda f: f.__name__)
def test_no_digits_are_lost_near_the_minimum(plain):
    """At a distance of 1e-9 the value still scales as the function does, to nine digits."""
    power = {"l1_ellipsoid": 1.0, "l_half_ellipsoid": 0.5}.get(plain.__name__, 2.0)
    problem = problems.build(plain.__name__, {"dim": 6})
    step = np.linspace(0.5, 1.0, 6)
    near, nearer = problem.evaluate(problem.minimiser + np.outer([2e-9, 1e-9], step))
    assert near / nearer == pytest.approx(2.0**power, rel=1e-6)


@pytest.mark.parametrize("plain", PLAIN, ids=lambda f: f.__name__)
def test_the_first_mean_is_uniform_on_the_unit_cube(plain):
    problem = problems.build(plain.__name__, {"dim": 5000})
    mean = problem.start(np.random.default_rng(1))
    assert mean.shape == (5000,)
    assert mean.min() >= 0.0
    assert mean.max() <= 1.0
    # of 5,000 uniforms the mean has a standard error of 0.0041, the variance of 1/12 one of 0.0011
    assert abs(mean.mean() - 0.5) < 0.025
    assert abs(mean.var() - 1 / 12) < 0.0063


@pytest.mark.parametrize("plain", PLAIN, ids=lambda f: f.__name__)
@pytest.mark.parametrize("dim", [1, 0, -3, 2.0, True, "10", None])
def test_a_dimension_that_is_none_is_named(plain, dim):
    with pytest.raises(ValueError, match="dim is .*; allowed: a whole number ≥ 2"):
        problems.build(plain.__name__, {"dim": dim})


def test_errors_name_what_there_is():
    with pytest.raises(ValueError, match="no problem is called 'sphere'; there are: .*ellipsoid"):
        problems.build("sphere", {"dim": 3})
    with pytest.raises(ValueError, match="ellipsoid has no parameter 'dims'; it has: dim"):
        problems.build("ellipsoid", {"dims": 3})
    with pytest.raises(ValueError, match="ellipsoid lacks its parameter 'dim'"):
        problems.build("ellipsoid", {})


def test_table_1_has_all_six_functions_and_both_corrections(tmp_path):
    table_1.main(["--to", str(tmp_path / "table_1")])
    markdown = (tmp_path / "table_1.md").read_text()
    latex = (tmp_path / "table_1.tex").read_text()
    assert markdown.count("\n| ") == 6
    assert markdown.count("- **") == 2
    assert "unbounded below" in markdown
    assert latex.count(r"\\" + "\n") == 1 + 6 + 2
    assert latex.isascii()
    assert r"10^6 x_1^2" in latex
    # a bar inside a cell would split it
    assert all(line.count("|") == 4 for line in markdown.splitlines() if line.startswith("|"))


def test_noise_is_the_stream_s_own_numbers_wherever_the_points_are():
    problem = problems.build("noise", {"dim": 3}, np.random.default_rng(4))
    own = np.random.default_rng(4)
    for x in (np.zeros((5, 3)), np.full((2, 3), 1e6), -np.eye(3)):
        assert np.array_equal(problem.evaluate(x), own.standard_normal(len(x)))
        assert np.isnan(problem.f_at(x[0]))  # and nothing is drawn for it
    assert problem.minimum == -np.inf
