import json
import time

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from support.drawn_maps import dense, maps
from support.effort import draws
from xorder import ScoreMap
from xorder.exceptions import InputError


@pytest.mark.slow
@given(score_map=maps())
@example(score_map=ScoreMap([-1e290, 1e290], [0.0, 1.0]))
@example(score_map=ScoreMap([0.0, 1.0], [-1e290, 1e290]))
@example(score_map=ScoreMap([0.0, 5e-324], [0.0, 1e290]))
@example(score_map=ScoreMap([1.0, 1.0 + 2**-52], [0.0, 1.0]))
@settings(max_examples=draws(300))
def test_it_never_decreases_and_is_exact_at_the_knots(score_map):
    x = dense(score_map)
    y = score_map.apply(x)
    assert np.isfinite(y).all()
    assert (np.diff(y) >= 0).all()
    np.testing.assert_array_equal(score_map.apply(score_map.raw), score_map.adjusted)


def test_new_scores_keep_their_proportions():
    """The paper's example: raw .8 and .5 became .7 and .4, so a test score in between keeps its quantile."""
    score_map = ScoreMap(raw=[0.5, 0.8], adjusted=[0.4, 0.7])
    x = np.array([0.5, 0.56, 0.65, 0.77, 0.8])
    y = score_map.apply(x)
    np.testing.assert_allclose((y - 0.4) / (0.7 - 0.4), (x - 0.5) / (0.8 - 0.5))
    np.testing.assert_allclose(y, [0.4, 0.46, 0.55, 0.67, 0.7])
    stretched = ScoreMap(raw=[0.5, 0.8], adjusted=[0.1, 0.7])
    np.testing.assert_allclose(stretched.apply([0.6]), [0.3])


def test_outside_the_knots_distances_stay():
    score_map = ScoreMap([10.0, 20.0], [0.0, 1.0])
    np.testing.assert_array_equal(score_map.apply([7.0, 10.0, 20.0, 25.0]), [-3.0, 0.0, 1.0, 6.0])
    np.testing.assert_array_equal(ScoreMap([2.0], [5.0]).apply([-1.0, 2.0, 4.0]), [2.0, 5.0, 7.0])


def test_without_knots_nothing_changes():
    x = np.array([0.3, -2.0, 1e300])
    y = ScoreMap.identity().apply(x)
    np.testing.assert_array_equal(x, y)
    assert y is not x


@pytest.mark.parametrize("score_map", [ScoreMap([0.0, 1.0], [2.0, 4.0]), ScoreMap([0.0], [1.0]), ScoreMap.identity()])
def test_any_shape_comes_back_as_it_came(score_map):
    assert score_map.apply(0.5).shape == ()
    assert score_map.apply([]).shape == (0,)
    grid = np.array([[0.0, 0.25], [0.5, 1.0]])
    y = score_map.apply(grid)
    assert y.shape == (2, 2)
    np.testing.assert_array_equal(y[1], score_map.apply(grid[1]))


def test_many_rows_and_columns_come_back_as_they_came():
    score_map, scores = ScoreMap([0, 1, 4], [0, 3, 5]), np.linspace(-1, 5, 70_000)
    flat = score_map.apply(scores)
    np.testing.assert_array_equal(score_map.apply(scores.reshape(700, 100)), flat.reshape(700, 100))
    np.testing.assert_array_equal(score_map.apply(scores[:1]), flat[:1])


def test_one_score_does_not_depend_on_the_others():
    rng = np.random.default_rng(0)
    score_map = ScoreMap(np.sort(rng.random(50)), np.sort(rng.random(50)))
    x = rng.random(200) * 1.2 - 0.1
    one_by_one = [score_map.apply(np.array([value]))[0] for value in x]
    np.testing.assert_array_equal(score_map.apply(x), one_by_one)


@pytest.mark.slow
@given(score_map=maps())
def test_json_round_trip_is_exact(score_map):
    again = ScoreMap.from_dict(json.loads(json.dumps(score_map.to_dict())))
    np.testing.assert_array_equal(again.raw, score_map.raw)
    np.testing.assert_array_equal(again.adjusted, score_map.adjusted)
    assert all(type(knot) is float for knot in score_map.to_dict()["raw"])


def test_identity_survives_the_round_trip():
    assert repr(ScoreMap.from_dict(ScoreMap.identity().to_dict())) == "ScoreMap(identity)"


def test_repr_says_how_large_it_is():
    assert repr(ScoreMap(np.arange(1200), np.arange(1200))) == "ScoreMap(1,200 knots, raw 0 to 1199)"


@pytest.mark.parametrize(
    ("raw", "adjusted", "words"),
    [
        ([0, 1, 1], [0, 1, 2], "raw knots of a score map must rise strictly"),
        ([0, 1], [1, 0], "adjusted knots of a score map must rise strictly"),
        ([0, np.nan], [0, 1], "raw knots .* finite"),
        ([0, 1], [0, np.inf], "adjusted knots .* finite"),
        ([0, 1], [0], "one adjusted knot for each raw one; got 2 raw and 1 adjusted"),
        ([[0, 1]], [[0, 1]], "plain list"),
        (["a"], [1], "raw knots of a score map must hold numbers"),
        (5, [1], "plain list"),
    ],
)
def test_what_is_no_map_is_refused(raw, adjusted, words):
    with pytest.raises(InputError, match=words):
        ScoreMap(raw, adjusted)


@pytest.mark.parametrize(
    "record",
    [
        None,
        [],
        {},
        {"raw": [0]},
        {"raw": [0], "adjusted": "0"},
        {"raw": ["0"], "adjusted": [0]},
        {"raw": [True], "adjusted": [1]},
        {"raw": [None], "adjusted": [1]},
        {"raw": [[0]], "adjusted": [1]},
        {"raw": [0, 0], "adjusted": [0, 1]},
        {"raw": [10**400], "adjusted": [0]},
    ],
)
def test_records_that_are_no_map_are_refused(record):
    with pytest.raises(InputError, match="score map"):
        ScoreMap.from_dict(record)


def test_knots_are_the_map_s_own():
    raw = np.array([0.0, 1.0])
    score_map = ScoreMap(raw, [0.0, 2.0])
    raw[0] = 0.9
    assert score_map.raw[0] == 0.0
    with pytest.raises(ValueError, match="read-only"):
        score_map.adjusted[0] = 1.0


def test_given_scores_are_not_changed():
    x = np.array([0.1, 0.9])
    ScoreMap([0.0, 1.0], [5.0, 6.0]).apply(x)
    np.testing.assert_array_equal(x, [0.1, 0.9])


def wiggly(knots: int, *, seed: int = 0) -> ScoreMap:
    """A map that follows scores drawn at random, as one learnt by interpolation does."""
    rng = np.random.default_rng(seed)
    raw = np.sort(rng.random(knots))
    return ScoreMap(raw, np.cumsum(rng.random(knots) + 1e-3))


@pytest.mark.slow
@given(score_map=maps(), tolerance=st.sampled_from([0.0, 1e-12, 1e-9, 1e-3, 0.1, 0.9]))
@example(score_map=ScoreMap([-1e290, 0.0, 5e-324, 1e290], [-1e290, 0.0, 1e-3, 1e290]), tolerance=0.1)
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


@pytest.mark.parametrize(("last", "share"), [(100.0, 0.49), (4.0, 0.25)])
def test_the_tolerance_is_a_share_of_the_whole_range(last: float, share: float) -> None:
    # Without the knot between them, 1 stands half-way to the last: off by that share of all.
    score_map = ScoreMap([0.0, 1.0, 2.0], [0.0, 1.0, last])
    assert score_map.compressed(share + 0.005).raw.tolist() == [0, 2]
    assert score_map.compressed(share - 0.005).raw.tolist() == [0, 1, 2]


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
