"""``xorder audit``."""

from __future__ import annotations

import argparse

from xorder.cli._program import add_confidence, add_input, read_tables, show
from xorder.metrics import audit_tables


def add(command: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_input(command, labelled=True)
    add_confidence(command)


def run(options: argparse.Namespace) -> None:
    """Audit a file."""
    result = audit_tables(read_tables(options), confidence=options.confidence)
    show(result.to_dict() if options.json else str(result))
