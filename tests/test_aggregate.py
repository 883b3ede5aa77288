"""From traces to tables: what is carried forward, what is left out, and what is named."""

from __future__ import annotations

import shutil

import numpy as np
import pandas as pd
import pytest
from damage import DAMAGES, remove
from tiny import rewrite

from experiments.runs import record, simulate, trace
from experiments.runs.spec import Spec
from experiments.tables import aggregate, files


def rows(evaluations, values):
    return pd.DataFrame({"evaluations": evaluations, "best": np.array(values, dtype=float)})


def test_an_ended_run_carries_its_last_value_forward():
    curve = aggregate.curve(
        [rows([10, 20, 25], [8, 4, 2]), rows([10, 20, 30, 40], [6, 6, 6, 0])], "best"
    )
    assert curve["evaluations"].tolist() == [10, 20, 30, 40]
    assert curve["mean"].tolist() == [7.0, 5.0, 4.0, 1.0]  # at 30 and 40 the first run counts 2
    assert curve["min"].tolist() == [6.0, 4.0, 2.0, 0.0]
    assert curve["max"].tolist() == [8.0, 6.0, 6.0, 2.0]


def test_one_lost_run_does_not_poison_the_mean():
    curve = aggregate.curve(
        [rows([10, 20], [1, np.nan]), rows([10, 20], [3, 5]), rows([10, 20], [2, np.inf])], "best"
    )
    assert curve["mean"].tolist() == [2.0, 5.0]
    assert curve["finite"].tolist() == [3, 1]
    assert curve["runs"].tolist() == [3, 3]


def test_a_point_without_any_finite_run_is_nan():
    curve = aggregate.curve([rows([10, 20], [1, np.nan])], "best")
    assert np.isnan(curve["mean"].iloc[1])
    assert np.isnan(curve["median"].iloc[1])
    assert curve["finite"].iloc[1] == 0


def test_quartiles():
    curve = aggregate.curve([rows([1], [v]) for v in (1, 2, 3, 4, 5)], "best")
    assert curve[["min", "q1", "median", "q3", "max"]].iloc[0].tolist() == [1, 2, 3, 4, 5]


def test_an_area_weighs_rows_by_the_evaluations_between_them():
    table = rows([0, 10, 40], [0, 2, 2])
    assert aggregate._average(table["evaluations"], table["best"], 40) == (10 + 60) / 40
    assert aggregate._average(table["evaluations"], table["best"], 80) == (10 + 60 + 80) / 80
    assert aggregate._average(table["evaluations"][:1], table["best"][:1], 0) == 0.0


@pytest.fixture(scope="module")
def traces(tmp_path_factory):
    folder = tmp_path_factory.mktemp("traces")
    for algorithm in ("fast_ingo", "igo"):
        spec = Spec("levy", algorithm, 6000, 1e-10, {"dim": 6})
        for seed in range(3):
            trace.write(folder / "levy" / algorithm / f"{seed}.parquet", *simulate.run(spec, seed))
    return folder


def test_tables_hold_every_run_and_every_quantity(traces, tmp_path):
    aggregate.main(
        [str(traces), "--cells", "levy/fast_ingo", "levy/igo", "--runs", "3", "--to", str(tmp_path)]
    )  # fmt: skip
    runs = pd.read_parquet(tmp_path / "runs.parquet")
    curves = pd.read_parquet(tmp_path / "curves.parquet")
    assert len(runs) == 6
    assert runs.groupby("algorithm")["seed"].apply(list).tolist() == [[0, 1, 2]] * 2
    assert set(curves["quantity"]) == set(aggregate.QUANTITIES)
    last = trace.read(traces / "levy" / "igo" / "2.parquet")[0].to_pandas().iloc[-1]
    row = runs[(runs["algorithm"] == "igo") & (runs["seed"] == 2)].iloc[0]
    assert row["best"] == pytest.approx(last["best"], rel=1e-11, abs=0)
    assert row["title"] == "Levy"
    assert row["dim"] == 6
    # the mean of the first batch over the runs, taken from the traces themselves
    first = [
        trace.read(traces / "levy" / "igo" / f"{s}.parquet")[0].to_pandas()["batch_mean"].iloc[0]
        for s in range(3)
    ]
    at = curves[(curves["algorithm"] == "igo") & (curves["quantity"] == "batch_mean")].iloc[0]
    assert at["mean"] == pytest.approx(np.mean(first), rel=1e-11, abs=0)


def test_every_broken_or_missing_trace_is_named(traces):
    broken = traces / "levy" / "igo" / "1.parquet"
    whole = broken.read_bytes()
    broken.write_bytes(whole[:100])
    try:
        with pytest.raises(SystemExit, match="is not a whole trace") as error:
            aggregate.main(
                [str(traces), "--cells", "levy/fast_ingo", "levy/igo", "--runs", "4",
                 "--to", str(traces)]
            )  # fmt: skip
    finally:
        broken.write_bytes(whole)
    text = str(error.value)
    assert f"rm -r {broken}" in text
    assert text.count("is not a whole trace") == 3  # one cut, two that were never run


@pytest.fixture
def cell(traces, tmp_path):
    """Copies of three traces, with what makes tables of them and what these are recognised by."""
    folder = shutil.copytree(traces, tmp_path / "traces")
    spec = Spec.recorded(trace.read_metadata(traces / "levy" / "igo" / "0.parquet"))
    names = f"levy/igo={trace.key(spec, '')}"
    command = [str(folder), "--cells", names, "--runs", "3", "--to", str(tmp_path / "to")]
    return folder / "levy" / "igo", lambda: aggregate.main(command)


def refused(make):
    with pytest.raises(SystemExit) as error:
        make()
    return str(error.value)


@pytest.mark.parametrize("damage", DAMAGES)
def test_of_a_damaged_trace_no_table_is_made(cell, damage, tmp_path):
    folder, make = cell
    path = folder / "1.parquet"
    DAMAGES[damage](path)
    text = refused(make)
    assert text.startswith(f"error: {path} is not a whole trace: ")
    assert text.count("Redo it: ") == text.count(f"rm -r {path} and start") == 1
    assert not (tmp_path / "to").exists()
    remove(path)
    assert "there is no such file" in refused(make)


SPEC = {"problem": "levy", "algorithm": "igo", "budget": 6000, "target": 1e-10}
FOREIGN = {
    "another seed": (
        lambda path: shutil.copy(path.with_name("0.parquet"), path),
        "it is of seed 0",
    ),
    "another method": (
        lambda path: shutil.copy(path.parent.with_name("fast_ingo") / path.name, path),
        "algorithm='fast_ingo'",
    ),
    **{
        name: (lambda path, change=change: rewrite(path, **change), why)
        for name, change, why in [
            ("another problem", {"spec": {**SPEC, "problem": "rastrigin"}}, "problem='rastrigin'"),
            ("another size", {"spec": {**SPEC, "problem_parameters": {"dim": 7}}}, "{'dim': 7}"),
            ("another stream", {"spec": {**SPEC, "root_seed": 1}}, "root_seed=1"),
            ("what is no more", {"spec": {**SPEC, "algorithm": "gone"}}, "algorithm='gone'"),
            ("other code", {"code": "other"}, "other code, other"),
            ("no code", {"code": None}, "other code, unknown"),
        ]
    },
}


@pytest.mark.parametrize("foreign", FOREIGN)
def test_of_the_trace_of_another_run_no_table_is_made(cell, foreign):
    folder, make = cell
    make()
    path = folder / "1.parquet"
    change, why = FOREIGN[foreign]
    change(path)
    text = refused(make)
    assert text.startswith(f"error: {path} is not the run that is asked for: ")
    assert why in text
    assert f"rm -r {path} and start the workflow again" in text


def test_settings_that_are_written_otherwise_are_the_same(cell):
    folder, make = cell
    path = folder / "1.parquet"
    spec = trace.read_metadata(path)["spec"]
    rewrite(path, spec={**spec, "budget": 6000.0, "problem_parameters": {"dim": 6.0}})
    make()


STEPS = [  # of a run of two rows that ends before its budget
    {"iteration": 1, "evaluations": 10, "environment_steps": 100, "f_mean": 8.0, "batch_min": 5.0,
     "batch_mean": 6.0, "best": 5.0, "sigma": 1.0, "condition": 1.0},
    {"iteration": 3, "evaluations": 30, "environment_steps": 300, "f_mean": 2.0, "batch_min": 7.0,
     "batch_mean": 4.0, "best": 3.0, "sigma": 0.5, "condition": 2.0},
]  # fmt: skip
METADATA = {
    "spec": {"problem": "levy", "algorithm": "ingo", "budget": 50, "target": None,
             "problem_parameters": {"dim": 7}}, "seed": 4, "title": "T",
    "minimum": 1.0, "stop": "flat", "stop_detail": "d",
}  # fmt: skip


def test_a_row_of_the_table_of_runs():
    """Where it began and ended, and averages over the budget, the last value carried on."""
    row = aggregate.run_row(pd.DataFrame(STEPS), {**METADATA, "hits": [10, 30]})
    assert {name: row[name] for name in STEPS[1]} == STEPS[1]
    assert {name: row[f"first_{name}"] for name in aggregate.FIRST} == {
        "f_mean": 8.0, "batch_min": 5.0, "batch_mean": 6.0, "sigma": 1.0
    }  # fmt: skip
    assert row["area_f_mean"] == ((8 + 2) / 2 * 20 + 2 * 20) / 40
    assert row["area_batch_mean"] == ((6 + 4) / 2 * 20 + 4 * 20) / 40
    assert (row["seed"], row["stop"], row["dim"], row["hits"]) == (4, "flat", 7, [10, 30])


def test_problems_with_the_same_title_are_told_apart_by_their_parameters():
    runs = pd.DataFrame(
        [("a", "Ellipsoid"), ("b", "Ellipsoid"), ("b", "Ellipsoid"), ("c", "Levy")],
        columns=["problem", "title"],
    )
    specs = {
        "a": Spec("ellipsoid", "es", 9, None, {"dim": 4, "condition": 1.0}),
        "b": Spec("ellipsoid", "es", 9, None, {"dim": 4}),  # with its default
        "c": Spec("levy", "es", 9, None, {"dim": 4}),
    }
    assert aggregate.titles(runs, specs).tolist() == [
        "Ellipsoid, condition 1", *["Ellipsoid, condition 1e+06"] * 2, "Levy"
    ]  # fmt: skip


@pytest.mark.parametrize("stepping", [True, False])
def test_steps_of_an_environment_have_a_curve_where_there_are_any(tmp_path, stepping):
    run = record.Record(hits=[])
    for step in STEPS:
        run.append(**step | ({} if stepping else {"environment_steps": 0}))
    trace.write(tmp_path / "4.parquet", run, METADATA)
    _, curves = aggregate.aggregate({("p", "a"): [tmp_path / "4.parquet"]})
    own = curves.loc[curves["quantity"] == "environment_steps", "mean"].tolist()
    assert own == ([100.0, 300.0] if stepping else [])


def test_runs_that_another_experiment_made_are_read_from_beside(traces, tmp_path):
    (traces.parent / "other").mkdir(exist_ok=True)
    aggregate.main(
        [str(traces.parent / "other"), "--cells", f"levy/mine@{traces.name}/igo", "--runs", "3",
         "--to", str(tmp_path)]
    )  # fmt: skip
    runs = pd.read_parquet(tmp_path / "runs.parquet")
    assert runs["algorithm"].tolist() == ["mine"] * 3
    last = trace.read(traces / "levy" / "igo" / "2.parquet")[0].to_pandas().iloc[-1]
    assert runs["best"].iloc[2] == pytest.approx(last["best"], rel=1e-11, abs=0)


def test_numbers_are_rounded_to_twelve_digits_and_all_else_is_left():
    table = pd.DataFrame(
        {
            "x": [1 / 3, -2e300 / 3, np.nan, np.inf, 0.0, 123456789012345.0],
            "n": [123456789012345] * 6,
            "s": ["0.33333333333333331"] * 6,
        }
    )
    rounded = files.rounded(table)
    wanted = [0.333333333333, -6.66666666667e299, np.nan, np.inf, 0.0, 123456789012000.0]
    assert np.array_equal(rounded["x"], wanted, equal_nan=True)
    assert rounded["n"].tolist() == table["n"].tolist()
    assert rounded["s"].tolist() == table["s"].tolist()
    # what differs in the last digits only, as sums of another order do, is equal
    table = table.iloc[[0, 1, 5]]
    moved = table.assign(x=np.nextafter(table["x"], 9))
    assert files.rounded(moved)["x"].equals(rounded.loc[table.index, "x"])
