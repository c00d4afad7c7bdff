"""Where a raw file is found: ``data_home``, then ``XORDER_DATA``, then a per-user cache, then its public origin."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from xorder.datasets._download import DownloadError, byte_bar, download, file_name
from xorder.datasets._raw_table import Layout, RawTable, read_table
from xorder.exceptions import InputError, XorderWarning

DataHome = str | os.PathLike[str] | None


@dataclass(frozen=True, slots=True)
class RawFile:
    """A public file: the names it goes by, the addresses that have it, and what it must hold.

    Attributes
    ----------
    folder : the folder it may lie in, below a folder of data; the name of the data set
    names : names it may have there, with or without ``.gz``; those at ``urls`` count too
    urls : addresses, the first to be tried first
    layout : what it must hold
    member : its name within a zip archive
    """

    folder: str
    names: tuple[str, ...]
    urls: tuple[str, ...]
    layout: Layout
    member: str | None = None

    def find(self, folder: Path) -> Path | None:
        """Return the file below a folder of data, or None."""
        names = dict.fromkeys([*self.names, *map(file_name, self.urls)])
        paths = (
            home / f"{name}{end}" for home in (folder / self.folder, folder) for name in names for end in ("", ".gz")
        )
        return next(filter(Path.is_file, paths), None)

    def save_as(self, folder: Path) -> Path:
        """Return where to put the file by hand below a folder of data, under the name it is published by."""
        return folder / self.folder / file_name(self.urls[0])

    def read(self, path: Path, shown: str | None = None) -> RawTable:
        """Read and verify it."""
        return read_table(path, self.layout, member=self.member, shown=shown)


def cache_folder(platform: str = sys.platform, environ: Mapping[str, str] = os.environ) -> Path:
    """Where downloads are kept: ``XORDER_CACHE``, or the folder this system has for caches."""
    if environ.get("XORDER_CACHE"):
        return Path(environ["XORDER_CACHE"]).expanduser()
    if platform == "win32" and environ.get("LOCALAPPDATA"):
        return Path(environ["LOCALAPPDATA"], "xorder", "Cache")
    # A relative path is to be ignored, says the XDG specification.
    if platform not in ("win32", "darwin") and Path(environ.get("XDG_CACHE_HOME", "")).is_absolute():
        return Path(environ["XDG_CACHE_HOME"], "xorder")
    try:
        home = Path.home()
    except RuntimeError as error:
        raise InputError(f"no folder for downloads: {error} Name one with XORDER_CACHE.") from error
    usual = {"win32": home / "AppData" / "Local" / "xorder" / "Cache", "darwin": home / "Library" / "Caches" / "xorder"}
    return usual.get(platform, home / ".cache" / "xorder")


def data_folders(data_home: DataHome = None) -> Iterator[Path]:
    """Yield the folders to look in: ``data_home`` if given, then that of ``XORDER_DATA``, then the cache.

    A ``data_home`` that is not a folder is an error. ``XORDER_DATA`` may be set for other work, so what is not a folder
    there is a warning, when its turn comes.
    """
    if data_home is not None:
        folder = Path(data_home).expanduser()
        if not folder.is_dir():
            raise InputError(f"data_home names {folder}, which is not a folder; correct it, or leave it out.")
        yield folder
    if named := os.environ.get("XORDER_DATA"):
        folder = Path(named).expanduser()
        if folder.is_dir():
            yield folder
        else:
            message = f"XORDER_DATA names {folder}, which is not a folder, so nothing is looked for there; correct it."
            warnings.warn(message, XorderWarning, stacklevel=2)
    # Without any folder for a cache nothing is in it; that matters only to a download.
    with suppress(InputError):
        yield cache_folder()


def find_raw(raw: RawFile, data_home: DataHome = None) -> Path | None:
    """Return the file if it is in one of the folders to look in, the first that has it."""
    return next(filter(None, map(raw.find, data_folders(data_home))), None)


def saving_folder(data_home: DataHome = None) -> Path:
    """Where a download goes: ``data_home`` if given, else the cache."""
    return cache_folder() if data_home is None else Path(data_home).expanduser()


def load_raw(raw: RawFile, data_home: DataHome = None) -> RawTable:
    """Read the raw table; if it is nowhere, after downloading it into ``data_home``, or else into the cache."""
    return raw.read(find_raw(raw, data_home) or _download(raw, saving_folder(data_home)))


def fetch_raw(raw: RawFile, data_home: DataHome = None) -> Path:
    """Return a verified file: the one that is there, or one downloaded into ``data_home`` or the cache.

    If ``data_home`` is given, the file must be there: a copy elsewhere does not count, and the folder is created.
    """
    path = find_raw(raw) if data_home is None else raw.find(Path(data_home).expanduser())
    if path is None:
        return _download(raw, saving_folder(data_home))
    raw.read(path)
    return path


def _download(raw: RawFile, home: Path) -> Path:
    try:
        with byte_bar(f"{raw.folder}: downloading", sys.stderr) as show:
            return download(raw.urls, home / raw.folder, raw.read, progress=show)
    except DownloadError as error:
        raise DownloadError(
            f"cannot download the {raw.folder} table ({error}). Get {raw.urls[0]} by another way and save it as "
            f"{raw.save_as(home)}, or in a folder that data_home or XORDER_DATA names."
        ) from error
