"""``xorder audit``."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xorder._atomic import atomic_path
from xorder._groups import BETWEEN
from xorder._metric import METRICS
from xorder._parameters import FORMATS, TABLES
from xorder.cli import _program as shared
from xorder.exceptions import InputError, warn_caller

if TYPE_CHECKING:
    from xorder.metrics import Audit, AuditTable

# A table that needs no label, and is not one of an audit.
_LL144 = "ll144"

EXAMPLES = ("{} --tolerance 0.05", "{} --cut 200 --table cuts")


def add(command: argparse.ArgumentParser) -> None:
    """Add the options."""
    shared.add_input(command, labelled=True)
    shared.add_options(command, {"cluster": "COLUMN", "map": "MAP", "reference": "GROUP", "statements": "FILE"})
    shared.add_options(command, {"tolerance": "GAP", "tolerance-cut": "GAP"}, type=float)
    command.add_argument("--cut", action="append", type=shared.read_cut, metavar="CUT")
    command.add_argument("--confidence", type=float, default=0.95)
    command.add_argument("--all", action="store_true")
    command.add_argument("--pair", nargs=2, metavar="GROUP")
    command.add_argument("--table", action=_Table, choices=(*TABLES, _LL144))
    command.add_argument("--format", choices=FORMATS, default="markdown")
    command.add_argument("--threshold", action="append", type=float, metavar="CHANCE")
    command.add_argument("--suppress", type=int, metavar="COUNT")
    shared.add_output(command, "OUT", "md", required=False)
    command.add_argument("--metric", choices=METRICS, default="xauc")


class _Table(argparse.Action):
    """Adds a table to those asked for, and asks for a label only if one of them needs it."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option_string: Any = None
    ) -> None:
        tables = [*(getattr(namespace, self.dest) or []), values]
        setattr(namespace, self.dest, tables)
        for action in parser._actions:
            if action.dest == "label":
                action.required = set(tables) != {_LL144}


def run(options: argparse.Namespace) -> int:
    """Audit a file; the exit code says what became of the tolerance."""
    from xorder.metrics import audit_tables
    from xorder.metrics._cuts import CUTS

    if _LL144 in (options.table or ()):
        _check_ll144(options)
    if options.tolerance is None and options.tolerance_cut is not None:
        raise InputError("tolerance_cut comes besides tolerance=; give both.")
    _check_tables(options)
    if set(options.table or ()) == {_LL144}:
        _tables_to_show(None, options)()
        return 0
    result = audit_tables(shared.read_tables(options), cuts=options.cut or CUTS, confidence=options.confidence)
    verdict = None
    if options.tolerance is not None:
        verdict = result.against(options.tolerance, metric=options.metric, tolerance_cut=options.tolerance_cut)
    cuts = "" if options.tolerance_cut is None else f", at cuts {options.tolerance_cut:g}"
    said = f"Tolerance {options.tolerance:g} for {options.metric} gaps{cuts}: {verdict}." if verdict else ""
    # All is worked out before anything is written.
    show: Callable[[], None]
    if options.table:
        show = _tables_to_show(result, options)
    elif options.suppress is not None:
        show = partial(shared.show, said or "The text of the audit has small counts, and is not printed.")
    elif options.json:
        tolerated = shared.chosen(options, "tolerance", "metric", "tolerance_cut")
        show = partial(shared.show, result.to_dict() | (tolerated | {"verdict": verdict} if verdict else {}))
    else:
        asked = shared.chosen(options, "metric", "pair", "reference")
        text = result.describe(**asked, everything=options.all, width=shared.terminal_width())
        show = partial(shared.show, shared.headed(text) + (f"\n\n{shared.judged(said, str(verdict))}" if said else ""))
    if options.statements is not None:
        _write_statements(result, options)
    show()
    if options.statements is not None and not options.json and (not options.table or options.output is not None):
        shared.show(f"Wrote statements to {options.statements}.")
    return shared.CODES.get(str(verdict), 0)


# Options that are about tables alone, and those that are about statements, too.
_OF_TABLES = ("format", "output")
_OF_BOTH = ("map", "threshold", "suppress")


def _check_tables(options: argparse.Namespace) -> None:
    """Refuse options of tables that cannot be met, before anything is read."""
    if options.statements is not None:
        shared.check_output(options.statements, overwrite=options.force, inputs=[options.file, options.map])
        if options.output is not None and Path(options.statements).resolve() == Path(options.output).resolve():
            raise InputError(f"statements and output both name {options.output}; choose two names.")
        if options.suppress is not None and options.json and not options.table:
            raise InputError("--suppress knows tables and statements, and --json prints all counts: name a --table.")
    if not options.table:
        names = _OF_TABLES if options.statements is not None else (*_OF_TABLES, *_OF_BOTH)
        idle = [f"--{name}" for name in names if name in shared.given_options(options)]
        if idle:
            raise InputError(
                f"{' and '.join(idle)} {'is' if len(idle) == 1 else 'are'} about tables: name one with --table."
            )
        return
    if options.format == "csv" and not options.json and len(options.table) > 1:
        raise InputError("a csv file holds one table: give --table once, or take --format json or markdown.")
    if options.output is not None:
        shared.check_output(options.output, overwrite=options.force, inputs=[options.file])


# Options that have no meaning where ll144 is the only table.
_OF_AUDITS = (
    *("positive", "weights_are", "missing_group", "cluster", "cut", "confidence"),
    *("map", "reference", "threshold", "tolerance", "metric", "tolerance_cut", "statements", "all", "pair"),
)


def _check_ll144(options: argparse.Namespace) -> None:
    """Refuse options that the law does not know, or that would do nothing."""
    if options.weight is not None:
        raise InputError(f"--weight does not go with --table {_LL144}: the law counts people, each once.")
    if set(options.table) == {_LL144}:
        for name in _OF_AUDITS:
            if name in shared.given_options(options):
                raise InputError(f"--{name.replace('_', '-')} has no meaning for --table {_LL144} alone; leave it out.")


def _ll144(options: argparse.Namespace) -> AuditTable:
    from xorder.engines import ll144_frame

    asked = shared.chosen(options, "score", "group", "suppress", "encoding", "memory")
    with shared.progress_line(sys.stderr) as progress:
        return ll144_frame(options.file, **asked, progress=progress)


def _write_statements(result: Audit, options: argparse.Namespace) -> None:
    """Write what the audit knows on what reviewers ask for."""
    from xorder.engines._sources import files_of
    from xorder.reporting import statements

    columns = shared.chosen(options, "score", "label", "weight", "cluster")
    text = statements(
        result,
        source=[*files_of(options.file), *([] if options.map is None else [options.map])],
        names={name: column for name, column in columns.items() if column is not None}
        | {"group": BETWEEN.join(options.group)},
        repair=shared.load_map(options),
        thresholds=options.threshold,
        command=options.as_typed,
        **shared.chosen(options, "reference", "suppress", "metric", "tolerance", "tolerance_cut"),
    )
    with atomic_path(options.statements, overwrite=options.force) as path:
        path.write_text(text, encoding="utf-8", newline="\n")


def _tables_to_show(result: Audit | None, options: argparse.Namespace) -> Callable[[], None]:
    """Make the tables asked for; return what prints them, or writes them to a file."""
    asked = shared.chosen(options, "reference", "suppress")
    asked |= {"repair": shared.load_map(options), "thresholds": options.threshold}
    found = [
        _ll144(options) if result is None or name == _LL144 else result.table(name, **asked)
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
        heads = [f"## {table.name}\n\n" if len(found) > 1 else "" for table in found]
        text = "\n".join(f"{head}{table.to_markdown()}\n" for head, table in zip(heads, found, strict=True))
    if options.output is None:
        return partial(shared.show, text.removesuffix("\n"))

    def write() -> None:
        with atomic_path(options.output, overwrite=options.force) as path:
            path.write_text(text, encoding="utf-8")
        shared.show(f"Wrote {', '.join(table.name for table in found)} to {options.output}.")

    return write
