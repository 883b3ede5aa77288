"""Does this commit make the same data as an earlier one? Run both, and compare bit for bit.

    python -m experiments.certify 281d996

Of every cell whose code has another fingerprint, the beginning of a run; of every way in which an
optimiser's kept runs end, with and without restarts, the cheapest of them to its end. Of the field,
whose problems are many and of one code, each optimiser of an experiment on one of them. Cells that
were made anew, so that all kept runs are of today's code, are left out. If all data are equal, a
line is added to the ledger (``experiments/ledger.py``), and kept traces of the old code count as
traces of the new. Otherwise each cell that differs is named, with the first row and column that do.

Both commits are run by their own code in this environment, on this machine. Of a commit this asks
for ``experiments.plan.load``, the plan's ``experiments`` and ``code``, and the command line of
``experiments.run``; of a commit that has no field it takes the others.
"""

from __future__ import annotations

import json
import os
import platform
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from hashlib import sha256
from importlib.metadata import version
from math import ceil
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from experiments import ledger
from experiments.checkout import GitError, Tree, checked_out, git
from experiments.command import parser
from experiments.config import STUDIES
from experiments.fingerprint import LIBRARIES
from experiments.paths import KEPT, PUBLISHED, ROOT
from experiments.publishing import archive
from experiments.runs import trace
from experiments.runs.machine import processor
from experiments.runs.simulate import batch_size
from experiments.runs.spec import Spec
from experiments.speed import cpu_seconds

BATCHES, SHARE = 3, 0.01  # of a run, whichever is longer: how far its beginning goes
BEGINNING = "beginning"
START = 0.7  # seconds of a process before its first batch, about
SECONDS_BETWEEN_LINES = 5.0
CONFIGS = ("config.yaml", f"{PUBLISHED.as_posix()}/config.yaml")  # what the kept runs are of
PROBE = """
import json, sys
from dataclasses import asdict
from experiments import config
from experiments.plan import load
studies, *paths = sys.argv[1:]
has = {"", *getattr(config, "STUDIES", ())}
found = []
for study in studies.split(","):
    if study in has:
        plan = load(*paths, **({"study": study} if study else {}))
        fingerprint = getattr(plan, "fingerprint", plan.code)
        found += [
            (name, *cell, asdict(spec), plan.code(name, *cell), fingerprint(name, *cell), study)
            for name, e in plan.experiments.items()
            for cell, spec in getattr(e, "own", e.cells).items()
        ]
print(json.dumps(found))
"""

Cell = tuple[str, str, str]  # experiment, problem, optimiser, as the config calls them


class NotCertified(Exception):
    """The two commits are not equal, or cannot be compared; the message says why."""


class Version(NamedTuple):
    """What a commit has for a cell."""

    spec: dict[str, Any]
    code: str  # class of the code that runs it
    fingerprint: str  # of that code itself
    study: str = ""  # section of the config that asks for it; none: the paper's

    @property
    def settings(self) -> str:
        """The spec as a text, the same for all ways to say that there is no target."""
        target = self.spec["target"]
        none = target is None or target < 0
        spec = {"bits": "native", "restarts": None} | self.spec  # which older commits do not have
        return json.dumps(spec | {"target": None if none else target}, sort_keys=True)


class Comparison(NamedTuple):
    """A run that both commits are to make."""

    cell: Cell
    seed: int
    budget: int  # evaluations, at most
    seconds: float  # that it may take, as the kept runs did
    why: str


def cells_of(tree: Tree, studies: Sequence[str] = ("",)) -> dict[Cell, Version]:
    """The cells that the config of a tree asks for, in these sections of it.

    Raises:
        NotCertified: its plan cannot be made.
    """
    code, output, errors = tree.python("-c", PROBE, ",".join(studies), *CONFIGS)
    if code:
        raise NotCertified(f"{tree.commit} has no plan: {errors}")
    return {(e, p, a): Version(*its) for e, p, a, *its in json.loads(output)}


def counterparts(old: dict[Cell, Version], new: dict[Cell, Version]) -> dict[Cell, Version]:
    """The old version of each new cell: the one of its name if its settings are the same, or one
    with the same settings, since an experiment or an optimiser may have another name now, or the
    one of its name with others that may mean the same, such as ``1/sqrt(d)`` for a number.
    """
    by_settings = {its.settings: its for its in old.values()}
    found = {}
    for cell, its in new.items():
        named, alike = old.get(cell), by_settings.get(its.settings)
        if named and named.settings == its.settings:
            found[cell] = named
        elif alike or named:
            found[cell] = alike or old[cell]
    return found


def beginnings(
    old: dict[Cell, Version], new: dict[Cell, Version], runs: pd.DataFrame
) -> list[Comparison]:
    """The beginning of a run of every cell whose code is of another class; of cells that are the
    same but for their names, one, and of those of a study beside the paper's one of each optimiser.

    Seed and problem come from the new code and the cell's names, so that nobody chose them.

    Args:
        runs: of ``kept_runs``.
    """
    took = median_costs(runs)
    alike: dict[str, list[Cell]] = {}
    for cell, before in old.items():
        its = new[cell]
        if before.code != its.code:
            one = (cell[0], cell[2], its.code, before.code) if its.study else (its, before)
            alike.setdefault(json.dumps(one, sort_keys=True), []).append(cell)
    found = []
    for cells in alike.values():
        experiment, _, optimiser = cells[0]
        drawn = sha256(f"{new[cells[0]].fingerprint} {experiment} {optimiser}".encode()).hexdigest()
        seed = int(drawn[:7], 16)  # less than 2³¹, as COCO's instances are
        cell = cells[seed % len(cells)]
        spec = Spec(**new[cell].spec)
        budget = min(spec.budget, max(BATCHES * batch_size(spec), ceil(SHARE * spec.budget)))
        seconds, evaluations = took.get(cell, (0.0, budget))
        found.append(
            Comparison(cell, seed, budget, min(1.0, budget / evaluations) * seconds, BEGINNING)
        )
    return found


def endings(changed: set[Cell], new: dict[Cell, Version], runs: pd.DataFrame) -> list[Comparison]:
    """Of every (optimiser, stop reason) of the kept runs of these cells, with restarts and without,
    the cheapest run.

    Args:
        runs: of ``kept_runs``.
    """
    cheapest: dict[str, Comparison] = {}
    for row in runs.sort_values(["seconds", *archive.KEY], na_position="last").itertuples():
        cell = (row.experiment, row.problem, row.algorithm)
        if cell in changed:
            spec = new[cell].spec
            seconds = 0.0 if pd.isna(row.seconds) else row.seconds
            restarts = ", restarts" if spec.get("restarts") is not None else ""
            # with restarts of each variant, since the run of another one need not have restarted
            why = f"{cell[2] if restarts else spec['algorithm']}{restarts}: {row.stop}"
            found = Comparison(cell, row.seed, spec["budget"], seconds, why)
            cheapest.setdefault(why, found)
    return sorted(cheapest.values(), key=lambda found: found.why)


def kept_runs(kept: Path) -> pd.DataFrame:
    """A row per kept run: experiment, problem, algorithm, seed, stop, evaluations, code, and the
    seconds that it took where that is known. The field's are in tables beside ``kept``.
    """
    tables = [
        archive.stops(file).assign(experiment=file.parent.name, seed=int(file.stem))
        for file in sorted(kept.glob("*/*.parquet"))
    ]
    columns = [*archive.KEY, "stop", "evaluations", "code"]
    runs = pd.concat(tables)[columns] if tables else pd.DataFrame(columns=columns)
    runs = runs.merge(archive.kept_seconds(kept), on=list(archive.KEY), how="left")
    return pd.concat([runs, *(tabled_runs(kept.parent / study) for study in kept_studies(kept))])


def kept_studies(kept: Path) -> list[str]:
    """The studies beside the paper's that have kept tables."""
    return [study for study in STUDIES if (kept.parent / study / "tables").is_dir()]


def tabled_runs(folder: Path) -> pd.DataFrame:
    """The kept runs of a study that keeps tables in place of traces. The code of a run, and the
    seconds of an evaluation, are those of its cell in the manifest; of codes that are of several
    classes there is none.

    Raises:
        NotCertified: the manifest does not tell them.
    """
    try:
        return _tabled(folder, json.loads((folder / "manifest.json").read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError) as error:
        raise NotCertified(
            f"{folder / 'manifest.json'} does not say which code made the runs of the tables "
            f"beside it ({error!r}); run: make publish_{folder.name}"
        ) from error


def _tabled(folder: Path, manifest: dict[str, Any]) -> pd.DataFrame:
    classes, tables = ledger.classes(), []
    for file in sorted(folder.glob("tables/*/runs.parquet")):
        columns = ["problem", "algorithm", "seed", "stop", "evaluations"]
        table = pd.read_parquet(file, columns=columns).assign(experiment=file.parent.name)
        cells = manifest["runs"]["experiments"][file.parent.name]
        for (problem, algorithm), runs in table.groupby(["problem", "algorithm"]):
            cell = cells[f"{problem}/{algorithm}"]
            codes = {classes[code] for code in cell["code"]}
            each = cell["seconds"] / runs["evaluations"].sum()
            tables.append(
                runs.assign(
                    code=codes.pop() if len(codes) == 1 else "",
                    seconds=each * runs["evaluations"],
                )
            )
    return pd.concat(tables)


def current(new: dict[Cell, Version], runs: pd.DataFrame) -> set[Cell]:
    """The cells whose kept runs are all of today's code already.

    Args:
        runs: of ``kept_runs``.
    """
    classes = ledger.classes()
    kept = runs.groupby(list(archive.KEY[:3]))["code"].agg(lambda own: {classes[c] for c in own})
    return {cell for cell, its in new.items() if kept.get(cell) == {classes[its.code]}}


def median_costs(runs: pd.DataFrame) -> dict[Cell, tuple[float, float]]:
    """Seconds and evaluations of a kept run of a cell, the medians over its runs."""
    runs = runs.fillna({"seconds": 0.0})
    medians = runs.groupby(list(archive.KEY[:3]))[["seconds", "evaluations"]].median()
    return {cell: tuple(row) for cell, row in zip(medians.index, medians.to_numpy(), strict=True)}


def compare(trees: tuple[Tree, Tree], specs: tuple[Any, Any], run: Comparison, to: Path) -> str:
    """Run both trees; in words how they differ, nothing if they do not."""
    traces = []
    for tree, spec in zip(trees, specs, strict=True):
        path = to / tree.folder.name / f"{run.seed}.parquet"
        target = [] if spec["target"] is None else ["--target", repr(spec["target"])]
        again = spec.get("restarts")  # which older commits do not have
        restarts = [] if again is None else ["--restarts", json.dumps(again)]
        code, _, errors = tree.python(
            "-m", "experiments.run",
            "--problem", spec["problem"], json.dumps(spec["problem_parameters"]),
            "--algorithm", spec["algorithm"], json.dumps(spec["algorithm_parameters"]),
            "--budget", str(run.budget), *target,
            "--record-every", str(spec["record_every"]),
            "--root-seed", str(spec["root_seed"]), *restarts, "--to", str(path),
        )  # fmt: skip
        if code:
            return f"{tree.commit} fails: {errors}"
        traces.append(path)
    try:
        return trace.difference(*traces)
    except ValueError as error:
        return str(error)


def compare_all(
    trees: tuple[Tree, Tree],
    old: dict[Cell, Version],
    new: dict[Cell, Version],
    comparisons: list[Comparison],
) -> int:
    """Make all comparisons, the longest first, on all cores; how many differ. Each that does is
    named at once.
    """
    began = last = time.monotonic()
    total = sum(c.seconds + START for c in comparisons)
    done, count, differ = 0.0, 0, 0
    pool = ThreadPoolExecutor(os.cpu_count())
    with tempfile.TemporaryDirectory() as folder:
        try:
            tasks = {
                pool.submit(
                    compare, trees, (old[c.cell].spec, new[c.cell].spec), c, Path(folder) / str(n)
                ): c
                for n, c in enumerate(sorted(comparisons, key=lambda c: -c.seconds))
            }
            for task in as_completed(tasks):
                c = tasks[task]
                done, count = done + c.seconds + START, count + 1
                if text := task.result():
                    differ += 1
                    report(f"{'/'.join(c.cell)}, seed {c.seed} ({c.why}): {text}")
                now = time.monotonic()
                if now - last > SECONDS_BETWEEN_LINES:
                    left, last = (now - began) * (total / done - 1), now
                    report(f"{count} of {len(tasks)} runs compared, about {left:.0f} s left")
        finally:
            for tree in trees:
                tree.stop()
            pool.shutdown(cancel_futures=True)
    return differ


def certify(root: Path, base: str, kept: Path) -> dict[str, Any] | None:
    """The certificate that HEAD makes the data of ``base``; None if no code has changed.

    Raises:
        NotCertified: it does not, or the two cannot be compared.
    """
    if changes := git(root, "status", "--porcelain"):
        raise NotCertified(f"there are changes that no commit holds:\n{changes}")
    commits = [git(root, "rev-parse", f"{name}^{{commit}}") for name in (base, "HEAD")]
    runs = kept_runs(kept)
    with checked_out(root, *commits) as (old_tree, new_tree):
        studies = ["", *kept_studies(kept)]
        before, new = (cells_of(tree, studies) for tree in (old_tree, new_tree))
        old = counterparts(before, new)
        unmatched = {cell for cell in new if cell not in old}
        with_runs = set(runs[list(archive.KEY[:3])].itertuples(index=False, name=None))
        anew = current(new, runs)
        if lost := {c for c in with_runs if c in unmatched or c not in new} - anew:
            raise NotCertified(
                "these have kept runs, and no counterpart to be compared with: "
                + ", ".join("/".join(cell) for cell in sorted(lost))
                + "\nTake a base whose config has them, or make their runs again"
            )
        differ = {cell for cell, its in old.items() if its.code != new[cell].code}
        changed = differ - anew
        old = {cell: its for cell, its in old.items() if cell in changed}
        if not changed:
            return None
        comparisons = beginnings(old, new, runs) + endings(changed, new, runs)
        began, spent = time.monotonic(), cpu_seconds()
        others = compare_all((old_tree, new_tree), old, new, comparisons)
    if others:
        raise NotCertified(f"{others} of {len(comparisons)} runs differ, as named above")
    return {
        "base": commits[0],
        "head": commits[1],
        "equal": sorted({(new[cell].fingerprint, old[cell].code) for cell in changed}),
        "cells": len(changed),
        "not_compared": sorted("/".join(cell) for cell in unmatched | (differ & anew)),
        "endings": [c.why for c in comparisons if c.why != BEGINNING],
        "versions": versions(),
        "machine": f"{platform.system()} {platform.machine()}, {processor()}",
        "seconds": round(time.monotonic() - began),
        "cpu_seconds": round(cpu_seconds() - spent),
    }


def report(text: str) -> None:
    """A line of progress."""
    print(text, file=sys.stderr, flush=True)


def versions() -> dict[str, str]:
    """Of Python and of the libraries that numbers depend on."""
    return {"python": platform.python_version()} | {name: version(name) for name in LIBRARIES}


def main(arguments: list[str] | None = None) -> None:
    """Certify HEAD, or say why not."""
    made = parser("experiments.certify", __doc__)
    made.add_argument("base", help="the commit whose data HEAD is to make")
    base = made.parse_args(arguments).base
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(STOPPED))
    try:
        certificate = certify(ROOT, base, KEPT)
    except (NotCertified, GitError) as error:
        sys.exit(f"not certified: {error}")
    except KeyboardInterrupt:
        sys.exit(STOPPED)
    if certificate is None:
        print(f"nothing to certify: no data depend on what has changed since {base}")
        return
    ledger.append(certificate)
    print(
        f"certified: {certificate['cells']} cells and {len(certificate['endings'])} endings are "
        f"equal bit for bit, {len(certificate['equal'])} fingerprints, in "
        f"{certificate['seconds']} s. Commit {ledger.LEDGER.relative_to(ROOT)}."
    )


STOPPED = "stopped: nothing is certified, and nothing was written"

if __name__ == "__main__":
    main()
