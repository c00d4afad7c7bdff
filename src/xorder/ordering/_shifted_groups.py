"""K groups on one axis: who stands above whom, counted exactly, for any shift of each group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from xorder._metric import METRICS
from xorder._table import FloatArray, ScoreTable, in_threads


class Curve(Protocol):
    """Anything that places scores on the axis of log odds without changing their order."""

    def log_odds(self, score: FloatArray) -> FloatArray: ...


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """One group's places, rising, with the masses at each and the masses below each and the end."""

    place: FloatArray
    positive: FloatArray
    negative: FloatArray
    positive_below: FloatArray
    negative_below: FloatArray

    @classmethod
    def of(cls, table: ScoreTable, curve: Curve) -> Group:
        """Place a table's scores; scores that the curve puts on one place become one."""
        place = np.ascontiguousarray(curve.log_odds(table.score)[::-1])
        p, n = table.positive[::-1], table.negative[::-1]
        first = np.append(True, place[1:] > place[:-1])
        if not first.all():
            starts = np.flatnonzero(first)
            place, p, n = place[starts], np.add.reduceat(p, starts), np.add.reduceat(n, starts)
        return cls(place, p, n, *(np.append(0.0, np.cumsum(mass)) for mass in (p, n)))


class Placed:
    """K groups on the axis of log odds, and what a metric makes of the chances that one outranks another.

    Two matrices describe them at any shifts: ``auc[g, h]``, the chance that a positive of g outranks a negative of h,
    and ``chance[g, h]``, the same again or, for parity, that any member of g outranks any of h. Ties count one half.
    """

    def __init__(self, tables: Sequence[ScoreTable], curves: Sequence[Curve], metric: str) -> None:
        self.size = sum(map(len, tables))
        self.groups = in_threads(self.size, Group.of, tables, curves)
        self.metric = METRICS[metric]
        self.n1, self.n0 = (np.array([getattr(table, name) for table in tables]) for name in ("n1", "n0"))
        self.share1, self.share0 = self.n1 / self.n1.sum(), self.n0 / self.n0.sum()
        within = np.array([table.concordant.sum() for table in tables])
        self.within = within / (self.n1 * self.n0)
        self.by_label = self.metric.by_label

    def __len__(self) -> int:
        return len(self.groups)

    def overall(self, auc: FloatArray) -> FloatArray:
        """AUC of all groups together, of one matrix or a stack of them."""
        return np.asarray(np.einsum("...gh,g,h->...", auc, self.share1, self.share0))

    def gaps(self, chance: FloatArray) -> FloatArray:
        """Signed gaps of the metric, linear in the chances; of one matrix or a stack of them."""
        return self.metric.gaps(chance, self.share0)

    def chances(self, shift: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Count both matrices at some shifts; time of looking all groups up in each other."""
        auc, other = np.diag(self.within), np.full((len(self), len(self)), 0.5)
        pairs = [(g, h) for g in range(len(self)) for h in range(g)]

        def count(pair: tuple[int, int]) -> FloatArray:
            g, h = pair
            a, b, apart = self.groups[g], self.groups[h], float(shift[g] - shift[h])
            # It is faster to look the shorter list up in the longer.
            if a.place.size <= b.place.size:
                return outranked(a, b, apart)
            return np.asarray(self._pair_masses(g, h) - outranked(b, a, -apart).T)

        for (g, h), up in zip(pairs, in_threads(self.size, count, pairs), strict=True):
            total = self._pair_masses(g, h)
            auc[g, h], auc[h, g] = up[0, 1] / total[0, 1], 1 - up[1, 0] / total[1, 0]
            other[g, h] = up.sum() / total.sum()
            other[h, g] = 1 - other[g, h]
        return auc, auc if self.by_label else other

    def _pair_masses(self, g: int, h: int) -> FloatArray:
        return np.outer([self.n1[g], self.n0[g]], [self.n1[h], self.n0[h]])


class _AsScored:
    """The curve that leaves scores where they are."""

    def log_odds(self, score: FloatArray) -> FloatArray:
        return score


def many_as_scored(tables: Sequence[ScoreTable], metric: str) -> tuple[float, FloatArray]:
    """AUC, and the signed gaps as a K x K matrix, of groups of both classes as their scores stand."""
    placed = Placed(tables, [_AsScored()] * len(tables), metric)
    auc, chance = placed.chances(np.zeros(len(tables)))
    return float(placed.overall(auc)), placed.gaps(chance)


def outranked(a: Group, b: Group, shift: float) -> FloatArray:
    """Mass of pairs with the member of a above, a being shifted: by class, as 2 x 2."""
    place = a.place + shift
    first = np.searchsorted(b.place, place)
    tied = np.flatnonzero(b.place[np.minimum(first, b.place.size - 1)] == place)
    below = [mass[first] for mass in (b.positive_below, b.negative_below)]
    for lower, mass in zip(below, (b.positive, b.negative), strict=True):
        lower[tied] += 0.5 * mass[first[tied]]
    return np.array([[float(own @ other) for other in below] for own in (a.positive, a.negative)])
