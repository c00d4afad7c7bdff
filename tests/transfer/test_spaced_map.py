from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.effort import draws
from xorder.transfer import spaced_map


def spaced(reference, moved, moved_above):
    """The adjusted scores of the moved group, highest first."""
    reference, moved = np.array(reference, dtype=float), np.array(moved, dtype=float)
    return spaced_map(reference, moved, np.array(moved_above)).apply(moved)


def test_the_example_of_the_paper():
    """(a1, b1, b2, a2) with scores .8 and .5 of a: b gets .7 and .6, whatever its raw scores were."""
    np.testing.assert_allclose(spaced([0.8, 0.5], [0.3, 0.1], [0, 2]), [0.7, 0.6])
    np.testing.assert_allclose(spaced([0.8, 0.5], [0.99, 0.01], [0, 2]), [0.7, 0.6])


def test_the_ends_of_the_unit_interval():
    # Three above the top of a: up to 1; one below its bottom: half-way to 0.
    np.testing.assert_allclose(spaced([0.8, 0.4], [0.5, 0.4, 0.3, 0.2], [3, 3]), [0.95, 0.9, 0.85, 0.2])
    np.testing.assert_allclose(spaced([0.6], [0.9, 0.8], [0]), [0.4, 0.2])


def test_new_scores_in_the_unit_interval_stay_there():
    score_map = spaced_map(np.array([0.8, 0.4]), np.array([0.5, 0.4, 0.3, 0.2]), np.array([3, 3]))
    y = score_map.apply(np.linspace(0, 1, 1001))
    assert (y[0], y[-1]) == (0.0, 1.0)
    assert (np.diff(y) > 0).all()


def test_unbounded_scores_keep_their_distances_outside():
    # 7 and 4 go above the reference; the one that stays below, 1, is 3 from 4.
    got = spaced([10.0, 0.0], [7.0, 4.0, 1.0, -5.0], [2, 3])
    np.testing.assert_allclose(got, [10 + 6, 10 + 3, 5, 0 - 6])
    score_map = spaced_map(np.array([10.0, 0.0]), np.array([7.0, 4.0, 1.0, -5.0]), np.array([2, 3]))
    np.testing.assert_allclose(score_map.apply([8.0, 107.0, -6.0]), [17.0, 116.0, -7.0])


def test_a_whole_group_outside_starts_one_mean_step_away():
    np.testing.assert_allclose(spaced([10.0, 0.0], [4.0, 2.0], [2, 2]), [14.0, 12.0])
    np.testing.assert_allclose(spaced([10.0, 0.0], [4.0, 2.0], [0, 0]), [-2.0, -4.0])
    np.testing.assert_allclose(spaced([10.0], [4.0], [1]), [11.0])


@st.composite
def orderings(draw, scores):
    reference = sorted(draw(st.lists(scores, min_size=1, max_size=8, unique=True)), reverse=True)
    moved = sorted(draw(st.lists(scores, min_size=1, max_size=8, unique=True)), reverse=True)
    places = st.lists(st.integers(0, len(moved)), min_size=len(reference), max_size=len(reference))
    return reference, moved, sorted(draw(places))


inner = st.integers(1, 999).map(lambda value: value / 1000)
unbounded = (st.integers(-(10**6), -1) | st.integers(17, 10**6)).map(lambda value: value / 16)


@pytest.mark.slow
@given(drawn=orderings(inner) | orderings(unbounded))
@settings(max_examples=draws(300))
def test_adjusted_scores_realise_the_ordering(drawn):
    reference, moved, moved_above = drawn
    adjusted = spaced(*drawn)
    assert (np.diff(adjusted) < 0).all()
    for score, above in zip(reference, moved_above, strict=True):
        assert (adjusted > score).sum() == above
        assert (adjusted < score).sum() == len(moved) - above
    if min(reference + moved) >= 0 and max(reference + moved) <= 1:
        assert adjusted.min() > 0
        assert adjusted.max() < 1


@given(drawn=orderings(inner))
@settings(max_examples=draws(100))
def test_spacing_within_a_gap_is_even(drawn):
    reference, _, _ = drawn
    adjusted = spaced(*drawn)
    edges = [1.0, *reference, 0.0]
    for upper, lower in pairwise(edges):
        within = adjusted[(adjusted < upper) & (adjusted > lower)]
        steps = -np.diff([upper, *within, lower])
        np.testing.assert_allclose(steps, (upper - lower) / (len(within) + 1), rtol=1e-9, atol=1e-15)


closed = st.sampled_from([0.0, 5e-324, 0.25, 0.5, 1 - 2**-53, 1.0]) | st.floats(0, 1)


@pytest.mark.slow
@given(drawn=orderings(closed))
@settings(max_examples=draws(300))
def test_scores_of_exactly_0_and_1_leave_the_order_and_the_interval_intact(drawn):
    reference, moved, moved_above = drawn
    score_map = spaced_map(np.array(reference), np.array(moved), np.array(moved_above))
    adjusted = score_map.apply(moved)
    assert (np.diff(adjusted) < 0).all()
    everywhere = score_map.apply(np.linspace(0, 1, 301))
    assert everywhere.min() >= 0
    assert everywhere.max() <= 1
    assert (np.diff(everywhere) >= 0).all()


@pytest.mark.slow
@given(drawn=orderings(st.floats(-1e280, 1e280)))
@settings(max_examples=draws(200))
def test_order_is_kept_whatever_the_scores(drawn):
    adjusted = spaced(*drawn)
    assert np.isfinite(adjusted).all()
    assert (np.diff(adjusted) < 0).all()


@pytest.mark.slow
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_million_adjacent_numbers_stay_apart(place):
    """Neither the raw scores nor the gap of two neighbouring reference scores leave any room."""
    size = 10**6
    moved = (np.arange(size, dtype=np.int64)[::-1] + np.float64(0.5).view(np.int64)).view(np.float64)
    reference = np.array([0.7, np.nextafter(0.7, 0)])
    moved_above = {0: [0, 0], 1: [0, size], 2: [size, size]}[place]
    score_map = spaced_map(reference, moved, np.array(moved_above))
    adjusted = score_map.apply(moved)
    assert (np.diff(adjusted) < 0).all()
    assert adjusted.min() >= 0
    assert adjusted.max() <= 1
    shuffled = np.random.default_rng(0).permutation(size)
    np.testing.assert_array_equal(score_map.apply(moved[shuffled]), adjusted[shuffled])


def test_above_a_reference_score_of_1_the_group_ends_just_below_it():
    one_below = np.nextafter(1.0, 0)
    np.testing.assert_array_equal(spaced([1.0, 0.5], [0.4, 0.3], [2, 2]), [one_below, np.nextafter(one_below, 0)])
    np.testing.assert_array_equal(spaced([1.0, 0.5], [1.0, 0.3], [2, 2]), [1.0, one_below])


def test_below_a_reference_score_of_0_the_group_ends_just_above_it():
    np.testing.assert_array_equal(spaced([0.5, 0.0], [0.4, 0.3], [0, 0]), [1e-323, 5e-324])
    np.testing.assert_array_equal(spaced([0.5, 0.0], [0.4, 0.0], [0, 0]), [5e-324, 0.0])


def test_new_scores_beyond_those_seen_stay_inside_too():
    """Also where the reference leaves no room: its lowest score is 0, and the group goes below it."""
    score_map = spaced_map(np.array([0.0]), np.array([0.5]), np.array([0]))
    y = score_map.apply(np.linspace(0, 1, 101))
    assert (y.min(), y.max()) == (0.0, 1.0)
    score_map = spaced_map(np.array([1.0]), np.array([0.5]), np.array([1]))
    y = score_map.apply(np.linspace(0, 1, 101))
    assert (y.min(), y.max()) == (0.0, 1.0)
