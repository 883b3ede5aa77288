"""The README shows what the rules made, and its commands and files exist."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import tables
from tiny import CONFIG, write_config

from experiments import plan
from experiments.config import Experiment
from experiments.publishing import readme
from experiments.tables import rewards, summaries

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


def test_its_results_are_what_the_rules_made():
    """Typed numbers would show up here as a difference."""
    assert readme.filled(TEXT, ROOT / readme.PUBLISHED) == TEXT


def test_a_number_changed_by_hand_is_noticed():
    assert "reproduced**" in TEXT
    changed = TEXT.replace("reproduced**", "proven**", 1)
    assert readme.filled(changed, ROOT / readme.PUBLISHED) != changed


def test_a_readme_without_the_block_is_refused():
    with pytest.raises(ValueError, match="has no block"):
        readme.filled("nothing", ROOT / readme.PUBLISHED)


def experiment(name, **labels):
    known = {"ingo": "INGO", "igo": "IGO", "es": "ES", "asebo": "ASEBO"}
    return Experiment(name, 1, {}, known | labels)


def test_its_table_of_targets_counts_runs_and_shows_values_where_none_got_there(tmp_path):
    tables.write(
        tmp_path / "tables",
        "first",
        tables.cell("levy", "ingo", [54_000.0, 54_600.0]),
        tables.cell("levy", "es_0.1", [np.inf, 500_000.0]),
        tables.cell("levy", "igo", [np.inf, np.inf], best=[0.5, 0.3]),
        tables.cell("discus", "ingo", [999_600.0]),
    )
    folder = tmp_path / "tables" / "first"
    summaries.main([str(folder), "--to", str(folder)])
    assert readme.targets(tmp_path, experiment("first", **{"es_0.1": "ES, 0.1"})).splitlines()[
        2:
    ] == [
        "| | INGO | ES, 0.1 | IGO |",
        "|---|---:|---:|---:|",
        "| Levy | 54.3k | 1.50M (1/2) | *0.4* |",
        "| Discus | 1.00M |  |  |",
    ]


def test_its_table_of_rewards_has_interquartile_means_of_the_whole_run(tmp_path):
    folder = tmp_path / "tables" / "control"
    assert readme.rewards(tmp_path, experiment("control")) == []
    cells = (("walk", "es", [-12.34] * 3), ("walk", "asebo", [-1234.5]), ("stand", "es", [50.0]))
    tables.write(
        tmp_path / "tables",
        "control",
        *(
            tables.cell(task, name, [np.inf] * len(values), first_batch_mean=99.0).assign(
                area_batch_mean=values, batch_mean=-7.0, area_f_mean=-8.0, f_mean=-9.0
            )
            for task, name, values in cells
        ),
    )
    rewards.main([str(folder), "--to", str(folder / "rewards")])
    (text,) = readme.rewards(tmp_path, experiment("control"))
    assert text.splitlines()[2:] == [
        "| | ES | ASEBO |",
        "|---|---:|---:|",
        "| Walk | 12.3 | 1,234 (1) |",
        "| Stand | -50 (1) |  |",
    ]


def test_its_hours_are_those_of_the_kept_runs_and_of_all_their_budgets(tmp_path):
    whole = plan.load(write_config(tmp_path))
    half = CONFIG["experiments"]["tiny"] | {"problems": {"ellipsoid": {}, "noise": {"budget": 500}}}
    ran = plan.load(tmp_path / "config.yaml", experiments={"tiny": half})
    folder = tmp_path / "traces" / "tiny"
    folder.mkdir(parents=True)
    (folder / "seconds.csv").write_text(
        "problem,algorithm,seed,seconds,cpu_seconds\n"
        "noise,es,0,9000,1\n"  # 2.5 hours for a quarter of the budget
        "ellipsoid,es,0,3600,1\n"
        "gone,es,0,1800,1\n"  # which the config has no more
    )
    assert readme.cost(tmp_path, whole, ran) == [
        "The 3 jobs whose traces are kept took 4.0 hours, one core each; with the budgets of "
        "config.yaml alone it would be 12."
    ]


def test_its_verdicts_show_the_deciding_part():
    columns = ["id", "claim", "verdict", "measure", "value", "low", "high", "threshold", "why"]
    claims = pd.DataFrame(
        [
            (1, "A.", "partly", "wins(a, b)", 0.2, 0.1, 0.4, "≥ 0.8", "Why. 3 of 4 parts hold. X."),
            (2, "B.", "reproduced", "largest(t)", 2.5, 2.5, 2.5, "≤ 4", "1 of 1 parts hold."),
            (3, "C.", "not tested", np.nan, np.nan, np.nan, np.nan, np.nan, "no table"),
        ],
        columns=columns,
    )
    assert readme.verdicts(claims).splitlines()[4:] == [
        "| 1 | A. | **partly** | 3 of 4 | `wins(a, b)` = 0.2 (0.1 to 0.4) | ≥ 0.8 |",
        "| 2 | B. | **reproduced** | 1 of 1 | `largest(t)` = 2.5 | ≤ 4 |",
        "| 3 | C. | **not tested** |  |  |  |",
    ]
    assert readme.counted(claims) == (
        "Of 3 sentences of the paper: 1 **reproduced**, 1 **partly**, 1 **not tested**."
    )


def test_it_shows_the_first_paragraph_of_a_caption_and_a_film_that_moves(tmp_path):
    assert readme.picture(tmp_path, "film", "A film") == []
    (tmp_path / "figures").mkdir()
    (tmp_path / "figures" / "film.md").write_text("What it is.\n\nHow to read it.\n")
    shown, words = readme.picture(tmp_path, "film", "A film")
    assert shown == "![A film](results/published/figures/film.png)"
    more = "[How to read it](results/published/figures/film.md)."
    assert words == f"**A film.** What it is. {more}"
    (tmp_path / "figures" / "film.gif").touch()
    (tmp_path / "figures" / "film.md").write_text("What it is.\n")
    shown, words = readme.picture(tmp_path, "film", "A film")
    assert shown.endswith("film.gif)")
    assert words == "**A film.** What it is."


def test_every_file_it_links_to_is_there():
    links = re.findall(r"\]\((?!http)([^)#]+)\)", TEXT)
    assert len(links) > 10
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_every_make_target_it_names_is_there():
    targets = set(re.findall(r"(?:`|^)make ([a-z_0-9]+)", TEXT, re.MULTILINE))
    assert len(targets) > 5
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    known = set(re.findall(r"^([a-z_0-9%]+):", makefile, re.MULTILINE))
    assert {t if t in known else re.sub(r"\d+$", "%", t) for t in targets} <= known
