"""Curves and bars of tables of any size, few enough to draw: for pictures and for the page of a report."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from xorder._table import FloatArray, ScoreTable

# Scores outside the middle 99.6 % count for the scale, unless that would squeeze the others into a tenth of it.
_TAIL, _SQUEEZED = 0.002, 10.0

# Points of a drawn line, at most: more than a screen or a page can show.
_MOST_POINTS = 2000


def thin(x: FloatArray, y: FloatArray, at_most: int = _MOST_POINTS) -> tuple[FloatArray, FloatArray]:
    """Return points of a line, spread evenly along it, if it has more than a picture can show; its ends stay.

    On a line that rises, every point left out is within about ``2 / at_most`` of the picture of one that stays.
    """
    if x.size <= at_most:
        return x, y
    steps = sum(np.abs(np.diff(values)) / (float(np.ptp(values)) or 1.0) for values in (x, y))
    way = np.concatenate([[0.0], np.cumsum(steps)])
    kept = np.unique(np.searchsorted(way, np.linspace(0.0, way[-1], at_most)).clip(0, x.size - 1))
    kept[[0, -1]] = 0, x.size - 1
    return x[kept], y[kept]


def cross_roc(above: ScoreTable, below: ScoreTable, most: int = 999) -> tuple[FloatArray, FloatArray]:
    """Shares of ``below``'s negatives, and of ``above``'s positives, at or above falling cuts.

    Cuts are all scores of either class, or ``most`` of them that part its mass evenly. The area under the curve is the
    chance that a positive of ``above`` outranks a negative of ``below``; ties are one step for both. Empty where one of
    the two classes is.

    >>> a = ScoreTable.from_arrays([1, 1, 0], [0.9, 0.4, 0.1])
    >>> b = ScoreTable.from_arrays([0, 0, 1], [0.4, 0.2, 0.1])
    >>> cross_roc(a, b)
    (array([0. , 0. , 0.5, 1. ]), array([0. , 0.5, 1. , 1. ]))
    """
    if not above.n1 > 0 or not below.n0 > 0:
        return np.empty(0), np.empty(0)
    cuts = np.union1d(_cuts(above, above.positive, most), _cuts(below, below.negative, most))[::-1]
    passed, found = _share_above(below, below.negative, cuts), _share_above(above, above.positive, cuts)
    return np.append(0.0, passed), np.append(0.0, found)


def bin_edges(tables: Sequence[ScoreTable], bins: int) -> FloatArray:
    """Edges of equal bins over the scores of all tables together, less far outliers."""
    tables = [table for table in tables if len(table)]
    low, high = min(float(table.score[-1]) for table in tables), max(float(table.score[0]) for table in tables)
    score = np.concatenate([table.score for table in tables])
    mass = np.concatenate([table.mass for table in tables])
    top, bottom = (-end for end in quantiles(-score, mass, (_TAIL, 1 - _TAIL)))
    if high - low > _SQUEEZED * (top - bottom) > 0:
        low, high = bottom, top
    if not high > low:
        low, high = low - 0.5, high + 0.5
    # The difference of two very large numbers of different sign is more than a number can hold.
    part = np.arange(bins + 1) / bins
    return np.asarray(low * (1 - part) + high * part)


def histogram(table: ScoreTable, edges: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Shares of a group's negatives and of its positives in each bin; scores beyond the ends count in the end bins.

    Each sums to 1, or is ``nan`` where the group has no rows of the class.

    >>> table = ScoreTable.from_arrays([1, 1, 0], [0.9, 0.2, 0.1])
    >>> histogram(table, np.array([0.0, 0.5, 1.0]))
    (array([1., 0.]), array([0.5, 0.5]))
    """
    negative, positive = (
        np.diff(np.concatenate([[0.0], _share_above(table, mass, edges[-2:0:-1]), [1.0]]))[::-1]
        if mass.any()
        else np.full(edges.size - 1, np.nan)
        for mass in (table.negative, table.positive)
    )
    return negative, positive


def quantiles(values: FloatArray, mass: FloatArray, shares: Sequence[float]) -> list[float]:
    """Smallest values that at least these shares of the mass do not exceed; ``nan`` without any.

    >>> quantiles(np.array([0.9, 0.2, 0.4]), np.array([1.0, 1.0, 2.0]), [0.5, 0.9])
    [0.4, 0.9]
    """
    if not mass.any():
        return [np.nan] * len(shares)
    rising = np.argsort(values, kind="stable")
    reached = np.cumsum(mass[rising])
    place = np.searchsorted(reached, np.asarray(shares) * reached[-1] * (1 - 1e-12))
    return list(values[rising[place]].tolist())


def _cuts(table: ScoreTable, mass: FloatArray, most: int) -> FloatArray:
    """Scores that carry some mass: all of them where they are few, else those that part the mass evenly."""
    if np.count_nonzero(mass) <= most:
        return table.score[mass > 0]
    total = np.cumsum(mass)
    last = np.searchsorted(total, np.linspace(0.0, 1.0, most)[1:] * total[-1]).clip(max=mass.size - 1)
    return np.asarray(table.score[np.append(np.argmax(mass > 0), last)])


def _share_above(table: ScoreTable, mass: FloatArray, cuts: FloatArray) -> FloatArray:
    """Share of the mass at or above each cut."""
    total = np.append(0.0, np.cumsum(mass))
    return np.asarray(total[np.searchsorted(-table.score, -cuts, side="right")] / total[-1])
