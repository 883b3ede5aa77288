"""Another reading in an optimiser's place: which claims it is asked about, and what it changes."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
import tables

from experiments import plan
from experiments.claims import variants
from experiments.config import ConfigError
from experiments.tables.reader import Tables

ROOT = Path(__file__).parent.parent
CLAIMS = [
    {
        "id": 1,
        "quantifier": "all",
        "parts": [
            {
                "measure": "success_rate",
                "experiment": "paper",
                "algorithm": ["ours", "baseline"],
                "problem": ["p", "q"],
                "at_least": 0.8,
            },
            {"measure": "success_rate", "experiment": "third", "algorithm": "baseline",
             "problem": "p", "at_least": 0.8},
        ],
    },
    {
        "id": 2,
        "quantifier": "all",
        "parts": [
            {
                "measure": "slowdown",
                "experiment": "paper",
                "algorithm": "ours",
                "than": "baseline",
                "problem": "p",
                "at_most": 1.0,
            }
        ],
    },
]  # fmt: skip


@pytest.fixture
def made(tmp_path):
    """On p the baseline needs 4,000 evaluations; read otherwise 500, on four of eight seeds."""
    tables.write(
        tmp_path,
        "paper",
        tables.cell("p", "ours", [1000] * 4 + [9000] * 4),
        tables.cell("p", "baseline", [4000] * 8),
        tables.cell("q", "ours", [float("inf")] * 8),
        tables.cell("q", "baseline", [float("inf")] * 8),
    )
    tables.write(tmp_path, "variants", tables.cell("p", "read_otherwise", [500] * 4))
    return Tables(tmp_path)


def test_a_reading_stands_in_its_optimisers_place_on_the_seeds_that_both_have(made):
    table = variants.compare(made, CLAIMS, "paper", "variants", {"read_otherwise": "baseline"})
    assert list(table["id"]) == [1, 2]  # ours alone and the third experiment are not about it
    assert list(table["part"]) == [
        "success_rate(paper, baseline, p)",
        "slowdown(paper, ours, baseline, p)",
    ]
    assert list(table["paper"]) == [1.0, 0.25]  # on seeds 0 to 3; over all eight it is 1.25
    assert list(table["other"]) == [1.0, 2.0]
    assert list(table["changes"]) == [False, True]


def test_a_reading_is_compared_function_by_function_on_the_seeds_it_has_there(tmp_path):
    """On q one seed is done, whose paper's run is 2,000 evaluations where the others are 8,000."""
    tables.write(
        tmp_path,
        "paper",
        *(tables.cell(p, "baseline", [2000] + [8000] * 7) for p in "pq"),
    )
    tables.write(
        tmp_path,
        "variants",
        tables.cell("p", "read_otherwise", [500] * 4),
        tables.cell("q", "read_otherwise", [500]),
    )
    paper, other = variants.replaced(
        Tables(tmp_path), "paper", "variants", "read_otherwise", "baseline"
    )
    for tables_, evaluations in ((paper, [2000]), (other, [500])):
        assert len(tables_.runs("paper", "p", "baseline")) == 4
        assert tables_.runs("paper", "q", "baseline")["evaluations"].tolist() == evaluations


def test_the_tables_given_are_left_as_they_are(made):
    before = made.table("paper").copy()
    variants.compare(made, CLAIMS, "paper", "variants", {"read_otherwise": "baseline"})
    pd.testing.assert_frame_equal(made.table("paper"), before, check_exact=True)


def test_the_text_names_the_change_and_says_none(made):
    table = variants.compare(made, CLAIMS, "paper", "variants", {"read_otherwise": "baseline"})
    text = variants.markdown(table)
    change = "`slowdown(paper, ours, baseline, p)` | 0.25 | 2 | ≤ 1 |"
    assert f"| read_otherwise | baseline | 2 | 2 | {change}" in text
    unchanged = variants.markdown(table[~table["changes"]])
    assert "| read_otherwise | baseline | 1 | — | none |" in unchanged


def test_a_reading_without_runs_is_left_out_and_said_so(made, capsys):
    table = variants.compare(made, CLAIMS, "paper", "variants", {"absent": "baseline"})
    assert table.empty
    assert capsys.readouterr().err == "left out: no runs of absent in variants\n"


def test_the_config_pairs_every_reading_with_an_optimiser_of_the_paper():
    words = plan.load(ROOT / "config.yaml").variants_command().arguments
    pairs = dict(w.split("=") for w in words if "=" in w)
    assert pairs == {
        "active_cma_es": "cma_es",
        "sep_cma_es": "cma_es",
        "csa_es": "es",  # which the config names
        "es_std_0.02": "es",
        "es_sgd_unscaled": "es",
        "fast_ingo_ddof_0": "fast_ingo",
        "ingo_ddof_0": "ingo",
        "fast_ingo_old": "fast_ingo",
        "fast_ingo_flat": "fast_ingo",
        "igo_ranks": "igo",
        "es_raw": "es",
    }


def test_null_takes_a_named_pair_away(tmp_path):
    """As over a config that does not run the variant, which is an error else."""
    mine = tmp_path / "mine.yaml"
    without = "experiments: {variants: {algorithms: {csa_es: null}}}\n"
    mine.write_text(without)
    with pytest.raises(ConfigError, match="csa_es"):
        plan.load(ROOT / "config.yaml", mine).variants_command()
    mine.write_text(without + "variants: {replace: {csa_es: null}}\n")
    assert "csa_es" not in str(plan.load(ROOT / "config.yaml", mine).variants_command())
