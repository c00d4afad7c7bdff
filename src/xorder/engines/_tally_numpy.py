"""Rows that this process reads, batch by batch, added up by key of the score and code of group and label, in NumPy."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, nullcontext
from itertools import chain
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from xorder._ranking import rows_in_order
from xorder._table import FloatArray, IntArray
from xorder.engines import _tally as tally
from xorder.engines._cells import Coding, ReadingOptions
from xorder.engines._tally import Batch, Bins, Counted, Leaves, Seen

_MAGNITUDE, _HIGHEST_BIT = np.int64((1 << 63) - 1), np.uint64(1 << 63)


def keys_of(score: NDArray[Any]) -> IntArray:
    """Return the keys of scores, float32 or float64.

    >>> keys_of(np.array([-1.0, -0.0, 0.0, 5e-324])).tolist()
    [-4607182418800017409, 0, 0, 1]
    """
    # Adding 0 makes a copy that is float64, and 0 of -0.
    value: FloatArray = np.add(score, 0.0, dtype=np.float64)
    bits: IntArray = value.view(np.int64)
    if value.size and value.min() >= 0:
        return bits
    return bits ^ ((bits >> 63) & _MAGNITUDE)


def cells_of(keys: IntArray) -> IntArray:
    """Return the cells of keys, counted from the lowest."""
    cell = keys >> tally.CELL_BITS
    cell -= tally.FIRST_CELL
    return cell


def scores_of(keys: IntArray) -> FloatArray:
    """Return the scores that keys stand for.

    >>> scores_of(keys_of(np.array([-2.5, 0.1]))).tolist()
    [-2.5, 0.1]
    """
    return (keys ^ ((keys >> 63) & _MAGNITUDE)).view(np.float64)


# With more codes than this, sums for each cell there may be take too much memory.
_DENSE_CODES = 32

# Rows that are looked at first, for each key that may be told apart: where nearly all scores differ, they show it.
_MARGIN = 1.25

# Bytes of rows that are kept from one pass to the next, so that they are read once.
_KEPT_BYTES = 1 << 27


# Cells of which the first rows hold fewer rows than this do not show how many bins they will have.
_FEW = 32
# Rows by which each sample is taken to be spread as all rows are: of a rare one, the first rows show little.
_SMOOTHING = 10_000
# How many times finer than the first rows make likely.
_FINER = 2.0
_MOST_KEPT = 1 << 22


class _GuessedBins:
    """Bins that are likely finer than those of all rows will be, so that these are put together without another pass.

    They are guessed from the first rows. What these do not show are cells in which few rows lie; their rows are kept
    as they are, unless they turn out to be many.
    """

    def __init__(self, first: Sequence[Batch], codes: int, limit: int) -> None:
        masses = np.zeros((1, tally.CELLS, codes))
        for batch in first:
            _add(masses, cells_of(keys_of(batch.score)), batch.code)
        by_cell = masses[0]
        rows = np.einsum("ij->i", by_cell) if first else np.zeros(tally.CELLS)
        self._shown = np.flatnonzero(rows >= _FEW)
        self.kept: list[Batch] | None = [] if first else None
        self.sums: FloatArray = np.empty(0)
        self._room = _MOST_KEPT
        self._bins = Bins(self._shown, self._shown)
        if self._shown.size:
            smooth = by_cell[self._shown] + (_SMOOTHING / rows.sum()) * rows[self._shown, None]
            self._bins = Bins.for_masses(self._shown + tally.FIRST_CELL, smooth, _FINER * limit)
        # Behind the bins comes each of the cells.
        self._size = len(self._bins)
        if self._size:
            self._parts, self._start = np.ones(tally.CELLS, dtype=np.int64), np.arange(self._size, len(self))
            self._parts[self._shown], self._start[self._shown] = self._bins.parts, self._bins.starts

    def __len__(self) -> int:
        return self._size + tally.CELLS

    def bin_of(self, batch: Batch) -> IntArray:
        """Return the bins of rows, and keep those of which that says too little."""
        keys = keys_of(batch.score)
        position = tally.bin_of(keys, self._parts, self._start) if self._size else cells_of(keys)
        # Another thread may stop keeping rows at any time.
        if (kept := self.kept) is not None:
            light = batch.where(np.flatnonzero(position >= self._size))
            kept.append(light._replace(more=()))
            self._room -= light.score.size
            if self._room < 0:
                self.kept = None
        return position

    def by_cell(self) -> FloatArray:
        """Sums by cell."""
        found = self.sums[:, self._size :]
        if self._size:
            found[:, self._shown] = np.add.reduceat(self.sums[:, : self._size], self._bins.starts, axis=1)
        return found

    def put_together(self, bins: Bins) -> FloatArray | None:
        """Sums by coarser bins, without the rows kept; None where some are not coarser, or not all rows were kept."""
        (parts, start), own = bins.lookup(), self._bins.parts
        wanted = parts[self._shown]
        if self.kept is None or (wanted > own).any():
            return None
        found = np.zeros((self.sums.shape[0], len(bins), self.sums.shape[2]))
        # Cells that are shown by rows of weight 0 alone have no bins.
        used = np.flatnonzero(wanted)
        there = [each[used].tolist() for each in (self._bins.starts, own, start[self._shown], wanted)]
        # Unlike reduceat over all cells at once, this takes a few nanoseconds per bin.
        for first, finer, at, coarser in zip(*there, strict=True):
            of_cell = self.sums[:, first : first + finer].reshape(len(found), coarser, -1, found.shape[2])
            np.einsum("kbfc->kbc", of_cell, out=found[:, at : at + coarser])
        return found


class _UnseenError(RuntimeError):
    """A row has a group or label that the coding does not know."""


# Gives all rows under a coding, which may be known to be that of all rows.
Batches = Callable[[Coding, bool], Generator[Batch, None, None]]


class LocalRows:
    """Sums over batches of rows, by numpy: :class:`~xorder.engines._tally.Tally` of all engines but Spark.

    ``guess`` is the coding of some first rows; where it turns out not to be that of all, ``look`` finds it. ``check``
    is called with what was seen of all, and may refuse some. Neither is needed where all rows were looked at before.
    """

    def __init__(
        self,
        batches: Batches,
        options: ReadingOptions,
        *,
        guess: Coding,
        look: Callable[[], Coding] | None = None,
        check: Callable[[Seen], None] | None = None,
        total: int | None = None,
    ) -> None:
        self.coding = guess
        self._batches, self._look, self._check = batches, look, check
        self._squares, self._total, self._watch = options.squares, total, options.watch
        self._weighted = options.names.weight is not None
        self._kept: list[Batch] | None = None
        self._guessed: _GuessedBins | None = None

    def survey(self, limit: int) -> tuple[Seen, Counted]:
        """Look at all rows: sums by key if there are at most ``limit`` keys, else by cell."""
        try:
            found = self._survey(limit)
        except _UnseenError:
            if self._look is None:
                raise
            self.coding, self._kept = self._look(), None
            found = self._survey(limit)
        if self._check is not None:
            self._check(found[0])
        return found

    def _survey(self, limit: int) -> tuple[Seen, Counted]:
        looks, codes = [Seen()], self.coding.size

        def usable_of(batch: Batch) -> Batch:
            usable, seen = _usable(batch, codes)
            looks.append(seen)
            return usable

        # Closed whatever happens: DuckDB answers nothing else as long as it is being read from.
        with closing(self._each("reading scores", known=False)) as batches:
            wanted = 1 + _MARGIN * limit if codes <= _DENSE_CODES else 0
            first = _some(batches, wanted)
            rest = chain(first, batches)
            has_more = _has_more_keys(first, codes, limit)
            are_all = 0 < sum(batch.score.size for batch in first) < wanted
            # Where most scores have come before, to look them up takes half as long. The first batch shows it.
            if are_all and not has_more and 5 * _changes(first[0].score) > 4 * first[0].score.size:
                counted = self._counted([*map(usable_of, first)])
                return _all_seen(looks), counted
            counts = KeyCounts(codes, limit=limit, shifts=(0, tally.CELL_BITS), sums=1 + self._squares)
            if not has_more:
                for usable in map(usable_of, rest):
                    if usable.score.size:
                        counts.add(keys_of(usable.score), usable.code, self._weights(usable))
                    if counts.shift and codes <= _DENSE_CODES:
                        break
                else:
                    return _all_seen(looks), counts.counted()
            # Once all that counts is the cell, or a bin of it, which are small numbers, no key needs to be looked up.
            # Rows that are few enough to be kept for the next pass need no guess.
            fit = self._total is not None and self._total * _bytes_of(first[0]) <= _KEPT_BYTES * first[0].score.size
            shown = [] if counts.shift or fit else [_usable(batch, codes)[0] for batch in first]
            guessed = _GuessedBins(shown, codes, limit)
            guessed.sums = self._added(map(usable_of, rest), len(guessed), guessed.bin_of)
        self._guessed, sums = guessed, guessed.by_cell()
        if counts.shift:
            sums[:, counts.keys - tally.FIRST_CELL] += counts.masses
        used = np.flatnonzero(tally.in_use(sums))
        return _all_seen(looks), Counted(tally.CELL_BITS, used + tally.FIRST_CELL, sums[:, used])

    def _counted(self, batches: Sequence[Batch]) -> Counted:
        """Sums by key over rows that are all at hand, from one sort."""
        rows, codes = Batch.joined(batches), self.coding.size
        keys = keys_of(rows.score)
        order, is_next = rows_in_order(keys, lambda part: part.view(np.uint64) ^ _HIGHEST_BIT)
        place = (np.cumsum(is_next) - 1) * codes
        place += rows.code.take(order)
        weights: list[FloatArray | None] = [weight.take(order) for weight in self._weights(rows)]
        keys = keys.take(order[is_next])
        sums = np.array([np.bincount(place, weight, codes * keys.size) for weight in weights or [None]], np.float64)
        return Counted(0, keys, sums.reshape(len(sums), keys.size, codes))

    def fill(self, bins: Bins) -> FloatArray:
        """Sums by bin."""
        parts, start = bins.lookup()

        def place(batch: Batch) -> IntArray:
            return tally.bin_of(keys_of(batch.score), parts, start)

        guessed, self._guessed = self._guessed, None
        if guessed is None or (sums := guessed.put_together(bins)) is None:
            return self._added(self._each("filling bins"), len(bins), place)
        if guessed.kept:
            light = Batch.joined(guessed.kept)
            _add(sums, place(light), light.code, self._weights(light))
        return sums

    def _added(self, batches: Iterator[Batch], positions: int, place: Callable[[Batch], IntArray]) -> FloatArray:
        """Sums by position, which ``place`` says of rows, and code; several threads look for positions."""
        sums, adding = np.zeros((1 + self._squares, positions, self.coding.size)), threading.Lock()

        def add(batch: Batch) -> None:
            position = place(batch)
            with adding:
                _add(sums, position, batch.code, self._weights(batch))

        # Sums of counts are exact in any order, those of weights are not, and are to be the same every time.
        side_by_side(batches, add, 1 if self._weighted else min(_MOST_THREADS, os.cpu_count() or 1))
        return sums

    def split(self, leaves: Leaves, limit: int) -> Counted:
        """Sums by position within some of the leaves, as :meth:`~xorder.engines._tally.Tally.split` says."""
        spread = tally.spread_of(leaves)
        concerned = np.zeros(tally.CELLS, dtype=bool)
        concerned[(leaves.first >> tally.CELL_BITS) - tally.FIRST_CELL] = True
        counts = KeyCounts(self.coding.size, limit=limit, shifts=tally.SPLIT_SHIFTS, sums=1 + self._squares)
        for batch in self._each("splitting bins"):
            keys = keys_of(batch.score)
            rows = np.flatnonzero(concerned[(keys >> tally.CELL_BITS) - tally.FIRST_CELL])
            leaf = np.searchsorted(leaves.first, keys[rows], side="right") - 1
            inside = (leaf >= 0) & (keys[rows] <= leaves.last[leaf])
            rows, leaf = rows[inside], leaf[inside]
            if rows.size:
                packed = (leaf << tally.CELL_BITS) + ((keys[rows] - leaves.first[leaf]) << spread[leaf])
                weights = [weight[rows] for weight in self._weights(batch)]
                counts.add(packed, batch.code[rows], weights)
        return counts.counted()

    def collect(self) -> Batch:
        """Return all rows that belong to a group, in memory, once they have been surveyed."""
        return Batch.joined([batch.where(batch.code < self.coding.size) for batch in self._each("collecting rows")])

    def _weights(self, batch: Batch) -> list[FloatArray]:
        if batch.weight is None:
            return []
        with np.errstate(over="ignore"):
            return [batch.weight, batch.weight**2] if self._squares else [batch.weight]

    def _each(self, step: str, *, known: bool = True) -> Generator[Batch, None, None]:
        """Yield the batches, those of a known coding without the rows to be left out; report how far they are."""
        done, codes, kept, room = 0, self.coding.size, list[Batch](), _KEPT_BYTES
        leaves_out = known and self.coding.missing == len(self.coding.groups)
        again = None if self._kept is None else nullcontext(self._kept)
        with again or closing(self._batches(self.coding, known)) as batches:
            for batch in batches:
                yield batch.where(batch.code < codes) if leaves_out else batch
                done += batch.score.size
                self._watch(step, min(1.0, done / self._total) if self._total else None)
                room -= _bytes_of(batch)
                if room >= 0 and not batch.more:
                    kept.append(batch)
                else:
                    kept.clear()
                    room = -1
        if room >= 0:
            # All rows have been read; the next pass need not.
            self._kept = kept


def _bytes_of(batch: Batch) -> int:
    return batch.score.nbytes + batch.code.nbytes + (0 if batch.weight is None else batch.weight.nbytes)


def _add(sums: FloatArray, position: IntArray, code: NDArray[np.int16], weights: Sequence[FloatArray] = ()) -> None:
    """Add rows, or their weights, to sums by position and code; ``position`` is overwritten."""
    position *= sums.shape[2]
    position += code
    for number, column in enumerate(sums):
        np.add.at(column.reshape(-1), position, weights[number] if weights else 1.0)


def _some(batches: Iterator[Batch], rows: float) -> list[Batch]:
    """Take batches until there are that many rows, or no more."""
    found: list[Batch] = []
    while rows > 0 and (batch := next(batches, None)) is not None:
        found.append(batch)
        rows -= batch.score.size
    return found


def _has_more_keys(first: Sequence[Batch], codes: int, limit: int) -> bool:
    """Whether the usable rows of these batches have more keys than may be told apart."""
    if sum(batch.score.size for batch in first) <= limit:
        return False
    return _changes(np.concatenate([_usable(batch, codes)[0].score for batch in first])) >= limit


def _changes(score: NDArray[Any]) -> int:
    """How often the score changes from one row to the next, once these are sorted."""
    score = np.sort(score)
    return int(np.count_nonzero(score[1:] != score[:-1]))


def _usable(batch: Batch, codes: int) -> tuple[Batch, Seen]:
    """Return the rows that can be used and are not left out, and what was seen of all, for complaints about them."""
    score, code, weight, _ = batch
    if not score.size:
        return batch, Seen()
    if code.min() < 0:
        raise _UnseenError("rows have groups or labels that a look at all of them did not find")
    left_out = int(np.count_nonzero(code >= codes))
    seen = Seen(rows=score.size, left_out=left_out)
    # A sum is finite only if every term is; finite terms whose sum is not are looked at one by one.
    with np.errstate(over="ignore", invalid="ignore"):
        is_sound = bool(np.isfinite(score.sum()))
    fit = None if weight is None else (weight >= 0) & (weight < np.inf)
    if not is_sound or not (fit is None or fit.all()):
        good = np.isfinite(score)
        seen.missing = int(np.isnan(score).sum())
        seen.infinite = int(score.size - good.sum()) - seen.missing
        if fit is not None:
            seen.bad_weights = int(fit.size - fit.sum())
            good &= fit
        batch = batch.where(good)
    score, code, weight, _ = batch
    if score.size:
        seen.low, seen.high = float(score.min()), float(score.max())
        if weight is not None:
            seen.largest_weight, seen.least_weight = float(weight.max()), float(weight[weight > 0].min(initial=np.inf))
            seen.whole_weights = bool((weight == np.floor(weight)).all())
    return batch.where(code < codes) if left_out else batch, seen


# How what was seen of several batches becomes what was seen of all.
_TOGETHER: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(("rows", "left_out", "missing", "infinite", "bad_weights"), sum),
    **{"low": min, "high": max, "least_weight": min, "largest_weight": max, "whole_weights": all},
}


def _all_seen(looks: Sequence[Seen]) -> Seen:
    return Seen(**{name: merge(getattr(look, name) for look in looks) for name, merge in _TOGETHER.items()})


_TABLE_BITS = 22
_GOLDEN, _ONE = np.uint64(0x9E3779B97F4A7C15), np.uint64(1)

# The key of slot 0, which stands for "none": the pattern of a NaN, which no score has.
_NO_KEY = np.int64(-(1 << 63))

SlotArray = NDArray[np.int32]


class KeyCounts:
    """Adds up masses for each key and column; with more than ``limit`` keys, drops lower bits of all of them.

    ``shifts`` are the numbers of bits that may be dropped, rising; the first under which at most ``limit`` keys are
    left is used. It depends on the keys alone, not on their order. With the last one, any number is kept.

    A key's slot is found in a table, at the position of its hash or, where others stand there, behind them.
    """

    def __init__(self, columns: int, *, limit: int, shifts: Sequence[int] = (0,), sums: int = 1) -> None:
        self.columns, self.limit, self.sums = columns, limit, sums
        self._shifts = list(shifts)
        self.shift = self._shifts.pop(0)
        self._start(np.empty(0, dtype=np.int64), np.empty((sums, 0, columns)))

    def _start(self, keys: IntArray, masses: FloatArray, more: int = 0) -> None:
        """Begin anew with distinct keys, in a table with room for these and some more: half of it stays free."""
        bits = max(_TABLE_BITS, (2 * (keys.size + more) + 2).bit_length())
        self._hash_shift = np.uint64(64 - bits)
        self._table: SlotArray = np.zeros(1 << bits, dtype=np.int32)
        room = max(1024, 2 * keys.size)
        self._keys: IntArray = np.full(room, _NO_KEY)
        self._masses: FloatArray = np.zeros((self.sums, room, self.columns))
        self._used = 1
        slots = self._slots(keys)
        self._masses[:, slots] = masses

    @property
    def keys(self) -> IntArray:
        """The keys so far, less the bits dropped, in no order."""
        return self._keys[1 : self._used]

    @property
    def masses(self) -> FloatArray:
        """Sums so far: of each kind, by key and column."""
        return self._masses[:, 1 : self._used]

    def counted(self) -> Counted:
        """All of it, in the order of the keys."""
        order = np.argsort(self.keys)
        return Counted(self.shift, self.keys[order], self.masses.take(order, axis=1))

    def add(self, keys: IntArray, column: NDArray[np.integer], weights: Sequence[FloatArray] = ()) -> None:
        """Add rows: one to each sum, or their weights, one array for each sum."""
        slots = self._slots(keys >> self.shift if self.shift else keys)
        while slots is None:
            self._drop_bits()
            slots = self._slots(keys >> self.shift)
        position = slots * self.columns + column
        for number in range(self.sums):
            np.add.at(self._masses[number].reshape(-1), position, weights[number] if weights else 1.0)

    def _slots(self, keys: IntArray) -> SlotArray | None:
        """Find or make the slot of each key; None if that makes too many."""
        if 2 * (self._used + keys.size) > self._table.size:
            self._start(self.keys, self.masses, more=keys.size)
        position = (keys.view(np.uint64) * _GOLDEN) >> self._hash_shift
        slots = self._table[position]
        rows = np.flatnonzero(self._keys[slots] != keys)
        while rows.size:
            free = rows[slots[rows] == 0]
            # Of all keys that want a free position, the last to be written there has it.
            mark = np.arange(-free.size, 0, dtype=np.int32)
            self._table[position[free]] = mark
            won = free[self._table[position[free]] == mark]
            self._table[position[won]] = self._new_slots(keys[won])
            slots[rows] = self._table[position[rows]]
            rows = rows[self._keys[slots[rows]] != keys[rows]]
            position[rows] = (position[rows] + _ONE) % np.uint64(self._table.size)
            slots[rows] = self._table[position[rows]]
        return None if self._shifts and self._used - 1 > self.limit else slots

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
            distinct, position = np.unique(keys >> (self.shift - before), return_inverse=True)
            if distinct.size <= self.limit or not self._shifts:
                break
        merged = np.zeros((self.sums, distinct.size, self.columns))
        for number in range(self.sums):
            np.add.at(merged[number], position, masses[number])
        self._start(distinct, merged)


Part = TypeVar("Part")

# More would wait for the one reader, and for each other to add up.
_MOST_THREADS = 4


def side_by_side(batches: Iterator[Part], work: Callable[[Part], None], threads: int) -> None:
    """Call ``work`` with each batch, in several threads; a batch goes to whoever is free.

    An error ends all of them, and is raised.
    """
    reading, over = threading.Lock(), threading.Event()

    def run() -> None:
        try:
            while not over.is_set():
                with reading:
                    batch = next(batches, None)
                if batch is None:
                    return
                work(batch)
        except BaseException:
            over.set()
            raise

    with ThreadPoolExecutor(threads) as pool:
        try:
            for done in [pool.submit(run) for _ in range(threads)]:
                done.result()
        except BaseException:
            # Also if this thread is interrupted: the others would go on to the last batch.
            over.set()
            raise
