"""Fewer knots for the same map: those that straight lines between the others come close enough to are left out."""

from __future__ import annotations

import numpy as np

from xorder._table import BoolArray, FloatArray
from xorder.transfer.interpolation import straight_lines

TOLERANCE = 1e-9
"""How far the map may move a score, as a share of the range of the adjusted knots."""


def fewer_knots(raw: FloatArray, adjusted: FloatArray, tolerance: float = TOLERANCE) -> BoolArray:
    """Say which knots to keep so that no score moves by more than ``tolerance`` of the range of ``adjusted``.

    Kept knots keep their values. All knots that were given keep rising values under the map that is left, so that
    no two scores learnt from tie or swap. Time grows linearly with the knots.
    """
    kept = np.ones(raw.size, dtype=bool)
    if raw.size < 3:
        return kept
    # Half of the range, as the whole may be more than the largest number.
    allowed = 2.0 * tolerance * float(adjusted[-1] / 2 - adjusted[0] / 2)
    rounding = 8 * float(np.finfo(np.float64).eps * max(abs(adjusted[0]), abs(adjusted[-1])))
    kept[:] = False
    kept[_cone_ends(raw, adjusted, max(allowed - rounding, 0.0))] = True
    # The cone reckons with slopes, which may overflow; what counts is what the map does.
    mapped = straight_lines(raw[kept], adjusted[kept])(raw)
    wrong = np.abs(mapped / 2 - adjusted / 2) > allowed / 2
    wrong[1:] |= mapped[1:] <= mapped[:-1]
    # A line that goes wrong somewhere gets all of its knots back. Its ends are true, so no other line is touched.
    ends = np.flatnonzero(kept)
    line = np.searchsorted(ends, np.flatnonzero(wrong), side="left") - 1
    for number in np.unique(line):
        kept[ends[number] : ends[number + 1]] = True
    return kept


def largest_deviation(first: tuple[FloatArray, FloatArray], second: tuple[FloatArray, FloatArray]) -> float:
    """Largest difference between two maps, each given as its raw and adjusted knots, at any score.

    The difference is itself made of straight lines, and level outside the knots of both, so it is largest at a knot.
    """
    x = np.concatenate([first[0], second[0]])
    if not x.size:
        return 0.0
    with np.errstate(over="ignore"):
        return float(np.abs(straight_lines(*first)(x) - straight_lines(*second)(x)).max())


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
