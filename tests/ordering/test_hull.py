"""Pooling against a slow, sequential pool of adjacent violators."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from support.effort import draws
from support.tables import random_table
from xorder import ScoreTable
from xorder.ordering import _hull as hull


def slow_pool(table: ScoreTable) -> list[tuple[int, Fraction, Fraction]]:
    """Blocks as (first score, positives, negatives), in exact arithmetic."""
    stack: list[tuple[int, Fraction, Fraction]] = []
    for start, (p, n) in enumerate(zip(table.positive, table.negative, strict=True)):
        block = (start, Fraction(p), Fraction(n))
        while stack and stack[-1][1] * block[2] <= block[1] * stack[-1][2]:
            first, p0, n0 = stack.pop()
            block = (first, p0 + block[1], n0 + block[2])
        stack.append(block)
    return stack


@pytest.mark.parametrize("rounds", [0, 1, 6, 32])
def test_equals_the_slow_way(rounds: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hull, "_ROUNDS", rounds)
    rng = np.random.default_rng(rounds)
    for _ in range(draws(300)):
        table = random_table(rng, 40, distinct=30)
        slow = slow_pool(table)
        fast = hull.pool(table)
        assert fast.start[:-1].tolist() == [start for start, _, _ in slow]
        np.testing.assert_allclose(fast.positive, [float(p) for _, p, _ in slow], rtol=1e-12)
        np.testing.assert_allclose(fast.negative, [float(n) for _, _, n in slow], rtol=1e-12)


def test_shares_fall_strictly_on_a_large_sample() -> None:
    rng = np.random.default_rng(0)
    score = rng.random(200_000)
    table = ScoreTable.from_arrays(rng.random(200_000) < score, score)
    pooled = hull.pool(table)
    assert np.all(np.diff(pooled.share) < 0)
    assert 20 < len(pooled) < 2000
    assert pooled.positive.sum() == table.n1
    assert pooled.start[-1] == len(table)
