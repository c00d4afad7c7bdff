r"""Judging an ordering half-way, as the paper does: what each placement adds, given what is still to come.

After the first i scores of a and the first j of b are placed, every further placement is credited with the
pairs it settles: a positive of a with the negatives of b still to come, a positive of b with those of a; for
PRF with the negatives of its own group as well. The sums are kept as plain pair masses, two per ordering, and
only combined with real factors when two orderings are compared: masses of unweighted rows are whole numbers,
so orderings that tie do so exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from xorder._table import FloatArray, ScoreTable
from xorder.ordering.disparity import Disparity, auc_as_pairs, remaining

Products = list[tuple[FloatArray, FloatArray | None]]
"""Credit of placing score i when j scores of the other group are placed: the sum of first[i] * second[j].

Without a second factor it is first[i], whatever j.
"""


@dataclass(frozen=True, slots=True)
class Ledgers:
    """Two running sums (s, t) of an ordering under construction, and how to read them.

    ``from_a`` and ``from_b`` tell what placing a score of a, or of b, adds to each. Between orderings of the
    same scores AUC differs as ``auc @ (s, t)``, and the disparity is ``disparity @ (s, t) + start``.
    """

    from_a: tuple[Products, Products]
    from_b: tuple[Products, Products]
    auc: tuple[float, float]
    disparity: tuple[float, float]
    start: float


_A_POSITIVE = np.array([[0.0, 1.0], [0.0, 0.0]])
_B_POSITIVE = np.array([[0.0, 0.0], [1.0, 0.0]])


def ledgers(a: ScoreTable, b: ScoreTable, disparity: Disparity) -> Ledgers:
    """Choose the two sums to keep for a disparity.

    Where AUC and disparity are made of the same pairs (xAUC, PRF) one sum holds those of a's positives, the
    other those of b's; otherwise one holds the pairs of the AUC, the other those of the disparity.
    """
    a_part = np.asarray(disparity.a_part)
    b_part = a_part - disparity.matrix
    own_a, own_b = disparity.own
    up, down = float(a_part[0, 1]), float(b_part[1, 0])
    pair = float(auc_as_pairs(a, b).matrix[0, 1])
    nothing: Products = []
    same_pairs = not (a_part * (1 - _A_POSITIVE)).any() and not (b_part * (1 - _B_POSITIVE)).any()
    if same_pairs and own_a in (0, up) and own_b in (0, down):
        from_a = _products(_A_POSITIVE, a, b, 1.0 if own_a else 0.0), nothing
        from_b = nothing, _products(_B_POSITIVE.T, b, a, 1.0 if own_b else 0.0)
        auc, gap = (pair, pair), (up, down)
    else:
        unit = float(np.abs(a_part).max()) or 1.0
        from_a = _products(_A_POSITIVE, a, b), _products(a_part / unit, a, b, own_a / unit)
        from_b = _products(_B_POSITIVE.T, b, a), _products(b_part.T / unit, b, a, own_b / unit)
        auc, gap = (pair, 0.0), (0.0, unit)
    within = own_a * a.concordant.sum() + own_b * b.concordant.sum()
    start = disparity.offset - float(within) - float(np.sum(b_part * np.outer([a.n1, a.n0], [b.n1, b.n0])))
    # It is 0, but for rounding, for every named disparity.
    return Ledgers(from_a, from_b, auc, gap, start if abs(start) > 1e-12 else 0.0)


def _products(part: FloatArray, placed: ScoreTable, other: ScoreTable, own: float = 0.0) -> Products:
    """Credit of placing each score above what is left of the other group, and within its own.

    ``part`` is the worth of a pair, by class of the placed (rows) and of the other (columns).
    """
    left = [remaining(mass) for mass in (other.positive, other.negative)]
    rows = list(zip((placed.positive, placed.negative), part, strict=True))
    if np.array_equal(part[0], part[1]):
        rows = [(placed.mass, part[0])]
    products: Products = [(mass, row[0] * left[0] + row[1] * left[1]) for mass, row in rows if row.any()]
    return [*products, (own * placed.concordant, None)] if own else products
