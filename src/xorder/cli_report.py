"""The command that writes a page for people to read."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from xorder._metric import METRICS
from xorder.cli_ending import in_the_users_words
from xorder.cli_options import FOLDS, add_input, add_unseen, is_same_file, read_tables, show
from xorder.engines import GroupMaps
from xorder.engines._apply import check_matched
from xorder.engines._files import files_of
from xorder.estimators import load
from xorder.exceptions import InputError, warn_caller
from xorder.reporting import report_tables


def add_report(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``xorder report``."""
    add_input(parser, labelled=True)
    parser.set_defaults(run=_report, missing_group=None)
    parser.add_argument("-o", "--output", metavar="PAGE", help="where to write the page (HTML)")
    parser.add_argument("--force", action="store_true", help="replace the output if it exists")
    parser.add_argument(
        "--before-after", metavar="MAP", help="what 'xorder fit' wrote; tell what it does to these rows"
    )
    add_unseen(parser, None)
    parser.add_argument("--metric", choices=tuple(METRICS), help="the gap to speak of (default the map's, or xauc)")
    parser.add_argument("--title", help="of the page")
    parser.add_argument("--confidence", type=float, default=0.95, help="of the intervals (default 0.95)")


def _report(options: argparse.Namespace) -> None:
    _check_output(options)
    repair = None if options.before_after is None else load(options.before_after)
    if repair is not None and options.unseen_group is not None:
        repair.set_params(unseen_group=options.unseen_group)
    if options.missing_group is None:
        options.missing_group = "error" if repair is None else repair.missing_group
    tables = read_tables(options, folds=FOLDS)
    # The page has them in the words of the command line, too.
    tables = replace(tables, notes=tuple(in_the_users_words(note, options) for note in tables.notes))
    for note in tables.notes:
        warn_caller(note)
    if repair is not None:
        maps = GroupMaps(repair.maps_, repair.missing_group, repair.unseen_group)
        check_matched(maps, tables, options.file, score=options.score, group=options.group, encoding=options.encoding)
    found = report_tables(
        tables,
        repair=repair,
        metric=options.metric,
        names={"score": options.score, "label": options.label, "group": options.group},
        title=options.title,
        confidence=options.confidence,
        # Of a pattern there is no one file to be named.
        source=options.file if Path(options.file).is_file() else None,
    )
    if options.output is not None:
        found.save(options.output, overwrite=options.force)
    show(found.to_dict() if options.json else f"{found}\nWrote {options.output}")


def _check_output(options: argparse.Namespace) -> None:
    """Refuse before anything is read or computed what could not be written in the end."""
    if options.output is None:
        if not options.json:
            raise InputError("name the page to write with -o report.html, or ask for its numbers alone with --json.")
        return
    if not options.force and Path(options.output).exists():
        raise InputError(f"{options.output} exists already; choose another name, or replace it with overwrite=True.")
    inputs = [*files_of(options.file), *([options.before_after] if options.before_after is not None else [])]
    if any(is_same_file(options.output, file) for file in inputs):
        raise InputError(f"{options.output} is an input itself; the page needs a file of its own.")
