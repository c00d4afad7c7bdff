"""What varies where that is not the single row: people with several rows each, and rows with several scores."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from xorder._table import STEP, FloatArray, HeldRows, ScoreTable, Tables, falling_scores, in_threads
from xorder._validation import check_clusters
from xorder.exceptions import InputError
from xorder.metrics._placements import HALVES, Moments, Placements, moments, rows_alone

if TYPE_CHECKING:
    from xorder._metric import Term

# Sums of clusters that are worked on at a time, at most: those of one number stay in the processor's cache.
_MOST_NUMBERS = 4_000_000

# Products of numbers to be added up, at most: some minutes of work.
_MOST_WORK = 1e13


class Rows(NamedTuple):
    """Rows in memory: the number of each row's group, whether it is positive, its weight, its scores, and its cluster.

    Without weights each counts 1, and without clusters each varies by itself. ``counted`` if an entry stands for as
    many rows as its weight squared, which vary each by itself.
    """

    group: NDArray[np.int64]
    positive: NDArray[np.bool_]
    weight: FloatArray | None
    scores: tuple[FloatArray, ...]
    unit: NDArray[np.int64] | None
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
        if unit is not None and unit.dtype != np.int64:
            # Of arrays they are numbers already.
            unit = check_clusters(unit, group.size)
        return cls(group, positive, weight, scores, unit)

    @property
    def units(self) -> NDArray[np.int64]:
        """The number of what each row belongs to: its cluster, or itself."""
        return np.arange(self.group.size) if self.unit is None else self.unit


class _Sample(NamedTuple):
    """One class of one group: where its rows are among all, and where what they add is among the numbers."""

    group: int
    positive: bool
    rows: slice
    numbers: NDArray[np.intp]


class Units:
    """How placements vary between units: clusters of rows, such as those of a person, or rows that have several scores.

    Of each unit the placements of its rows are added up, sample by sample, for each score by itself. The products of
    these sums, added up over all units, are enough for the variance of any estimate (Obuchowski 1997 for one AUC), and
    for that of a difference of estimates from two scores. Of a score after the first, placements are kept less those
    of the first, so that a small difference is not lost in the rounding of both.

    Rows are kept sample by sample, each from the highest of its first scores down: neighbours are looked up many times
    as fast. ``moments`` are those of each score.
    """

    def __init__(self, tables: Sequence[Sequence[ScoreTable]], rows: Rows) -> None:
        self.size, self._tables = len(tables[0]), tables
        self._shape = (len(tables), 3 * self.size, self.size + 1)
        order, self._places, self._samples = _ranked(tables, rows, self._shape)
        self._weight = None if rows.weight is None else rows.weight[order]
        self._unit = None if rows.unit is None else rows.unit.astype(np.int32)[order]
        self._last = order.size if self._unit is None else int(self._unit.max(initial=-1)) + 1
        self.count = order.size if self._unit is None else int(np.count_nonzero(np.bincount(self._unit)))
        del order
        # Rows that are counted are told in half the bytes.
        dtype = np.int32 if rows.weight is None and HALVES * rows.group.size < 2**31 else np.float64
        self._higher = [[np.empty((len(table), 2 * self.size), dtype) for table in each] for each in tables]
        self.moments = list(map(moments, tables, self._higher))
        # Units with rows in each sample, and in those of each kind.
        self.held, self.held_by_kind = np.zeros(3 * self.size), np.zeros(3)
        # Numbers, with the products of what units add to them, or with what each unit adds.
        self._products: list[tuple[NDArray[np.intp], FloatArray]] = []
        self._sums: FloatArray | None = None
        if self._unit is None:
            self._add_rows(rows.counted)
        else:
            self._add_clusters(self._unit)
        del self._higher

    def _add_rows(self, counted: bool) -> None:
        """Add up the products of what rows add, each a unit by itself."""

        def products_of(sample: _Sample) -> FloatArray:
            parts = (slice(start, start + STEP) for start in range(0, sample.rows.stop - sample.rows.start, STEP))
            return np.asarray(sum(_products(self._values(sample, part)) for part in parts))

        for sample, products in zip(self._samples, in_threads(self._last, products_of, self._samples), strict=True):
            self._products.append((sample.numbers, products))
            units = products[-1, -1] if counted else sample.rows.stop - sample.rows.start
            for kind in (0 if sample.positive else 1, 2):
                self.held[kind * self.size + sample.group] += units
        self.held_by_kind = self.held.reshape(3, -1).sum(axis=1)

    def _add_clusters(self, unit: NDArray[np.int32]) -> None:
        """Add up what the rows of each cluster add, some clusters at a time, and the products of these sums."""
        size, numbers = self.size, int(np.prod(self._shape))
        if self.count * float(numbers) ** 2 > _MOST_WORK:
            raise InputError(
                f"{size} groups with {self.count:,} clusters are too many to allow for; name fewer groups."
            )
        step = max(_MOST_NUMBERS // numbers, 1)
        is_kept = self._last <= min(step, numbers)
        products = np.zeros(() if is_kept else (numbers, numbers))
        for first in range(0, self._last, step):
            last = min(first + step, self._last)
            sums = np.zeros((numbers, last - first))

            def add_group(group: int, first: int = first, last: int = last, sums: FloatArray = sums) -> None:
                # Samples of one group add to the same numbers; those of two groups never do.
                for sample in (each for each in self._samples if each.group == group):
                    units = unit[sample.rows]
                    own = np.flatnonzero((units >= first) & (units < last))
                    # As many rows at a time as there are sums, or these would be what takes long.
                    for start in range(0, own.size, max(STEP, last - first)):
                        some = own[start : start + max(STEP, last - first)]
                        place = units[some] - first
                        for number, value in zip(sample.numbers, self._values(sample, some), strict=True):
                            sums[number] += np.bincount(place, value, minlength=last - first)

            in_threads(unit.size, add_group, range(size))
            by_class = sums.reshape(*self._shape, -1)[0, : 2 * size, -1].reshape(2, size, -1) > 0
            is_held = np.concatenate([by_class, by_class[:1] | by_class[1:]])
            self.held += is_held.sum(axis=2).ravel()
            self.held_by_kind += is_held.any(axis=1).sum(axis=1)
            if is_kept:
                self._sums = sums
            else:
                products += _products(sums)
        self._products = [] if is_kept else [(np.arange(numbers), products)]

    def _values(self, sample: _Sample, some: slice | NDArray[np.intp]) -> FloatArray:
        """Return what some rows of a sample add to each of its numbers."""
        size = self.size
        n1, n0 = (np.array([[getattr(table, name)] for table in self._tables[0]]) for name in ("n1", "n0"))
        # Placements less one half: of positives in negatives, or of negatives in positives; then of all in all.
        among, total, sign = (slice(size, None), n0, -1.0) if sample.positive else (slice(size), n1, 1.0)
        # In a class that is not there nothing is placed.
        factor = np.divide(sign, total, out=np.zeros_like(total), where=total > 0)
        halves = HALVES if self._higher[0][0].dtype == np.int32 else 1.0
        places = [each[sample.rows][some] for each in self._places]
        values = np.empty((sample.numbers.size, places[0].size))
        # Few enough at a time to stay in the processor's cache.
        for start in range(0, places[0].size, STEP):
            part = slice(start, start + STEP)
            for number, (higher, place) in enumerate(zip(self._higher, places, strict=True)):
                above = higher[sample.group].take(place[part], axis=0).T
                found = values[2 * size * number :, part][: 2 * size]
                np.subtract(above[among] * (factor / halves), 0.5 * sign * (total > 0), out=found[:size])
                np.subtract(0.5, (above[:size] + above[size:]) / (halves * (n1 + n0)), out=found[size:])
                if number:
                    found -= values[: 2 * size, part]
        values[-1] = 1.0
        if self._weight is not None:
            values *= self._weight[sample.rows][some]
        return values

    def stderr(self, sums: FloatArray) -> float:
        """Standard error of a number to which each unit adds something of its own, of mean 0."""
        if self.count < 2:
            return np.nan
        return float(np.sqrt(np.sum(sums**2) * self.count / (self.count - 1)))

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
        sums = np.zeros(self._last)
        for sample in self._samples:
            both = (moved, own.get((sample.group, sample.positive), (0.0, 0.0)))
            factor, below = sum(each[0] for each in both), -sum(each[0] * each[1] for each in both)
            rising = self._tables[number][sample.group].score[::-1]
            above, past = (rising.size - np.searchsorted(rising, threshold, side=side) for side in ("right", "left"))
            step = STEP if self._unit is None else max(STEP, self._last)
            for start in range(sample.rows.start, sample.rows.stop, step):
                some = slice(start, min(start + step, sample.rows.stop))
                place = self._places[number][some]
                side = np.add(place < above, place < past, dtype=np.int8)
                added = np.take([below, below + factor * part, below + factor], side)
                if self._weight is not None:
                    added *= self._weight[some]
                if self._unit is None:
                    sums[some] = added
                else:
                    sums += np.bincount(self._unit[some], added, minlength=self._last)
        return sums

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
        wanted = np.zeros(self._shape)
        least = np.inf
        for number, factor, terms in parts:
            for sample, weights, center in terms:
                units = self.count_of(sample)
                least = min(least, units)
                # Of as many units one is spent on the mean.
                scale = factor / sample.mass * np.sqrt(units / max(units - 1, 1e-9))
                known = np.nan_to_num(weights)
                for one in sample.samples:
                    # Placements by another score are those by the first, and what differs.
                    for each in {0, number}:
                        wanted[each, one, :-1] += scale * known
                    # The mass of all rows is that of both classes.
                    of_classes = [one] if one < 2 * self.size else [one - 2 * self.size, one - self.size]
                    wanted[0, of_classes, -1] -= scale * (center - 0.5 * known.sum())
        if not least > 1:
            return np.nan, np.nan
        flat, total = wanted.ravel(), 0.0
        if self._sums is not None:
            total += float(np.sum((flat @ self._sums) ** 2))
        for numbers, products in self._products:
            used = np.flatnonzero(flat[numbers])
            factors = flat[numbers[used]]
            total += float(factors @ products[np.ix_(used, used)] @ factors)
        return total, least - 1


def moments_of(tables: Tables) -> Moments:
    """Collect the moments of tables, with the clusters of their rows if these are held."""
    every = list(tables.values())
    if tables.held is None or tables.held.clusters is None:
        return moments(every)
    units = Units([every], Rows.of(tables.held, list(tables)))
    return replace(units.moments[0], units=units)


def _ranked(
    tables: Sequence[Sequence[ScoreTable]], rows: Rows, shape: tuple[int, int, int]
) -> tuple[NDArray[np.int32], list[NDArray[np.int32]], list[_Sample]]:
    """Part the rows that count by group and class, and rank each part.

    Return the order of the rows, their places in the tables of their groups for each of the scores, and the parts.
    """
    # Codes this short are sorted by counting.
    code = rows.group.astype(np.int16)
    code *= 2
    code += rows.positive
    order = np.argsort(code, kind="stable").astype(np.int32)
    if rows.weight is not None:
        order = order[rows.weight[order] > 0]
    size, number_of = shape[1] // 3, np.arange(np.prod(shape)).reshape(shape)
    samples, start = [], 0
    for one, count in enumerate(np.bincount(code[order], minlength=2 * size).tolist()):
        group, positive = one // 2, one % 2 == 1
        own = group if positive else size + group
        numbers = np.append(number_of[:, [own, 2 * size + group], :-1].ravel(), number_of[0, own, -1])
        samples += [_Sample(group, positive, slice(start, start + count), numbers)] if count else []
        start += count
    places = [np.empty(order.size, dtype=np.int32) for _ in tables]

    def rank(sample: _Sample) -> None:
        for number, score in enumerate(rows.scores):
            own = order[sample.rows]
            falling, was = falling_scores(score[own])
            found = _find(falling, tables[number][sample.group], sample.positive)
            del falling
            if number == 0:
                order[sample.rows] = own[was]
                places[0][sample.rows] = found
            else:
                places[number][sample.rows][was] = found

    in_threads(order.size, rank, samples)
    return order, places, samples


def _find(falling: FloatArray, table: ScoreTable, positive: bool) -> NDArray[np.int32]:
    """Find the falling scores of one class in the table of their group."""
    own = np.flatnonzero(table.positive if positive else table.negative).astype(np.int32)
    found, seen = np.empty(falling.size, dtype=np.int32), -1
    for start in range(0, falling.size, STEP):
        some = falling[start : start + STEP]
        is_next = np.append(start == 0 or some[0] != falling[start - 1], some[1:] != some[:-1])
        index = seen + np.cumsum(is_next)
        place = own.take(index, mode="clip")
        if not np.array_equal(table.score[place], some):
            # Of scores in bins the table has the middle: the nearest.
            return np.searchsorted(-(table.score[1:] + table.score[:-1]) / 2, -falling).astype(np.int32)
        found[start : start + STEP], seen = place, index[-1]
    return found


def _products(values: FloatArray) -> FloatArray:
    """Sum, over all columns, the products of each number in it with each."""
    found, step = np.zeros((len(values), len(values))), rows_alone(len(values))
    for start in range(0, values.shape[1], step):
        part = values[:, start : start + step]
        found += part @ part.T
    return found
