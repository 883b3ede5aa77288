"""The kept tables give the kept figures, tables and verdicts, without a run."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pandas as pd
import pytest

from experiments.publishing import readme, redraw

PUBLISHED = Path(__file__).parent.parent / "results" / "published"
NUMBER = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")


def _files(folder):
    """All but SVG, which is drawn and not kept."""
    return {p.relative_to(folder) for p in folder.rglob("*") if p.is_file() and p.suffix != ".svg"}


def test_what_is_kept_can_be_redrawn_and_says_the_same(tmp_path):
    kept_tables = [*PUBLISHED.glob("tables/*/*.parquet"), *PUBLISHED.glob("tables/theory/*.csv")]
    for table in kept_tables:
        target = tmp_path / table.relative_to(PUBLISHED)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(table, target)
    made = redraw.redraw(tmp_path)
    assert "figures/figure_1" in made
    assert "claims" in made
    kept = _files(PUBLISHED)
    # all but what tables are made from, the film, and what times were measured
    kept = {p for p in kept if p.parts[0] not in ("traces", "config.yaml")}
    kept = {p for p in kept if p.stem not in ("film", *readme.SPEED)}
    assert _files(tmp_path) == kept
    for path in kept:
        if path.suffix == ".csv":  # another processor may round the last digits otherwise
            new, old = (pd.read_csv(folder / path) for folder in (tmp_path, PUBLISHED))
            pd.testing.assert_frame_equal(new, old, rtol=1e-9)
        if path.suffix == ".tex":
            assert (tmp_path / path).read_text() == (PUBLISHED / path).read_text()
        if path.suffix == ".md":  # the same words and numbers, to what another rounding may change
            new, old = ((folder / path).read_text() for folder in (tmp_path, PUBLISHED))
            assert NUMBER.sub("#", new) == NUMBER.sub("#", old), path
            found, kept_numbers = (
                [float(n.replace(",", "")) for n in NUMBER.findall(text)] for text in (new, old)
            )
            assert found == pytest.approx(kept_numbers, rel=0.02, abs=1e-12), path
