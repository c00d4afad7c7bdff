r"""What no ordering of K groups can exceed.

For PRF: AUC is the mean of the groups' PRF with their shares of the positives as weights, and the largest gap is the
largest of :math:`\sum_g \nu_g PRF_g` over :math:`\sum \nu = 0, \sum |\nu| \le 2`. So for every ordering and all weights
:math:`v \ge 0, \sum v = 1`,

.. math:: AUC - \lambda \max_{g,h} |PRF_g - PRF_h| \le \sum_g v_g PRF_g \le H(v),
          \qquad \lambda = \tfrac12 \sum_g |v_g - n_1^g / n_1| ,

and :math:`H(v)`, the largest weighted mean of PRF that any ordering has, is reached by merging the K lists of blocks by
odds times :math:`v_g / n_1^g`. H is convex; cutting planes find its lowest point. The proof, and why negative weights
need not be looked at, are in ``docs/design/multipliers.md``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from xorder._metric import METRICS
from xorder._table import FloatArray, ScoreTable
from xorder.ordering._frontier import pair_bound
from xorder.ordering._hull import has_frontier, pool
from xorder.ordering._ordering import Goal

# The bound is this close to the best of its kind, or as close as so many cuts bring it: so many for each group, and so
# many at least.
TOLERANCE = 1e-6
_CUTS, _FEWEST_CUTS = 12, 400

# Share of the way from the best weights so far to those that the cuts promise most of.
_TOWARDS = 0.3


class Merges:
    """The blocks of K groups, ready to be merged with any weights for their positives."""

    def __init__(self, tables: Sequence[ScoreTable]) -> None:
        lists = [pool(table) for table in tables]
        self.positive, self.negative = (
            np.concatenate([getattr(blocks, name) for blocks in lists]) for name in ("positive", "negative")
        )
        self.group = np.repeat(np.arange(len(lists)), [len(blocks) for blocks in lists])
        self.n1, self.n0 = (np.array([getattr(table, name) for table in tables]) for name in ("n1", "n0"))
        self.within = np.array([table.concordant.sum() for table in tables])
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


def prf_bound(
    tables: Sequence[ScoreTable],
    *,
    tradeoff: float | None = None,
    max_gap: float | None = None,
    start: FloatArray | None = None,
) -> float:
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
    start : ndarray of shape (n_groups,), default=None
        Logarithms of multipliers to begin with, which save time if they are good.

    Returns
    -------
    float
        The bound: what the best lottery over orderings achieves.
    """
    from scipy.optimize import linprog  # Takes longer to load than all of xorder.

    merges = Merges(tables)
    share, size = merges.n1 / merges.n1.sum(), merges.n1.size
    goal = Goal.of(tradeoff=tradeoff, max_gap=max_gap)
    price, budget = (goal.allowed, 2.0) if goal.tradeoff is None else (0.0, min(2 * goal.tradeoff, 2.0))

    def projected(weights: FloatArray) -> FloatArray:
        """Pull weights towards the shares until they keep to the budget."""
        distance = np.abs(weights - share).sum()
        return np.asarray(share + (weights - share) * min(1.0, budget / distance if distance > 0 else 1.0))

    query = share
    if start is not None:
        query = share * np.exp(start - start.max())
        query = projected(query / query.sum())
    one, none, eye = np.ones(size), np.zeros(size), np.eye(size)
    # Unknowns: the weights, their distances from the shares, and the height of the highest cut.
    fixed = np.vstack(
        [
            np.hstack([eye, -eye, np.zeros((size, 1))]),
            np.hstack([-eye, -eye, np.zeros((size, 1))]),
            np.concatenate([none, one, [0.0]]),
        ]
    )
    limits = np.concatenate([share, -share, [budget]])
    cost = np.concatenate([none, one * price / 2, [1.0]])
    cuts: list[FloatArray] = []
    best, found = np.inf, share
    for _ in range(max(_FEWEST_CUTS, _CUTS * size)):
        prf = merges.prf(query)
        value = float(prf @ query + price / 2 * np.abs(query - share).sum())
        if value < best:
            best, found = value, query
        cuts.append(np.concatenate([prf, none, [-1.0]]))
        master = linprog(
            cost,
            A_ub=np.vstack([fixed, *cuts]),
            b_ub=np.append(limits, np.zeros(len(cuts))),
            A_eq=np.concatenate([one, none, [0.0]])[None, :],
            b_eq=[1.0],
            bounds=[(0, None)] * (2 * size) + [(None, None)],
        )
        if not master.success or best - master.fun <= TOLERANCE:
            break
        lowest = np.maximum(master.x[:size], 0.0)
        # Where the cuts are lowest jumps about; a point on the way there from the best so far tells three times more.
        query = projected(_TOWARDS * lowest / lowest.sum() + (1 - _TOWARDS) * found)
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
    if len(tables) > 2 and metric == "prf":
        return prf_bound(tables, max_gap=max_gap)
    return np.nan
