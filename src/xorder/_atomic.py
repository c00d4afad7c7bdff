"""Writing files so that a reader sees the old file or the whole new one, never half of it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from xorder.exceptions import InputError


@contextmanager
def atomic_path(path: str | os.PathLike[str], *, overwrite: bool = True) -> Iterator[Path]:
    """Yield a temporary path beside ``path`` to write to; move it into place when the block ends well.

    Whatever goes wrong inside the block, the temporary file is removed and ``path`` is as it was before.
    A problem of the file system is an :class:`InputError` of one sentence.
    """
    # Through a link the file it points to is written, as a plain open would.
    target = Path(os.path.realpath(path))
    try:
        check_target(target, overwrite=overwrite)
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
    except OSError as error:
        raise InputError(f"cannot write {target}: {error.strerror or error}.") from error
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        # On Windows a file takes its permissions from its folder, and one marked read-only could not be removed.
        if os.name != "nt":
            temporary.chmod(_usual_mode(target))
        temporary.replace(target)
    except OSError as error:
        raise InputError(f"could not write {target}: {error.strerror or error}; nothing was changed.") from error
    finally:
        # Whatever keeps it from being removed must not hide why it was not written.
        with suppress(OSError):
            temporary.unlink()


def check_target(target: Path, *, overwrite: bool) -> None:
    """Refuse a file that could not be written, before anything is computed for it."""
    if target.is_dir():
        raise InputError(f"{target} is a folder; name a file to write to.")
    if target.exists() and not target.is_file():
        raise InputError(f"{target} is a device or a pipe, not a file; name a file to write to.")
    if os.name == "nt" and ":" in target.name:
        # It would name a hidden stream of another file.
        raise InputError(f"cannot write {target}: a name on Windows has no ':'; choose another.")
    if not overwrite and target.exists():
        raise InputError(f"{target} exists already; choose another name, or replace it with overwrite=True.")
    if not target.parent.is_dir():
        raise InputError(f"cannot write {target}: the folder {target.parent} does not exist; create it first.")


def _usual_mode(target: Path) -> int:
    """Permissions a plain ``open`` would give; ``mkstemp`` alone makes files that only the owner reads."""
    if target.exists():
        return target.stat().st_mode & 0o777
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask
