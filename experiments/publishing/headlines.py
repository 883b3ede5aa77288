"""The README's findings, a line each, whose numbers come from the tables.

A sentence counts or compares what its tables hold; it is left out where they are missing.
"""

from __future__ import annotations

import re
from contextlib import suppress

import pandas as pd

from experiments.claims.measures import MEASURES
from experiments.claims.verdicts import PARTS_FILE
from experiments.field import words
from experiments.paths import PUBLISHED
from experiments.publishing.cells import TARGET, Cells, integer, listed, on
from experiments.publishing.study import Study
from experiments.publishing.words import count, number, percent
from experiments.tables import reader
from experiments.tables.reader import Missing
from experiments.tables.rewards import ALL, mean_reward

STALLED = 0.5  # of the budget, after which nothing is reached any more
TOLD = {
    "reproduced": "Reproduced would be",
    "partly": "Partly would be",
    "inconclusive": "Left open",
    "not reproduced": "Not reproduced even so",
}


def headlines(study: Study) -> list[str]:
    """A line each."""
    made = []
    for sentence in (functions, cma_es, control, discrete, theory, field, takes):
        with suppress(Missing):
            made.append(sentence(study))
    return made


def functions(study: Study) -> str:
    plain, rotated = Cells(study, "figure_1"), Cells(study, "rotated")
    counts: dict[int, list[str]] = {}
    for name in ("ingo", "cma_es", "igo", "es"):
        counts.setdefault(len(plain.solved(name)), []).append(study.optimiser("figure_1", name))
    shown = [f"{listed(names)} on {integer(solved)}" for solved, names in counts.items()]
    igo = ""
    with suppress(Missing):
        by_rank = integer(len(Cells(study, "variants").solved("igo_ranks")))
        igo = f" (IGO with its own weights by rank: {by_rank})"
    return (
        f"**Test functions.** Within {number(plain.budget)} evaluations, all runs of Fast-INGO "
        f"reach {TARGET:g} on {integer(len(plain.solved('fast_ingo')))} of "
        f"{integer(len(plain.titles))} functions, {listed(shown)}{igo}. With the functions "
        f"rotated Fast-INGO solves {integer(len(rotated.solved('fast_ingo')))}, INGO "
        f"{integer(len(rotated.solved('ingo')))}.{_wider(study)}"
    )


def _wider(study: Study) -> str:
    """Which methods solve Rastrigin10, which none does from the paper's start, from a wider one."""
    cells = Cells(study, "wide_starts")
    try:
        ((p, title),) = cells.titles.items()
    except Missing:
        return ""
    settings = study.tables.table("wide_starts")["algorithm"].unique()
    most: dict[str, int] = {}
    for name in settings:
        of = reader.method(name)
        most[of] = max(most.get(of, 0), cells.reached(p, name))
    there = {of: count for of, count in most.items() if count}
    if not there:
        return ""
    runs = len(cells.runs(p, settings[0]))
    shown = [f"{study.optimiser('figure_1', of)} in {count}" for of, count in there.items()]
    # those at the paper's step are called by σ₁ and 1
    smaller = not any(cells.reached(p, a) for a in settings if re.search(r"_\d_1$", a))
    step = " and a smaller step" if smaller else ""
    return f" {title}, from a wider start{step}, is solved by {listed(shown)} of {runs} runs."


def cma_es(study: Study) -> str:
    cells = Cells(study, "figure_1")
    both = [p for p in cells.solved("cma_es") if p in cells.solved("ingo")]
    ahead = [p for p in both if cells.evaluations(p, "cma_es") < cells.evaluations(p, "ingo")]
    fewer = [
        f"{on(cells.titles, [p])} ({count(cells.evaluations(p, 'cma_es'))} against "
        f"{count(cells.evaluations(p, 'ingo'))})"
        for p in ahead
    ]
    return (
        "**CMA-ES** needs fewer evaluations than INGO on "
        f"{listed(fewer) if fewer else 'no function'}; it {cma_es_misses(cells)}.{_pace(cells)}"
    )


def cma_es_misses(cells: Cells) -> str:
    """On which functions CMA-ES has no run at the target and INGO all: the end of a sentence."""
    alone = [p for p in cells.solved("ingo") if not cells.reached(p, "cma_es")]
    if not alone:
        return "reaches the target, in one run at least, wherever INGO does in all"
    return f"does not reach the target on {on(cells.titles, alone)}, where INGO does"


def _pace(cells: Cells) -> str:
    """Where CMA-ES is slow, with targets that it reaches to the end, and where it has stalled."""
    problems = [p for p in ("l1_ellipsoid", "l_half_ellipsoid") if p in cells.titles]
    if not problems:
        return ""
    paces, shares = zip(*(cma_es_pace(cells, p) for p in problems), strict=True)
    where = [f"{pace} on {on(cells.titles, [p])}" for pace, p in zip(paces, problems, strict=True)]
    return (
        f" It is {listed(where)} (last progress after {listed([percent(s) for s in shares])} of "
        "its evaluations)."
    )


def cma_es_pace(cells: Cells, problem: str) -> tuple[str, float]:
    """Whether it is slow or stalled, and the share of its evaluations after which it reaches the
    last of its targets.
    """
    tables, experiment = cells.study.tables, cells.experiment
    share = MEASURES["last_progress"](tables, experiment, problem, "cma_es").value
    return "slow" if share >= STALLED else "stalled", share


def control(study: Study) -> str:
    by_task = average_rewards(study, "figure_2")
    if not {"fast_ingo", "es", "asebo"} <= set(by_task):
        raise Missing("no ASEBO")
    below = [int((by_task["fast_ingo"] < by_task[other]).sum()) for other in ("es", "asebo")]
    titles = study.titles("figure_2")
    iterations = study.tables.table("figure_2").groupby("problem")["iteration"].max()
    fewer = [
        f"{titles[task]}: {n} of {iterations.max()} iterations"
        for task, n in iterations.items()
        if n < iterations.max()
    ]
    return (
        f"**Control.** The average reward of Fast-INGO is below that of ES on {below[0]} of "
        f"{len(by_task)} tasks and below that of ASEBO on {below[1]}; the paper reports the "
        f"opposite{f' ({listed(fewer)})' if fewer else ''}.{_at_best(study)}{_left_out(study)}"
    )


def average_rewards(study: Study, experiment: str) -> pd.DataFrame:
    """The average reward over the whole run: a row per task, a column per optimiser.

    Raises:
        Missing: there are none.
    """
    table = study.csv(experiment, "rewards")
    if table.empty:
        raise Missing(f"no rewards of {experiment}")
    own = table[(table["column"] == "area_batch_mean") & table["than"].isna()]
    by_task = own.pivot(index="task", columns="algorithm", values="value")
    return by_task.loc[[task for task in study.titles(experiment) if task in by_task.index]]


def _left_out(study: Study) -> str:
    """On how many tasks CMA-ES, which the paper did not run, is ahead of each that it ran: the
    interval of the probability of a larger average reward lies above a half.
    """
    table = study.csv("control_cma", "rewards")
    if table.empty:
        return ""
    duels = table[
        (table["column"] == "area_batch_mean")
        & (table["task"] != ALL)
        & table["algorithm"].str.endswith("cma_es")
        & ~table["than"].fillna("cma_es").str.endswith("cma_es")
    ]
    ahead = (duels["low"] > 0.5).groupby([duels["algorithm"], duels["than"]], sort=False).sum()
    counts = {name: listed([str(n) for n in own]) for name, own in ahead.groupby(level=0)}
    if "cma_es" not in counts:
        return ""
    names = [study.optimiser("control_cma", name) for name in duels["than"].unique()]
    sep = f", sep-CMA-ES on {counts['sep_cma_es']}" if "sep_cma_es" in counts else ""
    return (
        " CMA-ES, left out there as too slow, is ahead (95 % intervals) of "
        f"{listed(names)} on {counts['cma_es']} of {duels['task'].nunique()} tasks{sep}."
    )


def _at_best(study: Study) -> str:
    """The reward of each method at the best of its settings, as far as that was run."""
    try:
        runs = study.tables.table("control_steps")
    except Missing:
        return ""
    rewards = runs.groupby(["title", "algorithm"], sort=False)["area_batch_mean"].apply(mean_reward)
    methods = rewards.index.get_level_values("algorithm").map(reader.method)
    best = rewards.groupby(["title", methods], sort=False).max().unstack(sort=False)
    tried = runs.drop_duplicates("algorithm")["algorithm"].map(reader.method).value_counts()
    names = [study.optimiser("figure_2", name) for name in best]
    shown = [
        f"{listed([number(reward) for reward in row])} on {task}" for task, row in best.iterrows()
    ]
    return (
        f" At the best of {listed([str(tried[name]) for name in best])} settings "
        f"({runs['seed'].nunique()} runs of up to {runs['iteration'].max()} iterations) "
        f"{listed(names)} have {'; '.join(shown)}."
    )


def discrete(study: Study) -> str:
    cells = Cells(study, "figure_3")
    solved = cells.solved("bernoulli_ingo")
    rest = [p for p in cells.titles if p not in solved]
    shares = [
        f"in {cells.reached(p, 'bernoulli_ingo')} of {len(cells.runs(p, 'bernoulli_ingo'))} at "
        f"d = {_dim(cells, p)}"
        for p in rest
    ]
    first = f"at {_dims(cells, solved)} in all runs" if solved else "at no size in all runs"
    theirs = cells.solved("ga")
    ratios = [
        cells.evaluations(p, "bernoulli_ingo") / cells.evaluations(p, "ga")
        for p in theirs
        if cells.reached(p, "bernoulli_ingo")
    ]
    fewer = (
        f", with {listed([f'{ratio:.0f}' for ratio in ratios])} times fewer evaluations per success"
        if ratios
        else ""
    )
    return (
        f"**Discrete problems.** Discrete INGO finds the optimum {', '.join([first, *shares])}; "
        "pymoo's GA finds it at "
        f"{'every size' if len(theirs) == len(cells.titles) else _dims(cells, theirs)}{fewer}."
    )


def _dim(cells: Cells, problem: str) -> int:
    return int(cells.runs(problem, "bernoulli_ingo")["dim"].iloc[0])


def _dims(cells: Cells, problems: list[str]) -> str:
    return f"d = {listed([str(_dim(cells, p)) for p in problems])}" if problems else "no size"


def theory(study: Study) -> str:
    low, high, holds = bounds(study)
    gap = study.tables.theory("gap", {})
    fails = gap.loc[gap["measured_low"] > gap["bound"], "condition"]
    lemma = (
        f"the lemma behind Theorem 5 fails at d = {gap['dim'].iloc[0]} from a condition number of "
        f"Σ of {number(fails.min())} on"
        if len(fails)
        else "the lemma behind Theorem 5 held at every condition number"
    )
    return (
        f"**Theory.** The regret {'stays below' if holds else 'exceeds'} the bounds of Theorems 4 "
        f"and 5, by a factor of {number(low, 2)} to {number(high, 2)} at the end; {lemma}."
    )


def bounds(study: Study) -> tuple[float, float, bool]:
    """How many times the last regret its bound is, that of Theorem 5 where it applies, and whether
    those of both theorems hold at every T.
    """
    regret = study.tables.theory("regret", {})
    holds = not any(
        (regret["regret_low"] > regret[bound]).any() for bound in ("theorem_4", "theorem_5")
    )
    last = regret[
        regret["iterations"]
        == regret.groupby(["problem", "algorithm"])["iterations"].transform("max")
    ]
    ratio = last["theorem_5"].fillna(last["theorem_4"]) / last["regret"]
    return float(ratio.min()), float(ratio.max()), holds


def field(study: Study) -> str:
    """INGO on the benchmarks of its field, whose page lies beside the study's."""
    page = (PUBLISHED / "field" / "field.md").as_posix()
    return f"**[The field's benchmarks]({page}).** {words.headline(_field(study))}"


def on_bbob(study: Study, first: str, second: str) -> str:
    """What two methods reach of COCO's targets, in the largest dimension in which both are."""
    table = _field(study)
    there = table.having(table.real, first, second)
    if not there:
        raise Missing("no such methods on bbob")
    e, labels = there[-1], table.methods(there)
    return (
        f"{labels[first]} reaches {table.share(e, first)} of the targets at {table.dim(e)}, "
        f"{labels[second]} {table.share(e, second)}"
    )


def _field(study: Study) -> words.Table:
    """The table of standings that lies beside the study's own."""
    table = study.folder / "field" / "field.csv"
    if not table.is_file():
        raise Missing("no field")
    return words.Table.alone(pd.read_csv(table))


def takes(study: Study) -> str:
    """What claims that are not wholly reproduced would take, as far as it has been run."""
    if not (study.folder / PARTS_FILE).is_file():
        raise Missing("no claims")
    found: dict[tuple[str, str], list[str]] = {}
    for claim, judged in study.verdicts.items():
        for kind, name, its in judged.beside:
            if kind == "takes" and its.verdict in TOLD:
                found.setdefault((name, its.verdict), []).append(str(claim))
    if not found:
        raise Missing("nothing that a claim would take has been run")
    by_verdict: dict[str, dict[str, list[str]]] = {}
    for (name, verdict), ids in found.items():
        by_verdict.setdefault(verdict, {}).setdefault(listed(ids), []).append(name)
    parts = []
    for verdict in filter(by_verdict.get, TOLD):
        told = by_verdict[verdict].items()
        with_what = "; ".join(f"{ids} with {' or '.join(names)}" for ids, names in told)
        parts.append(f"{TOLD[verdict]}: {with_what}.")
    return f"**What it would take**, by claim. {' '.join(parts)}"
