"""Sufficient statistics of an audit: means and second moments of placements, from one sweep over the tables.

The placement of a row in a class of a group is the share of that class it outranks, ties counting one half.
Every metric of the package is an average of placements, and every standard error comes from how they vary.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise, starmap
from typing import TYPE_CHECKING

import numpy as np

from xorder._table import STEP, FloatArray, ScoreTable, find, running

if TYPE_CHECKING:
    from xorder.metrics._units import Units

# A product of matrices with more multiplications than this has BLAS start threads of its own, which within ours takes
# many times as long; but none is of fewer rows than the second number.
_ALONE, _LEAST = 262_144, 256


@dataclass(slots=True)
class Placements:
    """Running sums of the placements of one sample (a class of a group) in each of K others.

    Kept less one half, against cancellation. ``spread`` is the sum of squared weights where weights come from
    a sampling design, else the mass itself: a row of weight 2 is then two rows. ``samples`` are the numbers of the
    samples that are in it: K of positives, then K of negatives, then K of all rows.
    """

    size: int
    mass: float = 0.0
    spread: float = 0.0
    samples: tuple[int, ...] = ()
    first: FloatArray = field(init=False)
    spread_first: FloatArray = field(init=False)
    spread_second: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        self.first = np.zeros(self.size)
        self.spread_first = np.zeros(self.size)
        self.spread_second = np.zeros((self.size, self.size))

    def add(self, placement: FloatArray, mass: FloatArray, spread: FloatArray | None) -> None:
        """Add rows: a K x rows matrix of placements less one half, the rows' masses, and spreads if they differ."""
        self.mass += float(mass.sum())
        self.spread += float((mass if spread is None else spread).sum())
        weighted = placement * (mass if spread is None else spread)
        alone = rows_alone(self.size)
        for start in range(0, mass.size, alone):
            some = slice(start, start + alone)
            first = _product(placement[:, some], mass[some])
            self.first += first
            self.spread_first += first if spread is None else _product(placement[:, some], spread[some])
            self.spread_second += weighted[:, some] @ placement[:, some].T

    def __add__(self, other: Placements) -> Placements:
        """Return the placements of both samples taken as one."""
        both = Placements(self.size, self.mass + other.mass, self.spread + other.spread, self.samples + other.samples)
        for name in ("first", "spread_first", "spread_second"):
            setattr(both, name, getattr(self, name) + getattr(other, name))
        return both

    def mean(self) -> FloatArray:
        """Mean placement in each of the K others; ``nan`` without mass."""
        return self.first / self.mass + 0.5 if self.mass > 0 else np.full(self.size, np.nan)

    def scatter(self, weights: FloatArray, center: float) -> float:
        """Sum, over the sample, of spread times (weighted placement - center) squared."""
        used = np.flatnonzero(weights)
        w = weights[used]
        shifted = center - 0.5 * w.sum()
        second = w @ self.spread_second[np.ix_(used, used)] @ w
        return float(second - 2 * shifted * (w @ self.spread_first[used]) + self.spread * shifted**2)


def rows_alone(size: int) -> int:
    """How many rows at a time go into products of so many columns."""
    return min(max(_ALONE // size**2, _LEAST), STEP)


def _product(placement: FloatArray, mass: FloatArray) -> FloatArray:
    """Product of a matrix and a column: row by row where BLAS would start threads."""
    return placement @ mass if placement.size <= STEP else np.array([row @ mass for row in placement])


@dataclass(frozen=True, slots=True)
class Moments:
    """What an audit needs to know of K groups, in the order of their tables.

    ``positive[g]`` holds the placements of g's positives in the negatives of each group; ``negative[h]``, for
    h's negatives, the shares of each group's positives that outrank them; ``row[g]`` the placements of all
    rows of g in all rows of each group. ``xauc[g, h]`` is the chance that a positive of g outranks a negative
    of h, ``above[g, h]`` that any row of g outranks any row of h. ``units`` are what varies, where that is not the
    single row.
    """

    positives: FloatArray
    negatives: FloatArray
    positive: tuple[Placements, ...]
    negative: tuple[Placements, ...]
    row: tuple[Placements, ...]
    units: Units | None = None
    all_positive: Placements = field(init=False)
    all_negative: Placements = field(init=False)
    xauc: FloatArray = field(init=False)
    above: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        nothing = Placements(len(self.positive))
        object.__setattr__(self, "all_positive", sum(self.positive, nothing))
        object.__setattr__(self, "all_negative", sum(self.negative, nothing))
        object.__setattr__(self, "xauc", np.stack([sample.mean() for sample in self.positive]))
        object.__setattr__(self, "above", np.stack([sample.mean() for sample in self.row]))


def moments(tables: Sequence[ScoreTable]) -> Moments:
    """Sweep the tables of K groups, in steps, and collect their :class:`Moments`."""
    # Steps are too short for threads: these would wait for the interpreter longer than they work.
    return _moments(tables, _added_up(tables, _sweep(tables), 0.5))


def changes(tables: Sequence[ScoreTable], before: Sequence[ScoreTable]) -> Moments:
    """Collect how placements change: between tables of the same rows in the same order, at other scores.

    Each is one half more than the change, as if that were a placement.
    """
    return _moments(tables, _added_up(tables, _changed(tables, before), 0.0))


def _moments(tables: Sequence[ScoreTable], sums: list[list[Placements]]) -> Moments:
    n1, n0 = (np.array([getattr(table, name) for table in tables]) for name in ("n1", "n0"))
    positive, negative, row = map(tuple, sums)
    return Moments(n1, n0, positive, negative, row)


def _added_up(
    tables: Sequence[ScoreTable],
    steps: Iterable[tuple[int, slice, FloatArray, FloatArray]],
    half: float,
) -> list[list[Placements]]:
    """Add up the placements of each sample, less one half, from steps that :func:`_sweep` yields."""
    size = len(tables)
    n1, n0 = (np.array([getattr(table, name) for table in tables])[:, None] for name in ("n1", "n0"))
    sums = [[Placements(size, samples=(kind * size + g,)) for g in range(size)] for kind in range(3)]
    for g, part, higher1, higher0 in steps:
        p, n = tables[g].positive[part], tables[g].negative[part]
        sp, sn = (None, None) if tables[g].positive_squares is None else (each[part] for each in tables[g].spreads)
        both = None if sp is None or sn is None else sp + sn
        with np.errstate(invalid="ignore", divide="ignore"):
            sums[0][g].add(half - higher0 / n0, p, sp)
            sums[1][g].add(higher1 / n1 - half, n, sn)
            sums[2][g].add(half - (higher1 + higher0) / (n1 + n0), p + n, both)
    return sums


def _changed(
    tables: Sequence[ScoreTable], before: Sequence[ScoreTable]
) -> Iterator[tuple[int, slice, FloatArray, FloatArray]]:
    """Yield, in steps as :func:`_sweep`, how much more mass of each group's classes is above a score than before."""
    sums = [[(mass, running(mass)) for mass in (table.positive, table.negative)] for table in tables]
    rising = [[np.append(-table.score, np.inf) for table in every] for every in (tables, before)]
    for g, table in enumerate(tables):
        for start in range(0, len(table), STEP):
            part = slice(start, min(start + STEP, len(table)))
            higher = np.zeros((2, len(tables), part.stop - start))
            for sign, keys in zip((1.0, -1.0), rising, strict=True):
                own = keys[g][part]
                for h, among in enumerate(keys):
                    place = np.searchsorted(among, own)
                    tied = np.flatnonzero(among[place] == own)
                    for row, (mass, total) in enumerate(sums[h]):
                        higher[row, h] += sign * total[place]
                        higher[row, h, tied] += sign * 0.5 * mass[place[tied]]
            yield g, part, higher[0], higher[1]


def _windows(tables: Sequence[ScoreTable]) -> list[list[int]]:
    """Cut all tables at the same scores, about a step of each at a time; return how many of each are above a cut."""
    every = STEP * len(tables)
    edges = np.sort(np.concatenate([table.score[every::every] for table in tables]))[::-1]
    bounds = np.zeros((edges.size + 2, len(tables)), dtype=np.int64)
    for g, table in enumerate(tables):
        bounds[1:-1, g] = len(table) - np.searchsorted(table.score[::-1], edges, side="right")
        bounds[-1, g] = len(table)
    return bounds.tolist()


def _sweep(tables: Sequence[ScoreTable]) -> Iterator[tuple[int, slice, FloatArray, FloatArray]]:
    """Yield the number of a group and a slice of its scores, with the mass of each group's classes above them.

    The matrices, of positives and of negatives, have one row per group and one column per score; mass at the very same
    score counts one half.
    """
    both = [(table.positive, table.negative) for table in tables]
    seen = [[0.0, 0.0] for _ in tables]
    for window in pairwise(_windows(tables)):
        parts = list(starmap(slice, zip(*window, strict=True)))
        scores = [table.score[part] for table, part in zip(tables, parts, strict=True)]
        masses = [[mass[part] for mass in classes] for classes, part in zip(both, parts, strict=True)]
        sums = [list(map(running, *each)) for each in zip(masses, seen, strict=True)]
        seen = [[total[-1] for total in totals] for totals in sums]
        higher = [np.empty((2, len(tables), score.size)) for score in scores]
        for g, above in enumerate(higher):
            for row, (mass, total) in enumerate(zip(masses[g], sums[g], strict=True)):
                np.add(total[:-1], 0.5 * mass, out=above[row, g])
        for pair in combinations(range(len(tables)), 2):
            g, h = sorted(pair, key=lambda each: scores[each].size)
            place, is_tied = find(scores[g], scores[h])
            tied = np.flatnonzero(is_tied)
            # The same seen from h: above its score j stand those of g with at most j of h's at or above them.
            reverse = np.cumsum(np.bincount(place + is_tied, minlength=scores[h].size + 1))[:-1]
            at = place[tied]
            for own, other, places, here, there in ((g, h, place, tied, at), (h, g, reverse, at, tied)):
                for row, (mass, total) in enumerate(zip(masses[other], sums[other], strict=True)):
                    total.take(places, out=higher[own][row, other], mode="clip")
                    higher[own][row, other, here] += 0.5 * mass[there]
        for g, part in enumerate(parts):
            if scores[g].size:
                yield g, part, higher[g][0], higher[g][1]
