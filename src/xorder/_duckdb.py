"""The one place where DuckDB is opened: memory capped, spilling to a folder that is removed afterwards."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from xorder._optional import import_optional


@contextmanager
def duckdb_connection(
    *, extra: str, purpose: str, memory: str = "2GB", spill: str | os.PathLike[str] | None = None
) -> Iterator[Any]:
    """Yield a DuckDB connection of its own, in memory, that spills into a folder of its own below ``spill``.

    ``memory`` caps DuckDB's buffers; a little more is used outside of them.
    """
    duckdb = import_optional("duckdb", extra=extra, purpose=purpose)
    with tempfile.TemporaryDirectory(prefix="xorder-spill-", dir=spill) as folder:
        connection = duckdb.connect(config={"memory_limit": memory, "temp_directory": folder})
        try:
            yield connection
        finally:
            connection.close()
