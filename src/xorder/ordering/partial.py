r"""Judging an ordering half-way, as the paper does: what each placement adds, given what is still to come.

After the first i scores of a and the first j of b are placed, every further placement is credited with the
pairs it settles: a positive of a with the negatives of b still to come, a positive of b with those of a; for
PRF with the negatives of its own group as well. The sums are kept in units in which masses of unweighted rows
give whole numbers, so orderings that tie do so exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from xorder._table import FloatArray, ScoreTable
from xorder.ordering.disparity import Disparity, auc_as_pairs, remaining

Products = list[tuple[FloatArray, FloatArray]]
"""Credit of placing score i when j scores of the other group are placed: the sum of first[:, i] * second[:, j].

The first row is what it adds to the AUC, the second to the disparity.
"""


@dataclass(frozen=True, slots=True)
class HalfWay:
    """What each placement adds to the two running sums of an ordering under construction.

    Placing a score of a adds ``from_a``, and ``own_a`` to the second sum; likewise for b. Between orderings of the
    same scores AUC differs as ``auc_unit`` times the first sum; the disparity half-way is ``disparity_unit`` times
    the second, which starts at ``start``.
    """

    from_a: Products
    from_b: Products
    own_a: FloatArray
    own_b: FloatArray
    auc_unit: float
    disparity_unit: float
    start: float

    @property
    def has_own(self) -> bool:
        """Whether pairs within a group count."""
        return bool(self.own_a.any() or self.own_b.any())

    @property
    def reach(self) -> FloatArray:
        """Neither sum exceeds this."""
        crossing = np.zeros(2)
        for mass, left in self.from_a + self.from_b:
            crossing += np.abs(mass).sum(axis=1) * np.abs(left).max(axis=1)
        crossing[1] += abs(self.start) + np.abs(self.own_a).sum() + np.abs(self.own_b).sum()
        return crossing


_A_POSITIVE = np.array([[0.0, 1.0], [0.0, 0.0]])
_B_POSITIVE = np.array([[0.0, 0.0], [1.0, 0.0]])


def half_way(a: ScoreTable, b: ScoreTable, disparity: Disparity) -> HalfWay:
    """Set up the sums for a disparity."""
    a_part = np.asarray(disparity.a_part)
    b_part = a_part - disparity.matrix
    own_a, own_b = disparity.own
    unit = _unit(np.concatenate([a_part.ravel(), b_part.ravel(), disparity.own]))
    in_a, in_b, (of_a, of_b) = (_whole(part / unit) for part in (a_part, b_part, np.array(disparity.own)))
    within = own_a * a.concordant.sum() + own_b * b.concordant.sum()
    start = disparity.offset - float(within) - float(np.sum(b_part * np.outer([a.n1, a.n0], [b.n1, b.n0])))
    return HalfWay(
        from_a=_products(_A_POSITIVE, in_a, a, b),
        from_b=_products(_B_POSITIVE.T, in_b.T, b, a),
        own_a=of_a * a.concordant,
        own_b=of_b * b.concordant,
        auc_unit=float(auc_as_pairs(a, b).matrix[0, 1]),
        disparity_unit=unit,
        # It is 0, but for rounding, for every named disparity.
        start=start / unit if abs(start) > 1e-12 else 0.0,
    )


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


def _products(auc: FloatArray, disparity: FloatArray, placed: ScoreTable, other: ScoreTable) -> Products:
    """Credit of placing each score above what is left of the other group.

    Both matrices hold the worth of a pair, by class of the placed (rows) and of the other (columns).
    """
    left = np.stack([remaining(other.positive), remaining(other.negative)])
    worth = np.stack([auc, disparity])
    if np.array_equal(disparity[0], disparity[1]):
        # One product does, if both classes of the placed count alike.
        return [(np.stack([placed.positive, placed.mass]), worth[:, 0] @ left)]
    products = [
        (np.stack([mass, mass]), worth[:, row] @ left) for row, mass in enumerate((placed.positive, placed.negative))
    ]
    return [product for row, product in enumerate(products) if worth[:, row].any()]
