"""Score maps applied to rows where they are: frames come back with one more column, files are written again with it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from xorder._atomic import atomic_path
from xorder._groups import Combinations, missing_error, unseen_error
from xorder._optional import import_optional
from xorder._progress import Progress
from xorder._table import MISSING, FloatArray, IntArray, Tables, in_threads
from xorder.engines import _cells as cells
from xorder.engines._cells import (
    FRAME,
    TEXT,
    ColumnNames,
    FileBatch,
    GroupNames,
    TextColumn,
    no_labels,
    no_numbers,
    no_rows,
)
from xorder.engines._csv_file import blaming_gzip, is_gzip, write_csv
from xorder.engines._match_groups import (
    PLACE,
    Complaints,
    GroupMaps,
    GroupNumbers,
    check_frame_columns,
    warn_of_other_scale,
)
from xorder.engines._parquet_file import write_parquet
from xorder.engines._sources import (
    LARGE,
    blaming_files,
    existing_file,
    file_kind,
    files_of,
    find_files,
    in_engine,
    reader_of,
)
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
    """

    rows: int
    left_alone: int


def apply_to_frame(maps: GroupMaps, frame: Any, *, score: str, group: GroupNames, into: str = "adjusted") -> Any:
    """Add a column to a frame: the score of each row, through the map of its group.

    All engines give the numbers of :meth:`ScoreMap.apply`; only DuckDB compresses maps of more than 50,000 knots first,
    which moves a score by at most 1e-9 of the score range.

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
        return _map_files(frame, maps, names, into)
    return _engine(frame)(frame, maps, names, into)


def apply_to_file(
    maps: GroupMaps,
    path: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    score: str,
    group: GroupNames,
    into: str = "adjusted",
    overwrite: bool = False,
    encoding: str = "utf-8",
    memory: str = "2GB",
    progress: Progress | None = None,
    large: int = LARGE,
) -> Applied:
    """Write the rows of a file, or of all parquet files of a glob, to one file with one more column.

    Rows keep their order, and columns their names, order, values and types; of a csv file each byte stays. Many parquet
    files, or a large one whose types DuckDB keeps, go through DuckDB, which is faster. ``out`` appears when it is
    complete, and not at all if something goes wrong; it may be the file that is read, if ``overwrite`` allows it.

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
    overwrite : bool, default=False
        Whether a file that is there may be replaced.
    encoding : str, default="utf-8"
        The encoding of a csv file.
    memory : str, default="2GB"
        How much memory DuckDB may use.
    progress : callable, optional
        Called now and then with what is being done and the share that is done, or None.
    large : int, default=67108864
        Bytes, unpacked, from which on a single parquet file goes through DuckDB.

    Returns
    -------
    Applied
        How many rows there are, and how many scores stay for want of a known group.

    Raises
    ------
    InputError
        If a row cannot be adjusted; the first such row and their number are named.
    """
    names = ColumnNames(score, group)
    files = find_files(path)
    kind = file_kind(files[0])
    if file_kind(os.fspath(out)) != kind:
        raise InputError(
            f"cannot write {os.fspath(out)}: the output keeps the format of {os.fspath(path)}; name a {kind} file."
        )
    if len(files) > 1 and kind == "csv":
        raise InputError(f"{os.fspath(path)} names {len(files):,} csv files; adjust them one at a time.")
    try:
        if kind == "parquet" and in_engine(files, large):
            from xorder.engines._apply_parquet import copy_with_column, keeps_types

            if len(files) > 1 or keeps_types(files[0], names.groups):
                settings: dict[str, Any] = {"overwrite": overwrite, "memory": memory, "progress": progress}
                rows, seen = copy_with_column(path, out, maps, names, into, **settings)
                _warn_of_other_scales(maps, seen)
                return Applied(rows, int(seen[0, maps.stays]))
        return _write_again(maps, files[0], out, names, into, overwrite, encoding, progress)
    except UnusableRowError as error:
        # The whole file tells which row is the first, and how many there are.
        for file in files:
            _blame_rows(maps, file, names, encoding)
        raise InputError(str(error)) from error


def _nothing_seen(maps: GroupMaps) -> IntArray:
    return np.zeros((2, maps.stays + 1), dtype=np.int64)


def _warn_of_other_scales(maps: GroupMaps, seen: IntArray) -> None:
    for number, (group, learnt) in enumerate(maps.maps.items()):
        if learnt.raw.size:
            warn_of_other_scale(group, learnt, int(seen[1, number]), int(seen[0, number]))


class UnusableRowError(InputError):
    """A row that cannot be adjusted, without its place and its number of fellows."""


def _write_again(
    maps: GroupMaps,
    path: str,
    out: str | os.PathLike[str],
    names: ColumnNames,
    into: str,
    overwrite: bool,
    encoding: str,
    progress: Progress | None,
) -> Applied:
    """Write a file again, batch by batch, with one more last column."""
    source, target = existing_file(path), Path(out)
    known = GroupNumbers(maps, Complaints(maps, names))
    adjust, seen, groups = adjusting(maps), _nothing_seen(maps), TextColumn(names.groups)
    numbers: list[int] = []

    def compute(batch: FileBatch) -> FloatArray:
        rows = groups.encode(batch)
        for text in islice(groups.codes, len(numbers), None):
            number = known.of_text(text, groups.kind)
            if number is None:
                raise UnusableRowError(f"{source}: group {text!r} cannot be adjusted.")
            numbers.append(number)
        return adjust(cells.scores(batch, names.score), np.array(numbers, dtype=np.int64)[rows], seen)

    def watch(share: float) -> None:
        if progress is not None:
            progress("adjusting scores", share)

    with atomic_path(target, overwrite=overwrite) as temporary, blaming_gzip(source):
        if file_kind(str(source)) == "parquet":
            rows = write_parquet(source, temporary, wanted=names.all, into=into, compute=compute, watch=watch)
        else:
            rows = write_csv(
                source,
                temporary,
                compress=is_gzip(target),
                wanted=names.all,
                into=into,
                encoding=encoding,
                compute=compute,
                watch=watch,
            )
        if not rows:
            raise no_rows(str(source))
    _warn_of_other_scales(maps, seen)
    return Applied(rows, int(seen[0, maps.stays]))


def _blame_rows(maps: GroupMaps, path: str, names: ColumnNames, encoding: str) -> None:
    """Complain of the rows of a file that cannot be adjusted: the first, and how many there are."""
    from xorder.engines._sources import FileReading

    reading = FileReading(path, names, encoding=encoding, among=True)
    for _ in reading.batches():
        pass
    found, known = reading.groups.distinct, GroupNumbers(maps, Complaints(maps, names))
    for text in found.values:
        is_blank = not text.strip()
        if known.of_text(text, reading.groups.kind) is None:
            alike = [other for other in found.values if not other.strip()] if is_blank else [text]
            rows, first = found.rows_of(alike), found.first_of(alike)
            if is_blank and maps.missing_group == "error":
                raise missing_error(f"{path}: {names.group_called}", rows, first)
            shown = repr(MISSING) if is_blank else repr(text) if reading.groups.kind == TEXT else text
            raise InputError(f"{path}: {unseen_error(shown, maps.maps, rows, first)}")


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
        for file in files_of(path):
            _blame_rows(maps, file, ColumnNames(score, group), encoding)


def _map_files(path: str | os.PathLike[str], maps: GroupMaps, names: ColumnNames, into: str) -> Any:
    """Read files as a relation of DuckDB, which stays as lazy as they are large."""
    duckdb = import_optional("duckdb", extra="duckdb", purpose=_PURPOSE)
    from xorder.engines._apply_duckdb import map_relation

    files = find_files(path)
    with blaming_files(path):
        relation = duckdb.connect().sql(f"SELECT * FROM {reader_of(files)}")
        is_text = file_kind(files[0]) == "csv"
        return map_relation(relation, maps, names, into, blanks=True, scores_in_text=is_text)


def adjusting(maps: GroupMaps) -> Callable[..., FloatArray]:
    """Return the function of scores and numbers of groups; it needs nothing but NumPy wherever it runs.

    Where it is given sums to add to, by number, it counts the rows of maps that move scores, and of those whose score
    stays for want of a group; and, below, rows beyond the knots of their map.
    """
    moves = {
        number: (learnt.as_function(), float(learnt.raw[0]), float(learnt.raw[-1]))
        for number, learnt in enumerate(maps.maps.values())
        if learnt.raw.size
    }
    stays = maps.stays

    def adjust(score: FloatArray, number: Numbers, seen: IntArray | None = None) -> FloatArray:
        adjusted = np.array(score, dtype=np.float64)
        for wanted, (move, first, last) in moves.items():
            rows = np.flatnonzero(number == wanted)
            if rows.size:
                own = adjusted[rows]
                adjusted[rows] = move(own)
                if seen is not None:
                    seen[0, wanted] += rows.size
                    # Most often none is, which is quick to see.
                    if own.min() < first or own.max() > last:
                        seen[1, wanted] += np.count_nonzero((own < first) | (own > last))
        if seen is not None:
            seen[0, stays] += np.count_nonzero(number == stays)
        return adjusted

    return adjust


def _engine(frame: Any) -> Callable[..., Any]:
    """Find out what holds the rows by the names of its types, so that no engine is imported to ask."""
    for kind in type(frame).__mro__:
        package, name = kind.__module__.partition(".")[0].lstrip("_"), kind.__name__
        if (package, name) in _ENGINES:
            return _ENGINES[package, name]
        if package == "pyspark" and name == "DataFrame":
            from xorder.engines._apply_spark import map_spark

            return map_spark
        if package == "duckdb" and name == "DuckDBPyRelation":
            from xorder.engines._apply_duckdb import map_relation

            return map_relation
    raise InputError(
        "frame must be a frame of pandas, polars (eager or lazy), pyarrow or PySpark, or a relation of DuckDB; "
        f"got {type(frame).__name__}."
    )


def _map_pandas(frame: Any, maps: GroupMaps, names: ColumnNames, into: str) -> Any:
    pd = import_optional("pandas", extra="data", purpose=_PURPOSE)

    score = names.score
    check_frame_columns(list(frame.columns), names, into=into)
    if not (pd.api.types.is_numeric_dtype(frame[score].dtype) or frame[score].dtype == object):
        raise no_numbers(score, f"their type is {frame[score].dtype}")
    try:
        scores = frame[score].to_numpy(dtype=np.float64, na_value=np.nan)
        groups = [pd.factorize(frame[group]) for group in names.groups]
    except (TypeError, ValueError) as error:
        raise InputError(
            f"column {score!r} must hold numbers, and {names.group_called} plain labels ({error})."
        ) from error
    adjusted = _Frame(maps, names).adjusted(scores, [(labels.tolist(), codes) for codes, labels in groups])
    return frame.assign(**{into: adjusted})


def _map_arrow(table: Any, maps: GroupMaps, names: ColumnNames, into: str) -> Any:
    pa = import_optional("pyarrow", extra="parquet", purpose=_PURPOSE)

    check_frame_columns(table.schema.names, names, into=into)
    scores = table.column(names.score)
    if pa.types.is_dictionary(scores.type):
        scores = scores.cast(scores.type.value_type)
    kind = scores.type
    allowed = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_boolean, pa.types.is_null)
    if not any(is_allowed(kind) for is_allowed in allowed):
        raise no_numbers(names.score, f"their type is {kind}")
    if pa.types.is_boolean(kind):
        scores = scores.cast(pa.int8())
    # Not safe: numbers above 2**53 are rounded, as everywhere.
    scores = scores.cast(pa.float64(), safe=False)

    def coded(group: str) -> tuple[list[Any], Numbers]:
        groups = table.column(group)
        if pa.types.is_nested(groups.type):
            raise no_labels(group, f"its type is {groups.type}")
        encoded = pa.chunked_array([groups] if isinstance(groups, pa.Array) else groups.chunks, type=groups.type)
        if not pa.types.is_dictionary(groups.type):
            encoded = encoded.dictionary_encode()
        encoded = encoded.unify_dictionaries().combine_chunks()
        codes = encoded.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
        return encoded.dictionary.to_pylist(), codes

    flat = scores.to_numpy(zero_copy_only=False) if isinstance(scores, pa.Array) else scores.to_numpy()
    adjusted = _Frame(maps, names).adjusted(flat, list(map(coded, names.groups)))
    return table.append_column(pa.field(into, pa.float64()), pa.array(adjusted))


def _map_polars(frame: Any, maps: GroupMaps, names: ColumnNames, into: str) -> Any:
    pl = import_optional("polars", extra="polars", purpose=_PURPOSE)

    schema = frame.collect_schema()
    check_frame_columns(schema.names(), names, into=into)
    if not (schema[names.score].is_numeric() or schema[names.score] in (pl.Boolean, pl.Null)):
        raise no_numbers(names.score, f"their type is {schema[names.score]}")
    nested = next((group for group in names.groups if schema[group].is_nested()), None)
    if nested is not None:
        raise no_labels(nested, f"its type is {schema[nested]}")
    own, is_eager = _Frame(maps, names), isinstance(frame, pl.DataFrame)

    def coded(groups: Any) -> tuple[list[Any], Numbers]:
        labels = groups.unique()
        places = pl.Series(range(len(labels)), dtype=pl.Int32)
        return labels.to_list(), groups.replace_strict(labels, places, return_dtype=pl.Int32).to_numpy()

    def adjusted(rows: Any) -> Any:
        if not len(rows):
            return pl.Series(into, [], dtype=pl.Float64)
        score, *groups = (rows.struct.field(field.name) for field in rows.dtype.fields)
        values = own.adjusted(score.to_numpy(), list(map(coded, groups)), all_here=is_eager)
        return pl.Series(into, values, dtype=pl.Float64)

    columns = {group: pl.col(group) for group in names.groups}
    columns |= {group: pl.col(group).cast(pl.String) for group in columns if schema[group] in (pl.Categorical, pl.Enum)}
    rows = pl.struct(pl.col(names.score).cast(pl.Float64), *columns.values())
    if is_eager:
        return frame.with_columns(adjusted(frame.select(rows.alias(into)).get_column(into)))
    # Row by row, so that the engine may hand over some rows at a time.
    return frame.with_columns(rows.map_batches(adjusted, return_dtype=pl.Float64, is_elementwise=True).alias(into))


def _numbers(known: GroupNumbers, labels: Sequence[Any], codes: Numbers, called: str | None) -> Numbers:
    """Turn codes, which count through ``labels``, into numbers of maps; a code below 0 is a missing group.

    Where all rows are here, ``called`` is the name of their column, and a complaint says which rows it is about.
    """
    used = np.bincount(codes + 1, minlength=len(labels) + 1) > 0
    # The last place is that of the code -1.
    table = np.full(len(labels) + 1, -1, dtype=np.int64)
    # A type may list labels that no row has.
    for place in (np.flatnonzero(used) - 1).tolist():
        label = labels[place] if place >= 0 else None
        number = known.get(label)
        if number is None:
            rows = np.flatnonzero(codes == place)
            raise known.complaint(label, called, rows.size, f"row {rows[0]}")
        table[place] = number
    return np.asarray(table[codes])


class _Frame:
    """What adjusts the rows of a frame, some or all at a time."""

    def __init__(self, maps: GroupMaps, names: ColumnNames) -> None:
        self._maps, self._names = maps, names
        self._complaints, self._adjust = Complaints(maps, names), adjusting(maps)
        self._known, self._combinations = GroupNumbers(maps, self._complaints), Combinations(names.groups, called=FRAME)

    def adjusted(
        self, scores: FloatArray, groups: Sequence[tuple[Sequence[Any], Numbers]], *, all_here: bool = True
    ) -> FloatArray:
        """Adjust scores part by part on all cores; a column of the group comes as its distinct values and their codes.

        Where all rows are here, complaints and warnings can be about all of them.
        """
        adjusted = np.empty(scores.size)
        labels, codes = groups[0] if len(groups) == 1 else self._combinations.of_codes(groups)
        numbers = _numbers(self._known, labels, codes, self._names.group_called if all_here else None)

        def one(begin: int) -> IntArray:
            part = scores[begin : begin + _PART]
            finite = np.isfinite(part)
            if not finite.all():
                raise InputError(self._complaints.score.replace(PLACE, str(part[int(np.argmin(finite))])))
            seen = _nothing_seen(self._maps)
            adjusted[begin : begin + _PART] = self._adjust(part, numbers[begin : begin + _PART], seen)
            return seen

        parts = in_threads(scores.size, one, range(0, scores.size, _PART))
        if all_here:
            _warn_of_other_scales(self._maps, np.sum([_nothing_seen(self._maps), *parts], axis=0))
        return adjusted


_ENGINES: dict[tuple[str, str], Callable[..., Any]] = {
    ("pandas", "DataFrame"): _map_pandas,
    ("polars", "DataFrame"): _map_polars,
    ("polars", "LazyFrame"): _map_polars,
    ("pyarrow", "Table"): _map_arrow,
    ("pyarrow", "RecordBatch"): _map_arrow,
}
