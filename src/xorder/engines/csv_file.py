"""Records of a csv file with their raw text, so that a column can be added and no other byte changes."""

from __future__ import annotations

import csv
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from operator import itemgetter
from pathlib import Path

import numpy as np

from xorder.engines.columns import CodeArray, Codes, FloatArray, check_columns, check_new_column, number
from xorder.engines.csv_text import (
    BOM,
    blaming_gzip,
    check_round_trip,
    open_for_writing,
    read_blocks,
    resolve_encoding,
)
from xorder.exceptions import InputError

_DELIMITERS = ",;\t|"
_LONGEST_FIELD = 16 << 20
_LIMIT_LOCK = threading.Lock()
_CUT_OFF = "unexpected end of data"
_QUOTES = "Close the quote that opens there, and write a quote inside a quoted field twice."


@dataclass(frozen=True, slots=True)
class CsvBatch:
    """The wanted cells of some records of a csv file, column by column, and the raw lines they were read from.

    Record ``i`` takes the lines from ``starts[i]`` up to, not including, ``ends[i]``; blank lines have no record.
    """

    path: Path
    cells: dict[str, list[str]]
    lines: list[str]
    starts: list[int]
    ends: list[int]
    first_line: int

    def __len__(self) -> int:
        return len(self.ends)

    def floats(self, column: str) -> FloatArray:
        """Return the column as numbers, NaN where a cell is not one."""
        texts = self.cells[column]
        # At once, if none needs the closer look of number().
        if "_" not in "".join(texts):
            try:
                return np.fromiter(map(float, texts), dtype=np.float64, count=len(texts))
            except ValueError:
                pass
        return np.array([number(text) for text in texts], dtype=np.float64)

    def encode(self, column: str, codes: Codes) -> CodeArray:
        """Return the column as numbers of its texts in ``codes``."""
        return np.fromiter(map(codes.__getitem__, self.cells[column]), np.int32, count=len(self))

    def place(self, row: int) -> str:
        """Name the line on which the record starts, as an editor counts them."""
        return f"line {self.first_line + self.starts[row]}"

    def cell(self, column: str, row: int) -> str | None:
        """Return one cell as written."""
        return self.cells[column][row]

    def with_column(self, delimiter: str, values: FloatArray) -> str:
        """Return the raw text with a number added to each record, ahead of its line end."""
        lines = self.lines.copy()
        for end, value in zip(self.ends, values.tolist(), strict=True):
            lines[end - 1] = _append(lines[end - 1], f"{delimiter}{value!r}")
        return "".join(lines)


@dataclass(frozen=True, slots=True)
class _Header:
    """The first record, how its fields are told apart, and the raw lines up to its end."""

    names: list[str]
    delimiter: str
    lines: list[str]


def read_csv(
    path: Path, wanted: Sequence[str], encoding: str, watch: Callable[[float], None] | None = None
) -> Iterator[CsvBatch]:
    """Yield the records of a csv file in batches; memory does not grow with the file."""
    with closing(read_blocks(path, resolve_encoding(path, encoding), watch)) as blocks:
        header, lines = _read_header(path, blocks)
        check_columns(path, header.names, wanted)
        yield from _batches(path, header, wanted, lines, blocks)


def csv_header(path: Path, encoding: str = "utf-8") -> tuple[list[str], str, int]:
    """Return the names of the columns, the delimiter, and how many records, blank lines included, end the header."""
    with blaming_gzip(path), closing(read_blocks(path, resolve_encoding(path, encoding))) as blocks:
        header, _ = _read_header(path, blocks)
    blank = 0
    while not header.lines[blank].strip(f"{BOM}\r\n"):
        blank += 1
    return header.names, header.delimiter, blank + 1


def write_csv(
    path: Path,
    temporary: Path,
    *,
    compress: bool,
    wanted: Sequence[str],
    into: str,
    encoding: str,
    compute: Callable[[CsvBatch], FloatArray],
    watch: Callable[[float], None] | None = None,
) -> int:
    """Write the file to ``temporary`` with one more column, gzipped or not."""
    encoding = resolve_encoding(path, encoding)
    check_round_trip(path, encoding)
    with closing(read_blocks(path, encoding, watch)) as blocks:
        header, lines = _read_header(path, blocks)
        check_new_column(path, header.names, into)
        try:
            into.encode(encoding)
        except UnicodeEncodeError as error:
            raise InputError(f"the column name {into!r} cannot be written in {encoding}; choose another.") from error
        check_columns(path, header.names, wanted)
        title = header.delimiter + _quote(into, header.delimiter)
        rows = 0
        with open_for_writing(temporary, encoding, compress=compress) as file:
            file.write("".join(header.lines[:-1]) + _append(header.lines[-1], title))
            for batch in _batches(path, header, wanted, lines, blocks):
                values = compute(batch) if len(batch) else np.empty(0)
                file.write(batch.with_column(header.delimiter, values))
                rows += len(batch)
    return rows


def _read_header(path: Path, blocks: Iterator[list[str]]) -> tuple[_Header, list[str]]:
    """Read the first record that is not blank; return it and the lines that follow it in its block."""
    lines: list[str] = []
    for block in blocks:
        lines += block
        if any(line.strip(f"{BOM}\r\n") for line in block):
            break
    else:
        raise InputError(f"{path} is empty; it needs a header with the names of the columns, and rows.")
    mark = BOM if lines[0].startswith(BOM) else ""
    lines[0] = lines[0].removeprefix(BOM)
    best: tuple[bool, int] | None = None
    for delimiter in _DELIMITERS:
        reader = csv.reader(lines, delimiter=delimiter, strict=True)
        try:
            with _long_fields():
                names = next(filter(None, reader))
        except csv.Error:
            continue
        # In a quoted field, quotes come twice and two are around it. Fewer tell that the delimiter cut one in two.
        inner = [name.count('"') for name in names if '"' in name]
        rank = "".join(lines[: reader.line_num]).count('"') >= 2 * (sum(inner) + len(inner)), len(names)
        if best is None or rank > best:
            best = rank
            header = _Header(names, delimiter, lines[: reader.line_num])
    if best is None:
        raise InputError(f"{path}: the quotes in the header do not pair up. {_QUOTES}")
    rest = lines[len(header.lines) :]
    header.lines[0] = mark + header.lines[0]
    return header, rest


def _batches(
    path: Path, header: _Header, wanted: Sequence[str], lines: list[str], blocks: Iterator[list[str]]
) -> Iterator[CsvBatch]:
    """Parse the lines block by block; a record cut off by the end of a block waits for the next one."""
    first = len(header.lines) + 1
    blocks_wanted = 1
    while lines := lines or next(blocks, []):
        batch, error = _parse(path, header, wanted, lines, first)
        used = len(batch.lines)
        if used:
            yield batch
        first += used
        lines = lines[used:]
        if error:
            # Twice as much each time, so that a long record is not parsed over and over.
            blocks_wanted = 1 if used else 2 * blocks_wanted
            more = list(islice(blocks, blocks_wanted)) if error == _CUT_OFF else []
            if not more:
                raise InputError(f"{path}, line {first}: {_explain(error)}")
            lines.extend(chain.from_iterable(more))


def _parse(
    path: Path, header: _Header, wanted: Sequence[str], lines: list[str], first: int
) -> tuple[CsvBatch, str | None]:
    """Parse records up to the end of the lines or to the first that cannot be used; say what is wrong with it."""
    width = len(header.names)
    pick = itemgetter(*map(header.names.index, wanted))
    # One flat list of cells: a list per record, kept, would make the garbage collector go over all of them.
    flat: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    used, stopped = 0, None
    reader = csv.reader(lines, delimiter=header.delimiter, strict=True)
    try:
        with _long_fields():
            for record in reader:
                if len(record) == width:
                    flat.extend(pick(record))
                    starts.append(used)
                    ends.append(reader.line_num)
                elif record:
                    stopped = f"{len(record)} fields, but the header has {width}"
                    break
                used = reader.line_num
    except csv.Error as error:
        stopped = str(error)
    cells = {name: flat[place :: len(wanted)] for place, name in enumerate(wanted)}
    return CsvBatch(path, cells, lines[:used], starts, ends, first), stopped


def _explain(error: str) -> str:
    """Tell in the user's words what is wrong with the record at which the parser stopped."""
    if "fields" in error:
        return f"{error}. Check the delimiters and quotes of this line."
    if "field limit" in error:
        return (
            f"the record that starts here has a field of more than {_LONGEST_FIELD >> 20} MiB. "
            "If its quote is never closed, close it; else shorten the field."
        )
    return f"the quotes of the record that starts here do not pair up. {_QUOTES}"


@contextmanager
def _long_fields() -> Iterator[None]:
    """Allow long fields while a block is parsed.

    The csv module has one limit for the whole process. It is put back after each block, and the lock keeps
    two threads from mixing up what to put back; others may see a higher limit for a moment.
    """
    with _LIMIT_LOCK:
        before = csv.field_size_limit()
        csv.field_size_limit(max(before, _LONGEST_FIELD))
        try:
            yield
        finally:
            csv.field_size_limit(before)


def _append(line: str, field: str) -> str:
    """Add a field ahead of the line end, which a line has once or, at the end of a file, not at all."""
    body = line.rstrip("\r\n")
    return body + field + line[len(body) :]


def _quote(name: str, delimiter: str) -> str:
    if any(character in name for character in f'{delimiter}"\r\n'):
        return '"' + name.replace('"', '""') + '"'
    return name
