"""The picture of cuts shows what the audit says of them, and what rows sorted by hand give."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matplotlib import pyplot

import xorder
from support.scored_people import people
from xorder import Threshold
from xorder.exceptions import InputError
from xorder.plotting import CutGapDisplay

TWO = people(900, {"A": 0.0, "B": 0.9})


def texts(ax: Any) -> str:
    return " ".join(" ".join([ax.get_title(loc="left"), *(text.get_text() for text in ax.texts)]).split())


def test_sensitivities_are_those_of_walking_down_the_list() -> None:
    found = CutGapDisplay.from_predictions(**TWO)
    falling = np.argsort(-TWO["y_score"])
    for group, values in found.sensitivity.items():
        positive = (TWO["y_true"] == 1) & (TWO["sensitive_features"] == group)
        above = np.append(0, np.cumsum(positive[falling])) / positive.sum()
        np.testing.assert_allclose(values, np.interp(found.shares * 900, np.arange(901), above), atol=1e-12)


def test_levels_of_a_score_are_joined_by_straight_lines() -> None:
    deciles = TWO | {"y_score": np.floor(10 * TWO["y_score"])}
    found = CutGapDisplay.from_predictions(**deciles)
    ends = np.array([np.mean(deciles["y_score"] >= level) for level in range(10, -1, -1)])
    for group, values in found.sensitivity.items():
        scores = deciles["y_score"][(TWO["y_true"] == 1) & (TWO["sensitive_features"] == group)]
        above = [np.mean(scores >= level) for level in range(10, -1, -1)]
        np.testing.assert_allclose(values, np.interp(found.shares, ends, above), atol=1e-12)


def test_the_worst_cut_its_band_and_the_cuts_to_mark_are_those_of_the_audit() -> None:
    audit = xorder.audit(**TWO, cuts=[0.05, 200, Threshold(0.5)], confidence=0.9)
    found = CutGapDisplay.from_audit(audit)
    assert found.worst.to_dict() == audit.cut_gap().to_dict()
    low, high = found.worst.interval
    assert found.half_width == pytest.approx((high - low) / 2)
    assert found.confidence == 0.9
    assert found.cuts == {cut: audit.cut_gap(cut, ("A", "B")) for cut in audit.cuts}
    first, second = found.sensitivity.values()
    # Drawn where it is: no cut on the curve is worse, and the worst is on it.
    assert np.abs(first - second).max() == pytest.approx(found.worst.value)
    again = CutGapDisplay.from_predictions(**TWO, cuts=audit.cuts, confidence=0.9)
    assert again.worst.to_dict() == found.worst.to_dict()
    assert (again.cuts, again.half_width) == (found.cuts, found.half_width)


def test_the_group_that_is_found_more_often_comes_first_unless_a_pair_is_named() -> None:
    turned = TWO | {"sensitive_features": np.where(TWO["sensitive_features"] == "A", "Z", "B")}
    assert CutGapDisplay.from_predictions(**turned).worst.pair == ("Z", "B")
    named = CutGapDisplay.from_predictions(**turned, pair=("B", "Z"))
    assert named.worst.pair == ("B", "Z")
    assert named.worst.value < 0
    with pytest.raises(InputError, match="pair must be two of the groups 'B', 'Z'; got"):
        CutGapDisplay.from_predictions(**turned, pair=("B", "C"))


@pytest.mark.slow
def test_the_picture_names_the_worst_cut_and_the_cuts_of_the_user() -> None:
    found = CutGapDisplay.from_predictions(**TWO, cuts=[0.05, 300, Threshold(0.2)], name="risk").plot()
    upper, lower = found.axes_
    assert "Who is found above each cut, risk" in texts(upper)
    worst = found.worst
    assert f"worst cut: the first {100 * worst.cut:.1f} % of the list" in texts(upper)
    assert f"{100 * worst.rates[0]:.0f} % of the positives of A and {100 * worst.rates[1]:.0f} %" in texts(upper)
    assert {"5 %", "300 places", "score from 0.2"} <= {text.get_text() for text in upper.texts}
    assert f"at the worst cut {100 * worst.value:+.1f} points" in texts(lower)
    for ax in (upper, lower):
        assert {100 * gap.cut for gap in found.cuts.values()} <= {line.get_xdata()[0] for line in ax.lines}
    np.testing.assert_array_equal(found.gap_line_.get_ydata(), 100 * (found.sensitivity["A"] - found.sensitivity["B"]))


def test_the_band_is_marked_where_it_leaves_out_0() -> None:
    found = CutGapDisplay.from_predictions(**people(4000, {"A": 0.0, "B": 0.9})).plot()
    whole, clear = (np.concatenate([path.vertices for path in band.get_paths()]) for band in found.band_)
    assert clear[:, 1].min() > 0
    assert whole[:, 1].min() < 0
    assert 0 < clear[:, 0].min() < 100 * found.worst.cut < clear[:, 0].max() < 100
    fair = CutGapDisplay.from_predictions(**people(400, {"A": 0.0, "B": 0.0}, 1)).plot()
    assert [len(band.get_paths()) > 0 for band in fair.band_] == [True, False]


def test_of_few_rows_there_is_no_band_and_of_no_positives_no_curve() -> None:
    found = CutGapDisplay.from_predictions(**people(30, {"A": 0.0, "B": 0.9})).plot()
    assert np.isnan(found.half_width)
    assert "too few positives" in texts(found.axes_[1])
    none = TWO | {"y_true": np.where(TWO["sensitive_features"] == "A", TWO["y_true"], 0)}
    lacking = CutGapDisplay.from_predictions(**none).plot()
    assert np.isnan(lacking.sensitivity["B"]).all()
    assert "not known: A or B has no positives" in texts(lacking.axes_[0])
    lacking.figure_.canvas.draw()


@pytest.mark.slow
def test_of_many_groups_twelve_have_a_look_and_the_pair_is_among_them() -> None:
    found = CutGapDisplay.from_predictions(**people(3000, {f"g{n:02}": 0.2 * n for n in range(15)})).plot()
    shown = [text.get_text() for text in found.figure_.legends[0].get_texts()]
    grey = 3 - len({"g12", "g13", "g14"} & {*found.worst.pair})
    assert f"{grey} more groups" in shown
    assert {*found.worst.pair} <= {*shown}
    widths = {group: line.get_linewidth() for group, line in found.lines_.items()}
    assert {group for group, width in widths.items() if width == max(widths.values())} == {*found.worst.pair}


def test_an_audit_without_rows_and_a_single_group_are_refused() -> None:
    audit = xorder.audit(**TWO)
    object.__setattr__(audit, "_tables", None)
    with pytest.raises(InputError, match="holds no tables to cut"):
        CutGapDisplay.from_audit(audit)
    with pytest.raises(InputError, match="two groups or more; got 1"):
        CutGapDisplay.from_predictions(**TWO | {"sensitive_features": np.full(900, "A")})


def test_one_axis_is_split_into_two_that_stay_in_its_place() -> None:
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(12, 6))
    found = CutGapDisplay.from_predictions(**TWO).plot(ax=right)
    figure.canvas.draw()
    upper, lower = (ax.get_window_extent() for ax in found.axes_)
    assert lower.y1 < upper.y0
    assert left.get_window_extent().x1 < upper.x0
    assert not right.axison


def test_from_estimator_shows_the_score_that_comes_out() -> None:
    repair = xorder.XOrder().fit(TWO["y_score"], TWO["y_true"], sensitive_features=TWO["sensitive_features"])
    found = CutGapDisplay.from_estimator(
        repair, TWO["y_score"], TWO["y_true"], sensitive_features=TWO["sensitive_features"], cuts=[0.1]
    )
    after = repair.transform(TWO["y_score"], sensitive_features=TWO["sensitive_features"])
    assert found.worst.to_dict() == CutGapDisplay.from_predictions(**TWO | {"y_score": after}).worst.to_dict()
    assert list(found.cuts) == [0.1]
