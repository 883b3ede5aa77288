"""The floor that INGO's time is held against: what it draws, multiplies and evaluates, counted."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.timing import iteration


class Counted(np.ndarray):
    """An array whose matrix products are noted with the multiplications that they take."""

    products: list[int]

    def __array_ufunc__(self, ufunc, method, *inputs, **keywords):
        plain = [np.asarray(x) for x in inputs]
        result = getattr(ufunc, method)(*plain, **keywords)
        if ufunc is np.matmul:
            self.products.append(plain[0].size * plain[1].shape[-1])
        made = np.asarray(result).view(Counted)
        made.products = self.products
        return made

    def __array_finalize__(self, of):
        self.products = getattr(of, "products", [])


class Numbers:
    """A generator that counts the normal numbers which it gives, and whose arrays count."""

    def __init__(self):
        self.rng, self.drawn, self.products = np.random.default_rng(0), 0, []

    def standard_normal(self, size):
        made = self.rng.standard_normal(size).view(Counted)
        self.drawn += made.size
        made.products = self.products
        return made

    def random(self, size):
        return self.rng.random(size)


@pytest.mark.parametrize(("dim", "n"), [(30, 16), (100, 18), (300, 22)])
def test_the_floor_draws_multiplies_twice_and_evaluates_a_whole_population(dim, n):
    """To draw, N·d normal numbers through a d×d factor; to move it, N outer products."""
    numbers, evaluated = Numbers(), []
    run = iteration.floor(dim, lambda x: evaluated.append(x.shape), numbers)
    next(run)
    drawn, products = numbers.drawn, len(numbers.products)
    for _ in range(3):
        next(run)
    assert numbers.drawn - drawn == 3 * n * dim
    assert numbers.products[products:] == [n * dim * dim] * 6
    assert evaluated == [(n, dim)] * 4


def test_the_other_contenders_evaluate_as_many_points():
    for name in ("INGO", "floor", "textbook", "pycma", "cmaes"):
        evaluated = []

        def f(x, evaluated=evaluated):
            evaluated.append(x.shape)
            return np.sum(np.asarray(x) ** 2, axis=1)

        with pytest.MonkeyPatch.context() as patch:
            problem = type("Problem", (), {"evaluate": staticmethod(f)})
            patch.setattr(iteration.problems, "build", lambda *words, p=problem: p)
            run = iteration.contenders(40)[name]
        for _ in range(3):
            next(run)
        assert evaluated == [(16, 40)] * 3, name
