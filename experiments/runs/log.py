"""The log of a job: standard error."""

from __future__ import annotations

import sys
from contextlib import suppress


def say(text: str) -> None:
    """Write a line, at once; a run does not end because its log cannot be written."""
    with suppress(OSError):
        print(text, file=sys.stderr, flush=True)
