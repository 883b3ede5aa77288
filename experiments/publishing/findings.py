"""What came out, under the verdicts of its claims; the numbers come from the tables.

A sentence counts or compares what its tables hold; it is left out where they are missing.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pandas as pd

from experiments.claims.measures import MEASURES
from experiments.publishing import headlines
from experiments.publishing.cells import TARGET, Cells, integer, listed, on
from experiments.publishing.study import Study
from experiments.publishing.words import count, number, percent
from experiments.tables import reader
from experiments.tables.reader import Missing

Sentence = Callable[[Study], str]
WIDE = 1e6  # a σ that no longer says where a minimum may lie
GROWS = 1.25  # the last value over the average of the run, from which on it still grows


def findings(study: Study) -> dict[str, list[str]]:
    """The sentences, each with the claims that it is about, under what their verdicts come to: all
    "reproduced", all "not reproduced", or "partly"; where the claims differ, with theirs.
    """
    verdicts = study.claims.set_index("id")["verdict"]
    made: dict[str, list[str]] = {"reproduced": [], "partly": [], "not reproduced": []}
    for sentence, claims in FINDINGS.items():
        judged = set(verdicts.reindex(claims))
        alike = len(judged) == 1
        group = judged.pop() if alike else "partly"
        try:
            text = sentence(study)
        except Missing:
            continue
        links = ", ".join(
            f"[{claim}](#claim-{claim})" + ("" if alike else f" {verdicts.get(claim, '')}").rstrip()
            for claim in claims
        )
        made.setdefault(str(group), []).append(f"{text} ({links})")
    return {group: texts for group, texts in made.items() if texts}


def _linear(study: Study) -> str:
    cells, longer = Cells(study, "figure_1"), Cells(study, "extended")
    ingo = cells.solved("ingo")
    more = [p for p in longer.solved("ingo") if p not in ingo]
    return (
        "INGO, INGOstep and Fast-INGO converge on a straight line in log scale where they reach "
        f"the target: Fast-INGO on {on(cells.titles, cells.solved('fast_ingo'))}; INGO on "
        f"{on(cells.titles, ingo)}, at a budget that was chosen to give the paper's count, and "
        f"with a budget of {number(longer.budget)} on {on(cells.titles, more)} too."
    )


def _rastrigin(study: Study) -> str:
    """Who gets where on Rastrigin10, from the paper's start and from wider ones."""
    cells, wide = Cells(study, "figure_1"), Cells(study, "wide_starts")
    (p,) = wide.titles
    nobody = not any(cells.reached(p, a) for a in _optimisers(cells))
    lowest = min(_optimisers(cells), key=lambda a: cells.median(p, a, "best"))
    parts = []
    for method in dict.fromkeys(map(reader.method, _optimisers(wide))):
        own = [a for a in _optimisers(wide) if reader.method(a) == method]
        most = min(own, key=lambda a: reader.rank(wide.runs(p, a), TARGET))
        ends = number(wide.median(p, most, "best"), 2)
        share = f"{wide.reached(p, most)} of {len(wide.runs(p, most))} runs"
        parts.append(f"{study.optimiser('wide_starts', most)} in {share} (median {ends})")
    return (
        f"On {wide.titles[p]} {'no method reaches' if nobody else 'some methods reach'} the target "
        f"from the paper's start, and {study.optimiser('figure_1', lowest)} ends lowest. With "
        f"a larger first standard deviation, and a smaller step, it is reached by the best setting "
        f"of each method: {'; '.join(parts)}."
    )


def _optimisers(cells: Cells) -> list[str]:
    return list(cells.study.tables.table(cells.experiment)["algorithm"].unique())


def _igo(study: Study) -> str:
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
        f"{len(stalls)} of {len(cells.titles)} functions. Where values carry no signal, its log "
        f"det Σ changes by {drifts[0]} per iteration and INGO's by {drifts[1]}, as the "
        f"second-order term of the update predicts.{_by_rank(study)}"
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


def _cma_es_fails(study: Study) -> str:
    cells = Cells(study, "figure_1")
    alone = [p for p in cells.solved("ingo") if not cells.reached(p, "cma_es")]
    return (
        "CMA-ES, with the paper's N and without restarts, does not reach the target on "
        f"{on(cells.titles, alone)}, where INGO does. On the ℓ₁-Ellipsoid it is slow: the last of "
        f"its targets, five a decade, comes after {_last(study, 'l1_ellipsoid')} of the budget. On "
        f"the ℓ½-Ellipsoid it has stalled: the last comes after {_last(study, 'l_half_ellipsoid')},"
        f" and its σ ends at {number(cells.median('l_half_ellipsoid', 'cma_es', 'sigma'), 2)}. "
        "From the farther starts of the rotated Levy, INGO ends in a local minimum too."
    )


def _last(study: Study, problem: str) -> str:
    """After which share of its evaluations CMA-ES reaches the last of its targets."""
    value = MEASURES["last_progress"](study.tables, "figure_1", problem, "cma_es").value
    return percent(value)


def _steps(study: Study) -> str:
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
        f"That IGO does not reach the target is a matter of the step. With one of the steps from 4 "
        f"to 1/8 of the paper's, and the same budget, these are solved in all {runs} runs: by "
        f"{'; by '.join(shown)}. With the paper's h and each at its best step, IGO is "
        "sooner than INGO on "
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


def _starts(study: Study) -> str:
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
        f"It is a matter of the first standard deviation too. Of σ₁ = {listed(list(sigmas))}, at "
        f"the paper's step, IGO reaches the target on {'; '.join(parts) or 'no function'} (in "
        "brackets its evaluations per success over INGO's from its best σ₁)."
    )


def _full_matrix(study: Study) -> str:
    cells = Cells(study, "figure_1")
    full = ("ingo", "ingo_step", "igo", "cma_es")
    wins = {
        (a, b): [p for p in cells.titles if _beats(study, p, a, b)]
        for a, b in [*(("fast_ingo", other) for other in full), ("cma_es", "igo")]
    }
    everywhere = [p for p in cells.titles if all(p in wins["fast_ingo", b] for b in full)]
    ratios = [
        cells.evaluations(p, "ingo") / cells.evaluations(p, "ingo_step")
        for p in cells.solved("ingo")
    ]
    over_igo = on(cells.titles, wins["cma_es", "igo"])
    try:
        bbob = f"; on [COCO's bbob](field/field.md) {headlines.on_bbob(study, 'cma_es', 'igo')}"
    except Missing:
        bbob = ""
    return (
        "Fast-INGO is ahead of all methods with a full matrix on "
        f"{integer(len(everywhere))} of {integer(len(cells.titles))} functions. CMA-ES, which the "
        f"paper calls superior to IGO in practice, is ahead of it on {over_igo} only{bbob}. "
        "The look-ahead of INGO, whose mean moves by the new Σ, makes no difference to "
        f"INGOstep: {number(min(ratios), 3)} to {number(max(ratios), 3)} times its evaluations."
    )


def _beats(study: Study, problem: str, algorithm: str, than: str) -> bool:
    """Whether it wins on eight of ten seeds or more, as claims ask."""
    share = MEASURES["wins"](study.tables, "figure_1", problem, algorithm, than).value
    return share >= 0.8


def _rotation(study: Study) -> str:
    cells = Cells(study, "rotated")
    return (
        "INGO is rotation invariant; Fast-INGO is not: rotated, it solves "
        f"{integer(len(cells.solved('fast_ingo')))} of {len(cells.titles)} functions in all runs."
    )


def _es_at_its_mean(study: Study) -> str:
    """By which measure the methods with second-order information are ahead of ES."""
    cells, steps, other = (Cells(study, e) for e in ("figure_1", "figure_4", "variants"))
    methods = ("fast_ingo", "ingo", "ingo_step", "igo", "cma_es")

    def below(of: Cells, settings: list[str]) -> str:
        """Where it ends below some of them by f at the mean, and whom where they are most."""
        who: dict[str, list[str]] = {}
        for p in cells.titles:
            value = min(of.median(p, a, "f_mean") for a in settings)
            who[p] = [a for a in methods if value < cells.median(p, a, "f_mean")]
        where = [p for p, those in who.items() if those]
        if not where:
            return "below none of them"
        most = max(where, key=lambda p: len(who[p]))
        value = min(of.median(most, a, "f_mean") for a in settings)
        named = [
            f"{study.optimiser('figure_1', a)} ({number(cells.median(most, a, 'f_mean'), 2)})"
            for a in who[most]
        ]
        return (
            f"below at least one of them on {on(cells.titles, where)}: on {cells.titles[most]} "
            f"({number(value, 2)}) below {listed(named)}"
        )

    solved = [p for p in cells.titles if any(steps.reached(p, a) for a in _optimisers(steps))]
    smaller = [
        f"{study.optimiser('figure_1', a)} on {cells.titles[p]}"
        for p in cells.titles
        for a in methods
        if MEASURES["wins"](study.tables, "figure_1", p, a, "es_std_0.02", "best", "variants").value
        <= 0.2
    ]
    return (
        f"ES reaches the target on {on(cells.titles, solved)} with any of five steps, and by the "
        "best value it ends behind each method that adapts a covariance; with σ = 0.02 in place "
        f"of 0.5 it is ahead of {listed(smaller) if smaller else 'none'}. The best value keeps "
        "the noise of σ, which ES does not adapt. By f at the mean (medians) ES, at the best of "
        f"five steps, ends {below(steps, _optimisers(steps))}. Read as plain descent without 1/σ "
        f"it ends {below(other, ['es_sgd_unscaled'])}."
    )


def _theorems(study: Study) -> str:
    study.tables.theory("unbiased", {})
    study.tables.theory("trust_region", {})
    return (
        "Theorem 2's estimators are unbiased. Theorem 3's closed form agrees with a numerical "
        "solution in two dimensions."
    )


def _competitive(study: Study) -> str:
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
    return (
        f"CMA-ES needs fewer evaluations than INGO on {on(cells.titles, fewer)}, and fewer again "
        f"on {on(cells.titles, active)} with the active weights that are pycma's default. How "
        "many targets INGO reaches over all functions, beside CMA-ES, depends on the evaluations: "
        f"{listed(shown)}. The curve of CMA-ES on the Ellipsoid is not straight: it still "
        "accelerates when it reaches the target."
    )


def _other_readings(study: Study) -> str:
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


def _faster_than_igo(study: Study) -> str:
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
    return (
        f"INGO ends below IGO on {integer(len(lower))} of {len(cells.titles)} functions, but IGO "
        f"is ahead early on, before it stalls{''.join(f'; {d}' for d in details)}."
    )


def _es_steps(study: Study) -> str:
    cells = Cells(study, "figure_4")
    above, grown, runs = {}, {}, 0
    for p, title in cells.titles.items():
        large = cells.runs(p, "es_1")
        runs = len(large)
        above[p] = int((large["f_mean"] > large["first_f_mean"]).sum())
        # the average over the run is half of the end where f grows evenly, the end where it stays
        grown[title] = float((large["f_mean"] / large["area_f_mean"]).median())
    few = [f"in {n} on {cells.titles[p]}" for p, n in above.items() if n < runs]
    still = [f"{title} ({number(ratio, 2)})" for title, ratio in grown.items() if ratio > GROWS]
    small = [p for p in cells.titles if _lower(cells, p, "es_0.0001", "es_0.01")]
    return (
        f"With a step size of 1, f at the mean of ES ends above its start in all {runs} runs "
        f"on {integer(len(cells.titles) - len(few))} of {len(cells.titles)} functions"
        f"{', and ' + listed(few) if few else ''}; it still grows on "
        f"{listed(still) if still else 'none'} (the end over the average of the run, which is 1 "
        "where f has come to rest and 2 where it grows evenly). With 1e-4 it is slow at first, but "
        f"f at its mean ends lower than with 0.01 on {len(small)} of {len(cells.titles)} "
        "functions. The sampled values hide most of this, since σ stays at its initial value."
    )


def _lower(cells: Cells, problem: str, algorithm: str, than: str, column: str = "f_mean") -> bool:
    """Whether a column ends lower on eight of ten seeds or more, as claims ask."""
    a, b = (cells.runs(problem, name).set_index("seed")[column] for name in (algorithm, than))
    return bool((a < b).mean() >= 0.8)


def _reinforce(study: Study) -> str:
    cells = Cells(study, "figure_5")
    lost = {p: cells.runs(p, "reinforce_1e-6") for p in cells.titles}
    all_lost = [p for p, runs in lost.items() if (runs["stop"] == "diverged").all()]
    first = [p for p in all_lost if (lost[p]["iteration"] == 1).all()]
    never = [p for p, runs in lost.items() if not (runs["stop"] == "diverged").any()]
    return (
        "Reinforce gradient descent in σ² loses a positive variance even with a step of 1e-6, in "
        f"all runs on {integer(len(all_lost))} of {len(cells.titles)} functions (in the first "
        f"iteration on {integer(len(first))}) and in none on {on(cells.titles, never)}."
    )


def _step_sizes_of_reinforce(study: Study) -> str:
    steps = study.tables.theory("update_size", {})
    own = steps[steps["algorithm"] == "reinforce_gd"].groupby("function", sort=False).first()
    low, high = own["variance_power"].min(), own["variance_power"].max()
    rest = own.index[own["mean_power"] > -0.5]
    return (
        "One step of reinforce gradient descent changes Σ, as a part of Σ, as σ to the power of "
        f"{number(low, 2)} to {number(high, 2)}, and μ, as a part of σ, to that of "
        f"{number(own['mean_power'].min(), 2)} to {number(own['mean_power'].max(), 2)}"
        f"{' (on the quadratic at its minimiser)' if list(rest) == ['quadratic'] else ''}. The "
        "steps of INGO, INGOstep and Fast-INGO are the same part at every σ."
    )


def _binary(study: Study) -> str:
    return (
        f"{_without_heading(headlines.discrete(study))} At the largest size the mode of most runs "
        "comes close to the optimum and moves away again. A textbook GA, which does not keep its "
        "best member, never finds the optimum, though a smaller mutation rate takes it much closer."
    )


def _without_heading(headline: str) -> str:
    return headline.partition("** ")[2]


def _regret(study: Study) -> str:
    low, high, holds = headlines.bounds(study)
    verb = "stays below" if holds else "exceeds"
    regret = study.tables.theory("regret", {})
    kinks = regret[regret["problem"] != "quadratic"]
    slopes = kinks[kinks["algorithm"] != "antithetic"]["slope"]
    antithetic = kinks[kinks["algorithm"] == "antithetic"]["slope"]
    return (
        f"The regret {verb} the bounds of Theorems 4 and 5, which are {number(low, 2)} to "
        f"{number(high, 2)} times as large at the end. Where f has kinks, the constant that both "
        "theorems assume does not exist, although the paper says they cover such f: the bounds are "
        "those with the run's own constant, which grows with T, and the regret falls as T to the "
        f"power of {number(slopes.min(), 2)} to {number(slopes.max(), 2)}, more slowly than log T "
        f"/ T (with antithetic samples {number(antithetic.max(), 2)}). The lemma "
        "behind Theorem 5 fails for an ill-conditioned Σ; the theorem holds for an isotropic Σ."
    )


def _orthogonal(study: Study) -> str:
    moments = study.tables.theory("variance", {}).pivot_table(
        index=["problem", "place", "samples"], columns="estimator", values="second_moment"
    )
    dim = study.tables.theory("variance", {})["dim"].iloc[0]
    at_d = moments.xs(dim, level="samples")
    paired = study.tables.theory("orthogonal", {"quantity": "regret"})
    most, large = paired["ratio"].idxmin(), paired["dim"].max()
    there = 1 / paired.loc[paired["dim"] == large, "ratio"]
    return (
        "N = d orthogonal samples divide the second moment of the estimate by N. Independent "
        f"samples have up to {number(float((at_d['batch'] / at_d['orthogonal']).max()), 2)} times "
        f"the second moment, and up to {number(float(1 / paired.loc[most, 'ratio']), 2)} times the "
        f"regret (at d = {paired.loc[most, 'dim']}; {number(there.min(), 2)} to "
        f"{number(there.max(), 3)} times at d = {large})."
    )


def _constants(study: Study) -> str:
    study.tables.theory("hyper_parameters", {})
    return "INGO has fewer constants than CMA-ES, but its user sets as many."


def _rewards(study: Study) -> str:
    return (
        f"{_without_heading(headlines.control(study))} Of the readings of ES that the text leaves "
        "open, Fast-INGO is ahead only of plain descent without 1/σ, which moves much less far. "
        "The paper gives no step size for ASEBO; that of its authors' code, which we take, is "
        f"larger than that of ES.{_longer(study)}"
    )


def _longer(study: Study) -> str:
    """The rewards of the runs on HumanoidStandup that are longer than Figure 2's."""
    try:
        runs = study.tables.table("humanoid_100")
    except Missing:
        return ""
    rewards = -runs.groupby("algorithm")["area_batch_mean"].mean()
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


def _bias(study: Study) -> str:
    rows = study.tables.theory("unbiased", {"estimator": "centred"})
    return (
        "Centring the values, as h does, biases the gradient estimate, though only by a factor: "
        f"with {rows['samples'].iloc[0]} samples its expectation is 1 − 1/N = "
        f"{number(float(rows['factor'].mean()))} times the gradient."
    )


FINDINGS: dict[Sentence, tuple[int, ...]] = {
    _linear: (1, 2, 3),
    _rastrigin: (10,),
    _igo: (4, 5),
    _steps: (4, 5, 12),
    _starts: (4, 5, 12),
    _full_matrix: (29, 30),
    _cma_es_fails: (7, 8),
    _es_at_its_mean: (9, 11),
    _rotation: (13,),
    _theorems: (24, 25),
    _competitive: (6, 20),
    _other_readings: (6, 7),
    _faster_than_igo: (12,),
    _es_steps: (18,),
    _reinforce: (19,),
    _step_sizes_of_reinforce: (31,),
    _binary: (16, 17),
    _regret: (21, 22, 28),
    _orthogonal: (23,),
    _constants: (26,),
    _rewards: (14, 15),
    _bias: (27,),
}
