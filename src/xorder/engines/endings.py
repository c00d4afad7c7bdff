"""Formats of files, told by the endings of their names."""

from __future__ import annotations

from xorder.exceptions import InputError

_CSV = (".csv", ".csv.gz", ".txt", ".txt.gz", ".tsv", ".tsv.gz")


def file_kind(name: str) -> str:
    """Return ``"parquet"`` or ``"csv"``, by the ending of the name."""
    lowered = name.lower()
    if lowered.endswith(".parquet"):
        return "parquet"
    if lowered.endswith(_CSV):
        return "csv"
    raise InputError(f"{name} is of no known format; the name must end in .parquet or {' or '.join(_CSV)}.")
