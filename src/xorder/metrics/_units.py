"""What varies where that is not the single row: people with several rows each, and rows with several scores."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from xorder._ranking import Ranking, falling_key, rows_in_order, step_ends
from xorder._table import STEP, BoolArray, FloatArray, HeldRows, IntArray, Tables
from xorder._validation import check_clusters
from xorder.exceptions import InputError
from xorder.metrics._placements import (
    Moments,
    Placements,
    as_items,
    moments,
    moments_of_rows,
    products,
    running_counts,
    twice_above,
)

if TYPE_CHECKING:
    from xorder._metric import Term

# Products of numbers to be added up, at most: some minutes of work; and what may be kept, less than a gigabyte.
_MOST_WORK, _MOST_KEPT = 1e13, 1e8

# What units add to all numbers, at a time.
_AT_ONCE = 1_000_000


class Rows(NamedTuple):
    """Rows in memory: the number of each row's group, whether it is positive, its mass, its scores, and its cluster.

    Without masses each counts 1, and without clusters each varies by itself, with its ``weight`` if that is not its
    mass. ``counted`` if a row stands for as many as its weight squared, which vary each by itself.
    """

    group: NDArray[Any]
    positive: BoolArray
    mass: FloatArray | None
    scores: tuple[FloatArray, ...]
    unit: IntArray | None
    weight: FloatArray | None = None
    counted: bool = False

    @classmethod
    def of(cls, held: HeldRows, groups: Sequence[Hashable]) -> Rows:
        """Take the rows of some groups, numbered in that order."""
        places = {label: place for place, label in enumerate(groups)}
        numbers = np.array([places.get(label, -1) for label in held.labels], dtype=np.int16)
        group, positive, mass, scores, unit = held.group, held.positive, held.weight, held.scores, held.clusters
        if not np.array_equal(numbers, np.arange(numbers.size)):
            group = numbers[group]
            kept = np.flatnonzero(group >= 0)
            group, positive, scores = group[kept], positive[kept], tuple(score[kept] for score in scores)
            mass, unit = (None if column is None else column[kept] for column in (mass, unit))
        if unit is not None and unit.dtype != np.int64:
            # Of arrays they are numbers already.
            unit = check_clusters(unit, group.size)
        return cls(group, positive, mass, scores, unit, mass)

    @property
    def units(self) -> IntArray:
        """The number of what each row belongs to: its cluster, or itself."""
        return np.arange(self.group.size) if self.unit is None else self.unit


class Influence(NamedTuple):
    """What rows add to a number that counts those above a threshold of a score, of those at it a part.

    A row adds a factor times (whether it is above, less a rate): ``moved`` for all rows, and besides those of its own
    sample, a group and whether it is positive. ``score`` is the number of the score.
    """

    score: int
    threshold: float
    part: float
    moved: tuple[float, float]
    own: Mapping[tuple[int, bool], tuple[float, float]]

    def by_code(self, size: int) -> FloatArray:
        """Return what a row adds below the threshold, at it and above it, by its code of group and class."""
        found = np.empty((2 * size, 3))
        for code, added in enumerate(found):
            both = (self.moved, self.own.get((code // 2, code % 2 == 1), (0.0, 0.0)))
            factor, below = sum(each[0] for each in both), -sum(each[0] * each[1] for each in both)
            added[:] = below, below + factor * self.part, below + factor
        return found


class Units:
    """How placements vary between units: clusters of rows, such as those of a person, or rows that have several scores.

    Of each unit the placements of its rows are added up, sample by sample, for each score by itself. The products of
    these sums, added up over all units, are enough for the variance of any estimate (Obuchowski 1997 for one AUC), and
    for that of a difference of estimates from two scores. Of a score after the first, placements are kept less those
    of the first, so that a small difference is not lost in the rounding of both.

    Rows are kept in an order in which those of a unit follow each other; ``moments`` are those of each score, and
    ``rankings`` the rows by each score, where they count one each and each is a unit.
    """

    def __init__(self, totals: FloatArray, rows: Rows) -> None:
        self.size, (self._n1, self._n0) = totals.shape[1], totals[:2]
        self._shape = (len(rows.scores), 3 * self.size, self.size + 1)
        order, self._first = _unit_order(rows)
        ordered = partial(_ordered, order)
        self._code = ordered((2 * rows.group + rows.positive).astype(np.min_scalar_type(2 * self.size)))
        self._weight, self._scores = ordered(rows.weight), [ordered(score) for score in rows.scores]
        self.count = self._code.size if self._first is None else int(np.count_nonzero(self._first))
        mass = ordered(rows.mass)
        del order, ordered
        self.rankings: list[Ranking] = []
        # Units with rows in each sample, and in those of each kind.
        self.held, self.held_by_kind = np.zeros(3 * self.size), np.zeros(3)
        # Numbers, with the products of what units add to them, or with what each unit adds.
        self._products: list[tuple[NDArray[np.intp], FloatArray]] = []
        self._sums: FloatArray | None = None
        # How many rows lie on which side of thresholds, or their squared weights.
        self._rows_at: dict[tuple[tuple[int, float], ...], FloatArray] = {}
        sums = self._add_rows(mass, rows.counted) if self._first is None else self._add_clusters(mass, self._first)
        self.moments = self._moments(totals, sums)

    def _blocks(self, most: int = STEP) -> Iterator[tuple[int, int]]:
        """Yield where blocks of rows start and end, in which units are whole."""
        return pairwise(step_ends(self._first, self._code.size, min(most, STEP)))

    def _add_rows(self, mass: FloatArray | None, counted: bool) -> FloatArray:
        """Add up the products of what rows add, each a unit by itself; return the sums of columns by code."""
        size, columns = self.size, 2 * self.size * self._shape[0] + 1
        by_code, sums = np.zeros((2 * size, columns, columns)), np.zeros((columns, 2 * size))
        counts = np.zeros(2 * size, dtype=np.int64)
        # What rows weigh in a mean, by what they weigh in a sum of squares, where that is not as much.
        ratio = None if counted or mass is None else mass / self._weight
        by_first, *by_others = (_ranking_by_order(score, self._code, 2 * size) for score in self._scores)
        others = [_above_by_row(ranking, mass) for ranking in by_others]
        if mass is not None:
            by_others = []
        # In the order of the first score, for which what is above rows need not be kept.
        for some, first in _above(by_first, mass):
            own = np.argsort(by_first.code[some], kind="stable")
            rows = cast(IntArray, by_first.order)[some].take(own)
            every = [as_items(first).take(own), *(as_items(found).take(rows) for found in others)]
            weight = None if self._weight is None else self._weight.take(rows)
            values = np.array([*self._columns([each.view(first.dtype) for each in every], weight)])
            here = np.bincount(by_first.code[some], minlength=2 * size)
            counts += here
            for each, (start, stop) in enumerate(pairwise([0, *np.cumsum(here).tolist()])):
                part = values[:, start:stop]
                by_code[each] += products(part)
                if ratio is not None:
                    sums[:, each] += part @ ratio.take(rows[start:stop])
        if mass is None:
            self.rankings = [by_first, *by_others]
        for code in np.flatnonzero(counts).tolist():
            numbers, adds = self._of_code(code)
            self._products.append((numbers, adds @ by_code[code] @ adds.T))
            units = by_code[code, -1, -1] if counted else counts[code]
            for kind in (0 if code % 2 else 1, 2):
                self.held[kind * size + code // 2] += units
        self.held_by_kind = self.held.reshape(3, -1).sum(axis=1)
        return by_code[:, :, -1].T if ratio is None else sums

    def _add_clusters(self, mass: FloatArray | None, first: BoolArray) -> FloatArray:
        """Add up what the rows of each cluster add, and the products of that; return the sums of columns by code."""
        size, numbers = self.size, int(np.prod(self._shape))
        # Few clusters are kept as they are.
        is_kept = self.count <= numbers
        kept = float(numbers) * min(self.count, numbers)
        if kept > _MOST_KEPT or (self.count * float(numbers) ** 2 > _MOST_WORK and not is_kept):
            raise InputError(
                f"{size} groups with {self.count:,} clusters are too many to allow for; name fewer groups."
            )
        found: list[FloatArray] = []
        every = [_above_by_row(_ranking_by_order(score, self._code, 2 * size), mass) for score in self._scores]
        total = np.zeros((2 * size * self._shape[0] + 1, 2 * size))
        for start, stop in self._blocks(max(_AT_ONCE // numbers, 1)):
            unit = np.cumsum(first[start:stop]) - 1
            count = int(unit[-1]) + 1
            place = self._code[start:stop] * np.intp(count) + unit
            weight = None if self._weight is None else self._weight[start:stop]
            by_place = [
                np.bincount(place, each, 2 * size * count)
                for each in self._columns([above[start:stop] for above in every], weight)
            ]
            columns: FloatArray = np.array(by_place, dtype=np.float64).reshape(-1, 2 * size, count)
            total += columns.sum(axis=2)
            sums = self._numbers(columns)
            of_class = sums.reshape(*self._shape, -1)[0, : 2 * size, -1].reshape(2, size, -1) > 0
            is_held = np.concatenate([of_class, of_class[:1] | of_class[1:]])
            self.held += is_held.sum(axis=2).ravel()
            self.held_by_kind += is_held.any(axis=1).sum(axis=1)
            found = [*found, sums] if is_kept else [sum(found, start=products(sums))]
        if is_kept:
            self._sums = np.concatenate(found, axis=1)
        else:
            self._products = [(np.arange(numbers), found[0])]
        return total

    def _moments(self, totals: FloatArray, sums: FloatArray) -> list[Moments]:
        """Return the moments of each score, without the second ones: how placements vary is known by unit."""
        size, n1, n0 = self.size, self._n1, self._n0
        numbers = self._numbers(sums[:, :, None]).reshape(self._shape)
        first = numbers[:, :, :-1]
        first[1:] += first[0]
        # In a class that is not there nothing is placed.
        for kind, total in enumerate((n0, n1, n1 + n0)):
            first[:, kind * size : (kind + 1) * size, total == 0] = np.nan
        masses, spreads = (np.concatenate([*each, each[0] + each[1]]) for each in (totals[:2], totals[2:]))
        found = []
        for of_score in first:
            samples = [
                Placements(size, float(mass), float(spread), (number,))
                for number, (mass, spread) in enumerate(zip(masses, spreads, strict=True))
            ]
            for sample, sums_of_sample in zip(samples, of_score, strict=True):
                sample.first = sums_of_sample
            positive, negative, row = (tuple(samples[kind : kind + size]) for kind in (0, size, 2 * size))
            found.append(Moments(n1, n0, positive, negative, row))
        return found

    def _columns(self, every: Sequence[NDArray[Any]], weight: FloatArray | None) -> Iterator[FloatArray]:
        """Yield what some rows have above them by each score, column by column, then their weights.

        Twice the mass of each code, less all of it, for the first score; for others, less that of the first.
        """
        first, *others = (above.reshape(-1, 2 * self.size).T for above in every)
        centers = np.stack([self._n0, self._n1], axis=1).reshape(-1, 1)
        for less, above in ((centers, first), *((first, other) for other in others)):
            for column, center in zip(above, less, strict=True):
                yield column - center if weight is None else (column - center) * weight
        yield np.ones(first.shape[1]) if weight is None else weight

    def _of_code(self, code: int) -> tuple[NDArray[np.intp], FloatArray]:
        """Return the numbers that rows of a code add to, and what each of their columns adds to each of these."""
        size, number_of = self.size, np.arange(np.prod(self._shape)).reshape(self._shape)
        group, other = code // 2, 1 - code % 2
        own = group + size * other
        numbers = np.append(number_of[:, [own, 2 * size + group], :-1].ravel(), number_of[0, own, -1])
        total = np.where(self._n1 > 0, self._n1, np.inf) if other else -np.where(self._n0 > 0, self._n0, np.inf)
        each = np.arange(size)
        of_score = np.zeros((2 * size, 2 * size))
        of_score[each, 2 * each + other] = 0.5 / total
        of_score[size + each, 2 * each] = of_score[size + each, 2 * each + 1] = -0.5 / (self._n1 + self._n0)
        adds = np.zeros((numbers.size, numbers.size))
        adds[:-1, :-1], adds[-1, -1] = np.kron(np.eye(self._shape[0]), of_score), 1.0
        return numbers, adds

    def _numbers(self, sums: FloatArray) -> FloatArray:
        """Turn sums of such columns over the rows of each code of a unit into placements less one half, and masses.

        ``sums`` has a row for each column, then an axis of codes and one of units.
        """
        size, scores = self.size, self._shape[0]
        # By score, whose mass is above (a group, and whether it is positive), and by the rows' group and class.
        above = sums[:-1].reshape(scores, size, 2, size, 2, -1)
        found = np.zeros((*self._shape, sums.shape[-1]))
        totals = [self._n1, self._n0, self._n1 + self._n0]
        # In a class that is not there nothing is placed.
        in_positives, in_negatives, in_all = (
            np.divide(0.5, total, out=np.zeros_like(total), where=total > 0)[:, None] for total in totals
        )
        np.multiply(above[:, :, 0, :, 1].swapaxes(1, 2), -in_negatives, out=found[:, :size, :-1])
        np.multiply(above[:, :, 1, :, 0].swapaxes(1, 2), in_positives, out=found[:, size : 2 * size, :-1])
        np.multiply(above.sum(axis=(2, 4)).swapaxes(1, 2), -in_all, out=found[:, 2 * size :, :-1])
        found[0, :size, -1], found[0, size : 2 * size, -1] = sums[-1, 1::2], sums[-1, ::2]
        return found.reshape(-1, sums.shape[-1])

    def stderr_at_cut(self, parts: Sequence[tuple[float, Influence]]) -> float:
        """Standard error of a sum of numbers at cuts, each times a factor."""
        if self.count < 2:
            return np.nan
        # What a row adds, by its code and by its side of each threshold: below it, at it, above it.
        added = np.zeros((2 * self.size, *(3,) * len(parts)))
        for axis, (factor, each) in enumerate(parts):
            others = tuple(1 + other for other in range(len(parts)) if other != axis)
            added += np.expand_dims(factor * each.by_code(self.size), others)
        at = tuple((each.score, each.threshold) for _, each in parts)
        if self._first is None:
            # How many rows lie where is the same for all pairs of groups.
            if at not in self._rows_at:
                counts = [np.bincount(place, squares, added.size) for _, place, squares in self._sides(at)]
                self._rows_at[at] = np.sum(counts, axis=0)
            total = float(np.square(added).ravel() @ self._rows_at[at])
        else:
            total = 0.0
            for some, place, _ in self._sides(at):
                sums = added.take(place) if self._weight is None else added.take(place) * self._weight[some]
                by_unit = np.bincount(np.cumsum(self._first[some]) - 1, sums)
                total += float(by_unit @ by_unit)
        return float(np.sqrt(total * self.count / (self.count - 1)))

    def _sides(
        self, at: Sequence[tuple[int, float]]
    ) -> Iterator[tuple[slice, NDArray[np.unsignedinteger[Any]], FloatArray | None]]:
        """Yield, of blocks of rows, where they are, a number for code and side of each threshold, and squared weights.

        A threshold comes with the number of its score.
        """
        dtype = np.min_scalar_type(2 * self.size * 3 ** len(at))
        for start, stop in self._blocks():
            some = slice(start, stop)
            place = self._code[some].astype(dtype)
            for number, threshold in at:
                score = self._scores[number][some]
                place *= dtype.type(3)
                place += (score >= threshold).view(np.uint8) + (score > threshold).view(np.uint8)
            yield some, place, None if self._weight is None else self._weight[some] ** 2

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
                if not least > 1:
                    return np.nan, np.nan
                # Of as many units one is spent on the mean.
                scale = factor / sample.mass * np.sqrt(units / (units - 1))
                known = np.nan_to_num(weights)
                for one in sample.samples:
                    # Placements by another score are those by the first, and what differs.
                    for each in {0, number}:
                        wanted[each, one, :-1] += scale * known
                    # The mass of all rows is that of both classes.
                    of_classes = [one] if one < 2 * self.size else [one - 2 * self.size, one - self.size]
                    wanted[0, of_classes, -1] -= scale * (center - 0.5 * known.sum())
        flat, total = wanted.ravel(), 0.0
        if self._sums is not None:
            total += float(np.sum((flat @ self._sums) ** 2))
        for numbers, found in self._products:
            used = np.flatnonzero(flat[numbers])
            if used.size:
                factors = flat[numbers[used]]
                total += float(factors @ found[np.ix_(used, used)] @ factors)
        return total, least - 1


def moments_of(tables: Tables) -> Moments:
    """Collect the moments of tables, with the clusters of their rows if these are held."""
    if tables.held is None or tables.held.clusters is None:
        return moments(list(tables.values())) if tables.ranking is None else moments_of_rows(tables.ranking)
    units = Units(tables.totals, Rows.of(tables.held, list(tables)))
    return replace(units.moments[0], units=units)


def _ordered(order: IntArray | None, column: Any) -> Any:
    return column if column is None or order is None else column.take(order)


def _unit_order(rows: Rows) -> tuple[IntArray | None, BoolArray | None]:
    """Order of the rows that count in which those of a unit follow each other, and which are the first of one.

    The order is None where it is theirs, and the first are where each row is a unit.
    """
    kept = None if rows.mass is None or rows.mass.all() else np.flatnonzero(rows.mass)
    if rows.unit is None:
        return kept, None
    unit = rows.unit if kept is None else rows.unit[kept]
    if bool(np.all(unit[1:] >= unit[:-1])):
        return kept, np.append(True, unit[1:] != unit[:-1])[: unit.size]
    low, high = unit.min(), unit.max()
    # As far up as they go: what keys lose are their last bits.
    shift = np.uint64(64 - (int(high) - int(low)).bit_length())
    order, first = rows_in_order(unit, lambda part: (part - low).view(np.uint64) << shift)
    return order if kept is None else kept[order], first


def _ranking_by_order(score: FloatArray, code: NDArray[Any], codes: int) -> Ranking:
    """Rank rows by a score, whose values stay where they are."""
    order, is_next = rows_in_order(score, falling_key)
    return Ranking(score, code.take(order), is_next, codes, order)


def _above(ranking: Ranking, mass: FloatArray | None) -> Iterator[tuple[slice, NDArray[Any]]]:
    """Yield blocks of ranked rows, with twice the mass of each code above each row, ties counting one half.

    Where rows are counted, numbers are whole.
    """
    rows, mass = ranking.code.size, _ordered(ranking.order, mass)
    dtype = np.dtype(np.int32 if mass is None and 2 * rows < 2**31 else np.float64)
    one: NDArray[Any] = np.eye(ranking.codes, dtype=dtype)
    if dtype == np.int32:
        # Two counts share a word.
        one = one.view(np.uint64)
    above: Any = 0
    for some in ranking.parts(STEP):
        sums = running_counts(one, ranking.code[some], above, None if mass is None else mass[some])
        above = sums[-1]
        yield some, twice_above(sums, ranking.is_next[some]).view(dtype)


def _above_by_row(ranking: Ranking, mass: FloatArray | None) -> NDArray[Any]:
    """Return twice the mass of each code above each row, in the order in which the rows came."""
    found = np.empty(0)
    for some, twice in _above(ranking, mass):
        if not some.start:
            # Filled once in its own order: memory that is first met here and there takes twice as long.
            found = np.full((ranking.code.size, ranking.codes), 0, twice.dtype)
        as_items(found)[cast(IntArray, ranking.order)[some]] = as_items(twice)
    return found
