"""``xorder report``."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from xorder._metric import METRICS
from xorder._parameters import HIGH_IS
from xorder.cli import _program as shared
from xorder.cli._errors import translated
from xorder.exceptions import InputError, warn_caller

EXAMPLES = ("{} --high-is help -o p.html", "{} --map map.json -o p.html")


def add(command: argparse.ArgumentParser) -> None:
    """Add the options."""
    shared.add_input(command, labelled=True, missing="as in the map, or error")
    shared.add_output(command, "PAGE", "html", required=False)
    named = {"cluster": "COLUMN", "map": "MAP", "title": None, "model": None, "period": None, "author": None}
    shared.add_options(command, named)
    shared.add_unseen(command, None)
    command.add_argument("--metric", choices=METRICS)
    command.add_argument("--high-is", choices=HIGH_IS)
    command.add_argument("--tolerance", type=float, metavar="GAP")
    command.add_argument("--confidence", type=float, default=0.95)
    command.add_argument("--open", action="store_true")


def run(options: argparse.Namespace) -> int:
    """Write the page on a file; the exit code says what became of the tolerance, with a map of the adjusted scores."""
    from xorder._groups import BETWEEN
    from xorder.engines._apply import check_matched
    from xorder.estimators import load_fitted
    from xorder.reporting._report import About, report_fitted

    if options.output is not None:
        shared.check_output(options.output, overwrite=options.force, inputs=[options.file, options.map])
        if Path(options.output).suffix.lower() not in (".html", ".htm", ""):
            name = Path(options.output).with_suffix(".html")
            raise InputError(f"the page is HTML; name it {name}, and print it to PDF from the browser if need be.")
    elif not options.json:
        raise InputError("name the page to write with -o report.html, or ask for its numbers alone with --json.")
    repair = None if options.map is None else load_fitted(options.map).choosing(unseen_group=options.unseen_group)
    if options.missing_group is None:
        options.missing_group = "error" if repair is None else repair.settings.missing_group
    tables = shared.read_tables(options)
    # The page has the notes in the words of the command line, too.
    tables = replace(tables, notes=tuple(translated(note, options) for note in tables.notes))
    for note in tables.notes:
        warn_caller(note)
    if repair is not None:
        read = shared.chosen(options, "score", "group", "encoding")
        check_matched(repair.group_maps(), tables, options.file, **read)
    about = About(
        {"score": options.score, "label": options.label, "group": BETWEEN.join(options.group)},
        **shared.chosen(options, "title", "high_is", "model", "period", "author"),
        # A pattern has no one file to be named.
        source=options.file if Path(options.file).is_file() else None,
        saved=options.map,
    )
    with shared.stage("working out the page"):
        result = report_fitted(tables, repair, about, **shared.chosen(options, "metric", "tolerance", "confidence"))
        if options.output is not None:
            result.save(options.output, overwrite=options.force)
    verdict = result.to_dict()["path"]["stops"][0 if options.map is None else -1]["verdict"]
    if options.json:
        shared.show(result.to_dict())
    else:
        shared.show(shared.headed(shared.wrapped_lines(f"{result}\n")))
        if verdict is not None:
            whose = "score as it is" if options.map is None else "saved map"
            said = f"Tolerance {options.tolerance:g} for {result.to_dict()['metric']} gaps, the {whose}: {verdict}.\n"
            shared.show(shared.judged(said, verdict))
        shared.show(f"Wrote {options.output}")
    if options.open and options.output is not None:
        shared.open_page(options.output)
    return shared.CODES.get(verdict, 0)
