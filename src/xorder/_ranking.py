"""The order of rows, from one sort of keys: ranked by score with their groups and classes, or by number alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, starmap
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

KeyOf = Callable[[NDArray[Any]], NDArray[np.uint64]]

# Rows per step: few enough for their arrays to stay in the processor's cache, and many enough to be worth the calls.
_STEP = 24_576

# Rows between two places at which all that is above is counted once and for all, where there are as many such places.
STRIDE, PLACES = 256, 1024

# Rows of one step that can still be counted in halves by 16 bits.
MOST_RANKED = 32_767


class Marks(NamedTuple):
    """Places in a list, the first before all rows and the last after them, and the rows of each code above each.

    Rows of the same score are all above a place or all below it.
    """

    place: NDArray[np.int64]
    above: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Ranking:
    """Rows from the highest score down: their scores, in their own precision, and their codes.

    The code of a row, one of ``codes``, is twice the number of its group, and one more if it is positive. ``is_next``
    says of each row whether its score is another than that of the row above it. Where there is an ``order``, scores are
    those of the rows as they came, and are looked up by it.
    """

    score: NDArray[Any]
    code: NDArray[Any]
    is_next: NDArray[np.bool_]
    codes: int
    order: NDArray[np.int64] | None = None

    def scores(self, rows: Any) -> NDArray[Any]:
        """Return the scores of some rows."""
        return np.asarray(self.score[rows] if self.order is None else self.score.take(self.order[rows]))

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """Numbers of rows by code."""
        if self.are_distinct:
            return np.asarray(self.marks.above[-1])
        parts = (self.code[start : start + _STEP] for start in range(0, self.code.size, _STEP))
        return np.asarray(sum(np.bincount(part, minlength=self.codes) for part in parts))

    def parts(self, step: int) -> list[slice]:
        """Parts of so many rows, or of fewer; those of one score are all in the same, which may be longer."""
        return list(starmap(slice, pairwise(step_ends(self.is_next, self.code.size, step))))

    @cached_property
    def steps(self) -> list[slice]:
        """Parts of some thousand rows."""
        return self.parts(_STEP)

    @property
    def _longest(self) -> int:
        return max(int(part.stop - part.start) for part in self.steps)

    @cached_property
    def are_distinct(self) -> bool:
        """Whether half of the rows or more differ from the one above them, and 16 bits count the rows of any step."""
        return self._longest <= MOST_RANKED and bool(2 * np.count_nonzero(self.is_next) >= self.code.size)

    @cached_property
    def marks(self) -> Marks:
        """Places every few hundred rows, nearer to each other in a short list."""
        stride, (one, lane) = stride_of(self.code.size), lanes(self.codes, self._longest)
        places, above = [np.zeros(1, dtype=np.int64)], [np.zeros((1, self.codes), dtype=np.int64)]
        for part in self.steps:
            ends = np.arange(part.start + stride, part.stop, stride)
            ends = np.append(ends[self.is_next[ends]], part.stop)
            starts = np.append(part.start, ends[:-1]) - part.start
            found = np.add.reduceat(one.take(self.code[part], axis=0), starts).view(lane)[:, : self.codes]
            places.append(ends)
            above.append(above[-1][-1] + np.cumsum(found, axis=0, dtype=np.int64))
        return Marks(np.concatenate(places), np.concatenate(above))

    def masses(self) -> list[list[NDArray[np.float64]]]:
        """Return the distinct scores of each group, falling, with the numbers of positives and of negatives at each."""
        columns = [np.empty((3, rows)) for rows in self.counts.reshape(-1, 2).sum(axis=1).tolist()]
        filled = [0] * len(columns)
        for part in self.steps:
            group, all_differ = self.code[part] >> np.uint8(1), self.is_next[part].all()
            for number, each in enumerate(columns):
                own = np.flatnonzero(group == number)
                if not own.size:
                    continue
                score, positive = self.scores(part).take(own), self.code[part].take(own) & np.uint8(1)
                rows: Any = 1
                if not all_differ:
                    first = np.append(0, np.flatnonzero(score[1:] != score[:-1]) + 1)
                    score, positive = score.take(first), np.add.reduceat(positive, first, dtype=np.float64)
                    rows = np.diff(first, append=own.size)
                there = slice(filled[number], filled[number] + score.size)
                each[0, there], each[1, there] = score, positive
                np.subtract(rows, each[1, there], out=each[2, there])
                filled[number] = there.stop
        # Where many scores are equal, room is given back.
        return [
            [column[:size] if 2 * size > column.size else column[:size].copy() for column in each]
            for each, size in zip(columns, filled, strict=True)
        ]


def step_ends(is_first: NDArray[np.bool_] | None, rows: int, step: int) -> list[int]:
    """Return where parts of rows end: after a step each, or before, where the next begins with the first of some rows.

    Where these are more than a step has, it ends after them.
    """
    ends = [0]
    while ends[-1] < rows:
        end = min(ends[-1] + step, rows)
        if is_first is not None and end < rows and not is_first[end]:
            before = is_first[ends[-1] + 1 : end][::-1]
            if before.any():
                end -= 1 + int(before.argmax())
            while end < rows and not is_first[end]:
                ahead = is_first[end : end + step]
                end += int(ahead.argmax()) if ahead.any() else ahead.size
        ends.append(end)
    return ends


def lanes(codes: int, most: int) -> tuple[NDArray[np.uint64], np.dtype[Any]]:
    """Return a row for each code, which adds one to its count, packed into words, and the type of a count.

    ``most`` is what a count goes up to; several share a word, and are added up at once.
    """
    lane = np.min_scalar_type(most)
    return np.eye(codes, -(-codes * lane.itemsize // 8) * 8 // lane.itemsize, dtype=lane).view(np.uint64), lane


def stride_of(size: int) -> int:
    """How many rows of a list of so many are between two places at which all that is above is counted."""
    return min(max(size // PLACES, 1), STRIDE)


def stretches(start: NDArray[Any], stop: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the numbers of all rows from each start to the stop beside it, and which of these stretches each is in."""
    size = stop - start
    number = np.repeat(np.arange(size.size), size)
    return np.arange(number.size) + np.repeat(stop - np.cumsum(size), size), number


def rank_rows(score: NDArray[Any], code: NDArray[np.uint8], codes: int) -> Ranking | None:
    """Sort rows, with finite scores in float32 or float64, by falling score, then by code.

    One sort of keys: a key is a whole number, that of the score among all floats, in its own precision, so that none is
    lost, and in its last bits the row's code. None where 64 bits are too few for it: the scores reach too near to 0 and
    too far from it for so many codes.
    """
    bits, whole = max((codes - 1).bit_length(), 1), np.dtype(f"u{score.dtype.itemsize}")
    low, high = (np.asarray(each) for each in (score.min(), score.max()))
    gap = 0
    if low > 0 or high < 0:
        gap = min(int(np.abs(end).view(whole)) for end in (low, high)) - 1
    elif low or high:
        # Floats on each side of 0 that are nearer to it than any score are left out. 0 less 1 is the largest of all.
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
        level = np.subtract(highest, _numbers(score[part], gap, are_positive=bool(low > 0))).view(whole)
        np.left_shift(level, keys.dtype.type(bits), out=keys[part], dtype=keys.dtype, casting="unsafe")
        np.bitwise_or(keys[part], code[part], out=keys[part])
    keys.sort()
    # Scores take the room of their keys where that is as large.
    found = keys.view(score.dtype) if keys.itemsize == score.itemsize else np.empty(score.size, score.dtype)
    ordered, is_next, last = np.empty(score.size, dtype=np.uint8), np.ones(score.size, dtype=bool), -1
    for start in range(0, score.size, _STEP):
        part = slice(start, start + _STEP)
        np.bitwise_and(keys[part], keys.dtype.type((1 << bits) - 1), out=ordered[part], casting="unsafe")
        level = keys[part] >> keys.dtype.type(bits)
        is_next[start], last = level[0] != last, level[-1]
        np.not_equal(level[1:], level[:-1], out=is_next[start + 1 : start + level.size])
        found[part] = _scores(level, highest, gap, score.dtype)
    return Ranking(found, ordered, is_next, codes)


def _numbers(score: NDArray[Any], gap: int, *, are_positive: bool = False) -> NDArray[Any]:
    """Return whole numbers that rise with the scores: 0 for 0, 1 for the least above it, -1 for the one below it."""
    signed = np.dtype(f"i{score.dtype.itemsize}")
    if are_positive:
        return np.asarray(score.view(signed) - signed.type(gap))
    size: NDArray[Any] = np.abs(score).view(signed)
    size -= signed.type(gap)
    np.maximum(size, 0, out=size)
    is_below = np.ascontiguousarray(score).view(signed) >> signed.type(8 * signed.itemsize - 1)
    if is_below.any():
        size ^= is_below
        size -= is_below
    return size


def _scores(level: NDArray[Any], highest: int, gap: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return the scores whose numbers are so far below the highest."""
    number = np.subtract(highest, level.astype(f"i{dtype.itemsize}", copy=False))
    if number[-1] > 0:
        number += number.dtype.type(gap)
        return np.asarray(number.view(dtype))
    size = np.abs(number)
    size += size.dtype.type(gap)
    size[number == 0] = 0
    found: NDArray[Any] = size.view(dtype)
    if number[-1] < 0:
        np.negative(found, out=found, where=number < 0)
    return found


def rows_in_order(values: NDArray[Any], key_of: KeyOf) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the numbers of rows from the lowest key up, of equal keys as they come, and where the key changes.

    Values sort several times as fast as indices do, so the last bits of a key give way to the number of its row. Rows
    whose keys may differ in these bits alone are looked at again, and put right.
    """
    order = np.empty(values.size, dtype=np.uint64)
    last = np.uint64((1 << max(values.size - 1, 0).bit_length()) - 1)
    starts, lost = range(0, values.size, _STEP), np.uint64(0)
    for start in starts:
        key, part = key_of(values[start : start + _STEP]), order[start : start + _STEP]
        lost |= np.bitwise_or.reduce(key) & last
        np.bitwise_and(key, ~last, out=part)
        part |= np.arange(start, start + part.size, dtype=np.uint64)
    order.sort()
    is_next = np.ones(values.size, dtype=bool)
    for start in starts:
        part = order[start : start + _STEP + 1]
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


def falling_key(score: NDArray[Any]) -> NDArray[np.uint64]:
    """Return whole numbers that rise as scores fall."""
    bits, signed, unsigned = (32, np.int32, np.uint32) if score.dtype == np.float32 else (64, np.int64, np.uint64)
    # Not -0. The bits of numbers below 0 rise as these fall, with the highest set; all but that one turn the others.
    key = np.add(score, 0.0, dtype=score.dtype).view(signed)
    key ^= ~(key >> signed(bits - 1)) & np.iinfo(signed).max
    found: NDArray[np.uint64] = key.view(unsigned).astype(np.uint64, copy=False)
    return found if bits == 64 else found << np.uint64(32)
