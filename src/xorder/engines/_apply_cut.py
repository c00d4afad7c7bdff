"""A cut of the list before and after maps: the score it falls on, exactly, and of each row on which side it is.

All rows are in the list, also those whose score stays. Of rows that are tied at the score the cut falls on, where
places are too few for all of them, none is preferred: they are called tied.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from xorder._table import FloatArray, IntArray
from xorder.engines._match_groups import GroupMaps
from xorder.engines._tally_numpy import keys_of, scores_of
from xorder.exceptions import InputError

# Names of the columns that say on which side of the cut a row is.
SELECTED = ("selected_before", "selected_after")

SIDES = ("out", "tied", "in")

_WORDS = np.array(SIDES, dtype=object)


class CutMoves(NamedTuple):
    """Number of rows of one group on each side of a cut, before and after the maps.

    Parameters
    ----------
    group : group label or None
        The group; None for all rows whose group is missing or has no map, which keep their scores.
    rows : int
        All rows.
    in_before, tied_before, in_after, tied_after : int
        Rows above the cut, and rows tied at it where places are too few for all of them.
    enters, leaves, stays_in : int
        Rows that are out before and in after, in before and out after, and in both times.
    """

    group: Hashable | None
    rows: int
    in_before: int
    tied_before: int
    in_after: int
    tied_after: int
    enters: int
    leaves: int
    stays_in: int


class Line(NamedTuple):
    """The score that a cut falls on, and whether more rows have it than there are places left."""

    score: float
    is_tied: bool

    def sides(self, scores: FloatArray) -> IntArray:
        """Return the side of each row, as its index in ``SIDES``."""
        at = SIDES.index("tied" if self.is_tied else "in")
        return np.where(scores > self.score, SIDES.index("in"), np.where(scores == self.score, at, 0))


class CutOfRows:
    """A cut, where it falls before and after the maps once that is known, and rows counted by group and both sides."""

    def __init__(self, cut: Any, maps: GroupMaps, into: str) -> None:
        if into in SELECTED:
            raise InputError(f"into must not be {into!r}, which is a column that cut= adds; choose another name.")
        # Whether there are so many places is seen once the rows are counted.
        from xorder.metrics._cuts import Threshold, check_cut  # Who cuts no list needs none of it.

        self._cut = cut if isinstance(cut, int | np.integer) else check_cut(cut, 0)
        self.lines: tuple[Line, ...] = (Line(cut.score, False),) * 2 if isinstance(cut, Threshold) else ()
        self._groups = [*maps.maps, None]
        self.counts = np.zeros((len(self._groups), len(SIDES), len(SIDES)), dtype=np.int64)

    def places(self, rows: int) -> int:
        """Return the number of places above the cut, of a share whole ones; refuse a cut that has none or too many."""
        from xorder.metrics._cuts import check_cut, cut_text

        cut = cast("float | int", check_cut(self._cut, rows))
        # A product may be a little below the number that is meant, as that of 0.29 and 100 is.
        found = cut if isinstance(cut, int) else math.floor(cut * rows * (1 + 1e-12))
        if not found:
            raise InputError(
                f"{cut_text(cut)} of {rows:,} rows is less than one place; name a larger share, or a number of places."
            )
        return found

    def words(self, numbers: NDArray[np.integer[Any]], before: FloatArray, after: FloatArray) -> list[list[str]]:
        """Count some rows by the number of their group; return in words on which side they are, before and after."""
        first, second = (line.sides(scores) for line, scores in zip(self.lines, (before, after), strict=True))
        cells = np.ravel_multi_index((numbers, first, second), self.counts.shape)
        self.counts += np.bincount(cells, minlength=self.counts.size).reshape(self.counts.shape)
        return [_WORDS[sides].tolist() for sides in (first, second)]

    @property
    def moves(self) -> tuple[CutMoves, ...]:
        """What was counted, of groups that have rows."""
        out, tied, inside = range(len(SIDES))
        return tuple(
            CutMoves(
                group,
                int(own.sum()),
                *(int(own[side].sum()) for side in (inside, tied)),
                *(int(own[:, side].sum()) for side in (inside, tied)),
                *(int(own[cell]) for cell in ((out, inside), (inside, out), (inside, inside))),
            )
            for group, own in zip(self._groups, self.counts, strict=True)
            if own.any()
        )


# Bytes of scores that are held in memory; numbers read back at a time.
_HELD = 1 << 25
_PART = 1 << 20

# Bits of one of the four digits that the key of a score is looked for by.
_DIGIT = 16


class Spool(SpooledTemporaryFile[bytes]):
    """Numbers that are written once and read several times: in memory while they are few, beyond that on disk."""

    def __init__(self, folder: Path) -> None:
        super().__init__(max_size=_HELD, dir=str(folder))
        self.size = 0

    def add(self, numbers: FloatArray) -> None:
        """Add some numbers, none of them NaN."""
        self.write(numbers.tobytes())
        self.size += numbers.size

    def _parts(self) -> Iterator[IntArray]:
        """Yield whole numbers that sort as the numbers that they stand for."""
        self.seek(0)
        while held := self.read(8 * _PART):
            yield keys_of(np.frombuffer(held))

    def line(self, places: int) -> Line:
        """Return where the cut below so many places falls.

        Guarantee: exact, in four passes over the numbers, one for each digit of the key of the one that is looked for;
        memory does not grow with them.
        """
        # The first digit has a sign.
        reached, found, base = 0, 0, -(1 << (_DIGIT - 1))
        for shift in reversed(range(0, 64, _DIGIT)):
            counts = np.zeros(1 << _DIGIT, dtype=np.int64)
            for keys in self._parts():
                alike = keys if shift + _DIGIT == 64 else keys[keys >> (shift + _DIGIT) == found]
                counts += np.bincount((alike >> shift) - base, minlength=counts.size)
            from_top = reached + np.cumsum(counts[::-1])
            steps = int(np.searchsorted(from_top, places))
            digit = counts.size - 1 - steps
            reached = int(from_top[steps] - counts[digit])
            found = base + digit
            base = found << _DIGIT
        return Line(float(scores_of(np.array([found]))[0]), reached + int(counts[digit]) > places)


def find_lines(chosen: CutOfRows, parts: Iterator[tuple[FloatArray, FloatArray]], folder: Path) -> None:
    """Find where a cut falls, from the scores of all rows before and after the maps, some rows at a time.

    What does not fit into little memory is held in ``folder``.
    """
    with ExitStack() as stack:
        spools = [stack.enter_context(Spool(folder)) for _ in SELECTED]
        for part in parts:
            for spool, scores in zip(spools, part, strict=True):
                spool.add(scores)
        places = chosen.places(spools[0].size)
        chosen.lines = tuple(spool.line(places) for spool in spools)
