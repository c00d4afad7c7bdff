"""On axes that the user brings nothing gets lost: legends are seen, and one axis is enough."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure

from xorder import XOrder
from xorder.datasets import simulate_population
from xorder.exceptions import InputError
from xorder.plotting import (
    CalibrationByGroupDisplay,
    CrossRocDisplay,
    CutGapDisplay,
    GapDisplay,
    MovesDisplay,
    NetBenefitDisplay,
    ScoreMapDisplay,
    ScoreShiftDisplay,
    TradeoffDisplay,
)

PEOPLE = simulate_population(400, random_state=2)
WITH_LEGEND = [
    CalibrationByGroupDisplay,
    CrossRocDisplay,
    CutGapDisplay,
    GapDisplay,
    MovesDisplay,
    NetBenefitDisplay,
    ScoreMapDisplay,
    ScoreShiftDisplay,
    TradeoffDisplay,
]
SPLIT = (ScoreShiftDisplay, CalibrationByGroupDisplay, NetBenefitDisplay, MovesDisplay)


def made(display: Any, group: Any = PEOPLE.group) -> Any:
    options: dict[str, Any] = {"y_adjusted": PEOPLE.y_score**2} if display in SPLIT else {}
    if display is ScoreMapDisplay:
        options = {"do_no_harm": False}
    if display is MovesDisplay:
        options["cuts"] = [0.1, 0.3]
    return display.from_predictions(PEOPLE.y_true, PEOPLE.y_score, sensitive_features=group, **options)


def legends(figure: Any) -> list[Any]:
    return [ax.get_legend() for ax in figure.axes if ax.get_legend() is not None]


def assert_legends_are_seen(figure: Any) -> None:
    figure.canvas.draw()
    assert legends(figure)
    for legend in legends(figure):
        assert legend.get_texts()
        box = legend.get_window_extent()
        assert figure.bbox.x0 <= box.x0 < box.x1 <= figure.bbox.x1
        assert figure.bbox.y0 <= box.y0 < box.y1 <= figure.bbox.y1


@pytest.mark.slow
@pytest.mark.parametrize("names", [("A", "B"), ("25 years or older", "younger than 25"), ("W" * 9999, "x" * 9999)])
@pytest.mark.parametrize("display", WITH_LEGEND)
def test_the_legend_on_an_ordinary_axis_is_seen(display: Any, names: tuple[str, str]) -> None:
    figure, ax = pyplot.subplots()
    made(display, np.where(PEOPLE.group == "A", *names)).plot(ax=ax)
    assert_legends_are_seen(figure)


@pytest.mark.slow
@pytest.mark.parametrize("display", [CrossRocDisplay, ScoreMapDisplay])
def test_the_legend_of_many_groups_is_seen(display: Any) -> None:
    figure, ax = pyplot.subplots()
    made(display, np.array([f"group number {n}" for n in range(8)])[np.arange(400) % 8]).plot(ax=ax)
    assert_legends_are_seen(figure)


def test_the_legend_of_new_people_is_seen() -> None:
    new = simulate_population(500, random_state=9)
    repair = XOrder(method="frontier").fit(PEOPLE.y_score, PEOPLE.y_true, sensitive_features=PEOPLE.group)
    figure, axes = pyplot.subplots(1, 2)
    display = TradeoffDisplay.from_estimator(repair, new.y_score, new.y_true, sensitive_features=new.group)
    display.plot(ax=axes[1])
    assert_legends_are_seen(figure)
    shown = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert {"score as it was", "score adjusted"} <= {*shown}


def test_areas_are_named_on_two_ordinary_axes() -> None:
    figure, axes = pyplot.subplots(1, 2)
    display = made(CrossRocDisplay).plot(ax=axes)
    assert_legends_are_seen(figure)
    shown = [text.get_text() for legend in legends(figure) for text in legend.get_texts()]
    assert f"A: {display.area['A', 'A']:.3f}" in shown
    assert f"positives of A, negatives of B: {display.area['A', 'B']:.3f}" in shown


@pytest.mark.parametrize("layout", [None, "constrained"])
@pytest.mark.parametrize("display", SPLIT)
def test_a_single_axis_is_split_among_panels_that_stay_in_its_place(display: Any, layout: str | None) -> None:
    figure = Figure(figsize=(12, 5), layout=layout)
    left, right = figure.subplots(1, 2)
    found = made(display).plot(ax=right)
    figure.canvas.draw()
    panels = figure.axes[2:]
    assert list(found.axes_.values()) == panels
    assert len(panels) == 2
    assert not right.axison
    assert left.axison
    assert not left.has_data()
    places = [panel.get_window_extent() for panel in panels]
    assert places[0].x1 < places[1].x0
    assert left.get_window_extent().x1 < places[0].x0
    assert all(panel.has_data() for panel in panels)
    assert [bool(panel.yaxis.get_tick_params()["labelleft"]) for panel in panels] == [True, False]


@pytest.mark.slow
def test_five_groups_get_a_grid_inside_one_axis() -> None:
    figure, ax = pyplot.subplots()
    found = made(CalibrationByGroupDisplay, np.array(list("abcde"))[np.arange(400) % 5]).plot(ax=ax)
    assert_legends_are_seen(figure)
    assert list(found.axes_) == list("abcde")
    assert figure.axes == [ax, *found.axes_.values()]


@pytest.mark.parametrize("display", SPLIT)
def test_an_axis_outside_of_any_grid_cannot_be_split(display: Any) -> None:
    figure = Figure()
    ax = figure.add_axes((0.1, 0.1, 0.8, 0.8))
    with pytest.raises(InputError, match=r"needs 2 axes to draw into, .*; got 1. Pass those of plt.subplots\(1, 2\)"):
        made(display).plot(ax=ax)
    assert ax.axison
