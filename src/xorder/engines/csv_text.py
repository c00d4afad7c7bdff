"""The text of a csv file, plain or gzipped: its encoding, its lines, and errors that name the line."""

from __future__ import annotations

import codecs
import gzip
import io
import sys
import zlib
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, TextIO, cast

from xorder.exceptions import InputError

BOM = "\ufeff"

_BLOCK = 1 << 18
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
            f"unknown encoding {encoding!r}; give --encoding a name such as utf-8, latin-1 or utf-16."
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
        raise InputError(f"{path} starts with the mark of {marked[:6]} text; read it with --encoding {marked[:6]}.")
    return "utf-8" if name == "utf-8-sig" else name


def read_blocks(
    path: Path, encoding: str, watch: Callable[[float], None] | None = None
) -> Generator[list[str], None, None]:
    """Yield the lines of the file, line ends kept as they are, in blocks of some hundred kilobytes.

    ``watch`` is told the share of its bytes that has been read, packed as they are.
    """
    line = 1
    with ExitStack() as stack:
        with _reading(path):
            size = max(path.stat().st_size, 1)
            raw = stack.enter_context(path.open("rb"))
            file = stack.enter_context(gzip.GzipFile(fileobj=raw, mode="rb")) if is_gzip(path) else raw
            text = stack.enter_context(_as_text(cast("IO[bytes]", file), encoding))
        while True:
            try:
                with _reading(path):
                    lines = text.readlines(_BLOCK)
            except UnicodeError as error:
                raise _bad_bytes(path, encoding) from error
            if not lines:
                return
            if "\0" in "".join(lines):
                line += next(number for number, content in enumerate(lines) if "\0" in content)
                raise InputError(
                    f"{path}, line {line}: holds a NUL byte, so this is not plain text. Save the table as "
                    "csv; if it is UTF-16 text, read it with --encoding utf-16."
                )
            line += len(lines)
            yield lines
            if watch is not None:
                watch(min(raw.tell() / size, 1.0))


@contextmanager
def open_for_writing(path: Path, encoding: str, *, compress: bool) -> Iterator[TextIO]:
    """Open a text file that writes what it is given, line ends included; equal input gives equal bytes."""
    with ExitStack() as stack:
        file: IO[bytes] = stack.enter_context(path.open("wb"))
        if compress:
            packed = gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=file, mtime=0)
            file = cast("IO[bytes]", stack.enter_context(packed))
        yield stack.enter_context(_as_text(file, encoding))


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

    Damage may unpack to some wrong text before the checksum at the end tells; the checksum is then the better
    reason.
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
    """Tell what goes wrong while reading in the user's words."""
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
        "encoding, name it, for example with --encoding latin-1."
    )
