"""Commits laid out beside each other, each run by its own code in this environment."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event


class GitError(Exception):
    """A command of git failed; the message is its own."""


@dataclass
class Tree:
    """The files of a commit in a folder, and the processes that run there."""

    folder: Path
    commit: str
    running: set[subprocess.Popen[str]] = field(default_factory=set)
    stopped: Event = field(default_factory=Event)

    def python(self, *arguments: str) -> tuple[int, str, str]:
        """Run this environment's Python on the modules of the tree: exit code, output, errors."""
        if self.stopped.is_set():
            return 1, "", "stopped"
        process = subprocess.Popen(
            [sys.executable, *arguments],
            cwd=self.folder,
            env=os.environ | {"PYTHONPATH": str(self.folder)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.running.add(process)
        try:
            output, errors = process.communicate()
        finally:
            self.running.discard(process)
        return process.returncode, output, errors

    def stop(self) -> None:
        """Start nothing more, and end what runs."""
        self.stopped.set()
        for process in list(self.running):
            process.terminate()


def git(root: Path, *arguments: str) -> str:
    """What a command of git prints.

    Raises:
        GitError: it failed.
    """
    done = subprocess.run(
        ["git", "-C", str(root), *arguments], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise GitError(f"git {arguments[0]}: {done.stderr.strip()}")
    return done.stdout.rstrip()


@contextmanager
def checked_out(root: Path, *commits: str) -> Iterator[list[Tree]]:
    """Trees of these commits, in a temporary folder; git knows nothing of them."""
    with tempfile.TemporaryDirectory() as folder:
        trees = []
        for number, commit in enumerate(commits):
            tree = Tree(Path(folder) / str(number), commit)
            tree.folder.mkdir()
            archive = Path(folder) / f"{number}.tar"
            git(root, "archive", "--output", str(archive), commit)
            subprocess.run(["tar", "-xf", archive, "-C", tree.folder], check=True)
            trees.append(tree)
        try:
            yield trees
        finally:
            for tree in trees:
                tree.stop()
