"""What notebooks show: the numbers of the result to the digits shown, and no text of the user's as markup."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest
from sklearn import config_context

from xorder import XOrder, audit, frontier, order
from xorder._html import audit_html, frontier_html, html_table, ordering_html, repair_html
from xorder.datasets import simulate_population
from xorder.exceptions import XorderWarning

PEOPLE = simulate_population(600, random_state=2)
HOSTILE = ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "&lt;b&gt;", "🔥" * 10_000]
KNOWN = {"div", "table", "thead", "tbody", "tr", "th", "td", "p", "b", "svg", "line", "polyline"}


class Page(HTMLParser):
    """Cells of all tables, paragraphs and tags; every tag that opens must close, in order."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.texts: list[str] = []
        self.tags: set[str] = set()
        self.points: list[tuple[float, float]] = []
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
        if tag == "svg":
            self.view_box = dict(attributes)["viewbox"].split()
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


def test_an_audit_shows_its_numbers() -> None:
    found = audit(PEOPLE.y_true, PEOPLE.y_score, **people())
    page = Page(audit_html(found, "One line.\nAnother."))
    low, high = found.auc_interval
    assert f"AUC {found.auc:.4f}, 95 % interval {low:.4f} to {high:.4f}" in page.texts
    assert page.rows[0] == ["", "A", "B", "positives", "negatives"]
    for row, group in zip(page.rows[1:3], "AB", strict=True):
        matrix = [f"{found.xauc[group, other]:.4f}" for other in "AB"]
        assert row == [group, *matrix, f"{found.positives[group]:g}", f"{found.negatives[group]:g}"]
    assert page.rows[3][2] == "value"
    for row, metric, name in zip(
        page.rows[4:], ("xauc", "prf", "parity"), ("xAUC gap", "PRF gap", "parity gap"), strict=True
    ):
        gap = found.gap(metric, ("A", "B"))
        assert row[:3] == [name, "A − B", f"{gap.value:+.4f}"]
        assert row[3] == f"{gap.interval[0]:+.4f} to {gap.interval[1]:+.4f}"
        assert row[4] == ("< 0.0001" if gap.pvalue < 0.0001 else f"{gap.pvalue:.4f}")
    assert {"One line.", "Another."} <= set(page.texts)


def test_what_is_not_known_is_called_so() -> None:
    y = np.where(PEOPLE.group == "B", 0, PEOPLE.y_true)
    with pytest.warns(XorderWarning):
        found = audit(y, PEOPLE.y_score, **people())
    page = Page(audit_html(found))
    assert page.rows[2][:3] == ["B", "not known", "not known"]
    assert page.rows[4][2:] == ["not known", "not known", "not known"]
    assert "nan" not in audit_html(found)


def test_of_many_groups_the_widest_gaps_are_listed() -> None:
    group = np.arange(PEOPLE.y_true.size) % 20
    found = audit(PEOPLE.y_true, PEOPLE.y_score, **people(group))
    page = Page(audit_html(found))
    assert len(page.rows) == 13
    assert "The 4 widest gaps of 190 pairs, for each metric." in page.texts
    shown = [float(row[2]) for row in page.rows[1:5]]
    widest = sorted((gap.value for gap in found.gaps if gap.metric == "xauc"), key=abs, reverse=True)[:4]
    assert shown == [round(value, 4) for value in widest]
    assert any(text.startswith(f"AUC {found.auc:.4f}") for text in page.texts)


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
    # The page's y counts downwards: the highest point drawn is that of the highest AUC, at its gap.
    highest = int(np.argmin(y))
    assert (x[highest], -y[highest]) == pytest.approx((curve.gap[top], curve.auc[top]), abs=1e-5)
    left, upper, width, height = map(float, page.view_box)
    assert left < x.min() < x.max() < left + width
    assert upper < y.min() < y.max() < upper + height


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
    for html in (audit_html(found, f"A positive of {name}."), repair_html(fitted(group)), html_table([name], [[name]])):
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
