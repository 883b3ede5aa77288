"""From config files to checked settings: every mistake is named before the first job."""

from __future__ import annotations

import ast
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from math import isfinite
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator, ValidationError
from jsonschema.validators import extend

import algorithms
import problems
from experiments.command import parser
from experiments.paths import PUBLISHED, ROOT
from experiments.runs import simulate
from experiments.runs.spec import Spec
from figures.commands import OPTIONS, step

SPACES = ("real", "binary", "categorical")  # that an optimiser can search
SCHEMA = Path(__file__).with_name("config.schema.yaml")
# folders of the project that results may not go to, nor into one of them
SOURCES = (
    "algorithms", "problems", "experiments", "figures", "tests", "docs", "profiles",
    ".git", ".venv", ".ci", ".snakemake",
)  # fmt: skip


def _whole(
    validator: Any, pattern: str, instance: Any, schema: dict[str, Any]
) -> Iterator[ValidationError]:
    """A pattern is of the whole text: JSON Schema's $ lets a line break at the end pass."""
    if isinstance(instance, str) and not re.fullmatch(pattern, instance):
        yield ValidationError(f"{instance!r} is not of the form {pattern}")


Validator = extend(
    Draft202012Validator,
    {"pattern": _whole},
    # JSON has one kind of number, but 2.0 is no count of evaluations, and .nan no target.
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine_many(
        {
            "integer": lambda _, x: isinstance(x, int) and not isinstance(x, bool),
            "number": lambda _, x: type(x) in (int, float) and isfinite(x),
        }
    ),
)


class ConfigError(ValueError):
    """The config asks for something that is not allowed; the message says what, where and why."""


@dataclass(frozen=True)
class Experiment:
    """A grid of problems × optimisers × seeds."""

    name: str
    runs: int
    cells: dict[tuple[str, str], Spec]  # by the names of problem and optimiser in the config
    labels: dict[str, str]  # what pictures and tables call the optimisers
    seeds_per_job: int
    shared: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Of an optimiser whose runs another experiment makes: that experiment, and its name there."""
    keep_state: bool = False  # the last one of each run, so that a larger budget continues it

    @property
    def own(self) -> dict[tuple[str, str], Spec]:
        """The cells whose runs this experiment makes itself."""
        return {cell: spec for cell, spec in self.cells.items() if cell[1] not in self.shared}

    @property
    def problems(self) -> list[str]:
        return list(dict.fromkeys(problem for problem, _ in self.cells))

    @property
    def algorithms(self) -> list[str]:
        return list(dict.fromkeys(algorithm for _, algorithm in self.cells))

    @property
    def optimisers(self) -> dict[str, str]:
        """The optimiser, as its file is called, behind each name of ``algorithms``."""
        return {name: spec.algorithm for (_, name), spec in self.cells.items()}


class Loader(yaml.SafeLoader):  # type: ignore[misc]
    """YAML with numbers as version 1.2 has them, and no key twice in a mapping."""

    def compose_mapping_node(self, anchor: str | None) -> yaml.MappingNode:
        """A mapping as it is written: what << takes in is not there yet, which its keys replace."""
        node = super().compose_mapping_node(anchor)
        lines: dict[tuple[str, str], int] = {}
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                name, line = (key.tag, key.value), key.start_mark.line + 1
                if name in lines:
                    raise yaml.YAMLError(
                        f"line {line} has the key {key.value!r}, which line {lines[name]} has too; "
                        "leave one of them"
                    )
                lines[name] = line
        return node

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Put in what << takes in: the mapping's own keys replace it, and of several mappings the
        first counts. PyYAML 6.0.4 tells keys by the identity of texts, which mixes up short ones.
        """
        own: dict[tuple[str, str], Any] = {}
        taken: dict[tuple[str, str], Any] = {}
        for key, value in node.value:
            if key.tag != "tag:yaml.org,2002:merge":
                own[key.tag, str(key.value)] = key, value
                continue
            for mapping in value.value if isinstance(value, yaml.SequenceNode) else [value]:
                if not isinstance(mapping, yaml.MappingNode):
                    raise yaml.YAMLError(f"line {key.start_mark.line + 1}: << takes mappings only")
                self.flatten_mapping(mapping)
                taken = {(k.tag, str(k.value)): (k, v) for k, v in mapping.value} | taken
        node.value = list((taken | own).values())


# PyYAML, of version 1.1, takes 1e-3 for text, since it has no point.
Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)[eE][-+]?[0-9]+\Z"),
    list("-+.0123456789"),
)


def read(*paths: str | Path) -> dict[str, Any]:
    """The settings of config files, each laid over the ones before it, as Snakemake does; one
    without an entry changes nothing.

    Raises:
        ConfigError: a file cannot be read, has a key twice, holds no keys, or has results go where
            they may not.
    """
    config: dict[str, Any] = {}
    for path in paths:
        try:
            over = _load(Path(path).read_text(encoding="utf-8"))
        except (OSError, ValueError, yaml.YAMLError) as error:
            raise ConfigError(f"cannot read the config {path}: {error}") from error
        if not isinstance(over, dict | None):
            raise ConfigError(f"cannot read the config {path}: it holds no keys, but {over!r:.40}")
        config = merge(config, over or {})
    if isinstance(results := config.get("results"), str):
        check_results(results)
    return config


def value(text: str) -> Any:
    """A value as a config file has it, of a word KEY=VALUE of a command line.

    Raises:
        ConfigError: it cannot be read.
    """
    try:
        return _load(text)
    except (ValueError, yaml.YAMLError) as error:
        raise ConfigError(f"cannot read the value {text!r}: {error}") from error


def _load(text: str) -> Any:
    return yaml.load(text, Loader)


def merge(base: Any, over: Any) -> Any:
    """``over`` laid over ``base``: mappings entry by entry, all else as a whole."""
    if isinstance(base, dict) and isinstance(over, dict):
        return base | {key: merge(base.get(key), value) for key, value in over.items()}
    return over


STUDIES = ("field",)  # sections that are a config of their own
OF_THE_PAPER = ("film", "variants", "theory")


def studied(config: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """The config of the study that is asked for, and its name: that of a section laid over all but
    the paper's experiments, or, if none is asked for, what is no section.

    Raises:
        ConfigError: there is no such study.
    """
    rest = {key: value for key, value in config.items() if key not in (*STUDIES, "study")}
    if not (name := config.get("study", "")):
        return rest, ""
    known = [key for key in STUDIES if key in config]
    check_known("study", name, known)
    own = config[name]
    runs = min(rest["runs"], own.get("runs", rest["runs"]))  # of those that are asked for
    return {k: v for k, v in rest.items() if k not in OF_THE_PAPER} | own | {"runs": runs}, name


def present(config: dict[str, Any]) -> dict[str, Any]:
    """A config that ``check_schema`` has passed, without what is null there: what is switched off.

    Raises:
        ConfigError: no experiment is left, or something that is left needs one that is null.
    """
    on = dict(_present(config))
    for key in on.keys() & {"experiments", "figures", "theory"}:
        on[key] = dict(_present(on[key]))
    if not on["experiments"]:
        raise ConfigError("experiments are all null; leave one")
    off = config["experiments"].keys() - on["experiments"].keys()
    if needs := {path: name for path, name in _needs(on) if name in off}:
        over: dict[str, Any] = {}
        for *above, last in needs:
            place = over
            for key in above:
                place = place.setdefault(key, {})
            place[last] = None
        raise ConfigError(
            f"{', '.join(map('.'.join, needs))} need experiments that are null: "
            f"{', '.join(dict.fromkeys(needs.values()))}; to switch off what needs them, add:\n"
            + "\n".join(f"{key}: {_flow(value)}" for key, value in over.items())
        )
    return on


def _needs(config: dict[str, Any]) -> Iterator[tuple[tuple[str, ...], str]]:
    """What takes the runs or settings of an experiment, as the path of its key; and which."""
    for name, figure in config["figures"].items():
        yield ("figures", name), figure["experiment"]
    for question, sizes in config.get("theory", {}).items():
        if "experiment" in sizes:
            yield ("theory", question), sizes["experiment"]
    for key in ("film", "variants"):
        for role in ("experiment", "of"):
            if role in config.get(key, {}):
                yield (key,), config[key][role]
    for name, settings in config["experiments"].items():
        for key, own in _present(settings["algorithms"]):
            if "same_as" in own:
                yield ("experiments", name, "algorithms", key), _place(own)[0]


def _flow(value: Any) -> str:
    """A value in one line of YAML."""
    text: str = yaml.safe_dump(value, default_flow_style=True, width=10**6)
    return text.splitlines()[0]


def experiments(config: dict[str, Any]) -> dict[str, Experiment]:
    """The experiments of a config that ``check_schema`` and ``present`` have passed.

    Raises:
        ConfigError: an optimiser, problem or parameter does not exist, or has a value that is not
            allowed.
    """
    made: dict[str, Experiment] = {}
    for name, settings in config["experiments"].items():
        runs = min(config["runs"], settings.get("runs", config["runs"]))
        where = f"experiments.{name}"
        entries = dict(_present(settings["algorithms"]))
        cells = dict(_cells(where, settings, config, made))
        shared = {
            key: _place(own)
            for key, own in entries.items()
            if "same_as" in own and _makes(made, _place(own), key, cells, runs)
        }
        labels = {key: own.get("label", key) for key, own in entries.items()}
        seeds_per_job = settings.get("seeds_per_job", config["seeds_per_job"])
        keep_state = settings.get("keep_state", False)
        made[name] = Experiment(name, runs, cells, labels, seeds_per_job, shared, keep_state)
    return made


def _place(own: dict[str, Any]) -> tuple[str, str]:
    """The experiment, and the optimiser's name there, that an entry is ``same_as``."""
    experiment, _, name = own["same_as"].partition("/")
    return experiment, name


def _makes(
    made: dict[str, Experiment],
    place: tuple[str, str],
    key: str,
    cells: dict[tuple[str, str], Spec],
    runs: int,
) -> bool:
    """Whether another experiment makes all runs of these cells that are called ``key``."""
    other, name = made[place[0]], place[1]
    mine = {problem: spec for (problem, own), spec in cells.items() if own == key}
    return runs <= other.runs and all(other.own.get((p, name)) == s for p, s in mine.items())


def _cells(
    where: str, settings: dict[str, Any], config: dict[str, Any], made: dict[str, Experiment]
) -> Iterator[tuple[tuple[str, str], Spec]]:
    """The cells of an experiment, each built once so that a mistake shows now."""
    dim = {"dim": settings["dim"]} if "dim" in settings else {}
    for key in ("problems", "algorithms"):
        if not _present(settings[key]):
            raise ConfigError(f"{where}.{key} are all null; leave one")
    for problem_name, problem_settings in _present(settings["problems"]):
        # A problem of another size or speed than the others has a budget and an N of its own.
        budget = problem_settings.get("budget", settings["budget"])
        samples = {k: v for k, v in problem_settings.items() if k == "samples"}
        problem, problem_parameters = _named(
            "problem",
            problem_name,
            dim
            | settings.get("each_problem", {})
            | _without(problem_settings, "budget", "samples"),
        )
        at = f"{where}.problems.{problem_name}"
        if file := _unannotated(problem):
            raise ConfigError(
                f"{at}: the function {problem} in {file} does not say that it returns a Problem; "
                f"if it does, write: def {problem}(…) -> Problem:"
            )
        built = _build(problems.build, at, problem, problem_parameters)
        spec = partial(
            Spec,
            problem=problem,
            budget=budget,
            target=settings["target"],
            problem_parameters=problem_parameters,
            record_every=settings.get("record_every", 1000),
            root_seed=config["root_seed"],
            bits=config.get("bits", "native"),
        )
        for name, own in _present(settings["algorithms"]):
            at = f"{where}.algorithms.{name}"
            if "same_as" in own:
                if extra := _without(own, "label", "same_as"):
                    raise ConfigError(f"{at}: beside same_as goes label only, not {list(extra)}")
                known = [f"{e.name}/{key}" for e in made.values() for key in e.algorithms]
                check_known(f"{at}.same_as", own["same_as"], known)
                experiment, key = _place(own)
                theirs = made[experiment].cells.get((problem_name, key))
                if theirs is None:
                    raise ConfigError(
                        f"{at}: {experiment} has no {problem_name}, so that there is nothing to be "
                        "the same as"
                    )
                algorithm, parameters = theirs.algorithm, theirs.algorithm_parameters
            else:
                algorithm, parameters = _named(
                    "algorithm",
                    name,
                    settings.get("common", {}) | samples | _without(own, "label", "restarts"),
                )
            optimiser = _build(algorithms.build, at, algorithm, parameters)
            check_known(f"{at}: the class's space", getattr(optimiser, "space", ""), SPACES)
            if not callable(getattr(optimiser, "batch_size", None)):
                raise ConfigError(f"{at}: the class lacks the method batch_size(dim)")
            if optimiser.space != built.space:
                raise ConfigError(
                    f"{at} searches a {optimiser.space} space, but "
                    f"{where}.problems.{problem_name} has a {built.space} one"
                )
            restarts = own.get("restarts", settings.get("restarts"))
            cell = spec(algorithm=algorithm, algorithm_parameters=parameters, restarts=restarts)
            _build(simulate.optimiser, at, cell)
            if budget < (size := _build(optimiser.batch_size, at, built.dim)):
                raise ConfigError(
                    f"{where}: budget is {budget} on {problem_name}, less than one batch of "
                    f"{name}, {size} evaluations"
                )
            yield (problem_name, name), cell


def _present(entries: dict[str, Any]) -> list[tuple[str, Any]]:
    """Entries but those that a later config file has set to null."""
    return [(name, settings) for name, settings in entries.items() if settings is not None]


def _without(settings: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in settings.items() if key not in keys}


def _named(kind: str, name: str, settings: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The settings under a name, split into what is meant (the name, if not given) and the
    parameters.
    """
    return settings.get(kind, name), _without(settings, kind)


def _unannotated(problem: str) -> str:
    """The file in problems/ with a function of this name that is a problem but for its annotation;
    nothing if there is such a problem, or no such function.
    """
    if problem in problems.available() or problem.startswith("_"):
        return ""
    for path in sorted(Path(problems.__file__).parent.glob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and node.name == problem:
                return f"problems/{path.name}"
    return ""


def _build(make: Any, where: str, *arguments: Any) -> Any:
    try:
        return make(*arguments)
    except (ValueError, TypeError, OverflowError, ImportError) as error:
        raise ConfigError(f"{where}: {error}") from error


# ---- checks --------------------------------------------------------------------------------------


def check_schema(config: dict[str, Any], key: str | None = None) -> None:
    """Raise ConfigError, with all mistakes at once, unless a config, or one key of it, keeps to the
    schema.
    """
    schema = yaml.safe_load(SCHEMA.read_text(encoding="utf-8"))
    errors = sorted(Validator(schema).iter_errors(config), key=lambda e: list(map(str, e.path)))
    errors = [error for error in errors if key is None or list(error.path)[:1] == [key]]
    if errors:
        raise ConfigError("\n".join(dict.fromkeys(map(_explain, errors))))


def _explain(error: ValidationError) -> str:
    """One line: the key, its value, and what is allowed."""
    where = ".".join(map(str, error.absolute_path)) or "the config"
    if error.validator == "additionalProperties":
        allowed = error.schema["properties"]
        unknown = [key for key in error.instance if key not in allowed]
        return f"{where} has no key {', '.join(map(repr, unknown))}; allowed: {', '.join(allowed)}"
    if error.validator == "required":
        missing = [key for key in error.validator_value if key not in error.instance]
        return f"{where} lacks {', '.join(map(repr, missing))}"
    allowed = {
        "minimum": f"a number ≥ {error.validator_value}",
        "minLength": "a text that is not empty",
        "minProperties": "at least one entry",
        "enum": f"one of {error.validator_value}",
        "type": f"a value of type {_either(error.validator_value)}",
        "pattern": error.schema.get("description", f"a name of the form {error.validator_value}"),
        "not": f"a name that the workflow does not use itself, as it does {_names(error)}",
    }.get(str(error.validator), error.message)
    return f"{where} is {error.instance!r}; allowed: {allowed}"


def _names(error: ValidationError) -> str:
    """The names that a key may not have."""
    return ", ".join(error.validator_value["enum"]) if error.validator == "not" else ""


def _either(types: Any) -> str:
    return " or ".join(types) if isinstance(types, list) else str(types)


def check_known(where: str, name: str, known: Iterable[str]) -> None:
    """Raise ConfigError unless ``name`` is one of ``known``."""
    if name not in known:
        raise ConfigError(f"{where} is {name!r}; allowed: {', '.join(known)}")


def check_figure(where: str, settings: dict[str, str], known: Mapping[str, Experiment]) -> None:
    """Raise ConfigError unless a figure draws one of the ``known`` experiments, whose optimisers
    have names that its kind can read, with options of its kind.
    """
    check_known(f"{where}.experiment", settings["experiment"], known)
    allowed = {k: v for k, v in OPTIONS[kind(settings)].items() if isinstance(v, tuple)}
    for key, value in options(settings).items():
        if key not in allowed:
            raise ConfigError(
                f"{where}.{key} does not go with the kind {kind(settings)}; "
                f"what does: {', '.join(allowed) or 'nothing'}"
            )
        check_known(f"{where}.{key}", value, allowed[key])
    if kind(settings) == "steps":
        for name in known[settings["experiment"]].algorithms:
            try:
                step(name)
            except ValueError as error:
                raise ConfigError(f"{where}: {error}") from error


def check_field(known: Mapping[str, Experiment]) -> None:
    """Raise ConfigError unless each experiment of the field is called by its benchmark, bbob or
    pbo, and on problems of that in one number of dimensions: the page knows them by their names.
    """
    for name, experiment in known.items():
        benchmark = name.partition("_")[0]
        check_known(f"field.experiments.{name}: the first word", benchmark, ("bbob", "pbo"))
        specs = experiment.cells.values()
        others = sorted({spec.problem for spec in specs} - {benchmark})
        if others or len({spec.problem_parameters["dim"] for spec in specs}) > 1:
            raise ConfigError(
                f"field.experiments.{name}: allowed are problems of {benchmark} in one number of "
                f"dimensions{', not ' + ', '.join(others) if others else ''}"
            )


def kind(figure: dict[str, str]) -> str:
    """The module that draws a figure."""
    return figure.get("kind", "convergence")


def options(figure: dict[str, str]) -> dict[str, str]:
    """What a figure sets for its drawing."""
    return _without(figure, "experiment", "kind", "title", "note")


def check_theory(theory: dict[str, dict[str, Any]], known: dict[str, Experiment]) -> None:
    """Raise ConfigError unless the theory is of Algorithm 3 on problems that state constants."""
    convex = [name for name, module in problems.available().items() if module == "convex"]
    for question, sizes in theory.items():
        for name in sizes.get("problems", []):
            check_known(f"theory.{question}.problems", name, convex)
        if "experiment" in sizes:
            where = f"theory.{question}.experiment"
            check_known(where, sizes["experiment"], known)
            if shared := known[sizes["experiment"]].shared:
                raise ConfigError(f"{where}: give {', '.join(shared)} runs of their own")
            for spec in known[sizes["experiment"]].cells.values():
                check_known(f"{where}, a problem of it,", spec.problem, convex)
                check_known(f"{where}, an optimiser of it,", spec.algorithm, ["framework"])


def check_variants(variants: dict[str, Any], known: dict[str, Experiment]) -> None:
    """Raise ConfigError unless each variant can take the place of one optimiser."""
    if variants:
        for key in ("experiment", "of"):
            check_known(f"variants.{key}", variants[key], known)
        replaced(variants, known)


def replaced(variants: dict[str, Any], known: dict[str, Experiment]) -> dict[str, str]:
    """The variants, each with the optimiser whose place it takes: the one that ``replace`` names,
    else the one of the same file; of several, the one that is called as the file is.

    Raises:
        ConfigError: there is no such optimiser, or it is not clear which one it is.
    """
    by, of = known[variants["experiment"]], known[variants["of"]]
    named = {name: place for name, place in variants.get("replace", {}).items() if place}
    where = "variants.replace"
    for variant, place in named.items():
        check_known(f"{where}, a variant,", variant, by.algorithms)
        check_known(f"{where}.{variant}", place, of.algorithms)
    places = {}
    for variant, file in by.optimisers.items():
        same = [name for name, own in of.optimisers.items() if own == file]
        if variant in named:
            places[variant] = named[variant]
        elif not same:
            raise ConfigError(
                f"variants.experiment: {variant} is a variant of {file}, which {of.name} does not "
                f"run; it runs: {', '.join(dict.fromkeys(of.optimisers.values()))}"
            )
        elif len(same) == 1 or file in same:
            places[variant] = file if file in same else same[0]
        else:
            raise ConfigError(
                f"variants.of: {of.name} runs {file} as {', '.join(same)}, so that {variant} has "
                f"no single one to take the place of; name it: {where}: {{{variant}: {same[0]}}}"
            )
    return places


def check_film(film: dict[str, Any], known: dict[str, Experiment]) -> None:
    """Raise ConfigError unless the film is of a run that is asked for."""
    if film:
        check_known("film.experiment", film["experiment"], known)
        experiment = known[film["experiment"]]
        for key, names in (("problem", experiment.problems), ("algorithm", experiment.algorithms)):
            check_known(f"film.{key}", film[key], names)


def check_results(results: str, kept: bool = False) -> None:
    """Raise ConfigError where results would go among the sources, or to a folder that holds them.

    Args:
        results: the folder.
        kept: whether it may be that of the kept results, to show them.
    """
    folder, root, published = Path(results).resolve(), ROOT.resolve(), (ROOT / PUBLISHED).resolve()
    if kept and folder in (published, *(published / study for study in STUDIES)):
        return
    others = [published, *((root / name).resolve() for name in SOURCES)]
    if root.is_relative_to(folder) or any(folder.is_relative_to(other) for other in others):
        raise ConfigError(
            f"results is {results!r}; allowed: a folder of its own, as results, results/mine, or "
            f"one outside of the project; nothing in {PUBLISHED} or in the folders of the sources"
        )


def check_writable(folder: Path) -> None:
    """Raise ConfigError unless the folder, or the nearest one above it that exists, takes files."""
    existing = folder.absolute()
    while not existing.exists():
        existing = existing.parent
    if not existing.is_dir() or not os.access(existing, os.W_OK | os.X_OK):
        raise ConfigError(
            f"results is {str(folder)!r}; {existing} is no folder that can be written"
        )


def main(arguments: list[str] | None = None) -> None:
    """Print a value of config files: what the Makefile asks for."""
    made = parser("experiments.config", __doc__)
    made.add_argument("key", help="at the top of the config")
    made.add_argument("configs", type=Path, nargs="+")
    args = made.parse_args(arguments)
    try:
        config = read(*args.configs)
        check_known("the key", args.key, config)
        check_schema(config, args.key)
    except ConfigError as error:
        sys.exit(f"error: {error}")
    print(config[args.key])


if __name__ == "__main__":
    main()
