"""log det Σ against iterations, with the drift that the second-order term of the update predicts.

    python -m figures.stability results/tables/stability --to results/figures/stability

A step moves log det Σ by −β tr A ∓ β²/2 tr A², A = Σ h_i z_i z_iᵀ/N: minus in IGO, plus in INGO.
Where values carry no signal E tr A = 0 and, with ddof = 1, E tr A² = (N − 1)(d² + d)/N².
"""

from __future__ import annotations

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray

from figures import files, style

SIGN = {"igo": -1.0, "ingo": 1.0, "ingo_step": 1.0}


def predicted_drift(dim: int, samples: int, step_size: float) -> float:
    """Expected change of log det Σ per iteration without a signal, but for its sign.

    β²/2 · (N − 1)(d² + d)/N²: 0.0265 at d = 100, N = 18, β = 1/d. Our derivation: Σ h_i = 0 and
    Σ h_i² = N − 1, so that the N² products h_i h_j (z_iᵀz_j)² of tr A² have expectations
    d² + 2d (i = j) and d (i ≠ j), with Σ_{i≠j} h_i h_j = −(N − 1).
    """
    return step_size**2 / 2 * (samples - 1) * (dim * dim + dim) / samples**2


def log_det(sigma: pd.Series, dim: int) -> NDArray[np.float64]:
    """log det Σ = 2d log σ; NaN where that is not finite."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return style.finite(2 * dim * np.log(sigma))


def draw(
    runs: pd.DataFrame, curves: pd.DataFrame, labels: Mapping[str, str] | None = None
) -> tuple[Figure, str]:
    """The picture and its caption; the prediction is drawn where the problem has no signal."""
    style.use()
    problems = list(dict.fromkeys(runs["problem"]))
    look = style.lines(dict.fromkeys(runs["algorithm"]), labels)
    figure, axes = plt.subplots(1, len(problems), figsize=(3.0 * len(problems), 2.6), squeeze=False)
    measured = []
    for ax, problem in zip(axes[0], problems, strict=True):
        dropped = []
        for algorithm, line in look.items():
            mine = (runs["problem"] == problem) & (runs["algorithm"] == algorithm)
            if not mine.any():
                continue
            dim = int(runs.loc[mine, "dim"].iloc[0])
            samples = int((runs.loc[mine, "evaluations"] / runs.loc[mine, "iteration"]).iloc[0])
            cell = curves[
                (curves["problem"] == problem)
                & (curves["algorithm"] == algorithm)
                & (curves["quantity"] == "sigma")
            ]
            t = cell["evaluations"].to_numpy() / samples
            middle, low, high = (log_det(cell[name], dim) for name in ("median", "min", "max"))
            if bad := int(np.isnan(middle).sum()):
                dropped.append(f"{line.label}: {bad} of {len(cell)} points not finite")
            ax.fill_between(t, low, high, color=line.color, alpha=0.18, linewidth=0)
            ax.plot(t, middle, color=line.color, linestyle=line.dash, label=line.label)
            if problem == "noise" and algorithm in SIGN:
                drift = SIGN[algorithm] * predicted_drift(dim, samples, 1.0 / dim)
                ax.plot(t, middle[0] + drift * t, color="0.1", linewidth=1, linestyle=":", zorder=3)
                change = log_det(runs.loc[mine, "sigma"] / runs.loc[mine, "first_sigma"], dim)
                mean = (change / (runs.loc[mine, "iteration"] - 1)).mean()
                if np.isfinite(mean):
                    measured.append(f"{line.label} {mean:+.4f} (predicted {drift:+.4f})")
        style.say_dropped(ax, dropped)
        ax.set_title(runs.loc[runs["problem"] == problem, "title"].iloc[0])
        ax.set_xlabel("iterations")
    axes[0, 0].set_ylabel("log det Σ")
    axes[0, 0].legend(loc="best")
    style.letters(figure)
    figure.tight_layout()
    compared = (
        "Dotted: the drift that the second-order term of the update predicts, with β = 1/d, where "
        "values carry no signal. "
        f"Measured there, mean change per iteration: {', '.join(measured)}. "
    )
    return figure, (
        f"Median of log det Σ over {style.runs_per_cell(runs)}, the band from the smallest to the "
        f"largest. {compared if measured else ''}Not in the paper."
    )


def main(arguments: list[str] | None = None) -> None:
    """Draw from the tables of a folder."""
    files.draw_tables("stability", __doc__, draw, arguments)


if __name__ == "__main__":
    main()
