"""Calibration curves: strictly rising, finite, invertible, and close to the truth where there is one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from experiments.calibrations import Calibration, LineAxis, logistic_calibration
from support.tables import tied_tables
from xorder import ScoreTable
from xorder.exceptions import InputError


def calibrated_table(rows: int, *, unit: bool, seed: int = 0) -> ScoreTable:
    """Draw a group whose log odds are 0.7 times the score (or its logit) plus 0.3."""
    rng = np.random.default_rng(seed)
    place = rng.normal(-0.5, 1.5, rows)
    label = rng.random(rows) < 1 / (1 + np.exp(-(0.3 + 0.7 * place)))
    return ScoreTable.from_arrays(label, 1 / (1 + np.exp(-place)) if unit else place)


@pytest.mark.parametrize("unit", [True, False])
def test_finds_the_truth(unit: bool) -> None:
    curve = logistic_calibration(calibrated_table(40_000, unit=unit), unit=unit)
    place = np.linspace(-3, 2, 11)
    score = 1 / (1 + np.exp(-place)) if unit else place
    wrong = curve.log_odds(score) - (0.3 + 0.7 * place)
    assert np.abs(wrong).max() < 0.06
    assert np.abs(wrong).mean() < 0.04


@pytest.mark.parametrize("unit", [True, False])
def test_logistic_minimises_its_loss(unit: bool) -> None:
    """Against a general optimiser on the same penalised likelihood, row by row."""
    table = calibrated_table(300, unit=unit, seed=3)
    curve = logistic_calibration(table, unit=unit)
    mean, deviation = np.average(table.score, weights=table.mass), np.std(table.score)
    x = np.log(table.score / (1 - table.score)) if unit else (table.score - mean) / deviation

    def loss(parameters: np.ndarray) -> float:
        log_odds = parameters[0] + parameters[1] * x
        likelihood = table.positive @ np.log1p(np.exp(-log_odds)) + table.negative @ np.log1p(np.exp(log_odds))
        return float(likelihood + 0.5 * (parameters[1] - 1) ** 2)

    found = minimize(loss, np.zeros(2), method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12}).x
    np.testing.assert_allclose(curve.log_odds(table.score), found[0] + found[1] * x, atol=1e-5)


@pytest.mark.slow
@given(table=tied_tables(more=8), unit=st.booleans(), scale=st.sampled_from([1.0, 1e-9, 1e9]))
def test_rises_strictly_and_goes_back(table: ScoreTable, unit: bool, scale: float) -> None:
    score = (table.score - 1) / (len(table) - 1) if unit else table.score * scale
    table = ScoreTable(score, table.positive, table.negative)
    curve = logistic_calibration(table, unit=unit)
    log_odds = curve.log_odds(score)
    assert np.isfinite(log_odds).all()
    assert (np.diff(log_odds) < 0).all()
    np.testing.assert_allclose(curve.score(log_odds), score, rtol=1e-6, atol=1e-9)


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
def test_hard_tables(label: list[int], score: list[float], weight: float) -> None:
    table = ScoreTable.from_arrays(label, score, np.full(len(label), weight))
    for unit in [True, False] if 0 <= min(score) <= max(score) <= 1 else [False]:
        curve = logistic_calibration(table, unit=unit)
        for values in (
            curve.log_odds([-1e308, -1.0, 0.0, 1e-15, 0.5, 1.0, 1e308]),
            curve.score([-1e308, -50.0, 0.0, 50.0, 1e308]),
        ):
            assert np.isfinite(values).all()
            assert (np.diff(values) >= 0).all()


def test_scores_of_zero_and_one_stay_in_range_and_in_order() -> None:
    """Like those of a forest: a third of all scores at the very ends."""
    rng = np.random.default_rng(0)
    score = np.clip(rng.normal(0.5, 0.6, 3000), 0, 1).round(2)
    table = ScoreTable.from_arrays(rng.random(3000) < 0.1 + 0.8 * score, score)
    curve = logistic_calibration(table, unit=True)
    at = curve.log_odds([0.0, 1e-9, 0.001, 0.01, 0.5, 0.99, 1.0])
    assert (np.diff(at) > 0).all()
    assert np.abs(at).max() < 12
    moved = curve.score(at[:, None] + np.linspace(-30, 30, 61))
    assert 0 <= moved.min() <= moved.max() <= 1


def test_useless_scores_keep_their_order() -> None:
    rng = np.random.default_rng(1)
    score = rng.random(500)
    against = ScoreTable.from_arrays(rng.random(500) > score, score)
    curve = logistic_calibration(against, unit=True)
    assert (np.diff(curve.log_odds(np.linspace(0, 1, 50))) > 0).all()


def test_weight_two_is_the_row_twice() -> None:
    rng = np.random.default_rng(2)
    score, weight = rng.random(200), rng.integers(1, 4, 200)
    label = rng.random(200) < score
    once = ScoreTable.from_arrays(label, score, weight)
    often = ScoreTable.from_arrays(np.repeat(label, weight), np.repeat(score, weight))
    at = np.linspace(0, 1, 40)
    one, two = (logistic_calibration(table, unit=True).log_odds(at) for table in (once, often))
    np.testing.assert_allclose(one, two, atol=1e-10)


def test_one_class_is_refused() -> None:
    with pytest.raises(InputError, match="no positives"):
        logistic_calibration(ScoreTable.from_arrays([0, 0], [0.1, 0.2]), unit=True)


@pytest.mark.slow
def test_a_long_table_is_fitted_as_exactly_as_a_short_one() -> None:
    """A start from 2,000 parts must not show: the slope of the likelihood at the answer is 0 but for rounding."""
    table = calibrated_table(300_000, unit=False, seed=4)
    curve = logistic_calibration(table, unit=False)
    share = 1 / (1 + np.exp(-curve.log_odds(table.score)))
    position = curve.axis.position(table.score)
    slope = float(np.diff(curve.values)[0] / np.diff(curve.positions)[0])
    residual = table.mass * share - table.positive
    assert residual.sum() == pytest.approx(0.0, abs=1e-6)
    assert residual @ position + (slope - 1) == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize(
    ("positions", "values", "words"),
    [([0.0, 1.0], [1.0, 1.0], "rise strictly"), ([0.0], [1.0], "two points"), ([0.0, 1.0], [0.0, 1.0, 2.0], "as many")],
)
def test_points_that_are_no_curve_are_refused(positions: list[float], values: list[float], words: str) -> None:
    with pytest.raises(InputError, match=words):
        Calibration(LineAxis(0.0, 1.0), np.array(positions), np.array(values))
