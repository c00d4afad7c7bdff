"""Closing the gap: a search through the corridor of cells that an ordering better than the best so far must keep to.

An ordering is a path through the lattice of prefixes. At the price where the disparity crosses its target, every
path loses something against the hull; one that loses more than the present gap cannot win, and so neither can one
through a cell that no path passes at a smaller loss. What is left is searched with labels (disparity so far, value
so far), the best for each disparity at each cell.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from xorder._table import BoolArray, FloatArray, IntArray, ScoreTable
from xorder.ordering.disparity import remaining
from xorder.ordering.hull import Crossing, Hull
from xorder.ordering.inside import Value

# The budget: lattice cells to look at, cells in the corridor, labels in all of them together.
_LATTICE = 1_000_000
_CELLS = 3_000
_LABELS = 1_000_000


def search_corridor(
    a: ScoreTable, b: ScoreTable, hull: Hull, crossing: Crossing, gap: float, value: Value
) -> IntArray | None:
    """Return the best interleaving in the corridor, or nothing where the corridor is over the budget.

    ``gap`` is what a path may lose; ``value`` tells what an AUC and a disparity are worth.
    """
    if len(a) * len(b) > _LATTICE:
        return None
    utility, disparity = _steps(a, b, hull.utility.matrix), _steps(a, b, hull.disparity.matrix)
    gain = utility - crossing.price * disparity
    before, after = _best_before(gain), _best_after(gain)
    # Score i of a goes below j scores of b: the best path that does so, against the best of all.
    through = before + gain + after
    corridor = through >= through.max() - gap - 1e-12
    cells = int(corridor.sum())
    if cells > _CELLS:
        return None
    least = float(through.max()) - gap - 1e-12
    labels = _walk(utility, disparity, corridor, after, crossing.price, least, _LABELS // cells)
    ends = labels[-1]
    if not ends.size:
        return None
    auc, gaps = hull.utility.offset + ends.utility, hull.disparity.offset + ends.disparity
    return _trace(labels, int(np.argmax(value(auc, gaps))))


@dataclass(slots=True)
class _Labels:
    """Paths that have placed the first scores of a: their sums, the column taken last, and the label each goes on from.

    Columns rise along the arrays.
    """

    disparity: FloatArray
    utility: FloatArray
    column: IntArray
    parent: IntArray

    @property
    def size(self) -> int:
        return int(self.column.size)


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


def _best_after(gain: FloatArray) -> FloatArray:
    """Highest sum over the scores of a after i, whose columns are at least j."""
    return _best_before(gain[::-1, ::-1])[::-1, ::-1]


def _walk(
    utility: FloatArray,
    disparity: FloatArray,
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
            gaps, auc = last.disparity[reach] + disparity[i, j], last.utility[reach] + utility[i, j]
            alive = np.flatnonzero(auc - price * gaps + after[i, j] >= least)
            parts.append(_Labels(gaps[alive], auc[alive], np.full(alive.size, j), reach[alive]))
        layers.append(_joined(parts))
    return layers


def _thinned(labels: _Labels, places: IntArray, price: float, most: int) -> IntArray:
    """Of the labels at these places, the best of each disparity, or of each of many narrow ranges of it."""
    if not places.size:
        return places
    gaps = labels.disparity[places]
    width = max(float(np.ptp(gaps)) / most if places.size > most else 0.0, 1e-13)
    bucket = np.floor(gaps / width)
    order = np.lexsort((price * gaps - labels.utility[places], bucket))
    return np.asarray(places[order[np.append(True, np.diff(bucket[order]) != 0)]])


def _joined(parts: list[_Labels]) -> _Labels:
    names = ("disparity", "utility", "column", "parent")
    return _Labels(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


def _trace(layers: list[_Labels], label: int) -> IntArray:
    path = np.empty(len(layers) - 1, dtype=np.int64)
    for i in range(len(layers) - 1, 0, -1):
        path[i - 1] = layers[i].column[label]
        label = int(layers[i].parent[label])
    return path
