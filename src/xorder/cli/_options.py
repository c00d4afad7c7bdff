"""What commands share: the parser, options, the tables of a file, and how a result is printed."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from xorder._groups import MISSING_GROUPS, UNSEEN_GROUPS
from xorder._table import Tables
from xorder.cli._progress import progress_line
from xorder.engines import files_of, tables_of
from xorder.exceptions import InputError

FOLDS = 5
"""Folds that show what to expect on new people."""


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


def add_map(command: argparse.ArgumentParser, *, required: bool) -> None:
    """Add the map to use."""
    command.add_argument("--map", required=required, metavar="MAP", help="what 'xorder fit' wrote")


def add_confidence(command: argparse.ArgumentParser) -> None:
    """Add the confidence of the intervals."""
    command.add_argument("--confidence", type=float, default=0.95, help="of the intervals (default 0.95)")


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


def check_output(output: str, *, overwrite: bool, inputs: Sequence[str]) -> None:
    """Refuse what could not be written in the end before anything is read or computed."""
    if not overwrite and Path(output).exists():
        raise InputError(f"{output} exists already; choose another name, or replace it with overwrite=True.")
    if any(_is_same_file(output, file) for name in inputs for file in files_of(name)):
        raise InputError(f"{output} is an input itself; choose another name.")


def _is_same_file(one: str, other: str) -> bool:
    """Whether two names are those of one file; not by name, as on some systems case does not count."""
    return Path(one).exists() and Path(other).exists() and Path(one).samefile(other)
