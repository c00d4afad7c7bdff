"""Downloading a file so that it is there whole and verified, or not at all.

pooch would bring requests and two more packages, and has one address per file and a hash of its bytes; these files have
several addresses whose bytes differ, so what is verified is the content (:mod:`xorder.datasets._raw_file`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO
from urllib.parse import unquote, urlsplit

from xorder._atomic import atomic_path, make_folder
from xorder.exceptions import InputError

# bytes so far, bytes in all or None if the server does not say
Progress = Callable[[int, int | None], None]
# a file and its address; raises InputError if it is not the expected one
Verify = Callable[[Path, str], object]

_WIDTH = 30


@contextmanager
def byte_bar(label: str, out: TextIO | None) -> Iterator[Progress]:
    """Yield a function that draws the bar on ``out``; it draws nothing unless that is a terminal.

    The line is wiped at the end, however the block ends.
    """
    if out is None or not out.isatty():
        yield silent
        return

    def draw(done: int, total: int | None) -> None:
        filled = "#" * (_WIDTH * min(done, total) // total) if total else ""
        size = f"{done / 1e6:.1f} of {total / 1e6:.1f} MB" if total else f"{done / 1e6:.1f} MB"
        out.write(f"\r{label} [{filled:<{_WIDTH}}] {size}\x1b[K")
        out.flush()

    try:
        yield draw
    finally:
        out.write("\r\x1b[K")
        out.flush()


def silent(done: int, total: int | None) -> None:
    """Show nothing."""


# The largest of the open sets is 4 MB of text; anything far beyond is another file, or made to fill the memory.
MOST_BYTES = 64 << 20

_CHUNK = 1 << 16
_ATTEMPTS = 2
# How long to wait, in seconds: for an answer, for a whole file, between two attempts.
_ANSWER, _WHOLE, _PAUSE = 20.0, 300.0, 1.0


class DownloadError(InputError):
    """No address gave the file; the message says for each of them why."""


class _AddressError(Exception):
    """One address did not give the file; ``passing`` if trying again may help."""

    def __init__(self, reason: str, *, passing: bool = False) -> None:
        super().__init__(reason)
        self.passing = passing


def download(urls: Sequence[str], folder: Path, verify: Verify, *, progress: Progress = silent) -> Path:
    """Fetch the first of ``urls`` that gives a file ``verify`` accepts; return its path in ``folder``.

    The file keeps the name it has at its address. It is written under a temporary name of its own, checked by
    ``verify(path, url)``, which raises :class:`InputError`, and moved into place in one step: two processes may
    fetch it at once, and a failure leaves nothing behind, no new folder either. Proxies are taken from the environment.
    """
    reasons = []
    new = [each for each in (folder, *folder.parents) if not each.exists()]
    try:
        for url in urls:
            try:
                return _fetch(url, folder / file_name(url), verify, progress)
            except _AddressError as failure:
                reasons.append(f"{url}: {failure}")
        raise DownloadError("; ".join(reasons))
    except BaseException:
        for each in new:
            # Not if it holds anything by now.
            with suppress(OSError):
                each.rmdir()
        raise


def file_name(url: str) -> str:
    """Name of the file at an address.

    >>> file_name("https://example.org/data/adult.data?raw=1")
    'adult.data'
    """
    return unquote(urlsplit(url).path).rpartition("/")[2]


def _fetch(url: str, target: Path, verify: Verify, progress: Progress) -> Path:
    for attempts_left in reversed(range(_ATTEMPTS)):
        # For each attempt anew: another process that failed may have removed it.
        make_folder(target.parent)
        try:
            with atomic_path(target) as temporary:
                with temporary.open("wb") as out:
                    for chunk, done, size in _chunks(url):
                        out.write(chunk)
                        progress(done, size)
                try:
                    verify(temporary, url)
                except InputError as error:
                    raise _AddressError(str(error).removeprefix(f"{url} ").rstrip(".")) from error
        except _AddressError as failure:
            if not (failure.passing and attempts_left):
                raise
            time.sleep(_PAUSE)
            continue
        except InputError:
            # Windows does not replace a file while another process, which was first to fetch it, is reading it.
            if not target.is_file():
                raise
            verify(target, url)
        break
    return target


def _chunks(url: str) -> Iterator[tuple[bytes, int, int | None]]:
    """Yield what the address gives, piece by piece, with the bytes so far and in all; faults are the address's."""
    import http.client  # Imported here, as they are slow to load.
    import urllib.request

    request = urllib.request.Request(url, headers={"User-Agent": "xorder"})
    done = 0
    try:
        # urlopen would keep the proxies of its first use for as long as the process lives.
        with urllib.request.build_opener().open(request, timeout=_ANSWER) as response:
            latest = time.monotonic() + _WHOLE
            length = response.headers.get("Content-Length", "")
            size = int(length) if length.isdecimal() else None
            # read1 returns what has arrived, so that a server that trickles is held to the time for the whole file.
            while chunk := response.read1(_CHUNK):
                done += len(chunk)
                if done > MOST_BYTES:
                    raise _AddressError(f"the file is larger than {MOST_BYTES >> 20} MiB")
                if time.monotonic() > latest:
                    raise _AddressError(f"the file did not arrive within {_WHOLE:g} s")
                yield chunk, done, size
    except (OSError, http.client.HTTPException) as error:
        raise _explained(error) from error
    if size is not None and done < size:
        raise _AddressError(f"the connection ended after {done:,} of {size:,} bytes", passing=True)


def _explained(error: Exception) -> _AddressError:
    import urllib.error

    if isinstance(error, urllib.error.HTTPError):
        error.close()
        return _AddressError(f"the server answered {error.code} {error.reason}", passing=error.code >= 500)
    cause = getattr(error, "reason", error)
    if isinstance(cause, TimeoutError):
        return _AddressError(f"no answer within {_ANSWER:g} s")
    if isinstance(error, urllib.error.URLError):
        return _AddressError(f"no connection ({getattr(cause, 'strerror', None) or cause})")
    return _AddressError(f"the connection broke ({str(error) or type(error).__name__})", passing=True)
