"""What a control experiment came to: interquartile means, and who beats whom.

    python -m experiments.tables.rewards results/tables/figure_2 \\
        --to results/tables/figure_2/rewards

After Agarwal et al. (2021, "Deep Reinforcement Learning at the Edge of the Statistical Precipice"):
few runs are summed up by the mean of their middle half, whose interval comes from a bootstrap that
resamples the runs of each task by themselves (stratified), and two methods by the probability that
a run of the one does better than a run of the other. Differs: the intervals of these probabilities
are score intervals, as for the claims; a bootstrap has none where all pairs go the same way.

Intervals take runs for independent. The methods of a seed share their start states, though, arms
of one method their noise too, and so do tasks: runs that are alike across methods would make an
interval too wide, and across tasks too narrow.
"""

from __future__ import annotations

from itertools import permutations, product
from math import hypot

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from experiments.tables import commands, files
from experiments.tables.estimates import Estimate, bootstrap, newcombe

Array = NDArray[np.float64]
COLUMNS = {
    # of the table of runs, whose values are negated rewards
    "area_batch_mean": "average reward, over the whole run",
    "batch_mean": "average reward, at the end",
    "area_f_mean": "reward of the mean policy, over the whole run",
    "f_mean": "reward of the mean policy, at the end",
}
ALL = "all tasks"
# runs of a task; of three the interval holds the mean in 7 studies of 10, of five in 9: enough to
# read, not to decide a claim (measures.FEWEST)
FEWEST_FOR_MEAN = 5


def interquartile_mean(*tasks: Array) -> Array:
    """The mean of the middle half of all scores; each task (…, runs), the result (…).

    Of n scores in order, the i-th weighs as much as [i − 1, i] has in common with [n/4, 3n/4]; so
    five count ¾, 1, ¾ in the middle, where a trimmed mean takes three whole ones.
    """
    scores = np.sort(np.concatenate(tasks, axis=-1), axis=-1)
    n = scores.shape[-1]
    ends = np.clip(np.arange(n + 1), n / 4, 3 * n / 4)
    mean: Array = scores @ np.diff(ends) / (n / 2)
    return mean


def mean_reward(values: pd.Series) -> float:
    """The interquartile mean of the rewards of some runs, from a column of the table of runs."""
    return float(interquartile_mean(-values.to_numpy(dtype=float)))


def improvement(*pairs: tuple[Array, Array]) -> Estimate:
    """P(A > B) + ½ P(A = B) for a run of either, averaged over tasks.

    θ = Σ θ_k / K with the interval from θ − √(Σ (θ_k − l_k)²) / K to θ + √(Σ (u_k − θ_k)²) / K,
    where [l_k, u_k] is Newcombe's of task k.

    Args:
        pairs: scores of A (m,) and of B (n,) on each task.

    Source: Zou & Donner (2008), Statistics in Medicine 27:1693, for sums of independent estimates.
    """
    tasks = [newcombe(b, a) for a, b in pairs]
    mean = sum(e.value for e in tasks) / len(tasks)
    below, above = (
        hypot(*(getattr(e, end) - e.value for e in tasks)) / len(tasks) for end in ("low", "high")
    )
    return Estimate(mean, mean - below, mean + above)


def rewards(runs: pd.DataFrame) -> pd.DataFrame:
    """For each of COLUMNS, each task and each optimiser: its interquartile mean, in units of
    reward, and the probability of doing better than each other optimiser (``than``). Its ``runs``
    are the fewest that any of them has on any of the tasks.

    All tasks together are in a unit of their own: 0 is the average reward of the first batches of
    a task, 1 the largest entry of any run on it. Optimisers that lack a task are left out of it,
    and so is a task on which nobody came above the first batches. There is no mean for an optimiser
    with more runs on one task than on another, since that task would weigh more.
    """
    rows = []
    for column in COLUMNS:
        tasks, scaled = {}, []
        for task, cell in runs.groupby("problem", sort=False):
            # a run that was lost to NaN has the smallest reward
            own = cell[column].fillna(np.inf).groupby(cell["algorithm"], sort=False)
            tasks[task] = {name: [-values.to_numpy(dtype=float)] for name, values in own}
            start, best = -cell["first_batch_mean"].mean(), -cell[column].min()
            if best > start:
                unit, scores = best - start, tasks[task].items()
                scaled.append({name: (score[0] - start) / unit for name, score in scores})
        complete = [n for n in dict.fromkeys(runs["algorithm"]) if all(n in t for t in scaled)]
        if scaled:
            tasks[ALL] = {name: [task[name] for task in scaled] for name in complete}
        for task, samples in tasks.items():
            for name, own in samples.items():
                if len(set(map(len, own))) == 1:
                    rows.append((column, task, name, "", len(own[0]), _middle(own)))
            for (a, own), (b, others) in permutations(samples.items(), 2):
                pairs = zip(own, others, strict=True)
                fewest = min(map(len, own + others))
                rows.append((column, task, a, b, fewest, improvement(*pairs)))
    return pd.DataFrame(
        [(*labels, e.value, e.low, e.high) for *labels, e in rows],
        columns=["column", "task", "algorithm", "than", "runs", "value", "low", "high"],
    )


def _middle(tasks: list[Array]) -> Estimate:
    """The interquartile mean, without an interval where tasks have too few runs for one."""
    e = bootstrap(interquartile_mean, *tasks)
    return e if min(map(len, tasks)) >= FEWEST_FOR_MEAN else Estimate(e.value, np.nan, np.nan)


def markdown(table: pd.DataFrame) -> str:
    """The table for reading: a block of interquartile means, a block of probabilities."""
    lines = [
        "# Interquartile means over runs",
        "",
        f"With 95 % intervals by bootstrap from {FEWEST_FOR_MEAN} runs on; of so few they hold the "
        "mean of what was sampled in 9 studies of 10 rather than in 95 of 100. All intervals take "
        "runs for independent, though those of a seed share random streams.",
        "",
    ]
    tasks = list(dict.fromkeys(table["task"]))
    names = list(dict.fromkeys(table["algorithm"]))
    blocks = {
        block: cells.set_index("task")
        for block, cells in table.groupby(["column", "algorithm", "than"], sort=False)
    }
    lines += [f"{ALL.capitalize()}: 0 is the first batches' reward, 1 the best run's.", ""]
    for title, than in (("", [""]), ("# Probability of a larger reward", names)):
        lines += [title, ""] if title else []
        for column, words in COLUMNS.items():
            lines += [f"| {words} |" + "".join(f" {task} |" for task in tasks)]
            lines += ["|---|" + "---|" * len(tasks)]
            for a, b in product(names, than):
                if (block := (column, a, b)) in blocks:
                    entries = (_entry(blocks[block], task) for task in tasks)
                    lines.append(f"| {a}{f' over {b}' if b else ''} |" + "".join(entries))
            lines.append("")
    return "\n".join(lines)


def _entry(cells: pd.DataFrame, task: str) -> str:
    if task not in cells.index:
        return " |"
    row = cells.loc[task]
    known = pd.notna(row["low"])
    sure = f"{row['low']:.4g} to {row['high']:.4g}" if known else f"n = {row['runs']}"
    return f" {row['value']:.4g} ({sure}) |"


def main(arguments: list[str] | None = None) -> None:
    """Write the table as .csv and .md."""
    args = commands.rewards_parser(__doc__).parse_args(arguments)
    table = rewards(pd.read_parquet(args.tables / "runs.parquet"))
    files.write(table, markdown(table), args.to)


if __name__ == "__main__":
    main()
