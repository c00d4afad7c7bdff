"""The command that writes a page for people to read."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from xorder.engines import FrameTables, files_of, notes_of
from xorder.estimators import load
from xorder.exceptions import InputError, XorderWarning
from xorder.ordering import DISPARITIES
from xorder.report import report_tables


def add_report_command(
    commands: Any,
    *,
    command: Callable[..., argparse.ArgumentParser],
    add_input: Callable[..., None],
    read: Callable[[argparse.Namespace], FrameTables],
    show: Callable[[str | dict[str, Any]], None],
) -> None:
    """Add ``xorder report``; what it shares with other commands is handed in."""

    def run(options: argparse.Namespace) -> None:
        _check_output(options)
        repair = None if options.before_after is None else load(options.before_after)
        rows = read(options)
        for note in notes_of(rows, options.weight, options.weights_are):
            warnings.warn(note, XorderWarning, stacklevel=2)
        found = report_tables(
            rows.tables,
            rows.squares if options.weights_are == "sampling" else None,
            repair=repair,
            metric=options.metric,
            names={"score": options.score, "label": options.label, "group": options.group},
            title=options.title,
            confidence=options.confidence,
            # Of a pattern there is no one file to be named.
            source=options.file if Path(options.file).is_file() else None,
            weighted=options.weight is not None,
        )
        if options.output is not None:
            found.save(options.output, overwrite=options.force)
        show(found.to_dict() if options.json else f"{found}\nWrote {options.output}")

    parser = command(commands, "report", run, "write a page on how a score ranks each group, for people to read")
    add_input(parser, labelled=True)
    parser.add_argument("-o", "--output", metavar="PAGE", help="where to write the page (HTML)")
    parser.add_argument("--force", action="store_true", help="replace the output if it exists")
    parser.add_argument(
        "--before-after", metavar="MAP", help="what 'xorder fit' wrote; tell what it does to these rows"
    )
    parser.add_argument("--metric", choices=tuple(DISPARITIES), help="the gap to speak of (default the map's, or xauc)")
    parser.add_argument("--title", help="of the page")
    parser.add_argument("--confidence", type=float, default=0.95, help="of the intervals (default 0.95)")
    parser.add_argument(
        "--weights-are",
        choices=("counts", "sampling"),
        default="counts",
        help="counts: a row of weight 2 is two rows; sampling: weights correct for how rows were drawn",
    )


def _check_output(options: argparse.Namespace) -> None:
    """Refuse before anything is read or computed what could not be written in the end."""
    if options.output is None:
        if not options.json:
            raise InputError("name the page to write with -o report.html, or ask for its numbers alone with --json.")
        return
    out = Path(options.output)
    if not options.force and out.exists():
        raise InputError(f"{options.output} exists already; choose another name, or replace it with --force.")
    inputs = [*files_of(options.file), *([options.before_after] if options.before_after is not None else [])]
    # Not by name: on some systems case does not count.
    if out.exists() and any(Path(file).exists() and out.samefile(file) for file in inputs):
        raise InputError(f"{options.output} is an input itself; the page needs a file of its own.")
