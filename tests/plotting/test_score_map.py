"""The lines are the maps that adjust scores; those that change nothing lie on the diagonal."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from xorder import FairRanker, ScoreMap, XOrder, load
from xorder.baselines import PostLogit
from xorder.datasets import simulate_population
from xorder.exceptions import InputError
from xorder.plotting._score_map import ScoreMapDisplay

PEOPLE = simulate_population(500, random_state=2)


def fitted(**settings: object) -> XOrder:
    return XOrder(**settings).fit(PEOPLE.y_score, PEOPLE.y_true, sensitive_features=PEOPLE.group)


def legend(display: ScoreMapDisplay) -> list[str]:
    return [text.get_text() for text in display.figure_.legends[0].get_texts()]


def test_the_line_of_a_group_is_what_transform_does() -> None:
    repair = fitted()
    display = ScoreMapDisplay.from_estimator(repair).plot()
    moved = display.lines_["B"]
    expected = repair.transform(moved.get_xdata(), sensitive_features=["B"] * len(moved.get_xdata()))
    np.testing.assert_allclose(moved.get_ydata(), expected)
    assert set(repair.maps_["B"].raw) <= set(moved.get_xdata())
    stays = display.lines_["A"]
    assert np.array_equal(stays.get_xdata(), stays.get_ydata())
    assert np.array_equal(stays.get_xdata(), [0.0, 1.0])


def test_the_legend_tells_how_far_scores_move() -> None:
    display = ScoreMapDisplay(
        {
            "up": ScoreMap([0.1, 0.5], [0.2, 0.75]),
            "both": ScoreMap([10.0, 20.0], [-90.0, 45.0]),
            "not": ScoreMap.identity(),
        }
    ).plot()
    assert legend(display) == [
        "up: moved by +0.100 to +0.250",
        "both: moved by -100 to +25",
        "not: stays as it is",
    ]


def test_the_diagonal_is_there_and_both_axes_show_the_same_range() -> None:
    display = ScoreMapDisplay.from_estimator(fitted()).plot()
    assert display.ax_.get_xlim() == display.ax_.get_ylim()
    diagonal = display.ax_.lines[0]
    assert np.array_equal(diagonal.get_xdata(), diagonal.get_ydata())
    assert tuple(diagonal.get_xdata()) == display.ax_.get_xlim()
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("score before", "score after")


def test_a_loaded_repair_has_the_same_lines(tmp_path) -> None:
    repair = fitted()
    repair.save(tmp_path / "map.json")
    one, other = (ScoreMapDisplay.from_estimator(found).plot() for found in (repair, load(tmp_path / "map.json")))
    for group in "AB":
        assert np.array_equal(one.lines_[group].get_xydata(), other.lines_[group].get_xydata())


def test_from_predictions_is_a_fit_and_from_estimator() -> None:
    weight = np.arange(PEOPLE.y_true.size) % 3 + 1.0
    repair = XOrder(max_gap=0.05).fit(
        PEOPLE.y_score, PEOPLE.y_true, sensitive_features=PEOPLE.group, sample_weight=weight
    )
    display = ScoreMapDisplay.from_predictions(
        PEOPLE.y_true, PEOPLE.y_score, sensitive_features=PEOPLE.group, sample_weight=weight, max_gap=0.05
    )
    assert np.array_equal(display.maps["B"].adjusted, repair.maps_["B"].adjusted)


def test_a_ranker_brings_its_repairs_maps() -> None:
    people = simulate_population(3000, random_state=1)
    X = np.column_stack([people.y_score, people.group == "B"])
    ranker = FairRanker(LogisticRegression(), sensitive_columns=1, cv=3).fit(X, people.y_true)
    assert ScoreMapDisplay.from_estimator(ranker).maps is ranker.repair_.maps_


def test_any_other_repair_is_read_off_its_scores() -> None:
    other = PostLogit().fit(PEOPLE.y_score, PEOPLE.y_true, sensitive_features=PEOPLE.group)
    with pytest.raises(InputError, match=r"PostLogit has none.*from_scores"):
        ScoreMapDisplay.from_estimator(other)
    adjusted = other.transform(PEOPLE.y_score, sensitive_features=PEOPLE.group)
    display = ScoreMapDisplay.from_scores(PEOPLE.y_score, adjusted, sensitive_features=PEOPLE.group).plot()
    for group in "AB":
        mask = PEOPLE.group == group
        order = np.argsort(PEOPLE.y_score[mask])
        line = display.lines_[group]
        np.testing.assert_allclose(line.get_xdata(), PEOPLE.y_score[mask][order])
        np.testing.assert_allclose(line.get_ydata(), adjusted[mask][order])


def test_scores_that_no_rising_map_explains_are_refused() -> None:
    for after in ([0.1, 0.2, 0.3, 0.25], [0.1, 0.3, 0.3, 0.3]):
        with pytest.raises(InputError, match="not moved by one rising map"):
            ScoreMapDisplay.from_scores([0.1, 0.2, 0.3, 0.3], after, sensitive_features=list("aaaa"))
    with pytest.raises(InputError, match="y_adjusted must have one value per row"):
        ScoreMapDisplay.from_scores([0.1, 0.2], [0.1], sensitive_features=list("aa"))


def test_a_map_of_a_million_knots_is_thinned_and_keeps_its_words() -> None:
    raw = np.linspace(0, 1, 1_000_000)
    display = ScoreMapDisplay({"a": ScoreMap(raw, raw + 0.2 * np.sqrt(raw)), "b": ScoreMap.identity()}).plot()
    line = display.lines_["a"]
    assert 500 < len(line.get_xdata()) <= 2000
    np.testing.assert_allclose(line.get_ydata(), line.get_xdata() + 0.2 * np.sqrt(line.get_xdata()), atol=1e-9)
    assert legend(display)[0] == "a: moved by +0.000 to +0.200"


def test_many_groups_keep_a_short_legend() -> None:
    maps = {n: ScoreMap([0.0, 1.0], [0.0, 1.0 + n / 100]) for n in range(40)}
    display = ScoreMapDisplay(maps).plot()
    assert len(display.lines_) == 40
    assert len(legend(display)) == 13
    assert legend(display)[-1] == "28 more groups"
