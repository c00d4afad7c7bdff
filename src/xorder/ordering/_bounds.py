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
from xorder.ordering._frontier import upper_bound
from xorder.ordering._hull import Corner, Hull, has_frontier, pool

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
    tables: Sequence[ScoreTable], *, tradeoff: float | None, allowed: float, start: FloatArray | None = None
) -> tuple[float, FloatArray]:
    """Return a bound for K groups and PRF, and the log multiplier of each group in the merge behind it.

    With a tradeoff, no ordering's ``AUC - tradeoff * largest gap`` is above the bound; without, no AUC of an ordering
    with gaps of at most ``allowed`` is. ``start`` are log multipliers to begin with.

    Guarantee: always valid; within 1e-6 of the lowest bound of this kind unless 400 cuts, or 12 for each
    group if that is more, did not suffice.
    """
    from scipy.optimize import linprog  # Takes longer to load than all of xorder.

    merges = Merges(tables)
    share, size = merges.n1 / merges.n1.sum(), merges.n1.size
    price, budget = (allowed, 2.0) if tradeoff is None else (0.0, min(2 * tradeoff, 2.0))

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
    return best, np.log(np.maximum(found / merges.n1, 1e-300))


def best_auc(tables: Sequence[ScoreTable], metric: str, max_gap: float) -> float:
    """Return an AUC that no reordering with gaps of at most ``max_gap`` exceeds; ``nan`` where no bound is known.

    Known are bounds for two groups and metrics that have a frontier, and for PRF between any number.
    """
    if len(tables) == 2 and np.isfinite(max_gap) and has_frontier(METRICS[metric].gains(*tables)):
        return pair_bound(tables[0], tables[1], metric, tradeoff=None, allowed=max_gap)
    if len(tables) > 2 and metric == "prf":
        return prf_bound(tables, tradeoff=None, allowed=max_gap)[0]
    return np.nan


def pair_bound(a: ScoreTable, b: ScoreTable, metric: str, *, tradeoff: float | None, allowed: float) -> float:
    """Return the bound for two groups and any metric: the height of the frontier."""
    gains = METRICS[metric].gains(a, b)
    if tradeoff is not None:
        return upper_bound(a, b, gains, tradeoff)
    hull = Hull(a, b, gains)
    free = [hull.corner(0.0, tied_to_a=tied).gap for tied in (True, False)]
    highest = hull.corner(0.0).auc
    if min(free) <= allowed and max(free) >= -allowed:
        return highest
    target = float(np.sign(free[0])) * allowed
    found = hull.crossing(target)
    if isinstance(found, Corner):
        return found.auc
    return found.lower.auc + found.price * (target - found.lower.gap)
