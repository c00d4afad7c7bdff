"""Bins: where the keys of scores are cut, and the leaves that come of it, each of them one score of a table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from xorder._table import FloatArray, IntArray
from xorder.engines.score_keys import CELL_BITS, CELLS, FIRST_CELL

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
