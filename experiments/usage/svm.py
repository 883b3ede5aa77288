"""A real task: two hyper-parameters of a support vector machine, by cross-validation."""

from __future__ import annotations

from functools import cache

import numpy as np

from problems.interface import Array

FOLDS = 5
Fold = tuple[Array, Array, Array, Array]  # points and classes to train on, and to test on


@cache
def folds() -> list[Fold]:
    """Stratified folds in the order of the data; features standardised on the training part."""
    # Here, since it takes seconds and only this task needs it.
    from sklearn.datasets import load_breast_cancer
    from sklearn.model_selection import StratifiedKFold

    x, y = load_breast_cancer(return_X_y=True)
    parts = []
    for train, test in StratifiedKFold(FOLDS).split(x, y):
        mean, std = x[train].mean(axis=0), x[train].std(axis=0)
        parts.append(((x[train] - mean) / std, y[train], (x[test] - mean) / std, y[test]))
    return parts


def error(x: Array) -> float:
    """Share of the 569 cases that are classified wrongly, each by the model of the other folds.

    Args:
        x: (2,) log₁₀ C and 3 + log₁₀ γ.
    """
    from sklearn.svm import SVC

    model = SVC(C=10.0 ** x[0], gamma=10.0 ** (x[1] - 3.0))
    wrong = [model.fit(*train).predict(points) != y for *train, points, y in folds()]
    return float(np.mean(np.concatenate(wrong)))
