"""What varies where that is not the single row: people with several rows each, and rows with several scores."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from xorder._table import FloatArray, HeldRows, ScoreTable, in_threads
from xorder._validation import check_clusters
from xorder.exceptions import InputError
from xorder.metrics._placements import Placements

if TYPE_CHECKING:
    from xorder._metric import Term

# Numbers kept for the sums of units, at most.
_MOST_NUMBERS = 20_000_000

# Units whose sums are put together at a time.
_STRETCH = 8_192

# Products of numbers to be added up, at most: some minutes of work.
_MOST_WORK = 1e13


class Rows(NamedTuple):
    """Rows in memory: the number of each row's group, whether it is positive, its weight, its scores, and its unit.

    Without weights each counts 1. ``counted`` if an entry stands for as many rows as its weight squared, which vary
    each by itself.
    """

    group: NDArray[np.int64]
    positive: NDArray[np.bool_]
    weight: FloatArray | None
    scores: tuple[FloatArray, ...]
    unit: NDArray[np.int64]
    counted: bool = False

    @classmethod
    def of(cls, held: HeldRows, groups: Sequence[Hashable]) -> Rows:
        """Take the rows of some groups, numbered in that order; without clusters each row is a unit by itself."""
        places = {label: place for place, label in enumerate(groups)}
        numbers = np.array([places.get(label, -1) for label in held.labels], dtype=np.int64)
        group, positive, weight, scores, unit = held.group, held.positive, held.weight, held.scores, held.clusters
        if not np.array_equal(numbers, np.arange(numbers.size)):
            group = numbers[group]
            kept = np.flatnonzero(group >= 0)
            group, positive, scores = group[kept], positive[kept], tuple(score[kept] for score in scores)
            weight, unit = (None if column is None else column[kept] for column in (weight, unit))
        if unit is None:
            unit = np.arange(group.size)
        # Of arrays they are numbers already.
        unit = unit if unit.dtype == np.int64 else check_clusters(unit, group.size)
        return cls(group, positive, weight, scores, unit)


class _Sample(NamedTuple):
    """One class of one group: where its rows are among all, and their scores, units and weights.

    Scores are turned round, so that they rise.
    """

    group: int
    positive: bool
    rows: slice
    turned: FloatArray
    unit: NDArray[np.int64]
    weight: FloatArray | None

    def part(self, first: int, last: int) -> _Sample:
        """The rows of some units, numbered from the first of them."""
        own = np.flatnonzero((self.unit >= first) & (self.unit < last))
        weight = None if self.weight is None else self.weight[own]
        return self._replace(turned=self.turned[own], unit=self.unit[own] - first, weight=weight)


class _Ranked(NamedTuple):
    """The rows of all samples, one sample after the other, each from its highest score down."""

    unit: NDArray[np.int64]
    weight: FloatArray | None
    samples: list[_Sample]


class Units:
    """How placements vary between units: people with several rows each, or rows that have more than one score.

    Of each unit the placements of its rows are added up, sample by sample, for each score by itself. The products of
    these sums, added up over all units, are enough for the variance of any estimate (Obuchowski 1997 for one AUC), and
    for that of a difference of estimates from two scores.
    """

    def __init__(self, tables: Sequence[Sequence[ScoreTable]], rows: Rows) -> None:
        self.size = len(tables[0])
        self.ranked = [_ranked(rows, score) for score in rows.scores]
        numbers = len(tables) * 3 * self.size * (self.size + 1)
        # Units with rows in each sample, and in those of each kind.
        self.held, self.held_by_kind = np.zeros(3 * self.size), np.zeros(3)
        self.count = int(np.count_nonzero(np.bincount(rows.unit)))
        self._last = int(rows.unit.max()) + 1
        # Sums are kept as they are while they fit; of more units, the products of their sums.
        self.sums: FloatArray | None = None
        self.products = np.zeros((numbers, numbers))
        step = max(_MOST_NUMBERS // numbers, 1)
        if self._last > step and self.count * float(numbers) ** 2 > _MOST_WORK:
            raise InputError(
                f"{self.size} groups with {self.count:,} clusters, or rows to compare, are too many to allow for; "
                "name fewer groups."
            )
        for first in range(0, self._last, step):
            last = min(first + step, self._last)
            sums = np.zeros((len(tables), 3 * self.size, self.size + 1, last - first))
            for ranked, each, found in zip(self.ranked, tables, sums, strict=True):
                whole = last - first == self._last
                samples = ranked.samples if whole else [sample.part(first, last) for sample in ranked.samples]
                _add_up(samples, each, found)
            mass = sums[0, :, -1].reshape(3, self.size, -1)
            units = mass**2 if rows.counted else (mass > 0).astype(np.float64)
            self.held += units.sum(axis=2).ravel()
            self.held_by_kind += (units.sum(axis=1) if rows.counted else units.max(axis=1)).sum(axis=1)
            flat = sums.reshape(numbers, -1)
            if last - first == self._last:
                self.sums = flat
            else:
                self.products += flat @ flat.T

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
        unit, weight, samples = self.ranked[number]
        added = np.empty(unit.size)
        for sample in samples:
            both = (moved, own.get((sample.group, sample.positive), (0.0, 0.0)))
            factor, below = sum(each[0] for each in both), -sum(each[0] * each[1] for each in both)
            above, past = (int(np.searchsorted(sample.turned, -threshold, side=side)) for side in ("left", "right"))
            of_sample = added[sample.rows]
            of_sample[:above] = below + factor
            of_sample[above:past] = below + factor * part
            of_sample[past:] = below
        if weight is not None:
            added *= weight
        return np.asarray(np.bincount(unit, added, minlength=self._last), dtype=np.float64)

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
        wanted = np.zeros((len(self.ranked), 3 * self.size, self.size + 1))
        least = np.inf
        for number, factor, terms in parts:
            for sample, weights, center in terms:
                units = self.count_of(sample)
                least = min(least, units)
                # Of as many units one is spent on the mean.
                scale = factor / sample.mass * np.sqrt(units / max(units - 1, 1e-9))
                known = np.nan_to_num(weights)
                for one in sample.samples:
                    wanted[number, one, :-1] += scale * known
                    wanted[number, one, -1] -= scale * (center - 0.5 * known.sum())
        if not least > 1:
            return np.nan, np.nan
        flat = wanted.ravel()
        if self.sums is None:
            return float(flat @ self.products @ flat), least - 1
        used, total = np.flatnonzero(flat), 0.0
        # A stretch at a time stays in the processor's cache.
        for first in range(0, self._last, _STRETCH):
            of_units = np.einsum("i,ij", flat[used], self.sums[used, first : first + _STRETCH])
            total += float(np.sum(of_units**2))
        return total, least - 1


def _ranked(rows: Rows, score: FloatArray) -> _Ranked:
    """Part the rows by group and class, and rank those of each part."""
    # Codes this short are sorted by counting.
    code = rows.group.astype(np.int16)
    code *= 2
    code += rows.positive
    order = np.argsort(code, kind="stable")
    turned, unit = np.negative(score[order]), rows.unit[order]
    weight = None if rows.weight is None else rows.weight[order]
    ends = np.cumsum(np.bincount(code)).tolist()
    parts = [slice(first, end) for first, end in zip([0, *ends], ends, strict=False)]

    def rank(part: slice) -> None:
        # Scores in order are looked up many times as fast.
        rising = np.argsort(turned[part])
        for column in (turned, unit, weight):
            if column is not None:
                column[part] = column[part][rising]

    in_threads(turned.size, rank, parts)
    samples = [
        _Sample(one // 2, one % 2 == 1, part, turned[part], unit[part], None if weight is None else weight[part])
        for one, part in enumerate(parts)
        if part.stop > part.start
    ]
    return _Ranked(unit, weight, samples)


def _add_up(samples: Sequence[_Sample], tables: Sequence[ScoreTable], found: FloatArray) -> None:
    """Add up over units: by sample, the placements less one half in each group, then the mass."""
    size, count = len(tables), found.shape[-1]

    def add_placements(column: int) -> None:
        table = tables[column]
        keys = np.append(-table.score, np.inf)
        # By distinct scores above: the placements of positives in negatives, of negatives in positives, of all in all.
        n1, n0 = (np.append(0.0, np.cumsum(mass)) for mass in (table.positive, table.negative))
        placements = (0.5 - _share(n0), _share(n1) - 0.5, 0.5 - _share(n1 + n0))
        for sample in samples:
            place = _place(sample, table, keys) if sample.group == column else np.searchsorted(keys, sample.turned)
            # Equal scores count one half: half way from above them to below them.
            tied = keys[place] == sample.turned
            past = place + tied if tied.any() else None
            for kind in (0 if sample.positive else 1, 2):
                of_rows = placements[kind][place]
                if past is not None:
                    of_rows += placements[kind][past]
                    of_rows *= 0.5
                if sample.weight is not None:
                    of_rows *= sample.weight
                found[kind * size + sample.group, column] += np.bincount(sample.unit, of_rows, minlength=count)

    in_threads(sum(sample.unit.size for sample in samples), add_placements, range(size))
    for sample in samples:
        mass = np.bincount(sample.unit, sample.weight, minlength=count)
        for kind in (0 if sample.positive else 1, 2):
            found[kind * size + sample.group, -1] += mass


def _place(sample: _Sample, table: ScoreTable, keys: FloatArray) -> NDArray[np.intp]:
    """Find a sample in the table of its own group: rows that were counted there are where their counts are."""
    mass = table.positive if sample.positive else table.negative
    if sample.weight is None and mass.sum() == sample.turned.size and np.array_equal(mass, np.rint(mass)):
        place = np.repeat(np.arange(mass.size), mass.astype(np.int64))
        if np.array_equal(keys[place], sample.turned):
            return place
    return np.searchsorted(keys, sample.turned)


def _share(sums: FloatArray) -> FloatArray:
    """Running sums as shares of the last; one half where there is nothing, so that no placement counts."""
    return sums / sums[-1] if sums[-1] > 0 else np.full(sums.size, 0.5)
