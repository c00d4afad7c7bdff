r"""What a cross-group pair is worth: a metric as a 2 x 2 matrix.

Only the interleaving of groups a and b can change, never the order within a group. With
:math:`x_i = (p_i, n_i)` the masses at a score of a, and :math:`x_j` those at a score of b, a metric of an
interleaving is

.. math:: \text{offset} + \sum_{i \text{ above } j} x_i^\top M x_j .

A new disparity is a new matrix, not a new solver.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np

from xorder._html import ordering_html
from xorder._table import FloatArray, IntArray, ScoreTable, Tables
from xorder._validation import DISADVANTAGED, check_both_classes
from xorder.exceptions import InputError


@dataclass(frozen=True, slots=True, eq=False)
class Disparity:
    """A signed gap between groups a and b as a function of how they interleave.

    ``matrix`` gives the worth of a pair with the member of a above, by class: rows are a positive and a
    negative of a, columns a positive and a negative of b. ``offset`` is the gap with all of b above all of a.

    The last two fields only steer algorithms that build an ordering from the top and judge it half-way.
    ``a_part`` is the part of the matrix credited when the member of a is placed; the rest is debited when the
    member of b is (one half each unless given). ``own`` is the worth, contained in ``offset``, of a concordant
    pair within a and within b, credited when its positive is placed.
    """

    matrix: FloatArray
    offset: float
    a_part: FloatArray | None = None
    own: tuple[float, float] = (0.0, 0.0)
    name: str = "custom"

    def __post_init__(self) -> None:
        try:
            matrix, offset = np.array(self.matrix, dtype=np.float64), float(self.offset)
            part = matrix / 2 if self.a_part is None else np.array(self.a_part, dtype=np.float64)
        except (TypeError, ValueError):
            matrix, offset, part = np.empty(0), np.nan, np.empty(0)
        if matrix.shape != (2, 2) or part.shape != (2, 2) or not np.isfinite(matrix).all() or not np.isfinite(offset):
            raise InputError(f"a disparity needs a 2 x 2 matrix and an offset, all finite; got {self.matrix!r}.")
        for array in (matrix, part):
            array.flags.writeable = False
        object.__setattr__(self, "matrix", matrix)
        object.__setattr__(self, "a_part", part)

    def value(self, pairs: FloatArray) -> float:
        """Return the gap, given the mass of pairs with the member of a above, by class as in ``matrix``."""
        return self.offset + float(np.sum(self.matrix * pairs))


class Masses(Protocol):
    """Masses of positives and negatives in ranked entries: scores, or blocks of them."""

    @property
    def positive(self) -> FloatArray: ...  # noqa: D102
    @property
    def negative(self) -> FloatArray: ...  # noqa: D102


def pairs_of_ordering(a: Masses, b: Masses, b_above: IntArray) -> FloatArray:
    """Mass of the pairs with the member of a above, where ``b_above[i]`` scores of b precede score i of a."""
    return _pairs(a, [remaining(mass)[b_above] for mass in (b.positive, b.negative)])


def pairs_of_scores(a: ScoreTable, b: ScoreTable) -> FloatArray:
    """Mass of the pairs with the member of a above, as the scores stand; equal scores count one half."""
    if len(a) > len(b):
        # It is faster to look the shorter list up in the longer.
        return np.asarray(np.outer([a.n1, a.n0], [b.n1, b.n0]) - pairs_of_scores(b, a).T)
    first = np.searchsorted(-b.score, -a.score)
    past = first + ((first < len(b)) & (b.score[np.minimum(first, len(b) - 1)] == a.score))
    left = [remaining(mass) for mass in (b.positive, b.negative)]
    return _pairs(a, [0.5 * (mass[first] + mass[past]) for mass in left])


def as_scored(a: ScoreTable, b: ScoreTable, metric: str | Disparity) -> tuple[float, float]:
    """AUC and signed disparity of two groups as their scores stand."""
    pairs = pairs_of_scores(a, b)
    return auc_as_pairs(a, b).value(pairs), check_disparity(metric, a, b).value(pairs)


def remaining(mass: FloatArray) -> FloatArray:
    """Mass left after the first j scores, for j from none to all."""
    return np.append(np.cumsum(mass[::-1])[::-1], 0.0)


def _pairs(a: Masses, outranked: list[FloatArray]) -> FloatArray:
    return np.array([[float(own @ other) for other in outranked] for own in (a.positive, a.negative)])


def auc_as_pairs(a: ScoreTable, b: ScoreTable) -> Disparity:
    """AUC of both groups together, written as a sum over cross-group pairs like any disparity."""
    pairs = (a.n1 + b.n1) * (a.n0 + b.n0)
    within = float(a.concordant.sum() + b.concordant.sum())
    return Disparity(
        np.array([[0.0, 1.0], [-1.0, 0.0]]) / pairs,
        (within + a.n0 * b.n1) / pairs,
        a_part=np.array([[0.0, 1.0], [0.0, 0.0]]) / pairs,
        own=(1 / pairs, 1 / pairs),
        name="auc",
    )


def xauc_disparity(a: ScoreTable, b: ScoreTable) -> Disparity:
    """xAUC(a, b) - xAUC(b, a)."""
    up, down = 1 / (a.n1 * b.n0), 1 / (a.n0 * b.n1)
    return Disparity(np.array([[0.0, up], [down, 0.0]]), -1.0, a_part=np.array([[0.0, up], [0.0, 0.0]]), name="xauc")


def prf_disparity(a: ScoreTable, b: ScoreTable) -> Disparity:
    """PRF(a) - PRF(b)."""
    n0 = a.n0 + b.n0
    up, down = 1 / (a.n1 * n0), 1 / (b.n1 * n0)
    within = float(up * a.concordant.sum() - down * b.concordant.sum())
    return Disparity(
        np.array([[0.0, up], [down, 0.0]]),
        within - a.n0 / n0,
        a_part=np.array([[0.0, up], [0.0, 0.0]]),
        own=(up, -down),
        name="prf",
    )


def parity_disparity(a: ScoreTable, b: ScoreTable) -> Disparity:
    """Pr(S_a > S_b) - Pr(S_b > S_a), whatever the labels."""
    return Disparity(np.full((2, 2), 2 / ((a.n1 + a.n0) * (b.n1 + b.n0))), -1.0, name="parity")


DISPARITIES: dict[str, Callable[[ScoreTable, ScoreTable], Disparity]] = {
    "xauc": xauc_disparity,
    "prf": prf_disparity,
    "parity": parity_disparity,
}
"""The disparities that have a name."""


def check_disparity(metric: str | Disparity, a: ScoreTable, b: ScoreTable) -> Disparity:
    """Return the disparity a user named, or passed ready-made, for these two tables."""
    if isinstance(metric, Disparity):
        return metric
    if not isinstance(metric, str) or metric not in DISPARITIES:
        raise InputError(f"metric must be one of {', '.join(DISPARITIES)}, or a Disparity; got {metric!r}.")
    return DISPARITIES[metric](a, b)


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


class Roles(NamedTuple):
    """Who stays and who moves, with the AUC and the gap, reference minus moved, as the scores stand."""

    reference: Hashable
    moved: Hashable
    auc: float
    gap: float


def check_two_groups(tables: Tables) -> None:
    """Refuse what is not two groups, each with positives and negatives."""
    if len(tables) != 2:
        raise InputError(
            f"sensitive_features must name exactly two groups to repair; got {len(tables)}: "
            f"{', '.join(map(repr, list(tables)[:10]))}. An audit takes any number."
        )
    for group, table in tables.items():
        check_both_classes(table, f"group {group!r}")


def roles_of_two(tables: Tables, metric: str, adjust: Hashable) -> Roles:
    """Find who of two groups moves: the one named, or the one on the losing side of the gap."""
    check_two_groups(tables)
    first, second = tables
    auc, gap = as_scored(tables[first], tables[second], metric)
    if isinstance(adjust, str) and adjust == DISADVANTAGED and adjust not in tables:
        adjust = second if gap >= 0 else first
    if adjust not in tables:
        raise InputError(f"adjust must name one of the groups {[first, second]!r}; got {adjust!r}.")
    return Roles(first, second, auc, gap) if adjust == second else Roles(second, first, auc, -gap)
