"""The lines and areas are the shares of people in each bin, of each group and class, before and after."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from sklearn.linear_model import LogisticRegression

from support.drawn_rows import Rows, rows
from support.effort import draws
from xorder import FairRanker, XOrder
from xorder.datasets import simulate_population
from xorder.exceptions import InputError
from xorder.plotting._score_shift import ScoreShiftDisplay

PEOPLE = simulate_population(800, random_state=2)


def edges_of(display: ScoreShiftDisplay) -> np.ndarray:
    middle = next(iter(display.curves["before"].values()))[0]
    half = (middle[1] - middle[0]) / 2
    return np.append(middle - half, middle[-1] + half)


@settings(max_examples=draws(25))
@given(drawn=rows())
def test_the_shares_are_those_of_the_rows(drawn: Rows) -> None:
    display = ScoreShiftDisplay.from_predictions(drawn.y, drawn.s, **drawn.options, y_adjusted=-drawn.s, bins=7)
    w = np.ones(len(drawn.y)) if drawn.w is None else drawn.w
    for stage in ("before", "after"):
        for group in drawn.groups:
            for label, share in zip((1, 0), display.curves[stage][group][1:], strict=True):
                if not w[(drawn.g == group) & (drawn.y == label)].sum():
                    assert np.isnan(share).all()
                else:
                    assert share.sum() == pytest.approx(1.0)


def test_what_is_drawn_are_the_shares_in_percent() -> None:
    repair = XOrder().fit(PEOPLE.y_score, PEOPLE.y_true, sensitive_features=PEOPLE.group)
    display = ScoreShiftDisplay.from_estimator(
        repair, PEOPLE.y_score, PEOPLE.y_true, sensitive_features=PEOPLE.group
    ).plot()
    adjusted = repair.transform(PEOPLE.y_score, sensitive_features=PEOPLE.group)
    edges = edges_of(display)
    for stage, score in (("before", PEOPLE.y_score), ("after", adjusted)):
        for group in "AB":
            for label, share in zip((1, 0), display.curves[stage][group][1:], strict=True):
                expected, _ = np.histogram(score[(PEOPLE.group == group) & (PEOPLE.y_true == label)], edges)
                np.testing.assert_allclose(share, expected / expected.sum(), atol=0.02)
            line = display.lines_[stage, group]
            np.testing.assert_allclose(line.get_ydata(), 100 * display.curves[stage][group][1])
    assert np.array_equal(display.curves["before"]["A"], display.curves["after"]["A"])
    assert not np.array_equal(display.curves["before"]["B"], display.curves["after"]["B"])


def test_a_class_that_is_missing_is_not_drawn() -> None:
    y = np.where(PEOPLE.group == "B", 0, PEOPLE.y_true)
    display = ScoreShiftDisplay.from_predictions(y, PEOPLE.y_score, sensitive_features=PEOPLE.group).plot()
    assert np.isnan(display.lines_["before", "B"].get_ydata()).all()
    assert any(text.get_text().startswith("0 of") for text in display.axes_["B"].texts)
    display.figure_.canvas.draw()


def test_far_scores_are_counted_at_the_ends() -> None:
    score = PEOPLE.y_score.copy()
    score[np.flatnonzero(PEOPLE.group == "A")[0]] = 1e6
    display = ScoreShiftDisplay.from_predictions(PEOPLE.y_true, score, sensitive_features=PEOPLE.group)
    assert edges_of(display)[-1] <= 1.01
    for share in display.curves["before"]["A"][1:]:
        assert share.sum() == pytest.approx(1.0)


def test_one_score_for_all_is_one_bin_and_no_error() -> None:
    display = ScoreShiftDisplay.from_predictions([0, 1, 0, 1], [2.0] * 4, sensitive_features=list("aabb")).plot()
    assert all(curve[1:].max() == 1 for curve in display.curves["before"].values())


def test_a_ranker_shows_its_models_score_before_and_its_own_after() -> None:
    people = simulate_population(3000, random_state=1)
    X = np.column_stack([people.y_score, people.group == "B"])
    ranker = FairRanker(LogisticRegression(), sensitive_columns=1, drop_sensitive_columns=True, cv=3)
    ranker.fit(X, people.y_true)
    display = ScoreShiftDisplay.from_estimator(ranker, X, people.y_true)
    before = np.mean([model.predict_proba(X[:, :1])[:, 1] for model in ranker.estimators_], axis=0)
    expected = ScoreShiftDisplay.from_predictions(
        people.y_true, before, sensitive_features=X[:, 1], y_adjusted=ranker.predict_proba(X)[:, 1]
    )
    for stage in ("before", "after"):
        for group in (0.0, 1.0):
            np.testing.assert_allclose(display.curves[stage][group], expected.curves[stage][group])


@pytest.mark.parametrize("bins", [0, 2.5, "ten", 10**6])
def test_bins_must_be_a_sensible_number(bins: object) -> None:
    with pytest.raises(InputError, match="bins must be a whole number from 1 to 1000"):
        ScoreShiftDisplay.from_predictions(PEOPLE.y_true, PEOPLE.y_score, sensitive_features=PEOPLE.group, bins=bins)
