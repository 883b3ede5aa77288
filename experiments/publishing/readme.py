"""Fill the README's results from the files that the rules made, so that no number is typed.

python -m experiments.publishing.readme
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from experiments.config import Experiment
from experiments.paths import PUBLISHED, ROOT
from experiments.plan import Plan, load
from experiments.publishing import archive
from experiments.tables.summaries import DECADES

BLOCK = re.compile(r"(<!-- results: .*? -->\n).*?(<!-- end of results -->)", re.DOTALL)
SPEED = {  # measurements of time, and what they are of
    "iteration": "an iteration of INGO",
    "rollouts": "a step of control",
    "workflow": "the workflow itself",
}
FIRST = "figure_1"  # its picture and its numbers come before all others


def block(published: Path) -> str:
    """The results as Markdown: how many claims hold, Figure 1 with its numbers, the verdicts, and
    the other pictures in the order of config.yaml.
    """
    plan = load(ROOT / "config.yaml")
    claims = pd.read_csv(published / "claims.csv")
    text = [counted(claims)]
    if (published / "tables" / FIRST).is_dir():
        text += [
            *picture(published, FIRST, plan.title(FIRST)),
            targets(published, plan.experiments[FIRST]),
        ]
    text.append(verdicts(claims))
    if (published / "variants.md").is_file():
        path = (PUBLISHED / "variants.md").as_posix()
        text.append(f"What other readings of the text would change: [variants.md]({path}).")
    for figure, settings in plan.figures.items():
        if figure != FIRST:
            text += picture(published, figure, plan.title(figure), settings.get("note", ""))
        if settings.get("kind") == "reward":
            text += rewards(published, plan.experiments[settings["experiment"]])
    text += picture(published, "film", "A trained policy")
    theory = [name for table in plan.theory for name in linked(published, f"theory_{table}")]
    text += ["\n".join(["The theory:", "", *theory])] if theory else []
    text += cost(published, plan, load(ROOT / "config.yaml", published / "config.yaml"))
    return "\n\n".join(text) + "\n"


def cost(published: Path, whole: Plan, ran: Plan) -> list[str]:
    """The hours that the kept runs took with the budgets of ``ran``, and would with those of
    ``whole``; and the measurements of speed. Nothing where neither is kept.
    """
    sentences = []
    jobs = archive.kept_seconds(published / "traces").set_index(list(archive.KEY[:3]))
    if len(jobs):
        hours = jobs["seconds"] / 3600  # CPU time is noted every 15 or 30 s, this exactly
        longer = (_budgets(whole) / _budgets(ran)).reindex(jobs.index).fillna(1.0)
        sentences.append(
            f"The {len(jobs):,} jobs whose traces are kept took {hours.sum():.1f} hours, one core "
            f"each; with the budgets of config.yaml alone it would be {(hours * longer).sum():.0f}."
        )
    timed = [
        f"[{words}]({(PUBLISHED / name).as_posix()}.md)"
        for name, words in SPEED.items()
        if (published / f"{name}.md").exists()
    ]
    if timed:
        sentences.append(f"Speed, as ratios on the machine that we used: {', '.join(timed)}.")
    return [" ".join(sentences)] if sentences else []


def counted(claims: pd.DataFrame) -> str:
    """How often each verdict was reached."""
    counts = claims["verdict"].value_counts()
    order = ("reproduced", "partly", "not reproduced", "not tested")
    said = ", ".join(f"{counts[v]} **{v}**" for v in order if v in counts)
    return f"Of {len(claims)} sentences of the paper: {said}."


def verdicts(claims: pd.DataFrame) -> str:
    """A row a claim, with one of its parts."""
    lines = [
        "Of each claim one part is shown: the first that fails; if none does, the first that is "
        "inconclusive for too few runs; else the first. All that fail, and why a claim is judged "
        "as it is: "
        f"[claims.md]({(PUBLISHED / 'claims.md').as_posix()}).",
        "",
        "| | the paper says | verdict | parts that hold | the part shown | wanted |",
        "|---|---|---|---|---|---|",
    ]
    for c in claims.itertuples():
        row = [str(c.id), c.claim, f"**{c.verdict}**"]
        if isinstance(c.measure, str):
            hold = re.search(r"(\d+ of \d+) parts hold", c.why)
            interval = f" ({c.low:.3g} to {c.high:.3g})" if c.low < c.high else ""
            value = f"`{c.measure}` = {c.value:.3g}{interval}"
            row += [hold[1] if hold else "", value, c.threshold]
        else:
            row += [""] * 3
        lines.append(f"| {' | '.join(row)} |")
    return "\n".join(lines)


def _budgets(plan: Plan) -> pd.Series:
    """Evaluations of a run, by experiment, problem and optimiser."""
    return pd.Series(
        {
            (name, *cell): spec.budget
            for name, experiment in plan.experiments.items()
            for cell, spec in experiment.cells.items()
        }
    )


def picture(published: Path, name: str, title: str, note: str = "") -> list[str]:
    """A picture, the first paragraph of its caption and a note; nothing where it is not kept."""
    if not (caption := paragraphs(published, name)):
        return []
    path = (PUBLISHED / "figures" / name).as_posix()
    suffix = ".gif" if (published / "figures" / f"{name}.gif").is_file() else ".png"
    more = f" [How to read it]({path}.md)." if len(caption) > 1 else ""
    return [
        f"![{title}]({path}{suffix})",
        " ".join([f"**{title}.** {caption[0]}{more}", note]).strip(),
    ]


def linked(published: Path, name: str) -> list[str]:
    """A picture as an entry of a list, without showing it; nothing where it is not kept."""
    if not (caption := paragraphs(published, name)):
        return []
    path = (PUBLISHED / "figures" / name).as_posix()
    return [f"- {caption[0]} [Picture]({path}.png), [what it shows]({path}.md)."]


def paragraphs(published: Path, name: str) -> list[str]:
    """The caption of a picture; empty where it is not kept."""
    caption = published / "figures" / f"{name}.md"
    return caption.read_text(encoding="utf-8").strip().split("\n\n") if caption.exists() else []


def targets(published: Path, experiment: Experiment, target: float = DECADES[-1]) -> str:
    """A row a problem, a column an optimiser: aRT to the target, with the successes where some runs
    did not reach it; where none did, the median of the best values in italics.
    """
    folder = published / "tables" / experiment.name
    key = ["problem", "algorithm"]
    fixed, final = (pd.read_csv(folder / f"{n}.csv") for n in ("fixed_targets", "final_values"))
    cells = fixed[fixed["target"] == target].merge(final[[*key, "median"]], on=key)
    cells = cells.rename(columns={"median_y": "best"}).set_index(key)
    about = (
        f"Evaluations to {target:g} (aRT: those of all runs over the number of runs that "
        "reached it), in brackets the runs that reached it where not all did; "
        "in italics, where none did, the median of the best value so far, which Figure 1 does not "
        "draw. "
        f"[All targets]({(PUBLISHED / 'tables' / experiment.name).as_posix()}/statistics.md)."
    )
    return "\n".join([about, "", *_grid(folder, cells, experiment.labels, _target)])


def rewards(published: Path, experiment: Experiment) -> list[str]:
    """A row a task, a column an optimiser: interquartile mean of the average reward over the whole
    run, with the number of runs where others have more; nothing where it is not kept.
    """
    folder = published / "tables" / experiment.name
    if not (folder / "rewards.csv").is_file():
        return []
    table = pd.read_csv(folder / "rewards.csv", keep_default_na=False)
    table = table[(table["column"] == "area_batch_mean") & (table["than"] == "")]
    cells = table.rename(columns={"task": "problem"}).set_index(["problem", "algorithm"])
    cells["most"] = most = cells["runs"].max()
    about = (
        f"Average reward over the whole run, interquartile mean over {most:.0f} "
        "runs, in brackets their number where they are fewer. [With intervals, the end "
        "of the run, and the probability that one beats another]"
        f"({(PUBLISHED / 'tables' / experiment.name).as_posix()}/rewards.md)."
    )
    return ["\n".join([about, "", *_grid(folder, cells, experiment.labels, _reward)])]


def _grid(
    folder: Path,
    cells: pd.DataFrame,
    labels: Mapping[str, str],
    entry: Callable[[pd.Series], str],
) -> list[str]:
    """A table of Markdown: a row a problem, a column an optimiser, empty where there is no cell.

    Args:
        folder: with the table of runs that the titles of the problems are in.
        cells: a row a cell, by problem and algorithm.
        labels: what the optimisers are called.
        entry: what is said of a cell.
    """
    runs = pd.read_parquet(folder / "runs.parquet", columns=["problem", "algorithm", "title"])
    names = list(runs["algorithm"].unique())
    lines = [
        f"| | {' | '.join(labels.get(name, name) for name in names)} |",
        "|---|" + "---:|" * len(names),
    ]
    for problem, title in runs[["problem", "title"]].drop_duplicates().itertuples(index=False):
        keys = ((problem, name) for name in names)
        row = (entry(cells.loc[key]) if key in cells.index else "" for key in keys)
        lines.append(f"| {title} | {' | '.join(row)} |")
    return lines


def _reward(c: pd.Series) -> str:
    value = float(c["value"])
    fewer = "" if c["runs"] == c["most"] else f" ({c['runs']:.0f})"
    return (f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}") + fewer


def _target(c: pd.Series) -> str:
    if not c["successes"]:
        return f"*{c['best']:.2g}*"
    share = "" if c["successes"] == c["runs"] else f" ({c['successes']:g}/{c['runs']:g})"
    return _short(c["aRT"]) + share


def _short(count: float) -> str:
    """Three digits: 54.3k, 1.50M."""
    unit, sign = (1e6, "M") if count >= 999_500 else (1e3, "k")
    digits = max(0, 2 - int(np.log10(count / unit)))
    return f"{count / unit:.{digits}f}{sign}"


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
