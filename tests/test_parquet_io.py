"""Kept tables lose nothing by being small, and stay as small as promised."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from experiments import parquet_io
from experiments.checkout import GitError, git
from experiments.paths import PUBLISHED, ROOT


def table():
    steps = np.arange(1, 20_001, dtype=np.int64) * 38
    values = np.exp(-steps / 1e5) * (1 + 1e-3 * np.random.default_rng(0).normal(size=steps.size))
    values[:4] = [np.nan, np.inf, -0.0, 5e-324]
    return pa.table(
        {
            "evaluations": steps,
            "best": values,
            "problem": pa.repeat("levy", steps.size),
            "hits": pa.array([[1, 2]] * steps.size, pa.list_(pa.field("element", pa.int64()))),
        },
        metadata={"code": "abc"},
    )


def test_every_bit_comes_back(tmp_path):
    before, file = table(), tmp_path / "a" / "t.parquet"
    parquet_io.write(before, file)
    after = pq.read_table(file)
    assert after.schema.equals(before.schema, check_metadata=True)
    assert after["best"].to_numpy().tobytes() == before["best"].to_numpy().tobytes()
    assert after.drop(["best"]).equals(before.drop(["best"]))


def test_it_is_a_fourth_smaller_than_zstd_alone(tmp_path):
    parquet_io.write(table(), tmp_path / "kept.parquet")
    pq.write_table(table(), tmp_path / "zstd.parquet", compression="zstd")
    small, plain = ((tmp_path / f"{n}.parquet").stat().st_size for n in ("kept", "zstd"))
    assert small < 0.75 * plain


def test_a_write_that_fails_leaves_the_old_file_and_no_other(tmp_path, monkeypatch):
    file = tmp_path / "t.parquet"
    parquet_io.write(table(), file)
    old = file.read_bytes()

    def full(_, temporary, **settings):
        temporary.write_bytes(b"PAR1")
        raise OSError("no space left on device")

    done = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True
    )
    (tmp_path / f"t.{int(done.stdout)}.tmp").write_bytes(b"PAR1")  # of a process that is gone
    other = tmp_path / f"t.{os.getppid()}.tmp"  # of one that is not
    other.write_bytes(b"PAR1")
    monkeypatch.setattr(pq, "write_table", full)
    with pytest.raises(OSError, match="no space"):
        parquet_io.write(table().slice(1), file)
    assert file.read_bytes() == old
    assert sorted(tmp_path.iterdir()) == sorted([file, other])


def test_what_is_kept_stays_under_45_megabytes():
    kept = [f for f in (ROOT / PUBLISHED).rglob("*") if f.is_file() and f.suffix != ".svg"]
    assert len(kept) > 100
    assert sum(f.stat().st_size for f in kept) < 45e6


def test_the_repository_stays_under_100_megabytes():
    """All that was ever kept is in its history.

    Measured is what a clone downloads, packed anew: the store of a checkout also holds what is
    no longer part of the history, and packs as they came.
    """
    try:
        git(ROOT, "rev-parse", "HEAD")
    except GitError:
        pytest.skip("no repository, as in an archive of the sources")
    pack = subprocess.run(
        ["git", "pack-objects", "--revs", "--no-reuse-object", "--stdout", "-q"],
        cwd=ROOT,
        input=b"HEAD\n",
        stdout=subprocess.PIPE,
        check=True,
    ).stdout
    assert pack.startswith(b"PACK")
    assert len(pack) < 100e6
