"""Numbers in the words on a claim, which the results page prints, are those of the kept results.

Words on the control tasks (claims 14, 15) are held in test_verdicts.py too.
"""

from __future__ import annotations

from functools import cache
from math import log10, sqrt

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

import algorithms
from experiments import plan
from experiments.claims import statements
from experiments.claims.measures import MEASURES
from experiments.paths import KEPT, PUBLISHED, ROOT
from experiments.publishing import archive
from experiments.runs.record import TARGETS
from experiments.tables.estimates import wilson
from experiments.tables.reader import Tables, evaluations_to, method
from problems.binary import binary_reconstruction

CLAIMS = statements.written()
CONFIG = plan.load(ROOT / "config.yaml")
TABLES = Tables(ROOT / PUBLISHED / "tables")
FUNCTIONS = ("ellipsoid", "l1_ellipsoid", "l_half_ellipsoid", "discus", "levy", "rastrigin10")
WORDS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def assert_says(number, *words):
    for own in words:
        assert own in CLAIMS[number]["why"], own


def reached(experiment, problem, algorithm, target=1e-10):
    """The evaluations of the runs that reached the target, and how many runs there are."""
    times = evaluations_to(TABLES.runs(experiment, problem, algorithm), target)
    return times[np.isfinite(times)], len(times)


def medians(experiment, problem, algorithms, column):
    """Of the last values above the minimum, by optimiser."""
    return [
        np.median(cell[column] - cell["minimum"])
        for cell in (TABLES.runs(experiment, problem, name) for name in algorithms)
    ]


@cache
def theory(table):
    return pd.read_csv(ROOT / PUBLISHED / "tables" / "theory" / f"{table}.csv")


def settings(experiment, name):
    """A parameter of the optimisers of an experiment by their names, where they have it."""
    found = {
        a: spec.algorithm_parameters
        for (_, a), spec in CONFIG.experiments[experiment].cells.items()
    }
    return {a: own[name] for a, own in found.items() if name in own}


# ---- thresholds and settings that the words repeat -----------------------------------------------


@pytest.mark.parametrize(
    ("number", "measure", "bound", "words"),
    [
        (5, "more_solved", ("at_least", 1 / 20), "by a twentieth of the runs at least"),
        (7, "last_progress", ("at_least", 1 / 2), "in the second half of the run"),
        (13, "rotation", ("at_least", 1 - 0.1), "hence the 10 % allowed"),
        (13, "rotation", ("at_most", 1 + 0.1), "hence the 10 % allowed"),
        (16, "success_rate", ("target", 0.1), "Near zero is read as 0.1"),
        (17, "final_ratio", ("at_most", 1 / 10), "Much smaller is a tenth"),
        (20, "reached", ("at_least", 0.9), "at least 90 % as many targets"),
        (24, "largest", ("at_most", 4.5), "the largest exceeds 4.5 once"),
        (31, "power", ("at_most", -0.9), "as a power of sigma of -0.9 or less"),
        (31, "largest", ("at_most", 0.01), "as a power within 0.01 of 0"),
    ],
)  # fmt: skip
def test_thresholds_in_the_words_are_those_of_the_parts(number, measure, bound, words):
    name, value = bound
    entries = [entry for entry in CLAIMS[number]["parts"] if entry["measure"] == measure]
    assert [entry[name] for entry in entries] == pytest.approx([value] * len(entries))
    assert entries
    assert_says(number, words)


def test_thresholds_in_the_words_are_those_of_the_readings():
    (coco,) = CLAIMS[30]["takes"]["COCO's bbob"]
    assert (coco["at_most"], coco["quantifier"]) == (0.9, "all")
    assert_says(30, "as 90 % as many targets or fewer, in every dimension")
    (entry,) = CLAIMS[23]["readings"]["the same second moment at the minimiser"]
    assert (1 - entry["at_least"], entry["at_most"] - 1) == pytest.approx((0.02, 0.02))
    assert_says(23, "which is a reading (within 2 %)")


def test_the_intervals_in_the_words_are_wilsons():
    for number in (4, 13):
        assert_says(number, f"The interval of 0 of 10 runs ends at {wilson(0, 10).high:.2f}.")
    for number in (12, 16, 17):
        assert_says(number, f"The interval of 10 of 10 runs begins at {wilson(10, 10).low:.2f}.")
    for experiment in ("step_sizes", "rotated", "figure_3"):
        assert (TABLES.table(experiment).groupby(["problem", "algorithm"]).size() == 10).all()


def test_settings_in_the_words_are_those_of_the_config():
    steps = {float(name.rsplit("_", 1)[1]) for name in settings("step_sizes", "step_size")}
    assert (max(steps), min(steps)) == (4, 1 / 8)
    for number in (4, 5, 10):
        assert_says(number, "from 4 to 1/8 of the paper's")
    stds = settings("robustness", "initial_std").values()
    assert_says(5, f"first standard deviations from {min(stds):g} to {max(stds):g};")
    conditions = [
        spec.problem_parameters.get("condition", 1e6)  # the paper's
        for (problem, _), spec in CONFIG.experiments["robustness"].cells.items()
        if problem.startswith("ellipsoid")
    ]
    assert (min(conditions), max(conditions)) == (1, 1e6)
    assert_says(5, "condition numbers from 1 to 1e6, Levy, and")
    assert set(settings("wide_starts", "initial_std").values()) == {1.0, 2.0}
    (paper,) = set(settings("figure_1", "initial_std").values())
    assert_says(10, f"first standard deviations of 1 and 2 in place of {paper:g}")
    assert_says(9, f"which stays at sigma = {paper:g}")
    assert_says(18, f"the noise of sigma = {paper:g} ")
    assert_says(11, f"for ES, {settings('variants', 'initial_std')['es_std_0.02']:g}.")
    steps = settings("figure_4", "step_size")
    assert_says(9, f"at the step that is its best of {WORDS[len(steps)]}.")


def test_a_next_target_is_a_fifth_of_a_decade_on():
    ratios = np.array(TARGETS[:-1]) / np.array(TARGETS[1:])
    assert np.log10(ratios) == pytest.approx(1 / 5, rel=1e-3)  # rounded to four digits
    assert_says(7, "a next target, a fifth of a decade on")
    assert_says(20, "Those of a function are five a decade")


def test_settings_in_the_words_on_control_are_those_of_config_and_code():
    asebo, es = algorithms.build("asebo", {}), settings("figure_2", "step_size")["es"]
    assert "asebo" not in settings("figure_2", "step_size")  # which has its own
    assert asebo.shaping == "standardise"
    assert_says(
        15,
        f"its authors' step, {asebo.step_size:g}, and in its first {asebo.isotropic_iterations} "
        f"iterations is ES with {WORDS[round(asebo.step_size / es)]} times the step",
    )
    assert asebo.step_size / es == pytest.approx(5)
    (std,) = set(settings("figure_2", "initial_std").values())
    assert std == pytest.approx(1 / 10)
    assert_says(14, "Those without 1/sigma move a tenth as far.")
    runs = CONFIG.experiments["figure_2"].runs
    assert_says(14, f"With {WORDS[runs]} runs each, at most three of the {runs**2} pairs")


# ---- test functions ------------------------------------------------------------------------------


def test_words_on_the_budget_that_gives_the_papers_count():
    """From where the last run of four functions is there to where the first of the fifth is."""
    ours = ("ingo", "ingo_step")
    solved, needs = set(), []
    for problem in FUNCTIONS:
        for name in ours:
            times, runs = reached("figure_1", problem, name)
            assert len(times) in (0, runs)
            if len(times):
                solved.add(problem)
                needs.append(times.max())
    assert len(solved) == 4
    assert solved | {"l_half_ellipsoid", "rastrigin10"} == set(FUNCTIONS)
    fifth = min(reached("extended", "l_half_ellipsoid", name)[0].min() for name in ours)
    budget = TABLES.table("figure_1")["evaluations"].max()
    assert max(needs) < budget < fifth
    assert_says(
        3,
        f"the fifth, the l1/2-Ellipsoid, needs a budget beyond {budget / 1e6:g}e6 evaluations",
        f"any between {max(needs) / 1e6:.2f}e6 and {fifth / 1e6:.2f}e6 does",
    )
    (longer,) = {spec.budget for spec in CONFIG.experiments["extended"].cells.values()}
    assert_says(3, f"but {longer / 1e6:g}e6 for INGOstep, which a reading takes")
    assert any(f"{longer / 1e6:g}e6" in reading for reading in CLAIMS[3]["readings"])


def test_words_on_the_volume_where_values_carry_no_signal():
    ingo, igo = (MEASURES["drift"](TABLES, "stability", "noise", a).value for a in ("ingo", "igo"))
    assert igo < 0 < ingo
    assert -igo == pytest.approx(ingo, rel=0.05)
    assert_says(5, "shrinks IGO's volume and widens INGO's, both at the same rate")


ES = ("es_0.0001", "es_0.001", "es_0.01")


def test_words_on_what_smaller_steps_of_es_end_with():
    """The best value is that of the noise except on Discus, and f at the mean falls with the step
    except on Levy.
    """
    noise, lower = set(), set()
    for problem in FUNCTIONS:
        best = medians("figure_4", problem, ES, "best")
        if max(best) < 1.1 * min(best):
            noise.add(problem)
        smallest, small, papers = medians("figure_4", problem, ES, "f_mean")
        if max(smallest, small) < 0.5 * papers:
            lower.add(problem)
            assert smallest < papers / 3, problem  # "far below"
        else:
            assert smallest == pytest.approx(papers, rel=0.02)  # "level"
    assert set(FUNCTIONS) - noise == {"discus"}
    assert set(FUNCTIONS) - lower == {"levy"}
    assert_says(
        18,
        "Steps of 1e-4 to 0.01 end at the noise of sigma = 0.5 except on Discus",
        "1e-4 ends far below 0.01 on all functions but Levy, where they are level.",
    )
    below = [
        p
        for p in FUNCTIONS
        if medians("figure_1", p, ["es"], "f_mean") < medians("figure_1", p, ["es"], "best")
    ]
    assert_says(
        9,
        f"f at its mean is smaller on {WORDS[len(below)]} of six functions, and except on Levy "
        "smaller still with smaller steps",
    )


def test_words_on_igos_lead_early_on():
    """As a reading has it: targets within 50,000 evaluations."""
    (entry,) = CLAIMS[12]["readings"]["the targets reached within 50,000 evaluations"]
    curves = pd.read_parquet(ROOT / PUBLISHED / "tables" / "figure_1" / "curves.parquet")
    curves = curves[(curves["quantity"] == "sigma") & (curves["evaluations"] <= entry["within"])]
    volume = curves.groupby(["problem", "algorithm"])["median"].last()
    ahead = {
        problem
        for problem in FUNCTIONS
        if all(
            MEASURES["ahead"](TABLES, "figure_1", problem, "igo", name, entry["within"]).low > 0.5
            for name in entry["algorithm"]
        )
    }
    assert entry["algorithm"] == ["ingo", "ingo_step"]
    assert_says(12, f"Early on IGO is ahead, on all {WORDS[len(ahead)]} functions")
    for problem in FUNCTIONS:
        assert volume[problem, "igo"] < min(volume[problem, name] for name in entry["algorithm"])


def test_words_on_a_run_of_fast_ingo_that_was_lost():
    """With four times the step, on Levy; with the others all ten get there."""
    settings_of = [
        name
        for name in TABLES.table("step_sizes")["algorithm"].unique()
        if method(name) == "fast_ingo"
    ]
    times = {name: reached("step_sizes", "levy", name) for name in settings_of}
    fastest = min(settings_of, key=lambda name: np.median(times[name][0]))
    assert fastest == "fast_ingo_4"
    counts = {name: len(own) for name, (own, _) in times.items()}
    assert counts.pop(fastest) == 9
    assert set(counts.values()) == {10}
    wins = {
        MEASURES["wins_at_best"](TABLES, "step_sizes", "levy", "fast_ingo", than).value
        for than in ("ingo", "ingo_step", "igo")
    }
    assert wins == {0.9}
    assert_says(
        29,
        "On Levy four times the step is the fastest but lost in one of ten runs; the other nine",
        "so that nine of ten remain; this one run alone leaves the claim open.",
    )


def test_words_on_cma_es_with_active_weights_against_igo():
    (entry,) = CLAIMS[30]["readings"]["pycma's active weights"]
    assert tuple(entry["problem"]) == FUNCTIONS
    ahead = sum(
        MEASURES["wins"](
            TABLES, entry["experiment"], problem, entry["algorithm"], entry["than"],
            beside=entry["beside"],
        ).low >= entry["at_least"]
        for problem in FUNCTIONS
    )  # fmt: skip
    assert_says(30, f"CMA-ES is ahead on {WORDS[ahead]} of {WORDS[len(FUNCTIONS)]}, a tie")
    assert_says(30, f"on its {WORDS[len(FUNCTIONS)]} functions")
    assert 2 * ahead == len(FUNCTIONS)


def test_words_on_the_targets_of_ingo_and_cma_es_by_budget():
    """As many budgets hold as fail; and where CMA-ES takes fewer evaluations to 1e-10."""
    over = [entry for entry in CLAIMS[20]["parts"] if entry["setting"] == "over the budgets"]
    assert [entry["algorithm"] for entry in over] == ["ingo", "ingo_step"]
    for entry in over:
        shares = [
            MEASURES["reached"](TABLES, "figure_1", entry["algorithm"], "cma_es", within)
            for within in entry["within"]
        ]
        assert_says(20, f"The {WORDS[len(shares)]} budgets are ours")
        holds = sum(share.low >= entry["at_least"] for share in shares)
        fails = sum(share.high < entry["at_least"] for share in shares)
        assert holds == fails == len(shares) / 2
        table = pd.read_csv(ROOT / PUBLISHED / "tables" / "figure_1" / "fixed_targets.csv")
        to_target = table[table["target"] == 1e-10].pivot(
            index="problem", columns="algorithm", values="aRT"
        )
        fewer = to_target["cma_es"] < to_target[entry["algorithm"]]
        assert set(fewer[fewer].index) == {"ellipsoid", "discus"}
    assert_says(20, "where as many hold as fail", "needs fewer on the Ellipsoid and on Discus")
    for entry in CLAIMS[20]["readings"]["five budgets a decade"]:
        places = np.log10(entry["within"])
        assert np.diff(places[:-1]) == pytest.approx(1 / 5, abs=0.02)  # and the whole budget
    assert_says(20, "hence the reading with five a decade")
    methods = TABLES.table("figure_1")["algorithm"].nunique()
    assert_says(20, f"some run of the {WORDS[methods]} methods reached")
    functions = {TABLES.table(f"bbob_{d}")["problem"].nunique() for d in (2, 3, 5, 10, 20)}
    assert functions == {24}
    assert_says(20, "COCO's bbob, with 24 functions")


# ---- control -------------------------------------------------------------------------------------


def test_words_on_asebos_lead():
    """It arises in the first 70 iterations; that on HalfCheetah cannot be told at the end."""
    curves = pd.read_parquet(ROOT / PUBLISHED / "tables" / "figure_2" / "curves.parquet")
    of = curves[curves["quantity"] == "batch_mean"].groupby(["problem", "algorithm"])["mean"]
    cells = {cell: own.to_numpy() for cell, own in of}
    leads = {
        task: cells[task, "fast_ingo"] - cells[task, "asebo"]
        for task in ("swimmer", "half_cheetah")
    }
    for lead in leads.values():
        assert len(lead) == 300
        assert lead[69] > 0.8 * lead.max()
    swimmer, cheetah = leads.values()
    assert swimmer[-1] > 0.9 * swimmer.max()
    assert abs(cheetah[-1]) < 0.05 * cheetah.max()
    assert_says(
        15,
        "its lead over Fast-INGO on Swimmer and HalfCheetah arises there (on HalfCheetah it can "
        "no longer be told at the end)",
    )


# ---- discrete problems ---------------------------------------------------------------------------


def test_words_on_a_regret_near_zero():
    """The regret counts 4 |w| for a wrong bit."""
    problem = binary_reconstruction(np.random.default_rng(0), 9)
    wrong = np.array([1, 0, 0, 1, 0, 0, 0, 0, 1])
    w = np.random.default_rng(0).standard_normal(9)
    value = problem.evaluate(np.abs(problem.minimiser - wrong)[None])[0]
    assert value == pytest.approx(4 * np.abs(w) @ wrong)
    assert pytest.approx(1 / 40) == 0.1 / 4
    assert_says(16, "at which the |w| of the wrong bits sum up to no more than 1/40")


def test_words_on_modes_that_come_close_and_move_away():
    """In more than half of the runs at d = 2000."""
    moved = []
    for file in KEPT.glob("figure_3/*.parquet"):
        rows, _ = dict(archive.read(file))["binary_2000", "bernoulli_ingo"]
        mode = rows["f_mean"].to_numpy()
        moved.append(mode.min() < 0.2 and mode[-1] > 5)
    assert len(moved) == 10
    assert sum(moved) > 5
    assert_says(16, "At d = 2000 the mode of most runs comes close and then moves away again")


def test_words_on_how_many_gas_there_are():
    gas = {a for _, a in CONFIG.experiments["figure_3"].cells if a != "bernoulli_ingo"}
    for entry in CLAIMS[17]["parts"]:
        named = entry["than"] if "than" in entry else entry["algorithm"]
        assert entry["measure"] == "final_ratio" or set(named) == gas
    assert_says(17, f"Against each of {WORDS[len(gas)]} GAs")


def test_words_on_what_mutations_keep_up():
    """The mean of the last batch of pymoo's GA, all of whose runs ended at the optimum."""
    for d in (100, 500, 1000, 2000):
        runs = TABLES.runs("figure_3", f"binary_{d}", "ga")
        assert (runs["best"] == 0).all()
        assert_says(17, f"its mean near {runs['batch_mean'].median():.0f} at the optimum")


def test_words_on_the_textbook_ga_with_half_the_rate():
    """Against that of Figure 3, whose rate is 1/d."""
    rate = settings("ga_mutation", "mutation_rate")["simple_ga_0.001"]
    assert rate == pytest.approx(0.5 / 500)
    half = TABLES.runs("ga_mutation", "binary_500", "simple_ga_0.001")
    papers = TABLES.runs("figure_3", "binary_500", "simple_ga")
    assert half["evaluations"].max() / papers["evaluations"].min() == pytest.approx(0.1, rel=0.01)
    assert half["best"].max() < papers["best"].min()
    assert half["best"].min() > 0
    assert_says(
        17,
        "since with half of it, at d = 500, it comes closer in a tenth of the evaluations (the "
        "figure of other rates), though not to the optimum.",
    )


# ---- theory --------------------------------------------------------------------------------------


def test_words_on_cases_of_orthogonal_samples():
    against = [e for e in CLAIMS[23]["parts"] if e.get("setting") == "against independent samples"]
    regret, moment = against
    table = theory("orthogonal")
    own = table[table["quantity"] == "regret"]
    assert [list(own[name].unique()) for name in ("problem", "dim", "place")] == [
        regret["problem"], regret["dim"], regret["place"],
    ]  # fmt: skip
    functions, dims, places = (WORDS[len(regret[name])] for name in ("problem", "dim", "place"))
    assert_says(23, f"({functions} functions, {dims} d, {places} first distributions)")
    wide = table[(table["quantity"] == "second_moment") & (table["samples"] == moment["samples"])]
    assert set(wide["dim"]) == {moment["samples"]}
    assert_says(23, f"second moment at N = d = {moment['samples']} in all")


def test_words_on_the_largest_of_many_deviations():
    """Of four estimators."""
    sizes = theory("unbiased").groupby("estimator").size()
    (entry,) = CLAIMS[24]["parts"]
    (components,) = set(sizes[entry["estimator"]])
    assert len(entry["estimator"]) == 4
    once_in = 1 / (1 - (1 - 2 * norm.sf(entry["at_most"])) ** (4 * components))
    assert once_in == pytest.approx(1000, rel=0.05)
    assert_says(
        24,
        f"Some {components} components are looked at for each estimator; of four times as many "
        "normal numbers the largest exceeds 4.5 once in 1,000 studies.",
    )


def test_words_on_the_solvers_precision():
    """What remains of the difference of solver and closed form is the solver's."""
    worst = theory("trust_region")["error"].max()
    assert round(log10(worst)) in (-6, -7)
    assert_says(25, "in two dimensions", "the solver itself is good to about 1e-6")


def test_words_on_what_a_user_sets():
    table = theory("hyper_parameters")
    by_hand = {
        name: set(own["parameter"]) for name, own in table[table["kind"] == "set"].groupby("method")
    }
    assert by_hand["ingo"] == by_hand["fast_ingo"] == {"samples", "initial_std"}
    assert by_hand["cma_es"] == {"popsize", "sigma0"}
    assert_says(26, "which are N and the initial step on either side", "INGO has as many")
    step = settings("figure_2", "step_size")["fast_ingo"]
    dims = (178, 390, 209, 6321)
    assert all(abs(rule / step - 1) > 0.5 for d in dims for rule in (1 / d, 1 / sqrt(d)))
    assert_says(26, f"the paper sets {step:g} by hand for control, which neither gives")


def test_words_on_what_centring_leaves_of_the_gradient():
    """1 − 1/N of it, and h another part for every function."""
    table = theory("unbiased")
    own = table[table["estimator"] == "centred"]
    (n,) = set(own["samples"])
    z = (own["estimate"] - (1 - 1 / n) * own["exact"]) / own["standard_error"]
    assert z.abs().max() < 4.5
    assert np.abs((own["estimate"] - own["exact"]) / own["standard_error"]).max() > 4.5
    assert_says(27, "Its expectation is 1 - 1/N times the gradient")
    factors = table[table["estimator"] == "h"].groupby("function")["factor"].unique()
    spread = [float(f) for own in factors for f in own]
    assert max(spread) > 2 * min(spread)
    assert_says(27, "is random and gives each f its own factor")


def test_words_on_the_condition_number_that_the_lemma_takes_for_1():
    table = theory("gap").set_index("condition")
    assert table.index.is_monotonic_increasing
    assert (table.loc[1.0, ["measured_high"]] < table.loc[1.0, "bound"]).all()
    np.testing.assert_allclose(table["repaired"], table["bound"] * table.index, rtol=1e-11)
    assert_says(
        28, "With an isotropic covariance, as in the theorem's simplest case, the lemma holds."
    )


def test_words_on_absolute_sizes_of_steps():
    """As a part of the distribution's own they have a power lower by 1 and by 2."""
    table = theory("update_size")
    own = table[table["algorithm"] == "reinforce_gd"]
    assert_says(31, f"from {own['std'].max():g} to {own['std'].min():g}, as a part of")
    by_function = own.groupby("function")[["mean_power", "variance_power"]].first()
    grow = (by_function.add([1, 2]) < -0.1).sum()
    assert_says(
        31,
        f"the step of the mean grows on {WORDS[grow['mean_power']]} of the "
        f"{WORDS[len(by_function)]} functions, and that of the covariance on "
        f"{WORDS[grow['variance_power']]}.",
    )
