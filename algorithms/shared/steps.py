"""Has a step led out of the numbers that a search distribution can be made of?"""

from __future__ import annotations

from dataclasses import replace
from math import isfinite
from typing import Any, TypeVar

import numpy as np

from .interface import Array, Ending, Stop

S = TypeVar("S")  # a kind of state


def checked(before: S, after: S, *parameters: Array) -> S:
    """The state ``after`` a step, or the one ``before`` it, ended as ``diverged``.

    It has diverged if one of the ``parameters`` of the distribution after it is not finite, or the
    sum of its squares is not, from about 1e154 on. One product finds both.
    """
    for parameter in parameters:
        flat = parameter.ravel("K")  # no copy, whatever the order
        if not isfinite(np.vdot(flat, flat)):
            return diverged(before, "a step left its range")
    return after


def diverged(state: S, detail: str) -> S:
    """``state`` as it is, and the end of the run."""
    last: Any = state
    ended: S = replace(last, ended=Ending(Stop.DIVERGED, detail))
    return ended
