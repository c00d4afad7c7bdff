"""The line that says how far a command is."""

from __future__ import annotations

import io
import os

import pytest

from xorder.cli._program import progress_line


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_line_every_half_minute_in_a_log() -> None:
    out = io.StringIO()
    times = iter([0, 29, 31, 45, 62, 91, 3600])
    clock = [next(times)]
    with progress_line(out, lambda: clock[0]) as progress:
        for share in (None, None, 0.2, 0.256, None, 1.0):
            clock[0] = next(times)
            progress("reading", share)
    assert out.getvalue() == "xorder: reading, 31 s\nxorder: reading, 26 %, 1 min\nxorder: reading, 100 %, 60 min\n"


def test_a_narrow_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    out = Terminal()
    monkeypatch.setenv("COLUMNS", "12")
    with progress_line(out) as progress:
        progress("reading CHARTEVENTS.csv.gz", 0.5)
    assert out.getvalue() == "\rreading CHA\x1b[K\r\x1b[K"


def test_nobody_listens() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w", buffering=1) as closed:
        closed.isatty = lambda: True
        for out in (closed, None):
            with progress_line(out) as progress:
                progress("reading", 0.5)
        # What could not be written is still in the buffer.
        with pytest.raises(BrokenPipeError if os.name == "posix" else OSError):
            closed.close()
