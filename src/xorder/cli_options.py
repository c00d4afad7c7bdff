"""What the commands share: options for input and output, the tables of a file, and how a result is printed."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn, TextIO

from xorder._groups import MISSING_GROUPS, UNSEEN_GROUPS
from xorder._progress import Progress
from xorder._table import Tables
from xorder.engines import tables_of

FOLDS = 5
"""Folds by which is told what to expect on new people."""

# In a log, how much time passes between two lines.
_LINE_SECONDS = 30.0


class _Once(argparse.Action):
    """Stores a value, and refuses a second one: neither is what the user meant without a doubt."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option_string: Any = None
    ) -> None:
        given = vars(namespace).setdefault("_given", set())
        if option_string is not None and self.dest in given:
            parser.error(f"{option_string} is given twice; give it once")
        given.add(self.dest)
        setattr(namespace, self.dest, values)


class _OnceTrue(_Once):
    """Notes that an option is there, once."""

    def __init__(self, option_strings: Any, dest: str, **settings: Any) -> None:
        super().__init__(option_strings, dest, nargs=0, const=True, **settings | {"default": False})

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option_string: Any = None
    ) -> None:
        super().__call__(parser, namespace, True, option_string)


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, as all other errors do; no option may be given twice."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.register("action", None, _Once)
        self.register("action", "store", _Once)
        self.register("action", "store_true", _OnceTrue)

    def error(self, message: str) -> NoReturn:
        """Print the line, and end with exit code 2."""
        self.exit(2, f"{self.prog}: error: {' '.join(message.split())} (see '{self.prog} --help')\n")


def add_json(command: argparse.ArgumentParser) -> None:
    """Add the option to print for machines."""
    command.add_argument("--json", action="store_true", help="print JSON instead of text")


def add_input(command: argparse.ArgumentParser, *, labelled: bool) -> None:
    """Add the file and its columns."""
    add_json(command)
    command.add_argument("file", metavar="FILE", help="csv, csv.gz or parquet; of many files a pattern in quotes")
    command.add_argument("--score", required=True, metavar="COLUMN", help="the score; higher ranks higher")
    command.add_argument("--group", required=True, metavar="COLUMN", help="the group of each row")
    if labelled:
        command.add_argument("--label", required=True, metavar="COLUMN", help="the outcome, 0 or 1")
        command.add_argument("--positive", metavar="VALUE", help="value of the outcome that counts as 1")
        command.add_argument("--weight", metavar="COLUMN", help="weight of each row")
        command.add_argument(
            "--weights-are",
            choices=("counts", "sampling"),
            default="counts",
            help="counts: a row of weight 2 is two rows; sampling: weights correct for how rows were drawn "
            "(default counts)",
        )
    usual = "error" if labelled else None
    command.add_argument(
        "--missing-group",
        choices=MISSING_GROUPS,
        default=usual,
        help="rows without a group: refuse them, leave them and their scores, or take them as a group (default "
        f"{usual or 'as in fit'})",
    )
    command.add_argument("--encoding", default="utf-8", help="of csv files (default utf-8)")
    command.add_argument("--memory", default="2GB", metavar="AMOUNT", help="used for large files (default 2GB)")


def add_unseen(command: argparse.ArgumentParser, usual: str | None) -> None:
    """Add what becomes of groups that fit did not see."""
    command.add_argument(
        "--unseen-group",
        choices=UNSEEN_GROUPS,
        default=usual,
        help="rows to adjust whose group was not in fit: refuse them, or leave their scores (default "
        f"{usual or 'as in fit'})",
    )


def add_output(command: argparse.ArgumentParser, metavar: str, what: str) -> None:
    """Add the name of the file to write."""
    command.add_argument("-o", "--output", required=True, metavar=metavar, help=what)
    command.add_argument("--force", action="store_true", help="replace the output if it exists")


def show(what: str | dict[str, Any]) -> None:
    """Print a result."""
    print(what if isinstance(what, str) else json.dumps(what, indent=2, allow_nan=False))


def read_tables(options: argparse.Namespace, folds: int = 0) -> Tables:
    """Read the tables of the file that a command names."""
    with progress_line(sys.stderr) as progress:
        return tables_of(
            options.file,
            score=options.score,
            group=options.group,
            label=options.label,
            weight=options.weight,
            weights_are=options.weights_are,
            positive=options.positive,
            missing_group=options.missing_group,
            as_text=True,
            folds=folds,
            encoding=options.encoding,
            memory=options.memory,
            progress=progress,
        )


def is_same_file(one: str, other: str) -> bool:
    """Whether two names are those of one file; not by name, as on some systems case does not count."""
    return Path(one).exists() and Path(other).exists() and Path(one).samefile(other)


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
