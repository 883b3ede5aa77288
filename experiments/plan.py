"""From config.yaml to the runs that it asks for, checked before the first of them starts."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator, ValidationError
from jsonschema.validators import extend

import algorithms
import problems
from experiments import ledger
from experiments.fingerprint import fingerprint
from experiments.run import command
from experiments.single import Spec

TABLES = ("runs.parquet", "curves.parquet")  # of an experiment
OPTIONS = {"convergence": ("column", "band", "x"), "reward": ("x",)}  # of a figure, by its kind
SCALES = {  # of x
    "convergence": ("linear", "log"),
    "reward": ("iterations", "evaluations", "environment_steps"),
}
SPACES = ("real", "binary", "categorical")  # that an optimiser can search
SCHEMA = Path(__file__).with_name("config.schema.yaml")
Validator = extend(
    Draft202012Validator,
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
    cells: dict[tuple[str, str], Spec]  # by the labels of problem and optimiser

    @property
    def problems(self) -> list[str]:
        return list(dict.fromkeys(problem for problem, _ in self.cells))

    @property
    def algorithms(self) -> list[str]:
        return list(dict.fromkeys(algorithm for _, algorithm in self.cells))

    @property
    def optimisers(self) -> dict[str, str]:
        """The optimiser, as its file is called, behind each label of ``algorithms``."""
        return {label: spec.algorithm for (_, label), spec in self.cells.items()}


@dataclass(frozen=True)
class Plan:
    """All that config.yaml asks for, with the paths of what it makes."""

    results: Path
    seeds_per_job: int
    experiments: dict[str, Experiment]
    figures: dict[str, dict[str, str]]
    theory: dict[str, dict[str, Any]]  # tables of experiments/theory.py with their sizes
    readings: dict[str, str]  # the experiment with other readings, and the one it is held against
    film: dict[str, Any]  # the run whose last policy is filmed

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Plan:
        """The plan of a config.

        Raises:
            ConfigError: the config breaks the schema, names an optimiser, problem or parameter
                that does not exist, gives one a value that is not allowed, or names a results
                folder that cannot be written.
        """
        _check_schema(config)
        experiments = {
            name: Experiment(
                name,
                min(config["runs"], settings.get("runs", config["runs"])),
                dict(_cells(f"experiments.{name}", settings, config["root_seed"])),
            )
            for name, settings in config["experiments"].items()
        }
        for name, settings in config["figures"].items():
            _check_figure(f"figures.{name}", settings, experiments)
        theory = config.get("theory", {})
        _check_theory(theory, experiments)
        readings = config.get("readings", {})
        _check_readings(readings, experiments)
        film = config.get("film", {})
        _check_film(film, experiments)
        # A table with sizes of its own draws random numbers; one of an experiment reads traces.
        theory = {
            name: {**sizes, "root_seed": config["root_seed"]}
            if sizes and "experiment" not in sizes
            else sizes
            for name, sizes in theory.items()
        }
        _check_writable(Path(config["results"]))
        return cls(
            Path(config["results"]),
            config["seeds_per_job"],
            experiments,
            config["figures"],
            theory,
            readings,
            film,
        )

    def trace(self, experiment: str, problem: str, algorithm: str, seed: int | str) -> str:
        """Path of a trace."""
        return str(self.results / "traces" / experiment / problem / algorithm / f"{seed}.parquet")

    def traces(self, experiment: str) -> list[str]:
        """Paths of all traces of an experiment."""
        e = self.experiments[experiment]
        return [self.trace(experiment, *cell, seed) for seed in range(e.runs) for cell in e.cells]

    def chunks(self) -> list[tuple[str, list[str]]]:
        """The (experiment, seeds) that one job runs, as wildcards of Snakemake where they vary."""
        if self.seeds_per_job == 1:
            return [("{experiment}", ["{seed}"])]
        size = self.seeds_per_job
        return [
            (e.name, [str(seed) for seed in range(first, min(first + size, e.runs))])
            for e in self.experiments.values()
            for first in range(0, e.runs, size)
        ]

    def tables(self, experiment: str) -> list[str]:
        """Paths of the tables of an experiment."""
        return [str(self._tables(experiment) / name) for name in TABLES]

    def command(self, experiment: str, problem: str, algorithm: str) -> str:
        """The shell command that makes the traces of a cell, but for ``--to``.

        Raises:
            ConfigError: the experiment has no such cell.
        """
        cells = self.experiments[experiment].cells
        _check_known(
            f"the run asked for in {experiment}",
            f"{problem}/{algorithm}",
            [f"{p}/{a}" for p, a in cells],
        )
        return command(cells[problem, algorithm])

    def table_command(self, experiment: str) -> str:
        """The shell command that makes the tables of an experiment."""
        e = self.experiments[experiment]
        return (
            f"python -m experiments.aggregate {self.results / 'traces' / experiment}"
            f" --problems {' '.join(e.problems)} --algorithms {' '.join(e.algorithms)}"
            f" --runs {e.runs} --to {self._tables(experiment)}"
        )

    def figure_command(self, figure: str) -> str:
        """The shell command that draws a figure."""
        settings = self.figures[figure]
        options = [f" --{key} {settings[key]}" for key in _options(settings)]
        if _kind(settings) == "convergence":
            cells = self.experiments[settings["experiment"]].cells.values()
            options += [f" --target {spec.target:g}" for spec in cells][:1]
        return (
            f"python -m figures.{_kind(settings)} {self._tables(settings['experiment'])}"
            f"{''.join(options)} --to {self.results / 'figures' / figure}"
        )

    def title(self, figure: str) -> str:
        """What the README calls a figure: "Figure 1", or what the config says."""
        return self.figures[figure].get("title", figure.replace("_", " ").capitalize())

    @property
    def rewarded(self) -> list[str]:
        """The experiments whose rewards are drawn, of which there is a table of rewards too."""
        drawn = [f["experiment"] for f in self.figures.values() if _kind(f) == "reward"]
        return list(dict.fromkeys(drawn))

    def figure_code(self, figure: str) -> str:
        """Fingerprint of the code that draws a figure."""
        return fingerprint(f"figures.{_kind(self.figures[figure])}")

    def code(self, experiment: str, problem: str, algorithm: str) -> str:
        """Class of the code that the data of a cell depends on: what decides whether a trace is of
        today's code.
        """
        return ledger.classes()[self.fingerprint(experiment, problem, algorithm)]

    def fingerprint(self, experiment: str, problem: str, algorithm: str) -> str:
        """Fingerprint of that code itself, as its traces carry it."""
        spec = self.experiments[experiment].cells[problem, algorithm]
        # A problem made of another one names it, which no import shows.
        names = (spec.problem, spec.problem_parameters.get("function"))
        modules = {f"problems.{self._problem_modules[name]}" for name in names if name}
        return fingerprint("experiments.single", f"algorithms.{spec.algorithm}", *modules)

    def theory_needs(self, table: str) -> list[str]:
        """Paths of the traces that a table of the theory is computed from."""
        experiment = self.theory[table].get("experiment")
        return self.traces(experiment) if experiment else []

    def theory_command(self, table: str) -> str:
        """The shell command that makes a table of the theory, but for ``--to``."""
        sizes = dict(self.theory[table])
        words = ["python -m experiments.theory", table]
        if "experiment" in sizes:
            e = self.experiments[sizes.pop("experiment")]
            words.append(str(self.results / "traces" / e.name))
            sizes |= {"problems": e.problems, "algorithms": e.algorithms, "runs": e.runs}
        for key, value in sizes.items():
            values = value if isinstance(value, list) else [value]
            words += [f"--{key.replace('_', '-')}", *map(str, values)]
        return " ".join(words)

    def theory_code(self, table: str) -> str:
        """Fingerprint of the code that a table of the theory depends on."""
        counted = algorithms.available() if table == "hyper_parameters" else []
        return fingerprint("experiments.theory", *(f"algorithms.{name}" for name in counted))

    def readings_needs(self) -> list[str]:
        """Paths of the tables that the comparison of readings is made from."""
        return [self.tables(experiment)[0] for experiment in self.readings.values()]

    def readings_command(self) -> str:
        """The shell command that compares readings: one takes the place of the optimiser of the
        same file.
        """
        by, of = (self.experiments[self.readings[key]] for key in ("experiment", "of"))
        places = {name: label for label, name in of.optimisers.items()}
        pairs = {label: places[name] for label, name in by.optimisers.items()}
        return (
            f"python -m experiments.readings --tables {self.results / 'tables'}"
            f" --of {self.readings['of']} --by {self.readings['experiment']}"
            f" --replace {' '.join(f'{a}={b}' for a, b in pairs.items())}"
            f" --to {self.results / 'readings'}"
        )

    def film_needs(self) -> str:
        """Path of the trace whose policy is filmed."""
        where = (self.film[key] for key in ("experiment", "problem", "algorithm", "seed"))
        return self.trace(*where)

    @property
    def wildcards(self) -> dict[str, str]:
        """What each wildcard of the Snakefile can be."""
        cells = [cell for e in self.experiments.values() for cell in e.cells]
        return {
            "experiment": _one_of(self.experiments),
            "problem": _one_of(problem for problem, _ in cells),
            "algorithm": _one_of(algorithm for _, algorithm in cells),
            "figure": _one_of(self.figures),
            "theory": _one_of(self.theory),
            "seed": r"\d+",
        }

    def _tables(self, experiment: str) -> Path:
        return self.results / "tables" / experiment

    @cached_property
    def _problem_modules(self) -> dict[str, str]:
        return problems.available()


def _kind(figure: dict[str, str]) -> str:
    """The module that draws a figure."""
    return figure.get("kind", "convergence")


def _options(figure: dict[str, str]) -> list[str]:
    """What a figure sets for its drawing."""
    return [key for key in figure if key not in ("experiment", "kind", "title", "note")]


def _check_figure(where: str, settings: dict[str, str], experiments: Iterable[str]) -> None:
    _check_known(f"{where}.experiment", settings["experiment"], experiments)
    allowed = OPTIONS.get(_kind(settings), ())
    for key in _options(settings):
        if key not in allowed:
            raise ConfigError(
                f"{where}.{key} does not go with the kind {_kind(settings)}; "
                f"what does: {', '.join(allowed) or 'nothing'}"
            )
    if "x" in settings:
        _check_known(f"{where}.x", settings["x"], SCALES[_kind(settings)])


def _check_known(where: str, name: str, known: Iterable[str]) -> None:
    if name not in known:
        raise ConfigError(f"{where} is {name!r}; allowed: {', '.join(known)}")


def _check_theory(theory: dict[str, dict[str, Any]], experiments: dict[str, Experiment]) -> None:
    """The bounds are those of Algorithm 3 on problems that state their constants."""
    convex = [name for name, module in problems.available().items() if module == "convex"]
    for table, sizes in theory.items():
        for name in sizes.get("problems", []):
            _check_known(f"theory.{table}.problems", name, convex)
        if "experiment" in sizes:
            where = f"theory.{table}.experiment"
            _check_known(where, sizes["experiment"], experiments)
            for spec in experiments[sizes["experiment"]].cells.values():
                _check_known(f"{where}, a problem of it,", spec.problem, convex)
                _check_known(f"{where}, an optimiser of it,", spec.algorithm, ["framework"])


def _check_readings(readings: dict[str, str], experiments: dict[str, Experiment]) -> None:
    for key, name in readings.items():
        _check_known(f"readings.{key}", name, experiments)
    if readings:
        paper = list(experiments[readings["of"]].optimisers.values())
        for label, name in experiments[readings["experiment"]].optimisers.items():
            if name not in paper:
                raise ConfigError(
                    f"readings.experiment: {label} is a reading of {name}, which "
                    f"{readings['of']} does not run; it runs: {', '.join(paper)}"
                )
            if paper.count(name) > 1:
                raise ConfigError(
                    f"readings.of: {readings['of']} runs {name} in several settings, so that "
                    f"{label} has no single one to take the place of"
                )


def _check_film(film: dict[str, Any], experiments: dict[str, Experiment]) -> None:
    if film:
        _check_known("film.experiment", film["experiment"], experiments)
        experiment = experiments[film["experiment"]]
        for key, names in (("problem", experiment.problems), ("algorithm", experiment.algorithms)):
            _check_known(f"film.{key}", film[key], names)


def _one_of(names: Iterable[str]) -> str:
    """A regular expression for these names."""
    return "|".join(map(re.escape, dict.fromkeys(names)))


def lead_jobs_here() -> None:
    """Let the jobs of Snakemake use this Python and this project, whatever shell they have."""
    here = os.path.dirname(sys.executable)
    os.environ["PATH"] = os.pathsep.join([here, os.environ.get("PATH", "")])
    os.environ["PYTHONPATH"] = str(SCHEMA.parent.parent)


def load(*paths: str | Path, **keys: Any) -> Plan:
    """The plan of config files, each laid over the ones before it, as Snakemake does, and of
    ``keys`` laid over all of them; one without an entry changes nothing.

    Raises:
        ConfigError: a file cannot be read, or what they say together is not allowed.
    """
    config: dict[str, Any] = {}
    for path in paths:
        try:
            over = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
            raise ConfigError(f"cannot read the config {path}: {error}") from error
        config = _merge(config, {} if over is None else over)
    return Plan.from_config(_merge(config, keys))


def _merge(base: Any, over: Any) -> Any:
    if isinstance(base, dict) and isinstance(over, dict):
        return base | {key: _merge(base.get(key), value) for key, value in over.items()}
    return over


def _cells(
    where: str, settings: dict[str, Any], root_seed: int
) -> Iterator[tuple[tuple[str, str], Spec]]:
    """The cells of an experiment, each built once so that a mistake shows now."""
    dim = {"dim": settings["dim"]} if "dim" in settings else {}
    for key in ("problems", "algorithms"):
        if not _present(settings[key]):
            raise ConfigError(f"{where}.{key} are all null; leave one")
    for problem_label, problem_settings in _present(settings["problems"]):
        # A problem of another size or speed than the others has a budget and an N of its own.
        budget = problem_settings.get("budget", settings["budget"])
        samples = {k: v for k, v in problem_settings.items() if k == "samples"}
        problem_settings = {
            k: v for k, v in problem_settings.items() if k not in ("budget", "samples")
        }
        problem, problem_parameters = _named("problem", problem_label, dim | problem_settings)
        made = _build(
            problems.build, f"{where}.problems.{problem_label}", problem, problem_parameters
        )
        for label, own in _present(settings["algorithms"]):
            algorithm, parameters = _named(
                "algorithm", label, settings.get("common", {}) | samples | own
            )
            at = f"{where}.algorithms.{label}"
            optimiser = _build(algorithms.build, at, algorithm, parameters)
            _check_known(f"{at}: the class's space", getattr(optimiser, "space", ""), SPACES)
            if optimiser.space != made.space:
                raise ConfigError(
                    f"{at} searches a {optimiser.space} space, but "
                    f"{where}.problems.{problem_label} has a {made.space} one"
                )
            if budget < (size := optimiser.batch_size(made.dim)):
                raise ConfigError(
                    f"{where}: budget is {budget} on {problem_label}, less than one batch of "
                    f"{label}, {size} evaluations"
                )
            yield (
                (problem_label, label),
                Spec(
                    problem=problem,
                    algorithm=algorithm,
                    budget=budget,
                    target=settings["target"],
                    problem_parameters=problem_parameters,
                    algorithm_parameters=parameters,
                    record_every=settings.get("record_every", 1000),
                    root_seed=root_seed,
                ),
            )


def _present(entries: dict[str, Any]) -> list[tuple[str, Any]]:
    """Entries but those that a later config file has set to null."""
    return [(label, settings) for label, settings in entries.items() if settings is not None]


def _named(kind: str, label: str, settings: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """A label's settings, split into the name of what is meant (the label, if not given) and the
    parameters.
    """
    return settings.get(kind, label), {k: v for k, v in settings.items() if k != kind}


def _build(make: Any, where: str, name: str, parameters: dict[str, Any]) -> Any:
    try:
        return make(name, parameters)
    except (ValueError, TypeError) as error:
        raise ConfigError(f"{where}: {error}") from error


def _check_schema(config: dict[str, Any]) -> None:
    schema = yaml.safe_load(SCHEMA.read_text(encoding="utf-8"))
    errors = sorted(Validator(schema).iter_errors(config), key=lambda e: list(map(str, e.path)))
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
        "type": f"a value of type {error.validator_value}",
        "pattern": f"a name of the form {error.validator_value}",
    }.get(str(error.validator), error.message)
    return f"{where} is {error.instance!r}; allowed: {allowed}"


def _check_writable(folder: Path) -> None:
    """Raise ConfigError unless the folder, or the nearest one above it that exists, takes files."""
    existing = folder.absolute()
    while not existing.exists():
        existing = existing.parent
    if not existing.is_dir() or not os.access(existing, os.W_OK | os.X_OK):
        raise ConfigError(
            f"results is {str(folder)!r}; {existing} is no folder that can be written"
        )
