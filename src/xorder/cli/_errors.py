"""How a command ends: errors and warnings in words of the command line, one line each, and signals in order."""

from __future__ import annotations

import argparse
import errno
import io
import os
import re
import shlex
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from xorder.cli._options import note_idle
from xorder.exceptions import XorderError, XorderWarning


def run_command(options: argparse.Namespace) -> int:
    """Run what was parsed; return 0, or the exit code of what went wrong, which is printed."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A name that the terminal's encoding lacks is shown escaped, as it is on standard error.
        sys.stdout.reconfigure(errors="backslashreplace")
    with warnings.catch_warnings(), _ends_as_interrupt() as received:
        # Files are read in parts; what is true of many parts is said once.
        warnings.simplefilter("once", XorderWarning)
        warnings.showwarning = partial(_show_warning, options)
        try:
            note_idle(options)
            options.run(options)
            sys.stdout.flush()
        except XorderError as error:
            return _complain(translated(str(error), options))
        except ExceptionGroup as failures:
            for failure in failures.exceptions:
                _complain(translated(str(failure), options))
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

# Arguments of Python, and their options on the command line; all other options are named as their arguments are.
_OPTIONS = {
    "sensitive_features": "group",
    "y_true": "label",
    "y_score": "score",
    "sample_weight": "weight",
    "overwrite": "force",
    "repair": "map",
}
# Arguments that hold the rows of a column.
_ROWS = ("sensitive_features", "y_true", "y_score", "sample_weight")

# A message names an argument with an equals sign and maybe a value; by a word that is not English; or as the subject of
# its first sentence.
_NAMED = (
    re.compile(r"(?<![\w/.'\"-])(?P<name>[a-z_]+)=(?P<value>'[^']*'|\w+(?:\.\w+)*|)"),
    re.compile(r"(?<![\w/.'\"-])(?P<name>[a-z]+(?:_[a-z]+)+)(?![\w/.'\"-]*[/'\"=])\b(?P<value>)"),
    re.compile(r"(?:^|(?<=^give ))(?P<name>[a-z]+)(?P<value>)(?= (?:must|is|or)\b)"),
    re.compile(r"\b(?P<name>[a-z]+)(?P<value>)(?=(?: and [a-z]+)? both name)"),
)


def translated(message: str, options: argparse.Namespace) -> str:
    """Return a message of the library with columns of the file and options in place of arguments of Python."""
    given = vars(options)

    def named(match: re.Match[str]) -> str:
        name, value = match["name"], match["value"].strip("'")
        option = _OPTIONS.get(name, name)
        if name in _ROWS and "file" in given and given.get(option) is not None:
            columns = given[option] if isinstance(given[option], list) else [given[option]]
            return f"{options.file}: column {' & '.join(map(repr, columns))}"
        if name in _ROWS or option not in given:
            return match[0]
        prefix = "--no-" if value == "False" else "--"
        words = "" if value in ("", "True", "False") else f" {shlex.quote(value)}"
        return prefix + option.replace("_", "-") + words

    for pattern in _NAMED:
        message = pattern.sub(named, message)
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


def _show_warning(
    options: argparse.Namespace, message: Warning | str, category: type[Warning], *_: Any, **__: Any
) -> None:
    if issubclass(category, XorderWarning):
        words = translated(str(message), options)
        print("xorder: warning: " + " ".join(words.split()), file=sys.stderr)
