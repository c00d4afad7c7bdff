r"""Cuts of the list: how much of each group a cut selects, where the groups differ most, and how sure that is.

Decisions fall at a cut: the first places get the bed. With :math:`S_g(t)` the share of the positives of g at or above
score t, the cut gap of a and b is :math:`S_a(t) - S_b(t)`, and the widest of all is the worst cut. Of tied rows that
straddle a share or a number of places, the same part of each counts, so the extremes lie between tied scores.

The band around a whole curve has one width :math:`q`. Row by row, :math:`\hat S_g(t) - S_g(t)` behaves like
:math:`(W(Q_g(t)) - S_g(t) W(Q_g)) / n_g`, with W a Brownian motion, :math:`Q_g(t)` the sum of squared weights at or
above t and :math:`Q_g` all of it; q is the quantile of the largest absolute difference of two such processes at the
scores there are. It is drawn with a fixed seed.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from xorder._metric import Estimate, gap_interval
from xorder._parameters import brief, check_word, in_range
from xorder._present import known, short_repr
from xorder._ranking import stretches, stride_of
from xorder._table import FloatArray, IntArray, Tables, running
from xorder.exceptions import InputError
from xorder.metrics._gaps import Pair, are_few, json_label
from xorder.metrics._placements import windows
from xorder.metrics._units import Influence, Units

if TYPE_CHECKING:
    from xorder.metrics._calibration import Calibration

Of = Literal["sensitivity", "specificity", "selected"]
OF: tuple[Of, ...] = ("sensitivity", "specificity", "selected")

# Shares of the list that an audit looks at by default.
CUTS = (0.01, 0.05, 0.1, 0.2)

# Lots of draws of the process behind the band, and draws in each, few enough to stay in the processor's cache.
_LOTS, _DRAWS = 4, 500

# With more groups there are many pairs, and fewer lots serve each.
_MANY_GROUPS, _FEWER_LOTS = 10, 1

# Steps of a drawn motion.
_STEPS = 1024

# Cuts at which the process is looked at, spread evenly where there are more.
_POINTS = 256

# How much higher the largest value of a motion is than the largest at steps of one standard deviation (Chernoff 1965,
# Siegmund 1979).
_BETWEEN = 0.5826


@dataclass(frozen=True, slots=True)
class Threshold:
    """A cut at a score: what is at or above it is selected.

    Parameters
    ----------
    score : float
        The lowest score that is selected.
    """

    score: float

    def __post_init__(self) -> None:
        score: Any = self.score
        if not (isinstance(score, Real) and in_range(score)):
            raise InputError(f"a Threshold must be a finite score; got {brief(score)}.")
        object.__setattr__(self, "score", float(score))


# A share of the list (a float in (0, 1)), a number of places (an int from 1 up), or a :class:`Threshold`.
Cut = float | int | Threshold


@dataclass(frozen=True, slots=True)
class CutGap:
    """How two groups differ at a cut, first minus second.

    Parameters
    ----------
    of : {"sensitivity", "specificity", "selected"}
        What is compared: the share of positives above the cut, of negatives below it, or of all rows above it.
    pair : tuple of two group labels
        The groups.
    value : float
        The difference.
    cut : float
        Share of the whole list above the cut.
    threshold : float
        Lowest score above the cut. With a share or a number of places, rows tied at this score may lie on both sides.
    rates : tuple of two float
        What is compared, of the first and of the second group.
    stderr : float
        Standard error of the value; ``nan`` for the worst cut, whose interval is a band.
    interval : tuple of two float
        Confidence interval; of the worst cut, the band around all cuts, at this one. ``nan`` where the rows are too few
        to say (fewer than ten of a group for the band), or all of them tied.
    """

    of: str
    pair: Pair
    value: float
    cut: float
    threshold: float
    rates: tuple[float, float]
    stderr: float
    interval: tuple[float, float]

    __repr__ = short_repr

    def reversed(self) -> CutGap:
        """Return the same gap seen from the other group.

        Returns
        -------
        CutGap
            Second minus first.
        """
        low, high = self.interval
        return replace(self, pair=self.pair[::-1], value=-self.value, rates=self.rates[::-1], interval=(-high, -low))

    def to_dict(self) -> dict[str, Any]:
        """Return the gap ready for JSON.

        Returns
        -------
        dict
            Its fields; ``nan`` becomes None.
        """
        numbers = {name: getattr(self, name) for name in ("value", "cut", "threshold", "stderr")}
        return {
            "of": self.of,
            "pair": [json_label(group) for group in self.pair],
            **{name: known(number) for name, number in numbers.items()},
            "rates": [known(rate) for rate in self.rates],
            "interval": [known(end) for end in self.interval],
        }


class _Above(NamedTuple):
    """Of some rows at a cut: their mass and squared weights above it, at it, and in all."""

    mass: FloatArray
    square: FloatArray

    def of(self, codes: slice) -> _Above:
        """Return the same of the rows of some codes together, where there is a column for each."""
        return _Above(*(each[:, codes].sum(axis=1) for each in self))

    def rate(self, part: float) -> float:
        """Share above the cut, of those at it a part."""
        above, at, total = self.mass
        return float((above + part * at) / total) if total > 0 else np.nan

    def scatter(self, part: float, center: float) -> float:
        """Sum of squared weights times the squared distance of being selected from ``center``."""
        above, at, total = self.square
        below = total - above - at
        return float(above * (1 - center) ** 2 + at * (part - center) ** 2 + max(below, 0.0) * center**2)


class _Listed(NamedTuple):
    """Rows from the highest score down, and the blocks they are in: of tables, the masses at their scores."""

    score: FloatArray
    code: IntArray
    mass: FloatArray
    square: FloatArray
    block: IntArray


class _List:
    """The rows of all groups from the highest score down, in blocks of some hundred.

    What is above each block is known, and what more is above a score is looked up in the block that it is in: of all
    cuts only a few are looked at. ``mass`` and ``square`` are what is above the first block, the second and so on, then
    all there is, in a row for each code of a group and a class; ``top`` is the highest score of each block.
    """

    def __init__(self, tables: Tables) -> None:
        self._tables, self._ranking = tables, tables.ranking
        self.mass: FloatArray
        if self._ranking is not None:
            self._bounds, above = self._ranking.marks
            self.top = self._ranking.scores(self._bounds[:-1]).astype(np.float64)
            self.mass = self.square = np.ascontiguousarray(above.T, dtype=np.float64)
            return
        every = list(tables.values())
        self.top, self._bounds = windows(every, stride_of(sum(map(len, every))))
        masses = [table.sums[1::-1] for table in every]
        self.mass = self.square = self._summed(masses)
        if any(table.positive_squares is not None for table in every):
            self.square = self._summed([table.spreads[::-1] for table in every])

    def _summed(self, masses: list[tuple[FloatArray, ...]]) -> FloatArray:
        """Add up the masses of the two classes of each table down to the bounds of the blocks."""
        found = np.zeros((2 * len(masses), len(self._bounds)))
        for group, classes in enumerate(masses):
            places, index = np.unique(self._bounds[:, group], return_inverse=True)
            for number, mass in enumerate(classes if places.size > 1 else ()):
                found[2 * group + number] = running(np.add.reduceat(mass, places[:-1]))[index]
        return found

    def rows(self, blocks: IntArray, codes: Sequence[slice] = (slice(None),)) -> _Listed:
        """Return the rows of some blocks, or of these the ones with some codes."""
        is_own = np.zeros(len(self.mass), dtype=bool)
        for each in codes:
            is_own[each] = True
        if self._ranking is not None:
            rows, number = stretches(self._bounds[blocks], self._bounds[blocks + 1])
            code = self._ranking.code.take(rows)
            if not is_own.all():
                kept = np.flatnonzero(is_own.take(code))
                rows, number, code = rows.take(kept), number.take(kept), code.take(kept)
            mass = np.ones(rows.size)
            score = self._ranking.scores(rows).astype(np.float64)
            return _Listed(score, code.astype(np.int64), mass, mass, number)
        found = []
        for group, table in enumerate(self._tables.values()):
            rows, number = stretches(self._bounds[blocks, group], self._bounds[blocks + 1, group])
            for mine, mass, square in zip((2 * group + 1, 2 * group), table.sums[:2], table.spreads, strict=True):
                own = mass[rows] > 0 if is_own[mine] else np.zeros(rows.size, dtype=bool)
                at = rows[own]
                found.append((table.score[at], np.full(at.size, mine), mass[at], square[at], number[own]))
        every = list(map(np.concatenate, zip(*found, strict=True)))
        order = np.argsort(-every[0], kind="stable")
        return _Listed(*(column[order] for column in every))

    def at(self, threshold: float) -> _Above:
        """Return what is above a threshold, at it, and in all, by code."""
        block = int(np.searchsorted(-self.top, -threshold, side="right")) - 1
        rows = self.rows(np.arange(max(block, 0), min(max(block, 0) + 1, self.top.size)))
        sides = [rows.score > threshold, rows.score == threshold]
        found = []
        for sums, each in ((self.mass, rows.mass), (self.square, rows.square)):
            inside = [np.bincount(rows.code[side], each[side], len(sums)) for side in sides]
            found.append(np.stack([sums[:, max(block, 0)] + inside[0], inside[1], sums[:, -1]]))
        return _Above(*found)

    def reaching(self, mass: float) -> float:
        """Return the highest score with so much mass at or above it, or the lowest there is."""
        reached = self.mass.sum(axis=0)
        block = max(min(int(np.searchsorted(reached, mass)), self.top.size) - 1, 0)
        rows = self.rows(np.array([block]))
        last = int(np.searchsorted(reached[block] + np.cumsum(rows.mass), mass))
        return float(rows.score[min(last, rows.score.size - 1)])

    def above_blocks(self, codes: Sequence[slice]) -> tuple[FloatArray, FloatArray]:
        """Return the masses of some samples, and their squared weights, above the blocks, then all of them."""
        mass, square = (np.stack([sums[own].sum(axis=0) for own in codes]) for sums in (self.mass, self.square))
        return mass, square

    def inside(self, blocks: IntArray, codes: Sequence[slice]) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the cuts in some blocks, from the top down, with the masses and squared weights of samples above each.

        A cut is the lowest score of these samples above it; the first is above all rows.
        """
        rows = self.rows(blocks, codes)
        first = np.searchsorted(rows.block, np.arange(blocks.size))
        last = np.flatnonzero(np.append(rows.score[1:] != rows.score[:-1], True))
        found = []
        for sums, each in zip(self.above_blocks(codes), (rows.mass, rows.square), strict=True):
            found.append(np.zeros((len(codes), last.size + 1)))
            for own, above, here in zip(codes, sums, found[-1], strict=True):
                inside = running(np.where((rows.code >= own.start) & (rows.code < own.stop), each, 0.0))
                here[1:] = (above[blocks] - inside[first])[rows.block[last]] + inside[last + 1]
        return np.append(np.inf, rows.score[last]), found[0], found[1]

    def near_widest(self, codes: Sequence[slice]) -> tuple[FloatArray, FloatArray]:
        """Return cuts, from the top down, with the shares of some samples above each; the widest gap is at one of them.

        All shares rise along the list: in a block they lie between those at its ends, and most blocks have no room for
        a gap as wide as the widest at an end.
        """
        above = self.above_blocks(codes)[0]
        total = above[:, -1:]
        shares = above / total
        highest, lowest = shares.max(axis=0), shares.min(axis=0)
        room = highest[1:] - lowest[:-1]
        score, mass, _ = self.inside(np.flatnonzero(room >= (highest - lowest).max() - 1e-12), codes)
        return score, mass / total


def worst_cut(tables: Tables) -> float:
    """Return the widest difference of sensitivities at any cut between any two groups, each with positives."""
    _, shares = _List(tables).near_widest([slice(2 * group + 1, 2 * group + 2) for group in range(len(tables))])
    return float(np.ptp(shares, axis=0).max())


class Cuts:
    """The cuts of tables: any cut of the user's, and the worst of all.

    ``units`` are what varies, where that is not the single row, and ``number`` that of the score among theirs.
    """

    def __init__(self, tables: Tables, confidence: float, units: Units | None = None, number: int = 0) -> None:
        self.tables, self.confidence, self.units, self.number = tables, confidence, units, number
        self._places: dict[Cut, tuple[float, float, float]] = {}
        self._running: dict[Hashable, tuple[FloatArray, ...]] = {}
        # What calibration has worked out.
        self.levels: dict[Hashable, tuple[FloatArray, ...]] = {}
        self.calibrations: dict[Hashable | None, Calibration] = {}
        self._above: dict[float, _Above] = {}
        self.total = float(tables.totals[:2].sum())

    def rate(self, cut: Cut, group: Hashable, of: Of) -> float:
        """Return the share of a group above a cut."""
        threshold, part, _ = self.place(cut)
        return self._sample(of, group, threshold).rate(part)

    def rates(self, cut: Cut, pair: Pair, of: Of) -> tuple[float, float]:
        """Return the shares of two groups above a cut."""
        return self.rate(cut, pair[0], of), self.rate(cut, pair[1], of)

    def at(self, cut: Cut, pair: Pair, of: Of) -> CutGap:
        """Return the gap of a pair at a cut."""
        threshold, part, share = self.place(cut)
        first, second = (self._sample(of, group, threshold) for group in pair)
        rates = first.rate(part), second.rate(part)
        slope = 0.0 if isinstance(cut, Threshold) else self._slope(share, pair, of)
        freedom = np.inf
        stderr = self._stderr(first, second, part, share, slope, threshold)
        if self.units is not None and np.isfinite(stderr):
            stderr, freedom = self._stderr_of_units(cut, pair, of, rates)
        value = rates[0] - rates[1]
        low, high = gap_interval(Estimate(value, stderr, freedom), self.confidence)
        ends = float(np.maximum(low, -1.0)), float(np.minimum(high, 1.0))
        found = CutGap(of, pair, value, share, threshold, rates, stderr, ends)
        return _as_specificity(found) if of == "specificity" else found

    def worst(self, pair: Pair, of: Of) -> CutGap:
        """Return the gap at the cut where it is widest, with the band around all cuts."""
        codes = [self._codes(of, group) for group in pair]
        masses, squares = (
            [float(sums[own, -1].sum()) for own in codes] for sums in (self._list.mass, self._list.square)
        )
        if not min(masses) > 0:
            nan = (np.nan, np.nan)
            return CutGap(of, pair, np.nan, np.nan, np.nan, nan, np.nan, nan)
        scores, (ours, theirs) = self._list.near_widest(codes)
        gaps = np.abs(ours - theirs)
        # The first of several that differ by rounding alone.
        index = int(np.argmax(gaps >= gaps.max() - 1e-12))
        score, first, second = float(scores[index]), float(ours[index]), float(theirs[index])
        value = first - second
        # Of few rows a motion says little, and where all are tied there is none.
        few = any(map(are_few, masses, squares))
        # The motion is that of single rows.
        few = few or self.units is not None
        half = np.nan if few else self._half_width(codes) or np.nan
        share = float(self._everyone(score).mass[:2].sum())
        ends = float(np.maximum(value - half, -1.0)), float(np.minimum(value + half, 1.0))
        found = CutGap(of, pair, value, share / self.total, score, (first, second), np.nan, ends)
        return _as_specificity(found) if of == "specificity" else found

    def curve(self, pair: Pair, of: Of, points: int = 200) -> tuple[FloatArray, FloatArray, float]:
        """Return shares of the list, the gap at each, and half the width of the band around them."""
        shares = np.arange(1, points) / points
        first, second = np.array([self.rates(share, pair, of) for share in shares.tolist()]).T
        gaps = second - first if of == "specificity" else first - second
        return shares, gaps, self._half_width([self._codes(of, group) for group in pair])

    def running(self, group: Hashable) -> tuple[FloatArray, ...]:
        """Sums of each of the table's masses, and of squared weights, over its scores from none to all."""
        if group not in self._running:
            self._running[group] = tuple(map(running, self.tables[group].sums))
        return self._running[group]

    @cached_property
    def _list(self) -> _List:
        return _List(self.tables)

    def _codes(self, of: Of, group: Hashable) -> slice:
        """The codes of a group's rows that something is compared of."""
        first = 2 * list(self.tables).index(group)
        return slice(first + (of == "sensitivity"), first + 1 + (of != "specificity"))

    def _sample(self, of: Of, group: Hashable, threshold: float) -> _Above:
        """Return what is above a threshold, at it, and in all, of the rows of a group that something is compared of."""
        return self._by_code(threshold).of(self._codes(of, group))

    def _everyone(self, threshold: float) -> _Above:
        """Return what is above a threshold, at it, and in all, of the rows of all groups."""
        return self._by_code(threshold).of(slice(None))

    def _by_code(self, threshold: float) -> _Above:
        if threshold not in self._above:
            self._above[threshold] = self._list.at(threshold)
        return self._above[threshold]

    def place(self, cut: Cut) -> tuple[float, float, float]:
        """Return the score that a cut falls on, the part of the rows there that is above it, and the share above it."""
        if cut not in self._places:
            self._places[cut] = self._found(cut)
        return self._places[cut]

    def _found(self, cut: Cut) -> tuple[float, float, float]:
        if isinstance(cut, Threshold):
            return cut.score, 1.0, float(self._everyone(cut.score).mass[:2].sum()) / self.total
        wanted = float(cut) if isinstance(cut, int) else float(cut) * self.total
        # A share of all may end above the mass of the very rows that it is, by rounding.
        score = self._list.reaching(wanted * (1 - 1e-12))
        masses = self._everyone(score).mass
        part = min(max((wanted - masses[0]) / masses[1], 0.0), 1.0) if masses[1] > 0 else 1.0
        return score, float(part), wanted / self.total

    def _slope(self, share: float, pair: Pair, of: Of) -> float:
        """Change of the gap by the share of the list, around a share: how much the cut's own sampling counts."""
        samples = [self._sample(of, group, np.inf) for group in pair]
        # As many rows as would say as much: the scale of sampling weights means nothing.
        rows = min(sample.mass[-1] ** 2 / max(sample.square[-1], 1e-300) for sample in samples)
        reach, _ = self.reach(share, rows)
        if not reach > 0:
            return 0.0
        ends = []
        for place in (share - reach, share + reach):
            first, second = self.rates(float(min(max(place, 1e-12), 1 - 1e-12)), pair, of)
            ends.append(first - second)
        return float((ends[1] - ends[0]) / (2 * reach))

    def reach(self, share: float, rows: float) -> tuple[float, bool]:
        """How far around a share of the list to look for what changes with it, where so many rows are looked at.

        Between scores that differ from row to row that is a bandwidth; in steps, so that groups of like size share the
        places where they are looked at. Where many rows are tied at the cut, it is as far as the cut itself varies; the
        second value says whether they are.
        """
        room = min(share, 1 - share)
        reach = room * min(1.0, 2 * 4.0 ** (-0.2 * round(np.log(max(rows, 1.0)) / np.log(4))))
        if not reach > 0:
            return 0.0, False
        everyone = self._everyone(self.place(share)[0])
        varies = float(np.sqrt(share * (1 - share) * everyone.square[2]) / self.total)
        is_tied = bool(everyone.mass[1] / self.total > varies)
        return (min(room, 2 * varies) if is_tied else reach), is_tied

    def _stderr(
        self, first: _Above, second: _Above, part: float, share: float, slope: float, threshold: float
    ) -> float:
        """Root of the summed squares of what each row adds to the gap: by its own rate, and by moving the cut."""
        if not (first.mass[-1] > 0 and second.mass[-1] > 0):
            return np.nan
        moved = slope / self.total
        variance = 0.0
        for rows, sign in ((first, 1.0), (second, -1.0)):
            rate, mass = rows.rate(part), rows.mass[-1]
            # One more row above and one below, so that a rate of 0 or 1 is not taken for certain.
            one = (rows.square[-1] / mass) ** 2
            scatter = rows.scatter(part, rate) + one * (rate**2 + (1 - rate) ** 2)
            variance += (sign / mass - moved) ** 2 * scatter + moved**2 * rows.square[-1] * (rate - share) ** 2
        if moved:
            all_rows = self._everyone(threshold)
            others = _Above(all_rows.mass - first.mass - second.mass, all_rows.square - first.square - second.square)
            variance += moved**2 * max(others.scatter(part, share), 0.0)
        return float(np.sqrt(variance))

    def _stderr_of_units(self, cut: Cut, pair: Pair, of: Of, rates: tuple[float, float]) -> tuple[float, float]:
        """Standard error at a cut that allows for units, and its degrees of freedom."""
        units = cast(Units, self.units)
        kind = {"sensitivity": 0, "specificity": 1, "selected": 2}[of]
        counts = [float(units.held[kind * units.size + list(self.tables).index(group)]) for group in pair]
        if min(counts) < 2:
            return np.nan, np.nan
        # One more unit above and one below, so that a rate of 0 or 1 is not taken for certain.
        more = sum((rate**2 + (1 - rate) ** 2) / count**2 for rate, count in zip(rates, counts, strict=True))
        stderr = units.stderr_at_cut([(1.0, self.influence(cut, pair, of))])
        return float(np.hypot(stderr, np.sqrt(more))), min(counts) - 1

    def influence(self, cut: Cut, pair: Pair, of: Of) -> Influence:
        """What each row adds to the gap at a cut, by its own rate and by moving the cut."""
        threshold, part, share = self.place(cut)
        slope = 0.0 if isinstance(cut, Threshold) else self._slope(share, pair, of)
        classes = {"sensitivity": [True], "specificity": [False], "selected": [True, False]}[of]
        own: dict[tuple[int, bool], tuple[float, float]] = {}
        for group, sign in zip(pair, (1.0, -1.0), strict=True):
            sample, place = self._sample(of, group, threshold), list(self.tables).index(group)
            own |= {(place, each): (sign / sample.mass[-1], sample.rate(part)) for each in classes}
        return Influence(self.number, threshold, part, (-slope / self.total, share), own)

    def _half_width(self, codes: Sequence[slice]) -> float:
        """Half the width of the band: the quantile of the largest difference of the two processes."""
        above, squares = self._list.above_blocks(codes)
        total, spread = above[:, -1:], squares[:, -1:]
        if not total.all():
            return np.nan
        # Blocks, and then cuts in them, at which the two differ.
        ends, some = _spread((above / total).sum(axis=0))
        _, mass, square = self._list.inside(ends[1:] - 1, codes)
        looked_at, fewer = _spread((mass / total).sum(axis=0))
        between = 0.0
        if some or fewer:
            # The process may be wider between two that are looked at, though not between two rows.
            steps = looked_at.size**-0.5 - float((total**2 / spread).sum()) ** -0.5
            between = _BETWEEN * np.sqrt((spread / total**2).sum()) * max(steps, 0.0)
        # The difference in units of the first process, which is scaled at the end.
        scale = (np.sqrt(spread) / total).astype(np.float32)
        of_other = scale[1] / scale[0]
        rates = (mass / total)[:, looked_at].astype(np.float32).T
        place, other_place = np.rint(square / spread * _STEPS).astype(np.intp)[:, looked_at]
        widest = []
        for ours, theirs in _motions()[: _FEWER_LOTS if len(self.tables) > _MANY_GROUPS else None]:
            difference, other = ours.take(place, axis=0), theirs.take(other_place, axis=0)
            other *= of_other
            difference -= other
            difference -= rates @ np.stack([ours[-1], -of_other * theirs[-1]])
            widest.append(np.maximum(difference.max(axis=0), -difference.min(axis=0)))
        return float(np.quantile(scale[0] * np.concatenate(widest), self.confidence) + between)


def _spread(reached: FloatArray) -> tuple[IntArray, bool]:
    """Return where a rising column first has each of its values, or some, spread evenly; and if some are left out."""
    values, index = np.unique(reached, return_index=True)
    if values.size <= _POINTS:
        return index, False
    return index[np.unique(np.searchsorted(values, np.linspace(0.0, values[-1], _POINTS)))], True


@cache
def _motions() -> NDArray[np.float32]:
    """Lots of draws of two independent Brownian motions on [0, 1], a row per step."""
    rng, found = np.random.default_rng(0), np.zeros((_LOTS, 2, _STEPS + 1, _DRAWS), dtype=np.float32)
    for lot in found:
        steps = rng.standard_normal((2, _STEPS, _DRAWS), dtype=np.float32)
        steps /= np.float32(np.sqrt(_STEPS))
        np.cumsum(steps, axis=1, out=lot[:, 1:])
    return found


def check_cut(cut: Any, rows: float) -> Cut:
    """Return a cut; refuse what is neither a share, nor a number of places there are, nor a threshold."""
    if isinstance(cut, Threshold):
        return cut
    if isinstance(cut, int | np.integer) and not isinstance(cut, bool):
        if not 1 <= cut <= rows:
            raise InputError(
                f"a number of places must be from 1 up to the number of rows, {rows:,.10g}; got {brief(cut)}."
            )
        return int(cut)
    if isinstance(cut, float | np.floating) and 0 < cut < 1:
        return float(cut)
    raise InputError(
        f"a cut must be a share of the list between 0 and 1 (0.05), a number of places (200), or a score "
        f"(xorder.Threshold(0.3)); got {brief(cut)}."
    )


def check_cuts(cuts: Any, rows: float) -> tuple[Cut, ...]:
    """Return several cuts, each once; refuse what is not a sequence of cuts."""
    cuts = getattr(cuts, "tolist", lambda: cuts)()
    if isinstance(cuts, str) or not isinstance(cuts, Iterable):
        raise InputError(f"cuts must be several cuts, such as [0.05, 200]; got {brief(cuts)}.")
    return tuple(dict.fromkeys(check_cut(cut, rows) for cut in cuts))


def cut_text(cut: Cut) -> str:
    """A cut in a few words."""
    if isinstance(cut, Threshold):
        return f"score from {cut.score:g}"
    return f"{cut:,} places" if isinstance(cut, int) else f"{100 * cut:.3g} %"


def check_of(of: Any) -> Of:
    """Return what is compared at a cut; refuse what is not known."""
    return cast(Of, check_word("of", of, OF))


def _as_specificity(found: CutGap) -> CutGap:
    """Turn shares of negatives above a cut into shares below it."""
    low, high = found.interval
    rates = 1 - found.rates[0], 1 - found.rates[1]
    return replace(found, value=-found.value, rates=rates, interval=(-high, -low))
