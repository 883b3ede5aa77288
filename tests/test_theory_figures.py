"""The pictures of the theory show what titles, labels and legends say, read back from the axes.

Of made-up tables in which no two numbers are equal, so that a column, a curve or a label in
another's place is seen. What estimators and places are called is written here once more.
"""

from __future__ import annotations

from itertools import product

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from scipy import stats
from test_figures import notes, panels

from figures import style
from figures.theory import (
    gap,
    growth,
    hyper_parameters,
    orthogonal,
    regret,
    trust_region,
    unbiased,
    update_size,
    variance,
)

ESTIMATORS = {
    "single": "one sample",
    "batch": "independent",
    "orthogonal": "orthogonal",
    "antithetic": "antithetic",
    "estimated": "independent, Ĝ estimated",
}
OF_GRADIENT = {
    "theorem_2": "Theorem 2",
    "batch": "independent",
    "orthogonal": "orthogonal",
    "antithetic": "antithetic",
    "centred": "centred by the batch's mean",
    "centred_by_others": "centred by the other samples' mean",
    "h": "h, from a multiple of the gradient",
}
METHODS = {
    "ingo": "INGO",
    "ingo_step": "INGOstep",
    "fast_ingo": "Fast-INGO",
    "igo": "IGO",
    "reinforce_gd": "reinforce gradient descent",
}
FUNCTIONS = {
    "linear": "linear, f(μ) = 0",
    "linear_at_1": "linear, f(μ) = 1",
    "quadratic": "quadratic, at its minimiser",
}
PLACES = {
    "start": "distance 1, Σ = I/d",
    "narrow": "distance 1, Σ = 10⁻⁴ I/d",
    "minimiser": "at the minimiser, Σ = I/d",
}
TITLES = {"bowl": "A bowl", "roof": "A roof"}  # of problems


@pytest.fixture(autouse=True)
def no_figure_is_left():
    style.use()
    yield
    plt.close("all")


def told_apart(keys, *columns):
    """A table with a row for each combination of ``keys``, and columns of numbers of which no two
    are equal, nor two ratios of columns, and in each row the later column has the larger one.
    """
    table = pd.DataFrame(list(product(*keys.values())), columns=list(keys))
    row, rng = np.arange(len(table)), np.random.default_rng(0)
    for k, name in enumerate(columns):
        table[name] = (2.0 + k) * 1.03**row * (1 + 0.08 * rng.random(len(table)))
    numbers = table[list(columns)].to_numpy()
    assert len(np.unique(numbers.round(9))) == numbers.size
    assert (np.diff(numbers) > 0).all()
    if "problem" in table:
        table["title"] = table["problem"].map(TITLES)
    return table


def same_in(table, cell, *columns):
    """The table with one value of each of these columns per cell."""
    first = {name: table.groupby(cell)[name].transform("first") for name in columns}
    return table.assign(**first)


def look(line):
    """All by which a reader tells a line from the others."""
    color, dash = to_hex(line.get_color()), str(line._unscaled_dash_pattern)
    return color, line.get_linestyle() == "None", dash, line.get_marker()


def legend_of(figure):
    """What each line of the legend looks like, by its label."""
    (legend,) = [*figure.legends, *(ax.get_legend() for ax in figure.axes if ax.get_legend())]
    handles = zip(legend.get_texts(), legend.legend_handles, strict=True)
    found = {text.get_text(): look(handle) for text, handle in handles}
    assert len({(color, dash) for color, _, dash, _ in found.values()}) == len(found)
    return found


def the_line(ax, wanted):
    """The points of the one line in a panel that looks so."""
    (line,) = (line for line in ax.lines if look(line) == wanted)
    return line.get_data()


def the_dotted(ax, color):
    """The points of the one thin dotted line of a colour without markers."""
    (line,) = (
        line
        for line in ax.lines
        if (to_hex(line.get_color()), line.get_linestyle(), line.get_marker())
        == (color, ":", "None")
    )
    return line.get_data()


def the_band(ax, color):
    """x, and the lower and the upper end of the one shaded area of a colour."""
    (area,) = (area for area in ax.collections if to_hex(area.get_facecolor()[0]) == color)
    x, y = area.get_paths()[0].vertices.T
    at = np.unique(x)
    return at, [y[x == v].min() for v in at], [y[x == v].max() for v in at]


def assert_curve(ax, wanted, rows, x, y):
    """A line and its interval are those of the columns."""
    np.testing.assert_array_equal(the_line(ax, wanted), [rows[x], rows[y]])
    own = the_band(ax, wanted[0])
    np.testing.assert_allclose(own, [rows[x], rows[f"{y}_low"], rows[f"{y}_high"]], rtol=1e-12)


def interval(row, name):
    """A number with its interval as captions have it."""
    return f"{row[name]:.2f} ({row[f'{name}_low']:.2f} to {row[f'{name}_high']:.2f})"


def one(table, **only):
    """The rows that have these values."""
    keep = np.logical_and.reduce([table[name] == value for name, value in only.items()])
    return table[keep]


# ---- regret against T, and its bounds ------------------------------------------------------------


def regret_table():
    """Theorem 5 applies to two of the estimators."""
    keys = {"problem": TITLES, "algorithm": ESTIMATORS, "iterations": [1, 30, 900]}
    table = told_apart(
        keys, "slope_low", "slope", "slope_high", "slope_of_rate", "reach", "radius",
        "regret_low", "regret", "regret_high", "theorem_4", "theorem_5",
    ).assign(dim=7, runs=12)  # fmt: skip
    table.loc[~table["algorithm"].isin(["single", "orthogonal"]), "theorem_5"] = np.nan
    return same_in(table, ["problem", "algorithm"], "slope_low", "slope", "slope_high")


@pytest.mark.parametrize("labels", [None, {name: f"my {name}" for name in ESTIMATORS}])
def test_regret_and_bounds_are_what_title_labels_and_legend_say(labels):
    table = regret_table()
    figure, caption = regret.draw(table, labels)
    names, legend = labels or ESTIMATORS, legend_of(figure)
    assert list(legend) == list(names.values())
    assert [ax.get_title() for ax in figure.axes] == list(TITLES.values())
    for (ax, title, x, y), problem in zip(panels(figure), TITLES, strict=True):
        assert (title, x, y) == (
            TITLES[problem],
            "iterations T",
            "average regret over T iterations",
        )
        assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
        assert len(ax.lines) == 2 * len(names)
        for algorithm, label in names.items():
            rows = one(table, problem=problem, algorithm=algorithm)
            theorem = 5 if algorithm in ("single", "orthogonal") else 4
            assert_curve(ax, legend[label], rows, "iterations", "regret")
            np.testing.assert_array_equal(
                the_dotted(ax, legend[label][0]), [rows["iterations"], rows[f"theorem_{theorem}"]]
            )
    assert "in d = 7, mean over 12 runs with its 95 % interval, and dotted in the same" in caption
    last = one(table, iterations=900)
    factor = last["theorem_5"].fillna(last["theorem_4"]) / last["regret"]
    assert f"at the last T the bound is {min(factor):.3g} to {max(factor):.3g} times as" in caption
    rate = last["slope_of_rate"]
    assert f"where T⁻¹ log T has {min(rate):.2f} to {max(rate):.2f}: " in caption
    slopes = "; ".join(
        f"{row['title']} {names[row['algorithm']]} {interval(row, 'slope')}"
        for _, row in last.iterrows()
    )
    assert f": {slopes}. What" in caption
    assert f"within {(table['reach'] / table['radius']).max():.2f} of the radius" in caption
    ours, independent = (
        one(last, algorithm=name)["regret"].to_numpy() for name in ("orthogonal", "batch")
    )
    bowl, roof = ours / independent
    words = f"independent ones, {bowl:.3g} on {TITLES['bowl']}, {roof:.3g} on {TITLES['roof']}."
    assert caption.endswith(words)


# ---- regret against d ----------------------------------------------------------------------------


def test_growth_and_bounds_are_what_title_labels_and_legend_say():
    names = {name: ESTIMATORS[name] for name in ("single", "batch", "orthogonal")}
    keys = {"problem": TITLES, "estimator": names, "dim": [4, 8, 32]}
    slopes = ["slope_low", "slope", "slope_high", "bound_slope"]
    table = told_apart(
        keys, *slopes, "reach", "radius", "regret_low", "regret", "regret_high", "bound"
    ).assign(iterations=77, runs=12)
    table = same_in(table, ["problem", "estimator"], *slopes)
    figure, caption = growth.draw(table)
    legend = legend_of(figure)
    assert list(legend) == list(names.values())
    assert [ax.get_title() for ax in figure.axes] == list(TITLES.values())
    said = []
    for (ax, title, x, y), problem in zip(panels(figure), TITLES, strict=True):
        assert (title, x, y) == (TITLES[problem], "dimension d", "average regret")
        assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
        ticks = zip(ax.get_xticks(), ax.get_xticklabels(), strict=True)
        assert [(at, text.get_text()) for at, text in ticks] == [(4, "4"), (8, "8"), (32, "32")]
        assert len(ax.lines) == 2 * len(names)
        for estimator, label in names.items():
            rows = one(table, problem=problem, estimator=estimator)
            assert_curve(ax, legend[label], rows, "dim", "regret")
            np.testing.assert_array_equal(
                the_dotted(ax, legend[label][0]), [rows["dim"], rows["bound"]]
            )
            row, factor = rows.iloc[0], rows["bound"] / rows["regret"]
            said.append(
                f"{title}, {label}: {interval(row, 'slope')}, bound {row['bound_slope']:.2f} and "
                f"{min(factor):.3g} to {max(factor):.3g} times as large"
            )
    assert "after 77 iterations against d, mean over 12 runs with" in caption
    assert f"powers of d: {'; '.join(said)}. The" in caption
    independent, ours = (one(table, estimator=name)["regret"] for name in ("batch", "orthogonal"))
    gain = independent.to_numpy() / ours.to_numpy()
    assert f"samples have {min(gain):.2f} to {max(gain):.2f} times the regret of as many" in caption
    assert f"within {(table['reach'] / table['radius']).max():.2f} of the radius" in caption


# ---- second moments, and the lemma's bound -------------------------------------------------------


def test_second_moments_and_their_bound_are_what_title_labels_and_legend_say():
    names = {name: ESTIMATORS[name] for name in ("batch", "orthogonal")}
    keys = {"problem": TITLES, "place": PLACES, "estimator": names, "samples": [1, 4, 16]}
    table = told_apart(
        keys, "second_moment_low", "second_moment", "second_moment_high",
        "variance_low", "variance", "variance_high", "bound",
    ).assign(dim=7)  # fmt: skip
    table = same_in(table, ["problem", "place", "samples"], "bound")
    figure, caption = variance.draw(table)
    legend = legend_of(figure)
    bound = legend.pop("lemma: L²(d + 4)²/N")
    assert list(legend) == list(names.values())
    cells = list(product(TITLES, PLACES))
    for (ax, title, x, y), (problem, place) in zip(panels(figure), cells, strict=True):
        assert (title, x, y) == (f"{TITLES[problem]}\n{PLACES[place]}", "samples N", "E‖ĝ‖²")
        assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
        assert len(ax.lines) == len(names) + 1
        for estimator, label in names.items():
            rows = one(table, problem=problem, place=place, estimator=estimator)
            assert_curve(ax, legend[label], rows, "samples", "second_moment")
        np.testing.assert_array_equal(the_dotted(ax, bound[0]), [rows["samples"], rows["bound"]])
    factor = table["bound"] / table["second_moment"]
    assert "d = 7, with 95 % intervals" in caption
    assert f"bound holds: it is {min(factor):.3g} to {max(factor):.3g} times as large." in caption
    wide = one(table, samples=16)
    independent, ours = (one(wide, estimator=name)["second_moment"] for name in names)
    gain = independent.to_numpy() / ours.to_numpy()
    assert (
        f"At N = 16 independent samples have {min(gain):.2f} to {max(gain):.2f} times the second "
        "moment of orthogonal ones"
    ) in caption


# ---- the lemma that fails ------------------------------------------------------------------------


def test_both_sides_of_the_lemma_are_what_the_words_beside_them_say():
    """The line that a text is about has its colour, and the text stands at its right end."""
    table = told_apart(
        {"condition": [300.0, 1.0, 20.0, 90.0]},
        "measured_low", "exact", "measured", "measured_high", "bound", "repaired",
    ).assign(dim=7)  # fmt: skip
    table.loc[[0, 3], "bound"] = [0.5, 1.0]  # below the interval
    figure, caption = gap.draw(table)
    table = table.sort_values("condition")
    right = table.iloc[-1]
    (ax,) = figure.axes
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    assert ax.get_xlabel() == "condition number κ of Σ"
    assert ax.get_ylabel() == "E‖Σ'‖‖ĝ‖²"
    colors = {}
    for text in ax.texts:
        column = {
            "the lemma: L²‖Σ‖(d + 4)²": "bound", "times κ(Σ)": "repaired",
            "E‖Σ'‖‖ĝ‖², measured": "measured",
        }[text.get_text()]  # fmt: skip
        assert text.xy == (300.0, right[column])
        colors[column] = to_hex(text.get_color())
    assert len(set(colors.values())) == 3
    for column in ("bound", "repaired"):
        dotted = the_dotted(ax, colors[column])
        np.testing.assert_array_equal(dotted, [table["condition"], table[column]])
    measured, crosses, *_ = ax.lines
    assert look(measured) == (colors["measured"], False, "(0, None)", "o")
    assert_curve(ax, look(measured), table, "condition", "measured")
    assert (crosses.get_marker(), crosses.get_linestyle()) == ("+", "None")
    np.testing.assert_array_equal(crosses.get_data(), [table["condition"], table["exact"]])
    assert len(ax.lines) == 4
    slack = table["repaired"] / table["measured"]
    assert "d = 7, with 95 % intervals." in caption
    assert f"fails at κ = 90, 300, by a factor of up to {right['measured'] / 0.5:.3g}. " in caption
    assert f"the bound is {min(slack):.3g} to {max(slack):.3g} times as large" in caption


# ---- estimates of the gradient -------------------------------------------------------------------


def unbiased_table():
    rng = np.random.default_rng(0)
    keys = {"function": ["f", "g"], "estimator": OF_GRADIENT, "component": range(9)}
    table = told_apart(keys, "exact", "estimate", "standard_error", "factor")
    z = rng.standard_normal(len(table))
    z[table["estimator"].isin(["centred", "h"])] *= 4  # further away than any other
    for name, worst in (("centred", -17.0), ("h", -14.0)):
        z[(table["estimator"] == name).argmax()] = worst
    return table.assign(z=z, repeats=321, samples=8)


def test_deviations_are_those_of_the_estimator_that_the_legend_names():
    """In order, against the quantiles of as many normal numbers."""
    table = unbiased_table()
    figure, _ = unbiased.draw(table)
    (ax,) = figure.axes
    legend = legend_of(figure)
    assert list(legend) == list(OF_GRADIENT.values())
    for estimator, label in OF_GRADIENT.items():
        at, heights = the_line(ax, legend[label])
        assert legend[label][1]  # points alone
        np.testing.assert_array_equal(heights, sorted(one(table, estimator=estimator)["z"]))
        np.testing.assert_allclose(stats.norm.cdf(at), (np.arange(18) + 0.5) / 18, rtol=1e-12)
    assert len(ax.lines) == len(legend) + 1
    assert ax.get_xlabel() == "normal quantile"
    assert ax.get_ylabel() == "(estimate − exact) / standard error"
    assert [float(t.get_text().replace("−", "-")) for t in ax.get_yticklabels()] == list(
        ax.get_yticks()
    )
    assert notes(figure) == []


def test_the_caption_on_the_estimates_has_the_numbers_of_the_table():
    table = unbiased_table()
    _, caption = unbiased.draw(table)
    centred, h = (one(table, estimator=name) for name in ("centred", "h"))
    others = table.drop([*centred.index, *h.index])
    worst = others["z"].abs().max()
    below = stats.norm.cdf(worst) - stats.norm.cdf(-worst)
    assert "for 2 functions with" in caption
    assert "mean, 321 repeats; the line" in caption
    assert f"Worst of 90 components: {worst:.2f} standard errors, as bad" in caption
    assert f"chance with probability {1 - below**90:.2f} if independent." in caption
    ratio = np.linalg.lstsq(
        centred[["exact"]].to_numpy(), centred["estimate"].to_numpy(), rcond=None
    )[0][0]
    assert (
        f"is {ratio:.3f} times the gradient where 1 − 1/N = {centred['factor'].iloc[0]:.3f}, up "
        f"to {max(abs(centred['z'])):.2g} standard errors away from it."
    ) in caption
    assert (
        f"as h is, it is {min(h['factor']):.2f} to {max(h['factor']):.2f} times the gradient, by "
        f"function, and up to {max(abs(h['z'])):.2g} standard errors away from that multiple."
    ) in caption


# ---- sizes of steps ------------------------------------------------------------------------------


def test_sizes_of_steps_are_what_title_labels_and_legend_say():
    keys = {"function": FUNCTIONS, "algorithm": METHODS, "std": [1.0, 0.1, 0.02]}
    powers = ["mean_power", "variance_power"]
    sizes = {"‖Δμ‖/σ": "mean_step_over_std", "‖ΔΣ‖/‖Σ‖": "variance_step_over_variance"}
    table = told_apart(keys, *sizes.values(), *powers).assign(dim=7, step_size="1/d")
    table = same_in(table, ["function", "algorithm"], *powers)
    table.loc[table["algorithm"] == "reinforce_gd", "step_size"] = "1e-9"
    table.loc[table["algorithm"] == "reinforce_gd", powers] *= -1
    table.loc[table["algorithm"] == "igo", "mean_power"] = -0.04
    table.loc[~table["algorithm"].isin(["igo", "reinforce_gd"]), powers] = 0.0
    table.loc[table["algorithm"] == "igo", "variance_power"] = 0.02
    figure, caption = update_size.draw(table)
    legend = legend_of(figure)
    assert list(legend) == list(METHODS.values())
    cells = list(product(sizes, FUNCTIONS))
    for (ax, title, x, y), (size, function) in zip(panels(figure), cells, strict=True):
        assert (title, x, y) == (FUNCTIONS[function], "standard deviation σ", size)
        assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
        assert len(ax.lines) == len(METHODS)
        for algorithm, label in METHODS.items():
            rows = one(table, function=function, algorithm=algorithm)
            np.testing.assert_array_equal(
                the_line(ax, legend[label]), [rows["std"], rows[sizes[size]]]
            )
    assert "in d = 7, by" in caption
    said = "; ".join(
        f"{FUNCTIONS[row['function']]}: {row['mean_power']:.2f} and {row['variance_power']:.2f}"
        for _, row in one(table, algorithm="reinforce_gd", std=1.0).iterrows()
    )
    assert f"of reinforce gradient descent: {said}. (Its step size, here 1e-09, moves" in caption
    assert "Those of the other methods are at most 0.04, where 0 is" in caption


# ---- orthogonal over independent samples ---------------------------------------------------------


def test_ratios_are_what_title_labels_and_legend_say():
    table = told_apart(
        {"quantity": ["regret", "second_moment"], "problem": TITLES, "place": PLACES,
         "samples": [4, 16]},
        "ratio_low", "ratio", "ratio_high", "independent", "orthogonal",
    )  # fmt: skip
    table = table.assign(dim=table["samples"].where(table["quantity"] == "regret", 32), runs=9)
    figure, _ = orthogonal.draw(table)
    legend = legend_of(figure)
    names = PLACES | {"start": "distance 1, Σ = I/d (regret: Σ₁ = I/(10d))"}
    assert list(legend) == list(names.values())
    cells = list(product(("regret", "second_moment"), TITLES))
    for (ax, title, x, y), (quantity, problem) in zip(panels(figure), cells, strict=True):
        wanted = {
            "regret": ("dimension d, N = d", "average regret,\northogonal / independent"),
            "second_moment": ("samples N", "E‖ĝ‖²,\northogonal / independent"),
        }[quantity]
        assert (title, x, y) == (TITLES[problem], *wanted)
        assert len(ax.containers) == len(names)
        bars = {look(bar.lines[0]): bar for bar in ax.containers}
        for place, label in names.items():
            rows = one(table, quantity=quantity, problem=problem, place=place)
            line, _, (ends,) = bars[legend[label]].lines
            np.testing.assert_array_equal(line.get_data(), [rows["samples"], rows["ratio"]])
            own = [segment[:, 1] for segment in ends.get_segments()]
            np.testing.assert_allclose(own, rows[["ratio_low", "ratio_high"]], rtol=1e-12)
            assert to_hex(ends.get_color()[0]) == legend[label][0]
        (level,) = (line for line in ax.lines if len(set(line.get_ydata())) == 1)
        assert level.get_ydata()[0] == 1


# ---- the trust region, and hyper-parameters ------------------------------------------------------


def test_differences_are_those_of_the_form_that_the_legend_names():
    names = {"theorem_3": "Theorem 3, in (μ, Σ)", "framework": "Algorithm 3, in m"}
    table = told_apart({"problem": names, "instance": range(4)}, "moved", "beta", "error", "gap")
    table[["error", "gap"]] *= 1e-8
    figure, caption = trust_region.draw(table)
    (ax,) = figure.axes
    legend = legend_of(figure)
    assert list(legend) == list(names.values())
    for problem, label in names.items():
        rows = one(table, problem=problem)
        np.testing.assert_array_equal(the_line(ax, legend[label]), [rows["moved"], rows["error"]])
    assert ax.get_xlabel() == "how far the mean moves"
    assert ax.get_ylabel() == "relative difference of closed form and solver"
    assert "for 4 random problems in 2-D: at " in caption
    assert f"at most {table['error'].max():.1e}; the" in caption
    assert f"at most {table['gap'].max():.1e} above the solver's." in caption


def test_bars_count_the_hyper_parameters_of_the_method_beside_them():
    kinds = {
        "set": "set by the user", "rule": "constants of the update with a formula",
        "strategy": "pycma's options of the update", "option": "pycma's other options",
    }  # fmt: skip
    methods = {"ingo": "INGO", "cma_es": "CMA-ES (purecma)", "pycma": "CMA-ES (pycma)"}
    counts = {"ingo": (2, 1, 0, 0), "cma_es": (3, 7, 0, 0), "pycma": (4, 5, 6, 8)}
    table = pd.DataFrame(
        [
            {"method": method, "kind": kind, "parameter": f"{method}_{kind}_{i}"}
            for method, own in counts.items()
            for kind, count in zip(kinds, own, strict=True)
            for i in range(count)
        ]
    )
    figure, caption = hyper_parameters.draw(table)
    (ax,) = figure.axes
    assert [text.get_text() for text in ax.get_yticklabels()] == list(methods.values())
    assert ax.yaxis_inverted()
    legend = ax.get_legend()
    labels = [text.get_text() for text in legend.get_texts()]
    assert labels == list(kinds.values())
    left = np.zeros(3)
    for handle, bars, k in zip(legend.legend_handles, ax.containers, range(4), strict=True):
        widths = [own[k] for own in counts.values()]
        assert [bar.get_width() for bar in bars] == widths
        assert [bar.get_x() for bar in bars] == list(left)
        assert {bar.get_facecolor() for bar in bars} == {handle.get_facecolor()}
        left += widths
    assert [text.get_text() for text in ax.texts] == ["3", "10", "23"]
    assert "INGO: ingo_set_0, ingo_set_1, ingo_rule_0. CMA-ES in" in caption
    assert "The update of INGO has 3, that of CMA-ES 10; but" in caption
    assert "of what its user does set there are 3, of INGO 2. pycma" in caption
    assert "lets its user change 23, 6 of them of the update." in caption
