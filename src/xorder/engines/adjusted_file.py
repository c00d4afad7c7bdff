"""A file written again with adjusted scores: a small one row by row, a large one in DuckDB."""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping
from typing import Any

from xorder._optional import import_optional
from xorder._progress import Progress
from xorder.engines.apply_file import UnusableRowError, map_file
from xorder.engines.file_tables import LARGE, files_of, in_engine
from xorder.engines.rows import Transform, add_column, check_rows
from xorder.exceptions import InputError
from xorder.transfer import ScoreMap

# Types of Arrow that come back from DuckDB as they went in, and those that both write in the same way.
_KEPT = {"string", "bool", "float", "double", "date32[day]", "timestamp[us]"} | {
    f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)
}
_WRITTEN_ALIKE = {kind for kind in _KEPT if "int" in kind} | {"string"}


def adjust_file(
    path: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    maps: Mapping[str, ScoreMap],
    transform: Transform,
    score: str,
    group: str,
    into: str,
    missing: str | None = None,
    overwrite: bool = False,
    encoding: str = "utf-8",
    memory: str = "2GB",
    progress: Progress | None = None,
    large: int = LARGE,
) -> int:
    """Write the rows of a file, or of all parquet files of a glob, with one more column; return how many.

    ``transform`` does to a batch of rows what ``maps``, whose labels are text, do to a whole file. Memory is bounded
    either way; parquet files of ``large`` bytes or more go through DuckDB, which is faster, if it keeps all types.
    """
    names: dict[str, Any] = {"score": score, "group": group, "into": into, "missing": missing}
    files = files_of(path)
    is_parquet = files[0].lower().endswith(".parquet")
    if is_parquet and in_engine(files, large) and (len(files) > 1 or _comes_back(files[0], group)):
        labelled: dict[Hashable, ScoreMap] = {label: learnt for label, learnt in maps.items()}  # noqa: C416
        try:
            return map_file(path, out, labelled, **names, overwrite=overwrite, memory=memory, progress=progress)
        except UnusableRowError:
            # Row by row the same complaint comes with its place in the file.
            for file in files:
                check_rows(file, score=score, group=group, missing=missing)
            raise
    if len(files) > 1:
        raise InputError(f"{os.fspath(path)} names {len(files):,} csv files; adjust them one at a time.")
    return add_column(
        files[0], out, **names, transform=transform, overwrite=overwrite, encoding=encoding, progress=progress
    )


def _comes_back(path: str, group: str) -> bool:
    """Whether DuckDB writes all columns of a file in the types they have, and the group as it is written elsewhere."""
    pq = import_optional("pyarrow.parquet", extra="parquet", purpose="Reading parquet files")
    try:
        schema = pq.read_schema(path)
    except (OSError, ValueError):
        # What is wrong with it is for its reader to say.
        return False
    kinds = {field.name: str(field.type) for field in schema}
    return set(kinds.values()) <= _KEPT and kinds.get(group, "string") in _WRITTEN_ALIKE
