"""``xorder plan``."""

from __future__ import annotations

import argparse
from typing import Any

from xorder._metric import METRICS
from xorder.cli._program import add_cluster, add_confidence, add_input, given_options, read_tables, show, wrapped_lines
from xorder.exceptions import InputError
from xorder.metrics import audit_tables, plan


def add(command: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_input(command, labelled=True, required=False, nargs="?")
    add_cluster(command)
    command.add_argument("--repair", action="store_true", help="Repair to the limit first, and promise that it is kept")
    command.add_argument("--metric", choices=METRICS, default="xauc", help="Metric of the gap (default xauc)")
    for name, kind, what in (
        ("gap", float, "Gap to detect; with --limit, the gap that there is (default 0)"),
        ("limit", float, "Limit that the gap should be shown to be below"),
        ("prevalence", _by_group, "Share of people with the outcome: 0.1, or A=0.1,B=0.2"),
        ("auc", _by_group, "AUC within the groups: 0.8, or A=0.8,B=0.7"),
        ("group-shares", _by_group, "Parts of the groups: A=0.7,B=0.3 (default as in FILE, else two equal groups)"),
        ("design-effect", float, "Rows that say as much as one that stands alone (default that of --cluster, else 1)"),
    ):
        command.add_argument(f"--{name}", type=kind, metavar="NUMBER", help=what)
    command.add_argument("--power", type=float, default=0.8, help="Chance of success (default 0.8)")
    add_confidence(command)


# Options that are called what the argument of Python is.
_ASKED = (
    *("gap", "limit", "prevalence", "auc", "group_shares", "design_effect"),
    *("repair", "power", "confidence", "metric"),
)


def _by_group(text: str) -> float | dict[str, float]:
    """Read one number, or one for each group."""
    try:
        if "=" not in text:
            return float(text)
        return {group: float(number) for group, _, number in (part.rpartition("=") for part in text.split(","))}
    except ValueError:
        wanted = "a number such as 0.1, or one per group such as A=0.1,B=0.2"
        raise argparse.ArgumentTypeError(f"give {wanted}; got {text!r}") from None


def run(options: argparse.Namespace) -> None:
    """Plan from the rows of a file, or from a few numbers."""
    missing = [f"--{name}" for name in ("score", "label", "group") if getattr(options, name) is None]
    if options.file is not None and missing:
        raise InputError(f"the following options are required: {', '.join(missing)}.")
    if options.file is None and (len(missing) < 3 or given_options(options) & {"cluster", "weight"}):
        raise InputError("columns are those of a file: name FILE, or leave them out.")
    audit = None if options.file is None else audit_tables(read_tables(options), confidence=options.confidence)
    asked: Any = {name: getattr(options, name) for name in _ASKED}
    found = plan(audit, **asked)
    show(found.to_dict() if options.json else wrapped_lines(str(found)))
