"""Tables of rows that live elsewhere: built in their own engine, exact where scores are few, binned where not."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from xorder._progress import Progress
from xorder._table import FloatArray, ScoreTable
from xorder.engines.bins import Bins, Leaves
from xorder.engines.deviation import deviation, heavy_leaves
from xorder.engines.frame_rows import open_rows
from xorder.engines.score_keys import scores_of
from xorder.engines.tally import Named, Tally, check_same, split_leaves
from xorder.exceptions import InputError
from xorder.metrics.deviation import Deviation

BINS = 3 << 19
"""Bins by default: enough for a tolerance of 1e-6 wherever scores have a density."""

MISSING_GROUPS = ("error", "leave", "group")

# More sums by bin and code than this would not fit the memory that tables are built in.
_MOST_SUMS = 1 << 25
# A leaf is cut into as many parts at least, where all scores cannot be told apart.
_FEWEST_PARTS = 16
_MOST_SPLITS = 4
# A split that leaves more than this of the deviation is the last.
_WORTHWHILE = 0.9


@dataclass(frozen=True, slots=True, eq=False)
class FrameTables:
    """One table a group, in sorted order of the groups, and what binning can have moved.

    Attributes
    ----------
    tables : group -> ScoreTable
    squares : tables of the same scores with sums of squared weights, as :func:`xorder.metrics.audit_tables` takes them;
        None where they were not asked for
    deviation : how far each metric can be from that of the rows as they are; 0 where all scores are told apart
    rows, passes : how many rows there are, and how often they were added up
    whole_weights : whether all weights are whole numbers
    note : why the tolerance was not met, if so
    """

    tables: dict[Hashable, ScoreTable]
    squares: list[ScoreTable] | None
    deviation: Deviation
    rows: int
    passes: int
    whole_weights: bool
    note: str | None = None

    @property
    def is_exact(self) -> bool:
        """Whether binning can have moved nothing."""
        return self.deviation.largest == 0

    @property
    def spreads(self) -> dict[Hashable, ScoreTable] | None:
        """Tables of squared weights, group -> ScoreTable, where weights are no counts; counts need none."""
        if self.squares is None or self.whole_weights:
            return None
        return dict(zip(self.tables, self.squares, strict=True))


def tables_of_frame(
    frame: Any,
    *,
    score: str,
    label: str,
    group: str,
    weight: str | None = None,
    positive: Any = None,
    missing_group: str = "error",
    squares: bool = False,
    tolerance: float = 1e-6,
    bins: int = BINS,
    progress: Progress | None = None,
    memory: str = "2GB",
) -> FrameTables:
    """Build one table a group from rows in any engine; no more than sums over them is held.

    Parameters
    ----------
    frame : a frame of pandas, polars (eager or lazy), pyarrow or PySpark, a relation of DuckDB, or the path or glob of
        parquet or csv files. What is lazy stays lazy. Groups of csv files are text.
    score, label, group, weight : names of the columns. Labels are 0 and 1, false and true, or text of these.
    positive : the value of the label that counts as 1, all others being 0
    missing_group : ``"error"`` refuses rows without a group; otherwise they are the group ``"missing"``.
    squares : whether to add up squared weights too
    tolerance : largest deviation wanted, of AUC and of each gap
    bins : scores are told apart exactly if there are at most that many; otherwise they are put into about that many
        bins, of widths that suit their density. Where that moves a metric by more than the tolerance, the heaviest bins
        are split in further passes.
    progress : called with what is being done and, if that is known, the share that is done
    memory : how much DuckDB may use for files

    The tables are the same for the same rows, whatever engine holds them.
    """
    names = Named(score, label, group, weight)
    _check_options(names, missing_group, tolerance, bins)
    squares = squares and weight is not None
    options = {"positive": positive, "missing_group": missing_group, "memory": memory}
    with open_rows(frame, names, squares=squares, progress=progress, **options) as (rows, source):
        seen, found = rows.survey(bins)
        seen.check(names, source, squares)
        passes, note = 1, None
        if found.shift == 0:
            leaves = Leaves.of_sums(found.keys, found.keys, found.sums)
        else:
            cells = Bins.for_masses(found.keys, found.sums[0], min(bins, _MOST_SUMS // rows.coding.size))
            leaves = cells.leaves(rows.fill(cells))
            check_same(found.sums[0], leaves.masses)
            leaves, splits, note = _refined(rows, leaves, tolerance, bins)
            passes += 1 + splits
        groups = rows.coding.groups
    # The middle of a bin; of the outermost, no score beyond those there are: probabilities stay such.
    middle = scores_of(leaves.first + (leaves.last - leaves.first) // 2)
    representative = np.clip(middle, seen.low, seen.high) + 0.0
    return FrameTables(
        tables=dict(zip(groups, _tables(representative, leaves.masses, leaves.masses), strict=True)),
        squares=None if leaves.squares is None else _tables(representative, leaves.squares, leaves.masses),
        deviation=deviation(groups, leaves),
        rows=seen.rows,
        passes=passes,
        whole_weights=seen.whole_weights,
        note=note,
    )


def _refined(rows: Tally, leaves: Leaves, tolerance: float, bins: int) -> tuple[Leaves, int, str | None]:
    """Split the heaviest leaves until the tolerance is met; say why where it cannot be."""
    groups = rows.coding.groups
    reached, before = deviation(groups, leaves).largest, np.inf
    splits = 0
    while reached > tolerance and splits < _MOST_SPLITS and reached <= _WORTHWHILE * before:
        chosen = np.zeros(len(leaves), dtype=bool)
        chosen[heavy_leaves(groups, leaves, tolerance=tolerance, most=max(1, bins // _FEWEST_PARTS))] = True
        heavy = leaves[chosen]
        parts = split_leaves(heavy, rows.split(heavy, bins))
        check_same(heavy.masses, parts.masses)
        leaves = leaves[~chosen] + parts
        reached, before = deviation(groups, leaves).largest, reached
        splits += 1
    if reached <= tolerance:
        return leaves, splits, None
    why = (
        f"binning can have moved AUC or a gap by {reached:.2g}, more than the tolerance {tolerance:g}, also after the "
        f"heaviest bins were split {splits} {'time' if splits == 1 else 'times'}; allow more than {bins:,} with bins=."
    )
    return leaves, splits, why


def _tables(score: FloatArray, masses: FloatArray, present: FloatArray) -> list[ScoreTable]:
    """One table a group, highest score first, of the leaves in which it is present."""
    tables = []
    for column in range(0, masses.shape[1], 2):
        kept = np.flatnonzero(present[:, column] + present[:, column + 1])[::-1]
        tables.append(ScoreTable(score[kept], masses[kept, column + 1], masses[kept, column]))
    return tables


def _check_options(names: Named, missing_group: str, tolerance: float, bins: int) -> None:
    for role, name in (("score", names.score), ("label", names.label), ("group", names.group)):
        if not isinstance(name, str):
            raise InputError(f"{role} must be the name of a column; got {name!r}.")
    if not (names.weight is None or isinstance(names.weight, str)):
        raise InputError(f"weight must be the name of a column; got {names.weight!r}.")
    if missing_group not in MISSING_GROUPS:
        raise InputError(f"missing_group must be one of {', '.join(MISSING_GROUPS)}; got {missing_group!r}.")
    if not (isinstance(tolerance, int | float | np.number) and tolerance >= 0):
        raise InputError(f"tolerance must be a number from 0 up; got {tolerance!r}.")
    if not (isinstance(bins, int | np.integer) and bins >= 1):
        raise InputError(f"bins must be a whole number from 1 up; got {bins!r}.")
