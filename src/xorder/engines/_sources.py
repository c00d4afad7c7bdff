"""Anything with rows, ready to be tallied: a frame of any engine, a small file row by row, large ones in DuckDB."""

from __future__ import annotations

import errno
import glob
import importlib.util
import os
import re
import stat
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from functools import partial, reduce
from itertools import islice
from operator import or_
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xorder._arrays import as_column
from xorder._atomic import file_path
from xorder._duckdb import duckdb_connection, first_line, memory_bytes
from xorder._groups import is_missing
from xorder._optional import import_optional
from xorder._validation import MAX_GROUPS, no_cluster
from xorder.engines import _cells as cells
from xorder.engines._cells import FRAME, Coding, ColumnNames, Distinct, FileBatch, ReadingOptions, TextColumn
from xorder.engines._csv_file import blaming_gzip, csv_header, has_underscore, read_csv, rows_about
from xorder.engines._parquet_file import read_parquet
from xorder.engines._tally import Batch, Seen, Tally
from xorder.engines._tally_numpy import LocalRows
from xorder.engines._tally_spark import SparkRows
from xorder.exceptions import InputError
from xorder.transfer._sql import quoted_name, text

_CSV = (".csv", ".csv.gz", ".txt", ".txt.gz", ".tsv", ".tsv.gz")


def file_kind(name: str) -> str:
    """Return ``"parquet"`` or ``"csv"``, by the ending of the name."""
    lowered = name.lower()
    if lowered.endswith(".parquet"):
        return "parquet"
    if lowered.endswith(_CSV):
        return "csv"
    raise InputError(f"the format of {name} is not known; the name must end in .parquet or {' or '.join(_CSV)}.")


_MAGIC = "*?["
_PURPOSE = "Reading files larger than memory"
# As long as the reader of small files takes a field to be.
_LONGEST_LINE = 1 << 24
# Bytes that DuckDB reads at a time: sixteen of the longest lines, as it would, take a third longer, and more memory.
_READ_BYTES = 2 * _LONGEST_LINE
# Bytes that the system is taken to have at hand still when they are read a second time.
_AT_HAND = 1 << 32


# Bytes, unpacked, from which on a file is added up in DuckDB, in memory that does not grow with it.
LARGE = 1 << 26

# How many times smaller gzip makes text at most, as a rule; bytes that a row takes in memory.
_PACKED = 10
_ROW = 32


def existing_file(path: str | os.PathLike[str]) -> Path:
    """Return the path of a file that can be read and is not empty."""
    source = file_path(path)
    try:
        status = source.stat()
        if stat.S_ISDIR(status.st_mode):
            raise InputError(f"{source} is a folder; name one csv or parquet file.")
        if not stat.S_ISREG(status.st_mode):
            raise InputError(f"{source} is not a file on disk; save the table to a file first.")
        with source.open("rb"):
            pass
    except (FileNotFoundError, NotADirectoryError) as error:
        raise InputError(f"{source} does not exist; check the name and the folder.") from error
    except PermissionError as error:
        raise InputError(f"{source} may not be read by this user; change its permissions or copy it.") from error
    except OSError as error:
        raise InputError(f"cannot read {source}: {error.strerror or error}.") from error
    if not status.st_size:
        raise InputError(f"{source} is empty (0 bytes); it needs the names of the columns, and rows.")
    return source


def files_of(path: str | os.PathLike[str]) -> list[str]:
    """Files that a path or glob names; a name without a pattern is itself, whether it is there or not."""
    name = str(file_path(path))
    # Unlike Path.exists, it takes a name that cannot be looked up for one that is not there.
    if not set(_MAGIC) & set(name) or os.path.exists(name):  # noqa: PTH110
        return [name]
    # Unlike Path.glob, it takes the pattern as it is written, from the root or from here.
    names = sorted(glob.glob(name, recursive=True))  # noqa: PTH207
    if not names:
        raise InputError(f"no file matches {name}; check the name and the folder.")
    return names


def in_engine(files: Sequence[str], large: int = LARGE) -> bool:
    """Whether files go through DuckDB: many always, a single one if it is large and DuckDB is there."""
    if len(files) > 1:
        return True
    has_duckdb = all(importlib.util.find_spec(name) is not None for name in ("duckdb", "pyarrow"))
    return has_duckdb and _unpacked(files[0]) >= large


def _unpacked(file: str) -> int:
    """About how many bytes a file has when unpacked; some tables are packed to a hundredth."""
    size = Path(file).stat().st_size
    if file.lower().endswith(".gz"):
        with Path(file).open("rb") as packed:
            packed.seek(max(size - 4, 0))
            # What the file says itself, less multiples of 4 GiB.
            return max(_PACKED * size, int.from_bytes(packed.read(4), "little"))
    if not file.lower().endswith(".parquet"):
        return size
    pq = import_optional("pyarrow.parquet", extra="parquet", purpose="Reading parquet files")
    try:
        return max(size, _ROW * int(pq.read_metadata(file).num_rows))
    except Exception:
        return size


def reader_of(names: Sequence[str]) -> str:
    """Return the expression of DuckDB that reads files, as they are: nothing is guessed, of folders or of cells."""
    if file_kind(names[0]) == "parquet":
        # A folder called y=1 is no column. Where types differ, DuckDB else takes those of the first file for all.
        widened = ", union_by_name = true" if _types_differ(names) else ""
        return f"read_parquet([{', '.join(map(_exact, names))}], hive_partitioning = false{widened})"
    parts = [_csv_reader(name) for name in names]
    _check_same_columns({name: columns for name, (columns, _) in zip(names, parts, strict=True)})
    queries = [f"SELECT * FROM {reader}" for _, reader in parts]
    return f"({' UNION ALL BY NAME '.join(queries)})"


def _types_differ(names: Sequence[str]) -> bool:
    """Whether the columns of parquet files, which must have the same names, are of different types."""
    if len(names) == 1:
        return False
    pq = import_optional("pyarrow.parquet", extra="parquet", purpose=_PURPOSE)
    schemas = {}
    for name in names:
        try:
            schemas[name] = pq.read_schema(name)
        except Exception as error:
            raise InputError(f"{name} cannot be read as parquet; write it again, or name the others alone.") from error
    _check_same_columns({name: schema.names for name, schema in schemas.items()})
    kinds = [dict(zip(schema.names, schema.types, strict=True)) for schema in schemas.values()]
    return any(kind != kinds[0] for kind in kinds)


def _check_same_columns(columns: Mapping[str, Sequence[str]]) -> None:
    first, *others = columns
    for other in others:
        odd = sorted(set(columns[first]) ^ set(columns[other]))
        if odd:
            has, lacks = (first, other) if odd[0] in columns[first] else (other, first)
            raise InputError(
                f"the {len(columns):,} files have different columns: {odd[0]!r} is in {has} but not in {lacks}. "
                "Use files with the same columns."
            )


def _csv_reader(name: str) -> tuple[list[str], str]:
    """Columns of a csv file, and the expression that reads it as text, with the delimiter that its header shows."""
    columns, delimiter, lines = csv_header(Path(name))
    lowered = [column.lower() for column in columns]
    twice = next((column for column in columns if lowered.count(column.lower()) > 1), None)
    if twice is not None:
        raise InputError(f"{name} has several columns named {twice!r}, in whatever case; rename all but one of them.")
    types = ", ".join(f"{text(column)}: 'VARCHAR'" for column in columns)
    return columns, (
        f"read_csv({_exact(name)}, auto_detect = false, header = false, skip = {lines}, delim = {text(delimiter)}, "
        f"quote = '\"', escape = '\"', strict_mode = true, max_line_size = {_LONGEST_LINE}, "
        f"buffer_size = {_READ_BYTES}, columns = {{{types}}})"
    )


def _exact(name: str) -> str:
    # It may hold what DuckDB would take for a pattern.
    return text(glob.escape(name))


def find_files(path: str | os.PathLike[str]) -> list[str]:
    """Return the files that a path or glob names: at least one, all of one kind."""
    # Unlike Path.is_dir, it leaves a name that cannot be looked up for the reader to refuse.
    if os.path.isdir(file_path(path)):  # noqa: PTH112
        raise InputError(f"{os.fspath(path)} is a folder; name the files in it, as in {Path(path) / '*.parquet'}.")
    names = files_of(path)
    for name in names:
        existing_file(name)
    if len({file_kind(name) for name in names}) > 1:
        raise InputError(f"{os.fspath(path)} names files of several kinds; name either parquet or csv files.")
    return names


@contextmanager
def blaming_files(path: str | os.PathLike[str]) -> Iterator[None]:
    """Report what DuckDB cannot read, in the user's words."""
    duckdb = import_optional("duckdb", extra="duckdb", purpose=_PURPOSE)
    try:
        yield
    except RuntimeError as error:
        # DuckDB ends in this way, too, when it is interrupted.
        if "interrupt" in str(error).lower():
            raise KeyboardInterrupt from error
        raise
    except (duckdb.BinderException, duckdb.CatalogException, duckdb.ParserException, duckdb.InterruptException):
        # Faults of our own query, and an end that somebody wished for.
        raise
    except (duckdb.Error, OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        # A disk that is full, as DuckDB says it: by the number of the error, or as a limit that it has set itself.
        number = re.search(r"could not write.*errno\D*(\d+)", str(error), re.IGNORECASE | re.DOTALL)
        if number is not None or "max_temp_directory_size" in str(error):
            code = errno.ENOSPC if number is None else int(number[1])
            raise OSError(code, os.strerror(code), "the folder for intermediate rows") from error
        if "Out of Memory" in str(error):
            raise too_large(path) from error
        raise InputError(
            f"{os.fspath(path)} cannot be read ({first_line(error)}). It may be cut short or of another format: write "
            "it again, or give it the ending of its format."
        ) from error


def too_large(path: str | os.PathLike[str]) -> InputError:
    """Return the complaint about a file for which the memory is too small."""
    return InputError(f"{os.fspath(path)} takes more memory than allowed; allow more, such as memory='8GB'.")


def _is_number(role: str) -> bool:
    return role in ("score", "weight") or role.startswith("other")


_STEP = 1 << 17
_GUESSED_ROWS = 100_000


class FileReading:
    """The rows of a csv or parquet file, some at a time, each checked; complaints name the line or row.

    Groups and labels come as numbers of their texts. A file that is one ``among`` several may be empty, and need not
    hold the positive value.
    """

    def __init__(self, path: str | os.PathLike[str], options: ReadingOptions, *, among: bool = False) -> None:
        self.path, self.options, self.among = existing_file(path), options, among
        self.kind = file_kind(str(self.path))
        self.groups = TextColumn(options.names.groups, options.combinations)
        self.labels = TextColumn((options.names.label or "",))
        self.clusters = TextColumn((options.names.cluster or "",))
        self._blank: list[int] = []

    def batches(self) -> Iterator[tuple[NDArray[Any], ...]]:
        """Yield scores, numbers of groups, numbers of labels, weights, other scores, and numbers of clusters.

        What is not asked for is an empty array or, of other scores and clusters, not there.
        """
        names, rows = self.options.names, 0
        lost: list[str] = []
        alone = 0
        with blaming_gzip(self.path), closing(self._read(names.all)) as batches:
            for batch in batches:
                scores = cells.scores(batch, names.score)
                groups = self.groups.read(batch)
                labels = np.empty(0, dtype=np.int32) if names.label is None else self.labels.read(batch)
                weights = np.empty(0) if names.weight is None else cells.weights(batch, names.weight)
                more: list[NDArray[Any]] = [cells.scores(batch, name) for name in names.others]
                if names.cluster is not None:
                    seen = len(self.clusters.codes)
                    more.append(self.clusters.encode(batch))
                    texts = islice(self.clusters.codes.items(), seen, None)
                    self._blank += [number for text, number in texts if not text.strip()]
                    blank = np.flatnonzero(np.isin(more[-1], self._blank))
                    lost += [batch.place(int(row)) for row in blank[:1]]
                    alone += blank.size
                rows += len(scores)
                yield scores, groups, labels, weights, *more
        if not (rows or self.among):
            raise cells.no_rows(str(self.path))
        if lost:
            raise no_cluster(f"{self.path}: column {names.cluster!r}", alone, lost[0])

    def _read(self, wanted: list[str]) -> Generator[FileBatch, None, None]:
        watch = partial(self.options.watch, "reading rows")
        if self.kind == "parquet":
            yield from read_parquet(self.path, wanted, watch)
        else:
            yield from read_csv(self.path, wanted, self.options.encoding, watch)

    def coding(self) -> Coding:
        """Check groups and labels, once all rows have been read, and number them."""
        is_asked_for = self.options.names.label is not None and not (self.among and self.options.positive is not None)
        # Where no label was asked for, any value will do.
        labels = self.labels.distinct if is_asked_for else Distinct(["0"])
        return cells.coding(self.groups.distinct, labels, self.options, file=str(self.path))

    def check(self) -> None:
        """Complain of the file row by row, holding no more than some rows at a time."""
        for _ in self.batches():
            pass
        self.coding()


def row_of_file(path: str | os.PathLike[str], number: int, options: ReadingOptions) -> tuple[float, str]:
    """Return the score of one row of a file, the first being 1, and its group as text, empty if it has none."""
    reading, passed = FileReading(path, options), 0
    for scores, groups, *_ in reading.batches():
        if passed < number <= passed + len(scores):
            place = number - passed - 1
            return float(scores[place]), list(reading.groups.codes)[groups[place]]
        passed += len(scores)
    raise InputError(f"there is no row {number:,} to explain: {path} has {passed:,} rows, the first being 1.")


def open_small_file(path: str | os.PathLike[str], options: ReadingOptions) -> tuple[Tally, str]:
    """Return the rows of a file, read into memory, ready to be tallied, and what to call them in a message."""
    reading, batches_read, room = FileReading(path, options), [], memory_bytes(options.memory)
    for batch in reading.batches():
        batches_read.append(batch)
        # Twice, as the parts are put together; a text that was not seen before takes about 100 bytes.
        room -= 2 * sum(column.nbytes for column in batch)
        if room < 100 * (len(reading.groups.codes) + len(reading.labels.codes) + len(reading.clusters.codes)):
            raise too_large(path)
    score, groups, labels, weight, *more = (np.concatenate(parts) for parts in zip(*batches_read, strict=True))
    found = reading.coding()
    if options.names.label is None:
        # Without labels, all rows are of one class.
        labels = np.full(score.size, reading.labels.codes["0"], dtype=np.int32)
    code = found.of_texts(reading.groups.codes, groups, reading.labels.codes, labels)

    def batches(*_: Any) -> Generator[Batch, None, None]:
        for start in range(0, score.size, _STEP):
            part = slice(start, start + _STEP)
            own = weight[part] if weight.size else None
            yield Batch(score[part], code[part], own, tuple(column[part] for column in more))

    # Where all rows are in memory, another pass over them is too quick to be watched.
    return LocalRows(batches, replace(options, progress=None), guess=found, total=score.size), str(path)


@contextmanager
def open_rows(frame: Any, options: ReadingOptions) -> Iterator[tuple[Tally, str]]:
    """Yield the rows of a frame or of large files, ready to be tallied in their own engine, and what to call them."""
    import narwhals as nw

    names = options.names
    with ExitStack() as stack:
        source, file, files, is_text, is_plain, total = FRAME, None, [], False, False, None
        if isinstance(frame, str | os.PathLike):
            source = file = os.fspath(frame)
            files = find_files(frame)
            is_text = file_kind(files[0]) == "csv"
            opening = duckdb_connection(extra="duckdb", purpose=_PURPOSE, memory=options.memory)
            connection = stack.enter_context(opening)
            # Rows are added up, so that their order means nothing.
            connection.execute("SET preserve_insertion_order = false")
            stack.enter_context(blaming_files(file))
            # In plain files, underscores are looked for once all rows have been read.
            is_plain = is_text and sum(Path(name).stat().st_size for name in files) <= _AT_HAND
            is_plain = is_plain and not any(has_underscore(name, at_start=True) for name in files)
            frame = connection.sql(f"SELECT * FROM {reader_of(files)}")
            total = rows_about(files) if is_text else frame.count("*").fetchall()[0][0]
        cells.check_columns(source, native_columns(frame), names.all)
        prepared = _parsed(nw, frame, names, is_plain) if is_text else _prepared(nw, frame, names)
        if names.label is None:
            prepared = prepared.with_columns(nw.lit(0).alias("label"))
        roles = [role for role in names.roles if role.startswith("group")]

        def look(rows: int | None = None) -> Coding:
            part = prepared if rows is None else prepared.head(rows)
            try:
                groups, labels = _distinct(part, roles)
            except TypeError as error:
                # pandas finds out row by row that a column holds lists.
                raise cells.not_labels(names.groups[0], str(error)) from error
            blanks = file is not None
            combinations = options.combinations(names.groups, blanks=blanks, called=source)
            is_single = len(roles) == 1 and not options.apart
            labelled = [values[0] if is_single else combinations[values] for values in groups]
            of_groups = Distinct(list(dict.fromkeys(labelled)))
            if options.missing_group == "error":
                of_groups = _counted(nw, prepared, roles, groups, of_groups, blanks)
            of_labels = _counted(nw, prepared, ["label"], [(label,) for label in labels], Distinct(labels), blanks)
            found = cells.coding(of_groups, of_labels, options, file=file)
            if is_single:
                return found
            numbers = dict(found.group_values)
            if options.apart:
                own = [(values if len(roles) > 1 else values[0], numbers[combinations[values]]) for values in groups]
                return replace(found, group_values=tuple(own))
            places = [(values, numbers.get(combinations[values], found.missing)) for values in groups]
            # Those with a null are found by that.
            return replace(
                found, group_values=tuple((values, n) for values, n in places if n is not None and None not in values)
            )

        if prepared.implementation.is_pyspark() or prepared.implementation.is_pyspark_connect():
            yield SparkRows(prepared, roles, options, coding=look()), source
            return

        def batches(by: Coding, known: bool) -> Generator[Batch, None, None]:
            return _batches(prepared, [*by.columns(prepared, roles, known=known), *map(nw.col, names.more)], names.more)

        # Only all rows show whether a value named as positive is there, and what else is.
        guess = look(_GUESSED_ROWS if prepared.implementation.is_duckdb() and options.positive is None else None)

        def check(seen: Seen) -> None:
            if is_text and (seen.missing or seen.bad_weights or (is_plain and any(map(has_underscore, files)))):
                _refuse_text(frame, names)

        yield LocalRows(batches, options, guess=guess, look=look, check=check, total=total), source


def native_columns(frame: Any) -> list[Any]:
    """Return the names of the columns of any frame, or refuse what is not a frame."""
    if hasattr(frame, "collect_schema"):
        return list(frame.collect_schema().names())
    for attribute in ("column_names", "columns"):
        names = getattr(frame, attribute, None)
        if names is not None and not callable(names):
            return list(names)
    raise not_a_frame(frame)


def not_a_frame(frame: Any) -> InputError:
    """Return the complaint about what is not a frame of a known engine."""
    return InputError(
        "frame must be a frame of pandas, polars (eager or lazy), pyarrow or PySpark, a relation of DuckDB, or the "
        f"path or glob of parquet or csv files; got {type(frame).__name__}."
    )


def _prepared(nw: Any, frame: Any, names: ColumnNames) -> Any:
    """Return the frame with one column for each role alone, missing values of all kinds null."""
    held = names.roles
    if type(frame).__module__.startswith("pyspark"):
        # Names with dots and backticks mean something else to Spark, unless they are quoted.
        functions = import_optional("pyspark.sql.functions", extra="spark", purpose="Reading frames of Spark")
        frame = frame.select(
            *(functions.col(quoted_name(column, "spark")).alias(role) for role, column in held.items())
        )
        held = {role: role for role in held}
    try:
        whole = nw.from_native(_decoded(frame))
    except TypeError as error:
        raise not_a_frame(frame) from error
    schema = whole.collect_schema()
    check_kinds(nw, names, whole, held)
    chosen = {}
    for role, name in held.items():
        value, is_float = nw.col(name), schema[name].is_float()
        if _is_number(role) and not is_float:
            value = value.cast(nw.Float64)
        if not _is_number(role) and is_float:
            # Not is_nan: of parquet files whose statistics leave NaN out, DuckDB 2.0 takes it to be nowhere.
            value = nw.when(value.is_finite() | (value == np.inf) | (value == -np.inf)).then(value)
        chosen[role] = value.alias(role)
    try:
        return whole.select(**chosen)
    except (TypeError, ValueError) as error:
        raise cells.not_numbers(names.score, str(error)) from error


def check_kinds(nw: Any, names: ColumnNames, frame: Any, held: Mapping[str, str]) -> None:
    """Refuse columns whose types are not numbers, or not plain labels, where these are to be read."""
    kinds = frame.collect_schema()
    for role, column in names.roles.items():
        kind = kinds[held[role]]
        if kind == nw.Unknown and isinstance(frame, nw.DataFrame):
            as_column(frame[held[role]].to_numpy(), f"column {column!r}")
        if not _is_number(role):
            if kind.is_nested():
                raise cells.not_labels(column, f"its type is {kind}")
        elif not (kind.is_numeric() or kind in (nw.Boolean, nw.Object, nw.Unknown)):
            raise cells.not_numbers(column, f"their type is {kind}")


def _parsed(nw: Any, relation: Any, names: ColumnNames, is_plain: bool) -> Any:
    """Parse the numeric columns of a relation of text; cells that are not numbers become null, or are refused.

    Where numbers are plain, nothing else is asked of their text, and DuckDB parses them as it reads them.
    """
    duckdb = import_optional("duckdb", extra="duckdb", purpose="Reading csv files")
    chosen = []
    for role, name in names.roles.items():
        value = number_in(name, is_plain=is_plain) if _is_number(role) else quoted_name(name)
        chosen.append(duckdb.SQLExpression(value).alias(role))
    return nw.from_native(relation.select(*chosen))


def number_in(name: str, *, is_plain: bool = False) -> str:
    """SQL that casts a column of text to DOUBLE, NULL where it is not a number; DuckDB takes 1_000, which we do not.

    With ``is_plain``, 1_000 is a number, and where the text of a csv file is not one DuckDB may refuse to read on.
    """
    value = f"TRY_CAST({quoted_name(name)} AS DOUBLE)"
    return value if is_plain else f"CASE WHEN contains({quoted_name(name)}, '_') THEN NULL ELSE {value} END"


def _refuse_text(relation: Any, names: ColumnNames) -> None:
    """Name a text that stands where a number should, if there is one."""
    for name in filter(None, (names.score, names.weight, *names.others)):
        odd = relation.filter(f"{number_in(name)} IS NULL AND trim({quoted_name(name)}) <> ''")
        for (cell,) in odd.select(quoted_name(name)).limit(1).fetchall():
            raise cells.not_numbers(name, f"such as {cells.quoted(cell)}")


def _decoded(frame: Any) -> Any:
    """Return an Arrow table without dictionaries, which few of its functions take."""
    if not type(frame).__module__.startswith("pyarrow"):
        return frame
    pa = import_optional("pyarrow", extra="parquet", purpose="Reading Arrow tables")
    fields = [
        field.with_type(field.type.value_type) if pa.types.is_dictionary(field.type) else field
        for field in frame.schema
    ]
    return frame.cast(pa.schema(fields))


def _distinct(frame: Any, roles: Sequence[str]) -> tuple[list[tuple[Any, ...]], list[Any]]:
    """Return the distinct values of group and label, missing ones as None; of too many, enough to see that."""
    rows = frame.select(*roles, "label").unique().head(MAX_GROUPS * cells.MOST_LABELS + 1).lazy().collect()
    *groups, labels = (list(map(_plain, rows[name].to_list())) for name in (*roles, "label"))
    return list(dict.fromkeys(zip(*groups, strict=True))), list(dict.fromkeys(labels))


def _plain(value: Any) -> Any:
    # pandas has several values for missing, none of them equal to itself.
    return None if is_missing(value) else value.item() if isinstance(value, np.generic) else value


def _counted(
    nw: Any, frame: Any, roles: Sequence[str], values: Sequence[tuple[Any, ...]], found: Distinct, blanks: bool
) -> Distinct:
    """Count the rows of the whole frame without a value, if there are some; name the first where rows have an order.

    ``values`` are the distinct ones of the columns ``roles``.
    """
    lost = [value for value in found.values if is_missing(value, blanks=blanks)]
    if not lost:
        return found
    is_lost = []
    for role, column in zip(roles, zip(*values, strict=True), strict=True):
        texts = [value for value in dict.fromkeys(column) if value is not None and is_missing(value, blanks=blanks)]
        is_lost.append(nw.col(role).is_null() | nw.col(role).is_in(texts) if texts else nw.col(role).is_null())
    numbered = None
    if isinstance(frame, nw.DataFrame):
        numbered = frame.with_row_index("row")
    elif frame.implementation.is_polars():
        numbered = nw.from_native(frame.to_native().with_row_index("row"))
    first = [] if numbered is None else [nw.col("row").min()]
    counted = (frame if numbered is None else numbered).filter(reduce(or_, is_lost)).select(nw.len(), *first)
    rows, *row = counted.lazy().collect().row(0)
    return Distinct(
        found.values,
        first={lost[0]: f"row {row[0]}"} if row else {},
        rows=dict.fromkeys(lost, 0) | {lost[0]: int(rows)},
    )


def _batches(frame: Any, wanted: Sequence[Any], more: Sequence[str]) -> Generator[Batch, None, None]:
    """Yield columns of rows as arrays of numpy, each engine in its own way of handing over some at a time."""
    import narwhals as nw

    if isinstance(frame, nw.DataFrame):
        for start in range(0, len(frame), _STEP):
            yield Batch.of(frame[start : start + _STEP].select(*wanted), more)
        return
    native = frame.select(*wanted).to_native()
    if frame.implementation.is_duckdb():
        pa = import_optional("pyarrow", extra="duckdb", purpose="Reading what DuckDB holds")
        with closing(native.to_arrow_reader(_STEP)) as parts:
            for part in parts:
                yield Batch.of(nw.from_native(pa.Table.from_batches([part])), more)
    elif frame.implementation.is_polars():
        for part in native.collect_batches(chunk_size=_STEP, maintain_order=False):
            yield Batch.of(nw.from_native(part), more)
    else:
        raise not_a_frame(native)
