"""Sufficient statistics of an audit: means and second moments of placements, from one sweep over the tables.

The placement of a row in a class of a group is the share of that class it outranks, ties counting one half.
Every metric of the package is an average of placements, and every standard error comes from how they vary.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, starmap
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from xorder._ranking import MOST_RANKED, Ranking, lanes
from xorder._table import STEP, BoolArray, FloatArray, IntArray, ScoreTable, running

if TYPE_CHECKING:
    from xorder.metrics._units import Units

# A product of matrices with more multiplications than this has BLAS start threads of its own, which within ours, or on
# a busy machine, takes many times as long. Products that would be of fewer rows than the second number are not worth
# that care: they are of as many rows as the third says.
_ALONE, _FEWEST, _TOGETHER = 262_144, 16, 256

# A sweep holds sums of each group at the scores of all, and of many groups looks at fewer scores at once.
_MOST_SUMS = 1 << 20


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
        """Add rows: a K x rows matrix of what they are placed by, the rows' masses, and spreads if they differ."""
        self.mass += float(mass.sum())
        self.spread += float((mass if spread is None else spread).sum())
        weighted = placement * mass
        self.first += weighted.sum(axis=1)
        if spread is not None:
            weighted = placement * spread
        self.spread_first += weighted.sum(axis=1)
        alone = rows_alone(self.size)
        for start in range(0, mass.size, alone):
            some = slice(start, start + alone)
            self.spread_second += weighted[:, some] @ placement[:, some].T

    def scaled(self, factor: FloatArray) -> Placements:
        """Return the same with what rows are placed by times a factor, one for each of the K others."""
        found = Placements(self.size, self.mass, self.spread, self.samples)
        found.first, found.spread_first = factor * self.first, factor * self.spread_first
        found.spread_second = np.outer(factor, factor) * self.spread_second
        return found

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
        (used,) = weights.nonzero()
        if used.size == 1:
            # Most have all their weight on one group.
            (g,), (w,) = used.tolist(), weights[used].tolist()
            total, first, second = w, w * self.spread_first.item(g), w * w * self.spread_second.item(g, g)
        else:
            part = weights[used]
            total, first = part.sum(), part @ self.spread_first[used]
            second = part @ self.spread_second[used[:, None], used] @ part
        shifted = center - 0.5 * total
        return float(second - 2 * shifted * first + self.spread * shifted**2)


def rows_alone(size: int) -> int:
    """How many rows at a time go into products of so many columns."""
    rows = _ALONE // size**2
    return min(rows if rows >= _FEWEST else _TOGETHER, STEP)


def as_items(rows: NDArray[Any]) -> NDArray[np.void]:
    """Return the rows of a matrix as items of one column, which are moved several times as fast."""
    return rows.view(np.dtype((np.void, rows.shape[1] * rows.itemsize)))[:, 0]


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
    return _added_up(tables, _sweep(tables))


def moments_of_rows(ranking: Ranking) -> Moments:
    """Collect the :class:`Moments` of ranked rows, which count one each."""
    codes, size = ranking.codes, ranking.codes // 2
    # Of twice the rows of each code that are above a row, less all of these: sums by the row's code, and products,
    # within steps and with what is above a step.
    above, first = -ranking.counts.astype(np.float64), np.zeros((codes, codes))
    within, across = np.zeros((2, codes, codes, codes))
    for rows, found, values in _placed(ranking):
        for each, part in enumerate(values):
            within[each] += products(part.T)[:codes, :codes]
        # What is above the first of these rows is above all of them.
        moved = rows[:, None] * above
        across += above[:, None] * (found + 0.5 * moved)[:, None]
        first += found
        first += moved
        above += 2 * rows
    total = within + across + across.swapaxes(1, 2)
    n0, n1 = ranking.counts.reshape(-1, 2).T.astype(np.float64)
    # By the rows' group and class, then by those above them; of rows whatever their class, sums over both.
    second = total.reshape(size, 2, size, 2, size, 2) / 4
    first = first.reshape(size, 2, size, 2) / 2
    by_kind = [
        (n1, first[:, 1, :, 0], second[:, 1, :, 0, :, 0]),
        (n0, first[:, 0, :, 1], second[:, 0, :, 1, :, 1]),
        (n1 + n0, first.sum(axis=(1, 3)), second.sum(axis=(1, 3, 5))),
    ]
    samples = []
    for kind, of_groups in enumerate(by_kind):
        for g, (mass, sums, squares) in enumerate(zip(*of_groups, strict=True)):
            samples.append(Placements(size, float(mass), float(mass), (kind * size + g,)))
            samples[-1].first = samples[-1].spread_first = sums
            samples[-1].spread_second = squares
    return _scaled(n1, n0, samples)


def pairs_of_rows(ranking: Ranking) -> FloatArray:
    """Count pairs of ranked rows by group and class, of the one above, then of the one below; equal scores count half.

    Positives come first, as in the gains of a metric.
    """
    above, twice = np.zeros(ranking.codes), np.zeros((ranking.codes, ranking.codes))
    for rows, found, _ in _placed(ranking):
        twice += found
        twice += rows[:, None] * above
        above += 2 * rows
    return twice.T.reshape(2 * (ranking.codes // 2, 2))[:, ::-1, :, ::-1] / 2


def _placed(ranking: Ranking) -> Iterator[tuple[IntArray, FloatArray, list[FloatArray]]]:
    """Yield, of each step, the number of rows of each code, and twice what they have above them within the step.

    That comes as sums by the row's code, and row by row, code by code.
    """
    codes, (one, lane) = ranking.codes, lanes(ranking.codes, 2 * MOST_RANKED)
    for part in ranking.steps:
        code = ranking.code[part]
        sums = running_counts(one, code, 0)
        own = as_items(twice_above(sums, ranking.is_next[part])).take(np.argsort(code, kind="stable")).view(lane)
        values, rows = own.astype(np.float64).reshape(code.size, -1), sums[-1].view(lane)[:codes].astype(np.int64)
        parts = [values[start:stop] for start, stop in pairwise([0, *np.cumsum(rows).tolist()])]
        # By BLAS, which with many columns adds up several times as fast as NumPy.
        found = np.array([np.ones(len(part)) @ part for part in parts])[:, :codes]
        yield rows, found, parts


def products(values: FloatArray) -> FloatArray:
    """Sum, over all columns, the products of each number in it with each."""
    pieces = -(-values.shape[1] // rows_alone(len(values)))
    if pieces < 2:
        return np.asarray(values @ values.T)
    # All of about the same size: a short one takes longer for each of its columns.
    found, step = np.zeros((len(values), len(values))), -(-values.shape[1] // pieces)
    for start in range(0, values.shape[1], step):
        part = values[:, start : start + step]
        found += part @ part.T
    return found


def running_counts(one: NDArray[Any], code: NDArray[Any], start: Any, mass: FloatArray | None = None) -> NDArray[Any]:
    """Return a start and, row by row, the sums from there on of what a row of each code adds, times its mass."""
    sums = np.empty((code.size + 1, one.shape[1]), dtype=one.dtype)
    sums[0] = start
    one.take(code, axis=0, out=sums[1:], mode="clip")
    if mass is not None:
        sums[1:] *= mass[:, None]
    return np.cumsum(sums, axis=0, out=sums)


def twice_above(sums: NDArray[Any], is_next: BoolArray) -> NDArray[Any]:
    """Return twice what is above each of some rows, ties counting one half, from running sums.

    ``is_next`` says of each row whether its score is another than that of the row before it; of the first it is.
    """
    if is_next.all():
        return np.asarray(sums[1:] + sums[:-1])
    # Rows of the same score are alike: what is above the first of them, and what is above the row after the last.
    ends = sums.take(np.append(np.flatnonzero(is_next), is_next.size), axis=0)
    run = np.cumsum(is_next, dtype=np.int64)
    run -= 1
    return np.asarray(ends[1:] + ends[:-1]).take(run, axis=0)


def changes(tables: Sequence[ScoreTable], before: Sequence[ScoreTable]) -> Moments:
    """Collect how placements change: between tables of the same rows in the same order, at other scores.

    Each is one half more than the change, as if that were a placement.
    """
    return _added_up(tables, _changed(tables, before))


def _added_up(tables: Sequence[ScoreTable], steps: Iterable[tuple[int, slice, FloatArray, FloatArray]]) -> Moments:
    """Collect moments from steps as :func:`_sweep` yields them; they are scaled at the end, which is less work."""
    size = len(tables)
    n1, n0 = (np.array([getattr(table, name) for table in tables]) for name in ("n1", "n0"))
    sums = [[Placements(size, samples=(kind * size + g,)) for g in range(size)] for kind in range(3)]
    for g, part, higher1, higher0 in steps:
        p, n = tables[g].positive[part], tables[g].negative[part]
        sp, sn = (None, None) if tables[g].positive_squares is None else (each[part] for each in tables[g].spreads)
        sums[0][g].add(higher0, p, sp)
        sums[1][g].add(higher1, n, sn)
        sums[2][g].add(higher1 + higher0, p + n, None if sp is None or sn is None else sp + sn)
    return _scaled(n1, n0, [sample for of_kind in sums for sample in of_kind])


def _scaled(n1: FloatArray, n0: FloatArray, samples: Sequence[Placements]) -> Moments:
    """Turn sums of masses above, of positives, negatives and rows of each group, into those of placements."""
    size = n1.size
    # In a class that is not there nothing is placed.
    factors = [sign / np.where(total > 0, total, np.nan) for sign, total in ((-1, n0), (1, n1), (-1, n1 + n0))]
    found = [sample.scaled(factors[number // size]) for number, sample in enumerate(samples)]
    positive, negative, row = (tuple(found[kind * size : (kind + 1) * size]) for kind in range(3))
    return Moments(n1, n0, positive, negative, row)


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


def windows(tables: Sequence[ScoreTable], every: int, together: int = 1) -> tuple[FloatArray, IntArray]:
    """Cut all tables at the same scores: ``every`` so many of each table, or at one such score of several ``together``.

    Return the highest score that is below each cut but the last, and how many of each table are above a cut, by row.
    """
    tops = -np.unique(np.sort(np.concatenate([-table.score[::every] for table in tables]))[::together])
    bounds = np.empty((tops.size + 1, len(tables)), dtype=np.int64)
    for g, table in enumerate(tables):
        bounds[:-1, g] = len(table) - np.searchsorted(table.score[::-1], tops, side="right")
        bounds[-1, g] = len(table)
    return tops, bounds


def _sweep(tables: Sequence[ScoreTable]) -> Iterator[tuple[int, slice, FloatArray, FloatArray]]:
    """Yield the number of a group and a slice of its scores, with the mass of each group's classes above them.

    The matrices, of positives and of negatives, have one row per group and one column per score. Mass at the very same
    score counts one half, and from all one half of the class is taken, so that a placement is less one half.
    """
    size = len(tables)
    most = min(2 * STEP, _MOST_SUMS // size)
    # Sums are of half the masses: the mean of those with and without what is at a score is then their sum.
    seen = -0.25 * np.array([[table.n1 for table in tables], [table.n0 for table in tables]])
    # The tables together have about that many scores from one cut to the next, and twice as many at most.
    for window in pairwise(windows(tables, max(most // size, 1), size)[1].tolist()):
        parts = list(starmap(slice, zip(*window, strict=True)))
        every = np.concatenate([table.score[part] for table, part in zip(tables, parts, strict=True)])
        order = np.argsort(-every, kind="stable")
        falling = every.take(order)
        # The number of a score among the distinct ones of all tables.
        place = np.empty(every.size, dtype=np.intp)
        place[order] = np.cumsum(np.append(False, falling[1:] != falling[:-1]))
        own = np.split(place, np.cumsum([part.stop - part.start for part in parts[:-1]]))
        sums = np.zeros((2, size, place[order[-1]] + 2))
        sums[:, :, 0] = seen
        for g, (table, part) in enumerate(zip(tables, parts, strict=True)):
            sums[0, g, own[g] + 1], sums[1, g, own[g] + 1] = 0.5 * table.positive[part], 0.5 * table.negative[part]
        np.cumsum(sums, axis=2, out=sums)
        seen = sums[:, :, -1]
        higher = sums[:, :, 1:] + sums[:, :, :-1]
        for g, part in enumerate(parts):
            if part.stop > part.start:
                yield g, part, *higher.take(own[g], axis=2)
