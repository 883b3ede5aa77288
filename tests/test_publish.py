"""What is kept is never replaced by less."""

from __future__ import annotations

import pandas as pd
import pytest
import tables

from experiments.publish import keep_tables


def write(folder, experiment, runs):
    tables.write(folder, experiment, tables.cell("levy", "ingo", [1000.0] * runs))


def runs(folder, experiment):
    return len(pd.read_parquet(folder / experiment / "runs.parquet"))


def test_new_tables_are_added_and_larger_ones_take_the_place_of_smaller_ones(tmp_path):
    new, kept = tmp_path / "new", tmp_path / "kept"
    write(new, "first", 3)
    write(new, "second", 5)
    write(kept, "second", 4)
    write(kept, "third", 7)
    (new / "table_1.md").write_text("")
    assert keep_tables(new, kept) == ["first", "second"]
    assert [runs(kept, name) for name in ("first", "second", "third")] == [3, 5, 7]


def test_a_table_of_fewer_runs_is_refused_and_nothing_is_copied(tmp_path):
    new, kept = tmp_path / "new", tmp_path / "kept"
    write(new, "first", 2)
    write(new, "second", 2)
    write(kept, "second", 20)
    with pytest.raises(ValueError, match=r"second is of 2 runs, the kept one of 20\. To keep the"):
        keep_tables(new, kept)
    assert runs(kept, "second") == 20
    assert not (kept / "first").exists()
