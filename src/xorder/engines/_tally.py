"""What a tally is, in any engine: rows added up by key of the score, or bin of keys, and by code of group and label.

A key is a whole number that sorts as its score does. Where keys are too many to be told apart, they are put into bins,
and the heaviest bins are split in further passes over the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from xorder._table import FloatArray, IntArray
from xorder.engines._cells import Coding
from xorder.exceptions import InputError

# Lower bits of a key, those within a cell.
CELL_BITS = 44

# How many cells there are.
CELLS = 1 << 20

# The lowest cell.
FIRST_CELL = -(CELLS >> 1)

# Bits of a key, below its cell, that decide on the bin.
POSITION_BITS = 32

# More sums by bin and code than this would not fit the memory that tables are built in.
_MOST_SUMS = 1 << 25

_UNUSED_BITS = CELL_BITS - POSITION_BITS
_POSITION = np.int64((1 << POSITION_BITS) - 1)


@dataclass(frozen=True, slots=True, eq=False)
class Leaves:
    """Disjoint ranges of keys, rising, ``first`` to ``last`` both included, and the sums over the rows in them.

    ``sums`` are the masses and, where they are wanted, the sums of squared weights, each with one row per leaf and two
    columns per group, its negatives and its positives. A leaf of one key is exact: its rows truly tie.
    """

    first: IntArray
    last: IntArray
    sums: FloatArray

    @property
    def masses(self) -> FloatArray:
        """The first of the sums."""
        return np.asarray(self.sums[0])

    @property
    def is_exact(self) -> NDArray[np.bool_]:
        """Whether all rows of a leaf have the same score."""
        return np.asarray(self.first == self.last)

    def __len__(self) -> int:
        return int(self.first.size)

    def __getitem__(self, chosen: NDArray[np.bool_]) -> Leaves:
        return Leaves(self.first[chosen], self.last[chosen], self.sums.compress(chosen, axis=1))

    def __add__(self, other: Leaves) -> Leaves:
        """Return the leaves of both, which must not overlap."""
        first = np.concatenate([self.first, other.first])
        last, sums = np.concatenate([self.last, other.last]), np.concatenate([self.sums, other.sums], axis=1)
        order = np.argsort(first)
        return Leaves(first[order], last[order], sums.take(order, axis=1))


@dataclass(frozen=True, slots=True, eq=False)
class Bins:
    """Each cell cut into a number of bins of one width, a power of two; bins are numbered from the lowest up."""

    cell: IntArray
    parts: IntArray

    @classmethod
    def for_masses(cls, cell: IntArray, masses: FloatArray, total: float) -> Bins:
        r"""Share out about ``total`` bins among cells, with the masses of each group and class in them.

        Two samples with the shares :math:`s_1, s_2` in a cell of n bins have :math:`s_1 s_2 / n` of their pairs within
        a bin. Over all cells that is least for :math:`n \propto \sqrt{s_1 s_2}`; with more than two samples, the root
        of their mean square takes its place. Numbers of bins are powers of two, so that fewer bins of a cell are made
        of more by adding these up.
        """
        of_sample = masses.sum(axis=0)
        share = masses[:, of_sample > 0] / of_sample[of_sample > 0]
        wanted = np.sqrt((share**2).mean(axis=1))
        wanted *= min(total, _MOST_SUMS // masses.shape[1]) / wanted.sum()
        # A tenth above the nearest power: pairs within bins are then no more than in bins of any number.
        parts = 1 << np.rint(np.log2(np.maximum(1, wanted)) + 0.1).astype(np.int64)
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
        """Return the bins with the sums of each; some may hold no rows."""
        width = np.repeat((1 << CELL_BITS) // self.parts, self.parts)
        first = np.arange(len(self)) - np.repeat(self.starts, self.parts)
        first *= width
        first += np.repeat(self.cell << CELL_BITS, self.parts)
        last = np.add(first, width, out=width)
        last -= 1
        return Leaves(first, last, sums)


def totals_of(masses: FloatArray) -> FloatArray:
    """Return the sum of each column."""
    # A quarter of the time of sum(axis=0) over a few columns; a product with ones has BLAS keep other cores busy.
    return np.asarray(np.einsum("ij->j", masses))


def in_use(sums: FloatArray) -> NDArray[np.bool_]:
    """Whether the sums of each position, none below 0, are not all 0."""
    return np.asarray(np.einsum("ij->i", sums[-1]) > 0)


def bin_of(keys: IntArray, parts: IntArray, start: IntArray) -> IntArray:
    """Return the bin of each key, by what :meth:`Bins.lookup` gives."""
    cell = keys >> CELL_BITS
    cell -= FIRST_CELL
    position = keys >> _UNUSED_BITS
    position &= _POSITION
    # Unlike parts[cell], this looks at each number once.
    position *= parts.take(cell)
    position >>= POSITION_BITS
    position += start.take(cell)
    return position


# Bits that may be dropped where leaves are split.
SPLIT_SHIFTS = tuple(range(0, CELL_BITS + 1, 2))


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
    least_weight: float = np.inf
    largest_weight: float = 0.0
    whole_weights: bool = True


@dataclass(frozen=True, slots=True)
class Counted:
    """Sums (of weights, and of their squares if wanted) by key, less some lower bits, and code; keys rise."""

    shift: int
    keys: IntArray
    sums: FloatArray


class Batch(NamedTuple):
    """Some rows: scores (nan where missing), codes, below 0 if unseen, weights, and columns that are not added up."""

    score: NDArray[Any]
    code: NDArray[np.int16]
    weight: FloatArray | None
    more: tuple[NDArray[Any], ...] = ()

    @classmethod
    def of(cls, frame: Any, more: Sequence[str]) -> Batch:
        """Return the rows of a frame of narwhals, whose columns are called by their roles."""
        weight = np.asarray(frame["weight"].to_numpy(), dtype=np.float64) if "weight" in frame.columns else None
        numbers = [np.asarray(frame[role].to_numpy(), dtype=np.float64) for role in more if role != "cluster"]
        clusters = [np.array(frame["cluster"].to_list(), dtype=object)] if "cluster" in more else []
        return cls(frame["score"].to_numpy(), frame["code"].to_numpy(), weight, (*numbers, *clusters))

    @classmethod
    def joined(cls, batches: Sequence[Batch]) -> Batch:
        """Return the rows of all of these, of which there is at least one."""
        score, code, weight, more = zip(*batches, strict=True)
        weighted = None if weight[0] is None else np.concatenate(weight)
        columns = map(np.concatenate, zip(*more, strict=True))
        return cls(np.concatenate(score), np.concatenate(code), weighted, tuple(columns))

    def where(self, chosen: NDArray[np.bool_] | IntArray) -> Batch:
        """Return some of the rows."""
        weight = None if self.weight is None else self.weight[chosen]
        return Batch(self.score[chosen], self.code[chosen], weight, tuple(column[chosen] for column in self.more))


class Tally(Protocol):
    """Rows in some engine, as sums over them by key of the score, and by code of group and label."""

    coding: Coding

    def survey(self, limit: int) -> tuple[Seen, Counted]:
        """Look at all rows: sums by key if there are at most ``limit`` keys, else by cell."""

    def fill(self, bins: Bins) -> FloatArray:
        """Sums by bin."""

    def split(self, leaves: Leaves, limit: int) -> Counted:
        """Sums by position within some of the leaves.

        A position is one number: that of the leaf, then the key less the leaf's first, shifted up by
        :func:`spread_of`.
        """

    def collect(self) -> Batch:
        """Return all rows that belong to a group, in memory, with the columns that are not added up."""


def spread_of(leaves: Leaves) -> IntArray:
    """Bits by which positions in each leaf are shifted up, so that dropping low bits cuts all leaves alike."""
    width = leaves.last - leaves.first
    # The number of bits of a whole number is the exponent of the next power of two.
    bits = np.frexp(width.astype(np.float64))[1].astype(np.int64)
    return np.asarray(CELL_BITS - np.minimum(bits, CELL_BITS), dtype=np.int64)


def split_leaves(leaves: Leaves, found: Counted) -> Leaves:
    """Return the parts that :meth:`Tally.split` has cut leaves into."""
    within = CELL_BITS - found.shift
    leaf = found.keys >> within
    spread = spread_of(leaves)[leaf]
    position = (found.keys & ((1 << within) - 1)) << found.shift
    first = leaves.first[leaf] + (position >> spread)
    last = leaves.first[leaf] + ((position + ((1 << found.shift) - 1)) >> spread)
    return Leaves(first, np.minimum(last, leaves.last[leaf]), found.sums)


def check_same(before: FloatArray, after: FloatArray) -> None:
    """Refuse rows that are not the same in two passes over them."""
    if not np.allclose(totals_of(before), totals_of(after), rtol=1e-9, atol=0):
        raise InputError("the data changed between two passes over it. Read from a snapshot.")
