"""The kept tables give the kept figures, tables and verdicts, without a run."""

from __future__ import annotations

import filecmp
import os
import re
import shutil
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from experiments import paths
from experiments.paths import ROOT
from experiments.publishing import readme

PUBLISHED = ROOT / paths.PUBLISHED
NUMBER = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")


def _files(folder):
    """All but SVG, which is drawn and not kept."""
    return {p.relative_to(folder) for p in folder.rglob("*") if p.is_file() and p.suffix != ".svg"}


def dispatched():
    """What numpy uses of this processor beyond what every one has."""
    from numpy._core import _multiarray_umath as core

    return [name for name in core.__cpu_dispatch__ if core.__cpu_features__[name]]


def test_what_is_kept_can_be_redrawn_on_another_processor_and_says_the_same(tmp_path):
    """Another processor is one whose special instructions numpy and the C library may not use: sums
    have another order there, and logarithms other last digits.
    """
    kept_tables = [*PUBLISHED.glob("tables/*/*.parquet"), *PUBLISHED.glob("tables/theory/*.csv")]
    for table in kept_tables:
        target = tmp_path / table.relative_to(PUBLISHED)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(table, target)
    older = {
        "NPY_DISABLE_CPU_FEATURES": " ".join(dispatched()),
        "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-AVX512F",
    }
    done = subprocess.run(
        [sys.executable, "-m", "experiments.publishing.redraw", tmp_path],
        cwd=ROOT, env={**os.environ, **older}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert {"figures/figure_1", "claims", "variants"} <= set(done.stdout.split())
    kept = _files(PUBLISHED)
    # all but what tables are made from, ledger, manifest, page, film, and what was measured
    others = ("traces", "config.yaml", "ledger.jsonl", "manifest.json", "README.md")
    kept = {p for p in kept if p.parts[0] not in others}
    kept = {p for p in kept if p.stem not in ("film", *readme.SPEED)}
    assert _files(tmp_path) == kept
    other = [path for path in kept if not filecmp.cmp(tmp_path / path, PUBLISHED / path, False)]
    for path in other:  # a number on the edge of rounding may fall to the other side of it
        if path.suffix == ".csv":
            new, old = (pd.read_csv(folder / path) for folder in (tmp_path, PUBLISHED))
            pd.testing.assert_frame_equal(new, old, rtol=1e-11, atol=0)
        elif path.suffix == ".md":
            new, old = ((folder / path).read_text() for folder in (tmp_path, PUBLISHED))
            assert NUMBER.sub("#", new) == NUMBER.sub("#", old), path
            found, kept_numbers = (
                [float(n.replace(",", "")) for n in NUMBER.findall(text)] for text in (new, old)
            )
            assert found == pytest.approx(kept_numbers, rel=0.02, abs=1e-12), path
        elif path.suffix == ".png":
            new, old = (
                np.asarray(Image.open(folder / path).convert("L"), dtype=float)
                for folder in (tmp_path, PUBLISHED)
            )
            assert new.shape == old.shape, path
            assert np.mean(np.abs(new - old) > 32) < 1e-3, path
        else:
            assert path.suffix in (".pdf", ".parquet"), path
    assert len(other) <= 3, other
