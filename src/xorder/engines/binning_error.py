r"""How far bins can have moved each metric, at most.

A bin counts its rows as tied. A pair of a positive and a negative in one bin then counts one half, and in truth
anything from 0 to 1, so that xAUC is off by at most half the share of such pairs,

.. math:: |\Delta A[g, h]| \le \frac12 \sum_{bins} \frac{p_g}{n_1^g} \frac{n_h}{n_0^h},

and likewise AUC and PRF. A gap is off by as much as its two sides together; the gap of parity, whose pairs count -1, 0
or 1, by the whole share of pairs. Rows of one and the same score truly tie, and add nothing.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import combinations

import numpy as np

from xorder._table import BinningError, FloatArray, IntArray, Pair
from xorder.engines.bins import Leaves

# Leaves are split until the rest contributes at most this share of the tolerance,
_BELOW = 0.9
# or this share of the error there is: the few leaves that make up most of it are split as finely as can be.
_MOST_OF_IT = 0.05


def binning_error(groups: Sequence[Hashable], leaves: Leaves) -> BinningError:
    """Bound what the leaves that are not exact can have moved."""
    return _error(tuple(groups), leaves.masses[~leaves.is_exact], leaves.masses.sum(axis=0))


def heavy_leaves(groups: Sequence[Hashable], leaves: Leaves, *, tolerance: float, most: int) -> IntArray:
    """Choose the fewest leaves, at most ``most``, without which the error is below the tolerance, or far less."""
    totals = leaves.masses.sum(axis=0)
    inexact = np.flatnonzero(~leaves.is_exact)
    share = leaves.masses[inexact] * _inverse(totals)
    # The sum over all pairs of samples is no less than what any metric has of a leaf.
    weight = share.sum(axis=1) ** 2 - (share**2).sum(axis=1)
    order = np.argsort(-weight, kind="stable")[: np.count_nonzero(weight > 0)]
    masses = leaves.masses[inexact[order]]
    wanted = max(_BELOW * tolerance, _MOST_OF_IT * _error(tuple(groups), masses, totals).largest)
    low, high = 0, min(most, order.size)
    while low < high:
        middle = (low + high) // 2
        left = _error(tuple(groups), masses[middle:], totals).largest
        low, high = (low, middle) if left <= wanted else (middle + 1, high)
    return np.sort(inexact[order[:low]])


def _error(groups: tuple[Hashable, ...], masses: FloatArray, totals: FloatArray) -> BinningError:
    tied = masses.T @ masses
    n0, n1 = totals[0::2], totals[1::2]
    between = 0.5 * tied[1::2, 0::2]
    xauc = between * np.outer(_inverse(n1), _inverse(n0))
    of_all_negatives, of_all_positives = _inverse(np.array([n0.sum(), n1.sum()])).tolist()
    prf: FloatArray = between.sum(axis=1) * _inverse(n1) * of_all_negatives
    auc = float(between.sum()) * of_all_positives * of_all_negatives
    size = len(groups)
    rows = _inverse(n0 + n1)
    parity = tied.reshape(size, 2, size, 2).sum(axis=(1, 3)) * np.outer(rows, rows)
    gaps: dict[tuple[str, Pair], float] = {}
    for a, b in combinations(range(size), 2):
        pair = groups[a], groups[b]
        gaps["xauc", pair] = float(xauc[a, b] + xauc[b, a])
        gaps["prf", pair] = float(prf[a] + prf[b])
        gaps["parity", pair] = float(parity[a, b])
    return BinningError(groups, auc, xauc, dict(zip(groups, prf.tolist(), strict=True)), gaps)


def _inverse(totals: FloatArray) -> FloatArray:
    """One over each total; 0 where there is nothing at all."""
    return np.divide(1.0, totals, out=np.zeros(totals.shape), where=totals > 0)
