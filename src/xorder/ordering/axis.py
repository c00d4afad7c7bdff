"""Where a score stands on the axis that a calibration curve is drawn over."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from xorder._table import FloatArray, ScoreTable

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
