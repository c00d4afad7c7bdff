"""One multiplier per group: K groups' odds, each times a factor, so that no group is ranked too low."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np

from xorder._metric import METRICS, check_metric
from xorder._table import FloatArray, IntArray, ScoreTable, check_both_classes, in_threads, pairs_within
from xorder.exceptions import InputError
from xorder.ordering._ordering import ROUNDING, Goal

# Bins of the axis, if that many fit into the size of all tables together.
_BINS = 4096

# Numbers in all tables together, at most.
_TABLE_NUMBERS = 8_000_000

# Share of each class beyond the binned range, on either side; such rows count as standing at its ends.
_TAIL = 5e-4


class Curve(Protocol):
    """Anything that puts scores on the axis of log odds without changing their order."""

    def log_odds(self, score: FloatArray) -> FloatArray: ...


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """Positions of one group on the axis, rising, with the masses at each, and below each and the end."""

    position: FloatArray
    positive: FloatArray
    negative: FloatArray
    positive_below: FloatArray
    negative_below: FloatArray

    @classmethod
    def of(cls, table: ScoreTable, curve: Curve) -> Group:
        """Put a table on the axis; scores of one position become one."""
        position = np.ascontiguousarray(curve.log_odds(table.score)[::-1])
        positive, negative = table.positive[::-1], table.negative[::-1]
        is_first = np.append(True, position[1:] > position[:-1])
        if not is_first.all():
            starts = np.flatnonzero(is_first)
            position, positive, negative = position[starts], *_joined(starts, positive, negative)
        return cls._at(position, positive, negative)

    @classmethod
    def _at(cls, position: FloatArray, positive: FloatArray, negative: FloatArray) -> Group:
        return cls(position, positive, negative, *(np.append(0.0, np.cumsum(mass)) for mass in (positive, negative)))

    def thinned(self, levels: int) -> Group:
        """Merge neighbours at their mean, to about so many levels of equal mass; a shorter list stays as it is."""
        if self.position.size <= levels:
            return self
        mass = self.positive + self.negative
        below = np.cumsum(mass)
        level = np.floor(below * (levels / below[-1]))
        starts = np.flatnonzero(np.append(True, level[1:] > level[:-1]))
        positive, negative, moment = _joined(starts, self.positive, self.negative, mass * self.position)
        return self._at(moment / (positive + negative), positive, negative)


def _joined(starts: IntArray, *masses: FloatArray) -> tuple[FloatArray, ...]:
    return tuple(np.add.reduceat(mass, starts) for mass in masses)


class ShiftedGroups:
    """K groups on the axis of log odds, each shifted by any amount: their AUC and gaps, counted exactly."""

    def __init__(self, tables: Sequence[ScoreTable], curves: Sequence[Curve], metric: str) -> None:
        self.size = sum(map(len, tables))
        self.groups = in_threads(self.size, Group.of, tables, curves)
        self.metric = METRICS[metric]
        self.n1, self.n0 = (np.array([getattr(table, name) for table in tables]) for name in ("n1", "n0"))
        self.share1, self.share0 = self.n1 / self.n1.sum(), self.n0 / self.n0.sum()
        within = np.array([pairs_within(table) for table in tables])
        self.within = within / (self.n1 * self.n0)
        self.pairs = np.triu_indices(len(tables), 1)

    def __len__(self) -> int:
        return len(self.groups)

    def summary(self, auc: FloatArray, chance: FloatArray) -> tuple[FloatArray, FloatArray]:
        """AUC of all groups together, and the signed gap of each of the ``pairs``; both are linear in the chances.

        ``auc[g, h]`` is the chance that a positive of g outranks a negative of h, and ``chance[g, h]`` the same again
        or, for a metric that does not look at labels, that any row of g outranks any of h. Stacks of matrices give
        stacks.
        """
        overall = np.asarray(np.einsum("...gh,g,h->...", auc, self.share1, self.share0))
        return overall, self.metric.gaps(chance, self.share0)[..., *self.pairs]

    def gap_matrix(self, gaps: FloatArray) -> FloatArray:
        """Return the gaps of pairs as a K x K matrix."""
        matrix = np.zeros((len(self), len(self)))
        matrix[self.pairs] = gaps
        return np.asarray(matrix - matrix.T)

    def measure(self, shift: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Count AUC and gaps at some shifts, ties one half; time of looking all groups up in each other."""
        return self.summary(*self._chances(shift))

    def thinned(self, levels: int) -> ShiftedGroups:
        """Return the same groups with their lists thinned; what is counted within a group stays."""
        thinner = copy(self)
        thinner.groups = [group.thinned(levels) for group in self.groups]
        return thinner

    def along(self, shift: FloatArray, g: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Count for every position of one group, the others standing at their shifts.

        Return the shifts at which two positions flip, rising; and AUC and gaps before the first, between any two and
        after the last. Guarantee: exact. Time of sorting all pairs of positions of which one is g's.
        """
        own, size, by_label = self.groups[g], len(self), self.metric.by_label
        at, auc_steps, gap_steps = [], [], []
        for h in range(size):
            if h == g:
                continue
            other, total = self.groups[h], self._pair_masses(g, h)
            at.append(np.subtract.outer(other.position + shift[h], own.position).ravel())
            # What a flip adds to the chances that g outranks h, and takes from those that h outranks g.
            up = np.outer(other.negative, own.positive).ravel() / total[0, 1]
            down = np.outer(other.positive, own.negative).ravel() / total[1, 0]
            both = up, down
            if not by_label:
                any_row = np.outer(other.positive + other.negative, own.positive + own.negative).ravel() / total.sum()
                both = any_row, any_row
            won, lost = np.zeros((2, size, size))
            won[g, h], lost[h, g] = 1.0, -1.0
            (auc_won, gap_won), (auc_lost, gap_lost) = self.summary(won, won), self.summary(lost, lost)
            auc_steps.append(up * auc_won + down * auc_lost)
            gap_steps.append(np.outer(gap_won, both[0]) + np.outer(gap_lost, both[1]))
        # From below all others.
        bottom = [matrix.copy() for matrix in self._chances(shift)]
        for matrix in bottom:
            own_chance = matrix[g, g]
            matrix[g], matrix[:, g] = 0.0, 1.0
            matrix[g, g] = own_chance
        auc, gaps = self.summary(*bottom)
        flips = np.concatenate(at)
        order = np.argsort(flips)
        aucs = np.append(auc, np.concatenate(auc_steps)[order])
        steps = np.concatenate([gaps[:, None], np.concatenate(gap_steps, axis=1)[:, order]], axis=1)
        return flips[order], np.cumsum(aucs), np.cumsum(steps, axis=1)

    def _chances(self, shift: FloatArray) -> tuple[FloatArray, FloatArray]:
        auc, other = np.diag(self.within), np.full((len(self), len(self)), 0.5)
        pairs = [(g, h) for g in range(len(self)) for h in range(g)]

        def count(pair: tuple[int, int]) -> FloatArray:
            g, h = pair
            a, b, apart = self.groups[g], self.groups[h], float(shift[g] - shift[h])
            # It is faster to look the shorter list up in the longer.
            if a.position.size <= b.position.size:
                return outranked(a, b, apart)
            return np.asarray(self._pair_masses(g, h) - outranked(b, a, -apart).T)

        for (g, h), up in zip(pairs, in_threads(self.size, count, pairs), strict=True):
            total = self._pair_masses(g, h)
            auc[g, h], auc[h, g] = up[0, 1] / total[0, 1], 1 - up[1, 0] / total[1, 0]
            other[g, h] = up.sum() / total.sum()
            other[h, g] = 1 - other[g, h]
        return auc, auc if self.metric.by_label else other

    def _pair_masses(self, g: int, h: int) -> FloatArray:
        return np.outer([self.n1[g], self.n0[g]], [self.n1[h], self.n0[h]])


class ChanceTables:
    """Chances that one group outranks another as smooth functions of how far apart the two are shifted.

    In bins of equal width such a chance is a cross-correlation of two histograms, so one Fourier transform per group
    gives it for every difference at once; after that a trial of shifts costs a look into a table.
    """

    def __init__(self, groups: ShiftedGroups) -> None:
        size, bins = len(groups), _BINS
        while bins > 128 and bins * size**2 * 4 > _TABLE_NUMBERS:
            bins //= 2
        ends = np.array([_central(group) for group in groups.groups])
        low, high = float(ends[:, 0].min()), float(ends[:, 1].max())
        self.groups = groups
        self.step = max(high - low, 1e-6) / (bins - 1)
        self.span = bins * self.step
        transforms = [_transforms(group, low, self.step, bins) for group in groups.groups]
        spread = np.array([1 / np.sqrt(group.position.size) for group in groups.groups])
        # Smoothed over the distance of neighbouring flips in short lists, where the chance itself is a staircase.
        deviation = np.maximum(1.0, 2 * bins * np.outer(spread, spread))
        self.width = self.step * float(deviation.max())
        self.auc = _tables(transforms, deviation, 0, 1)
        self.chance = self.auc if groups.metric.by_label else _tables(transforms, deviation, 2, 2)

    def measure(self, shift: FloatArray) -> tuple[FloatArray, FloatArray]:
        """AUC and gaps at some shifts, as far as the tables know."""
        auc = self._read(self.auc, shift)[0]
        np.fill_diagonal(auc, self.groups.within)
        return self.groups.summary(auc, auc if self.chance is self.auc else self._read(self.chance, shift)[0])

    def slopes(self, shift: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Derivatives by each group's shift: of the AUC (K), and of the gaps (K x pairs)."""
        own = np.eye(len(self.groups))
        # Raising g lifts row g, and lowers column g.
        auc, chance = (
            self._read(tables, shift)[1] * (own[:, :, None] - own[:, None, :]) for tables in (self.auc, self.chance)
        )
        return self.groups.summary(auc, chance)

    def _read(self, tables: FloatArray, shift: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Value and slope of each table at the difference of the two shifts."""
        apart = np.clip((shift[:, None] - shift[None, :] + self.span) / self.step, 0, tables.shape[2] - 1.000001)
        index = apart.astype(np.int64)
        rows, columns = np.indices(index.shape)
        value, after = tables[rows, columns, index], tables[rows, columns, index + 1]
        return value + (apart - index) * (after - value), (after - value) / self.step


def _central(group: Group) -> tuple[float, float]:
    ends = []
    for below in (group.positive_below, group.negative_below):
        index = np.searchsorted(below[1:], [_TAIL * below[-1], (1 - _TAIL) * below[-1]])
        ends.append(group.position[np.minimum(index, group.position.size - 1)])
    return float(np.min(ends)), float(np.max(ends))


def _transforms(group: Group, low: float, step: float, bins: int) -> FloatArray:
    """Fourier transforms of the histograms of positives, negatives and both, each of total 1."""
    index = np.clip(np.rint((group.position - low) / step), 0, bins - 1).astype(np.int64)
    masses = (group.positive, group.negative, group.positive + group.negative)
    histograms = np.stack([np.bincount(index, mass / mass.sum(), minlength=bins) for mass in masses])
    return np.asarray(np.fft.rfft(histograms, 4 * bins, axis=1))


def _tables(transforms: list[FloatArray], deviation: FloatArray, above: int, below: int) -> FloatArray:
    """Chance, at differences from -bins to bins steps, that class ``above`` of g outranks class ``below`` of h."""
    size, frequencies = len(transforms), transforms[0].shape[1]
    length = 2 * (frequencies - 1)
    bins = length // 4
    tables = np.empty((size, size, 2 * bins + 1))
    angle = 2 * np.pi * np.arange(frequencies) / length
    for g in range(size):
        for h in range(size):
            # Mass of pairs by how many bins h's row lies above g's; smoothed by a bell of that deviation.
            product = transforms[h][below] * np.conj(transforms[g][above])
            smooth = np.exp(-0.5 * (angle * min(deviation[g, h], bins / 4)) ** 2)
            lead = np.roll(np.fft.irfft(product * smooth, length), length // 2)
            total = np.cumsum(lead)
            tables[g, h] = (total - 0.5 * lead)[length // 2 - bins : length // 2 + bins + 1]
    return tables


def outranked(a: Group, b: Group, shift: float) -> FloatArray:
    """Mass of pairs with the row of a above, a being shifted: by class, as 2 x 2."""
    position = a.position + shift
    first = np.searchsorted(b.position, position)
    tied = np.flatnonzero(b.position[np.minimum(first, b.position.size - 1)] == position)
    below = [mass[first] for mass in (b.positive_below, b.negative_below)]
    for lower, mass in zip(below, (b.positive, b.negative), strict=True):
        lower[tied] += 0.5 * mass[first[tied]]
    return np.array([[float(own @ other) for other in below] for own in (a.positive, a.negative)])


# Levels that two groups' lists are thinned to, so that there are fifty thousand flips to sort.
_LEVELS_OF_TWO = 224

# Most numbers kept for the flips of one group: three or more are searched flip by flip only if theirs fit.
_NUMBERS = 200_000

# How often a search is checked by an exact count, at most.
_COUNTS = 4

# A search ends when its gaps are off by less than this; one of thinned lists or slopes aims below a limit by as much.
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
    shift : ndarray of shape (n_groups,)
        Logarithm of each group's multiplier, 0 for the reference.
    auc : float
        AUC of all groups together.
    gaps : ndarray of shape (n_groups, n_groups)
        Signed gap of each pair, row minus column.
    worst : float
        Largest gap, without its sign.
    """

    shift: FloatArray
    auc: float
    gaps: FloatArray
    worst: float


def solve_multipliers(
    tables: Sequence[ScoreTable],
    curves: Sequence[Curve],
    *,
    metric: str = "xauc",
    reference: int = 0,
    tradeoff: float | None = None,
    max_gap: float | None = None,
) -> Multipliers:
    """Find one multiplier of the odds for each of K groups.

    Group g stands at ``curves[g].log_odds(score) + shift[g]``. Either ``AUC - tradeoff * largest gap`` is made
    high, or the AUC with no gap above ``max_gap``.

    Guarantee: gaps and AUC are exact counts. With two groups of up to 224 distinct scores each, no shift is better;
    otherwise gaps end within about a tenth of their standard error of where they should. Time of looking K groups up
    in each other a few times. What any ordering could do is bounded by :func:`best_auc`.

    Parameters
    ----------
    tables : sequence of ScoreTable
        Table of each group, with both classes.
    curves : sequence of OddsScale
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
        Shifts, and what they come to.
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
    for array in (found.shift, gaps):
        array.flags.writeable = False
    return Multipliers(shift=found.shift, auc=float(found.auc), gaps=gaps, worst=found.worst)


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
    levels = _LEVELS_OF_TWO if size == 2 else int(np.sqrt(_NUMBERS / ((size - 1) * pairs)))
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
        from scipy.optimize import linprog  # Imported here, as it is slow to load.

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
