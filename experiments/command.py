"""A command as a value: Snakemake runs it, a reader pastes it, ``redraw`` calls it."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module


@dataclass(frozen=True)
class Command:
    """``python -m module arguments``."""

    module: str
    arguments: tuple[str, ...]

    @classmethod
    def of(cls, module: str, *words: object, **options: object) -> Command:
        """The command with these words, then these options; one that is None is left out, and a
        list is several words.
        """
        arguments = [str(word) for word in words]
        for name, value in options.items():
            if value is not None:
                several = isinstance(value, Iterable) and not isinstance(value, str)
                values = map(str, value) if several else [str(value)]  # type: ignore[call-overload]
                arguments += [f"--{name.replace('_', '-')}", *values]
        return cls(module, tuple(arguments))

    def __str__(self) -> str:
        """As one types it in a shell."""
        return shlex.join(["python", "-m", self.module, *self.arguments])

    def call(self, *more: str) -> None:
        """Do in this process what the command does, with more arguments at its end."""
        import_module(self.module).main([*self.arguments, *more])


def parser(module: str, about: str | None) -> argparse.ArgumentParser:
    """The parser of a command's arguments, whose help begins with the first line of ``about``, the
    module's docstring.
    """
    return argparse.ArgumentParser(
        prog=f"python -m {module}", description=(about or "").splitlines()[0]
    )
