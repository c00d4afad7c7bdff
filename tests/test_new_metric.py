"""A metric is one record: one that is added to METRICS is audited, repaired, reported and drawn like the others."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib import pyplot

import xorder
from support.needs import package
from support.printed_page import Page, digits, value
from support.scored_people import people
from xorder._metric import METRICS, Estimate, PairGains
from xorder.cli import main
from xorder.plotting import TradeoffDisplay
from xorder.reporting import _numbers

PARITY = METRICS["parity"]

# How far above one half the chance lies that a member of the first group outranks one of the second.
LEAD = replace(
    PARITY,
    name="lead",
    title="lead",
    meaning="members of the first outranking members of the second, above one half",
    gains=lambda a, b: PairGains(PARITY.gains(a, b).matrix / 2, -0.5, name="lead"),
    estimate=lambda m, a, b: Estimate(PARITY.estimate(m, a, b).value / 2, PARITY.estimate(m, a, b).stderr / 2),
    side=lambda chance, negative_share: chance / 2,
    pairs_in_words="{lower} leads {favoured} in {low} of 50 pairs and lags in {high}.",
    side_in_words="{first} leads {second}",
)

PEOPLE = people(600, {"A": 0.0, "B": 0.9})


@pytest.fixture(autouse=True)
def added(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(METRICS, "lead", LEAD)
    monkeypatch.setattr(_numbers, "PARTS", (0.5, 1.0))


@pytest.fixture
def audit() -> xorder.Audit:
    return xorder.audit(**PEOPLE)


def test_the_audit_has_it(audit: xorder.Audit) -> None:
    gap, parity = audit.gap("lead"), audit.gap("parity")
    assert gap.value == pytest.approx(parity.value / 2)
    assert gap.pvalue == pytest.approx(parity.pvalue, abs=1e-3)
    assert [entry["value"] for entry in audit.to_dict()["gaps"] if entry["metric"] == "lead"] == [gap.value]
    json.dumps(audit.to_dict(), allow_nan=False)
    text = str(audit)
    row = next(line.split() for line in text.splitlines() if line.startswith("lead "))
    assert row[:5] == ["lead", "A", "-", "B", f"{gap.value:+.4f}"]
    assert f"  lead: {LEAD.meaning}" in text.splitlines()


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
    package("jinja2", "report")
    page = Page(made.html())
    _, row = page.table("lead of each pair of groups")
    assert value(row[1]) == digits(gap.value, 4)
    assert "A leads B" in page.text["summary"]
    assert LEAD.meaning in page.text["appendix"]
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


@pytest.mark.parametrize("method", ["smooth", "frontier", "dp"])
def test_a_repair_closes_it(method: str) -> None:
    rows = {"sensitive_features": PEOPLE["sensitive_features"]}
    repair = xorder.XOrder(metric="lead", method=method, do_no_harm=False)
    repair.fit(PEOPLE["y_score"], PEOPLE["y_true"], **rows)
    after = xorder.audit(PEOPLE["y_true"], repair.transform(PEOPLE["y_score"], **rows), **rows)
    assert abs(repair.gap_before_) > 0.1
    assert abs(after.gap("lead").value) < 0.005
    assert repair.gap_ == pytest.approx(after.gap("lead", repair.pair_).value, abs=1e-9)
    assert repair.auc_ <= repair.bound_ + 1e-12


def test_the_command_line_knows_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    columns = zip(PEOPLE["y_score"], PEOPLE["y_true"], PEOPLE["sensitive_features"], strict=True)
    file = tmp_path / "people.csv"
    file.write_text("s,y,g\n" + "".join(f"{s},{y:d},{g}\n" for s, y, g in columns), encoding="utf-8")
    names = [str(file), "--score", "s", "--label", "y", "--group", "g"]
    assert main(["audit", *names]) == 0
    assert f"  lead: {LEAD.meaning}" in capsys.readouterr().out.splitlines()
    assert main(["fit", *names, "--metric", "lead", "-o", str(tmp_path / "map.json")]) == 0
    assert "lead" in capsys.readouterr().out
    assert xorder.load(tmp_path / "map.json").metric == "lead"
