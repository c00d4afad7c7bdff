"""Ordering: how two groups interleave, and what that achieves."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from xorder._html import ordering_html
from xorder._table import IntArray, ScoreTable
from xorder.ordering.disparity import Disparity, auc_as_pairs, pairs_of_ordering


@dataclass(frozen=True, slots=True, eq=False)
class Ordering:
    """An interleaving of groups a and b that keeps the order within each.

    ``b_above[i]`` is the number of distinct scores of b placed above score i of a, both counted from the
    highest. ``disparity`` is signed (a minus b); ``objective`` is ``auc - tradeoff * |disparity|``. ``bound``
    is a value that no interleaving's objective exceeds, ``nan`` where the solver proves none, and ``gap`` is
    how far below it this one may be.
    """

    a: ScoreTable = field(repr=False)
    b: ScoreTable = field(repr=False)
    b_above: IntArray = field(repr=False)
    metric: str
    solver: str
    tradeoff: float
    auc: float
    disparity: float
    bound: float = np.nan

    @property
    def objective(self) -> float:
        """AUC minus tradeoff times the absolute disparity."""
        return self.auc - self.tradeoff * abs(self.disparity)

    @property
    def gap(self) -> float:
        """How far from the best possible objective this ordering can be at most."""
        return max(self.bound - self.objective, 0.0) if np.isfinite(self.bound) else np.nan

    def _repr_html_(self) -> str:
        return ordering_html(self)

    @classmethod
    def from_path(
        cls,
        a: ScoreTable,
        b: ScoreTable,
        b_above: IntArray,
        disparity: Disparity,
        tradeoff: float,
        solver: str,
        utility: Disparity | None = None,
    ) -> Ordering:
        """Measure an interleaving and wrap it up; ``utility`` is the AUC as pairs, where it is known already."""
        utility = auc_as_pairs(a, b) if utility is None else utility
        path = np.asarray(b_above, dtype=np.int64)
        path.flags.writeable = False
        pairs = pairs_of_ordering(a, b, path)
        return cls(
            a=a,
            b=b,
            b_above=path,
            metric=disparity.name,
            solver=solver,
            tradeoff=tradeoff,
            auc=utility.value(pairs),
            disparity=disparity.value(pairs),
        )
