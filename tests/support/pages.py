"""Where the pages are, and what is special about some."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([ROOT / "README.md", *ROOT.glob("docs/**/*.md")])
# Packages with a page in the reference, besides that of the exceptions.
PACKAGES = sorted(
    "xorder" if page.stem == "xorder" else f"xorder.{page.stem}"
    for page in ROOT.glob("docs/api/*.rst")
    if page.stem not in ("index", "exceptions")
)
# What the reader has done before, without being shown the output.
BEFORE = {page: ["demo"] for page in ("README.md", "docs/getting-started.md", "docs/top-of-the-list.md")}
# Pages whose blocks need more than a folder of their own; other tests run them, and name the page.
ELSEWHERE = {"docs/extending-experiments.md"}


def name_of(page: Path) -> str:
    """Return the path of a page in the project."""
    return str(page.relative_to(ROOT))
