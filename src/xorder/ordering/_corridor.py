r"""Orderings that keep a limit at every cut: inside a corridor the best path at a price is an exact dynamic programme.

An interleaving is a path through the lattice of prefixes: after i scores of a and j of b, the cut there selects the
shares :math:`A_i` and :math:`B_j` of the two groups' positives. :math:`|A_i - B_j| \le \epsilon` at every point of the
path is a region between two staircases: score i of a may be placed behind j scores of b if
:math:`B_j \ge A_i - \epsilon` and :math:`B_j \le A_{i-1} + \epsilon`. At a price :math:`\mu` of the gap a path is worth
the sum over i of what score i of a gains on all scores of b that it stands above, so the best path needs one pass over
the rows of the region. Its value is a bound for all paths inside: of :math:`AUC - \lambda |D|` for every
:math:`|\mu| \le \lambda`, and, with :math:`|\mu| d` added, of the AUC of paths with :math:`|D| \le d`. The lowest such
bound is found by cutting planes.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import numpy as np

from xorder._metric import PairGains, auc_gains
from xorder._table import FloatArray, IntArray, ScoreTable, running
from xorder.exceptions import InputError
from xorder.ordering._crossing import search_labels
from xorder.ordering._hull import Corner, pair_bound
from xorder.ordering._ordering import Goal, Ordering, path_ordering, remaining, sensitivity

# Cells of the region that are looked at; tables with more are thinned.
_CELLS = 12_000_000

# Levels of a thinned table at first.
_LEVELS = 3000

# Prices tried at most, and how close the bound comes to the lowest of its kind.
_PRICES = 40
_CLOSE = 1e-9

# How many of the paths nearest to the gap wanted are spliced, two at a time.
_SPLICED = 8

# Regions of up to this many cells are searched by labels, too.
_FEW_CELLS = 1500

# A price as high as this is not raised further.
_HIGHEST = 1e6


def smallest_cut_gap(a: ScoreTable, b: ScoreTable) -> float:
    """Return the smallest limit at every cut that some ordering keeps.

    Parameters
    ----------
    a, b : ScoreTable
        Tables of the two groups.

    Returns
    -------
    float
        The largest difference of sensitivities that no ordering can avoid.

    Notes
    -----
    As score i of a is placed, sensitivities pass from (A_{i-1}, B_j) to (A_i, B_j): the best j is the one whose B_j
    lies closest to the middle of A_{i-1} and A_i. Each step may choose its own, as these j rise with i.
    """
    of_a, of_b = sensitivity(a), sensitivity(b)
    middle = (of_a[1:] + of_a[:-1]) / 2
    above = np.minimum(np.searchsorted(of_b, middle), of_b.size - 1)
    distance = np.minimum(np.abs(of_b[above] - middle), np.abs(of_b[np.maximum(above - 1, 0)] - middle))
    return float(np.max(distance + np.diff(of_a) / 2))


def order_within_cuts(a: ScoreTable, b: ScoreTable, gains: PairGains, goal: Goal, max_cut_gap: float) -> Ordering:
    """Find a good ordering for a goal inside the corridor.

    Guarantee: no cut has a wider difference of sensitivities than ``max_cut_gap``; ``objective <= best possible in the
    corridor <= bound``. The two meet where a path that is best at a price has a gap of the right sign. One pass over
    the cells of the corridor per price, for a dozen prices as a rule and 50 at most; of tables with more than 12
    million cells, over thinned ones, and the bound is then that of all orderings.
    """
    if len(a) > len(b):
        # A pass takes a step per score of a: the shorter list goes first.
        turned = PairGains(gains.matrix.T, -gains.value(np.outer([a.n1, a.n0], [b.n1, b.n0])), name=gains.name)
        other = order_within_cuts(b, a, turned, goal, max_cut_gap)
        path = np.searchsorted(other.b_above, np.arange(len(a)), side="right")
        found = path_ordering(a, b, path, gains, other.tradeoff, "frontier")
        return replace(found, bound=max(other.bound, found.objective))
    smallest = smallest_cut_gap(a, b)
    if max_cut_gap < smallest - 1e-12:
        raise InputError(
            f"max_cut_gap {max_cut_gap:g} can be kept by no ordering of these scores; the smallest that can is "
            f"{np.ceil(smallest * 1e6) / 1e6:g}."
        )
    region, levels = _Region(a, b, max_cut_gap), _LEVELS
    while region.cells > _CELLS and levels <= max(len(a), len(b)):
        thinned = _thinned(a, levels), _thinned(b, levels)
        if smallest_cut_gap(*thinned) <= max_cut_gap:
            region = _Region(*thinned, max_cut_gap)
            break
        levels *= 2
    path, price, height = _solved(region, gains, goal)
    tradeoff = abs(price) if goal.tradeoff is None else goal.tradeoff
    if region.a is not a:
        # From levels of the thinned tables to scores: whole levels stand together.
        starts_b = np.append(np.searchsorted(-b.score, -region.b.score), len(b))
        path = starts_b[path][np.searchsorted(-region.a.score, -a.score, side="right") - 1]
        # What bounds all orderings of the scores themselves, the corridor's among them.
        height = pair_bound(a, b, metric=gains, tradeoff=tradeoff)
    found = path_ordering(a, b, path, gains, tradeoff, "frontier")
    # What is left of a limit is worth its price to an ordering that uses all of it.
    left = tradeoff * (goal.allowed - abs(found.gap)) if goal.tradeoff is None else 0.0
    return replace(found, bound=max(height + left, found.objective))


class _Region:
    """The region of two tables and a limit, and the best path inside at a price."""

    def __init__(self, a: ScoreTable, b: ScoreTable, limit: float) -> None:
        self.a, self.b = a, b
        of_a, of_b = sensitivity(a), sensitivity(b)
        slack = limit + 1e-12
        # Score i of a stands behind from low[i] to high[i] scores of b.
        self.low = np.searchsorted(of_b, of_a[1:] - slack)
        self.high = np.searchsorted(of_b, of_a[:-1] + slack, side="right") - 1
        self.left = np.stack([remaining(b.positive), remaining(b.negative)])
        self.cells = int((self.high - self.low + 1).sum())

    def best(self, gain: FloatArray) -> IntArray:
        """Return the path of the highest worth, where ``gain`` is that of a pair with the member of a above."""
        worth = np.stack([self.a.positive, self.a.negative], axis=1) @ gain
        low, high = self.low.tolist(), self.high.tolist()
        value = worth[0] @ self.left[:, low[0] : high[0] + 1]
        choices = []
        for i in range(1, len(self.a)):
            # Best of all that stand no lower among b, up to each position of the row before.
            reached = np.maximum.accumulate(value)
            choices.append((reached[1:] > reached[:-1]).nonzero()[0])
            begin, end = low[i] - low[i - 1], high[i] - low[i - 1] + 1
            value = reached[begin : min(end, reached.size)]
            if end > reached.size:
                value = np.concatenate([value, np.full(end - max(reached.size, begin), reached[-1])])
            value = value + worth[i] @ self.left[:, low[i] : high[i] + 1]
        path = np.empty(len(self.a), dtype=np.int64)
        path[-1] = low[-1] + int(np.argmax(value))
        for i in range(len(self.a) - 2, -1, -1):
            # Where the best so far last rose, up to the place of the row after.
            rises = choices[i]
            last = int(rises.searchsorted(path[i + 1] - low[i]))
            path[i] = low[i] + (rises[last - 1] + 1 if last else 0)
        return path


def _solved(region: _Region, gains: PairGains, goal: Goal) -> tuple[IntArray, float, float]:
    """Return the best path found, and what bounds all others: a price of the gap, and a height at that price."""
    utility = auc_gains(region.a, region.b)
    tried: list[Corner] = []

    def at(price: float) -> Corner:
        path = region.best(utility.matrix - price * gains.matrix)
        tried.append(Corner.of(region.a, region.b, path, utility, gains))
        return tried[-1]

    free = at(0.0)
    if goal.tradeoff == 0 or (goal.tradeoff is None and abs(free.gap) <= goal.allowed):
        return free.b_above, 0.0, free.auc
    sign = 1.0 if free.gap > 0 else -1.0
    target = sign * goal.allowed
    price = sign * (1.0 if goal.tradeoff is None else goal.tradeoff)
    steep = at(price)
    while goal.tradeoff is None and sign * (steep.gap - target) > 0 and abs(price) < _HIGHEST:
        price *= 8
        steep = at(price)
    height = steep.auc - price * steep.gap
    # Between the two prices the lowest bound lies where the lines of two neighbouring paths meet.
    if is_between := sign * (steep.gap - target) < 0:
        upper, lower = free, steep
        for _ in range(_PRICES):
            price = (upper.auc - lower.auc) / (upper.gap - lower.gap)
            level = upper.auc - price * upper.gap
            found = at(price)
            height = found.auc - price * found.gap
            if height <= level + _CLOSE:
                break
            upper, lower = (found, lower) if sign * (found.gap - target) > 0 else (upper, found)
    if is_between and region.cells <= _FEW_CELLS:
        best = max(map(goal.worth, tried))
        loss = height + (abs(price) * goal.allowed if goal.tradeoff is None else 0.0) - best
        path = search_labels(region.a, region.b, (utility, gains), price, loss, goal, (region.low, region.high))
        if path is not None:
            tried.append(Corner.of(region.a, region.b, path, utility, gains))
    if is_between:
        near = sorted(tried, key=lambda path: abs(path.gap - target))[:_SPLICED]
        tried.extend(_spliced(region, utility, gains, near, goal))
    return max(tried, key=goal.worth).b_above, price, height


def _spliced(region: _Region, utility: PairGains, gains: PairGains, paths: list[Corner], goal: Goal) -> list[Corner]:
    """Return, for each two of some paths, the best that follows the first up to a score of a and then the second.

    Each is worth a sum over the scores of a, so that all such paths are read off running sums.
    """
    masses, quantities = np.stack([region.a.positive, region.a.negative], axis=1), (utility, gains)
    sums = [
        [running(((masses @ each.matrix) * region.left[:, path.b_above].T).sum(axis=1)) for each in quantities]
        for path in paths
    ]
    best: list[Corner] = []
    for one, other in permutations(range(len(paths)), 2):
        before, after = paths[one].b_above, paths[other].b_above
        # A path must not go back among the scores of b where it changes.
        fits = np.flatnonzero(np.append(np.append(True, before[:-1] <= after[1:]), True))
        auc, gap = (
            each.offset + own[fits] + (rest[-1] - rest[fits])
            for each, own, rest in zip(quantities, sums[one], sums[other], strict=True)
        )
        chosen = int(np.argmax(goal.value(auc, gap)))
        path = np.concatenate([before[: fits[chosen]], after[fits[chosen] :]])
        best.append(Corner(path, float(auc[chosen]), float(gap[chosen])))
    return best


def _thinned(table: ScoreTable, levels: int) -> ScoreTable:
    """Join neighbouring scores into levels of about equal mass of positives and of all; each has its highest score."""
    share = np.cumsum(table.mass) / table.mass.sum() + np.cumsum(table.positive) / table.n1
    level = np.minimum((share / 2 * levels).astype(np.int64), levels - 1)
    starts = np.flatnonzero(np.append(True, level[1:] != level[:-1]))
    masses = (np.add.reduceat(mass, starts) for mass in (table.positive, table.negative))
    return ScoreTable(table.score[starts], *masses)
