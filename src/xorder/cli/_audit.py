"""``xorder audit``."""

from __future__ import annotations

import argparse

from xorder.cli._program import add_confidence, add_input, read_tables, show
from xorder.exceptions import InputError
from xorder.metrics import Threshold, audit_tables
from xorder.metrics._cuts import CUTS, Cut


def add(command: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_input(command, labelled=True)
    command.add_argument(
        "--cut",
        action="append",
        type=_cut,
        metavar="CUT",
        help="Cut of the list to report: 5%%, 200 (places) or score:0.3; may be given several times (default 1%%, 5%%, "
        "10%% and 20%%)",
    )
    add_confidence(command)


def _cut(text: str) -> Cut:
    """Read a cut as the command line writes it."""
    try:
        if text.startswith("score:"):
            return Threshold(float(text.removeprefix("score:")))
        cut = float(text.removesuffix("%")) / 100 if text.endswith("%") else int(text)
        if not (0 < cut < 1 if isinstance(cut, float) else cut >= 1):
            raise ValueError
        return cut
    except (ValueError, InputError):
        raise argparse.ArgumentTypeError(
            "a cut is a share of the list such as 5%, a number of places such as 200, or a score such as score:0.3; "
            f"got {text!r}"
        ) from None


def run(options: argparse.Namespace) -> None:
    """Audit a file."""
    result = audit_tables(read_tables(options), cuts=options.cut or CUTS, confidence=options.confidence)
    show(result.to_dict() if options.json else str(result))
