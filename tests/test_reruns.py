"""What is made anew after an edit: the table of docs/reruns.md, each row of it tried.

Where an edit changes config, code or versions, the commands and codes that Snakemake compares are
computed before and after; where it changes files, Snakemake itself says what it would run. After a
change of a row: ``PYTHONPATH=. python tests/test_reruns.py`` writes the page anew.
"""

from __future__ import annotations

import base64
import copy
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from math import fsum
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from test_workflow import Project

from experiments import fingerprint, ledger
from experiments.fingerprint import fingerprint_of_output
from experiments.ledger import Classes
from experiments.plan import Plan
from experiments.runs.trace import read

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "reruns.md"

CONFIG: dict[str, Any] = {
    "root_seed": 5,
    "runs": 2,
    "seeds_per_job": 1,
    "results": "results",
    "experiments": {
        "real": {
            "dim": 4,
            "budget": 400,
            "target": 1e-10,
            "problems": {"ellipsoid": {}, "levy": {}},
            "common": {"samples": 8},
            "algorithms": {"cma_es": {}, "ingo": {}, "es": {"step_size": 0.02, "initial_std": 1}},
        },
        "binary": {
            "budget": 200,
            "target": None,
            "problems": {"bits": {"problem": "binary_reconstruction", "dim": 8}},
            "algorithms": {"ga": {}, "bernoulli_ingo": {}},
        },
        "control": {
            "budget": 12,
            "target": None,
            "problems": {"swimmer": {"problem": "control", "task": "Swimmer", "horizon": 3}},
            "algorithms": {"fast_ingo": {"samples": 6, "step_size": 0.3}},
        },
    },
    "figures": {
        "curves": {"experiment": "real"},
        "shares": {"experiment": "real", "kind": "ecdf"},
        "reward": {"experiment": "control", "kind": "reward"},
    },
    "theory": {"gap": {"dim": 3, "repeats": 20, "conditions": [1, 10]}},
}

# for Snakemake itself: the same, but small
SMALL = {
    **CONFIG,
    "runs": 1,
    "experiments": {
        "real": {
            **CONFIG["experiments"]["real"],
            "keep_state": True,
            "problems": {"ellipsoid": {}},
            "algorithms": {"ingo": {}, "es": {}},
        }
    },
    "figures": {
        "curves": {"experiment": "real"},
        "rewards": {"experiment": "real", "kind": "reward"},
    },
    "theory": {},
}


# ---- what is compared ---------------------------------------------------------------------------


class Made(NamedTuple):
    """What Snakemake compares of a job."""

    inputs: frozenset[str]
    command: str
    code: str


def jobs(plan: Plan) -> Iterator[tuple[list[str], Made]]:
    """All jobs, as the rules have them: their outputs, and what is compared. The manifest, which
    holds the whole config, is left out.
    """
    of = fingerprint_of_output

    def made(inputs: list[str], command: object, code: str) -> Made:
        return Made(frozenset(inputs), str(command), code)

    for name, e in plan.experiments.items():
        for cell in e.own:
            for seed in range(e.runs):
                what = made([], plan.trace_command(name, *cell), plan.code(name, *cell))
                yield [plan.trace(name, *cell, seed)], what
    for name in plan.experiments:
        runs, folder = plan.tables(name), plan.folder(name)
        of_runs = plan.table_command(name)
        yield runs, made(plan.traces(name), of_runs, of("experiments.tables.aggregate"))
        looked_up = plan.summaries_command(name)
        outputs = [
            f"{folder}/{file}"
            for file in ("fixed_targets.csv", "final_values.csv", "statistics.md")
        ]
        yield outputs, made(runs[:1], looked_up, of("experiments.tables.summaries"))
        if name in plan.rewarded:
            outputs = [f"{folder}/rewards.{suffix}" for suffix in ("csv", "md")]
            command = plan.rewards_command(name)
            yield outputs, made(runs[:1], command, of("experiments.tables.rewards"))
    outputs = [f"{plan.results}/tables/table_1.{suffix}" for suffix in ("md", "tex")]
    yield outputs, made([], plan.table_1_command(), of("problems.table_1", "problems.synthetic"))
    for question in plan.theory:
        table = plan.theory_table(question)
        needs = plan.theory_needs(question)
        yield [table], made(needs, plan.theory_command(question), plan.theory_code(question))
        picture = f"{plan.results}/figures/theory_{question}"
        command = plan.theory_figure_command(question)
        yield drawn(picture), made([table], command, of(f"figures.theory.{question}"))
    for figure, settings in plan.figures.items():
        picture = f"{plan.results}/figures/{figure}"
        what = made(
            plan.tables(settings["experiment"]),
            plan.figure_command(figure),
            plan.figure_code(figure),
        )
        yield drawn(picture), what
    outputs = [f"{plan.results}/claims{end}" for end in (".csv", ".md", "_parts.csv")]
    code = of("experiments.claims.verdicts")
    yield outputs, made(plan.claims_needs(), plan.claims_command(), code)


def drawn(picture: str) -> list[str]:
    return [f"{picture}.{suffix}" for suffix in ("png", "pdf", "svg", "md")]


def compared(plan: Plan) -> dict[str, Made]:
    return {path: made for outputs, made in jobs(plan) for path in outputs}


def anew(before: dict[str, Made], after: dict[str, Made]) -> set[str]:
    """What is made after an edit: what is new or has changed, and all that comes from it."""
    made: set[str] = set()
    for path, what in after.items():  # after what they are made from
        if before.get(path) != what or what.inputs & made:
            made.add(path)
    return made


# ---- edits --------------------------------------------------------------------------------------


def plain_sum(values: Any) -> float:
    """As Python 3.11 adds."""
    total = 0.0
    for value in values:
        total += value
    return total


@dataclass
class State:
    """All that decides what is compared."""

    folder: Path  # of the sources
    config: dict[str, Any] = field(default_factory=lambda: copy.deepcopy(CONFIG))
    versions: dict[str, str] = field(default_factory=dict)  # other ones than those installed
    sum: Callable[[Any], float] = plain_sum
    equal: list[list[str]] = field(default_factory=list)  # certificates

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """While the project is in this state."""
        version = fingerprint.version
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(fingerprint, "ROOT", self.folder)
            patch.setattr(fingerprint, "version", lambda n: self.versions.get(n) or version(n))
            patch.setattr(fingerprint, "sum", self.sum, raising=False)
            patch.setattr(ledger, "classes", lambda: Classes.of([{"equal": self.equal}]))
            patch.chdir(self.folder)
            yield

    def plan(self) -> Plan:
        return Plan.from_config(self.config)

    def compared(self) -> dict[str, Made]:
        with self.at_work():
            return compared(self.plan())

    def code(self, *cell: str) -> str:
        with self.at_work():
            return self.plan().fingerprint(*cell)

    def replace(self, file: str, old: str, new: str) -> None:
        path = self.folder / file
        text = path.read_text(encoding="utf-8")
        assert old in text, f"{file} has no {old!r}"
        path.write_text(text.replace(old, new), encoding="utf-8")
        fingerprint._read.cache_clear()

    def put(self, where: str, value: Any) -> None:
        """Set a key of the config."""
        *parents, last = where.split("/")
        place = self.config
        for key in parents:
            place = place.setdefault(key, {})
        place[last] = value

    def rename(self, where: str, name: str) -> None:
        """Give a method another key, with the file of its old one."""
        *parents, old = where.split("/")
        place = self.config
        for key in parents:
            place = place[key]
        place[name] = {"algorithm": old, **place.pop(old)}

    def reverse(self, where: str) -> None:
        """Write the keys of a mapping in the other order."""
        place = self.config
        for key in where.split("/"):
            place = place[key]
        for key in list(place)[::-1]:
            place[key] = place.pop(key)


def code(file: str, old: str, new: str) -> Callable[[State], None]:
    return lambda state: state.replace(file, old, new)


def setting(where: str, value: Any) -> Callable[[State], None]:
    return lambda state: state.put(where, value)


def upgrade(library: str) -> Callable[[State], None]:
    return lambda state: state.versions.update({library: "1000.0"})


def next_python(state: State) -> None:
    state.sum = fsum


OTHER_ES = ("algorithms/es.py", "(u @ samples.z) / u.size", "(u @ samples.z)")


def certified(state: State) -> None:
    """The code of ES is another one, and certified equal on every problem that it is run on."""
    cells = [("real", problem, "es") for problem in ("ellipsoid", "levy")]
    old = [state.code(*cell) for cell in cells]
    state.replace(*OTHER_ES)
    state.equal = [[state.code(*cell), was] for cell, was in zip(cells, old, strict=True)]


def longer(state: State) -> None:
    state.put(f"{REAL}/keep_state", True)
    state.put(f"{REAL}/budget", 800)


def absolute(state: State) -> None:
    state.put("results", str(state.folder / "results"))


# ---- the same by Snakemake, of files ------------------------------------------------------------


def restore(done: Project, fresh: Path) -> Project:
    """Its traces, packed and restored into a fresh copy."""
    fresh.mkdir()
    other = Project(fresh)
    shutil.copy(done.folder / "config.yaml", fresh)
    kept = ["--config", "config.yaml", "--kept", str(fresh / "kept")]
    for project, direction in ((done, "pack"), (other, "restore")):
        subprocess.run(
            [sys.executable, "-m", "experiments.publishing.archive", direction, *kept],
            cwd=project.folder, check=True, capture_output=True,
        )  # fmt: skip
    return other


def cloned(project: Project) -> Project:
    return restore(project, project.folder / "clone")


def moved(project: Project) -> None:
    (project.folder / "results").rename(project.folder / "elsewhere")
    config = (project.folder / "config.yaml").read_text()
    (project.folder / "config.yaml").write_text(
        config.replace("results: results", "results: elsewhere")
    )


def renamed(project: Project) -> None:
    """A method has another name in the config, and so have its folders."""
    config = project.folder / "config.yaml"
    config.write_text(config.read_text().replace("es: {}", "mine: {algorithm: es}"))
    cell = project.folder / "results/traces/real/ellipsoid"
    (cell / "es").rename(cell / "mine")


def lost(project: Project) -> None:
    shutil.rmtree(project.folder / ".snakemake")


def touched(pattern: str) -> Callable[[Project], None]:
    def touch(project: Project) -> None:
        for path in project.folder.glob(pattern):
            path.touch()

    return touch


def put_in_place(project: Project) -> None:
    traces = project.folder / "results/traces/real/ellipsoid"
    shutil.copy(traces / "ingo/0.parquet", traces / "es/0.parquet")


def deleted(path: str) -> Callable[[Project], None]:
    return lambda project: (project.folder / "results" / path).unlink()


def in_file(file: str, old: str, new: str) -> Callable[[Project], None]:
    def edit(project: Project) -> None:
        path = project.folder / file
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")

    return edit


# ---- the table ----------------------------------------------------------------------------------


class Cell(NamedTuple):
    """What is made anew, in words and as patterns of paths in the results."""

    words: str
    patterns: tuple[str, ...] = ()


class Row(NamedTuple):
    edit: str
    apply: Callable[..., Any]
    traces: Cell
    tables: Cell
    pictures: Cell


REAL = "experiments/real"
NO = Cell("nothing")

ALL_TRACES = Cell("all", ("traces/*",))
ES = Cell("those of the optimiser", ("traces/real/*/es/*",))
REAL_TRACES = Cell("those of the experiment", ("traces/real/*",))
GO_ON = "those of the experiment, which [go on](running.md#a-larger-budget)"
MINE = Cell("those of the method", ("traces/real/*/mine/*",))
FAST = Cell("those of the method", ("traces/real/*/fast_ingo/*",))
DISCUS = Cell("those of the problem", ("traces/real/discus/*",))
INGO = Cell("those of optimisers that use it", ("traces/real/*/ingo/*",))
CMA = Cell("those of CMA-ES", ("traces/real/*/cma_es/*",))
GA = Cell("those of its GA", ("traces/binary/*/ga/*",))
CONTROL = Cell("those of control", ("traces/control/*",))
ONE = Cell("that one", ("traces/real/ellipsoid/es/0.*",))

ALL_TABLES = Cell("all", ("tables/*",))
OF_RUNS = ("tables/real/*", "tables/binary/*", "tables/control/*")
RUNS = Cell("all but Table 1 and the theory's", OF_RUNS)
BUT_TABLE_1 = Cell("all but Table 1", (*OF_RUNS, "tables/theory/*"))
REAL_TABLES = Cell("those of the experiment", ("tables/real/*",))
ITS_TABLES = Cell("those of its experiments", ("tables/real/*",))
GA_TABLES = Cell("those of its experiments", ("tables/binary/*",))
CONTROL_TABLES = Cell("those of control", ("tables/control/*",))
SCIPY_TABLES = Cell(
    "those of their experiments, all summaries, the theory's",
    ("tables/real/*", "tables/*/*.md", "tables/*/f*.csv", "tables/*/rewards.*", "tables/theory/*"),
)

REAL_PICTURES = ("figures/curves.*", "figures/shares.*", "figures/rewards.*")
ALL = Cell("all", ("figures/*", "claims*"))
PICTURES = Cell("all pictures", ("figures/*",))
VERDICTS = Cell("verdicts", ("claims*",))
OF_ALL_RUNS = Cell("all but the theory's", (*REAL_PICTURES, "figures/reward.*", "claims*"))
OF_REAL = Cell("those of the experiment, verdicts", (*REAL_PICTURES, "claims*"))
ITS = Cell("those of its experiments, verdicts", OF_REAL.patterns)
OF_GA = Cell("those of its experiments, verdicts", ("claims*",))
OF_CONTROL = Cell("those of control, verdicts", ("figures/reward.*", "claims*"))
OF_SCIPY = Cell(
    "those of their experiments, the theory's, verdicts", (*OF_REAL.patterns, "figures/theory_*")
)
LABELLED = Cell("pictures of the experiment", REAL_PICTURES)
CURVES = Cell("that picture", ("figures/curves.*",))
SHARES = Cell("those of the kind", ("figures/shares.*",))
MORE = Cell("that picture", ("figures/more.*",))

LOOP = "algorithms/shared/loop.py"
OF_CODE = [
    Row("a comment or a docstring",
        code("algorithms/es.py", '"""ES: ', '# why\n"""An ES: '), NO, NO, NO),
    Row("the words of an error", code(LOOP, "evaluate returned", "it returned"), NO, NO, NO),
    Row("code of one optimiser", code(*OTHER_ES), ES, ITS_TABLES, ITS),
    Row("the same, certified equal (`make certify`)", certified, NO, NO, NO),
    Row("code that all optimisers share, as `algorithms/shared/loop.py`",
        code(LOOP, "iteration += 1", "iteration += 2"), ALL_TRACES, RUNS, OF_ALL_RUNS),
    Row("the runner, `experiments/run.py` and `experiments/runs/*`",
        code("experiments/runs/simulate.py", "self._due = 1", "self._due = 2"),
        ALL_TRACES, RUNS, OF_ALL_RUNS),
    Row("code of the tables of runs",
        code("experiments/tables/aggregate.py", "if not length", "if length == 0"),
        NO, RUNS, OF_ALL_RUNS),
    Row("code of one kind of figure",
        code("figures/ecdf.py", "STEPS = 400", "STEPS = 500"), NO, NO, SHARES),
    Row("the style of pictures",
        code("figures/style.py", "def use(", "def use_("), NO, NO, PICTURES),
    Row("how claims are judged",
        code("experiments/claims/measures.py", "import numpy", "import math\nimport numpy"),
        NO, NO, VERDICTS),
]  # fmt: skip

METHODS = f"{REAL}/algorithms"
OF_CONFIG = [
    Row("a hyper-parameter", setting(f"{METHODS}/es/step_size", 0.03), ES, REAL_TABLES, OF_REAL),
    Row("a default written out", setting(f"{METHODS}/es/optimiser", "adam"), NO, NO, NO),
    Row("the order of a method's keys", lambda state: state.reverse(f"{METHODS}/es"), NO, NO, NO),
    Row("1 written as 1.0", setting(f"{METHODS}/es/initial_std", 1.0), NO, NO, NO),
    Row("the order of methods", lambda state: state.reverse(METHODS), NO, REAL_TABLES, OF_REAL),
    Row("more `runs`",
        setting("runs", 3), Cell("the new runs", ("traces/*/2.*",)), RUNS, OF_ALL_RUNS),
    Row("fewer `runs`", setting("runs", 1), NO, RUNS, OF_ALL_RUNS),
    Row("a new problem", setting(f"{REAL}/problems/discus", {}), DISCUS, REAL_TABLES, OF_REAL),
    Row("a new method", setting(f"{METHODS}/fast_ingo", {}), FAST, REAL_TABLES, OF_REAL),
    Row("the name (key) of a method",
        lambda state: state.rename(f"{METHODS}/es", "mine"), MINE, REAL_TABLES, OF_REAL),
    Row("`record_every`", setting(f"{REAL}/record_every", 10), REAL_TRACES, REAL_TABLES, OF_REAL),
    Row("a larger `budget`", setting(f"{REAL}/budget", 800), REAL_TRACES, REAL_TABLES, OF_REAL),
    Row("`keep_state`", setting(f"{REAL}/keep_state", True), NO, NO, NO),
    Row("a larger `budget` where `keep_state` was set",
        longer, REAL_TRACES._replace(words=GO_ON), REAL_TABLES, OF_REAL),
    Row("`target`", setting(f"{REAL}/target", 1e-8), REAL_TRACES, REAL_TABLES, OF_REAL),
    Row("`root_seed`", setting("root_seed", 6), ALL_TRACES, BUT_TABLE_1, ALL),
    Row("`bits: portable`", setting("bits", "portable"), ALL_TRACES, RUNS, OF_ALL_RUNS),
    Row("a label", setting(f"{METHODS}/es/label", "ES, mine"), NO, NO, LABELLED),
    Row("an option of a figure", setting("figures/curves/band", "quartiles"), NO, NO, CURVES),
    Row("a new figure", setting("figures/more", {"experiment": "real"}), NO, NO, MORE),
    Row("the title of a figure", setting("figures/curves/title", "Mine"), NO, NO, NO),
    Row("`seeds_per_job`", setting("seeds_per_job", 2), NO, NO, NO),
    Row("`results` as an absolute path", absolute, NO, NO, NO),
]  # fmt: skip

OF_VERSIONS = [
    Row("numpy", upgrade("numpy"), ALL_TRACES, ALL_TABLES, ALL),
    Row("scipy", upgrade("scipy"), INGO, SCIPY_TABLES, OF_SCIPY),
    Row("cma", upgrade("cma"), CMA, ITS_TABLES, ITS),
    Row("pymoo", upgrade("pymoo"), GA, GA_TABLES, OF_GA),
    Row("mujoco", upgrade("mujoco"), CONTROL, CONTROL_TABLES, OF_CONTROL),
    Row("gymnasium", upgrade("gymnasium"), CONTROL, CONTROL_TABLES, OF_CONTROL),
    Row("pandas", upgrade("pandas"), NO, BUT_TABLE_1, ALL),
    Row("pyarrow", upgrade("pyarrow"), NO, BUT_TABLE_1, ALL),
    Row("matplotlib", upgrade("matplotlib"), NO, NO, PICTURES),
    Row("snakemake", upgrade("snakemake"), NO, NO, NO),
    Row("Python 3.11 to 3.12 or later", next_python, CMA, ITS_TABLES, ITS),
]

CLAIMS = "experiments/claims/claims.yaml"
OF_FILES = [
    Row("a fresh clone, then `make restore`", cloned, NO, ALL_TABLES, ALL),
    Row("`results` moved or copied elsewhere", moved, NO, ALL_TABLES, ALL),
    Row("`.snakemake` lost", lost, NO, ALL_TABLES, ALL),
    Row("the name (key) of a method, and of its folders of traces",
        renamed, NO, REAL_TABLES, OF_REAL),
    Row("traces touched", touched("results/traces/*/*/*/*.parquet"), NO, NO, NO),
    Row("code touched", touched("**/*.py"), NO, NO, NO),
    Row("a trace replaced by another", put_in_place, ONE, REAL_TABLES, OF_REAL),
    Row("a table of runs deleted", deleted("tables/real/runs.parquet"), NO, REAL_TABLES, OF_REAL),
    Row("a picture deleted", deleted("figures/curves.png"), NO, NO, CURVES),
    Row("`claims.yaml`", in_file(CLAIMS, "\n", "\n# more\n"), NO, NO, VERDICTS),
    Row("a comment in a rule",
        in_file("figures/rules.smk", "rule figure:", "# why\nrule figure:"), NO, NO, NO),
    Row("the shell line of the rule that draws figures",
        in_file("figures/rules.smk", "{params.command} 2>", "time {params.command} 2>"),
        NO, NO, Cell("all of the rule", ("figures/*",))),
]  # fmt: skip

TABLES = {
    "Code": OF_CODE,
    "config.yaml": OF_CONFIG,
    "Versions": OF_VERSIONS,
    "Files": OF_FILES,
}


def filled(text: str) -> str:
    """The page with its tables as the rows have them."""
    for heading, rows in TABLES.items():
        lines = ["| edit | traces | tables | pictures and verdicts |", "|---|---|---|---|"]
        for row in rows:
            cells = row.edit, row.traces.words, row.tables.words, row.pictures.words
            lines.append(f"| {' | '.join(cells)} |")
        table = "\n".join(lines)
        place = re.compile(rf"(?<=\n## {re.escape(heading)}\n\n)(\|.*\n)*")
        assert place.search(text), f"the page has no heading {heading!r}"
        text = place.sub(lambda _, table=table: f"{table}\n", text)
    return text


# ---- its tests ----------------------------------------------------------------------------------


def assert_is(row: Row, made: set[str], there: set[str]) -> None:
    """What is made anew is what the row says; ``there`` is all that could be."""
    said = {
        path
        for path in there
        for cell in (row.traces, row.tables, row.pictures)
        if any(fnmatchcase(path, pattern) for pattern in cell.patterns)
    }
    assert sorted(made) == sorted(said), row.edit


def test_the_page_shows_these_rows():
    text = PAGE.read_text(encoding="utf-8")
    assert filled(text) == text, "write the page anew: PYTHONPATH=. python tests/test_reruns.py"


def test_every_edit_stands_once():
    edits = [row.edit for rows in TABLES.values() for row in rows]
    assert len(edits) == len(set(edits)) > 50


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """A copy of the code, which edits change."""
    folder = tmp_path_factory.mktemp("sources")
    for part in ("algorithms", "problems", "experiments", "figures"):
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


@pytest.fixture(scope="module")
def before(sources):
    fingerprint._read.cache_clear()
    return State(sources).compared()


@pytest.fixture
def state(sources, before):
    """The state of ``before``, to be edited; its files are put back."""
    originals = {path: path.read_bytes() for path in sources.rglob("*.py")}
    yield State(sources)
    changed = [path for path, content in originals.items() if path.read_bytes() != content]
    for path in changed:
        path.write_bytes(originals[path])
    if changed:
        fingerprint._read.cache_clear()


@pytest.mark.parametrize("row", [*OF_CODE, *OF_CONFIG, *OF_VERSIONS], ids=lambda row: row.edit)
def test_what_an_edit_makes_anew(row, state, before):
    row.apply(state)
    after = state.compared()
    short = {path: path.removeprefix("results/") for path in after}
    assert_is(row, {short[path] for path in anew(before, after)}, set(short.values()))


def test_the_count_of_constants_is_made_anew_with_any_optimiser(state):
    """Its table is made from their fields, though its module imports none of them by name."""
    with state.at_work():
        plan = Plan.from_config({**CONFIG, "theory": {"hyper_parameters": {}}})
        before = plan.theory_code("hyper_parameters")
        state.replace(*OTHER_ES)
        assert plan.theory_code("hyper_parameters") != before


def test_when_to_use_them_is_measured_anew_with_the_methods_that_it_measures():
    """They are loaded by name, so that the rule has to name their modules."""
    rule = (ROOT / "experiments" / "usage" / "rules.smk").read_text(encoding="utf-8")
    named = set(re.findall(r'"algorithms\.(\w+)"', rule))
    source = (ROOT / "experiments" / "usage" / "methods.py").read_text(encoding="utf-8")
    assert named == set(re.findall(r'ours\("(\w+)"\)', source)) == {"ingo", "fast_ingo"}


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """A project whose workflow has run, with one experiment of one run per cell."""
    folder = tmp_path_factory.mktemp("done")
    project = Project(folder)
    (folder / "config.yaml").write_text(yaml.safe_dump(SMALL, sort_keys=False))
    project.snakemake("--cores", "2")
    return project


def outputs_of(project: Project) -> set[str]:
    """What a dry run would make, in the results, but for the manifest."""
    text = project.snakemake("--cores", "1", "--dry-run", "--quiet", "reason")
    config = yaml.safe_load((project.folder / "config.yaml").read_text())
    lines = re.findall(r"^ +output: (.*)$", text, re.MULTILINE)
    paths = {
        path.removeprefix(f"{config['results']}/") for line in lines for path in line.split(", ")
    }
    assert paths or "Nothing to be done" in text, text
    return paths - {"manifest.json"}


def test_what_is_compared_here_is_what_snakemake_records(done):
    here = State(done.folder, SMALL, sum=sum).compared()  # which has no certificates either
    recorded = {}
    for file in (done.folder / ".snakemake" / "metadata").rglob("*"):
        if file.is_file():
            path = base64.urlsafe_b64decode(file.name.lstrip("@") + "==").decode()
            recorded[path] = json.loads(file.read_text())
    recorded.pop("results/manifest.json")
    marks = {"results/.records", "results/.unfit", "experiments/claims/claims.yaml"}
    assert set(recorded) == set(here)
    for path, made in here.items():
        assert recorded[path]["params"] == sorted(map(repr, (made.command, made.code))), path
        assert set(recorded[path]["input"]) - marks == made.inputs, path


@pytest.fixture
def copied(done, tmp_path):
    """A copy of it, to be changed."""
    project = copy.copy(done)
    project.folder = tmp_path / "project"
    shutil.copytree(done.folder, project.folder, symlinks=True)
    return project


@pytest.mark.parametrize("row", OF_FILES, ids=lambda row: row.edit)
def test_what_a_change_of_files_makes_anew(row, done, copied):
    project = row.apply(copied) or copied
    there = {path.removeprefix("results/") for path in State(done.folder, SMALL).compared()}
    assert_is(row, outputs_of(project), there)


def test_a_larger_budget_goes_on_where_the_smaller_one_ended(copied):
    """Snakemake leaves the state that stands beside the trace which it removes."""
    config = copied.folder / "config.yaml"
    config.write_text(config.read_text().replace("budget: 400", "budget: 800"))
    trace = "results/traces/real/ellipsoid/es/0.parquet"
    copied.snakemake("--cores", "1", "--", trace)
    rows, metadata = read(copied.folder / trace)
    assert rows["evaluations"].to_numpy()[-1] == metadata["spec"]["budget"] == 800
    assert metadata["processes"] == 2


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
