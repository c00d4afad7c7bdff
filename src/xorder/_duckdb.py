"""DuckDB opened with its memory capped, spilling to a folder that is removed afterwards; how far it is, and errors."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from xorder._atomic import spill_folder
from xorder._optional import import_optional
from xorder._parameters import brief
from xorder.exceptions import InputError

_AMOUNT = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt])(i?)b", re.IGNORECASE)
_POLL_SECONDS = 0.25


@contextmanager
def duckdb_connection(
    *, extra: str, purpose: str, memory: str = "2GB", spill: str | os.PathLike[str] | None = None
) -> Iterator[Any]:
    """Yield a DuckDB connection of its own, in memory, that spills into a folder of its own below ``spill``.

    ``memory`` caps DuckDB's buffers; a little more is used outside of them. What is not an amount, and a folder that
    cannot be written to, are an :class:`InputError`.
    """
    duckdb = import_optional("duckdb", extra=extra, purpose=purpose)
    with spill_folder(spill) as folder:
        limit = f"{memory_bytes(memory)}B"
        connection = duckdb.connect(config={"memory_limit": limit, "temp_directory": folder})
        try:
            # Without the bar DuckDB keeps no count of how far it is, and would print it.
            connection.execute("SET enable_progress_bar = true")
            connection.execute("SET enable_progress_bar_print = false")
            yield connection
        finally:
            connection.close()


def memory_bytes(memory: Any) -> int:
    """Return the number of bytes that an amount of memory is."""
    found = _AMOUNT.fullmatch(memory) if isinstance(memory, str) else None
    number, unit, binary = found.groups() if found else ("inf", "k", "")
    amount = float(number) * (1024 if binary else 1000) ** ("kmgt".index(unit.lower()) + 1)
    if not amount < 2**63:
        raise InputError(f"memory must be an amount such as '2GB' or '500MB'; got {brief(memory)}.")
    return int(amount)


def poll_progress(connection: Any, report: Callable[[float | None], None], over: threading.Event) -> None:
    """Report now and then how far the connection is, from 0 to 1 or None, until ``over`` is set; for a thread."""
    while not over.wait(_POLL_SECONDS):
        share = connection.query_progress() / 100
        report(share if 0 <= share <= 1 else None)


def first_line(error: object) -> str:
    """Return the first line of a message, without its full stop."""
    return (str(error).splitlines() or [type(error).__name__])[0].strip().rstrip(".")
