"""The hills are the shares of people in each bin, of each group and class, before and after."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from matplotlib import pyplot
from sklearn.linear_model import LogisticRegression

from support.drawn_rows import Rows, rows
from xorder import FairRanker, XOrder
from xorder.datasets import simulate_population
from xorder.exceptions import InputError
from xorder.plotting._score_shift import ScoreShiftDisplay

PEOPLE = simulate_population(800, random_state=2)


@settings(max_examples=25)
@given(drawn=rows())
def test_the_shares_are_those_of_the_rows(drawn: Rows) -> None:
    display = ScoreShiftDisplay.from_predictions(drawn.y, drawn.s, **drawn.options, y_adjusted=-drawn.s, bins=7)
    w = np.ones(len(drawn.y)) if drawn.w is None else drawn.w
    for stage, score in (("before", drawn.s), ("after", -drawn.s)):
        for group in drawn.groups:
            for label, share in enumerate(display.shares[stage][group]):
                mask = (drawn.g == group) & (drawn.y == label)
                if not w[mask].sum():
                    assert np.isnan(share).all()
                    continue
                clipped = np.clip(score[mask], display.edges[0], display.edges[-1])
                expected, _ = np.histogram(clipped, display.edges, weights=w[mask])
                np.testing.assert_allclose(share, expected / w[mask].sum(), atol=1e-12)
                assert share.sum() == pytest.approx(1.0)


def test_a_score_on_an_edge_counts_above_it_and_the_last_edge_below() -> None:
    score = np.array([0.0, 0.25, 0.5, 0.75, 1.0, 1.0])
    display = ScoreShiftDisplay.from_predictions([0] * 6, score, sensitive_features=["a"] * 6, bins=4)
    assert np.array_equal(display.edges, [0, 0.25, 0.5, 0.75, 1])
    np.testing.assert_allclose(display.shares["before"]["a"][0], np.array([1, 1, 1, 3]) / 6)


def test_a_class_that_is_missing_is_not_drawn() -> None:
    y = np.where(PEOPLE.group == "B", 0, PEOPLE.y_true)
    display = ScoreShiftDisplay.from_predictions(y, PEOPLE.y_score, sensitive_features=PEOPLE.group).plot()
    negatives, positives = display.stairs_["before", "B"]
    assert np.isfinite(negatives.get_data().values).all()
    assert np.isnan(positives.get_data().values).all()
    assert "0 positive" in display.ax_.get_yticklabels()[1].get_text()
    display.figure_.canvas.draw()


def test_the_steps_drawn_are_the_shares_each_on_its_groups_line() -> None:
    repair = XOrder().fit(PEOPLE.y_score, PEOPLE.y_true, sensitive_features=PEOPLE.group)
    display = ScoreShiftDisplay.from_estimator(
        repair, PEOPLE.y_score, PEOPLE.y_true, sensitive_features=PEOPLE.group
    ).plot()
    adjusted = repair.transform(PEOPLE.y_score, sensitive_features=PEOPLE.group)
    assert len(display.axes_) == 2
    for stage, score in (("before", PEOPLE.y_score), ("after", adjusted)):
        for row, group in enumerate("AB"):
            for label, stairs in enumerate(display.stairs_[stage, group]):
                values, edges, base = stairs.get_data()
                assert base == -row
                heights = values - base
                expected, _ = np.histogram(score[(PEOPLE.group == group) & (PEOPLE.y_true == label)], edges)
                np.testing.assert_allclose(heights / heights.sum(), expected / expected.sum(), atol=1e-9)
            tallest = max(float((stairs.get_data().values + row).max()) for stairs in display.stairs_[stage, group])
            assert tallest == pytest.approx(0.85)
    assert np.array_equal(display.shares["before"]["A"], display.shares["after"]["A"])
    assert not np.array_equal(display.shares["before"]["B"], display.shares["after"]["B"])


def test_medians_and_counts_are_those_of_the_rows() -> None:
    weight = np.arange(PEOPLE.y_true.size) % 3
    display = ScoreShiftDisplay.from_predictions(
        PEOPLE.y_true, PEOPLE.y_score, sensitive_features=PEOPLE.group, sample_weight=weight
    )
    for group in "AB":
        for label in (0, 1):
            mask = (PEOPLE.group == group) & (PEOPLE.y_true == label)
            people = np.sort(np.repeat(PEOPLE.y_score[mask], weight[mask]))
            assert display.counts[group][label] == people.size
            assert display.medians["before"][group][label] == people[(people.size - 1) // 2]


@pytest.mark.slow
def test_far_scores_are_counted_at_the_ends_and_told() -> None:
    score = PEOPLE.y_score.copy()
    score[np.flatnonzero(PEOPLE.group == "A")[0]] = 1e6
    display = ScoreShiftDisplay.from_predictions(PEOPLE.y_true, score, sensitive_features=PEOPLE.group).plot()
    assert display.edges[-1] <= 1
    assert display.beyond["before"] >= 1
    for share in display.shares["before"]["A"]:
        assert share.sum() == pytest.approx(1.0)
    assert f"{display.beyond['before']:g} scores beyond the ends" in display.ax_.get_xlabel()
    near = ScoreShiftDisplay.from_predictions(PEOPLE.y_true, PEOPLE.y_score, sensitive_features=PEOPLE.group).plot()
    assert near.beyond == {"before": 0}
    assert "beyond" not in near.ax_.get_xlabel()


def test_one_score_for_all_is_one_bin_and_no_error() -> None:
    y, g = [0, 1, 0, 1], list("aabb")
    display = ScoreShiftDisplay.from_predictions(y, [2.0] * 4, sensitive_features=g).plot()
    assert display.edges[0] < 2 < display.edges[-1]
    assert sum(share.max() for found in display.shares["before"].values() for share in found) == 4


def test_without_a_repair_there_is_one_axis() -> None:
    X = np.column_stack([PEOPLE.y_score, PEOPLE.group == "B"])
    model = LogisticRegression().fit(X, PEOPLE.y_true)
    display = ScoreShiftDisplay.from_estimator(model, X, PEOPLE.y_true, sensitive_features=PEOPLE.group).plot()
    assert list(display.shares) == ["before"]
    assert len(display.axes_) == 1


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
    np.testing.assert_allclose(display.edges, expected.edges)
    for stage in ("before", "after"):
        for group in (0.0, 1.0):
            np.testing.assert_allclose(display.shares[stage][group], expected.shares[stage][group])


def test_axes_given_must_be_one_a_stage() -> None:
    _, axes = pyplot.subplots(1, 2)
    both = ScoreShiftDisplay.from_predictions(
        PEOPLE.y_true, PEOPLE.y_score, sensitive_features=PEOPLE.group, y_adjusted=PEOPLE.y_score
    )
    assert both.plot(axes).axes_ == list(axes)
    _, three = pyplot.subplots(1, 3)
    with pytest.raises(InputError, match="needs 2 axes to draw into, one before and one after; got 3"):
        both.plot(three)


@pytest.mark.parametrize("bins", [0, 2.5, "ten", 10**6])
def test_bins_must_be_a_sensible_number(bins: object) -> None:
    with pytest.raises(InputError, match="bins must be a whole number from 1 to 1000"):
        ScoreShiftDisplay.from_predictions(PEOPLE.y_true, PEOPLE.y_score, sensitive_features=PEOPLE.group, bins=bins)
