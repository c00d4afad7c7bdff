"""Rows that this process reads, batch by batch, added up by key of the score and code of group and label, in NumPy."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from xorder._table import NO_TURN, FloatArray, IntArray, deal, squared
from xorder.engines._cells import FRAME, Coding, ColumnNames, ReadingOptions, no_rows
from xorder.exceptions import InputError

CELL_BITS = 44
"""Lower bits of a key, those within a cell."""

CELLS = 1 << 20
"""How many cells there are."""

FIRST_CELL = -(CELLS >> 1)
"""The lowest cell."""

_MAGNITUDE = np.int64((1 << 63) - 1)


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


def scores_of(keys: IntArray) -> FloatArray:
    """Return the scores that keys stand for.

    >>> scores_of(keys_of(np.array([-2.5, 0.1]))).tolist()
    [-2.5, 0.1]
    """
    return (keys ^ ((keys >> 63) & _MAGNITUDE)).view(np.float64)


PLACE_BITS = 32
"""Bits of a key, below its cell, that decide on the bin."""

_UNUSED_BITS = CELL_BITS - PLACE_BITS
_PLACE = np.int64((1 << PLACE_BITS) - 1)


@dataclass(frozen=True, slots=True, eq=False)
class Leaves:
    """Disjoint ranges of keys, rising, ``first`` to ``last`` both included, and the masses in them.

    ``masses`` has one row a leaf and two columns a group, its negatives and its positives; ``squares`` holds sums of
    squared weights in the same way, where they are wanted. A leaf of one key is exact: its rows truly tie.
    """

    first: IntArray
    last: IntArray
    masses: FloatArray
    squares: FloatArray | None = None

    @property
    def is_exact(self) -> NDArray[np.bool_]:
        """Whether all rows of a leaf have the same score."""
        return np.asarray(self.first == self.last)

    def __len__(self) -> int:
        return int(self.first.size)

    def __getitem__(self, chosen: NDArray[np.bool_]) -> Leaves:
        squares = None if self.squares is None else self.squares[chosen]
        return Leaves(self.first[chosen], self.last[chosen], self.masses[chosen], squares)

    def __add__(self, other: Leaves) -> Leaves:
        """Return the leaves of both, which must not overlap."""
        first = np.concatenate([self.first, other.first])
        order = np.argsort(first)
        squares = None
        if self.squares is not None and other.squares is not None:
            squares = np.concatenate([self.squares, other.squares])[order]
        masses = np.concatenate([self.masses, other.masses])[order]
        return Leaves(first[order], np.concatenate([self.last, other.last])[order], masses, squares)

    @classmethod
    def of_sums(cls, first: IntArray, last: IntArray, sums: FloatArray) -> Leaves:
        """Leaves in any order with their sums (masses, and squares if there are two); those without rows go."""
        kept = np.flatnonzero(sums[-1].any(axis=1))
        order = kept[np.argsort(first[kept])]
        return cls(first[order], last[order], sums[0, order], sums[1, order] if len(sums) > 1 else None)


@dataclass(frozen=True, slots=True, eq=False)
class Bins:
    """Each cell cut into a number of bins of one width; bins are numbered from the lowest up."""

    cell: IntArray
    parts: IntArray

    @classmethod
    def for_masses(cls, cell: IntArray, masses: FloatArray, total: int) -> Bins:
        r"""Share out about ``total`` bins among cells, with the masses of each group and class in them.

        Two samples with the shares :math:`s_1, s_2` in a cell of n bins have :math:`s_1 s_2 / n` of their pairs within
        a bin. Over all cells that is least for :math:`n \propto \sqrt{s_1 s_2}`; with more than two samples, the root
        of their mean square takes its place.
        """
        of_sample = masses.sum(axis=0)
        share = masses[:, of_sample > 0] / of_sample[of_sample > 0]
        wanted = np.sqrt((share**2).mean(axis=1))
        parts = np.maximum(1, np.floor(wanted * (total / wanted.sum()))).astype(np.int64)
        order = np.argsort(cell)
        return cls(cell[order], parts[order])

    def __len__(self) -> int:
        return int(self.parts.sum())

    def lookup(self) -> tuple[IntArray, IntArray]:
        """Return, for each of all cells, the number of its bins (0 if it has none) and that of its first bin."""
        parts, start = np.zeros(CELLS, dtype=np.int64), np.zeros(CELLS, dtype=np.int64)
        parts[self.cell - FIRST_CELL] = self.parts
        start[self.cell - FIRST_CELL] = self.starts
        return parts, start

    @property
    def starts(self) -> IntArray:
        """Number of the first bin of each cell."""
        return np.cumsum(self.parts) - self.parts

    def leaves(self, sums: FloatArray) -> Leaves:
        """Return the bins that hold rows, with the sums of each."""
        used = np.flatnonzero(sums[-1].any(axis=1))
        at = np.searchsorted(self.starts, used, side="right") - 1
        cell, parts = self.cell[at], self.parts[at]
        first, behind = (
            (cell << CELL_BITS) + (-((-bin_of_cell << PLACE_BITS) // parts) << _UNUSED_BITS)
            for bin_of_cell in (used - self.starts[at], used - self.starts[at] + 1)
        )
        return Leaves(first, behind - 1, sums[0, used], sums[1, used] if len(sums) > 1 else None)


def bin_of(keys: IntArray, parts: IntArray, start: IntArray) -> IntArray:
    """Return the bin of each key, by what :meth:`Bins.lookup` gives."""
    cell = keys >> CELL_BITS
    cell -= FIRST_CELL
    place = keys >> _UNUSED_BITS
    place &= _PLACE
    place *= parts[cell]
    place >>= PLACE_BITS
    place += start[cell]
    return place


SPLIT_SHIFTS = tuple(range(0, CELL_BITS + 1, 2))
"""Bits that may be dropped where leaves are split."""


@dataclass(slots=True)
class Seen:
    """What a first look at all rows has found: how many, left out or unusable, and the range of the rest."""

    rows: int = 0
    left_out: int = 0
    missing: int = 0
    infinite: int = 0
    bad_weights: int = 0
    low: float = np.inf
    high: float = -np.inf
    largest_weight: float = 0.0
    whole_weights: bool = True

    def __add__(self, other: Seen) -> Seen:
        """Return what was seen in both."""
        return Seen(
            rows=self.rows + other.rows,
            left_out=self.left_out + other.left_out,
            missing=self.missing + other.missing,
            infinite=self.infinite + other.infinite,
            bad_weights=self.bad_weights + other.bad_weights,
            low=min(self.low, other.low),
            high=max(self.high, other.high),
            largest_weight=max(self.largest_weight, other.largest_weight),
            whole_weights=self.whole_weights and other.whole_weights,
        )

    def check(self, names: ColumnNames, source: str, squares: bool) -> None:
        """Refuse rows that cannot be used, in the words of an audit of arrays; none is dropped."""
        if not self.rows:
            raise no_rows(source)
        within = "" if source == FRAME else f"{source}: "
        if self.missing or self.infinite:
            kinds = ((self.missing, "nothing or nan"), (self.infinite, "inf or -inf"))
            came = " and ".join(
                f"{count:,} {'row holds' if count == 1 else 'rows hold'} {what}" for count, what in kinds if count
            )
            raise InputError(f"{within}column {names.score!r} must be finite; {came}. Remove these rows or score them.")
        if names.weight is None:
            return
        weight = f"{within}column {names.weight!r}"
        if self.bad_weights:
            raise InputError(
                f"{weight} must be finite and not negative; {self.bad_weights:,} "
                f"{'row is' if self.bad_weights == 1 else 'rows are'} not. Correct or remove them."
            )
        if not self.largest_weight:
            raise InputError(f"{weight} must be above 0 for some row; all weights are zero.")
        range_ = (1e-100, 1e100) if squares else (1e-150, 1e150)
        if not range_[0] < self.largest_weight < range_[1]:
            raise InputError(
                f"{weight} is out of range: its largest value is {self.largest_weight:g}. Scale it towards 1."
            )


@dataclass(frozen=True, slots=True)
class Counted:
    """Sums (of weights, and of their squares if wanted) by key, less some lower bits, and code."""

    shift: int
    keys: IntArray
    sums: FloatArray


class Tally(Protocol):
    """Rows in some engine, as sums over them by key of the score, and by code of group and label."""

    coding: Coding

    def survey(self, limit: int) -> tuple[Seen, Counted]:
        """Look at all rows: sums by key if there are at most ``limit`` keys, else by cell."""

    def fill(self, bins: Bins) -> FloatArray:
        """Sums by bin."""

    def split(self, leaves: Leaves, limit: int) -> Counted:
        """Sums by place within some of the leaves, packed: number of the leaf, then key less its first, spread."""


def spread_of(leaves: Leaves) -> IntArray:
    """Bits by which a place within each leaf is moved up, so that dropping lower bits cuts all leaves alike."""
    width = leaves.last - leaves.first
    # The number of bits of a whole number is the exponent of the next power of two.
    bits = np.frexp(width.astype(np.float64))[1].astype(np.int64)
    return np.asarray(CELL_BITS - np.minimum(bits, CELL_BITS), dtype=np.int64)


def split_leaves(leaves: Leaves, found: Counted) -> Leaves:
    """Return the parts that :meth:`Tally.split` has cut leaves into."""
    within = CELL_BITS - found.shift
    leaf = found.keys >> within
    spread = spread_of(leaves)[leaf]
    place = (found.keys & ((1 << within) - 1)) << found.shift
    first = leaves.first[leaf] + (place >> spread)
    last = leaves.first[leaf] + ((place + ((1 << found.shift) - 1)) >> spread)
    return Leaves.of_sums(first, np.minimum(last, leaves.last[leaf]), found.sums)


def check_same(before: FloatArray, after: FloatArray) -> None:
    """Refuse rows that are not the same in two passes over them."""
    if not np.allclose(before.sum(axis=0), after.sum(axis=0), rtol=1e-9, atol=0):
        raise InputError("the data changed between two passes over it. Read from a snapshot.")


# With more codes than this, sums for each cell there may be take too much memory.
_DENSE_CODES = 32


class Batch(NamedTuple):
    """Some rows: scores (nan where missing), codes, below 0 if unseen, and weights."""

    score: NDArray[Any]
    code: NDArray[np.int16]
    weight: FloatArray | None

    def where(self, chosen: NDArray[np.bool_]) -> Batch:
        """Return some of the rows."""
        return Batch(self.score[chosen], self.code[chosen], None if self.weight is None else self.weight[chosen])


class _Cells(NamedTuple):
    """What one thread has seen, and its sums by cell and code."""

    seen: Seen
    sums: FloatArray


class _UnseenError(Exception):
    """A row has a group or label that the coding does not know."""


Batches = Callable[[Coding, bool], Generator[Batch, None, None]]
"""Gives all rows under a coding, which may be known to be that of all rows."""


class LocalRows:
    """Sums over batches of rows, by numpy: :class:`~xorder.engines._tally_numpy.Tally` of all engines but Spark.

    ``guess`` is the coding of some first rows; where it turns out not to be that of all, ``look`` finds it. ``blame``
    may say more of numbers that are missing. Neither is needed where all rows were looked at before.
    """

    def __init__(
        self,
        batches: Batches,
        options: ReadingOptions,
        *,
        guess: Coding,
        look: Callable[[], Coding] | None = None,
        blame: Callable[[], None] | None = None,
        total: int | None = None,
    ) -> None:
        self.coding = guess
        self._batches, self._look, self._blame = batches, look, blame
        self._squares, self._total, self._watch = options.squares, total, options.watch
        self._weighted = options.names.weight is not None

    def survey(self, limit: int) -> tuple[Seen, Counted]:
        """Look at all rows: sums by key if there are at most ``limit`` keys, else by cell."""
        found = self._survey(limit)
        if found is None and self._look is not None:
            self.coding = self._look()
            found = self._survey(limit)
        if found is None:
            raise RuntimeError("rows have groups or labels that a look at all of them did not find")
        if self._blame is not None and (found[0].missing or found[0].bad_weights):
            self._blame()
        return found

    def _survey(self, limit: int) -> tuple[Seen, Counted] | None:
        """Look at all rows; None if some have a group or label that the coding does not know."""
        counts = KeyCounts(self.coding.size, limit=limit, shifts=(0, CELL_BITS), sums=1 + self._squares)
        # Closed whatever happens: DuckDB answers nothing else as long as it is being read from.
        with closing(self._each("reading scores", known=False)) as batches, suppress(_UnseenError):
            return self._survey_of(batches, counts)
        return None

    def _survey_of(self, batches: Iterator[Batch], counts: KeyCounts) -> tuple[Seen, Counted]:
        seen, codes = Seen(), self.coding.size
        for batch in batches:
            usable = _usable(batch, seen, codes)
            if usable.score.size:
                counts.add(keys_of(usable.score), usable.code, self._weights(usable))
            if counts.shift and codes <= _DENSE_CODES:
                break
        else:
            return seen, Counted(counts.shift, counts.keys, counts.masses)
        # Once all that counts is the cell, which is a small number, no key needs to be looked up.
        parts = [_Cells(Seen(), np.zeros((counts.sums, CELLS * codes))) for _ in range(self._threads())]
        side_by_side(batches, self._add_to_cells, parts)
        for part in parts:
            seen = seen + part.seen
        for part in parts[1:]:
            parts[0].sums[...] += part.sums
        sums = parts[0].sums.reshape(counts.sums, CELLS, codes)
        sums[:, counts.keys - FIRST_CELL] += counts.masses
        used = np.flatnonzero(sums[-1].any(axis=1))
        return seen, Counted(counts.shift, used + FIRST_CELL, sums[:, used])

    def _add_to_cells(self, batch: Batch, part: _Cells) -> None:
        usable = _usable(batch, part.seen, self.coding.size)
        if usable.score.size:
            keys = keys_of(usable.score)
            keys >>= CELL_BITS
            keys -= FIRST_CELL
            _add(part.sums, keys, self.coding.size, usable.code, self._weights(usable))

    def _threads(self) -> int:
        # Sums of counts are exact in any order, those of weights are not, and are to be the same every time.
        return 1 if self._weighted else thread_count()

    def fill(self, bins: Bins) -> FloatArray:
        """Sums by bin."""
        parts, start = bins.lookup()
        codes = self.coding.size

        def add(batch: Batch, sums: FloatArray) -> None:
            _add(sums, bin_of(keys_of(batch.score), parts, start), codes, batch.code, self._weights(batch))

        found = [np.zeros((1 + self._squares, len(bins) * codes)) for _ in range(self._threads())]
        side_by_side(self._each("filling bins"), add, found)
        for more in found[1:]:
            found[0] += more
        return found[0].reshape(1 + self._squares, len(bins), codes)

    def split(self, leaves: Leaves, limit: int) -> Counted:
        """Sums by place within some of the leaves, packed: number of the leaf, then key less its first, spread."""
        spread = spread_of(leaves)
        concerned = np.zeros(CELLS, dtype=bool)
        concerned[(leaves.first >> CELL_BITS) - FIRST_CELL] = True
        counts = KeyCounts(self.coding.size, limit=limit, shifts=SPLIT_SHIFTS, sums=1 + self._squares)
        for batch in self._each("splitting bins"):
            keys = keys_of(batch.score)
            rows = np.flatnonzero(concerned[(keys >> CELL_BITS) - FIRST_CELL])
            leaf = np.searchsorted(leaves.first, keys[rows], side="right") - 1
            inside = (leaf >= 0) & (keys[rows] <= leaves.last[leaf])
            rows, leaf = rows[inside], leaf[inside]
            if rows.size:
                packed = (leaf << CELL_BITS) + ((keys[rows] - leaves.first[leaf]) << spread[leaf])
                weights = [weight[rows] for weight in self._weights(batch)]
                counts.add(packed, batch.code[rows], weights)
        return Counted(counts.shift, counts.keys, counts.masses)

    def fold_sums(self, leaves: Leaves, folds: int, random_state: int = 0) -> FloatArray:
        """Deal whole rows to folds at random, and add each fold up: by kind of sum, fold, leaf and code.

        Rows of each code are dealt like cards, in turns whose order is drawn anew for each turn, so that folds have the
        same number of them, give or take one. A row is never cut in two, whatever its weight.
        """
        rng, codes = np.random.default_rng(random_state), self.coding.size
        sums = np.zeros((1 + self._squares, folds * len(leaves) * codes))
        turns = [NO_TURN] * codes
        for batch in self._each("dealing rows to folds"):
            fold = np.empty(batch.code.size, dtype=np.int64)
            for code in range(codes):
                rows = np.flatnonzero(batch.code == code)
                fold[rows], turns[code] = deal(rows.size, folds, rng, turns[code])
            leaf = np.searchsorted(leaves.first, keys_of(batch.score), side="right") - 1
            place = fold * len(leaves) + leaf
            _add(sums, place, codes, batch.code, self._weights(batch))
        return sums.reshape(1 + self._squares, folds, len(leaves), codes)

    def _weights(self, batch: Batch) -> list[FloatArray]:
        if batch.weight is None:
            return []
        return [batch.weight, squared(batch.weight)] if self._squares else [batch.weight]

    def _each(self, step: str, *, known: bool = True) -> Generator[Batch, None, None]:
        """Yield the batches, those of a known coding without the rows to be left out; tell how far they are."""
        done, codes = 0, self.coding.size
        leaves_out = known and self.coding.missing == len(self.coding.groups)
        with closing(self._batches(self.coding, known)) as batches:
            for batch in batches:
                yield batch.where(batch.code < codes) if leaves_out else batch
                done += batch.score.size
                self._watch(step, min(1.0, done / self._total) if self._total else None)


def _add(sums: FloatArray, place: IntArray, codes: int, code: NDArray[np.int16], weights: Sequence[FloatArray]) -> None:
    """Add rows, or their weights, to sums by place and code; ``place`` is overwritten."""
    place *= codes
    place += code
    for number, column in enumerate(sums):
        np.add.at(column, place, weights[number] if weights else 1.0)


def _usable(batch: Batch, seen: Seen, codes: int) -> Batch:
    """Count rows that cannot be used, for the complaint about them, and return the others that are not left out."""
    score, code, weight = batch
    if not score.size:
        return batch
    if code.min() < 0:
        raise _UnseenError
    left_out = int(np.count_nonzero(code >= codes))
    seen.rows += score.size
    seen.left_out += left_out
    good = None
    # A sum is finite only if every term is; finite terms whose sum is not are looked at one by one.
    with np.errstate(over="ignore", invalid="ignore"):
        if not np.isfinite(score.sum()):
            good = np.isfinite(score)
            missing = int(np.isnan(score).sum())
            seen.missing += missing
            seen.infinite += int(score.size - good.sum()) - missing
    if weight is not None:
        fit = (weight >= 0) & (weight < np.inf)
        if not fit.all():
            seen.bad_weights += int(fit.size - fit.sum())
            good = fit if good is None else good & fit
    if good is not None:
        batch = batch.where(good)
    score, code, weight = batch
    if score.size:
        seen.low, seen.high = min(seen.low, float(score.min())), max(seen.high, float(score.max()))
        if weight is not None:
            seen.largest_weight = max(seen.largest_weight, float(weight.max()))
            seen.whole_weights &= bool((weight == np.floor(weight)).all())
    return batch.where(code < codes) if left_out else batch


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


Part = TypeVar("Part")
State = TypeVar("State")

# More would wait for the one reader, and each has sums that take memory.
_MOST_THREADS = 4


def thread_count() -> int:
    """How many threads there are to be."""
    return min(_MOST_THREADS, os.cpu_count() or 1)


def side_by_side(batches: Iterator[Part], work: Callable[[Part, State], None], states: Sequence[State]) -> None:
    """Call ``work(batch, state)`` for each batch, in one thread for each state; a batch goes to whoever is free.

    An error ends all of them, and is raised.
    """
    if len(states) == 1:
        for batch in batches:
            work(batch, states[0])
        return
    reading, over = threading.Lock(), threading.Event()

    def run(state: State) -> None:
        try:
            while not over.is_set():
                with reading:
                    batch = next(batches, None)
                if batch is None:
                    return
                work(batch, state)
        except BaseException:
            over.set()
            raise

    with ThreadPoolExecutor(len(states)) as threads:
        try:
            for done in [threads.submit(run, state) for state in states]:
                done.result()
        except BaseException:
            # Also if this thread is interrupted: the others would go on to the last batch.
            over.set()
            raise
