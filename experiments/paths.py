"""Where the project is, and what of its results is kept in it."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parent.parent
PUBLISHED = Path("results/published")  # below ROOT; no rule writes there
KEPT = ROOT / PUBLISHED / "traces"
