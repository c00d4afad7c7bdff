"""The command line, a file per command: parse, call one public function, print."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import NoReturn

from xorder import __version__
from xorder.cli._errors import run_command
from xorder.cli._options import Parser

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
