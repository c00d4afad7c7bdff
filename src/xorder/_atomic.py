"""Writing files so that a reader sees the old file or the whole new one, never half of it.

What is being written, and folders for intermediate rows, are locked while their process lives: what a killed one has
left behind has no lock, and the next that comes to the same folder removes it.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:
    # Windows: what a killed process leaves there stays.
    fcntl = None  # type: ignore[assignment]

from xorder._parameters import brief, check_truth
from xorder.exceptions import InputError

# Not the name of the output, which may be as long as a name can be.
_PART = ".xorder-", ".part"
_SPILL = "xorder-spill-"
_LOCK = "lock"


def file_path(path: Any) -> Path:
    """Return the path of a file, or refuse what cannot be one."""
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"the name of a file must be text or a path; got {brief(path)}.")
    with suppress(UnicodeEncodeError):
        if b"\0" not in os.fsencode(path):
            return Path(os.fsdecode(path))
    raise InputError(f"{brief(os.fspath(path))} cannot be the name of a file; name another.")


@contextmanager
def atomic_path(path: str | os.PathLike[str], *, overwrite: bool = True) -> Iterator[Path]:
    """Yield a temporary path beside ``path`` to write to; move it into place when the block ends well.

    Whatever goes wrong inside the block, the temporary file is removed and ``path`` is as it was before. Unless
    ``overwrite`` allows it, no file is replaced, not even one that has come meanwhile. A problem of the file system is
    an :class:`InputError` of one sentence.
    """
    # Through a link the file it points to is written, as a plain open would.
    target = Path(os.path.realpath(file_path(path)))
    try:
        check_target(target, overwrite=overwrite)
        _remove_leftovers(target.parent)
        handle, temporary = _locked_part(target.parent)
    except OSError as error:
        raise InputError(f"cannot write {target}: {error.strerror or error}.") from error
    try:
        yield temporary
        # On Windows a file takes its permissions from its folder, and one marked read-only could not be removed.
        if os.name != "nt":
            temporary.chmod(_usual_mode(target))
        else:
            os.close(handle)
            handle = -1
        if overwrite:
            temporary.replace(target)
        else:
            _move_to_new(temporary, target)
    except OSError as error:
        raise InputError(f"could not write {target}: {error.strerror or error}; nothing was changed.") from error
    finally:
        if handle >= 0:
            os.close(handle)
        # Whatever keeps it from being removed must not hide why it was not written.
        with suppress(OSError):
            temporary.unlink()


def _move_to_new(temporary: Path, target: Path) -> None:
    """Give a file its name, unless another file has that name by now."""
    try:
        if os.name == "nt":
            temporary.rename(target)
            return
        try:
            os.link(temporary, target)
        except FileExistsError:
            raise
        except OSError:
            # No links here: an empty file claims the name. Killed right now, the process would leave it.
            os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
            try:
                temporary.replace(target)
            except OSError:
                target.unlink()
                raise
    except FileExistsError:
        raise _exists(target) from None


def _exists(target: Path) -> InputError:
    return InputError(f"{target} exists already; choose another name, or replace it with overwrite=True.")


def check_target(target: Path, *, overwrite: bool) -> None:
    """Refuse a file that could not be written, before anything is computed for it."""
    check_truth("overwrite", overwrite)
    if target.is_dir():
        raise InputError(f"{target} is a folder; name a file to write to.")
    if target.exists() and not target.is_file():
        raise InputError(f"{target} is a device or a pipe, not a file; name a file to write to.")
    if os.name == "nt" and ":" in target.name:
        # It would name a hidden stream of another file.
        raise InputError(f"cannot write {target}: a name on Windows has no ':'; choose another.")
    if not overwrite and target.exists():
        raise _exists(target)
    if not target.parent.is_dir():
        raise InputError(f"cannot write {target}: the folder {target.parent} does not exist; create it first.")


def make_folder(folder: Path) -> None:
    """Make a folder, and those above it, where there is none."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot create the folder {folder}: {error.strerror or error}.") from error


@contextmanager
def unchanged(files: Sequence[str | os.PathLike[str]]) -> Iterator[None]:
    """Refuse what was read in the block if one of the files changed meanwhile; that is also why it may have failed."""
    before = [_stamp(file) for file in files]

    def check() -> None:
        for file, stamp in zip(files, before, strict=True):
            if _stamp(file) != stamp:
                raise InputError(
                    f"{os.fspath(file)} was changed while it was read. Wait until it is complete, and start again."
                )

    try:
        yield
    except InputError:
        check()
        raise
    check()


def _stamp(file: str | os.PathLike[str]) -> tuple[int, int, int] | None:
    """Return what tells one state of a file from another; None if it is gone."""
    try:
        status = os.stat(file)  # noqa: PTH116
    except (OSError, ValueError):
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


@contextmanager
def spill_folder(below: str | os.PathLike[str] | None) -> Iterator[str]:
    """Yield a folder of its own below a folder, or where the system keeps temporary files; it is removed at the end."""
    where = Path(tempfile.gettempdir()) if below is None else file_path(below)
    try:
        _remove_leftovers(where)
        while True:
            folder = Path(tempfile.mkdtemp(prefix=_SPILL, dir=where))
            try:
                lock = os.open(folder / _LOCK, os.O_CREAT | os.O_RDWR, 0o600)
            except OSError:
                folder.rmdir()
                raise
            _lock(lock)
            if os.fstat(lock).st_nlink or fcntl is None:
                break
            os.close(lock)
    except OSError as error:
        called = "the system's folder for temporary files" if below is None else where
        raise InputError(
            f"spill must be a folder that files can be written to, and {called} is not ({error.strerror or error}). "
            "Name another."
        ) from error
    try:
        yield str(folder)
    finally:
        os.close(lock)
        shutil.rmtree(folder, ignore_errors=True)


def _locked_part(folder: Path) -> tuple[int, Path]:
    """Make a file of a name of its own in a folder, and lock it."""
    while True:
        handle, name = tempfile.mkstemp(prefix=_PART[0], suffix=_PART[1], dir=folder)
        _lock(handle)
        # Before it was locked, another process may have taken it for a leftover.
        if os.fstat(handle).st_nlink or fcntl is None:
            return handle, Path(name)
        os.close(handle)


def _lock(handle: int, wait: int = 0) -> bool:
    """Lock an open file until it is closed or its process ends; say whether that was done."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | wait)
    except (AttributeError, OSError):
        # Not every system and file system has locks.
        return False
    return True


def _remove_leftovers(folder: Path) -> None:
    """Remove what processes of this user that are no more have left in a folder."""
    # Another process may remove it first; some folders can be written to but not listed.
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            is_spill = entry.name.startswith(_SPILL)
            if is_spill or (entry.name.startswith(_PART[0]) and entry.name.endswith(_PART[1])):
                with suppress(OSError):
                    _remove_if_free(Path(entry.path), is_spill)


def _remove_if_free(path: Path, is_spill: bool) -> None:
    if fcntl is None or path.lstat().st_uid != os.geteuid():
        return
    # Whatever else bears such a name is neither followed nor waited for.
    handle = os.open(path / _LOCK if is_spill else path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        if _lock(handle, fcntl.LOCK_NB):
            shutil.rmtree(path) if is_spill else path.unlink()
    finally:
        os.close(handle)


def _usual_mode(target: Path) -> int:
    """Permissions a plain ``open`` would give; ``mkstemp`` alone makes files that only the owner reads."""
    if target.exists():
        return target.stat().st_mode & 0o777
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask
