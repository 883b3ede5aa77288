"""What a config asks for: the paths of all that is made, and the commands that make it."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import algorithms
import problems
from experiments import config as configs
from experiments import ledger, run
from experiments.claims import commands as claims
from experiments.command import Command
from experiments.config import Experiment
from experiments.field import commands as field
from experiments.fingerprint import fingerprint, fingerprint_of_output
from experiments.paths import ROOT
from experiments.runs import simulate, trace
from experiments.tables import commands as tables
from experiments.theory import commands as theory
from experiments.timing import commands as timing
from figures import commands as figures

TABLES = ("runs.parquet", "curves.parquet")  # of an experiment


class Job(NamedTuple):
    """What one job runs, as wildcards of Snakemake where they vary."""

    rule: str
    experiment: str  # a regular expression
    seeds: list[str]


@dataclass(frozen=True)
class Plan:
    """All that config.yaml asks for."""

    results: Path
    root_seed: int
    experiments: dict[str, Experiment]
    figures: dict[str, dict[str, str]]
    theory: dict[str, dict[str, Any]]  # questions of experiments/theory with their sizes
    variants: dict[str, Any]  # the experiment with variants, and the one that they are of
    film: dict[str, Any]  # the run whose last policy is filmed
    study: str = ""  # section of the config that it is of; none: the paper's
    observe: bool = False  # whether COCO's own data are asked for

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Plan:
        """The plan of a config.

        Raises:
            ConfigError: the config breaks the schema, names an optimiser, problem or parameter
                that does not exist, gives one a value that is not allowed, or names a results
                folder that cannot be written.
        """
        configs.check_schema(config)
        config, study = configs.studied(config)
        configs.check_results(config["results"], kept=True)
        config = configs.present(config)
        experiments = configs.experiments(config)
        if study == "field":
            configs.check_field(experiments)
        for name, settings in config["figures"].items():
            configs.check_figure(f"figures.{name}", settings, experiments)
        asked = config.get("theory") or {}
        configs.check_theory(asked, experiments)
        variants = config.get("variants") or {}
        configs.check_variants(variants, experiments)
        film = config.get("film") or {}
        configs.check_film(film, experiments)
        configs.check_writable(Path(config["results"]))
        # A table with sizes of its own draws random numbers; one of an experiment reads traces.
        sizes = {
            question: {**own, "root_seed": config["root_seed"]}
            if own and "experiment" not in own
            else own
            for question, own in asked.items()
        }
        return cls(
            _relative(Path(config["results"])),
            config["root_seed"],
            experiments,
            config["figures"],
            sizes,
            variants,
            film,
            study,
            config.get("observe", False),
        )

    # ---- runs ----

    def trace(self, experiment: str, problem: str, algorithm: str, seed: int | str) -> str:
        """Path of a trace, in the experiment that makes it."""
        if experiment in self.experiments:
            shared = self.experiments[experiment].shared
            experiment, algorithm = shared.get(algorithm, (experiment, algorithm))
        return str(self.results / "traces" / experiment / problem / algorithm / f"{seed}.parquet")

    def traces(self, experiment: str) -> list[str]:
        """Paths of all traces of an experiment."""
        e = self.experiments[experiment]
        return [self.trace(experiment, *cell, seed) for seed in range(e.runs) for cell in e.cells]

    def jobs(self) -> list[Job]:
        """What the rules of traces run: one rule for single seeds, and one per experiment with more
        ``seeds_per_job`` and so many of its seeds.
        """
        single = [e.name for e in self.experiments.values() if e.seeds_per_job == 1]
        return [Job("trace", _one_of(single), ["{seed}"])] * bool(single) + [
            Job(f"trace_{e.name}_{seeds[0]}", e.name, [str(seed) for seed in seeds])
            for e in self.experiments.values()
            if e.seeds_per_job > 1
            for seeds in batched(range(e.runs), e.seeds_per_job)
        ]

    def trace_command(self, experiment: str, problem: str, algorithm: str) -> Command:
        """What makes the traces of a cell, but for ``stamp`` and ``--to``.

        Raises:
            ConfigError: the experiment has no such cell.
        """
        cells = self.experiments[experiment].cells
        configs.check_known(
            f"the run asked for in {experiment}",
            f"{problem}/{algorithm}",
            [f"{p}/{a}" for p, a in cells],
        )
        return run.command(cells[problem, algorithm])

    def stamp(self, experiment: str, problem: str, algorithm: str) -> str:
        """What stands behind ``--code`` in that command: of what decides no data, so that none is
        made anew for another one.
        """
        keep_state = " --keep-state" * self.experiments[experiment].keep_state
        return f"{self.fingerprint(experiment, problem, algorithm)}{keep_state}"

    def unfit(self, experiment: str, problem: str, algorithm: str, seed: int) -> str:
        """Why the trace that is there is not the one that the config asks for, in words; nothing if
        it is, or if none is there. Only its metadata are read.
        """
        path = Path(self.trace(experiment, problem, algorithm, seed))
        if not os.path.lexists(path):
            return ""
        spec = self.experiments[experiment].cells[problem, algorithm]
        try:
            metadata = trace.read_metadata(path)
        except ValueError as error:
            return str(error)
        return trace.misfit(metadata, spec, seed, self.fingerprint(experiment, problem, algorithm))

    def code(self, experiment: str, problem: str, algorithm: str) -> str:
        """Class of the code that the data of a cell depends on: what decides whether a trace is of
        today's code.
        """
        return ledger.classes()[self.fingerprint(experiment, problem, algorithm)]

    def key(self, experiment: str, problem: str, algorithm: str) -> str:
        """What the traces of a cell are recognised by."""
        spec = self.experiments[experiment].cells[problem, algorithm]
        return trace.key(spec, self.fingerprint(experiment, problem, algorithm))

    def fingerprint(self, experiment: str, problem: str, algorithm: str) -> str:
        """Fingerprint of that code itself, as its traces carry it."""
        spec = self.experiments[experiment].cells[problem, algorithm]
        # A problem made of another one names it, which no import shows.
        names = (spec.problem, spec.problem_parameters.get("function"))
        known = self._problem_modules
        modules = tuple(sorted({f"problems.{known[name]}" for name in names if name in known}))
        restarts = (simulate.RESTARTS,) if spec.restarts is not None else ()
        of = (f"algorithms.{spec.algorithm}", *restarts, *modules)
        if of not in self._fingerprints:
            self._fingerprints[of] = fingerprint("experiments.run", *of)
        return self._fingerprints[of]

    # ---- tables ----

    def folder(self, experiment: str) -> Path:
        """Folder of the tables of an experiment."""
        return self.results / "tables" / experiment

    def tables(self, experiment: str) -> list[str]:
        """Paths of the tables of an experiment."""
        return [str(self.folder(experiment) / name) for name in TABLES]

    def table_command(self, experiment: str) -> Command:
        """What makes the tables of an experiment."""
        e = self.experiments[experiment]
        cells = [
            tables.Cell(*cell, self.key(experiment, *cell), *e.shared.get(cell[1], ()))
            for cell in e.cells
        ]
        traces = self.results / "traces" / experiment
        return tables.aggregate(traces, cells, e.runs, self.folder(experiment))

    def summaries_command(self, experiment: str) -> Command:
        """What makes the tables of targets and final values of an experiment."""
        return tables.summaries(self.folder(experiment))

    @property
    def rewarded(self) -> list[str]:
        """The experiments whose rewards are drawn, of which there is a table of rewards too."""
        drawn = [
            f["experiment"]
            for f in self.figures.values()
            if configs.kind(f) == "reward"
            or (configs.kind(f) == "settings" and configs.options(f).get("column") != "best")
        ]
        return list(dict.fromkeys(drawn))

    @property
    def curved(self) -> set[str]:
        """The experiments whose curves are drawn."""
        return {f["experiment"] for f in self.figures.values() if configs.kind(f) in figures.CURVED}

    def rewards_command(self, experiment: str) -> Command:
        """What makes the table of rewards of an experiment."""
        return tables.rewards(self.folder(experiment))

    def table_1_command(self) -> Command:
        """What makes Table 1 of the paper."""
        return Command.of("problems.table_1", to=self.results / "tables" / "table_1")

    # ---- theory ----

    def theory_needs(self, question: str) -> list[str]:
        """Paths of the traces that a table of the theory is computed from."""
        experiment = self.theory[question].get("experiment")
        return self.traces(experiment) if experiment else []

    def theory_table(self, question: str) -> str:
        """Path of a table of the theory."""
        return str(self.results / "tables" / "theory" / f"{question}.csv")

    def theory_command(self, question: str) -> Command:
        """What makes a table of the theory."""
        sizes, folder = dict(self.theory[question]), None
        if "experiment" in sizes:
            e = self.experiments[sizes.pop("experiment")]
            folder = self.results / "traces" / e.name
            sizes |= {"problems": e.problems, "algorithms": e.algorithms, "runs": e.runs}
        return theory.command(question, folder=folder, to=self.theory_table(question), **sizes)

    def theory_code(self, question: str) -> str:
        """Fingerprint of the code that a table of the theory depends on."""
        counted = algorithms.available() if question == "hyper_parameters" else []
        own = f"experiments.theory.{question}"
        return fingerprint_of_output(own, *(f"algorithms.{name}" for name in counted))

    def theory_figure_command(self, question: str) -> Command:
        """What draws a table of the theory."""
        experiment = self.theory[question].get("experiment")
        labels = self.experiments[experiment].labels if experiment else None
        to = self.results / "figures" / f"theory_{question}"
        return figures.theory_figure(question, Path(self.theory_table(question)), labels, to)

    # ---- timing ----

    def timing_command(self, name: str) -> Command:
        """What measures ``iteration``, ``rollouts``, ``updates`` or ``workflow``."""
        to = self.results / name
        if name == "workflow":
            return timing.workflow(self.results / "traces", to)
        alone = (timing.iteration, timing.rollouts, timing.updates)
        return {measure.__name__: measure for measure in alone}[name](to)

    # ---- the field ----

    @property
    def bbob(self) -> dict[str, int]:
        """The experiments on COCO's bbob, with their dimension."""
        own = {name: next(iter(e.cells.values())) for name, e in self.experiments.items()}
        return {
            name: spec.problem_parameters["dim"]
            for name, spec in own.items()
            if spec.problem == "bbob"
        }

    def best_2009(self, experiment: str) -> str:
        """Path of the table of the best algorithms of 2009 in the dimension of an experiment."""
        return str(self.folder(experiment) / "best_2009.csv")

    def best_2009_command(self, experiment: str) -> Command:
        """What makes it."""
        return field.reference(self.bbob[experiment], Path(self.best_2009(experiment)))

    def observed(self, experiment: str, problem: str, algorithm: str) -> str:
        """Folder of COCO's own data of a cell."""
        return str(self.results / "coco" / experiment / algorithm / problem)

    def all_observed(self) -> list[str]:
        """The folders of all cells, if they are asked for."""
        cells = [(name, *cell) for name in self.bbob for cell in self.experiments[name].cells]
        return [self.observed(*cell) for cell in cells] if self.observe else []

    def observed_command(self, experiment: str, problem: str, algorithm: str) -> Command:
        """What makes one."""
        e = self.experiments[experiment]
        to = self.observed(experiment, problem, algorithm)
        return field.observed(
            e.cells[problem, algorithm].canonical, e.labels[algorithm], e.runs, to
        )

    def golden_command(self) -> Command:
        """What holds two methods against what is published of them."""
        return field.golden(self.results / "tables", self.experiments, self.results / "golden.csv")

    def standing_command(self, of: Collection[str] | None = None) -> Command:
        """What makes the table and the page of the field, of these experiments or all."""
        names = self.experiments if of is None else of
        own = {name: e for name, e in self.experiments.items() if name in names}
        pictures = {n: self.title(n) for n, f in self.figures.items() if f["experiment"] in own}
        return field.standing(self.results, own, pictures)

    # ---- claims ----

    def claims_needs(self) -> list[str]:
        """Paths of the tables that claims are judged on; those of the field if they are there."""
        of_runs = [path for experiment in self.experiments for path in self.tables(experiment)]
        beside = sorted((self.results / "field" / "tables").glob("*/runs.parquet"))
        theory = [self.theory_table(question) for question in self.theory]
        return of_runs + theory + list(map(str, beside))

    def claims_command(self) -> Command:
        """What judges the claims."""
        return claims.verdicts(self.results / "tables", self.results / "claims")

    def variants_needs(self) -> list[str]:
        """Paths of the tables that the comparison of variants is made from."""
        return [self.tables(self.variants[key])[0] for key in ("experiment", "of")]

    def variants_command(self) -> Command:
        """What compares variants."""
        by, of = (self.variants[key] for key in ("experiment", "of"))
        replace = configs.replaced(self.variants, self.experiments)
        to = self.results / "variants"
        return claims.variants(self.results / "tables", of, by, replace, to)

    # ---- where it comes from ----

    @property
    def manifest(self) -> str:
        """Path of the manifest: config, commit, versions, machine, and the cost of runs."""
        return str(self.results / "manifest.json")

    def manifest_needs(self) -> list[str]:
        """Paths of the tables of runs: with them all runs are done."""
        return [self.tables(experiment)[0] for experiment in self.experiments]

    # ---- pictures ----

    def figure_needs(self, figure: str) -> list[str]:
        """Paths of the tables that a figure is drawn from."""
        settings = self.figures[figure]
        experiment = settings["experiment"]
        asked = settings.get("measure") == "bbob" and experiment in self.bbob
        best = [self.best_2009(experiment)] if asked else []
        return self.tables(experiment) + best

    def figure_command(self, figure: str) -> Command:
        """What draws a figure."""
        settings = self.figures[figure]
        kind, experiment = configs.kind(settings), self.experiments[settings["experiment"]]
        options: dict[str, Any] = configs.options(settings)
        if kind == "convergence":
            options["target"] = next(iter(experiment.cells.values())).target
        folder, to = self.folder(experiment.name), self.results / "figures" / figure
        return figures.figure(kind, folder, experiment.labels, to, **options)

    def picture(self, name: str) -> str:
        """Path of a picture by its name: of a figure, of a table of the theory, or the film.

        Raises:
            ConfigError: there is none of this name.
        """
        theory = [f"theory_{question}" for question in self.theory]
        film = ["film"] if self.film else []
        configs.check_known("the figure", name, [*self.figures, *theory, *film])
        return str(self.results / "figures" / f"{name}.png")

    def figure_code(self, figure: str) -> str:
        """Fingerprint of the code that draws a figure."""
        return fingerprint_of_output(f"figures.{configs.kind(self.figures[figure])}")

    def title(self, figure: str) -> str:
        """What the README calls a figure: "Figure 1", or what the config says."""
        return self.figures[figure].get("title", figure.replace("_", " ").capitalize())

    def film_needs(self) -> str:
        """Path of the trace whose policy is filmed."""
        where = (self.film[key] for key in ("experiment", "problem", "algorithm", "seed"))
        return self.trace(*where)

    def film_command(self) -> Command:
        """What films it."""
        label = self.experiments[self.film["experiment"]].labels[self.film["algorithm"]]
        return figures.film(self.film_needs(), label, self.results / "figures" / "film")

    @property
    def wildcards(self) -> dict[str, str]:
        """What each wildcard of the Snakefile can be."""
        cells = [cell for e in self.experiments.values() for cell in e.cells]
        return {
            "experiment": _one_of(self.experiments),
            "problem": _one_of(problem for problem, _ in cells),
            "algorithm": _one_of(algorithm for _, algorithm in cells),
            "figure": _one_of(self.figures),
            "question": _one_of(self.theory),
            "seed": r"\d+",
        }

    @cached_property
    def _fingerprints(self) -> dict[tuple[str, ...], str]:
        return {}

    @cached_property
    def _problem_modules(self) -> dict[str, str]:
        return problems.available()


def load(*paths: str | Path, **keys: Any) -> Plan:
    """The plan of config files, each laid over the ones before it, and of ``keys`` laid over all.

    Raises:
        ConfigError: a file cannot be read, or what they say together is not allowed.
    """
    return Plan.from_config(configs.merge(configs.read(*paths), keys))


def set_job_environment() -> None:
    """Let the jobs of Snakemake use this Python and this project, whatever shell they have."""
    here = os.path.dirname(sys.executable)
    os.environ["PATH"] = os.pathsep.join([here, os.environ.get("PATH", "")])
    os.environ["PYTHONPATH"] = str(ROOT)


def batched(seeds: Sequence[int], size: int) -> Iterator[Sequence[int]]:
    """These seeds, so many at a time."""
    return (seeds[first : first + size] for first in range(0, len(seeds), size))


def _relative(folder: Path) -> Path:
    """A folder here by its relative path, however it is given: paths are parts of commands."""
    here = Path.cwd()
    return folder.relative_to(here) if folder.is_relative_to(here) else folder


def _one_of(names: Iterable[str]) -> str:
    """A regular expression for these names."""
    return "|".join(map(re.escape, dict.fromkeys(names)))
