"""The pictures of the theory: one a table of experiments/theory.py, its caption computed from it.

python -m figures.theory growth results/tables/theory/growth.csv --to results/figures/theory_growth
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy import stats

from experiments import command
from figures import style
from figures.style import BLACK, BLUE, GREEN, ORANGE, PINK, RED, SKY, Line

LINES = {
    "single": Line("one sample", RED, "-", "o"),
    "batch": Line("independent", BLUE, (0, (5, 1.5)), "s"),
    "orthogonal": Line("orthogonal", GREEN, "-", "D"),
    "antithetic": Line("antithetic", ORANGE, (0, (3, 1, 1, 1)), "^"),
    "estimated": Line("independent, Ĝ estimated", PINK, (0, (1, 1)), "v"),
    "theorem_2": Line("Theorem 2", BLACK, "-", "o"),
    "centred": Line("centred by the batch's mean", SKY, "-", "X"),
}
BOUND: dict[str, Any] = {
    "linewidth": 1.0,
    "linestyle": ":",
}  # every bound is dotted, in its estimator's colour
PLACES = {
    "start": "distance 1, Σ = I/d",
    "narrow": "distance 1, Σ = 10⁻⁴ I/d",
    "minimiser": "at the minimiser, Σ = I/d",
}


def regret(table: pd.DataFrame) -> tuple[Figure, str]:
    """Average regret against iterations, with the bounds."""
    problems = list(dict.fromkeys(table["problem"]))
    look = style.lines(dict.fromkeys(table["algorithm"]), LINES)
    bound = table["theorem_5"].fillna(table["theorem_4"])
    figure, axes = plt.subplots(
        1, len(problems), figsize=(2.6 * len(problems), 3.1), squeeze=False, sharey=True
    )
    for ax, problem in zip(axes[0], problems, strict=True):
        here = table[table["problem"] == problem]
        for name, cell in here.groupby("algorithm", sort=False):
            line = look[str(name)]
            _curve(ax, cell, "iterations", "regret", line)
            ax.plot(cell["iterations"], bound[cell.index], color=line.color, **BOUND)
        ax.set_title(here["title"].iloc[0])
        ax.set_xlabel("iterations T")
        _log_log(ax)
    axes[0, 0].set_ylabel("average regret over T iterations")
    style.legend(figure, look.values(), 5)

    last = table[table["iterations"] == table.groupby(["problem", "algorithm"])["iterations"]
                 .transform("max")]  # fmt: skip
    factor = bound[last.index] / last["regret"]
    slopes = "; ".join(
        f"{row['title']} {look[row['algorithm']].label} {_interval(row, 'slope')}"
        for _, row in last.iterrows()
    )
    highest = table["regret_high"].fillna(table["regret"])  # a single run has no interval
    held = (highest <= bound).all()
    far = (table["reach"] / table["radius"]).max()
    return figure, (
        f"Average regret (1/T) Σ f(μ_t) − f(μ*) in d = {table['dim'].iloc[0]}, "
        f"{_mean_over(table)}, and dotted in the same colour the bound: Theorem 5 where it "
        f"applies, to one sample and, in another form, to orthogonal samples with Σ₁ ⪯ I/d, "
        f"else Theorem 4 with 𝓑 from L.\n\n"
        f"{'Every' if held else 'NOT every'} regret lies below its bound; at the last T the bound "
        f"is {factor.min():.3g} to {factor.max():.3g} times as large. Slope of log regret against "
        f"log T over the last decade (T⁻¹ log T would be a little above −1): {slopes}. What the "
        f"bounds do where f is not smooth, and why antithetic pairs do not feel its kinks: "
        f"experiments/theory.md. The means stayed within {far:.2f} of the radius in which the "
        f"constants hold."
    )


def growth(table: pd.DataFrame) -> tuple[Figure, str]:
    """Average regret after T iterations against d."""
    problems = list(dict.fromkeys(table["problem"]))
    figure, axes = plt.subplots(
        1, len(problems), figsize=(3.0 * len(problems), 3.1), squeeze=False, sharey=True
    )
    said = []
    for ax, problem in zip(axes[0], problems, strict=True):
        here = table[table["problem"] == problem]
        for name, cell in here.groupby("estimator", sort=False):
            line = LINES[str(name)]
            _curve(ax, cell, "dim", "regret", line)
            ax.plot(cell["dim"], cell["bound"], color=line.color, **BOUND)
            row = cell.iloc[0]
            factor = cell["bound"] / cell["regret"]
            said.append(
                f"{row['title']}, {line.label}: {_interval(row, 'slope')}, bound "
                f"{row['bound_slope']:.2f} and {factor.min():.3g} to {factor.max():.3g} times as "
                f"large"
            )
        ax.set_title(here["title"].iloc[0])
        ax.set_xlabel("dimension d")
        _log_log(ax)
        ax.set_xticks(here["dim"].unique(), labels=map(str, here["dim"].unique()))
        ax.minorticks_off()
    axes[0, 0].set_ylabel("average regret")
    style.legend(figure, [LINES[name] for name in dict.fromkeys(table["estimator"])], 5)
    both = table.pivot(index=["problem", "dim"], columns="estimator", values="regret")
    gain = both["batch"] / both["orthogonal"]
    return figure, (
        f"Average regret after {table['iterations'].iloc[0]} iterations against d, "
        f"{_mean_over(table)}; independent and orthogonal with N = d; dotted the bounds.\n\n"
        f"Fitted powers of d: {'; '.join(said)}. The d² (one sample) and "
        f"d (orthogonal) take R and B₁ for constants, which at least grow like d. Independent "
        f"samples have {gain.min():.2f} to {gain.max():.2f} times the regret of as many orthogonal "
        f"ones. The means stayed within "
        f"{(table['reach'] / table['radius']).max():.2f} of the radius in which the constants hold."
    )


def variance(table: pd.DataFrame) -> tuple[Figure, str]:
    """E‖ĝ‖² against N."""
    problems, places = (list(dict.fromkeys(table[name])) for name in ("problem", "place"))
    figure, axes = plt.subplots(
        len(problems), len(places), figsize=(2.5 * len(places), 2.1 * len(problems) + 0.4),
        squeeze=False, sharex=True, sharey="row",
    )  # fmt: skip
    for row, problem in zip(axes, problems, strict=True):
        for ax, place in zip(row, places, strict=True):
            here = table[(table["problem"] == problem) & (table["place"] == place)]
            for name, cell in here.groupby("estimator", sort=False):
                _curve(ax, cell, "samples", "second_moment", LINES[str(name)])
            ax.plot(cell["samples"], cell["bound"], color=BLACK, **BOUND)
            ax.set_title(f"{here['title'].iloc[0]}\n{PLACES[place]}", fontsize=8)
            _log_log(ax)
        row[0].set_ylabel("E‖ĝ‖²")
    for ax in axes[-1]:
        ax.set_xlabel("samples N")
    bound = Line("lemma: L²(d + 4)²/N", BLACK, ":", "")
    style.legend(figure, [*(LINES[name] for name in dict.fromkeys(table["estimator"])), bound], 5)
    wide = table[table["samples"] == table["samples"].max()]
    both = wide.pivot(index=["title", "place"], columns="estimator", values="second_moment")
    gain = both["batch"] / both["orthogonal"]
    factor = table["bound"] / table["second_moment"]
    return figure, (
        f"Second moment of the gradient's estimate against the number of samples, d = "
        f"{table['dim'].iloc[0]}, with 95 % intervals.\n\nThe lemma's bound "
        f"{'holds' if factor.min() >= 1.0 else 'FAILS'}: it is {factor.min():.3g} to "
        f"{factor.max():.3g} times as large. At N = {wide['samples'].iloc[0]} independent samples "
        f"have {gain.min():.2f} to {gain.max():.2f} times the second moment of orthogonal ones, "
        f"which lack the cross terms, (1 − 1/N)‖∇J̄‖²."
    )


def unbiased(table: pd.DataFrame) -> tuple[Figure, str]:
    """Deviations from the exact gradient in standard errors, against normal quantiles."""
    estimators = list(dict.fromkeys(table["estimator"]))
    figure, ax = plt.subplots(figsize=(4.4, 3.4))
    for name in estimators:
        z = np.sort(table.loc[table["estimator"] == name, "z"])
        at = stats.norm.ppf((np.arange(len(z)) + 0.5) / len(z))
        line = LINES[name]
        ax.plot(at, z, marker=line.marker, color=line.color, linestyle="", markersize=3,
                markerfacecolor="white", label=line.label)  # fmt: skip
    fair = np.linspace(*ax.get_xlim(), 2)
    ax.plot(fair, fair, color="0.45", linewidth=0.7)
    ax.set_yscale("symlog", linthresh=4)
    ax.set_yticks([-20, -4, -2, 0, 2, 4, 20], labels=["−20", "−4", "−2", "0", "2", "4", "20"])
    ax.set_xlabel("normal quantile")
    ax.set_ylabel("(estimate − exact) / standard error")
    ax.legend(fontsize=7)
    figure.tight_layout()
    others = table[table["estimator"] != "centred"]
    worst = others["z"].abs().max()
    chance = 1 - (1 - 2 * stats.norm.sf(worst)) ** len(others)
    centred = table[table["estimator"] == "centred"]
    ratio = np.sum(centred["estimate"] * centred["exact"]) / np.sum(centred["exact"] ** 2)
    return figure, (
        f"Estimates of ∇_μ J̄ and ∇_Σ J̄ less their exact values, in standard errors, for "
        f"{table['function'].nunique()} functions with a closed-form Gaussian mean, "
        f"{table['repeats'].iloc[0]} repeats; the line is what an unbiased estimator "
        f"gives.\n\n"
        f"Worst of {len(others)} components: {worst:.2f} standard errors, as bad or worse by "
        f"chance with probability {chance:.2f} if independent. The estimate centred by the "
        f"batch's mean, which Algorithms 1 and 2 use before they divide by σ̂, is "
        f"{ratio:.3f} times the gradient where 1 − 1/N = {centred['factor'].iloc[0]:.3f}, up to "
        f"{centred['z'].abs().max():.2g} standard errors away from it."
    )


def trust_region(table: pd.DataFrame) -> tuple[Figure, str]:
    """The difference between closed form and solver, one dot an instance."""
    names = {"theorem_3": ("Theorem 3, in (μ, Σ)", BLUE), "framework": ("Algorithm 3, in m", RED)}
    figure, ax = plt.subplots(figsize=(4.4, 3.0))
    for name, cell in table.groupby("problem", sort=False):
        label, color = names[str(name)]
        ax.plot(cell["moved"], np.fmax(cell["error"], 1e-16), ".", color=color, label=label)
    _log_log(ax)
    ax.set_xlabel("how far the mean moves")
    ax.set_ylabel("relative difference of closed form and solver")
    ax.set_ylim(top=max(1e-2, 3 * table["error"].max()))
    ax.legend(fontsize=7)
    figure.tight_layout()
    return figure, (
        f"Largest difference of any entry of (μ', Σ'), as a part of the largest entry, between the "
        f"closed form and scipy's numerical solution of the trust-region problem, for "
        f"{table['instance'].nunique()} random problems in 2-D: at most "
        f"{table['error'].max():.1e}; the closed form's objective is at most "
        f"{table['gap'].max():.1e} above the solver's.\n\nBoth forms need Σ⁻¹ + 2βG to be positive "
        f"definite, which the theorem does not say: without it the problem has no minimum."
    )


def gap(table: pd.DataFrame) -> tuple[Figure, str]:
    """The lemma behind Theorem 5 as Σ_t gets thin."""
    table = table.sort_values("condition", ignore_index=True)
    figure, ax = plt.subplots(figsize=(4.4, 3.4))
    _curve(ax, table, "condition", "measured", Line("E‖Σ'‖‖ĝ‖², measured", RED, "-", "o"))
    ax.plot(table["condition"], table["exact"], "+", color=BLACK, markersize=9, zorder=3)
    ax.plot(table["condition"], table["bound"], color=BLACK, **BOUND)
    ax.plot(table["condition"], table["repaired"], color=BLUE, **BOUND)
    right = table.iloc[-1]
    ax.annotate("the lemma: L²‖Σ‖(d + 4)²", (right["condition"], right["bound"]),
                xytext=(0, -10), textcoords="offset points", ha="right")  # fmt: skip
    ax.annotate("times κ(Σ)", (right["condition"], right["repaired"]),
                xytext=(-45, -4), textcoords="offset points", ha="right", color=BLUE)  # fmt: skip
    ax.annotate("E‖Σ'‖‖ĝ‖², measured", (right["condition"], right["measured"]),
                xytext=(0, -62), textcoords="offset points", ha="right", color=RED)  # fmt: skip
    _log_log(ax)
    ax.set_xlabel("condition number κ of Σ")
    ax.set_ylabel("E‖Σ'‖‖ĝ‖²")
    figure.tight_layout()
    broken = table[table["measured_low"] > table["bound"]]
    slack = table["repaired"] / table["measured"]
    fails = "It holds at every κ"
    if len(broken):
        fails = (
            f"It fails at κ = {', '.join(f'{k:g}' for k in broken['condition'])}, by a factor of "
            f"up to {(broken['measured'] / broken['bound']).max():.3g}"
        )
    return figure, (
        f"The inequality behind Theorem 5 on a linear function, d = {table['dim'].iloc[0]}, with "
        f"95 % intervals.\n\n{fails}. With κ(Σ) as a factor the bound is {slack.min():.3g} to "
        f"{slack.max():.3g} times as large as what it bounds. Crosses: the left side in closed "
        f"form."
    )


def hyper_parameters(table: pd.DataFrame) -> tuple[Figure, str]:
    """Bars of how many hyper-parameters a method has, by kind."""
    kinds = {
        "set": ("set by the user", BLUE),
        "rule": ("constants of the update with a formula", SKY),
        "strategy": ("pycma's options of the update", ORANGE),
        "option": ("pycma's other options", "0.8"),
    }
    labels = {
        "ingo": "INGO", "ingo_step": "INGOstep", "fast_ingo": "Fast-INGO", "igo": "IGO", "es": "ES",
        "cma_es": "CMA-ES (purecma)", "pycma": "CMA-ES (pycma)",
    }  # fmt: skip
    counts = table.groupby(["method", "kind"], sort=False).size().unstack(fill_value=0)
    counts = counts.reindex(columns=list(kinds), fill_value=0)
    figure, ax = plt.subplots(figsize=(5.4, 2.5))
    left = np.zeros(len(counts))
    rows = np.arange(len(counts))
    for kind, (label, color) in kinds.items():
        ax.barh(rows, counts[kind], left=left, color=color, label=label)
        left += counts[kind].to_numpy()
    for row, total in enumerate(left):
        ax.text(total + 0.8, row, f"{total:.0f}", va="center")
    ax.set_yticks(rows, [labels[name] for name in counts.index])
    ax.invert_yaxis()
    ax.set_xlabel("hyper-parameters")
    ax.legend(fontsize=7, loc="upper right")
    figure.tight_layout()
    names = {name: ", ".join(own["parameter"]) for name, own in table.groupby("method")}
    total = counts.sum(axis=1)
    return figure, (
        f"Hyper-parameters, read from the code.\n\n"
        f"INGO: {names['ingo']}. CMA-ES in its textbook form (purecma): {names['cma_es']}. The "
        f"update of INGO has {total['ingo']}, that of CMA-ES {total['cma_es']}; but all of "
        f"CMA-ES's constants have a formula, as INGO's step size has, and of what its user does "
        f"set there are {counts.loc['cma_es', 'set']}, of INGO {counts.loc['ingo', 'set']}. pycma "
        f"lets its user change {total['pycma']}, "
        f"{counts.loc['pycma', 'strategy']} of them of the update."
    )


def _mean_over(table: pd.DataFrame) -> str:
    """What is drawn of so many runs, in words."""
    runs = table["runs"].iloc[0]
    return "one run" if runs == 1 else f"mean over {runs} runs with its 95 % interval"


def _interval(row: pd.Series, name: str) -> str:
    """A number with its 95 % interval; a single run has none."""
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    return f"{row[name]:.2f}" + (f" ({low:.2f} to {high:.2f})" if pd.notna(low) else "")


def _curve(ax: Axes, table: pd.DataFrame, x: str, y: str, line: Line) -> None:
    """A line with its interval."""
    low = np.fmax(table[f"{y}_low"].fillna(table[y]), 1e-300)
    ax.fill_between(
        table[x], low, table[f"{y}_high"].fillna(table[y]),
        color=line.color, alpha=0.2, linewidth=0,
    )  # fmt: skip
    ax.plot(
        table[x], table[y], color=line.color, linestyle=line.dash, marker=line.marker,
        markevery=max(1, len(table) // 8), markerfacecolor="white", markeredgewidth=0.9,
    )  # fmt: skip


def _log_log(ax: Axes) -> None:
    """Log axes that hold the lines; an interval that goes below zero goes out of the picture."""
    ax.set_xscale("log")
    ax.set_yscale("log")
    drawn = [line for a in ax.get_shared_y_axes().get_siblings(ax) for line in a.lines]
    y = np.concatenate([np.asarray(line.get_ydata(), dtype=float) for line in drawn])
    ax.set_ylim(y[y > 0].min() / 3, y.max() * 3)


PICTURES: dict[str, Callable[[pd.DataFrame], tuple[Figure, str]]] = {
    "regret": regret,
    "growth": growth,
    "variance": variance,
    "unbiased": unbiased,
    "trust_region": trust_region,
    "gap": gap,
    "hyper_parameters": hyper_parameters,
}


def main(arguments: list[str] | None = None) -> None:
    """Draw one picture from its table."""
    parser = command.parser("figures.theory", __doc__)
    parser.add_argument("picture", choices=PICTURES)
    parser.add_argument("table", type=Path, help="the table, .csv")
    parser.add_argument("--to", type=Path, required=True, help="path without suffix")
    args = parser.parse_args(arguments)
    style.use()
    figure, caption = PICTURES[args.picture](pd.read_csv(args.table))
    style.save(figure, args.to, caption)


if __name__ == "__main__":
    main()
