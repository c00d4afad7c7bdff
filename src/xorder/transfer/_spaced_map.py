"""The map that carries an ordering of two groups over to scores, and whether it does."""

from __future__ import annotations

import numpy as np

from xorder._table import FloatArray, IntArray
from xorder.transfer._odds import usual_bounds
from xorder.transfer._score_map import FURTHEST, ScoreMap, check_reach


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
    check_reach("y_score", np.concatenate([reference[[0, -1]], moved[[0, -1]]]))
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
