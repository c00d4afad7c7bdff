"""What varies where that is not the single row: people with several rows each, and rows with several scores."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from xorder._table import STEP, FloatArray, HeldRows, IntArray, ScoreTable, Tables, falling_scores, in_threads
from xorder._validation import check_clusters
from xorder.exceptions import InputError
from xorder.metrics._placements import Moments, Placements, moments, rows_alone

if TYPE_CHECKING:
    from xorder._metric import Term

# Sums of clusters, at most, that are worked on at a time, and parts of the rows that are worked on apart.
_MOST_AT_ONCE, _STRETCHES = 200_000, 16

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


class Units:
    """How placements vary between units: clusters of rows, such as those of a person, or rows that have several scores.

    Of each unit the placements of its rows are added up, sample by sample, for each score by itself. The products of
    these sums, added up over all units, are enough for the variance of any estimate (Obuchowski 1997 for one AUC), and
    for that of a difference of estimates from two scores. Of a score after the first, placements are kept less those
    of the first, so that a small difference is not lost in the rounding of both.

    A sample is one class of one group; its code is twice the number of the group, and one more for positives.
    ``moments`` are those of each score.
    """

    def __init__(self, tables: Sequence[Sequence[ScoreTable]], rows: Rows) -> None:
        self.size, self._tables = len(tables[0]), tables
        self._shape = (len(tables), 3 * self.size, self.size + 1)
        # Rows that count, those of a cluster one after the other.
        order, self._starts = _by_cluster(rows)
        self.count = order.size if self._starts is None else self._starts.size
        self._code = (rows.group.astype(np.int16) * np.int16(2) + rows.positive)[order]
        self._weight = None if rows.weight is None else rows.weight[order]
        self._places = _places(tables, rows.scores, order, self._code)
        del order
        self._higher = [[np.empty((len(table), 2 * self.size)) for table in each] for each in tables]
        self.moments = list(map(moments, tables, self._higher))
        # Units with rows in each sample, and in those of each kind.
        self.held, self.held_by_kind = np.zeros(3 * self.size), np.zeros(3)
        # Numbers, with the products of what units add to them, or with what each unit adds.
        self._products: list[tuple[NDArray[np.intp], FloatArray]] = []
        self._sums: FloatArray | None = None
        if self._starts is None:
            self._add_rows(rows.counted)
        else:
            self._add_clusters(self._starts)
        del self._higher

    def _add_rows(self, counted: bool) -> None:
        """Add up the products of what rows add, each a unit by itself."""

        def of_stretch(bounds: IntArray) -> list[Any]:
            found: list[Any] = [0.0] * (2 * self.size)
            for first, last in pairwise(bounds.tolist()):
                for code, _, values in self._values(slice(first, last)):
                    found[code] += _products(values)
            return found

        stretches = _stretches(np.arange(0, self._code.size + STEP, STEP).clip(max=self._code.size))
        by_code = zip(*in_threads(self._code.size, of_stretch, stretches), strict=True)
        for code, parts in enumerate(by_code):
            products: Any = sum(parts)
            if np.ndim(products):
                self._products.append((self._numbers(code), products))
                units = products[-1, -1] if counted else np.count_nonzero(self._code == code)
                self.held[[(1 - code % 2) * self.size + code // 2, 2 * self.size + code // 2]] += units
        self.held_by_kind = self.held.reshape(3, -1).sum(axis=1)

    def _add_clusters(self, starts: IntArray) -> None:
        """Add up what the rows of each cluster add, and the products of these sums."""
        size, numbers = self.size, int(np.prod(self._shape))
        if self.count * float(numbers) ** 2 > _MOST_WORK:
            raise InputError(
                f"{size} groups with {self.count:,} clusters are too many to allow for; name fewer groups."
            )
        of_codes = [self._numbers(code) for code in range(2 * size)]
        bounds = np.append(starts, self._code.size)
        kept = np.empty((numbers, self.count if self.count <= numbers else 0))

        def of_stretch(clusters: IntArray) -> tuple[FloatArray, FloatArray, FloatArray | float]:
            held, held_by_kind, products = np.zeros((3, size)), np.zeros(3), np.zeros(())
            for first, last in pairwise(clusters.tolist()):
                cluster = np.repeat(np.arange(last - first), np.diff(bounds[first : last + 1]))
                sums = np.zeros((numbers, last - first))
                for code, own, values in self._values(slice(bounds[first], bounds[last])):
                    for number, value in zip(of_codes[code], values, strict=True):
                        sums[number] += np.bincount(cluster[own], value, minlength=last - first)
                by_class = sums.reshape(*self._shape, -1)[0, : 2 * size, -1].reshape(2, size, -1) > 0
                is_held = np.concatenate([by_class, by_class[:1] | by_class[1:]])
                held += is_held.sum(axis=2)
                held_by_kind += is_held.any(axis=1).sum(axis=1)
                if kept.size:
                    kept[:, first:last] = sums
                else:
                    products = products + _products(sums)
            return held, held_by_kind, products

        # As many rows at a time as leave the sums in the processor's cache.
        step = min(max(_MOST_AT_ONCE // numbers, 1), STEP)
        steps = np.unique(np.append(np.searchsorted(bounds, np.arange(0, bounds[-1], step)), self.count))
        found = in_threads(self._code.size, of_stretch, _stretches(steps))
        held, self.held_by_kind, products = (sum(each) for each in zip(*found, strict=True))
        self.held = held.ravel()
        self._sums = kept if kept.size else None
        self._products = [] if kept.size else [(np.arange(numbers), products)]

    def _numbers(self, code: int) -> NDArray[np.intp]:
        """Where what the rows of a sample add is among all numbers."""
        group, place = code // 2, np.arange(np.prod(self._shape)).reshape(self._shape)
        own = group if code % 2 else self.size + group
        return np.append(place[:, [own, 2 * self.size + group], :-1].ravel(), place[0, own, -1])

    def _values(self, part: slice) -> Iterator[tuple[int, NDArray[np.intp], FloatArray]]:
        """Yield, for each sample that has some of these rows, its code, these, and what each adds to its numbers."""
        size, codes = self.size, self._code[part]
        n1, n0 = (np.array([[getattr(table, name)] for table in self._tables[0]]) for name in ("n1", "n0"))
        for code in np.flatnonzero(np.bincount(codes)).tolist():
            rows = np.flatnonzero(codes == code)
            # Placements less one half: of positives in negatives, or of negatives in positives; then of all in all.
            among, total, sign = (slice(size, None), n0, -1.0) if code % 2 else (slice(size), n1, 1.0)
            # In a class that is not there nothing is placed.
            factor = np.divide(sign, total, out=np.zeros_like(total), where=total > 0)
            values = np.empty((2 * size * len(self._places) + 1, rows.size))
            for number, (higher, places) in enumerate(zip(self._higher, self._places, strict=True)):
                above = higher[code // 2].take(places[part][rows], axis=0).T
                found = values[2 * size * number :][: 2 * size]
                np.subtract(above[among] * factor, 0.5 * sign * (total > 0), out=found[:size])
                np.subtract(0.5, (above[:size] + above[size:]) / (n1 + n0), out=found[size:])
                if number:
                    found -= values[: 2 * size]
            values[-1] = 1.0
            if self._weight is not None:
                values *= self._weight[part][rows]
            yield code, rows, values

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
        places = self._places[number]
        rising = [self._tables[number][code // 2].score[::-1] for code in range(2 * self.size)]
        above, past = (
            np.array([each.size - np.searchsorted(each, threshold, side=end) for each in rising], dtype=np.int32)
            for end in ("right", "left")
        )
        values = []
        for code in range(2 * self.size):
            both = (moved, own.get((code // 2, code % 2 == 1), (0.0, 0.0)))
            factor, below = sum(each[0] for each in both), -sum(each[0] * each[1] for each in both)
            values += [below, below + factor * part, below + factor]
        added = np.empty(places.size)
        for start in range(0, places.size, STEP):
            codes, place = self._code[start : start + STEP], places[start : start + STEP]
            side = np.add(place < above.take(codes), place < past.take(codes), dtype=np.int16)
            added[start : start + STEP] = np.take(values, 3 * codes + side)
        if self._weight is not None:
            added *= self._weight
        return added if self._starts is None else np.add.reduceat(added, self._starts)

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


def _by_cluster(rows: Rows) -> tuple[NDArray[np.int32], IntArray | None]:
    """Order the rows that count by their clusters; return where each cluster starts, or None where there are none."""
    kept = slice(None) if rows.weight is None else np.flatnonzero(rows.weight > 0)
    if rows.unit is None:
        return np.arange(rows.group.size, dtype=np.int32)[kept], None
    # Values sort several times as fast as indices do: a key has the cluster, then the row.
    key = rows.unit << 32
    key |= np.arange(key.size, dtype=np.int32)
    key = key[kept]
    if not bool(np.all(key[1:] >= key[:-1])):
        key.sort()
    order = key.astype(np.int32)
    key >>= 32
    return order, np.flatnonzero(np.append(True, key[1:] != key[:-1])[: key.size])


def _places(
    tables: Sequence[Sequence[ScoreTable]],
    scores: Sequence[FloatArray],
    order: NDArray[np.int32],
    codes: NDArray[np.int16],
) -> list[NDArray[np.int32]]:
    """Find each row, in this order, in the table of its group, for each of the scores."""
    places = [np.empty(order.size, dtype=np.int32) for _ in scores]

    def find(code: int) -> None:
        own = np.flatnonzero(codes == code)
        for by_group, score, found in zip(tables, scores, places, strict=True):
            falling, order_of = falling_scores(score[order[own]])
            table, ranked = by_group[code // 2], own[order_of]
            del order_of
            here = np.flatnonzero(table.positive if code % 2 else table.negative)
            is_first = np.append(True, falling[1:] != falling[:-1])[: own.size]
            if np.array_equal(falling[is_first], table.score[here]):
                found[ranked] = here[np.cumsum(is_first) - 1]
            else:
                # Of scores in bins the table has the middle: the nearest.
                found[ranked] = np.searchsorted(-(table.score[1:] + table.score[:-1]) / 2, -falling)

    in_threads(order.size, find, range(2 * len(tables[0])))
    return places


def _products(values: FloatArray) -> FloatArray:
    """Sum, over all columns, the products of each number in it with each."""
    step = rows_alone(len(values))
    parts = (values[:, start : start + step] for start in range(0, values.shape[1], step))
    return np.asarray(np.sum([part @ part.T for part in parts], axis=0))


def _stretches(bounds: IntArray) -> list[IntArray]:
    """Part bounds into several runs of them that share their ends."""
    ends = np.unique(np.linspace(0, bounds.size - 1, _STRETCHES + 1).astype(int))
    return [bounds[first : last + 1] for first, last in pairwise(ends.tolist())]
