"""The README shows what the rules made, and its commands and files exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from experiments import readme

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
