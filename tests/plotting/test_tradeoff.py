"""The picture shows the numbers it was given, all of them, and says what they are."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np
import pytest

from xorder import XOrder, frontier, load, order
from xorder.datasets import simulate_population
from xorder.exceptions import InputError, MissingExtraError
from xorder.plotting import TradeoffDisplay

PEOPLE = simulate_population(400, random_state=2)
METRICS = {"xauc": "xAUC gap", "prf": "PRF gap", "parity": "parity gap"}


@pytest.fixture(autouse=True)
def _no_screen(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("MPLBACKEND", "Agg")
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    yield
    pyplot.close("all")


def fitted(**settings: object) -> XOrder:
    return XOrder(**settings).fit(PEOPLE.y_score, PEOPLE.y_true, sensitive_features=PEOPLE.group)


def drawn(display: TradeoffDisplay) -> dict[str, tuple[list[float], list[float]]]:
    """What each line with a name in the legend shows."""
    handles, labels = display.ax_.get_legend_handles_labels()
    return {
        label: (line.get_xdata().tolist(), line.get_ydata().tolist())
        for line, label in zip(handles, labels, strict=True)
    }


@pytest.mark.parametrize("metric", METRICS)
def test_the_lines_are_the_numbers_of_the_repair(metric: str) -> None:
    repair = fitted(metric=metric, max_disparity=0.02)
    curve = frontier(repair.ordering_.a, repair.ordering_.b, metric=metric)
    display = TradeoffDisplay.from_estimator(repair).plot()
    assert drawn(display) == {
        "best possible": (curve.disparity.tolist(), curve.auc.tolist()),
        "score as it was": ([repair.disparity_before_], [repair.auc_before_]),
        "score adjusted": ([repair.disparity_], [repair.auc_]),
    }
    assert repair.disparity_before_ != repair.disparity_


@pytest.mark.parametrize("metric", METRICS)
def test_the_axes_name_the_metric_and_the_groups(metric: str) -> None:
    display = TradeoffDisplay.from_estimator(fitted(metric=metric)).plot()
    assert display.ax_.get_xlabel() == f"{METRICS[metric]}   (A minus B)"
    assert display.ax_.get_ylabel() == "AUC"
    reversed_ = TradeoffDisplay.from_estimator(fitted(metric=metric, adjust="A")).plot()
    assert reversed_.ax_.get_xlabel() == f"{METRICS[metric]}   (B minus A)"


def test_without_groups_the_axis_names_the_metric_alone() -> None:
    display = TradeoffDisplay(np.array([-0.1, 0.2]), np.array([0.6, 0.8])).plot()
    assert display.ax_.get_xlabel() == "xAUC gap"
    assert drawn(display) == {"best possible": ([-0.1, 0.2], [0.6, 0.8])}


def test_dollars_in_the_names_of_groups_are_shown_as_they_are() -> None:
    groups = np.where(PEOPLE.group == "A", "$50k up", "under $50k")
    display = TradeoffDisplay.from_predictions(PEOPLE.y_true, PEOPLE.y_score, sensitive_features=groups).plot()
    assert display.ax_.get_xlabel() == "xAUC gap   ($50k up minus under $50k)"
    assert not display.ax_.xaxis.label.get_parse_math()
    display.figure_.canvas.draw()


def test_the_legend_names_every_line() -> None:
    display = TradeoffDisplay.from_estimator(fitted(), dp_tradeoffs=[0.5]).plot()
    shown = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert shown == ["best possible", "score as it was", "score adjusted", "dynamic programme"]


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("tradeoffs", [[0.0, 0.3, 2.0], (0.3,), np.array([0.1, 0.7])])
def test_the_dynamic_programme_is_marked_where_it_gets_to(tradeoffs: object, metric: str) -> None:
    repair = fitted(metric=metric)
    a, b = repair.ordering_.a, repair.ordering_.b
    reached = [order(a, b, metric=metric, tradeoff=value, solver="dp") for value in tradeoffs]
    display = TradeoffDisplay.from_estimator(repair, dp_tradeoffs=tradeoffs).plot()
    expected = [found.disparity for found in reached], [found.auc for found in reached]
    assert drawn(display)["dynamic programme"] == expected


def test_from_predictions_is_a_fit_and_from_estimator() -> None:
    weight = np.arange(PEOPLE.y_true.size) % 3 + 1.0
    settings = {"metric": "prf", "max_disparity": 0.03, "adjust": "A"}
    repair = XOrder(**settings).fit(
        PEOPLE.y_score, PEOPLE.y_true, sensitive_features=PEOPLE.group, sample_weight=weight
    )
    expected = TradeoffDisplay.from_estimator(repair).plot()
    display = TradeoffDisplay.from_predictions(
        PEOPLE.y_true, PEOPLE.y_score, sensitive_features=PEOPLE.group, sample_weight=weight, **settings
    ).plot()
    assert drawn(display) == drawn(expected)
    assert display.pair == ("B", "A")
    assert display.metric == "prf"
    unweighted = TradeoffDisplay.from_estimator(fitted(**settings)).plot()
    assert drawn(display) != drawn(unweighted)


def test_it_draws_into_an_axis_it_is_given() -> None:
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(ncols=2)
    display = TradeoffDisplay.from_estimator(fitted())
    assert display.plot(right) is display
    assert display.ax_ is right
    assert display.figure_ is figure
    assert pyplot.get_fignums() == [figure.number]
    assert not left.lines
    assert "best possible" in drawn(display)


def test_without_an_axis_it_makes_a_figure_of_its_own() -> None:
    from matplotlib import pyplot

    display = TradeoffDisplay.from_estimator(fitted())
    first, second = display.plot().figure_, display.plot().figure_
    assert first is not second
    assert pyplot.get_fignums() == [first.number, second.number]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("metric", METRICS)
def test_all_that_is_marked_lies_inside_the_axes(metric: str, seed: int) -> None:
    people = simulate_population(60, random_state=seed)
    repair = XOrder(metric=metric).fit(people.y_score, people.y_true, sensitive_features=people.group)
    display = TradeoffDisplay.from_estimator(repair, dp_tradeoffs=[0.0, 0.2, 5.0]).plot()
    left, right = display.ax_.get_xlim()
    bottom, top = display.ax_.get_ylim()
    lines = drawn(display)
    curve_gaps, curve_aucs = lines.pop("best possible")
    assert len(lines) == 3
    for gaps, aucs in lines.values():
        assert all(left < gap < right for gap in gaps)
        assert all(bottom < auc < top for auc in aucs)
    assert left < 0 < right
    highest = int(np.argmax(curve_aucs))
    assert left < curve_gaps[highest] < right
    assert curve_aucs[highest] < top


def test_the_far_ends_of_the_curve_are_left_out() -> None:
    """All of one group above all of the other is on the curve, but nobody's choice."""
    display = TradeoffDisplay.from_estimator(fitted()).plot()
    left, right = display.ax_.get_xlim()
    assert display.disparity.min() < left
    assert right < display.disparity.max()
    assert right - left < np.ptp(display.disparity) / 2


def test_more_points_than_shapes_are_all_drawn() -> None:
    points = {f"model {n}": (np.array([0.01 * n]), np.array([0.7])) for n in range(8)}
    display = TradeoffDisplay(np.array([-0.1, 0.2]), np.array([0.6, 0.8]), points=points).plot()
    assert [name for name in drawn(display) if name.startswith("model")] == list(points)


def test_a_repair_that_was_loaded_cannot_be_drawn(tmp_path) -> None:
    fitted().save(tmp_path / "map.json")
    with pytest.raises(InputError, match="read from a file has no training scores to draw; fit it again"):
        TradeoffDisplay.from_estimator(load(tmp_path / "map.json"))


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    display = TradeoffDisplay.from_estimator(fitted())
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(MissingExtraError, match=r"needs matplotlib.*pip install 'xorder\[plot\]'"):
        display.plot()
