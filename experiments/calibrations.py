"""Calibration: from a group's score to the log odds of being positive in that group, and back.

A logistic fit, and two more ways, which join the centres of blocks, as pooling adjacent violators makes them, by
straight lines. With any of them in ``solve_multipliers`` a group's calibrated odds are multiplied; on new people all
lost to multiplying the odds that the scores themselves state (docs/generalisation.md).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import isotonic_regression
from scipy.special import expit

from xorder._table import FloatArray, ScoreTable, check_both_classes
from xorder.exceptions import InputError

# Closer to 0 or 1 than this, probabilities are not told apart.
_EPSILON = 1e-12

# Log odds up to which the axis is the logit itself for any table.
_PLAIN = 7.0

# Share of a table, on either side, that may lie beyond that.
_TAIL = 0.005

# No curve goes further than this.
_LARGEST = 1e300

# Rows that what is believed before any row is seen weighs.
_PRIOR = 1.0

# The least and the most that it weighs, as shares of a group's weight.
_PRIOR_SHARES = (1e-9, 0.02)

# No curve is flatter than this, in log odds per step of the axis: order within a group is never lost.
_FLATTEST = 0.05

# Newton's method: steps at most.
_STEPS = 200

# Newton's method: a step below this is the last.
_CONVERGED = 1e-7

# Parts of a long table whose fit is the start for the whole table.
_PARTS = 2000


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

    def position(self, score: FloatArray) -> FloatArray:
        """Return the position of scores."""
        logit = _logit(score)
        beyond = np.maximum(np.abs(logit) - self.reach, 0.0)
        return np.asarray(logit - np.sign(logit) * (beyond - np.log1p(beyond)))

    def score(self, position: FloatArray) -> FloatArray:
        """Return the score at a position; always within [0, 1]."""
        beyond = np.clip(np.abs(position) - self.reach, 0.0, 100.0)
        return _expit(np.sign(position) * (np.minimum(np.abs(position), self.reach) + np.expm1(beyond)))


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

    def position(self, score: FloatArray) -> FloatArray:
        """Return the position of scores."""
        with np.errstate(over="ignore"):
            return np.clip(score / self.scale - self.center, -_LARGEST, _LARGEST)

    def score(self, position: FloatArray) -> FloatArray:
        """Return the score at a position."""
        with np.errstate(over="ignore"):
            return np.clip((position + self.center) * self.scale, -_LARGEST, _LARGEST)


Axis = LogitAxis | LineAxis


@dataclass(frozen=True, slots=True, eq=False)
class Calibration:
    """Strictly increasing curve from a score to log odds: straight lines between points, and on beyond its ends.

    Parameters
    ----------
    axis : LogitAxis or LineAxis
        Axis on which scores are taken before the curve is read.
    positions : ndarray of shape (n_points,)
        Positions on that axis, rising strictly; two at least.
    values : ndarray of shape (n_points,)
        Log odds at these positions, rising strictly.

    Examples
    --------
    >>> table = ScoreTable.from_arrays([1, 0, 1, 0, 0], [0.9, 0.8, 0.6, 0.3, 0.1])
    >>> curve = logistic_calibration(table, unit=True)
    >>> curve.log_odds([0.0, 0.5, 1.0]).round(2)
    array([-11.54,  -0.91,   9.72])
    >>> curve.score(curve.log_odds([0.1, 0.5])).round(9)
    array([0.1, 0.5])
    """

    axis: Axis
    positions: FloatArray
    values: FloatArray

    def __post_init__(self) -> None:
        for array in (self.positions, self.values):
            if array.ndim != 1 or array.size < 2 or not np.isfinite(array).all() or not (np.diff(array) > 0).all():
                raise InputError("a calibration curve needs two points or more that rise strictly, all finite.")
            array.flags.writeable = False
        if self.positions.size != self.values.size:
            raise InputError("a calibration curve needs as many values as positions.")

    def log_odds(self, score: ArrayLike) -> FloatArray:
        """Return the log odds at scores.

        Parameters
        ----------
        score : array-like of float
            Scores of any shape.

        Returns
        -------
        ndarray
            Their log odds; finite for every finite score.
        """
        position = self.axis.position(np.asarray(score, dtype=np.float64))
        return _through(self.positions, self.values, position)

    def score(self, log_odds: ArrayLike) -> FloatArray:
        """Return the scores that have some log odds.

        Parameters
        ----------
        log_odds : array-like of float
            Log odds of any shape.

        Returns
        -------
        ndarray
            Their scores; within [0, 1] on the logit axis.
        """
        position = _through(self.values, self.positions, np.asarray(log_odds, dtype=np.float64))
        return self.axis.score(position)


def logistic_calibration(table: ScoreTable, *, unit: bool) -> Calibration:
    """Fit a straight line to the log odds, by maximum likelihood.

    The slope is drawn towards 1 by the weight of one row, so that it is finite where the score separates the classes;
    it is at least .05.

    Parameters
    ----------
    table : ScoreTable
        Table of one group, with both classes.
    unit : bool
        Whether scores lie in [0, 1] and are taken on the logit scale; else they are taken as they are.

    Returns
    -------
    Calibration
        The line, as a curve from score to log odds.
    """
    check_both_classes(table, "the group to calibrate")
    axis = LogitAxis.of(table) if unit else LineAxis.of(table)
    middle, height, slope = _logistic_fit(axis.position(table.score), table)
    ends = middle + np.array([-1.0, 1.0])
    return Calibration(axis, ends, height + slope * (ends - middle))


def _prior(table: ScoreTable) -> float:
    least, most = (share * (table.n1 + table.n0) for share in _PRIOR_SHARES)
    return min(max(_PRIOR, least), most)


def _logistic_fit(position: FloatArray, table: ScoreTable) -> tuple[float, float, float]:
    """Return the middle of the positions, the log odds there and the slope of the logistic fit."""
    total = table.n1 + table.n0
    mass, positive, prior = table.mass / total, table.positive / total, _prior(table) / total
    middle = float(mass @ position)
    x = position - middle
    # A short table leads close to the answer, and two or three steps on the whole one do the rest.
    parts = np.arange(0, x.size, -(-x.size // _PARTS))
    short, short_positive, moment = (np.add.reduceat(column, parts) for column in (mass, positive, mass * x))
    height, slope = float(np.log(table.n1 / table.n0)), 0.0
    for start, free in ((slope, True), (_FLATTEST, False)):
        line = _newton(moment / short, short, short_positive, prior, (height, start), free=free)
        height, slope = _newton(x, mass, positive, prior, line, free=free)
        if slope >= _FLATTEST:
            break
    return middle, height, slope


def _newton(
    x: FloatArray, mass: FloatArray, positive: FloatArray, prior: float, start: tuple[float, float], *, free: bool
) -> tuple[float, float]:
    """Fit the height and, if it is free, the slope of a line to the log odds, from a start.

    A step that does not bring the gradient down is halved; as the loss is convex, a short enough one does.
    """
    n1, n1_moment = float(positive.sum()), float(x @ positive)
    line, step, lowest = np.array(start), np.zeros(2), np.inf
    for _ in range(_STEPS):
        tried = line + step
        share = _expit(tried[0] + tried[1] * x)
        expected = mass * share
        gradient = np.array([expected.sum() - n1, expected @ x - n1_moment + prior * (tried[1] - 1)])
        size = float(np.abs(gradient if free else gradient[:1]).max())
        if size < lowest:
            line, lowest = tried, size
            spread = expected * (1 - share)
            cross = spread @ x
            curvature = np.array([[spread.sum(), cross], [cross, (spread * x) @ x + prior]])
            step = -np.linalg.solve(curvature, gradient) if free else np.array([-gradient[0] / curvature[0, 0], 0.0])
        else:
            step /= 2
        if np.abs(step).max() < _CONVERGED:
            line = line + step
            break
    return float(line[0]), float(line[1])


def _expit(log_odds: FloatArray) -> FloatArray:
    from scipy.special import expit  # Takes longer to load than all of xorder.

    return np.asarray(expit(log_odds))


def _logit(score: FloatArray) -> FloatArray:
    from scipy.special import logit

    return np.asarray(logit(np.clip(score, _EPSILON, 1 - _EPSILON)))


def _through(x: FloatArray, y: FloatArray, at: FloatArray) -> FloatArray:
    """Follow the lines through (x, y), the outermost beyond the ends."""
    inside = np.interp(at, x, y)
    low, high = (y[1] - y[0]) / (x[1] - x[0]), (y[-1] - y[-2]) / (x[-1] - x[-2])
    with np.errstate(over="ignore"):
        inside += np.minimum(at - x[0], 0.0) * low + np.maximum(at - x[-1], 0.0) * high
    return np.clip(inside, -_LARGEST, _LARGEST)


# Rows by which a bent block is drawn to the line.
PULL = 20.0

# Share of a group's weight that they are at most.
PULL_SHARE = 0.2

# Rows by which a plain block is drawn to the group's overall share.
BLOCK_PRIOR = 1.0

# The least and the most that they are, as shares of a group's weight.
BLOCK_PRIOR_SHARES = (1e-9, 0.02)


def block_calibration(table: ScoreTable, *, unit: bool) -> Calibration:
    """Join the centres of blocks; each block's odds are those of its rows and one more of the group's overall share.

    So pure blocks are finite; blocks that this brings out of order are joined. The ends go on with the slope of the
    logistic fit.
    """
    least, most = (share * (table.n1 + table.n0) for share in BLOCK_PRIOR_SHARES)
    return _joined(table, unit, min(max(BLOCK_PRIOR, least), most), towards_line=False)


def bent_calibration(table: ScoreTable, *, unit: bool) -> Calibration:
    """Bend the line of the logistic fit towards the blocks: as with blocks alone, but each is drawn to the line.

    A block's odds are those of its rows and as many as twenty more (a fifth of the group at most) that are as the line
    says: where rows are few the line decides, where they are many the blocks do.
    """
    return _joined(table, unit, min(PULL, PULL_SHARE * (table.n1 + table.n0)), towards_line=True)


def _joined(table: ScoreTable, unit: bool, prior: float, *, towards_line: bool) -> Calibration:
    line = logistic_calibration(table, unit=unit)
    (start, end), (low, high) = line.positions, line.values
    slope = (high - low) / (end - start)
    position = line.axis.position(table.score)
    kept = isotonic_regression(table.positive / table.mass, weights=table.mass, increasing=False).blocks[:-1]
    p, n, moment = table.positive, table.negative, position * table.mass
    while True:
        p, n, moment = (np.add.reduceat(column, kept) for column in (p, n, moment))
        center = moment / (p + n)
        share = expit(low + slope * (center - start)) if towards_line else table.n1 / (table.n1 + table.n0)
        odds = (p + prior * share) / (n + prior * (1 - share))
        falls = (odds[1:] < odds[:-1] * (1 - 1e-9)) & (center[1:] < center[:-1] - 1e-12 * np.abs(center[:-1]))
        if falls.all():
            break
        kept = np.flatnonzero(np.append(True, falls))
    center, value = center[::-1], np.log(odds[::-1])
    positions = np.concatenate([[center[0] - 1], center, [center[-1] + 1]])
    return Calibration(line.axis, positions, np.concatenate([[value[0] - slope], value, [value[-1] + slope]]))
