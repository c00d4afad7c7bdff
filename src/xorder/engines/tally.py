"""What the building of tables asks of an engine, and the checks of what comes back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from xorder._table import FloatArray, IntArray
from xorder.engines.bins import Bins, Leaves
from xorder.engines.coding import Coding
from xorder.engines.score_keys import CELL_BITS
from xorder.exceptions import InputError

SPLIT_SHIFTS = tuple(range(0, CELL_BITS + 1, 2))
"""Bits that may be dropped where leaves are split."""


@dataclass(frozen=True, slots=True)
class Named:
    """Names of the columns."""

    score: str
    label: str
    group: str
    weight: str | None = None


@dataclass(slots=True)
class Seen:
    """What a first look at all rows has found: how many, how many of them unusable, and the range of the rest."""

    rows: int = 0
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
            missing=self.missing + other.missing,
            infinite=self.infinite + other.infinite,
            bad_weights=self.bad_weights + other.bad_weights,
            low=min(self.low, other.low),
            high=max(self.high, other.high),
            largest_weight=max(self.largest_weight, other.largest_weight),
            whole_weights=self.whole_weights and other.whole_weights,
        )

    def check(self, names: Named, source: str, squares: bool) -> None:
        """Refuse rows that cannot be used, in the words of an audit of arrays; none is dropped."""
        if not self.rows:
            raise InputError(f"{source} has no rows; at least one is needed.")
        if self.missing or self.infinite:
            kinds = ((self.missing, "nothing or nan"), (self.infinite, "inf or -inf"))
            came = " and ".join(
                f"{count:,} {'row holds' if count == 1 else 'rows hold'} {what}" for count, what in kinds if count
            )
            raise InputError(f"column {names.score!r} must be finite; {came}. Remove these rows or score them.")
        if names.weight is None:
            return
        if self.bad_weights:
            raise InputError(
                f"column {names.weight!r} must be finite and not negative; {self.bad_weights:,} "
                f"{'row is' if self.bad_weights == 1 else 'rows are'} not. Correct or remove them."
            )
        if not self.largest_weight:
            raise InputError(f"column {names.weight!r} must be above 0 for some row; all weights are zero.")
        range_ = (1e-100, 1e100) if squares else (1e-150, 1e150)
        if not range_[0] < self.largest_weight < range_[1]:
            raise InputError(
                f"column {names.weight!r} is out of range: its largest value is {self.largest_weight:g}. "
                "Scale it towards 1."
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
        raise InputError("the rows changed while they were being read; read from a copy, or when they are at rest.")
