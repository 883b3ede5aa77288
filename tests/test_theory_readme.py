"""The numbers of experiments/theory/README.md are those of the kept tables."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from experiments.paths import PUBLISHED, ROOT
from experiments.theory.commands import QUESTIONS

TEXT = (ROOT / "experiments" / "theory" / "README.md").read_text(encoding="utf-8")


def kept(question):
    return pd.read_csv(ROOT / PUBLISHED / "tables" / "theory" / f"{question}.csv")


def numbers(pattern):
    """The groups of the one place in the text that has this pattern, as numbers."""
    (found,) = re.findall(pattern, TEXT)
    words = [found] if isinstance(found, str) else found
    return [float(word.replace(",", "").replace("−", "-")) for word in words]


def test_every_question_has_a_row():
    rows = re.findall(r"^\|.*\| \[`(\w+)`\]\((\w+)\.py\) \|", TEXT, re.MULTILINE)
    assert sorted(name for name, _ in rows) == sorted(QUESTIONS)
    assert all(name == file for name, file in rows)


def test_the_gap():
    table = kept("gap").set_index("condition")
    d, last, fails, factor = numbers(
        r"at d = (\d+) the inequality holds at κ = 1 and (\d+), fails at κ = (\d+), and is wrong "
        r"by a factor of (\d+) at κ = 10⁴"
    )
    assert (table["dim"] == d).all()
    holds = table["measured_high"] < table["bound"]
    assert holds[1]
    assert holds[last]
    assert table.loc[fails, "measured_low"] > table.loc[fails, "bound"]
    assert round(table.loc[1e4, "exact"] / table.loc[1e4, "bound"]) == factor


def test_the_powers_of_t():
    """T⁻¹ where f is smooth; with kinks all but antithetic pairs, which have T⁻¹ there too."""
    assert "falls like T⁻¹ for the smooth function" in TEXT
    slopes = kept("regret").groupby(["problem", "algorithm"])["slope"].first().unstack()
    assert slopes.loc["quadratic"].round(1).eq(-1.0).all()
    assert slopes["antithetic"].round(2).between(-1.0, -0.98).all()
    rest = slopes.drop(index="quadratic", columns="antithetic")
    assert [rest.max().max().round(1), rest.min().min().round(1)] == numbers(
        r"like T\^(-[\d.]+) to T\^(-[\d.]+) for the two with kinks"
    )


def test_more_regret_of_independent_samples():
    growth = kept("growth").pivot(index=["problem", "dim"], columns="estimator", values="regret")
    more = (growth["batch"] / growth["orthogonal"]).max() - 1
    assert [round(100 * more)] == numbers(r"independent samples have at most (\d+) % more regret")


def test_the_ratios_of_orthogonal_samples():
    table = kept("orthogonal")
    moment = table[table["quantity"] == "second_moment"]
    d, narrow, start, minimiser = numbers(
        r"At N = d = (\d+) orthogonal samples have ([\d.]+) times the second moment of independent "
        r"ones where f is almost linear, ([\d.]+) with Σ = I/d, and at the minimiser ([\d.]+)\. "
    )
    assert moment["dim"].eq(d).all()
    at_d = moment[moment["samples"] == d].pivot(index="problem", columns="place", values="ratio")
    for place, said in (("narrow", narrow), ("start", start), ("minimiser", minimiser)):
        assert at_d[place].to_numpy() == pytest.approx(said, abs=0.011)
    regret = table[table["quantity"] == "regret"].set_index("dim")["ratio"]
    low, high, first, last = numbers(
        r"they have ([\d.]+) to ([\d.]+) times as much, the less at d = (\d+) and next to the same "
        r"at d = (\d+):"
    )
    assert (regret.min().round(2), regret.max().round(2)) == (low, high)
    assert (regret.index.min(), regret.index.max()) == (first, last)
    assert regret[first].mean() < regret[16].mean() < regret[last].mean()
    assert regret[last].to_numpy() == pytest.approx(1.0, abs=0.03)


def test_the_powers_of_sigma():
    table = kept("update_size").groupby(["function", "algorithm"])[["mean_power", "variance_power"]]
    powers = table.first().unstack(level="function")
    plain = -powers.loc["reinforce_gd"].unstack(level=0).loc[:, ["mean_power", "variance_power"]]
    found = numbers(
        r"powers of 1/σ: (\d) and (\d) on a linear function that is 0 at μ; up to (\d) and (\d) "
        r"where f does not vanish, the case of the paper's sentence; (\d) and (\d) on a quadratic"
    )
    said = np.array(found).reshape(3, 2)
    assert plain.loc["linear"].to_numpy() == pytest.approx(said[0], abs=1e-4)
    assert plain.loc["quadratic"].to_numpy() == pytest.approx(said[2], abs=1e-4)
    far = plain.loc["linear_at_1"].to_numpy()
    assert (far <= said[1]).all()
    assert far == pytest.approx(said[1], abs=0.2)
    assert powers.drop(index="reinforce_gd").abs().max().max() < 1e-6


def test_the_size_of_the_fisher_matrix():
    p, d, p_2, d_2 = numbers(r"rows, ([\d,]+) at d = (\d+) and ([\d,]+) at d = (\d+);")
    assert (p, p_2) == (d * (d + 3) / 2, d_2 * (d_2 + 3) / 2)
