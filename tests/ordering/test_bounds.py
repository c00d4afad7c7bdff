"""The bound of PRF for any number of groups: against all interleavings, and what it may cost."""

from __future__ import annotations

from functools import cache
from itertools import chain

import numpy as np
import pytest
from scipy.optimize import linprog

from support.effort import draws
from support.tables import noisy_table
from xorder import ScoreTable
from xorder.exceptions import InputError
from xorder.ordering import _hull, prf_bound


@cache
def all_merges(*lengths: int) -> np.ndarray:
    """Every ranking of several lists that keeps each one's order: the place of each entry, list by list."""

    def grow(done: tuple[int, ...], place: int):
        if done == lengths:
            yield [[] for _ in lengths]
        for k, length in enumerate(lengths):
            if done[k] < length:
                more = tuple(count + (h == k) for h, count in enumerate(done))
                for rest in grow(more, place + 1):
                    yield [[place, *part] if h == k else part for h, part in enumerate(rest)]

    return np.array([list(chain.from_iterable(parts)) for parts in grow((0,) * len(lengths), 0)])


def reachable_prf(tables):
    """AUC, and PRF of each group, of every interleaving of several groups."""
    merges = all_merges(*(len(table) for table in tables))
    p, n = (np.concatenate([getattr(t, name) for t in tables]) for name in ("positive", "negative"))
    group = np.repeat(np.arange(len(tables)), [len(t) for t in tables])
    wins = (merges[:, :, None] < merges[:, None, :]) + 0.5 * np.eye(p.size)
    won = (wins @ n) * p
    auc = won.sum(axis=1) / (p.sum() * n.sum())
    return auc, np.stack([won[:, group == g].sum(axis=1) / (p[group == g].sum() * n.sum()) for g in range(len(tables))])


def short_table(rng, scores):
    while True:
        masses = rng.integers(0, 3, (2, scores)) * rng.choice([1.0, 0.7])
        if (masses.sum(axis=0) > 0).all() and (masses.sum(axis=1) > 0).all():
            return ScoreTable(np.arange(scores, 0, -1.0), *masses)


@pytest.mark.slow
def test_prf_bound_against_all_interleavings_of_three_groups() -> None:
    """No interleaving exceeds it, and it is what the best lottery over interleavings achieves."""
    rng = np.random.default_rng(0)
    for case in range(draws(16, 8)):
        tables = [short_table(rng, scores) for scores in ((3, 3, 2), (4, 2, 2), (3, 2, 3), (2, 2, 2))[case % 4]]
        auc, prf = reachable_prf(tables)
        worst = prf.max(axis=0) - prf.min(axis=0)
        for tradeoff in (0.0, 0.1, 0.5, 3.0):
            bound = prf_bound(tables, tradeoff=tradeoff)
            assert bound >= np.max(auc - tradeoff * worst) - 1e-12
            assert bound == pytest.approx(best_lottery(auc, prf, price=tradeoff, allowed=2.0), abs=3e-6)
        for allowed in (0.0, 0.1, 0.4):
            bound = prf_bound(tables, max_gap=allowed)
            assert bound >= np.max(auc[worst <= allowed], initial=0.0) - 1e-12
            assert bound == pytest.approx(best_lottery(auc, prf, price=0.0, allowed=allowed), abs=3e-6)


def best_lottery(auc, prf, *, price, allowed):
    """Largest AUC less price times gap that a mixture of interleavings has, its gap being at most ``allowed``."""
    groups, merges = prf.shape
    # Unknowns: the chance of each interleaving, and the highest and the lowest PRF.
    above = np.hstack([prf, -np.ones((groups, 1)), np.zeros((groups, 1))])
    below = np.hstack([-prf, np.zeros((groups, 1)), np.ones((groups, 1))])
    apart = np.concatenate([np.zeros(merges), [1.0, -1.0]])
    found = linprog(
        np.concatenate([-auc, [price, -price]]),
        A_ub=np.vstack([above, below, apart]),
        b_ub=np.append(np.zeros(2 * groups), allowed),
        A_eq=np.append(np.ones(merges), [0.0, 0.0])[None],
        b_eq=[1.0],
        bounds=[(0, None)] * merges + [(None, None)] * 2,
    )
    return -found.fun


@pytest.mark.slow
def test_it_may_take_more_cuts_the_more_groups_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    tables = [noisy_table(rng, 60, shift=-0.3 * group) for group in range(8)]
    taken = []
    prf = _hull.Merges.prf
    monkeypatch.setattr(_hull.Merges, "prf", lambda self, weights: taken.append(1) or prf(self, weights))
    monkeypatch.setattr(_hull, "TOLERANCE", -1.0)
    prf_bound(tables, tradeoff=1.0)
    assert len(taken) == 400
    monkeypatch.setattr(_hull, "_FEWEST_CUTS", 10)
    prf_bound(tables, tradeoff=1.0)
    assert len(taken) == 400 + 12 * 8


@pytest.mark.parametrize("goal", [{}, {"tradeoff": 1.0, "max_gap": 0.0}], ids=str)
def test_one_goal_is_needed(goal: dict[str, float]) -> None:
    table = ScoreTable.from_arrays([1, 0], [0.5, 0.4])
    with pytest.raises(InputError, match="one of the two"):
        prf_bound([table, table], **goal)
