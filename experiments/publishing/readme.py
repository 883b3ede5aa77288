"""Fill the README's blocks and make the results page from what the rules made: no number is typed.

python -m experiments.publishing.readme
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from experiments.paths import PUBLISHED, ROOT
from experiments.plan import load
from experiments.publishing import checksums, cost, results_page, verdicts_page
from experiments.publishing.headlines import headlines
from experiments.publishing.study import Study

FIRST = "figure_1"  # the picture that the README shows
# what is kept beside tables and figures: measurements of time, and INGO beside other methods
SPEED = (*results_page.SPEED, results_page.USAGE)


def block(name: str) -> re.Pattern[str]:
    """What stands between <!-- name: … --> and <!-- end of name -->."""
    return re.compile(rf"(<!-- {name}: .*? -->\n).*?(<!-- end of {name} -->)", re.DOTALL)


def results(published: Path) -> str:
    """How many claims hold, Figure 1, and what came out, a line each."""
    study = Study(published, load(ROOT / "config.yaml"))
    page = (PUBLISHED / "README.md").as_posix()
    text = [
        verdicts_page.counted(study.claims) + f" [All results]({page}).",
        *picture(study, FIRST),
        *(["\n".join(f"- {line}" for line in lines)] if (lines := headlines(study)) else []),
    ]
    return "\n\n".join(text)


def picture(study: Study, figure: str) -> list[str]:
    """A picture with the first paragraph of its caption; nothing where it is not kept."""
    if not (caption := study.caption(figure)):
        return []
    folder, title = PUBLISHED.as_posix(), study.title(figure)
    return [
        f"[![{title}]({folder}/figures/{figure}.png)]({folder}/README.md#{figure})",
        f"**{title}.** {caption[0]}",
    ]


def costs(published: Path) -> str:
    """What each target takes, and on what machine; nothing where no seconds are kept."""
    ran, kept = load(ROOT / "config.yaml", published / "config.yaml"), published / "traces"
    table = cost.table(kept, load(ROOT / "config.yaml"), ran)
    return f"{table.markdown()}\n\n{cost.about(kept, published / 'ledger.jsonl')}" if table else ""


def when(published: Path) -> str:
    """Where INGO is ahead and where behind; nothing where the comparison is not kept."""
    words = results_page.usage(published)
    page = f"[Table and settings]({(PUBLISHED / results_page.USAGE).as_posix()}.md)."
    return f"{words} {page}" if words else ""


BLOCKS: dict[str, Callable[[Path], str]] = {"results": results, "costs": costs, "when": when}


def filled(readme: str, published: Path) -> str:
    """The README with its blocks made again; one that there is nothing for stays as it is.

    Raises:
        ValueError: the README lacks one of them.
    """
    for name, text in BLOCKS.items():
        found = block(name).search(readme)
        if not found:
            raise ValueError(f"README.md has no block <!-- {name}: … --> … <!-- end of {name} -->")
        if made := text(published):
            filled_in = f"{found[1]}\n{made}\n\n{found[2]}"
            readme = readme[: found.start()] + filled_in + readme[found.end() :]
    return readme


def main() -> None:
    """Rewrite README.md and the results page in place, and the checksums of all that is kept."""
    path, published = ROOT / "README.md", ROOT / PUBLISHED
    results_page.write(published)
    path.write_text(filled(path.read_text(encoding="utf-8"), published), encoding="utf-8")
    checksums.write(published)


if __name__ == "__main__":
    main()
