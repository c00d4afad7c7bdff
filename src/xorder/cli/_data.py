"""``xorder data``: open data sets listed, described and fetched, and clinical cohorts built."""

from __future__ import annotations

import argparse
import shlex
import sys
import textwrap
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from typing import Any

from xorder import datasets
from xorder.cli._program import Parser, add_output, chosen, progress_line, show
from xorder.datasets._catalogue import Entry, available, describe, fetch
from xorder.datasets._open_set import OPEN_SETS
from xorder.exceptions import InputError, XorderError

EXAMPLES = ("list", "fetch compas")

_WIDTH = 79


_BUILT = {name: f"xorder data build-{name} FOLDER -o {name}.parquet" for name in ("mimic3", "eicu")}


def add(parser: argparse.ArgumentParser) -> None:
    """Add the commands and their options."""
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND", parser_class=Parser)

    def command(name: str, act: Callable[[argparse.Namespace], None], summary: str) -> argparse.ArgumentParser:
        one: argparse.ArgumentParser = commands.add_parser(name, help=summary, description=summary)
        one.set_defaults(act=act)
        one.add_argument("--json", action="store_true")
        return one

    one = command("list", _list, "List the open data sets, and where they are here")
    one.add_argument("--data-home", metavar="DIR")

    one = command("info", _info, "Say what there is to know of an open data set")
    one.add_argument("name", metavar="NAME", help=f"Name of the set: {', '.join(OPEN_SETS)}")
    one.add_argument("--data-home", metavar="DIR")

    one = command("fetch", _fetch, "Download open data sets and verify them")
    one.add_argument("names", metavar="NAME", nargs="*", help=f"Name of the set: {', '.join(OPEN_SETS)}")
    one.add_argument("--all", action="store_true")
    where = "Folder to keep them in (default: look where 'list' does, save in the cache)"
    one.add_argument("--data-home", metavar="DIR", help=where)

    for name, source in (("mimic3", "MIMIC-III v1.4"), ("eicu", "eICU-CRD 2.0")):
        one = command(f"build-{name}", partial(_build, name=name), f"Build the cohort from your own copy of {source}")
        one.add_argument("folder", metavar="FOLDER", help=f"Folder of the tables of {source}, as csv or csv.gz")
        add_output(one, "FILE")
        one.add_argument("--memory", default="2GB", metavar="AMOUNT")
        one.add_argument("--spill", metavar="DIR")
        if name == "mimic3":
            one.add_argument("--apply-ranges", action="store_true")


def run(options: argparse.Namespace) -> None:
    """Run the command chosen."""
    options.act(options)


def _list(options: argparse.Namespace) -> None:
    entries = available(data_home=options.data_home)
    if options.json:
        show({"sets": [_plain(entry, options.data_home) for entry in entries], "built": _BUILT})
        return
    lines = [f"{'name':<11}{'rows':>7}{'inputs':>8}  {'label 1':<25}groups"]
    for entry in entries:
        where = f"not here ({_fetch_line(entry.name, options.data_home)})" if entry.path is None else entry.path
        lines += [
            f"{entry.name:<11}{entry.rows:>7,}{entry.inputs:>8}  {entry.label:<25}{', '.join(entry.groups)}",
            f"{'':<11}licence: {entry.licence}",
            f"{'':<11}file:    {where}",
        ]
    built = [f"{name:<11}{line}" for name, line in _BUILT.items()]
    show("\n".join([*lines, "", "To be built from your own copy of the tables:", *built]))


def _info(options: argparse.Namespace) -> None:
    _check_name(options.name)
    entry = describe(options.name, data_home=options.data_home)
    if options.json:
        show(_plain(entry, options.data_home))
        return
    file = [f"File: {entry.path}"]
    if entry.path is None:
        file = [
            f"File: not here; get it with: {_fetch_line(entry.name, options.data_home)}",
            "Or by hand: save the first address as",
            f"  {entry.save_as}",
        ]
    lines = [
        f"{entry.name}: {entry.rows:,} rows, {entry.inputs} inputs",
        "",
        _wrapped(entry.description),
        "",
        _wrapped(f"Source: {entry.source}", "  "),
        _wrapped(f"Licence: {entry.licence}", "  "),
        "Published at",
        *(f"  {url}" for url in entry.urls),
        *file,
        "",
        "What to know of it",
        *(_wrapped(f"- {warning}", "  ") for warning in entry.warnings),
        "",
        "In Python",
        f"  {_loading(entry.name, options.data_home)}",
    ]
    show("\n".join(lines))


def _fetch(options: argparse.Namespace) -> None:
    if bool(options.names) == options.all:
        raise InputError(f"give either the names of sets to fetch ({', '.join(OPEN_SETS)}) or --all.")
    paths: dict[str, str] = {}
    failures: dict[str, XorderError] = {}
    for name in OPEN_SETS if options.all else dict.fromkeys(options.names):
        try:
            _check_name(name)
            paths[name] = str(fetch(name, data_home=options.data_home))
        except XorderError as error:
            failures[name] = error
        else:
            if not options.json:
                show(f"{name}: verified, {paths[name]}")
    if options.json:
        show({"files": paths, "failures": {name: str(error) for name, error in failures.items()}})
    if failures:
        # What came is printed before what did not.
        sys.stdout.flush()
        raise ExceptionGroup("not fetched", list(failures.values()))


def _build(options: argparse.Namespace, *, name: str) -> None:
    if options.output.lower().endswith((".csv", ".csv.gz")):
        raise InputError(f"the cohort is a parquet file, and {options.output} is named as csv; name it *.parquet.")
    settings = chosen(options, *(each for each in ("memory", "spill", "apply_ranges") if each in options))
    build = getattr(datasets, f"build_{name}")
    with progress_line(sys.stderr) as progress:
        summary = build(options.folder, options.output, progress=progress, overwrite=options.force, **settings)
    load = f"from xorder.datasets import load_{name}; problem = load_{name}({options.output!r})"
    if options.json:
        counts = {key: _plain_counts(value) for key, value in asdict(summary).items() if key != "path"}
        show(counts | {"output": options.output, "python": load})
    else:
        show(f"{summary}\nWrote {options.output}\nIn Python\n  {load}")


def _check_name(name: str) -> None:
    """Say of the clinical sets how to get them; other names are for the catalogue to judge."""
    if name in _BUILT:
        raise InputError(f"{name} is not published openly; build it from your own copy: {_BUILT[name]}.")


def _plain(entry: Entry, data_home: str | None) -> dict[str, Any]:
    return entry.to_dict() | {"python": _loading(entry.name, data_home)}


def _plain_counts(value: Any) -> Any:
    """Counts by name are pairs in a summary, and an object in JSON."""
    return dict(value) if isinstance(value, tuple) and all(isinstance(pair, tuple) for pair in value) else value


def _fetch_line(name: str, data_home: str | None) -> str:
    return f"xorder data fetch {name}" + ("" if data_home is None else f" --data-home {shlex.quote(data_home)}")


def _loading(name: str, data_home: str | None) -> str:
    home = "" if data_home is None else f"data_home={data_home!r}"
    return f"from xorder.datasets import load_{name}; problem = load_{name}({home})"


def _wrapped(text: str, indent: str = "") -> str:
    """Fill lines; words with hyphens and addresses stay whole."""
    return textwrap.fill(text, _WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
