"""What came out of the theorems, the lemmas and the count of constants."""

from __future__ import annotations

import pandas as pd

from experiments.publishing import headlines
from experiments.publishing.study import Study
from experiments.publishing.words import number


def theorems(study: Study) -> str:
    estimates = study.tables.theory("unbiased", {"estimator": "theorem_2"})
    errors = study.tables.theory("trust_region", {"problem": "theorem_3"})["error"]
    return (
        f"Of {len(estimates)} components of Theorem 2's estimates the mean is at most "
        f"{number(float(estimates['z'].abs().max()))} standard errors from the exact gradient. "
        "Theorem 3's closed form differs from a numerical solution in two dimensions by at most "
        f"{number(float(errors.max()), 2)} of its largest entry."
    )


def regret(study: Study) -> str:
    low, high, holds = headlines.bounds(study)
    verb = "stays below" if holds else "exceeds"
    regret = study.tables.theory("regret", {})
    kinks = regret[regret["problem"] != "quadratic"]
    slopes = kinks[kinks["algorithm"] != "antithetic"]["slope"]
    antithetic = kinks[kinks["algorithm"] == "antithetic"]["slope"]
    rate, gap = kinks["slope_of_rate"], study.tables.theory("gap", {})
    return (
        f"The regret {verb} the bounds of Theorems 4 and 5, which are {number(low, 2)} to "
        f"{number(high, 2)} times as large at the end. Where f has kinks, the constant that both "
        "theorems assume does not exist, although the paper says they cover such f: the bounds are "
        "those with the run's own constant, which grows with T, and the regret falls as T to the "
        f"power of {number(slopes.min(), 2)} to {number(slopes.max(), 2)}, where log T / T itself "
        f"has {number(rate.min(), 2)} to {number(rate.max(), 2)} (antithetic samples: "
        f"{number(antithetic.max(), 2)}). The left side of the lemma behind Theorem 5 is larger "
        f"than its right side {_exceeded(gap)}."
    )


def _exceeded(gap: pd.DataFrame) -> str:
    """From which condition number of Σ on."""
    more = gap[gap["measured_low"] > gap["bound"]]
    if more.empty:
        return "at no condition number of Σ"
    first, last = more.iloc[0], more.iloc[-1]
    return (
        f"from a condition number of Σ of {number(first['condition'])} on, by a factor of "
        f"{number(last['measured'] / last['bound'])} at {number(last['condition'])}"
    )


def orthogonal(study: Study) -> str:
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


def constants(study: Study) -> str:
    counts = study.tables.theory("hyper_parameters", {}).groupby(["method", "kind"]).size()
    ingo, cma_es = counts["ingo"], counts["cma_es"]
    return (
        f"INGO has {ingo.sum()} constants, CMA-ES {cma_es.sum()}; of these the user sets "
        f"{ingo['set']} and {cma_es['set']}, and formulas the others."
    )


def bias(study: Study) -> str:
    rows = study.tables.theory("unbiased", {"estimator": "centred"})
    h = study.tables.theory("unbiased", {"estimator": "h"})
    return (
        "Centring the values, as h does, biases the gradient estimate by a factor: with "
        f"{rows['samples'].iloc[0]} samples its expectation is 1 − 1/N = "
        f"{number(float(rows['factor'].mean()))} times the gradient. Divided by σ̂ too, it is "
        f"{number(h['factor'].min(), 2)} to {number(h['factor'].max(), 2)} times the gradient, by "
        f"function, and up to {number(h['z'].abs().max(), 2)} standard errors away from that "
        "multiple."
    )
