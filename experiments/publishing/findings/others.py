"""What came out on discrete problems and on control tasks."""

from __future__ import annotations

import pandas as pd

from algorithms.asebo import ASEBO
from algorithms.es import ES
from experiments.publishing import headlines
from experiments.publishing.cells import TARGET, Cells, integer, listed
from experiments.publishing.study import Study
from experiments.publishing.symbols import plain
from experiments.publishing.words import count, number
from experiments.tables.reader import Missing
from experiments.tables.rewards import mean_reward


def binary(study: Study) -> str:
    parts = (_moves_away, _smaller_steps, _textbook_ga)
    return _without_heading(headlines.discrete(study)) + "".join(part(study) for part in parts)


def _moves_away(study: Study) -> str:
    """How close the mode comes to the optimum at the largest size, and where it ends."""
    runs = study.tables.table("figure_3")
    largest = runs.loc[runs["dim"].idxmax(), "problem"]
    curves = pd.read_parquet(study.folder / "tables" / "figure_3" / "curves.parquet")
    own = curves[(curves["problem"] == largest) & (curves["algorithm"] == "bernoulli_ingo")]
    median = own[own["quantity"] == "f_mean"].sort_values("evaluations")["median"]
    return (
        f" At d = {runs['dim'].max()} the median over runs of f at the mode comes down to "
        f"{number(median.min(), 2)} and ends at {number(median.iloc[-1], 2)}."
    )


def _smaller_steps(study: Study) -> str:
    """In how many runs smaller steps end at the optimum, at the size that they were run at."""
    try:
        cells = Cells(study, "discrete_steps")
        ((p, title),) = cells.titles.items()
    except Missing:
        return ""
    shown = [
        f"{study.optimiser('discrete_steps', name)} in {cells.reached(p, name)} of "
        f"{len(runs := cells.runs(p, name))} runs, and kept to the end in "
        f"{int((runs['f_mean'] <= TARGET).sum())} "
        f"(after {count(cells.median(p, name, 'evaluations'))})"
        for name in cells.optimisers
    ]
    return (
        f" With a smaller step, and more evaluations, the optimum of {title} is found by "
        f"{listed(shown)}."
    )


def _textbook_ga(study: Study) -> str:
    """In how many runs it finds the optimum, and what other rates of mutation change."""
    cells = Cells(study, "figure_3")
    found = sum(cells.reached(p, "simple_ga") for p in cells.titles)
    runs = sum(len(cells.runs(p, "simple_ga")) for p in cells.titles)
    text = (
        f" A textbook GA, which does not keep its best member, finds it in {found} of {runs} runs"
    )
    try:
        rates = Cells(study, "ga_mutation")
        ((p, title),) = rates.titles.items()
    except Missing:
        return f"{text}."
    best = {a: rates.median(p, a, "best") for a in rates.optimisers if a.startswith("simple_ga")}
    least = min(best, key=lambda a: best[a])
    return (
        f"{text}; of other rates of mutation the best on {title} is "
        f"{study.optimiser('ga_mutation', least)}, whose best value is {number(best[least], 2)} "
        f"(median) against {number(cells.median(p, 'simple_ga', 'best'), 2)}."
    )


def rewards(study: Study) -> str:
    return (
        f"{_without_heading(headlines.control(study))}{_readings_of_es(study)}{_steps(study)}"
        f"{_too_slow(study)}{_longer(study)}"
    )


def _readings_of_es(study: Study) -> str:
    """Against which readings of ES Fast-INGO is ahead on all tasks."""
    names = [
        name
        for kind, name, its in study.verdicts[14].beside
        if kind == "reading" and its.verdict == "reproduced"
    ]
    ahead = plain(listed(names)) if names else "none"
    return f" Of other readings of ES Fast-INGO is ahead, on all tasks, of {ahead}."


def _steps(study: Study) -> str:
    """The step sizes of ES and of ASEBO."""
    cells = study.plan.experiments["figure_2"].cells
    task = next(iter(cells))[0]
    es = ES(**cells[task, "es"].algorithm_parameters)
    asebo = ASEBO(**cells[task, "asebo"].algorithm_parameters)
    return (
        " The paper gives no step size for ASEBO; that of its authors' code, which we take, is "
        f"{number(asebo.step_size)}, that of ES {number(es.step_size)}."
    )


def _too_slow(study: Study) -> str:
    """What CMA-ES reaches on the tasks that it was run on, and how slow it is."""
    try:
        by_task = headlines.average_rewards(study, "control_cma")
    except Missing:
        return ""
    titles = study.titles("control_cma")
    names = [name for name in ("cma_es", "sep_cma_es", "fast_ingo") if name in by_task]
    shown = [
        f"{listed([number(by_task.loc[task, name]) for name in names])} on {title}"
        for task, title in titles.items()
        if task in by_task.index
    ]
    labels = [study.optimiser("control_cma", name) for name in names]
    text = (
        " The paper leaves CMA-ES out as too slow; the average rewards of "
        f"{listed(labels)} are {'; '.join(shown)}."
    )
    if not (file := study.folder / "updates.csv").is_file():
        return text
    updates = pd.read_csv(file)
    ratio = updates[updates["method"] == "CMA-ES"].set_index("dim")["ratio"].sort_index()
    shares = [f"{number(100 * share, 2)} % at d = {dim:,}" for dim, share in ratio.items()]
    return f"{text} CMA-ES's own computing takes {listed(shares)} of the time of its roll-outs."


def _longer(study: Study) -> str:
    """The rewards of the runs on HumanoidStandup that are longer than Figure 2's."""
    try:
        runs = study.tables.table("humanoid_100")
    except Missing:
        return ""
    rewards = runs.groupby("algorithm")["area_batch_mean"].apply(mean_reward)
    shown = [
        f"{study.optimiser('figure_2', str(name))} {number(reward)}"
        for name, reward in rewards.sort_values().items()
    ]
    least = int(runs.groupby("algorithm").size().min())
    return (
        f" With {runs['iteration'].max()} iterations on {runs['title'].iloc[0]} "
        f"({integer(least)} run{'s' if least > 1 else ''} each so far) the average rewards are: "
        f"{listed(shown)}."
    )


def _without_heading(headline: str) -> str:
    return headline.partition("** ")[2]
