"""What a run is of: all that its data depend on, but for the seed."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any


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

    def is_that_of(self, metadata: dict[str, Any]) -> bool:
        """Whether a trace with this metadata is of these settings."""
        recorded = metadata["spec"]
        if recorded["target"] is not None and recorded["target"] < 0:
            recorded = recorded | {"target": None}  # no target, as older traces spell it
        return bool(recorded == asdict(self))
