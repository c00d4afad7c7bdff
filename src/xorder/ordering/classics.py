"""Two small algorithms of the paper that only look at the disparity."""

from __future__ import annotations

import numpy as np

from xorder._table import FloatArray, IntArray, ScoreTable
from xorder.ordering.disparity import Disparity, Ordering
from xorder.ordering.dynamic import Products, half_way

# Gaps closer than this, relative to what they are the difference of, are equal but for rounding.
_ROUNDING = 8 * float(np.finfo(np.float64).eps)


def solve_greedy(a: ScoreTable, b: ScoreTable, disparity: Disparity, tradeoff: float) -> Ordering:
    """From the top, place whichever next score leaves the smaller disparity half-way; ties go to a.

    The tradeoff only enters the objective that is reported (appendix of the paper, greedy forward search).

    Guarantee: for xAUC, on rows of equal weight, ``|disparity| <= max(1/n1a, 1/n1b)``. Linear time.
    """
    rule = half_way(a, b, disparity)
    slack = _ROUNDING * float(rule.reach[1])
    b_above = np.full(len(a), len(b), dtype=np.int64)
    gap, i, j = rule.start, 0, 0
    while i < len(a) and j < len(b):
        after_a = gap + rule.own_a[i] + _credit(rule.from_a, i, j)
        after_b = gap + rule.own_b[j] + _credit(rule.from_b, j, i)
        if abs(after_b) < abs(after_a) - slack:
            gap, j = after_b, j + 1
        else:
            gap, b_above[i], i = after_a, j, i + 1
    return Ordering.from_path(a, b, b_above, disparity, tradeoff, "greedy")


def solve_insertion(a: ScoreTable, b: ScoreTable, disparity: Disparity, tradeoff: float) -> Ordering:
    """Insert one whole group at one place of the other, where the disparity is smallest (Proposition 1).

    The tradeoff only enters the objective that is reported. Between places of equal disparity the higher AUC
    wins.

    Guarantee: for xAUC and PRF, on rows of equal weight, the bounds of Proposition 1. Time ``n log n``.
    """
    whole_b_in_a = [_block(len(a), len(b), place) for place in _crossing(disparity, a, b)]
    whole_a_in_b = [np.full(len(a), place) for place in _crossing(disparity, b, a, swapped=True)]
    found = [Ordering.from_path(a, b, path, disparity, tradeoff, "insertion") for path in whole_b_in_a + whole_a_in_b]
    size = float(np.sum(np.abs(disparity.matrix) * np.outer([a.n1, a.n0], [b.n1, b.n0]))) + abs(disparity.offset)
    smallest = min(abs(ordering.disparity) for ordering in found) + _ROUNDING * size
    return max((o for o in found if abs(o.disparity) <= smallest), key=lambda ordering: ordering.auc)


def _credit(products: Products, place: int, other: int) -> float:
    return float(sum(mass[1, place] * left[1, other] for mass, left in products))


def _block(rows: int, columns: int, place: int) -> IntArray:
    """All of b between the first ``place`` scores of a and the rest."""
    return np.where(np.arange(rows) < place, 0, columns)


def _crossing(disparity: Disparity, host: ScoreTable, guest: ScoreTable, *, swapped: bool = False) -> list[int]:
    """Places in the host around the one at which the gap, monotone in the place, is closest to 0."""
    gaps = _gaps_by_place(disparity, host, guest, swapped=swapped)
    best = int(np.argmin(np.abs(gaps)))
    return [place for place in (best - 1, best, best + 1) if 0 <= place <= len(host)]


def _gaps_by_place(disparity: Disparity, host: ScoreTable, guest: ScoreTable, *, swapped: bool) -> FloatArray:
    """Gap with the whole guest below the first ``place`` scores of the host, for each place."""
    matrix = disparity.matrix.T if swapped else disparity.matrix
    steps = np.stack([host.positive, host.negative], axis=1) @ matrix @ np.array([guest.n1, guest.n0])
    above = np.append(0.0, np.cumsum(steps))
    # Seen from b, "the host's first scores above all of a" are pairs that a loses.
    return disparity.offset + (float(above[-1]) - above if swapped else above)
