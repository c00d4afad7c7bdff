"""Files named by a path or a glob: what they are, and their rows as a relation of DuckDB, in bounded memory."""

from __future__ import annotations

import glob
import importlib.util
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from xorder._duckdb import duckdb_connection
from xorder._optional import import_optional
from xorder.engines._csv_file import csv_header
from xorder.exceptions import InputError
from xorder.transfer._sql import text

_CSV = (".csv", ".csv.gz", ".txt", ".txt.gz", ".tsv", ".tsv.gz")


def file_kind(name: str) -> str:
    """Return ``"parquet"`` or ``"csv"``, by the ending of the name."""
    lowered = name.lower()
    if lowered.endswith(".parquet"):
        return "parquet"
    if lowered.endswith(_CSV):
        return "csv"
    raise InputError(f"{name} is of no known format; the name must end in .parquet or {' or '.join(_CSV)}.")


_MAGIC = "*?["
_PURPOSE = "Reading files larger than memory"
# As long as the reader of small files takes a field to be.
_LONGEST_LINE = 1 << 24
_LOOKED_AT = 1 << 20


LARGE = 1 << 26
"""Bytes, unpacked, from which on a file is added up in DuckDB, in memory that does not grow with it."""

# How many times smaller gzip makes text at most, as a rule; bytes that a row takes in memory.
_PACKED = 10
_ROW = 32


def existing_file(path: str | os.PathLike[str]) -> Path:
    """Return the path of a file that can be read and is not empty."""
    source = Path(path)
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
    return find_files(path) if set(_MAGIC) & set(os.fspath(path)) and not _is_there(path) else [os.fspath(path)]


def in_engine(files: Sequence[str], large: int = LARGE) -> bool:
    """Whether files go through DuckDB: many always, a single one if it is large and DuckDB is there."""
    if len(files) > 1:
        return True
    has_duckdb = all(importlib.util.find_spec(name) is not None for name in ("duckdb", "pyarrow"))
    return has_duckdb and _unpacked(files[0]) >= large


def _unpacked(file: str) -> int:
    """How many bytes a file is about, unpacked: some tables are packed to a hundredth."""
    size = Path(file).stat().st_size
    if file.lower().endswith(".gz"):
        return _PACKED * size
    if not file.lower().endswith(".parquet"):
        return size
    pq = import_optional("pyarrow.parquet", extra="parquet", purpose="Reading parquet files")
    try:
        return max(size, _ROW * int(pq.read_metadata(file).num_rows))
    except (OSError, ValueError):
        return size


def is_utf_8(encoding: str) -> bool:
    """Whether an encoding is the one that DuckDB reads."""
    return encoding.lower().replace("_", "-") in ("utf-8", "utf8", "utf-8-sig")


@contextmanager
def open_files(path: str | os.PathLike[str], *, memory: str = "2GB") -> Iterator[Any]:
    """Yield the rows of all files that a path or glob names as a relation; those of csv files are text throughout.

    What DuckDB cannot read is told as :class:`InputError` in one sentence, also while the block runs.
    """
    names = find_files(path)
    with ExitStack() as stack:
        connection = stack.enter_context(duckdb_connection(extra="duckdb", purpose=_PURPOSE, memory=memory))
        # Rows are added up, so that their order means nothing.
        connection.execute("SET preserve_insertion_order = false")
        with blaming_files(path):
            yield connection.sql(f"SELECT * FROM {reader_of(names)}")


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
        except (OSError, ValueError) as error:
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
        f"quote = '\"', escape = '\"', strict_mode = true, max_line_size = {_LONGEST_LINE}, columns = {{{types}}})"
    )


def _exact(name: str) -> str:
    # It may hold what DuckDB would take for a pattern.
    return text(glob.escape(name))


def find_files(path: str | os.PathLike[str]) -> list[str]:
    """Return the files that a path or glob names: at least one, all of one kind."""
    text = os.fspath(path)
    if _is_there(text) and Path(text).is_dir():
        raise InputError(f"{text} is a folder; name the files in it, as in {Path(text) / '*.parquet'}.")
    names = [text]
    if set(_MAGIC) & set(text) and not _is_there(text):
        # Unlike Path.glob, it takes the pattern as it is written, from the root or from here.
        names = sorted(glob.glob(text, recursive=True))  # noqa: PTH207
    if not names:
        raise InputError(f"no file matches {text}; check the name and the folder.")
    for name in names:
        existing_file(name)
    if len({file_kind(name) for name in names}) > 1:
        raise InputError(f"{text} names files of several kinds; name either parquet or csv files.")
    return names


def _is_there(path: str | os.PathLike[str]) -> bool:
    """Whether there is such a file or folder; a name that cannot be looked up is for the reader to refuse."""
    try:
        return Path(path).exists()
    except OSError:
        return False


def rows_about(names: Sequence[str]) -> int | None:
    """Guess how many rows csv files have, from their sizes and the first lines of one; packed ones do not tell."""
    if any(name.lower().endswith(".gz") for name in names):
        return None
    with Path(names[0]).open("rb") as file:
        head = file.read(_LOOKED_AT)
    return sum(Path(name).stat().st_size for name in names) * max(head.count(b"\n"), 1) // max(len(head), 1)


@contextmanager
def blaming_files(path: str | os.PathLike[str]) -> Iterator[None]:
    """Tell what DuckDB cannot read in the user's words."""
    duckdb = import_optional("duckdb", extra="duckdb", purpose=_PURPOSE)
    try:
        yield
    except duckdb.OutOfMemoryException as error:
        raise InputError(
            f"{os.fspath(path)} takes more memory than allowed; allow more, such as memory='8GB'."
        ) from error
    except RuntimeError as error:
        # DuckDB ends in this way, too, when it is interrupted.
        if "interrupt" in str(error).lower():
            raise KeyboardInterrupt from error
        raise
    except (duckdb.IOException, duckdb.InvalidInputException, duckdb.ConversionException, OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        if "Out of Memory" in str(error):
            raise InputError(
                f"{os.fspath(path)} takes more memory than allowed; allow more, such as memory='8GB'."
            ) from error
        line = (str(error).splitlines() or [type(error).__name__])[0].strip().rstrip(".")
        raise InputError(
            f"{os.fspath(path)} cannot be read ({line}). It may be cut short or of another format: write it again, or "
            "give it the ending of its format."
        ) from error
