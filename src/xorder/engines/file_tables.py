"""Tables of one file or many: small files row by row, large ones in DuckDB."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from xorder._optional import import_optional
from xorder._progress import Progress
from xorder._validation import MISSING, check_tables
from xorder.engines.columns import written
from xorder.engines.endings import file_kind
from xorder.engines.frame_files import find_files
from xorder.engines.frame_tables import FrameTables, tables_of_frame
from xorder.engines.rows import check_rows, read_rows
from xorder.exceptions import InputError
from xorder.metrics.deviation import Deviation

LARGE = 1 << 26
"""Bytes, unpacked, from which on a file is added up in DuckDB, in memory that does not grow with it."""

# How many times smaller gzip makes text at most, as a rule; bytes that a row takes in memory.
_PACKED = 10
_ROW = 32


def tables_of_file(
    path: str | os.PathLike[str],
    *,
    score: str,
    label: str,
    group: str,
    weight: str | None = None,
    positive: str | None = None,
    missing_group: str = "error",
    encoding: str = "utf-8",
    memory: str = "2GB",
    progress: Progress | None = None,
    large: int = LARGE,
) -> FrameTables:
    """Build one table a group from a csv or parquet file, or from all that a glob names; groups are text as written.

    A small file needs no engine, and what is wrong with it is told with the line. A file of more than ``large`` bytes,
    as plain text or numbers, and several files go through DuckDB, in memory that does not grow with them. A single one
    is read into memory where DuckDB is not installed, and where it refuses what row by row nothing is wrong with: lines
    that end in different ways, columns whose names differ in case alone, encodings other than UTF-8.
    """
    names: dict[str, Any] = {"score": score, "label": label, "group": group, "weight": weight}
    missing = None if missing_group == "error" else MISSING
    files = files_of(path)
    if not utf_8(encoding) and len(files) > 1:
        raise InputError(f"{os.fspath(path)} names {len(files):,} files, which are read as utf-8 only; convert them.")
    if not utf_8(encoding) or not in_engine(files, large):
        return _tables_of_rows(files[0], names, positive, missing, encoding, progress)
    try:
        found = tables_of_frame(
            path,
            **names,
            positive=positive,
            missing_group=missing_group,
            squares=True,
            memory=memory,
            progress=progress,
        )
    except InputError:
        # Row by row the same complaint comes with its place in the file.
        for file in files:
            check_rows(file, **names, positive=positive, missing=missing, encoding=encoding, progress=progress)
        if len(files) > 1 or file_kind(files[0]) != "csv":
            raise
        return _tables_of_rows(files[0], names, positive, missing, encoding, progress)
    return _as_written(found)


def in_engine(files: Sequence[str], large: int = LARGE) -> bool:
    """Whether files go through DuckDB: many always, a single one if it is large and DuckDB is there."""
    if len(files) > 1:
        return True
    has_duckdb = all(importlib.util.find_spec(name) is not None for name in ("duckdb", "pyarrow"))
    # What is wrong with a file that is none is for its reader to say.
    return has_duckdb and Path(files[0]).is_file() and _unpacked(files[0]) >= large


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


def files_of(path: str | os.PathLike[str]) -> list[str]:
    """Files that a path or glob names; a name without a pattern is itself, whether it is there or not."""
    return find_files(path) if set("*?[") & set(os.fspath(path)) and not Path(path).exists() else [os.fspath(path)]


def utf_8(encoding: str) -> bool:
    """Whether an encoding is the one that DuckDB reads."""
    return encoding.lower().replace("_", "-") in ("utf-8", "utf8", "utf-8-sig")


def _tables_of_rows(
    path: str,
    names: dict[str, Any],
    positive: str | None,
    missing: str | None,
    encoding: str,
    progress: Progress | None,
) -> FrameTables:
    rows = read_rows(path, **names, positive=positive, missing=missing, encoding=encoding, progress=progress)
    weight = rows.sample_weight
    tables = check_tables(rows.y_true, rows.y_score, rows.groups, weight)
    squares = None
    if weight is not None:
        # No row may vanish in the squares.
        square = np.where(weight > 0, np.maximum(weight**2, np.finfo(np.float64).tiny), 0.0)
        squares = list(check_tables(rows.y_true, rows.y_score, rows.groups, square).values())
    return FrameTables(
        tables=tables,
        squares=squares,
        deviation=Deviation.none(tuple(tables)),
        rows=rows.y_score.size,
        passes=1,
        whole_weights=weight is None or bool(np.all(weight == np.floor(weight))),
    )


def _as_written(found: FrameTables) -> FrameTables:
    """Groups as text, sorted as such; values that are written alike, such as 1 and '1', are refused."""
    order = sorted(found.tables, key=written)
    squares = dict(zip(found.tables, found.squares, strict=True)) if found.squares is not None else None
    if len({written(group) for group in order}) < len(order):
        raise InputError("the group column has values that are written alike but differ, such as 1 and '1'.")
    return replace(
        found,
        tables={written(group): found.tables[group] for group in order},
        squares=None if squares is None else [squares[group] for group in order],
        deviation=found.deviation.renamed({group: written(group) for group in order}),
    )
