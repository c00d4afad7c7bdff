"""Rows that this process reads, batch by batch: frames in memory, lazy frames of polars, and all that DuckDB reads."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, suppress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from xorder._progress import Progress
from xorder._table import FloatArray, IntArray
from xorder.engines.bins import Bins, Leaves, bin_of
from xorder.engines.coding import Coding
from xorder.engines.key_counts import KeyCounts
from xorder.engines.score_keys import CELL_BITS, CELLS, FIRST_CELL, keys_of
from xorder.engines.side_by_side import side_by_side, thread_count
from xorder.engines.tally import SPLIT_SHIFTS, Counted, Seen, spread_of

# With more codes than this, sums for each cell there may be take too much memory.
_DENSE_CODES = 32


class Batch(NamedTuple):
    """Some rows: scores (nan where missing), codes, below 0 if unseen, and weights."""

    score: NDArray[Any]
    code: NDArray[np.int16]
    weight: FloatArray | None


class _Cells(NamedTuple):
    """What one thread has seen, and its sums by cell and code."""

    seen: Seen
    sums: FloatArray


class _UnseenError(Exception):
    """A row has a group or label that the coding does not know."""


Batches = Callable[[Coding, bool], Generator[Batch, None, None]]
"""Gives all rows under a coding, which may be known to be that of all rows."""


class LocalRows:
    """Sums over batches of rows, by numpy: :class:`~xorder.engines.tally.Tally` of all engines but Spark.

    ``guess`` is the coding of some first rows; where it turns out not to be that of all, ``look`` finds it. ``blame``
    may say more of numbers that are missing.
    """

    def __init__(
        self,
        batches: Batches,
        *,
        guess: Coding,
        look: Callable[[], Coding],
        blame: Callable[[], None],
        weighted: bool = False,
        squares: bool = False,
        total: int | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.coding = guess
        self._weighted = weighted
        self._batches, self._look, self._blame = batches, look, blame
        self._squares = squares
        self._total, self._progress = total, progress

    def survey(self, limit: int) -> tuple[Seen, Counted]:
        """Look at all rows: sums by key if there are at most ``limit`` keys, else by cell."""
        found = self._survey(limit)
        if found is None:
            self.coding = self._look()
            found = self._survey(limit)
        if found is None:
            raise RuntimeError("rows have groups or labels that a look at all of them did not find")
        if found[0].missing or found[0].bad_weights:
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
            usable = _usable(batch, seen)
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
        usable = _usable(batch, part.seen)
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

    def _weights(self, batch: Batch) -> list[FloatArray]:
        if batch.weight is None:
            return []
        return [batch.weight, squared(batch.weight)] if self._squares else [batch.weight]

    def _each(self, step: str, *, known: bool = True) -> Generator[Batch, None, None]:
        """Yield the batches; tell how far they are."""
        done = 0
        with closing(self._batches(self.coding, known)) as batches:
            for batch in batches:
                yield batch
                done += batch.score.size
                if self._progress is not None:
                    self._progress(step, min(1.0, done / self._total) if self._total else None)


def _add(sums: FloatArray, place: IntArray, codes: int, code: NDArray[np.int16], weights: Sequence[FloatArray]) -> None:
    """Add rows, or their weights, to sums by place and code; ``place`` is overwritten."""
    place *= codes
    place += code
    for number, column in enumerate(sums):
        np.add.at(column, place, weights[number] if weights else 1.0)


def squared(weight: FloatArray) -> FloatArray:
    """Squares of weights, above 0 where the weight is."""
    return np.where(weight > 0, np.maximum(weight**2, np.finfo(np.float64).tiny), 0.0)


def _usable(batch: Batch, seen: Seen) -> Batch:
    """Count rows that cannot be used, for the complaint about them, and return the others."""
    score, code, weight = batch
    if code.size and code.min() < 0:
        raise _UnseenError
    seen.rows += score.size
    if not score.size:
        return batch
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
    if good is not None and not good.all():
        score, code = score[good], code[good]
        weight = None if weight is None else weight[good]
    if score.size:
        seen.low, seen.high = min(seen.low, float(score.min())), max(seen.high, float(score.max()))
        if weight is not None:
            seen.largest_weight = max(seen.largest_weight, float(weight.max()))
            seen.whole_weights &= bool((weight == np.floor(weight)).all())
    return Batch(score, code, weight)
