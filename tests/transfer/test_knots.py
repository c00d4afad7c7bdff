"""Fewer knots: within the tolerance everywhere, in the same order, and as few as it takes."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from support.drawn_maps import maps
from xorder import ScoreMap
from xorder.exceptions import InputError


def wiggly(knots: int, *, seed: int = 0) -> ScoreMap:
    """A map that follows scores drawn at random, as one learnt by interpolation does."""
    rng = np.random.default_rng(seed)
    raw = np.sort(rng.random(knots))
    return ScoreMap(raw, np.cumsum(rng.random(knots) + 1e-3))


@pytest.mark.slow
@given(score_map=maps(), tolerance=st.sampled_from([0.0, 1e-12, 1e-9, 1e-3, 0.1, 0.9]))
@example(score_map=ScoreMap([-1e308, 0.0, 5e-324, 1e308], [-1e308, 0.0, 1e-3, 1e308]), tolerance=0.1)
@example(score_map=ScoreMap([0.0, 0.5, 1.0], [0.0, 0.5, 1.0]), tolerance=0.0)
def test_no_score_moves_further_than_allowed_and_none_changes_places(score_map: ScoreMap, tolerance: float) -> None:
    small = score_map.compressed(tolerance)
    assert set(zip(small.raw, small.adjusted, strict=True)) <= set(zip(score_map.raw, score_map.adjusted, strict=True))
    assert small.raw[0] == score_map.raw[0]
    assert small.raw[-1] == score_map.raw[-1]
    moved = small.apply(score_map.raw)
    # Halves, as a range may be more than the largest number.
    allowed = tolerance * (score_map.adjusted[-1] / 2 - score_map.adjusted[0] / 2)
    assert (np.abs(moved / 2 - score_map.adjusted / 2) <= allowed).all()
    assert (np.diff(moved) > 0).all()


@pytest.mark.parametrize("tolerance", [1e-9, 1e-6, 1e-3])
def test_a_smooth_map_keeps_about_as_many_knots_as_it_takes(tolerance: float) -> None:
    """A parabola of curvature 2 needs a knot every sqrt(4 tolerance)."""
    raw = np.linspace(0, 1, 200_001)
    learnt = ScoreMap(raw, raw**2)
    small = learnt.compressed(tolerance)
    assert small.raw.size <= 1.3 / np.sqrt(4 * tolerance) + 3
    assert 0.5 * tolerance < small.largest_deviation(learnt) <= tolerance


def test_corners_are_kept_and_nothing_else() -> None:
    raw = np.linspace(0, 1, 1001)
    learnt = ScoreMap(raw, np.interp(raw, [0, 0.25, 0.5, 1], [0, 0.5, 0.6, 1]))
    np.testing.assert_allclose(learnt.compressed().raw, [0, 0.25, 0.5, 1])


def test_a_map_that_wiggles_everywhere_stays_as_it_is() -> None:
    learnt = wiggly(2_000)
    assert learnt.compressed().raw.size > 1_900
    assert learnt.compressed(1e-2).raw.size < 200


def test_neighbours_in_the_floating_point_line_stay_apart() -> None:
    """Scores squeezed into a gap without numbers between them would tie on any straight line that is not theirs."""
    raw = np.concatenate([[0.0], 0.5 + np.array([0, 1, 2, 3, 40]) * 2.0**-53, [1.0]])
    adjusted = np.concatenate([[0.0], 0.7 + np.arange(5) * 2.0**-53, [1.0]])
    small = ScoreMap(raw, adjusted).compressed(1e-9)
    assert (np.diff(small.apply(raw)) > 0).all()


def test_the_deviation_is_the_largest_anywhere() -> None:
    first, second = ScoreMap([0.0, 1.0], [0.0, 1.0]), ScoreMap([0.0, 0.25, 1.0], [0.0, 0.75, 1.5])
    x = np.linspace(-1, 2, 30_001)
    assert first.largest_deviation(second) == pytest.approx(np.abs(first.apply(x) - second.apply(x)).max())
    assert first.largest_deviation(second) == second.largest_deviation(first) == 0.5
    assert ScoreMap.identity().largest_deviation(ScoreMap.identity()) == 0
    assert ScoreMap.identity().largest_deviation(ScoreMap([1.0], [3.0])) == 2


def test_small_maps_stay() -> None:
    for learnt in (ScoreMap.identity(), ScoreMap([1.0], [2.0]), ScoreMap([1.0, 2.0], [2.0, 9.0])):
        assert learnt.compressed(0.9).to_dict() == learnt.to_dict()


@pytest.mark.parametrize("tolerance", [-1e-9, 1, np.nan, "1e-9", None])
def test_a_tolerance_is_a_share(tolerance: object) -> None:
    with pytest.raises(InputError, match="tolerance must be a share"):
        ScoreMap([0.0, 1.0], [0.0, 1.0]).compressed(tolerance)


@pytest.mark.slow
def test_time_grows_with_the_knots_and_not_faster() -> None:
    """Ten times the knots, at most thirty times the processor time; smooth and wiggly alike."""

    def seconds(knots: int) -> float:
        raw = np.linspace(0, 1, knots)
        learnt = [ScoreMap(raw, raw**2), wiggly(knots)]
        times = []
        for _ in range(3):
            start = time.process_time()
            for one in learnt:
                one.compressed()
            times.append(time.process_time() - start)
        return min(times)

    assert seconds(200_000) < 30 * max(seconds(20_000), 0.005)
