"""The checksums of what is kept, so that a change of a file by hand is seen: SHA256SUMS, which

    cd results/published && sha256sum --check --quiet SHA256SUMS

reads. Written last of all that is made there, by experiments.publishing.readme.
"""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

NAME = "SHA256SUMS"
NOT_KEPT = ".svg"  # of the formats of a picture, here and in .gitignore
GROWS = "ledger.jsonl"  # is written by `make certify`, and goes with no other file


def sums(folder: Path) -> dict[str, str]:
    """The SHA-256 of each file in a folder and below, by its path there."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {
        path.relative_to(folder).as_posix(): sha256(path.read_bytes()).hexdigest()
        for path in files
        if path.name not in (NAME, GROWS) and path.suffix != NOT_KEPT
    }


def write(folder: Path) -> None:
    """Write them into the folder, in the form of the command sha256sum."""
    lines = (f"{digest}  {path}\n" for path, digest in sums(folder).items())
    (folder / NAME).write_text("".join(lines), encoding="utf-8")


def read(folder: Path) -> dict[str, str]:
    """Those that were written."""
    text = (folder / NAME).read_text(encoding="utf-8")
    pairs = (line.split("  ", 1) for line in text.splitlines())
    return {path: digest for digest, path in pairs}
