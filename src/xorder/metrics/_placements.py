"""Sufficient statistics of an audit: means and second moments of placements, from one sweep over the tables.

The placement of a row in a class of a group is the share of that class it outranks, ties counting one half.
Every metric of the package is an average of placements, and every standard error comes from how they vary.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise, starmap
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from xorder._table import STEP, FloatArray, IntArray, ScoreTable, in_threads

if TYPE_CHECKING:
    from xorder.metrics._units import Units

# A product of matrices with more multiplications than this has BLAS start threads of its own, which within ours takes
# many times as long; but none is of fewer rows than the second number.
_ALONE, _LEAST = 262_144, 256

# Stretches of the list that are swept apart, times the number of groups; never fewer than four.
_STRETCHES = 64


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
        first = _product(placement, mass)
        self.first += first
        self.spread_first += first if spread is None else _product(placement, spread)
        self.spread_second += products(placement * (mass if spread is None else spread), placement)

    def include(self, other: Placements) -> None:
        """Add other rows of the same sample, whose sums were taken apart."""
        self.mass += other.mass
        self.spread += other.spread
        self.first += other.first
        self.spread_first += other.spread_first
        self.spread_second += other.spread_second

    def __add__(self, other: Placements) -> Placements:
        """Return the placements of both samples taken as one."""
        both = Placements(self.size, samples=self.samples + other.samples)
        both.include(self)
        both.include(other)
        return both

    def through(self, matrix: FloatArray, samples: tuple[int, ...]) -> Placements:
        """Return the sums of other numbers of the same rows, each a sum of these as a row of the matrix says."""
        found = Placements(len(matrix), self.mass, self.spread, samples)
        found.first, found.spread_first = matrix @ self.first, matrix @ self.spread_first
        found.spread_second = matrix @ self.spread_second @ matrix.T
        return found

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


def _product(placement: FloatArray, mass: FloatArray) -> FloatArray:
    """Product of a matrix and a column: row by row where BLAS would start threads."""
    return placement @ mass if placement.size <= STEP else np.array([row @ mass for row in placement])


def products(one: FloatArray, other: FloatArray) -> FloatArray:
    """Products of the rows of two matrices, added up over the columns."""
    alone = min(max(_ALONE // (len(one) * len(other)), _LEAST), STEP)
    parts = (slice(start, start + alone) for start in range(0, one.shape[1], alone))
    return sum((one[:, part] @ other[:, part].T for part in parts), np.zeros((len(one), len(other))))


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

    def of_stretch(stretch: Bounds) -> list[list[Placements]]:
        sums = _nothing(tables)
        for window in windows(tables, stretch):
            for g, (table, part) in enumerate(zip(tables, window.parts, strict=True)):
                _add(sums[g], table, part, partial(window.shares, g))
        return sums

    # Stretches of the list are independent, and numpy lets go of the interpreter while it works.
    found = in_threads(sum(map(len, tables)), of_stretch, stretches(tables))
    for more in found[1:]:
        for samples, others in zip(found[0], more, strict=True):
            for sample, other in zip(samples, others, strict=True):
                sample.include(other)
    return _moments(tables, found[0], units)


def changes(tables: Sequence[ScoreTable], before: Sequence[ScoreTable]) -> Moments:
    """Collect how placements change: between tables of the same rows in the same order, at other scores.

    Each is one half more than the change, as if that were a placement.
    """
    above = [_shares_above(table, slice(0, len(table)), np.zeros((2, 1)))[0] for table in tables]
    rising = [[np.append(-table.score, np.inf) for table in every] for every in (tables, before)]

    def changed(g: int, start: int, index: IntArray) -> FloatArray:
        more = np.zeros((len(tables), 2, index.size))
        for sign, keys in zip((0.5, -0.5), rising, strict=True):
            own = keys[g][start + index]
            for h, among in enumerate(keys):
                place = np.searchsorted(among, own)
                # Equal scores count one half: half way from above them to below them.
                for each in (place, place + (among[place] == own)):
                    more[h] += sign * above[h].take(each, axis=1)
        return more.reshape(-1, index.size)

    sums = _nothing(tables)
    for g, table in enumerate(tables):
        for start in range(0, len(table), STEP):
            _add(sums[g], table, slice(start, start + STEP), partial(changed, g, start))
    return _moments(tables, sums)


def _nothing(tables: Sequence[ScoreTable]) -> list[list[Placements]]:
    """Sums without rows, of the positives and of the negatives of each group."""
    return [[Placements(2 * len(tables)) for _ in range(2)] for _ in tables]


def _add(
    sums: Sequence[Placements], table: ScoreTable, part: slice, shares: Callable[[NDArray[np.intp]], FloatArray]
) -> None:
    """Add the rows of both classes in a part of a table; ``shares`` finds those above some scores of it."""
    for found, mass, spread in zip(sums, table.sums[:2], table.spreads, strict=True):
        held = np.flatnonzero(mass[part] > 0)
        if held.size:
            of_rows = mass[part][held]
            found.add(shares(held), of_rows, None if spread is mass else spread[part][held])


def _moments(tables: Sequence[ScoreTable], sums: list[list[Placements]], units: Units | None = None) -> Moments:
    """Turn sums of the shares that are above rows into those of their placements."""
    n1, n0 = (np.array([getattr(table, name) for table in tables]) for name in ("n1", "n0"))
    positive, negative = zip(*sums, strict=True)
    samples = (positive, negative, [one + other for one, other in sums])
    found = [
        tuple(sample.through(matrix, (kind * len(tables) + g,)) for g, sample in enumerate(of_kind))
        for kind, (matrix, of_kind) in enumerate(zip(placements_of(n1, n0), samples, strict=True))
    ]
    return Moments(n1, n0, found[0], found[1], found[2], units)


def placements_of(n1: FloatArray, n0: FloatArray) -> FloatArray:
    """Return the matrices that make placements of shares above, all less one half, by kind.

    Of positives in negatives, of negatives the shares of positives that outrank them, and of all rows in all. Shares
    are those of the positives and of the negatives of each group in turn.
    """
    every = np.arange(n1.size)
    matrices = np.zeros((3, n1.size, 2 * n1.size))
    with np.errstate(invalid="ignore", divide="ignore"):
        matrices[0, every, 2 * every + 1] = -n0 / n0
        matrices[1, every, 2 * every] = n1 / n1
        matrices[2, every, 2 * every] = -n1 / (n1 + n0)
        matrices[2, every, 2 * every + 1] = -n0 / (n1 + n0)
    return matrices


Bounds = tuple[IntArray, FloatArray]


def stretches(tables: Sequence[ScoreTable]) -> list[Bounds]:
    """Cut all tables at the same scores, about a step of each at a time; return stretches of such bounds.

    Row by row, bounds say how many scores of each table lie above a cut. With them come the masses above the first, of
    both classes of each table.
    """
    every = STEP * len(tables)
    edges = np.sort(np.concatenate([table.score[every::every] for table in tables]))[::-1]
    bounds = np.zeros((edges.size + 2, len(tables)), dtype=np.int64)
    for g, table in enumerate(tables):
        bounds[1:-1, g] = len(table) - np.searchsorted(table.score[::-1], edges, side="right")
        bounds[-1, g] = len(table)
    # Each stretch has sums of its own, K x K for each group.
    parts = max(_STRETCHES // len(tables), 4)
    ends = np.unique(np.linspace(0, len(bounds) - 1, parts + 1).astype(int)).tolist()
    found, seen = [], np.zeros((len(tables), 2, 1))
    for first, last in pairwise(ends):
        found.append((bounds[first : last + 1], seen))
        inside = starmap(slice, zip(bounds[first], bounds[last], strict=True))
        seen = seen + [
            [[mass[part].sum()] for mass in table.sums[:2]] for table, part in zip(tables, inside, strict=True)
        ]
    return found


def windows(tables: Sequence[ScoreTable], stretch: Bounds) -> Iterator[Window]:
    """Yield the windows between the bounds of a stretch."""
    bounds, seen = stretch
    for ends in pairwise(bounds.tolist()):
        window = Window(tables, list(starmap(slice, zip(*ends, strict=True))), seen)
        seen = window.seen
        yield window


class Window:
    """The scores of all tables between two bounds, put in order; ``parts`` are the slices of the tables."""

    def __init__(self, tables: Sequence[ScoreTable], parts: list[slice], seen: FloatArray) -> None:
        self.parts = parts
        found = [_shares_above(table, part, sums) for table, part, sums in zip(tables, parts, seen, strict=True)]
        self._above, self.seen = [shares for shares, _ in found], np.stack([sums for _, sums in found])
        turned = np.concatenate([-table.score[part] for table, part in zip(tables, parts, strict=True)])
        order = np.argsort(turned, kind="stable")
        ends = np.cumsum([part.stop - part.start for part in parts])
        place = np.empty(order.size, dtype=np.intp)
        place[order] = np.arange(order.size)
        # By group, where each of its scores stands in the order; and how many of them stand before each place.
        self._place = np.split(place, ends[:-1])
        group = np.repeat(np.arange(len(parts), dtype=np.int16), np.diff(ends, prepend=0))[order]
        self._before = np.zeros((len(parts), order.size + 1), dtype=np.intp)
        for g, before in enumerate(self._before):
            np.cumsum(group == g, out=before[1:])
        turned = turned[order]
        is_new = np.append(True, turned[1:] != turned[:-1])[: order.size]
        # Where scores of two groups are equal: the first place of these, and the place past them.
        self._first = self._past = None
        if not is_new.all():
            edges, run = np.append(np.flatnonzero(is_new), order.size), np.cumsum(is_new)
            self._first, self._past = edges[run - 1], edges[run]

    def shares(self, g: int, index: NDArray[np.intp]) -> FloatArray:
        """Shares of each class of each group above some scores of group g's part, ties counting half, less one half.

        One row each for the positives and the negatives of each group in turn.
        """
        place = self._place[g][index]
        found = np.empty((len(self.parts), 2, index.size))
        for h, (above, before, shares) in enumerate(zip(self._above, self._before, found, strict=True)):
            if self._first is not None and self._past is not None:
                first, past = before[self._first[place]], before[self._past[place]]
            else:
                first, past = before[place], index + 1
            above.take(first, axis=1, out=shares, mode="clip")
            if h == g or self._first is not None:
                shares += above.take(past, axis=1)
                shares *= 0.5
        return found.reshape(-1, index.size)


def _shares_above(table: ScoreTable, part: slice, seen: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the shares of both classes above each score of a part and below its last, less one half; and masses there.

    ``seen`` are the masses above the part.
    """
    sums = np.empty((2, part.stop - part.start + 1))
    sums[:, :1] = seen
    for mass, row in zip(table.sums[:2], sums, strict=True):
        row[1:] = mass[part]
        np.cumsum(row, out=row)
    last = sums[:, -1:].copy()
    sums /= np.maximum([[table.n1], [table.n0]], np.finfo(np.float64).tiny)
    sums -= 0.5
    return sums, last
