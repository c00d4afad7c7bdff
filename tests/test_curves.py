"""Curves and bars are those of the definition, whatever the rows, and stay few however many there are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support import oracles
from support.drawn_rows import Rows, rows
from support.scored_people import people
from xorder import ScoreTable
from xorder._curves import bin_edges, cross_roc, histogram, thin
from xorder._validation import check_tables


@pytest.mark.slow
@given(drawn=rows(), above=st.integers(0, 3), below=st.integers(0, 3))
def test_a_curve_has_the_shares_above_every_threshold(drawn: Rows, above: int, below: int) -> None:
    tables, groups = drawn.tables, drawn.groups
    above, below = above % len(groups), below % len(groups)
    x, y = cross_roc(tables[above], tables[below])
    w = np.ones(len(drawn.y)) if drawn.w is None else drawn.w
    one = (drawn.g == groups[above]) & (drawn.y == 1)
    other = (drawn.g == groups[below]) & (drawn.y == 0)
    if not w[one].sum() or not w[other].sum():
        assert x.size == y.size == 0
        return
    scores = sorted({*drawn.s[one & (w > 0)], *drawn.s[other & (w > 0)]}, reverse=True)
    expected = [(0.0, 0.0)] + [
        (w[other & (drawn.s >= t)].sum() / w[other].sum(), w[one & (drawn.s >= t)].sum() / w[one].sum()) for t in scores
    ]
    np.testing.assert_allclose(np.column_stack([x, y]), expected, atol=1e-12)
    assert (x[-1], y[-1]) == (1.0, 1.0)
    area = float(np.sum(np.diff(x) * (y[1:] + y[:-1]) / 2))
    expected_area = oracles.xauc(drawn.y, drawn.s, drawn.g, groups[above], groups[below], w)
    assert area == pytest.approx(expected_area, abs=1e-12)


@pytest.mark.parametrize("most", [20, 200])
def test_a_thinned_curve_keeps_ends_and_area(most: int) -> None:
    a, b = check_tables(*people(20_000, {"A": 0.0, "B": 0.8}).values()).values()
    x, y = cross_roc(a, b, most)
    assert x.size <= 2 * most + 1
    assert (x[0], y[0], x[-1], y[-1]) == (0, 0, 1, 1)
    assert (np.diff(x) >= 0).all()
    assert (np.diff(y) >= 0).all()
    whole = cross_roc(a, b, 10**9)
    areas = [float(np.sum(np.diff(x) * (y[1:] + y[:-1]) / 2)) for x, y in ((x, y), whole)]
    assert areas[0] == pytest.approx(areas[1], abs=1 / most**1.5)


def test_far_scores_are_beyond_the_edges_and_in_the_outermost_bars() -> None:
    drawn = people(3000, {"A": 0.0, "B": 0.0})
    score = np.append(drawn["y_score"] * 10, [1e6, -1e6])
    tables = check_tables(np.append(drawn["y_true"], [1, 1]), score, np.append(drawn["sensitive_features"], ["A", "A"]))
    edges = bin_edges(list(tables.values()), 40)
    assert edges[0] > -1
    assert edges[-1] < 12
    assert histogram(tables["A"], edges)[1].sum() == pytest.approx(1.0)


@pytest.mark.parametrize("bins", [1, 7, 40])
def test_edges_reach_from_the_lowest_to_the_highest_score(bins: int) -> None:
    tables = [ScoreTable.from_arrays([0, 1], scores) for scores in ([0.1, 0.7], [0.2, 0.3])]
    edges = bin_edges(tables, bins)
    np.testing.assert_allclose(edges, np.linspace(0.1, 0.7, bins + 1))
    assert (edges[0], edges[-1]) == (0.1, 0.7)
    huge = bin_edges([ScoreTable.from_arrays([0, 1], [-1.7e308, 1.7e308])], bins)
    assert np.isfinite(huge).all()


def test_bars_are_numpys() -> None:
    a, _ = check_tables(*people(500, {"A": 0.0, "B": 0.8}).values()).values()
    edges = bin_edges([a], 40)
    for shares, mass in zip(histogram(a, edges), (a.negative, a.positive), strict=True):
        np.testing.assert_allclose(shares, np.histogram(a.score, edges, weights=mass)[0] / mass.sum(), atol=1e-12)


@given(st.integers(1, 400), st.integers(2, 50), st.integers(0, 5))
def test_a_thinned_line_keeps_its_ends_and_is_never_far_off(size: int, at_most: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = np.sort(rng.random(size)), np.sort(rng.random(size) ** 3)
    kept_x, kept_y = thin(x, y, at_most)
    assert kept_x.size <= max(at_most, 2)
    assert (kept_x[0], kept_y[0], kept_x[-1], kept_y[-1]) == (x[0], y[0], x[-1], y[-1])
    assert set(zip(kept_x, kept_y, strict=True)) <= set(zip(x, y, strict=True))
    if size <= at_most:
        assert np.array_equal(kept_x, x)
        return
    # Along a rising line no gap is longer than the spacing of the points kept, but for steps of the line itself.
    way = (kept_x - x[0]) / (np.ptp(x) or 1) + (kept_y - y[0]) / (np.ptp(y) or 1)
    steps = np.diff(x) / (np.ptp(x) or 1) + np.diff(y) / (np.ptp(y) or 1)
    assert np.diff(way).max() <= 2 / (at_most - 1) + steps.max() + 1e-9
