"""ScoreMap: a strictly increasing piecewise-linear map from raw to adjusted scores."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from xorder._arrays import as_numbers
from xorder._atomic import atomic_path, file_path
from xorder._parameters import brief, in_range
from xorder._table import BoolArray, FloatArray, IntArray, in_threads
from xorder.exceptions import InputError, MapFileError

TOLERANCE = 1e-9
"""How far the map may move a score, as a share of the range of the adjusted knots."""

FURTHEST = 1e290
"""Knots lie at most this far from 0: whatever finite score is mapped, the result is finite."""

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
    kept = np.ones(raw.size, dtype=bool)
    if raw.size < 3:
        return kept
    allowed = tolerance * float(adjusted[-1] - adjusted[0])
    rounding = 8 * float(np.finfo(np.float64).eps * max(abs(adjusted[0]), abs(adjusted[-1])))
    kept[:] = False
    kept[_cone_ends(raw, adjusted, max(allowed - rounding, 0.0))] = True
    # The cone reckons with slopes, which may overflow; what counts is what the map does.
    mapped = straight_lines(raw[kept], adjusted[kept])(raw)
    wrong = np.abs(mapped - adjusted) > allowed
    wrong[1:] |= mapped[1:] <= mapped[:-1]
    # A line that goes wrong somewhere gets all of its knots back. Its ends are true, so no other line is touched.
    ends = np.flatnonzero(kept)
    line = np.searchsorted(ends, np.flatnonzero(wrong), side="left") - 1
    for number in np.unique(line):
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
            _check_reach(f"the {name} knots of a score map", knots)
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
        if not self.raw.size:
            return 0
        return int(np.count_nonzero((score < self.raw[0]) | (score > self.raw[-1])))

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


def _check_reach(name: str, values: FloatArray) -> None:
    if not np.all(np.abs(values) <= FURTHEST):
        raise InputError(
            f"{name} must lie between {-FURTHEST:g} and {FURTHEST:g}, so that no adjusted score leaves the range of "
            "numbers; scale the scores down."
        )


def spaced_map(
    reference: FloatArray, moved: FloatArray, moved_above: IntArray, bounds: tuple[float, float] | None = None
) -> ScoreMap:
    """Build the map that carries an ordering over to scores.

    The reference's scores stay. Scores put between two of them are spread evenly there. Scores put above the highest,
    or below the lowest, are spread evenly up to, or down to, the bounds, and all stay inside them; without bounds
    they keep their distances.

    Parameters
    ----------
    reference, moved : ndarray of shape (n_scores,)
        Distinct scores of the two groups, highest first.
    moved_above : ndarray of shape (n_scores_of_reference,)
        Number of moved scores that the ordering puts above each of the reference's.
    bounds : tuple of float, default=None
        Lowest and highest score allowed; [0, 1] for scores that all lie there, unless others are given.

    Returns
    -------
    ScoreMap
        Map of the moved group.
    """
    _check_reach("y_score", np.concatenate([reference[[0, -1]], moved[[0, -1]]]))
    bounds = usual_bounds(reference, moved) if bounds is None else bounds
    low, high = (-FURTHEST, FURTHEST) if bounds is None else bounds
    above = _reference_above(moved.size, moved_above)
    edges = np.concatenate([[high], reference, [low]])
    # Scores that go between the same two of the reference stand next to each other.
    starts = np.flatnonzero(np.append(True, above[1:] != above[:-1]))
    sizes = np.diff(np.append(starts, moved.size))
    first, size = np.repeat(starts, sizes), np.repeat(sizes, sizes)
    upper, lower = edges[above], edges[above + 1]
    share = (np.arange(moved.size) - first + 1) / (size + 1)
    adjusted = upper * (1 - share) + lower * share
    if bounds is None:
        top, bottom = above == 0, above == reference.size
        adjusted[top] = reference[0] + _distances(moved[::-1], int(top.sum()))[::-1]
        adjusted[bottom] = reference[-1] - _distances(-moved, int(bottom.sum()))
        adjusted = np.clip(adjusted, low, high)
    return map_through(moved[::-1], adjusted[::-1], bounds)


def map_through(raw: FloatArray, adjusted: FloatArray, bounds: tuple[float, float] | None) -> ScoreMap:
    """Build the map through knots that rise, or nearly so: made to rise strictly, and tied to the bounds.

    Parameters
    ----------
    raw : ndarray of shape (n_knots,)
        Scores at the knots, strictly rising.
    adjusted : ndarray of shape (n_knots,)
        What is to be made of them.
    bounds : tuple of float or None
        Lowest and highest score allowed, if any.

    Returns
    -------
    ScoreMap
        The map.
    """
    low, high = (-FURTHEST, FURTHEST) if bounds is None else bounds
    adjusted = np.clip(adjusted, low, high)
    if bounds is not None:
        # Bounds are tied to themselves, so that scores beyond those seen stay inside them.
        below, above = np.full(int(raw[0] > low), low), np.full(int(raw[-1] < high), high)
        raw, adjusted = (np.concatenate([below, knots, above]) for knots in (raw, adjusted))
    return ScoreMap(raw, _strictly_rising(adjusted, cap=high))


def usual_bounds(*falling: FloatArray) -> tuple[float, float] | None:
    """Return [0, 1] for scores that all lie there; others have no bounds of their own.

    Parameters
    ----------
    *falling : ndarray of shape (n_scores,)
        Scores of each group, highest first.

    Returns
    -------
    tuple of float or None
        Lowest and highest score.
    """
    inside = all(scores[-1] >= 0 and scores[0] <= 1 for scores in falling)
    return (0.0, 1.0) if inside else None


def realises(reference: FloatArray, adjusted: FloatArray, moved_above: IntArray) -> bool:
    """Whether adjusted scores stand among the reference's as an ordering says, without ties.

    Parameters
    ----------
    reference : ndarray of shape (n_scores_of_reference,)
        Distinct scores of the reference, highest first.
    adjusted : ndarray of shape (n_scores,)
        Adjusted scores of the moved group, highest first.
    moved_above : ndarray of shape (n_scores_of_reference,)
        Number of moved scores that the ordering puts above each of the reference's.

    Returns
    -------
    bool
        Whether all of them do.
    """
    above = _reference_above(adjusted.size, moved_above)
    edges = np.concatenate([[np.inf], reference, [-np.inf]])
    return bool(np.all((adjusted < edges[above]) & (adjusted > edges[above + 1])))


def _reference_above(moved: int, moved_above: IntArray) -> IntArray:
    """Of the reference's scores, how many stand above each moved score."""
    return np.searchsorted(moved_above, np.arange(moved), side="right")


def _distances(rising: FloatArray, count: int) -> FloatArray:
    """Distances of the last ``count`` of some rising scores from the one before them.

    Where they are all of the scores there is none before; they then start one mean step away.
    """
    if count == 0:
        return np.empty(0)
    if count < rising.size:
        return np.asarray(rising[-count:] - rising[-count - 1])
    step = (rising[-1] - rising[0]) / (count - 1) if count > 1 else 1.0
    return np.asarray(rising - rising[0] + step)


def _strictly_rising(values: FloatArray, cap: float) -> FloatArray:
    """Raise values by as few representable numbers as it takes to make them rise strictly, up to ``cap``.

    Between two scores of the reference there can be fewer floating-point numbers than scores to be spread there. The
    order within the group then comes first: neighbours end up next to each other, beyond these two if need be.
    """
    if bool((values[1:] > values[:-1]).all()) and values[-1] <= cap:
        return values
    steps = np.arange(values.size)
    # As integers that order like the floats they stand for, neighbouring floats differ by 1.
    code = _in_order((np.append(values, cap) + 0.0).view(np.int64))
    rising = np.maximum.accumulate(code[:-1] - steps) + steps
    return _in_order(np.minimum(rising, code[-1] - steps[::-1])).view(np.float64)


def _in_order(bits: IntArray) -> IntArray:
    """Turn the bits of floats into integers of their order, and these back into bits."""
    return np.where(bits >= 0, bits, np.int64(-(2**63)) - bits)


LARGEST_FILE = 96 << 20
"""Bytes of a map file: room for two million knots."""

FORMAT = "xorder-map"
VERSION = 3


def write_maps(
    path: str | os.PathLike[str],
    maps: dict[Hashable, ScoreMap],
    *,
    params: dict[str, Any],
    summary: dict[str, Any],
    overwrite: bool = True,
) -> None:
    """Write maps with the settings and results that explain them, atomically.

    Parameters
    ----------
    path : str or path-like
        File to write.
    maps : dict of hashable to ScoreMap
        Map of each group; labels are text, numbers or booleans.
    params : dict
        Settings of the repair.
    summary : dict
        What it came to.
    overwrite : bool, default=True
        Whether a file that is there is replaced.
    """
    for group in maps:
        if not isinstance(group, str | int | float | bool) or group != group or group in (float("inf"), -float("inf")):
            raise InputError(
                f"group {group!r} cannot be saved: labels must be text, numbers or booleans; "
                f"got {type(group).__name__}. Use text labels."
            )
    content = {
        "format": FORMAT,
        "version": VERSION,
        "params": params,
        "summary": summary,
        "groups": [{"group": group, **score_map.to_dict()} for group, score_map in maps.items()],
    }
    text = json.dumps(content | {"checksum": _checksum(content)}, allow_nan=False, indent=1)
    if len(text) >= LARGEST_FILE:
        knots = sum(score_map.raw.size for score_map in maps.values())
        raise InputError(
            f"a map of {knots:,} knots takes more than the {LARGEST_FILE >> 20} MiB that a map file may have; fit it "
            "to fewer distinct scores, or with method 'smooth'."
        )
    with atomic_path(path, overwrite=overwrite) as temporary:
        temporary.write_text(text + "\n", encoding="utf-8", newline="\n")


def read_maps(path: str | os.PathLike[str]) -> tuple[dict[Hashable, ScoreMap], dict[str, Any], dict[str, Any]]:
    """Read maps, settings and summary.

    Parameters
    ----------
    path : str or path-like
        File that :func:`write_maps` wrote.

    Returns
    -------
    maps : dict of hashable to ScoreMap
        Map of each group.
    params : dict
        Settings of the repair.
    summary : dict
        What it came to.

    Raises
    ------
    MapFileError
        If the file is anything else, or was changed since; in one sentence.
    """
    content = _parse(file_path(path))
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        _refuse(path, "it is not a map saved by xorder")
    version = content.get("version")
    if type(version) is not int or version != VERSION:
        which = "an earlier" if type(version) is int and version < VERSION else "another"
        known = f"this one reads version {VERSION}. Fit again"
        _refuse(path, f"its format version is {str(version)[:20]}, of {which} xorder; {known}")
    checksum = content.pop("checksum", None)
    if not all(isinstance(content.get(key), kind) for key, kind in _PARTS.items()):
        _refuse(path, f"it lacks one of {', '.join(_PARTS)}")
    maps: dict[Hashable, ScoreMap] = {}
    for record in content["groups"]:
        group = record.get("group") if isinstance(record, dict) else None
        if not isinstance(group, str | int | float | bool) or group in maps:
            _refuse(path, "a group in it has no label, or the same as another")
        try:
            maps[group] = ScoreMap.from_dict(record)
        except InputError as error:
            _refuse(path, f"group {group!r}: {str(error).rstrip('.')}")
    if not maps:
        _refuse(path, "it holds no groups")
    if checksum != _checksum(content):
        _refuse(path, "its checksum does not match, so it was changed after it was saved")
    return maps, content["params"], content["summary"]


_PARTS = {"params": dict, "summary": dict, "groups": list}


def _parse(path: Path) -> Any:
    try:
        if path.is_dir():
            _refuse(path, "it is a folder")
        with path.open("rb") as file:
            if not file.read(64).lstrip().startswith(b"{"):
                _refuse(path, "it is not a map saved by xorder")
            file.seek(0)
            text = file.read(LARGEST_FILE + 1)
        if len(text) > LARGEST_FILE:
            _refuse(path, f"it is larger than {LARGEST_FILE >> 20} MiB, and no map of xorder is")
        return json.loads(text.decode("utf-8"), parse_constant=_no_constant)
    except MapFileError:
        raise
    except FileNotFoundError:
        raise MapFileError(f"there is no map file {path}.") from None
    except OSError as error:
        # What it was raised from shows whether the machine has run out of something.
        raise MapFileError(f"cannot use the map file {path}: {error.strerror or error}.") from error
    except RecursionError:
        _refuse(path, "it is nested too deeply to be a map")
    except UnicodeDecodeError:
        _refuse(path, "it is not text in UTF-8")
    except ValueError as error:
        _refuse(path, f"it is cut off or damaged ({error})")


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number a map can hold")


def _checksum(content: dict[str, Any]) -> str:
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return "sha256:" + hashlib.sha256(canonical.encode("utf-8")).hexdigest()


def _refuse(path: str | os.PathLike[str], why: str) -> NoReturn:
    raise MapFileError(f"cannot use the map file {path}: {why}.") from None
