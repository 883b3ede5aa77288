"""The page about the field: pictures, one table, and sentences whose numbers come from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd

from figures.ecdf import ALL
from problems.bbob import GROUPS

CHANGED = (
    "The limits were written down before the runs. Two things were changed once the first runs at "
    "d = 5 had failed them: runs that stagnate are started anew, without which CMA-ES stayed to "
    "the end of its budget near a minimum of Schaffers F7 (f17, f18), whose values are rough "
    "there; and functions that the published runs solve only later than our budget are not asked "
    "for."
)
LEVEL = 0.05  # of each sentence's tests together
MORE, FEWER, EQUAL = 1, -1, 0
Place = tuple[str, str]  # an experiment and a group of functions
Sizes = Mapping[str, Mapping[str, Any]]  # by experiment: labels, runs, budget, dim


class Table:
    """Lookups in the table of standings."""

    def __init__(self, rows: pd.DataFrame, sizes: Sizes) -> None:
        self.rows = rows
        self.sizes = sizes
        by_dim = sorted(sizes, key=lambda e: int(sizes[e]["dim"]))
        self.real = [e for e in by_dim if e.startswith("bbob") and "unseen" not in e]
        self.unseen = [e for e in by_dim if e.startswith("bbob") and "unseen" in e]
        self.binary = [e for e in by_dim if e.startswith("pbo")]

    @classmethod
    def alone(cls, rows: pd.DataFrame) -> Table:
        """Of a kept table, whose rows have the labels of the methods."""
        sizes = {
            str(e): {
                "dim": int(own["dim"].iloc[0]),
                "labels": dict(zip(own["algorithm"], own["label"], strict=True)),
            }
            for e, own in rows.groupby("experiment", sort=False)
        }
        return cls(rows, sizes)

    def having(self, experiments: Sequence[str], *methods: str) -> list[str]:
        """Those of the experiments that have rows of all these methods."""
        return [e for e in experiments if all(self.of(e, m) is not None for m in methods)]

    def of(self, experiment: str, algorithm: str, group: str = ALL) -> Any:
        """The row of a method; None if there is none."""
        rows = self.rows
        at = (rows["experiment"] == experiment) & (rows["algorithm"] == algorithm)
        found = rows[at & (rows["group"] == group)]
        return found.iloc[0] if len(found) else None

    def dim(self, experiment: str) -> str:
        """Its dimension: "d = 5", or "n = 64" of bits."""
        letter = "n" if experiment in self.binary else "d"
        return f"{letter} = {self.sizes[experiment]['dim']}"

    def methods(self, experiments: list[str]) -> dict[str, str]:
        """The methods of these experiments, and what each is called."""
        return {k: v for e in reversed(experiments) for k, v in self.sizes[e]["labels"].items()}

    def share(self, experiment: str, algorithm: str, group: str = ALL) -> str:
        """The share of the targets in words: "74 %", or "—"."""
        row = self.of(experiment, algorithm, group)
        return "—" if row is None else f"{row['share']:.0%}".replace("%", " %")

    def ratio(self, experiment: str, algorithm: str) -> str:
        """aRT over the peer's, and over how many functions: "2.1 (19)", or "—"."""
        row = self.of(experiment, algorithm)
        known = row is not None and row["ratio_of"]
        return f"{_two(row['ratio'])} ({row['ratio_of']:g})" if known else "—"

    def solved(self, experiment: str, algorithm: str) -> str:
        """The runs that found the optimum: "240/345"."""
        row = self.of(experiment, algorithm)
        return "—" if row is None else f"{row['solved']:g}/{row['runs']:g}"

    def leads(self, algorithm: str, places: Sequence[Place]) -> dict[Place, int]:
        """Where a method reaches MORE or FEWER targets than its peer, and where they are not told
        apart, by the tests of all these places together (Holm); not where one of both is missing.
        """
        found = {place: self.of(place[0], algorithm, place[1]) for place in places}
        known = {k: row for k, row in found.items() if row is not None and row["lead_p"] <= 1}
        ranked = sorted(known, key=lambda place: known[place]["lead_p"])
        signs, differ = dict.fromkeys(known, EQUAL), True
        for k, place in enumerate(ranked):
            differ = differ and known[place]["lead_p"] * (len(ranked) - k) <= LEVEL
            if differ:
                signs[place] = MORE if known[place]["lead"] > 0 else FEWER
        return signs


def page(
    rows: pd.DataFrame,
    checks: pd.DataFrame,
    sizes: Sizes,
    figures: Mapping[str, str],
    cost: Mapping[str, Mapping[str, Any]],
) -> str:
    """The page as Markdown.

    Args:
        rows: of ``standing.standing``.
        checks: of ``golden.golden``.
        sizes: of each experiment.
        figures: the pictures with their titles.
        cost: of the cells of each experiment, from the manifest.
    """
    table = Table(rows, sizes)
    said = [_overall(table), _default(table), _groups(table), _bits(table)]
    lines = [
        "# INGO among the field",
        "",
        "Made by `make field`: the optimisers on the two standard benchmarks of their field, with "
        "their functions and targets.",
        "",
        *_for_whom(table),
        "",
        "## Table",
        "",
        *_standings(table),
        "",
        "## In words",
        "",
        *(f"- {sentence}" for sentence in said if sentence),
        "",
        "## Pictures",
        "",
        *(f"![{title}](figures/{name}.png)\n" for name, title in figures.items()),
        "## Is the set-up right?",
        "",
        *(_check(check) for check in checks.itertuples()),
        "",
        CHANGED,
        "",
        "## What was run",
        "",
        *_settings(table),
        f"- {_cost([cell for name in sizes for cell in cost.get(name, {}).values()])}",
    ]
    return "\n".join(lines).rstrip() + "\n"


def headline(table: Table) -> str:
    """Where INGO stands in the largest dimensions of both benchmarks, as far as they are there."""
    parts = []
    for experiments, method, others, shown, what in (
        (table.real, "ingo", ("cma_es", "igo"), table.share, "reaches {} of COCO's targets"),
        (table.binary, "bernoulli_ingo", ("one_plus_one_ea",), table.solved,
         "finds the optimum of bit strings in {} runs"),
    ):  # fmt: skip
        if there := table.having(experiments, method):
            e, labels = there[-1], table.methods(there)
            own = f"{labels[method]} {what.format(shown(e, method))}"
            than = [f"{labels[m]} {shown(e, m)}" for m in others if table.having([e], m)]
            parts.append(f"at {table.dim(e)} {', '.join([own, *than])}")
    return f"{_capital('; '.join(parts))}." if parts else ""


def _settings(table: Table) -> list[str]:
    """What was run, and what a sceptic has to know of it."""
    lines = []
    if table.real:
        budgets = ", ".join(f"{table.sizes[e]['budget']:,} at {table.dim(e)}" for e in table.real)
        lines.append(
            f"- COCO's bbob: {_functions(table, table.real)} functions of real vectors, "
            f"{table.sizes[table.real[0]]['runs']} instances of each; budgets of {budgets} "
            "evaluations. All methods start with the paper's N, σ₁ = 2 and a mean uniform in "
            "[−5, 5]^d. A run that ends is started anew at another point with twice the samples: "
            "where its points are within 1e-12 σ₁ of each other or its values within 1e-12 and "
            "rounding, and where its batches get no better over a fifth of the run (the stagnation "
            "of CMA-ES's tutorial), for all methods alike; and where the method ends itself, as "
            "INGO and IGO do at one batch of equal values. pycma's own tests for a restart are "
            "off. A step that would lose a positive definite covariance, where the paper's "
            "algorithms end, is halved until it does not: often for IGO and Fast-INGO in small "
            "dimensions. Evaluations are counted at the end of a batch, restarts are not simulated."
        )
    if table.binary:
        budgets = ", ".join(f"{table.sizes[e]['budget']:,} at {table.dim(e)}" for e in table.binary)
        lines.append(
            f"- The PBO suite: {_functions(table, table.binary)} problems of bit strings whose "
            f"optimum is known, {table.sizes[table.binary[0]]['runs']} runs of each; budgets of "
            f"{budgets} evaluations. Discrete INGO, which ends at a batch of equal values, and the "
            "GA, after 1,000 generations without progress, are started anew with twice the "
            "samples; the (1+1)-EA, UMDA and PBIL never come to rest. UMDA's and PBIL's samples "
            "were chosen with a look at LeadingOnes."
        )
    lines.append(
        "- More and fewer: by Wilcoxon's signed-rank test of the shares that were reached by the "
        "end of the budget, paired by instance on bbob and by seed on bits; two-sided, 5 %, Holm "
        "over all that a sentence compares, of the groups over those of all dimensions."
    )
    return lines


def _functions(table: Table, experiments: list[str]) -> int:
    """How many functions a method ran on."""
    rows = table.rows
    own = rows[(rows["experiment"] == experiments[0]) & (rows["group"] == ALL)]
    return int(own["runs"].max() / table.sizes[experiments[0]]["runs"]) if len(own) else 0


def _cost(cells: list[Any]) -> str:
    """What the runs took."""
    runs = sum(cell["runs"] for cell in cells)
    hours = sum(cell["cpu_seconds"] or 0.0 for cell in cells) / 3600
    return f"The {runs:,} runs took {hours:.1f} hours of CPU time ([manifest](manifest.json))."


def _overall(table: Table) -> str:
    """INGO beside CMA-ES on all functions, in 5 and in the most dimensions."""
    there = table.having(table.real, "ingo")
    shown = [e for e in there if e in there[-1:] or table.sizes[e]["dim"] == 5]
    than = table.leads("ingo", [(e, ALL) for e in shown])
    parts = [
        f"at {table.dim(e)} INGO reaches {table.share(e, 'ingo')} of the targets"
        + _than(than.get((e, ALL)), f"CMA-ES's {table.share(e, 'cma_es')}")
        + _times(table.ratio(e, "ingo"))
        + f"; IGO reaches {table.share(e, 'igo')}, Fast-INGO {table.share(e, 'fast_ingo')}, "
        f"sep-CMA-ES {table.share(e, 'sep_cma_es')}"
        for e in shown
    ]
    if not parts:
        return ""
    return (
        f"**bbob.** {'. '.join(map(_capital, parts))}. In brackets the functions on which both get "
        "there. The paper's sentence “competitive with CMA-ES overall” (claim 20) is judged on its "
        "own six functions; this is the same question on those of the field."
    )


def _times(ratio: str) -> str:
    """INGO's aRT over CMA-ES's, if there is one."""
    return "" if ratio == "—" else f", and its aRT to 10⁻⁸ is {ratio} times that of CMA-ES"


def _than(lead: int | None, other: str) -> str:
    """How a share compares with another one."""
    words = {MORE: "more than", FEWER: "fewer than", EQUAL: "not told apart from"}
    return "" if lead is None else f", {words[lead]} {other}"


def _default(table: Table) -> str:
    """What a step size of the mean's own changes, on instances that it was not chosen on."""
    if not table.unseen:
        return ""
    parts = [
        f"{table.dim(e)}: "
        + ", ".join(
            f"{label} {table.share(e, name)}"
            + (f" and {table.ratio(e, name)}" if name != "cma_es" else "")
            for name, label in table.sizes[e]["labels"].items()
        )
        for e in table.unseen
    ]
    return (
        "**Steps of the mean's own.** The paper moves mean and covariance by one β. With η = 1 for "
        "the mean and β for Σ alone (`mean_step_size: 1.0`, not the paper's method), and with "
        "β = ½√N/d, on other instances of the same functions than those that η and β were chosen "
        "on, the share of targets, and aRT to 10⁻⁸ over CMA-ES's (in brackets the functions on "
        f"which both get there), are, at {'; at '.join(parts)}."
    )


def _groups(table: Table) -> str:
    """In which groups INGO reaches more than CMA-ES, in the largest dimension."""
    there = table.having(table.real, "ingo")
    if not there:
        return ""
    e = there[-1]
    than = table.leads("ingo", _places(table, "ingo", table.real))
    parts = [
        f"{group}: {table.share(e, 'ingo', group)}"
        + _than(than.get((e, group)), f"CMA-ES's {table.share(e, 'cma_es', group)}")
        for group in GROUPS
        if table.of(e, "ingo", group) is not None
    ]
    return f"**By group**, INGO at {table.dim(e)}. {_capital('; '.join(parts))}."


def _bits(table: Table) -> str:
    """Discrete INGO beside its peers, at the largest size."""
    if not table.binary:
        return ""
    e = table.binary[-1]
    parts = [f"{label} in {table.solved(e, k)}" for k, label in table.sizes[e]["labels"].items()]
    return (
        f"**Pseudo-Boolean problems.** At {table.dim(e)} the optimum is found in so many runs: "
        f"{', '.join(parts)}."
    )


def _for_whom(table: Table) -> list[str]:
    """For whom INGO is the right tool: a line for each benchmark and method."""
    lines = []
    for kind, experiments, name, peer, about in (
        ("On real vectors", table.real, "ingo", "CMA-ES", ""),
        ("On real vectors", table.unseen, "ingo_default", "CMA-ES",
         " (not the paper's: a step of 1 for the mean, and a longer one for Σ), on instances that "
         "these steps were not chosen on,"),
        ("On bit strings", table.binary, "bernoulli_ingo", "the (1+1)-EA", ""),
        ("On bit strings", table.binary, "bernoulli_ingo_sqrt", "the (1+1)-EA", ""),
    ):  # fmt: skip
        if text := _choice(table, kind, experiments, name, peer, about):
            lines.append(f"- {text}")
    return lines


def _choice(
    table: Table, kind: str, experiments: list[str], algorithm: str, peer: str, about: str
) -> str:
    """Whether to take a method or its peer: the one that reaches more in more groups and
    dimensions; where that is equal, the one that is sooner in all dimensions; else either.
    """
    leads = table.leads(algorithm, _places(table, algorithm, experiments))
    if not leads:
        return ""
    signs = list(leads.values())
    more, fewer, equal = (signs.count(sign) for sign in (MORE, FEWER, EQUAL))
    rows = [table.of(e, algorithm) for e in experiments]
    ratios = [row["ratio"] for row in rows if row is not None and row["ratio_of"]]
    slower = bool(ratios) and min(ratios) > 1
    sooner = bool(ratios) and max(ratios) < 1
    label = table.methods(experiments)[algorithm]
    if more > fewer or (more == fewer and sooner):
        advice = f"{label} rather than {peer}"
    elif fewer > more or slower:
        advice = f"{peer} rather than {label}"
    else:
        advice = f"{label} or {peer}"
    bits = experiments == table.binary
    named = [
        table.dim(e) if group == ALL else f"{group} at {table.dim(e)}"
        for (e, group), lead in leads.items()
        if lead == MORE
    ]
    level = [
        row["ratio"]
        for (e, group), lead in leads.items()
        if lead == EQUAL and (row := table.of(e, algorithm, group))["ratio_of"]
    ]
    what, fewer_of = ("the optimum in more runs", "in fewer") if bits else ("more targets", "fewer")
    target = "the optimum" if bits else "10⁻⁸"
    of = f"{len(leads)} {'sizes' if bits else 'groups and dimensions'}"
    return (
        f"**{kind}, {advice}.** {label}{about} reaches {what} than {peer} in {more} of {of}"
        + (f" ({'; '.join(named)})" if named else "")
        + f" and {fewer_of} in {fewer}, and is not told apart from it in {equal}"
        + (
            f", where it takes {_range(level)} times the evaluations to {target} on what both solve"
            if level
            else ""
        )
        + "."
        + (f" Over all functions, by dimension: {_range(ratios)} times." if ratios else "")
    )


def _places(table: Table, algorithm: str, experiments: list[str]) -> list[Place]:
    """All groups of functions in all dimensions, whose tests are one family; of bits all sizes."""
    return [
        (e, group)
        for e in experiments
        for group in ([g for g in GROUPS if table.of(e, algorithm, g) is not None] or [ALL])
    ]


def _range(ratios: list[float]) -> str:
    """From the lowest to the highest."""
    low, high = _two(min(ratios)), _two(max(ratios))
    return low if low == high else f"{low} to {high}"


def _standings(table: Table) -> list[str]:
    """The table: a block for each benchmark."""
    lines = []
    if table.real:
        lines += [
            "Share of COCO's 51 targets from 10² to 10⁻⁸, over functions and instances; beside it "
            "aRT (average running time: the evaluations of all runs over the number of runs that "
            "got there) to 10⁻⁸ over that of CMA-ES, geometric mean over the functions (how many) "
            "on which both get there. These are other functions for each method, and for one that "
            "solves more they are harder ones. η, the step of the mean, and β of the second and "
            "third row were chosen on some of these instances; on others: see below.",
            "",
            *_block(table, table.real, table.share),
        ]
    if table.binary:
        lines += [
            "",
            "Runs that found the optimum, of all on the problems whose optimum is known; beside it "
            "aRT to it over that of the (1+1)-EA, as above.",
            "",
            *_block(table, table.binary, table.solved),
        ]
    return lines


def _block(table: Table, experiments: list[str], shown: Callable[[str, str], str]) -> list[str]:
    """A row for each method: what is shown, then aRT over the peer's, in each dimension."""
    dims = [table.dim(e) for e in experiments]
    return [
        f"| method | {' | '.join(dims)} | " + " | ".join(f"aRT, {d}" for d in dims) + " |",
        "|---|" + "---|" * (2 * len(dims)),
        *(
            f"| {label} | "
            + " | ".join(cell(e, name) for cell in (shown, table.ratio) for e in experiments)
            + " |"
            for name, label in table.methods(experiments).items()
        ),
    ]


def _check(check: Any) -> str:
    """A number held against a published one."""
    verdict = "as it has to be" if check.holds else "**not as it has to be**"
    if check.what.startswith("CMA-ES"):
        return (
            f"- {check.what}: our evaluations to 10⁻⁸ are {check.ratio:.2f} times those of the "
            f"published IPOP-CMA-ES, whose N was smaller: geometric mean over the {check.of} "
            f"functions that all runs of both solve, of {check.out_of} that all of its runs do "
            "within our budget. "
            f"Allowed from {check.low} to {check.high}: {verdict}."
        )
    return (
        f"- {check.what}: {check.ratio:.2f} times the expected evaluations, allowed from "
        f"{check.low} to {check.high}: {verdict}."
    )


def _two(ratio: float) -> str:
    """A ratio with two digits, more if it is larger."""
    return f"{ratio:.0f}" if ratio >= 9.95 else f"{ratio:#.2g}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
