"""All verdicts once more, from the kept tables, by code that shares nothing with the rule's: of
each claim, and of each of its settings and readings, with how many statements hold.

Intervals are computed anew too: Wilson's by its formula, Newcombe's on a grid, the bootstrap with
other random numbers. (That the tables are those of the kept traces: test_kept_results.py.)
"""

from __future__ import annotations

from functools import cache
from inspect import signature
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

ROOT = Path(__file__).parent.parent
KEPT = ROOT / "results" / "published"
CLAIMS = {
    c["id"]: c
    for c in yaml.safe_load((ROOT / "experiments/claims/claims.yaml").read_text(encoding="utf-8"))
}
KEPT_CLAIMS = pd.read_csv(KEPT / "claims.csv").set_index("id")
KEPT_PARTS = pd.read_csv(KEPT / "claims_parts.csv")
GRID = np.array([float(f"{10 ** (k / 5):.4g}") for k in range(40, -51, -1)])  # 1e8 … 1e-10
NORMAL = 1.959963984540054  # 97.5 %


@cache
def table(experiment):
    """The runs of an experiment; none where it has not been run."""
    folder = KEPT / "field" / "tables" if experiment.startswith("bbob") else KEPT / "tables"
    path = folder / experiment / "runs.parquet"
    return pd.read_parquet(path) if path.is_file() else None


def runs(experiment, problem, algorithm):
    whole = table(experiment)
    if whole is None:
        raise LookupError(experiment)
    own = whole[(whole.problem == problem) & (whole.algorithm == algorithm)]
    if own.empty:
        raise LookupError(f"{experiment}/{problem}/{algorithm}")
    return own.set_index("seed").sort_index()


def first_hit(own, target):
    """Evaluations to a target of the grid, by its place among the hits; inf if never."""
    place = int(np.argmin(np.abs(np.log(GRID) - np.log(target))))
    return np.array([h[place] if len(h) > place else np.inf for h in own["hits"]], dtype=float)


def share(k, n):
    """k of n with Wilson's interval."""
    p, z2 = k / n, NORMAL**2
    centre = (p + z2 / (2 * n)) / (1 + z2 / n)
    half = NORMAL / (1 + z2 / n) * np.sqrt(p * (1 - p) / n + z2 / (4 * n * n))
    return p, max(0.0, centre - half), min(1.0, centre + half)


def boot(statistic, *samples):
    """The statistic with percentiles over resampled runs; no interval for five runs or fewer."""
    with np.errstate(all="ignore"):
        value = float(statistic(*samples))
        if np.isnan(value):
            return value, value, value
        if min(map(len, samples)) < 6:
            return value, -np.inf, np.inf
        rng = np.random.default_rng(20)
        draws = np.array(
            [statistic(*(rng.choice(s, len(s)) for s in samples)) for _ in range(1500)]
        )
    low = np.sort(np.where(np.isnan(draws), -np.inf, draws))[37]
    high = np.sort(np.where(np.isnan(draws), np.inf, draws))[-38]
    return value, low, high


def ratio_of_medians(a, b):
    return np.median(a) / np.median(b)


def success_rate(experiment, problem, algorithm, target=1e-10):
    reached = np.isfinite(first_hit(runs(experiment, problem, algorithm), target))
    return share(reached.sum(), reached.size)


def wins(experiment, problem, algorithm, than, column="best", beside=None):
    a, b = runs(experiment, problem, algorithm), runs(beside or experiment, problem, than)
    seeds = sorted(set(a.index) & set(b.index))
    count = 0
    for s in seeds:
        times = [first_hit(x.loc[[s]], 1e-10)[0] for x in (a, b)]
        pair = times if np.isfinite(times).all() else [a.at[s, column], b.at[s, column]]
        count += pair[0] < pair[1]
    return share(count, len(seeds))


def ahead(experiment, problem, algorithm, than, within):
    a, b = (runs(experiment, problem, name)["hits"] for name in (algorithm, than))
    count = 0
    for s in sorted(set(a.index) & set(b.index)):
        x, y = ([t for t in hits[s] if t <= within] for hits in (a, b))
        count += len(x) > len(y) or (len(x) == len(y) > 0 and x[-1] < y[-1])
    return share(count, len(a))


MULTIPLES = ("4", "2", "1", "0.5", "0.25", "0.125")


def settings(experiment, method):
    """The names of a method's settings: its β, its σ₁, or both."""
    if table(experiment) is None:
        raise LookupError(experiment)
    named = set(table(experiment)["algorithm"])
    ends = {
        "step_sizes": MULTIPLES,
        "robustness": ("0.05", "0.5", "5"),
        "wide_starts": ["1", "2", *(f"{s}_{b}" for s in "12" for b in ("1", "0.5", "0.25"))],
        "figure_4": ("1", "0.1", "0.01", "0.001", "0.0001"),
        "figure_1": (),
    }[experiment]
    found = {method, *(f"{method}_{end}" for end in ends)} & named
    if not found:
        raise LookupError(method)
    return sorted(found)


def more_solved(experiment, algorithm, than):
    def by_seed(method):
        names = settings(experiment, method)
        own = table(experiment)
        own = own[own.algorithm.isin(names)]
        return own["best"].sub(own["minimum"]).le(1e-10).groupby(own["seed"]).mean()

    return boot(np.mean, (by_seed(algorithm) - by_seed(than)).to_numpy())


MISSED = 1e12


def wins_at_best(experiment, problem, algorithm, than, column="best", beside=None):
    def scores(where, method):
        """Seeds by settings; evaluations where the target was reached, beyond all of them else."""
        columns = {}
        for name in settings(where, method):
            own = runs(where, problem, name)
            time = first_hit(own, 1e-10)
            score = np.where(np.isfinite(time), time, MISSED * (1 + own[column]))
            columns[name] = pd.Series(score, index=own.index)
        return pd.DataFrame(columns).dropna()

    a, b = scores(experiment, algorithm), scores(beside or experiment, than)
    seeds = sorted(set(a.index) & set(b.index))
    count = 0
    for s in seeds:
        chosen = []
        for own in (a, b):
            others = np.sort(own.loc[[other for other in seeds if other != s]], axis=0)
            reached, middle = (others < MISSED).sum(axis=0), others[len(others) // 2]
            best = np.lexsort((middle, -reached))[0]
            chosen.append(own.loc[s].iloc[best])
        count += chosen[0] < chosen[1]
    return share(count, len(seeds))


def final_ratio(experiment, problem, algorithm, than, column):
    a, b = (runs(experiment, problem, name)[column].to_numpy() for name in (algorithm, than))
    return boot(ratio_of_medians, a, b)


def linearity(experiment, problem, algorithm, start=1.0):
    place = int(np.argmin(np.abs(GRID - start)))

    def straight(hits):
        if len(hits) < len(GRID):
            return 0.0
        x, y = np.asarray(hits[place:], dtype=float), np.log10(GRID[place:])
        left = y - np.polyval(np.polyfit(x, y, 1), x)
        return 1 - left.var() / y.var()

    return boot(
        np.median, np.array([straight(h) for h in runs(experiment, problem, algorithm).hits])
    )


def slowdown(experiment, problem, algorithm, than, target=1e-10):
    a, b = (first_hit(runs(experiment, problem, name), target) for name in (algorithm, than))
    return boot(ratio_of_medians, a, b)


def rotation(experiment, plain, problem, algorithm):
    a, b = (first_hit(runs(e, problem, algorithm), 1e-10) for e in (experiment, plain))
    return boot(ratio_of_medians, a, b)


def last_progress(experiment, problem, algorithm):
    own = runs(experiment, problem, algorithm)
    return boot(np.median, np.array([h[-1] for h in own.hits]) / own["evaluations"].to_numpy())


def diverged(experiment, problem, algorithm, column="batch_min", first="batch_mean"):
    own = runs(experiment, problem, algorithm)
    up = ~(own[column] <= own[f"first_{first}"])
    lost = up | own["stop"].eq("diverged") | own["stop"].eq("not_positive_definite")
    return share(lost.sum(), len(lost))


def reached(experiment, algorithm, than, targets, within=np.inf):
    whole = table(experiment)

    def mean_shares(name):
        shares = []
        for problem, all_runs in whole.groupby("problem"):
            if targets == "fixed":
                asked = GRID[(GRID <= 100.0) & (GRID >= 1e-10)]
            elif targets == "bbob":
                asked = GRID[(GRID <= 100.0) & (GRID >= 0.99e-8)]
            else:
                worst = (all_runs["first_batch_min"] - all_runs["minimum"]).max()
                asked = GRID[(worst > GRID) & (np.arange(len(GRID)) < all_runs.hits.map(len).max())]
            own = runs(experiment, problem, name)
            times = np.array([first_hit(own, target) for target in asked])
            shares.append((np.isfinite(times) & (times <= within)).mean(axis=0))
        return np.mean(shares, axis=0)

    return boot(lambda a, b: a.mean() / b.mean(), mean_shares(algorithm), mean_shares(than))


def drift(experiment, problem, algorithm):
    own = runs(experiment, problem, algorithm)
    steps = own["iteration"] - 1
    return boot(
        np.mean, (own["dim"] * np.log((own["sigma"] / own["first_sigma"]) ** 2) / steps).to_numpy()
    )


def larger_reward(experiment, problem, algorithm, than, column):
    """P(A > B) for rewards, with all θ that a score test does not refuse."""
    a, b = (-runs(experiment, problem, name)[column].to_numpy() for name in (algorithm, than))
    m, n = len(a), len(b)
    value = np.mean((a[:, None] > b) + 0.5 * (a[:, None] == b))
    theta = np.linspace(0, 1, 200_001)[1:-1]
    more = (m + n) / 2 - 1
    variance = theta * (1 - theta) * (1 + more * ((1 - theta) / (2 - theta) + theta / (1 + theta)))
    inside = theta[(value - theta) ** 2 <= NORMAL**2 * variance / (m * n)]
    return value, 0.0 if value == 0 else inside.min(), 1.0 if value == 1 else inside.max()


def rows_of(name, **only):
    rows = pd.read_csv(KEPT / "tables" / "theory" / f"{name}.csv")
    for column, value in only.items():
        rows = rows[rows[column] == value]
    return rows


def bound_ratio(table, value, bound, **only):
    rows = rows_of(table, **only)
    ends = [(rows[name] / rows[bound]).max() for name in (value, f"{value}_low", f"{value}_high")]
    return tuple(ends)


def exponent(table, **only):
    row = rows_of(table, **only).iloc[0]
    return row["slope"], row["slope_low"], row["slope_high"]


def exponent_over_rate(table, **only):
    row = rows_of(table, **only).iloc[0]
    return tuple(row[name] - row["slope_of_rate"] for name in ("slope", "slope_low", "slope_high"))


def ratio(table, **only):
    (row,) = rows_of(table, **only).to_dict("records")
    return row["ratio"], row["ratio_low"], row["ratio_high"]


def power(table, column, **only):
    return (rows_of(table, **only)[column].iloc[0],) * 3


def largest(table, column, **only):
    return (np.abs(rows_of(table, **only)[column]).max(),) * 3


def hyper_parameters(method, than, **only):
    count = rows_of("hyper_parameters", **only)["method"].value_counts()
    return (count[method] / count[than],) * 3


FOUND = {}  # the values by claim and by name of the part


def outcome(claim, measure, low, high, arguments):
    """Whether a part holds: True, False, None for one that its interval leaves open, or "missing"
    without runs.
    """
    name = ", ".join(str(v) for k, v in arguments.items() if k != "plain")
    try:
        value, least, most = globals()[measure](**arguments)
    except LookupError:
        return "missing"
    FOUND[claim, f"{measure}({name})"] = value
    if np.isnan(value):
        return None
    if (low is None or least >= low) and (high is None or most <= high):
        return True
    if (low is not None and most < low) or (high is not None and least > high):
        return False
    return None


def judged(claim, entries, quantifier):
    """The verdict on the statements of these entries, with how many hold of how many."""
    outcomes, ran = [], False
    for entry in entries:
        own = dict(entry)
        measure, low, high = own.pop("measure"), own.pop("at_least", None), own.pop("at_most", None)
        asked, _ = own.pop("quantifier", quantifier), own.pop("setting", None)
        lists = [v if isinstance(v, list) else [v] for v in own.values()]
        some = [
            outcome(claim, measure, low, high, dict(zip(own, values, strict=True)))
            for values in product(*lists)
        ]
        ran |= any(o != "missing" for o in some)
        some = [None if o == "missing" else o for o in some]
        if asked == "all":
            outcomes += some
        elif asked == "overall":
            most = [o for o in (True, False) if some.count(o) > len(some) / 2]
            tied = some.count(False) * 2 == len(some)
            outcomes.append(most[0] if most else False if tied else None)
        else:
            outcomes.append(True if True in some else None if None in some else False)
    holding = f"{outcomes.count(True)} of {len(outcomes)}"
    if {True, False} <= set(outcomes):
        return f"partly, {holding}"
    if None in outcomes:
        return f"{'inconclusive' if ran else 'not run'}, {holding}"
    return f"{'reproduced' if outcomes[0] else 'not reproduced'}, {holding}"


def read_so(entries, changes):
    """The entries of a reading, or these with the arguments that it changes, where they fit."""
    if isinstance(changes, list):
        return changes
    return [
        entry
        | {
            k: v
            for k, v in changes.items()
            if k in signature(globals()[entry["measure"]]).parameters
        }
        for entry in entries
    ]


@pytest.mark.parametrize("number", CLAIMS)
def test_verdicts_are_the_kept_ones(number):
    claim, kept = CLAIMS[number], KEPT_CLAIMS.loc[number]
    verdict, _, holding = judged(number, claim["parts"], claim["quantifier"]).partition(", ")
    assert verdict == kept["verdict"]
    assert f" {holding} parts hold." in kept["why"] or verdict == "not run"
    others = {}
    for entry in claim["parts"]:
        if where := entry.get("setting", ""):
            others.setdefault(where[0].upper() + where[1:], []).append(entry)
    for word, key in (("With", "readings"), ("What it would take,", "takes")):
        for name, changes in claim.get(key, {}).items():
            others[f"{word} {name}"] = read_so(claim["parts"], changes)
    for name, entries in others.items():
        assert f" {name}: {judged(number, entries, claim['quantifier'])}" in kept["why"]
    own = KEPT_PARTS[(KEPT_PARTS["id"] == number) & (KEPT_PARTS["holds"] != "not run")]
    assert {part for of, part in FOUND if of == number} == set(own["part"])
    again = [FOUND[number, part] for part in own["part"]]
    assert again == pytest.approx(own["value"].to_list(), rel=1e-9, abs=1e-12, nan_ok=True)
