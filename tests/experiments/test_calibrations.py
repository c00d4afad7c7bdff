"""Calibration by blocks: strictly rising, finite, invertible, and close to the truth where there is one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.calibrations import Calibration, bent_calibration, block_calibration
from support.tables import noisy_table, tied_tables
from xorder import ScoreTable, frontier
from xorder.exceptions import InputError
from xorder.ordering import pair_bound, solve_multipliers

EVERY = pytest.mark.parametrize("calibrate", [bent_calibration, block_calibration])
Calibrate = Callable[..., Calibration]


def calibrated_table(rows: int, *, unit: bool, seed: int = 0) -> ScoreTable:
    """Draw a group whose log odds are 0.7 times the score (or its logit) plus 0.3."""
    rng = np.random.default_rng(seed)
    place = rng.normal(-0.5, 1.5, rows)
    label = rng.random(rows) < 1 / (1 + np.exp(-(0.3 + 0.7 * place)))
    return ScoreTable.from_arrays(label, 1 / (1 + np.exp(-place)) if unit else place)


@EVERY
@pytest.mark.parametrize("unit", [True, False])
def test_finds_the_truth(calibrate: Calibrate, unit: bool) -> None:
    curve = calibrate(calibrated_table(40_000, unit=unit), unit=unit)
    place = np.linspace(-3, 2, 11)
    score = 1 / (1 + np.exp(-place)) if unit else place
    wrong = curve.log_odds(score) - (0.3 + 0.7 * place)
    assert np.abs(wrong).max() < 0.4
    assert np.abs(wrong).mean() < 0.12


def test_blocks_pass_near_the_shares_of_blocks() -> None:
    """Two scores, so two blocks: their odds, each with one more row of the overall share."""
    table = ScoreTable([2.0, 1.0], [30.0, 10.0], [20.0, 40.0])
    curve = block_calibration(table, unit=False)
    np.testing.assert_allclose(curve.log_odds([2.0, 1.0]), np.log([30.4 / 20.6, 10.4 / 40.6]), atol=1e-12)


@pytest.mark.slow
@EVERY
@given(table=tied_tables(more=8), unit=st.booleans(), scale=st.sampled_from([1.0, 1e-9, 1e9]))
def test_rises_strictly_and_goes_back(calibrate: Calibrate, table: ScoreTable, unit: bool, scale: float) -> None:
    score = (table.score - 1) / (len(table) - 1) if unit else table.score * scale
    table = ScoreTable(score, table.positive, table.negative)
    curve = calibrate(table, unit=unit)
    log_odds = curve.log_odds(score)
    assert np.isfinite(log_odds).all()
    assert (np.diff(log_odds) < 0).all()
    np.testing.assert_allclose(curve.score(log_odds), score, rtol=1e-6, atol=1e-9)


@EVERY
@pytest.mark.parametrize(
    ("label", "score"),
    [
        ([0, 1], [0.5, 0.5]),
        ([0, 0, 1, 1], [0.0, 0.0, 1.0, 1.0]),
        ([1, 0], [0.0, 1.0]),
        ([0, 1], [1e-300, 2e-300]),
        ([0, 1], [0.0, 0.0]),
        ([1, 0], [1e308, -1e308]),
        ([1, 0, 1], [7.0, 7.0, 7.0]),
    ],
)
@pytest.mark.parametrize("weight", [1.0, 1e-40, 1e40])
def test_hard_tables(calibrate: Calibrate, label: list[int], score: list[float], weight: float) -> None:
    table = ScoreTable.from_arrays(label, score, np.full(len(label), weight))
    for unit in [True, False] if 0 <= min(score) <= max(score) <= 1 else [False]:
        curve = calibrate(table, unit=unit)
        for values in (
            curve.log_odds([-1e308, -1.0, 0.0, 1e-15, 0.5, 1.0, 1e308]),
            curve.score([-1e308, -50.0, 0.0, 50.0, 1e308]),
        ):
            assert np.isfinite(values).all()
            assert (np.diff(values) >= 0).all()


@EVERY
def test_scores_of_zero_and_one_stay_in_range_and_in_order(calibrate: Calibrate) -> None:
    """Like those of a forest: a third of all scores at the very ends."""
    rng = np.random.default_rng(0)
    score = np.clip(rng.normal(0.5, 0.6, 3000), 0, 1).round(2)
    table = ScoreTable.from_arrays(rng.random(3000) < 0.1 + 0.8 * score, score)
    curve = calibrate(table, unit=True)
    at = curve.log_odds([0.0, 1e-9, 0.001, 0.01, 0.5, 0.99, 1.0])
    assert (np.diff(at) > 0).all()
    assert np.abs(at).max() < 12
    moved = curve.score(at[:, None] + np.linspace(-30, 30, 61))
    assert 0 <= moved.min() <= moved.max() <= 1


@EVERY
def test_useless_scores_keep_their_order(calibrate: Calibrate) -> None:
    rng = np.random.default_rng(1)
    score = rng.random(500)
    against = ScoreTable.from_arrays(rng.random(500) > score, score)
    curve = calibrate(against, unit=True)
    assert (np.diff(curve.log_odds(np.linspace(0, 1, 50))) > 0).all()


@EVERY
def test_weight_two_is_the_row_twice(calibrate: Calibrate) -> None:
    rng = np.random.default_rng(2)
    score, weight = rng.random(200), rng.integers(1, 4, 200)
    label = rng.random(200) < score
    once = ScoreTable.from_arrays(label, score, weight)
    often = ScoreTable.from_arrays(np.repeat(label, weight), np.repeat(score, weight))
    at = np.linspace(0, 1, 40)
    one, two = (calibrate(table, unit=True).log_odds(at) for table in (once, often))
    np.testing.assert_allclose(one, two, atol=1e-10)


@EVERY
def test_one_class_is_refused(calibrate: Calibrate) -> None:
    with pytest.raises(InputError, match="no positives"):
        calibrate(ScoreTable.from_arrays([0, 0], [0.1, 0.2]), unit=True)


@pytest.mark.parametrize("metric", ["xauc", "prf"])
def test_joined_blocks_come_close_to_the_corners(metric: str) -> None:
    """Joining and smoothing blocks costs little on a sample of this size."""
    rng = np.random.default_rng(8)
    for _ in range(4):
        a, b = noisy_table(rng, 3000), noisy_table(rng, 1500, shift=-0.7)
        curves = [block_calibration(table, unit=False) for table in (a, b)]
        for tradeoff in (0.0, 0.3, 1.0):
            corners = frontier(a, b, metric=metric)
            best = float(np.max(corners.auc - tradeoff * np.abs(corners.gap)))
            found = solve_multipliers([a, b], curves, metric=metric, tradeoff=tradeoff)
            objective = found.auc - tradeoff * found.worst
            assert best - 0.006 < objective <= pair_bound(a, b, metric=metric, tradeoff=tradeoff) + 1e-12
