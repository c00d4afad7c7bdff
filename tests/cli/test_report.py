"""``xorder report``: the page and its numbers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest

import xorder
from support.command_line import Ran
from support.people_files import LABELLED, PEOPLE, ROWS, table, write


@pytest.mark.slow
def test_the_page_and_its_numbers(succeed: Callable[..., str], people: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    printed = succeed("report", people, *LABELLED, "-o", page)
    numbers = json.loads(succeed("report", people, *LABELLED, "--json"))
    found = xorder.audit(PEOPLE.y_true, PEOPLE.y_score, sensitive_features=PEOPLE.group)
    assert numbers["source"]["name"] == "people.csv"
    assert numbers["finding"]["value"] == pytest.approx(found.gap("xauc").value)
    assert printed.endswith(f"Wrote {page}\n")
    assert numbers["source"]["sha256"] in page.read_text(encoding="utf-8")
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["page.html", "people.csv"]


@pytest.mark.slow
def test_the_page_says_where_it_comes_from(
    succeed: Callable[..., str], people: Path, saved: Path, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    said = ["--title", "A title", "--model", "Risk 2.1", "--period", "the year 2025", "--author", "an office"]
    printed = succeed(
        "report", people, *LABELLED, *said, "--high-is", "help", "--tolerance", "0.3", "--map", saved, "-o", page
    )
    text = page.read_text(encoding="utf-8")
    assert printed.startswith("Group B is ranked too low")
    for words in (*said[1::2], "Tolerance 30.0 points", hashlib.sha256(saved.read_bytes()).hexdigest()):
        assert words in text


@pytest.mark.slow
def test_what_a_saved_map_does(succeed: Callable[..., str], people: Path, saved: Path) -> None:
    numbers = json.loads(succeed("report", people, *LABELLED, "--map", saved, "--json"))
    assert numbers["path"]["stops"][-1]["auc"] == pytest.approx(xorder.load(saved).auc_)


def test_what_cannot_be_written_is_refused_first(refuse: Callable[..., str], people: Path, tmp_path: Path) -> None:
    assert "-o report.html" in refuse("report", people, *LABELLED)
    assert "is an input itself" in refuse("report", people, *LABELLED, "-o", people, "--force")
    (tmp_path / "page.html").write_text("mine", encoding="utf-8")
    assert "--force" in refuse("report", people, *LABELLED, "-o", tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == "mine"


def test_a_map_that_knows_other_groups_is_not_reported_on(
    refuse: Callable[..., str], saved: Path, tmp_path: Path
) -> None:
    columns = table()
    columns["group"][20] = columns["group"][30] = "C"
    people = write(tmp_path / "people.csv", columns)
    error = refuse("report", people, *LABELLED, "--map", saved, "--json")
    assert "people.csv: group 'C' was not seen in fit (2 rows, the first in line 22)" in error


@pytest.mark.slow
def test_a_report_expects_what_fit_expects(run: Callable[..., Ran], tmp_path: Path) -> None:
    weights = [200 + 37 * row % 3800 for row in range(ROWS)]
    people = write(tmp_path / "people.csv", table() | {"weight": weights})
    weighted = [people, *LABELLED, "--weight", "weight", "--weights-are", "sampling", "--json"]
    fitted = json.loads(run("fit", *weighted, "-o", tmp_path / "map.json").out)["expected"]["after"]
    reported = json.loads(run("report", *weighted).out)["path"]["stops"][-1]
    assert reported["auc"] == pytest.approx(fitted["auc"], abs=1e-12)
    assert reported["gap"] == pytest.approx(fitted["gaps"][0]["value"], abs=1e-12)


@pytest.mark.slow
def test_a_report_knows_clusters(succeed: Callable[..., str], tmp_path: Path) -> None:
    person = [f"p{row // 3}" for row in range(ROWS)]
    people = write(tmp_path / "people.csv", table() | {"person": person})
    numbers = json.loads(succeed("report", people, *LABELLED, "--cluster", "person", "--json"))
    found = xorder.audit(PEOPLE.y_true, PEOPLE.y_score, sensitive_features=PEOPLE.group, clusters=person)
    assert numbers["audit"]["clusters"] == found.clusters
    assert numbers["audit"]["auc_stderr"] == pytest.approx(found.auc_stderr, rel=1e-6)


@pytest.mark.parametrize(("tolerance", "code"), [("0.5", 0), ("0.001", 1), ("0.3", 3)])
def test_the_tolerance_sets_the_exit_code(run: Callable[..., Ran], people: Path, tolerance: str, code: int) -> None:
    ran = run("report", people, *LABELLED, "--tolerance", tolerance, "--json")
    assert ran.code == code


def test_a_page_is_html(refuse: Callable[..., str], people: Path) -> None:
    error = refuse("report", people, *LABELLED, "-o", "page.pdf")
    assert "the page is HTML; name it page.html, and print it to PDF from the browser if need be." in error


@pytest.mark.slow
def test_it_opens_in_the_browser(
    succeed: Callable[..., str], people: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    succeed("report", people, *LABELLED, "-o", tmp_path / "page.html", "--open")
    assert opened == [(tmp_path / "page.html").as_uri()]
