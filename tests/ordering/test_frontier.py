"""The frontier against brute force, against the dynamic programme, and on hard numbers."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

from support.effort import draws, some
from support.oracles import all_interleavings, reachable, upper_hull
from support.real_data import training_scores
from support.tables import noisy_table, random_table
from xorder import PairGains, ScoreTable, frontier, order
from xorder._metric import METRICS
from xorder.exceptions import InputError
from xorder.ordering import _hull as hull
from xorder.ordering import as_scored, equal_cut
from xorder.ordering._ordering import Goal

TRADEOFFS = (0.0, 0.01, 0.1, 0.3, 1.0, 3.0, 100.0)


@pytest.mark.slow
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("seed", range(5))
def test_against_all_interleavings(metric: str, seed: int) -> None:
    """Cases of a seed: objective <= best <= bound, equality where the gap is 0, and exactly the hull's corners."""
    rng = np.random.default_rng([seed, list(METRICS).index(metric)])
    for _ in range(draws(250)):
        a, b = random_table(rng, 5), random_table(rng, 5)
        gaps, aucs = reachable(metric, a, b)
        tradeoff = float(rng.choice(TRADEOFFS))
        best = float(np.max(aucs - tradeoff * np.abs(gaps)))
        found = order(a, b, metric=metric, tradeoff=tradeoff)
        slack = 1e-12 * (1 + tradeoff)
        assert found.objective <= best + slack
        assert best <= found.bound + slack
        if found.optimality_gap == 0:
            assert found.objective == pytest.approx(best, abs=slack)
        curve = frontier(a, b, metric=metric)
        corners = upper_hull(gaps, aucs)
        np.testing.assert_allclose(curve.gap, corners[:, 0], atol=1e-9)
        np.testing.assert_allclose(curve.auc, corners[:, 1], atol=1e-9)
        assert np.all(np.diff(curve.price) > 0)


def through(pins: list[tuple[int, int]], path: list[int], columns: int) -> bool:
    """Whether an interleaving passes all pins: i scores of a and j of b, and nothing else, come first."""
    above = [*path, columns]
    return all((i == 0 or above[i - 1] <= j) and above[i] >= j for i, j in pins)


@pytest.mark.slow
@pytest.mark.parametrize("metric", METRICS)
def test_pinned_curves_against_all_interleavings_through_the_pins(metric: str) -> None:
    rng = np.random.default_rng([7, list(METRICS).index(metric)])
    for _ in range(draws(400)):
        a, b = random_table(rng, 5), random_table(rng, 5)
        count = int(rng.integers(1, 4))
        pins = list(zip(*(np.sort(rng.integers(0, len(table) + 1, count)).tolist() for table in (a, b)), strict=True))
        passes = [through(pins, path.tolist(), len(b)) for path in all_interleavings(len(a), len(b))]
        gaps, aucs = (each[passes] for each in reachable(metric, a, b))
        curve = frontier(a, b, metric=metric, pins=pins)
        corners = upper_hull(gaps, aucs)
        np.testing.assert_allclose(curve.gap, corners[:, 0], atol=1e-9)
        np.testing.assert_allclose(curve.auc, corners[:, 1], atol=1e-9)
        tradeoff, limit = float(rng.choice(TRADEOFFS)), float(rng.choice([0.0, 0.05, 0.3]))
        best = float(np.max(aucs - tradeoff * np.abs(gaps)))
        at = curve.at(tradeoff=tradeoff)
        assert through(pins, at.b_above.tolist(), len(b))
        assert at.objective == pytest.approx(best, abs=1e-9 * (1 + tradeoff))
        assert at.bound >= best - 1e-9 * (1 + tradeoff)
        within = curve.at(max_gap=limit)
        assert through(pins, within.b_above.tolist(), len(b))
        goal = Goal(None, limit)
        assert goal.value(within.auc, within.gap) == pytest.approx(goal.value(aucs, gaps).max(), abs=1e-9)
        allowed = np.abs(gaps) <= limit + 1e-13
        if allowed.any():
            assert within.auc == pytest.approx(aucs[allowed].max(), abs=1e-9)


def test_a_pin_on_the_best_path_costs_nothing_and_another_costs_auc() -> None:
    rng = np.random.default_rng(5)
    a, b = noisy_table(rng, 300), noisy_table(rng, 200)
    free = frontier(a, b)
    best = free.at(max_gap=0.0)
    half = len(a) // 2
    on_the_way = [(half, int(best.b_above[half]))]
    assert frontier(a, b, pins=on_the_way).at(max_gap=0.0).auc == pytest.approx(best.auc, abs=1e-3)
    apart = frontier(a, b, pins=[(1, len(b) - 1)]).at(tradeoff=0.0)
    assert apart.auc < free.at(tradeoff=0.0).auc - 0.01


def test_equal_cuts_have_equal_sensitivity() -> None:
    rng = np.random.default_rng(6)
    a, b = noisy_table(rng, 900), noisy_table(rng, 500)
    for share in (0.01, 0.05, 0.2, 0.9):
        i, j = equal_cut(a, b, share)
        rows = a.mass[:i].sum() + b.mass[:j].sum()
        assert rows == pytest.approx(share * (a.mass.sum() + b.mass.sum()), abs=a.mass.max() + b.mass.max())
        one = a.positive.max() / a.n1 + b.positive.max() / b.n1
        assert abs(a.positive[:i].sum() / a.n1 - b.positive[:j].sum() / b.n1) <= one
    with pytest.raises(InputError, match="share must lie between 0 and 1"):
        equal_cut(a, b, 1.0)


@pytest.mark.parametrize(
    ("pins", "words"),
    [
        ([(1, 9)], "j from 0 to 3"),
        ([(-1, 0)], "i from 0 to 3"),
        ([(1, 2), (2, 1)], "one must hold the other"),
        ([(0.5, 1)], "whole numbers"),
        ([1], "whole numbers"),
        (7, "whole numbers"),
    ],
)
def test_what_is_no_pin(pins: object, words: str) -> None:
    a = ScoreTable.from_arrays([1, 1, 0], [0.9, 0.7, 0.2])
    with pytest.raises(InputError, match=words):
        frontier(a, a, pins=pins)  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize("metric", METRICS)
def test_small_cases_are_solved_to_the_optimum(metric: str) -> None:
    rng = np.random.default_rng(3)
    for _ in range(draws(150)):
        a, b = random_table(rng, 6), random_table(rng, 6)
        gaps, aucs = reachable(metric, a, b)
        for tradeoff in (0.2, 1.0, 50.0):
            best = float(np.max(aucs - tradeoff * np.abs(gaps)))
            assert order(a, b, metric=metric, tradeoff=tradeoff).objective == pytest.approx(best, abs=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("metric", METRICS)
def test_max_gap_against_all_interleavings(metric: str) -> None:
    rng = np.random.default_rng(4)
    met = 0
    for _ in range(draws(500)):
        a, b = random_table(rng, 5), random_table(rng, 5)
        gaps, aucs = reachable(metric, a, b)
        allowed = float(rng.choice([0.0, 0.05, 0.2]))
        found = frontier(a, b, metric=metric).at(max_gap=allowed)
        feasible = np.abs(gaps) <= allowed + 1e-12
        if feasible.any():
            assert abs(found.gap) <= allowed + 1e-9
            assert found.auc <= aucs[feasible].max() + 1e-10
            assert aucs[feasible].max() <= found.auc + found.optimality_gap + 1e-10
            met += 1
    assert met > draws(100)


@pytest.mark.slow
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("part", range(2))
def test_never_below_the_dynamic_programme(metric: str, part: int) -> None:
    """Cases of 50 to 2,000 rows."""
    rng = np.random.default_rng([part, 50 + list(METRICS).index(metric)])
    for _ in range(draws(30)):
        rows = int(np.exp(rng.uniform(np.log(50), np.log(2000))))
        share = rng.uniform(0.2, 0.8)
        a = noisy_table(rng, max(int(rows * share), 10))
        b = noisy_table(rng, max(rows - int(rows * share), 10), shift=rng.normal())
        tradeoff = float(10 ** rng.uniform(-2.5, 2))
        ours = order(a, b, metric=metric, tradeoff=tradeoff)
        theirs = order(a, b, metric=metric, tradeoff=tradeoff, solver="dp")
        assert ours.objective >= theirs.objective - 1e-12 * (1 + tradeoff)
        assert ours.bound >= ours.objective - 1e-12 * (1 + tradeoff)
        assert theirs.bound == pytest.approx(ours.bound, abs=1e-9)


def test_at_the_size_of_adult_the_gap_is_small() -> None:
    rng = np.random.default_rng(0)
    a, b = noisy_table(rng, 18_150), noisy_table(rng, 2_963, shift=-0.7)
    for metric in METRICS:
        assert order(a, b, metric=metric, tradeoff=1.0).optimality_gap <= 1e-4


def test_reported_numbers_are_those_of_the_path() -> None:
    rng = np.random.default_rng(1)
    for metric in METRICS:
        a, b = noisy_table(rng, 300), noisy_table(rng, 200, shift=1)
        found = order(a, b, metric=metric, tradeoff=1.0)
        assert np.all(np.diff(found.b_above) >= 0)
        assert 0 <= found.b_above.min() <= found.b_above.max() <= len(b)
        scores = ScoreTable(-np.arange(len(a)) - found.b_above.astype(float), a.positive, a.negative)
        place = np.setdiff1d(np.arange(len(a) + len(b)), -scores.score)
        auc, gap = as_scored(scores, ScoreTable(-place.astype(float), b.positive, b.negative), metric)
        assert (auc, gap) == pytest.approx((found.auc, found.gap), abs=1e-12)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("scale", [1e-6, 1e6, 1e12])
def test_masses_of_any_size(metric: str, scale: float) -> None:
    rng = np.random.default_rng(2)
    a, b = noisy_table(rng, 400), noisy_table(rng, 300, shift=1)
    big_a, big_b = (ScoreTable(t.score, t.positive * scale, t.negative * scale) for t in (a, b))
    plain, scaled = (order(x, y, metric=metric, tradeoff=1.0) for x, y in ((a, b), (big_a, big_b)))
    assert scaled.objective == pytest.approx(plain.objective, abs=1e-9)
    assert scaled.bound == pytest.approx(plain.bound, abs=1e-12)


def test_mixed_masses_keep_their_digits() -> None:
    """One entry of 1e12 beside entries of 1: both must count."""
    a = ScoreTable([3.0, 2.0, 1.0], [1e12, 1.0, 2.0], [1.0, 1e12, 3.0])
    b = ScoreTable([3.0, 2.0, 1.0], [5.0, 1e12, 1.0], [1.0, 7.0, 1e12])
    gaps, aucs = reachable("xauc", a, b)
    found = order(a, b, tradeoff=1.0)
    best = float(np.max(aucs - np.abs(gaps)))
    assert found.objective == pytest.approx(best, abs=1e-12)
    assert found.bound >= best - 1e-12


def test_a_long_curve_is_listed_at_a_resolution_and_at_stays_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    a, b = noisy_table(rng, 3000), noisy_table(rng, 2500, shift=-0.5)
    full = frontier(a, b)
    assert len(full.auc) > 100
    monkeypatch.setattr(importlib.import_module("xorder.ordering._frontier"), "_PAIRS", 50)
    monkeypatch.setattr(hull, "RESOLUTION", 30)
    short = frontier(a, b)
    assert 10 < len(short.auc) <= 30
    for gap, auc in zip(short.gap, short.auc, strict=True):
        nearest = np.abs(full.gap - gap).argmin()
        assert (gap, auc) == pytest.approx((full.gap[nearest], full.auc[nearest]), abs=1e-9)
    assert short.gap[0] == pytest.approx(1.0)
    assert short.gap[-1] == pytest.approx(-1.0)
    for tradeoff in (0.1, 1.0):
        assert short.at(tradeoff=tradeoff).objective == full.at(tradeoff=tradeoff).objective


def test_both_ends_of_the_curve() -> None:
    rng = np.random.default_rng(6)
    curve = frontier(noisy_table(rng, 50), noisy_table(rng, 40))
    assert curve.gap[0] == pytest.approx(1.0)
    assert curve.gap[-1] == pytest.approx(-1.0)
    assert np.all(np.diff(curve.gap) < 0)
    slopes = np.diff(curve.auc) / np.diff(curve.gap)
    np.testing.assert_allclose(slopes, curve.price[1:], rtol=1e-6)


def test_own_matrix_of_gains() -> None:
    rng = np.random.default_rng(7)
    a, b = random_table(rng, 6), random_table(rng, 6)
    named = METRICS["prf"].gains(a, b)
    own = PairGains(named.matrix, named.offset)
    assert order(a, b, metric=own).objective == pytest.approx(order(a, b, metric="prf").objective, abs=1e-12)


@pytest.mark.parametrize(
    "matrix",
    [[[0, 1], [-1, 0]], [[0, 0], [1, 0]], [[0, 1], [0, 0]], [[5, 1], [1, 0]], [[0, 1], [1, 3]], [[-1, 1], [1, 0]]],
)
def test_a_matrix_outside_the_theory_is_refused(matrix: list[list[float]]) -> None:
    a = ScoreTable.from_arrays([1, 0], [2.0, 1.0])
    with pytest.raises(InputError, match="does not cover the gap matrix"):
        order(a, a, metric=PairGains(np.array(matrix, dtype=float), 0.0))


@pytest.mark.slow
def test_matrices_inside_the_theory_match_brute_force() -> None:
    """Random admissible matrices, the value of each interleaving summed pair by pair."""
    rng = np.random.default_rng(8)
    for _ in range(draws(300)):
        a, b = random_table(rng, 5), random_table(rng, 5)
        matrix = rng.random((2, 2)) + 0.05
        matrix[0, 0], matrix[1, 1] = (rng.random() * (matrix[0, 1] + matrix[1, 0]) for _ in range(2))
        matrix /= (a.n1 + a.n0) * (b.n1 + b.n0)
        offset = -float(rng.random()) * matrix.max()
        xa, xb = (np.stack([t.positive, t.negative], axis=1) for t in (a, b))
        gaps = np.array(
            [
                offset + sum(xa[i] @ matrix @ xb[j] for i in range(len(a)) for j in range(o[i], len(b)))
                for o in all_interleavings(len(a), len(b))
            ]
        )
        _, aucs = reachable("xauc", a, b)
        tradeoff = float(rng.choice(TRADEOFFS))
        found = order(a, b, metric=PairGains(matrix, offset), tradeoff=tradeoff)
        best = float(np.max(aucs - tradeoff * np.abs(gaps)))
        assert found.objective <= best + 1e-10
        assert best <= found.bound + 1e-10


def test_one_class_group_is_named() -> None:
    a, b = ScoreTable.from_arrays([1, 0], [2.0, 1.0]), ScoreTable.from_arrays([1, 1], [2.0, 1.0])
    with pytest.raises(InputError, match="the second group has no negatives"):
        frontier(a, b)


def test_at_takes_one_of_the_two() -> None:
    a = ScoreTable.from_arrays([1, 0], [2.0, 1.0])
    curve = frontier(a, a)
    for arguments in ({}, {"tradeoff": 1.0, "max_gap": 0.1}):
        with pytest.raises(InputError, match="one of the two"):
            curve.at(**arguments)
    with pytest.raises(InputError, match="max_gap must be a finite number"):
        curve.at(max_gap=-0.1)
    with pytest.raises(InputError, match="tradeoff must be a finite number"):
        curve.at(tradeoff=float("nan"))


# Largest gap allowed at tradeoff 1; the dynamic programme stays .002 to .015 below the bound.
GAPS = {"compas": 1e-3, "adult": 1e-4, "framingham": 1e-3, "german": 2e-3}


@pytest.fixture(scope="module", params=GAPS)
def problem(request: pytest.FixtureRequest):
    score, label, group = training_scores(request.param)
    tables = [ScoreTable.from_arrays(label[rows], score[rows]) for rows in (group, ~group)]
    return request.param, tables


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["xauc", "prf"])
def test_never_below_the_dynamic_programme_on_real_scores(problem, metric: str) -> None:
    _, (a, b) = problem
    for tradeoff in some((0.0, 0.02, 0.1, 0.3, 1.0, 10.0), start=metric == "prf"):
        ours = order(a, b, metric=metric, tradeoff=tradeoff)
        theirs = order(a, b, metric=metric, tradeoff=tradeoff, solver="dp")
        assert ours.objective >= theirs.objective - 1e-12 * (1 + tradeoff)
        assert ours.objective <= ours.bound + 1e-12 * (1 + tradeoff)


@pytest.mark.slow
def test_the_optimality_gap_is_small_on_real_scores(problem) -> None:
    name, (a, b) = problem
    assert order(a, b, tradeoff=1.0).optimality_gap <= GAPS[name]


@pytest.mark.slow
def test_a_target_is_met_from_inside_on_real_scores() -> None:
    score, label, group = training_scores("framingham")
    a, b = (ScoreTable.from_arrays(label[rows], score[rows]) for rows in (group, ~group))
    for target in (0.0, 0.01, 0.05):
        found = frontier(a, b).at(max_gap=target)
        assert abs(found.gap) <= target + (1e-5 if target == 0 else 0)
        assert found.optimality_gap < 2e-3
