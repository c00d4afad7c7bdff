"""The scale of log odds between two ends, and maps that multiply odds: few knots, close to what they stand for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, logit

from xorder import ScoreTable
from xorder._table import FloatArray
from xorder.transfer import OddsScale, map_at, shifted_map

UNIT = (0.0, 1.0)


def group(score: FloatArray, seed: int = 0) -> ScoreTable:
    rng = np.random.default_rng(seed)
    return ScoreTable.from_arrays(rng.random(score.size) < 0.4, score)


def probabilities(rows: int = 3000, center: float = -1.0, spread: float = 1.5) -> FloatArray:
    return expit(np.random.default_rng(1).normal(center, spread, rows))


def test_probabilities_have_the_odds_that_they_state() -> None:
    table = group(probabilities())
    scale = OddsScale.of([table.score], UNIT)
    assert (scale.low, scale.high) == UNIT
    np.testing.assert_allclose(scale.log_odds(table.score), logit(table.score), atol=1e-9)


def test_a_score_on_a_bound_is_half_a_step_inside() -> None:
    scale = OddsScale.of([np.array([1.0, 0.5, 0.1, 0.0]), np.array([0.7, 0.2])], UNIT)
    assert (scale.low, scale.high) == pytest.approx((-0.05, 1.15))
    assert np.isfinite(scale.log_odds(np.array([0.0, 1.0]))).all()


def test_other_scores_stand_between_their_lowest_and_highest() -> None:
    scale = OddsScale.of([np.array([10.0, 4.0, 0.0]), np.array([8.0, 1.0])])
    assert (scale.low, scale.high) == pytest.approx((-0.5, 11.0))


def test_a_single_score_has_room_on_both_sides() -> None:
    alone = np.array([3.0])
    assert OddsScale.of([alone]) == OddsScale(1.5, 4.5)
    # On a bound there is half of the range beyond it, and the other bound stays.
    assert OddsScale.of([alone], (3.0, 7.0)) == OddsScale(1.0, 7.0)
    assert OddsScale.of([alone], (-5.0, 3.0)) == OddsScale(-5.0, 7.0)


@given(
    st.lists(st.floats(-1e280, 1e280), min_size=2, max_size=20, unique=True),
    st.floats(-4, 4),
)
def test_order_is_kept_and_the_ends_hold(values: list[float], shift: float) -> None:
    score = np.array(sorted(values, reverse=True))
    scale = OddsScale.of([score])
    found = scale.log_odds(score)
    assert np.isfinite(found).all()
    assert (np.diff(found) <= 0).all()
    moved = scale.score(found + shift)
    assert (np.diff(moved) <= 0).all()
    assert moved.min() >= scale.low
    assert moved.max() <= scale.high
    spread = scale.high / 2 - scale.low / 2
    np.testing.assert_allclose(scale.score(found) / spread, score / spread, atol=1e-9)


@pytest.mark.parametrize("shift", [-2.0, -0.3, 0.4, 1.5, np.log(100)])
@pytest.mark.parametrize(("center", "spread"), [(-1.0, 1.5), (-6.0, 1.0), (3.0, 2.5)])
def test_twelve_knots_are_close_to_the_odds_multiplied(shift: float, center: float, spread: float) -> None:
    score = probabilities(center=center, spread=spread)
    table = group(score)
    found = shifted_map(table, OddsScale.of([table.score], UNIT), shift, UNIT)
    assert found.raw.size <= 14
    assert (found.raw[0], found.raw[-1], found.adjusted[0], found.adjusted[-1]) == (0, 1, 0, 1)
    assert np.isin(found.raw[1:-1], score).sum() == 0
    off = logit(found.apply(score)) - logit(score) - shift
    # Nine rows of ten are nearly where they should be, and those far out not far from it.
    assert np.abs(np.quantile(off, [0.05, 0.95])).max() < 0.04
    assert np.abs(np.quantile(off, [0.005, 0.995])).max() < 0.15
    assert abs(off.mean()) < 0.005
    steps = np.diff(found.adjusted) / np.diff(found.raw)
    assert steps.max() <= 100


def test_nothing_added_is_no_map() -> None:
    table = group(probabilities())
    assert not shifted_map(table, OddsScale.of([table.score], UNIT), 0.0, UNIT).raw.size


@pytest.mark.parametrize("shift", [-1.0, 1.0])
def test_few_levels_each_get_their_place(shift: float) -> None:
    table = group(np.repeat(np.arange(11.0), 30))
    scale = OddsScale.of([table.score])
    found = shifted_map(table, scale, shift, (0.0, 10.0))
    assert not np.isin(found.raw, table.score).any()
    wanted = np.clip(scale.score(scale.log_odds(table.score) + shift), 0, 10)
    inside = (wanted > 0) & (wanted < 10)
    np.testing.assert_allclose(found.apply(table.score)[inside], wanted[inside], atol=0.02)
    assert found.apply(table.score).min() >= 0
    assert found.apply(table.score).max() <= 10


def test_knots_move_as_they_are_told_and_the_rest_along_with_them() -> None:
    score = probabilities()
    scale = OddsScale.of([np.unique(score)[::-1]], UNIT)
    knots, there = np.array([-2.0, 0.0, 1.0]), np.array([-1.0, 0.5, 1.5])
    found = map_at(np.unique(score)[::-1], scale, knots, there, UNIT)
    np.testing.assert_allclose(scale.log_odds(found.apply(scale.score(knots))), there, atol=1e-4)
    np.testing.assert_allclose(found.raw[1:-1], expit(knots), rtol=1e-5)
