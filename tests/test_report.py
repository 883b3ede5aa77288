"""The HTML report of a tiny study, and of the kept results: one file that needs no network."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from tiny import CONFIG, write_config

from experiments import plan
from experiments.paths import PUBLISHED, ROOT
from experiments.publishing import archive, report, report_commands, report_pages
from experiments.publishing.study import Study
from experiments.runs import simulate
from experiments.runs.spec import Spec

PARTS = (
    "algorithms", "problems", "experiments", "figures", "profiles", "Snakefile", "environment.yml",
    "requirements.lock",
)  # fmt: skip


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A copy of the project whose tiny workflow has run, and its report been made."""
    folder = tmp_path_factory.mktemp("report")
    for part in PARTS:
        copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy
        copy(ROOT / part, folder / part)
    tiny = {**CONFIG["experiments"]["tiny"], "problems": {"levy": {}}}
    settings = {
        **CONFIG,
        "runs": 1,
        "results": "results",
        "experiments": {"tiny": tiny},
        "figures": {"figure_1": {"experiment": "tiny"}, "other": {"experiment": "tiny"}},
        "theory": {"hyper_parameters": {}},
    }
    (folder / "config.yaml").write_text(yaml.safe_dump(settings))
    run(folder, "snakemake", "--cores", "2")
    run(folder, "experiments.publishing.report", "results")
    return folder


def run(folder, module, *arguments, ok=True):
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode == 0) is ok, done.stdout
    return done.stdout


@pytest.fixture(scope="module")
def html(project):
    return (project / "results" / "report.html").read_text(encoding="utf-8")


def variable(html, name):
    """A variable of the report's scripts."""
    found = re.search(rf'<script id="[^"]*">\s*var {name} = (.*);\s*</script>', html)
    return json.loads(found[1])


def test_its_categories_hold_claims_figures_tables_and_settings(html):
    categories = variable(html, "categories")
    assert sorted(categories) == [
        report_commands.CLAIMS, report_commands.OF_PAPER, report_commands.OTHERS,
        report_commands.THEORY, report_commands.TABLES, report_commands.SETTINGS,
    ]  # fmt: skip
    files = {name: next(iter(own.values())) for name, own in categories.items()}
    assert files[report_commands.CLAIMS] == ["results/report/claims.html"]
    assert files[report_commands.OF_PAPER] == ["results/figures/figure_1.png"]
    assert files[report_commands.OTHERS] == ["results/figures/other.png"]
    assert set(files[report_commands.TABLES]) == {
        "results/report/table_1.html", "results/report/tiny.html"
    }  # fmt: skip


def test_captions_say_what_is_seen_and_what_the_paper_says(project, html):
    results = variable(html, "results")
    caption = results["results/figures/figure_1.png"]["caption"]
    seen = (project / "results/figures/figure_1.md").read_text().split(".")[0]
    assert seen in caption
    assert "Claim 2: Fast-INGO reaches 1e-10 on five functions" in caption
    assert results["results/figures/figure_1.png"]["labels"] == {"figure": "Figure 1"}


def test_it_begins_with_the_verdicts_the_commit_and_the_versions(html):
    first = variable(html, "workflow_desc")
    assert "Of 31 sentences of the paper:" in first
    assert "Commit of this report" in first
    assert re.search(r"Versions: Python 3\.\d+", first)
    assert "results, with config.yaml" in first


def test_it_shows_the_graph_of_rules_and_their_code(html):
    graph = variable(html, "rulegraph_spec")
    assert {"trace", "table", "figure", "claims", "report_pages"} <= set(
        re.findall(r'"rule": "(\w+)"', json.dumps(graph))
    )
    assert "trace" in variable(html, "rules")


def test_it_needs_no_network(html):
    assert not re.findall(r"<(?:script|link|img|iframe)[^>]+(?:src|href)=[\"']?https?:", html)


def test_nothing_but_its_own_pages_was_run_for_it(project):
    text = run(project, "snakemake", "--cores", "1", "--dry-run")
    assert "Nothing to be done" in text


def test_results_without_verdicts_are_refused_with_what_to_do(project):
    said = run(project, "experiments.publishing.report", "elsewhere", ok=False)
    assert "elsewhere has no claims.csv: `make replicate` ends with it" in said
    assert "Traceback" not in said


def test_what_is_not_there_is_left_out(tmp_path):
    settings = {"results": str(tmp_path), "figures": {"a": {"experiment": "tiny"}}}
    asked = plan.Plan.from_config({**CONFIG, **settings})
    assert list(report.made(asked)) == []
    (tmp_path / "claims.md").touch()
    (tmp_path / "variants.md").touch()  # of another config
    assert list(report.made(asked)) == [str(tmp_path / "claims.md")]


def test_the_report_of_the_kept_results_lies_beside_them():
    assert report_commands.pages_folder(PUBLISHED) == "results/report"
    assert report_commands.pages_folder(Path("results/quick")) == "results/quick/report"


def test_the_pages_of_the_kept_results_stand_alone(tmp_path):
    config = ROOT / "config.yaml"
    kept = Study(ROOT / PUBLISHED, plan.load(config))
    names = report_pages.write(kept, [config], tmp_path / "pages")
    assert {"claims", "readings", "table_1", "film", "config", "theory_gap"} <= set(names)
    assert set(kept.experiments) <= set(names)
    for name in names:
        text = (tmp_path / "pages" / f"{name}.html").read_text(encoding="utf-8")
        assert not re.findall(r'(?:src|href)="(?!data:)', text), name
        assert "$" not in re.sub(r"<script>.*?</script>", "", text, flags=re.DOTALL), name
    claims = (tmp_path / "pages" / "claims.html").read_text(encoding="utf-8")
    assert claims.count("<h2>") == len(kept.claims)
    assert 'download="claims.csv"' in claims
    captions = tmp_path / "pages" / "captions"
    assert {path.stem for path in captions.iterdir()} == {*kept.figures, "summary"}


def test_its_versions_are_those_that_the_kept_runs_were_made_with(tmp_path):
    config = write_config(tmp_path)
    study = Study(tmp_path, plan.load(config))
    run, metadata = simulate.run(Spec("levy", "es", 16, None, {"dim": 4}), 0)
    metadata |= {"versions": {"python": "3.0", "numpy": "9.9"}}
    kept = tmp_path / "traces" / "tiny" / "0.parquet"
    archive.write(kept, {("levy", "es"): (run.table({}), metadata)})
    (tmp_path / "claims.csv").write_text("verdict\npartly\n")
    assert "- Versions: Python 3.0, numpy 9.9\n" in report_pages.summary(study, [config])


def test_captions_have_no_markup_but_their_own():
    assert report_pages.rst("fast_ingo, |x|, 2*3, `y`_") == r"fast\_ingo, \|x\|, 2\*3, \`y\`\_"
