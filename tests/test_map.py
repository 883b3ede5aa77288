"""The map from the paper to the code: complete, and every link in it leads somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from experiments.paths import ROOT

MAP = ROOT / "docs" / "map.md"
TEXT = MAP.read_text(encoding="utf-8")
OF_PAPER = TEXT.partition("## Folders")[0]
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in OF_PAPER.splitlines()
    if line.startswith("|") and not line.startswith(("|---", "| paper |", "| equation |"))
]
ROWS = [row for row in ROWS if row[0] != "sentence of the paper"]
SAID = next(k for k, row in enumerate(ROWS) if row[2] == "claim 1")  # the first sentence's
LINKS = re.findall(r"\[([^\]]*)\]\(([^)#]*)(?:#([^)]*))?\)", TEXT)
CLAIMS = yaml.safe_load((ROOT / "experiments" / "claims" / "claims.yaml").read_text("utf-8"))

# Every \label of the paper's LaTeX, comments apart, in its order.
LABELS = re.findall(
    r"\S+",
    """
Mop updateEta Nupdate OpGaussian eta2 m2 g_m1 g_m2 sigmaupdatem muupdatem theB mu gsigma MC1 MC2
alg:INGOu INGOstep MonteS MonteU unSigmaUpdateM unMuupdate MopMu TheoremMu SigmaSigma MuMu
SigmaSigmaUpdate MumuUpdate GF EstimatorOP SigmaSigmaEstimator MuMuEstimator GerneralConv singleg
BObound experiments Ellipsoid l1Ellipsoid L12Ellipsoid Discus.3 Levy Rastrigin10 TestFunc Swimmer
HalfCheetah InvertedDoublePendulum HumanoidStandup RLtest Opdiscrete DTestFunc sigma Gstein mu2
sigma2 Theom4conv TheoremEstimator EstimatorOP1 SigmaSigmaEstimator1 MuMuEstimator1 Muinner Lemma1
opKL Fbreg KLthree lemma2 DistanceT trTerm linear inner beforeSig BlackInq Eineq normEq innerBound
SigmaRate BlackBoundin iMinbound boundZ IboundZ orthgonoalg DiscreteUpdateD testF ESstep RGD
""",
)


def test_every_label_of_the_paper_has_one_row():
    named = [label for row in ROWS for label in re.findall(r"`([^`]+)`", row[0])]
    assert sorted(named) == sorted(LABELS)


def test_every_theorem_algorithm_figure_and_table_has_a_row():
    first = "\n".join(row[0] for row in ROWS)
    numbered = [
        *(f"Theorem {k}" for k in (1, 2, 3, 4, 5, "B", "D")), *(f"Lemma {k}" for k in range(1, 9)),
        *(f"Algorithm {k}" for k in (1, 2, 3)), *(f"Figure {k}" for k in range(1, 6)), "Table 1",
    ]  # fmt: skip
    for name in numbered:
        assert re.search(rf"{name}\b", first), name


def test_every_claim_has_a_row_among_the_sentences():
    sentences = OF_PAPER.partition("## Sentences")[2]
    named = [int(number) for number in re.findall(r"\bclaim (\d+)", sentences)]
    assert sorted(named) == sorted(entry["id"] for entry in CLAIMS)


def test_claims_that_are_named_exist():
    ids = {entry["id"] for entry in CLAIMS}
    for words in re.findall(r"\bclaims? ((?:\d+(?:, | to )?)+)", OF_PAPER):
        assert {int(number) for number in re.findall(r"\d+", words)} <= ids


ABOUT = {entry["id"]: str(entry) for entry in CLAIMS}  # the tables and experiments of a claim


@pytest.mark.parametrize("row", ROWS, ids=lambda row: re.sub(r"\W+", "_", row[0])[:60])
def test_the_claim_of_a_row_is_judged_by_what_the_row_names(row):
    """Of the theory's modules, one whose table it reads; of experiments, all."""
    of_theory = set(re.findall(r"experiments/theory/(\w+)\.py", row[1])) - {"bounds", "shared"}
    experiments = (
        re.findall(r"(?<!\w)`(\w+)`", row[1]) if row[0] and ROWS.index(row) >= SAID else []
    )
    for number in re.findall(r"\bclaim (\d+)", row[2]):
        about = ABOUT[int(number)]
        assert not of_theory or any(
            f"'table': '{name}'" in about or f"'figure': 'theory_{name}'" in about
            for name in of_theory
        )
        for name in experiments:
            assert f"'{name}'" in about, (number, name)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: re.sub(r"\W+", "_", row[0])[:60])
def test_a_row_has_evidence_or_says_that_it_has_none(row):
    assert len(row) == 3
    assert re.match(r"none\b", row[2]) or re.search(r"\[test_\w+\]|claims? \d", row[2])


@pytest.mark.parametrize("link", sorted(set(LINKS)), ids=lambda link: "".join(link)[:80])
def test_a_link_leads_to_what_it_names(link):
    words, target, anchor = link
    file = (MAP.parent / target).resolve() if target else MAP
    assert file.exists(), target
    assert file.is_relative_to(ROOT)
    if words.startswith("test_") and file.parent == ROOT / "tests":
        assert re.search(rf"^def {words}\(", file.read_text(encoding="utf-8"), re.MULTILINE)
    elif words.endswith((".py", ".yaml", ".md")):
        assert Path(words).name == file.name
    if anchor:
        headings = re.findall(r"^#+ (.*)$", file.read_text(encoding="utf-8"), re.MULTILINE)
        assert anchor in {re.sub(r"[^\w -]", "", h.lower()).replace(" ", "-") for h in headings}
