"""``xorder audit``."""

from __future__ import annotations

import argparse

from xorder._metric import METRICS
from xorder.cli._program import add_cluster, add_confidence, add_cuts, add_input, read_tables, show
from xorder.exceptions import InputError

_CODES = {"within": 0, "beyond": 1, "cannot tell": 3}


def add(command: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_input(command, labelled=True)
    add_cluster(command)
    add_cuts(command)
    add_confidence(command)
    command.add_argument(
        "--tolerance",
        type=float,
        metavar="GAP",
        help="Widest gap tolerated between any two groups: the exit code is 0 if all are within it, 1 if one is beyond "
        "it, and 3 if that cannot be told",
    )
    command.add_argument(
        "--metric", choices=METRICS, default="xauc", help="Metric that the tolerance is about (default xauc)"
    )
    command.add_argument(
        "--tolerance-cut",
        type=float,
        metavar="GAP",
        help="Widest difference of sensitivities tolerated at any cut of the list, besides --tolerance",
    )


def run(options: argparse.Namespace) -> int:
    """Audit a file; the exit code says what became of the tolerance."""
    from xorder.metrics import audit_tables
    from xorder.metrics._cuts import CUTS

    if options.tolerance is None and options.tolerance_cut is not None:
        raise InputError("tolerance_cut comes besides tolerance=; give both.")
    result = audit_tables(read_tables(options), cuts=options.cut or CUTS, confidence=options.confidence)
    verdict = None
    if options.tolerance is not None:
        verdict = result.against(options.tolerance, metric=options.metric, tolerance_cut=options.tolerance_cut)
    if options.json:
        tolerated = {"tolerance": options.tolerance, "metric": options.metric, "tolerance_cut": options.tolerance_cut}
        show(result.to_dict() | (tolerated | {"verdict": verdict} if verdict else {}))
    else:
        cuts = "" if options.tolerance_cut is None else f", at cuts {options.tolerance_cut:g}"
        said = f"\n\nTolerance {options.tolerance:g} for {options.metric} gaps{cuts}: {verdict}." if verdict else ""
        show(f"{result}{said}")
    return _CODES.get(str(verdict), 0)
