"""Which code is equal to which: the certificates of ``make certify``, one per line.

A trace carries the fingerprint of the code that made it, for ever. Where ``experiments.certify``
has found that two trees make the same data, their fingerprints are of one *class*, and the plan,
``make restore`` and interim tables ask for the class. So code can change although its runs are
kept.

A certificate is evidence, not a proof: it compares the beginnings of runs and some whole runs, of
the cells that config.yaml and the kept runs have, on one machine. An upgrade of a library is not
certified; it changes the fingerprint and reruns.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from experiments.paths import PUBLISHED, ROOT

LEDGER = ROOT / PUBLISHED / "ledger.jsonl"


@dataclass(frozen=True)
class Classes:
    """The classes of equal fingerprints."""

    oldest: Mapping[str, str]  # of each fingerprint in the ledger, the oldest of its class

    @classmethod
    def of(cls, certificates: Iterable[Mapping[str, Any]]) -> Classes:
        """The classes that follow from these certificates, the oldest first."""
        oldest: dict[str, str] = {}  # in the order in which the ledger first names them
        for certificate in certificates:
            for new, old in certificate["equal"]:
                both = {oldest.setdefault(name, name) for name in (old, new)}
                first = next(name for name in oldest if name in both)
                oldest |= {name: first for name, own in oldest.items() if own in both}
        return cls(oldest)

    def __getitem__(self, fingerprint: str) -> str:
        """The class of a fingerprint, named by its oldest member."""
        return self.oldest.get(fingerprint, fingerprint)


def read(path: Path = LEDGER) -> list[dict[str, Any]]:
    """The certificates of a ledger; none where there is no file.

    Raises:
        ValueError: a line is no certificate; the message names it.
    """
    certificates = []
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    for number, line in enumerate(lines, 1):
        try:
            certificate = json.loads(line)
            Classes.of([certificate])
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"{path}, line {number} is no certificate: {error!r}") from error
        certificates.append(certificate)
    return certificates


def append(certificate: Mapping[str, Any], path: Path = LEDGER) -> None:
    """Add a certificate; earlier lines are never touched."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(certificate) + "\n")


@cache
def classes() -> Classes:
    """The classes of this project's ledger."""
    return Classes.of(read())
