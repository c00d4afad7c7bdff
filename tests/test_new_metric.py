"""A metric is one record: one that is added to METRICS is seen wherever gaps are audited, reported and drawn."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from matplotlib import pyplot

import xorder
from support.needs import package
from support.printed_page import Page, digits, value
from support.scored_people import people
from xorder._metric import METRICS, PairGains
from xorder.plotting import TradeoffDisplay
from xorder.reporting import _repair_path as way

PARITY = METRICS["parity"]

# How far above one half the chance lies that a member of the first group outranks one of the second.
LEAD = replace(
    PARITY,
    name="lead",
    title="lead",
    meaning="members of the first outranking members of the second, above one half",
    gains=lambda a, b: PairGains(PARITY.gains(a, b).matrix / 2, -0.5, name="lead"),
    estimate=lambda m, a, b: (PARITY.estimate(m, a, b)[0] / 2, PARITY.estimate(m, a, b)[1] / 2),
    side=lambda chance, negative_share: chance / 2,
    pairs_in_words="{lower} leads {favoured} in {low} of 50 pairs and lags in {high}.",
    side_in_words="{first} leads {second}",
)

PEOPLE = people(600, {"A": 0.0, "B": 0.9})


@pytest.fixture(autouse=True)
def added(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(METRICS, "lead", LEAD)
    monkeypatch.setattr(way, "_REPAIRS_OF_TWO", 3)


@pytest.fixture
def audit() -> xorder.Audit:
    return xorder.audit(**PEOPLE)


def test_the_audit_has_it(audit: xorder.Audit) -> None:
    gap, parity = audit.gap("lead"), audit.gap("parity")
    assert gap.value == pytest.approx(parity.value / 2)
    assert gap.pvalue == pytest.approx(parity.pvalue)
    assert [entry["value"] for entry in audit.to_dict()["gaps"] if entry["metric"] == "lead"] == [gap.value]
    json.dumps(audit.to_dict(), allow_nan=False)
    text = str(audit)
    row = next(line.split() for line in text.splitlines() if line.startswith("lead "))
    assert row[:5] == ["lead", "A", "-", "B", f"{gap.value:+.4f}"]
    assert f"  lead: {LEAD.meaning}" in text.splitlines()
    assert ">lead</td>" in audit._repr_html_()
    assert f"{gap.value:+.4f}" in audit._repr_html_()


@pytest.mark.slow
def test_the_report_speaks_of_it(audit: xorder.Audit) -> None:
    made = xorder.report(**PEOPLE, metric="lead")
    numbers, gap = made.to_dict(), audit.gap("lead")
    assert numbers["finding"]["value"] == gap.value
    assert numbers["finding"]["verdict"] == "clear"
    high, low = numbers["finding"]["chances"]
    assert high - low == pytest.approx(gap.value)
    assert high + low == pytest.approx(0.5)
    assert f"group B leads group A in {100 * low:.1f} of 50 pairs and lags in {100 * high:.1f}." in str(made)
    assert abs(numbers["path"]["stops"][-1]["gap"]) < 0.01
    for extra in ("jinja2", "altair", "vl_convert"):
        package(extra, "report")
    page = Page(made.html())
    _, row = page.table("lead of each pair of groups")
    assert value(row[1]) == digits(gap.value, 4)
    assert "A leads B" in page.text["summary"]
    assert LEAD.meaning in page.text["method"]
    assert len(page.table("xAUC gap of each pair of groups")) == 2


def test_the_trade_off_is_drawn_with_it(audit: xorder.Audit) -> None:
    a, b = (
        xorder.ScoreTable.from_arrays(PEOPLE["y_true"][mask], PEOPLE["y_score"][mask])
        for mask in (PEOPLE["sensitive_features"] == group for group in "AB")
    )
    curve = xorder.frontier(a, b, metric="lead")
    assert curve.gap.min() <= 0 <= curve.gap.max()
    display = TradeoffDisplay.from_estimator(curve)
    display.pair = ("A", "B")
    display.mark("as it is", audit).plot()
    assert display.ax_.get_xlabel().startswith("lead: A minus B")
    np.testing.assert_allclose(display.points["as it is"][0], audit.gap("lead").value)
    pyplot.close("all")


# The repair: XOrder(metric="lead") closes it.


# The command line: xorder audit, fit and report know --metric lead.
