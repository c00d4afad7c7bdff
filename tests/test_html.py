"""What notebooks show: the numbers of the result to the digits shown, and no text of the user's as markup."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn import config_context
from sklearn.linear_model import LogisticRegression

from xorder import FairRanker, ScoreTable, XOrder, audit, compare, frontier, order
from xorder._html import _ticks, frontier_html, html_table, ordering_html, repair_html
from xorder.datasets import simulate_population
from xorder.exceptions import XorderWarning
from xorder.metrics._audit_text import reading

PEOPLE = simulate_population(600, random_state=2)
HOSTILE = ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "&lt;b&gt;", "🔥" * 10_000]
KNOWN = {"div", "table", "thead", "tbody", "tr", "th", "td", "p", "b", "svg", "path", "text", "circle", "polyline"}


class Page(HTMLParser):
    """Cells of all tables, paragraphs and tags; every tag that opens must close, in order."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.texts: list[str] = []
        self.tags: set[str] = set()
        self.points: list[tuple[float, float]] = []
        self.marks: list[tuple[float, float]] = []
        self._open: list[str] = []
        self.feed(html)
        assert self._open == []

    def handle_starttag(self, tag: str, attributes: Any) -> None:
        self._start(tag, attributes)
        self._open.append(tag)

    def handle_startendtag(self, tag: str, attributes: Any) -> None:
        self._start(tag, attributes)

    def _start(self, tag: str, attributes: Any) -> None:
        self.tags.add(tag)
        assert not any(name.startswith("on") for name, _ in attributes)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if tag == "circle":
            self.marks.append((float(dict(attributes)["cx"]), float(dict(attributes)["cy"])))
        if tag == "polyline":
            self.points = [tuple(map(float, pair.split(","))) for pair in dict(attributes)["points"].split()]

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] in ("td", "th"):
            self.rows[-1][-1] += data
        else:
            self.texts.append(data)


def people(group: Any = PEOPLE.group) -> dict[str, Any]:
    return {"sensitive_features": group}


def fitted(group: Any = PEOPLE.group, **settings: Any) -> XOrder:
    return XOrder(**settings).fit(PEOPLE.y_score, PEOPLE.y_true, **people(group))


def test_an_audit_shows_its_groups_against_the_largest() -> None:
    found = audit(PEOPLE.y_true, PEOPLE.y_score, **people())
    page = Page(found._repr_html_())
    low, high = found.auc_interval
    assert f"AUC {found.auc:.4f}, 95 % interval {low:.4f} to {high:.4f}" in page.texts
    assert page.rows[0] == ["group", "positives", "negatives", "AUC", "xAUC gap", "95 % interval", "reading"]
    for row, group in zip(page.rows[1:], "AB", strict=True):
        counts = [f"{found.positives[group]:g}", f"{found.negatives[group]:g}"]
        assert row[:4] == [group, *counts, f"{found.xauc[group, group]:.4f}"]
    gap = found.gap("xauc", ("B", "A"))
    assert page.rows[1][4:] == ["", "", ""]
    ends = "{:+.4f} to {:+.4f}".format(*gap.interval)
    assert page.rows[2][4:] == [f"{gap.value:+.4f}", ends, "not chance"]
    assert "xAUC gap: each group less A, the largest." in page.texts
    assert reading(found) in page.texts


def test_what_is_not_known_is_called_so_and_few_people_are_warned_of() -> None:
    y = np.where(PEOPLE.group == "B", 0, PEOPLE.y_true)
    with pytest.warns(XorderWarning):
        found = audit(y, PEOPLE.y_score, **people())
    page = Page(found._repr_html_())
    assert page.rows[2][3:] == ["not known", "not known", "not known", "not known"]
    assert "nan" not in found._repr_html_()
    warned = "Fewer than 10 positives or negatives: B. Too few to say whether their gaps are chance."
    assert warned in page.texts
    assert warned in " ".join(str(found).split())


@pytest.mark.slow
def test_of_many_groups_those_of_the_widest_gaps_are_listed() -> None:
    group = np.arange(PEOPLE.y_true.size) % 24
    found = audit(PEOPLE.y_true, PEOPLE.y_score, **people(group))
    page = Page(found._repr_html_())
    assert len(page.rows) == 21
    assert "… and 4 more" in page.texts
    shown = [abs(float(row[4])) for row in page.rows[1:]]
    assert shown == sorted(shown, reverse=True)
    widest = max(abs(found.gap("xauc", (each, 0)).value) for each in range(1, 24))
    assert shown[0] == round(widest, 4)


def test_words_are_never_squeezed_to_letters() -> None:
    html = html_table(["group", "n"], [["Native Hawaiian and Other Pacific Islander alone", "3"]])
    assert html.count("min-width:9em") == 2
    assert "overflow-wrap:anywhere" not in html


@pytest.mark.slow
def test_a_comparison_shows_auc_and_gaps() -> None:
    found = compare(PEOPLE.y_true, PEOPLE.y_score, PEOPLE.y_score**2 - (PEOPLE.group == "B"), **people())
    page = Page(found._repr_html_())
    assert page.rows[1][2:5] == [f"{found.auc.first:.4f}", f"{found.auc.second:.4f}", f"{found.auc.value:+.4f}"]
    assert [row[0] for row in page.rows[2:5]] == ["xauc gap", "prf gap", "parity gap"]
    assert "The same people have both scores: errors are those of pairs." in page.texts
    group = np.arange(600) % 5
    page = Page(compare(PEOPLE.y_true, PEOPLE.y_score, PEOPLE.y_score**2, **people(group))._repr_html_())
    assert {row[0] for row in page.rows[1:]} == {"AUC", "xauc gap"}
    assert len(page.rows) <= 8


@pytest.mark.slow
def test_what_to_expect_is_a_table_with_the_caution() -> None:
    repair = fitted(np.array(["x", "y", "z"])[np.arange(600) % 3], do_no_harm=False)
    expected = repair.expected_
    page = Page(expected._repr_html_())
    before, after = expected.before, expected.after
    ends = "{:.4f} to {:.4f}".format(*after.auc_interval)
    assert page.rows[1] == ["AUC", "", f"{before.auc:.4f}", f"{after.auc:.4f}", ends]
    assert [row[0] for row in page.rows[2:]] == ["xauc gap"] * 3 + ["worst cut"]
    assert expected.caution is not None
    assert expected.caution in page.texts


@pytest.mark.slow
def test_a_fitted_ranker_shows_what_to_expect_below_its_diagram() -> None:
    X = np.column_stack([PEOPLE.y_score, PEOPLE.group == "B"])
    ranker = FairRanker(LogisticRegression(), cv=2)
    assert "On new people" not in ranker._repr_html_()
    with pytest.warns(XorderWarning, match="cannot be told from 0"):
        ranker.fit(X, PEOPLE.y_true, **people())
    html = ranker._repr_html_()
    assert "sk-" in html
    assert html.count(ranker.expected_._repr_html_()) == 1
    assert ranker.repair_.fitted_.headline().split("\n")[0] in html
    assert ranker._repr_mimebundle_()["text/html"].endswith(html[-3000:])
    assert len(html) < 100_000


def test_numbers_of_a_gap_are_written_with_four_digits() -> None:
    found = audit(PEOPLE.y_true, PEOPLE.y_score, **people())
    gap = found.gap("xauc")
    assert repr(gap).startswith(f"Gap(metric='xauc', pair=('A', 'B'), value={gap.value:.4g}, stderr=")
    for record in (gap, found.cut_gap(), compare(PEOPLE.y_true, PEOPLE.y_score, -PEOPLE.y_score, **people()).auc):
        assert re.search(r"\d{6}", repr(record)) is None


@pytest.mark.parametrize("solver", ["frontier", "greedy"])
def test_an_ordering_shows_what_it_achieves(solver: str) -> None:
    tables = fitted(method="frontier").ordering_
    found = order(tables.a, tables.b, metric="prf", tradeoff=0.5, solver=solver)
    rows = dict(Page(ordering_html(found)).rows)
    assert rows["AUC"] == f"{found.auc:.4f}"
    assert float(rows["PRF gap, a − b"]) == pytest.approx(found.gap, abs=5e-5)
    assert rows["objective: AUC − 0.5 · |gap|"] == f"{found.objective:.4f}"
    known = np.isfinite(found.optimality_gap)
    assert rows["no ordering exceeds"] == (f"{found.bound:.4f}" if known else "not known")
    assert rows["at most below the best"] == (f"{found.optimality_gap:.2g}" if known else "not known")


def test_a_frontier_shows_its_curve() -> None:
    tables = fitted(method="frontier").ordering_
    curve = frontier(tables.a, tables.b)
    page = Page(frontier_html(curve))
    top = int(np.argmax(curve.auc))
    assert page.rows[1] == ["highest AUC", f"{curve.gap[top]:+.4f}", f"{curve.auc[top]:.4f}"]
    bound = curve.at(max_gap=0.0)
    assert float(page.rows[2][2]) == pytest.approx(bound.bound + bound.tradeoff * abs(bound.gap), abs=1e-4)
    x, y = np.array(page.points).T
    assert len(x) <= 201
    assert (np.diff(x) >= 0).all()
    # The page's y counts downwards: the highest point drawn is that of the highest AUC, and the first that is marked.
    assert page.marks[0][1] == y.min()
    assert page.marks[0] in page.points
    assert {"AUC", "xAUC gap, a − b", "0"} <= {*page.texts}


def test_a_frontier_of_one_point_is_drawn() -> None:
    table = ScoreTable.from_arrays([1, 0], [0.5, 0.5])
    html = frontier_html(replace(frontier(table, table), auc=np.array([0.5]), gap=np.array([0.0])))
    assert "nan" not in html
    assert len(Page(html).points) == 1


@given(st.floats(-1e6, 1e6), st.floats(1e-9, 1e6))
def test_ticks_are_few_and_between_the_ends(low: float, span: float) -> None:
    high = low + span
    assume(high > low)
    found = _ticks(low, high)
    assert 3 <= len(found) <= 12
    assert all(low - 1e-9 * span <= tick <= high + 1e-9 * span + 1e-9 for tick in found)


@pytest.mark.slow
def test_a_repair_shows_before_and_after_once_it_is_fitted() -> None:
    assert repair_html(XOrder()) == ""
    repair = fitted(max_gap=0.02)
    page = Page(repair_html(repair))
    assert page.rows[1] == ["AUC", f"{repair.auc_before_:.4f}", f"{repair.auc_:.4f}"]
    assert page.rows[2] == ["xAUC gap A − B", f"{repair.gap_before_:+.4f}", f"{repair.gap_:+.4f}"]
    assert "Scores of group B are adjusted; those of group A stay as they are." in page.texts
    many = fitted(np.array(["x", "y", "z"])[np.arange(600) % 3], do_no_harm=False)
    assert Page(repair_html(many)).rows[3] == ["widest gap of any two groups", "", f"{many.worst_gap_:.4f}"]


@pytest.mark.parametrize("name", HOSTILE)
def test_names_stay_text_and_short(name: str) -> None:
    group = np.where(PEOPLE.group == "A", name, "B")
    found = audit(PEOPLE.y_true, PEOPLE.y_score, **people(group))
    for html in (found._repr_html_(), repair_html(fitted(group)), html_table([name], [[name]])):
        page = Page(html)
        assert page.tags <= KNOWN
        assert "<script" not in html
        assert "<img" not in html
        assert len(html) < 10_000
        if len(name) < 28:
            assert any(name in cell for row in page.rows for cell in row)


def test_a_repair_adds_to_the_diagram_of_scikit_learn() -> None:
    repair = XOrder()
    assert "sk-" in repair._repr_html_()
    repair.fit(PEOPLE.y_score, PEOPLE.y_true, **people())
    table = repair_html(repair)
    assert repair._repr_html_().endswith(table)
    assert repair._repr_html_().count(table) == 1
    assert repair._repr_mimebundle_()["text/html"].endswith(table)
    assert repair._repr_mimebundle_()["text/html"].count(table) == 1
    with config_context(display="text"):
        assert not hasattr(repair, "_repr_html_")
        assert "text/html" not in repair._repr_mimebundle_()
