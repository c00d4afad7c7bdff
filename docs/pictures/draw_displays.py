"""The pictures of displays, drawn by the very blocks of the pages that show them.

python docs/pictures/draw_displays.py [folder]. The tutorials need the real data that they name, where XORDER_DATA
points; without it their pictures stay as they are.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import sys
import tempfile
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

from matplotlib import pyplot

from xorder.cli import main

HERE = Path(__file__).parent
PAGES = [HERE.parent / name for name in ("plots.md", "tutorials/compas.md", "tutorials/icu.md")]
_BLOCK = re.compile(
    r"^```(?P<language>python|console)\n(?P<code>.*?)^```\n(?:\n!\[[^\]]*\]\([./]*pictures/(?P<picture>[\w-]+\.svg)\))?",
    re.M | re.S,
)
_NEEDS = re.compile(r"<!-- needs: ([\w-]+)(?: as ([\w.-]+))? -->")


def draw(page: Path, folder: Path) -> None:
    """Run the blocks of a page and save what each draws under the name the page shows it by."""
    text = page.read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    with mpl.rc_context({"svg.hashsalt": "xorder", "figure.facecolor": "white"}):
        for block in _BLOCK.finditer(text):
            if re.search(r"<!-- not run: [^>]* -->\s*\Z", text[: block.start()]):
                continue
            # What the page shows of it is compared by the tests.
            with contextlib.redirect_stdout(io.StringIO()):
                if block["language"] == "console":
                    for command in re.findall(r"^\$ xorder (.*)$", block["code"], re.M):
                        main(shlex.split(command))
                else:
                    exec(block["code"], names)
            if block["picture"]:
                _save(folder / block["picture"])


def _save(path: Path) -> None:
    """Write the figure of the moment, its lines to a hundredth of a point, which is as fine as anybody sees."""
    written = io.StringIO()
    pyplot.gcf().savefig(written, format="svg", metadata={"Date": None}, bbox_inches="tight")
    pyplot.close("all")
    lines = re.sub(r' d="[^"]*"', lambda line: re.sub(r"(\.\d\d)\d+", r"\1", line[0]), written.getvalue())
    path.write_text(lines, encoding="utf-8")


def draw_all(folder: Path) -> None:
    """Draw the pictures of all pages whose data are here."""
    data = Path(os.environ.get("XORDER_DATA", "")).resolve()
    for page in PAGES:
        needed = _NEEDS.findall(page.read_text(encoding="utf-8"))
        if not all((data / name).is_dir() for name, _ in needed):
            sys.stderr.write(f"{page.name}: its data are not here\n")
            continue
        with tempfile.TemporaryDirectory() as work, contextlib.chdir(work):
            for name, alias in needed:
                if alias:
                    Path(alias).symlink_to(data / name)
            draw(page, folder)


if __name__ == "__main__":
    draw_all((Path(sys.argv[1]) if len(sys.argv) > 1 else HERE).resolve())
