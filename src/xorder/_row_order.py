"""The order of rows by a number, from one sort of keys: by score for ranks, by cluster to keep rows together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xorder._table import STEP, BoolArray, IntArray

KeyOf = Callable[[NDArray[Any]], NDArray[np.uint64]]


def rows_in_order(values: NDArray[Any], key_of: KeyOf) -> tuple[IntArray, BoolArray]:
    """Return the numbers of rows from the lowest key up, of equal keys as they come, and where the key changes.

    Values sort several times as fast as indices do, so the last bits of a key give way to the number of its row. Rows
    whose keys may differ in these bits alone are looked at again, and put right.
    """
    order = np.empty(values.size, dtype=np.uint64)
    last = np.uint64((1 << max(values.size - 1, 0).bit_length()) - 1)
    starts, lost = range(0, values.size, STEP), np.uint64(0)
    for start in starts:
        key, part = key_of(values[start : start + STEP]), order[start : start + STEP]
        lost |= np.bitwise_or.reduce(key) & last
        np.bitwise_and(key, ~last, out=part)
        part |= np.arange(start, start + part.size, dtype=np.uint64)
    order.sort()
    is_next = np.ones(values.size, dtype=bool)
    for start in starts:
        part = order[start : start + STEP + 1]
        np.greater(part[1:] ^ part[:-1], last, out=is_next[start + 1 : start + part.size])
    order &= last
    rows = order.view(np.int64)
    if not lost:
        return rows, is_next
    # Of rows that look alike, those are sorted again whose keys differ in what there was no room for.
    again = np.flatnonzero(~is_next)
    is_alike = np.zeros(values.size, dtype=bool)
    is_alike[again] = is_alike[again - 1] = True
    place = np.flatnonzero(is_alike)
    key, run = key_of(values[rows[place]]), np.cumsum(is_next[place])
    is_mixed = np.zeros(values.size + 1, dtype=bool)
    is_mixed[run[1:][(key[1:] != key[:-1]) & (run[1:] == run[:-1])]] = True
    mixed = np.flatnonzero(is_mixed[run])
    place = place[mixed]
    rows[place] = rows[place[np.lexsort((key[mixed], run[mixed]))]]
    again = place[~is_next[place]]
    is_next[again] = values[rows[again - 1]] != values[rows[again]]
    return rows, is_next


def falling_rows(score: NDArray[Any]) -> tuple[IntArray, BoolArray]:
    """Return the rows of scores, float32 or float64, from the highest down, and where the score changes."""
    return rows_in_order(score, _falling_key)


def _falling_key(score: NDArray[Any]) -> NDArray[np.uint64]:
    """Return whole numbers that rise as scores fall."""
    bits, signed, unsigned = (32, np.int32, np.uint32) if score.dtype == np.float32 else (64, np.int64, np.uint64)
    # Not -0. The bits of numbers below 0 rise as these fall, with the highest set; all but that one turn the others.
    key = np.add(score, 0.0, dtype=score.dtype).view(signed)
    key ^= ~(key >> signed(bits - 1)) & np.iinfo(signed).max
    found: NDArray[np.uint64] = key.view(unsigned).astype(np.uint64, copy=False)
    return found if bits == 64 else found << np.uint64(32)
