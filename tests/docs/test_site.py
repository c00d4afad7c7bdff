"""What builds and checks the site."""

from __future__ import annotations

import importlib
import re
import shlex
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import xorder
from support import needs
from support.pages import PACKAGES, ROOT
from xorder.cli import main

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


def test_bars_of_an_absolute_value_have_sides() -> None:
    needs.package("docutils")
    found = module(DOCS / "_extensions", "formulas").mathml(r"L \lvert D \rvert")
    assert '<mo form="prefix">|</mo>' in found
    assert '<mo form="postfix">|</mo>' in found


@pytest.mark.slow
@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_is_on_the_page_of_its_package(package: str) -> None:
    needs.package("sphinx")
    if package == "xorder.baselines":
        needs.package("torch")
    page = (DOCS / "api" / f"{package.removeprefix('xorder.')}.rst").read_text(encoding="utf-8")
    assert f".. module:: {package}\n" in page
    assert f".. public-names:: {package}\n" in page
    names = module(DOCS / "_extensions", "public_names")
    text = names.reference(package) + "\n"
    pages = "".join(names.pages(package).values())
    top, offered = importlib.import_module("xorder"), importlib.import_module(package)
    for name in offered.__all__:
        own_page = package == "xorder" and (DOCS / "api" / f"{name}.rst").exists()
        described = f":: {package}.{name}\n" in pages and f"   {name}\n" in text
        constant = f".. py:data:: {name}\n" in text
        linked = name in top.__all__ and f"   ~xorder.{name}\n" in text
        assert described or constant or linked or own_page, name


@pytest.mark.slow
def test_pages_of_names_differ_by_more_than_capitals() -> None:
    needs.package("sphinx")
    names = module(DOCS / "_extensions", "public_names")
    pages = list(names.pages("xorder"))
    assert {"xorder.audit", "xorder.Audit-class"} <= set(pages)
    assert len({page.lower() for page in pages}) == len(pages)


@pytest.mark.slow
def test_source_code_leads_back_to_the_page_of_a_name() -> None:
    needs.package("sphinx")
    context = {"body": '<a href="../api/names/xorder.metrics.Difference-class.html#xorder.Difference.between">'}
    module(DOCS / "_extensions", "public_names").mend_links(None, "_modules/xorder/x", "page.html", context, None)
    assert "Difference-class.html#xorder.metrics.Difference.between" in context["body"]


@pytest.mark.slow
def test_the_samples_are_what_their_cards_are_for() -> None:
    needs.package("sphinx")
    needs.package("jinja2")
    samples = module(DOCS / "_extensions", "sample_reports").samples()
    findings = [found.to_dict()["finding"]["verdict"] for _, found in samples.values()]
    assert findings[:2] == ["clear", "clear"]
    assert findings[2] != "clear"
    assert [len(found.to_dict()["groups"]) for _, found in samples.values()] == [2, 6, 2]


@pytest.mark.slow
def test_each_command_of_the_questions_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (DOCS / "questions.md").read_text(encoding="utf-8")
    rows = re.search(r"^ {4}(people\.csv .*)$", page, re.M)
    assert rows
    monkeypatch.chdir(tmp_path)
    write_people(Path("people.csv"), Path("new_people.csv"), Path("part-1.csv"))
    for command in re.findall(r"`xorder ([^`]+)`", page):
        arguments = shlex.split(command.replace("ROWS", rows[1]))
        # What the tolerance says of these people is an answer, not a failure.
        assert main(arguments) in ((0, 1, 3) if "--tolerance" in arguments else (0,)), (command, capsys.readouterr())
        printed = capsys.readouterr().out
        if arguments[-1] == "--json":
            for file in ("last.json", "this.json"):
                Path(file).write_text(printed, encoding="utf-8")


def write_people(*files: Path) -> None:
    """Write people with every column that the questions name."""
    people = xorder.datasets.simulate_population(1000, random_state=0)
    lines = [
        f"{score:.6f},{outcome},{group},{'f' if row % 2 else 'm'},{row // 2},{1 + row % 3},{score**2:.6f}\n"
        for row, (score, outcome, group) in enumerate(zip(people.y_score, people.y_true, people.group, strict=True))
    ]
    for file in files:
        file.write_text("score,outcome,group,sex,patient,weight,new_score\n" + "".join(lines), encoding="utf-8")


def test_what_the_questions_name_exists() -> None:
    page = (DOCS / "questions.md").read_text(encoding="utf-8")
    for name in re.findall(r"`(xorder\.[\w.]+)`", page):
        found: Any = xorder
        for part in name.split(".")[1:]:
            found = getattr(found, part)


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
    pages = "".join(page.read_text(encoding="utf-8") for page in module(DOCS / "pictures", "draw_displays").PAGES)
    of_displays = re.findall(r"pictures/([\w-]+\.svg)", pages)
    assert {path.name for path in (DOCS / "pictures").glob("*.svg")} == {*drawn, *of_displays}
