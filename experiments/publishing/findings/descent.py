"""What came out for the methods that descend along a gradient: ES, and reinforce."""

from __future__ import annotations

from experiments.claims.measures import MEASURES
from experiments.publishing.cells import MOST, Cells, integer, listed, on
from experiments.publishing.study import Study
from experiments.publishing.words import count, number
from experiments.tables.reader import Missing

GROWS = 1.25  # the last value over the average of the run, from which on it still grows


def es_at_its_mean(study: Study) -> str:
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

    solved = [p for p in cells.titles if any(steps.reached(p, a) for a in steps.optimisers)]
    smaller = [
        f"{study.optimiser('figure_1', a)} on {cells.titles[p]}"
        for p in cells.titles
        for a in methods
        if MEASURES["wins"](study.tables, "figure_1", p, a, "es_std_0.02", "best", "variants").value
        <= 1 - MOST
    ]
    behind = [
        f"{study.optimiser('figure_1', a)} on {cells.titles[p]}"
        for p in cells.titles
        for a in methods
        if MEASURES["wins"](study.tables, "figure_1", p, a, "es", "best").value < MOST
    ]
    return (
        f"ES reaches the target on {on(cells.titles, solved)} with any of five steps. By the best "
        "value it ends behind each method that adapts a covariance"
        f"{' but ' + listed(behind) if behind else ''}; with σ = 0.02 in place "
        f"of 0.5 it is ahead of {listed(smaller) if smaller else 'none'}. The best value keeps "
        "the noise of σ, which ES does not adapt. By f at the mean (medians) ES, at the best of "
        f"five steps, ends {below(steps, steps.optimisers)}. Read as plain descent without 1/σ "
        f"it ends {below(other, ['es_sgd_unscaled'])}.{_sigma_alone(other)}"
    )


def _sigma_alone(cells: Cells) -> str:
    """Where an ES that adapts σ, but no covariance, gets to the target."""
    try:
        reached = [p for p in cells.titles if cells.reached(p, "csa_es")]
    except Missing:
        return ""
    return f" CSA-ES, which adapts σ alone, reaches the target on {on(cells.titles, reached)}."


def es_steps(study: Study) -> str:
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
        f"on {integer(len(cells.titles) - len(few))} of {integer(len(cells.titles))} functions"
        f"{', and ' + listed(few) if few else ''}; it still grows on "
        f"{listed(still) if still else 'none'} (the end over the average of the run, which is 1 "
        "where f has come to rest and 2 where it grows evenly). With 1e-4 it is slow at first, but "
        f"f at its mean ends lower than with 0.01 on {integer(len(small))} of "
        f"{integer(len(cells.titles))} functions. The sampled values hide most of this, since σ "
        "stays at its initial value."
    )


def _lower(cells: Cells, problem: str, algorithm: str, than: str, column: str = "f_mean") -> bool:
    """Whether a column ends lower on eight of ten seeds or more, as claims ask."""
    a, b = (cells.runs(problem, name).set_index("seed")[column] for name in (algorithm, than))
    return bool((a < b).mean() >= MOST)


def reinforce(study: Study) -> str:
    cells = Cells(study, "figure_5")
    lost = {p: cells.runs(p, "reinforce_1e-6") for p in cells.titles}
    all_lost = [p for p, runs in lost.items() if (runs["stop"] == "diverged").all()]
    first = [p for p in all_lost if (lost[p]["iteration"] == 1).all()]
    never = [p for p, runs in lost.items() if not (runs["stop"] == "diverged").any()]
    return (
        "Reinforce gradient descent in σ² loses a positive variance even with a step of 1e-6, in "
        f"all runs on {integer(len(all_lost))} of {integer(len(cells.titles))} functions (in the "
        f"first iteration on {integer(len(first))}) and in none on {on(cells.titles, never)}."
        f"{_longer(study)}"
    )


def _longer(study: Study) -> str:
    """Whether a step of 1e-6 or 1e-7 keeps the variance of Levy positive in a longer run."""
    paper, longer = Cells(study, "figure_5"), Cells(study, "reinforce_variants")
    try:
        own = {name: longer.runs("levy", name) for name in ("reinforce_1e-6", "reinforce_1e-7")}
    except Missing:
        return ""
    lost = {name: runs[runs["stop"] == "diverged"] for name, runs in own.items()}
    six, seven = (f"{len(lost[name])} of {len(own[name])} runs" for name in own)
    after = count(lost["reinforce_1e-6"]["evaluations"].median())
    sigma = number(longer.median("levy", "reinforce_1e-7", "sigma"))
    then = number(paper.median("levy", "reinforce_1e-6", "sigma"))
    return (
        f" With a budget of {number(longer.budget)} it is lost there in {six} with 1e-6 (median: "
        f"after {after}) and in {seven} with 1e-7, which is only slower: its σ ends at {sigma}, "
        f"as that of 1e-6 after {number(paper.budget)} ({then})."
    )


def step_sizes_of_reinforce(study: Study) -> str:
    steps = study.tables.theory("update_size", {})
    own = steps[steps["algorithm"] == "reinforce_gd"].groupby("function", sort=False).first()
    low, high = own["variance_power"].min(), own["variance_power"].max()
    rest = own.index[own["mean_power"] > -0.5]
    others = steps[steps["algorithm"].isin(["ingo", "ingo_step", "fast_ingo"])]
    constant = float(others[["mean_power", "variance_power"]].abs().to_numpy().max())
    return (
        "One step of reinforce gradient descent changes Σ, as a part of Σ, as σ to the power of "
        f"{number(low, 2)} to {number(high, 2)}, and μ, as a part of σ, to that of "
        f"{number(own['mean_power'].min(), 2)} to {number(own['mean_power'].max(), 2)}"
        f"{' (on the quadratic at its minimiser)' if list(rest) == ['quadratic'] else ''}. The "
        f"steps of INGO, INGOstep and Fast-INGO change as σ to a power of {number(constant, 2)} at "
        "most."
    )
