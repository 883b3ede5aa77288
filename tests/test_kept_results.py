"""The kept tables are those of the kept traces, all of them, and their texts those of the tables.

Pictures and intervals are drawn and sampled again elsewhere (test_redraw.py).
"""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest

from experiments.claims import variants, verdicts
from experiments.paths import KEPT, PUBLISHED, ROOT
from experiments.plan import load
from experiments.publishing import archive, checksums
from experiments.tables import aggregate, estimates, files, rewards, summaries
from experiments.theory import commands, gap
from experiments.timing import iteration, rollouts, updates
from problems import table_1

KEPT_RESULTS = ROOT / PUBLISHED
TABLES = KEPT_RESULTS / "tables"
PLAN = load(ROOT / "config.yaml", KEPT_RESULTS / "config.yaml")
WHOLE = load(ROOT / "config.yaml")
CURVED = sorted(path.parent.name for path in TABLES.glob("*/curves.parquet"))
TABLED = sorted(path.parent.name for path in TABLES.glob("*/runs.parquet"))
UNDER_WAY = "humanoid_100"  # no experiment of config.yaml: its table of runs alone is kept
CELL = ["problem", "algorithm"]
COLUMNS = {  # of the theory's tables that have the sizes in config.yaml; others are called alike
    "problems": "problem",
    "algorithms": "algorithm",
    "dims": "dim",
    "conditions": "condition",
    "stds": "std",
}


@pytest.fixture(scope="module")
def kept_cells():
    """The kept traces of an experiment by cell and seed, each file read once."""
    read = {}

    def cells(experiment):
        if experiment not in read:
            found = {}
            for seed in range(PLAN.experiments[experiment].runs):
                for cell, (rows, metadata) in archive.read(KEPT / experiment / f"{seed}.parquet"):
                    if cell in PLAN.experiments[experiment].own:
                        found.setdefault(cell, {})[seed] = rows.to_pandas(), metadata
            read[experiment] = found
        return read[experiment]

    return cells


def of_table(experiment, kept_cells):
    """The cells that the tables of an experiment show, those that another one runs included."""
    e, found = PLAN.experiments[experiment], {}
    for problem, algorithm in e.cells:
        made, theirs = e.shared.get(algorithm, (experiment, algorithm))
        runs = kept_cells(made)[problem, theirs]
        found[problem, algorithm] = {seed: runs[seed] for seed in range(e.runs)}
    return found


def assert_same(made, kept, rtol=1e-11):
    """Equal to the last digit that is kept; a smallest difference that is none would hide 1e-10."""
    pd.testing.assert_frame_equal(made, kept, rtol=rtol, atol=0, check_dtype=False)


def test_no_kept_file_was_changed_added_or_lost_since_all_was_made():
    """`make figures` renews them, once what is changed has been made again."""
    assert checksums.sums(KEPT_RESULTS) == checksums.read(KEPT_RESULTS)


def test_checksums_are_those_of_the_command(tmp_path):
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "a b.txt").write_text("abc", encoding="utf-8")
    (tmp_path / "ledger.jsonl").write_text("grows", encoding="utf-8")
    (tmp_path / "picture.svg").write_text("not kept", encoding="utf-8")
    checksums.write(tmp_path)
    abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"  # FIPS 180-4
    assert (tmp_path / "SHA256SUMS").read_text(encoding="utf-8") == f"{abc}  below/a b.txt\n"
    assert checksums.read(tmp_path) == checksums.sums(tmp_path) == {"below/a b.txt": abc}


def test_every_experiment_with_kept_traces_has_tables():
    assert {path.name for path in KEPT.iterdir() if path.is_dir()} == set(TABLED)


@pytest.mark.parametrize("experiment", TABLED)
def test_every_cell_has_a_trace_of_every_seed_and_others_are_on_the_way_to_more(experiment):
    """No table shows those of a cell or seed that not all runs are there of, but the next study
    need not run them again.
    """
    e = PLAN.experiments[experiment]
    whole = WHOLE.experiments.get(experiment, dataclasses.replace(e, runs=5))
    found = {
        (cell, int(file.stem)): metadata
        for file in (KEPT / experiment).glob("*.parquet")
        for cell, (_, metadata) in archive.read(file)
    }
    for (cell, seed), metadata in found.items():
        assert metadata["seed"] == seed < max(e.runs, whole.runs), cell
        asked = e.own.get(cell) or whole.own[cell]
        assert asked.is_that_of(metadata), (cell, seed)
    assert {(cell, seed) for cell in e.own for seed in range(e.runs)} <= set(found)


@pytest.mark.parametrize("experiment", TABLED)
def test_the_rows_of_a_table_of_runs_are_the_last_ones_of_the_kept_traces(experiment, kept_cells):
    rows = [
        dict(zip(CELL, cell, strict=True)) | aggregate.run_row(*run)
        for cell, runs in of_table(experiment, kept_cells).items()
        for run in runs.values()
    ]
    specs = {p: e.cells[p, a] for e in [PLAN.experiments[experiment]] for p, a in e.cells}
    table = pd.DataFrame(rows)
    table["title"] = aggregate.titles(table, specs)
    own, kept = (
        frame.assign(hits=frame["hits"].map(list))
        .sort_values([*CELL, "seed"], ignore_index=True)
        .fillna({"dim": -1})  # none, of control
        for frame in (
            files.rounded(table),
            pd.read_parquet(TABLES / experiment / "runs.parquet"),
        )
    )
    assert_same(own[list(kept)], kept)


def test_the_720_final_values_of_figure_1_are_those_of_its_traces(kept_cells):
    """Column by column from the last rows, without the code that makes tables."""
    table = pd.read_parquet(TABLES / "figure_1" / "runs.parquet").set_index([*CELL, "seed"])
    assert len(table) == 720
    names = ["iteration", "evaluations", "f_mean", "batch_min", "batch_mean", "best", "sigma"]
    found = {
        (*cell, seed): rows[names].iloc[-1]
        for cell, runs in kept_cells("figure_1").items()
        for seed, (rows, _) in runs.items()
    }
    own = pd.DataFrame(found).T.reindex(table.index)
    np.testing.assert_allclose(own, table[names], rtol=1e-11, atol=0)


def on_grid(runs, quantities):
    """The grid of a cell (T,), and the values of its runs there (quantities, runs, T), of which an
    ended one carries its last row forward.
    """
    points = [rows["evaluations"].to_numpy() for rows in runs]
    last = max(own[-1] for own in points)
    grid = np.unique(np.concatenate([*(own[:-1] for own in points), [last]]))
    values = np.empty((len(quantities), len(runs), len(grid)))
    for k, (rows, own) in enumerate(zip(runs, points, strict=True)):
        at = np.searchsorted(own, grid, side="right") - 1
        values[:, k] = rows[quantities].to_numpy(dtype=float).T[:, np.maximum(at, 0)]
    return grid, values


def statistics(values):
    """How many are finite, their mean, and minimum, quartiles and maximum, over runs (runs, T); by
    another way than the tables are made: values are ordered, with what is not finite at the end.
    """
    ordered = np.sort(np.where(np.isfinite(values), values, np.nan), axis=0)
    finite = (~np.isnan(ordered)).sum(axis=0)
    places = np.array([0.0, 0.25, 0.5, 0.75, 1.0])[:, None] * np.maximum(finite - 1, 0)
    below = places.astype(int)
    low, high = (
        np.take_along_axis(ordered, place, axis=0) for place in (below, below + (places > below))
    )
    mean = np.nansum(ordered, axis=0) / np.where(finite, finite, np.nan)
    return np.vstack([finite, mean, low + (places - below) * (high - low)]).T


def test_curves_are_kept_of_what_a_picture_draws():
    kept = {path.parent.name for path in TABLES.glob("*/curves.parquet")}
    assert kept == PLAN.curved & set(TABLED)
    assert "step_sizes" in set(TABLED) - kept


@pytest.mark.parametrize("experiment", CURVED)
def test_the_curves_are_those_of_the_kept_traces(experiment, kept_cells):
    table = pd.read_parquet(TABLES / experiment / "curves.parquet")
    columns = ["evaluations", "runs", "finite", "mean", "min", "q1", "median", "q3", "max"]
    kept = {key: rows[columns].to_numpy() for key, rows in table.groupby([*CELL, "quantity"])}
    for cell, runs in of_table(experiment, kept_cells).items():
        rows = [run for run, _ in runs.values()]
        quantities = ["f_mean", "batch_min", "batch_mean", "best", "sigma", "condition"]
        if any(run["environment_steps"].iloc[-1] for run in rows):
            quantities.append("environment_steps")
        grid, values = on_grid(rows, quantities)
        for quantity, own in zip(quantities, values, strict=True):
            its = kept.pop((*cell, quantity))
            assert (its[:, 0] == grid).all()
            assert (its[:, 1] == len(rows)).all()
            np.testing.assert_allclose(
                statistics(own), its[:, 2:], rtol=1e-11, atol=0, err_msg=f"{cell} {quantity}"
            )
    assert not kept


@pytest.mark.parametrize("experiment", [name for name in TABLED if name != UNDER_WAY])
def test_the_tables_for_reading_are_those_of_the_table_of_runs(experiment, monkeypatch):
    """But for the ends of intervals, which take thousands of resamples."""
    monkeypatch.setattr(estimates, "RESAMPLES", 1)
    folder = TABLES / experiment
    runs = pd.read_parquet(folder / "runs.parquet")
    final = pd.read_csv(folder / "final_values.csv")
    assert_same(files.rounded(summaries.final_values(runs)), final)
    made = files.rounded(summaries.fixed_targets(runs))
    file = folder / "fixed_targets.csv"
    fixed = pd.read_csv(file) if len(made) else made
    sampled = ["aRT_low", "aRT_high"]
    assert_same(made.drop(columns=sampled), fixed.drop(columns=sampled))
    text = (folder / "statistics.md").read_text(encoding="utf-8")
    assert summaries.markdown(fixed, final) == text
    assert (experiment in PLAN.rewarded) == (folder / "rewards.csv").is_file()
    if experiment in PLAN.rewarded:
        table = pd.read_csv(
            folder / "rewards.csv", keep_default_na=False, na_values={"low": "", "high": ""}
        )
        own = files.rounded(rewards.rewards(runs))
        sampled = ["low", "high"]
        assert_same(own.drop(columns=sampled), table.drop(columns=sampled))
        assert rewards.markdown(table) == (folder / "rewards.md").read_text(encoding="utf-8")


def test_the_intervals_of_a_cell_are_those_of_its_runs():
    """All resamples, of one cell."""
    folder = TABLES / "extended"
    runs, kept = pd.read_parquet(folder / "runs.parquet"), pd.read_csv(folder / "fixed_targets.csv")
    runs, kept = (t[t["algorithm"] == "ingo"].reset_index(drop=True) for t in (runs, kept))
    assert (kept["aRT_low"] < kept["aRT_high"]).all()
    assert_same(files.rounded(summaries.fixed_targets(runs)), kept)


@pytest.mark.parametrize(
    ("name", "markdown"),
    [("claims", verdicts.markdown), ("variants", variants.markdown),
     ("iteration", iteration.markdown), ("rollouts", rollouts.markdown),
     ("updates", updates.markdown)],
)  # fmt: skip
def test_a_text_is_that_of_its_table(name, markdown):
    table = pd.read_csv(KEPT_RESULTS / f"{name}.csv")
    assert markdown(table) == (KEPT_RESULTS / f"{name}.md").read_text(encoding="utf-8")
    assert len(table) > 8


def test_a_share_of_the_time_of_roll_outs_is_that_of_its_row():
    table = pd.read_csv(KEPT_RESULTS / "updates.csv")
    np.testing.assert_allclose(
        table["ratio"], table["seconds"] / table["roll_outs"], rtol=1e-11, atol=0
    )
    assert (table.groupby("task")[["dim", "samples", "roll_outs"]].nunique() == 1).all(axis=None)


def test_the_text_on_the_workflow_has_the_numbers_of_its_table():
    table = pd.read_csv(KEPT_RESULTS / "workflow.csv")
    text = (KEPT_RESULTS / "workflow.md").read_text(encoding="utf-8")
    assert f"A job costs {table['a_job'][0]:.2f} s of CPU time" in text
    assert f"workflow {table['start'][0]:.1f} s." in text
    rows = [line for line in text.splitlines() if line.startswith("| ")][1:]
    assert rows == [
        f"| {row.experiment} | {row.jobs} | {row.mean:.3g} | {100 * row.share:.1f} % |"
        for row in table.itertuples()
    ]
    assert np.allclose(table["mean"], table["cpu"] / table["jobs"], rtol=1e-11, atol=0)


def theory(question):
    """A table of the theory, and its sizes in config.yaml."""
    return pd.read_csv(TABLES / "theory" / f"{question}.csv"), dict(PLAN.theory[question])


@pytest.mark.parametrize("question", [name for name, asked in commands.QUESTIONS.items() if asked])
def test_the_sizes_of_a_table_of_the_theory_are_those_of_the_config(question):
    """All that it has a column of."""
    table, sizes = theory(question)
    parts = [(table, sizes)]
    if question == "regret":
        e = PLAN.experiments[sizes["experiment"]]
        parts = [(table, {"problems": e.problems, "algorithms": e.algorithms, "runs": e.runs})]
        for cell, rows in table.groupby(CELL):
            spec, last = e.cells[cell], rows.iloc[-1]
            assert last["dim"] == spec.problem_parameters["dim"]
            assert last["iterations"] == spec.budget // (last["samples"] + 1)
    if question == "orthogonal":
        of = dict(list(table.groupby("quantity")))
        assert set(of) == {"regret", "second_moment"}
        moments = {"problems": sizes["problems"], "dim": sizes["dim"], "runs": sizes["repeats"]}
        moments["iterations"] = 0
        del sizes["dim"]
        parts = [(of["regret"], sizes), (of["second_moment"], moments)]
    if question == "unbiased":
        own = table[table["parameter"] == "mu"].groupby(["function", "estimator"])
        assert (own.size() == sizes["dim"]).all()
    if question == "trust_region":
        own = table.groupby("problem")["instance"]
        assert all(list(numbers) == list(range(sizes["instances"])) for _, numbers in own)
    for rows, asked in parts:
        for size, values in asked.items():
            if (column := COLUMNS.get(size, size)) in rows:
                its = [values] if isinstance(values, int) else list(values)
                assert list(rows[column].unique()) == its, size


def test_the_lemmas_left_side_is_measured_as_often_as_the_config_asks_for():
    """No column says so, but the numbers change with it: a row of them is made again."""
    kept, sizes = theory("gap")
    made = gap.table(**sizes | {"conditions": kept["condition"][:1]})
    assert_same(files.rounded(made), kept[:1])


def test_table_1_is_that_of_the_functions(tmp_path):
    table_1.main(["--to", str(tmp_path / "table_1")])
    for file in tmp_path.iterdir():
        assert file.read_bytes() == (TABLES / file.name).read_bytes()
