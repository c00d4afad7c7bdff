"""A csv file, plain or gzipped: its text, its records, and errors that name the line.

Records keep their raw text, so that a column can be added and no other byte changes.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import math
import re
import sys
import threading
import zlib
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from itertools import chain, islice
from operator import itemgetter
from pathlib import Path
from typing import IO, TextIO, cast

import numpy as np

from xorder._groups import number
from xorder._table import FloatArray
from xorder.engines._cells import CodeArray, Codes, Kind, NewColumns, check_columns, check_new_columns
from xorder.exceptions import InputError, warn_caller

BOM = "\ufeff"

_BLOCK = 1 << 18
# Bytes by which a file is judged.
_LOOKED_AT = 1 << 20
# Characters and lines that a record may have, so that no file takes more memory than that.
_LONGEST, _MOST_LINES = 16 << 20, 1 << 20
_TOO_LONG = (
    f"the record that starts here has more than {_LONGEST >> 20} MiB or {_MOST_LINES:,} lines. If its quote is never "
    "closed, close it; else shorten it."
)
_FOREIGN = {
    b"PAR1\x15": "a parquet file; give it the ending .parquet",
    b"\x1f\x8b": "a gzip file; give it the ending .csv.gz",
    b"PK\x03\x04": "an Excel or zip file; save its table as csv",
    b"\xd0\xcf\x11\xe0": "an old Excel file; save its table as csv",
}
_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
_EXACT = {"ascii", "utf-8", "iso8859-1", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"}


def resolve_encoding(path: Path, encoding: str) -> str:
    """Return the codec to decode the file with; a byte order mark stays in the text as its first character.

    Codecs that swallow the mark (utf-16, utf-32, utf-8-sig) would write another one, so they are replaced by
    the codec of the byte order that the mark announces.
    """
    try:
        "a".encode(encoding)
    except (LookupError, ValueError) as error:
        raise InputError(
            f"encoding must be the name of an encoding, such as utf-8, latin-1 or utf-16; got {encoding!r}."
        ) from error
    with _reading(path), _open_bytes(path) as file:
        head = file.read(8)
    for magic, kind in _FOREIGN.items():
        if head.startswith(magic):
            raise InputError(f"{path} is not csv text but looks like {kind}.")
    name = codecs.lookup(encoding).name
    marked = next((codec for mark, codec in _MARKS.items() if head.startswith(mark)), None)
    if name in {"utf-16", "utf-32"}:
        native = f"{name}-{'le' if sys.byteorder == 'little' else 'be'}"
        return marked if marked and marked.startswith(name) else native
    if marked and not name.startswith(("utf-16", "utf-32")):
        raise InputError(f"{path} starts with the mark of {marked[:6]} text; read it with encoding={marked[:6]!r}.")
    return "utf-8" if name == "utf-8-sig" else name


def read_blocks(path: Path, encoding: str, watch: Callable[[float], None]) -> Generator[list[str], None, None]:
    """Yield the lines of the file, line ends kept as they are, in blocks of some hundred kilobytes.

    ``watch`` is called with the share of the file's bytes that has been read; of a gzipped file, of its packed bytes.
    """
    line, rest = 1, ""
    with ExitStack() as stack:
        with _reading(path):
            size = max(path.stat().st_size, 1)
            raw = stack.enter_context(path.open("rb"))
            file = stack.enter_context(gzip.GzipFile(fileobj=raw, mode="rb")) if is_gzip(path) else raw
            text = stack.enter_context(_as_text(cast("IO[bytes]", file), encoding))
        while True:
            try:
                with _reading(path):
                    part = text.read(_BLOCK)
            except UnicodeError as error:
                raise _bad_bytes(path, encoding) from error
            whole = rest + part
            # Behind a carriage return at the end, the next part may begin with its line feed.
            end = max(whole.rfind("\n"), whole.rfind("\r", 0, -1)) + 1 if part else len(whole)
            # Unlike splitlines, it takes nothing but these two for ends of lines.
            lines, rest = io.StringIO(whole[:end], newline="").readlines(), whole[end:]
            if "\0" in part:
                line += next((number for number, content in enumerate(lines) if "\0" in content), len(lines))
                raise InputError(
                    f"{path}, line {line}: holds a NUL byte, so this is not plain text. Save the table as "
                    "csv; if it is UTF-16 text, read it with encoding='utf-16'."
                )
            line += len(lines)
            if len(rest) > _LONGEST:
                raise InputError(f"{path}, line {line}: {_TOO_LONG}")
            if lines:
                yield lines
                watch(min(raw.tell() / size, 1.0))
            if not part:
                return


def check_round_trip(path: Path, encoding: str) -> None:
    """Refuse a file whose bytes would change when its text is written again.

    Unicode encodings and Latin-1 cannot do that. Some others have two spellings of one character, and what
    decides is the file: its bytes are compared with those of its text.
    """
    if encoding in _EXACT:
        return
    decoder, encoder = codecs.getincrementaldecoder(encoding)(), codecs.getincrementalencoder(encoding)()
    before = after = 0
    try:
        with _reading(path), _open_bytes(path) as file:
            while block := file.read(_BLOCK):
                before = zlib.crc32(block, before)
                after = zlib.crc32(encoder.encode(decoder.decode(block)), after)
            after = zlib.crc32(encoder.encode(decoder.decode(b"", final=True), final=True), after)
    except UnicodeError as error:
        raise _bad_bytes(path, encoding) from error
    if before != after:
        raise InputError(f"{path} cannot be written in {encoding} without changing bytes; save it as UTF-8 first.")


def is_gzip(path: Path) -> bool:
    """Whether the name says that the file is gzipped."""
    return path.name.lower().endswith(".gz")


@contextmanager
def blaming_gzip(path: Path) -> Iterator[None]:
    """When something in the file is complained about, first see whether its gzip data is damaged.

    Damaged data may unpack to wrong text before the checksum at the end shows it; the checksum is then the better
    reason to give.
    """
    try:
        yield
    except InputError:
        if is_gzip(path):
            with _reading(path), _open_bytes(path) as file:
                while file.read(_BLOCK):
                    pass
        raise


def _as_text(file: IO[bytes], encoding: str) -> TextIO:
    return io.TextIOWrapper(file, encoding=encoding, newline="")


def _open_bytes(path: Path) -> IO[bytes]:
    return cast("IO[bytes]", gzip.open(path, "rb")) if is_gzip(path) else path.open("rb")


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Report what goes wrong while reading, in the user's words."""
    try:
        yield
    except gzip.BadGzipFile as error:
        raise InputError(
            f"{path} is damaged or not gzip-compressed ({error}). Make the file again; if it is plain text, "
            "remove the ending .gz."
        ) from error
    except (EOFError, zlib.error) as error:
        raise InputError(f"{path} is damaged or cut short: its gzip data does not end well. Copy it again.") from error
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}.") from error


def _bad_bytes(path: Path, encoding: str) -> InputError:
    """Find the first bytes that are not valid in the encoding, in a pass over the file of its own."""
    decoder = codecs.getincrementaldecoder(encoding)()
    # Turns each kind of line end into \n, also one that is cut in two by the end of a block.
    newlines = io.IncrementalNewlineDecoder(decoder, translate=True)
    line = 1
    found = "a byte"
    # Few codecs fail without saying where; then the line reached has to do.
    with suppress(UnicodeError):
        try:
            with _reading(path), _open_bytes(path) as file:
                while block := file.read(_BLOCK):
                    line += newlines.decode(block).count("\n")
                newlines.decode(b"", final=True)
        except UnicodeDecodeError as error:
            decoder.reset()
            line += newlines.decode(error.object[: error.start], final=True).count("\n")
            found = f"the byte 0x{error.object[error.start]:02x}"
    return InputError(
        f"{path}, line {line}: {found} is not valid in {encoding}. If the file was saved in another "
        "encoding, name it, for example with encoding='latin-1'."
    )


_DELIMITERS = ",;\t|"
# A line by which Excel says its delimiter, ahead of the header.
_STATED = re.compile(r'"?sep=(.)"?')
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

    def kind(self, column: str) -> Kind:
        """Return that all is text."""
        return Kind.TEXT

    def place(self, row: int) -> str:
        """Name the line on which the record starts, as an editor counts them."""
        return f"line {self.first_line + self.starts[row]}"

    def cell(self, column: str, row: int) -> str | None:
        """Return one cell as written."""
        return self.cells[column][row]

    def with_columns(self, delimiter: str, values: FloatArray, *texts: Sequence[str]) -> str:
        """Return the raw text with a number, and any texts, added to each record, ahead of its line end."""
        lines, added = self.lines.copy(), map(repr, values.tolist())
        if texts:
            added = map(delimiter.join, zip(added, *texts, strict=True))
        for end, fields in zip(self.ends, added, strict=True):
            lines[end - 1] = _append(lines[end - 1], f"{delimiter}{fields}")
        return "".join(lines)


@dataclass(frozen=True, slots=True)
class _Header:
    """The first record, how its fields are told apart, and the raw lines up to its end."""

    names: list[str]
    delimiter: str
    lines: list[str]


def read_csv(path: Path, wanted: Sequence[str], encoding: str, watch: Callable[[float], None]) -> Iterator[CsvBatch]:
    """Yield the records of a csv file in batches; memory does not grow with the file."""
    with closing(read_blocks(path, resolve_encoding(path, encoding), watch)) as blocks:
        header, lines = _read_header(path, blocks)
        check_columns(str(path), header.names, wanted)
        yield from _batches(path, header, wanted, lines, blocks)


def csv_header(path: Path) -> tuple[list[str], str, int]:
    """Return the names of the columns, the delimiter, and how many records, blank lines included, end the header."""
    encoding = resolve_encoding(path, "utf-8")
    with blaming_gzip(path), closing(read_blocks(path, encoding, watch=lambda share: None)) as blocks:
        header, _ = _read_header(path, blocks)
    ahead = 0
    while not (line := header.lines[ahead].strip(f"{BOM}\r\n")) or _STATED.fullmatch(line):
        ahead += 1
    return header.names, header.delimiter, ahead + 1


def rows_about(names: Sequence[str]) -> int | None:
    """Guess how many rows csv files have, from their sizes and the first lines of one; None where some are packed."""
    if any(is_gzip(Path(name)) for name in names):
        return None
    with Path(names[0]).open("rb") as file:
        head = file.read(_LOOKED_AT)
    return sum(Path(name).stat().st_size for name in names) * max(head.count(b"\n"), 1) // max(len(head), 1)


def has_underscore(name: str, *, at_start: bool = False) -> bool:
    """Whether a csv file has an underscore behind its header; with ``at_start``, in its first megabyte.

    A packed file is taken to have one.
    """
    if is_gzip(Path(name)):
        return True
    with Path(name).open("rb") as file:
        block = file.read(_LOOKED_AT)
        if b"_" in block:
            block = b"".join(block.splitlines()[csv_header(Path(name))[2] :])
        while b"_" not in block:
            block = b"" if at_start else file.read(_LOOKED_AT)
            if not block:
                return False
    return True


def write_csv(
    path: Path, temporary: Path, columns: NewColumns, encoding: str, *, compress: bool, escape: bool = False
) -> None:
    """Write the file to ``temporary`` with more columns, gzipped or not.

    Cells that a spreadsheet would take for formulas are warned of or, with ``escape``, get an apostrophe before them.
    """
    found = ""
    encoding = resolve_encoding(path, encoding)
    check_round_trip(path, encoding)
    with closing(read_blocks(path, encoding, columns.watch)) as blocks:
        header, lines = _read_header(path, blocks)
        check_new_columns(str(path), header.names, *columns.names)
        try:
            columns.names[0].encode(encoding)
        except UnicodeEncodeError as error:
            raise InputError(
                f"the column name {columns.names[0]!r} cannot be written in {encoding}; choose another with into=."
            ) from error
        check_columns(str(path), header.names, columns.wanted)
        titles = [f"'{name}" if escape and is_formula(name) else name for name in columns.names]
        title = "".join(header.delimiter + _quote(name, header.delimiter) for name in titles)
        found = next(filter(is_formula, (*header.names, *columns.names)), "")
        if escape and found:
            _escape(header.lines, [0], [len(header.lines)], header.delimiter)
        with ExitStack() as stack:
            sink: IO[bytes] = stack.enter_context(temporary.open("wb"))
            if compress:
                # Neither name nor time, so that equal input gives equal bytes.
                packed = gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=sink, mtime=0)
                sink = cast("IO[bytes]", stack.enter_context(packed))
            file = stack.enter_context(_as_text(sink, encoding))
            file.write("".join(header.lines[:-1]) + _append(header.lines[-1], title))
            for batch in _batches(path, header, columns.wanted, lines, blocks):
                if escape or not found:
                    formula = _first_formula("".join(batch.lines), header.delimiter)
                    found = found or formula
                    if escape and formula:
                        _escape(batch.lines, batch.starts, batch.ends, header.delimiter)
                values = columns.compute(batch) if len(batch) else (np.empty(0),)
                file.write(batch.with_columns(header.delimiter, *values))
    if found and not escape:
        warn_caller(
            f"{path} has cells or names of columns that a spreadsheet would take for formulas, such as {found[:40]!r}; "
            "escape_formulas=True writes them as text."
        )


def is_formula(cell: str) -> bool:
    """Whether a spreadsheet would take a cell for a formula: it begins like one, and is not a number."""
    return cell[:1] in ("=", "@", "\t", "\r") or (cell[:1] in ("+", "-") and math.isnan(number(cell)))


def _first_formula(text: str, delimiter: str) -> str:
    """Return the beginning of what looks like a formula in the text of some records, or nothing."""
    for mark in filter(text.__contains__, "=@+-"):
        for before in filter(text.__contains__, (delimiter + mark, f'"{mark}', f"\n{mark}")):
            for rest in text.split(before)[1:]:
                if is_formula(mark + re.split(rf'[\r\n"{re.escape(delimiter)}]', rest[:80], maxsplit=1)[0]):
                    return mark + rest[:40]
    return ""


def _escape(lines: list[str], starts: Sequence[int], ends: Sequence[int], delimiter: str) -> None:
    """Put an apostrophe before the formulas in records; records without any stay as they are."""
    for start, end in zip(starts, ends, strict=True):
        whole = "".join(lines[start:end])
        with _long_fields():
            cells = next(filter(None, csv.reader([whole.removeprefix(BOM)], delimiter=delimiter)), [])
        if any(map(is_formula, cells)):
            written = [_quote(f"'{cell}" if is_formula(cell) else cell, delimiter) for cell in cells]
            body = whole.rstrip("\r\n")
            mark = BOM if whole.startswith(BOM) else ""
            lines[start:end] = [""] * (end - start - 1) + [mark + delimiter.join(written) + whole[len(body) :]]


def _read_header(path: Path, blocks: Iterator[list[str]]) -> tuple[_Header, list[str]]:
    """Read the first record that is not blank; return it and the lines that follow it in its block."""
    lines: list[str] = []
    for block in blocks:
        lines += block
        if any(line.strip(f"{BOM}\r\n") for line in block):
            break
        if len(lines) > _MOST_LINES:
            raise InputError(f"{path} begins with more than {_MOST_LINES:,} blank lines; remove them.")
    else:
        raise InputError(f"{path} is empty; it needs a header with the names of the columns, and rows.")
    mark = BOM if lines[0].startswith(BOM) else ""
    lines[0] = lines[0].removeprefix(BOM)
    ahead = next(place for place, line in enumerate(lines) if line.strip("\r\n"))
    stated = _STATED.fullmatch(lines[ahead].strip("\r\n"))
    ahead = ahead + 1 if stated else 0
    best: tuple[bool, int] | None = None
    for delimiter in stated[1] if stated else _DELIMITERS:
        reader = csv.reader(lines[ahead:], delimiter=delimiter, strict=True)
        try:
            with _long_fields():
                names = next(filter(None, reader))
        except StopIteration:
            raise InputError(f"{path} is empty; it needs a header with the names of the columns, and rows.") from None
        except csv.Error:
            continue
        # In a quoted field, quotes come twice and two are around it. Fewer mean that the delimiter cut one in two.
        inner = [name.count('"') for name in names if '"' in name]
        end = ahead + reader.line_num
        rank = "".join(lines[ahead:end]).count('"') >= 2 * (sum(inner) + len(inner)), len(names)
        if best is None or rank > best:
            best = rank
            header = _Header(names, delimiter, lines[:end])
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
            if len(lines) > _MOST_LINES or sum(map(len, lines)) > _LONGEST:
                raise InputError(f"{path}, line {first}: {_TOO_LONG}")
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
    """Say in the user's words what is wrong with the record at which the parser stopped."""
    if "fields" in error:
        return f"{error}. Check the delimiters and quotes of this line."
    if "field limit" in error:
        return _TOO_LONG
    return f"the quotes of the record that starts here do not pair up. {_QUOTES}"


@contextmanager
def _long_fields() -> Iterator[None]:
    """Allow long fields while a block is parsed.

    The csv module has one limit for the whole process. It is put back after each block, and the lock keeps
    two threads from mixing up what to put back; others may see a higher limit for a moment.
    """
    with _LIMIT_LOCK:
        before = csv.field_size_limit()
        csv.field_size_limit(max(before, _LONGEST))
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
