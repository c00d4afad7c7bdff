"""Commands on files, run while something fails; and what must hold afterwards."""

from __future__ import annotations

import contextlib
import faulthandler
import io
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import xorder
from support.command_line import Ran, files
from support.faults import Fault, failing
from support.people_files import COLUMNS, LABELLED, table, write

PATIENCE = 120
"""Seconds after which a run counts as one that hangs, and ends the process with a traceback of each thread."""


class Command(NamedTuple):
    """A command line, the file that it writes, and whether its input is taken for a large one."""

    words: list[str]
    output: str | None = None
    large: bool = False


COMMANDS = {
    "audit": Command(["audit", "rows.csv", *LABELLED]),
    "audit-table": Command(["audit", "rows.csv.gz", *LABELLED, "--table", "groups", "-o", "out.md"], "out.md"),
    "audit-parquet": Command(["audit", "rows.parquet", *LABELLED]),
    "audit-large-csv": Command(["audit", "rows.csv", *LABELLED], large=True),
    "audit-large-parquet": Command(["audit", "rows.parquet", *LABELLED], large=True),
    "fit": Command(["fit", "rows.csv", *LABELLED, "-o", "out.json"], "out.json"),
    "apply-csv": Command(["apply", "rows.csv", *COLUMNS, "--map", "map.json", "-o", "out.csv"], "out.csv"),
    "apply-gzip": Command(["apply", "rows.csv.gz", *COLUMNS, "--map", "map.json", "-o", "out.csv.gz"], "out.csv.gz"),
    "apply-parquet": Command(
        ["apply", "rows.parquet", *COLUMNS, "--map", "map.json", "-o", "out.parquet"], "out.parquet"
    ),
    "apply-large-csv": Command(
        ["apply", "rows.csv", *COLUMNS, "--map", "map.json", "-o", "out.csv"], "out.csv", large=True
    ),
    "apply-large-parquet": Command(
        ["apply", "rows.parquet", *COLUMNS, "--map", "map.json", "-o", "out.parquet"], "out.parquet", large=True
    ),
    "report": Command(["report", "rows.csv", *LABELLED, "--map", "map.json", "-o", "out.html"], "out.html"),
}

OLD = b"what was there before"


class Scene:
    """A folder with rows, a map and nothing else, and a folder for temporary files."""

    def __init__(self, folder: Path, people: int = 900) -> None:
        self.folder, self.temporary = folder / "work", folder / "temporary"
        self.folder.mkdir()
        self.temporary.mkdir()
        drawn = xorder.datasets.simulate_population(people, random_state=3)
        for ending in ("csv", "csv.gz", "parquet"):
            write(self.folder / f"rows.{ending}", table(drawn))
        repair = xorder.XOrder().fit(drawn.y_score, drawn.y_true, sensitive_features=drawn.group)
        repair.save(self.folder / "map.json")
        self.before = files(self.folder)

    def put_back(self, output: str | None, old: bytes | None) -> None:
        """Remove what runs have written; put an old output there, or none."""
        for path in map(Path, sorted(set(files(self.folder)) - set(self.before), reverse=True)):
            path.rmdir() if path.is_dir() else path.unlink()
        for path in self.temporary.iterdir():
            shutil.rmtree(path)
        if output is not None and old is not None:
            (self.folder / output).write_bytes(old)

    def complaint(self, command: Command, ran: Ran, old: bytes | None, *, may_be_done: bool = False) -> str | None:
        """Say what is wrong after a run, if anything is; where it failed all must be as it was.

        What fails when all is done, as printing does, may leave a new output, which then must be whole.
        """
        now = files(self.folder)
        output = str(self.folder / command.output) if command.output else None
        written = now.pop(output, None) if output else None
        left = sorted(str(path) for path in self.temporary.rglob("*"))
        if left:
            return f"left in the folder for temporary files: {left}"
        if now != self.before:
            changed = {*now} ^ {*self.before} | {name for name in now if now[name] != self.before.get(name)}
            return f"left, lost or changed: {sorted(changed)}"
        if "Traceback" in ran.err + ran.out:
            return f"a traceback: {ran.err}"
        errors = [line for line in ran.err.splitlines() if not re.match(r"xorder: (warning: |[^:]*, \d+ s)", line)]
        if ran.code == 0:
            return None if not errors and (output is None or written not in (None, old)) else f"exit code 0, but {ran}"
        if ran.code not in (2, 70):
            return f"exit code {ran.code}: {ran.err}"
        if len(errors) != 1 or not errors[0].startswith("xorder: error: "):
            return f"not one line: {ran.err!r}"
        if output is None or written == old or (may_be_done and written and len(written) > len(OLD)):
            return None
        return "it failed, and the output is another"


@contextmanager
def alarmed() -> Iterator[None]:
    """End the process, with a traceback of each thread, if what is inside hangs."""
    faulthandler.dump_traceback_later(PATIENCE, exit=True, file=sys.__stderr__)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()


def run_failing(
    scene: Scene, command: Command, kind: str, number: int, *, old: bytes | None = None, at_least: int = 1 << 20
) -> tuple[Ran, Fault]:
    """Run a command in this process, with a fault; threads are started for few rows, too."""
    from xorder.cli import main
    from xorder.reporting import _page

    # Kept for the next page of a process; each run is to be like a process of its own, which opens the template.
    _page._template.cache_clear()
    scene.put_back(command.output, old)
    words = [*command.words, *(["--force"] if old is not None and command.output else [])]
    out, err, here = io.StringIO(), io.StringIO(), Path.cwd()
    with ExitStack() as stack:
        stack.enter_context(alarmed())
        stack.enter_context(mock.patch.object(tempfile, "tempdir", str(scene.temporary)))
        stack.enter_context(mock.patch("xorder._table.WORTH_THREADS", 0))
        if command.large:
            stack.enter_context(mock.patch("xorder.engines._tables.in_engine", return_value=True))
        stack.enter_context(contextlib.redirect_stdout(out))
        stack.enter_context(contextlib.redirect_stderr(err))
        os.chdir(scene.folder)
        stack.callback(os.chdir, here)
        fault = stack.enter_context(failing(kind, number, at_least=at_least))
        try:
            code = main(words)
        except SystemExit as stop:
            code = int(stop.code or 0)
        except BaseException as error:
            code, _ = -1, err.write(f"Traceback: {type(error).__name__}: {error}")
    return Ran(code, out.getvalue(), err.getvalue()), fault


def complaints(
    scene: Scene, name: str, kind: str, *, most: int | None = None, at_least: int = 1 << 20
) -> tuple[int, list[str]]:
    """Let each operation of a kind fail in turn, or so many spread over all; return their number, and what is wrong."""
    command = COMMANDS[name]
    whole, counted = run_failing(scene, command, kind, 0, at_least=at_least)
    wrong = [f"without a fault: {said}" for said in [scene.complaint(command, whole, None)] if said]
    for number in range(1, counted.count + 1, max(1, -(-counted.count // most)) if most else 1):
        old = OLD if number % 2 else None
        ran, fault = run_failing(scene, command, kind, number, old=old, at_least=at_least)
        said = scene.complaint(command, ran, old, may_be_done=kind == "print")
        # Threads that are done are taken again, and memory is reused, so that there may be fewer than were counted.
        if said is None and not fault.hit and kind not in ("thread", "array"):
            said = "it never happened"
        if said is not None:
            wrong.append(f"{name}, {kind} {number} of {counted.count}: {said}")
    return counted.count, wrong
