"""ScoreMap: a strictly increasing piecewise-linear map from raw to adjusted scores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from xorder._arrays import as_numbers
from xorder._parameters import brief, in_range
from xorder._table import BoolArray, FloatArray, in_threads
from xorder.exceptions import InputError

# How far the map may move a score, as a share of the range of the adjusted knots.
TOLERANCE = 1e-9

# Knots lie at most this far from 0: whatever finite score is mapped, the result is finite.
FURTHEST = 1e290

# Scores adjusted at a time, and knots from which on it pays to sort them first: a sorted part walks through the knots
# once, instead of all over the memory for each score.
PART = 65_536
SORTED_FROM = 1_000

# Why straight_lines is not np.interp. It does the operations of a map's SQL text (_sql.py) in the same order, so that
# engines compute the same bits; and it never puts a score below a lower one,
# nor past the next knot. np.interp multiplies by a rounded slope: its last bits differ from the text's, and it can
# fall. It is also level outside the knots, where scores would tie.


def straight_lines(raw: FloatArray, adjusted: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """Return the function that maps scores along straight lines between knots, with slope 1 outside.

    It is exact at the knots and never decreases. It holds all it needs and refers to nothing of xorder, so that it
    can be sent to a process where xorder is not installed.
    """
    if not raw.size:
        return np.copy
    first, last, final = raw[0], raw[-1], raw.size - 2
    if raw.size == 1:
        return lambda x: adjusted[0] + (x - first)
    width, low, rise, high = np.diff(raw), adjusted[:-1], np.diff(adjusted), adjusted[1:]
    sorts = raw.size >= SORTED_FROM

    def values(x: FloatArray) -> FloatArray:
        inside = np.clip(x, first, last)
        left = np.searchsorted(raw, inside, side="right")
        left -= 1
        np.minimum(left, final, out=left)
        share = inside - raw.take(left)
        share /= width.take(left)
        value = rise.take(left)
        value *= share
        value += low.take(left)
        # Rounding may carry a value past the next knot, which would put it above its betters.
        np.minimum(value, high.take(left), out=value)
        np.copyto(value, high[-1], where=inside == last)
        # Outside the knots, slope 1.
        value += x - inside
        return value

    def in_order(x: FloatArray) -> FloatArray:
        flat = x.reshape(-1)
        if not sorts:
            return values(flat).reshape(x.shape)
        order = np.argsort(flat)
        mapped = np.empty(flat.size)
        mapped[order] = values(flat[order])
        return mapped.reshape(x.shape)

    return in_order


def _fewer_knots(raw: FloatArray, adjusted: FloatArray, tolerance: float) -> BoolArray:
    """Say which knots to keep so that no score moves by more than ``tolerance`` of the range of ``adjusted``.

    Kept knots keep their values. All knots that were given keep rising values under the map that is left, so that
    no two scores that the map was fitted to tie or swap. Time grows linearly with the knots.
    """
    if raw.size < 3:
        return np.ones(raw.size, dtype=bool)
    allowed = tolerance * float(adjusted[-1] - adjusted[0])
    rounding = 8 * float(np.finfo(np.float64).eps * max(abs(adjusted[0]), abs(adjusted[-1])))
    kept = np.zeros(raw.size, dtype=bool)
    kept[_cone_ends(raw, adjusted, max(allowed - rounding, 0.0))] = True
    # The cone reckons with slopes, which may overflow; what counts is what the map does.
    mapped = straight_lines(raw[kept], adjusted[kept])(raw)
    wrong = np.abs(mapped - adjusted) > allowed
    wrong[1:] |= mapped[1:] <= mapped[:-1]
    # A line that goes wrong somewhere gets all of its knots back. Its ends are true, so no other line is touched.
    ends = np.flatnonzero(kept)
    for number in np.unique(np.searchsorted(ends, np.flatnonzero(wrong), side="left") - 1):
        kept[ends[number] : ends[number + 1]] = True
    return kept


def _cone_ends(raw: FloatArray, adjusted: FloatArray, allowed: float) -> list[int]:
    """From each end, draw a line to the furthest knot in sight: one that all knots passed by are near enough to.

    The slopes that pass near enough to each knot so far form a cone, which narrows from knot to knot. A plain loop:
    each step needs the one before.
    """
    x, y = raw.tolist(), adjusted.tolist()
    ends = [0]
    start_x, start_y, flattest, steepest = x[0], y[0], -np.inf, np.inf
    for knot in range(1, len(x)):
        run, rise = x[knot] - start_x, y[knot] - start_y
        # A line to the next knot alone passes none by, so the first after an end is always in sight.
        if not flattest <= rise / run <= steepest:
            before = knot - 1
            ends.append(before)
            start_x, start_y, flattest, steepest = x[before], y[before], -np.inf, np.inf
            run, rise = x[knot] - start_x, y[knot] - start_y
        flattest = max(flattest, (rise - allowed) / run)
        steepest = min(steepest, (rise + allowed) / run)
    ends.append(len(x) - 1)
    return ends


@dataclass(frozen=True, slots=True, eq=False)
class ScoreMap:
    """Strictly increasing map of scores: straight lines between knots, slope 1 outside.

    Without knots it leaves scores as they are. Being increasing, it never changes the order within a group.

    Parameters
    ----------
    raw : array-like of shape (n_knots,)
        Scores at the knots, strictly rising.
    adjusted : array-like of shape (n_knots,)
        What the map makes of them, strictly rising.

    Examples
    --------
    >>> score_map = ScoreMap(raw=[0.5, 0.8], adjusted=[0.4, 0.7])
    >>> score_map.apply([0.5, 0.65, 0.8, 0.9])
    array([0.4 , 0.55, 0.7 , 0.8 ])
    """

    raw: FloatArray
    adjusted: FloatArray

    def __post_init__(self) -> None:
        for name in ("raw", "adjusted"):
            knots = as_numbers(getattr(self, name), f"the {name} knots of a score map").astype(np.float64)
            if knots.ndim != 1 or not np.isfinite(knots).all():
                raise InputError(f"the {name} knots of a score map must be a plain list of finite numbers.")
            check_reach(f"the {name} knots of a score map", knots)
            if not (knots[1:] > knots[:-1]).all():
                raise InputError(f"the {name} knots of a score map must rise strictly.")
            knots.flags.writeable = False
            object.__setattr__(self, name, knots)
        if self.raw.size != self.adjusted.size:
            raise InputError(
                f"a score map needs one adjusted knot for each raw one; got {self.raw.size} raw and "
                f"{self.adjusted.size} adjusted."
            )

    @classmethod
    def identity(cls) -> ScoreMap:
        """Return the map that changes nothing.

        Returns
        -------
        ScoreMap
            Map without knots.
        """
        return cls(np.empty(0), np.empty(0))

    def apply(self, scores: ArrayLike) -> FloatArray:
        """Map scores; exact at the knots, never decreasing anywhere.

        Parameters
        ----------
        scores : array-like of float
            Scores of any shape.

        Returns
        -------
        ndarray
            Adjusted scores of the same shape.
        """
        function, x = self.as_function(), as_numbers(scores, "scores").astype(np.float64, copy=False)
        if x.ndim != 1 or x.size <= PART:
            return function(x)
        mapped = np.empty(x.size)

        def one(begin: int) -> None:
            mapped[begin : begin + PART] = function(x[begin : begin + PART])

        # Part by part, on all cores.
        in_threads(x.size, one, range(0, x.size, PART))
        return mapped

    def as_function(self) -> Callable[[FloatArray], FloatArray]:
        """Return the map as a function of an array, worked out once for many calls.

        Returns
        -------
        callable
            Function from scores to adjusted scores; it needs nothing but NumPy.
        """
        return straight_lines(self.raw, self.adjusted)

    def compressed(self, tolerance: float = TOLERANCE) -> ScoreMap:
        """Return a map of fewer knots that moves no score by more than ``tolerance`` of the range of adjusted knots.

        Its knots are some of this map's. No two of this map's raw knots tie or swap under it, so that the order of
        the scores it was fitted to stays. :meth:`largest_deviation` says how far it moves any score. A map of
        a million knots loses nearly all of them; one of some thousand hardly any, unless the tolerance is coarser.

        Parameters
        ----------
        tolerance : float, default=1e-9
            Share of the range of adjusted knots, from 0 up to below 1.

        Returns
        -------
        ScoreMap
            Map of fewer knots.

        Examples
        --------
        >>> raw = np.linspace(0, 1, 100_001)
        >>> score_map = ScoreMap(raw, raw**2)
        >>> small = score_map.compressed(1e-6)
        >>> small, small.largest_deviation(score_map) <= 1e-6
        (ScoreMap(504 knots, raw 0 to 1), True)
        """
        share: Any = tolerance
        if not (isinstance(share, Real) and in_range(share, 0.0, 1 - 2**-53)):
            raise InputError(
                f"tolerance must be a share of the score range, from 0 up to below 1; got {brief(tolerance)}."
            )
        kept = _fewer_knots(self.raw, self.adjusted, float(tolerance))
        return ScoreMap(self.raw[kept], self.adjusted[kept])

    def largest_deviation(self, other: ScoreMap) -> float:
        """Return how far two maps are apart at most, over all scores.

        Parameters
        ----------
        other : ScoreMap
            Map to compare with.

        Returns
        -------
        float
            Largest difference of adjusted scores.
        """
        # Their difference is made of straight lines, too, and level outside the knots of both: largest at a knot.
        knots = np.concatenate([self.raw, other.raw])
        return float(np.abs(self.as_function()(knots) - other.as_function()(knots)).max(initial=0.0))

    def to_sql(self, column: str, *, dialect: str = "duckdb") -> str:
        """Return the map as an SQL expression of a column.

        The name is quoted, numbers are written in full, and NULL stays NULL. DuckDB and Spark read numbers exactly;
        SQLite may be a last bit off, most often below 1e-290, and moves the knot by as much. All groups at once:
        :func:`xorder.transfer.repair_sql`.

        Parameters
        ----------
        column : str
            Name of the column of scores.
        dialect : {"duckdb", "spark", "ansi"}, default="duckdb"
            Engine that is to read it.

        Returns
        -------
        str
            The expression.

        Raises
        ------
        InputError
            If the map has more than 2,000 knots, as no engine takes so long a text well: compress it first.

        Examples
        --------
        >>> print(ScoreMap([0.5], [0.25]).to_sql("risk"))
        (0.25e0 + ("risk" - 0.5e0))
        """
        from xorder.transfer._sql import map_sql

        return map_sql(self.raw, self.adjusted, column, dialect)

    def outside(self, score: FloatArray) -> int:
        """Count scores beyond the outermost knots, which lie outside those that the map was fitted to.

        Parameters
        ----------
        score : ndarray
            Scores to be mapped.

        Returns
        -------
        int
            Number of them outside.
        """
        ends = self.raw[[0, -1]] if self.raw.size else (-np.inf, np.inf)
        return int(np.count_nonzero((score < ends[0]) | (score > ends[1])))

    def to_dict(self) -> dict[str, list[float]]:
        """Return the knots as plain lists, ready for JSON; floats survive the round trip exactly.

        Returns
        -------
        dict
            Lists ``"raw"`` and ``"adjusted"``.
        """
        return {"raw": self.raw.tolist(), "adjusted": self.adjusted.tolist()}

    @classmethod
    def from_dict(cls, record: Any) -> ScoreMap:
        """Build a map from what :meth:`to_dict` gave, checking it.

        Parameters
        ----------
        record : dict
            Lists ``"raw"`` and ``"adjusted"``.

        Returns
        -------
        ScoreMap
            The map.
        """
        if not isinstance(record, dict) or not {"raw", "adjusted"} <= record.keys():
            raise InputError("a score map is a dict with the lists 'raw' and 'adjusted'.")
        for name in ("raw", "adjusted"):
            knots = record[name]
            if not isinstance(knots, list) or not all(
                isinstance(knot, int | float) and not isinstance(knot, bool) for knot in knots
            ):
                raise InputError(f"the {name} knots of a score map must be a list of numbers.")
        return cls(record["raw"], record["adjusted"])

    def __repr__(self) -> str:
        if not self.raw.size:
            return "ScoreMap(identity)"
        return f"ScoreMap({self.raw.size:,} knots, raw {self.raw[0]:g} to {self.raw[-1]:g})"


def check_reach(name: str, values: FloatArray) -> None:
    """Refuse scores or knots from which an adjusted score could leave the range of numbers."""
    if not np.all(np.abs(values) <= FURTHEST):
        raise InputError(
            f"{name} must lie between {-FURTHEST:g} and {FURTHEST:g}, so that no adjusted score leaves the range of "
            "numbers; scale the scores down."
        )
