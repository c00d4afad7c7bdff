"""``xorder fit``."""

from __future__ import annotations

import argparse
import json
import math
from dataclasses import fields
from typing import TYPE_CHECKING

from xorder._metric import METRICS
from xorder.cli import _program as shared
from xorder.estimators import METHODS, SMALL_GROUPS, RepairSettings
from xorder.exceptions import InputError, warn_caller
from xorder.metrics._gaps import FEW

if TYPE_CHECKING:
    from xorder._table import Tables
    from xorder.estimators import ExpectedGap, FittedRepair


EXAMPLES = ("{} -o map.json", "{} --max-gap 0.02 -o map.json")


def add(command: argparse.ArgumentParser) -> None:
    """Add the options."""
    usual = RepairSettings()
    shared.add_input(command, labelled=True)
    shared.add_options(command, {"cluster": "COLUMN", "reference": "GROUP"})
    shared.add_options(command, {"max-cut-gap": "GAP", "confidence": None, "next": "ROWS"}, type=float)
    shared.add_output(command, "MAP", "json")
    command.add_argument("--metric", choices=METRICS, default=usual.metric)
    aim = command.add_mutually_exclusive_group()
    aim.add_argument("--max-gap", type=float, default=0.0, metavar="GAP")
    aim.add_argument("--tradeoff", type=float)
    command.add_argument("--method", choices=METHODS, default=usual.method)
    command.add_argument("--do-no-harm", "--no-do-no-harm", action="store_true", default=None)
    command.add_argument(
        "--min-group-size",
        type=float,
        default=usual.min_group_size,
        metavar="ROWS",
        help=f"Size below which a group is small (default 0; with fewer than {FEW} positives or negatives always)",
    )
    command.add_argument("--small-groups", choices=SMALL_GROUPS, default=usual.small_groups)
    shared.add_unseen(command, usual.unseen_group)
    command.add_argument("--bounds", type=float, nargs=2, metavar=("LOW", "HIGH"))


def run(options: argparse.Namespace) -> None:
    """Fit a repair to a file, and save its map."""
    from xorder._present import known, level
    from xorder.estimators import learn_repair
    from xorder.metrics import audit_tables
    from xorder.metrics._gaps import judge

    shared.check_output(options.output, overwrite=options.force, inputs=[options.file])
    settings = RepairSettings(**shared.chosen(options, *(each.name for each in fields(RepairSettings)))).checked()
    tables = shared.read_tables(options)
    with shared.stage("fitting the repair"):
        repair = learn_repair(tables, settings)
    for note in repair.notes:
        # What is promised is said below.
        if note != str(repair.promise):
            warn_caller(note)
    repaired = len(tables) - len({*repair.left, *repair.merged} & {*tables})
    with shared.stage("working out what to expect on new people"):
        expected, why_not = _expected(repair, tables) if repaired > 1 else (None, "fewer than two groups are repaired.")
    confidence = settings.confidence or 0.95
    audit = audit_tables(tables, confidence=confidence) if expected is None else expected.before
    low, high = audit.gap(settings.metric, repair.pair).interval
    if options.next is not None and expected is None:
        raise InputError(f"next cannot be said: {why_not}")
    coming = None if expected is None or options.next is None else expected.next_interval(options.next)
    if options.json:
        result = repair.to_dict() | {"gap_before_interval": [known(low), known(high)], "map": options.output}
        result |= {"next": None if coming is None else {"rows": options.next, "interval": list(map(known, coming))}}
        result |= {"expected": None if expected is None else expected.to_dict()}
        text = json.dumps(result, indent=2, allow_nan=False)
        repair.save(options.output, overwrite=options.force)
        shared.show(text)
        return
    sure = f"{level(confidence)} interval {low:+.4f} to {high:+.4f}"
    if math.isnan(low):
        sure = "its uncertainty cannot be estimated"
    verdict = judge(audit, settings.metric)
    allowing = f", allowing for the {verdict.pairs} pairs looked at" if verdict.pairs > 1 else ""
    doubts = {
        "may be chance": f" It cannot be told from chance{allowing}; repairing it may do more harm than good.",
        "too few to say": " There are too few rows to say whether it is chance.",
    }
    doubt = doubts.get(str(verdict.readings.get(repair.pair)), "") if repair.moved else ""
    unseen = "\nThat holds for scores of rows that the model has not seen: fit to such scores." if expected else ""
    parts = [repair.headline(), f"{expected or f'What to expect on new people cannot be said: {why_not}'}{unseen}"]
    # A map that was not tried in folds has the figures above on its own rows, too.
    is_said = expected is not None and expected.folds is None
    parts += [repair.certificate()] if is_said else [f"On the rows it was fitted to:\n\n{repair.sample_text()}"]
    parts += [f"The gap before: {sure}.{doubt}", "" if repair.promise is None else str(repair.promise)]
    if coming is not None and expected is not None:
        parts.append(
            f"Of {options.next:,.10g} new people like these, the gap {' - '.join(map(str, expected.gap().pair))} "
            f"will lie between {coming[0]:+.4f} and {coming[1]:+.4f} ({level(confidence)} of such samples)."
        )
    parts.append(f"Wrote {options.output}")
    said = shared.headed(shared.wrapped_lines("\n\n".join(filter(None, parts))))
    # Last, so that no failure of what is said leaves a map that was not told of.
    repair.save(options.output, overwrite=options.force)
    shared.show(said)


def _expected(repair: FittedRepair, tables: Tables) -> tuple[ExpectedGap | None, str]:
    """Return what to expect of the repair on new people, or why that cannot be said."""
    from xorder.estimators import expected_gap_tables

    try:
        return expected_gap_tables(repair, tables, confidence=repair.settings.confidence or 0.95), ""
    except InputError as error:
        return None, str(error)
