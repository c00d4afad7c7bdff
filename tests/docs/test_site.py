"""What builds and checks the site."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

import xorder
from support import needs
from support.pages import PACKAGES, ROOT

DOCS = ROOT / "docs"


def module(folder: Path, name: str) -> ModuleType:
    """Load a script or an extension of the documentation."""
    sys.path.insert(0, str(folder))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(folder))


@pytest.fixture
def site(tmp_path: Path) -> Path:
    (tmp_path / "index.html").write_text('<h1 id="top">Home</h1><a href="page.html#here">on</a>')
    (tmp_path / "page.html").write_text('<p id="here"><a href="index.html">back</a></p><img src="a.svg">')
    (tmp_path / "a.svg").write_text("<svg/>")
    return tmp_path


def test_a_sound_site_has_no_problems(site: Path) -> None:
    assert module(DOCS, "check_site").problems(site) == []


@pytest.mark.parametrize(
    ("added", "problem"),
    [
        ('<a href="nowhere.html">', "index.html links to nowhere.html, which is not there"),
        ('<a href="page.html#there">', "index.html links to page.html#there, but there is no such place on that page"),
        ('<a href="#there">', "index.html links to #there, but there is no such place on that page"),
        (
            '<script src="https://cdn.example/x.js">',
            "index.html loads https://cdn.example/x.js, which is not on this disk",
        ),
        (
            '<link rel="stylesheet" href="//cdn.example/x.css">',
            "index.html loads //cdn.example/x.css, which is not on this disk",
        ),
        ('<img src="b.svg">', "index.html links to b.svg, which is not there"),
    ],
)
def test_what_is_wrong_with_a_site_is_told(site: Path, added: str, problem: str) -> None:
    with (site / "index.html").open("a") as page:
        page.write(added)
    assert module(DOCS, "check_site").problems(site) == [problem]


def test_a_page_that_nothing_links_to_is_told(site: Path) -> None:
    (site / "lost.html").write_text("<p>")
    assert module(DOCS, "check_site").problems(site) == ["no page links to lost.html"]


def test_an_empty_folder_is_no_site(tmp_path: Path) -> None:
    assert module(DOCS, "check_site").problems(tmp_path) == [f"{tmp_path} holds no pages"]


@pytest.mark.parametrize("formula", [r"\tfrac12 P", r"\tfrac{1}{2} P", r"\tfrac 1 2 P"])
def test_one_half_is_no_twelve(formula: str) -> None:
    needs.package("docutils")
    found = "".join(module(DOCS / "_extensions", "formulas").mathml(formula).split())
    assert "<mn>1</mn><mn>2</mn></mfrac>" in found.replace("<mrow>", "").replace("</mrow>", "")
    assert "<mi>P</mi>" in found.partition("</mfrac>")[2]


@pytest.mark.slow
@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_is_on_the_page_of_its_package(package: str) -> None:
    needs.package("sphinx")
    if package == "xorder.baselines":
        needs.package("torch")
    page = (DOCS / "api" / f"{package.removeprefix('xorder.')}.rst").read_text(encoding="utf-8")
    assert f".. module:: {package}\n" in page
    assert f".. public-names:: {package}\n" in page
    text = module(DOCS / "_extensions", "public_names").reference(package)
    top, offered = importlib.import_module("xorder"), importlib.import_module(package)
    for name in offered.__all__:
        own_page = package == "xorder" and (DOCS / "api" / f"{name}.rst").exists()
        described = f":: {package}.{name}\n" in text + "\n"
        linked = name in top.__all__ and f"   ~xorder.{name}\n" in text + "\n"
        assert described or linked or own_page, name


def test_the_picture_of_ten_people_says_what_the_library_does() -> None:
    needs.package("matplotlib")
    draw = module(DOCS / "pictures", "draw")
    people = [(score, group, 1) for score, group in draw.POSITIVES] + [(s, group, 0) for s, group in draw.NEGATIVES]
    score, group, outcome = zip(*people, strict=True)
    matrix = xorder.metrics.xauc_matrix(outcome, score, sensitive_features=group)
    titles = [axes.get_title(loc="left") or axes.get_title() for axes in (*draw.auc().axes, *draw.xauc().axes)]
    assert [title.split("= ")[-1] for title in titles] == ["0.88", f"{matrix['A', 'B']:.2f}", f"{matrix['B', 'A']:.2f}"]


def test_the_pictures_are_those_that_are_drawn() -> None:
    needs.package("matplotlib")
    drawn = {f"{name}.svg" for name in module(DOCS / "pictures", "draw").PICTURES}
    of_displays = re.findall(r"pictures/([\w-]+\.svg)", (DOCS / "plots.md").read_text(encoding="utf-8"))
    assert {path.name for path in (DOCS / "pictures").glob("*.svg")} == {*drawn, *of_displays}
