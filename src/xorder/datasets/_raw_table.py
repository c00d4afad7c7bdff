"""What a raw table holds, whatever its file looks like, and a hash that says whether it is the expected one.

Public copies of one table differ in header, separator, quotes, blanks, line ends, and in how numbers and missing
values are written. So cells are read into columns first, numbers as single precision, and only then hashed. The csv
reader of the engines, a layer above, shares nothing with this: it streams one dialect, and keeps every cell as it is.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import math
import zipfile
import zlib
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xorder.exceptions import InputError

# The largest of the open sets is 4 MB of text; anything far beyond is another file, or made to fill the memory.
MOST_BYTES = 64 << 20


def read_text(path: Path, *, member: str | None = None, shown: str | None = None) -> str:
    """Return the text of a file; from a zip archive that of ``member``, or of its only file.

    ``shown`` is what messages call the file, if not by its path.
    """
    shown = shown or str(path)
    try:
        with path.open("rb") as handle:
            start = handle.read(4)
        if start == b"PK\x03\x04":
            data = _from_zip(path, member, shown)
        else:
            with gzip.open(path) if start[:2] == b"\x1f\x8b" else path.open("rb") as handle:
                data = handle.read(MOST_BYTES + 1)
    except (EOFError, zlib.error, gzip.BadGzipFile, zipfile.BadZipFile, RuntimeError, NotImplementedError) as error:
        raise InputError(f"{shown} is damaged or was cut off ({error}); get it again.") from error
    except OSError as error:
        raise InputError(f"cannot read {shown}: {error.strerror or error}.") from error
    if len(data) > MOST_BYTES:
        raise InputError(f"{shown} holds more than {MOST_BYTES >> 20} MiB of text, so it is not the expected file.")
    # A byte that is not UTF-8 becomes a mark that no hash of the expected content matches.
    return data.decode("utf-8-sig", errors="replace")


def _from_zip(path: Path, member: str | None, shown: str) -> bytes:
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if not name.endswith("/")]
        wanted = [name for name in names if len(names) == 1 or name.rpartition("/")[2] == member]
        if not wanted:
            raise InputError(f"{shown} holds no {member}; it holds {', '.join(names[:10]) or 'nothing'}.")
        with archive.open(wanted[0]) as handle:
            return handle.read(MOST_BYTES + 1)


# column -> its cells: float64 with NaN where missing, or text with "" where missing
RawTable = dict[str, NDArray[Any]]

_MISSING = frozenset({"", "?", "NA", "N/A", "NaN", "nan", "NULL", "null", "None"})


@dataclass(frozen=True, slots=True)
class Layout:
    """What a raw table must hold.

    Attributes
    ----------
    columns : names of the columns wanted, in lower case
    numbers : those of them that hold numbers
    rows : how many rows there are
    sha256 : hash of the content, from :func:`fingerprint`
    """

    columns: tuple[str, ...]
    numbers: Collection[str]
    rows: int
    sha256: str


def read_table(path: Path, layout: Layout, *, member: str | None = None, shown: str | None = None) -> RawTable:
    """Read a raw table and make sure that it is the expected one, or say what differs."""
    shown = shown or str(path)
    table = parse_table(read_text(path, member=member, shown=shown), layout, shown=shown)
    rows = len(table[layout.columns[0]])
    if rows != layout.rows:
        raise InputError(f"{shown} must hold {layout.rows:,} rows; it holds {rows:,}, so it is not the public file.")
    if fingerprint(table) != layout.sha256:
        raise InputError(
            f"{shown} has the columns and the {rows:,} rows of the public file but other values, or another order of "
            "rows; use an unchanged copy."
        )
    return table


def parse_table(text: str, layout: Layout, *, shown: str = "the table") -> RawTable:
    """Turn csv text, or text separated by blanks, into columns.

    A header that names the wanted columns is followed, in any order and among other columns; otherwise columns go by
    their position, if there are as many as wanted, and a first line that is not data is taken for a header with other
    names.
    """
    rows = _split(text, shown)
    if not rows:
        raise InputError(f"{shown} is empty.")
    width = len(rows[0])
    for number, row in enumerate(rows, start=1):
        if len(row) != width:
            raise InputError(f"{shown}, row {number}: {len(row)} cells where the first row has {width}.")
    header = [cell.lower() for cell in rows[0]]
    lacking = [column for column in layout.columns if column not in header]
    if not lacking:
        positions = [header.index(column) for column in layout.columns]
        body = rows[1:]
    elif width == len(layout.columns):
        positions = list(range(width))
        body = rows if _is_data(rows[0], layout) else rows[1:]
    else:
        raise InputError(
            f"{shown} must have the columns {', '.join(layout.columns)}; among its {width} columns there is no "
            f"{', '.join(lacking)}."
        )
    table: RawTable = {}
    for column, position in zip(layout.columns, positions, strict=True):
        cells = ["" if row[position] in _MISSING else row[position] for row in body]
        table[column] = _numbers(column, cells, shown) if column in layout.numbers else np.array(cells, dtype=object)
    return table


def fingerprint(table: RawTable) -> str:
    """SHA-256 of a table's columns in their order: names, numbers in single precision, text."""
    digest = hashlib.sha256()
    for column, cells in table.items():
        digest.update(f"{column}\n".encode())
        if cells.dtype == np.float64:
            # One pattern of bits for every missing number.
            single = np.where(np.isnan(cells), np.float32(np.nan), cells.astype(np.float32))
            digest.update(single.astype("<f4").tobytes())
        else:
            digest.update("\x1f".join(cells.tolist()).encode())
        digest.update(b"\x1e")
    return digest.hexdigest()


def _split(text: str, shown: str) -> list[list[str]]:
    first = next((line for line in text.splitlines() if line.strip()), "")
    delimiter = next((mark for mark in ",;\t" if mark in first), None)
    if delimiter is None:
        rows = [line.split() for line in text.splitlines()]
    else:
        try:
            rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True))
        except csv.Error as error:
            raise InputError(f"{shown} cannot be read as a table: {error}.") from error
    stripped = ([cell.strip() for cell in row] for row in rows)
    return [row for row in stripped if any(row)]


def _is_data(row: list[str], layout: Layout) -> bool:
    """Whether the cells that must be numbers are."""
    numbers = (cell for column, cell in zip(layout.columns, row, strict=True) if column in layout.numbers)
    return all(cell in _MISSING or _is_number(cell) for cell in numbers)


def _is_number(cell: str) -> bool:
    try:
        return math.isfinite(float(cell))
    except ValueError:
        return False


def _numbers(column: str, cells: list[str], shown: str) -> NDArray[np.float64]:
    wrong = next((cell for cell in cells if cell and not _is_number(cell)), None)
    if wrong is not None:
        raise InputError(f"{shown}: the column {column} must hold numbers; got {wrong!r}.")
    # 28.4 and 28.399999618530273 are the same single-precision number, and copies use either.
    return np.array([float(cell or "nan") for cell in cells], dtype=np.float32).astype(np.float64)
