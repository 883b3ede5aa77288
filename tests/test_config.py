"""Reading config files: nothing is lost silently, and every mistake is named with its place."""

from __future__ import annotations

import copy
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from test_plan import CONFIG, changed

import algorithms
from experiments import config, paths
from experiments.config import ConfigError
from experiments.paths import ROOT
from experiments.plan import Plan, load
from experiments.theory.commands import QUESTIONS

E = "experiments/tiny"
OTHERS = {
    "binary": {"binary_reconstruction": {}},
    "categorical": {"categorical_reconstruction": {}},
}


def written(tmp_path, text):
    path = tmp_path / "mine.yaml"
    path.write_text(text, encoding="utf-8")
    return path


# ---- YAML ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "key", "line", "first"),
    [
        ("runs: 1\nresults: a\nruns: 2\n", "runs", 3, 1),
        ("a:\n  b: {c: 1,\n   c: 2}\n", "c", 3, 2),
        ("a: [{b: 1, 'b': 2}]", "b", 1, 1),
        ("a: &a {x: 1}\nb:\n  <<: *a\n  <<: *a\n", "<<", 4, 3),
    ],
)
def test_a_key_that_is_there_twice_is_named_with_its_file_and_lines(
    tmp_path, text, key, line, first
):
    with pytest.raises(ConfigError) as error:
        config.read(written(tmp_path, text))
    assert str(error.value) == (
        f"cannot read the config {tmp_path}/mine.yaml: line {line} has the key '{key}', which line "
        f"{first} has too; leave one of them"
    )


def test_a_key_may_replace_one_that_a_merge_takes_in(tmp_path):
    """With keys of one letter and of more: PyYAML 6.0.4 gets the first wrong, or the others."""
    for x, y in ("xy", ("budget", "target")):
        text = (
            f"base: &base {{{x}: 1, {y}: 2}}\nown: &own {{<<: *base, {x}: 3}}\n"
            f"more: {{<<: *own, {y}: 4}}\nlist: {{<<: [*own, {{{x}: 5, z: 6}}], {y}: 7}}\n"
        )
        assert config.read(written(tmp_path, text)) == {
            "base": {x: 1, y: 2}, "own": {x: 3, y: 2}, "more": {x: 3, y: 4},
            "list": {x: 3, "z": 6, y: 7},
        }  # fmt: skip
    with pytest.raises(ConfigError, match="line 2: << takes mappings only"):
        config.read(written(tmp_path, "a: &a [1]\nb: {<<: *a}"))


def test_the_order_of_keys_is_as_with_pyyaml():
    """It is the order of lines and legends."""
    text = "a: &a {one: 1, two: 2}\nb: &b {three: 3, <<: *a, two: 4}\nc: {four: 4, <<: *b}"
    wanted = {key: list(entry) for key, entry in yaml.safe_load(text).items()}
    assert {key: list(entry) for key, entry in config.value(text).items()} == wanted
    for name in ("config.yaml", "tests/quick.yaml", "results/published/config.yaml"):
        ours, theirs = config.read(ROOT / name), yaml.safe_load((ROOT / name).read_text())
        assert yaml.safe_dump(ours, sort_keys=False) == yaml.safe_dump(theirs, sort_keys=False)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("1e-3", 1e-3), ("1E5", 1e5), ("-2e-3", -2e-3), ("+3e+2", 300.0), (".5e1", 5.0),
        ("1.e2", 100.0), ("1.5e3", 1500.0), ("1.0e-10", 1e-10),
        ("3", 3), ("0.5", 0.5), ("true", True), ("null", None), ("", None), ("[1, 2e1]", [1, 20.0]),
        ("'1e-3'", "1e-3"), ("es_1e-3", "es_1e-3"), ("e5", "e5"), ("1e", "1e"), ("1/d", "1/d"),
        ("1e-3/d", "1e-3/d"), (".e5", ".e5"), ("1e-3\n", 1e-3),
    ],
)  # fmt: skip
def test_numbers_are_those_of_yaml_1_2(tmp_path, text, wanted):
    for found in (
        config.value(text),
        config.read(written(tmp_path, f"a: {text}")).get("a"),
    ):
        assert found == wanted
        assert type(found) is type(wanted)


def test_other_readers_of_yaml_are_left_as_they_were():
    assert yaml.safe_load("1e-3") == "1e-3"
    assert yaml.safe_load("{a: 1, a: 2}") == {"a": 2}


def test_a_number_with_an_exponent_is_a_hyper_parameter(tmp_path):
    text = "experiments: {figure_1: {algorithms: {es: {step_size: 1e-3}}}}"
    plan = load(ROOT / "config.yaml", written(tmp_path, text))
    step = plan.experiments["figure_1"].cells["levy", "es"].algorithm_parameters["step_size"]
    assert (step, type(step)) == (1e-3, float)


@pytest.mark.parametrize(
    "text",
    ["!!python/object/apply:os.getcwd []", "!!python/name:os.system", "a: 2020-13-01", "{[1]: 2}",
     "a: !!float x", "- a\n- b", "text", "3"],
)  # fmt: skip
def test_what_is_no_plain_mapping_is_a_mistake_by_name(tmp_path, text):
    with pytest.raises(ConfigError, match="cannot read the config .*mine.yaml: "):
        config.read(written(tmp_path, text))


def test_a_value_that_cannot_be_read_is_named():
    with pytest.raises(ConfigError, match="cannot read the value '\\[1': "):
        config.value("[1")
    with pytest.raises(ConfigError, match="cannot read the value .* line 1 has the key 'a', which"):
        config.value("{a: 1, a: 2}")


# ---- null ----------------------------------------------------------------------------------------


def test_null_switches_off(tmp_path):
    text = (
        "experiments: {ga_mutation: null}\nfigures: {ga_mutation: null, ecdf: null}\n"
        "theory: {growth: null, hyper_parameters: null}\nfilm: null\nvariants: null"
    )
    before, plan = load(ROOT / "config.yaml"), load(ROOT / "config.yaml", written(tmp_path, text))
    assert before.experiments.keys() - plan.experiments.keys() == {"ga_mutation"}
    assert before.figures.keys() - plan.figures.keys() == {"ga_mutation", "ecdf"}
    assert before.theory.keys() - plan.theory.keys() == {"growth", "hyper_parameters"}
    assert (plan.film, plan.variants) == ({}, {})
    rest = {name: e for name, e in before.experiments.items() if name != "ga_mutation"}
    assert plan.experiments == rest


@pytest.mark.parametrize("name", config.read(ROOT / "config.yaml")["experiments"])
def test_what_needs_an_experiment_that_is_null_is_named_with_the_lines_that_switch_it_off(name):
    """These lines, added to the file, are all that is needed."""
    whole = config.read(ROOT / "config.yaml")
    without = config.merge(whole, {"experiments": {name: None}})
    with pytest.raises(ConfigError) as error:
        config.present(without)
    said, *lines = str(error.value).splitlines()
    assert said.endswith(
        f"need experiments that are null: {name}; to switch off what needs them, add:"
    )
    over = config.value("\n".join(lines))
    left = config.present(config.merge(without, over))["experiments"]
    assert list(left) == [other for other in whole["experiments"] if other != name]


def test_a_config_without_figure_1_is_a_plan(tmp_path):
    text = (
        "experiments: {figure_1: null, figure_4: {algorithms: {es_0.01: null}}}\n"
        "figures: {figure_1: null, figure_1_log: null, ecdf: null}\nvariants: null"
    )
    plan = load(ROOT / "config.yaml", written(tmp_path, text))
    assert "figure_1" not in plan.experiments
    assert plan.experiments["figure_4"].algorithms == ["es_1", "es_0.1", "es_0.001", "es_0.0001"]


def test_everything_that_can_need_an_experiment_is_said_at_once(tmp_path):
    text = "experiments: {figure_1: null, figure_2: null, convex: null, variants: null}"
    with pytest.raises(ConfigError) as error:
        load(ROOT / "config.yaml", written(tmp_path, text))
    assert str(error.value) == (
        "figures.figure_1, figures.figure_1_log, figures.figure_2, figures.ecdf, figures.variants, "
        "theory.regret, film, variants, experiments.figure_4.algorithms.es_0.01 need experiments "
        "that are null: figure_1, figure_2, variants, convex; to switch off what needs them, add:\n"
        "figures: {ecdf: null, figure_1: null, figure_1_log: null, figure_2: null, variants: null}"
        "\n"
        "theory: {regret: null}\n"
        "film: null\n"
        "variants: null\n"
        "experiments: {figure_4: {algorithms: {es_0.01: null}}}"
    )


@pytest.mark.parametrize("experiments", [{"tiny": None}, {}])
def test_a_config_without_an_experiment(experiments):
    with pytest.raises(ConfigError, match="experiments are all null; leave one"):
        Plan.from_config(CONFIG | {"experiments": experiments, "figures": {}})


def test_what_is_null_is_not_changed_in_the_config_itself():
    whole = changed("figures/other", {"experiment": "tiny"}) | {"film": None}
    whole["figures"]["tiny"] = None
    before = copy.deepcopy(whole)
    assert "film" not in config.present(whole)
    assert config.present(whole)["figures"] == {"other": {"experiment": "tiny"}}
    assert whole == before


# ---- keys of an experiment -----------------------------------------------------------------------


def test_the_seeds_of_a_job_and_the_last_state_are_keys_of_an_experiment():
    whole = changed("seeds_per_job", 4)
    other = whole["experiments"]["tiny"] | {"seeds_per_job": 2, "keep_state": True}
    whole["experiments"]["other"] = other
    made = Plan.from_config(whole | {"bits": "portable"}).experiments
    assert [(e.seeds_per_job, e.keep_state) for e in made.values()] == [(4, False), (2, True)]
    assert made["tiny"].cells == made["other"].cells


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (f"{E}/seeds_per_job", 0, "tiny.seeds_per_job is 0; allowed: a number ≥ 1"),
        (f"{E}/seeds_per_job", 1.5, "seeds_per_job is 1.5; allowed: a value of type integer"),
        (f"{E}/keep_state", "yes", "keep_state is 'yes'; allowed: a value of type boolean"),
        (f"{E}/keep_state", 1, "keep_state is 1; allowed: a value of type boolean"),
        ("bits", "equal", "bits is 'equal'; allowed: one of ['native', 'portable']"),
    ],
)
def test_values_that_these_keys_may_not_have(path, value, message):
    with pytest.raises(ConfigError) as error:
        Plan.from_config(changed(path, value))
    assert message in str(error.value)


# ---- names ---------------------------------------------------------------------------------------


def patterns(schema):
    """All patterns of a schema."""
    parts = schema.values() if isinstance(schema, dict) else schema
    own = [schema["pattern"]] if isinstance(schema, dict) and "pattern" in schema else []
    return own + [p for part in parts if isinstance(part, dict | list) for p in patterns(part)]


@pytest.mark.parametrize("pattern", patterns(yaml.safe_load(config.SCHEMA.read_text())))
def test_no_pattern_lets_a_line_break_pass(pattern):
    validator = config.Validator({"type": "string", "pattern": pattern})
    assert validator.is_valid("a/b" if "/[a-z" in pattern else "a")
    for text in ("a\n", "a/b\n", "a\nb", "\na", "\n"):
        assert not validator.is_valid(text), repr(text)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("results", "results\n", r"results is 'results\n'; allowed: a name of the form"),
        ("experiments/big\n", {}, r"experiments is 'big\n'; allowed: a name of the form"),
        ("figures/a\n", {}, r"figures is 'a\n'; allowed: a name of the form"),
        (f"{E}/problems/a\n", {}, r"tiny.problems is 'a\n'; allowed: a name of the form"),
        (f"{E}/algorithms/ingo/label", "a\nb", r"ingo.label is 'a\nb'; allowed: one line without"),
        (f"{E}/algorithms/ingo/label", "a\x1b[0m", "allowed: one line without control characters"),
        ("figures/tiny/title", "a\u2028b", "figures.tiny.title is 'a\\u2028b'; allowed: one line"),
        ("figures/tiny/note", "a\n", r"figures.tiny.note is 'a\n'; allowed: one line without"),
        ("figures/tiny/note", "\ud800", "figures.tiny.note is '\\ud800'; allowed: one line"),
        ("experiments/theory", {}, "experiments is 'theory'; allowed: a name that the workflow "
         "does not use itself, as it does theory"),
        ("figures/film", {"experiment": "tiny"}, "figures is 'film'; allowed: a name that the"),
        (f"{E}/algorithms/ingo/algorithm", "../../x", "tiny.algorithms.ingo: no optimiser is call"),
        (f"{E}/problems/turned/problem", "../x", "tiny.problems.turned: no problem is called '../"),
        (f"{E}/problems/turned/function", [], "problems.turned: levy has no parameter"),
    ],
)  # fmt: skip
def test_a_name_that_is_not_allowed(path, value, message):
    with pytest.raises(ConfigError) as error:
        Plan.from_config(changed(path, value))
    assert message in str(error.value)


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_figure_may_not_be_called_as_the_picture_of_a_table_of_the_theory(question):
    name = f"theory_{question}"
    with pytest.raises(ConfigError, match=f"figures is '{name}'; allowed: a name that the workfl"):
        Plan.from_config(changed(f"figures/{name}", {"experiment": "tiny"}))
    assert Plan.from_config(changed("figures/theory_own", {"experiment": "tiny"})).figures


@pytest.mark.parametrize("odd", [3, 0.5, True, [], ["es"], {"a": 1}, None])
@pytest.mark.parametrize(
    "key", ["algorithms/ingo/algorithm", "problems/turned/problem", "common/algorithm"]
)
def test_a_file_or_function_is_named_by_a_text(key, odd):
    whole = copy.deepcopy(CONFIG)
    part, *rest = key.split("/")
    place = whole["experiments"]["tiny"][part]
    for name in rest[:-1]:
        place = place[name]
    place[rest[-1]] = odd
    with pytest.raises(ConfigError) as error:
        Plan.from_config(whole)
    where = f"experiments.tiny.{key.replace('/', '.')}"
    assert f"{where} is {odd!r}; allowed: a value of type string" in str(error.value)


ODD = st.recursive(
    st.none() | st.booleans() | st.text() | st.binary() | st.dates() | st.floats() | st.integers(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=4,
)


@pytest.mark.parametrize("name", algorithms.available())
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_a_hyper_parameter_of_any_type_is_taken_or_named(name, data):
    """Whatever a config file can hold: no traceback."""
    cls = algorithms.load(name)
    key = data.draw(st.sampled_from([field.name for field in fields(cls)]))
    odd = data.draw(ODD | st.just(10**400))
    whole = changed(f"{E}/algorithms", {"own": {"algorithm": name, key: odd}})
    tiny = whole["experiments"]["tiny"] | {"problems": OTHERS.get(cls.space, {"levy": {}})}
    whole["experiments"]["tiny"] = {**tiny, "common": {}, "budget": 10**6}
    if cls.space == "categorical":
        tiny["problems"]["categorical_reconstruction"] = {"categories": 3}
    said = ""
    try:
        Plan.from_config(whole)
    except ConfigError as error:
        said = str(error)
    assert re.match(r"experiments\.tiny(\.algorithms\.own\b|: budget is )", said) or (
        not said and isinstance(odd, str | int | float | None)
    )


# ---- results -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "results", ["results", "results/mine", "./results/", "mine/of/them", "a@b"]
)
def test_where_results_may_go(results, monkeypatch):
    monkeypatch.chdir(ROOT)
    config.check_results(results)


@pytest.mark.parametrize(
    "results",
    [".", "./", "..", "../..", "/", "figures/..", "results/..", "results/published",
     "results/published/traces", "results/a/../published/b", *config.SOURCES, "figures/mine",
     str(ROOT), str(ROOT.parent), str(ROOT / "tests"), f"../{ROOT.resolve().name}/docs"],
)  # fmt: skip
def test_where_results_may_not_go(results, monkeypatch, tmp_path):
    monkeypatch.chdir(ROOT)
    message = rf"results is '{re.escape(results)}'; allowed: a folder of its own, as results, "
    with pytest.raises(ConfigError, match=message):
        config.read(written(tmp_path, f"results: {results}"))
    with pytest.raises(ConfigError, match=message):
        config.check_results(results)
    if Path(results) != paths.PUBLISHED:  # which report and redraw show
        with pytest.raises(ConfigError, match=message):
            Plan.from_config(CONFIG | {"results": results})


def test_a_link_to_sources_is_no_place_for_results(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "link").symlink_to(ROOT / "figures")
    (tmp_path / "figures").mkdir()
    with pytest.raises(ConfigError, match="results is 'link/new'; allowed"):
        config.check_results("link/new")
    config.check_results("figures")  # another one


def test_every_folder_of_sources_is_known():
    """Of what git has, all but results."""
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    folders = {path.split("/")[0] for path in listed if "/" in path}
    assert folders - {"results"} <= set(config.SOURCES)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("results: elsewhere", "elsewhere\n"),
        ("{results: elsewhere, runs: 0}", "elsewhere\n"),  # another key's mistake is no matter here
        ("results: .", "error: results is '.'; allowed: a folder of its own"),
        ("results: results/published", "error: results is 'results/published'; allowed: a fold"),
        ("results: a;b", "error: results is 'a;b'; allowed: a name of the form"),
        ("results: [a]", "error: results is ['a']; allowed: a value of type string"),
        ("results: null", "error: results is None; allowed: a value of type string"),
        ("runs: 1", "error: the key is 'results'; allowed: runs"),
    ],
)
def test_the_makefile_gets_a_folder_that_it_may_clean_or_an_error(tmp_path, text, said):
    mine = written(tmp_path, text)
    command = [sys.executable, "-m", "experiments.config", "results", mine]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.stdout + done.stderr).startswith(said)
    assert (done.returncode == 0) is not said.startswith("error")


def test_paths_are_texts():
    assert config.read(str(ROOT / "config.yaml")) == config.read(Path(ROOT, "config.yaml"))
