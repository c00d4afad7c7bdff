"""Scores between two ends on the scale of log odds, where moving a group means adding one number; its map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from xorder._table import FloatArray, ScoreTable, scores_at
from xorder.transfer._score_map import ScoreMap

# Knots of a map at most, besides its two ends.
_KNOTS = 12

# Rows of a group that are looked at, from its lowest to its highest.
_GRID = 1000

# No knot is further out than this on the scale of log odds, but for the ends.
_FURTHEST_KNOT = 20.0

# Positions beyond this are those of scores on an end itself.
_FURTHEST = 700.0


@dataclass(frozen=True, slots=True)
class OddsScale:
    """The log odds of scores: how far a score is from the lower end, against how far from the upper one.

    For probabilities, whose ends are 0 and 1, these are the log odds that the score itself states. Added to by one
    number, all odds are multiplied, and no score leaves the ends.

    Parameters
    ----------
    low, high : float
        The ends.
    """

    low: float
    high: float

    @classmethod
    def of(cls, scores: Sequence[FloatArray], bounds: tuple[float, float] | None = None) -> OddsScale:
        """Return the scale between two bounds, or between the lowest and the highest score of all.

        A score on a bound has no odds. The end is then half a step further out, the step being that to the next score:
        a forest's 0 is less than the least share it can say, not a certainty.

        Parameters
        ----------
        scores : sequence of ndarray
            Distinct scores of each group, highest first.
        bounds : tuple of float, default=None
            Lowest and highest score allowed.

        Returns
        -------
        OddsScale
            The scale.
        """
        lowest, highest = min(float(each[-1]) for each in scores), max(float(each[0]) for each in scores)
        low, high = (lowest, highest) if bounds is None else bounds
        above = [float(each[-1 - np.searchsorted(each[::-1], low, side="right")]) for each in scores if each[0] > low]
        below = [float(each[-np.searchsorted(each[::-1], high)]) for each in scores if each[-1] < high]
        # Halves, as the distance itself may be more than the largest number; of a single score its size is the step.
        size = max(abs(low), abs(high), 1.0) / 2 if low == high else high / 2 - low / 2
        step_up = min(above) / 2 - low / 2 if above else size
        step_down = high / 2 - max(below) / 2 if below else size
        largest = np.finfo(np.float64).max
        return cls(
            max(low - step_up, -largest) if lowest <= low else low,
            min(high + step_down, largest) if highest >= high else high,
        )

    def log_odds(self, score: FloatArray) -> FloatArray:
        """Return the log odds of scores; of one on or beyond an end, as far as numbers go.

        Parameters
        ----------
        score : ndarray
            Scores of any shape.

        Returns
        -------
        ndarray
            Their log odds.
        """
        # Divided by the size of the ends, as distances may be more than the largest number, or less than the least.
        unit = max(abs(self.low), abs(self.high))
        scaled, low, high = np.asarray(score) / unit, self.low / unit, self.high / unit
        with np.errstate(divide="ignore", invalid="ignore"):
            found = np.log(np.maximum(scaled - low, 0.0)) - np.log(np.maximum(high - scaled, 0.0))
        return np.asarray(np.clip(found, -_FURTHEST, _FURTHEST))

    def score(self, log_odds: FloatArray) -> FloatArray:
        """Return the scores that have some log odds.

        Parameters
        ----------
        log_odds : ndarray
            Log odds of any shape.

        Returns
        -------
        ndarray
            Their scores, between the ends.
        """
        # The share of the way up, counted from the nearer end, so that neither end loses digits.
        odds = np.exp(-np.abs(log_odds))
        share = odds / (1 + odds)
        rise = share * self.high - share * self.low
        return np.asarray(np.where(np.asarray(log_odds) < 0, self.low + rise, self.high - rise))


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
    return (0.0, 1.0) if all(scores[-1] >= 0 and scores[0] <= 1 for scores in falling) else None


def shifted_map(table: ScoreTable, scale: OddsScale, shift: float, bounds: tuple[float, float]) -> ScoreMap:
    """Return the map that adds a number to the log odds: at most twelve knots and two ends, none of them a score.

    Straight lines between knots that are h apart on the scale of log odds are off by about h^2 / 4 times the share of
    the range by which scores move there, so knots are dense where scores move far, and where there are many; what the
    lines are off by on average is added to the knots.

    Parameters
    ----------
    table : ScoreTable
        Table of the group.
    scale : OddsScale
        Scale of its scores.
    shift : float
        What is added to the log odds.
    bounds : tuple of float
        Lowest and highest adjusted score.

    Returns
    -------
    ScoreMap
        The map; without knots where nothing is added.
    """
    if shift == 0:
        return ScoreMap.identity()
    if len(table) <= _KNOTS:
        # Each level has a place of its own between those of the other groups.
        levels = scale.log_odds(table.score[::-1])
        return map_at(table.score, scale, levels, levels + shift, bounds)
    scores = scores_at(table, (np.arange(_GRID) + 0.5) / _GRID)
    position = np.clip(scale.log_odds(scores[::-1]), -_FURTHEST_KNOT, _FURTHEST_KNOT)
    moves = np.abs(scale.score(position + shift) / 2 - scale.score(position) / 2)
    dense = np.append(0.0, np.cumsum(np.sqrt(moves[1:] / moves.max()) * np.diff(position) ** (2 / 3)))
    knots = np.interp((np.arange(_KNOTS) + 0.5) / _KNOTS * dense[-1], dense, position)
    straight = map_at(table.score, scale, knots, knots + shift, bounds)
    off = position + shift - scale.log_odds(straight.apply(scale.score(position)))
    return map_at(table.score, scale, knots, knots + shift + float(np.mean(off)), bounds)


def map_at(
    score: FloatArray, scale: OddsScale, knots: FloatArray, adjusted: FloatArray, bounds: tuple[float, float]
) -> ScoreMap:
    """Return the map through knots on the scale of log odds, which move along with the outermost beyond them.

    Parameters
    ----------
    score : ndarray of shape (n_scores,)
        Distinct scores of the group, highest first; none of them becomes a knot.
    scale : OddsScale
        Scale of the scores.
    knots, adjusted : ndarray of shape (n_knots,)
        Log odds at the knots, and what becomes of them, both rising.
    bounds : tuple of float
        Lowest and highest adjusted score.

    Returns
    -------
    ScoreMap
        The map.
    """
    # Six digits are enough, and what is nothing but rounding is 0.
    least = 1e-9 * max(abs(scale.low), abs(scale.high))
    rounded = [float(f"{knot:.6g}") if abs(knot) > least else 0.0 for knot in scale.score(knots).tolist()]
    inside = np.unique([_beside(score, knot, least) for knot in rounded])
    raw = np.concatenate([[scale.low], inside[(inside > scale.low) & (inside < scale.high)], [scale.high]])
    position = scale.log_odds(raw)
    moved = scale.score(position + np.interp(position, knots, adjusted - knots))
    # What stands on an end has no odds to multiply.
    moved = np.clip(np.concatenate([[scale.low], moved[1:-1], [scale.high]]), *bounds)
    # Of knots that a bound has joined, the outermost stays.
    first = np.append(True, moved[1:] > moved[:-1])
    rises = np.where(moved < bounds[1], first, np.arange(raw.size) == raw.size - 1)
    return ScoreMap(raw[rises], moved[rises])


def _beside(score: FloatArray, knot: float, step: float) -> float:
    """Return the knot, moved by a hair as often as it is the score of a row."""
    rising = score[::-1]
    while rising[min(int(np.searchsorted(rising, knot)), rising.size - 1)] == knot:
        knot += max(1e3 * step, np.finfo(np.float64).tiny)
    return knot
