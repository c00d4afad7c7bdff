"""Bins hold the people they say, with the shares and intervals of the textbook."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib import pyplot
from scipy.stats import binomtest
from sklearn.calibration import calibration_curve
from sklearn.linear_model import LogisticRegression

from support.drawn_rows import Rows, rows
from xorder import ScoreTable, XOrder
from xorder.datasets import simulate_population
from xorder.exceptions import InputError
from xorder.plotting._calibration import CalibrationByGroupDisplay, calibration_bins

PEOPLE = simulate_population(900, random_state=4)


def of_people(**options: object) -> CalibrationByGroupDisplay:
    return CalibrationByGroupDisplay.from_predictions(
        PEOPLE.y_true, PEOPLE.y_score, sensitive_features=PEOPLE.group, **options
    )


@settings(max_examples=60)
@given(drawn=rows(), bins=st.integers(1, 6))
def test_bins_part_the_people_and_never_those_of_one_score(drawn: Rows, bins: int) -> None:
    w = np.ones(len(drawn.y)) if drawn.w is None else drawn.w
    for group, table in zip(drawn.groups, drawn.tables, strict=True):
        found = calibration_bins(table, bins=bins)
        mask = drawn.g == group
        assert found.count.sum() == pytest.approx(w[mask].sum())
        assert len(found.count) <= min(bins, max(len(table), 1))
        assert (found.mean * found.count).sum() == pytest.approx((w * drawn.s)[mask].sum())
        assert (found.observed * found.count).sum() == pytest.approx((w * drawn.y)[mask].sum())
        assert (np.diff(found.mean) > 0).all()
        assert (found.low <= found.observed + 1e-9).all()
        assert (found.observed <= found.high + 1e-9).all()


def test_quantile_bins_hold_equal_numbers() -> None:
    for group, found in of_people(bins=10).bins["before"].items():
        size = int((PEOPLE.group == group).sum())
        assert len(found.count) == 10
        assert set(found.count) <= {size // 10, size // 10 + 1}
        score, label = PEOPLE.y_score[PEOPLE.group == group], PEOPLE.y_true[PEOPLE.group == group]
        order = np.argsort(score)
        first = int(found.count[0])
        assert found.mean[0] == pytest.approx(score[order[:first]].mean())
        assert found.observed[0] == label[order[:first]].mean()


def test_people_of_one_score_go_where_their_middle_lies() -> None:
    found = calibration_bins(ScoreTable.from_arrays([1, 0] * 5, [0.1] * 6 + [0.9] * 4), bins=2)
    assert found.count.tolist() == [6, 4]
    found = calibration_bins(ScoreTable.from_arrays([1, 0] * 5, [0.1] + [0.5] * 8 + [0.9]), bins=3)
    assert found.count.tolist() == [1, 8, 1]


def test_uniform_bins_are_scikit_learns() -> None:
    for group, found in of_people(bins=8, strategy="uniform").bins["before"].items():
        mask = PEOPLE.group == group
        observed, mean = calibration_curve(PEOPLE.y_true[mask], PEOPLE.y_score[mask], n_bins=8)
        np.testing.assert_allclose(found.observed, observed)
        np.testing.assert_allclose(found.mean, mean)


@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_intervals_are_wilsons(confidence: float) -> None:
    for found in of_people(confidence=confidence).bins["before"].values():
        for share, low, high, count in zip(found.observed, found.low, found.high, found.count, strict=True):
            expected = binomtest(round(share * count), int(count)).proportion_ci(confidence, method="wilson")
            assert (low, high) == pytest.approx((expected.low, expected.high))


def test_sampling_weights_widen_intervals_by_what_they_are_worth() -> None:
    weight = np.random.default_rng(0).lognormal(0, 1, PEOPLE.y_true.size)
    counts, sampling = (of_people(sample_weight=weight, weights_are=kind) for kind in ("counts", "sampling"))
    tenfold = of_people(sample_weight=10 * weight, weights_are="sampling")
    for group in "AB":
        one, other, scaled = (found.bins["before"][group] for found in (counts, sampling, tenfold))
        np.testing.assert_allclose(one.observed, other.observed)
        assert (other.high - other.low > one.high - one.low).all()
        np.testing.assert_allclose(other.low, scaled.low)
    alike = of_people(sample_weight=np.ones(PEOPLE.y_true.size), weights_are="sampling")
    np.testing.assert_allclose(alike.bins["before"]["A"].low, of_people().bins["before"]["A"].low)


def test_what_is_drawn_are_the_bins() -> None:
    repair = XOrder().fit(PEOPLE.y_score, PEOPLE.y_true, sensitive_features=PEOPLE.group)
    display = CalibrationByGroupDisplay.from_estimator(
        repair, PEOPLE.y_score, PEOPLE.y_true, sensitive_features=PEOPLE.group
    ).plot()
    assert list(display.axes_) == ["A", "B"]
    assert set(display.lines_) == {(stage, group) for stage in ("before", "after") for group in "AB"}
    for (stage, group), bars in display.lines_.items():
        found = display.bins[stage][group]
        line, _, (whiskers,) = bars
        assert np.array_equal(line.get_xdata(), found.mean)
        assert np.array_equal(line.get_ydata(), found.observed)
        ends = np.array([segment[:, 1] for segment in whiskers.get_segments()])
        np.testing.assert_allclose(ends, np.column_stack([found.low, found.high]), atol=1e-12)
        assert line.axes is display.axes_[group]
    for group, bars in display.bars_.items():
        heights = np.array([bar.get_height() for bar in bars])
        count = display.bins["after"][group].count
        np.testing.assert_allclose(heights / heights.max(), count / count.max())
    titles = [ax.get_title(loc="left") for ax in display.axes_.values()]
    assert titles == ["A (scores stay)", "B"]
    positives, everyone = int(PEOPLE.y_true[PEOPLE.group == "A"].sum()), int((PEOPLE.group == "A").sum())
    assert any(f"{positives} of {everyone} positive" in text.get_text() for text in display.axes_["A"].texts)


def test_small_groups_get_fewer_bins() -> None:
    y, s, g = PEOPLE.y_true[:80], PEOPLE.y_score[:80], ["x"] * 50 + ["y"] * 28 + ["z"] * 2
    found = CalibrationByGroupDisplay.from_predictions(y, s, sensitive_features=g).bins["before"]
    assert [len(found[group].count) for group in "xyz"] == [3, 1, 1]


def test_a_group_without_positives_or_without_weight_is_drawn_as_what_it_is() -> None:
    y = np.where(PEOPLE.group == "B", 0, PEOPLE.y_true)
    display = CalibrationByGroupDisplay.from_predictions(y, PEOPLE.y_score, sensitive_features=PEOPLE.group)
    assert (display.bins["before"]["B"].observed == 0).all()
    assert (display.bins["before"]["B"].high > 0).all()
    weightless = of_people(sample_weight=(PEOPLE.group == "A").astype(float)).plot()
    assert weightless.bins["before"]["B"].count.size == 0
    weightless.figure_.canvas.draw()


def test_the_largest_groups_are_shown_and_others_can_be_named() -> None:
    g = np.minimum(np.arange(PEOPLE.y_true.size) % 31, 19)
    display = CalibrationByGroupDisplay.from_predictions(PEOPLE.y_true, PEOPLE.y_score, sensitive_features=g).plot()
    assert len(display.axes_) == 12
    assert 19 in display.axes_
    assert "12 of 20 groups" in display.figure_.get_suptitle()
    assert list(display.plot(groups=[3, 15]).axes_) == [3, 15]
    with pytest.raises(InputError, match="groups must name some of the groups 0, 1"):
        display.plot(groups=["x"])


@pytest.mark.slow
@pytest.mark.parametrize(("groups", "panels"), [(2, 2), (5, 5), (7, 7)])
def test_spare_panels_are_taken_away(groups: int, panels: int) -> None:
    g = np.arange(PEOPLE.y_true.size) % groups
    display = CalibrationByGroupDisplay.from_predictions(PEOPLE.y_true, PEOPLE.y_score, sensitive_features=g).plot()
    assert len(display.figure_.axes) == panels


def test_axes_given_must_be_one_a_group() -> None:
    _, axes = pyplot.subplots(2, 2)
    display = of_people()
    assert list(display.plot(axes[0]).axes_.values()) == list(axes[0])
    assert display.plot(axes[1, 0], groups=["B"]).ax_ is axes[1, 0]
    with pytest.raises(InputError, match="needs 2 axes to draw into, one per group; got 4"):
        display.plot(axes)


def test_scores_must_be_probabilities() -> None:
    with pytest.raises(InputError, match=r"y_score must hold probabilities, from 0 to 1.*got scores from"):
        CalibrationByGroupDisplay.from_predictions(PEOPLE.y_true, PEOPLE.y_score * 100, sensitive_features=PEOPLE.group)
    with pytest.raises(InputError, match="y_adjusted must hold probabilities"):
        of_people(y_adjusted=PEOPLE.y_score - 1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bins": 0}, "bins must be"),
        ({"strategy": "other"}, "strategy must be"),
        ({"confidence": 95}, "confidence must lie between 0 and 1"),
        ({"weights_are": "other"}, "weights_are must be"),
    ],
)
def test_options_are_checked(options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        of_people(**options)


def test_any_classifier_with_probabilities_will_do() -> None:
    X = np.column_stack([PEOPLE.y_score, PEOPLE.group == "B"])
    model = LogisticRegression().fit(X, PEOPLE.y_true)
    display = CalibrationByGroupDisplay.from_estimator(model, X, PEOPLE.y_true, sensitive_features=PEOPLE.group)
    expected = CalibrationByGroupDisplay.from_predictions(
        PEOPLE.y_true, model.predict_proba(X)[:, 1], sensitive_features=PEOPLE.group
    )
    assert np.array_equal(display.bins["before"]["B"].mean, expected.bins["before"]["B"].mean)
