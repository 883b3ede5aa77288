"""Tables as files. Their numbers are rounded, so that they do not depend on the processor."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pyarrow as pa

from experiments import parquet_io

DIGITS = 12  # significant ones; sums of another order differ in the last three or four of sixteen


def rounded(table: pd.DataFrame) -> pd.DataFrame:
    """The table with every number of a floating-point column rounded to DIGITS."""
    columns = {name: table[name].map(_round) for name in table.select_dtypes("float64")}
    return table.assign(**columns)


def _round(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")


def write_csv(table: pd.DataFrame, file: Path) -> None:
    """Write a table as .csv."""
    file.parent.mkdir(parents=True, exist_ok=True)
    rounded(table).to_csv(file, index=False)


def write_parquet(table: pd.DataFrame, file: Path) -> None:
    """Write a table as .parquet; it is whole or absent."""
    parquet_io.write(pa.Table.from_pandas(rounded(table), preserve_index=False), file)


def write_text(text: str, file: Path) -> None:
    """Write what a table says in words."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def write(table: pd.DataFrame, text: str, stem: Path) -> None:
    """Write a table as .csv, and what it says as .md."""
    write_csv(table, stem.with_suffix(".csv"))
    write_text(text, stem.with_suffix(".md"))
