"""What DuckDB says about a user's csv tables, in the user's words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from xorder._optional import import_optional
from xorder.exceptions import InputError

COPY_AGAIN = "Copy or download it again."
_REPAIR = "Repair the row, or copy the file again."
_WIDTH = re.compile(r"Expected Number of Columns: (\d+) Found: (\d+)")
_CELL = re.compile(r"converting column \"(.*?)\"\. Could not convert string \"(.*?)\" to '(.*?)'", re.DOTALL)


@contextmanager
def plain_errors(files: Sequence[Path] = ()) -> Iterator[None]:
    """Turn errors of DuckDB inside the block into :class:`InputError`, naming the file and the line where it can.

    ``files`` are those that the block reads. Ctrl-C comes out as ``KeyboardInterrupt``.
    """
    duckdb = import_optional("duckdb", extra="data", purpose="Reading clinical tables")
    try:
        yield
    except duckdb.InterruptException as error:
        raise KeyboardInterrupt from error
    except duckdb.Error as error:
        raise InputError(_explain(str(error), files)) from error
    except RuntimeError as error:
        # DuckDB tells of Ctrl-C by an error of this type.
        if "interrupted" in str(error).lower():
            raise KeyboardInterrupt from error
        raise


def first_line(error: object) -> str:
    """Return the first line of a message, without its full stop."""
    return (str(error).splitlines() or [type(error).__name__])[0].strip().rstrip(".")


def _explain(message: str, files: Sequence[Path]) -> str:
    named = re.search(r"^\s*file = (.*)$", message, re.MULTILINE)
    path = named[1].strip() if named else " or ".join(map(str, files)) or "the tables"
    line = re.search(r"CSV Error on Line: (\d+)", message)
    place = f"{path}, line {line[1]}" if line else path
    if width := _WIDTH.search(message):
        return f"{place}: the header has {width[1]} columns, but this row has {width[2]}. {_REPAIR}"
    if cell := _CELL.search(message):
        kind = "a date and time" if cell[3].startswith(("TIMESTAMP", "DATE")) else "a number"
        return f"{place}: column {cell[1]!r} must hold {kind} or nothing; this row holds {cell[2][:80]!r}. {_REPAIR}"
    if "unterminated quote" in message:
        return f"{place}: a quote that opens here is not closed where it should be. {_REPAIR}"
    if "Invalid unicode" in message:
        return f"{place}: this row is not UTF-8 text. Save the file as UTF-8, or copy it again."
    if "GZIP" in message:
        return f"{path} is cut off, or no gzip file. {COPY_AGAIN}"
    if "Out of Memory" in message:
        return "the memory allowed does not suffice; raise it (such as memory='8GB'), or free disk space to spill to."
    return f"{place}: {first_line(message)}."
