"""What a run is of: all that its data depend on, but for the seed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import algorithms
import problems

BITS = ("native", "portable")  # experiments/runs/machine.py


@dataclass(frozen=True)
class Spec:
    """A problem, an optimiser, and when a run ends."""

    problem: str
    algorithm: str
    budget: int  # evaluations
    target: float | None  # for the minimum of a batch, above the problem's minimum; None: none
    problem_parameters: dict[str, Any] = field(default_factory=dict)
    algorithm_parameters: dict[str, Any] = field(default_factory=dict)
    record_every: int = 1000  # iterations between rows of the trace
    root_seed: int = 0
    bits: str = "native"
    restarts: dict[str, Any] | None = None  # settings of algorithms.shared.restarts; None: no such

    @classmethod
    def recorded(cls, metadata: Mapping[str, Any]) -> Spec:
        """The spec of a trace with this metadata."""
        spec = cls(**metadata["spec"])
        # no target, as older traces spell it
        return replace(spec, target=None) if (spec.target or 0.0) < 0 else spec

    @property
    def canonical(self) -> Spec:
        """The same, however it is written: parameters in the order of their names, without those
        that have their default; and numbers as their default is.
        """
        return replace(
            self,
            target=None if self.target is None else float(self.target),
            problem_parameters=_told(self.problem_parameters, self._problem_defaults),
            algorithm_parameters=_told(self.algorithm_parameters, self._algorithm_defaults),
            restarts=None if self.restarts is None else dict(sorted(self.restarts.items())),
        )

    def is_that_of(self, metadata: Mapping[str, Any]) -> bool:
        """Whether a trace with this metadata is of these settings."""
        return not self.differences(metadata)

    def differences(self, metadata: Mapping[str, Any]) -> list[str]:
        """Each setting of a trace with this metadata that is another one than here, in words."""
        return list(_differences(asdict(Spec.recorded(metadata)._full), asdict(self._full)))

    @property
    def _full(self) -> Spec:
        """The same with all parameters that have a default."""
        return replace(
            self,
            problem_parameters=self._problem_defaults | self.problem_parameters,
            algorithm_parameters=self._algorithm_defaults | self.algorithm_parameters,
        )

    @property
    def _problem_defaults(self) -> dict[str, Any]:
        return _known(problems.defaults, self.problem)

    @property
    def _algorithm_defaults(self) -> dict[str, Any]:
        return _known(algorithms.defaults, self.algorithm)


def _known(defaults: Callable[[str], dict[str, Any]], name: str) -> dict[str, Any]:
    """The defaults of a problem or an optimiser; none of what a trace names that is no more."""
    try:
        return defaults(name)
    except ValueError:
        return {}


def _told(parameters: dict[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters that are not the defaults, in the order of their names."""
    return {
        name: _like(defaults.get(name), value)
        for name, value in sorted(parameters.items())
        if name not in defaults or defaults[name] != value
    }


def _like(default: Any, value: Any) -> Any:
    """A number as the default is, whole or not: 1 and 1.0 are one number, but not one text."""
    if isinstance(default, float | str) and type(value) is int:
        return float(value)
    if type(default) is int and isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _differences(theirs: dict[str, Any], mine: dict[str, Any], of: str = "") -> Iterator[str]:
    """Each setting in which two specs differ, in words."""
    for key in dict.fromkeys([*theirs, *mine]):
        has, wanted = theirs.get(key, "none"), mine.get(key, "none")
        if isinstance(has, dict) and isinstance(wanted, dict):
            yield from _differences(has, wanted, f"{key.partition('_')[0]}'s ")
        elif has != wanted:
            yield f"{of}{key} {has}, the config asks for {wanted}"
