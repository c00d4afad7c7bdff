"""How a command ends: errors and warnings in the user's words, one line each, and signals in order."""

from __future__ import annotations

import argparse
import errno
import io
import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from xorder.exceptions import XorderError, XorderWarning


def run_command(options: argparse.Namespace) -> int:
    """Run what was parsed; return 0, or the exit code of what went wrong after telling it."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A name that the terminal's encoding lacks is shown escaped, as it is on standard error.
        sys.stdout.reconfigure(errors="backslashreplace")
    with warnings.catch_warnings(), _ends_as_interrupt() as received:
        # Files are read in parts; what is true of many parts is said once.
        warnings.simplefilter("once", XorderWarning)
        warnings.showwarning = _show_warning
        try:
            options.run(options)
            sys.stdout.flush()
        except XorderError as error:
            return _complain(_in_the_users_words(str(error), options))
        except ExceptionGroup as failures:
            for failure in failures.exceptions:
                _complain(_in_the_users_words(str(failure), options))
            return 2
        except OSError as error:
            if not _is_broken_pipe(error):
                return _complain(f"{error.filename or 'output'}: {error.strerror or error}.")
            # Whoever reads our output has had enough; keep the interpreter from complaining at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except MemoryError:
            return _complain("out of memory: there are too many rows to be held here at once.")
        except KeyboardInterrupt:
            return 128 + (received[0] if received else signal.SIGINT)
    return 0


# Windows has no SIGHUP, and alone has SIGBREAK, by which one process asks another to end.
_ENDS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP", "SIGBREAK") if hasattr(signal, name)]

# Arguments whose options are named alike.
_SETTINGS = (
    *("max_disparity", "tradeoff", "adjust", "reference", "transfer", "min_group_size", "bounds"),
    *("confidence", "data_home", "memory", "spill"),
)


def _in_the_users_words(message: str, options: argparse.Namespace) -> str:
    """Name the columns of the file and the options instead of the arguments that they were passed as."""
    columns = {"sensitive_features": "group", "y_true": "label", "y_score": "score", "sample_weight": "weight"}
    for argument, option in columns.items():
        if getattr(options, option, None) is not None:
            message = message.replace(argument, f"{options.file}: column {getattr(options, option)!r}", 1)
    for setting in _SETTINGS:
        if message.startswith(setting + " "):
            message = "--" + setting.replace("_", "-") + message[len(setting) :]
    if message.startswith("repair ") and getattr(options, "before_after", None):
        message = f"the map {options.before_after}" + message[len("repair") :]
    for words, option in {
        "data_home or XORDER_DATA": "--data-home or XORDER_DATA",
        "memory='8GB'": "--memory 8GB",
        "replace it with overwrite=True": "replace it with --force",
        "weights_are='sampling'": "--weights-are sampling",
        "with positive=": "with --positive",
        "with into=": "with --into",
    }.items():
        message = message.replace(words, option)
    return message


@contextmanager
def _ends_as_interrupt() -> Iterator[list[int]]:
    """Let SIGTERM, and a terminal that is closed, end the block as Ctrl-C does, so that what it keeps on disk is
    removed; yield the signals received.

    A handler that someone has set already is left (nohup sets one), and other threads than the main one cannot set any.
    """
    received: list[int] = []

    def stop(number: int, frame: object) -> None:
        # The second one must not end the clearing up that the first one began.
        if not received:
            received.append(number)
            raise KeyboardInterrupt

    ours = []
    if threading.current_thread() is threading.main_thread():
        ours = [number for number in _ENDS if signal.getsignal(number) is signal.SIG_DFL]
    for number in ours:
        signal.signal(number, stop)
    try:
        yield received
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)


def _is_broken_pipe(error: OSError) -> bool:
    """Whether nobody reads our output any more, which Windows reports as an invalid argument."""
    invalid = os.name == "nt" and error.errno == errno.EINVAL and error.filename is None
    return invalid or isinstance(error, BrokenPipeError)


def _complain(message: str) -> int:
    print("xorder: error: " + " ".join(message.split()), file=sys.stderr)
    return 2


def _show_warning(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    if issubclass(category, XorderWarning):
        print("xorder: warning: " + " ".join(str(message).split()), file=sys.stderr)
