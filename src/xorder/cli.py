"""The command line: parse, call one public function, print."""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from xorder import __version__
from xorder._validation import MISSING
from xorder.cli_data import add_data_commands, progress_line
from xorder.cli_ending import run_command
from xorder.cli_report import add_report_command
from xorder.demo import run_demo
from xorder.engines import FrameTables, adjust_file, files_of, notes_of, tables_of_file
from xorder.estimators import (
    MISSING_GROUPS,
    SMALL_GROUPS,
    TRANSFERS,
    ExpectedDisparity,
    XOrder,
    expected_disparity_of_tables,
    load,
)
from xorder.exceptions import InputError, XorderWarning
from xorder.metrics.audit import audit_tables
from xorder.ordering import DISPARITIES, SOLVERS


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return 0, or 2 with one line on standard error for what the user got wrong."""
    return run_command(_parser().parse_args(arguments))


def _audit(options: argparse.Namespace) -> None:
    found = _tables(options)
    for note in notes_of(found, options.weight, options.weights_are):
        warnings.warn(note, XorderWarning, stacklevel=2)
    squares = found.squares if options.weights_are == "sampling" else None
    deviation = None if found.is_exact else found.deviation
    result = audit_tables(found.tables, squares, confidence=options.confidence, deviation=deviation)
    _print(result.to_dict() if options.json else str(result))


def _fit(options: argparse.Namespace) -> None:
    if options.tradeoff is not None and options.max_disparity is not None:
        raise InputError("give --tradeoff or --max-disparity, not both.")
    if not options.force and Path(options.output).exists():
        raise InputError(f"{options.output} exists already; choose another name, or replace it with --force.")
    out = Path(options.output)
    # Not by name: on some systems case does not count.
    if out.exists() and any(Path(file).exists() and out.samefile(file) for file in files_of(options.file)):
        raise InputError(f"{options.output} is the input itself; the map needs a file of its own.")
    repair = XOrder(
        metric=options.metric,
        tradeoff=options.tradeoff,
        max_disparity=options.max_disparity or 0.0,
        solver=options.solver,
        adjust=options.adjust,
        bounds=options.bounds,
        transfer=options.transfer,
        reference=options.reference,
        do_no_harm=options.do_no_harm,
        min_group_size=options.min_group_size,
        small_groups=options.small_groups,
        missing_group=options.missing_group,
    )
    found = _tables(options, missing_group=options.missing_group)
    if found.note is not None:
        warnings.warn(found.note, XorderWarning, stacklevel=2)
    repair.fit_tables(found.tables, found.spreads)
    before = audit_tables(found.tables, found.squares).gap(repair.metric, repair.pair_)
    expected, why_not = _expected(repair, found)
    repair.save(options.output, overwrite=options.force)
    if options.json:
        interval = [end if np.isfinite(end) else None for end in before.interval]
        result = repair.summary() | {"disparity_before_interval": interval, "map": options.output}
        result["expected"] = None if expected is None else expected.to_dict()
        _print(result)
        return
    low, high = before.interval
    sure = "its uncertainty cannot be estimated" if np.isnan(low) else f"95 % interval {low:+.4f} to {high:+.4f}"
    chance = " It cannot be told from chance; repairing it may do more harm than good." if low <= 0 <= high else ""
    _print(
        f"{repair.report()}\nThe gap before: {sure}.{chance}\n\n"
        f"{expected or f'What to expect on new people cannot be told: {why_not}'}\n\nWrote {options.output}"
    )


def _expected(repair: XOrder, found: FrameTables) -> tuple[ExpectedDisparity | None, str]:
    """What the repair does on people it was not learnt from, or why that cannot be told."""
    try:
        with warnings.catch_warnings():
            # Of groups that are too small the repair of all rows has told already.
            warnings.simplefilter("ignore", XorderWarning)
            return expected_disparity_of_tables(repair, found.tables, found.spreads), ""
    except InputError as error:
        return None, str(error)


def _apply(options: argparse.Namespace) -> None:
    repair = load(options.map)
    if repair.transfer == "rank":
        raise InputError(
            f"{options.map} adjusts by rank in a batch, which a file read in parts has not; fit without it."
        )
    # In files groups are text; maps learnt in Python may have other labels, matched by how they are written.
    maps = {str(group): learnt for group, learnt in repair.maps_.items()}
    if len(maps) < len(repair.maps_):
        raise InputError(f"{options.map} has groups that are written alike, such as 1 and '1'; fit it on text labels.")
    missing = MISSING if repair.missing_group != "error" and MISSING in maps else None
    labels = {str(group): group for group in repair.maps_}

    def adjust(scores: Any, groups: Any) -> Any:
        known = np.empty(len(groups), dtype=object)
        known[:] = [labels.get(group, group) for group in groups]
        return repair.transform(scores, sensitive_features=known)

    with progress_line(sys.stderr) as progress:
        rows = adjust_file(
            options.file,
            options.output,
            maps=maps,
            transform=adjust,
            score=options.score,
            group=options.group,
            into=options.into,
            missing=missing,
            overwrite=options.force,
            encoding=options.encoding,
            memory=options.memory,
            progress=progress,
        )
    done = {"rows": rows, "column": options.into, "output": options.output}
    _print(done if options.json else f"Wrote {rows:,} rows to {options.output}; the new column is {options.into!r}.")


def _demo(options: argparse.Namespace) -> None:
    result = run_demo(options.out, n_samples=options.rows, seed=options.seed, overwrite=options.force)
    first = next(iter(result.audits.values()))
    files = "\n".join(f"  {path}\n      {what}" for path, what in result.files.items())
    notes = "".join(f"\n{note}" for note in result.notes)
    _print(
        "A simulated population of two groups. Group B's risks are lower, and the score reads them lower still.\n\n"
        f"THE SCORE AS IT WAS\n{first}\n\nTHE REPAIR\n{result.repair.report()}\n\n"
        f"BEFORE AND AFTER\n{result.table()}\n\nFiles to look at:\n{files}{notes}"
    )


def _tables(options: argparse.Namespace, missing_group: str = "error") -> FrameTables:
    with progress_line(sys.stderr) as progress:
        return tables_of_file(
            options.file,
            score=options.score,
            group=options.group,
            label=options.label,
            weight=options.weight,
            positive=options.positive,
            missing_group=missing_group,
            encoding=options.encoding,
            memory=options.memory,
            progress=progress,
        )


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, as all other errors do."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: error: {' '.join(message.split())} (see '{self.prog} --help')\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="xorder",
        description="Audit how fairly a risk score ranks people of different groups, and repair it after the fact.",
    )
    parser.add_argument("--version", action="version", version=f"xorder {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND", parser_class=_Parser)

    command = _command(commands, "audit", _audit, "measure how a score ranks each group")
    _add_input(command, labelled=True)
    command.add_argument("--confidence", type=float, default=0.95, help="of the intervals (default 0.95)")
    command.add_argument(
        "--weights-are",
        choices=("counts", "sampling"),
        default="counts",
        help="counts: a row of weight 2 is two rows; sampling: weights correct for how rows were drawn",
    )

    command = _command(commands, "fit", _fit, "learn how to adjust the scores, and save it")
    _add_input(command, labelled=True)
    _add_output(command, "MAP", "where to write the learnt map (JSON)")
    command.add_argument("--metric", choices=tuple(DISPARITIES), default="xauc", help="the gap to close (default xauc)")
    command.add_argument("--max-disparity", type=float, metavar="GAP", help="largest gap wanted (default 0)")
    command.add_argument("--tradeoff", type=float, help="instead: points of AUC worth giving for a point of the gap")
    defaults = XOrder().get_params()
    command.add_argument(
        "--solver",
        choices=tuple(SOLVERS),
        default=defaults["solver"],
        help=f"how the groups are interleaved (default {defaults['solver']})",
    )
    command.add_argument(
        "--adjust",
        metavar="GROUP",
        default=defaults["adjust"],
        help="group whose scores move (default: the disadvantaged of two)",
    )
    command.add_argument(
        "--reference", metavar="GROUP", help="group whose scores stay (default: of more than two, the largest)"
    )
    command.add_argument(
        "--transfer",
        choices=[name for name in TRANSFERS if name != "rank"],
        default=defaults["transfer"],
        help=f"how the repair is carried over to new scores (default {defaults['transfer']})",
    )
    command.add_argument("--do-no-harm", action="store_true", help="repair only as much as the evidence carries")
    command.add_argument("--min-group-size", type=float, default=0, metavar="ROWS", help="groups below it are small")
    command.add_argument(
        "--small-groups",
        choices=SMALL_GROUPS,
        default=defaults["small_groups"],
        help="refuse them, leave their scores, or count them with the reference (default error)",
    )
    command.add_argument(
        "--missing-group",
        choices=MISSING_GROUPS,
        default=defaults["missing_group"],
        help="rows without a group: refuse them, leave their scores, or take them as a group (default error)",
    )
    command.add_argument(
        "--bounds", type=float, nargs=2, metavar=("LOW", "HIGH"), help="adjusted scores stay between these, e.g. 0 100"
    )

    command = _command(commands, "apply", _apply, "adjust the scores of a file with a saved map")
    _add_input(command, labelled=False)
    command.add_argument("--map", required=True, metavar="MAP", help="what 'xorder fit' wrote")
    _add_output(command, "OUT", "where to write the file with the adjusted scores")
    command.add_argument(
        "--into", default="adjusted", metavar="COLUMN", help="name of the new column (default adjusted)"
    )

    add_report_command(commands, command=_command, add_input=_add_input, read=_tables, show=_print)

    command = commands.add_parser(
        "demo",
        help="show it all on a simulated population",
        description="Simulate a biased score, audit it, repair it, and check the repair on new people.",
    )
    command.set_defaults(run=_demo)
    command.add_argument("--out", default="xorder-demo", metavar="FOLDER", help="for the files (default xorder-demo)")
    command.add_argument("--rows", type=int, default=4000, help="people in each sample (default 4000)")
    command.add_argument("--seed", type=int, default=0, help="of the simulation (default 0)")
    command.add_argument("--force", action="store_true", help="replace files of an earlier demo")

    add_data_commands(commands, command=_command, add_output=_add_output, show=_print)
    return parser


def _command(commands: Any, name: str, run: Any, summary: str) -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = commands.add_parser(name, help=summary, description=summary)
    command.set_defaults(run=run)
    command.add_argument("--json", action="store_true", help="print JSON instead of text")
    return command


def _add_input(command: argparse.ArgumentParser, *, labelled: bool) -> None:
    command.add_argument("file", metavar="FILE", help="csv, csv.gz or parquet; of many files a pattern in quotes")
    command.add_argument("--score", required=True, metavar="COLUMN", help="the score; higher ranks higher")
    command.add_argument("--group", required=True, metavar="COLUMN", help="the group of each row")
    if labelled:
        command.add_argument("--label", required=True, metavar="COLUMN", help="the outcome, 0 or 1")
        command.add_argument("--positive", metavar="VALUE", help="value of the outcome that counts as 1")
        command.add_argument("--weight", metavar="COLUMN", help="weight of each row")
    command.add_argument("--encoding", default="utf-8", help="of csv files (default utf-8)")
    command.add_argument("--memory", default="2GB", metavar="AMOUNT", help="used for large files (default 2GB)")


def _add_output(command: argparse.ArgumentParser, metavar: str, what: str) -> None:
    command.add_argument("-o", "--output", required=True, metavar=metavar, help=what)
    command.add_argument("--force", action="store_true", help="replace the output if it exists")


def _print(what: str | dict[str, Any]) -> None:
    print(what if isinstance(what, str) else json.dumps(what, indent=2, allow_nan=False))


if __name__ == "__main__":
    sys.exit(main())
