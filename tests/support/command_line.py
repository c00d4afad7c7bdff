"""What tests of the command line share: what a command answered, and what lies in a folder."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple


class Ran(NamedTuple):
    code: int
    out: str
    err: str


def files(folder: Path) -> dict[str, bytes | None]:
    """Everything below a folder, hidden files too."""
    return {str(path): path.read_bytes() if path.is_file() else None for path in sorted(folder.rglob("*"))}


def one_line(ran: Ran, code: int = 2) -> str:
    assert ran.code == code
    assert ran.out == ""
    assert re.fullmatch(r"xorder( [\w-]+){0,2}: error: [^\n]+\n", ran.err), ran.err
    assert "Traceback" not in ran.err
    return ran.err


def shell(*arguments: object, launch: list[str] | None = None, **options: object) -> Ran:
    """Run a command in a process of its own."""
    command = [*(launch or [sys.executable, "-m", "xorder.cli"]), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, **options)
    return Ran(done.returncode, done.stdout, done.stderr)
