r"""The best interleavings for every price of gap: corners of the upper hull of (gap, AUC).

For a price :math:`\mu` the interleaving that maximises AUC - :math:`\mu` D is a merge of the two groups'
blocks: block A of a goes above block B of b where :math:`x_A^\top W x_B > 0`, with
:math:`W = M_{auc} - \mu M`. As the price rises, pairs of blocks flip one after the other and D falls. Proofs
are in ``docs/design/frontier.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from xorder._metric import METRICS, PairGains, auc_gains, check_pair_gains
from xorder._table import STEP, FloatArray, IntArray, ScoreTable, in_threads, pairs_within
from xorder.exceptions import InputError
from xorder.ordering._ordering import ROUNDING, Goal, Masses, check_pair, pairs_of_ordering

# Rounds of pooling all neighbours at once, which about halve a list, before the sequential method, which is slow to
# load: four million rows take 19 rounds, and only a list made for it takes more than these.
_ROUNDS = 32


@dataclass(frozen=True, slots=True, eq=False)
class Blocks:
    """Masses of each block, best first; block k holds the scores ``start[k]`` up to ``start[k + 1]``."""

    start: IntArray
    positive: FloatArray
    negative: FloatArray

    def __len__(self) -> int:
        return int(self.positive.size)

    @property
    def share(self) -> FloatArray:
        """Positive share of each block, strictly falling."""
        return self.positive / (self.positive + self.negative)


def pool(table: ScoreTable, ends: Sequence[int] | IntArray = ()) -> Blocks:
    """Pool adjacent violators: the coarsest cut into blocks such that no block can be split with profit.

    No block crosses one of ``ends``, which part the table.

    Two neighbours of which the lower has the higher share (or the same) always end up in one block, so runs
    of such neighbours can be pooled at once. Shares are compared by cross-multiplication, exact for counts.
    """
    start, p, n = np.arange(len(table)), table.positive, table.negative
    for attempt in range(len(table)):
        falls = np.empty(max(p.size - 1, 0), dtype=bool)
        # In steps that stay in the cache: of many rows products would be large arrays.
        for first in range(0, falls.size, STEP):
            upper, lower = (slice(first + down, min(first + STEP, falls.size) + down) for down in (0, 1))
            np.greater(p[upper] * n[lower], p[lower] * n[upper], out=falls[upper])
        if len(ends):
            falls[np.isin(start[1:], ends)] = True
        if falls.all():
            break
        if attempt == _ROUNDS:
            from scipy.optimize import isotonic_regression  # Imported here, as it is slow to load.

            # A part lies below all before it, so that none of its scores is pooled with them.
            share = p / (p + n) - 2 * np.searchsorted(ends, start, side="right")
            kept = isotonic_regression(share, weights=p + n, increasing=False).blocks[:-1]
        else:
            kept = np.flatnonzero(np.append(True, falls))
        start, p, n = start[kept], np.add.reduceat(p, kept), np.add.reduceat(n, kept)
    return Blocks(np.append(start, len(table)), p, n)


@dataclass(frozen=True, slots=True, eq=False)
class Corner:
    """A merge of whole blocks, or scores: ``b_above[A]`` of b precede A of a."""

    b_above: IntArray
    auc: float
    gap: float

    @classmethod
    def of(cls, a: Masses, b: Masses, b_above: IntArray, utility: PairGains, gains: PairGains) -> Corner:
        """Measure a merge."""
        pairs = pairs_of_ordering(a, b, b_above)
        return cls(b_above, utility.value(pairs), gains.value(pairs))


@dataclass(frozen=True, slots=True, eq=False)
class Crossing:
    """Two neighbouring corners between which the gap passes a target, and the pair that flips there.

    In ``upper``, block ``a_block`` of a stands right above block ``b_block`` of b; in ``lower``, right below.
    ``price`` is the slope of the hull between them.
    """

    upper: Corner
    lower: Corner
    a_block: int
    b_block: int
    price: float


class Hull:
    """Two groups pooled into blocks, ready to be merged at any price of gap.

    ``pins`` are prefixes that every interleaving passes: (i, j) puts the first i scores of a and the first j of b above
    all others. They part the lists; blocks do not cross a pin, and pairs of blocks of different parts never flip.
    """

    def __init__(self, a: ScoreTable, b: ScoreTable, gains: PairGains, pins: Sequence[tuple[int, int]] = ()) -> None:
        if not has_frontier(gains):
            raise InputError(
                f"solver 'frontier' does not cover the gap matrix {gains.matrix.tolist()}: no entry may be "
                "negative, pairs of a positive and a negative must count on both sides, and pairs of one class no more "
                "than those two together. Use solver 'dp'."
            )
        self.tables = a, b
        self.pins = np.array([(0, 0), *pins, (len(a), len(b))])
        sides = list(zip((a, b), self.pins[1:-1].T, strict=True))
        self.a, self.b = in_threads(len(a) + len(b), lambda side: pool(*side), sides)
        # Where the parts begin and end, in blocks.
        ends = zip((self.a, self.b), self.pins.T, strict=True)
        self.parts = [np.searchsorted(blocks.start, each) for blocks, each in ends]
        self.gains = gains
        self.utility = auc_gains(a, b)
        # Beyond these prices no entry of W is positive (negative), and all of b (a) stands above.
        pair = float(self.utility.matrix[0, 1])
        self.lowest, self.highest = -pair / gains.matrix[1, 0], pair / gains.matrix[0, 1]

    @property
    def between(self) -> tuple[IntArray, IntArray]:
        """Fewest and most scores of b that may stand above each score of a."""
        sizes = np.diff(self.pins[:, 0])
        return np.repeat(self.pins[:-1, 1], sizes), np.repeat(self.pins[1:, 1], sizes)

    def corner(self, price: float, *, tied_to_a: bool = False) -> Corner:
        """Return the best merge at a price; pairs of blocks that tie there go to b, or to a."""
        if not self.lowest < price < self.highest:
            ends = self.parts[1][1:] if price >= self.highest else self.parts[1][:-1]
            return self._measured(np.repeat(ends, np.diff(self.parts[0])))
        gain = self.utility.matrix - price * self.gains.matrix
        over_positive, over_negative = (self.a.positive * above + self.a.negative * below for above, below in gain.T)
        # A stands above the blocks of b whose positive share is below this.
        span = over_negative - over_positive
        limit = np.divide(over_negative, span, out=np.zeros_like(span), where=span > 0)
        share = -self.b.share
        side: Literal["left", "right"] = "left" if tied_to_a else "right"
        parts = [
            first_b + np.searchsorted(share[first_b:end_b], -limit[first_a:end_a], side=side)
            for (first_a, end_a), (first_b, end_b) in zip(*map(pairwise, self.parts), strict=True)
        ]
        # Equal to itself but for rounding of nearly equal shares.
        return self._measured(np.maximum.accumulate(np.concatenate(parts)))

    def crossing(self, target: float) -> Crossing | Corner:
        """Find the neighbouring corners around a gap; or the corner that has it exactly."""
        low, high = self.lowest, self.highest
        upper, lower = self.corner(low), self.corner(high)
        if upper.gap <= target:
            return upper
        while np.sum(lower.b_above - upper.b_above) > 1:
            middle = low + (high - low) / 2
            if not low < middle < high:
                break
            corner = self.corner(middle)
            if corner.gap > target:
                low, upper = middle, corner
            else:
                high, lower = middle, corner
        return self._single_flip(upper, lower, target)

    def _single_flip(self, upper: Corner, lower: Corner, target: float) -> Crossing | Corner:
        """Where several pairs flip at one price, flip them one by one until the target is passed."""
        for block in np.flatnonzero(lower.b_above > upper.b_above)[::-1]:
            for count in range(upper.b_above[block], lower.b_above[block]):
                flipped = upper.b_above.copy()
                flipped[block] = count + 1
                after = self._measured(flipped)
                if after.gap <= target:
                    if after.gap >= target - ROUNDING:
                        return after
                    price = float(self._flips(np.array([block]), np.array([count]))[0][0])
                    return Crossing(upper, after, int(block), int(count), price)
                upper = after
        return upper

    def corners(self, limit: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """AUC and gap of each corner, the gap falling, and the lowest price at which it is best.

        If there are more than ``limit`` pairs of blocks, only some corners, at prices spread like those at which pairs
        flip; the price is then any at which the corner is best.
        """
        rows, columns = np.arange(len(self.a)), np.arange(len(self.b))
        if len(self.a) * len(self.b) > limit:
            sample = (np.linspace(0, k.size - 1, min(int(np.sqrt(limit)), k.size)).astype(int) for k in (rows, columns))
            flips = np.unique(self._flips(*sample)[0])
            flips = flips[np.unique(np.linspace(0, flips.size - 1, RESOLUTION - 1).astype(int))]
            # Between two flips no pair of blocks ties, so what is best there is a corner.
            prices = np.concatenate([[-np.inf], (flips[:-1] + flips[1:]) / 2, [np.inf]])
            found = [self.corner(price) for price in prices]
            auc, gap = (np.array([getattr(corner, name) for corner in found]) for name in ("auc", "gap"))
            return auc, gap, prices
        prices, auc_steps, gap_steps = self._flips(rows, columns)
        # Pairs that flip at the same price, but for rounding, are one step along the hull.
        last = np.append(np.diff(prices) > 1e-12 * (self.highest - self.lowest), True)[: prices.size]
        start = self.corner(-np.inf)
        auc = np.append(start.auc, start.auc - np.cumsum(auc_steps)[last])
        gap = np.append(start.gap, start.gap - np.cumsum(gap_steps)[last])
        return auc, gap, np.append(-np.inf, prices[last])

    def _flips(self, rows: IntArray, columns: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Prices at which pairs of blocks flip, rising, and how much AUC and gap each flip takes away."""
        a = np.stack([self.a.positive[rows], self.a.negative[rows]], axis=1)
        b = np.stack([self.b.positive[columns], self.b.negative[columns]])
        auc, gap = ((a @ metric.matrix @ b).ravel() for metric in (self.utility, self.gains))
        sides = zip(self.parts, (rows, columns), strict=True)
        part_a, part_b = (np.searchsorted(ends[1:-1], k, side="right") for ends, k in sides)
        # Two blocks without negatives, or without positives, may stand either way.
        matters = np.flatnonzero((gap > 0) & np.equal.outer(part_a, part_b).ravel())
        auc, gap = auc[matters], gap[matters]
        order = np.argsort(auc / gap, kind="stable")
        return (auc / gap)[order], auc[order], gap[order]

    def _measured(self, b_above: IntArray) -> Corner:
        return Corner.of(self.a, self.b, b_above, self.utility, self.gains)


# Corners listed where there are too many pairs of blocks to list them all.
RESOLUTION = 2048


def expand(blocks_a: Blocks, blocks_b: Blocks, b_above: IntArray) -> IntArray:
    """Turn a merge of blocks into one of scores: scores of b above each score of a."""
    return np.repeat(blocks_b.start[b_above], np.diff(blocks_a.start))


def has_frontier(gains: PairGains) -> bool:
    """Whether the theory covers a gap: it must rise whenever a member of a is moved above one of b."""
    matrix = gains.matrix
    same, different = (matrix[0, 0], matrix[1, 1]), (matrix[0, 1], matrix[1, 0])
    return bool(min(same) >= 0 and min(different) > 0 and max(same) <= sum(different) * (1 + 1e-12))


def pair_bound(
    a: ScoreTable,
    b: ScoreTable,
    *,
    metric: str | PairGains = "xauc",
    tradeoff: float | None = None,
    max_gap: float | None = None,
) -> float:
    """Bound that no reordering of two groups exceeds: the height of the frontier.

    Parameters
    ----------
    a, b : ScoreTable
        Tables of the two groups.
    metric : {"xauc", "prf", "parity"} or PairGains, default="xauc"
        Gap that is traded for AUC.
    tradeoff : float, default=None
        Bound ``AUC - tradeoff * |gap|`` of all interleavings.
    max_gap : float, default=None
        Bound the AUC of all interleavings with ``|gap| <= max_gap``.

    Returns
    -------
    float
        The bound. Orderings reach it but for rows that cannot be split.
    """
    return optimum(hull_of(a, b, metric), Goal.of(tradeoff=tradeoff, max_gap=max_gap))[2]


def hull_of(a: ScoreTable, b: ScoreTable, metric: str | PairGains, pins: Sequence[tuple[int, int]] = ()) -> Hull:
    check_pair(a, b)
    return Hull(a, b, check_pair_gains(metric, a, b), pins)


def optimum(hull: Hull, goal: Goal) -> tuple[Corner | Crossing, float, float]:
    """Return the corner that is optimal for a goal, or the crossing around it; the gap aimed at; and the bound."""
    free = tied_to_a, tied_to_b = hull.corner(0.0, tied_to_a=True), hull.corner(0.0)
    tradeoff, target = goal.tradeoff or 0.0, 0.0
    if goal.tradeoff is None:
        closest = min(free, key=lambda corner: abs(corner.gap))
        if abs(closest.gap) <= goal.allowed + ROUNDING:
            return closest, closest.gap, closest.auc
        if tied_to_a.gap * tied_to_b.gap > 0:
            target = float(np.sign(closest.gap)) * goal.allowed
    elif tradeoff == 0:
        return tied_to_b, tied_to_b.gap, tied_to_b.auc
    # The corner at price +tradeoff is optimal if its gap is still positive; likewise on the other side.
    for price, sign in ((tradeoff, 1.0), (-tradeoff, -1.0)) if tradeoff else ():
        if sign * (tied_to_b if sign > 0 else tied_to_a).gap >= 0 and hull.lowest < price < hull.highest:
            for tied in (sign < 0, sign > 0):
                corner = hull.corner(price, tied_to_a=tied)
                if sign * corner.gap >= 0:
                    return corner, corner.gap, corner.auc - tradeoff * abs(corner.gap)
    found = hull.crossing(target)
    if isinstance(found, Corner):
        return found, found.gap, found.auc - tradeoff * abs(found.gap)
    return found, target, found.lower.auc + found.price * (target - found.lower.gap)


# How close the bound comes to the lowest of its kind, unless the cuts run out.
TOLERANCE = 1e-6

# Cuts per group, at most; and in all, where that would be fewer.
_CUTS, _FEWEST_CUTS = 12, 400

# Share of the way from the best weights so far to those at which the cuts are lowest.
_TOWARDS = 0.3


class Merges:
    """The blocks of K groups, ready to be merged with any weights for their positives."""

    def __init__(self, tables: Sequence[ScoreTable]) -> None:
        lists = [pool(table) for table in tables]
        classes = ("positive", "negative")
        self.positive, self.negative = (np.concatenate([getattr(each, name) for each in lists]) for name in classes)
        self.group = np.repeat(np.arange(len(lists)), [len(blocks) for blocks in lists])
        self.n1, self.n0 = (np.array([getattr(table, name) for table in tables]) for name in ("n1", "n0"))
        self.within = np.array([pairs_within(table) for table in tables])
        # Negatives of the block's own group that stand in it or above: no merge changes them.
        self.own = np.concatenate([np.cumsum(blocks.negative) for blocks in lists])

    def prf(self, weights: FloatArray) -> FloatArray:
        """PRF of each group in the ordering that has the largest mean of PRF with these weights."""
        value = self.positive * (weights / self.n1)[self.group]
        both = value + self.negative
        odds = np.divide(value, both, out=np.zeros_like(both), where=both > 0)
        order = np.argsort(-odds, kind="stable")
        above = np.empty_like(odds)
        above[order] = np.cumsum(self.negative[order])
        below_of_others = (self.n0.sum() - above) - (self.n0[self.group] - self.own)
        across = np.bincount(self.group, self.positive * below_of_others, minlength=self.n1.size)
        return np.asarray((self.within + across) / (self.n1 * self.n0.sum()))


def prf_bound(tables: Sequence[ScoreTable], *, tradeoff: float | None = None, max_gap: float | None = None) -> float:
    """Bound that no reordering of K groups exceeds, for PRF.

    Guarantee: always valid; within 1e-6 of the lowest bound of this kind unless 400 cuts, or 12 for each
    group if that is more, did not suffice.

    Parameters
    ----------
    tables : sequence of ScoreTable
        Tables of the groups.
    tradeoff : float, default=None
        Bound ``AUC - tradeoff * largest gap`` of all orderings.
    max_gap : float, default=None
        Bound the AUC of all orderings with gaps of at most this.

    Returns
    -------
    float
        The bound: what the best lottery over orderings achieves.
    """
    from scipy.optimize import linprog  # Imported here, as it is slow to load.

    merges = Merges(tables)
    share, size = merges.n1 / merges.n1.sum(), merges.n1.size
    goal = Goal.of(tradeoff=tradeoff, max_gap=max_gap)
    price, budget = (goal.allowed, 2.0) if goal.tradeoff is None else (0.0, min(2 * goal.tradeoff, 2.0))

    one = np.ones(size)
    # Unknowns: how far the weights lie above the shares, and below them, and the height of the highest cut.
    cost = np.concatenate([np.full(2 * size, price / 2), [1.0]])
    rows, limits = [np.concatenate([one, one, [0.0]])], [budget]
    best, found, query = np.inf, share, share
    for _ in range(max(_FEWEST_CUTS, _CUTS * size)):
        prf = merges.prf(query)
        value = float(prf @ query + price / 2 * np.abs(query - share).sum())
        if value < best:
            best, found = value, query
        rows.append(np.concatenate([prf, -prf, [-1.0]]))
        limits.append(-float(prf @ share))
        master = linprog(
            cost,
            A_ub=np.array(rows),
            b_ub=limits,
            A_eq=np.concatenate([one, -one, [0.0]])[None, :],
            b_eq=[0.0],
            bounds=[*[(0, None)] * size, *((0, most) for most in share), (None, None)],
        )
        if not master.success or best - master.fun <= TOLERANCE:
            break
        lowest = np.maximum(share + master.x[:size] - master.x[size:-1], 0.0)
        # Where the cuts are lowest jumps about; a point on the way there from the best so far is worth three of these.
        step = _TOWARDS * lowest / lowest.sum() + (1 - _TOWARDS) * found - share
        # The budget is kept exactly, as the bound would not hold beyond it.
        query = share + step * min(1.0, budget / max(float(np.abs(step).sum()), 1e-300))
    return best


def best_auc(tables: Sequence[ScoreTable], metric: str, max_gap: float) -> float:
    """Return an AUC that no reordering with gaps of at most ``max_gap`` exceeds.

    Parameters
    ----------
    tables : sequence of ScoreTable
        Tables of the groups.
    metric : {"xauc", "prf", "parity"}
        The gap.
    max_gap : float
        Largest absolute gap between any two groups.

    Returns
    -------
    float
        The bound; ``nan`` where none is known: it is for two groups, and for PRF between any number.
    """
    if len(tables) == 2 and np.isfinite(max_gap) and has_frontier(METRICS[metric].gains(*tables)):
        return pair_bound(tables[0], tables[1], metric=metric, max_gap=max_gap)
    return prf_bound(tables, max_gap=max_gap) if len(tables) > 2 and metric == "prf" else np.nan
