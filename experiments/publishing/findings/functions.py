"""What came out on the test functions with the methods that adapt a covariance."""

from __future__ import annotations

from fractions import Fraction
from math import floor

import numpy as np
import pandas as pd

from experiments.claims.measures import MEASURES
from experiments.publishing import headlines
from experiments.publishing.cells import MOST, TARGET, Cells, integer, listed, on
from experiments.publishing.study import Study
from experiments.publishing.words import count, number, percent
from experiments.tables import reader
from experiments.tables.reader import Missing

WIDE = 1e6  # a σ that no longer says where a minimum may lie
EARLY = 30_000  # evaluations
ALIKE = 0.01  # evaluations that differ by less say nothing


def linear(study: Study) -> str:
    cells, longer = Cells(study, "figure_1"), Cells(study, "extended")
    ingo = cells.solved("ingo")
    more = [p for p in longer.solved("ingo") if p not in ingo]
    straight = [
        MEASURES["linearity"](study.tables, "figure_1", p, a).value
        for a in ("ingo", "ingo_step", "fast_ingo")
        for p in cells.solved(a)
    ]
    return (
        "Where INGO, INGOstep and Fast-INGO reach the target, log f falls on a line against "
        f"evaluations, with R² = {floor(1e4 * min(straight)) / 1e4:.4f} or more (median run): "
        f"Fast-INGO on {on(cells.titles, cells.solved('fast_ingo'))}; INGO on "
        f"{on(cells.titles, ingo)}, at a budget that was chosen to give the paper's count, and "
        f"with a budget of {number(longer.budget)} on {on(cells.titles, more)} too."
    )


def rastrigin(study: Study) -> str:
    """Who gets where on Rastrigin10, from the paper's start and from wider ones."""
    cells, wide = Cells(study, "figure_1"), Cells(study, "wide_starts")
    (p,) = wide.titles
    nobody = not any(cells.reached(p, a) for a in cells.optimisers)
    lowest = min(cells.optimisers, key=lambda a: cells.median(p, a, "best"))
    parts = []
    for method in dict.fromkeys(map(reader.method, wide.optimisers)):
        own = [a for a in wide.optimisers if reader.method(a) == method]
        most = min(own, key=lambda a: reader.rank(wide.runs(p, a), TARGET))
        ends = number(wide.median(p, most, "best"), 2)
        share = f"{wide.reached(p, most)} of {len(wide.runs(p, most))}"
        parts.append(f"{study.optimiser('wide_starts', most)}: {share} (median {ends})")
    return (
        f"On {wide.titles[p]} {'no method reaches' if nobody else 'some methods reach'} the target "
        f"from the paper's start, and {study.optimiser('figure_1', lowest)} ends lowest. How many "
        "runs reach it with a larger first standard deviation and a smaller step, at the best "
        f"setting of each method: {'; '.join(parts)}."
    )


def igo(study: Study) -> str:
    cells, volume = Cells(study, "figure_1"), Cells(study, "stability")
    stalls = [p for p in cells.titles if not cells.reached(p, "igo")]
    drifts = []
    for name in ("igo", "ingo"):
        runs = volume.runs("noise", name)
        change = (
            2 * runs["dim"] * np.log(runs["sigma"] / runs["first_sigma"]) / (runs["iteration"] - 1)
        )
        drifts.append(number(float(change.mean())))
    return (
        "IGO with a full covariance matrix and the paper's β = 1/d reaches the target in no run on "
        f"{integer(len(stalls))} of {integer(len(cells.titles))} functions. Where values carry no "
        f"signal, its log det Σ changes by {drifts[0]} per iteration and INGO's by {drifts[1]}, as "
        f"the second-order term of the update predicts.{_by_rank(study)}"
    )


def _by_rank(study: Study) -> str:
    """What IGO does with the weights that its authors give it."""
    cells, other = Cells(study, "figure_1"), Cells(study, "variants")
    try:
        solved = other.solved("igo_ranks")
    except Missing:
        return ""
    counts = [
        f"{count(other.evaluations(p, 'igo_ranks'))} against "
        f"{count(cells.evaluations(p, 'ingo'))} of INGO on {cells.titles[p]}"
        for p in solved
    ]
    return (
        " With weights by rank, which are IGO's own, and the same step it solves "
        f"{on(cells.titles, solved)}"
        f"{f' (evaluations per success: {listed(counts)})' if counts else ''}."
    )


def cma_es_fails(study: Study) -> str:
    cells = Cells(study, "figure_1")
    return (
        "CMA-ES, with the paper's N and without restarts, "
        f"{headlines.cma_es_misses(cells)}. {_last(study, 'l1_ellipsoid')} "
        f"{_last(study, 'l_half_ellipsoid')}{_rotated_levy(study)}"
    )


def _last(study: Study, problem: str) -> str:
    """After which share of its evaluations CMA-ES reaches the last of its targets."""
    cells = Cells(study, "figure_1")
    pace, share = headlines.cma_es_pace(cells, problem)
    sigma = number(cells.median(problem, "cma_es", "sigma"), 2)
    return (
        f"On {on(cells.titles, [problem])} it is {pace}: the last of its targets, five a decade, "
        f"comes after {percent(share)} of the evaluations, and its σ ends at {sigma}."
    )


def _rotated_levy(study: Study) -> str:
    """How many runs of either reach the minimum of Levy from the starts of the rotated one."""
    cells = Cells(study, "rotated")
    try:
        shares = [
            f"by {study.optimiser('rotated', a)} in {cells.reached('levy', a)} of "
            f"{len(cells.runs('levy', a))} runs"
            for a in ("ingo", "cma_es")
        ]
    except Missing:
        return ""
    return f" Rotated, Levy starts farther from its minimum, which is reached {listed(shares)}."


def steps(study: Study) -> str:
    """What holds at the paper's step alone, and which method is ahead at its best."""
    cells, multiples = Cells(study, "step_sizes"), ("4", "2", "1", "0.5", "0.25", "0.125")
    solved: dict[str, list[str]] = {}
    fewest: dict[tuple[str, str], float] = {}
    for method in ("ingo", "ingo_step", "igo", "fast_ingo"):
        for p in cells.titles:
            steps = [f"{method}_{m}" for m in multiples]
            if any(cells.solves(p, step) for step in steps):
                solved.setdefault(method, []).append(p)
            fewest[method, p] = min(cells.evaluations(p, step) for step in steps)
    both = [p for p in solved.get("igo", []) if p in solved.get("ingo", [])]
    sooner = [p for p in both if fewest["igo", p] < fewest["ingo", p]]
    shown = [
        f"{study.optimiser('figure_1', method)} {on(cells.titles, solved.get(method, []))}"
        for method in ("fast_ingo", "ingo", "ingo_step", "igo")
    ]
    runs = len(cells.runs(next(iter(cells.titles)), "igo_1"))
    ratios = [
        f"{number(fewest['igo', p] / fewest['ingo', p], 2)} on {cells.titles[p]}" for p in both
    ]
    at_equal: dict[str, list[str]] = {}
    for p in cells.titles:
        for m in multiples:
            if cells.evaluations(p, f"igo_{m}") < cells.evaluations(p, f"ingo_{m}"):
                at_equal.setdefault(str(Fraction(m)), []).append(p)
    equal = [f"at {m} of it on {on(cells.titles, where)}" for m, where in at_equal.items()]
    return (
        "With one of the steps from 4 to 1/8 of the paper's, and the same budget, these are solved "
        f"in all {runs} runs: by {'; by '.join(shown)}. With the paper's h and each at its best "
        "step, IGO is sooner than INGO on "
        f"{on(cells.titles, sooner)}"
        + (f" (evaluations, IGO over INGO: {listed(ratios)})" if ratios else "")
        + (f"; both at the same step, it is sooner {listed(equal)}." if equal else ".")
        + f" At {multiples[0]} times the step {_lost(cells, multiples[0])}."
    )


def _lost(cells: Cells, multiple: str) -> str:
    """What becomes of INGO's and IGO's covariance at a large step."""
    runs = {
        name: pd.concat([cells.runs(p, f"{name}_{multiple}") for p in cells.titles])
        for name in ("ingo", "igo")
    }
    wide = int((runs["ingo"]["sigma"] > WIDE).sum())
    ended = int((runs["igo"]["stop"] == "not_positive_definite").sum())
    return (
        f"INGO's σ grows beyond {number(WIDE)} in {wide} of {len(runs['ingo'])} runs, and IGO's "
        f"covariance stops being positive definite in {ended} of {len(runs['igo'])}"
    )


def starts(study: Study) -> str:
    """What a larger first standard deviation gives IGO."""
    cells = Cells(study, "robustness")
    sigmas = ("0.05", "0.5", "5")
    parts = []
    for p in cells.titles:
        least = {
            name: min((cells.evaluations(p, f"{name}_{s}"), s) for s in sigmas)
            for name in ("igo", "ingo")
        }
        if np.isfinite(least["igo"][0]):
            s = least["igo"][1]
            some = f"{cells.reached(p, f'igo_{s}')} of {len(cells.runs(p, f'igo_{s}'))} runs"
            ratio = number(least["igo"][0] / least["ingo"][0], 2)
            parts.append(f"{cells.titles[p]}, from σ₁ = {s} in {some} ({ratio})")
    return (
        f"With a first standard deviation of {listed(list(sigmas))}, at the paper's step, IGO "
        f"reaches the target on {'; '.join(parts) or 'no function'} (in brackets its "
        "evaluations per success over INGO's from its best σ₁)."
    )


def full_matrix(study: Study) -> str:
    cells = Cells(study, "figure_1")
    full = ("ingo", "ingo_step", "igo", "cma_es")
    everywhere = [
        p for p in cells.titles if all(_beats(study, p, "fast_ingo", other) for other in full)
    ]
    ratios = [
        cells.evaluations(p, "ingo") / cells.evaluations(p, "ingo_step")
        for p in cells.solved("ingo")
    ]
    alike = max(abs(ratio - 1) for ratio in ratios) <= ALIKE
    return (
        "At the paper's settings Fast-INGO is ahead of all methods with a full matrix on "
        f"{integer(len(everywhere))} of {integer(len(cells.titles))} functions. INGO, whose mean "
        "moves by the new Σ (the paper's look ahead), needs "
        f"{number(min(ratios), 3)} to {number(max(ratios), 3)} times the evaluations of INGOstep, "
        f"whose mean moves by the old: {'no' if alike else 'a'} difference."
    )


def over_igo(study: Study) -> str:
    """Where CMA-ES is ahead of IGO."""
    cells = Cells(study, "figure_1")
    ahead = [p for p in cells.titles if _beats(study, p, "cma_es", "igo")]
    try:
        bbob = f"; on [COCO's bbob](field/field.md) {headlines.on_bbob(study, 'cma_es', 'igo')}"
    except Missing:
        bbob = ""
    return (
        "CMA-ES, which the paper calls superior to IGO in practice, is ahead of it on "
        f"{on(cells.titles, ahead)} of the paper's functions{bbob}."
    )


def _beats(study: Study, problem: str, algorithm: str, than: str) -> bool:
    """Whether it wins on eight of ten seeds or more, as claims ask."""
    share = MEASURES["wins"](study.tables, "figure_1", problem, algorithm, than).value
    return share >= MOST


def rotation(study: Study) -> str:
    plain, cells = Cells(study, "figure_1"), Cells(study, "rotated")
    ratios = [
        MEASURES["rotation"](study.tables, "rotated", "figure_1", p, "ingo").value
        for p in cells.solved("ingo")
        if p in plain.solved("ingo")
    ]
    return (
        f"With the functions rotated, INGO needs {number(min(ratios), 3)} to "
        f"{number(max(ratios), 3)} times its evaluations; Fast-INGO, which solves "
        f"{integer(len(plain.solved('fast_ingo')))} of {integer(len(plain.titles))} of them "
        f"unrotated, solves {integer(len(cells.solved('fast_ingo')))} in all runs."
    )


def competitive(study: Study) -> str:
    cells, other = Cells(study, "figure_1"), Cells(study, "variants")
    both = [p for p in cells.solved("cma_es") if p in cells.solved("ingo")]
    fewer = [p for p in both if cells.evaluations(p, "cma_es") < cells.evaluations(p, "ingo")]
    active = [
        p for p in fewer if other.evaluations(p, "active_cma_es") < cells.evaluations(p, "cma_es")
    ]
    ratios = {
        within: MEASURES["reached"](study.tables, "figure_1", "ingo", "cma_es", within).value
        for within in (30_000, 200_000, 500_000, cells.budget)
    }
    shown = [f"{number(ratio, 2)} times within {number(n)}" for n, ratio in ratios.items()]
    straight = [
        MEASURES["linearity"](study.tables, "figure_1", "ellipsoid", "cma_es", start).value
        for start in (1.0, 1e-4)
    ]
    return (
        f"CMA-ES needs fewer evaluations than INGO on {on(cells.titles, fewer)}, and fewer again "
        f"on {on(cells.titles, active)} with the active weights that are pycma's default. How "
        "many targets INGO reaches over all functions, beside CMA-ES, depends on the evaluations: "
        f"{listed(shown)}. A line through the curve of CMA-ES on the Ellipsoid has R² = "
        f"{number(straight[0])} from f = 1 on and {number(straight[1])} from 1e-4 on."
    )


def other_readings(study: Study) -> str:
    cells, other = Cells(study, "figure_1"), Cells(study, "variants")
    fewer, more, never = [], [], []
    for p in cells.titles:
        if not other.solves(p, "sep_cma_es"):
            never.append(p)
        elif other.evaluations(p, "sep_cma_es") < cells.evaluations(p, "fast_ingo"):
            fewer.append(p)
        else:
            more.append(p)
    return (
        "sep-CMA-ES, diagonal like Fast-INGO, needs fewer evaluations than Fast-INGO on "
        f"{on(cells.titles, fewer)}, more on {on(cells.titles, more)}, and does not reach the "
        f"target on {on(cells.titles, never)}. What the other readings of the text change is in "
        "the table of readings below."
    )


def faster_than_igo(study: Study) -> str:
    cells = Cells(study, "figure_1")
    lower = [
        p for p in cells.titles if cells.median(p, "ingo", "best") < cells.median(p, "igo", "best")
    ]
    higher = [p for p in cells.titles if p not in lower]
    details = [
        f"on {on(cells.titles, [p])} the σ of INGO stays at "
        f"{number(cells.median(p, 'ingo', 'sigma'), 2)}, and f at the mean is "
        f"{number(cells.median(p, 'igo', 'f_mean'), 2)} for IGO and "
        f"{number(cells.median(p, 'ingo', 'f_mean'), 2)} for INGO"
        for p in higher
    ]
    early = [
        p
        for p in cells.titles
        if MEASURES["ahead"](study.tables, "figure_1", p, "igo", "ingo", EARLY).value >= MOST
    ]
    return (
        f"INGO ends below IGO on {integer(len(lower))} of {integer(len(cells.titles))} functions; "
        f"after {number(EARLY)} evaluations IGO is ahead on {integer(len(early))}"
        f"{''.join(f'; {d}' for d in details)}."
    )
