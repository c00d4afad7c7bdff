"""Curves thinned for drawing: a few hundred points each, from tables of any size."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from xorder._table import FloatArray, ScoreTable

# Points of a curve, and bars of a distribution.
_POINTS = 100
_BINS = 40

# The share of people at either end that may be drawn in the outermost bars, for scores without bounds.
_TAIL = 0.002

# Decimals of what is only drawn.
_DIGITS = 5


def cross_roc(positives: ScoreTable, negatives: ScoreTable) -> list[list[float]]:
    """Return points (share of the second's negatives, share of the first's positives) at or above falling cuts.

    >>> a = ScoreTable.from_arrays([1, 1, 0], [0.9, 0.3, 0.2])
    >>> b = ScoreTable.from_arrays([0, 0], [0.5, 0.1])
    >>> cross_roc(a, b)
    [[0.0, 0.0], [0.0, 0.5], [0.5, 0.5], [0.5, 1.0], [1.0, 1.0]]
    """
    if not (positives.n1 > 0 and negatives.n0 > 0):
        return []
    cuts = np.unique(np.concatenate([_cuts(positives, positives.positive), _cuts(negatives, negatives.negative)]))[::-1]
    found = _share_above(positives, positives.positive, cuts)
    passed = _share_above(negatives, negatives.negative, cuts)
    points = np.round(np.column_stack([np.append(0.0, passed), np.append(0.0, found)]), _DIGITS)
    moved = np.append(True, np.any(points[1:] != points[:-1], axis=1))
    return [[float(x), float(y)] for x, y in points[moved]]


def bin_edges(tables: Sequence[ScoreTable]) -> FloatArray:
    """Return the edges of the bars: over [0, 1] for scores that lie there, else over all but the outermost people."""
    lowest = min(table.score[-1] for table in tables)
    highest = max(table.score[0] for table in tables)
    if lowest >= 0 and highest <= 1:
        return np.linspace(0.0, 1.0, _BINS + 1)
    ends = [_score_at(table, table.mass, share) for table in tables for share in (_TAIL, 1 - _TAIL)]
    low, high = min(ends), max(ends)
    if not low < high:
        low, high = low - 0.5, high + 0.5
    # Between two very large numbers of different sign there is more than a number can say.
    return np.asarray(low + (high / _BINS - low / _BINS) * np.arange(_BINS + 1))


def distribution(table: ScoreTable, mass: FloatArray, edges: FloatArray) -> list[float]:
    """Return the share of a class's mass in each bar; scores beyond the ends are in the outermost bars."""
    if not mass.any():
        return []
    inner = _share_above(table, mass, edges[1:-1])
    return [round(float(share), _DIGITS) for share in -np.diff(np.concatenate([[1.0], inner, [0.0]]))]


def _cuts(table: ScoreTable, mass: FloatArray) -> FloatArray:
    """Scores that carry some mass: all of them where they are few, else those that cut the mass evenly."""
    if np.count_nonzero(mass) <= _POINTS:
        return table.score[np.flatnonzero(mass)]
    total = np.cumsum(mass)
    places = np.searchsorted(total, np.linspace(0.0, 1.0, _POINTS)[1:] * total[-1])
    return np.asarray(table.score[np.minimum(np.append(np.argmax(mass > 0), places), mass.size - 1)])


def _share_above(table: ScoreTable, mass: FloatArray, cuts: FloatArray) -> FloatArray:
    """Share of the mass at or above each cut."""
    total = np.append(0.0, np.cumsum(mass))
    return np.asarray(total[np.searchsorted(-table.score, -cuts, side="right")] / total[-1])


def _score_at(table: ScoreTable, mass: FloatArray, share: float) -> float:
    total = np.cumsum(mass)
    return float(table.score[min(int(np.searchsorted(total, share * total[-1])), table.score.size - 1)])
