"""What the command lines of the modules share."""

from __future__ import annotations

import argparse
from pathlib import Path

import pandas as pd


def parser(module: str, about: str | None) -> argparse.ArgumentParser:
    """A parser whose help begins with the first line of the module's docstring."""
    return argparse.ArgumentParser(
        prog=f"python -m {module}", description=(about or "").splitlines()[0]
    )


def write(table: pd.DataFrame, text: str, stem: Path) -> None:
    """Write a table as .csv, and what it says as .md."""
    stem.parent.mkdir(parents=True, exist_ok=True)
    table.to_csv(stem.with_suffix(".csv"), index=False)
    stem.with_suffix(".md").write_text(text, encoding="utf-8")
