"""Those who enter and leave are counted as a list sorted by hand has them."""

from __future__ import annotations

import numpy as np
import pytest

from xorder import XOrder, audit
from xorder.datasets import simulate_population
from xorder.exceptions import InputError
from xorder.plotting import MovesDisplay

PEOPLE = simulate_population(1000, random_state=3)
ROWS = (PEOPLE.y_true, PEOPLE.y_score)
REPAIR = XOrder().fit(PEOPLE.y_score, PEOPLE.y_true, sensitive_features=PEOPLE.group)
AFTER = REPAIR.transform(PEOPLE.y_score, sensitive_features=PEOPLE.group)


def test_the_counts_are_those_of_the_sorted_list() -> None:
    display = MovesDisplay.from_predictions(*ROWS, sensitive_features=PEOPLE.group, y_adjusted=AFTER, cuts=[0.1, 50])
    for cut, places in ((0.1, 100), (50, 50)):
        above = [np.isin(np.arange(1000), np.argsort(-score)[:places]) for score in (PEOPLE.y_score, AFTER)]
        ways = (above[1] & ~above[0], above[0] & ~above[1])
        for group in "AB":
            own = PEOPLE.group == group
            expected = [(way & own & (PEOPLE.y_true == label)).sum() for way in ways for label in (0, 1)]
            assert display.moves[cut][group] == pytest.approx(expected)
        found = np.sum(list(display.moves[cut].values()), axis=0)
        assert found[:2].sum() == pytest.approx(found[2:].sum())


def test_they_are_those_of_the_audits_table_with_ties_and_weights() -> None:
    score, weight = np.round(PEOPLE.y_score, 1), 1.0 + np.arange(1000) % 2
    rows = {"sensitive_features": PEOPLE.group, "sample_weight": weight}
    repair = XOrder(do_no_harm=False).fit(score, PEOPLE.y_true, **rows)
    after = repair.transform(score, sensitive_features=PEOPLE.group)
    display = MovesDisplay.from_predictions(PEOPLE.y_true, score, **rows, y_adjusted=after)
    table = audit(PEOPLE.y_true, score, **rows).table("moves", repair=repair).rows
    for row in table:
        if row["group"] in ("A", "B"):
            cut = float(row["at"].removesuffix(" %")) / 100
            no_enter, enter, no_leave, leave = display.moves[cut][row["group"]]
            assert (enter, leave) == pytest.approx((row["positives_entering"], row["positives_leaving"]))
            assert (no_enter + enter, no_leave + leave) == pytest.approx((row["enters"], row["leaves"]))


def test_bars_reach_as_far_as_the_numbers_and_an_estimator_will_do() -> None:
    display = MovesDisplay.from_estimator(REPAIR, PEOPLE.y_score, PEOPLE.y_true, sensitive_features=PEOPLE.group).plot()
    same = MovesDisplay.from_predictions(*ROWS, sensitive_features=PEOPLE.group, y_adjusted=AFTER)
    assert display.moves == same.moves
    for cut, by_group in display.moves.items():
        for place, words in enumerate(("negatives who enter", "positives who enter")):
            widths = [bar.get_width() for bar in display.bars_[cut, words]]
            assert widths == [by_group[group][place] for group in "AB"]
    assert [ax.get_title(loc="left") for ax in display.axes_.values()] == ["1 %", "5 %", "10 %", "20 %"]


def test_two_scores_are_needed() -> None:
    with pytest.raises(InputError, match="pass those after the repair as y_adjusted"):
        MovesDisplay.from_predictions(*ROWS, sensitive_features=PEOPLE.group)
