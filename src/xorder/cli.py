"""The command line: parse, call one public function, print."""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

import numpy as np

from xorder import __version__
from xorder._metric import METRICS
from xorder._table import Tables
from xorder.cli_ending import run_command
from xorder.cli_options import (
    FOLDS,
    Parser,
    add_input,
    add_output,
    add_unseen,
    is_same_file,
    progress_line,
    read_tables,
    show,
)
from xorder.engines import apply_to_file
from xorder.engines._files import files_of
from xorder.estimators import (
    SMALL_GROUPS,
    TRANSFERS,
    ExpectedGap,
    RepairSettings,
    expected_gap_tables,
    learn_repair,
    load_fitted,
)
from xorder.exceptions import InputError, XorderWarning, warn_caller
from xorder.metrics._audit import audit_tables
from xorder.ordering import SOLVERS


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


def _audit(options: argparse.Namespace) -> None:
    result = audit_tables(read_tables(options), confidence=options.confidence)
    show(result.to_dict() if options.json else str(result))


def _fit(options: argparse.Namespace) -> None:
    if options.tradeoff is not None and options.max_gap is not None:
        raise InputError("give tradeoff or max_gap, not both.")
    if not options.force and Path(options.output).exists():
        raise InputError(f"{options.output} exists already; choose another name, or replace it with overwrite=True.")
    if any(is_same_file(options.output, file) for file in files_of(options.file)):
        raise InputError(f"{options.output} is the input itself; the map needs a file of its own.")
    settings = RepairSettings(
        metric=options.metric,
        tradeoff=options.tradeoff,
        max_gap=options.max_gap or 0.0,
        solver=options.solver,
        adjust=options.adjust,
        bounds=options.bounds,
        transfer=options.transfer,
        reference=options.reference,
        do_no_harm=options.do_no_harm,
        min_group_size=options.min_group_size,
        small_groups=options.small_groups,
        missing_group=options.missing_group,
        unseen_group=options.unseen_group,
    ).checked()
    tables = read_tables(options, folds=FOLDS)
    repair = learn_repair(tables, settings)
    for note in repair.notes:
        warn_caller(note)
    before = audit_tables(tables).gap(settings.metric, repair.pair)
    expected, why_not = _expected(settings, tables)
    repair.save(options.output, overwrite=options.force)
    if options.json:
        interval = [end if np.isfinite(end) else None for end in before.interval]
        result = repair.summary() | {"gap_before_interval": interval, "map": options.output}
        result["expected"] = None if expected is None else expected.to_dict()
        show(result)
        return
    low, high = before.interval
    sure = "its uncertainty cannot be estimated" if np.isnan(low) else f"95 % interval {low:+.4f} to {high:+.4f}"
    chance = " It cannot be told from chance; repairing it may do more harm than good." if low <= 0 <= high else ""
    show(
        f"{repair.text()}\nThe gap before: {sure}.{chance}\n\n"
        f"{expected or f'What to expect on new people cannot be told: {why_not}'}\n\nWrote {options.output}"
    )


def _expected(settings: RepairSettings, tables: Tables) -> tuple[ExpectedGap | None, str]:
    """What the repair does on people it was not learnt from, or why that cannot be told."""
    try:
        with warnings.catch_warnings():
            # Of groups that are too small the repair of all rows has told already.
            warnings.simplefilter("ignore", XorderWarning)
            return expected_gap_tables(settings, tables, cv=FOLDS), ""
    except InputError as error:
        return None, str(error)


def _apply(options: argparse.Namespace) -> None:
    repair = load_fitted(options.map)
    repair = repair.choosing(missing_group=options.missing_group, unseen_group=options.unseen_group)
    with progress_line(sys.stderr) as progress:
        rows, _ = apply_to_file(
            repair.group_maps(),
            options.file,
            options.output,
            score=options.score,
            group=options.group,
            into=options.into,
            overwrite=options.force,
            encoding=options.encoding,
            memory=options.memory,
            progress=progress,
        )
    done = {"rows": rows, "column": options.into, "output": options.output}
    show(done if options.json else f"Wrote {rows:,} rows to {options.output}; the new column is {options.into!r}.")


def _demo(options: argparse.Namespace) -> None:
    from xorder.demo import run_demo

    result = run_demo(options.out, n_samples=options.rows, seed=options.seed, overwrite=options.force)
    first = next(iter(result.audits.values()))
    files = "\n".join(f"  {path}\n      {what}" for path, what in result.files.items())
    notes = "".join(f"\n{note}" for note in result.notes)
    show(
        "A simulated population of two groups. Group B's risks are lower, and the score reads them lower still.\n\n"
        f"THE SCORE AS IT WAS\n{first}\n\nTHE REPAIR\n{result.repair.report()}\n\n"
        f"BEFORE AND AFTER\n{result.table()}\n\nFiles to look at:\n{files}{notes}"
    )


def _parser(chosen: str | None = None) -> argparse.ArgumentParser:
    """Return the parser; the options of a command are added where it is the one chosen, or where none is known."""
    parser = Parser(
        prog="xorder",
        description="Audit how fairly a risk score ranks people of different groups, and repair it after the fact.",
    )
    parser.add_argument("--version", action="version", version=f"xorder {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND", parser_class=Parser)
    for name, (add, summary) in _COMMANDS.items():
        command = commands.add_parser(name, help=summary, description=summary)
        if chosen == name:
            add(command)
    return parser


def _add_audit(command: argparse.ArgumentParser) -> None:
    command.set_defaults(run=_audit)
    add_input(command, labelled=True)
    command.add_argument("--confidence", type=float, default=0.95, help="of the intervals (default 0.95)")


def _add_fit(command: argparse.ArgumentParser) -> None:
    usual = RepairSettings()
    command.set_defaults(run=_fit)
    add_input(command, labelled=True)
    add_output(command, "MAP", "where to write the learnt map (JSON)")
    command.add_argument("--metric", choices=tuple(METRICS), default="xauc", help="the gap to close (default xauc)")
    command.add_argument("--max-gap", type=float, metavar="GAP", help="largest gap wanted (default 0)")
    command.add_argument("--tradeoff", type=float, help="instead: points of AUC worth giving for a point of the gap")
    command.add_argument(
        "--solver",
        choices=tuple(SOLVERS),
        default=usual.solver,
        help=f"how the groups are interleaved (default {usual.solver})",
    )
    command.add_argument(
        "--adjust",
        metavar="GROUP",
        default=usual.adjust,
        help="group whose scores move (default: the disadvantaged of two)",
    )
    command.add_argument(
        "--reference", metavar="GROUP", help="group whose scores stay (default: of more than two, the largest)"
    )
    command.add_argument(
        "--transfer",
        choices=[name for name in TRANSFERS if name != "rank"],
        default=usual.transfer,
        help=f"how the repair is carried over to new scores (default {usual.transfer})",
    )
    command.add_argument("--do-no-harm", action="store_true", help="repair only as much as the evidence carries")
    command.add_argument("--min-group-size", type=float, default=0, metavar="ROWS", help="groups below it are small")
    command.add_argument(
        "--small-groups",
        choices=SMALL_GROUPS,
        default=usual.small_groups,
        help="refuse them, leave their scores, or count them with the reference (default error)",
    )
    add_unseen(command, usual.unseen_group)
    command.add_argument(
        "--bounds", type=float, nargs=2, metavar=("LOW", "HIGH"), help="adjusted scores stay between these, e.g. 0 100"
    )


def _add_apply(command: argparse.ArgumentParser) -> None:
    command.set_defaults(run=_apply)
    add_input(command, labelled=False)
    command.add_argument("--map", required=True, metavar="MAP", help="what 'xorder fit' wrote")
    add_output(command, "OUT", "where to write the file with the adjusted scores")
    command.add_argument(
        "--into", default="adjusted", metavar="COLUMN", help="name of the new column (default adjusted)"
    )
    add_unseen(command, None)


def _add_demo(command: argparse.ArgumentParser) -> None:
    command.description = "Simulate a biased score, audit it, repair it, and check the repair on new people."
    command.set_defaults(run=_demo)
    command.add_argument("--out", default="xorder-demo", metavar="FOLDER", help="for the files (default xorder-demo)")
    command.add_argument("--rows", type=int, default=4000, help="people in each sample (default 4000)")
    command.add_argument("--seed", type=int, default=0, help="of the simulation (default 0)")
    command.add_argument("--force", action="store_true", help="replace files of an earlier demo")


def _add_report(command: argparse.ArgumentParser) -> None:
    from xorder.cli_report import add_report

    add_report(command)


def _add_data(command: argparse.ArgumentParser) -> None:
    from xorder.cli_data import add_data

    add_data(command)


_COMMANDS = {
    "audit": (_add_audit, "measure how a score ranks each group"),
    "fit": (_add_fit, "learn how to adjust the scores, and save it"),
    "apply": (_add_apply, "adjust the scores of a file with a saved map"),
    "report": (_add_report, "write a page on how a score ranks each group, for people to read"),
    "demo": (_add_demo, "show it all on a simulated population"),
    "data": (_add_data, "open data sets, and cohorts of your own copy of MIMIC-III or eICU"),
}


if __name__ == "__main__":
    program()
