"""``xorder audit``."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from xorder._atomic import atomic_path
from xorder._groups import BETWEEN
from xorder._metric import METRICS
from xorder.cli._program import (
    add_cluster,
    add_confidence,
    add_cuts,
    add_input,
    add_output,
    check_output,
    given_options,
    read_tables,
    show,
)
from xorder.engines._sources import files_of
from xorder.exceptions import InputError, warn_caller
from xorder.metrics import Audit, audit_tables
from xorder.metrics._cuts import CUTS
from xorder.metrics._sheet import FORMATS, TABLES

_CODES = {"within": 0, "beyond": 1, "cannot tell": 3}


def add(command: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_input(command, labelled=True)
    add_cluster(command)
    add_cuts(command)
    add_confidence(command)
    tables = command.add_argument_group("tables")
    tables.add_argument(
        "--table",
        action="append",
        choices=TABLES,
        help="Print this table of the audit instead of its text; may be given several times",
    )
    tables.add_argument("--format", choices=FORMATS, default="markdown", help="Format of the tables (default markdown)")
    tables.add_argument("--map", metavar="MAP", help="Map that fit wrote: show in tables what it changes")
    tables.add_argument(
        "--reference", metavar="GROUP", help="Group that rates are compared to in tables (default the largest)"
    )
    tables.add_argument(
        "--threshold",
        action="append",
        type=float,
        metavar="CHANCE",
        help="Threshold of net benefit, between 0 and 1; may be given several times",
    )
    tables.add_argument(
        "--suppress",
        type=int,
        metavar="COUNT",
        help="Do not show rows of tables with a count from 1 up to less than this; 11 is usual",
    )
    add_output(tables, "OUT", "File to write the tables to", required=False)
    tables.add_argument(
        "--statements",
        metavar="FILE",
        help="Markdown file to write what the audit knows on items of TRIPOD+AI and the EU AI Act to; --map, "
        "--reference, --threshold and --suppress go with it",
    )
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
    if options.tolerance is None and options.tolerance_cut is not None:
        raise InputError("tolerance_cut comes besides tolerance=; give both.")
    _check_tables(options)
    result = audit_tables(read_tables(options), cuts=options.cut or CUTS, confidence=options.confidence)
    verdict = None
    if options.tolerance is not None:
        verdict = result.against(options.tolerance, metric=options.metric, tolerance_cut=options.tolerance_cut)
    if options.statements is not None:
        _write_statements(result, options)
    cuts = "" if options.tolerance_cut is None else f", at cuts {options.tolerance_cut:g}"
    said = f"Tolerance {options.tolerance:g} for {options.metric} gaps{cuts}: {verdict}." if verdict else ""
    if options.table:
        _show_tables(result, options)
    elif options.suppress is not None:
        show(said or "The text of the audit has small counts, and is not printed.")
    elif options.json:
        tolerated = {"tolerance": options.tolerance, "metric": options.metric, "tolerance_cut": options.tolerance_cut}
        show(result.to_dict() | (tolerated | {"verdict": verdict} if verdict else {}))
    else:
        show(f"{result}\n\n{said}" if said else str(result))
    if options.statements is not None and not options.json and (not options.table or options.output is not None):
        show(f"Wrote statements to {options.statements}.")
    return _CODES.get(str(verdict), 0)


# Options that are about tables alone, and those that are about statements, too.
_OF_TABLES = ("format", "output")
_OF_BOTH = ("map", "reference", "threshold", "suppress")


def _check_tables(options: argparse.Namespace) -> None:
    """Refuse options of tables that cannot be met, before anything is read."""
    if options.statements is not None:
        inputs = [options.file, *([] if options.map is None else [options.map])]
        check_output(options.statements, overwrite=options.force, inputs=inputs)
        if options.output is not None and Path(options.statements).resolve() == Path(options.output).resolve():
            raise InputError(f"statements and output both name {options.output}; choose two names.")
        if options.suppress is not None and options.json and not options.table:
            raise InputError("--suppress knows tables and statements, and --json prints all counts: name a --table.")
    if not options.table:
        names = _OF_TABLES if options.statements is not None else (*_OF_TABLES, *_OF_BOTH)
        given = given_options(options) | ({"threshold"} if options.threshold else set())
        idle = [f"--{name}" for name in names if name in given]
        if idle:
            raise InputError(
                f"{' and '.join(idle)} {'is' if len(idle) == 1 else 'are'} about tables: name one with --table."
            )
        return
    if options.format == "csv" and not options.json and len(options.table) > 1:
        raise InputError("a csv file holds one table: give --table once, or take --format json or markdown.")
    if options.output is not None:
        check_output(options.output, overwrite=options.force, inputs=[options.file])


def _repair(options: argparse.Namespace) -> Any:
    """Load the map, if there is one."""
    if options.map is None:
        return None
    from xorder.estimators import load_fitted

    repair = load_fitted(options.map)
    repair.warn_of_other_columns(options.score, options.group)
    return repair


def _write_statements(result: Audit, options: argparse.Namespace) -> None:
    """Write what the audit knows on what reviewers ask for."""
    from xorder.reporting import statements

    columns = {name: getattr(options, name) for name in ("score", "label", "weight", "cluster")}
    text = statements(
        result,
        source=[*files_of(options.file), *([] if options.map is None else [options.map])],
        names={name: column for name, column in columns.items() if column is not None}
        | {"group": BETWEEN.join(options.group)},
        repair=_repair(options),
        reference=options.reference,
        thresholds=options.threshold,
        suppress=options.suppress,
        metric=options.metric,
        tolerance=options.tolerance,
        tolerance_cut=options.tolerance_cut,
        command=options.as_typed,
    )
    with atomic_path(options.statements, overwrite=options.force) as path:
        path.write_text(text, encoding="utf-8", newline="\n")


def _show_tables(result: Audit, options: argparse.Namespace) -> None:
    """Print the tables asked for, or write them to a file."""
    repair = _repair(options)
    found = [
        result.table(
            name,
            reference=options.reference,
            repair=repair,
            thresholds=options.threshold,
            suppress=options.suppress,
        )
        for name in dict.fromkeys(options.table)
    ]
    if options.json or options.format == "json":
        parts = [table.to_dict() for table in found]
        text = json.dumps(parts[0] if len(parts) == 1 else parts, indent=2, allow_nan=False, ensure_ascii=False) + "\n"
    elif options.format == "csv":
        text = found[0].to_csv()
        for note in found[0].notes:
            warn_caller(note)
    else:
        text = "\n".join(
            (f"## {table.name}\n\n" if len(found) > 1 else "") + f"{table.to_markdown()}\n" for table in found
        )
    if options.output is None:
        show(text.removesuffix("\n"))
        return
    with atomic_path(options.output, overwrite=options.force) as path:
        path.write_text(text, encoding="utf-8")
    show(f"Wrote {', '.join(table.name for table in found)} to {options.output}.")
