"""From an ordering to a map: the moved group's scores are spread evenly in the gaps of the reference's."""

from __future__ import annotations

import numpy as np

from xorder._table import FloatArray, IntArray
from xorder.transfer._score_map import ScoreMap

_LARGEST = float(np.finfo(np.float64).max)


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
    bounds = usual_bounds(reference, moved) if bounds is None else bounds
    low, high = (-_LARGEST, _LARGEST) if bounds is None else bounds
    above = _reference_above(moved.size, moved_above)
    edges = np.concatenate([[high], reference, [low]])
    # Scores in the same gap stand next to each other.
    starts = np.flatnonzero(np.append(True, above[1:] != above[:-1]))
    sizes = np.diff(np.append(starts, moved.size))
    first, size = np.repeat(starts, sizes), np.repeat(sizes, sizes)
    upper, lower = edges[above], edges[above + 1]
    share = (np.arange(moved.size) - first + 1) / (size + 1)
    adjusted = upper * (1 - share) + lower * share
    if bounds is None:
        top, bottom = above == 0, above == reference.size
        with np.errstate(over="ignore"):
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
    low, high = (-_LARGEST, _LARGEST) if bounds is None else bounds
    adjusted = np.clip(adjusted, low, high)
    if bounds is not None:
        raw, adjusted = _with_ends(raw, adjusted, low, high)
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


def _with_ends(raw: FloatArray, adjusted: FloatArray, low: float, high: float) -> tuple[FloatArray, FloatArray]:
    """Tie the bounds to themselves, so that scores beyond those seen stay inside them."""
    below, above = np.full(int(raw[0] > low), low), np.full(int(raw[-1] < high), high)
    return np.concatenate([below, raw, above]), np.concatenate([below, adjusted, above])


def _strictly_rising(values: FloatArray, cap: float) -> FloatArray:
    """Raise values by as few representable numbers as it takes to make them rise strictly, up to ``cap``.

    A gap can hold fewer floating-point numbers than the scores to be spread in it. The order within the
    group then comes first: neighbours end up next to each other, over the edge of the gap if need be.
    """
    if bool((values[1:] > values[:-1]).all()) and values[-1] <= cap:
        return values
    steps = np.arange(values.size)
    # As integers that order like the floats they stand for, neighbouring floats differ by 1.
    code = _ordered_code(values)
    code = np.maximum.accumulate(code - steps) + steps
    highest = _ordered_code(np.array([cap]))[0]
    code = np.minimum(code, highest - steps[::-1])
    return _from_ordered_code(code)


def _ordered_code(values: FloatArray) -> IntArray:
    code = (np.asarray(values, dtype=np.float64) + 0.0).view(np.int64)
    return np.where(code >= 0, code, np.int64(-(2**63)) - code)


def _from_ordered_code(code: IntArray) -> FloatArray:
    return np.where(code >= 0, code, np.int64(-(2**63)) - code).view(np.float64)
