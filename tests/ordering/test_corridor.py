"""Orderings that keep a limit at every cut, against all paths that do."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from support.effort import draws
from support.oracles import all_interleavings, reachable
from xorder import ScoreTable, order
from xorder._metric import METRICS
from xorder._table import FloatArray
from xorder.exceptions import InputError
from xorder.ordering._corridor import order_within_cuts, smallest_cut_gap
from xorder.ordering._ordering import Goal

Path = NDArray[np.int64]


def cuts_of(path: Path, a: ScoreTable, b: ScoreTable) -> list[float]:
    """Difference of sensitivities at every cut of an interleaving, walked score by score."""
    above_a = above_b = 0.0
    found, j = [], 0
    for i, behind in enumerate([*path.tolist(), len(b)]):
        for k in range(j, behind):
            above_b += b.positive[k]
            found.append(above_a / a.n1 - above_b / b.n1)
        j = behind
        if i < len(a):
            above_a += a.positive[i]
            found.append(above_a / a.n1 - above_b / b.n1)
    return found


def small_tables(rng: np.random.Generator) -> ScoreTable:
    """Few scores, tied and weighted rows, often a class alone at an end."""
    while True:
        size = int(rng.integers(1, 6))
        positive, negative = rng.integers(0, 3, size) * rng.choice([1.0, 0.5]), rng.integers(0, 3, size) * 1.0
        if rng.random() < 0.3:
            positive[0] = 0
        kept = positive + negative > 0
        if positive[kept].sum() > 0 and negative[kept].sum() > 0:
            score = np.sort(rng.choice(20, kept.sum(), replace=False))[::-1].astype(float)
            return ScoreTable(score, positive[kept], negative[kept])


def best_mixture(auc: FloatArray, gap: FloatArray, max_gap: float) -> float:
    """Highest mean AUC of two paths, taken by lot, whose mean gap is within a limit: the lowest bound there is."""
    best = float(auc[np.abs(gap) <= max_gap + 1e-12].max())
    for target in (-max_gap, max_gap):
        above, below = gap > target, gap < target
        part = (target - gap[below, None]) / (gap[None, above] - gap[below, None])
        best = max(best, float(np.max(auc[below, None] + part * (auc[None, above] - auc[below, None]), initial=best)))
    return best


@pytest.mark.parametrize("cases", [40, pytest.param(draws(1100), marks=pytest.mark.slow)])
@pytest.mark.parametrize("metric", METRICS)
def test_small_cases_against_all_paths(metric: str, cases: int) -> None:
    rng = np.random.default_rng(list(METRICS).index(metric))
    solved = 0
    for _ in range(cases):
        a, b = small_tables(rng), small_tables(rng)
        limit = float(rng.choice([0.05, 0.1, 0.2, 0.3, 0.5, 1.0]))
        gains = METRICS[metric].gains(a, b)
        widest = np.array([max(map(abs, cuts_of(path, a, b))) for path in all_interleavings(len(a), len(b))])
        inside = widest <= limit + 1e-9
        assert smallest_cut_gap(a, b) == pytest.approx(widest.min(), abs=1e-12)
        if not inside.any():
            with pytest.raises(InputError, match="can be kept by no ordering"):
                order_within_cuts(a, b, gains, Goal(1.0), limit)
            continue
        solved += 1
        gap, auc = (each[inside] for each in reachable(metric, a, b))
        tradeoff, max_gap = float(rng.choice([0, 0.1, 0.5, 1, 3])), float(rng.choice([0, 0.05, 0.2]))
        found = order_within_cuts(a, b, gains, Goal(tradeoff), limit)
        assert max(map(abs, cuts_of(found.b_above, a, b))) <= limit + 1e-9
        # So few scores are searched in full.
        assert found.objective == pytest.approx(np.max(auc - tradeoff * np.abs(gap)), abs=1e-9)
        assert found.bound >= found.objective - 1e-12
        within = order_within_cuts(a, b, gains, Goal(None, max_gap), limit)
        assert max(map(abs, cuts_of(within.b_above, a, b))) <= limit + 1e-9
        allowed = np.abs(gap) <= max_gap + 1e-12
        if allowed.any():
            assert abs(within.gap) <= max_gap + 1e-9
            most = within.auc + within.optimality_gap
            assert auc[allowed].max() <= most + 1e-9
            assert most <= best_mixture(auc, gap, max_gap) + 1e-6
        else:
            assert abs(within.gap) == pytest.approx(np.abs(gap).min(), abs=1e-9)
    assert solved > cases / 6


def many_scores(rows: int, lower: float, seed: int) -> ScoreTable:
    rng = np.random.default_rng(seed)
    label = rng.random(rows) < 0.3
    return ScoreTable.from_arrays(label, rng.normal(size=rows) + 1.2 * label - lower)


@pytest.mark.parametrize("limit", [0.02, 0.1])
def test_large_tables_keep_the_limit_and_come_close_to_the_bound(limit: float) -> None:
    a, b = many_scores(3000, 0.0, 0), many_scores(500, 0.6, 1)
    gains = METRICS["xauc"].gains(a, b)
    found = order_within_cuts(a, b, gains, Goal(1.0), limit)
    assert max(map(abs, cuts_of(found.b_above, a, b))) <= limit + 1e-9
    assert found.optimality_gap < 1e-3


def test_thinned_tables_keep_the_limit_at_every_score(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("xorder.ordering._corridor._CELLS", 1000)
    monkeypatch.setattr("xorder.ordering._corridor._LEVELS", 60)
    a, b = many_scores(700, 0.0, 2), many_scores(900, 0.5, 3)
    gains = METRICS["prf"].gains(a, b)
    exact_bound = order_within_cuts(a, b, gains, Goal(1.0), 1.0).bound
    found = order_within_cuts(a, b, gains, Goal(1.0), 0.1)
    assert max(map(abs, cuts_of(found.b_above, a, b))) <= 0.1 + 1e-9
    assert found.objective <= found.bound <= exact_bound + 1e-9


def test_order_takes_the_limit() -> None:
    a, b = many_scores(300, 0.0, 4), many_scores(200, 0.6, 5)
    found = order(a, b, max_cut_gap=0.1)
    assert max(map(abs, cuts_of(found.b_above, a, b))) <= 0.1 + 1e-9
    free = order(a, b)
    assert max(map(abs, cuts_of(free.b_above, a, b))) > 0.1
    assert found.objective <= free.bound
    with pytest.raises(InputError, match="max_cut_gap is for solver 'frontier'; got 'dp'"):
        order(a, b, max_cut_gap=0.1, solver="dp")
    few = ScoreTable.from_arrays([1, 1, 0, 0], [2.0, 1.0, 2.0, 1.0])
    with pytest.raises(InputError, match=r"max_cut_gap 0.1 can be kept by no ordering.*the smallest that can is 0.5"):
        order(few, few, max_cut_gap=0.1)


def test_where_no_thinning_keeps_the_limit_the_tables_are_searched_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("xorder.ordering._corridor._CELLS", 200)
    monkeypatch.setattr("xorder.ordering._corridor._LEVELS", 10)
    for seed in range(12):
        a, b = many_scores(60, 0.0, seed), many_scores(70, 0.6, seed + 50)
        limit = smallest_cut_gap(a, b)
        found = order_within_cuts(a, b, METRICS["xauc"].gains(a, b), Goal(1.0), limit)
        assert max(map(abs, cuts_of(found.b_above, a, b))) <= limit + 1e-9
        assert found.objective <= found.bound + 1e-12
