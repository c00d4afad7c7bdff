"""Run the blocks of pages and put what comes of them where it is shown: PYTHONPATH=tests python -m
support.rewrite_pages PAGE...

Read the difference before you keep it: the prose around a block may speak of its numbers.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from pathlib import Path

from support.pages import BEFORE, ROOT, name_of
from support.shown_blocks import needs, run_page
from xorder.cli import main


def rewrite(page: Path) -> None:
    """Put into a page what its blocks print; a block that prints nothing yet must have an empty ``text`` block."""
    text = page.read_text(encoding="utf-8")
    os.environ.setdefault("XORDER_DATA", str(ROOT.parent / "shared" / "data"))
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for name, alias in needs(text):
            if alias:
                Path(alias).symlink_to(Path(os.environ["XORDER_DATA"]) / name)
        if name_of(page) in BEFORE:
            main(BEFORE[name_of(page)])
        done = list(run_page(text, name_of(page)))
    # From the end, so that the places of those before stay right.
    for block, found in reversed(done):
        text = text[: block.span[0]] + found + text[block.span[1] :]
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        rewrite(Path(name).resolve())
