"""The picture shows the numbers it was given, all of them, and says what they are."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from xorder import FairRanker, ScoreTable, XOrder, audit, frontier, load, order
from xorder.datasets import simulate_population
from xorder.exceptions import InputError, MissingExtraError, XorderWarning
from xorder.plotting import TradeoffDisplay

PEOPLE = simulate_population(400, random_state=2)
METRICS = {"xauc": "xAUC gap", "prf": "PRF gap", "parity": "parity gap"}


def fitted(**settings: object) -> XOrder:
    return XOrder(**{"method": "frontier"} | settings).fit(
        PEOPLE.y_score, PEOPLE.y_true, sensitive_features=PEOPLE.group
    )


def drawn(display: TradeoffDisplay) -> dict[str, tuple[list[float], list[float]]]:
    """What each line with a name in the legend shows; of points with intervals, the points."""
    handles, labels = display.ax_.get_legend_handles_labels()
    lines = {
        label: handle[0] if isinstance(handle, tuple) else handle for handle, label in zip(handles, labels, strict=True)
    }
    return {
        label: (line.get_xdata().tolist(), line.get_ydata().tolist())
        for label, line in lines.items()
        if hasattr(line, "get_xdata")
    }


@pytest.mark.parametrize("metric", METRICS)
def test_the_lines_are_the_numbers_of_the_repair(metric: str) -> None:
    repair = fitted(metric=metric, max_gap=0.02)
    curve = frontier(repair.ordering_.a, repair.ordering_.b, metric=metric)
    display = TradeoffDisplay.from_estimator(repair).plot()
    lines = drawn(display)
    assert lines.pop("best possible") == (curve.gap.tolist(), curve.auc.tolist())
    assert list(lines) == ["score as it was", "score adjusted"]
    expected = [(repair.gap_before_, repair.auc_before_), (repair.gap_, repair.auc_)]
    np.testing.assert_allclose([[gap, auc] for ((gap,), (auc,)) in lines.values()], expected)
    assert repair.gap_before_ != repair.gap_


@pytest.mark.slow
@pytest.mark.parametrize("metric", METRICS)
def test_the_axes_name_the_metric_and_the_groups(metric: str) -> None:
    display = TradeoffDisplay.from_estimator(fitted(metric=metric)).plot()
    assert display.ax_.get_xlabel() == f"{METRICS[metric]}: A minus B   (0: no gap)"
    assert display.ax_.get_ylabel().startswith("AUC")
    assert "right of 0 the score favours A, left of it B" in [text.get_text() for text in display.ax_.texts]
    reversed_ = TradeoffDisplay.from_estimator(fitted(metric=metric, reference="B")).plot()
    assert reversed_.ax_.get_xlabel() == f"{METRICS[metric]}: B minus A   (0: no gap)"


def test_without_groups_the_axis_names_the_metric_alone() -> None:
    display = TradeoffDisplay(np.array([-0.1, 0.2]), np.array([0.6, 0.8])).plot()
    assert display.ax_.get_xlabel() == "xAUC gap   (0: no gap)"
    assert drawn(display) == {"best possible": ([-0.1, 0.2], [0.6, 0.8])}


def test_dollars_in_the_names_of_groups_are_shown_as_they_are() -> None:
    groups = np.where(PEOPLE.group == "A", "$50k up", "under $50k")
    display = TradeoffDisplay.from_predictions(PEOPLE.y_true, PEOPLE.y_score, sensitive_features=groups).plot()
    assert display.ax_.get_xlabel() == r"xAUC gap: \$50k up minus under \$50k   (0: no gap)"
    display.figure_.canvas.draw()


def test_the_legend_names_every_line() -> None:
    display = TradeoffDisplay.from_estimator(fitted(), dp_tradeoffs=[0.5]).plot()
    shown = [text.get_text() for text in display.figure_.legends[0].get_texts()]
    assert shown == [
        "best possible",
        "out of reach of any reordering",
        "paper's dynamic programme",
        "score as it was",
        "score adjusted",
    ]


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("tradeoffs", [[0.0, 0.3, 2.0], (0.3,), np.array([0.1, 0.7])])
def test_the_dynamic_programme_is_marked_where_it_gets_to(tradeoffs: object, metric: str) -> None:
    repair = fitted(metric=metric)
    a, b = repair.ordering_.a, repair.ordering_.b
    reached = [order(a, b, metric=metric, tradeoff=value, solver="dp") for value in tradeoffs]
    display = TradeoffDisplay.from_estimator(repair, dp_tradeoffs=tradeoffs).plot()
    expected = [found.gap for found in reached], [found.auc for found in reached]
    assert drawn(display)["paper's dynamic programme"] == expected


def test_from_predictions_is_a_fit_and_from_estimator() -> None:
    weight = np.arange(PEOPLE.y_true.size) % 3 + 1.0
    settings = {"method": "frontier", "metric": "prf", "max_gap": 0.03, "reference": "B"}
    repair = XOrder(**{"method": "frontier"} | settings).fit(
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


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("metric", METRICS)
def test_all_that_is_marked_lies_inside_the_axes(metric: str, seed: int) -> None:
    people = simulate_population(60, random_state=seed)
    repair = XOrder(method="frontier", metric=metric, small_groups="repair").fit(
        people.y_score, people.y_true, sensitive_features=people.group
    )
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
    assert display.gap.min() < left
    assert right < display.gap.max()
    assert right - left < np.ptp(display.gap) / 2


def test_more_points_than_shapes_are_all_drawn() -> None:
    points = {f"model {n}": (np.array([0.01 * n]), np.array([0.7])) for n in range(8)}
    display = TradeoffDisplay(np.array([-0.1, 0.2]), np.array([0.6, 0.8]), points=points).plot()
    assert [name for name in drawn(display) if name.startswith("model")] == list(points)


def test_rows_that_are_passed_are_drawn_instead_of_those_fitted_to() -> None:
    new = simulate_population(500, random_state=9)
    repair = fitted()
    display = TradeoffDisplay.from_estimator(repair, new.y_score, new.y_true, sensitive_features=new.group).plot()
    adjusted = repair.transform(new.y_score, sensitive_features=new.group)
    for name, score in (("score as it was", new.y_score), ("score adjusted", adjusted)):
        found = audit(new.y_true, score, sensitive_features=new.group)
        gap = found.gap("xauc", repair.pair_)
        assert drawn(display)[name] == ([gap.value], [found.auc])
        (across,) = (bars.get_segments()[0] for bars in display.points_[name][2])
        np.testing.assert_allclose(across[:, 0], gap.interval)
    left, right = display.ax_.get_xlim()
    assert left < gap.interval[0] < gap.interval[1] < right
    a, b = (ScoreTable.from_arrays(new.y_true[new.group == g], new.y_score[new.group == g]) for g in display.pair)
    np.testing.assert_allclose(display.auc, frontier(a, b).auc)


def test_what_is_shaded_is_what_no_ordering_reaches() -> None:
    display = TradeoffDisplay.from_estimator(fitted()).plot()
    shade = display.ax_.collections[0]
    edge = shade.get_paths()[0].vertices
    _, top = display.ax_.get_ylim()
    at_curve = edge[edge[:, 1] < top]
    rising = np.argsort(display.gap)
    expected = np.interp(at_curve[:, 0], display.gap[rising], display.auc[rising])
    np.testing.assert_allclose(at_curve[:, 1], expected, atol=1e-12)


def test_a_repair_that_was_loaded_needs_people_to_draw(tmp_path) -> None:
    fitted().save(tmp_path / "map.json")
    loaded = load(tmp_path / "map.json")
    with pytest.raises(InputError, match=r"keeps no training scores to draw.*Pass X and y of some rows"):
        TradeoffDisplay.from_estimator(loaded)
    display = TradeoffDisplay.from_estimator(
        loaded, PEOPLE.y_score, PEOPLE.y_true, sensitive_features=PEOPLE.group
    ).plot()
    expected = TradeoffDisplay.from_estimator(fitted())
    np.testing.assert_allclose(display.auc, expected.auc)
    assert display.pair == expected.pair
    name = "score adjusted"
    np.testing.assert_allclose(drawn(display)[name][1], expected.points["score adjusted"][1], atol=1e-9)
    assert "out of reach of any reordering" in display.ax_.get_legend_handles_labels()[1]


def test_a_ranker_is_drawn_on_the_people_given() -> None:
    people = simulate_population(3000, random_state=1)
    X = np.column_stack([people.y_score, people.group == "B"])
    ranker = FairRanker(LogisticRegression(), sensitive_columns=1, cv=3).fit(X, people.y_true)
    with pytest.raises(InputError, match="this FairRanker keeps no training scores"):
        TradeoffDisplay.from_estimator(ranker)
    display = TradeoffDisplay.from_estimator(ranker, X, people.y_true).plot()
    after = audit(people.y_true, ranker.predict_proba(X)[:, 1], sensitive_features=X[:, 1])
    name = "score adjusted"
    assert drawn(display)[name] == ([after.gap("xauc", display.pair).value], [after.auc])
    before = np.mean([model.predict_proba(X)[:, 1] for model in ranker.estimators_], axis=0)
    a, b = (ScoreTable.from_arrays(people.y_true[X[:, 1] == group], before[X[:, 1] == group]) for group in display.pair)
    np.testing.assert_allclose(display.auc, frontier(a, b).auc)


def test_a_frontier_is_drawn_as_it_is() -> None:
    found = fitted().ordering_
    curve = frontier(found.a, found.b, metric="prf")
    display = TradeoffDisplay.from_estimator(curve, dp_tradeoffs=[0.3]).plot()
    assert drawn(display)["best possible"] == (curve.gap.tolist(), curve.auc.tolist())
    reached = order(found.a, found.b, metric="prf", tradeoff=0.3, solver="dp")
    assert drawn(display)["paper's dynamic programme"] == ([reached.gap], [reached.auc])
    assert display.ax_.get_xlabel() == "PRF gap   (0: no gap)"


def test_a_long_curve_is_thinned() -> None:
    gaps = np.linspace(1, -1, 200_000)
    display = TradeoffDisplay(gaps, 0.8 - 0.1 * gaps**2).plot()
    x, y = (np.array(values) for values in drawn(display)["best possible"])
    assert 500 < x.size <= 2000
    np.testing.assert_allclose(y, 0.8 - 0.1 * x**2)


def test_a_mark_whose_uncertainty_is_not_known_has_no_bars() -> None:
    y, s, g = [1, 0, 1, 0], [0.9, 0.1, 0.8, 0.2], list("aabb")
    display = TradeoffDisplay(np.array([1.0, -1.0]), np.array([0.6, 0.8]), pair=("a", "b"))
    with pytest.warns(XorderWarning):
        found = audit(y, s, sensitive_features=g)
    display.mark("few", found).plot().figure_.canvas.draw()
    assert drawn(display)["few"] == ([0.0], [1.0])


def test_intervals_need_not_be_symmetric() -> None:
    point, ends = (np.array([0.1]), np.array([0.7])), np.array([[0.0, 0.4]])
    curve = (np.array([1.0, -1.0]), np.array([0.6, 0.8]))
    display = TradeoffDisplay(*curve, points={"model": point}, intervals={"model": ends}).plot()
    (across,) = (bars.get_segments()[0] for bars in display.points_["model"][2])
    np.testing.assert_allclose(across[:, 0], [0.0, 0.4])


def test_only_repairs_and_frontiers_have_a_tradeoff() -> None:
    X = PEOPLE.y_score[:, None]
    with pytest.raises(InputError, match=r"got LogisticRegression.*from_predictions"):
        TradeoffDisplay.from_estimator(LogisticRegression().fit(X, PEOPLE.y_true), X, PEOPLE.y_true)
    with pytest.raises(InputError, match="X and y of new rows go together"):
        TradeoffDisplay.from_estimator(fitted(), PEOPLE.y_score)


@pytest.mark.slow
def test_more_groups_have_a_panel_each_against_the_reference() -> None:
    group = np.array(list("abcd"))[np.arange(PEOPLE.y_true.size) % 4]
    y = np.where(group == "d", 0, PEOPLE.y_true)
    with pytest.warns(XorderWarning):
        repair = XOrder(do_no_harm=False, reference="b").fit(PEOPLE.y_score, y, sensitive_features=group)
    display = TradeoffDisplay.from_estimator(repair).plot()
    # A group without positives has no curve.
    panels = [display, *display.more]
    assert [panel.pair for panel in panels] == [("b", "a"), ("b", "c")]
    assert [ax.get_title(loc="left") for ax in display.axes_] == ["a", "c"]
    adjusted = repair.transform(PEOPLE.y_score, sensitive_features=group)
    for panel in panels:
        own = np.isin(group, panel.pair)
        for name, score in (("score as it was", PEOPLE.y_score), ("score adjusted", adjusted)):
            found = audit(y[own], score[own], sensitive_features=group[own])
            assert panel.points[name][0] == pytest.approx(found.gap("xauc", panel.pair).value)
            assert panel.points[name][1] == pytest.approx(found.auc)
            rising = np.argsort(panel.gap)
            assert found.auc <= np.interp(panel.points[name][0][0], panel.gap[rising], panel.auc[rising]) + 1e-9


def test_one_group_has_no_tradeoff() -> None:
    with pytest.raises(InputError, match="two groups"):
        TradeoffDisplay.from_predictions(PEOPLE.y_true, PEOPLE.y_score, sensitive_features=["a"] * 400)


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    display = TradeoffDisplay.from_estimator(fitted())
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(MissingExtraError, match=r"needs matplotlib.*pip install 'xorder\[plot\]'"):
        display.plot()
