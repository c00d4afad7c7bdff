"""The open data sets by name: what they are, whether they are here, and how to get them."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from xorder.datasets._open_set import OPEN_SETS, About, OpenSet
from xorder.datasets._raw_file import DataHome, fetch_raw, find_raw, saving_folder
from xorder.exceptions import InputError


@dataclass(frozen=True, slots=True)
class Entry(About):
    """What is known of an open set without reading it, and where its raw file is.

    Attributes
    ----------
    urls : where its raw file is published, the first to be tried first
    path : where its raw file was found, or None
    save_as : where to put the raw file by hand, so that it is found
    """

    urls: tuple[str, ...]
    path: Path | None
    save_as: Path

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values, for JSON."""
        listed = {name: list(getattr(self, name)) for name in ("groups", "warnings", "urls")}
        path = None if self.path is None else str(self.path)
        return asdict(self) | listed | {"path": path, "save_as": str(self.save_as)}


def available(*, data_home: DataHome = None) -> list[Entry]:
    """Describe every open set; a raw file that is found is not read."""
    return [describe(name, data_home=data_home) for name in OPEN_SETS]


def describe(name: str, *, data_home: DataHome = None) -> Entry:
    """Describe one open set."""
    one = _named(name)
    about = {field.name: getattr(one, field.name) for field in fields(About)}
    return Entry(
        **about | {"warnings": one.warnings_without()},
        urls=one.file.urls,
        path=find_raw(one.file, data_home),
        save_as=one.file.save_as(saving_folder(data_home)),
    )


def fetch(name: str, *, data_home: DataHome = None) -> Path:
    """Return the verified raw file of an open set, downloaded into ``data_home`` or the cache unless it is there.

    A bar is drawn if standard error is a terminal.
    """
    return fetch_raw(_named(name).file, data_home)


def _named(name: str) -> OpenSet:
    if name not in OPEN_SETS:
        raise InputError(f"{name!r} is not an open data set; choose one of {', '.join(OPEN_SETS)}.")
    return OPEN_SETS[name]
