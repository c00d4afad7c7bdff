"""``xorder plan``."""

from __future__ import annotations

import argparse
from inspect import signature
from typing import Any

from xorder._metric import METRICS
from xorder.cli import _program as shared
from xorder.exceptions import InputError
from xorder.metrics import audit_tables, plan

EXAMPLES = ("--gap 0.05 --prevalence 0.1 --auc 0.8", "{} --limit 0.05 --repair")


def add(command: argparse.ArgumentParser) -> None:
    """Add the options."""
    shared.add_input(command, labelled=True, required=False, nargs="?")
    command.add_argument("--cluster", metavar="COLUMN")
    command.add_argument("--repair", action="store_true")
    command.add_argument("--metric", choices=METRICS, default="xauc")
    shared.add_options(command, dict.fromkeys(("gap", "limit", "design-effect"), "NUMBER"), type=float)
    shared.add_options(command, dict.fromkeys(("prevalence", "auc", "group-shares"), "NUMBER"), type=_by_group)
    command.add_argument("--power", type=float, default=0.8)
    command.add_argument("--confidence", type=float, default=0.95)


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
    if options.file is not None:
        shared.check_columns(options)
    elif shared.given_options(options) & {"score", "label", "group", "cluster", "weight"}:
        raise InputError("columns are those of a file: name FILE, or leave them out.")
    audit = None if options.file is None else audit_tables(shared.read_tables(options), confidence=options.confidence)
    asked: Any = shared.chosen(options, *(name for name in signature(plan).parameters if name in options))
    found = plan(audit, **asked)
    shared.show(found.to_dict() if options.json else shared.wrapped_lines(str(found)))
