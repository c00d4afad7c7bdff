"""The command line, a file per command: parse, call one public function, print."""

from __future__ import annotations

import argparse
import errno
import io
import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from importlib import import_module
from typing import Any, NoReturn

from xorder import __version__
from xorder.cli._errors import translated
from xorder.cli._options import Parser, note_idle
from xorder.exceptions import XorderError, XorderWarning

# Each command has a module of its name, which adds its options and runs it.
_COMMANDS = {
    "audit": "Measure how a score ranks each group",
    "fit": "Fit a repair of the scores, and save its map",
    "apply": "Adjust the scores of a file with a saved map",
    "report": "Write a page on how a score ranks each group, for people to read",
    "demo": "Show all of it on a simulated population",
    "data": "Get open data sets, and build cohorts from your own copy of MIMIC-III or eICU",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return 0, or 2 with one line on standard error for what the user got wrong."""
    arguments = sys.argv[1:] if arguments is None else arguments
    return run_command(_parser(next(iter(arguments), None)).parse_args(arguments))


def program() -> NoReturn:
    """Run as a program of its own: end at once, without taking the interpreter apart.

    Nothing is left to be done by then, and DuckDB's bindings, if a cache of another package still holds them, would
    print what they take for leaks.
    """
    code = main()
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, OSError, ValueError):
            stream.flush()
    os._exit(code)


def _parser(chosen: str | None) -> Parser:
    """Return the parser; only the module of the command chosen is loaded, and only its options are added."""
    parser = Parser(
        prog="xorder",
        description="Audit how fairly a risk score ranks people of different groups, and repair it after the fact.",
    )
    parser.add_argument(
        "--version", action="version", version=f"xorder {__version__}", help="Show the version and exit"
    )
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND", parser_class=Parser)
    for name, summary in _COMMANDS.items():
        command = commands.add_parser(name, help=summary, description=summary)
        if name == chosen:
            module = import_module(f"xorder.cli._{name}")
            module.add(command)
            command.set_defaults(run=module.run)
    return parser


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
