"""Every setting of the runs of the paper's figures, as a number and with its place in the text.

The numbers are written out here and not computed by the code that is tested. "ours" is a reading
where the paper is silent (docs/deviations.md).
"""

from __future__ import annotations

from math import isclose
from typing import Any, NamedTuple

import numpy as np
import pytest

import algorithms
import problems
from algorithms import cma_es
from algorithms.shared import adam, settings
from experiments.paths import PUBLISHED, ROOT
from experiments.plan import load
from experiments.runs import record, simulate
from experiments.runs.spec import Spec
from experiments.tables import estimates, summaries

PLAN = load(ROOT / "config.yaml")

FUNCTIONS = ("ellipsoid", "l1_ellipsoid", "l_half_ellipsoid", "discus", "levy", "rastrigin10")
BODIES = ("swimmer", "half_cheetah", "inverted_double_pendulum", "humanoid_standup")
BITS = ("binary_100", "binary_500", "binary_1000", "binary_2000")
REINFORCE = tuple(f"reinforce_1e-{k}" for k in range(1, 7))

# of a figure: its problems, its methods, its runs, and the place of these in the text
FIGURES = {
    "figure_1": (FUNCTIONS, ("fast_ingo", "ingo", "ingo_step", "igo", "cma_es", "es"), 20,
                 'Section 6, "over 20 independent runs for 100-dimensional problems"; Table 1'),
    "figure_2": (BODIES, ("fast_ingo", "es", "es_sgd", "es_sgd_unscaled", "asebo"), 5,
                 'Section 6, "Five independent runs are performed"'),
    "figure_3": (BITS, ("bernoulli_ingo", "ga", "simple_ga"), 10,
                 "Appendix A, caption of the figure"),
    "figure_4": (FUNCTIONS, ("es_1", "es_0.1", "es_0.01", "es_0.001", "es_0.0001"), 20,
                 'Appendix, "different step-size (1, 0.1, 0.01, 0.001, 0.0001)"'),
    "figure_5": (FUNCTIONS, REINFORCE, 20,
                 'Appendix, "It tends to diverge even for stepsize 1e-6"'),
}  # fmt: skip


class Row(NamedTuple):
    """What some cells of a figure are set to."""

    place: str
    figure: str
    methods: tuple[str, ...]  # none: all of the figure
    wanted: dict[str, Any]
    problems: tuple[str, ...] = ()  # none: all of the figure


PARAMETERS = 'Section 6, "Parameter Settings"'
RL = 'Section 6, "Evaluation on RL test problems"'
DISCRETE = 'Appendix A, "Evaluation on discrete test problems"'
SWEEPS = 'Appendix, "Evaluation of ES and Standard Reinforce Gradient Descent"'
SALIMANS = 'Section 6, "the default step-size hyper-parameters"'
OURS = "ours"

ADAM = {"shaping": "centred_ranks", "optimiser": "adam", "divide_by_std": False}
PLAIN = {"shaping": "standardise", "optimiser": "sgd"}

ROWS = [
    Row(PARAMETERS, "figure_1", (), {"dim": 100, "N": 18, "initial_std": 0.5}),
    Row(PARAMETERS, "figure_1", ("ingo", "ingo_step", "igo"), {"step_size": 0.01, "ddof": 1}),
    Row(PARAMETERS, "figure_1", ("fast_ingo",), {"step_size": 0.1, "ddof": 1}),
    Row("Algorithm 1", "figure_1", ("fast_ingo",), {"mean_step": "new"}),
    Row("Section 4.1, h of a batch", "figure_1", ("igo",), {"shaping": "standardise"}),
    Row(OURS, "figure_1", ("fast_ingo",), {"flat": "end"}),
    Row("Algorithm 1", "figure_1", ("ingo",), {"mean_step_size": None}),  # that of Σ
    Row("Table 1", "figure_1", (), {"condition": 1e6}, ("ellipsoid",)),
    Row("Table 1", "figure_4", (), {"condition": 1e6}, ("ellipsoid",)),
    Row("Table 1", "figure_5", (), {"condition": 1e6}, ("ellipsoid",)),
    Row(SALIMANS, "figure_1", ("es",), {"step_size": 0.01, **ADAM}),
    Row(OURS, "figure_1", ("cma_es",), {"active": False, "diagonal": False, "patience": 10_000}),
    Row(OURS, "figure_1", ("cma_es",), {"adapt_covariance": True}),
    Row(OURS, "figure_1", (), {"budget": 1_800_000, "target": 1e-10, "record_every": 1000}),

    Row(RL, "figure_2", (), {"dim": 178, "N": 48, "task": "Swimmer"}, BODIES[:1]),
    Row(RL, "figure_2", (), {"dim": 390, "N": 52, "task": "HalfCheetah"}, BODIES[1:2]),
    Row(RL, "figure_2", (), {"dim": 209, "N": 52, "task": "InvertedDoublePendulum"}, BODIES[2:3]),
    Row(RL, "figure_2", (), {"dim": 6321, "N": 72, "task": "HumanoidStandup"}, BODIES[3:]),
    Row(RL, "figure_2", (), {"initial_std": 0.1}),
    Row(RL, "figure_2", ("fast_ingo",), {"step_size": 0.3}),
    Row("Algorithm 1", "figure_2", ("fast_ingo",), {"mean_step": "new"}),
    Row(PARAMETERS, "figure_2", ("fast_ingo",), {"ddof": 1}),
    Row(OURS, "figure_2", ("fast_ingo",), {"flat": "end"}),
    Row(RL, "figure_2", ("es",), {"step_size": 0.01, **ADAM}),
    Row(OURS, "figure_2", ("es_sgd",), {"step_size": 0.01, **PLAIN, "divide_by_std": True}),
    Row(OURS, "figure_2", ("es_sgd_unscaled",),
        {"step_size": 0.01, **PLAIN, "divide_by_std": False}),
    Row("ASEBO's released code", "figure_2", ("asebo",),
        {"step_size": 0.05, "shaping": "standardise", "isotropic_iterations": 70,
         "explained_variance": 0.995, "decay": 0.99, "normalise": False}),
    Row(OURS, "figure_2", (), {"budget": 14_400}, BODIES[:1]),
    Row(OURS, "figure_2", (), {"budget": 15_600}, BODIES[1:3]),
    Row(OURS, "figure_2", (), {"budget": 21_600}, BODIES[3:]),
    Row(OURS, "figure_2", (),
        {"version": "v4", "horizon": 1000, "biases": True, "output": "linear", "starts": "random",
         "report_rollouts": 1, "target": None, "record_every": 1}),

    Row(DISCRETE, "figure_3", (), {"dim": 100, "N": 56}, BITS[:1]),
    Row(DISCRETE, "figure_3", (), {"dim": 500, "N": 68}, BITS[1:2]),
    Row(DISCRETE, "figure_3", (), {"dim": 1000, "N": 72}, BITS[2:3]),
    Row(DISCRETE, "figure_3", (), {"dim": 2000, "N": 76}, BITS[3:]),
    Row(DISCRETE, "figure_3", ("bernoulli_ingo",), {"step_size": 0.01, "ddof": 1}, BITS[:1]),
    Row(DISCRETE, "figure_3", ("bernoulli_ingo",), {"step_size": 0.002, "ddof": 1}, BITS[1:2]),
    Row(DISCRETE, "figure_3", ("bernoulli_ingo",), {"step_size": 0.001, "ddof": 1}, BITS[2:3]),
    Row(DISCRETE, "figure_3", ("bernoulli_ingo",), {"step_size": 0.0005, "ddof": 1}, BITS[3:]),
    Row(OURS, "figure_3", ("ga",), {"patience": 1000}),
    Row(OURS, "figure_3", ("ga", "simple_ga"), {"crossover_rate": 0.9}),
    Row(OURS, "figure_3", ("ga", "simple_ga"), {"mutation_rate": 0.01}, BITS[:1]),
    Row(OURS, "figure_3", ("ga", "simple_ga"), {"mutation_rate": 0.002}, BITS[1:2]),
    Row(OURS, "figure_3", ("ga", "simple_ga"), {"mutation_rate": 0.001}, BITS[2:3]),
    Row(OURS, "figure_3", ("ga", "simple_ga"), {"mutation_rate": 0.0005}, BITS[3:]),
    Row(OURS, "figure_3", (), {"budget": 200_000}, BITS[:1]),
    Row(OURS, "figure_3", (), {"budget": 2_000_000}, BITS[1:2]),
    Row(OURS, "figure_3", (), {"budget": 6_000_000}, BITS[2:3]),
    Row(OURS, "figure_3", (), {"budget": 18_000_000}, BITS[3:]),
    Row(OURS, "figure_3", (), {"target": None, "record_every": 100}),
    Row(OURS, "figure_3", (), {"w_seed": None}),

    Row(SWEEPS, "figure_4", (), {"dim": 100, "N": 18, "initial_std": 0.5, **ADAM}),
    Row(SWEEPS, "figure_4", ("es_1",), {"step_size": 1.0}),
    Row(SWEEPS, "figure_4", ("es_0.1",), {"step_size": 0.1}),
    Row(SWEEPS, "figure_4", ("es_0.01",), {"step_size": 0.01}),
    Row(SWEEPS, "figure_4", ("es_0.001",), {"step_size": 0.001}),
    Row(SWEEPS, "figure_4", ("es_0.0001",), {"step_size": 0.0001}),
    Row(OURS, "figure_4", (), {"budget": 1_800_000, "target": 1e-10, "record_every": 1000}),

    Row(SWEEPS, "figure_5", (), {"dim": 100, "N": 18, "initial_std": 0.5}),
    Row(SWEEPS, "figure_5", (), {"parameter": "variance", "shaping": "raw"}),
    Row(SWEEPS, "figure_5", ("reinforce_1e-6",), {"step_size": 0.000001}),
    Row(OURS, "figure_5", ("reinforce_1e-1",), {"step_size": 0.1}),
    Row(OURS, "figure_5", ("reinforce_1e-2",), {"step_size": 0.01}),
    Row(OURS, "figure_5", ("reinforce_1e-3",), {"step_size": 0.001}),
    Row(OURS, "figure_5", ("reinforce_1e-4",), {"step_size": 0.0001}),
    Row(OURS, "figure_5", ("reinforce_1e-5",), {"step_size": 0.00001}),
    Row(OURS, "figure_5", (), {"budget": 1_800_000, "target": 1e-10, "record_every": 1000}),
]  # fmt: skip

# the other readings of the text, each of which is one change to a method of Figure 1
READINGS = {
    "active_cma_es": ("cma_es", {"active": True}),
    "sep_cma_es": ("cma_es", {"diagonal": True}),
    "csa_es": ("cma_es", {"adapt_covariance": False}),
    "es_std_0.02": ("es", {"initial_std": 0.02}),
    "es_sgd_unscaled": ("es", {"shaping": "standardise", "optimiser": "sgd"}),
    "fast_ingo_ddof_0": ("fast_ingo", {"ddof": 0}),
    "ingo_ddof_0": ("ingo", {"ddof": 0}),
    "fast_ingo_old": ("fast_ingo", {"mean_step": "old"}),
    "fast_ingo_flat": ("fast_ingo", {"flat": "continue"}),
    "igo_ranks": ("igo", {"shaping": "log_ranks"}),
    "es_raw": ("es", {"shaping": "raw"}),
}

GAUSSIAN = {"samples": None, "initial_std": 0.5}
NORMALISED = {"samples": None, "step_size": "1/d", "ddof": 1}
DEFAULTS = {
    "ingo": {**NORMALISED, "initial_std": 0.5, "mean_step_size": None},
    "ingo_step": {**NORMALISED, "initial_std": 0.5},
    "igo": {**NORMALISED, "initial_std": 0.5, "shaping": "standardise"},
    "fast_ingo": {
        **GAUSSIAN, "step_size": "1/sqrt(d)", "ddof": 1, "mean_step": "new", "flat": "end",
    },
    "es": {**GAUSSIAN, "step_size": 0.01, **ADAM},
    "reinforce_gd": {**GAUSSIAN, "step_size": 1e-6, "parameter": "variance", "shaping": "raw"},
    "cma_es": {
        **GAUSSIAN, "active": False, "diagonal": False, "adapt_covariance": True,
        "patience": 10_000,
    },
    "asebo": {
        **GAUSSIAN, "step_size": 0.05, "shaping": "standardise", "isotropic_iterations": 70,
        "explained_variance": 0.995, "decay": 0.99, "normalise": False,
    },
    "bernoulli_ingo": NORMALISED,
    "categorical_ingo": NORMALISED,
    "ga": {"samples": None, "crossover_rate": 0.9, "mutation_rate": "1/d", "patience": 1000},
    "simple_ga": {"samples": None, "crossover_rate": 0.9, "mutation_rate": "1/d"},
    "one_plus_one_ea": {"mutation_rate": "1/d", "resample": False},
    "umda": {"samples": None, "selected": None, "step_size": 1.0},
    "framework": {
        **GAUSSIAN, "estimator": "batch", "curvature": "constant", "step_size": 1.0, "b": 0.5,
        "gamma": 1.0,
    },
}  # fmt: skip

# 2⌊3 + ⌊3 ln d⌋/2⌋ by the smallest d that has it: 6 + 2k from e^(2k/3) on
SAMPLES = {
    2: 8, 3: 8, 4: 10, 7: 10, 8: 12, 14: 12, 15: 14, 28: 14, 29: 16, 54: 16, 55: 18, 100: 18,
    106: 18, 107: 20, 207: 20, 208: 22, 403: 22, 404: 24, 500: 24, 785: 24, 786: 26, 1000: 26,
    1530: 26, 1531: 28, 2000: 28, 2980: 28, 2981: 30,
}  # fmt: skip


def measured(spec: Spec) -> dict[str, Any]:
    """All that a cell is set to, as numbers: defaults and rules that hang on d are worked out."""
    problem = problems.build(spec.problem, spec.problem_parameters)
    algorithm = algorithms.build(spec.algorithm, spec.algorithm_parameters)
    hyper = {key: settings.resolve(value, problem.dim) if "/" in str(value) else value
             for key, value in vars(algorithm).items() if key != "samples"}  # fmt: skip
    keys = problems.defaults(spec.problem) | spec.problem_parameters
    return {
        **keys,
        **hyper,
        "dim": problem.dim,
        "N": simulate.batch_size(spec),
        "budget": spec.budget,
        "target": spec.target,
        "record_every": spec.record_every,
    }


def equal(found: Any, wanted: Any) -> bool:
    """0.01 and 1/100 are one number, 1 and True are not."""
    if isinstance(wanted, float) and isinstance(found, float):
        return isclose(found, wanted, rel_tol=1e-15)
    return type(found) is type(wanted) and found == wanted


@pytest.fixture(scope="module")
def cells() -> dict[tuple[str, str, str], dict[str, Any]]:
    """What every cell of the paper's figures is set to."""
    return {
        (figure, *cell): measured(spec)
        for figure in FIGURES
        for cell, spec in PLAN.experiments[figure].cells.items()
    }


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.figure}-{','.join(row.wanted)}")
def test_a_setting_is_the_one_of_the_text(row, cells):
    bodies, methods = FIGURES[row.figure][:2]
    for problem in row.problems or bodies:
        for method in row.methods or methods:
            found = cells[row.figure, problem, method]
            for key, wanted in row.wanted.items():
                assert equal(found[key], wanted), (problem, method, key, found[key], row.place)


def test_no_cell_has_a_setting_that_stands_in_no_row(cells):
    told: dict[tuple[str, str, str], set[str]] = {cell: set() for cell in cells}
    for row in ROWS:
        bodies, methods = FIGURES[row.figure][:2]
        for problem in row.problems or bodies:
            for method in row.methods or methods:
                told[row.figure, problem, method] |= row.wanted.keys()
    for cell, found in cells.items():
        assert told[cell] == found.keys(), cell


@pytest.mark.parametrize("figure", FIGURES)
def test_a_figure_has_the_problems_methods_and_runs_of_the_paper(figure):
    bodies, methods, runs, _ = FIGURES[figure]
    experiment = PLAN.experiments[figure]
    assert list(experiment.cells) == [(body, method) for body in bodies for method in methods]
    assert experiment.runs == runs
    for (problem, method), spec in experiment.cells.items():
        assert spec.root_seed == 2020
        assert spec.bits == "native"
        assert spec.problem == (
            {"figure_2": "control", "figure_3": "binary_reconstruction"}.get(figure, problem)
        )
        names = {"figure_4": "es", "figure_5": "reinforce_gd"}
        own = "es" if method.startswith("es_sgd") else method
        assert spec.algorithm == names.get(figure, own)
    assert experiment.shared == ({"es_0.01": ("figure_1", "es")} if figure == "figure_4" else {})


def test_the_curves_are_those_of_the_paper():
    """The minimum of the batch over evaluations; of control, the reward over iterations."""
    first = PLAN.figures["figure_1"]
    assert (first["column"], first["band"]) == ("batch_min", "range")
    assert PLAN.figures["figure_2"]["x"] == "iterations"
    assert [PLAN.figures[name]["experiment"] for name in FIGURES] == list(FIGURES)


@pytest.mark.parametrize("reading", READINGS)
def test_another_reading_is_one_change_to_a_method_of_figure_1(reading, cells):
    of, changes = READINGS[reading]
    for function in FUNCTIONS:
        spec = PLAN.experiments["variants"].cells[function, reading]
        assert measured(spec) == cells["figure_1", function, of] | changes
        assert (spec.problem, spec.algorithm) == (function, of)


def test_every_reading_is_in_the_table():
    assert set(PLAN.experiments["variants"].algorithms) == set(READINGS)
    assert PLAN.experiments["variants"].runs == 10


@pytest.mark.parametrize("name", algorithms.available())
def test_defaults_are_the_papers(name):
    found = algorithms.defaults(name)
    assert found.keys() == DEFAULTS[name].keys()
    for key, wanted in DEFAULTS[name].items():
        assert equal(found[key], wanted), key


def test_the_sample_size_for_all_dimensions():
    """Section 6 and Appendix A; the discrete formula is 20 + 2 (N of the continuous one)."""
    assert {d: settings.samples(d) for d in SAMPLES} == SAMPLES
    assert {d: settings.samples_discrete(d) for d in SAMPLES} == {
        d: 20 + 2 * n for d, n in SAMPLES.items()
    }
    for method in ("ingo", "ingo_step", "igo", "fast_ingo", "cma_es", "es", "reinforce_gd"):
        assert {d: algorithms.build(method, {}).batch_size(d) for d in SAMPLES} == SAMPLES
    for method in ("bernoulli_ingo", "ga", "simple_ga"):
        assert algorithms.build(method, {}).batch_size(2000) == 76


def test_a_first_mean_is_uniform_on_the_unit_cube_that_of_control_0_and_of_bits_even():
    """Section 6: "sample μ₁ ~ Uni[0, 1]" and "μ₁ = 0"."""
    first = [simulate.Run(PLAN.experiments["figure_1"].cells["levy", "ingo"], s) for s in range(20)]
    means = np.array([run.mean for run in first])
    assert means.shape == (20, 100)
    assert (means >= 0).all()
    assert (means <= 1).all()
    assert abs(means.mean() - 0.5) < 0.03  # 4.6 standard errors
    assert abs(means.std() - 12**-0.5) < 0.02
    body = simulate.Run(PLAN.experiments["figure_2"].cells["swimmer", "fast_ingo"], 0)
    assert not body.mean.any()
    bits = simulate.Run(PLAN.experiments["figure_3"].cells["binary_100", "bernoulli_ingo"], 0)
    assert (bits.mean == 0.5).all()


def test_the_policy_has_one_hidden_layer_of_16():
    """Section 6: "The number of hidden unit is set to h = 16". 16 (o + a) + 16 + a numbers."""
    cell = PLAN.experiments["figure_2"].cells["humanoid_standup", "es"]
    assert problems.build(cell.problem, cell.problem_parameters).dim == 16 * (376 + 17) + 16 + 17


def test_pycma_runs_with_every_tolerance_off():
    """Ours: purecmaes stops at the target and the budget only."""
    run = simulate.Run(PLAN.experiments["figure_1"].cells["levy", "cma_es"], 0)
    library = run.algorithm.init(run.mean, np.random.default_rng(0)).library
    off = {
        "maxiter": np.inf, "tolfun": 0, "tolfunhist": 0, "tolfunrel": 0, "tolx": 0,
        "tolxstagnation": False, "tolstagnation": False, "tolupsigma": np.inf,
        "tolfacupx": np.inf, "tolconditioncov": False, "tolflatfitness": np.inf,
    }  # fmt: skip
    assert {name: library.opts[name] for name in off} == off
    tolerances = {name for name in library.opts if name.startswith("tol")}
    assert tolerances - off.keys() == set()
    assert cma_es.EPS == 2.0**-52
    assert (library.popsize, library.sigma0, library.N) == (18, 0.5, 100)
    assert not library.opts["CMA_active"]
    assert not library.opts["CMA_diagonal"]
    assert library.opts["CMA_on"] == 1
    assert library.opts["CMA_mirrors"] == 0


def test_constants_that_no_config_has():
    assert (adam.BETA1, adam.BETA2, adam.EPSILON) == (0.9, 0.999, 1e-8)  # Salimans et al.
    assert record.TARGETS[0] == 1e8
    assert record.TARGETS[-1] == 1e-10
    assert summaries.DECADES == (
        1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10,
    )  # fmt: skip
    assert (estimates.LEVEL, estimates.RESAMPLES, estimates.FEWEST) == (0.95, 2000, 6)


def test_what_was_really_run_is_less_in_one_place_only():
    kept = load(ROOT / "config.yaml", ROOT / PUBLISHED / "config.yaml")
    for figure in FIGURES:
        assert kept.experiments[figure].runs == PLAN.experiments[figure].runs
        for (problem, method), spec in kept.experiments[figure].cells.items():
            full = PLAN.experiments[figure].cells[problem, method]
            if problem == "humanoid_standup":
                assert (spec.budget, full.budget) == (1440, 21_600)
            else:
                assert spec == full
