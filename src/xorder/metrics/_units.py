"""What varies where that is not the single row: people with several rows each, and rows with several scores."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from xorder._table import FloatArray, HeldRows, ScoreTable, falling, in_threads
from xorder._validation import check_clusters
from xorder.exceptions import InputError
from xorder.metrics._placements import Bounds, Keep, Placements, Window, placements_of, products, stretches, windows

if TYPE_CHECKING:
    from xorder._metric import Term

# Numbers kept for the sums of units, at most.
_MOST_NUMBERS = 50_000_000

# Variances below this share of what they are made of are rounding.
_ROUNDING = 1e-14

# Products of numbers to be added up, at most: some minutes of work.
_MOST_WORK = 1e13


class Rows(NamedTuple):
    """Rows in memory: the number of each row's group, whether it is positive, its weight, its scores, and its unit.

    Without weights each counts 1. Where there are no units, each row varies by itself. ``counted`` if an entry stands
    for as many rows as its weight squared, which vary each by itself.
    """

    group: NDArray[np.int64]
    positive: NDArray[np.bool_]
    weight: FloatArray | None
    scores: tuple[FloatArray, ...]
    unit: NDArray[np.int64]
    counted: bool = False

    @classmethod
    def of(cls, held: HeldRows, groups: Sequence[Hashable]) -> Rows:
        """Take the rows of some groups, numbered in that order."""
        places = {label: place for place, label in enumerate(groups)}
        numbers = np.array([places.get(label, -1) for label in held.labels], dtype=np.int64)
        group, positive, weight, scores, unit = held.group, held.positive, held.weight, held.scores, held.clusters
        if not np.array_equal(numbers, np.arange(numbers.size)):
            group = numbers[group]
            kept = np.flatnonzero(group >= 0)
            group, positive, scores = group[kept], positive[kept], tuple(score[kept] for score in scores)
            weight, unit = (None if column is None else column[kept] for column in (weight, unit))
        if unit is None:
            unit = np.empty(0, dtype=np.int64)
        elif unit.dtype != np.int64:
            # Of arrays they are numbers already.
            unit = check_clusters(unit, group.size)
        return cls(group, positive, weight, scores, unit)


class _Sample(NamedTuple):
    """One class of one group, from its highest score down: the cells of its rows, their scores' numbers in the group's
    table, and weights.
    """

    cell: NDArray[np.int32]
    entry: NDArray[np.int32]
    weight: FloatArray | None

    def part(self, first: int, last: int) -> _Sample:
        """The rows of some cells, numbered from the first of them."""
        own = np.flatnonzero((self.cell >= first) & (self.cell < last))
        weight = None if self.weight is None else self.weight[own]
        return _Sample(self.cell[own] - np.int32(first), self.entry[own], weight)

    def above(self, entries: Sequence[int]) -> list[int]:
        """Count the rows above some numbers of the table."""
        # Of the same type, or all would be turned into another.
        return np.searchsorted(self.entry, np.array(entries, dtype=np.int32)).tolist()  # type: ignore[no-any-return]

    def write(
        self, into: FloatArray, window: Window, g: int, found: tuple[NDArray[np.intp], FloatArray] | None = None
    ) -> None:
        """Write the shares above the rows in a window, times their weights; those of some scores may be ``found``."""
        part = window.parts[g]
        here = slice(*self.above([part.start, part.stop]))
        index = (self.entry[here] - np.int32(part.start)).astype(np.intp)
        if found is None or not np.array_equal(index, found[0]):
            found = index, window.shares(g, index)
        into[here] = found[1].T if self.weight is None else (found[1] * self.weight[here]).T


class Units:
    """How placements vary between units: people with several rows each, or rows that have more than one score.

    The rows of a unit that are in one sample, a class of a group, are a cell. Of each cell the shares of all classes
    above its rows are added up, for each score by itself. The products of these sums, added up over all units, are
    enough for the variance of any estimate (Obuchowski 1997 for one AUC), and for that of a difference of estimates
    from two scores. Samples are numbered by group, positives first.
    """

    def __init__(self, tables: Sequence[Sequence[ScoreTable]], rows: Rows) -> None:
        self.size, self._tables = len(tables[0]), tables
        code = 2 * rows.group.astype(np.int16) + ~rows.positive
        by_sample = [np.flatnonzero(code == sample) for sample in range(2 * self.size)]
        # The cells of a sample follow each other. Where each row is a unit, so is each cell, and those of a sample have
        # the order of the first score.
        cell = np.empty(code.size, dtype=np.int32)
        self._unit: list[NDArray[np.intp]] | None = None
        self.count = code.size
        if rows.unit.size:
            self._unit, is_there = [], np.zeros(int(rows.unit.max()) + 1, dtype=bool)
            for own in by_sample:
                unit = rows.unit[own]
                is_there[:] = False
                is_there[unit] = True
                cell[own] = (np.cumsum(is_there, dtype=np.int32) - 1)[unit]
                self._unit.append(np.flatnonzero(is_there))
            is_there[rows.unit] = True
            self.count, self._last = int(np.count_nonzero(is_there)), is_there.size

        def ranked(score: FloatArray, is_first: bool, table: ScoreTable, sample: int) -> _Sample:
            own = by_sample[sample]
            order, turned = falling(score[own])
            own = own[order]
            if is_first and self._unit is None:
                cell[own] = np.arange(own.size)
            entry = _entries(turned, table, table.sums[sample % 2])
            return _Sample(cell[own], entry, None if rows.weight is None else rows.weight[own])

        every = range(2 * self.size)
        self.ranked = [
            in_threads(
                code.size, ranked, *zip(*((score, not number, each[one // 2], one) for one in every), strict=True)
            )
            for number, (score, each) in enumerate(zip(rows.scores, tables, strict=True))
        ]
        self._mass = [
            (np.ones(sample.cell.size) if sample.weight is None else sample.weight)
            if self._unit is None
            else np.bincount(sample.cell, sample.weight, minlength=self._unit[one].size)
            for one, sample in enumerate(self.ranked[0])
        ]
        self._first = np.cumsum([0, *(mass.size for mass in self._mass)])
        self._count_units(rows.counted)
        self._products: dict[tuple[int, int], FloatArray] = {}
        self._kept: dict[int, list[FloatArray]] = {}

    def _count_units(self, counted: bool) -> None:
        """Count the units with rows in each sample, and in those of each kind: positives, negatives, all."""
        kinds = [range(0, 2 * self.size, 2), range(1, 2 * self.size, 2), range(2 * self.size)]
        unions = [[sample] for kind in kinds[:2] for sample in kind]
        unions += [[2 * g, 2 * g + 1] for g in range(self.size)]
        found = []
        for samples in (*unions, *kinds):
            masses = [self._mass[sample] for sample in samples]
            if self._unit is None:
                found.append(sum(float(mass @ mass) if counted else np.count_nonzero(mass) for mass in masses))
                continue
            is_there = np.zeros(self._last, dtype=bool)
            for sample, mass in zip(samples, masses, strict=True):
                is_there[self._unit[sample][mass > 0]] = True
            found.append(np.count_nonzero(is_there))
        self.held, self.held_by_kind = np.array(found[:-3], dtype=np.float64), np.array(found[-3:], dtype=np.float64)

    def keeping(self, number: int) -> Keep | None:
        """Return what keeps the shares that a sweep of a score finds, so that one is enough; None without room."""
        if self._parts > 1:
            return None
        samples = self.ranked[number]
        found = self._kept[number] = [np.zeros((rows.entry.size, 2 * self.size)) for rows in samples]

        def keep(sample: int, window: Window, held: NDArray[np.intp], shares: FloatArray) -> None:
            samples[sample].write(found[sample], window, sample // 2, (held, shares))

        return keep

    @property
    def _numbers(self) -> int:
        """Sums of a cell."""
        return 2 * self.size * len(self.ranked) + 1

    @property
    def _parts(self) -> int:
        """In how many parts there is room for the sums of all cells."""
        return -(-int(self._first[-1]) * self._numbers // _MOST_NUMBERS)

    def _add_up(self) -> None:
        """Add up the products of the sums of units, as many units at a time as there is room for."""
        cells, parts = int(self._first[-1]), self._parts
        if cells * float(self._numbers) ** 2 > _MOST_WORK:
            raise InputError(
                f"{self.size} groups with {self.count:,} clusters, or rows to compare, are too many to allow for; "
                "name fewer groups."
            )
        whole = cells if self._unit is None else self._last
        for part in range(parts):
            bounds = np.array([part * whole // parts, (part + 1) * whole // parts])
            if self._unit is None:
                sizes = zip(self._first, self._mass, strict=False)
                ends = [np.clip(bounds - first, 0, mass.size) for first, mass in sizes]
            else:
                ends = [np.searchsorted(units, bounds) for units in self._unit]
            self._add_part([slice(*pair.tolist()) for pair in ends])

    def _add_part(self, parts: Sequence[slice]) -> None:
        """Add up the products of the cells in a part of each sample."""
        wide, numbers = 2 * self.size, self._numbers
        sums = [np.empty((part.stop - part.start, numbers)) for part in parts]
        for number, (samples, tables) in enumerate(zip(self.ranked, self._tables, strict=True)):
            here = [
                sample if mass.size == part.stop - part.start else sample.part(part.start, part.stop)
                for sample, mass, part in zip(samples, self._mass, parts, strict=True)
            ]
            found = self._kept.pop(number, None) or _shares(here, tables)
            for into, rows in zip(sums, here, strict=True):
                shares, of_score = found.pop(0), into[:, wide * number : wide * (number + 1)]
                if self._unit is not None:
                    for column, of_rows in zip(of_score.T, shares.T, strict=True):
                        column[:] = np.bincount(rows.cell, of_rows, minlength=column.size)
                elif number:
                    place = np.empty(rows.cell.size, dtype=np.intp)
                    place[rows.cell] = np.arange(place.size)
                    of_score[:] = shares.take(place, axis=0)
                else:
                    of_score[:] = shares
        for into, mass, part in zip(sums, self._mass, parts, strict=True):
            into[:, -1] = mass[part]
            # Of other scores only what differs, which may be little.
            for first in range(wide, numbers - 1, wide):
                into[:, first : first + wide] -= into[:, :wide]
        for one, other, of_one, of_other in self._together(parts):
            left = sums[one] if of_one is None else sums[one][of_one]
            right = sums[other] if of_other is None else sums[other][of_other]
            self._products[one, other] = self._products.get((one, other), 0.0) + products(left.T, right.T)

    def _together(
        self, parts: Sequence[slice]
    ) -> Iterator[tuple[int, int, NDArray[np.intp] | None, NDArray[np.intp] | None]]:
        """Yield pairs of samples, and which of their cells belong to the same units; None for all."""
        for sample in range(2 * self.size):
            yield sample, sample, None, None
        if self._unit is None:
            return
        place = np.full(self._last, -1, dtype=np.intp)
        units = [each[part] for each, part in zip(self._unit, parts, strict=True)]
        for one, own in enumerate(units):
            place[own] = np.arange(own.size)
            for other in range(one + 1, 2 * self.size):
                there = place[units[other]]
                both = np.flatnonzero(there >= 0)
                if both.size:
                    yield one, other, there[both], both
            place[own] = -1

    def stderr(self, sums: FloatArray) -> float:
        """Standard error of a number to which each unit adds something of its own, of mean 0."""
        if self.count < 2:
            return np.nan
        return float(np.sqrt(sums @ sums * self.count / (self.count - 1)))

    def at_cut(
        self,
        number: int,
        threshold: float,
        part: float,
        moved: tuple[float, float],
        own: Mapping[tuple[int, bool], tuple[float, float]],
    ) -> FloatArray:
        """Return what each unit adds to a number that counts rows above a threshold, of those at it a part.

        A row adds its weight times a factor times (whether it is above, less a rate): ``moved`` for all rows, and
        besides those of its own sample, a group and whether it is positive.
        """
        added = np.empty(int(self._first[-1]))
        for sample, rows in enumerate(self.ranked[number]):
            both = (moved, own.get((sample // 2, sample % 2 == 0), (0.0, 0.0)))
            factor, below = sum(each[0] for each in both), -sum(each[0] * each[1] for each in both)
            of_sample = added[self._first[sample] : self._first[sample + 1]]
            np.multiply(self._mass[sample], below, out=of_sample)
            if not factor:
                continue
            rising = self._tables[number][sample // 2].score[::-1]
            at = [rising.size - int(np.searchsorted(rising, threshold, side)) for side in ("right", "left")]
            above, past = rows.above(at)
            weight = np.ones(past) if rows.weight is None else rows.weight[:past].copy()
            weight[above:] *= part
            np.add.at(of_sample, rows.cell[:past], factor * weight)
        if self._unit is None:
            return added
        by_unit = np.bincount(np.concatenate(self._unit), added, minlength=self._last)
        return np.asarray(by_unit, dtype=np.float64)

    def count_of(self, sample: Placements) -> float:
        """How many units have rows in a sample."""
        if len(sample.samples) == 1:
            return float(self.held[sample.samples[0]])
        return float(self.held_by_kind[sample.samples[0] // self.size])

    def variance(self, parts: Sequence[tuple[int, float, Sequence[Term]]]) -> tuple[float, float]:
        """Variance of a sum of estimates, and its degrees of freedom.

        A part is the number of a score, a factor, and the terms of the estimate: a sample, the weights given to its
        placements, and the mean of the weighted placements.
        """
        wide = 2 * self.size
        wanted = np.zeros((wide, wide * len(self.ranked) + 1))
        least = np.inf
        for number, factor, terms in parts:
            kinds = placements_of(*(np.array([getattr(t, n) for t in self._tables[number]]) for n in ("n1", "n0")))
            for sample, weights, center in terms:
                units = self.count_of(sample)
                least = min(least, units)
                # Of as many units one is spent on the mean.
                scale = factor / sample.mass * np.sqrt(units / max(units - 1, 1e-9))
                known = np.nan_to_num(weights)
                for one in sample.samples:
                    kind, g = divmod(one, self.size)
                    rows = [2 * g, 2 * g + 1] if kind == 2 else [2 * g + kind]
                    of_shares = scale * known @ np.nan_to_num(kinds[kind])
                    # Other scores are held as what differs from the first.
                    for first in {0, wide * number}:
                        wanted[rows, first : first + wide] += of_shares
                    wanted[rows, -1] -= scale * (center - 0.5 * known.sum())
        if not least > 1:
            return np.nan, np.nan
        if not self._products:
            self._add_up()
        total = most = 0.0
        for (one, other), found in self._products.items():
            times = 1.0 if one == other else 2.0
            total += times * float(wanted[one] @ found @ wanted[other])
            most += times * float(np.abs(wanted[one]) @ np.abs(found) @ np.abs(wanted[other]))
        return (total if total > _ROUNDING * most else 0.0), least - 1


def _entries(turned: FloatArray, table: ScoreTable, mass: FloatArray) -> NDArray[np.int32]:
    """Find scores of one class, turned round and rising, in the table of their group, which has this mass of it."""
    keys = -table.score
    starts = np.flatnonzero(np.append(True, turned[1:] != turned[:-1])[: turned.size])
    place, distinct = np.flatnonzero(mass > 0), turned[starts]
    if not np.array_equal(keys[place], distinct):
        place = np.minimum(np.searchsorted(keys, distinct), max(keys.size - 1, 0))
    return np.repeat(place.astype(np.int32), np.diff(np.append(starts, turned.size)))


def _shares(samples: Sequence[_Sample], tables: Sequence[ScoreTable]) -> list[FloatArray]:
    """Return the shares of all classes above the rows of each sample, times their weights: a line for each row."""
    found = [np.empty((sample.entry.size, 2 * len(tables))) for sample in samples]

    def of_stretch(stretch: Bounds) -> None:
        for window in windows(tables, stretch):
            for number, (rows, into) in enumerate(zip(samples, found, strict=True)):
                rows.write(into, window, number // 2)

    in_threads(sum(sample.entry.size for sample in samples), of_stretch, stretches(tables))
    return found
