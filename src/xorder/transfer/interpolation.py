"""Straight lines between knots: the arithmetic of a score map, as a function that needs nothing but NumPy."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from xorder._table import FloatArray
from xorder._threads import in_threads

# Scores adjusted at a time, and knots from which on it pays to sort them first: a sorted part walks through the knots
# once, instead of all over the memory for each score.
PART = 65_536
SORTED_FROM = 1_000


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
    raw_scale, scale = safe_scale(raw), safe_scale(adjusted)
    start, low, high = raw[:-1] * raw_scale, adjusted[:-1] * scale, adjusted[1:]
    width, rise = raw[1:] * raw_scale - start, high * scale - low
    scaled = bool((raw_scale < 1).any() or (scale < 1).any())
    sorts = raw.size >= SORTED_FROM

    def values(x: FloatArray) -> FloatArray:
        inside = np.clip(x, first, last)
        left = np.searchsorted(raw, inside, side="right")
        left -= 1
        np.minimum(left, final, out=left)
        share = inside * raw_scale.take(left) if scaled else inside.copy()
        share -= start.take(left)
        share /= width.take(left)
        value = rise.take(left)
        value *= share
        value += low.take(left)
        if scaled:
            value /= scale.take(left)
        # Rounding may carry a value past the next knot, which would put it above its betters.
        top = high.take(left)
        np.minimum(value, top, out=value)
        np.copyto(value, top, where=share == 1.0)
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


def in_parts(function: Callable[[FloatArray], FloatArray], x: FloatArray) -> FloatArray:
    """Apply a function of single scores to many, part by part on all cores."""
    if x.ndim != 1 or x.size <= PART:
        return function(x)
    mapped = np.empty(x.size)

    def one(begin: int) -> None:
        mapped[begin : begin + PART] = function(x[begin : begin + PART])

    in_threads(x.size, one, range(0, x.size, PART))
    return mapped


def safe_scale(knots: FloatArray) -> FloatArray:
    """One half for each two neighbours that are further apart than the largest number, else one."""
    with np.errstate(over="ignore"):
        return np.where(np.isfinite(np.diff(knots)), 1.0, 0.5)
