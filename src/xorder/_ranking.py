"""Rows of several groups and classes from the highest score down, by one sort of keys: a score and a code each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

# Rows per step: few enough for their arrays to stay in the processor's cache, and many enough to be worth the calls.
_STEP = 16_384

# Rows of one step that can still be counted in halves by 16 bits.
MOST_RANKED = 32_767


class Ranking(NamedTuple):
    """Keys of rows, sorted: scores fall as keys rise, and the last bits of a key are the row's code.

    Scores are numbered among all floats, in their own precision, so that none is lost: ``highest`` is the number of the
    highest. ``gap`` floats on each side of 0, nearer to it than any score, are left out. ``counts`` are the numbers of
    rows by code, and ``dtype`` is that of the scores.
    """

    keys: NDArray[Any]
    counts: NDArray[np.int64]
    bits: int
    highest: int
    gap: int
    dtype: np.dtype[Any]

    def steps(self) -> Iterator[NDArray[Any]]:
        """Yield the keys in parts of some thousand rows; those of one score are all in the same."""
        start, size = 0, self.keys.size
        code = self.keys.dtype.type((1 << self.bits) - 1)
        while start < size:
            stop = min(start + _STEP, size)
            stop += int(np.searchsorted(self.keys[stop:], self.keys[stop - 1] | code, side="right"))
            yield self.keys[start:stop]
            start = stop

    def codes(self, keys: NDArray[Any]) -> NDArray[np.uint8]:
        """Return the codes of some keys."""
        return keys.astype(np.uint8) & np.uint8((1 << self.bits) - 1)

    def levels(self, keys: NDArray[Any]) -> NDArray[Any]:
        """Return numbers that are the same for rows of the same score alone."""
        return np.asarray(np.right_shift(keys, keys.dtype.type(self.bits)))

    def scores(self, keys: NDArray[Any]) -> NDArray[np.float64]:
        """Return the scores of some keys."""
        number = self.highest - self.levels(keys).astype(f"i{self.dtype.itemsize}")
        size = np.abs(number)
        size += size.dtype.type(self.gap)
        size[number == 0] = 0
        found: NDArray[np.float64] = size.view(self.dtype).astype(np.float64)
        if number[-1] < 0:
            np.negative(found, out=found, where=number < 0)
        return found

    def masses(self) -> list[list[NDArray[np.float64]]]:
        """Return the distinct scores of each group, falling, with the numbers of positives and of negatives at each.

        The code of a row is twice the number of its group, and one more if it is positive.
        """
        columns = [np.empty((3, rows)) for rows in self.counts.reshape(-1, 2).sum(axis=1).tolist()]
        filled = [0] * len(columns)
        for keys in self.steps():
            alike = np.right_shift(keys, keys.dtype.type(1))
            again = np.flatnonzero(alike[1:] == alike[:-1]) + 1
            positive = (keys & keys.dtype.type(1)).astype(np.float64)
            masses = [positive, 1.0 - positive]
            if again.size:
                first = np.ones(keys.size, dtype=bool)
                first[again] = False
                starts, into = np.flatnonzero(first), again - np.arange(1, again.size + 1)
                more = [mass.take(again) for mass in masses]
                keys, masses = keys.take(starts), [mass.take(starts) for mass in masses]
                for mass, added in zip(masses, more, strict=True):
                    np.add.at(mass, into, added)
            values, group = (self.scores(keys), *masses), self.codes(keys) >> np.uint8(1)
            for number, each in enumerate(columns):
                own = np.flatnonzero(group == number)
                there = slice(filled[number], filled[number] + own.size)
                for column, value in zip(each, values, strict=True):
                    value.take(own, out=column[there], mode="clip")
                filled[number] = there.stop
        # Where many scores are equal, room is given back.
        return [
            [column[:size] if 2 * size > column.size else column[:size].copy() for column in each]
            for each, size in zip(columns, filled, strict=True)
        ]


def rank_rows(score: NDArray[Any], code: NDArray[np.uint8], codes: int) -> Ranking | None:
    """Sort rows, with finite scores in float32 or float64, by falling score, then by code.

    None where 64 bits are too few for a key: the scores reach too near to 0 and too far from it for so many codes.
    """
    bits, whole = max((codes - 1).bit_length(), 1), np.dtype(f"u{score.dtype.itemsize}")
    low, high = (np.asarray(each) for each in (score.min(), score.max()))
    gap = 0
    if low or high:
        # 0 less 1 is the largest of all.
        parts = (np.abs(score[start : start + _STEP]) for start in range(0, score.size, _STEP))
        gap = min(int((part.view(whole) - whole.type(1)).min()) for part in parts)
    highest, lowest = (int(_numbers(end[None], gap)[0]) for end in (high, low))
    room = (highest - lowest).bit_length() + bits
    if room > 64:
        return None
    keys: NDArray[Any] = np.empty(score.size, dtype=np.uint32 if room <= 32 else np.uint64)
    for start in range(0, score.size, _STEP):
        part = slice(start, start + _STEP)
        # In single precision a difference beyond 31 bits wraps round: as a key it is still the larger, and wraps back.
        np.subtract(highest, _numbers(score[part], gap), out=keys[part], casting="unsafe")
        np.left_shift(keys[part], keys.dtype.type(bits), out=keys[part])
        np.bitwise_or(keys[part], code[part], out=keys[part])
    keys.sort()
    counts = np.array([np.count_nonzero(code == each) for each in range(codes)])
    return Ranking(keys, counts, bits, highest, gap, score.dtype)


def _numbers(score: NDArray[Any], gap: int) -> NDArray[Any]:
    """Return whole numbers that rise with the scores: 0 for 0, 1 for the least above it, -1 for the one below it."""
    signed = np.dtype(f"i{score.dtype.itemsize}")
    size: NDArray[Any] = np.abs(score).view(signed)
    size -= signed.type(gap)
    np.maximum(size, 0, out=size)
    is_below = np.ascontiguousarray(score).view(signed) >> signed.type(8 * signed.itemsize - 1)
    if is_below.any():
        size ^= is_below
        size -= is_below
    return size
