"""Shifts of K groups by successive linear programmes: cheap where chances are read off tables, exact at the end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from xorder._table import FloatArray
from xorder.ordering._chance_tables import Compressed
from xorder.ordering._hull import ROUNDING
from xorder.ordering._shifted_groups import Placed

Chances = Callable[[FloatArray], tuple[FloatArray, FloatArray]]

# Points of AUC that a final answer loses for a point of a gap beyond what is allowed, and tradeoffs that count as none
# higher in a linear programme.
_STEEP = 1e3


@dataclass(frozen=True, slots=True)
class Goal:
    """High ``AUC - tradeoff * worst gap``, or, without a tradeoff, high AUC with no gap above ``allowed``.

    In the latter case a point of a gap beyond what is allowed costs ``steep`` points of AUC on the way. Where that is
    much, steps along the limit must be short, as it is curved; where it is too little, the limit is not kept.
    """

    tradeoff: float | None
    allowed: float
    steep: float = _STEEP

    def merit(self, auc: FloatArray, worst: FloatArray) -> FloatArray:
        """What a placement is worth on the way."""
        if self.tradeoff is not None:
            return np.asarray(auc - self.tradeoff * worst)
        return np.asarray(auc - self.steep * np.maximum(worst - self.allowed, 0.0))

    def rank(self, auc: FloatArray, worst: FloatArray) -> FloatArray:
        """Worth of a final answer: one that keeps to what is allowed always comes before one that does not."""
        if self.tradeoff is not None:
            return self.merit(auc, worst)
        excess = worst - self.allowed
        return np.where(excess <= ROUNDING, auc, auc - 1.0 - _STEEP * excess)


def worst_gap(gaps: FloatArray) -> FloatArray:
    """Largest gap, of one matrix or a stack of them."""
    return np.asarray(np.abs(gaps).max(axis=(-2, -1)))


def remembered(chances: Chances) -> Chances:
    """Count each placement once only."""
    known: dict[bytes, tuple[FloatArray, FloatArray]] = {}

    def look_up(shift: FloatArray) -> tuple[FloatArray, FloatArray]:
        key = shift.tobytes()
        if key not in known:
            known[key] = chances(shift)
        return known[key]

    return look_up


def descend(
    start: FloatArray,
    chances: Chances,
    compressed: Compressed,
    goal: Goal,
    reference: int,
    *,
    radius: float,
    rounds: int,
    tolerance: float,
) -> FloatArray:
    """Improve shifts step by step; slopes are always those of the tables, values those of ``chances``.

    Each step solves the problem linearised around the present shifts, within a box that shrinks where the straight
    lines promised too much. It ends when they promise no more than ``tolerance``.
    """
    placed, shift = compressed.placed, start
    auc, gaps = measure(placed, chances, shift)
    value = float(goal.merit(auc, worst_gap(gaps)))
    for _ in range(rounds):
        step, promised = _linear_step(compressed, goal, reference, shift, gaps, radius)
        gain = promised + float(auc) - value
        if gain <= tolerance:
            break
        after = shift + step
        next_auc, next_gaps = measure(placed, chances, after)
        next_value = float(goal.merit(next_auc, worst_gap(next_gaps)))
        if next_value - value > 0.1 * gain:
            shift, auc, gaps, value = after, next_auc, next_gaps, next_value
            radius *= 1.5
        else:
            if next_value > value:
                shift, auc, gaps, value = after, next_auc, next_gaps, next_value
            radius /= 3
        if radius < 1e-9:
            break
    return shift


def measure(placed: Placed, chances: Chances, shift: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Overall AUC and the gaps at some shifts."""
    auc, chance = chances(shift)
    return placed.overall(auc), placed.gaps(chance)


def _linear_step(
    compressed: Compressed, goal: Goal, reference: int, shift: FloatArray, gaps: FloatArray, radius: float
) -> tuple[FloatArray, float]:
    """Best step in the box for the linearised problem, and the merit it promises, less the present AUC."""
    from scipy.optimize import linprog  # Takes longer to load than all of xorder.

    size = shift.size
    auc_slope, gap_slope = compressed.slopes(shift)
    one, two = np.triu_indices(size, 1)
    gap, slope = gaps[one, two], gap_slope[:, one, two].T
    allowed, price = (goal.allowed, goal.steep) if goal.tradeoff is None else (0.0, min(goal.tradeoff, _STEEP))
    # Pairs that cannot become the worst, or too far apart, within the box are left out.
    reach = radius * np.abs(slope).sum(axis=1)
    level = allowed if goal.tradeoff is None else float((np.abs(gap) - reach).max())
    kept = np.flatnonzero(np.abs(gap) + reach >= level)
    gap, slope = gap[kept], slope[kept]
    limit = np.full(size, radius)
    limit[reference] = 0.0
    found = linprog(
        np.append(-auc_slope, price),
        A_ub=np.hstack([np.vstack([slope, -slope]), np.full((2 * gap.size, 1), -1.0)]) if gap.size else None,
        b_ub=allowed - np.concatenate([gap, -gap]) if gap.size else None,
        bounds=[*zip(-limit, limit, strict=True), (0.0, None)],
    )
    if not found.success:
        return np.zeros(size), -np.inf
    step, worst = found.x[:-1], found.x[-1]
    paid = worst * (goal.steep if goal.tradeoff is None else goal.tradeoff)
    return step, float(auc_slope @ step - paid)
