"""Sufficient statistics of an audit: means and second moments of placements, from one sweep over the tables.

The placement of a row in a class of a group is the share of that class it outranks, ties counting one half.
Every metric of the package is an average of placements, and every standard error comes from how they vary.
"""

from __future__ import annotations

import operator
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from xorder._table import STEP, FloatArray, ScoreTable, find, in_threads, running

if TYPE_CHECKING:
    from xorder.metrics._units import Units

# Steps that one thread takes in a row.
_STRETCH = 128


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
        total, first = _sums(placement, mass)
        spread_total, spread_first = (total, first) if spread is None else _sums(placement, spread)
        self.mass += total
        self.first += first
        self.spread += spread_total
        self.spread_first += spread_first
        self.spread_second += (placement * (mass if spread is None else spread)) @ placement.T

    def __add__(self, other: Placements) -> Placements:
        """Return the placements of both samples taken as one."""
        both = Placements(self.size, self.mass + other.mass, self.spread + other.spread, self.samples + other.samples)
        both.first = self.first + other.first
        both.spread_first = self.spread_first + other.spread_first
        both.spread_second = self.spread_second + other.spread_second
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


def _sums(placement: FloatArray, mass: FloatArray) -> tuple[float, FloatArray]:
    # Row by row: for a matrix, BLAS starts threads of its own.
    return float(mass.sum()), np.array([row @ mass for row in placement])


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


def moments(tables: Sequence[ScoreTable], units: Units | None = None) -> Moments:
    """Sweep the tables of K groups, in steps, and collect their :class:`Moments`."""
    n1 = np.array([table.n1 for table in tables])
    n0 = np.array([table.n0 for table in tables])

    def of_stretch(stretch: tuple[int, range]) -> tuple[Placements, Placements, Placements]:
        g, starts = stretch
        positive, negative, row = (Placements(len(tables)) for _ in range(3))
        for part, higher1, higher0 in _sweep(tables, g, starts):
            p, n = tables[g].positive[part], tables[g].negative[part]
            sp, sn = (None, None) if tables[g].positive_squares is None else (each[part] for each in tables[g].spreads)
            both = None if sp is None or sn is None else sp + sn
            with np.errstate(invalid="ignore", divide="ignore"):
                positive.add(0.5 - higher0 / n0[:, None], p, sp)
                negative.add(higher1 / n1[:, None] - 0.5, n, sn)
                row.add(0.5 - (higher1 + higher0) / (n1 + n0)[:, None], p + n, both)
        return positive, negative, row

    # Stretches of a group's scores are independent, and numpy lets go of the interpreter while it works.
    stretches = [(g, starts) for g, table in enumerate(tables) for starts in _stretches(len(table))]
    size = len(tables)
    sums = [[Placements(size, samples=(kind * size + g,)) for g in range(size)] for kind in range(3)]
    scores = sum(map(len, tables))
    for (g, _), found in zip(stretches, in_threads(scores, of_stretch, stretches), strict=True):
        for samples, placements in zip(sums, found, strict=True):
            samples[g] += placements
    positive, negative, row = map(tuple, sums)
    return Moments(n1, n0, positive, negative, row, units)


def _stretches(size: int) -> list[range]:
    """First scores of the steps of a sweep, a stretch of them at a time."""
    starts = range(0, size, STEP)
    return [starts[first : first + _STRETCH] for first in range(0, len(starts), _STRETCH)]


def _sweep(tables: Sequence[ScoreTable], g: int, starts: range) -> Iterator[tuple[slice, FloatArray, FloatArray]]:
    """Yield slices of the scores of group g with the mass of each group's positives and negatives above them.

    Both matrices have one row per group and one column per score; mass at the very same score counts one half.
    """
    own = tables[g].score
    seen = [0 if starts[0] == 0 else _down_to(table, own[starts[0] - 1]) for table in tables]
    both = ([table.positive for table in tables], [table.negative for table in tables])
    seen_mass = np.array([[mass[:last].sum() for mass, last in zip(masses, seen, strict=True)] for masses in both])
    for start in starts:
        part = slice(start, min(start + STEP, len(own)))
        higher = np.empty((2, len(tables), part.stop - start))
        for h, table in enumerate(tables):
            # All scores of h down to this part's last one; the next part starts below them.
            stop = _down_to(table, own[part.stop - 1], seen[h])
            window = slice(seen[h], stop)
            masses = table.positive[window], table.negative[window]
            sums = [running(mass, start) for mass, start in zip(masses, seen_mass[:, h], strict=True)]
            if h == g:
                for row, (mass, total) in enumerate(zip(masses, sums, strict=True)):
                    higher[row, h] = total[:-1] + 0.5 * mass
            else:
                place, is_tied = find(own[part], table.score[window])
                tied = np.flatnonzero(is_tied)
                for row, (mass, total) in enumerate(zip(masses, sums, strict=True)):
                    total.take(place, out=higher[row, h])
                    higher[row, h, tied] += 0.5 * mass[place[tied]]
            seen_mass[:, h] = [total[-1] for total in sums]
            seen[h] = stop
        yield part, higher[0], higher[1]


def _down_to(table: ScoreTable, score: float, first: int = 0) -> int:
    """How many scores of a table lie at or above a score."""
    return bisect_right(table.score, -score, lo=first, key=operator.neg)
