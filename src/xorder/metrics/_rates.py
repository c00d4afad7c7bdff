r"""Rates at a cut: who is selected, found, missed, by group, with intervals; before and after a repair.

All rates are read off a few cells: the rows of one group and class above a cut, at it, and below it; of two cuts (one
of the scores as they are, one of adjusted scores) each with each. A rate is a sum over some cells by a sum over others,
and a row's influence on it depends on its cell alone:

.. math:: \frac{x - R\,d}{D} - R'(c)\,\frac{s - c}{N},

with x and d what the row adds to the two sums, D the second of them, s whether the row is selected, c the share of the
list that is, and R' how the rate changes with that share: where the cut is a share or a number of places, its score
varies with the sample, too. Influences are combined before squares are formed, so what two rates share is allowed for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from xorder._metric import normal_quantile
from xorder._table import FloatArray, IntArray, Tables, in_threads
from xorder.metrics._cuts import Cut, Cuts, Threshold

if TYPE_CHECKING:
    from xorder.metrics._units import Rows

Ends = tuple[float, float]

# What the row of all groups together is called.
ALL_GROUPS = "all groups"


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Rows of all groups by group, class and side of a cut, or of two.

    Attributes
    ----------
    group : ndarray of shape (n_cells,)
        Number of the group.
    positive : ndarray of shape (n_cells,)
        1 for positives, 0 for negatives.
    selected : tuple of ndarray
        By cut, the part of the cell's rows that is above it: 1, 0 or, of rows tied at the cut, something between.
    mass : ndarray of shape (n_cells,)
        Number of rows, or sum of their weights.
    spread : ndarray of shape (n_cells,)
        Sum of squared weights; of rows that count as one each, the mass.
    products : ndarray of shape (n_cells, n_cells) or None
        With clusters, the products of their masses in each two cells, added up over all clusters.
    per_unit : float
        Rows per cluster; 1 without.
    """

    group: IntArray
    positive: FloatArray
    selected: tuple[FloatArray, ...]
    mass: FloatArray
    spread: FloatArray
    products: FloatArray | None = None
    per_unit: float = 1.0

    def variance(self, influence: FloatArray) -> float:
        """Variance of a number on which a row of each cell has some influence."""
        return self.covariance(influence, influence)

    def covariance(self, one: FloatArray, other: FloatArray) -> float:
        """Covariance of two such numbers."""
        if self.products is None:
            return float(np.sum(self.spread * (one * other)))
        return float(one @ self.products @ other)


class CutSides(NamedTuple):
    """A cut of one score of some tables: its score, the part of the rows there that is above it, and its share."""

    threshold: float
    part: float
    share: float


def cells_at(
    by_cut: Cuts,
    cuts: tuple[CutSides, ...],
    moved: Mapping[Hashable, FloatArray] | None = None,
    rows: Rows | None = None,
) -> Cells:
    """Count the rows in the cells of a cut, or of two: of the scores as they are, and of those they are moved to."""
    columns: list[tuple[NDArray[Any], ...]] = []
    bounds: list[IntArray] = []
    for number, (name, table) in enumerate(by_cut.tables.items()):
        scores = zip((table.score, table.score if moved is None else moved[name]), cuts, strict=False)
        ends = [[_above(score, cut.threshold, ties=ties) for ties in (False, True)] for score, cut in scores]
        edges = np.unique([0, *(each for both in ends for each in both), len(table)])
        starts = edges[:-1]
        bounds.append(starts)
        sides = [(first, past, cut.part) for (first, past), cut in zip(ends, cuts, strict=True)]
        parts = [np.where(starts < first, 1.0, np.where(starts < past, part, 0.0)) for first, past, part in sides]
        sums = [np.diff(each[edges]) for each in by_cut.running(name)]
        for of_class, masses, spreads in zip((1.0, 0.0), sums[:2], sums[-2:], strict=True):
            columns.append((np.full(starts.size, number), np.full(starts.size, of_class), masses, spreads, *parts))
    group, positive, mass, spread, *selected = map(np.concatenate, zip(*columns, strict=True))
    found = Cells(group, positive, tuple(selected), mass, spread)
    return found if rows is None else _with_clusters(found, by_cut.tables, bounds, rows)


def _above(score: FloatArray, threshold: float, *, ties: bool) -> int:
    """How many of some falling scores lie above a threshold, with or without those equal to it."""
    return int(score.size - np.searchsorted(score[::-1], threshold, side="left" if ties else "right"))


def _with_clusters(cells: Cells, tables: Tables, bounds: list[IntArray], rows: Rows) -> Cells:
    """Add up, over clusters, the products of their masses in each two cells."""
    from scipy.sparse import csr_array  # Not needed otherwise, and takes its time.

    cell = np.empty(rows.units.size, dtype=np.int64)
    first = 0
    for number, (table, starts) in enumerate(zip(tables.values(), bounds, strict=True)):
        own = np.flatnonzero(rows.group == number)
        side = np.searchsorted(-table.score[starts], -rows.scores[0][own], side="right") - 1
        cell[own] = first + side + starts.size * ~rows.positive[own]
        first += 2 * starts.size
    units, unit = np.unique(rows.units, return_inverse=True)
    weight = np.ones(cell.size) if rows.mass is None else rows.mass
    masses = csr_array((weight, (unit, cell)), shape=(units.size, cells.mass.size))
    products = (masses.T @ masses).toarray() * units.size / max(units.size - 1, 1)
    return replace(cells, products=products, per_unit=rows.units.size / units.size)


# Where around a cut to look for how a rate changes with it, as parts of the reach.
_STEPS = (-1.0, -0.5, 0.5, 1.0)

# What a row adds to the two sums of a rate: whether it is positive, and the part of it that is selected.
_Sums = Callable[[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]

# Rates at a cut, by name, each as two sums over rows.
RATES: dict[str, _Sums] = {
    "selected": lambda positive, selected: (selected, np.ones_like(selected)),
    "sensitivity": lambda positive, selected: (selected * positive, positive),
    "specificity": lambda positive, selected: ((1 - selected) * (1 - positive), 1 - positive),
    "false_positive_rate": lambda positive, selected: (selected * (1 - positive), 1 - positive),
    "ppv": lambda positive, selected: (selected * positive, selected),
    "npv": lambda positive, selected: ((1 - selected) * (1 - positive), 1 - selected),
}


@dataclass(frozen=True, slots=True, eq=False)
class Rate:
    """A rate of one group, or of all, at a cut.

    ``count`` by ``of`` is the value; ``rows`` is the number of rows that would say as much of it if each varied by
    itself, which the interval is made of (Wilson 1927), ``all_rows`` of how many it is the rate, and ``influence`` what
    a row of each cell adds to it.
    """

    count: float
    of: float
    value: float
    variance: float
    rows: float
    all_rows: float
    influence: FloatArray
    bend: float

    def interval(self, confidence: float) -> Ends:
        """Return Wilson's interval."""
        z2, n, p = normal_quantile(confidence) ** 2, self.rows, self.value
        if not (n > 0 and math.isfinite(p)):
            return math.nan, math.nan
        center = (p + z2 / (2 * n)) / (1 + z2 / n)
        half = math.sqrt(z2 * (p * (1 - p) / n + z2 / (4 * n * n))) / (1 + z2 / n)
        return max(center - half, 0.0), min(center + half, 1.0)


class RatesAtCut:
    """The rates of tables at one cut; with a map, before and after it.

    ``rows`` are those of clusters, if there are any. ``moved`` are the adjusted scores of each table, and ``after`` the
    cuts of tables with these: at as many places, the same share, or the same score.
    """

    def __init__(
        self,
        cut: Cut,
        by_cut: Cuts,
        rows: Rows | None = None,
        after: Cuts | None = None,
        moved: Mapping[Hashable, FloatArray] | None = None,
    ) -> None:
        self.cut, self.confidence, self.tables, self.total = cut, by_cut.confidence, by_cut.tables, by_cut.total
        self._scores = [by_cut] if after is None else [by_cut, after]
        for score in self._scores:
            # Made before the cut is looked for, which then needs no sums of its own.
            in_threads(sum(map(len, self.tables.values())), score.running, list(self.tables))
        self.sides = tuple(CutSides(*score.place(cut)) for score in self._scores)
        self.cells = cells_at(by_cut, self.sides, moved, rows)
        self._near: dict[tuple[int, float], Cells] = {}

    def own(self, group: Hashable | None, cells: Cells | None = None) -> FloatArray:
        """1 for cells of a group, or of any; 0 for others."""
        cells = self.cells if cells is None else cells
        if group is None:
            return np.ones(cells.mass.size)
        return np.asarray(cells.group == list(self.tables).index(group), dtype=np.float64)

    def reach(self, value: float, influence: FloatArray) -> Ends:
        """Return the interval of a sum."""
        half = normal_quantile(self.confidence) * math.sqrt(self.cells.variance(influence))
        return value - half, value + half

    def rate(self, name: str, group: Hashable | None = None, after: bool = False) -> Rate:
        """Return a rate of a group, or of all groups together."""
        which, cells, own = 1 if after else 0, self.cells, self.own(group)
        selected = cells.selected[which]
        above, below = (own * each for each in RATES[name](cells.positive, selected))
        count, of = float(above @ cells.mass), float(below @ cells.mass)
        if not of > 0:
            return Rate(count, of, math.nan, math.nan, 0.0, 0.0, np.zeros(own.size), 0.0)
        value = min(max(count / of, 0.0), 1.0)
        influence = (above - value * below) / of
        slope = bend = 0.0
        if not isinstance(self.cut, Threshold):
            slope, bend = self._slope(name, group, which)
            influence = influence - slope * (selected - self.sides[which].share) / self.total
        variance = cells.variance(influence)
        all_rows = of**2 / float((below**2) @ cells.spread)
        rows = all_rows / cells.per_unit
        if 0 < value < 1:
            # As many rows as would have this variance, with a row more at the cut; a share of the whole list is what it
            # was asked to be.
            more = slope**2 * float(cells.spread.sum()) ** 2 / self.total**4
            rows = value * (1 - value) / (variance + more) if variance > 1e-20 else math.inf
        return Rate(count, of, value, variance, rows, all_rows, influence, bend)

    def _slope(self, name: str, group: Hashable | None, which: int) -> tuple[float, float]:
        """Change of a rate by the share of the list, around the cut, and how far that bends there."""
        side = self.sides[which]
        rows = sum(self._rows(label) for label in self.tables if group in (None, label))
        reach, is_tied = self._scores[which].reach(side.share, rows)
        if not reach > 0:
            return 0.0, 0.0
        shares = [min(max(side.share + step * reach, 1e-12), 1 - 1e-12) for step in _STEPS]
        values = [self._plain(name, group, self._cells_near(which, share)) for share in shares]
        here = self._plain(name, group, self.cells, which)
        slope = (values[-1] - values[0]) / (shares[-1] - shares[0])
        if not math.isfinite(slope):
            return 0.0, 0.0
        # Between tied scores a rate rises in steps, and its mean around the cut is not what it is there.
        return slope, max(
            abs(low + high - 2 * here) / 2 for low, high in zip(values, values[::-1], strict=True)
        ) if is_tied else 0.0

    def _rows(self, group: Hashable) -> float:
        """As many rows as would say as much as those of a group: the scale of sampling weights means nothing."""
        totals = [float(sums[-1]) for sums in self._scores[0].running(group)]
        spread = sum(totals[-2:])
        return sum(totals[:2]) ** 2 / spread if spread > 0 else 0.0

    def _plain(self, name: str, group: Hashable | None, cells: Cells, which: int = 0) -> float:
        own = self.own(group, cells) * cells.mass
        above, below = (float(each @ own) for each in RATES[name](cells.positive, cells.selected[which]))
        return above / below if below > 0 else math.nan

    def _cells_near(self, which: int, share: float) -> Cells:
        if (which, share) not in self._near:
            score = self._scores[which]
            self._near[which, share] = cells_at(score, (CutSides(*score.place(share)),))
        return self._near[which, share]

    def difference(self, one: Rate, other: Rate) -> tuple[float, Ends]:
        """Return one rate less another, and its interval: from those of both, as squares (Newcombe 1998)."""
        value = one.value - other.value
        (low, high), (other_low, other_high) = (rate.interval(self.confidence) for rate in (one, other))
        shared = self._shared(one, other)
        down = _put_together(one.value - low, other_high - other.value, shared)
        up = _put_together(high - one.value, other.value - other_low, shared)
        return value, (max(value - down, -1.0), min(value + up, 1.0))

    def change(self, before: Rate, after: Rate) -> tuple[float, Ends]:
        """Return a rate after a map less that before, and its interval, with a row more that changes sides."""
        value = after.value - before.value
        variance = self.cells.variance(after.influence - before.influence)
        rows = min(before.all_rows, after.all_rows)
        half = normal_quantile(self.confidence) * math.sqrt(variance + rows**-2) if rows > 0 else math.nan
        half += max(before.bend, after.bend)
        return value, (max(value - half, -1.0), min(value + half, 1.0))

    def ratio(self, one: Rate, other: Rate) -> tuple[float, Ends]:
        """Return one rate by another, and its interval: from those of both, as squares of logarithms."""
        if not other.value > 0 or math.isnan(one.value):
            return math.nan, (math.nan, math.nan)
        (low, high), (other_low, other_high) = (rate.interval(self.confidence) for rate in (one, other))
        if one is other:
            return 1.0, (1.0, 1.0)
        if not one.value > 0:
            return 0.0, (0.0, high / other_low)
        value, shared = one.value / other.value, self._shared(one, other)
        log = math.log
        down = _put_together(log(one.value / low), log(other_high / other.value), shared)
        up = _put_together(log(high / one.value), log(other.value / other_low), shared)
        return value, (value * math.exp(-down), value * math.exp(up))

    def _shared(self, one: Rate, other: Rate) -> float:
        """Correlation of two rates."""
        both = one.variance * other.variance
        if not both > 0:
            return 0.0
        return min(max(self.cells.covariance(one.influence, other.influence) / math.sqrt(both), -1.0), 1.0)

    def counts(self, group: Hashable | None, after: bool = False) -> list[float]:
        """Rows of a group selected and not, positive and not: four counts."""
        own, selected = self.cells.mass * self.own(group), self.cells.selected[1 if after else 0]
        classes = self.cells.positive, 1 - self.cells.positive
        return [float(own @ (part * of_class)) for part in (selected, 1 - selected) for of_class in classes]

    def moves(self, group: Hashable | None) -> dict[str, float]:
        """Rows of a group that a map takes above the cut and below it; of tied rows the same part of each."""
        cells = self.cells
        own = cells.mass * self.own(group)
        change = cells.selected[1] - cells.selected[0]
        enters, leaves = np.maximum(change, 0.0), np.maximum(-change, 0.0)
        found = {"enters": enters, "leaves": leaves}
        found |= {"positives_entering": enters * cells.positive, "positives_leaving": leaves * cells.positive}
        return {name: float(own @ part) for name, part in found.items()}


def _put_together(one: float, other: float, shared: float) -> float:
    return math.sqrt(max(one * one + other * other - 2 * shared * one * other, 0.0))
