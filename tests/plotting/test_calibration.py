"""The curves drawn are those of the audit's own table of calibration."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib import pyplot
from sklearn.linear_model import LogisticRegression

from xorder import XOrder, audit
from xorder.datasets import simulate_population
from xorder.exceptions import InputError
from xorder.plotting import CalibrationByGroupDisplay

PEOPLE = simulate_population(900, random_state=4)
FOUND = audit(PEOPLE.y_true, PEOPLE.y_score, sensitive_features=PEOPLE.group)


def of_people(**options: object) -> CalibrationByGroupDisplay:
    return CalibrationByGroupDisplay.from_predictions(
        PEOPLE.y_true, PEOPLE.y_score, sensitive_features=PEOPLE.group, **options
    )


def test_what_is_drawn_is_the_table_of_the_audit() -> None:
    display = CalibrationByGroupDisplay.from_audit(FOUND).plot()
    rows = FOUND.table("calibration_curve").rows
    for group in "AB":
        own = [row for row in rows if row["group"] == group]
        line = display.lines_["before", group]
        np.testing.assert_array_equal(line.get_xdata(), [row["score"] for row in own])
        np.testing.assert_array_equal(line.get_ydata(), [row["observed"] for row in own])
        np.testing.assert_array_equal(
            display.curves["before"][group][2:], [[r[e] for r in own] for e in ("low", "high")]
        )
        assert line.axes is display.axes_[group]
        positives, everyone = FOUND.positives[group], FOUND.positives[group] + FOUND.negatives[group]
        assert any(f"{positives:g} of {everyone:g} positive" in text.get_text() for text in line.axes.texts)
    assert [ax.get_title(loc="left") for ax in display.axes_.values()] == ["A", "B"]


def test_before_and_after_are_two_lines_and_rows_make_the_same_as_an_audit() -> None:
    repair = XOrder().fit(PEOPLE.y_score, PEOPLE.y_true, sensitive_features=PEOPLE.group)
    display = CalibrationByGroupDisplay.from_estimator(
        repair, PEOPLE.y_score, PEOPLE.y_true, sensitive_features=PEOPLE.group
    ).plot()
    assert set(display.lines_) == {(stage, group) for stage in ("before", "after") for group in "AB"}
    alone = CalibrationByGroupDisplay.from_audit(FOUND)
    np.testing.assert_array_equal(display.curves["before"]["B"], alone.curves["before"]["B"])
    np.testing.assert_allclose(display.curves["after"]["A"], alone.curves["before"]["A"])
    assert not np.array_equal(display.curves["after"]["B"], display.curves["before"]["B"])


def test_a_group_without_positives_has_no_curve_and_says_so() -> None:
    y = np.where(PEOPLE.group == "B", 0, PEOPLE.y_true)
    display = CalibrationByGroupDisplay.from_predictions(y, PEOPLE.y_score, sensitive_features=PEOPLE.group).plot()
    assert display.curves["before"]["B"].shape == (4, 0)
    assert any("too few to draw" in text.get_text() for text in display.axes_["B"].texts)
    display.figure_.canvas.draw()


@pytest.mark.slow
def test_the_largest_groups_are_shown_and_others_can_be_named() -> None:
    g = np.minimum(np.arange(PEOPLE.y_true.size) % 22, 13)
    display = CalibrationByGroupDisplay.from_predictions(PEOPLE.y_true, PEOPLE.y_score, sensitive_features=g).plot()
    assert len(display.axes_) == 12
    assert 13 in display.axes_
    assert "12 of 14 groups" in display.figure_.get_suptitle()
    assert list(display.plot(groups=[3, 12]).axes_) == [3, 12]
    with pytest.raises(InputError, match="groups must name some of the groups 0, 1"):
        display.plot(groups=["x"])


@pytest.mark.slow
@pytest.mark.parametrize("groups", [2, 5, 7])
def test_spare_panels_are_taken_away(groups: int) -> None:
    g = np.arange(PEOPLE.y_true.size) % groups
    display = CalibrationByGroupDisplay.from_predictions(PEOPLE.y_true, PEOPLE.y_score, sensitive_features=g).plot()
    assert len(display.figure_.axes) == groups


def test_axes_given_must_be_one_a_group() -> None:
    _, axes = pyplot.subplots(2, 2)
    display = CalibrationByGroupDisplay.from_audit(FOUND)
    assert list(display.plot(axes[0]).axes_.values()) == list(axes[0])
    assert display.plot(axes[1, 0], groups=["B"]).ax_ is axes[1, 0]
    with pytest.raises(InputError, match="needs 2 axes to draw into, one per group; got 4"):
        display.plot(axes)


def test_scores_must_be_probabilities_and_options_known() -> None:
    with pytest.raises(InputError, match="need scores that are probabilities"):
        CalibrationByGroupDisplay.from_predictions(PEOPLE.y_true, PEOPLE.y_score * 100, sensitive_features=PEOPLE.group)
    with pytest.raises(InputError, match="need scores that are probabilities"):
        of_people(y_adjusted=PEOPLE.y_score - 1)
    with pytest.raises(InputError, match="confidence must lie between 0 and 1"):
        of_people(confidence=95)
    with pytest.raises(InputError, match="weights_are must be"):
        of_people(weights_are="other")


def test_any_classifier_with_probabilities_will_do() -> None:
    X = np.column_stack([PEOPLE.y_score, PEOPLE.group == "B"])
    model = LogisticRegression().fit(X, PEOPLE.y_true)
    display = CalibrationByGroupDisplay.from_estimator(model, X, PEOPLE.y_true, sensitive_features=PEOPLE.group)
    expected = CalibrationByGroupDisplay.from_predictions(
        PEOPLE.y_true, model.predict_proba(X)[:, 1], sensitive_features=PEOPLE.group
    )
    assert np.array_equal(display.curves["before"]["B"], expected.curves["before"]["B"])
