"""The page: its numbers are the library's to the digits shown, its text is only text, and it needs nothing else."""

from __future__ import annotations

import base64
import csv
import hashlib
import json
import re
import sys
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

import xorder
from support.printed_page import Page, digits, value
from support.scored_people import people
from xorder._present import shortened
from xorder._validation import check_tables
from xorder.exceptions import InputError, MissingExtraError
from xorder.reporting import Report, _numbers, report, report_tables
from xorder.reporting._page import script_json
from xorder.reporting._text import interval_in_points

pytestmark = pytest.mark.slow

HOSTILE = {
    "<script>alert(1)</script>": 0.0,
    "\"'><img src=x onerror=alert(1)>": 0.8,
    "</script><!--": 0.2,
    "😀" * 2500: 0.0,
    "a.b['c'][0]\\": 0.3,
}

TWO = people(500, {"A": 0.0, "B": 0.9})


@pytest.fixture(scope="module")
def made() -> Report:
    return report(**TWO, names={"score": "risk", "label": "ill", "group": "sex"}, title="A trial")


@pytest.fixture(scope="module")
def page(made: Report) -> Page:
    return Page(made.html())


@pytest.fixture
def few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_numbers, "PARTS", (0.5, 1.0))


def test_printed_gaps_are_those_of_the_audit(page: Page) -> None:
    audit = xorder.audit(**TWO)
    for name, metric in (("xAUC gap", "xauc"), ("PRF gap", "prf"), ("parity gap", "parity")):
        head, row = page.table(f"{name} of each pair")
        assert head[0] == "pair"
        gap = audit.gap(metric, ("A", "B"))
        assert row[0] == "A − B"
        assert value(row[1]) == digits(gap.value, 4)
        assert [value(end) for end in row[2].split(" to ")] == [digits(end, 4) for end in gap.interval]
        assert row[-1] == ("< 0.0001" if gap.pvalue < 1e-4 else f"{gap.pvalue:.4f}")
    _, *rows = page.table("xAUC: the chance")
    for row, group in zip(rows, "AB", strict=True):
        assert row[0] == group
        printed = [value(cell) for cell in row[1:]]
        assert printed == [digits(audit.xauc[group, other], 4) for other in "AB"] + [digits(audit.prf[group], 4)]
    assert f"{audit.auc:.4f} ({95} % interval {audit.auc_interval[0]:.4f} to" in page.text["audit"]


def test_printed_steps_are_those_of_the_repairs(page: Page, made: Report) -> None:
    stops, audit = made.to_dict()["path"]["stops"], xorder.audit(**TWO)
    _, *rows = page.table("Each step of the control")
    for row, stop in zip(rows, stops, strict=True):
        assert value(row[1]) == digits(stop["auc"], 4)
        assert value(row[2]) == digits(stop["auc"] - audit.auc, 4)
        assert value(row[4]) == digits(100 * stop["gap"], 1)
        assert [value(end) for end in row[5].split(" to ")] == [digits(100 * end, 1) for end in stop["gap_interval"]]
        assert value(row[7]) - value(row[8]) == pytest.approx(stop["gap"], abs=1.1e-4)
    assert rows[0][3] == rows[0][-1] == "–"
    for row, stop in zip(rows[1:], stops[1:], strict=True):
        change = stop["auc_change"]["interval"]
        assert [value(end) for end in row[3].split(" to ")] == [digits(end, 4) for end in change]
        assert stop["below_best"] <= value(row[9]) <= stop["below_best"] + 1.1e-4
    # What the control shows first is the last row, and what it can show are the rows.
    columns = {"auc": 1, "change": 2, "gap": 4, "first": 7, "second": 8}
    assert [page.fields[name] for name in columns] == [rows[-1][column] for column in columns.values()]
    for row, stop in zip(rows, page.island, strict=True):
        assert [stop["text"][name] for name in ("label", *columns)] == [
            row[column] for column in (0, *columns.values())
        ]


def test_the_control_drives_all_parts(page: Page, made: Report) -> None:
    stops = made.to_dict()["path"]["stops"]
    assert {*page.fields} <= {*page.island[0]["text"]}
    for stop, island in zip(stops, page.island, strict=True):
        text = island["text"]
        for g in range(2):
            for c, top in enumerate(stop["top"]):
                assert value(text[f"top-{c}-{g}-share"]) == digits(100 * top[g]["share"], 1)
            assert value(text[f"move-{g}-positive"]) == digits(100 * stop["moves"][g]["positive"]["mean"], 1)
        for c, cut in enumerate(stop["cuts"]):
            assert value(text[f"cut-{c}"]) == digits(100 * cut["value"], 1)
    # Nobody moves, and nothing changes, until something is repaired.
    assert {page.island[0]["text"][f"move-{g}-all"] for g in range(2)} == {"+0.0"}


def test_printed_top_and_moves_are_the_numbers(page: Page, made: Report) -> None:
    numbers = made.to_dict()
    _, _, *rows = page.table("The first places of the list")
    for c, entry in enumerate(numbers["top"]):
        assert rows[2 * c][0] == f"{entry['percent']:g} %"
        for g, row in enumerate(rows[2 * c : 2 * c + 2]):
            records = (entry["before"][g], entry["after"][g])
            expected = [record[what] for what in ("share", "precision", "found") for record in records]
            cells = row[3:9] if g == 0 else row[2:]
            for cell, share in zip(cells, expected, strict=True):
                assert cell == "not known" if share is None else value(cell) == digits(100 * share, 1)
    audit = xorder.audit(**TWO)
    for row, cut, then in zip(rows[::2], audit.cuts, numbers["path"]["stops"][-1]["cuts"], strict=True):
        gap = audit.cut_gap(cut, ("A", "B"))
        for cell, record in ((row[-2], {"value": gap.value, "interval": gap.interval}), (row[-1], then)):
            ends = interval_in_points(record["interval"])
            assert cell.endswith(ends)
            assert value(cell.removesuffix(ends)) == digits(100 * record["value"], 1)
    _, *rows = page.table("Change of place")
    order = [(g, who) for g in range(2) for who in ("positive", "negative", "all")]
    for row, (g, who) in zip(rows, order, strict=True):
        move = numbers["moves"][g][who]
        cells = row[-5:]
        assert value(cells[0]) == digits(100 * move["mean"], 1)
        assert [value(end) for end in cells[2].split(" to ")] == [digits(100 * move[end], 1) for end in ("low", "high")]
        assert [value(cell) for cell in cells[3:]] == [digits(100 * move[way], 1) for way in ("up", "down")]
    _, a, b = page.table("Who was looked at")
    audit = xorder.audit(**TWO)
    for row, group in ((a, "A"), (b, "B")):
        assert [value(cell) for cell in row[2:4]] == [audit.positives[group], audit.negatives[group]]


def test_names_are_used_and_structure_is_sound(page: Page) -> None:
    assert "score “risk”" in page.text["header"]
    assert "outcome (“ill”)" in page.text["summary"]
    assert ("html", {"lang": "en"}) in page.tags
    headings = [tag for tag, _ in page.tags if re.fullmatch("h[1-6]", tag)]
    assert headings[0] == "h1"
    assert headings.count("h1") == 1
    tables = [tag for tag, _ in page.tags if tag == "table"]
    assert len(tables) == [tag for tag, _ in page.tags].count("caption")
    assert all(
        attributes.get("scope") for tag, attributes in page.tags if tag == "th" and "aria-hidden" not in attributes
    )
    identifiers = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(identifiers) == len(set(identifiers))
    (control,) = (attributes for tag, attributes in page.tags if tag == "input")
    assert control["type"] == "range"
    assert ("label", {"for": control["id"]}) in page.tags
    assert control["aria-valuetext"]


def test_the_page_needs_nothing_else(page: Page, made: Report) -> None:
    addresses = [attributes[name] for _, attributes in page.tags for name in ("src", "href") if name in attributes]
    identifiers = {f"#{attributes['id']}" for _, attributes in page.tags if "id" in attributes}
    assert all(str(address) in identifiers or str(address).startswith("data:text/csv") for address in addresses)
    assert "url(" not in made.html().partition("</style>")[0]
    assert len(made.html().encode()) < 300_000


def test_only_its_own_style_and_script_are_allowed(page: Page, made: Report) -> None:
    (policy,) = (attributes["content"] for _, attributes in page.tags if attributes.get("http-equiv"))
    found = dict(each.split(" ", 1) for each in str(policy).split("; "))
    assert found.pop("default-src") == found.pop("base-uri") == found.pop("form-action") == "'none'"
    (style,) = re.findall("<style>(.*?)</style>", made.html(), re.DOTALL)
    (script,) = re.findall("<script>(.*?)</script>", made.html(), re.DOTALL)
    for kind, text in (("style-src", style), ("script-src", script)):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert found.pop(kind) == f"'sha256-{digest}'"
    assert not found
    names = {name for _, attributes in page.tags for name in attributes}
    assert "style" not in names
    assert not {name for name in names if name.startswith("on")}


@pytest.mark.usefixtures("few_steps")
@pytest.mark.usefixtures("few_steps")
def test_hostile_names_stay_text() -> None:
    drawn = people(1300, HOSTILE)
    names = {"score": "<b>score</b>", "label": "</script><script>alert(2)</script>", "group": "\x00]]>{{ 7 * 7 }}"}
    text = report_tables(check_tables(*drawn.values()), names=names, title="<title>x</title>{% raw %}").html()
    plain = report_tables(
        check_tables(*people(1300, dict(zip("abcde", HOSTILE.values(), strict=True))).values())
    ).html()
    page, reference = Page(text), Page(plain)
    assert [tag for tag, _ in page.tags] == [tag for tag, _ in reference.tags]
    assert not [name for _, attributes in page.tags for name in attributes if name.startswith("on")]
    assert "alert" not in "".join(page.scripts)
    rows = page.table("Who was looked at")
    assert [row[0] for row in rows[1:]] == [shortened(name, 80) for name in sorted(HOSTILE)]
    titles = [attributes["title"] for _, attributes in page.tags if "title" in attributes]
    assert set(titles) == set(HOSTILE)
    assert "{{ 7 * 7 }}" in page.text["header"]


def test_json_in_a_script_cannot_end_it() -> None:
    hostile = {"a": "</script><!--", "b": "\u2028&"}
    text = script_json(hostile)
    assert not set("<>&\u2028") & set(text)
    assert json.loads(text) == hostile


@pytest.mark.usefixtures("few_steps")
def test_what_is_not_known_is_never_a_number() -> None:
    drawn = people(300, {"A": 0.0, "B": 0.9, "C": 0.0})
    drawn["y_true"][drawn["sensitive_features"] == "C"] = 0
    text = report_tables(check_tables(*drawn.values())).html()
    page = Page(text)
    _, _, _, c = page.table("xAUC: the chance")
    assert c == ["C", "not known", "not known", "not known", "not known"]
    _, *gaps = page.table("xAUC gap of each pair")
    assert [row[-2] for row in gaps] == ["not chance", "not known", "not known"]
    assert "C has nobody with the outcome" in page.text["data"]
    for section in ("audit", "tradeoff", "moves", "top", "sheet", "data", "appendix"):
        assert not re.search(r"\bnan\b|None|Undefined", page.text[section])


def test_the_sheet_is_that_of_the_audit(page: Page, made: Report) -> None:
    audit = xorder.audit(**TWO)
    repair = xorder.XOrder().fit(TWO["y_score"], TWO["y_true"], sensitive_features=TWO["sensitive_features"])
    files = {
        str(attributes["download"]): unquote(str(attributes["href"]).removeprefix("data:text/csv;charset=utf-8,"))
        for _, attributes in page.tags
        if "download" in attributes
    }
    steps = list(csv.DictReader(files.pop("steps.csv").splitlines()))
    assert len(files) == 8
    for file, text in files.items():
        name = file.removesuffix(".csv")
        is_plain = name in ("groups", "gaps", "cut_gaps")
        assert text == audit.table(name, repair=None if is_plain else repair).to_csv()
    stops = made.to_dict()["path"]["stops"]
    assert [float(row["value"]) for row in steps if row["what"] == "auc"] == [stop["auc"] for stop in stops]
    assert [float(row["change"] or 0) for row in steps if row["what"] == "gap"] == [
        0 if stop["gap_change"] is None else stop["gap_change"]["value"] for stop in stops
    ]
    rates = [row for row in steps if (row["what"], row["at"], row["group"]) == ("sensitivity", "5 %", "B")]
    assert [row["step"] for row in rates] == ["0.25", "0.5", "0.75", "1.0"]
    _, a, b, every = page.table("Performance by group")
    for row, group in ((a, "A"), (b, "B")):
        assert value(row[3]) == digits(audit.xauc[group, group], 4)
        assert value(row[5]) == digits(audit.prf[group], 4)
    assert value(every[3]) == digits(audit.auc, 4)
    found = audit.table("calibration", repair=repair).rows
    _, _, *rows = page.table("Calibration")
    for row, now, then in zip(rows, found[:3], found[3:], strict=True):
        assert [value(row[1]), value(row[3])] == [digits(each["observed_to_expected"], 3) for each in (now, then)]
        assert [value(row[6]), value(row[7])] == [digits(each["slope"], 3) for each in (now, then)]
    cuts = [row for row in audit.table("cuts", repair=repair).rows if row["rate"] == "sensitivity"]
    _, _, *printed = page.table("Rates at cuts")
    for row, rate in zip(printed, cuts, strict=True):
        assert [value(cell.split()[0]) for cell in row[2:4]] == [digits(rate[name], 4) for name in ("value", "after")]
        low, high = (digits(rate[name], 4) for name in ("change_low", "change_high"))
        assert [value(end) for end in row[3].partition("(")[2].removesuffix(")").split(" to ")] == [low, high]
    benefit = {(row["threshold"], row["group"]): row for row in audit.table("net_benefit", repair=repair).rows}
    _, *rows = page.table("Net benefit")
    for row in rows:
        expected = benefit[float(row[0]), "all groups" if row[1] == "all" else row[1]]
        assert [value(row[3]), value(row[5])] == [digits(expected[name], 4) for name in ("net_benefit", "after")]


@pytest.mark.usefixtures("few_steps")
def test_scores_that_are_no_probabilities_are_said_to_have_no_calibration() -> None:
    page = Page(report(**TWO | {"y_score": 10 * TWO["y_score"]}).html())
    assert "Calibration and net benefit are not shown" in page.text["sheet"]
    assert not [caption for caption in page.tables if caption.startswith(("Calibration", "Net benefit"))]


@pytest.mark.usefixtures("few_steps")
def test_where_it_comes_from_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    about = {"model": "Sepsis <2>", "period": "2025", "author": "Quality & safety"}
    page = Page(report(**TWO, **about).html())
    for text in about.values():
        assert text in page.text["header"]
        assert text in page.text["provenance"]
    assert "2023-11-14 (UTC)" in page.text["provenance"]
    assert "Reviewed by" in page.text["provenance"]
    assert "not said" in Page(report(**TWO).html()).text["provenance"]


@pytest.mark.usefixtures("few_steps")
@pytest.mark.parametrize("tolerance", [0.001, 0.05, 0.5])
def test_the_verdict_is_that_of_the_audit(tolerance: float) -> None:
    made = report(**TWO, tolerance=tolerance)
    page = Page(made.html())
    adjusted = xorder.XOrder().fit_transform(
        TWO["y_score"], TWO["y_true"], sensitive_features=TWO["sensitive_features"]
    )
    now, then = (xorder.audit(**TWO | {"y_score": score}).against(tolerance) for score in (TWO["y_score"], adjusted))
    stops = made.to_dict()["path"]["stops"]
    assert (stops[0]["verdict"], stops[-1]["verdict"]) == (now, then)
    words = {"within": "within the tolerance", "beyond": "beyond the tolerance", "cannot tell": "not decided"}
    assert f"Tolerance {100 * tolerance:.1f} points. The score as it is: {words[now]}" in page.text["summary"]
    assert f"100 % of the repair: {words[then]}" in page.text["summary"]
    assert page.fields["verdict"].lower().startswith(words[then])


@pytest.mark.usefixtures("few_steps")
def test_many_groups_are_cut_to_what_can_be_read() -> None:
    drawn = people(1500, {f"g{number:02}": number / 10 for number in range(15)})
    made = report_tables(check_tables(*drawn.values()))
    page = Page(made.html())
    assert len(page.table("xAUC: the chance")) == 13
    assert len(page.table("xAUC gap of each pair")) == 16
    assert "the widest of 105 pairs" in page.text["audit"]
    assert "12 of 15 groups" in page.text["data"]
    assert "15 groups" in page.text["tradeoff"]
    assert len(made.to_dict()["audit"]["gaps"]) == 3 * 105


@pytest.mark.usefixtures("few_steps")
def test_a_saved_map_is_audited_before_and_after() -> None:
    other = people(500, {"A": 0.0, "B": 0.9}, seed=9)
    repair = xorder.XOrder(do_no_harm=False)
    repair.fit(TWO["y_score"], TWO["y_true"], sensitive_features=TWO["sensitive_features"])
    page = Page(report(**other, repair=repair).html())
    _, *rows = page.table("Each step of the control")
    adjusted = repair.transform(other["y_score"], sensitive_features=other["sensitive_features"])
    for row, score in zip((rows[0], rows[-1]), (other["y_score"], adjusted), strict=True):
        audit = xorder.audit(**other | {"y_score": score})
        gap = audit.gap("xauc", ("A", "B"))
        assert value(row[1]) == digits(audit.auc, 4)
        assert value(row[4]) == digits(100 * gap.value, 1)
        assert [value(end) for end in row[5].split(" to ")] == [digits(100 * end, 1) for end in gap.interval]
    assert rows[-1][0] == page.fields["label"] == "The saved map"


def test_saving_is_all_or_nothing(made: Report, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    made.save(path)
    assert path.read_text(encoding="utf-8") == made.html()
    with pytest.raises(InputError, match="exists already"):
        made.save(path)
    made.save(path, overwrite=True)
    with pytest.raises(InputError, match="does not exist"):
        made.save(tmp_path / "nowhere" / "report.html")
    assert [entry.name for entry in tmp_path.iterdir()] == ["report.html"]


@pytest.mark.usefixtures("few_steps")
def test_the_same_rows_make_the_same_page_and_the_file_is_named(tmp_path: Path) -> None:
    source = tmp_path / "people <1>.csv"
    source.write_bytes(b"some,rows\n")
    one, two = (report_tables(check_tables(*TWO.values()), source=source).html() for _ in range(2))
    assert one == two
    page = Page(one)
    assert hashlib.sha256(b"some,rows\n").hexdigest() in page.text["provenance"]
    assert "people <1>.csv, 10 bytes" in page.text["provenance"]
    assert f"xorder {xorder.__version__}" in page.text["provenance"]


def test_a_notebook_shows_the_page_in_a_frame_of_its_own(made: Report) -> None:
    frame = made._repr_html_()
    (tag, attributes), *_ = Page(frame).tags
    assert tag == "iframe"
    assert attributes["sandbox"] == "allow-scripts allow-downloads"
    assert attributes["srcdoc"] == made.html()


def test_what_is_not_installed_is_named_with_its_extra(made: Report, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(MissingExtraError, match=r"report needs jinja2.*xorder\[report\]"):
        made.html()


def test_numbers_need_no_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    numbers: dict[str, Any] = report_tables(check_tables(*people(60, {"A": 0.0, "B": 0.0}).values())).to_dict()
    assert json.loads(json.dumps(numbers, allow_nan=False)) == numbers
