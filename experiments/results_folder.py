"""The folder of results before the workflow plans on it: whose it is now, and what is known of it.

Snakemake knows by which command and code a file was made as long as its records in ``.snakemake``
are there. They are lost when results are copied elsewhere; and they say nothing of a file that was
put in the place of another. So traces are held against the plan by what they say of themselves,
and tables and pictures, which are cheap, are made anew where the records are not those of the
folder.
"""

from __future__ import annotations

import fcntl
import os
import socket
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO
from uuid import uuid4

from snakemake.io import ancient
from snakemake.persistence import FileBackupMixin

from experiments.plan import Plan

RECORDS = Path(".snakemake/ingo")  # a file per folder of results that the records are of


class InUse(Exception):
    """Another process works on the folder."""


def lock(folder: Path) -> IO[str] | None:
    """Have the folder for this process, until it ends or the file is closed; None where the file
    system has no locks.

    Raises:
        InUse: another process has it; the message names it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    file = (folder / ".lock").open("a+", encoding="utf-8")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.seek(0)
        raise InUse(
            f"{folder} is in use by {file.read().strip() or 'another process'}, which works on "
            "it; wait until it has ended, or stop it with Ctrl-C there"
        ) from None
    except OSError:
        return None
    file.truncate(0)
    file.write(f"process {os.getpid()} on {socket.gethostname()}")
    file.flush()
    return file


@dataclass
class ResultsFolder:
    """Inputs of rules that are newer than what is to be made anew.

    Both files are written before the workflow is planned, since Snakemake looks at a folder once.
    """

    plan: Plan
    records: Path = field(init=False)  # an input of all but traces: new if no records are of here
    unfit: Path = field(init=False)  # an input of traces: newer than any; ``ancient`` if they fit
    _found: dict[tuple[str, str, str, int], str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.records = self.plan.results / ".records"
        self.unfit = self.plan.results / ".unfit"

    def prepare(self) -> None:
        """Write both files."""
        self.plan.results.mkdir(parents=True, exist_ok=True)
        if not self._is_recorded():
            name = uuid4().hex
            RECORDS.mkdir(parents=True, exist_ok=True)
            (RECORDS / name).write_text(str(self.plan.results), encoding="utf-8")
            self.records.write_text(name, encoding="utf-8")
        # another text each time, or Snakemake takes it for unchanged
        self.unfit.write_text(uuid4().hex, encoding="utf-8")

    def _is_recorded(self) -> bool:
        """Whether Snakemake's records here are those of the folder, by the path that it has now."""
        with suppress(OSError):
            name = self.records.read_text(encoding="utf-8")
            return (RECORDS / name).read_text(encoding="utf-8") == str(self.plan.results)
        return False

    def _make_older(self, trace: Path) -> None:
        """Let a trace that is not to stay be older than ``unfit``, should its clock be ahead."""
        if trace.lstat().st_mtime >= self.unfit.stat().st_mtime:
            os.utime(trace, (0, 0), follow_symlinks=False)

    def needed(self, paths: Sequence[str]) -> list[str]:
        """These inputs, and what makes a file anew if one of them is missing: Snakemake leaves a
        picture alone whose table is not there, be it that making it failed.
        """
        return [*paths, self.newer(not all(map(os.path.exists, paths)))]

    def newer(self, that_is: bool) -> str:
        """An input: newer than any file, or none of its time counts. Always the same path, since
        another set of inputs makes a file anew too.
        """
        marker: str = str(self.unfit) if that_is else ancient(str(self.unfit))
        return marker

    def has_unfit(
        self, experiment: str, problem: str, algorithm: str, seeds: Iterable[int]
    ) -> bool:
        """Whether one of these traces is there, but not the one that is asked for."""
        runs = [(experiment, problem, algorithm, seed) for seed in seeds]
        for run in runs:
            if run not in self._found:
                self._found[run] = self.plan.unfit(*run)
                if self._found[run]:
                    self._make_older(Path(self.plan.trace(*run)))
        return any(self._found[run] for run in runs)


def keep_done_seeds() -> None:
    """Have Snakemake keep no copies of the older traces of a job of several seeds: if one seed
    fails, it puts them in the place of those that are done. A trace is whole or absent anyhow; of
    what else may be in its place, an empty folder is removed, as it is before a job of one seed.
    """

    def make_room(self: FileBackupMixin, path: Path) -> None:
        if path.is_dir() and not path.is_symlink():
            path.rmdir()

    FileBackupMixin.backup_output = make_room
    FileBackupMixin.restore_output = lambda self, path: False
