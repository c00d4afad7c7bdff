"""Score maps applied to files of any size: DuckDB writes parquet again with one more column, in bounded memory."""

from __future__ import annotations

import os
import threading
from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from xorder._atomic import atomic_path
from xorder._duckdb import duckdb_connection
from xorder._progress import Progress
from xorder._table import FloatArray
from xorder.engines.apply import adjusting, check_maps
from xorder.engines.apply_duckdb import mapping_select
from xorder.engines.endings import file_kind
from xorder.engines.frame_files import blaming_files, find_files, reader_of
from xorder.engines.labels import PLACE, Complaints, GroupNumbers
from xorder.engines.rows import add_column
from xorder.exceptions import InputError
from xorder.transfer import ScoreMap
from xorder.transfer.sql import text

# Compressions of parquet that DuckDB writes.
_COMPRESSIONS = ("SNAPPY", "ZSTD", "GZIP", "LZ4_RAW", "BROTLI", "UNCOMPRESSED")
_LOOK_SECONDS = 0.5
# Stands for a missing group of a csv file, among texts that can be anything else.
_LOST = "\0missing"


class UnusableRowError(InputError):
    """A row that cannot be adjusted, without its place: DuckDB does not tell."""


def map_file(
    path: str | os.PathLike[str],
    out: str | os.PathLike[str],
    maps: Mapping[Hashable, ScoreMap],
    *,
    score: str,
    group: str,
    into: str = "adjusted",
    missing: Hashable | None = None,
    overwrite: bool = False,
    memory: str = "2GB",
    progress: Progress | None = None,
    encoding: str = "utf-8",
) -> int:
    """Write the rows of a file, or of all parquet files of a glob, to one file with one more column; return how many.

    Rows keep their order, and columns their names, order, values and types; of a csv file each byte stays. Parquet
    keeps its compression and its own notes, but a column that pandas or polars would read as categories comes back as
    text. DuckDB's memory is capped by ``memory``, whatever the size of the file; ``out`` appears when it is complete,
    and not at all if something goes wrong. It may be the file that is read, if ``overwrite`` allows it.

    Groups are matched as in :func:`xorder.engines.map_frame`; those of nothing but blanks are missing. ``progress`` is
    called now and then with what is being done and the share that is done, or None.
    """
    check_maps(maps, missing)
    files = find_files(path)
    kind = file_kind(files[0])
    if file_kind(os.fspath(out)) != kind:
        raise InputError(
            f"cannot write {os.fspath(out)}: the output keeps the format of {os.fspath(path)}; name a {kind} file."
        )
    complaints = Complaints(maps, score=score, group=group)
    if kind == "csv":
        if len(files) > 1:
            raise InputError(f"{os.fspath(path)} names {len(files):,} csv files; adjust them one at a time.")
        known = GroupNumbers(maps, complaints, missing)
        adjust = adjusting(maps)

        def transform(scores: FloatArray, groups: Any) -> FloatArray:
            labels, codes = np.unique(groups, return_inverse=True)
            texts = [None if label == _LOST else label for label in labels.tolist()]
            return adjust(scores, np.array([known[label] for label in texts])[codes])

        return add_column(
            path,
            out,
            score=score,
            group=group,
            into=into,
            transform=transform,
            missing=None if missing is None else _LOST,
            overwrite=overwrite,
            encoding=encoding,
            progress=progress,
        )
    with atomic_path(out, overwrite=overwrite) as temporary, _blaming_rows(path, complaints):
        spill = Path(os.path.realpath(out)).parent
        with duckdb_connection(
            extra="duckdb", purpose="Adjusting parquet files", memory=memory, spill=spill
        ) as connection:

            def keep(query: str) -> str:
                # Of a table DuckDB can tell how far it is, of a query within a query not.
                connection.execute(f"CREATE TEMP TABLE knots AS {query}")
                return "temp.knots"

            source = reader_of(files)
            shape = connection.sql(f"SELECT * FROM {source}")
            query = mapping_select(
                source,
                dict(zip(shape.columns, map(str, shape.types), strict=True)),
                maps,
                score=score,
                group=group,
                into=into,
                missing=missing,
                blanks=True,
                keep=keep,
            )
            options = f"FORMAT parquet, {_as_before(connection, files[0])}"
            with _watching(connection, progress):
                copied = connection.execute(f"COPY ({query}) TO {text(str(temporary))} ({options})").fetchone()
        rows = int(copied[0]) if copied else 0
        if not rows:
            raise InputError(f"{os.fspath(path)} has columns but no rows; nothing can be computed from it.")
    return rows


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
def _watching(connection: Any, progress: Progress | None) -> Iterator[None]:
    """Tell now and then how far DuckDB is, from a thread beside it."""
    if progress is None:
        yield
        return
    # Without these DuckDB keeps no count of how far it is, and would print it.
    connection.execute("SET enable_progress_bar = true")
    connection.execute("SET enable_progress_bar_print = false")
    over = threading.Event()

    def watch() -> None:
        while not over.wait(_LOOK_SECONDS):
            share = connection.query_progress() / 100
            progress("adjusting scores", share if 0 <= share <= 1 else None)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()


@contextmanager
def _blaming_rows(path: str | os.PathLike[str], complaints: Complaints) -> Iterator[None]:
    """Tell in the user's words what DuckDB stumbled over: a row that cannot be adjusted, or a damaged file."""
    try:
        with blaming_files(path):
            yield
    except InputError as error:
        said = str(error.__cause__ or "")
        for complaint in (complaints.score, complaints.missing, complaints.unknown):
            before, _, after = complaint.partition(PLACE)
            start = said.find(before)
            if start >= 0 and after in said[start:]:
                end = said.index(after, start) + len(after) if after else start + len(before)
                raise UnusableRowError(f"{os.fspath(path)}: {said[start:end]}") from error
        raise
