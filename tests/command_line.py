"""What tests of the command line share: what a command answered, and what lies in a folder."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple


class Ran(NamedTuple):
    code: int
    out: str
    err: str


def files(folder: Path) -> dict[str, bytes | None]:
    """Everything below a folder, hidden files too."""
    return {str(path): path.read_bytes() if path.is_file() else None for path in sorted(folder.rglob("*"))}


def one_line(ran: Ran) -> str:
    assert ran.code == 2
    assert ran.out == ""
    assert re.fullmatch(r"xorder( [\w-]+){0,2}: error: [^\n]+\n", ran.err), ran.err
    assert "Traceback" not in ran.err
    return ran.err
