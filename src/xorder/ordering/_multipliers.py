"""One multiplier per group: K groups' odds, each times a factor, so that no group is ranked too low."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple, Protocol

import numpy as np

from xorder._metric import METRICS, check_metric
from xorder._table import FloatArray, ScoreTable, check_both_classes, find, pairs_within
from xorder.exceptions import InputError
from xorder.ordering._ordering import ROUNDING, Goal, chances, class_pairs, remaining

# Bins of the axis, if that many fit into the size of all tables together.
_BINS = 4096

# Numbers in all tables together, at most.
_TABLE_NUMBERS = 8_000_000

# Share of each class beyond the binned range, on either side; such rows count as standing at its ends.
_TAIL = 5e-4


class Curve(Protocol):
    """Anything that puts scores on the axis of log odds without changing their order."""

    def log_odds(self, score: FloatArray) -> FloatArray: ...


class ShiftedGroups:
    """K groups on the axis of log odds, each shifted by any amount: their AUC and gaps, counted exactly."""

    def __init__(self, tables: Sequence[ScoreTable], curves: Sequence[Curve], metric: str) -> None:
        # Scores of one position become one.
        self.tables = [table.at(curve.log_odds(table.score)) for table, curve in zip(tables, curves, strict=True)]
        self.metric = METRICS[metric]
        self.n1, self.n0 = (np.array([getattr(table, name) for table in tables]) for name in ("n1", "n0"))
        self.share1, self.share0 = self.n1 / self.n1.sum(), self.n0 / self.n0.sum()
        self.within = [pairs_within(table) / (table.n1 * table.n0) for table in tables]
        self.pairs = np.triu_indices(len(tables), 1)

    def __len__(self) -> int:
        return len(self.tables)

    def summary(self, auc: FloatArray, chance: FloatArray) -> tuple[FloatArray, FloatArray]:
        """AUC of all groups together, and the signed gap of each of the ``pairs``; both are linear in the chances.

        ``auc[g, h]`` is the chance that a positive of g outranks a negative of h, and ``chance[g, h]`` the same again
        or, for a metric that does not look at labels, that any row of g outranks any of h. Stacks of matrices give
        stacks.
        """
        overall = np.asarray(np.einsum("...gh,g,h->...", auc, self.share1, self.share0))
        return overall, self.metric.gaps(chance, self.share0)[..., *self.pairs]

    def measure(self, shift: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Count AUC and gaps at some shifts, ties one half; time of looking all groups up in each other."""
        return self.summary(*self._chances(shift))

    def _chances(self, shift: FloatArray) -> tuple[FloatArray, FloatArray]:
        moved = zip(self.tables, shift.tolist(), strict=True)
        counts = [_pairs_above(a, b, up - down) for (a, up), (b, down) in combinations(moved, 2)]
        auc, above = chances(self.n1, self.n0, counts)
        np.fill_diagonal(auc, self.within)
        return auc, auc if self.metric.by_label else above

    def thinned(self, levels: int) -> ShiftedGroups:
        """Return the same groups with their lists thinned; what is counted within a group stays."""
        thinner = copy(self)
        thinner.tables = [_thinned(table, levels) for table in self.tables]
        return thinner

    def along(self, shift: FloatArray, g: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Count for every position of one group, the others standing at their shifts.

        Return the shifts at which two positions flip, rising; and AUC and gaps before the first, between any two and
        after the last. Guarantee: exact. Time of sorting all pairs of positions of which one is g's.
        """
        own, at, auc_steps, gap_steps = self.tables[g], [], [], []
        units = np.eye(len(self) ** 2).reshape(len(self), len(self), len(self), len(self))
        for h, other in enumerate(self.tables):
            if h == g:
                continue
            at.append(np.subtract.outer(other.score + shift[h], own.score).ravel())
            # What a flip adds to the chances that g outranks h, and takes from those that h outranks g.
            up = np.outer(other.negative, own.positive).ravel() / (own.n1 * other.n0)
            down = np.outer(other.positive, own.negative).ravel() / (own.n0 * other.n1)
            both = up, down
            if not self.metric.by_label:
                both = (np.outer(other.mass, own.mass).ravel() / (own.mass.sum() * other.mass.sum()),) * 2
            (auc_won, gap_won), (auc_lost, gap_lost) = (self.summary(unit, unit) for unit in (units[g, h], units[h, g]))
            auc_steps.append(up * auc_won - down * auc_lost)
            gap_steps.append(np.outer(gap_won, both[0]) - np.outer(gap_lost, both[1]))
        flips = np.concatenate(at)
        order = np.argsort(flips)
        # From below all others.
        bottom = shift.copy()
        bottom[g] = flips[order[0]] - 1.0
        auc, gaps = self.summary(*self._chances(bottom))
        aucs = np.append(auc, np.concatenate(auc_steps)[order])
        steps = np.concatenate([gaps[:, None], np.concatenate(gap_steps, axis=1)[:, order]], axis=1)
        return flips[order], np.cumsum(aucs), np.cumsum(steps, axis=1)


def _thinned(table: ScoreTable, levels: int) -> ScoreTable:
    """Merge neighbours at their mean, to about so many levels of equal mass; a shorter list stays as it is."""
    if len(table) <= levels:
        return table
    below = np.cumsum(table.mass[::-1])
    level = np.floor(below * (levels / below[-1]))
    starts = np.flatnonzero(np.append(True, level[1:] > level[:-1]))
    columns = table.positive, table.negative, table.mass * table.score
    positive, negative, moment = (np.add.reduceat(column[::-1], starts) for column in columns)
    return ScoreTable.from_masses(moment / (positive + negative), positive, negative)


def _pairs_above(a: ScoreTable, b: ScoreTable, shift: float) -> FloatArray:
    """Mass of the pairs with the row of a above, a being shifted: by class, as 2 x 2."""
    place, tied = find(a.score + shift, b.score)
    masses = b.positive, b.negative
    return class_pairs(a, [remaining(mass)[place] - 0.5 * tied * np.append(mass, 0.0)[place] for mass in masses])


class ChanceTables:
    """Chances that one group outranks another as smooth functions of how far apart the two are shifted.

    In bins of equal width such a chance is a cross-correlation of two histograms, so one Fourier transform per group
    gives it for every difference at once; after that a trial of shifts costs a look into a table.
    """

    def __init__(self, groups: ShiftedGroups) -> None:
        size, bins = len(groups), _BINS
        while bins > 128 and bins * size**2 * 4 > _TABLE_NUMBERS:
            bins //= 2
        ends = [_central(table.score, mass) for table in groups.tables for mass in (table.positive, table.negative)]
        low, high = float(np.min(ends)), float(np.max(ends))
        self.groups = groups
        self.step = max(high - low, 1e-6) / (bins - 1)
        self.span = bins * self.step
        transforms = np.stack([_transforms(table, low, self.step, bins) for table in groups.tables])
        spread = np.array([1 / np.sqrt(len(table)) for table in groups.tables])
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
        signs = own[:, :, None] - own[:, None, :]
        return self.groups.summary(*(self._read(tables, shift)[1] * signs for tables in (self.auc, self.chance)))

    def _read(self, tables: FloatArray, shift: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Value and slope of each table at the difference of the two shifts."""
        apart = np.clip((shift[:, None] - shift[None, :] + self.span) / self.step, 0, tables.shape[2] - 1.000001)
        index = apart.astype(np.int64)
        rows, columns = np.indices(index.shape)
        value, after = tables[rows, columns, index], tables[rows, columns, index + 1]
        return value + (apart - index) * (after - value), (after - value) / self.step


def _central(score: FloatArray, mass: FloatArray) -> FloatArray:
    """Return the two scores beyond which a tail of a class lies on either side."""
    above = np.cumsum(mass)
    index = np.searchsorted(above, [_TAIL * above[-1], (1 - _TAIL) * above[-1]])
    return np.asarray(score[np.minimum(index, score.size - 1)])


def _transforms(table: ScoreTable, low: float, step: float, bins: int) -> FloatArray:
    """Fourier transforms of the histograms of positives, negatives and both, each of total 1."""
    index = np.clip(np.rint((table.score - low) / step), 0, bins - 1).astype(np.int64)
    masses = (table.positive, table.negative, table.mass)
    histograms = np.stack([np.bincount(index, mass / mass.sum(), minlength=bins) for mass in masses])
    return np.asarray(np.fft.rfft(histograms, 4 * bins, axis=1))


def _tables(transforms: FloatArray, deviation: FloatArray, above: int, below: int) -> FloatArray:
    """Chance, at differences from -bins to bins steps, that class ``above`` of g outranks class ``below`` of h."""
    length = 2 * (transforms.shape[2] - 1)
    middle, bins = length // 2, length // 4
    angle = 2 * np.pi * np.arange(middle + 1) / length
    tables = []
    for own, spread in zip(transforms, np.minimum(deviation, bins / 4), strict=True):
        # Mass of pairs by how many bins h's row lies above g's; smoothed by a bell of that deviation.
        product = transforms[:, below] * np.conj(own[above]) * np.exp(-0.5 * np.outer(spread, angle) ** 2)
        lead = np.roll(np.fft.irfft(product, length), middle, axis=1)
        tables.append((np.cumsum(lead, axis=1) - 0.5 * lead)[:, middle - bins : middle + bins + 1])
    return np.stack(tables)


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
    gaps = np.zeros((len(tables), len(tables)))
    gaps[groups.pairs] = found.gaps
    gaps -= gaps.T
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
    size, longest = len(groups), max(map(len, groups.tables))
    if size == 2:
        unshifted, margin = np.zeros(size), 0.0 if longest <= _LEVELS_OF_TWO else _CLOSE
        path = _Path(groups.thinned(_LEVELS_OF_TWO), unshifted, 1 - reference)
        counts = [_count(groups, unshifted), *_corrected(groups, goal, path, margin)]
    else:
        is_short = longest <= np.sqrt(_NUMBERS / ((size - 1) * len(groups.pairs[0])))
        counts = _corrected(groups, goal, _Descent(groups, reference), 0.0 if is_short else _CLOSE)
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
        if np.abs(found.gaps - read_gaps - off_gaps).max() <= _CLOSE:
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
        from scipy.optimize import linprog  # Imported here, as it is slow to load.

        def measure(shift: FloatArray) -> tuple[FloatArray, float]:
            auc, gaps = self.measure(shift)
            gaps = gaps + off_gaps
            return gaps, float(auc + off_auc - price * max(np.abs(gaps).max() - allowed, 0.0))

        limit = np.ones((shift.size, 1))
        limit[self.reference] = 0.0
        gaps, value = measure(shift)
        for _ in range(_STEPS):
            auc_slope, gap_slope = self.tables.slopes(shift)
            # Pairs that cannot become the worst, or too far apart, within the box are left out.
            reach = radius * np.abs(gap_slope).sum(axis=0)
            kept = np.abs(gaps) + reach >= max(float((np.abs(gaps) - reach).max()), allowed)
            gap, slope = gaps[kept], gap_slope[:, kept].T
            # Unknowns: the step, and the excess of the worst gap after it.
            found = linprog(
                np.append(-auc_slope, min(price, _HIGHEST_PRICE)),
                A_ub=np.hstack([np.vstack([slope, -slope]), np.full((2 * gap.size, 1), -1.0)]),
                b_ub=allowed - np.concatenate([gap, -gap]),
                bounds=[*(radius * limit * [-1.0, 1.0]), (0.0, None)],
            )
            if not found.success:
                break
            step, excess = found.x[:-1], max(float(np.abs(gaps).max()) - allowed, 0.0)
            promise = float(auc_slope @ step) - price * (found.x[-1] - excess)
            if promise <= _PROMISE:
                break
            next_gaps, next_value = measure(shift + step)
            radius *= 1.5 if next_value - value > 0.1 * promise else 1 / 3
            if next_value > value:
                shift, gaps, value = shift + step, next_gaps, next_value
        return shift
