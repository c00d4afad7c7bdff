"""Files named by a path or a glob, as a relation of DuckDB: read where they are, in bounded memory."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from xorder._duckdb import duckdb_connection
from xorder._optional import import_optional
from xorder.exceptions import InputError

_CSV = (".csv", ".csv.gz", ".txt", ".txt.gz", ".tsv", ".tsv.gz")
_MAGIC = "*?["
_PURPOSE = "Reading files larger than memory"


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
        # Their names may hold what DuckDB would take for a pattern.
        exact = [glob.escape(name) for name in names]
        with blaming_files(path):
            if file_kind(names[0]) == "parquet":
                relation = connection.read_parquet(exact)
            else:
                relation = connection.read_csv(exact, all_varchar=True, header=True)
            yield relation


def find_files(path: str | os.PathLike[str]) -> list[str]:
    """Return the files that a path or glob names: at least one, all of one kind."""
    text = os.fspath(path)
    if Path(text).is_dir():
        raise InputError(f"{text} is a folder; name the files in it, as in {Path(text) / '*.parquet'}.")
    names = [text]
    if set(_MAGIC) & set(text) and not Path(text).exists():
        # Unlike Path.glob, it takes the pattern as it is written, from the root or from here.
        names = sorted(glob.glob(text, recursive=True))  # noqa: PTH207
    if not names:
        raise InputError(f"no file matches {text}; check the name and the folder.")
    if not Path(names[0]).exists():
        raise InputError(f"{text} does not exist; check the name and the folder.")
    if len({file_kind(name) for name in names}) > 1:
        raise InputError(f"{text} names files of several kinds; name either parquet or csv files.")
    empty = next((name for name in names if not Path(name).stat().st_size), None)
    if empty is not None:
        raise InputError(f"{empty} is empty (0 bytes); it needs the names of the columns, and rows.")
    return names


def file_kind(name: str) -> str:
    """Return ``"parquet"`` or ``"csv"``, by the ending of the name."""
    lowered = name.lower()
    if lowered.endswith(".parquet"):
        return "parquet"
    if lowered.endswith(_CSV):
        return "csv"
    raise InputError(f"{name} is of no known format; the name must end in .parquet or {' or '.join(_CSV)}.")


@contextmanager
def blaming_files(path: str | os.PathLike[str]) -> Iterator[None]:
    """Tell what DuckDB cannot read in the user's words."""
    duckdb = import_optional("duckdb", extra="duckdb", purpose=_PURPOSE)
    try:
        yield
    except (duckdb.IOException, duckdb.InvalidInputException, duckdb.ConversionException, UnicodeDecodeError) as error:
        line = (str(error).splitlines() or [type(error).__name__])[0].strip().rstrip(".")
        raise InputError(
            f"{os.fspath(path)} cannot be read ({line}). It may be cut short or of another format: write it again, or "
            "give it the ending of its format."
        ) from error
