"""The pictures of plots.md, drawn by the very blocks of that page: python docs/pictures/draw_displays.py [folder]."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

from matplotlib import pyplot

HERE = Path(__file__).parent
PAGE = HERE.parent / "plots.md"


def draw(folder: Path) -> None:
    """Run the blocks of the page and save what each draws under the name the page shows it by."""
    page = PAGE.read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    with mpl.rc_context({"svg.hashsalt": "xorder", "figure.facecolor": "white"}):
        for code, picture in re.findall(
            r"^```python\n(.*?)^```\n(?:\n!\[[^\]]*\]\(pictures/([\w-]+\.svg)\))?", page, re.M | re.S
        ):
            exec(code, names)
            if picture:
                pyplot.gcf().savefig(folder / picture, metadata={"Date": None}, bbox_inches="tight")
                pyplot.close("all")


if __name__ == "__main__":
    draw(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
