"""What varies where that is not the single row: people with several rows each, and rows with several scores."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from xorder._table import FloatArray, HeldRows, ScoreTable, find
from xorder._validation import check_clusters
from xorder.exceptions import InputError
from xorder.metrics._placements import Placements

if TYPE_CHECKING:
    from xorder._metric import Term

# Numbers kept for the sums of units, at most.
_MOST_NUMBERS = 20_000_000

# Products of numbers to be added up, at most: some minutes of work.
_MOST_WORK = 1e13


class Rows(NamedTuple):
    """Rows in memory: the number of each row's group, whether it is positive, its weight, its scores, and its unit.

    ``counted`` if an entry stands for as many rows as its weight squared, which vary each by itself.
    """

    group: NDArray[np.int64]
    positive: NDArray[np.bool_]
    weight: FloatArray
    scores: tuple[FloatArray, ...]
    unit: NDArray[np.int64]
    counted: bool = False

    @classmethod
    def of(cls, held: HeldRows, groups: Sequence[Hashable]) -> Rows:
        """Take the rows of some groups, numbered in that order; without clusters each row is a unit by itself."""
        places = {label: place for place, label in enumerate(groups)}
        group = np.array([places.get(label, -1) for label in held.labels], dtype=np.int64)[held.group]
        kept = np.flatnonzero(group >= 0)
        unit = np.arange(kept.size)
        if held.clusters is not None:
            unit = held.clusters[kept]
            # Of arrays they are numbers already.
            unit = unit if unit.dtype == np.int64 else check_clusters(unit, kept.size)
        weight = np.ones(kept.size) if held.weight is None else held.weight[kept]
        return cls(group[kept], held.positive[kept], weight, tuple(score[kept] for score in held.scores), unit)


class Units:
    """How placements vary between units: people with several rows each, or rows that have more than one score.

    Of each unit the placements of its rows are added up, sample by sample, for each score by itself. The products of
    these sums, added up over all units, are enough for the variance of any estimate (Obuchowski 1997 for one AUC), and
    for that of a difference of estimates from two scores.
    """

    def __init__(self, tables: Sequence[Sequence[ScoreTable]], rows: Rows) -> None:
        self.rows = rows
        self.size = len(tables[0])
        self.width = 3 * self.size * (self.size + 1)
        numbers = len(tables) * self.width
        # Units with rows in each sample, and in those of each kind.
        self.held, self.held_by_kind = np.zeros(3 * self.size), np.zeros(3)
        order = np.argsort(rows.unit, kind="stable")
        unit = rows.unit[order]
        starts = np.flatnonzero(np.append(True, unit[1:] != unit[:-1]))
        self.count = starts.size
        ends = np.append(starts, unit.size)
        # Sums are kept as they are while they fit; of more units, the products of their sums.
        self.sums: list[FloatArray] = []
        self.products = None if starts.size * numbers <= _MOST_NUMBERS else np.zeros((numbers, numbers))
        if self.products is not None and starts.size * float(numbers) ** 2 > _MOST_WORK:
            raise InputError(
                f"{self.size} groups with {starts.size:,} clusters, or rows to compare, are too many to allow for; "
                "name fewer groups."
            )
        step = max(_MOST_NUMBERS // numbers, 1)
        for first in range(0, starts.size, step):
            last = min(first + step, starts.size)
            part = order[ends[first] : ends[last]]
            within = np.repeat(np.arange(last - first), np.diff(ends[first : last + 1]))
            sums = np.hstack([self._sums(each, number, part, within) for number, each in enumerate(tables)])
            if self.products is None:
                self.sums.append(sums)
            else:
                self.products += sums.T @ sums
            mass = sums[:, self.size : self.width : self.size + 1].reshape(-1, 3, self.size)
            units = mass**2 if rows.counted else (mass > 0).astype(np.float64)
            self.held += units.sum(axis=0).ravel()
            self.held_by_kind += (units.sum(axis=2) if rows.counted else units.max(axis=2)).sum(axis=0)

    def _sums(
        self, tables: Sequence[ScoreTable], number: int, part: NDArray[np.intp], unit: NDArray[np.int64]
    ) -> FloatArray:
        """Sums of each unit: by sample, the placements less one half in each group, then the mass."""
        rows = self.rows
        size, count = self.size, int(unit[-1]) + 1
        # From the highest score down, as scores in order are looked up many times as fast.
        falling = np.argsort(-rows.scores[number][part])
        part, unit = part[falling], unit[falling]
        group, positive, weight = rows.group[part], rows.positive[part], rows.weight[part]
        score = rows.scores[number][part]
        found = np.zeros((count, 3 * size, size + 1))
        higher = np.stack([_higher(table, score) for table in tables])
        n1, n0 = (np.array([getattr(table, name) for table in tables])[:, None] for name in ("n1", "n0"))
        with np.errstate(invalid="ignore", divide="ignore"):
            kinds = (0.5 - higher[:, 1] / n0, higher[:, 0] / n1 - 0.5, 0.5 - higher.sum(axis=1) / (n1 + n0))
        for g, of_class in product(range(size), (True, False)):
            chosen = np.flatnonzero((group == g) & (positive == of_class))
            if not chosen.size:
                continue
            units, own = unit[chosen], weight[chosen]
            mass = np.bincount(units, own, minlength=count)
            for kind in (0 if of_class else 1, 2):
                sample = found[:, kind * size + g]
                for column in range(size):
                    placement = np.nan_to_num(kinds[kind][column, chosen], posinf=0.0, neginf=0.0)
                    sample[:, column] += np.bincount(units, placement * own, minlength=count)
                sample[:, -1] += mass
        return found.reshape(count, -1)

    def stderr(self, influence: FloatArray) -> float:
        """Standard error of a sum to which each row adds something of its own, of mean 0."""
        if self.count < 2:
            return np.nan
        sums = np.bincount(self.rows.unit, influence)
        return float(np.sqrt(np.sum(sums**2) * self.count / (self.count - 1)))

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
        wanted = np.zeros((len(self.rows.scores), 3 * self.size, self.size + 1))
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
        if self.products is not None:
            return float(flat @ self.products @ flat), least - 1
        used = np.flatnonzero(flat)
        return sum(float(np.sum((sums[:, used] @ flat[used]) ** 2)) for sums in self.sums), least - 1


def _higher(table: ScoreTable, score: FloatArray) -> FloatArray:
    """Mass of a group's positives, and of its negatives, above each score; mass at the very same score counts half."""
    place, tied = find(score, table.score)
    found = []
    for mass in (table.positive, table.negative):
        at = np.append(mass, 0.0)
        found.append(np.append(0.0, np.cumsum(mass))[place] + 0.5 * at[place] * tied)
    return np.stack(found)
