"""A bar on the terminal that shows how much of a file has arrived."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

# bytes so far, bytes in all or None if the server does not say
Progress = Callable[[int, int | None], None]

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
