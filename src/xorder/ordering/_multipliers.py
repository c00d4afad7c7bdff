"""One multiplier per group: K groups' calibrated odds, each times a factor, so that no group is ranked too low."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from xorder._metric import check_metric
from xorder._table import FloatArray, ScoreTable
from xorder._validation import check_both_classes
from xorder.exceptions import InputError
from xorder.ordering._bounds import prf_bound
from xorder.ordering._frontier import pair_bound
from xorder.ordering._ordering import ROUNDING, Goal
from xorder.ordering._shifted_groups import ChanceTables, Curve, ShiftedGroups

# Numbers that the flips of one group may take in all, one for each pair of groups. The lists of two groups are thinned
# until theirs fit; more groups are shifted flip by flip only where theirs do.
_NUMBERS = 200_000

# How often a search is checked by an exact count, at most.
_COUNTS = 4

# A search whose gaps are off by less than this is right; where it reads them off, it aims so much below a limit.
_CLOSE = 1e-5

# Flips closer together than this leave no room to stand between them.
_ROOM = 1e-12

# Stages of a descent towards a limit: what a gap beyond it costs, and half the width of the first box of steps. A high
# price from the start would make steps along a curved limit tiny.
_STAGES = ((3.0, 0.5), (30.0, 0.02), (1000.0, 0.001))

# Price of a gap beyond the limit in a descent that a count has corrected.
_CORRECTED_PRICE = 30.0

# Steps of a descent, at most.
_STEPS = 60

# A descent ends when the next step promises less than this.
_PROMISE = 1e-8

# Tradeoffs above this are as this one to a linear programme.
_HIGHEST_PRICE = 1e3


@dataclass(frozen=True, slots=True, eq=False)
class Multipliers:
    """Multipliers of the odds of K groups, as :func:`solve_multipliers` finds them, with everything counted exactly.

    Parameters
    ----------
    metric : str
        Name of the gap.
    reference : int
        Number of the group that stays.
    tradeoff : float or None
        Points of AUC worth giving for a point of the largest gap; None where a largest gap was given instead.
    shift : ndarray of shape (n_groups,)
        Logarithm of each group's multiplier, 0 for the reference.
    auc : float
        AUC of all groups together.
    gaps : ndarray of shape (n_groups, n_groups)
        Signed gap of each pair, row minus column.
    worst : float
        Largest gap, without its sign.
    bound : float
        Value that no ordering of the groups exceeds, ``nan`` where none is known: of the objective for a tradeoff;
        else of the AUC, for orderings with gaps up to ``max_gap``, or up to ``worst`` where that could not be met.
    """

    metric: str
    reference: int
    tradeoff: float | None
    shift: FloatArray
    auc: float
    gaps: FloatArray
    worst: float
    bound: float

    @property
    def objective(self) -> float:
        """AUC minus tradeoff times the largest gap; the AUC alone where a largest gap was given instead."""
        return self.auc - (0.0 if self.tradeoff is None else self.tradeoff * self.worst)

    @property
    def optimality_gap(self) -> float:
        """How far from the best possible objective this one can be at most; ``nan`` without a bound."""
        return max(self.bound - self.objective, 0.0) if np.isfinite(self.bound) else np.nan


def solve_multipliers(
    tables: Sequence[ScoreTable],
    curves: Sequence[Curve],
    *,
    metric: str = "xauc",
    reference: int = 0,
    tradeoff: float | None = None,
    max_gap: float | None = None,
) -> Multipliers:
    """Find one multiplier of the calibrated odds for each of K groups.

    Group g stands at ``curves[g].log_odds(score) + shift[g]``. Either ``AUC - tradeoff * largest gap`` is made
    high, or the AUC with no gap above ``max_gap``.

    Guarantee: gaps and AUC are exact counts. With two groups of up to 400 distinct scores each, no shift is better;
    otherwise gaps end within about a tenth of their standard error of where they should. For two groups, and for PRF,
    ``bound`` holds for every ordering. Time of looking K groups up in each other a few times.

    Parameters
    ----------
    tables : sequence of ScoreTable
        Table of each group, with both classes.
    curves : sequence of Calibration
        Curve of each group: anything with a rising ``log_odds(score)``.
    metric : {"xauc", "prf", "parity"}, default="xauc"
        Gap to be made small.
    reference : int, default=0
        Number of the group that stays.
    tradeoff : float, default=None
        Points of AUC worth giving for a point of the largest gap.
    max_gap : float, default=None
        Largest gap allowed; one of the two is given.

    Returns
    -------
    Multipliers
        Shifts, what they come to, and the bound.
    """
    if len(tables) < 2 or len(tables) != len(curves):
        raise InputError(f"two groups or more are needed, each with a curve; got {len(tables)} and {len(curves)}.")
    for g, table in enumerate(tables):
        check_both_classes(table, f"group number {g}")
    check_metric(metric)
    goal = Goal.of(tradeoff=tradeoff, max_gap=max_gap)
    if not 0 <= reference < len(tables):
        raise InputError(f"reference must be the number of a group, 0 to {len(tables) - 1}; got {reference!r}.")
    groups = ShiftedGroups(tables, curves, metric)
    found = _search(groups, goal, reference)
    gaps = groups.gap_matrix(found.gaps)
    allowed = max(goal.allowed, found.worst) if goal.tradeoff is None else None
    bound = np.nan
    if len(tables) == 2:
        bound = pair_bound(*tables, metric=metric, tradeoff=goal.tradeoff, max_gap=allowed)
    elif metric == "prf":
        bound = prf_bound(tables, tradeoff=goal.tradeoff, max_gap=allowed, start=found.shift)
    for array in (found.shift, gaps):
        array.flags.writeable = False
    return Multipliers(
        metric=metric,
        reference=reference,
        tradeoff=goal.tradeoff,
        shift=found.shift,
        auc=float(found.auc),
        gaps=gaps,
        worst=found.worst,
        bound=bound,
    )


class _Count(NamedTuple):
    """Shifts, with the AUC and the gap of each pair that were counted there."""

    shift: FloatArray
    auc: FloatArray
    gaps: FloatArray

    @property
    def worst(self) -> float:
        return float(np.abs(self.gaps).max())

    def value(self, goal: Goal) -> float:
        return float(goal.value(self.auc, np.asarray(self.worst)))


def _search(groups: ShiftedGroups, goal: Goal, reference: int) -> _Count:
    """Return the best of all that was counted; of equals, the one found first."""
    size, pairs = len(groups), len(groups.pairs[0])
    unshifted = np.zeros(size)
    levels = int(np.sqrt(_NUMBERS / ((size - 1) * pairs)))
    is_short = max(group.position.size for group in groups.groups) <= levels
    margin = 0.0 if is_short else _CLOSE
    if size == 2:
        path = _Path(groups.thinned(levels), unshifted, 1 - reference)
        counts = [_count(groups, unshifted), *_corrected(groups, goal, path, margin)]
    else:
        counts = _corrected(groups, goal, _Descent(groups, reference), margin)
        if is_short:
            # Few levels make high steps, which slopes do not show.
            counts += [_polished(groups, goal, count, reference) for count in counts]
    return max(counts, key=lambda count: count.value(goal))


def _count(groups: ShiftedGroups, shift: FloatArray) -> _Count:
    return _Count(shift, *groups.measure(shift))


def _corrected(groups: ShiftedGroups, goal: Goal, search: _Path | _Descent, margin: float) -> list[_Count]:
    """Search, count where that led, move the search by what it was off there, and again until it is right.

    It aims below a limit by a margin, and by as much more as a count was beyond.
    """
    off_auc, off_gaps = np.zeros(()), np.zeros(len(groups.pairs[0]))
    counts: list[_Count] = []
    for _ in range(_COUNTS):
        aim = replace(goal, allowed=max(goal.allowed - margin, 0.0))
        found = _count(groups, search.best(aim, off_auc, off_gaps))
        counts.append(found)
        read_auc, read_gaps = search.measure(found.shift)
        was_off = float(np.abs(found.gaps - read_gaps - off_gaps).max())
        if was_off <= _CLOSE:
            break
        off_auc, off_gaps = found.auc - read_auc, found.gaps - read_gaps
        margin += max(found.worst - goal.allowed, 0.0)
    return counts


def _polished(groups: ShiftedGroups, goal: Goal, start: _Count, reference: int) -> _Count:
    """Shift one group after the other to where it is best, until none gains."""
    best, moved = start, True
    while moved:
        moved = False
        for g in range(len(groups)):
            if g != reference:
                found = _count(groups, _Path(groups, best.shift, g).best(goal))
                if found.value(goal) > best.value(goal) + ROUNDING:
                    best, moved = found, True
    return best


class _Path:
    """Everything that one group can do while the others stand still."""

    def __init__(self, groups: ShiftedGroups, shift: FloatArray, g: int) -> None:
        self.shift, self.g = shift, g
        self.flips, self.auc, self.gaps = groups.along(shift, g)

    def measure(self, shift: FloatArray) -> tuple[FloatArray, FloatArray]:
        """AUC and gaps at shifts that :meth:`best` found."""
        index = int(np.searchsorted(self.flips, shift[self.g]))
        return self.auc[index], self.gaps[:, index]

    def best(self, goal: Goal, off_auc: FloatArray | float = 0.0, off_gaps: FloatArray | float = 0.0) -> FloatArray:
        """Shifts of the highest value; of equals, those nearest to none."""
        value = goal.value(self.auc + off_auc, np.abs(self.gaps + np.reshape(off_gaps, (-1, 1))).max(axis=0))
        low, high = np.append(self.flips[0] - 2.0, self.flips), np.append(self.flips, self.flips[-1] + 2.0)
        value = np.where(high - low > _ROOM, value, -np.inf)
        good = np.flatnonzero(value >= value.max() - ROUNDING)
        nearest = good[np.argmin(np.maximum(low[good], -high[good]))]
        margin = 0.1 * (high[nearest] - low[nearest])
        shift = self.shift.copy()
        shift[self.g] = np.clip(0.0, low[nearest] + margin, high[nearest] - margin)
        return shift


class _Descent:
    """Successive linear programmes for all groups at once, their chances being read off tables."""

    def __init__(self, groups: ShiftedGroups, reference: int) -> None:
        self.tables, self.reference = ChanceTables(groups), reference
        self.measure = self.tables.measure
        self.found: FloatArray | None = None

    def best(self, goal: Goal, off_auc: FloatArray, off_gaps: FloatArray) -> FloatArray:
        """Shifts of high value: at first in large steps from none, then in small ones from those found before."""
        stages = _STAGES if self.found is None else ((_CORRECTED_PRICE, self.tables.width),)
        if goal.tradeoff is not None:
            stages = ((goal.tradeoff, stages[0][1]),)
        shift = np.zeros(len(self.tables.groups)) if self.found is None else self.found
        for price, radius in stages:
            shift = self._descend(shift, off_auc, off_gaps, goal.allowed, price, radius)
        self.found = shift
        return shift

    def _descend(
        self, shift: FloatArray, off_auc: FloatArray, off_gaps: FloatArray, allowed: float, price: float, radius: float
    ) -> FloatArray:
        """Improve shifts step by step, where a gap beyond what is allowed has a price.

        Each step solves the problem linearised around the present shifts, within a box that shrinks where the straight
        lines promised too much.
        """

        def measure(shift: FloatArray) -> tuple[FloatArray, float]:
            auc, gaps = self.measure(shift)
            gaps = gaps + off_gaps
            return gaps, float(auc + off_auc - price * max(np.abs(gaps).max() - allowed, 0.0))

        gaps, value = measure(shift)
        for _ in range(_STEPS):
            step, promise = self._linear_step(shift, gaps, allowed, price, radius)
            if promise <= _PROMISE:
                break
            next_gaps, next_value = measure(shift + step)
            radius *= 1.5 if next_value - value > 0.1 * promise else 1 / 3
            if next_value > value:
                shift, gaps, value = shift + step, next_gaps, next_value
        return shift

    def _linear_step(
        self, shift: FloatArray, gaps: FloatArray, allowed: float, price: float, radius: float
    ) -> tuple[FloatArray, float]:
        """Best step in the box for the linearised problem, and the gain that it promises."""
        from scipy.optimize import linprog  # Takes longer to load than all of xorder.

        auc_slope, gap_slope = self.tables.slopes(shift)
        excess = max(float(np.abs(gaps).max()) - allowed, 0.0)
        # Pairs that cannot become the worst, or too far apart, within the box are left out.
        reach = radius * np.abs(gap_slope).sum(axis=0)
        kept = np.abs(gaps) + reach >= max(float((np.abs(gaps) - reach).max()), allowed)
        gap, slope = gaps[kept], gap_slope[:, kept].T
        limit = np.full(shift.size, radius)
        limit[self.reference] = 0.0
        # Unknowns: the step, and the excess of the worst gap after it.
        found = linprog(
            np.append(-auc_slope, min(price, _HIGHEST_PRICE)),
            A_ub=np.hstack([np.vstack([slope, -slope]), np.full((2 * gap.size, 1), -1.0)]) if gap.size else None,
            b_ub=allowed - np.concatenate([gap, -gap]) if gap.size else None,
            bounds=[*zip(-limit, limit, strict=True), (0.0, None)],
        )
        if not found.success:
            return np.zeros(shift.size), 0.0
        return found.x[:-1], float(auc_slope @ found.x[:-1]) - price * (found.x[-1] - excess)
