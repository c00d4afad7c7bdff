"""Raw files: what they hold, whatever they look like, and where they are found.

Public copies of one table differ in header, separator, quotes, blanks, line ends, and in how numbers and missing
values are written. So cells are read into columns first, numbers as single precision, and only then hashed. The csv
reader of the engines, a layer above, shares nothing with this: it streams one dialect, and keeps every cell as it is.

A file is looked for in ``data_home``, then ``XORDER_DATA``, then a per-user cache, then at its public origin.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import math
import os
import sys
import zipfile
import zlib
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xorder._groups import number
from xorder.datasets._download import MOST_BYTES, DownloadError, byte_bar, download, file_name
from xorder.exceptions import InputError, warn_caller


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
    for place, row in enumerate(rows, start=1):
        if len(row) != width:
            raise InputError(f"{shown}, row {place}: {len(row)} cells where the first row has {width}.")
    header = [cell.lower() for cell in rows[0]]
    lacking = [column for column in layout.columns if column not in header]
    if not lacking:
        positions = [header.index(column) for column in layout.columns]
        body = rows[1:]
    elif width == len(layout.columns):
        positions = list(range(width))
        # The first row is data if its cells that must be numbers are.
        numbers = (cell for column, cell in zip(layout.columns, rows[0], strict=True) if column in layout.numbers)
        body = rows if all(cell in _MISSING or math.isfinite(number(cell)) for cell in numbers) else rows[1:]
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
    return [row for row in ([cell.strip() for cell in row] for row in rows) if any(row)]


def _numbers(column: str, cells: list[str], shown: str) -> NDArray[np.float64]:
    wrong = next((cell for cell in cells if cell and not math.isfinite(number(cell))), None)
    if wrong is not None:
        raise InputError(f"{shown}: the column {column} must hold numbers; got {wrong!r}.")
    # 28.4 and 28.399999618530273 are the same single-precision number, and copies use either.
    return np.array([number(cell) for cell in cells], dtype=np.float32).astype(np.float64)


DataHome = str | os.PathLike[str] | None


@dataclass(frozen=True, slots=True)
class RawFile:
    """A public file: the names it goes by, the addresses that have it, and what it must hold.

    Attributes
    ----------
    folder : the folder it may lie in, below a folder of data; the name of the data set
    names : names it may have there, with or without ``.gz``; those at ``urls`` count too
    urls : addresses, the first to be tried first
    layout : what it must hold
    member : its name within a zip archive
    """

    folder: str
    names: tuple[str, ...]
    urls: tuple[str, ...]
    layout: Layout
    member: str | None = None

    def find(self, folder: Path) -> Path | None:
        """Return the file below a folder of data, or None."""
        names = dict.fromkeys([*self.names, *map(file_name, self.urls)])
        homes = (folder / self.folder, folder)
        paths = (home / f"{name}{end}" for home in homes for name in names for end in ("", ".gz"))
        return next(filter(Path.is_file, paths), None)

    def save_as(self, folder: Path) -> Path:
        """Return where to put the file by hand below a folder of data, under the name it is published by."""
        return folder / self.folder / file_name(self.urls[0])

    def read(self, path: Path, shown: str | None = None) -> RawTable:
        """Read and verify it."""
        return read_table(path, self.layout, member=self.member, shown=shown)


def cache_folder(platform: str = sys.platform, environ: Mapping[str, str] = os.environ) -> Path:
    """Where downloads are kept: ``XORDER_CACHE``, or the folder this system has for caches."""
    if environ.get("XORDER_CACHE"):
        return Path(environ["XORDER_CACHE"]).expanduser()
    if platform == "win32" and environ.get("LOCALAPPDATA"):
        return Path(environ["LOCALAPPDATA"], "xorder", "Cache")
    # A relative path is to be ignored, says the XDG specification.
    if platform not in ("win32", "darwin") and Path(environ.get("XDG_CACHE_HOME", "")).is_absolute():
        return Path(environ["XDG_CACHE_HOME"], "xorder")
    try:
        home = Path.home()
    except RuntimeError as error:
        raise InputError(f"no folder for downloads: {error} Name one with XORDER_CACHE.") from error
    usual = {"win32": home / "AppData" / "Local" / "xorder" / "Cache", "darwin": home / "Library" / "Caches" / "xorder"}
    return usual.get(platform, home / ".cache" / "xorder")


def data_folders(data_home: DataHome = None) -> Iterator[Path]:
    """Yield the folders to look in: ``data_home`` if given, then that of ``XORDER_DATA``, then the cache.

    A ``data_home`` that is not a folder is an error. ``XORDER_DATA`` may be set for other work, so what is not a folder
    there is a warning, when its turn comes.
    """
    if data_home is not None:
        folder = Path(data_home).expanduser()
        if not folder.is_dir():
            raise InputError(f"data_home names {folder}, which is not a folder; correct it, or leave it out.")
        yield folder
    if named := os.environ.get("XORDER_DATA"):
        folder = Path(named).expanduser()
        if folder.is_dir():
            yield folder
        else:
            said = f"XORDER_DATA names {folder}, which is not a folder, so nothing is looked for there; correct it."
            warn_caller(said)
    # Without any folder for a cache nothing is in it; that matters only to a download.
    with suppress(InputError):
        yield cache_folder()


def find_raw(raw: RawFile, data_home: DataHome = None) -> Path | None:
    """Return the file if it is in one of the folders to look in, the first that has it."""
    return next(filter(None, map(raw.find, data_folders(data_home))), None)


def saving_folder(data_home: DataHome = None) -> Path:
    """Where a download goes: ``data_home`` if given, else the cache."""
    return cache_folder() if data_home is None else Path(data_home).expanduser()


def load_raw(raw: RawFile, data_home: DataHome = None) -> RawTable:
    """Read the raw table; if it is nowhere, after downloading it into ``data_home``, or else into the cache."""
    return raw.read(find_raw(raw, data_home) or _download(raw, saving_folder(data_home)))


def fetch_raw(raw: RawFile, data_home: DataHome = None) -> Path:
    """Return a verified file: the one that is there, or one downloaded into ``data_home`` or the cache.

    If ``data_home`` is given, the file must be there: a copy elsewhere does not count, and the folder is created.
    """
    path = find_raw(raw) if data_home is None else raw.find(Path(data_home).expanduser())
    if path is None:
        return _download(raw, saving_folder(data_home))
    raw.read(path)
    return path


def _download(raw: RawFile, home: Path) -> Path:
    try:
        with byte_bar(f"{raw.folder}: downloading", sys.stderr) as show:
            return download(raw.urls, home / raw.folder, raw.read, progress=show)
    except DownloadError as error:
        raise DownloadError(
            f"cannot download the {raw.folder} table ({error}). Get {raw.urls[0]} by another way and save it as "
            f"{raw.save_as(home)}, or in a folder that data_home or XORDER_DATA names."
        ) from error
