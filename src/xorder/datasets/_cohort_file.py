"""The cohort file that a builder writes and a loader reads: parquet, with a note of how it was made."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from xorder._atomic import atomic_path
from xorder._optional import import_optional
from xorder.exceptions import InputError

_KEY = b"xorder.cohort"


def check_output(output: str | os.PathLike[str], *, overwrite: bool) -> None:
    """Refuse at once, before hours of work, an output that could not be written at the end."""
    with suppress(_CheckedError), atomic_path(output, overwrite=overwrite):
        raise _CheckedError


def write_cohort(
    table: Any, output: str | os.PathLike[str], *, kind: str, about: Mapping[str, Any], overwrite: bool
) -> None:
    """Write an Arrow table as parquet; ``kind`` (such as ``"mimic3"``) and ``about`` go into its metadata as JSON."""
    parquet = import_optional("pyarrow.parquet", extra="data", purpose="Writing a cohort")
    note = json.dumps({"kind": kind, "xorder": _version(), **about})
    table = table.replace_schema_metadata({**(table.schema.metadata or {}), _KEY: note.encode()})
    with atomic_path(output, overwrite=overwrite) as temporary:
        parquet.write_table(table, temporary, compression="zstd")


def read_cohort(
    path: str | os.PathLike[str], *, kind: str, columns: Collection[str] = ()
) -> tuple[Any, dict[str, Any]]:
    """Read a cohort as a pandas frame, with the note of how it was made; refuse any other file.

    ``columns`` must be there.
    """
    command = f"xorder data build-{kind}"
    import_optional("pandas", extra="data", purpose="Loading a cohort")
    pyarrow = import_optional("pyarrow", extra="data", purpose="Loading a cohort")
    parquet = import_optional("pyarrow.parquet", extra="data", purpose="Loading a cohort")
    path = Path(path)
    if not path.is_file():
        what = "is a folder" if path.is_dir() else "does not exist"
        raise InputError(f"{path} {what}; name the file that {command} wrote.")
    try:
        table = parquet.read_table(path)
        note = json.loads((table.schema.metadata or {}).get(_KEY, b"{}"))
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read as a parquet file; name the file that {command} wrote.") from error
    if note.get("kind") != kind:
        of = f"a cohort of kind {note['kind']!r}" if "kind" in note else "a parquet file, but not a cohort"
        raise InputError(f"{path} is {of}; name the file that {command} wrote.")
    missing = [column for column in columns if column not in table.column_names]
    if missing:
        raise InputError(f"{path} lacks the column {missing[0]!r}, which {command} writes. Build it again.")
    return table.replace_schema_metadata(None).to_pandas(), note


class _CheckedError(Exception):
    """Leaves the block that would write, with nothing written."""


def _version() -> str:
    import importlib.metadata  # Imported here, as it is slow to load.

    try:
        return importlib.metadata.version("xorder")
    except importlib.metadata.PackageNotFoundError:
        return "unknown"
