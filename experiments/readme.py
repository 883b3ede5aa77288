"""Fill the README's results from the files that the rules made, so that no number is typed.

python -m experiments.readme
"""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd

ROOT = Path(__file__).parent.parent
PUBLISHED = Path("results/published")
BLOCK = re.compile(r"(<!-- results: .*? -->\n).*?(<!-- end of results -->)", re.DOTALL)


def block(published: Path) -> str:
    """The pictures with their captions, and the verdicts, as Markdown."""
    lines, linked = [], []
    pictures = (published / "figures").glob("*.png")
    for picture in sorted(pictures, key=lambda p: (not p.stem.startswith("figure"), p.stem)):
        caption = picture.with_suffix(".md").read_text(encoding="utf-8").strip()
        name = picture.stem.replace("_", " ").capitalize()
        moving = picture.with_suffix(".gif")
        shown = moving if moving.is_file() else picture
        path = (PUBLISHED / "figures" / shown.name).as_posix()
        if picture.stem.startswith("theory"):
            whole = (PUBLISHED / "figures" / f"{picture.stem}.md").as_posix()
            linked.append(f"- [{name}]({path}). {caption.split('. ')[0]}. [More]({whole})")
        else:
            lines += [f"![{name}]({path})", "", f"**{name}.** {caption}", ""]
    lines += [*linked, ""] if linked else []
    claims = pd.read_csv(published / "claims.csv")
    lines += ["| | the paper says | verdict |", "|---|---|---|"]
    lines += [f"| {c.id} | {c.claim} | **{c.verdict}** |" for c in claims.itertuples()]
    if (published / "readings.md").is_file():
        path = (PUBLISHED / "readings.md").as_posix()
        lines += ["", f"What other readings of the text would change: [readings.md]({path})."]
    return "\n".join([*lines, ""])


def filled(readme: str, published: Path) -> str:
    """The README with its block of results made anew.

    Raises:
        ValueError: the README has no such block.
    """
    if not BLOCK.search(readme):
        raise ValueError("README.md has no block <!-- results: … --> … <!-- end of results -->")
    return BLOCK.sub(lambda m: m[1] + "\n" + block(published) + "\n" + m[2], readme)


def main() -> None:
    """Rewrite README.md in place."""
    path = ROOT / "README.md"
    path.write_text(filled(path.read_text(encoding="utf-8"), ROOT / PUBLISHED), encoding="utf-8")


if __name__ == "__main__":
    main()
