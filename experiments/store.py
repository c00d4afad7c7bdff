"""Result files: one line of JSON a cell, appended whole.

A line goes out in one write to a file opened for appending, and to the disk before the next cell counts as done. If
a run is killed while writing, the last line may be torn: it is left out when read and cut off by the next run.
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Any

from xorder.exceptions import InputError

Row = dict[str, Any]

# What a row is about; of rows alike in these the last one counts.
KEY = ("data", "splits", "model", "method", "metric", "parameter", "split")


def key_of(row: Row) -> tuple[Any, ...]:
    return tuple(row[name] for name in KEY)


def read(*paths: Path) -> list[Row]:
    """Return the rows of result files, plain or gzipped; of several rows about one cell the last."""
    found: dict[tuple[Any, ...], Row] = {}
    for path in paths:
        for row in _lines(path):
            found[key_of(row)] = row
    return list(found.values())


def _lines(path: Path) -> Iterable[Row]:
    if not path.exists():
        raise InputError(f"{path} does not exist; python -m experiments run writes it.")
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    whole = content[: content.rfind(b"\n") + 1]
    for number, line in enumerate(whole.splitlines(), start=1):
        try:
            row = json.loads(line)
            key_of(row)
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"line {number} of {path} is not a result ({error!r}); is it a result file?") from error
        yield row


def pack(rows: Iterable[Row], path: Path) -> None:
    """Write rows sorted and gzipped, the same bytes for the same rows."""
    lines = sorted(json.dumps(row, sort_keys=True) for row in rows)
    content = gzip.compress(("\n".join(lines) + "\n").encode(), compresslevel=9, mtime=0)
    temporary = path.with_name(f".{path.name}.new")
    temporary.write_bytes(content)
    temporary.replace(path)


class Store:
    """A result file held open by one run; a second one is refused."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            # Windows has none.
            import fcntl
        except ImportError as error:
            raise InputError("result files are locked as POSIX does; run this on Linux or macOS.") from error
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._file)
            raise InputError(f"another run is writing to {path}; wait for it, or name another file.") from error
        self._cut_torn_line()

    def _cut_torn_line(self) -> None:
        content = self.path.read_bytes()
        whole = content.rfind(b"\n") + 1
        if whole < len(content):
            os.ftruncate(self._file, whole)
            os.fsync(self._file)

    def rows(self) -> list[Row]:
        return read(self.path)

    def append(self, row: Row) -> None:
        line = (json.dumps(row) + "\n").encode()
        written = os.write(self._file, line)
        if written < len(line):
            raise OSError(f"only {written} of {len(line)} bytes went to {self.path}; is the disk full?")
        os.fsync(self._file)

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._file)
