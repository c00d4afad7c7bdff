from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import xorder
from support.oracles import all_interleavings, interleaving_value
from xorder import Ordering, PairGains, ScoreTable, order
from xorder._metric import METRICS
from xorder.exceptions import InputError

SOLVERS = ["dp", "greedy", "insertion"]

weights = st.sampled_from([0.25, 0.5, 1.0, 1.0, 1.0, 2.0, 3.7])


@st.composite
def tables(draw, max_rows=7):
    """Rows on a coarse grid of scores, so that many tie, with weights; both classes present."""
    size = draw(st.integers(2, max_rows))
    labels = [1, 0, *draw(st.lists(st.integers(0, 1), min_size=size - 2, max_size=size - 2))]
    scores = draw(st.lists(st.integers(0, max_rows), min_size=size, max_size=size))
    weight = draw(st.none() | st.lists(weights, min_size=size, max_size=size))
    return ScoreTable.from_arrays(labels, np.array(scores) / max_rows, weight)


tradeoffs = st.sampled_from([0.0, 0.05, 0.3, 1.0, 4.0, 1e6])


@pytest.mark.slow
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("metric", METRICS)
@given(a=tables(), b=tables(), tradeoff=tradeoffs)
@settings(max_examples=60, deadline=None)
def test_report_agrees_with_the_interleaved_scores(metric, solver, a, b, tradeoff):
    ordering = order(a, b, metric=metric, tradeoff=tradeoff, solver=solver)
    assert ordering.b_above.shape == (len(a),)
    assert ordering.b_above.dtype == np.int64
    assert (np.diff(ordering.b_above) >= 0).all()
    assert (ordering.b_above >= 0).all()
    assert (ordering.b_above <= len(b)).all()
    auc, disparity = interleaving_value(metric, a, b, ordering.b_above)
    assert ordering.auc == pytest.approx(auc, abs=1e-12)
    assert ordering.gap == pytest.approx(disparity, abs=1e-12)
    assert ordering.objective == pytest.approx(auc - tradeoff * abs(disparity), abs=1e-9 * (1 + tradeoff))
    assert (ordering.metric, ordering.solver, ordering.tradeoff) == (metric, solver, tradeoff)
    assert ordering.a is a
    assert ordering.b is b


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("metric", METRICS)
@given(a=tables(max_rows=4), b=tables(max_rows=4), tradeoff=tradeoffs)
@settings(max_examples=20, deadline=None)
def test_nothing_beats_brute_force(metric, solver, a, b, tradeoff):
    ordering = order(a, b, metric=metric, tradeoff=tradeoff, solver=solver)
    values = [interleaving_value(metric, a, b, path) for path in all_interleavings(len(a), len(b))]
    best = max(auc - tradeoff * abs(gap) for auc, gap in values)
    assert ordering.objective <= best + 1e-9 * (1 + tradeoff)
    # A bound, where there is one, is one for all of them.
    assert np.isnan(ordering.bound) or ordering.bound >= best - 1e-9 * (1 + tradeoff)


@pytest.mark.parametrize("metric", METRICS)
@given(a=tables(), b=tables())
@settings(max_examples=30, deadline=None)
def test_a_custom_disparity_gives_what_the_named_one_does(metric, a, b):
    named = order(a, b, metric=metric, tradeoff=0.7, solver="dp")
    made = xorder._metric.METRICS[metric].gains(a, b)
    same = order(a, b, metric=made, tradeoff=0.7, solver="dp")
    np.testing.assert_array_equal(same.b_above, named.b_above)
    assert same.gap == named.gap


@given(a=tables(), b=tables(), tradeoff=tradeoffs)
@settings(max_examples=30, deadline=None)
def test_a_disparity_of_nothing_leaves_the_best_auc(a, b, tradeoff):
    nothing = PairGains(np.zeros((2, 2)), 0.0)
    ordering = order(a, b, metric=nothing, tradeoff=tradeoff, solver="dp")
    assert ordering.gap == 0.0
    assert ordering.auc == pytest.approx(order(a, b, tradeoff=0, solver="dp").auc, abs=1e-12)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("metric", METRICS)
@given(a=tables(), b=tables())
@settings(max_examples=20, deadline=None)
def test_only_the_order_of_the_scores_matters(metric, solver, a, b):
    def bent(table, shift):
        return ScoreTable(np.expm1(table.score * 3) + shift, table.positive, table.negative)

    plain = order(a, b, metric=metric, solver=solver)
    moved = order(bent(a, 5.0), bent(b, -900.0), metric=metric, solver=solver)
    np.testing.assert_array_equal(moved.b_above, plain.b_above)
    assert moved.auc == plain.auc


def test_weight_two_is_the_row_twice():
    rng = np.random.default_rng(0)
    y, s, w = rng.integers(0, 2, 60), rng.random(60).round(1), rng.integers(1, 4, 60)
    half = np.arange(60) < 30
    once = [ScoreTable.from_arrays(y[m], s[m], w[m]) for m in (half, ~half)]
    often = [ScoreTable.from_arrays(np.repeat(y[m], w[m]), np.repeat(s[m], w[m])) for m in (half, ~half)]
    for metric in METRICS:
        for solver in SOLVERS:
            one = order(*once, metric=metric, solver=solver)
            two = order(*often, metric=metric, solver=solver)
            np.testing.assert_array_equal(one.b_above, two.b_above)
            assert one.auc == two.auc
            assert one.gap == two.gap


def test_gap_is_what_is_left_to_the_bound():
    table = ScoreTable.from_arrays([1, 0], [2, 1])
    disparity = xorder._metric.METRICS["xauc"].gains(table, table)
    unbound = Ordering.from_path(table, table, np.array([2, 2]), disparity, 0.5, "by hand")
    assert np.isnan(unbound.optimality_gap)
    ordering = replace(unbound, bound=0.75)
    # All of b above: of four pairs b's positive wins both, a's positive one; xAUC 0 against 1.
    assert (ordering.auc, ordering.gap, ordering.objective) == (0.75, -1.0, 0.25)
    assert ordering.optimality_gap == 0.5
    assert replace(unbound, bound=0.25 - 1e-17).optimality_gap == 0.0


def test_the_path_cannot_be_changed():
    table = ScoreTable.from_arrays([1, 0], [2, 1])
    with pytest.raises(ValueError, match="read-only"):
        order(table, table, solver="dp").b_above[0] = 1


@pytest.mark.parametrize("solver", ["dp", "insertion"])
def test_groups_of_very_different_size(solver):
    rng = np.random.default_rng(1)
    small = ScoreTable.from_arrays([1, 0], [0.7, 0.2])
    large = ScoreTable.from_arrays(rng.integers(0, 2, 3000), rng.random(3000))
    for a, b in ((small, large), (large, small)):
        ordering = order(a, b, tradeoff=5.0, solver=solver)
        assert ordering.b_above.size == len(a)
        assert abs(ordering.gap) < 1e-2


def test_one_score_a_group():
    tied = ScoreTable.from_arrays([1, 0, 0], [0.5, 0.5, 0.5])
    ordering = order(tied, tied, solver="dp")
    assert ordering.b_above.tolist() in ([0], [1])
    assert ordering.auc == 0.5


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"solver": "magic"}, "solver must be one of .*dp.*'magic'"),
        ({"metric": "f1"}, "metric must be one of xauc, prf, parity.*'f1'"),
        ({"tradeoff": -0.1}, "tradeoff must be a finite number from 0 up.*got -0.1"),
        ({"tradeoff": np.nan}, "tradeoff must be a finite number"),
        ({"tradeoff": np.inf}, "tradeoff must be a finite number"),
    ],
)
def test_wrong_settings_are_named(options, words):
    table = ScoreTable.from_arrays([1, 0], [2, 1])
    with pytest.raises(InputError, match=words):
        order(table, table, **options)


def test_a_one_class_group_is_named():
    both, positive = ScoreTable.from_arrays([1, 0], [2, 1]), ScoreTable.from_arrays([1, 1], [2, 1])
    with pytest.raises(InputError, match="the second group has no negatives"):
        order(both, positive, solver="dp")
    with pytest.raises(InputError, match="the first group has no positives"):
        order(ScoreTable.from_arrays([0], [1]), both, solver="dp")
