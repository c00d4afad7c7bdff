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
from functools import cache
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from xorder._metric import Estimate, gap_interval
from xorder._parameters import brief, check_word, in_range
from xorder._present import known, short_repr
from xorder._table import FloatArray, IntArray, ScoreTable, Tables, running
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

# Draws of the process behind the band.
_DRAWS = 2000

# With more groups there are many pairs, and fewer draws serve each.
_MANY_GROUPS, _FEWER_DRAWS = 10, 500

# Steps of a drawn motion.
_STEPS = 1024

# Scores at which the process is looked at, spread evenly where there are more.
_POINTS = 256

# Scores per stretch that is looked at as a whole, in search of the worst cut.
_STRETCH = 256

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

    def rate(self, part: float) -> float:
        """Share above the cut, of those at it a part."""
        above, at, total = self.mass
        return float((above + part * at) / total) if total > 0 else np.nan

    def scatter(self, part: float, center: float) -> float:
        """Sum of squared weights times the squared distance of being selected from ``center``."""
        above, at, total = self.square
        below = total - above - at
        return float(above * (1 - center) ** 2 + at * (part - center) ** 2 + max(below, 0.0) * center**2)


class _Sums:
    """What is at or above the scores of a table, both classes together, worked out where it is asked for.

    Kept are the sums down to some places, which rise: of all cuts only a few are looked at.
    """

    def __init__(self, masses: Sequence[FloatArray], places: IntArray) -> None:
        self._masses = masses
        self._places, index = np.unique(places, return_inverse=True)
        steps = [np.add.reduceat(mass, self._places[:-1]) for mass in masses if mass.size]
        self._seen = np.append(0.0, np.cumsum(np.sum(steps, axis=0)))
        self.at_places = self._seen[index]

    def __getitem__(self, place: Any) -> Any:
        if np.ndim(place):
            return np.array([self[each] for each in np.asarray(place).tolist()])
        if place == -1:
            return self._seen[-1]
        before = int(np.searchsorted(self._places, place, side="right")) - 1
        return self._seen[before] + sum(mass[self._places[before] : place].sum() for mass in self._masses)


class _Column:
    """One class of one group, or both classes: scores that have any mass, falling, and what is at or above each."""

    def __init__(self, table: ScoreTable, of: str, places: IntArray) -> None:
        self.score: FloatArray = table.score
        self.mass: FloatArray | _Sums
        self.square: FloatArray | _Sums
        if of == "selected":
            self.mass = self.square = _Sums(table.sums[:2], places)
            if table.positive_squares is not None:
                self.square = _Sums(table.spreads, places)
        else:
            side = 0 if of == "sensitivity" else 1
            # Indices are taken in a third of the time that masks are.
            kept = np.flatnonzero(table.sums[side] > 0)
            self.score = table.score[kept]
            self.mass = self.square = running(table.sums[side][kept])
            if table.positive_squares is not None:
                self.square = running(table.spreads[side][kept])
        self.rising = self.score[::-1]

    def above(self, scores: Any, *, ties: bool) -> IntArray:
        """Count distinct scores above these, with or without those equal to them."""
        below = np.searchsorted(self.rising, scores, side="left" if ties else "right")
        return np.asarray(self.score.size - below, dtype=np.int64)

    def rate(self, place: Any) -> Any:
        """Share of the mass in as many of the highest scores."""
        return self.mass[place] / self.mass[-1]

    def at(self, threshold: float) -> _Above:
        """Return what is above a threshold, at it, and in all."""
        first, past = int(self.above(threshold, ties=False)), int(self.above(threshold, ties=True))
        return _Above(
            *(np.array([sums[first], sums[past] - sums[first], sums[-1]]) for sums in (self.mass, self.square))
        )


def _places(columns: list[_Column], index: IntArray) -> list[list[IntArray]]:
    """Return how many scores of each of two columns lie above some scores of the shorter, without ties and with."""
    shorter = _shorter(columns)
    score, places = shorter.score[index], []
    for column in columns:
        above, tied = index, np.ones(1, dtype=bool)
        if column is not shorter:
            above = column.above(score, ties=False)
            tied = column.score[np.minimum(above, column.score.size - 1)] == score
        places.append([above, above + tied])
    return [list(side) for side in zip(*places, strict=True)]


def _shorter(columns: list[_Column]) -> _Column:
    return min(columns, key=lambda column: column.score.size)


def _near_widest(columns: list[_Column]) -> IntArray:
    """Return which scores of the shorter of two columns to look at, so that the widest gap is next to one of them.

    Both shares rise from score to score: in a stretch they lie between those at its ends, and most stretches have no
    room for a gap as wide as the widest at an end.
    """
    size = _shorter(columns).score.size
    ends = np.append(np.arange(0, size - 1, _STRETCH), size - 1)
    above, down_to = (
        [column.rate(place) for column, place in zip(columns, side, strict=True)] for side in _places(columns, ends)
    )
    widest = max(np.abs(first - second).max() for first, second in (above, down_to))
    room = np.maximum(down_to[0][1:] - above[1][:-1], down_to[1][1:] - above[0][:-1])
    starts = ends[:-1][room >= widest - 1e-12]
    inside = starts[:, None] + np.arange(1, _STRETCH)
    return np.sort(np.append(ends, inside[inside < size]))


class Cuts:
    """The cuts of tables: any cut of the user's, and the worst of all.

    ``units`` are what varies, where that is not the single row, and ``number`` that of the score among theirs.
    """

    def __init__(self, tables: Tables, confidence: float, units: Units | None = None, number: int = 0) -> None:
        self.tables, self.confidence, self.units, self.number = tables, confidence, units, number
        self._columns: dict[tuple[str, Hashable], _Column] = {}
        self._places: dict[Cut, tuple[float, float, float]] = {}
        self._running: dict[Hashable, tuple[FloatArray, ...]] = {}
        self._windows: IntArray = np.empty(0, dtype=np.int64)
        # What calibration has worked out.
        self.levels: dict[Hashable, tuple[FloatArray, ...]] = {}
        self.calibrations: dict[Hashable | None, Calibration] = {}
        self._sums: dict[float, _Above] = {}
        self.total = float(sum(table.n1 + table.n0 for table in tables.values()))

    def rates(self, cut: Cut, pair: Pair, of: Of) -> tuple[float, float]:
        """Return the shares of two groups above a cut."""
        threshold, part, _ = self.place(cut)
        first, second = (self._column(of, group).at(threshold).rate(part) for group in pair)
        return first, second

    def at(self, cut: Cut, pair: Pair, of: Of) -> CutGap:
        """Return the gap of a pair at a cut."""
        threshold, part, share = self.place(cut)
        first, second = (self._column(of, group).at(threshold) for group in pair)
        rates = self.rates(cut, pair, of)
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
        columns = [self._column(of, group) for group in pair]
        if min(column.mass[-1] for column in columns) <= 0:
            nan = (np.nan, np.nan)
            return CutGap(of, pair, np.nan, np.nan, np.nan, nan, np.nan, nan)
        # Between two scores of the shorter list the difference moves one way: it is widest next to one of them.
        looked_at = _near_widest(columns)
        places = _places(columns, looked_at)
        gaps = np.stack([columns[0].rate(first) - columns[1].rate(second) for first, second in places])
        side, index = np.unravel_index(int(np.argmax(np.abs(gaps))), gaps.shape)
        value = float(gaps[side, index])
        first, second = (float(column.rate(place[index])) for column, place in zip(columns, places[side], strict=True))
        score = float(_shorter(columns).score[looked_at[index]])
        if not side:
            # Only rows strictly above that score are selected: the cut is at the next higher score of either group.
            above = [
                column.score[place[index] - 1] for column, place in zip(columns, places[0], strict=True) if place[index]
            ]
            score = float(min(above)) if above else float("inf")
        # Of few rows a motion says little, and where all are tied there is none.
        few = any(are_few(column.mass[-1], column.square[-1]) for column in columns)
        # The motion is that of single rows.
        few = few or self.units is not None
        half = np.nan if few else self._half_width(columns) or np.nan
        share = float(self._everyone(score).mass[:2].sum())
        ends = float(np.maximum(value - half, -1.0)), float(np.minimum(value + half, 1.0))
        found = CutGap(of, pair, value, share / self.total, score, (first, second), np.nan, ends)
        return _as_specificity(found) if of == "specificity" else found

    def curve(self, pair: Pair, of: Of, points: int = 200) -> tuple[FloatArray, FloatArray, float]:
        """Return shares of the list, the gap at each, and half the width of the band around them."""
        columns = [self._column(of, group) for group in pair]
        shares = np.arange(1, points) / points
        gaps = []
        for share in shares.tolist():
            threshold, part, _ = self.place(share)
            first, second = (column.at(threshold).rate(part) for column in columns)
            gaps.append(second - first if of == "specificity" else first - second)
        return shares, np.array(gaps), self._half_width(columns)

    def running(self, group: Hashable) -> tuple[FloatArray, ...]:
        """Sums of each of the table's masses, and of squared weights, over its scores from none to all."""
        if group not in self._running:
            self._running[group] = tuple(map(running, self.tables[group].sums))
        return self._running[group]

    def _everyone(self, threshold: float) -> _Above:
        """Return what is above a threshold, at it, and in all, of the rows of all groups."""
        if threshold not in self._sums:
            found = [self._column("selected", group).at(threshold) for group in self.tables]
            self._sums[threshold] = _Above(*(np.sum(parts, axis=0) for parts in zip(*found, strict=True)))
        return self._sums[threshold]

    def _column(self, of: str, group: Hashable) -> _Column:
        key = (of, group)
        if key not in self._columns:
            if not self._windows.size:
                self._windows = windows(list(self.tables.values()))
            place = list(self.tables).index(group)
            self._columns[key] = _Column(self.tables[group], of, self._windows[:, place])
        return self._columns[key]

    def place(self, cut: Cut) -> tuple[float, float, float]:
        """Return the score that a cut falls on, the part of the rows there that is above it, and the share above it."""
        if cut not in self._places:
            self._places[cut] = self._found(cut)
        return self._places[cut]

    def _found(self, cut: Cut) -> tuple[float, float, float]:
        everyone = [self._column("selected", group) for group in self.tables]
        if isinstance(cut, Threshold):
            return cut.score, 1.0, float(self._everyone(cut.score).mass[:2].sum()) / self.total
        wanted = float(cut) if isinstance(cut, int) else float(cut) * self.total
        # A share of all may end above the mass of the very rows that it is, by rounding.
        enough = wanted * (1 - 1e-12)

        # The highest score of any group with enough rows of all groups at or above it: first the window that has it.
        reached = np.sum([cast(_Sums, column.mass).at_places for column in everyone], axis=0)
        after = min(int(np.searchsorted(reached, enough)), reached.size - 1)
        parts = [slice(*ends) for ends in self._windows[after - 1 : after + 1].T.tolist()]
        tables = list(zip(self.tables.values(), parts, strict=True))
        falling = -np.concatenate([table.score[some] for table, some in tables])
        mass = np.concatenate([table.positive[some] + table.negative[some] for table, some in tables])
        order = np.argsort(falling, kind="stable")
        last = int(np.searchsorted(reached[after - 1] + np.cumsum(mass[order]), enough))
        score = float(-falling[order[min(last, order.size - 1)]])
        masses = self._everyone(score).mass
        part = min(max((wanted - masses[0]) / masses[1], 0.0), 1.0) if masses[1] > 0 else 1.0
        return score, float(part), wanted / self.total

    def _slope(self, share: float, pair: Pair, of: Of) -> float:
        """Change of the gap by the share of the list, around a share: how much the cut's own sampling counts."""
        columns = [self._column(of, group) for group in pair]
        # As many rows as would say as much: the scale of sampling weights means nothing.
        rows = min(column.mass[-1] ** 2 / max(column.square[-1], 1e-300) for column in columns)
        reach, _ = self.reach(share, rows)
        if not reach > 0:
            return 0.0
        ends = []
        for place in (share - reach, share + reach):
            inside = min(max(place, 1e-12), 1 - 1e-12)
            threshold, part, _ = self.place(float(inside))
            first, second = (self._column(of, group).at(threshold).rate(part) for group in pair)
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
            column, place = self._column(of, group), list(self.tables).index(group)
            own |= {(place, each): (sign / column.mass[-1], column.at(threshold).rate(part)) for each in classes}
        return Influence(self.number, threshold, part, (-slope / self.total, share), own)

    def _half_width(self, columns: list[_Column]) -> float:
        """Half the width of the band: the quantile of the largest difference of the two processes."""
        size = _shorter(columns).score.size
        looked_at = np.unique(np.linspace(0, size - 1, min(size, _POINTS // 2)).astype(int))
        # Where scores are left out, the process may be wider between two that are looked at.
        rows = sum(column.square[-1] / column.mass[-1] ** 2 for column in columns)
        between = _BETWEEN * np.sqrt(rows / looked_at.size) if looked_at.size < size else 0.0
        pairs = np.stack([np.concatenate(sides) for sides in zip(*_places(columns, looked_at), strict=True)])
        draws = _DRAWS if len(self.tables) <= _MANY_GROUPS else _FEWER_DRAWS
        differences = np.zeros((pairs.shape[1], draws), dtype=np.float32)
        for column, place, motion, sign in zip(columns, pairs, _motions(), (1, -1), strict=True):
            spread = column.square[-1]
            steps = np.rint(column.square[place] / spread * _STEPS).astype(int)
            rate = (column.mass[place] / column.mass[-1]).astype(np.float32)[:, None]
            process = motion[steps, :draws]
            process -= rate * motion[-1, :draws]
            process *= np.float32(sign * np.sqrt(spread) / column.mass[-1])
            differences += process
        widest = np.maximum(differences.max(axis=0), -differences.min(axis=0))
        return float(np.quantile(widest, self.confidence) + between)


@cache
def _motions() -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Draws of two independent Brownian motions on [0, 1], a row per step."""
    rng = np.random.default_rng(0)
    steps = rng.standard_normal((2, _DRAWS, _STEPS), dtype=np.float32) / np.float32(np.sqrt(_STEPS))
    first, second = (
        np.concatenate([np.zeros((1, _DRAWS), np.float32), np.ascontiguousarray(np.cumsum(s, axis=1).T)]) for s in steps
    )
    return first, second


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
