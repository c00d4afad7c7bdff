"""Score maps applied to parquet files of any size: DuckDB writes them again with one more column, in bounded memory."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from xorder._duckdb import duckdb_connection, first_line, poll_progress
from xorder._optional import import_optional
from xorder._table import IntArray
from xorder.engines._apply_duckdb import counting_select, mapping_select
from xorder.engines._cells import ReadingOptions
from xorder.engines._match_groups import GroupMaps, UnusableRowError, nothing_seen
from xorder.engines._sources import blaming_files, find_files, reader_of
from xorder.transfer._sql import text

_PURPOSE = "Adjusting parquet files"

# Compressions of parquet that DuckDB writes.
_COMPRESSIONS = ("SNAPPY", "ZSTD", "GZIP", "LZ4_RAW", "BROTLI", "UNCOMPRESSED")

# Types of Arrow that come back from DuckDB as they went in, and those that both write in the same way.
_KEPT = {"string", "bool", "float", "double", "date32[day]", "timestamp[us]"} | {
    f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)
}
_WRITTEN_ALIKE = {kind for kind in _KEPT if "int" in kind} | {"string"}


def keeps_types(path: str, groups: Sequence[str]) -> bool:
    """Whether DuckDB writes all columns of a file in the types they have, and groups as they are written elsewhere."""
    pq = import_optional("pyarrow.parquet", extra="parquet", purpose="Reading parquet files")
    try:
        schema = pq.read_schema(path)
    except (OSError, ValueError):
        # What is wrong with it is for its reader to say.
        return False
    kinds = {field.name: str(field.type) for field in schema}
    return set(kinds.values()) <= _KEPT and {kinds.get(group, "string") for group in groups} <= _WRITTEN_ALIKE


def copy_in_duckdb(
    maps: GroupMaps, path: str | os.PathLike[str], out: Path, options: ReadingOptions, into: str
) -> IntArray:
    """Write all parquet files that a path or glob names to one, with one more column; return what was counted.

    Parquet keeps its compression and its own notes, but a column that pandas or polars would read as categories comes
    back as text. DuckDB's memory is capped, whatever the size of the files.
    """
    duckdb = import_optional("duckdb", extra="duckdb", purpose=_PURPOSE)
    files, names = find_files(path), options.names
    opening = duckdb_connection(extra="duckdb", purpose=_PURPOSE, memory=options.memory, spill=out.parent)
    with blaming_files(path), opening as connection:

        def keep(query: str) -> str:
            # DuckDB knows how far it is in a table, but not in a query within a query.
            connection.execute(f"CREATE TEMP TABLE knots AS {query}")
            return "temp.knots"

        source = reader_of(files)
        shape = connection.sql(f"SELECT * FROM {source}")
        types = dict(zip(shape.columns, map(str, shape.types), strict=True))
        query = mapping_select(source, types, maps, names, into, blanks=True, keep=keep)
        kept = f"FORMAT parquet, {_as_before(connection, files[0])}"
        with _watching(connection, partial(options.watch, "adjusting scores")):
            try:
                connection.execute(f"COPY ({query}) TO {text(str(out))} ({kept})")
            except duckdb.InvalidInputException as error:
                # So the query fails on a row that cannot be adjusted.
                raise UnusableRowError(f"{os.fspath(path)}: {first_line(error)}.") from error
        seen = nothing_seen(maps)
        for number, *rows in connection.execute(counting_select(source, types, maps, names)).fetchall():
            seen[:, number] = rows
    return seen


def _as_before(connection: Any, file: str) -> str:
    """Return the options that keep the compression of a file, and its notes but those that describe its columns."""
    found = connection.execute(f"SELECT compression FROM parquet_metadata({text(file)}) LIMIT 1").fetchone()
    compression = found[0] if found and found[0] in _COMPRESSIONS else "SNAPPY"
    notes = connection.execute(f"SELECT key, value FROM parquet_kv_metadata({text(file)})").fetchall()
    kept = {
        bytes(key).decode(): bytes(value)
        for key, value in notes
        if bytes(key) not in (b"ARROW:schema", b"pandas") and value is not None
    }
    options = f"COMPRESSION {compression}"
    if kept:
        pairs = ", ".join(
            f"{text(key)}: '{''.join(f'{chr(92)}x{byte:02X}' for byte in value)}'::BLOB" for key, value in kept.items()
        )
        options += f", KV_METADATA {{{pairs}}}"
    return options


@contextmanager
def _watching(connection: Any, report: Callable[[float | None], None]) -> Iterator[None]:
    """Report now and then how far DuckDB is, from a thread beside it."""
    over = threading.Event()
    watcher = threading.Thread(target=poll_progress, args=(connection, report, over), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()
