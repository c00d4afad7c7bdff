"""What the first paragraph says: who, how much, how sure, at what cost, and no alarm on noise."""

from __future__ import annotations

import csv
import gzip
import re
from typing import Any

import numpy as np
import pytest

import xorder
from support.printed_page import Page
from support.real_data import data_file
from support.scored_people import people
from xorder._validation import check_tables
from xorder.datasets import simulate_population
from xorder.metrics._gaps import holm
from xorder.reporting import _numbers, report, report_tables
from xorder.reporting._page import display_names
from xorder.reporting._text import summary


def told(numbers: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """Return the summary and all of its text."""
    found = summary(numbers, display_names(numbers), "with the outcome")
    facts = [text for fact in found["facts"] for text in fact.values()]
    return found, " ".join([found["headline"], *found["sentences"], *found["cost"], *facts])


@pytest.fixture(autouse=True)
def few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_numbers, "PARTS", (1.0,))


@pytest.mark.slow
def test_a_clear_gap_names_who_how_much_how_sure_and_the_cost() -> None:
    drawn = people(1500, {"A": 0.0, "B": 1.0})
    made = report(**drawn)
    numbers = made.to_dict()
    found, text = told(numbers)
    assert str(made).startswith("Group B is ranked lower than group A.\n")
    audit = xorder.audit(**drawn)
    gap = audit.gap("xauc")
    assert found["headline"] == "Group B is ranked lower than group A"
    who, much, sure, cost = found["facts"]
    assert who["value"] == "Group B"
    assert f"{audit.positives['B']:,.0f} people with the outcome" in who["note"]
    assert much["value"] == f"{100 * gap.value:.1f} points"
    assert sure["value"] == "Not chance"
    assert f"{100 * gap.interval[0]:+.1f} to {100 * gap.interval[1]:+.1f} points; p < 0.0001" in sure["note"]
    expected = numbers["path"]["stops"][-1]["auc"]
    assert cost["note"] == f"AUC {audit.auc:.4f} before, {expected:.4f} after"
    assert "where it is a help, such as a bed, group B goes without" in text
    assert "where it is a burden, such as a suspicion, group A bears more" in text
    for chance in (audit.xauc["A", "B"], audit.xauc["B", "A"]):
        assert f"{100 * chance:.1f} of 100" in text


@pytest.mark.parametrize("metric", ["xauc", "prf", "parity"])
def test_what_high_means_decides_who_is_ranked_too_low_or_too_high(metric: str) -> None:
    drawn = people(900, {"A": 0.0, "B": 1.0, "C": 0.5})
    made = {high: report(**drawn, high_is=high, metric=metric) for high in (None, "help", "burden")}
    headlines = {high: told(found.to_dict())[0]["headline"] for high, found in made.items()}
    assert headlines == {
        None: "Group B is ranked lower than group A",
        "help": "Group B is ranked too low",
        "burden": "Group A is ranked too high",
    }
    text = {high: told(found.to_dict())[1] for high, found in made.items()}
    assert not re.search("too (low|high)", text[None] + Page(made[None].html()).everything)
    assert "help, such as a bed, group B goes without; where it is a burden" in text[None]
    assert "A high place is a help here: group B gets less of it" in text["help"]
    assert "too high" not in text["help"]
    assert "A high place is a burden here: group A bears more of it" in text["burden"]
    assert "too low" not in text["burden"]
    who = {high: told(found.to_dict())[0]["facts"][0] for high, found in made.items()}
    assert [fact["value"] for fact in who.values()] == ["Group B", "Group B", "Group A"]
    audit = xorder.audit(**drawn)
    of = audit.positives["A"] + audit.negatives["A"] if metric == "parity" else audit.negatives["A"]
    without = "" if metric == "parity" else " without the outcome"
    assert who["burden"]["note"].startswith(f"{of:,.0f} people{without}, against group B")
    side = {high: re.search("On the (.*) side of so many of them: (.)", said) for high, said in text.items()}
    assert [found and found.groups() for found in side.values()] == [("lower", "B"), ("lower", "B"), ("higher", "A")]


def test_a_burden_is_counted_from_those_who_bear_it() -> None:
    drawn = people(900, {"A": 0.0, "B": 1.0})
    audit = xorder.audit(**drawn)
    said = told(report(**drawn, high_is="burden").to_dict())[1]
    high, low = 100 * (1 - audit.xauc["B", "A"]), 100 * (1 - audit.xauc["A", "B"])
    words = f"group A without the outcome is ranked above someone of group B with it in {high:.1f} of 100 pairs"
    assert f"{words}, and with the groups swapped in {low:.1f}." in said


@pytest.mark.slow
def test_compas_is_not_told_backwards() -> None:
    with gzip.open(data_file("compas/compas-scores-two-years.csv.gz"), "rt", encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["race"] in ("African-American", "Caucasian")]
    label, score = ([int(row[name]) for row in rows] for name in ("two_year_recid", "decile_score"))
    race = [row["race"] for row in rows]
    without, burden = (report(label, score, sensitive_features=race, high_is=high) for high in (None, "burden"))
    assert str(without).startswith("Group Caucasian is ranked lower than group African-American.")
    assert "too low" not in str(without)
    assert "where it is a burden, such as a suspicion, group African-American bears more of it" in str(without)
    assert str(burden).startswith("Group African-American is ranked too high.")
    assert "group African-American without the outcome is ranked above someone of group Caucasian with it" in str(
        burden
    )
    audit = xorder.audit(label, score, sensitive_features=race)
    assert f"in {100 * (1 - audit.xauc['Caucasian', 'African-American']):.1f} of 100 pairs" in str(burden)


@pytest.mark.slow
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
    numbers["finding"] |= {"verdict": "small", "value": 0.011, "allowed_interval": [0.006, 0.016]}
    found, text = told(numbers)
    assert found["headline"] == "Group B is ranked slightly lower than group A"
    assert "It is small" in text


@pytest.mark.slow
def test_a_narrow_interval_around_nothing_rules_out_more() -> None:
    numbers = report_tables(check_tables(*people(700, {"A": 0.0, "B": 0.0}, seed=4).values())).to_dict()
    numbers["finding"] |= {"allowed_interval": [-0.012, 0.034], "value": 0.011}
    assert "More than 3.4 points either way can be ruled out" in told(numbers)[1]


@pytest.mark.parametrize("metric", ["prf", "parity"])
def test_other_gaps_have_words_of_their_own(metric: str) -> None:
    drawn = people(900, {"A": 0.0, "B": 1.0})
    found, text = told(report_tables(check_tables(*drawn.values()), metric=metric).to_dict())
    audit = xorder.audit(**drawn)
    assert found["headline"] == "Group B is ranked lower than group A"
    gap = audit.gap(metric).value
    for chance in (audit.prf["A"], audit.prf["B"]) if metric == "prf" else ((1 + gap) / 2, (1 - gap) / 2):
        assert f"{100 * chance:.1f}" in text
    assert ("whatever their outcomes" in text) == (metric == "parity")


@pytest.mark.slow
def test_many_groups_are_counted_and_those_behind_named() -> None:
    drawn = people(1500, {"A": 0.0, "group of B": 1.5, "C": 0.0})
    found, text = told(report_tables(check_tables(*drawn.values())).to_dict())
    assert found["headline"] == "Group of B is ranked lower than group A"
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


def test_without_any_outcome_parity_is_too_few_to_say_and_no_crash() -> None:
    drawn = people(80, {"A": 0.0, "B": 3.0})
    drawn["y_true"][:] = 0
    found, text = told(report(**drawn, metric="parity").to_dict())
    assert found["headline"] == "Group B looks ranked lower than group A, but there are too few people to say"
    assert "0 people of group A with the outcome" in text
    assert found["facts"][3]["value"] == "Not known"
    assert "nan" not in text


def test_a_saved_map_speaks_for_itself() -> None:
    drawn, other = people(900, {"A": 0.0, "B": 1.0}), people(900, {"A": 0.0, "B": 1.0}, seed=1)
    repair = xorder.XOrder().fit(drawn["y_score"], drawn["y_true"], sensitive_features=drawn["sensitive_features"])
    _, here = told(report(**drawn, repair=repair).to_dict())
    found, there = told(report(**other, repair=repair).to_dict())
    assert "fitted to these very people" in here
    assert "fitted to these very people" not in there
    adjusted = repair.transform(other["y_score"], sensitive_features=other["sensitive_features"])
    after = xorder.audit(**other | {"y_score": adjusted})
    assert f"gap is {100 * after.gap('xauc').value:+.1f} points".replace("-", "−") in there
    assert f"{after.auc:.4f} after" in found["facts"][3]["note"]


@pytest.mark.slow
def test_a_share_that_falls_at_the_top_is_said_and_no_cost_is_not_claimed() -> None:
    drawn = simulate_population(4000)
    numbers = report(drawn.y_true, drawn.y_score, sensitive_features=drawn.group).to_dict()
    assert "At the top" not in told(numbers)[1]
    for entry in numbers["top"]:
        entry["before"][1]["share"], entry["after"][1]["share"] = 0.275, 0.05
    found, text = told(numbers)
    assert "its share of the first 1 % falls from 27.5 % to 5.0 %" in text
    assert "goes the other way for group B" in text
    assert "smaller share at the top" in found["facts"][3]["note"]
    assert "works against group B" in told(numbers | {"high_is": "help"})[1]
    for entry in numbers["top"]:
        entry["before"][0]["share"], entry["after"][0]["share"] = 0.725, 0.95
    found, text = told(numbers | {"high_is": "burden"})
    assert "works against group A: its share of the first 1 % rises from 72.5 % to 95.0 %" in text
    assert "larger share at the top" in found["facts"][3]["note"]


@pytest.mark.slow
def test_a_share_that_rises_at_the_top_is_no_warning() -> None:
    numbers = report(**people(900, {"A": 0.0, "B": 1.0})).to_dict()
    for entry in numbers["top"]:
        entry["before"][1]["share"], entry["after"][1]["share"] = 0.1, 0.2
    assert "At the top" not in told(numbers)[1]


def test_a_score_that_is_the_outcome_shows_no_gap_and_is_doubted() -> None:
    drawn = people(300, {"A": 0.0, "B": 0.0})
    found, text = told(report(**drawn | {"y_score": drawn["y_true"].astype(float)}).to_dict())
    assert found["headline"] == "No gap was seen"
    assert "may be the outcome itself" in text


@pytest.mark.parametrize(
    ("shifts", "headline", "words", "tile"),
    [
        ({"A": 0.0, "B": 0.0}, "but the saved map opens one", "opens a gap", "It opens a gap"),
        ({"A": 1.0, "B": 0.0}, "the saved map makes that worse", "widens the gap", "It widens the gap"),
        ({"A": 0.0, "B": 0.4}, "the saved map turns that round", "turns the gap round", "It turns the gap round"),
    ],
)
def test_a_map_from_other_people_that_does_harm_is_said_to(
    shifts: dict[str, float], headline: str, words: str, tile: str
) -> None:
    learnt, drawn = people(3000, {"A": 0.0, "B": 1.2}, seed=5), people(3000, shifts, seed=3)
    repair = xorder.XOrder().fit(learnt["y_score"], learnt["y_true"], sensitive_features=learnt["sensitive_features"])
    found, text = told(report(**drawn, repair=repair).to_dict())
    adjusted = repair.transform(drawn["y_score"], sensitive_features=drawn["sensitive_features"])
    gap = xorder.audit(**drawn | {"y_score": adjusted}).gap("xauc", ("B", "A"))
    assert headline in found["headline"]
    assert words in text
    assert f"group A is ranked lower than group B, by {100 * gap.value:.1f} points (95 % interval " in text
    assert f"{100 * gap.interval[0]:+.1f} to {100 * gap.interval[1]:+.1f}" in text
    assert found["facts"][3]["value"] == tile


@pytest.mark.slow
def test_of_many_pairs_interval_and_p_allow_for_all() -> None:
    drawn = people(700, {f"g{number}": 0.0 for number in range(5)}, seed=1)
    numbers = report(**drawn).to_dict()
    finding = numbers["finding"]
    found, _ = told(numbers)
    gap = xorder.audit(**drawn, confidence=1 - 0.05 / 10).gap(
        "xauc", tuple(numbers["groups"][number] for number in finding["pair"])
    )
    assert finding["allowed_interval"] == pytest.approx(gap.interval)
    by_holm = holm([each.pvalue for each in xorder.audit(**drawn).gaps if each.metric == "xauc"])
    assert finding["allowed_pvalue"] in by_holm
    assert f"99.5 % interval {100 * gap.interval[0]:+.1f} to".replace("-", "−") in found["facts"][2]["note"]
    assert "allowing for the 10 pairs looked at" in found["facts"][2]["note"]
    assert "allowing for the 10 pairs looked at" in " ".join(found["sentences"])
    assert (finding["allowed_interval"][0] > 0) == (finding["verdict"] == "clear")


@pytest.mark.slow
def test_too_few_people_get_one_verdict() -> None:
    drawn = people(60, {"A": 0.0, "B": 2.0}, seed=1)
    late = np.flatnonzero((drawn["sensitive_features"] == "B") & (drawn["y_true"] == 1))[8:]
    drawn["y_true"][late] = 0
    found, text = told(report(**drawn).to_dict())
    assert found["headline"] == "Group B looks ranked lower than group A, but there are too few people to say"
    assert [fact["value"] for fact in found["facts"]][::2] == ["Perhaps group B", "Too few to say"]
    assert "8 people of group B with the outcome" in text
    assert "Collect more" in text
    assert "nothing to repair" not in text
    assert "Nobody" not in text


def test_a_group_without_the_outcome_is_named() -> None:
    drawn = people(200, {"A": 0.0, "B": 1.0})
    drawn["y_true"][drawn["sensitive_features"] == "B"] = 0
    assert "Group B has nobody with the outcome." in told(report(**drawn).to_dict())[1]
    assert "has nobody" not in told(report(**drawn, metric="parity").to_dict())[1]


@pytest.mark.slow
def test_sums_of_weights_are_rounded_and_not_called_people() -> None:
    drawn = people(400, {"A": 0.0, "B": 1.0})
    weight = np.random.default_rng(0).uniform(0.2, 1.8, 400)
    made = report(**drawn, sample_weight=weight)
    behind = weight[(drawn["sensitive_features"] == "B") & (drawn["y_true"] == 1)].sum()
    assert f"of weight {behind:.1f}, against" in told(made.to_dict())[0]["facts"][0]["note"]
    page = Page(made.html())
    assert page.table("Who was looked at")[0][1] == "weight"
    assert f"people of weight {weight.sum():.1f}, 2 groups" in page.text["header"]


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["xauc", "prf", "parity"])
def test_ties_are_said_to_count_one_half_where_there_are_any(metric: str) -> None:
    drawn = people(300, {"A": 0.0, "B": 1.0})
    tied = drawn | {"y_score": drawn["y_score"].round(1)}
    assert "equal score count one half" in told(report(**tied, metric=metric).to_dict())[1]
    assert "equal score" not in told(report(**drawn, metric=metric).to_dict())[1]


@pytest.mark.slow
def test_its_repr_tells_what_was_found() -> None:
    drawn = people(900, {"A": 0.0, "B": 1.0})
    gap = xorder.audit(**drawn).gap("xauc").value
    assert repr(report(**drawn)) == f"<Report: Group B is ranked lower than group A; 2 groups, xAUC gap {gap:.4f}>"
