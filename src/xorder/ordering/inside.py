"""Between two corners: splitting the one pair of blocks that flips there.

At the price where blocks A and B tie, "A above B" and "B above A" are worth the same, and everything between
them at most that. To land on a disparity between the two corners at little loss, one block is cut in three and
the other in two, and the parts are placed in turn: A1 B1 A2 B2 A3, or B1 A1 B2 A2 B3.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from xorder._table import FloatArray, IntArray, ScoreTable
from xorder.ordering.hull import Crossing, Hull, expand

# Cuts of the first block that are tried on either side of the target.
_CUTS = 96

Value = Callable[[FloatArray, FloatArray], FloatArray]
"""What an AUC and a disparity are worth; higher is better."""


def split_pair(a: ScoreTable, b: ScoreTable, hull: Hull, crossing: Crossing, target: float, value: Value) -> IntArray:
    """Return the best interleaving found among the two corners and the splits of the pair between them."""
    rows = slice(*hull.a.start[[crossing.a_block, crossing.a_block + 1]])
    columns = slice(*hull.b.start[[crossing.b_block, crossing.b_block + 1]])
    in_a, in_b = _prefixes(a, rows), _prefixes(b, columns)
    utility, disparity = hull.utility.matrix, hull.disparity.matrix
    upper, lower = crossing.upper, crossing.lower
    paths = [expand(hull.a, hull.b, corner.b_above) for corner in (upper, lower)]
    values = [float(value(np.array(corner.auc), np.array(corner.disparity))) for corner in (upper, lower)]
    base = expand(hull.a, hull.b, lower.b_above)

    # From B above A, raise A1 above all of B and A2 above B2.
    best, (i1, i2, j) = _three_by_two(in_a, in_b, (lower.auc, lower.disparity), (utility, disparity), target, value)
    path = base.copy()
    path[rows] = columns.start + np.repeat([0, j, columns.stop - columns.start], np.diff([0, i1, i2, len(in_a) - 1]))
    paths.append(path)
    values.append(best)

    # From A above B, raise B1 above all of A and B2 above A2.
    flipped = -utility.T, -disparity.T
    best, (j1, j2, i) = _three_by_two(in_b, in_a, (upper.auc, upper.disparity), flipped, target, value)
    path = base.copy()
    path[rows] = columns.start + np.repeat([j1, j2], [i, len(in_a) - 1 - i])
    paths.append(path)
    values.append(best)
    return paths[int(np.argmax(values))]


def _three_by_two(
    first: FloatArray,
    second: FloatArray,
    base: tuple[float, float],
    worth: tuple[FloatArray, FloatArray],
    target: float,
    value: Value,
) -> tuple[float, tuple[int, int, int]]:
    """Cut ``first`` at i1 <= i2 and ``second`` at j; the first part stands above all, the next above what follows j.

    ``first`` and ``second`` are cumulated masses, ``base`` the AUC and disparity with all of ``second`` above, and
    ``worth`` what a pair with the member of ``first`` above adds to each.
    """
    utility, disparity = worth
    whole = second[-1]
    gap = base[1] + first @ disparity @ whole
    auc = base[0] + first @ utility @ whole
    # AUC lost by each cut against the straight line between the two corners.
    slope = (auc[-1] - auc[0]) / (gap[-1] - gap[0])
    loss = auc[0] + slope * (gap - gap[0]) - auc
    rising = gap[-1] > gap[0]
    below = (gap <= target) == rising
    below[0], below[-1] = True, False
    low, high = (_smallest(loss, side) for side in (below, ~below))
    i1, i2 = (grid.ravel() for grid in np.meshgrid(low, high, indexing="ij"))
    added = first[i2] - first[i1]
    # Of the second block, the part that must stand above the middle part of the first for the target to be met.
    needed = (added @ disparity * whole).sum(axis=1) - (target - gap[i1])
    j = _cut(second, added @ disparity, needed)
    i1, i2 = np.tile(i1, 2), np.tile(i2, 2)
    added = np.tile(added, (2, 1))
    j = np.append(j, np.minimum(j + 1, len(second) - 1))
    rest = whole - second[j]
    found_auc = auc[i1] + np.einsum("ki,ij,kj->k", added, utility, rest)
    found_gap = gap[i1] + np.einsum("ki,ij,kj->k", added, disparity, rest)
    values = value(found_auc, found_gap)
    best = int(np.argmax(values))
    return float(values[best]), (int(i1[best]), int(i2[best]), int(j[best]))


def _cut(second: FloatArray, factor: FloatArray, needed: FloatArray) -> IntArray:
    """For each row of ``factor``, the last j with ``factor @ second[j]`` not past what is needed; by bisection."""
    sign = np.where(factor.sum(axis=1) >= 0, 1.0, -1.0)
    low, high = np.zeros(len(factor), dtype=np.int64), np.full(len(factor), len(second) - 1)
    for _ in range(len(second).bit_length()):
        middle = (low + high + 1) // 2
        fits = sign * np.einsum("ki,ki->k", factor, second[middle]) <= sign * needed
        low, high = np.where(fits, middle, low), np.where(fits, high, middle - 1)
        high = np.maximum(low, high)
    return low


def _smallest(loss: FloatArray, allowed: FloatArray) -> IntArray:
    places = np.flatnonzero(allowed)
    if places.size > _CUTS:
        places = places[np.argpartition(loss[places], _CUTS)[:_CUTS]]
    return places


def _prefixes(table: ScoreTable, part: slice) -> FloatArray:
    """Cumulated masses of positives and negatives of a block, from none to all of its scores."""
    masses = np.stack([table.positive[part], table.negative[part]], axis=1)
    return np.concatenate([np.zeros((1, 2)), np.cumsum(masses, axis=0)])
