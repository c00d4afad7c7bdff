"""Masses by key and column, for keys that come in no order: exact while the keys are few, coarser after that."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from xorder._table import FloatArray, IntArray

_TABLE_BITS = 22
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)

# The key of slot 0, which stands for "none": the pattern of a NaN, which no score has.
_NO_KEY = np.int64(-(1 << 63))

SlotArray = NDArray[np.int32]


class KeyCounts:
    """Adds up masses for each key and column; with more than ``limit`` keys, drops lower bits of all of them.

    ``shifts`` are the numbers of bits that may be dropped, rising; the first under which at most ``limit`` keys are
    left is used. It depends on the keys alone, not on their order. With the last one, any number is kept.

    A key's slot is found in a table by its hash. Keys whose place there is taken are few, and found by bisection.
    """

    def __init__(self, columns: int, *, limit: int, shifts: Sequence[int] = (0,), sums: int = 1) -> None:
        self.columns, self.limit, self.sums = columns, limit, sums
        self._shifts = list(shifts)
        self.shift = self._shifts.pop(0)
        self._used: int
        self._keys: IntArray
        self._masses: FloatArray
        self._table: SlotArray
        self._others: IntArray
        self._other_slots: SlotArray
        self._start(np.empty(0, dtype=np.int64), np.empty((sums, 0, columns)))

    @property
    def keys(self) -> IntArray:
        """The keys so far, less the bits dropped, in no order."""
        return self._keys[1 : self._used]

    @property
    def masses(self) -> FloatArray:
        """Sums so far: of each kind, by key and column."""
        return self._masses[:, 1 : self._used]

    def add(self, keys: IntArray, column: NDArray[np.integer], weights: Sequence[FloatArray] = ()) -> None:
        """Add rows: one to each sum, or their weights, one array for each sum."""
        slots = self._slots(keys >> self.shift if self.shift else keys)
        while slots is None:
            self._drop_bits()
            slots = self._slots(keys >> self.shift)
        place = slots * self.columns + column
        for number in range(self.sums):
            np.add.at(self._masses[number].reshape(-1), place, weights[number] if weights else 1.0)

    def _slots(self, keys: IntArray) -> SlotArray | None:
        """Find or make the slot of each key; None if that makes too many."""
        place = _hash(keys)
        slots = self._table[place]
        missed = np.flatnonzero(self._keys[slots] != keys)
        if missed.size:
            slots[missed] = found = self._other_slots_of(keys[missed])
            new = missed[found == 0]
            if new.size:
                self._insert(keys[new], place[new])
                slots[new] = self._table[place[new]]
                new = new[self._keys[slots[new]] != keys[new]]
                slots[new] = self._other_slots_of(keys[new])
        return None if self._shifts and self._used - 1 > self.limit else slots

    def _other_slots_of(self, keys: IntArray) -> SlotArray:
        """Return the slots of keys that have no place in the table, 0 where there is none."""
        if not self._others.size:
            return np.zeros(keys.size, dtype=np.int32)
        place = np.minimum(np.searchsorted(self._others, keys), self._others.size - 1)
        return np.where(self._others[place] == keys, self._other_slots[place], np.int32(0))

    def _insert(self, keys: IntArray, place: NDArray[np.uint64]) -> None:
        """Make slots for keys that have none; a key may come more than once."""
        free = np.flatnonzero(self._table[place] == 0)
        # Of all keys that want a place, the last to be written there has it.
        mark = np.arange(-free.size, 0, dtype=np.int32)
        self._table[place[free]] = mark
        won = free[self._table[place[free]] == mark]
        self._table[place[won]] = self._new_slots(keys[won])
        left = np.unique(keys[self._keys[self._table[place]] != keys])
        if left.size:
            others = np.concatenate([self._others, left])
            order = np.argsort(others, kind="stable")
            self._others = others[order]
            self._other_slots = np.concatenate([self._other_slots, self._new_slots(left)])[order]

    def _new_slots(self, keys: IntArray) -> SlotArray:
        slots = np.arange(self._used, self._used + keys.size, dtype=np.int32)
        self._used += keys.size
        if self._used > self._keys.size:
            room = max(2 * self._keys.size, self._used)
            self._keys = np.concatenate([self._keys, np.empty(room - self._keys.size, dtype=np.int64)])
            more = np.zeros((self.sums, room - self._masses.shape[1], self.columns))
            self._masses = np.concatenate([self._masses, more], axis=1)
        self._keys[slots] = keys
        return slots

    def _drop_bits(self) -> None:
        """Drop as many bits more as leave few enough keys."""
        keys, masses, before = self.keys, self.masses, self.shift
        while True:
            self.shift = self._shifts.pop(0)
            distinct, place = np.unique(keys >> (self.shift - before), return_inverse=True)
            if distinct.size <= self.limit or not self._shifts:
                break
        merged = np.zeros((self.sums, distinct.size, self.columns))
        for number in range(self.sums):
            np.add.at(merged[number], place, masses[number])
        self._start(distinct, merged)

    def _start(self, keys: IntArray, masses: FloatArray) -> None:
        room = max(1024, 2 * keys.size)
        self._keys = np.full(room, _NO_KEY)
        self._masses = np.zeros((self.sums, room, self.columns))
        self._table = np.zeros(1 << _TABLE_BITS, dtype=np.int32)
        self._others = np.empty(0, dtype=np.int64)
        self._other_slots = np.empty(0, dtype=np.int32)
        self._used = 1
        slots = self._slots(keys)
        self._masses[:, slots] = masses


def _hash(keys: IntArray) -> NDArray[np.uint64]:
    return (keys.view(np.uint64) * _GOLDEN) >> np.uint64(64 - _TABLE_BITS)
