"""What the first paragraph says: who, how much, how sure, at what cost, and no alarm on noise."""

from __future__ import annotations

from typing import Any

import pytest
from scored_people import people

import xorder
from xorder._validation import check_tables
from xorder.report import path as way
from xorder.report import report, report_tables
from xorder.report.formats import display_names
from xorder.report.words import summary


def told(numbers: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """Return the summary and all of its text."""
    found = summary(numbers, display_names(numbers["groups"]), "with the outcome")
    facts = [text for fact in found["facts"] for text in fact.values()]
    return found, " ".join([found["headline"], *found["sentences"], *found["cost"], *facts])


@pytest.fixture(autouse=True)
def few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(way, "_REPAIRS_OF_TWO", 3)
    monkeypatch.setattr(way, "_REPAIRS_OF_MANY", 3)


def test_a_clear_gap_names_who_how_much_how_sure_and_the_cost() -> None:
    drawn = people(1500, {"A": 0.0, "B": 1.0})
    made = report(**drawn)
    numbers = made.to_dict()
    found, text = told(numbers)
    assert str(made).startswith("Group B is ranked too low.\n")
    audit = xorder.audit(**drawn)
    gap = audit.gap("xauc")
    assert found["headline"] == "Group B is ranked too low"
    who, much, sure, cost = found["facts"]
    assert who["value"] == "Group B"
    assert f"{audit.positives['B']:,.0f} people with the outcome" in who["note"]
    assert much["value"] == f"{100 * gap.value:.1f} points"
    assert sure["value"] == "Not chance"
    assert f"{100 * gap.interval[0]:+.1f} to {100 * gap.interval[1]:+.1f} points; p < 0.0001" in sure["note"]
    expected = numbers["expected"]["auc"]
    assert cost["note"] == f"AUC {audit.auc:.4f} before, {expected:.4f} after"
    assert "where it is a help, such as a bed, group B goes without" in text
    assert "where it is a burden, such as a suspicion, group A bears more" in text
    for chance in (audit.xauc["A", "B"], audit.xauc["B", "A"]):
        assert f"{100 * chance:.1f} of 100" in text


def test_noise_raises_no_alarm() -> None:
    found, text = told(report(**people(700, {"A": 0.0, "B": 0.0}, seed=4)).to_dict())
    assert found["headline"] == "No gap that can be told from chance"
    assert "too low" not in found["headline"]
    assert "nothing to repair" in text
    assert "harms" not in text
    assert "no proof that there is none" in text
    assert found["facts"][0]["value"].startswith("Nobody")
    assert found["facts"][3]["value"] == "Not called for"


def test_a_small_gap_beyond_doubt_is_called_small() -> None:
    numbers = report_tables(check_tables(*people(3000, {"A": 0.0, "B": 0.3}, seed=2).values())).to_dict()
    numbers["finding"] |= {"verdict": "small", "value": 0.011, "interval": [0.006, 0.016]}
    found, text = told(numbers)
    assert found["headline"] == "Group B is ranked slightly too low"
    assert "It is small" in text


def test_a_narrow_interval_around_nothing_rules_out_more() -> None:
    numbers = report_tables(check_tables(*people(700, {"A": 0.0, "B": 0.0}, seed=4).values())).to_dict()
    numbers["finding"] |= {"interval": [-0.012, 0.034], "value": 0.011}
    assert "More than 3.4 points either way can be ruled out" in told(numbers)[1]


@pytest.mark.parametrize("metric", ["prf", "parity"])
def test_other_gaps_have_words_of_their_own(metric: str) -> None:
    drawn = people(900, {"A": 0.0, "B": 1.0})
    found, text = told(report_tables(check_tables(*drawn.values()), metric=metric).to_dict())
    audit = xorder.audit(**drawn)
    assert found["headline"] == "Group B is ranked too low"
    gap = audit.gap(metric).value
    for chance in (audit.prf["A"], audit.prf["B"]) if metric == "prf" else ((1 + gap) / 2, (1 - gap) / 2):
        assert f"{100 * chance:.1f}" in text
    assert ("whatever their outcomes" in text) == (metric == "parity")


def test_many_groups_are_counted_and_those_behind_named() -> None:
    drawn = people(1500, {"A": 0.0, "group of B": 1.5, "C": 0.0})
    found, text = told(report_tables(check_tables(*drawn.values())).to_dict())
    assert found["headline"] == "Group of B is ranked too low"
    assert "2 of 3 pairs of groups" in text
    assert "group of B (2)" in text
    assert "group group" not in text


def test_nothing_to_compare_is_said_so() -> None:
    drawn = people(80, {"A": 0.0, "B": 0.0})
    drawn["y_true"][:] = 0
    found, text = told(report(**drawn).to_dict())
    assert found["headline"] == "Nothing can be compared"
    assert found["facts"] == []
    assert "0.0" not in text


def test_an_auc_that_is_not_known_is_no_crash_for_parity() -> None:
    drawn = people(80, {"A": 0.0, "B": 3.0})
    drawn["y_true"][:] = 0
    found, text = told(report(**drawn, metric="parity").to_dict())
    assert found["headline"] == "Group B is ranked too low"
    assert found["facts"][3]["value"] == "Not known"
    assert "nan" not in text


def test_a_saved_map_speaks_for_itself() -> None:
    drawn, other = people(900, {"A": 0.0, "B": 1.0}), people(900, {"A": 0.0, "B": 1.0}, seed=1)
    repair = xorder.XOrder().fit(drawn["y_score"], drawn["y_true"], sensitive_features=drawn["sensitive_features"])
    _, here = told(report(**drawn, repair=repair).to_dict())
    found, there = told(report(**other, repair=repair).to_dict())
    assert "learnt from these very people" in here
    assert "learnt from these very people" not in there
    adjusted = repair.transform(other["y_score"], sensitive_features=other["sensitive_features"])
    after = xorder.audit(**other | {"y_score": adjusted})
    assert f"gap is {100 * after.gap('xauc').value:+.1f} points".replace("-", "−") in there
    assert f"{after.auc:.4f} after" in found["facts"][3]["note"]
