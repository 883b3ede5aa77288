"""What claims.yaml says: a claim's statements, their parts, and how many of these must hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from inspect import signature
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from experiments.claims.measures import MEASURES
from experiments.tables.estimates import Estimate
from experiments.tables.reader import Tables

CLAIMS = Path(__file__).with_name("claims.yaml")
QUANTIFIERS = ("all", "can", "may", "overall")
FIXED = ("before", "reduced", "known")  # when a claim's parts and thresholds were


def written() -> dict[int, dict[str, Any]]:
    """The claims of claims.yaml, by number."""
    claims = yaml.safe_load(CLAIMS.read_text(encoding="utf-8"))
    return {claim["id"]: claim for claim in claims}


@dataclass(frozen=True)
class Part:
    """One part of a claim: what is measured, on what, and the threshold."""

    measure: str
    arguments: dict[str, Any]
    low: float | None  # at least
    high: float | None  # at most

    def __str__(self) -> str:
        named = [str(v) for k, v in self.arguments.items() if k != "plain"]
        return f"{self.measure}({', '.join(named)})"

    @property
    def threshold(self) -> str:
        return " and ".join(
            f"{sign} {bound:g}"
            for sign, bound in (("≥", self.low), ("≤", self.high))
            if bound is not None
        )

    def estimate(self, tables: Tables) -> Estimate:
        """The value with its interval.

        Raises:
            Missing: a table that it needs is not there.
        """
        return MEASURES[self.measure](tables, **self.arguments)

    def holds(self, e: Estimate) -> bool | None:
        """True if the whole interval meets the threshold, False if none of it does, None if it is
        inconclusive: too few runs.
        """
        low = -np.inf if self.low is None else self.low
        high = np.inf if self.high is None else self.high
        if low <= e.low and e.high <= high:
            return True
        return False if e.high < low or e.low > high else None


@dataclass(frozen=True)
class Statement:
    """What a claim says of some parts together, by its quantifier.

    all       holds if every part holds; it is about one part, since each of them is a statement
    can, may  holds if one part holds, fails if all fail
    overall   holds if more than half of the parts hold, fails if half of them fail
    """

    quantifier: str
    setting: str  # at which it is judged, if it says so
    parts: tuple[Part, ...]

    def holds(self, outcomes: Sequence[bool | None]) -> bool | None:
        """Whether it does, given what came of its parts; None if that is inconclusive."""
        held, failed, n = outcomes.count(True), outcomes.count(False), len(outcomes)
        if self.quantifier == "overall":
            return True if 2 * held > n else False if 2 * failed >= n else None
        if self.quantifier in ("can", "may"):
            return True if held else False if failed == n else None
        return True if held == n else False if failed else None

    @property
    def asked(self) -> str:
        """How many of its parts have to hold."""
        n = len(self.parts)
        least = n // 2 + 1 if self.quantifier == "overall" else 1
        return f"{self.quantifier}: {least} of {n} suffices"


def statements(claim: dict[str, Any]) -> Iterator[Statement]:
    """The statements of a claim. A list among the arguments of an entry stands for one part each,
    which are one statement each if the quantifier is ``all``, and one together otherwise.
    """
    for entry in claim["parts"]:
        settings = dict(entry)
        measure = settings.pop("measure")
        quantifier = settings.pop("quantifier", claim["quantifier"])
        setting = settings.pop("setting", "")
        low, high = settings.pop("at_least", None), settings.pop("at_most", None)
        choices = [v if isinstance(v, list) else [v] for v in settings.values()]
        entries = tuple(
            Part(measure, dict(zip(settings, values, strict=True)), low, high)
            for values in product(*choices)
        )
        together = [entries] if quantifier != "all" else [(part,) for part in entries]
        yield from (Statement(quantifier, setting, some) for some in together)


def parts(claim: dict[str, Any]) -> Iterator[Part]:
    """The parts of all its statements."""
    for statement in statements(claim):
        yield from statement.parts


def every_part(claim: dict[str, Any]) -> Iterator[Part]:
    """Its parts, and those of its readings and of what it would take."""
    for changes in ({}, *claim.get("readings", {}).values(), *claim.get("takes", {}).values()):
        yield from parts(read_as(claim, changes))


def read_as(claim: dict[str, Any], changes: dict[str, Any] | list[Any]) -> dict[str, Any]:
    """The claim with other entries, or with other arguments in those whose measure takes them."""
    if isinstance(changes, list):
        return claim | {"parts": changes}

    def other(entry: dict[str, Any]) -> dict[str, Any]:
        taken = signature(MEASURES[entry["measure"]]).parameters
        return entry | {key: value for key, value in changes.items() if key in taken}

    return claim | {"parts": [other(entry) for entry in claim["parts"]]}
