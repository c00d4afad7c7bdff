"""Score maps applied to rows where they are: frames come back with one more column, files are written again with it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from xorder._atomic import atomic_path, unchanged
from xorder._groups import Combinations, is_missing
from xorder._optional import import_optional
from xorder._progress import Progress
from xorder._table import MISSING, FloatArray, IntArray, Tables, in_threads
from xorder.engines import _cells as cells
from xorder.engines._apply_cut import SELECTED, CutMoves, CutOfRows, find_lines
from xorder.engines._apply_duckdb import map_files, map_relation
from xorder.engines._cells import ColumnNames, FileBatch, GroupNames, Kind, NewColumns, ReadingOptions, TextColumn
from xorder.engines._csv_file import blaming_gzip, is_gzip, write_csv
from xorder.engines._match_groups import (
    GroupMaps,
    GroupNumbers,
    UnusableRowError,
    check_frame_columns,
    not_finite,
    nothing_seen,
    refused_group,
    warn_of_other_scale,
)
from xorder.engines._parquet_file import write_parquet
from xorder.engines._sources import FileReading, check_kinds, file_kind, find_files, native_columns, not_a_frame
from xorder.exceptions import InputError

_PURPOSE = "Adjusting the scores of a frame"

# Rows adjusted at a time; parts run side by side.
_PART = 65_536

Numbers = NDArray[np.integer[Any]]


class Applied(NamedTuple):
    """Number of rows that a file was written with, and of those whose scores stay for want of a known group.

    Parameters
    ----------
    rows : int
        All rows.
    left_alone : int
        Rows whose group is missing or has no map, where these are not refused.
    moves : tuple of CutMoves
        With a cut, rows on each side of it by group, before and after.
    """

    rows: int
    left_alone: int
    moves: tuple[CutMoves, ...] = ()


def apply_to_frame(maps: GroupMaps, frame: Any, *, score: str, group: GroupNames, into: str = "adjusted") -> Any:
    """Add a column to a frame: the score of each row, through the map of its group.

    All engines give the numbers of :meth:`ScoreMap.apply`; only DuckDB compresses maps that have more than 50,000
    knots together first, which moves a score by at most 1e-9 of the score range.

    Parameters
    ----------
    maps : GroupMaps
        The maps, such as ``GroupMaps(XOrder.maps_)``. If some label is of the column's type, only such labels count: 1
        is not "1" then. Else groups are matched by how they are written, so that maps fitted elsewhere fit.
    frame : pandas.DataFrame, polars.DataFrame, polars.LazyFrame, pyarrow.Table, DuckDBPyRelation, \
            pyspark.sql.DataFrame, str or path
        The rows. What is lazy stays lazy, and no row is collected. The path or glob of parquet or csv files is read as
        a relation of DuckDB, in which cells of csv files are text.
    score : str
        The column of the score.
    group : str or list of str
        The column of the group; of several, each combination of values is a group, called ``Black & female``.
    into : str, default="adjusted"
        The name of the column to add.

    Returns
    -------
    same kind as ``frame``
        The frame with one more last column; others stay as they are.

    Raises
    ------
    InputError
        If a score is missing or not finite, or a group is one that ``maps`` refuses. Where the rows are not in memory,
        their engine raises an error of its own with the same words, once they are computed.

    Warns
    -----
    XorderWarning
        If many scores of a group are beyond those that its map was fitted to; of rows that are in memory only.
    """
    names = ColumnNames(score, group)
    if isinstance(frame, str | os.PathLike):
        return map_files(frame, maps, names, into)
    # By its names, so that no engine is imported to ask.
    kind = type(frame)
    if kind.__module__.startswith("pyspark"):
        from xorder.engines._apply_spark import map_spark

        return map_spark(frame, maps, names, into)
    if kind.__name__ == "DuckDBPyRelation":
        return map_relation(frame, maps, names, into)
    return _map_frame(frame, maps, names, into)


def apply_to_file(
    maps: GroupMaps,
    path: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    score: str,
    group: GroupNames,
    into: str = "adjusted",
    cut: Any = None,
    overwrite: bool = False,
    escape_formulas: bool = False,
    encoding: str = "utf-8",
    progress: Progress | None = None,
) -> Applied:
    """Write the rows of a file, or of all parquet files of a glob, to one file with one more column, or with three.

    Rows keep their order, and columns their names, order, values and types, of several files those of the first; of a
    csv file each byte stays. ``out`` appears when it is complete, and not at all if something goes wrong; it may be the
    file that is read, if ``overwrite`` allows it.

    Guarantee: memory does not grow with the file.

    Parameters
    ----------
    maps : GroupMaps
        The maps. Groups are matched as in :func:`apply_to_frame`; those of nothing but blanks are missing.
    path : str or path
        The csv or parquet file, or the glob of parquet files, to read.
    out : str or path
        The file to write, of the same format.
    score : str
        The column of the score.
    group : str or list of str
        The column of the group, or several, as in :func:`apply_to_frame`.
    into : str, default="adjusted"
        The name of the column to add.
    cut : float, int or Threshold, optional
        A cut of the list: a share (0.05), of which whole places count, a number of places (200), or a score. Two more
        columns, ``selected_before`` and ``selected_after``, then say of each row whether it is ``"in"``, at or above
        the cut, or ``"out"``, by its own score and by the adjusted one; all rows are in the list. Rows that are tied
        where places are too few for all of them are ``"tied"``. The file is read twice for that.
    overwrite : bool, default=False
        Whether a file that is there may be replaced.
    escape_formulas : bool, default=False
        Whether cells and names of columns of a csv file that a spreadsheet would take for formulas get an apostrophe
        before them; else they stay, and are warned of.
    encoding : str, default="utf-8"
        The encoding of a csv file.
    progress : callable, optional
        Called now and then with what is being done and the share that is done, or None.

    Returns
    -------
    Applied
        How many rows there are, and how many scores stay for want of a known group; with a cut, who enters and leaves.

    Raises
    ------
    InputError
        If a row cannot be adjusted; the first such row and their number are named. Also if there are fewer rows than
        the cut has places.
    """
    options = ReadingOptions(ColumnNames(score, group), encoding=encoding, progress=progress)
    chosen = None if cut is None else CutOfRows(cut, maps, into)
    files = find_files(path)
    kind = file_kind(files[0])
    if file_kind(os.fspath(out)) != kind:
        raise InputError(
            f"cannot write {os.fspath(out)}: the output keeps the format of {os.fspath(path)}; name a {kind} file."
        )
    if len(files) > 1 and kind == "csv":
        raise InputError(f"{os.fspath(path)} names {len(files):,} csv files; adjust them one at a time.")
    try:
        with atomic_path(out, overwrite=overwrite) as temporary, unchanged(files):
            sources, compress = [*map(Path, files)], is_gzip(Path(out))
            seen = _copy(*(maps, sources, temporary, options, into, chosen), compress=compress, escape=escape_formulas)
            if not seen.any():
                raise cells.no_rows(os.fspath(path))
    except UnusableRowError as error:
        # Only the whole file shows which row is the first, and how many there are.
        for file in files:
            _blame_rows(maps, file, options)
        raise InputError(str(error)) from error
    _warn_of_other_scales(maps, seen)
    return Applied(int(seen[0].sum()), int(seen[0, maps.stays]), () if chosen is None else chosen.moves)


def _warn_of_other_scales(maps: GroupMaps, seen: IntArray) -> None:
    for number, (group, score_map) in enumerate(maps.maps.items()):
        if score_map.raw.size:
            warn_of_other_scale(group, score_map, int(seen[1, number]), int(seen[0, number]))


def _copy(
    maps: GroupMaps,
    files: Sequence[Path],
    out: Path,
    options: ReadingOptions,
    into: str,
    chosen: CutOfRows | None,
    *,
    compress: bool,
    escape: bool,
) -> IntArray:
    """Write files again, batch by batch, with more last columns; return what :func:`adjusting` has counted."""
    names, known = options.names, _FileGroups(maps)
    adjust, seen, groups = adjusting(maps), nothing_seen(maps), TextColumn(names.groups)

    def compute(batch: FileBatch) -> Sequence[Any]:
        rows = groups.encode(batch)
        scores, numbers = cells.scores(batch, names.score), known.numbers(groups)[rows]
        adjusted = adjust(scores, numbers, seen)
        if chosen is None:
            return (adjusted,)
        if not chosen.lines:
            # Not earlier: by now the columns to add are known to have names of their own.
            find_lines(chosen, _before_and_after(maps, files, options), out.parent)
        return adjusted, *chosen.words(numbers, scores, adjusted)

    added = (into,) if chosen is None else (into, *SELECTED)
    columns = NewColumns(added, names.all, compute, partial(options.watch, "adjusting scores"))
    if file_kind(str(files[0])) == "parquet":
        write_parquet(files, out, columns)
    else:
        with blaming_gzip(files[0]):
            write_csv(files[0], out, columns, options.encoding, compress=compress, escape=escape)
    return seen


class _FileGroups:
    """Numbers of the maps of the texts of a group column, as it is read."""

    def __init__(self, maps: GroupMaps) -> None:
        self._known = GroupNumbers(maps)
        self._numbers: list[int] = []

    def numbers(self, groups: TextColumn) -> IntArray:
        """Return the number of each text that was read so far; one that is refused is for others to blame."""
        for text in islice(groups.codes, len(self._numbers), None):
            number = self._known.of_text(text, groups.kind)
            if number is None:
                raise UnusableRowError(f"group {text!r} cannot be adjusted.")
            self._numbers.append(number)
        return np.array(self._numbers, dtype=np.int64)


def _before_and_after(
    maps: GroupMaps, files: Sequence[Path], options: ReadingOptions
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yield the scores of all rows of files, and what they are adjusted to, some rows at a time."""
    adjust = adjusting(maps)
    for file in files:
        known, reading = _FileGroups(maps), FileReading(file, options, among=len(files) > 1)
        for scores, rows, *_ in reading.batches():
            yield scores, adjust(scores, known.numbers(reading.groups)[rows])


def _blame_rows(maps: GroupMaps, path: str, options: ReadingOptions) -> None:
    """Complain of the rows of a file that cannot be adjusted: the first, and how many there are."""
    names, reading = options.names, FileReading(path, replace(options, progress=None), among=True)
    for _ in reading.batches():
        pass
    found, known = reading.groups.distinct, GroupNumbers(maps)
    for text in found.values:
        is_blank = not text.strip()
        if known.of_text(text, reading.groups.kind) is None:
            alike = [other for other in found.values if not other.strip()] if is_blank else [text]
            shown = None if is_blank else repr(text) if reading.groups.kind == Kind.TEXT else text
            said = refused_group(maps, names, shown, found.rows_of(alike), found.first_of(alike))
            raise InputError(f"{path}: {said}")


def check_matched(
    maps: GroupMaps,
    tables: Tables,
    path: str | os.PathLike[str],
    *,
    score: str,
    group: GroupNames,
    encoding: str = "utf-8",
) -> None:
    """Complain, with the first row and their number, of groups of a file that have no map, where they are refused."""
    labels = {str(label) for label in maps.maps} | ({MISSING} if maps.of_missing is not None else set())
    if maps.of_unseen is None and not labels.issuperset(map(str, tables)):
        for file in find_files(path):
            _blame_rows(maps, file, ReadingOptions(ColumnNames(score, group), encoding=encoding))


def adjusting(maps: GroupMaps) -> Callable[..., FloatArray]:
    """Return the function of scores and numbers of groups; it needs nothing but NumPy wherever it runs.

    With ``seen`` it also counts, by number: all rows in the first line, those beyond the knots of their map in the
    second.
    """
    moves = {
        number: (score_map.as_function(), float(score_map.raw[0]), float(score_map.raw[-1]))
        for number, score_map in enumerate(maps.maps.values())
        if score_map.raw.size
    }

    def adjust(score: FloatArray, number: Numbers, seen: IntArray | None = None) -> FloatArray:
        adjusted = np.array(score, dtype=np.float64)
        if seen is not None:
            seen[0] += np.bincount(number, minlength=seen.shape[1])
        for wanted, (move, first, last) in moves.items():
            rows = np.flatnonzero(number == wanted)
            if rows.size:
                own = adjusted[rows]
                adjusted[rows] = move(own)
                # Most often none is beyond, which is quick to see.
                if seen is not None and (own.min() < first or own.max() > last):
                    seen[1, wanted] += np.count_nonzero((own < first) | (own > last))
        return adjusted

    return adjust


def _map_frame(frame: Any, maps: GroupMaps, names: ColumnNames, into: str) -> Any:
    """Add the column to a frame of pandas, polars or pyarrow."""
    import narwhals as nw

    check_frame_columns(native_columns(frame), names, into=into)
    is_pandas = hasattr(frame, "assign")
    try:
        rows = nw.from_native(frame[names.all] if is_pandas else frame.select(names.all))
    except (AttributeError, TypeError) as error:
        raise not_a_frame(frame) from error
    check_kinds(nw, names, rows, names.roles)
    adjust = _adjusting_frames(maps, names, all_here=isinstance(rows, nw.DataFrame))
    if is_pandas:
        return frame.assign(**{into: adjust(rows)})
    if rows.implementation.is_pyarrow():
        pa = import_optional("pyarrow", extra="parquet", purpose=_PURPOSE)
        return frame.append_column(into, pa.array(adjust(rows)))
    pl = import_optional("polars", extra="polars", purpose=_PURPOSE)
    if isinstance(rows, nw.DataFrame):
        return frame.with_columns(pl.Series(into, adjust(rows)))

    def adjusted(part: Any) -> Any:
        return pl.Series(into, adjust(nw.from_native(part.struct.unnest())))

    # Row by row, so that the engine may hand over some rows at a time.
    later = pl.struct(names.all).map_batches(adjusted, return_dtype=pl.Float64, is_elementwise=True)
    return frame.with_columns(later.alias(into))


def _adjusting_frames(maps: GroupMaps, names: ColumnNames, *, all_here: bool) -> Callable[[Any], FloatArray]:
    """Return the function that adjusts the rows of a frame of narwhals, part by part on all cores.

    Where all rows are here, complaints and warnings can be about all of them.
    """
    known, adjust, combinations = GroupNumbers(maps), adjusting(maps), Combinations(names.groups, called=cells.FRAME)

    def numbers_of(labels: Sequence[Any], codes: Numbers) -> Numbers:
        """Turn codes, which count through ``labels``, into numbers of maps; a code below 0 is a missing group."""
        used = np.bincount(codes + 1, minlength=len(labels) + 1) > 0
        # The last position is that of the code -1.
        of_codes = np.full(len(labels) + 1, -1, dtype=np.int64)
        # A type may list labels that no row has.
        for code in (np.flatnonzero(used) - 1).tolist():
            label = labels[code] if code >= 0 else None
            number = known.get(label)
            if number is None:
                its = np.flatnonzero(codes == code)
                where = (its.size, f"row {its[0]}") if all_here else (None, None)
                raise refused_group(maps, names, None if is_missing(label) else repr(label), *where)
            of_codes[code] = number
        return of_codes[codes]

    def adjust_frame(rows: Any) -> FloatArray:
        if not len(rows):
            return np.empty(0)
        try:
            scores = np.asarray(rows[names.score].to_numpy(), dtype=np.float64)
            groups = [_coded(rows[group]) for group in names.groups]
        except (TypeError, ValueError) as error:
            raise InputError(
                f"column {names.score!r} must hold numbers, and {names.group_called} plain labels ({error})."
            ) from error
        labels, codes = groups[0] if len(groups) == 1 else combinations.of_codes(groups)
        numbers = numbers_of(labels, codes)
        adjusted = np.empty(scores.size)

        def one(begin: int) -> IntArray:
            part = scores[begin : begin + _PART]
            finite = np.isfinite(part)
            if not finite.all():
                raise not_finite(names, str(part[int(np.argmin(finite))]))
            seen = nothing_seen(maps)
            adjusted[begin : begin + _PART] = adjust(part, numbers[begin : begin + _PART], seen)
            return seen

        parts = in_threads(scores.size, one, range(0, scores.size, _PART))
        if all_here:
            _warn_of_other_scales(maps, np.sum([nothing_seen(maps), *parts], axis=0))
        return adjusted

    return adjust_frame


def _coded(column: Any) -> tuple[list[Any], Numbers]:
    """Return the distinct values of a column of narwhals, and each row's index among them, below 0 if it is missing.

    Each library does that in a way of its own, which is twice as fast as what narwhals has for all of them.
    """
    import narwhals as nw

    native, is_categorical = column.to_native(), column.dtype in (nw.Categorical, nw.Enum)
    if column.implementation.is_pandas():
        codes, labels = native.factorize()
        return labels.tolist(), codes
    if column.implementation.is_pyarrow():
        encoded = native if is_categorical else native.dictionary_encode()
        encoded = encoded.unify_dictionaries().combine_chunks()
        indices = encoded.indices.cast("int64").fill_null(-1)
        return encoded.dictionary.to_pylist(), indices.to_numpy(zero_copy_only=False)
    pl = import_optional("polars", extra="polars", purpose=_PURPOSE)
    plain = native.cast(pl.String) if is_categorical else native
    labels = plain.unique()
    positions = pl.Series(range(len(labels)), dtype=pl.Int32)
    return labels.to_list(), plain.replace_strict(labels, positions, return_dtype=pl.Int32).to_numpy()
