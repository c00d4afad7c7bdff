"""The curves are those of the definition, point by point, and the areas in the legend are xAUC."""

from __future__ import annotations

import re

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_curve

from support import oracles
from xorder import FairRanker, XOrder, audit
from xorder.datasets import simulate_population
from xorder.exceptions import InputError
from xorder.plotting._cross_roc import CrossRocDisplay
from xorder.plotting._style import LIGHT

PEOPLE = simulate_population(600, random_state=5)


def of_people(**options: object) -> CrossRocDisplay:
    return CrossRocDisplay.from_predictions(PEOPLE.y_true, PEOPLE.y_score, sensitive_features=PEOPLE.group, **options)


def legend_areas(display: CrossRocDisplay) -> list[str]:
    texts = [text.get_text() for ax in display.axes_ for text in ax.get_legend().get_texts()]
    return [re.sub(r"\s+", " ", text) for text in texts]


def test_the_curve_of_a_group_is_scikit_learns() -> None:
    display = of_people().plot()
    for group in "AB":
        mask = PEOPLE.group == group
        x, y, _ = roc_curve(PEOPLE.y_true[mask], PEOPLE.y_score[mask], drop_intermediate=False)
        line = display.lines_[group, group]
        np.testing.assert_allclose(line.get_xdata(), x, atol=1e-12)
        np.testing.assert_allclose(line.get_ydata(), y, atol=1e-12)


def test_the_legend_tells_the_areas() -> None:
    xauc = {(g, h): oracles.xauc(PEOPLE.y_true, PEOPLE.y_score, PEOPLE.group, g, h) for g in "AB" for h in "AB"}
    assert legend_areas(of_people().plot()) == [
        f"A: {xauc['A', 'A']:.3f}",
        f"B: {xauc['B', 'B']:.3f}",
        f"positives of A, negatives of B: {xauc['A', 'B']:.3f}",
        f"positives of B, negatives of A: {xauc['B', 'A']:.3f}",
    ]


def test_the_gap_and_its_interval_are_the_audits() -> None:
    gap = audit(PEOPLE.y_true, PEOPLE.y_score, sensitive_features=PEOPLE.group).gap("xauc")
    assert of_people().audit.gap("xauc", gap.pair) == gap
    texts = [text.get_text() for text in of_people().plot().axes_[1].texts]
    low, high = gap.interval
    texts = [" ".join(text.split()) for text in texts]
    assert any(f"xAUC gap {gap.value:+.3f} (95 % interval {low:+.3f} to {high:+.3f})" in text for text in texts)
    assert any("positives of B are ranked lower: not chance" in text for text in texts)


@pytest.mark.parametrize(("rows", "words"), [(60, "may be chance"), (20, "too few to say")])
def test_a_gap_that_is_not_clear_is_called_so(rows: int, words: str) -> None:
    rng = np.random.default_rng(0)
    y, s, g = rng.integers(0, 2, rows), rng.random(rows), rng.choice(["x", "y"], rows)
    texts = [text.get_text() for text in CrossRocDisplay.from_predictions(y, s, sensitive_features=g).plot().ax_.texts]
    texts = [" ".join(text.split()) for text in texts]
    assert any(words in text for text in texts)
    assert not any("not chance" in text for text in texts)


def test_a_group_has_one_look_in_all_panels() -> None:
    g = np.array(list("abcde"))[np.arange(PEOPLE.y_true.size) % 5]
    display = CrossRocDisplay.from_predictions(PEOPLE.y_true, PEOPLE.y_score, sensitive_features=g).plot()
    for (above, _), line in display.lines_.items():
        assert line.get_color() == LIGHT.groups["abcde".index(above)]
        assert line.get_linestyle() == display.lines_[above, above].get_linestyle()


def test_a_group_without_positives_says_so_and_draws_no_line() -> None:
    y = np.where(PEOPLE.group == "B", 0, PEOPLE.y_true)
    display = CrossRocDisplay.from_predictions(y, PEOPLE.y_score, sensitive_features=PEOPLE.group).plot()
    assert np.isnan(display.area["B", "A"])
    assert len(display.lines_["B", "A"].get_xdata()) == 0
    assert "B: not known, as a class is missing" in legend_areas(display)
    display.figure_.canvas.draw()


def test_of_many_groups_the_widest_pairs_are_shown() -> None:
    rng = np.random.default_rng(3)
    g = rng.integers(0, 12, 5000)
    y = rng.integers(0, 2, 5000)
    s = y + rng.normal(size=5000) - 0.2 * g * y
    display = CrossRocDisplay.from_predictions(y, s, sensitive_features=g).plot()
    gaps = {(a, b): display.area[a, b] - display.area[b, a] for a in range(12) for b in range(12) if a != b}
    widest = sorted(gaps, key=gaps.get, reverse=True)[:2]
    assert list(display.pairs) == widest
    assert [ax.get_title(loc="left") for ax in display.axes_[1:]] == [f"{a} and {b}" for a, b in widest]
    assert f"{len({g for pair in widest for g in pair})} of 12 groups" in display.axes_[0].get_title(loc="left")
    assert len(legend_areas(display)) <= 8


def test_pairs_can_be_named() -> None:
    g = np.arange(PEOPLE.y_true.size) % 4
    display = CrossRocDisplay.from_predictions(PEOPLE.y_true, PEOPLE.y_score, sensitive_features=g, pairs=[(3, 1)])
    assert [pair for pair in display.curves if pair[0] != pair[1]] == [(3, 1), (1, 3)]
    for wrong in ([(3, 7)], [(1, 1)], [(1, 2, 3)]):
        with pytest.raises(InputError, match="pair must be two of the groups 0, 1, 2, 3"):
            CrossRocDisplay.from_predictions(PEOPLE.y_true, PEOPLE.y_score, sensitive_features=g, pairs=wrong)


def test_axes_are_one_for_groups_and_one_for_each_pair() -> None:
    from matplotlib import pyplot

    _, axes = pyplot.subplots(1, 3)
    display = of_people().plot(axes[:2])
    assert display.axes_ == list(axes[:2])
    assert not axes[2].lines
    with pytest.raises(InputError, match=r"CrossRocDisplay needs 2 axes .*; got 3. Pass those of plt.subplots"):
        of_people().plot(axes)


@pytest.mark.slow
def test_a_million_rows_draw_a_few_thousand_points_and_keep_their_area() -> None:
    rng = np.random.default_rng(0)
    size = 1_000_000
    y, g = rng.random(size) < 0.3, rng.random(size) < 0.4
    s = rng.normal(size=size) + y
    display = CrossRocDisplay.from_predictions(y, s, sensitive_features=g).plot()
    expected = audit(y, s, sensitive_features=g).xauc
    assert np.array_equal(display.area.values, expected.values)
    for pair, line in display.lines_.items():
        points = np.asarray(line.get_xydata())
        assert 500 < len(points) <= 2000
        area = np.sum(np.diff(points[:, 0]) * (points[1:, 1] + points[:-1, 1]) / 2)
        assert area == pytest.approx(expected[pair], abs=2e-6)


def test_from_estimator_shows_the_score_that_comes_out() -> None:
    repair = XOrder(do_no_harm=False).fit(PEOPLE.y_score, PEOPLE.y_true, sensitive_features=PEOPLE.group)
    adjusted = repair.transform(PEOPLE.y_score, sensitive_features=PEOPLE.group)
    expected = CrossRocDisplay.from_predictions(PEOPLE.y_true, adjusted, sensitive_features=PEOPLE.group)
    display = CrossRocDisplay.from_estimator(repair, PEOPLE.y_score, PEOPLE.y_true, sensitive_features=PEOPLE.group)
    assert np.array_equal(display.area.values, expected.area.values)
    assert abs(display.area["A", "B"] - display.area["B", "A"]) < 0.01


def test_a_ranker_brings_its_classes_and_its_column() -> None:
    people = simulate_population(3000, random_state=1)
    X = np.column_stack([people.y_score, people.group == "B"])
    y = np.where(people.y_true == 1, "yes", "no")
    ranker = FairRanker(LogisticRegression(), sensitive_columns=1, cv=3).fit(X, y)
    display = CrossRocDisplay.from_estimator(ranker, X, y)
    found = audit(people.y_true, ranker.predict_proba(X)[:, 1], sensitive_features=X[:, 1])
    assert np.array_equal(display.area.values, found.xauc.values)
