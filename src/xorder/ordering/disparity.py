r"""What a cross-group pair is worth: a metric as a 2 x 2 matrix.

Only the interleaving of groups a and b can change, never the order within a group. With
:math:`x_i = (p_i, n_i)` the masses at a score of a, and :math:`x_j` those at a score of b, a metric of an
interleaving is

.. math:: \text{offset} + \sum_{i \text{ above } j} x_i^\top M x_j .

A new disparity is a new matrix, not a new solver.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from xorder._table import FloatArray, IntArray, ScoreTable
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
