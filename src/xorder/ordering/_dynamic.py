"""The paper's dynamic programme (Algorithm 1), and how it judges an ordering half-way.

Half-way, as in the paper, each placement counts for what it adds, given what is still to come. After the first i
scores of a and the first j of b are placed, every further placement is credited with the pairs it settles: a
positive of a with the negatives of b still to come, a positive of b with those of a; for PRF with the negatives of
its own group as well. The sums are kept in units in which masses of unweighted rows give whole numbers, so
orderings that tie do so exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from xorder._metric import PairGains, auc_gains
from xorder._table import FloatArray, IntArray, ScoreTable, pairs_within
from xorder.ordering._ordering import Ordering, path_ordering, remaining

# Sum of a prefix that does not exist: worse than any that does, and far from overflow.
_NEVER = -1e200

_A_POSITIVE = np.array([[0.0, 1.0], [0.0, 0.0]])
_B_POSITIVE = np.array([[0.0, 0.0], [1.0, 0.0]])

# Credit of placing score i when j scores of the other group are placed: the sum of first[:, i] * second[:, j].
#
# The first row is what it adds to the AUC, the second to the gap.
Products = list[tuple[FloatArray, FloatArray]]


@dataclass(frozen=True, slots=True)
class PartialObjective:
    """What each placement adds to the two running sums of an ordering under construction.

    Placing a score of a adds ``from_a``, and ``own_a`` to the second sum; likewise for b. Between orderings of the
    same scores AUC differs as ``auc_unit`` times the first sum; the gap half-way is ``gap_unit`` times
    the second, which starts at ``start``.
    """

    from_a: Products
    from_b: Products
    own_a: FloatArray
    own_b: FloatArray
    auc_unit: float
    gap_unit: float
    start: float

    @property
    def reach(self) -> FloatArray:
        """Neither sum exceeds this."""
        crossing = np.zeros(2)
        for mass, left in self.from_a + self.from_b:
            crossing += np.abs(mass).sum(axis=1) * np.abs(left).max(axis=1)
        crossing[1] += abs(self.start) + np.abs(self.own_a).sum() + np.abs(self.own_b).sum()
        return crossing


def solve_dp(a: ScoreTable, b: ScoreTable, gains: PairGains, tradeoff: float) -> Ordering:
    """Keep one best prefix for each number of scores taken from a and from b, compared half-way.

    A tie between the two ways to reach a cell, up to rounding, goes to the one that places b last, as in the
    original.

    Guarantee: the highest AUC at tradeoff 0, a heuristic otherwise. Time proportional to the number of cells
    ``len(a) * len(b)``; memory one bit per cell.
    """
    choices = _sweep(partial_objective(a, b, gains), tradeoff, len(a), len(b))
    return path_ordering(a, b, _trace(choices, len(a), len(b)), gains, tradeoff, "dp")


def partial_objective(a: ScoreTable, b: ScoreTable, gains: PairGains) -> PartialObjective:
    """Set up the sums for a gap."""
    a_part = np.asarray(gains.a_part)
    b_part = a_part - gains.matrix
    unit = _unit(np.concatenate([a_part.ravel(), b_part.ravel(), gains.own]))
    in_a, in_b, (of_a, of_b) = (_whole(part / unit) for part in (a_part, b_part, np.array(gains.own)))
    within = gains.own[0] * pairs_within(a) + gains.own[1] * pairs_within(b)
    start = gains.offset - float(within) - float(np.sum(b_part * np.outer([a.n1, a.n0], [b.n1, b.n0])))
    return PartialObjective(
        from_a=_products(_A_POSITIVE, in_a, a, b),
        from_b=_products(_B_POSITIVE.T, in_b.T, b, a),
        own_a=of_a * a.concordant,
        own_b=of_b * b.concordant,
        auc_unit=float(auc_gains(a, b).matrix[0, 1]),
        gap_unit=unit,
        # It is 0, but for rounding, for every named gap.
        start=start / unit if abs(start) > 1e-12 else 0.0,
    )


def _sweep(rule: PartialObjective, tradeoff: float, rows: int, columns: int) -> list[NDArray[np.uint8]]:
    """Fill the lattice one antidiagonal at a time; return, packed, where placing a last is strictly better.

    Cell (i, j) holds the two sums of the best prefix of the first i scores of a and j of b. Antidiagonal d has
    its cells (d - j, j) at position j + 1 of each array, so arrays over a are reversed to be read in the same
    direction. Prefixes that would lie outside the lattice are worth next to nothing.
    """
    old_auc, new_auc = np.full((2, columns + 2), _NEVER)
    old_gap, new_gap = np.zeros((2, columns + 2))
    old_auc[1], old_gap[1] = 0.0, rule.start
    auc_from_a, gap_from_a = ([(np.pad(m[row, ::-1], (0, 1)), left[row]) for m, left in rule.from_a] for row in (0, 1))
    auc_from_b, gap_from_b = (
        [(np.pad(m[row], (1, 0)), left[row, ::-1].copy()) for m, left in rule.from_b] for row in (0, 1)
    )
    own_a, own_b = np.pad(rule.own_a[::-1], (0, 1)), np.pad(rule.own_b, (1, 0))
    has_own = own_a.any() or own_b.any()
    # Values are in units of one pair of the AUC.
    price = tradeoff * rule.gap_unit / rule.auc_unit
    # What rounding may add to the value of a prefix: less than this does not make one better than another.
    slack = 8 * np.finfo(np.float64).eps * float(rule.reach @ [1.0, price])
    buffers = np.empty((5, min(rows, columns) + 1))
    flags = np.empty(min(rows, columns) + 1, dtype=bool)
    choices = [np.empty(0, dtype=np.uint8)]
    size = 0
    for d in range(1, rows + columns + 1):
        low, high = max(0, d - rows), min(d, columns) + 1
        if size != high - low:
            size = high - low
            auc_a, gap_a, value_a, value_b, work = buffers[:, :size]
            a_last = flags[:size]
        by_b, by_a, here = slice(low, high), slice(rows - d + low, rows - d + high), slice(low + 1, high + 1)
        auc_b, gap_b = new_auc[here], new_gap[here]
        _place(old_auc[here], auc_from_a, by_a, by_b, auc_a, work)
        _place(old_gap[here], gap_from_a, by_a, by_b, gap_a, work)
        _place(old_auc[by_b], auc_from_b, by_b, by_a, auc_b, work)
        _place(old_gap[by_b], gap_from_b, by_b, by_a, gap_b, work)
        if has_own:
            np.add(gap_a, own_a[by_a], out=gap_a)
            np.add(gap_b, own_b[by_b], out=gap_b)
        for auc, gap, value in ((auc_a, gap_a, value_a), (auc_b, gap_b, value_b)):
            np.absolute(gap, out=value)
            np.multiply(value, price, out=value)
            np.subtract(auc, value, out=value)
        np.add(value_b, slack, out=value_b)
        np.greater(value_a, value_b, out=a_last)
        np.copyto(auc_b, auc_a, where=a_last)
        np.copyto(gap_b, gap_a, where=a_last)
        choices.append(np.packbits(a_last, bitorder="little"))
        old_auc, new_auc, old_gap, new_gap = new_auc, old_auc, new_gap, old_gap
    return choices


def _place(
    sums: FloatArray, credit: Products, mass_at: slice, left_at: slice, out: FloatArray, work: FloatArray
) -> None:
    """Write the sums after one more placement to ``out``."""
    for mass, left in credit:
        np.multiply(mass[mass_at], left[left_at], out=work)
        sums = np.add(sums, work, out=out)


def _trace(choices: list[NDArray[np.uint8]], rows: int, columns: int) -> IntArray:
    """Walk back from the last cell and note how many scores of b precede each score of a."""
    b_above = np.empty(rows, dtype=np.int64)
    i, j = rows, columns
    while i:
        place = j - max(0, i + j - rows)
        if choices[i + j][place >> 3] >> (place & 7) & 1:
            i -= 1
            b_above[i] = j
        else:
            j -= 1
    return b_above


def _unit(worths: FloatArray) -> float:
    """A unit in which the worths of pairs are whole, if they are one over whole numbers: two of them at most differ."""
    sizes = np.abs(worths[worths != 0])
    if not sizes.size:
        return 1.0
    low, high = float(sizes.min()), float(sizes.max())
    return high if high < low * (1 + 1e-12) else low * high


def _whole(worths: FloatArray) -> FloatArray:
    """Round away what division has left beside whole numbers."""
    whole = np.rint(worths)
    return whole if np.allclose(worths, whole, rtol=1e-12, atol=0.0) else worths


def _products(auc: FloatArray, gains: FloatArray, placed: ScoreTable, other: ScoreTable) -> Products:
    """Credit of placing each score above what is left of the other group.

    Both matrices hold the worth of a pair, by class of the placed (rows) and of the other (columns).
    """
    left = np.stack([remaining(other.positive), remaining(other.negative)])
    worth = np.stack([auc, gains])
    if np.array_equal(gains[0], gains[1]):
        # One product does, if both classes of the placed count alike.
        return [(np.stack([placed.positive, placed.mass]), worth[:, 0] @ left)]
    masses = enumerate((placed.positive, placed.negative))
    products = [(np.stack([mass, mass]), worth[:, row] @ left) for row, mass in masses]
    return [product for row, product in enumerate(products) if worth[:, row].any()]
