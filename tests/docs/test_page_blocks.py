"""What the README and the pages show is what happens."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

import pytest

from support.pages import BEFORE, ELSEWHERE, PAGES, ROOT, name_of
from support.real_data import data_file
from support.shown_blocks import assert_same, blocks, linked_files, needs, run_page
from xorder.cli import main

RUN = [page for page in PAGES if name_of(page) not in ELSEWHERE and any(blocks(page.read_text(encoding="utf-8")))]


@pytest.mark.slow
@pytest.mark.parametrize("page", RUN, ids=name_of)
def test_what_a_page_shows_happens(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = page.read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    # Nothing may come from a cache of the machine, or be downloaded into it.
    monkeypatch.setenv("XORDER_CACHE", str(tmp_path / "cache"))
    for name, alias in needs(text):
        folder = data_file(name)
        monkeypatch.setenv("XORDER_DATA", str(folder.parent))
        if alias:
            (tmp_path / alias).symlink_to(folder)
    if name_of(page) in BEFORE:
        assert main(BEFORE[name_of(page)]) == 0
        capsys.readouterr()
    for block, found in run_page(text, name_of(page)):
        assert_same(found, block.shown, f"{name_of(page)}, line {block.line}")
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


def test_the_pages_that_teach_are_run() -> None:
    taught = {"README.md", "docs/getting-started.md", "docs/tutorials/compas.md", "docs/tutorials/icu.md"}
    assert taught <= {name_of(page) for page in RUN}


@pytest.mark.parametrize("page", sorted(ELSEWHERE))
def test_a_page_run_elsewhere_is_named_there(page: str) -> None:
    others = [path for path in (ROOT / "tests").rglob("test_*.py") if path.parent != Path(__file__).parent]
    assert any(Path(page).name in path.read_text(encoding="utf-8") for path in others)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_what_a_page_links_to_exists(page: Path) -> None:
    found = linked_files(page.read_text(encoding="utf-8"), page.parent)
    assert [path for path in found if not path.resolve().exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_the_extras_a_page_names_exist(page: Path) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = re.findall(r"(?:xorder|\.)\[([\w, -]+)\]'", page.read_text(encoding="utf-8"))
    extras = {extra.strip() for group in named for extra in group.split(",")}
    assert extras <= project["optional-dependencies"].keys()
