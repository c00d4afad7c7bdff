"""The text of a file, plain, gzipped or zipped, told by its first bytes rather than by its name."""

from __future__ import annotations

import gzip
import io
import zipfile
import zlib
from pathlib import Path

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
        if start[:2] == b"\x1f\x8b":
            with gzip.open(path, "rb") as unpacked:
                data = unpacked.read(MOST_BYTES + 1)
        elif start == b"PK\x03\x04":
            data = _from_zip(path, member, shown)
        else:
            with path.open("rb") as handle:
                data = handle.read(MOST_BYTES + 1)
    except (EOFError, zlib.error, gzip.BadGzipFile, zipfile.BadZipFile, RuntimeError, NotImplementedError) as error:
        raise InputError(f"{shown} is damaged or was cut off ({error}); get it again.") from error
    except OSError as error:
        raise InputError(f"cannot read {shown}: {error.strerror or error}.") from error
    if len(data) > MOST_BYTES:
        raise InputError(f"{shown} holds more than {MOST_BYTES >> 20} MiB of text, so it is not the expected file.")
    # A byte that is not UTF-8 becomes a mark that no hash of the expected content matches.
    return io.TextIOWrapper(io.BytesIO(data), encoding="utf-8-sig", errors="replace", newline="").read()


def _from_zip(path: Path, member: str | None, shown: str) -> bytes:
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if not name.endswith("/")]
        wanted = [name for name in names if len(names) == 1 or name.rpartition("/")[2] == member]
        if not wanted:
            raise InputError(f"{shown} holds no {member}; it holds {', '.join(names[:10]) or 'nothing'}.")
        with archive.open(wanted[0]) as handle:
            return handle.read(MOST_BYTES + 1)
