"""The whole trade-off curve, in near-linear time, with a proof of how close to optimal each point is."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any

import numpy as np

from xorder._html import frontier_html
from xorder._metric import PairGains, check_pair_gains
from xorder._table import FloatArray, IntArray, ScoreTable
from xorder._validation import check_both_classes
from xorder.exceptions import InputError
from xorder.ordering._crossing import search_corridor, split_pair
from xorder.ordering._dynamic import solve_dp
from xorder.ordering._hull import ROUNDING, Corner, Crossing, Hull, expand
from xorder.ordering._ordering import Ordering

# More pairs of blocks than this and the curve is listed at a fixed resolution.
_PAIRS = 1_000_000

# Up to so many cells the paper's dynamic programme is one more candidate where no corner is optimal; up to more of
# them where splitting one pair of blocks leaves a gap above the usual.
_DP_CELLS = 1_000_000
_DP_CELLS_AT_MOST = 60_000_000
_LARGE_GAP = 1e-3

# AUC given for a point of gap beyond what is allowed, where it cannot be met.
_STEEP = 100.0


@dataclass(frozen=True, slots=True, eq=False)
class Frontier:
    """Every corner of the upper hull of reachable (gap, AUC); made by :func:`frontier`.

    ``auc`` and ``gap`` run from all of a above all of b to the reverse, the gap falling. Corner i is
    best for prices of gap from ``price[i]`` (for the first, from minus infinity) to ``price[i + 1]``.
    Where there are more than a million pairs of blocks, about two thousand corners are listed, spread over the curve,
    each with one price at which it is best; :meth:`at` is exact all the same.
    """

    auc: FloatArray
    gap: FloatArray
    price: FloatArray
    a: ScoreTable = field(repr=False)
    b: ScoreTable = field(repr=False)
    metric: PairGains = field(repr=False)
    _hull: Hull = field(repr=False)

    def at(self, *, tradeoff: float | None = None, max_gap: float | None = None) -> Ordering:
        """Return the ordering for a tradeoff, or that of highest AUC with ``|gap| <= max_gap``."""
        if (tradeoff is None) == (max_gap is None):
            raise InputError("give tradeoff or max_gap, one of the two.")
        if tradeoff is not None:
            return _for_tradeoff(self.a, self.b, self._hull, check_tradeoff(tradeoff))
        return _within(self.a, self.b, self._hull, check_max_gap(max_gap))

    def _repr_html_(self) -> str:
        return frontier_html(self)


def frontier(a: ScoreTable, b: ScoreTable, *, metric: str | PairGains = "xauc") -> Frontier:
    """Find the whole trade-off curve between AUC and a gap.

    Guarantee: each listed point is a corner of the upper hull of what interleavings can reach. Time of sorting the
    scores, plus ``K_a K_b log(K_a K_b)`` for the K blocks that pooling leaves.

    >>> from xorder import ScoreTable
    >>> a = ScoreTable.from_arrays([1, 1, 0], [0.9, 0.7, 0.2])
    >>> b = ScoreTable.from_arrays([1, 0, 0], [0.5, 0.4, 0.3])
    >>> curve = frontier(a, b)
    >>> curve.gap, curve.auc.round(3)
    (array([ 1.,  0., -1.]), array([0.889, 1.   , 0.556]))
    >>> curve.at(max_gap=0.5).b_above
    array([0, 0, 1])
    """
    hull = _hull(a, b, metric)
    auc, gap, price = hull.corners(_PAIRS)
    for array in (auc, gap, price):
        array.flags.writeable = False
    return Frontier(auc, gap, price, a, b, hull.gains, hull)


def solve_frontier(a: ScoreTable, b: ScoreTable, gains: PairGains, tradeoff: float) -> Ordering:
    """Merge the groups' blocks at the price that the tradeoff sets; split a pair of blocks where D changes sign.

    Guarantee: ``objective <= best possible <= bound``. The gap between is 0 where a merge of whole blocks is optimal.
    Time of sorting the scores.
    """
    return _for_tradeoff(a, b, Hull(a, b, gains), tradeoff)


def order_within_frontier(a: ScoreTable, b: ScoreTable, metric: str | PairGains, max_gap: float) -> Ordering:
    """Find the ordering of highest AUC with ``|gap| <= max_gap``, without a search over tradeoffs."""
    return _within(a, b, _hull(a, b, metric), check_max_gap(max_gap))


def upper_bound(a: ScoreTable, b: ScoreTable, gains: PairGains, tradeoff: float) -> float:
    """Return a value that ``AUC - tradeoff * |gap|`` exceeds for no interleaving."""
    _, bound = _optimum(Hull(a, b, gains), tradeoff)
    return bound


def check_tradeoff(tradeoff: Any) -> float:
    """Return the tradeoff as a float; it must be a finite number from 0 up."""
    return _check_number(tradeoff, "tradeoff")


def check_max_gap(max_gap: Any) -> float:
    """Return the largest gap allowed as a float; it must be a finite number from 0 up."""
    return _check_number(max_gap, "max_gap")


def _check_number(value: Any, name: str) -> float:
    if not isinstance(value, Real) or not 0 <= float(value) <= 1e100:
        raise InputError(f"{name} must be a finite number from 0 up, at most 1e100; got {value!r}.")
    return float(value)


def _hull(a: ScoreTable, b: ScoreTable, metric: str | PairGains) -> Hull:
    check_both_classes(a, "the first group")
    check_both_classes(b, "the second group")
    return Hull(a, b, check_pair_gains(metric, a, b))


def _optimum(hull: Hull, tradeoff: float) -> tuple[Corner | Crossing, float]:
    """Return the corner that is optimal for the tradeoff, or the crossing around it; and the bound."""
    tied_to_a, tied_to_b = hull.corner(0.0, tied_to_a=True), hull.corner(0.0)
    if tradeoff == 0:
        return tied_to_b, tied_to_b.auc
    # The corner at price +tradeoff is optimal if its gap is still positive; likewise on the other side.
    for price, sign in ((tradeoff, 1.0), (-tradeoff, -1.0)):
        if sign * (tied_to_b if sign > 0 else tied_to_a).gap >= 0 and hull.lowest < price < hull.highest:
            for tied in (sign < 0, sign > 0):
                corner = hull.corner(price, tied_to_a=tied)
                if sign * corner.gap >= 0:
                    return corner, corner.auc - tradeoff * abs(corner.gap)
    found = hull.crossing(0.0)
    if isinstance(found, Corner):
        return found, found.auc - tradeoff * abs(found.gap)
    return found, found.lower.auc - found.price * found.lower.gap


def _for_tradeoff(a: ScoreTable, b: ScoreTable, hull: Hull, tradeoff: float) -> Ordering:
    found, bound = _optimum(hull, tradeoff)
    if isinstance(found, Corner):
        best = _wrapped(a, b, hull, expand(hull.a, hull.b, found.b_above), tradeoff)
        return replace(best, bound=best.objective)

    def value(auc: FloatArray, gap: FloatArray) -> FloatArray:
        return np.asarray(auc - tradeoff * np.abs(gap))

    best = _wrapped(a, b, hull, split_pair(a, b, hull, found, 0.0, value), tradeoff)
    cells = len(a) * len(b)
    if cells <= _DP_CELLS or (cells <= _DP_CELLS_AT_MOST and bound - best.objective > _LARGE_GAP):
        best = max(best, solve_dp(a, b, hull.gains, tradeoff), key=lambda ordering: ordering.objective)
    path = search_corridor(a, b, hull, found, bound - best.objective, value)
    if path is not None:
        best = max(best, _wrapped(a, b, hull, path, tradeoff), key=lambda ordering: ordering.objective)
    return replace(best, bound=bound, solver="frontier")


def _within(a: ScoreTable, b: ScoreTable, hull: Hull, allowed: float) -> Ordering:
    """Best AUC with the gap inside a band around 0; its tradeoff is the price of gap there."""
    free = [hull.corner(0.0, tied_to_a=tied) for tied in (True, False)]
    closest = min(free, key=lambda corner: abs(corner.gap))
    if abs(closest.gap) <= allowed + ROUNDING:
        best = _wrapped(a, b, hull, expand(hull.a, hull.b, closest.b_above), 0.0)
        return replace(best, bound=best.objective)
    one_side = free[0].gap * free[1].gap > 0
    target = float(np.sign(closest.gap)) * allowed if one_side else 0.0
    found = hull.crossing(target)
    if isinstance(found, Corner):
        best = _wrapped(a, b, hull, expand(hull.a, hull.b, found.b_above), 0.0)
        return replace(best, bound=best.objective)

    def value(auc: FloatArray, gap: FloatArray) -> FloatArray:
        excess = np.abs(gap) - allowed
        return np.where(excess <= ROUNDING, auc, auc - 1.0 - _STEEP * excess)

    def worth(ordering: Ordering) -> float:
        return float(value(np.array(ordering.auc), np.array(ordering.gap)))

    price, bound = abs(found.price), found.lower.auc - found.price * found.lower.gap
    best = _wrapped(a, b, hull, split_pair(a, b, hull, found, target, value), price)
    # What an ordering that meets the limit may lose: anything, as long as none is known, or else little.
    for loss in (bound + price * allowed - worth(best), _LARGE_GAP):
        path = search_corridor(a, b, hull, found, loss, value)
        if path is not None:
            best = max(best, _wrapped(a, b, hull, path, price), key=worth)
            break
    if abs(best.gap) > allowed + ROUNDING and len(a) * len(b) <= _DP_CELLS:
        others = (_for_tradeoff(a, b, hull, tradeoff) for tradeoff in (price + 1.0, price + 100.0))
        best = max(best, *(replace(other, tradeoff=price) for other in others), key=worth)
    # What is left of the band is worth its price to an ordering that uses all of it.
    return replace(best, bound=bound + price * max(allowed - abs(best.gap), 0.0))


def _wrapped(a: ScoreTable, b: ScoreTable, hull: Hull, path: IntArray, tradeoff: float) -> Ordering:
    return Ordering.from_path(a, b, path, hull.gains, tradeoff, "frontier", hull.utility)
