"""How the program starts and ends, whatever its streams and signals are; it loads the rest once it can be stopped."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from typing import NoReturn

# Windows has no SIGHUP, and alone has SIGBREAK, by which one process asks another to end.
_ENDS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP", "SIGBREAK") if hasattr(signal, name)]


def program() -> NoReturn:
    """Run as a program of its own.

    SIGTERM, and a terminal that is closed, end it as Ctrl-C does, so that what it keeps on disk is removed. It ends at
    once, without taking the interpreter apart: nothing is left to be done by then, and DuckDB's bindings, if a cache of
    another package still holds them, would print what they take for leaks.
    """
    received: list[int] = []

    def stop(number: int, frame: object) -> None:
        # The second one must not end the clearing up that the first one began.
        if not received:
            received.append(number)
            raise KeyboardInterrupt

    for number in (*_ENDS, signal.SIGINT):
        # A handler that someone has set already is left; nohup sets one.
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, stop)
    code: object = 128 + signal.SIGINT
    with suppress(KeyboardInterrupt):
        _open_closed_streams()
        try:
            from xorder.cli._program import main

            code = main()
        except SystemExit as ended:
            code = ended.code
        except (ImportError, MemoryError, OSError) as error:
            code = 70
            with suppress(OSError):
                sys.stderr.write(f"xorder: error: {' '.join(str(error).split())}; memory may be too small.\n")
        code = _flushed(code if isinstance(code, int) else 0 if code is None else 1)
    os._exit(128 + received[0] if received else code)  # type: ignore[arg-type]


def _open_closed_streams() -> None:
    """Let closed streams lead nowhere: else the next file to be opened would be taken for one of them."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None and os.open(os.devnull, os.O_RDWR) == number and number:
            setattr(sys, name, open(number, "w", closefd=False))  # noqa: SIM115


def _flushed(code: int) -> int:
    """Write out what was printed; return the exit code, which is that of a failure where that cannot be done."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        pass
    except OSError as error:
        code = code or 70
        with suppress(OSError):
            sys.stderr.write(f"xorder: error: standard output: {error.strerror}; what was printed is lost.\n")
    with suppress(OSError):
        sys.stderr.flush()
    return code
