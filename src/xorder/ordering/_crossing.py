"""Between two corners of the hull, where the gap changes sign: orderings inside the rectangle of blocks that tie."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from xorder._metric import PairGains
from xorder._table import BoolArray, FloatArray, IntArray, ScoreTable
from xorder.ordering._hull import Crossing, Hull, expand
from xorder.ordering._ordering import Goal, remaining

# Cuts of the first block that are tried on either side of the target.
_CUTS = 96


def split_pair(hull: Hull, crossing: Crossing, target: float, goal: Goal) -> IntArray:
    """Return the best interleaving found among the two corners and the splits of the pair between them."""
    rows = slice(*hull.a.start[crossing.a_block : crossing.a_block + 2])
    columns = slice(*hull.b.start[crossing.b_block : crossing.b_block + 2])
    in_a, in_b = (_prefixes(table, part) for table, part in zip(hull.tables, (rows, columns), strict=True))
    height, width = len(in_a) - 1, len(in_b) - 1
    utility, gains = hull.utility.matrix, hull.gains.matrix
    upper, lower = crossing.upper, crossing.lower
    found = [(goal.worth(corner), expand(hull.a, hull.b, corner.b_above)) for corner in (upper, lower)]
    # From B above A, raise A1 above all of B and A2 above B2.
    first, (i1, i2, j) = _three_by_two(in_a, in_b, (lower.auc, lower.gap), (utility, gains), target, goal)
    # From A above B, raise B1 above all of A and B2 above A2.
    second, (j1, j2, i) = _three_by_two(in_b, in_a, (upper.auc, upper.gap), (-utility.T, -gains.T), target, goal)
    splits = (np.repeat([0, j, width], np.diff([0, i1, i2, height])), np.repeat([j1, j2], [i, height - i]))
    for worth, split in zip((first, second), splits, strict=True):
        path = found[1][1].copy()
        path[rows] = columns.start + split
        found.append((worth, path))
    return max(found, key=lambda each: each[0])[1]


def _three_by_two(
    first: FloatArray,
    second: FloatArray,
    base: tuple[float, float],
    worth: tuple[FloatArray, FloatArray],
    target: float,
    goal: Goal,
) -> tuple[float, tuple[int, int, int]]:
    """Cut ``first`` at i1 <= i2 and ``second`` at j; the first part stands above all, the next above what follows j.

    ``first`` and ``second`` are cumulated masses, ``base`` the AUC and gap with all of ``second`` above, and
    ``worth`` what a pair with the member of ``first`` above adds to each.
    """
    utility, gains = worth
    whole = second[-1]
    gap = base[1] + first @ gains @ whole
    auc = base[0] + first @ utility @ whole
    # AUC lost by each cut against the straight line between the two corners.
    slope = (auc[-1] - auc[0]) / (gap[-1] - gap[0])
    loss = auc[0] + slope * (gap - gap[0]) - auc
    below = (gap <= target) == (gap[-1] > gap[0])
    below[0], below[-1] = True, False
    low, high = (_smallest(loss, side) for side in (below, ~below))
    i1, i2 = (grid.ravel() for grid in np.meshgrid(low, high, indexing="ij"))
    added = first[i2] - first[i1]
    # Of the second block, the part that must stand above the middle part of the first for the target to be met.
    needed = (added @ gains * whole).sum(axis=1) - (target - gap[i1])
    j = _cut(second, added @ gains, needed)
    i1, i2 = np.tile(i1, 2), np.tile(i2, 2)
    added = np.tile(added, (2, 1))
    j = np.append(j, np.minimum(j + 1, len(second) - 1))
    rest = whole - second[j]
    found_auc = auc[i1] + np.einsum("ki,ij,kj->k", added, utility, rest)
    found_gap = gap[i1] + np.einsum("ki,ij,kj->k", added, gains, rest)
    values = goal.value(found_auc, found_gap)
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
    positions = np.flatnonzero(allowed)
    if positions.size > _CUTS:
        positions = positions[np.argpartition(loss[positions], _CUTS)[:_CUTS]]
    return positions


def _prefixes(table: ScoreTable, part: slice) -> FloatArray:
    """Cumulated masses of positives and negatives of a block, from none to all of its scores."""
    masses = np.stack([table.positive[part], table.negative[part]], axis=1)
    return np.concatenate([np.zeros((1, 2)), np.cumsum(masses, axis=0)])


# The budget: lattice cells to look at, cells in the corridor, labels in all of them together.
_LATTICE = 1_000_000
_CELLS = 3_000
_LABELS = 1_000_000


def search_labels(
    a: ScoreTable,
    b: ScoreTable,
    worth: tuple[PairGains, PairGains],
    price: float,
    loss: float,
    goal: Goal,
    between: tuple[IntArray, IntArray],
) -> IntArray | None:
    """Return the best interleaving of those that lose little at a price, or nothing where these are over the budget.

    ``worth`` is that of pairs to AUC and gap, ``loss`` what a path may lose against the best at this price. Score i of
    a stands below ``between[0][i]`` to ``between[1][i]`` scores of b.
    """
    if len(a) * len(b) > _LATTICE:
        return None
    utility, gains = (_steps(a, b, each.matrix) for each in worth)
    columns = np.arange(len(b) + 1)
    outside = (columns < between[0][:, None]) | (columns > between[1][:, None])
    gain = np.where(outside, -np.inf, utility - price * gains)
    before, after = _best_before(gain), _best_before(gain[::-1, ::-1])[::-1, ::-1]
    # Score i of a goes below j scores of b: the best path that does so, against the best of all.
    through = before + gain + after
    least = float(through.max()) - loss - 1e-12
    corridor = through >= least
    cells = int(corridor.sum())
    if cells > _CELLS:
        return None
    labels = _walk(utility, gains, corridor, after, price, least, _LABELS // cells)
    ends = labels[-1]
    if not ends.column.size:
        return None
    auc, gap = worth[0].offset + ends.utility, worth[1].offset + ends.gap
    return _trace(labels, int(np.argmax(goal.value(auc, gap))))


class _Labels(NamedTuple):
    """Paths that have placed the first scores of a: their sums, the column taken last, and the label each goes on from.

    Columns rise along the arrays.
    """

    gap: FloatArray
    utility: FloatArray
    column: IntArray
    parent: IntArray


def _steps(a: ScoreTable, b: ScoreTable, matrix: FloatArray) -> FloatArray:
    """Worth of placing score i of a when j scores of b are above it, for all i and j."""
    masses = np.stack([a.positive, a.negative], axis=1)
    return np.asarray(masses @ matrix @ np.stack([remaining(b.positive), remaining(b.negative)]))


def _best_before(gain: FloatArray) -> FloatArray:
    """Highest sum over the scores of a before i, whose columns are at most j."""
    best = np.zeros_like(gain)
    for i in range(1, len(gain)):
        np.maximum.accumulate(best[i - 1] + gain[i - 1], out=best[i])
    return best


def _walk(
    utility: FloatArray,
    gains: FloatArray,
    corridor: BoolArray,
    after: FloatArray,
    price: float,
    least: float,
    most: int,
) -> list[_Labels]:
    """Extend labels score by score of a, whose columns can only grow; leave out what cannot reach ``least``.

    At most about ``most`` labels go on from a cell.
    """
    layers = [_Labels(np.zeros(1), np.zeros(1), np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64))]
    for i in range(len(after)):
        last = layers[-1]
        starts = np.searchsorted(last.column, np.arange(corridor.shape[1] + 1))
        parts, reach, seen = [], np.empty(0, dtype=np.int64), 0
        for j in np.flatnonzero(corridor[i]):
            # Labels of columns up to j may go on at j; a smaller column leaves no less room for what follows.
            reach = _thinned(last, np.append(reach, np.arange(seen, starts[j + 1])), price, most)
            seen = starts[j + 1]
            gaps, auc = last.gap[reach] + gains[i, j], last.utility[reach] + utility[i, j]
            alive = np.flatnonzero(auc - price * gaps + after[i, j] >= least)
            parts.append(_Labels(gaps[alive], auc[alive], np.full(alive.size, j), reach[alive]))
        layers.append(_Labels(*map(np.concatenate, zip(*parts, strict=True))))
    return layers


def _thinned(labels: _Labels, positions: IntArray, price: float, most: int) -> IntArray:
    """Of the labels at these positions, the best of each gap, or of each of many narrow ranges of it."""
    if not positions.size:
        return positions
    gaps = labels.gap[positions]
    width = max(float(np.ptp(gaps)) / most if positions.size > most else 0.0, 1e-13)
    bucket = np.floor(gaps / width)
    order = np.lexsort((price * gaps - labels.utility[positions], bucket))
    return np.asarray(positions[order[np.append(True, np.diff(bucket[order]) != 0)]])


def _trace(layers: list[_Labels], label: int) -> IntArray:
    path = np.empty(len(layers) - 1, dtype=np.int64)
    for i in range(len(layers) - 1, 0, -1):
        path[i - 1] = layers[i].column[label]
        label = int(layers[i].parent[label])
    return path
