"""What a part of a claim says, as a sentence with its value, and numbers as one reads them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from experiments.claims.statements import Part
from experiments.publishing.study import Study
from experiments.tables.estimates import Estimate
from experiments.tables.rewards import COLUMNS as REWARDS

SHARES = (
    "success_rate",
    "wins",
    "ahead",
    "wins_at_best",
    "diverged",
    "last_progress",
)  # measures that are shares of runs
COLUMNS = {
    "best": "the best value so far",
    "f_mean": "f at the mean of the distribution",
    "batch_mean": "the mean of the last batch",
    "batch_min": "the smallest value of the last batch",
    "area_batch_mean": "the mean of the batches, averaged over the run",
    "area_f_mean": "f at the mean of the distribution, averaged over the run",
}
MEASURED = {  # columns of the theory's tables
    "regret": "the average regret",
    "measured": "the left side of the lemma behind Theorem 5",
    "second_moment": "the second moment of the gradient estimate",
}
BOUNDS = {"theorem_4": "the bound of Theorem 4", "theorem_5": "the bound of Theorem 5"}
ESTIMATORS = {
    "theorem_2": "Theorem 2's estimate",
    "batch": "the estimate from independent samples",
    "orthogonal": "the estimate from orthogonal samples",
    "antithetic": "the estimate from antithetic pairs",
    "centred": "the estimate centred by the batch mean",
    "centred_by_others": "the estimate centred by the mean of the other samples",
    "h": "the estimate by h, but for the factor that fits the gradient best,",
    "single": "the estimate from one sample",
}
FORMS = {"theorem_3": "Theorem 3's closed form", "framework": "Algorithm 3's closed form"}
METHODS = {
    "ingo": "INGO",
    "ingo_step": "INGOstep",
    "fast_ingo": "Fast-INGO",
    "igo": "IGO",
    "cma_es": "CMA-ES",
    "es": "ES",
    "reinforce_gd": "reinforce gradient descent",
}
STEPS = {"mean_power": "the step of the mean", "variance_power": "the step of Σ"}
FUNCTIONS = {  # of experiments/theory/update_size.py
    "linear": "a linear function that is 0 at the mean",
    "linear_at_1": "a linear function that is 1 at the mean",
    "quadratic": "a quadratic function at its minimiser",
}


def number(value: float, digits: int = 3) -> str:
    """Some significant digits: 0.937, 694, 13,400, 2.2e7, 9.5e-11."""
    if not np.isfinite(value):
        return "none" if np.isnan(value) else "∞" if value > 0 else "−∞"
    rounded = float(f"{value:.{digits}g}")
    if 1000 <= abs(rounded) < 1e7:
        text = f"{rounded:,.0f}"
    elif 1e-4 <= abs(rounded) < 1000:
        text = f"{rounded:g}"
    else:
        text = re.sub(r"e([-+])0*(\d)", lambda m: f"e{m[1].strip('+')}{m[2]}", f"{rounded:g}")
    return re.sub(r"^-", "−", text)


def count(value: float) -> str:
    """A number of evaluations in three digits: 54.3k, 1.50M."""
    rounded = float(f"{value:.3g}")  # which may have a digit more before the point
    if rounded < 1000:
        return f"{value:.0f}"
    unit, sign = (1e6, "M") if rounded >= 1e6 else (1e3, "k")
    return f"{value / unit:.{max(0, 2 - int(np.log10(rounded / unit)))}f}{sign}"


def percent(value: float) -> str:
    """A share: 84 %."""
    return f"{100 * value:.0f} %"


@dataclass(frozen=True)
class Value:
    """A measured value with its interval, and how such a value is written."""

    value: float
    low: float
    high: float
    write: Callable[[float], str] = number

    @classmethod
    def of(cls, part: Part, estimate: Estimate) -> Value:
        write = percent if part.measure in SHARES else number
        return cls(estimate.value, estimate.low, estimate.high, write)

    def __str__(self) -> str:
        if not self.low < self.high:  # an exact one has no interval
            return self.write(self.value)
        value, low, high = (self.write(v) for v in (self.value, self.low, self.high))
        if value == low == high:
            return value
        return f"{value} ({low.removesuffix(' %')} to {high})"


def asked(part: Part) -> str:
    """The threshold in words."""
    write = percent if part.measure in SHARES else number
    bounds = (("at least", part.low), ("at most", part.high))
    return " and ".join(f"{words} {write(bound)}" for words, bound in bounds if bound is not None)


def sentence(study: Study, part: Part, estimate: Estimate) -> str:
    """What was measured, with its value: "100 % (84 to 100 %) of the runs of INGO reach 1e-10 on
    Levy".
    """
    names = _names(study, part)
    value = Value.of(part, estimate)
    return (
        SENTENCES[part.measure](value, names) if part.measure in SENTENCES else f"{part} = {value}"
    )


def _names(study: Study, part: Part) -> dict[str, Any]:
    """The arguments of a part, with the names that pictures and tables have for things."""
    known = dict(part.arguments)
    where = known.get("experiment") or next(
        (s["experiment"] for s in study.plan.theory.values() if "experiment" in s), ""
    )
    if "experiment" in known:
        known["experiment"] = study.title(known["experiment"])
    titles = study.theory_titles(known["table"]) if "table" in known else {}
    titles = titles or study.titles(known.get("plain", where))
    if "problem" in known:
        known["problem"] = _on(titles.get(known["problem"], known["problem"]))
    for key in ("algorithm", "than", "estimator"):
        if key in known:
            of = known.get("beside", where) if key == "than" else where
            name = study.optimiser(of, known[key])
            known[key] = METHODS.get(name, name)  # the field's labels are in a config of its own
    return part.arguments | {"named": known}


def _on(title: str) -> str:
    """A title within a sentence."""
    if title.endswith("Ellipsoid"):
        return f"the {title}"
    return title[0].lower() + title[1:] if title.startswith(("Binary", "Categorical")) else title


def _success_rate(v: Value, a: dict[str, Any]) -> str:
    n = a["named"]
    goal = f"{number(a['target'])} above the optimum" if "target" in a else "1e-10"
    return f"{v} of the runs of {n['algorithm']} reach {goal} on {n['problem']}"


def _wins(v: Value, a: dict[str, Any]) -> str:
    n = a["named"]
    by = COLUMNS[a.get("column", "best")]
    return f"{n['algorithm']} beats {n['than']} on {v} of the seeds on {n['problem']}, by {by}"


def _ahead(v: Value, a: dict[str, Any]) -> str:
    n = a["named"]
    return (
        f"within {a['within']:,} evaluations {n['algorithm']} reaches more targets than "
        f"{n['than']} on {v} of the seeds on {n['problem']}"
    )


def _wins_at_best(v: Value, a: dict[str, Any]) -> str:
    own, other = (METHODS[a[key]] for key in ("algorithm", "than"))
    by = "" if a.get("column", "best") == "best" else f", by {COLUMNS[a['column']]}"
    return (
        f"{own} beats {other} on {v} of the seeds on {a['named']['problem']}, each at its best "
        f"setting{by}"
    )


def _more_solved(v: Value, a: dict[str, Any]) -> str:
    own, other = (METHODS[a[key]] for key in ("algorithm", "than"))
    return (
        f"over all functions and settings of the experiment “{a['named']['experiment']}”, the "
        f"share of runs of {own} that reach {number(a.get('target', 1e-10))} minus that of "
        f"{other} is {v}"
    )


def _last_progress(v: Value, a: dict[str, Any]) -> str:
    n = a["named"]
    return (
        f"{n['algorithm']} reaches the last of its targets on {n['problem']} after {v} of its "
        "evaluations"
    )


def _fewer_evaluations(v: Value, a: dict[str, Any]) -> str:
    n = a["named"]
    return (
        f"{n['than']} needs {v} times as many evaluations as {n['algorithm']} to reach "
        f"{number(a['target'])} on {n['problem']}, in aRT"
    )


def _diverged(v: Value, a: dict[str, Any]) -> str:
    return f"{v} of the runs of {a['named']['algorithm']} on {a['named']['problem']} diverge"


def _final_ratio(v: Value, a: dict[str, Any]) -> str:
    n = a["named"]
    column, who, than = COLUMNS[a["column"]], n["algorithm"], n["than"]
    return f"{column} of {who} is {v} times that of {than} on {n['problem']}"


def _linearity(v: Value, a: dict[str, Any]) -> str:
    n = a["named"]
    start = f", from {number(a['start'])} on" if "start" in a else ""
    return (
        f"R² = {v} for a straight line through log₁₀ f of {n['algorithm']} on {n['problem']}{start}"
    )


def _slowdown(v: Value, a: dict[str, Any]) -> str:
    n = a["named"]
    return (
        f"{n['algorithm']} needs {v} times as many evaluations as {n['than']} to reach "
        f"{number(a.get('target', 1e-10))} on {n['problem']}"
    )


def _rotation(v: Value, a: dict[str, Any]) -> str:
    n = a["named"]
    return (
        f"{n['algorithm']} needs {v} times as many evaluations on {n['problem']} if it is rotated"
    )


def _reached(v: Value, a: dict[str, Any]) -> str:
    n = a["named"]
    within = f"within {a['within']:,} evaluations " if "within" in a else ""
    of = ""
    if a["targets"] == "bbob":
        of = f" of COCO's bbob at d = {a['experiment'].removeprefix('bbob_')}"
    return f"{within}{n['algorithm']} reaches {v} times as many targets{of} as {n['than']}"


def _drift(v: Value, a: dict[str, Any]) -> str:
    return f"log det Σ of {a['named']['algorithm']} changes by {v} per iteration without a signal"


def _larger_reward(v: Value, a: dict[str, Any]) -> str:
    n = a["named"]
    by = REWARDS[a["column"]].replace(",", "")
    return (
        f"a run of {n['algorithm']} beats one of {n['than']} on {n['problem']} with probability "
        f"{v}, by the {by}"
    )


def _bound_ratio(v: Value, a: dict[str, Any]) -> str:
    bound = BOUNDS.get(a["bound"], "its bound")
    return f"{MEASURED.get(a['value'], a['value'])} reaches {v} times {bound}"


def _exponent(v: Value, a: dict[str, Any]) -> str:
    n = a["named"]
    who = n.get("algorithm") or n.get("estimator")
    by = "T" if a["table"] == "regret" else "d"
    return f"the average regret on {n['problem']}, {who}, goes as {by} to the power of {v}"


def _exponent_over_rate(v: Value, a: dict[str, Any]) -> str:
    n = a["named"]
    return (
        f"the average regret on {n['problem']}, {n['algorithm']}, goes as T to a power that "
        f"differs by {v} from that of log T / T"
    )


PLACES = {
    "start": "at the start",
    "narrow": "with a narrow distribution",
    "minimiser": "at the minimiser",
}


def _ratio(v: Value, a: dict[str, Any]) -> str:
    what = "second moment" if a["quantity"] == "second_moment" else "average regret"
    d = a.get("dim", a.get("samples"))
    return (
        f"on {a['named']['problem']} with N = d = {d}, {PLACES[a['place']]}, orthogonal samples "
        f"have {v} times the {what} of independent ones"
    )


def _power(v: Value, a: dict[str, Any]) -> str:
    own, step = METHODS[a["algorithm"]], STEPS[a["column"]]
    return (
        f"{step} of {own}, as a part of the distribution's, goes as σ to the power of {v} on "
        f"{FUNCTIONS[a['function']]}"
    )


def _largest(v: Value, a: dict[str, Any]) -> str:
    if a["table"] == "unbiased":
        who = ESTIMATORS.get(a["estimator"], a["estimator"])
        return f"{who} lies up to {v} standard errors from the exact gradient"
    if a["table"] == "update_size":
        own, step = METHODS[a["algorithm"]], STEPS[a["column"]]
        part = f"{step} of {own}, as a part of the distribution's"
        return f"{part}, goes as σ to a power within {v} of 0"
    who = FORMS.get(a.get("problem", ""), "the closed form")
    return f"{who} differs from a numerical solution by up to {v} of the largest entry"


def _hyper_parameters(v: Value, a: dict[str, Any]) -> str:
    own, other = (METHODS.get(a[key], a[key]) for key in ("method", "than"))
    of = ", of those that its user sets" if a.get("kind") == "set" else ""
    return f"{own} has {v} times as many hyper-parameters as {other}{of}"


SENTENCES: dict[str, Callable[[Value, dict[str, Any]], str]] = {
    "success_rate": _success_rate,
    "wins": _wins,
    "ahead": _ahead,
    "wins_at_best": _wins_at_best,
    "more_solved": _more_solved,
    "diverged": _diverged,
    "final_ratio": _final_ratio,
    "linearity": _linearity,
    "slowdown": _slowdown,
    "fewer_evaluations": _fewer_evaluations,
    "last_progress": _last_progress,
    "rotation": _rotation,
    "reached": _reached,
    "drift": _drift,
    "larger_reward": _larger_reward,
    "bound_ratio": _bound_ratio,
    "exponent": _exponent,
    "exponent_over_rate": _exponent_over_rate,
    "power": _power,
    "ratio": _ratio,
    "largest": _largest,
    "hyper_parameters": _hyper_parameters,
}
