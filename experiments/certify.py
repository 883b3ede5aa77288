"""Does this commit make the same data as an earlier one? Run both, and compare bit for bit.

    python -m experiments.certify 281d996

Of every cell whose code has another fingerprint, the beginning of a run; of every way in which an
optimiser's kept runs end, the cheapest of them to its end. If all data are equal, a line is added
to the ledger (``experiments/ledger.py``), and kept traces of the old code count as traces of the
new. Otherwise each cell that differs is named, with the first row and column that do.

Both commits are checked out beside each other and run by their own code in this environment, on
this machine. Of a commit this asks for ``experiments.plan.load``, the plan's ``experiments`` and
``code``, and the command line of ``experiments.run``.
"""

from __future__ import annotations

import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from math import ceil
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from experiments import command, ledger
from experiments.fingerprint import LIBRARIES
from experiments.paths import KEPT, PUBLISHED, ROOT
from experiments.publishing import archive
from experiments.runs import trace
from experiments.runs.record import COLUMNS
from experiments.runs.simulate import batch_size
from experiments.runs.spec import Spec

BATCHES, SHARE = 3, 0.01  # of a run, whichever is longer: how far its beginning goes
CONFIGS = ("config.yaml", f"{PUBLISHED.as_posix()}/config.yaml")  # what the kept runs are of
PROBE = """
import json, sys
from dataclasses import asdict
from experiments.plan import load
what = load(*sys.argv[1:])
print(json.dumps([(name, *cell, asdict(spec), what.code(name, *cell))
                  for name, e in what.experiments.items() for cell, spec in e.cells.items()]))
"""
BEGINNING = "beginning"
START = 0.7  # seconds of a process before its first batch, about
SECONDS_BETWEEN_LINES = 5.0

Cell = tuple[str, str, str]  # experiment, problem, optimiser, as the config calls them


class NotCertified(Exception):
    """The two commits are not equal, or cannot be compared; the message says why."""


class Code(NamedTuple):
    """What a commit says of a cell: what is run, and the class of the code that runs it."""

    spec: dict[str, Any]
    code: str


class Comparison(NamedTuple):
    """A run that both commits are to make."""

    cell: Cell
    seed: int
    budget: int  # evaluations, at most
    seconds: float  # that it may take, as the kept runs did
    why: str


@dataclass(frozen=True)
class Tree:
    """A commit, checked out."""

    folder: Path
    commit: str

    def python(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run this environment's Python on the modules of the tree."""
        environment = os.environ | {"PYTHONPATH": str(self.folder)}
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=self.folder, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip

    def cells(self) -> dict[Cell, Code]:
        """The cells that the tree's config asks for.

        Raises:
            NotCertified: its plan cannot be made.
        """
        done = self.python("-c", PROBE, *CONFIGS)
        if done.returncode:
            raise NotCertified(f"{self.commit} has no plan: {done.stderr}")
        return {(e, p, a): Code(spec, code) for e, p, a, spec, code in json.loads(done.stdout)}

    def run(self, spec: dict[str, Any], budget: int, to: Path) -> str:
        """Make a trace; what it said if it failed."""
        target = [] if spec["target"] is None else ["--target", repr(spec["target"])]
        done = self.python(
            "-m", "experiments.run",
            "--problem", spec["problem"], json.dumps(spec["problem_parameters"]),
            "--algorithm", spec["algorithm"], json.dumps(spec["algorithm_parameters"]),
            "--budget", str(budget), *target,
            "--record-every", str(spec["record_every"]),
            "--root-seed", str(spec["root_seed"]), "--to", str(to),
        )  # fmt: skip
        return done.stderr if done.returncode else ""


@contextmanager
def checked_out(root: Path, *commits: str) -> Iterator[list[Tree]]:
    """Trees of these commits, in a folder that goes with the context."""
    with tempfile.TemporaryDirectory() as folder:
        trees = [Tree(Path(folder) / str(n), commit) for n, commit in enumerate(commits)]
        try:
            git(root, "worktree", "prune")  # what a killed one left
            for tree in trees:
                git(root, "worktree", "add", "--detach", str(tree.folder), tree.commit)
            yield trees
        finally:
            for tree in trees:
                git(root, "worktree", "remove", "--force", str(tree.folder), check=False)


def git(root: Path, *arguments: str, check: bool = True) -> str:
    """What a command of git prints.

    Raises:
        NotCertified: it failed.
    """
    done = subprocess.run(
        ["git", "-C", str(root), *arguments], capture_output=True, text=True, check=False
    )
    if check and done.returncode:
        raise NotCertified(f"git {arguments[0]}: {done.stderr.strip()}")
    return done.stdout.rstrip()


def beginnings(old: dict[Cell, Code], new: dict[Cell, Code], kept: Path) -> list[Comparison]:
    """The beginning of a run of every cell that both have, with code of another class; of cells of
    one spec and code, one.

    The seed comes from the new code, so that nobody chose it.
    """
    whole = usual(kept)
    found: dict[str, Comparison] = {}
    for cell, its in new.items():
        if cell in old and old[cell].code != its.code:
            spec = Spec(**its.spec)
            budget = min(spec.budget, max(BATCHES * batch_size(spec), ceil(SHARE * spec.budget)))
            seconds, evaluations = whole.get(cell, (0.0, budget))
            share = min(1.0, budget / evaluations)
            seed = int(its.code[:8], 16)
            key = json.dumps([its, old[cell]], sort_keys=True)
            found.setdefault(key, Comparison(cell, seed, budget, share * seconds, BEGINNING))
    return list(found.values())


def matched(old: dict[Cell, Code], new: dict[Cell, Code]) -> dict[Cell, Code]:
    """The old code of each new cell: of the cell of its name, or else, since an experiment may have
    another name now, of one with the same spec.
    """
    by_spec = {json.dumps(its.spec, sort_keys=True): its for its in old.values()}
    same = {cell: by_spec.get(json.dumps(its.spec, sort_keys=True)) for cell, its in new.items()}
    found = {cell: old.get(cell, its) for cell, its in same.items()}
    return {cell: its for cell, its in found.items() if its}


def endings(changed: set[Cell], new: dict[Cell, Code], kept: Path) -> list[Comparison]:
    """Of every (optimiser, stop reason) of the kept runs of these cells, the cheapest run."""
    rows, noted = [], archive.kept_seconds(kept)
    for experiment in dict.fromkeys(cell[0] for cell in changed):
        runs = kept.parent / "tables" / experiment / "runs.parquet"
        if not runs.is_file():
            continue
        table = pd.read_parquet(runs, columns=["problem", "algorithm", "seed", "stop"])
        table = table.assign(experiment=experiment).merge(noted, on=list(archive.KEY), how="left")
        for row in table.itertuples():
            cell = (experiment, row.problem, row.algorithm)
            if cell in changed:
                took = 0.0 if np.isnan(row.seconds) else row.seconds
                rows.append((new[cell].spec["algorithm"], row.stop, took, cell, row.seed))
    cheapest: dict[tuple[str, str], Comparison] = {}
    for optimiser, stop, took, cell, seed in sorted(rows):
        found = Comparison(cell, seed, new[cell].spec["budget"], took, f"{optimiser}: {stop}")
        cheapest.setdefault((optimiser, stop), found)
    return list(cheapest.values())


def usual(kept: Path) -> dict[Cell, tuple[float, float]]:
    """Seconds and evaluations of a kept run of a cell, the medians over its runs."""
    found, noted = {}, archive.kept_seconds(kept)
    for folder in sorted(kept.glob("*")):
        runs = kept.parent / "tables" / folder.name / "runs.parquet"
        if runs.is_file():
            table = pd.read_parquet(runs, columns=[*archive.JOB, "evaluations"])
            table = table.assign(experiment=folder.name).merge(noted, on=list(archive.KEY))
            medians = table.fillna(0.0).groupby(["problem", "algorithm"]).median(numeric_only=True)
            for cell, row in medians.iterrows():
                found[folder.name, *cell] = row["seconds"], row["evaluations"]
    return found


def compare(old: Tree, new: Tree, what: Comparison, specs: tuple[Any, Any], folder: Path) -> str:
    """Run both trees; in words how they differ, nothing if they do not."""
    traces = []
    for tree, spec in zip((old, new), specs, strict=True):
        path = folder / tree.folder.name / "_".join(what.cell) / f"{what.seed}.parquet"
        if failed := tree.run(spec, what.budget, path):
            return f"{tree.commit} fails: {failed}"
        traces.append(path)
    return difference(*traces)


def difference(old: Path, new: Path) -> str:
    """The first row and column in which two traces differ, or what of their metadata does, in
    words; nothing if all data are equal bit for bit (and NaN equal to NaN).
    """
    (a, its), (b, others) = trace.read(old), trace.read(new)
    rows = min(len(a), len(b))
    first: tuple[int, str] | None = None
    for name in COLUMNS:
        x, y = (np.ascontiguousarray(table[name].to_numpy()[:rows]) for table in (a, b))
        unequal = np.flatnonzero(x.view(np.int64) != y.view(np.int64))
        if len(unequal) and (first is None or unequal[0] < first[0]):
            first = int(unequal[0]), name
    if first:
        row, name = first
        was, now = (table[name][row].as_py() for table in (a, b))
        return f"row {row}, column {name}: {was!r} became {now!r}"
    if len(a) != len(b):
        return f"row {rows}: {len(a)} rows became {len(b)}"
    for key in ("hits", "stop", "stop_detail", "last_mean"):
        if key in its and key in others and its[key] != others[key]:
            return f"{key}: {_short(its[key])} became {_short(others[key])}"
    return ""


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"


def certify(root: Path, base: str, kept: Path) -> dict[str, Any] | None:
    """The certificate that HEAD makes the data of ``base``; None if no code has changed.

    Raises:
        NotCertified: it does not, or the two cannot be compared.
    """
    if changes := git(root, "status", "--porcelain"):
        raise NotCertified(f"there are changes that no commit holds:\n{changes}")
    commits = [git(root, "rev-parse", f"{name}^{{commit}}") for name in (base, "HEAD")]
    with checked_out(root, *commits) as (old_tree, new_tree):
        new = new_tree.cells()
        old = matched(old_tree.cells(), new)
        changed = {cell for cell, its in old.items() if its.code != new[cell].code}
        if not changed:
            return None
        comparisons = beginnings(old, new, kept)
        comparisons += endings(changed, new, kept)
        began, spent = time.monotonic(), cpu_seconds()
        differ = run_all(old_tree, new_tree, old, new, comparisons)
    if differ:
        count = f"{len(differ)} of {len(comparisons)} runs differ:"
        raise NotCertified("\n".join([count, *differ]))
    return {
        "base": commits[0],
        "head": commits[1],
        "equal": {new[cell].code: old[cell].code for cell in sorted(changed)},
        "cells": len(changed),
        "endings": sorted(c.why for c in comparisons if c.why != BEGINNING),
        "versions": versions(),
        "machine": f"{platform.system()} {platform.machine()}, {processor()}",
        "seconds": round(time.monotonic() - began),
        "cpu_seconds": round(cpu_seconds() - spent),
    }


def run_all(
    old_tree: Tree,
    new_tree: Tree,
    old: dict[Cell, Code],
    new: dict[Cell, Code],
    comparisons: list[Comparison],
) -> list[str]:
    """Make all comparisons, the longest first, on all cores; a line for each that differs."""
    began = last = time.monotonic()
    whole = sum(c.seconds + START for c in comparisons)
    done, count, differ = 0.0, 0, []
    pool = ThreadPoolExecutor(os.cpu_count())
    with tempfile.TemporaryDirectory() as folder:
        try:
            tasks = {
                pool.submit(
                    compare, old_tree, new_tree, c, (old[c.cell].spec, new[c.cell].spec),
                    Path(folder) / str(n),
                ): c
                for n, c in enumerate(sorted(comparisons, key=lambda c: -c.seconds))
            }  # fmt: skip
            for task in as_completed(tasks):
                c = tasks[task]
                done, count = done + c.seconds + START, count + 1
                if text := task.result():
                    differ.append(f"{'/'.join(c.cell)}, seed {c.seed} ({c.why}): {text}")
                    say(differ[-1])
                now = time.monotonic()
                if now - last > SECONDS_BETWEEN_LINES:
                    left, last = (now - began) * (whole / done - 1), now
                    say(f"{count} of {len(tasks)} runs compared, about {left:.0f} s left")
        finally:
            pool.shutdown(cancel_futures=True)
    return differ


def say(text: str) -> None:
    """A line of progress."""
    print(text, file=sys.stderr, flush=True)


def cpu_seconds() -> float:
    """Of all processes that this one has waited for, and that those have."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def versions() -> dict[str, str]:
    """Of Python and of the libraries that numbers hang on."""
    return {"python": platform.python_version()} | {name: version(name) for name in LIBRARIES}


def processor() -> str:
    """The name of the processor, as far as the system tells."""
    file = Path("/proc/cpuinfo")
    lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def main(arguments: list[str] | None = None) -> None:
    """Certify HEAD, or say why not."""
    parser = command.parser("experiments.certify", __doc__)
    parser.add_argument("base", help="the commit whose data HEAD is to make")
    base = parser.parse_args(arguments).base
    try:
        certificate = certify(ROOT, base, KEPT)
    except NotCertified as error:
        sys.exit(f"not certified: {error}")
    except KeyboardInterrupt:
        sys.exit("stopped: nothing is certified, and nothing was written")
    if certificate is None:
        print(f"nothing to certify: no data hang on what has changed since {base}")
        return
    ledger.append(certificate)
    print(
        f"certified: {certificate['cells']} cells and {len(certificate['endings'])} endings are "
        f"equal bit for bit, {len(certificate['equal'])} fingerprints, in "
        f"{certificate['seconds']} s. Commit {ledger.LEDGER.relative_to(ROOT)}."
    )


if __name__ == "__main__":
    main()
