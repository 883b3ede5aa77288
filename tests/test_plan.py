"""From a config to runs: every mistake is named before the first job, and nothing is guessed."""

from __future__ import annotations

import copy
import math
import shlex
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
import yaml

import experiments.run
import problems
from experiments import fingerprint
from experiments.config import ConfigError
from experiments.plan import Plan, load
from experiments.runs import job, seeds
from experiments.runs.simulate import batch_size, run
from experiments.runs.spec import Spec

ROOT = Path(__file__).parent.parent
CONFIG = {
    "root_seed": 1,
    "runs": 3,
    "seeds_per_job": 1,
    "results": "results",
    "experiments": {
        "tiny": {
            "dim": 4,
            "budget": 100,
            "target": 1e-3,
            "problems": {"ellipsoid": {}, "turned": {"problem": "levy", "dim": 5}},
            "common": {"samples": 6},
            "algorithms": {"ingo": {}, "es_0.1": {"algorithm": "es", "step_size": 0.1}},
        }
    },
    "figures": {"tiny": {"experiment": "tiny"}},
}


def changed(path, value):
    """CONFIG with one key set, or removed where the value is None."""
    config = copy.deepcopy(CONFIG)
    *parents, last = path.split("/")
    place = config
    for key in parents:
        place = place[key]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return config


def test_a_config_becomes_cells():
    experiment = Plan.from_config(CONFIG).experiments["tiny"]
    assert experiment.problems == ["ellipsoid", "turned"]
    assert experiment.algorithms == ["ingo", "es_0.1"]
    assert experiment.cells["turned", "es_0.1"] == Spec(
        problem="levy",
        algorithm="es",
        budget=100,
        target=1e-3,
        problem_parameters={"dim": 5},
        algorithm_parameters={"samples": 6, "step_size": 0.1},
        root_seed=1,
    )


def test_a_problem_may_have_a_budget_and_an_n_of_its_own():
    config = changed("experiments/tiny/problems/turned/samples", 8)
    config["experiments"]["tiny"]["problems"]["turned"]["budget"] = 200
    config["experiments"]["tiny"]["algorithms"]["ingo"]["samples"] = 10
    cells = Plan.from_config(config).experiments["tiny"].cells
    found = {cell: (s.budget, s.algorithm_parameters["samples"]) for cell, s in cells.items()}
    assert found == {
        ("ellipsoid", "ingo"): (100, 10),
        ("ellipsoid", "es_0.1"): (100, 6),
        ("turned", "ingo"): (200, 10),
        ("turned", "es_0.1"): (200, 8),
    }


def test_the_runs_of_an_experiment_are_at_most_those_of_all():
    def runs(every, own):
        config = changed("runs", every)
        config["experiments"]["tiny"]["runs"] = own
        return Plan.from_config(config).experiments["tiny"].runs

    assert (runs(20, 5), runs(2, 5)) == (5, 2)


def test_no_target_is_null_and_what_it_was_before():
    """Kept traces of runs without a target were made when −1 stood for none."""
    config = changed("runs", 3)
    config["experiments"]["tiny"]["target"] = None
    plan = Plan.from_config(config)
    spec = plan.experiments["tiny"].cells["ellipsoid", "ingo"]
    assert spec.target is None
    assert "--target" not in plan.trace_command("tiny", "ellipsoid", "ingo").arguments
    recorded = asdict(spec)
    assert spec.is_that_of({"spec": recorded})
    assert spec.is_that_of({"spec": recorded | {"target": -1}})
    assert not spec.is_that_of({"spec": recorded | {"target": 0.0}})
    assert not spec.is_that_of({"spec": recorded | {"budget": 101}})
    assert not replace(spec, target=1e-3).is_that_of({"spec": recorded | {"target": -1}})


def test_a_run_without_a_target_goes_on_to_its_budget():
    spec = Spec("ellipsoid", "fast_ingo", 600, None, {"dim": 4}, {"samples": 6})
    assert run(spec, 0)[1]["stop"] == "budget"


def test_optimisers_are_called_as_the_config_says_and_by_their_names_else():
    config = changed(f"{E}/algorithms/ingo", {"label": "INGO, mine"})
    plan = Plan.from_config(config)
    assert plan.experiments["tiny"].labels == {"ingo": "INGO, mine", "es_0.1": "es_0.1"}
    assert "label" not in plan.experiments["tiny"].cells["turned", "ingo"].algorithm_parameters
    assert '{"ingo": "INGO, mine", "es_0.1": "es_0.1"}' in plan.figure_command("tiny").arguments


def test_null_takes_an_entry_away():
    plan = Plan.from_config(changed("experiments/tiny/problems/ellipsoid", {}))
    assert plan.experiments["tiny"].problems == ["ellipsoid", "turned"]
    config = changed("runs", 3)
    config["experiments"]["tiny"]["problems"]["ellipsoid"] = None
    assert Plan.from_config(config).experiments["tiny"].problems == ["turned"]


def test_a_title_is_for_the_readme_and_no_option_of_the_drawing():
    plan = Plan.from_config(changed("figures/tiny/title", "A Name"))
    assert plan.title("tiny") == "A Name"
    assert "Name" not in str(plan.figure_command("tiny"))
    assert Plan.from_config(changed("figures/tiny/band", "range")).title("tiny") == "Tiny"


E = "experiments/tiny"


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("extra", 1, "the config has no key 'extra'; allowed: root_seed"),
        (f"{E}/budgets", 1, "experiments.tiny has no key 'budgets'; allowed: runs, dim, budget"),
        (f"{E}/budget", -5, "experiments.tiny.budget is -5; allowed: a number ≥ 1"),
        (
            f"{E}/budget",
            5,
            "tiny: budget is 5 on ellipsoid, less than one batch of ingo, 6 eval",
        ),
        (f"{E}/target", -1, "experiments.tiny.target is -1; allowed: a number ≥ 0"),
        (
            f"{E}/target",
            "none",
            "tiny.target is 'none'; allowed: a value of type number or null",
        ),
        (f"{E}/algorithms/ingo/label", "", "algorithms.ingo.label is ''; allowed: a text that is"),
        (f"{E}/budget", "many", "experiments.tiny.budget is 'many'; allowed: a value of type int"),
        (f"{E}/budget", 1.5, "experiments.tiny.budget is 1.5; allowed: a value of type integer"),
        (f"{E}/budget", None, "experiments.tiny lacks 'budget'"),
        (f"{E}/dim", 1, "experiments.tiny.dim is 1; allowed: a number ≥ 2"),
        (f"{E}/problems/turned/dim", 1, "experiments.tiny.problems.turned: dim is 1; allowed: a w"),
        (f"{E}/problems/sphere", {}, "experiments.tiny.problems.sphere: no problem is called 'sph"),
        (f"{E}/problems", {}, "experiments.tiny.problems is {}; allowed: at least one entry"),
        (f"{E}/algorithms/ingoo", {}, "experiments.tiny.algorithms.ingoo: no optimiser is called"),
        (f"{E}/algorithms/ingo/stepsize", 1, "algorithms.ingo: ingo has no hyper-parameter 'step"),
        (f"{E}/algorithms/ingo/step_size", -1, "algorithms.ingo: step_size is -1; allowed: a pos"),
        (f"{E}/common/ddof", 1, "algorithms.es_0.1: es has no hyper-parameter 'ddof'; it has: "),
        ("results", "my results", "results is 'my results'; allowed: a name of the form"),
        ("runs", 0, "runs is 0; allowed: a number ≥ 1"),
        ("root_seed", -1, "root_seed is -1; allowed: a number ≥ 0"),
        ("figures/tiny/experiment", "big", "figures.tiny.experiment is 'big'; allowed: tiny"),
        ("figures/tiny/band", "wide", "figures.tiny.band is 'wide'; allowed: range, quartiles"),
        ("figures/tiny/kind", "pie", "figures.tiny.kind is 'pie'; allowed: one of"),
        (
            "figures/tiny",
            {"experiment": "tiny", "kind": "ecdf", "band": "range"},
            "figures.tiny.band does not go with the kind ecdf; what does: measure, panels",
        ),
        ("figures/tiny/x", "iterations", "figures.tiny.x is 'iterations'; allowed: linear, log"),
        ("variants", {"of": "tiny", "experiment": "big"}, "variants.experiment is 'big'; allowed"),
        (
            "film",
            {"experiment": "tiny", "problem": "walk", "algorithm": "ingo", "seed": 0},
            "film.problem is 'walk'; allowed: ellipsoid, turned",
        ),
        ("variants", {"of": "tiny"}, "variants lacks 'experiment'"),
        ("experiments/Big Name", {}, "allowed: a name of the form"),
        (
            f"{E}/budget",
            1.8e6,
            "experiments.tiny.budget is 1800000.0; allowed: a value of type int",
        ),
        ("runs", 2.0, "runs is 2.0; allowed: a value of type integer"),
        (
            f"{E}/target",
            float("nan"),
            "experiments.tiny.target is nan; allowed: a value of type num",
        ),
        (
            f"{E}/algorithms",
            {0.1: {}},
            "experiments.tiny.algorithms is 0.1; allowed: a value of ty",
        ),
        ("experiments", {1: {}, "a": {}}, "experiments is 1; allowed: a value of type string"),
        (f"{E}/algorithms", {"ingo": None}, "experiments.tiny.algorithms are all null; leave one"),
        ("results", "~/results", "results is '~/results'; allowed: a name of the form"),
        ("results", "a;b", "results is 'a;b'; allowed: a name of the form"),
        ("theory", {"gap": {"dims": [2, 3]}}, "theory.gap is 'dims'; allowed: one of ['dim', 'rep"),
        (
            "theory",
            {"hyper_parameters": {"dim": 2}},
            "theory.hyper_parameters is {'dim': 2}; allow",
        ),
    ],
)
def test_a_mistake_is_named_with_its_key_its_value_and_what_is_allowed(path, value, message):
    with pytest.raises(ConfigError) as error:
        Plan.from_config(changed(path, value))
    assert message in str(error.value)


def test_a_variant_of_an_optimiser_that_is_not_run():
    config = changed("variants", {"of": "tiny", "experiment": "other"})
    config["experiments"]["other"] = {**config["experiments"]["tiny"], "common": {}}
    config["experiments"]["other"]["algorithms"] = {"diagonal": {"algorithm": "fast_ingo"}}
    with pytest.raises(ConfigError, match="diagonal is a variant of fast_ingo, which tiny does"):
        Plan.from_config(config)


def replacing(algorithms, variants, **keys):
    """CONFIG with more optimisers in tiny, and an experiment with these variants of them."""
    config = changed("variants", {"of": "tiny", "experiment": "other", **keys})
    tiny = config["experiments"]["tiny"]
    config["experiments"]["other"] = {**tiny, "algorithms": variants}
    tiny["algorithms"] = tiny["algorithms"] | algorithms
    return config


def test_a_variant_takes_the_place_of_the_setting_that_is_called_as_its_file():
    """The paper's own, of several settings; or of the only one, whatever it is called."""
    more = {"ingo_2d": {"algorithm": "ingo", "step_size": 0.02}}
    variants = {"ingo_ddof_0": {"algorithm": "ingo", "ddof": 0}, "es": {"step_size": 0.5}}
    words = Plan.from_config(replacing(more, variants)).variants_command().arguments
    assert {"ingo_ddof_0=ingo", "es=es_0.1"} <= set(words)


def test_a_variant_takes_the_place_of_the_setting_that_is_named():
    more = {"ingo_2d": {"algorithm": "ingo", "step_size": 0.02}}
    variants = {"ingo_ddof_0": {"algorithm": "ingo", "ddof": 0}, "igo": {}}
    replace = {"ingo_ddof_0": "ingo_2d", "igo": "es_0.1"}  # another optimiser's, if asked for
    plan = Plan.from_config(replacing(more, variants, replace=replace))
    assert {"ingo_ddof_0=ingo_2d", "igo=es_0.1"} <= set(plan.variants_command().arguments)
    assert plan.variants_needs() == [
        "results/tables/other/runs.parquet", "results/tables/tiny/runs.parquet"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("replace", "words"),
    [
        ({}, "tiny runs es as es_0.1, es_2, so that es_9 has no single one to take the place of; "
             "name it: variants.replace: {es_9: es_0.1}"),
        ({"es_9": "igo"}, "variants.replace.es_9 is 'igo'; allowed: ingo, es_0.1, es_2"),
        ({"es_8": "ingo"}, "variants.replace, a variant, is 'es_8'; allowed: es_9"),
        ({"es_9": 1}, "variants.replace.es_9 is 1; allowed: a value of type string"),
    ],
)  # fmt: skip
def test_a_variant_without_a_place_is_named(replace, words):
    more = {"es_2": {"algorithm": "es", "step_size": 2.0}}
    with pytest.raises(ConfigError, match=words):
        Plan.from_config(replacing(more, {"es_9": {"algorithm": "es"}}, replace=replace))


def test_a_second_setting_of_ingo_in_figure_1(tmp_path):
    """As one does it: a file that is laid over config.yaml."""
    mine = tmp_path / "mine.yaml"
    mine.write_text(
        "experiments: {figure_1: {algorithms: {ingo_2d: {algorithm: ingo, step_size: 0.02}}}}"
    )
    plan = load(ROOT / "config.yaml", mine)
    cell = plan.experiments["figure_1"].cells["levy", "ingo_2d"]
    assert cell.algorithm_parameters["step_size"] == 0.02
    assert cell.algorithm_parameters["initial_std"] == 0.5
    assert "ingo_2d" in str(plan.figure_command("figure_1"))
    before = load(ROOT / "config.yaml")
    assert plan.variants_command() == before.variants_command()


def test_variants_film_and_theory_can_be_none(tmp_path):
    mine = tmp_path / "mine.yaml"
    mine.write_text("{variants: null, film: null, theory: null}")
    plan = load(ROOT / "config.yaml", mine)
    assert (plan.variants, plan.film, plan.theory) == ({}, {}, {})
    assert not [path for path in plan.claims_needs() if "theory" in path]


def test_claims_are_judged_anew_when_the_field_has_run(tmp_path):
    plan = load(ROOT / "config.yaml", results=str(tmp_path))
    before = plan.claims_needs()
    table = tmp_path / "field" / "tables" / "bbob_2" / "runs.parquet"
    table.parent.mkdir(parents=True)
    table.touch()
    assert plan.claims_needs() == [*before, str(table)]


def test_a_picture_is_found_by_its_name():
    plan = load(ROOT / "config.yaml")
    for name in ("figure_1", "rotated", "theory_gap", "film"):
        assert plan.picture(name) == f"results/figures/{name}.png"
    with pytest.raises(ConfigError, match="the figure is 'gap'; allowed: figure_1, .*, theory_ga"):
        plan.picture("gap")


def test_a_problem_without_its_annotation_is_named(monkeypatch, tmp_path):
    (tmp_path / "own.py").write_text("def cigar(dim: int):\n    return 1\n")
    monkeypatch.setattr(problems, "__file__", str(tmp_path / "__init__.py"))
    for name, words in (
        ("cigar", r"problems.turned: the function cigar in problems/own.py does not say that it "
                  r"returns a Problem; if it does, write: def cigar\(…\) -> Problem:"),
        ("zigar", "no problem is called 'zigar'"),
        ("_cigar", "no problem is called '_cigar'"),
    ):  # fmt: skip
        with pytest.raises(ConfigError, match=words):
            Plan.from_config(changed(f"{E}/problems/turned/problem", name))


def sharing(budget=100, runs=3):
    """CONFIG with a second experiment, one of whose optimisers is set as one of the first's."""
    config = changed("runs", 3)
    tiny = config["experiments"]["tiny"]
    config["experiments"]["sweep"] = {
        **tiny,
        "budget": budget,
        "runs": runs,
        "algorithms": {"es_1": {"algorithm": "es"}, "again": {"same_as": "tiny/es_0.1"}},
    }
    return config


def test_runs_that_another_experiment_makes_are_taken_from_it():
    plan = Plan.from_config(sharing())
    sweep = plan.experiments["sweep"]
    tiny = plan.experiments["tiny"].cells
    assert sweep.shared == {"again": ("tiny", "es_0.1")}
    assert sweep.cells["turned", "again"] == tiny["turned", "es_0.1"]
    assert list(sweep.own) == [("ellipsoid", "es_1"), ("turned", "es_1")]
    trace = "results/traces/tiny/turned/es_0.1/2.parquet"
    assert plan.trace("sweep", "turned", "again", 2) == trace
    assert trace in plan.traces("sweep")
    keys = [plan.key("sweep", "turned", name) for name in ("es_1", "again")]
    words = f"turned/es_1={keys[0]} turned/again={keys[1]}@tiny/es_0.1 --runs 3"
    assert words in str(plan.table_command("sweep"))
    assert keys[1] == plan.key("tiny", "turned", "es_0.1") != keys[0]


@pytest.mark.parametrize("changes", [{"budget": 200}, {"runs": 4}])
def test_runs_that_are_not_wholly_the_same_are_made_anew_with_the_same_setting(changes):
    config = sharing(**changes)
    config["runs"], config["experiments"]["tiny"]["runs"] = 4, 3
    plan = Plan.from_config(config)
    sweep = plan.experiments["sweep"]
    assert sweep.shared == {}
    parameters = plan.experiments["tiny"].cells["turned", "es_0.1"].algorithm_parameters
    assert sweep.cells["turned", "again"].algorithm_parameters == parameters
    path = plan.trace("sweep", "turned", "again", 2)
    assert path == "results/traces/sweep/turned/again/2.parquet"


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"same_as": "tiny/igo"}, "sweep.algorithms.again.same_as is 'tiny/igo'; allowed: tiny/in"),
        ({"same_as": "tiny/ingo", "ddof": 0}, r"beside same_as goes label only, not \['ddof'\]"),
        ({"same_as": "tiny"}, "algorithms.again.same_as is 'tiny'; allowed: a name of the form"),
    ],
)
def test_a_setting_that_cannot_be_taken_over_is_named(entry, words):
    config = sharing()
    config["experiments"]["sweep"]["algorithms"]["again"] = entry
    with pytest.raises(ConfigError, match=words):
        Plan.from_config(config)


def test_figure_4_takes_the_runs_of_figure_1():
    plan = load(ROOT / "config.yaml")
    assert plan.experiments["figure_4"].shared == {"es_0.01": ("figure_1", "es")}


def test_a_run_that_its_experiment_does_not_have():
    with pytest.raises(ConfigError, match="in tiny is 'ellipsoid/igo'; allowed: ellipsoid/ingo, "):
        Plan.from_config(CONFIG).trace_command("tiny", "ellipsoid", "igo")


@pytest.mark.parametrize("text", [None, "a: [1", "\xff"])
def test_a_config_that_cannot_be_read_is_named(tmp_path, text):
    path = tmp_path / "mine.yaml"
    if text:
        path.write_text(text, encoding="latin-1")
    with pytest.raises(ConfigError, match="cannot read the config .*mine.yaml: "):
        load(ROOT / "config.yaml", path)


def test_a_config_of_comments_changes_nothing(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("# nothing yet\n")
    assert load(ROOT / "config.yaml", path) == load(ROOT / "config.yaml")


def test_all_schema_mistakes_come_at_once():
    config = changed("runs", 0)
    config["experiments"]["tiny"]["budget"] = -1
    config["experiments"]["bare"] = {}  # lacks four keys, said once
    with pytest.raises(ConfigError) as error:
        Plan.from_config(config)
    assert str(error.value).count("allowed") == 2
    assert (
        str(error.value).count("experiments.bare lacks 'budget', 'target', 'problems', 'alg") == 1
    )


def test_a_results_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(
        ConfigError, match="results is .*file/results'; .* is no folder that can be"
    ):
        Plan.from_config(changed("results", str(tmp_path / "file" / "results")))


def test_the_projects_own_configs_are_valid():
    full = load(ROOT / "config.yaml")
    quick = load(ROOT / "config.yaml", ROOT / "tests" / "quick.yaml")
    kept = load(ROOT / "config.yaml", ROOT / "results" / "published" / "config.yaml")
    assert kept.experiments["figure_1"] == full.experiments["figure_1"]
    assert full.experiments["figure_1"].runs == 20
    assert len(full.experiments["figure_1"].cells) == 36
    assert all(s.budget == 1_800_000 for s in full.experiments["figure_1"].cells.values())
    assert quick.results == Path("results/quick")
    assert quick.experiments.keys() == full.experiments.keys()
    assert max(s.budget for e in quick.experiments.values() for s in e.cells.values()) <= 20_000


def test_figure_1_is_set_as_the_paper_says():
    cells = load(ROOT / "config.yaml").experiments["figure_1"].cells
    for (_, algorithm), spec in cells.items():
        assert spec.problem_parameters["dim"] == 100
        assert spec.target == 1e-10
        assert spec.algorithm_parameters["initial_std"] == 0.5
        assert spec.algorithm_parameters["samples"] is None  # the rule, 18 at d = 100
        step = spec.algorithm_parameters.get("step_size")
        wanted = {"fast_ingo": "1/sqrt(d)", "es": 0.01, "cma_es": None}
        assert step == wanted.get(algorithm, "1/d")


def test_paths_and_jobs():
    plan = Plan.from_config(CONFIG)
    assert plan.trace("tiny", "ellipsoid", "ingo", 2) == (
        "results/traces/tiny/ellipsoid/ingo/2.parquet"
    )
    assert len(plan.traces("tiny")) == 2 * 2 * 3
    assert plan.jobs() == [("trace", "tiny", ["{seed}"])]
    chunked = Plan.from_config(changed("seeds_per_job", 2))
    assert chunked.jobs() == [
        ("trace_tiny_0", "tiny", ["0", "1"]),
        ("trace_tiny_2", "tiny", ["2"]),
    ]
    assert chunked.traces("tiny") == plan.traces("tiny")


def test_a_command_says_all_and_parses_back(monkeypatch, tmp_path):
    """What the workflow prints is what a reader can paste: it runs the very same spec."""
    plan = Plan.from_config(CONFIG)
    words = shlex.split(str(plan.trace_command("tiny", "turned", "es_0.1")))
    assert words[:3] == ["python", "-m", "experiments.run"]
    seen = []

    def run(spec, seed):
        seen.append((spec, seed))
        raise ValueError("enough")

    monkeypatch.setattr(job, "Run", run)
    with pytest.raises(SystemExit, match="error: enough"):
        experiments.run.main([*words[3:], "--to", str(tmp_path / "2.parquet")])
    assert seen == [(plan.experiments["tiny"].cells["turned", "es_0.1"].canonical, 2)]


@pytest.mark.parametrize("name", ["x.parquet", "-1.parquet", "1.csv", "1"])
def test_the_file_name_is_the_seed(name, capsys):
    spec = ["--problem", "levy", '{"dim": 4}', "--algorithm", "ingo", "{}"]
    with pytest.raises(SystemExit):
        experiments.run.main([*spec, "--budget", "100", "--target", "0", "--to", f"a/{name}"])
    assert "is not named SEED.parquet" in capsys.readouterr().err


def test_bad_words_on_the_command_line_are_named(tmp_path, capsys):
    base = ["--budget", "100", "--target", "0", "--to", str(tmp_path / "0.parquet")]
    with pytest.raises(SystemExit, match="error: no problem is called 'levi'"):
        experiments.run.main(["--problem", "levi", "{}", "--algorithm", "ingo", "{}", *base])
    with pytest.raises(SystemExit, match="error: "):
        experiments.run.main(["--problem", "levy", "{dim", "--algorithm", "ingo", "{}", *base])
    assert not list(tmp_path.iterdir())


def test_the_noise_of_a_run_does_not_depend_on_hyper_parameters():
    """Two steps of ES draw the same points about their means, CMA-ES draws others."""

    def first_steps(algorithm, **parameters):
        seen = []
        spec = Spec("levy", algorithm, 18 * 3, None, {"dim": 4}, parameters)
        run(spec, 3, lambda batch: seen.append(batch.x - batch.state.mean))
        return seen

    a, b = (first_steps("es", step_size=step, samples=18) for step in (0.1, 0.001))
    assert np.allclose(a, b, rtol=0, atol=1e-12)
    assert not np.allclose(a[0], first_steps("cma_es", samples=18)[0])


def test_streams_are_fixed_and_depend_on_all_of_their_names():
    """The numbers are fixed for good: a change here changes every published result."""
    assert seeds.stream(2020, "start", "levy", 0).integers(2**32, size=2).tolist() == [
        2971606117,
        1019392612,
    ]
    keys = [
        ("start", "levy", 0),
        ("start", "levy", 1),
        ("start", "discus", 0),
        ("search", "levy", 0),
    ]
    first = [seeds.stream(2020, *key).random() for key in keys]
    assert len(set(first)) == 4
    assert seeds.stream(2021, *keys[0]).random() != first[0]


def test_the_code_of_a_trace_is_its_own_optimisers_only():
    plan = load(ROOT / "config.yaml")
    codes = {plan.code("figure_1", "levy", a) for a in ("ingo", "igo", "es", "cma_es")}
    assert len(codes) == 4
    assert plan.code("figure_1", "discus", "ingo") in codes  # the same file of problems


@pytest.mark.parametrize(
    "module",
    [
        "run",
        "runs.job",
        "runs.simulate",
        "runs.record",
        "runs.trace",
        "runs.seeds",
        "runs.spec",
        "runs.keeper",
        "runs.checkpoint",
        "runs.effort",
        "runs.machine",
        "ledger",
    ],
)
def test_the_code_of_a_trace_is_that_of_all_that_a_run_goes_through(module, monkeypatch):
    """A module that is left out of the fingerprint could change without a rerun."""
    read, version = fingerprint._read, fingerprint.version
    seen = set()
    monkeypatch.setattr(fingerprint, "_read", lambda name: seen.add(name) or read(name))
    monkeypatch.setattr(fingerprint, "version", lambda name: seen.add(name) or version(name))
    load(ROOT / "config.yaml").fingerprint("figure_1", "levy", "ingo")
    assert f"experiments.{module}" in seen
    assert {"algorithms.ingo", "algorithms.shared.rank_n", "algorithms.shared.loop"} <= seen
    assert {"problems.synthetic", "problems", "algorithms", "experiments"} <= seen
    assert {"numpy", "scipy"} <= seen
    assert not {"algorithms.igo", "algorithms.minimize", "problems.control", "figures"} & seen
    assert not {"pandas", "pyarrow", "matplotlib"} & seen  # which write what others computed


@pytest.mark.parametrize(
    "cell",
    [("figure_1", "levy", "ingo"), ("figure_1", "levy", "cma_es"), ("figure_2", "swimmer", "asebo"),
     ("figure_3", "binary_100", "ga"), ("rotated", "levy", "fast_ingo")],
    ids="-".join,
)  # fmt: skip
def test_every_module_that_a_run_loads_is_in_the_code_of_its_trace(cell, monkeypatch, tmp_path):
    """Whatever it is: a process does the first batch, and says what it has loaded. ``minimize`` is
    loaded with its package, and no run calls it.
    """
    plan = load(ROOT / "config.yaml")
    experiment, *names = cell
    spec = plan.experiments[experiment].cells[tuple(names)]
    short = {"horizon": 1} if spec.problem == "control" else {}
    own = replace(spec, budget=batch_size(spec), problem_parameters=spec.problem_parameters | short)
    words = [*experiments.run.command(own).arguments, "--to", str(tmp_path / "0.parquet")]
    script = "import sys, experiments.run as r; r.main(sys.argv[1:]); print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script, *words], cwd=ROOT, capture_output=True, text=True, check=True
    )
    packages = ("algorithms", "problems", "experiments", "figures")
    loaded = {name for name in done.stdout.split() if name.partition(".")[0] in packages}
    numerical = {"cma", "gymnasium", "mujoco", "numpy", "pymoo", "scipy"}
    libraries = numerical.intersection(done.stdout.split())
    seen = set()
    read, version = fingerprint._read, fingerprint.version
    monkeypatch.setattr(fingerprint, "_read", lambda name: seen.add(name) or read(name))
    monkeypatch.setattr(fingerprint, "version", lambda name: seen.add(name) or version(name))
    plan.fingerprint(*cell)
    assert loaded - seen == {"algorithms.minimize"}
    assert {f"algorithms.{spec.algorithm}", "experiments.runs.simulate"} <= loaded
    assert "numpy" in libraries
    assert libraries - {"scipy"} <= seen  # which others load too


def test_quick_only_changes_sizes():
    """The quick overlay must not quietly change a method: sizes, and which functions."""

    def keys(entry):
        found = {key for key, value in entry.items() if not isinstance(value, dict) and value}
        return found.union(*(keys(v) for v in entry.values() if isinstance(v, dict)))

    quick = yaml.safe_load((ROOT / "tests" / "quick.yaml").read_text())
    sizes = {"dim", "budget", "record_every", "horizon", "samples", "runs", "seeds_per_job"}
    of_theory = {"dims", "iterations", "repeats", "instances"}
    assert keys(quick) == sizes | of_theory | {"results"}


def test_the_n_of_control_is_the_papers_for_the_size_of_the_policy():
    """20 + 4⌊⌊3 ln d⌋/2⌋, and 300 iterations of it."""
    cells = load(ROOT / "config.yaml").experiments["figure_2"].cells.values()
    for spec in cells:
        d = problems.build(spec.problem, spec.problem_parameters).dim
        n = 20 + 4 * (int(3 * math.log(d)) // 2)
        assert spec.algorithm_parameters["samples"] == n
        assert spec.budget == 300 * n


def test_the_code_of_a_rotated_function_is_that_of_the_function_too(monkeypatch):
    """It is named in the config and imported by name, which no import statement shows."""
    config = changed(f"{E}/problems/rotated", {"function": "ellipsoid"})
    seen = []
    monkeypatch.setattr("experiments.plan.fingerprint", lambda *modules: seen.append(modules))
    Plan.from_config(config).code("tiny", "rotated", "ingo")
    assert {"problems.rotated", "problems.synthetic", "algorithms.ingo"} <= set(seen[0])


def test_a_state_that_is_kept_is_asked_for_beside_what_snakemake_compares():
    config = changed(f"{E}/keep_state", True)
    plan, cell = Plan.from_config(config), ("tiny", "turned", "es_0.1")
    assert plan.stamp(*cell) == f"{plan.fingerprint(*cell)} --keep-state"
    assert plan.trace_command(*cell) == Plan.from_config(CONFIG).trace_command(*cell)
    assert Plan.from_config(CONFIG).stamp(*cell) == plan.fingerprint(*cell)


def test_a_whole_number_is_one_command_with_its_point_or_without():
    def command(step_size, ddof, target):
        config = changed(f"{E}/algorithms/ingo", {"step_size": step_size, "ddof": ddof})
        config["experiments"]["tiny"]["target"] = target
        return str(Plan.from_config(config).trace_command("tiny", "turned", "ingo"))

    assert command(1, 0, 1) == command(1.0, 0.0, 1.0) != command(2, 0, 1)
    assert "--target 1.0" in command(1, 0, 1)
    assert '"ddof": 0, "samples": 6, "step_size": 1.0' in command(1.0, 0.0, 1.0)
