"""What the builders of clinical cohorts share: a user's csv tables read through DuckDB, errors in plain words.

A builder goes: :func:`find_tables` (all are there, with their columns), :func:`open_database`, :meth:`Database.load` or
:meth:`Database.read` for each table, and :func:`xorder.datasets._cohort_file.write_cohort` at the end.
"""

from __future__ import annotations

import csv
import glob
import gzip
import os
import re
import threading
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from xorder._duckdb import duckdb_connection, first_line, poll_progress
from xorder._optional import import_optional
from xorder._progress import Progress
from xorder.exceptions import InputError

COPY_AGAIN = "Copy or download it again."
_REPAIR = "Repair the row, or copy the file again."
_WIDTH = re.compile(r"Expected Number of Columns: (\d+) Found: (\d+)")
_CELL = re.compile(r"converting column \"(.*?)\"\. Could not convert string \"(.*?)\" to '(.*?)'", re.DOTALL)


@contextmanager
def plain_errors(path: Path | None = None) -> Iterator[None]:
    """Turn errors of DuckDB inside the block into :class:`InputError`, naming the file and the line where it can.

    ``path`` is the file that the block reads. Ctrl-C comes out as ``KeyboardInterrupt``.
    """
    duckdb = import_optional("duckdb", extra="data", purpose="Reading clinical tables")
    try:
        yield
    except duckdb.InterruptException as error:
        raise KeyboardInterrupt from error
    except duckdb.Error as error:
        raise InputError(_explain(str(error), path)) from error
    except RuntimeError as error:
        # DuckDB reports Ctrl-C by an error of this type.
        if "interrupted" in str(error).lower():
            raise KeyboardInterrupt from error
        raise


def _explain(message: str, path: Path | None) -> str:
    file = "the tables" if path is None else str(path)
    line = re.search(r"CSV Error on Line: (\d+)", message)
    where = f"{file}, line {line[1]}" if line else file
    if width := _WIDTH.search(message):
        return f"{where}: the header has {width[1]} columns, but this row has {width[2]}. {_REPAIR}"
    if cell := _CELL.search(message):
        kind = "a date and time" if cell[3].startswith(("TIMESTAMP", "DATE")) else "a number"
        return f"{where}: column {cell[1]!r} must hold {kind} or nothing; this row holds {cell[2][:80]!r}. {_REPAIR}"
    explained = {
        "unterminated quote": f"{where}: a quote that opens here is not closed where it should be. {_REPAIR}",
        "Invalid unicode": f"{where}: this row is not UTF-8 text. Save the file as UTF-8, or copy it again.",
        "GZIP": f"{file} is cut off, or not a gzip file. {COPY_AGAIN}",
        "Out of Memory": "the memory allowed does not suffice; raise it (such as memory='8GB'), or free disk space to "
        "spill to.",
    }
    return next((words for said, words in explained.items() if said in message), f"{where}: {first_line(message)}.")


_ENDINGS = (".csv.gz", ".csv")


@dataclass(frozen=True, slots=True)
class SourceTable:
    """A table of the user as csv or csv.gz, and the names in its header, in lower case."""

    name: str
    path: Path
    columns: tuple[str, ...]

    def scan(self, **types: str) -> str:
        """Return SQL for a FROM clause: every column by its name in lower case, text unless ``types`` says otherwise.

        Nothing is guessed: a row with too few or too many fields, or a cell that is not of its type, stops the query.
        Only the columns that the query uses are converted. Empty cells are null.
        """
        kinds = ", ".join(f"{_quoted(name)}: {_quoted(types.get(name, 'VARCHAR'))}" for name in self.columns)
        # DuckDB would take brackets and stars in the name of a folder for a pattern, and read other files.
        path = _quoted(glob.escape(str(self.path)))
        return (
            f"read_csv({path}, columns={{{kinds}}}, auto_detect=false, header=true, delim=',', "
            f"quote='\"', escape='\"', nullstr='', strict_mode=true, null_padding=false, ignore_errors=false, "
            f"compression='{'gzip' if _gzipped(self.path) else 'none'}')"
        )


def find_tables(
    folder: str | os.PathLike[str], wanted: Mapping[str, Collection[str]], *, source: str
) -> dict[str, SourceTable]:
    """Find ``NAME.csv.gz`` or ``NAME.csv`` for each wanted name, in any case, and check that it has its columns.

    ``wanted`` maps the name of a table to the columns it must have (lower case); ``source`` names the data for
    messages, such as ``"MIMIC-III"``. Where both endings are there, the gzipped file is taken: its checksum proves it
    whole. The result has the names as in ``wanted``.
    """
    folder = Path(folder)
    if not folder.is_dir():
        what = "is a file" if folder.exists() else "does not exist"
        raise InputError(f"{folder} {what}; name the folder that holds the {source} tables as csv or csv.gz files.")
    try:
        files = [path for path in sorted(folder.iterdir()) if path.is_file()]
    except OSError as error:
        raise InputError(f"cannot list the folder {folder}: {error.strerror or error}.") from error
    found = {name: path for name in wanted if (path := _find(name, files))}
    missing = [name for name in wanted if name not in found]
    if not found:
        raise InputError(
            f"{folder} holds none of the {source} tables ({', '.join(missing)} as .csv or .csv.gz); "
            "name the folder that does."
        )
    if missing:
        lacking = " and ".join(f"{name}.csv or {name}.csv.gz" for name in missing)
        raise InputError(f"{folder} lacks {lacking}; put it there.")
    return {name: _with_header(name, path, wanted[name]) for name, path in found.items()}


@dataclass(frozen=True, slots=True)
class Database:
    """A DuckDB connection with errors in plain words, which reports how far the reading of a table is."""

    connection: Any
    progress: Progress | None

    def report(self, step: str, share: float | None) -> None:
        """Say how far a step is, from 0 to 1, or None where that is not known."""
        if self.progress:
            self.progress(step, share)

    def run(self, sql: str, path: Path | None = None) -> list[tuple[Any, ...]]:
        """Run one statement, which may read the file at ``path``, and return its rows."""
        with plain_errors(path):
            rows: list[tuple[Any, ...]] = self.connection.execute(sql).fetchall()
        return rows

    def arrow(self, sql: str) -> Any:
        """Run one statement and return its rows as an Arrow table."""
        with plain_errors():
            return self.connection.sql(sql).to_arrow_table()

    def read(self, sql: str, table: SourceTable) -> None:
        """Run one statement that scans a table, and report how far it is.

        The checksum of a gzipped table is verified meanwhile, as DuckDB does not look at it. What goes wrong there, or
        in a report, also stops the statement, which may have hours to go.
        """
        step, stop = f"reading {table.name}", threading.Event()
        failures: list[BaseException] = []

        def watch(task: Callable[[], None]) -> None:
            try:
                task()
            except BaseException as error:
                failures.append(error)
                self.connection.interrupt()

        self.report(step, None)
        with ThreadPoolExecutor() as pool:
            # Ctrl-C may come as soon as a thread has been started, which then has to be stopped.
            try:
                verified = pool.submit(watch, partial(_verify, table.path, stop))
                if self.progress:
                    pool.submit(watch, partial(poll_progress, self.connection, partial(self.report, step), stop))
                self.run(sql, table.path)
                verified.result()
            except (InputError, KeyboardInterrupt):
                # Garbled bytes make garbled rows: if the checksum is known by now, it is the cause.
                if not failures:
                    raise
            finally:
                stop.set()
        if failures:
            raise failures[0]
        self.report(step, 1.0)

    def load(self, table: SourceTable, types: Mapping[str, str], key: str | None = None) -> None:
        """Make a table of the same name from the columns that ``types`` names.

        Each ``key`` must have one row, and each row a key: a row that is there twice would count twice, or take its
        patient out of the cohort without a word.
        """
        self.read(f"CREATE TEMP TABLE {table.name} AS SELECT {', '.join(types)} FROM {table.scan(**types)}", table)
        if key is None:
            return
        repeated = f"GROUP BY 1 HAVING count(*) > 1 OR {key} IS NULL ORDER BY 1 LIMIT 1"
        if found := self.run(f"SELECT {key}, count(*) FROM {table.name} {repeated}"):
            value, count = found[0]
            what = f"{count:,} row{'s' * (count > 1)} with {key} {'empty' if value is None else value}"
            raise InputError(f"{table.path} must have one row for each {key}, but has {what}. Copy the file again.")


@contextmanager
def open_database(
    *, purpose: str, memory: str, spill: str | os.PathLike[str] | None, progress: Progress | None = None
) -> Iterator[Database]:
    """Yield a DuckDB database in memory that spills into a folder of its own below ``spill``, removed at the end."""
    import_optional("pyarrow", extra="data", purpose=purpose)
    if spill is not None and not Path(spill).is_dir():
        raise InputError(f"spill must be a folder that exists; {spill} does not. Create it first.")
    with duckdb_connection(extra="data", purpose=purpose, memory=memory, spill=spill) as connection:
        # Keeping the order of rows would make DuckDB hold back much of a large file.
        connection.execute("SET preserve_insertion_order = false")
        yield Database(connection, progress)


def _gzipped(path: Path) -> bool:
    return path.name.lower().endswith(".gz")


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _find(name: str, files: Sequence[Path]) -> Path | None:
    """Return the file of a table; two that differ in case only are refused."""
    for ending in _ENDINGS:
        fitting = [path for path in files if path.name.lower() == (name + ending).lower()]
        if len(fitting) > 1:
            names = " and ".join(path.name for path in fitting)
            raise InputError(f"{fitting[0].parent} holds {names}; keep only one of them.")
        if fitting:
            return fitting[0]
    return None


def _with_header(name: str, path: Path, wanted: Collection[str]) -> SourceTable:
    """Read the names of the columns and check that the wanted ones are there, once."""
    try:
        with gzip.open(path) if _gzipped(path) else path.open("rb") as file:
            line = file.readline(1 << 16).decode("utf-8-sig")
    except (OSError, EOFError, UnicodeDecodeError, zlib.error) as error:
        raise InputError(f"cannot read the header of {path}: {first_line(error)}. {COPY_AGAIN}") from error
    columns = tuple(column.strip().lower() for column in next(csv.reader([line]), []))
    missing = [column for column in wanted if column not in columns]
    if missing:
        there = line.strip()[:200] or "nothing"
        raise InputError(f"{path} must have the columns {', '.join(missing)}, but its header has only: {there}.")
    if len(set(columns)) < len(columns):
        twice = sorted({column for column in columns if columns.count(column) > 1})
        raise InputError(f"{path} names the column {twice[0]!r} twice in its header; keep one of them.")
    return SourceTable(name, path, columns)


def _verify(path: Path, stop: threading.Event) -> None:
    """Read a gzipped file to its end, where its checksum is."""
    if not _gzipped(path):
        return
    try:
        with gzip.open(path) as file:
            while not stop.is_set() and file.read(1 << 20):
                pass
    except EOFError as error:
        raise InputError(f"{path} is cut off before the end of its compressed data. {COPY_AGAIN}") from error
    except (OSError, zlib.error) as error:
        raise InputError(f"{path} is damaged ({first_line(error)}). {COPY_AGAIN}") from error
