"""The whole trade-off curve, in near-linear time, with a proof of how close to optimal each point is."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from xorder._html import frontier_html
from xorder._metric import PairGains
from xorder._table import FloatArray, IntArray, ScoreTable
from xorder.ordering._crossing import search_corridor, split_pair
from xorder.ordering._dynamic import solve_dp
from xorder.ordering._hull import Corner, Crossing, Hull, expand, hull_of, optimum
from xorder.ordering._ordering import ROUNDING, Goal, Ordering, path_ordering

# More pairs of blocks than this and the curve is listed at a fixed resolution.
_PAIRS = 1_000_000

# Up to so many cells the paper's dynamic programme is one more candidate where no corner is optimal; up to more of
# them where splitting one pair of blocks leaves a gap above the usual.
_DP_CELLS = 1_000_000
_DP_CELLS_AT_MOST = 60_000_000
_LARGE_GAP = 1e-3


@dataclass(frozen=True, slots=True, eq=False)
class Frontier:
    """Corners of the upper hull of reachable (gap, AUC); made by :func:`frontier`.

    They run from all of a above all of b to the reverse. Where there are more than a million pairs of blocks, about
    two thousand corners are listed, spread over the curve, each with one price at which it is best; :meth:`at` is
    exact all the same.

    Parameters
    ----------
    auc : ndarray of shape (n_corners,)
        AUC of each corner.
    gap : ndarray of shape (n_corners,)
        Gap of each corner, falling.
    price : ndarray of shape (n_corners,)
        Price of gap from which on a corner is best, up to the price of the next; minus infinity for the first.
    a, b : ScoreTable
        Tables of the two groups.
    metric : PairGains
        What pairs are worth to the gap.
    """

    auc: FloatArray
    gap: FloatArray
    price: FloatArray
    a: ScoreTable = field(repr=False)
    b: ScoreTable = field(repr=False)
    metric: PairGains = field(repr=False)
    _hull: Hull = field(repr=False, init=False)

    def at(self, *, tradeoff: float | None = None, max_gap: float | None = None) -> Ordering:
        """Return the ordering at one point of the curve.

        Parameters
        ----------
        tradeoff : float, default=None
            Make ``AUC - tradeoff * |gap|`` high.
        max_gap : float, default=None
            Make the AUC high with ``|gap| <= max_gap``; one of the two is given.

        Returns
        -------
        Ordering
            Ordering with its bound.
        """
        return _best(self.a, self.b, self._hull, Goal.of(tradeoff=tradeoff, max_gap=max_gap))

    def _repr_html_(self) -> str:
        return frontier_html(self)


def frontier(a: ScoreTable, b: ScoreTable, *, metric: str | PairGains = "xauc") -> Frontier:
    """Find the whole trade-off curve between AUC and a gap.

    Guarantee: each listed point is a corner of the upper hull of what interleavings can reach. Time of sorting the
    scores, plus ``K_a K_b log(K_a K_b)`` for the K blocks that pooling leaves.

    Parameters
    ----------
    a, b : ScoreTable
        Tables of the two groups; the gap is that of a minus that of b.
    metric : {"xauc", "prf", "parity"} or PairGains, default="xauc"
        Gap that is traded for AUC.

    Returns
    -------
    Frontier
        The curve, from which orderings are read with :meth:`Frontier.at`.

    Examples
    --------
    >>> from xorder import ScoreTable
    >>> a = ScoreTable.from_arrays([1, 1, 0], [0.9, 0.7, 0.2])
    >>> b = ScoreTable.from_arrays([1, 0, 0], [0.5, 0.4, 0.3])
    >>> curve = frontier(a, b)
    >>> curve.gap, curve.auc.round(3)
    (array([ 1.,  0., -1.]), array([0.889, 1.   , 0.556]))
    >>> curve.at(max_gap=0.5).b_above
    array([0, 0, 1])
    """
    hull = hull_of(a, b, metric)
    auc, gap, price = hull.corners(_PAIRS)
    for array in (auc, gap, price):
        array.flags.writeable = False
    curve = Frontier(auc, gap, price, a, b, hull.gains)
    object.__setattr__(curve, "_hull", hull)
    return curve


def solve_frontier(a: ScoreTable, b: ScoreTable, gains: PairGains, tradeoff: float) -> Ordering:
    """Merge the groups' blocks at the price that the tradeoff sets; split a pair of blocks where D changes sign.

    Guarantee: ``objective <= best possible <= bound``. The gap between is 0 where a merge of whole blocks is optimal.
    Time of sorting the scores.
    """
    return _best(a, b, Hull(a, b, gains), Goal(tradeoff))


def order_within_frontier(a: ScoreTable, b: ScoreTable, metric: str | PairGains, max_gap: float) -> Ordering:
    """Find the ordering of highest AUC with ``|gap| <= max_gap``, without a search over tradeoffs."""
    return _best(a, b, hull_of(a, b, metric), Goal.of(tradeoff=None, max_gap=max_gap))


def _best(a: ScoreTable, b: ScoreTable, hull: Hull, goal: Goal) -> Ordering:
    found, target, bound = optimum(hull, goal)
    if isinstance(found, Corner):
        best = _wrapped(a, b, hull, expand(hull.a, hull.b, found.b_above), goal.tradeoff or 0.0)
        return replace(best, bound=best.objective)
    if goal.tradeoff is None:
        return _within(a, b, hull, goal, found, target, bound)
    return _for_tradeoff(a, b, hull, goal, found, bound)


def _for_tradeoff(a: ScoreTable, b: ScoreTable, hull: Hull, goal: Goal, crossing: Crossing, bound: float) -> Ordering:
    """Highest objective around the crossing at which the gap changes sign."""
    tradeoff = goal.tradeoff or 0.0
    best = _wrapped(a, b, hull, split_pair(a, b, hull, crossing, 0.0, goal.value), tradeoff)
    cells = len(a) * len(b)
    if cells <= _DP_CELLS or (cells <= _DP_CELLS_AT_MOST and bound - best.objective > _LARGE_GAP):
        best = max(best, solve_dp(a, b, hull.gains, tradeoff), key=lambda ordering: ordering.objective)
    path = search_corridor(a, b, hull, crossing, bound - best.objective, goal.value)
    if path is not None:
        best = max(best, _wrapped(a, b, hull, path, tradeoff), key=lambda ordering: ordering.objective)
    return replace(best, bound=bound, solver="frontier")


def _within(
    a: ScoreTable, b: ScoreTable, hull: Hull, goal: Goal, crossing: Crossing, target: float, bound: float
) -> Ordering:
    """Highest AUC around the crossing at which the limit is met; its tradeoff is the price of gap there."""

    def worth(ordering: Ordering) -> float:
        return float(goal.value(np.array(ordering.auc), np.array(ordering.gap)))

    price = abs(crossing.price)
    best = _wrapped(a, b, hull, split_pair(a, b, hull, crossing, target, goal.value), price)
    # What an ordering that meets the limit may lose: anything, as long as none is known, or else little.
    for loss in (bound - worth(best), _LARGE_GAP):
        path = search_corridor(a, b, hull, crossing, loss, goal.value)
        if path is not None:
            best = max(best, _wrapped(a, b, hull, path, price), key=worth)
            break
    if abs(best.gap) > goal.allowed + ROUNDING and len(a) * len(b) <= _DP_CELLS:
        others = (_best(a, b, hull, Goal(tradeoff)) for tradeoff in (price + 1.0, price + 100.0))
        best = max(best, *(replace(other, tradeoff=price) for other in others), key=worth)
    # What is left of the band is worth its price to an ordering that uses all of it.
    return replace(best, bound=bound - price * min(abs(best.gap), goal.allowed))


def _wrapped(a: ScoreTable, b: ScoreTable, hull: Hull, path: IntArray, tradeoff: float) -> Ordering:
    return path_ordering(a, b, path, hull.gains, tradeoff, "frontier", hull.utility)
