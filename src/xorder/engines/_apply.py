"""Score maps applied to rows where they are: frames come back with one more column, files are written again with it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xorder._atomic import atomic_path
from xorder._groups import missing_error
from xorder._optional import import_optional
from xorder._progress import Progress
from xorder._table import MISSING, FloatArray, Tables, in_threads
from xorder.engines import _cells as cells
from xorder.engines._cells import Codes, ColumnNames, FileBatch, no_labels, no_numbers, no_rows
from xorder.engines._csv_file import blaming_gzip, is_gzip, write_csv
from xorder.engines._files import (
    LARGE,
    blaming_files,
    existing_file,
    file_kind,
    files_of,
    find_files,
    in_engine,
    reader_of,
)
from xorder.engines._match_groups import (
    PLACE,
    TEXT,
    Complaints,
    GroupMaps,
    GroupNumbers,
    check_frame_columns,
    warn_of_other_scale,
)
from xorder.engines._parquet_file import write_parquet
from xorder.exceptions import InputError

_PURPOSE = "Adjusting the scores of a frame"

# Rows adjusted at a time; parts run side by side.
_PART = 65_536

Numbers = NDArray[np.integer[Any]]
Adjust = Callable[[FloatArray, Numbers], FloatArray]


def apply_to_frame(maps: GroupMaps, frame: Any, *, score: str, group: str, into: str = "adjusted") -> Any:
    """Return the frame with one more last column: each row's score, through the map of its group.

    Parameters
    ----------
    maps : the maps, such as those of ``XOrder.maps_``. If some label is of the column's type, only such labels count: 1
        is not "1" then. Else groups are matched by how they are written, so that maps learnt elsewhere fit.
    frame : a frame of pandas, polars (eager or lazy), pyarrow or PySpark, or a relation of DuckDB. It comes back as the
        same kind; what is lazy stays lazy, and no row is collected. Other columns stay as they are. The path or glob of
        parquet or csv files comes back as a relation of DuckDB; cells of csv files stay text.
    score, group, into : names of the columns to read and of the one to add

    Scores that are missing or not finite, and groups that ``maps`` refuses, are refused: at once where the rows are in
    memory, else when they are computed, by an error of their engine with the same words.

    All engines give the numbers of :meth:`ScoreMap.apply`; only DuckDB compresses maps of more than 50,000 knots first,
    which moves a score by at most 1e-9 of the score range.
    """
    if isinstance(frame, str | os.PathLike):
        return _map_files(frame, maps, score=score, group=group, into=into)
    return _engine(frame)(frame, maps, score=score, group=group, into=into)


def apply_to_file(
    maps: GroupMaps,
    path: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    score: str,
    group: str,
    into: str = "adjusted",
    overwrite: bool = False,
    encoding: str = "utf-8",
    memory: str = "2GB",
    progress: Progress | None = None,
    large: int = LARGE,
) -> int:
    """Write the rows of a file, or of all parquet files of a glob, to one file with one more column; return how many.

    Rows keep their order, and columns their names, order, values and types; of a csv file each byte stays. Memory does
    not grow with the file. Many parquet files, or one of at least ``large`` bytes whose types DuckDB keeps, go through
    DuckDB, which is faster. ``out`` appears when it is complete, and not at all if something goes wrong; it may be the
    file that is read, if ``overwrite`` allows it.

    Groups are matched as in :func:`apply_to_frame`; those of nothing but blanks are missing. ``progress`` is called now
    and then with what is being done and the share that is done, or None.
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

            if len(files) > 1 or keeps_types(files[0], group):
                settings: dict[str, Any] = {"overwrite": overwrite, "memory": memory, "progress": progress}
                return copy_with_column(path, out, maps, score=score, group=group, into=into, **settings)
        return _write_again(maps, files[0], out, names, into, overwrite, encoding, progress)
    except UnusableRowError as error:
        # The whole file tells which row is the first, and how many there are.
        for file in files:
            _blame_rows(maps, file, names, encoding)
        raise InputError(str(error)) from error


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
) -> int:
    """Write a file again, batch by batch, with one more last column."""
    source, target = existing_file(path), Path(out)
    known = GroupNumbers(maps, Complaints(maps, score=names.score, group=names.group))
    adjust, numbers = adjusting(maps), {}
    moved = {number: learnt for number, learnt in enumerate(maps.maps.values()) if learnt.raw.size}
    # Rows of each group that moves, and how many of them have scores beyond those learnt from.
    seen = {number: np.zeros(2, dtype=np.int64) for number in moved}

    def compute(batch: FileBatch) -> FloatArray:
        codes = Codes()
        rows = batch.encode(names.group, codes)
        for text in codes:
            if text not in numbers:
                number = known.of_text(text, batch.kind(names.group))
                if number is None:
                    raise UnusableRowError(f"{source}: group {text!r} cannot be adjusted.")
                numbers[text] = number
        scores = cells.scores(batch, names.score)
        of_rows = np.array([numbers[text] for text in codes], dtype=np.int64)[rows]
        for number, learnt in moved.items():
            own = scores[of_rows == number]
            seen[number] += own.size, learnt.outside(own)
        return adjust(scores, of_rows)

    def watch(share: float) -> None:
        if progress is not None:
            progress("adjusting scores", share)

    wanted = [names.score, names.group]
    with atomic_path(target, overwrite=overwrite) as temporary, blaming_gzip(source):
        if file_kind(str(source)) == "parquet":
            rows = write_parquet(source, temporary, wanted=wanted, into=into, compute=compute, watch=watch)
        else:
            rows = write_csv(
                source,
                temporary,
                compress=is_gzip(target),
                wanted=wanted,
                into=into,
                encoding=encoding,
                compute=compute,
                watch=watch,
            )
        if not rows:
            raise no_rows(str(source))
    for number, (all_rows, outside) in seen.items():
        warn_of_other_scale(list(maps.maps)[number], moved[number], int(outside), int(all_rows))
    return rows


def _blame_rows(maps: GroupMaps, path: str, names: ColumnNames, encoding: str) -> None:
    """Complain of the rows of a file that cannot be adjusted: the first, and how many there are."""
    from xorder.engines._sources import FileReading

    reading = FileReading(path, names, encoding=encoding)
    for _ in reading.batches():
        pass
    found, known = reading.groups.distinct, GroupNumbers(maps, Complaints(maps, score=names.score, group=names.group))
    for text in found.values:
        is_blank = not text.strip()
        if known.of_text(text, reading.groups.kind) is None:
            alike = [other for other in found.values if not other.strip()] if is_blank else [text]
            rows, first = found.rows_of(alike), found.first_of(alike)
            if is_blank and maps.missing_group == "error":
                raise missing_error(f"{path}: column {names.group!r}", rows, first)
            shown = repr(MISSING) if is_blank else repr(text) if reading.groups.kind == TEXT else text
            complaint = maps.unseen(shown, rows, first)
            raise InputError(f"{path}: {complaint}")


def check_matched(
    maps: GroupMaps, tables: Tables, path: str | os.PathLike[str], *, score: str, group: str, encoding: str = "utf-8"
) -> None:
    """Complain, with the first row and their number, of groups of a file that have no map, where they are refused."""
    labels = {str(label) for label in maps.maps} | ({MISSING} if maps.of_missing is not None else set())
    if maps.of_unseen is None and not labels.issuperset(map(str, tables)):
        for file in files_of(path):
            _blame_rows(maps, file, ColumnNames(score, group), encoding)


def _map_files(path: str | os.PathLike[str], maps: GroupMaps, **names: Any) -> Any:
    """Read files as a relation of DuckDB, which stays as lazy as they are large."""
    duckdb = import_optional("duckdb", extra="duckdb", purpose=_PURPOSE)
    from xorder.engines._apply_duckdb import map_relation

    files = find_files(path)
    with blaming_files(path):
        relation = duckdb.connect().sql(f"SELECT * FROM {reader_of(files)}")
        is_text = file_kind(files[0]) == "csv"
        return map_relation(relation, maps, **names, blanks=True, scores_in_text=is_text)


def adjusting(maps: GroupMaps) -> Adjust:
    """Return the function of scores and numbers of groups; it needs nothing but NumPy wherever it runs."""
    moves = {number: learnt.as_function() for number, learnt in enumerate(maps.maps.values()) if learnt.raw.size}

    def adjust(score: FloatArray, number: Numbers) -> FloatArray:
        adjusted = np.array(score, dtype=np.float64)
        for wanted, move in moves.items():
            rows = np.flatnonzero(number == wanted)
            if rows.size:
                adjusted[rows] = move(adjusted[rows])
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


def _map_pandas(frame: Any, maps: GroupMaps, *, score: str, group: str, into: str) -> Any:
    pd = import_optional("pandas", extra="data", purpose=_PURPOSE)

    check_frame_columns(list(frame.columns), score=score, group=group, into=into)
    if not (pd.api.types.is_numeric_dtype(frame[score].dtype) or frame[score].dtype == object):
        raise no_numbers(score, f"their type is {frame[score].dtype}")
    try:
        scores = frame[score].to_numpy(dtype=np.float64, na_value=np.nan)
        codes, labels = pd.factorize(frame[group])
    except (TypeError, ValueError) as error:
        raise InputError(f"column {score!r} must hold numbers, and column {group!r} plain labels ({error}).") from error
    complaints = Complaints(maps, score=score, group=group)
    known = GroupNumbers(maps, complaints)
    numbers = _numbers(known, labels.tolist(), codes, codes.size and codes.min() < 0, group)
    return frame.assign(**{into: _adjusted(adjusting(maps), scores, numbers, complaints)})


def _map_arrow(table: Any, maps: GroupMaps, *, score: str, group: str, into: str) -> Any:
    pa = import_optional("pyarrow", extra="parquet", purpose=_PURPOSE)

    check_frame_columns(table.schema.names, score=score, group=group, into=into)
    scores, groups = table.column(score), table.column(group)
    if pa.types.is_dictionary(scores.type):
        scores = scores.cast(scores.type.value_type)
    kind = scores.type
    allowed = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_boolean, pa.types.is_null)
    if not any(is_allowed(kind) for is_allowed in allowed):
        raise no_numbers(score, f"their type is {kind}")
    if pa.types.is_boolean(kind):
        scores = scores.cast(pa.int8())
    # Not safe: numbers above 2**53 are rounded, as everywhere.
    scores = scores.cast(pa.float64(), safe=False)
    if pa.types.is_nested(groups.type):
        raise no_labels(group, f"its type is {groups.type}")
    encoded = pa.chunked_array([groups] if isinstance(groups, pa.Array) else groups.chunks, type=groups.type)
    if not pa.types.is_dictionary(groups.type):
        encoded = encoded.dictionary_encode()
    encoded = encoded.unify_dictionaries().combine_chunks()
    labels = encoded.dictionary.to_pylist()
    codes = encoded.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
    complaints = Complaints(maps, score=score, group=group)
    numbers = _numbers(GroupNumbers(maps, complaints), labels, codes, encoded.indices.null_count, group)
    flat = scores.to_numpy(zero_copy_only=False) if isinstance(scores, pa.Array) else scores.to_numpy()
    adjusted = _adjusted(adjusting(maps), flat, numbers, complaints)
    return table.append_column(pa.field(into, pa.float64()), pa.array(adjusted))


def _map_polars(frame: Any, maps: GroupMaps, *, score: str, group: str, into: str) -> Any:
    pl = import_optional("polars", extra="polars", purpose=_PURPOSE)

    schema = frame.collect_schema()
    check_frame_columns(schema.names(), score=score, group=group, into=into)
    if not (schema[score].is_numeric() or schema[score] in (pl.Boolean, pl.Null)):
        raise no_numbers(score, f"their type is {schema[score]}")
    if schema[group].is_nested():
        raise no_labels(group, f"its type is {schema[group]}")
    complaints = Complaints(maps, score=score, group=group)
    known, adjust, is_eager = GroupNumbers(maps, complaints), adjusting(maps), isinstance(frame, pl.DataFrame)

    def adjusted(rows: Any) -> Any:
        groups = rows.struct.field("group")
        if not len(groups):
            return pl.Series(into, [], dtype=pl.Float64)
        labels = groups.unique()
        places = labels.to_list()
        codes = groups.replace_strict(labels, pl.Series(range(len(places)), dtype=pl.Int32), return_dtype=pl.Int32)
        numbers = _numbers(known, places, codes.to_numpy(), False, group if is_eager else None)
        return pl.Series(into, _adjusted(adjust, rows.struct.field("score").to_numpy(), numbers, complaints))

    label = pl.col(group).cast(pl.String) if schema[group] in (pl.Categorical, pl.Enum) else pl.col(group)
    rows = pl.struct(pl.col(score).cast(pl.Float64).alias("score"), label.alias("group"))
    if is_eager:
        return frame.with_columns(adjusted(frame.select(rows.alias(into)).get_column(into)))
    # Row by row, so that the engine may hand over some rows at a time.
    return frame.with_columns(rows.map_batches(adjusted, return_dtype=pl.Float64, is_elementwise=True).alias(into))


def _numbers(known: GroupNumbers, labels: list[Any], codes: Numbers, some_missing: Any, group: str | None) -> Numbers:
    """Turn codes, which count through ``labels``, into numbers of maps; a code below 0 is a missing group.

    Where all rows are here, ``group`` is the name of their column, and a complaint says which rows it is about.
    """
    used = np.bincount(codes[codes >= 0] if some_missing else codes, minlength=len(labels)) > 0
    # A type may list labels that no row has. The last place is that of the code -1.
    wanted = [(label, is_used) for label, is_used in zip(labels, used.tolist(), strict=True)] + [(None, some_missing)]
    table = []
    for place, (label, is_used) in enumerate(wanted):
        number = known.get(label) if is_used else -1
        if number is None:
            rows = np.flatnonzero(codes == (place if place < len(labels) else -1))
            raise known.complaint(label, group, rows.size, f"row {rows[0]}")
        table.append(number)
    return np.array(table, dtype=np.int64)[codes]


def _adjusted(adjust: Adjust, scores: FloatArray, numbers: Numbers, complaints: Complaints) -> FloatArray:
    """Adjust scores part by part on all cores."""
    adjusted = np.empty(scores.size)

    def one(begin: int) -> None:
        part = scores[begin : begin + _PART]
        finite = np.isfinite(part)
        if not finite.all():
            raise InputError(complaints.score.replace(PLACE, str(part[int(np.argmin(finite))])))
        adjusted[begin : begin + _PART] = adjust(part, numbers[begin : begin + _PART])

    in_threads(scores.size, one, range(0, scores.size, _PART))
    return adjusted


_ENGINES: dict[tuple[str, str], Callable[..., Any]] = {
    ("pandas", "DataFrame"): _map_pandas,
    ("polars", "DataFrame"): _map_polars,
    ("polars", "LazyFrame"): _map_polars,
    ("pyarrow", "Table"): _map_arrow,
    ("pyarrow", "RecordBatch"): _map_arrow,
}
