"""The whole trade-off curve, in near-linear time, with a proof of how close to optimal each point is."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np

from xorder._html import frontier_html
from xorder._metric import PairGains
from xorder._table import FloatArray, IntArray, ScoreTable, running
from xorder.exceptions import InputError
from xorder.ordering._crossing import search_labels, split_pair
from xorder.ordering._dynamic import solve_dp
from xorder.ordering._hull import Corner, Hull, expand, hull_of, optimum
from xorder.ordering._ordering import ROUNDING, Goal, Ordering, check_number, path_ordering, sensitivity

# More pairs of blocks than this and the curve is listed at a fixed resolution.
_PAIRS = 1_000_000

# Where no corner is optimal, the paper's dynamic programme is tried as well on tables of up to this many cells.
_DP_CELLS = 1_000_000

# And on tables of up to this many, if the ordering found is further below its bound than _FAR_BELOW.
_DP_CELLS_AT_MOST = 60_000_000

# Distance to the bound that is worth another attempt.
_FAR_BELOW = 1e-3


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
        return _best(self._hull, Goal.of(tradeoff=tradeoff, max_gap=max_gap))

    def _repr_html_(self) -> str:
        return frontier_html(self)


def frontier(
    a: ScoreTable, b: ScoreTable, *, metric: str | PairGains = "xauc", pins: Sequence[tuple[int, int]] = ()
) -> Frontier:
    """Find the whole trade-off curve between AUC and a gap.

    Guarantee: each listed point is a corner of the upper hull of what interleavings, through the pins, can reach. Time
    of sorting the scores, plus ``K_a K_b log(K_a K_b)`` for the K blocks that pooling leaves.

    Parameters
    ----------
    a, b : ScoreTable
        Tables of the two groups; the gap is that of a minus that of b.
    metric : {"xauc", "prf", "parity"} or PairGains, default="xauc"
        Gap that is traded for AUC.
    pins : sequence of (int, int), default=()
        Prefixes that every ordering of the curve passes: (i, j) puts the first i distinct scores of a and the first j
        of b above all others, so that a cut there selects them. :func:`equal_cut` finds such a prefix.

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
    hull = hull_of(a, b, metric, _check_pins(pins, a, b))
    auc, gap, price = hull.corners(_PAIRS)
    for array in (auc, gap, price):
        array.flags.writeable = False
    curve = Frontier(auc, gap, price, a, b, hull.gains)
    object.__setattr__(curve, "_hull", hull)
    return curve


def equal_cut(a: ScoreTable, b: ScoreTable, share: float) -> tuple[int, int]:
    """Find the prefix of about a share of all rows at which the two groups' sensitivities are closest.

    Parameters
    ----------
    a, b : ScoreTable
        Tables of the two groups.
    share : float
        Share of all rows above the cut, between 0 and 1.

    Returns
    -------
    tuple of (int, int)
        Number of distinct scores of a, and of b, above the cut: a pin for :func:`frontier`.

    Examples
    --------
    >>> a = ScoreTable.from_arrays([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.2])
    >>> b = ScoreTable.from_arrays([1, 0, 1, 0], [0.5, 0.4, 0.3, 0.1])
    >>> equal_cut(a, b, 0.25)
    (1, 1)
    """
    if not 0 < check_number(share, "share") < 1:
        raise InputError(f"share must lie between 0 and 1; got {share!r}.")
    (of_a, rows_a), (of_b, rows_b) = ((sensitivity(table), running(table.mass)) for table in (a, b))
    # For each prefix of a, the one of b with which there are enough rows above the cut.
    wanted = share * (rows_a[-1] + rows_b[-1])
    above = np.searchsorted(rows_b, wanted - rows_a * (1 + 1e-12))
    fits = np.flatnonzero((rows_a <= wanted) & (above <= len(b)))
    closest = int(fits[np.argmin(np.abs(of_a[fits] - of_b[above[fits]]))])
    return closest, int(above[closest])


def _check_pins(pins: Any, a: ScoreTable, b: ScoreTable) -> list[tuple[int, int]]:
    """Refuse what is no list of prefixes, each of which holds the one before."""
    try:
        found = sorted({(operator.index(i), operator.index(j)) for i, j in pins})
    except (TypeError, ValueError):
        raise InputError(f"pins must be pairs of whole numbers, such as [(10, 4)]; got {pins!r}.") from None
    if not all(0 <= i <= len(a) and 0 <= j <= len(b) for i, j in found):
        raise InputError(f"a pin (i, j) must have i from 0 to {len(a)} and j from 0 to {len(b)}; got {pins!r}.")
    if any(second[1] < first[1] for first, second in pairwise(found)):
        raise InputError(f"of two pins one must hold the other: both numbers rise together; got {pins!r}.")
    return [pin for pin in found if pin not in ((0, 0), (len(a), len(b)))]


def solve_frontier(a: ScoreTable, b: ScoreTable, gains: PairGains, tradeoff: float) -> Ordering:
    """Merge the groups' blocks at the price that the tradeoff sets; split a pair of blocks where D changes sign.

    Guarantee: ``objective <= best possible <= bound``. The optimality gap is 0 where a merge of whole blocks
    is optimal. Time of sorting the scores.
    """
    return _best(Hull(a, b, gains), Goal(tradeoff))


def order_within_frontier(a: ScoreTable, b: ScoreTable, metric: str | PairGains, max_gap: float) -> Ordering:
    """Find the ordering of highest AUC with ``|gap| <= max_gap``, without a search over tradeoffs."""
    return _best(hull_of(a, b, metric), Goal.of(tradeoff=None, max_gap=max_gap))


def _best(hull: Hull, goal: Goal) -> Ordering:
    """Find a good ordering: an optimal corner, or the best around the crossing where the gap passes the one aimed at.

    Under a limit its tradeoff is the price of gap there.
    """
    (a, b), (found, target, bound) = hull.tables, optimum(hull, goal)
    if isinstance(found, Corner):
        best = _wrapped(hull, expand(hull.a, hull.b, found.b_above), goal.tradeoff or 0.0)
        return replace(best, bound=best.objective)
    is_limit, cells = goal.tradeoff is None, np.inf if len(hull.pins) > 2 else len(a) * len(b)
    tradeoff = abs(found.price) if goal.tradeoff is None else goal.tradeoff
    best = _wrapped(hull, split_pair(hull, found, target, goal), tradeoff)
    is_far = cells <= _DP_CELLS_AT_MOST and bound - best.objective > _FAR_BELOW
    if not is_limit and (cells <= _DP_CELLS or is_far):
        best = max(best, solve_dp(a, b, hull.gains, tradeoff), key=goal.worth)
    # What an ordering that meets a limit may lose: anything, as long as none is known, or else little.
    for loss in (bound - goal.worth(best), _FAR_BELOW) if is_limit else (bound - best.objective,):
        path = search_labels(a, b, (hull.utility, hull.gains), found.price, loss, goal, hull.between)
        if path is not None:
            best = max(best, _wrapped(hull, path, tradeoff), key=goal.worth)
            break
    if is_limit and abs(best.gap) > goal.allowed + ROUNDING and cells <= _DP_CELLS:
        others = (_best(hull, Goal(tradeoff + more)) for more in (1.0, 100.0))
        best = max(best, *(replace(other, tradeoff=tradeoff) for other in others), key=goal.worth)
    # What is left of the band is worth its price to an ordering that uses all of it.
    return replace(best, bound=bound - tradeoff * min(abs(best.gap), goal.allowed), solver="frontier")


def _wrapped(hull: Hull, path: IntArray, tradeoff: float) -> Ordering:
    return path_ordering(*hull.tables, path, hull.gains, tradeoff, "frontier", hull.utility)
