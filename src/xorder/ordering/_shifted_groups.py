"""K groups on one axis: who stands above whom for any shift of each group, counted exactly or read off tables."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from xorder._metric import METRICS
from xorder._table import FloatArray, IntArray, ScoreTable, in_threads

# Bins of the axis, if that many fit into the size of all tables together.
_BINS = 4096

# Numbers in all tables together, at most.
_NUMBERS = 8_000_000

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
        within = np.array([table.concordant.sum() for table in tables])
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
        while bins > 128 and bins * size**2 * 4 > _NUMBERS:
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


class _AsScored:
    """The curve that leaves scores where they are."""

    def log_odds(self, score: FloatArray) -> FloatArray:
        return score


def many_as_scored(tables: Sequence[ScoreTable], metric: str) -> tuple[float, FloatArray]:
    """AUC and signed gaps of any number of groups as their scores stand.

    Parameters
    ----------
    tables : sequence of ScoreTable
        Table of each group, with both classes.
    metric : {"xauc", "prf", "parity"}
        Gap to be measured.

    Returns
    -------
    auc : float
        AUC of all groups together.
    gaps : ndarray of shape (n_groups, n_groups)
        Gap of each pair, row minus column.
    """
    groups = ShiftedGroups(tables, [_AsScored()] * len(tables), metric)
    auc, gaps = groups.measure(np.zeros(len(tables)))
    return float(auc), groups.gap_matrix(gaps)


def outranked(a: Group, b: Group, shift: float) -> FloatArray:
    """Mass of pairs with the row of a above, a being shifted: by class, as 2 x 2."""
    position = a.position + shift
    first = np.searchsorted(b.position, position)
    tied = np.flatnonzero(b.position[np.minimum(first, b.position.size - 1)] == position)
    below = [mass[first] for mass in (b.positive_below, b.negative_below)]
    for lower, mass in zip(below, (b.positive, b.negative), strict=True):
        lower[tied] += 0.5 * mass[first[tied]]
    return np.array([[float(own @ other) for other in below] for own in (a.positive, a.negative)])
