"""The line that says how far a command is."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TextIO

from xorder._progress import Progress

# Time between two lines of a log.
_LINE_SECONDS = 30.0


@contextmanager
def progress_line(out: TextIO | None, now: Callable[[], float] = time.monotonic) -> Iterator[Progress]:
    """Yield a function that shows on ``out`` what is being done: one line that changes if that is a terminal.

    In a log it adds a line every half minute, so that a short run adds none. Whoever stops reading stops nothing.
    """
    began = said = now()
    live = out is not None and out.isatty()

    def write(text: str) -> None:
        if out is not None:
            with suppress(OSError):
                out.write(text)
                out.flush()

    def show(step: str, share: float | None) -> None:
        nonlocal said
        if not live and now() - said < _LINE_SECONDS:
            return
        said = now()
        seconds = int(said - began)
        passed = f"{seconds // 60} min" if seconds >= 60 else f"{seconds} s"
        text = f"{step}, {passed}" if share is None else f"{step}, {100 * share:.0f} %, {passed}"
        # A line that is longer than the terminal is wide could not be overwritten.
        write(f"\r{text[: shutil.get_terminal_size().columns - 1]}\x1b[K" if live else f"xorder: {text}\n")

    try:
        yield show
    finally:
        if live:
            write("\r\x1b[K")
