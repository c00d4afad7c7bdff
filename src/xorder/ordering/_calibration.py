"""Calibration: from a group's score to the log odds of being positive in that group, and back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from xorder._table import FloatArray, ScoreTable
from xorder._validation import check_both_classes
from xorder.exceptions import InputError
from xorder.ordering._hull import pool

# Closer to 0 or 1 than this, probabilities are not told apart.
_EPSILON = 1e-12

# Log odds up to which the axis is the logit itself for any table, and the share of a table that may lie beyond.
_PLAIN = 7.0
_TAIL = 0.005

_LARGEST = 1e300


@dataclass(frozen=True, slots=True)
class LogitAxis:
    """Scores in [0, 1] on the logit scale, which beyond ``reach`` goes on like a logarithm.

    A model that answers with exactly 0 or 1, as forests do, does not mean infinite odds. Bending the ends keeps such
    scores in order and finite, and keeps them from pulling a fit their way.
    """

    reach: float

    @classmethod
    def of(cls, table: ScoreTable) -> LogitAxis:
        """Return the axis that is plain over all but the outermost percent of a table's scores."""
        inside = (table.score > 0) & (table.score < 1)
        if not inside.any():
            return cls(_PLAIN)
        share = np.cumsum(table.mass[inside])
        ends = np.searchsorted(share, [_TAIL * share[-1], (1 - _TAIL) * share[-1]])
        outermost = _logit(table.score[inside][np.minimum(ends, share.size - 1)])
        return cls(max(_PLAIN, float(np.abs(outermost).max())))

    def place(self, score: FloatArray) -> FloatArray:
        """Return the place of scores."""
        logit = _logit(score)
        beyond = np.maximum(np.abs(logit) - self.reach, 0.0)
        return np.asarray(logit - np.sign(logit) * (beyond - np.log1p(beyond)))

    def score(self, place: FloatArray) -> FloatArray:
        """Return the score at a place; always within [0, 1]."""
        beyond = np.clip(np.abs(place) - self.reach, 0.0, 100.0)
        logit = np.sign(place) * (np.minimum(np.abs(place), self.reach) + np.expm1(beyond))
        with np.errstate(over="ignore"):
            return np.asarray(1.0 / (1.0 + np.exp(-logit)))


@dataclass(frozen=True, slots=True)
class LineAxis:
    """Scores of any range, in standard deviations: ``score / scale - center``."""

    center: float
    scale: float

    @classmethod
    def of(cls, table: ScoreTable) -> LineAxis:
        """Return the axis on which a table's scores have mean 0 and deviation 1."""
        largest = max(float(np.abs(table.score[[0, -1]]).max()), 1e-300)
        relative, mass = table.score / largest, table.mass / table.mass.max()
        mean = float(np.average(relative, weights=mass))
        deviation = float(np.sqrt(np.average((relative - mean) ** 2, weights=mass)))
        # Of a single score there is no deviation; its size, or 1, is the only scale at hand.
        if not deviation * largest > 0:
            return cls(relative[0] * largest / max(largest, 1.0), max(largest, 1.0))
        return cls(mean / deviation, deviation * largest)

    def place(self, score: FloatArray) -> FloatArray:
        """Return the place of scores."""
        with np.errstate(over="ignore"):
            return np.clip(score / self.scale - self.center, -_LARGEST, _LARGEST)

    def score(self, place: FloatArray) -> FloatArray:
        """Return the score at a place."""
        with np.errstate(over="ignore"):
            return np.clip((place + self.center) * self.scale, -_LARGEST, _LARGEST)


Axis = LogitAxis | LineAxis


def axis_of(table: ScoreTable, *, unit: bool) -> Axis:
    """Return the axis for a table: the logit scale for scores in [0, 1], else the scores' own."""
    return LogitAxis.of(table) if unit else LineAxis.of(table)


def _logit(score: FloatArray) -> FloatArray:
    inside = np.clip(score, _EPSILON, 1 - _EPSILON)
    return np.asarray(np.log(inside) - np.log1p(-inside))


# What is believed before any row is seen weighs one row, within these shares of the weight of a group.
_PRIOR = 1.0
_PRIOR_SHARES = (1e-9, 0.02)

# Rows by which a block is drawn to the logistic line, and the share of a group's weight that they are at most.
_PULL = 20.0
_PULL_SHARE = 0.2

# No curve is flatter than this, in log odds per step of the axis: order within a group is never lost.
_FLATTEST = 0.05

# Newton's method: steps at most, their lengths at most, and below which they need no check or are the last.
_NEWTON_STEPS = 50
_LONGEST_STEP = 5.0
_SAFE_STEP = 1e-2
_CONVERGED = 1e-7
_COARSE = 2000


@dataclass(frozen=True, slots=True, eq=False)
class Calibration:
    """A strictly increasing curve of straight lines through ``(places, values)``, places being on ``axis``.

    Beyond its ends the outermost lines go on. Two points at least; both arrays rise strictly.

    >>> table = ScoreTable.from_arrays([1, 0, 1, 0, 0], [0.9, 0.8, 0.6, 0.3, 0.1])
    >>> curve = logistic_calibration(table, unit=True)
    >>> curve.log_odds([0.0, 0.5, 1.0]).round(2)
    array([-11.54,  -0.91,   9.72])
    >>> curve.score(curve.log_odds([0.1, 0.5])).round(9)
    array([0.1, 0.5])
    """

    axis: Axis
    places: FloatArray
    values: FloatArray

    def __post_init__(self) -> None:
        for array in (self.places, self.values):
            if array.ndim != 1 or array.size < 2 or not np.isfinite(array).all() or not (np.diff(array) > 0).all():
                raise InputError("a calibration curve needs two points or more that rise strictly, all finite.")
            array.flags.writeable = False
        if self.places.size != self.values.size:
            raise InputError("a calibration curve needs as many values as places.")

    def log_odds(self, score: Any) -> FloatArray:
        """Return the log odds at scores; finite for every finite score."""
        place = self.axis.place(np.asarray(score, dtype=np.float64))
        return _through(self.places, self.values, place)

    def score(self, log_odds: Any) -> FloatArray:
        """Return the scores at which the log odds are these; within [0, 1] on the logit axis."""
        place = _through(self.values, self.places, np.asarray(log_odds, dtype=np.float64))
        return self.axis.score(place)


def logistic_calibration(table: ScoreTable, *, unit: bool) -> Calibration:
    """Fit a straight line on the logit scale (``unit``: scores in [0, 1]) or over the score itself.

    Maximum likelihood by Newton's method, with the slope drawn towards 1 by the weight of one row, so that it is
    finite where the score separates the classes. The slope is at least .05.
    """
    check_both_classes(table, "the group to calibrate")
    axis = axis_of(table, unit=unit)
    place = axis.place(table.score)
    middle, height, slope = _logistic_fit(place, table)
    ends = middle + np.array([-1.0, 1.0])
    return Calibration(axis, ends, height + slope * (ends - middle))


def block_calibration(table: ScoreTable, *, unit: bool) -> Calibration:
    """Join the centres of blocks, as pooling adjacent violators makes them, by straight lines.

    Each block's odds are those of its rows and one more row of the group's overall share, so that pure blocks are
    finite; blocks that this brings out of order are joined. The ends go on with the slope of the logistic fit.
    """
    return _joined_blocks(table, unit, _prior(table), towards_line=False)


def bent_calibration(table: ScoreTable, *, unit: bool) -> Calibration:
    """Bend the line of the logistic fit towards the blocks: as with blocks alone, but each is drawn to the line.

    A block's odds are those of its rows and as many as twenty more (a fifth of the group at most) that are as the line
    says: where rows are few the line decides, where they are many the blocks do.
    """
    return _joined_blocks(table, unit, min(_PULL, _PULL_SHARE * (table.n1 + table.n0)), towards_line=True)


CALIBRATIONS: dict[str, Callable[..., Calibration]] = {
    "logistic": logistic_calibration,
    "blocks": block_calibration,
    "bent": bent_calibration,
}
"""Every way to calibrate a group, called as ``(table, *, unit)``."""


def _joined_blocks(table: ScoreTable, unit: bool, prior: float, *, towards_line: bool) -> Calibration:
    check_both_classes(table, "the group to calibrate")
    axis = axis_of(table, unit=unit)
    place = axis.place(table.score)
    middle, height, slope = _logistic_fit(place, table)
    blocks = pool(table)
    p, n, moment = blocks.positive, blocks.negative, np.add.reduceat(place * table.mass, blocks.start[:-1])
    while True:
        center = moment / (p + n)
        share = np.full(p.size, table.n1 / (table.n1 + table.n0))
        if towards_line:
            share = _expit(height + slope * (center - middle))
        odds = (p + prior * share) / (n + prior * (1 - share))
        falls = (odds[1:] < odds[:-1] * (1 - 1e-9)) & (center[1:] < center[:-1] - 1e-12 * np.abs(center[:-1]))
        if falls.all():
            break
        kept = np.flatnonzero(np.append(True, falls))
        p, n, moment = (np.add.reduceat(column, kept) for column in (p, n, moment))
    center, value = center[::-1], np.log(odds[::-1])
    places = np.concatenate([[center[0] - 1], center, [center[-1] + 1]])
    return Calibration(axis, places, np.concatenate([[value[0] - slope], value, [value[-1] + slope]]))


def _prior(table: ScoreTable) -> float:
    least, most = (share * (table.n1 + table.n0) for share in _PRIOR_SHARES)
    return min(max(_PRIOR, least), most)


def _logistic_fit(place: FloatArray, table: ScoreTable) -> tuple[float, float, float]:
    """Return the middle of the places, the log odds there and the slope of the logistic fit."""
    total = table.n1 + table.n0
    mass, positive, prior = table.mass / total, table.positive / total, _prior(table) / total
    middle = float(mass @ place)
    x = place - middle
    start = (float(np.log(table.n1 / table.n0)), 0.0)
    # A coarse table leads close to the answer, and two or three steps on the full one do the rest.
    parts = np.arange(0, x.size, -(-x.size // _COARSE))
    coarse, coarse_positive = np.add.reduceat(mass, parts), np.add.reduceat(positive, parts)
    coarse_x = np.add.reduceat(mass * x, parts) / coarse
    for slope, free in ((start[1], True), (_FLATTEST, False)):
        found = _newton(coarse_x, coarse, coarse_positive, prior, (start[0], slope), free=free)
        found = _newton(x, mass, positive, prior, found, free=free)
        if found[1] >= _FLATTEST:
            break
    return middle, *found


def _newton(
    x: FloatArray, mass: FloatArray, positive: FloatArray, prior: float, start: tuple[float, float], *, free: bool
) -> tuple[float, float]:
    """Fit the height and, if it is free, the slope of a line to the log odds, from a start."""
    n1, n1_moment = float(positive.sum()), float(x @ positive)

    def loss(height: float, slope: float) -> float:
        likelihood = float(mass @ np.logaddexp(0.0, height + slope * x)) - height * n1 - slope * n1_moment
        return likelihood + prior / 2 * (slope - 1) ** 2

    height, slope = start
    for _ in range(_NEWTON_STEPS):
        share = _expit(height + slope * x)
        expected = mass * share
        spread = expected * (1 - share)
        spread_x = spread * x
        gradient = np.array([expected.sum() - n1, expected @ x - n1_moment + prior * (slope - 1)])
        curvature = np.array([[spread.sum(), spread_x.sum()], [spread_x.sum(), spread_x @ x + prior]])
        step = np.linalg.solve(curvature, gradient) if free else np.array([gradient[0] / curvature[0, 0], 0.0])
        length = float(np.abs(step).max())
        # Far from the answer the curve is nearly flat, and a full step would overshoot beyond all numbers.
        step *= min(1.0, _LONGEST_STEP / max(length, 1e-300))
        if length > _SAFE_STEP:
            before = loss(height, slope)
            while np.abs(step).max() > _SAFE_STEP and loss(height - step[0], slope - step[1]) > before:
                step /= 2
        height, slope = float(height - step[0]), float(slope - step[1])
        if length < _CONVERGED:
            break
    return height, slope


def _expit(log_odds: FloatArray) -> FloatArray:
    return np.asarray(1 / (1 + np.exp(-np.clip(log_odds, -700, 700))))


def _through(x: FloatArray, y: FloatArray, at: FloatArray) -> FloatArray:
    """Follow the lines through (x, y), the outermost beyond the ends."""
    inside = np.interp(at, x, y)
    low, high = (y[1] - y[0]) / (x[1] - x[0]), (y[-1] - y[-2]) / (x[-1] - x[-2])
    with np.errstate(over="ignore"):
        inside += np.minimum(at - x[0], 0.0) * low + np.maximum(at - x[-1], 0.0) * high
    return np.clip(inside, -_LARGEST, _LARGEST)
