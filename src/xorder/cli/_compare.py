"""``xorder compare``."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from xorder._groups import unseen_error
from xorder.cli import _program as shared
from xorder.exceptions import InputError
from xorder.metrics._compare import Comparison, compare_audits, compare_map, compare_tables, comparison_text
from xorder.metrics._cuts import CUTS
from xorder.transfer import ScoreMap

EXAMPLES = ("{} --other t", "monday.json tuesday.json")


def add(command: argparse.ArgumentParser) -> None:
    """Add the options."""
    shared.add_input(command, labelled=True, required=False)
    command.add_argument("second", nargs="?", metavar="SECOND")
    command.add_argument("--other", action="append", metavar="COLUMN")
    shared.add_options(command, {"map": "MAP", "cluster": "COLUMN"})
    command.add_argument("--cut", action="append", type=shared.read_cut, metavar="CUT")
    command.add_argument("--confidence", type=float, default=0.95)


def run(options: argparse.Namespace) -> None:
    """Compare scores of one file, a score before and after a map, or two saved audits."""
    found = _of_audits(options) if options.second is not None else _of_rows(options)
    shared.show(found.to_dict() if options.json else shared.headed(comparison_text(found, shared.terminal_width())))


# Options that two saved audits leave a meaning.
_OF_AUDITS = {"file", "second", "json", "confidence"}


def _of_audits(options: argparse.Namespace) -> Comparison:
    idle = sorted(f"--{name.replace('_', '-')}" for name in shared.given_options(options) - _OF_AUDITS)
    if idle:
        raise InputError(f"two saved audits hold numbers, and no rows: they cannot be compared with {', '.join(idle)}.")
    return compare_audits(_saved(options.file), _saved(options.second), options.confidence)


def _saved(name: str) -> dict[str, Any]:
    """Read an audit that ``xorder audit --json`` printed."""
    try:
        found = json.loads(Path(name).read_text(encoding="utf-8"))
    except (ValueError, UnicodeDecodeError) as error:
        raise InputError(f"{name} is no JSON; two files to compare are two audits, saved with --json.") from error
    if not isinstance(found, dict):
        raise InputError(f"{name} is no audit, saved with --json.")
    return found


def _of_rows(options: argparse.Namespace) -> Comparison:
    shared.check_columns(options)
    if (options.other is None) == (options.map is None):
        raise InputError("name what to compare with: --other COLUMN, or --map MAP, one of the two.")
    if options.map is not None and options.cluster is not None:
        raise InputError("--cluster and --map do not go together yet: adjust the file with apply, and name --other.")
    tables, cuts = shared.read_tables(options), options.cut or CUTS
    repair = shared.load_map(options)
    if repair is None:
        return compare_tables(tables, options.other, cuts=cuts, confidence=options.confidence)
    from xorder.engines._match_groups import GroupNumbers
    from xorder.estimators._learn import mapped

    of_groups, maps = GroupNumbers(repair.group_maps()), {}
    for group in tables:
        # Groups of files are text; those of a map need not be.
        place = of_groups.get(group)
        if place is None:
            raise unseen_error(repr(group), repair.maps)
        maps[group] = [*repair.maps.values(), ScoreMap.identity()][place]
    return compare_map(tables, mapped(tables, maps), cuts=cuts, confidence=options.confidence)
