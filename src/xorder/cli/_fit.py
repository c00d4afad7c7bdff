"""``xorder fit``."""

from __future__ import annotations

import argparse
import math
import warnings

from xorder._table import Tables
from xorder.cli._options import FOLDS, add_input, add_metric, add_output, add_unseen, check_output, read_tables, show
from xorder.estimators import (
    SMALL_GROUPS,
    TRANSFERS,
    ExpectedGap,
    RepairSettings,
    expected_gap_tables,
    learn_repair,
)
from xorder.exceptions import InputError, XorderWarning, warn_caller
from xorder.metrics import audit_tables
from xorder.ordering import SOLVERS


def add(command: argparse.ArgumentParser) -> None:
    """Add the options."""
    usual = RepairSettings()
    add_input(command, labelled=True)
    add_output(command, "MAP", "File to write the map to (JSON)")
    add_metric(command, "Metric of the gap to close (default xauc)", usual.metric)
    aim = command.add_mutually_exclusive_group()
    aim.add_argument("--max-gap", type=float, default=0.0, metavar="GAP", help="Largest gap wanted (default 0)")
    aim.add_argument("--tradeoff", type=float, help="Points of AUC worth giving for a point of the gap")
    command.add_argument(
        "--solver", choices=tuple(SOLVERS), default=usual.solver, help=f"Solver (default {usual.solver})"
    )
    command.add_argument(
        "--adjust",
        metavar="GROUP",
        default=usual.adjust,
        help="Group whose scores move (default: the disadvantaged of two)",
    )
    command.add_argument(
        "--reference", metavar="GROUP", help="Group whose scores stay (default: of more than two, the largest)"
    )
    command.add_argument(
        "--transfer",
        choices=[name for name in TRANSFERS if name != "rank"],
        default=usual.transfer,
        help=f"Way to new scores (default {usual.transfer})",
    )
    command.add_argument("--do-no-harm", action="store_true", help="Repair only as much as the evidence carries")
    command.add_argument(
        "--min-group-size", type=float, default=0, metavar="ROWS", help="Size below which a group is small (default 0)"
    )
    command.add_argument(
        "--small-groups",
        choices=SMALL_GROUPS,
        default=usual.small_groups,
        help="Choice for small groups: refuse them, leave their scores alone, or count them with the reference "
        f"(default {usual.small_groups})",
    )
    add_unseen(command, usual.unseen_group)
    command.add_argument(
        "--bounds", type=float, nargs=2, metavar=("LOW", "HIGH"), help="Range of adjusted scores, such as 0 100"
    )


def run(options: argparse.Namespace) -> None:
    """Learn a repair from a file, and save its map."""
    check_output(options.output, overwrite=options.force, inputs=[options.file])
    settings = RepairSettings(
        metric=options.metric,
        tradeoff=options.tradeoff,
        max_gap=options.max_gap,
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
    low, high = audit_tables(tables).gap(settings.metric, repair.pair).interval
    expected, why_not = _expected(settings, tables)
    repair.save(options.output, overwrite=options.force)
    if options.json:
        interval = [end if math.isfinite(end) else None for end in (low, high)]
        result = repair.summary() | {"gap_before_interval": interval, "map": options.output}
        show(result | {"expected": None if expected is None else expected.to_dict()})
        return
    sure = "its uncertainty cannot be estimated" if math.isnan(low) else f"95 % interval {low:+.4f} to {high:+.4f}"
    chance = " It cannot be told from chance; repairing it may do more harm than good." if low <= 0 <= high else ""
    show(
        f"{repair.text()}\nThe gap before: {sure}.{chance}\n\n"
        f"{expected or f'What to expect on new people cannot be told: {why_not}'}\n\nWrote {options.output}"
    )


def _expected(settings: RepairSettings, tables: Tables) -> tuple[ExpectedGap | None, str]:
    """Return what to expect of the repair on new people, or why that cannot be said."""
    try:
        with warnings.catch_warnings():
            # The repair of all rows has said which groups are too small.
            warnings.simplefilter("ignore", XorderWarning)
            return expected_gap_tables(settings, tables, cv=FOLDS), ""
    except InputError as error:
        return None, str(error)
