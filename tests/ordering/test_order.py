"""Every solver behind order(), against brute force and exact arithmetic; and order_within()."""

from dataclasses import replace
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import xorder
from support.effort import draws
from support.oracles import all_interleavings, interleaving_value
from support.tables import draw_tied_table, table, tied_tables
from xorder import PairGains, ScoreTable, order
from xorder._metric import METRICS
from xorder.exceptions import InputError
from xorder.ordering import order_within
from xorder.ordering._ordering import pairs_of_ordering, path_ordering

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
@settings(max_examples=draws(60), deadline=None)
def test_report_agrees_with_the_interleaved_scores(metric, solver, a, b, tradeoff):
    ordering = order(a, b, metric=metric, tradeoff=tradeoff, solver=solver)
    assert ordering.b_above.shape == (len(a),)
    assert ordering.b_above.dtype == np.int64
    assert (np.diff(ordering.b_above) >= 0).all()
    assert (ordering.b_above >= 0).all()
    assert (ordering.b_above <= len(b)).all()
    auc, gap = interleaving_value(metric, a, b, ordering.b_above)
    assert ordering.auc == pytest.approx(auc, abs=1e-12)
    assert ordering.gap == pytest.approx(gap, abs=1e-12)
    assert ordering.objective == pytest.approx(auc - tradeoff * abs(gap), abs=1e-9 * (1 + tradeoff))
    assert (ordering.metric, ordering.solver, ordering.tradeoff) == (metric, solver, tradeoff)
    assert ordering.a is a
    assert ordering.b is b


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("metric", METRICS)
@given(a=tables(max_rows=4), b=tables(max_rows=4), tradeoff=tradeoffs)
@settings(max_examples=draws(20), deadline=None)
def test_nothing_beats_brute_force(metric, solver, a, b, tradeoff):
    ordering = order(a, b, metric=metric, tradeoff=tradeoff, solver=solver)
    values = [interleaving_value(metric, a, b, path) for path in all_interleavings(len(a), len(b))]
    best = max(auc - tradeoff * abs(gap) for auc, gap in values)
    assert ordering.objective <= best + 1e-9 * (1 + tradeoff)
    # A bound, where there is one, is one for all of them.
    assert np.isnan(ordering.bound) or ordering.bound >= best - 1e-9 * (1 + tradeoff)


@pytest.mark.parametrize("metric", METRICS)
@given(a=tables(), b=tables())
@settings(max_examples=draws(30), deadline=None)
def test_custom_gains_give_what_the_named_ones_do(metric, a, b):
    named = order(a, b, metric=metric, tradeoff=0.7, solver="dp")
    made = xorder._metric.METRICS[metric].gains(a, b)
    same = order(a, b, metric=made, tradeoff=0.7, solver="dp")
    np.testing.assert_array_equal(same.b_above, named.b_above)
    assert same.gap == named.gap


@given(a=tables(), b=tables(), tradeoff=tradeoffs)
@settings(max_examples=draws(30), deadline=None)
def test_a_gap_of_nothing_leaves_the_best_auc(a, b, tradeoff):
    nothing = PairGains(np.zeros((2, 2)), 0.0)
    ordering = order(a, b, metric=nothing, tradeoff=tradeoff, solver="dp")
    assert ordering.gap == 0.0
    assert ordering.auc == pytest.approx(order(a, b, tradeoff=0, solver="dp").auc, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("metric", METRICS)
@given(a=tables(), b=tables())
@settings(max_examples=draws(20), deadline=None)
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
    gains = xorder._metric.METRICS["xauc"].gains(table, table)
    unbound = path_ordering(table, table, np.array([2, 2]), gains, 0.5, "by hand")
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


def exact(table):
    return [(Fraction(p), Fraction(n)) for p, n in zip(table.positive, table.negative, strict=True)]


def greedy_forward_search(table_a, table_b, metric):
    """The appendix's search, in exact arithmetic: place what leaves the smaller gap half-way, a if both do."""
    a, b = exact(table_a), exact(table_b)
    n1a, n0a, n1b, n0b = (sum(row[k] for row in rows) for rows in (a, b) for k in (0, 1))
    size_a, size_b = n1a + n0a, n1b + n0b
    n0 = n0a + n0b

    def credit(own, other, i, j, n1_own, n0_other, mass_own, mass_other):
        positive, negative = own[i]
        left = sum(n for _, n in other[j:])
        if metric == "xauc":
            return positive * left / (n1_own * n0_other)
        if metric == "prf":
            return positive * (left + sum(n for _, n in own[i + 1 :]) + negative / 2) / (n1_own * n0)
        return (positive + negative) * sum(p + n for p, n in other[j:]) / (mass_own * mass_other)

    path, gap, i, j = [], Fraction(0), 0, 0
    while i < len(a) and j < len(b):
        with_a = gap + credit(a, b, i, j, n1a, n0b, size_a, size_b)
        with_b = gap - credit(b, a, j, i, n1b, n0a, size_b, size_a)
        if abs(with_b) < abs(with_a):
            gap, j = with_b, j + 1
        else:
            path.append(j)
            gap, i = with_a, i + 1
    return path + [len(b)] * (len(a) - len(path))


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["xauc", "prf", "parity"])
@given(a=tied_tables(), b=tied_tables())
@settings(max_examples=draws(100), deadline=None)
def test_greedy_is_the_forward_search(metric, a, b):
    assert order(a, b, metric=metric, solver="greedy").b_above.tolist() == greedy_forward_search(a, b, metric)


def test_greedy_ties_go_to_a():
    # Two negatives change nothing: a goes first. The positives then alternate.
    assert order(table("01"), table("01"), solver="greedy").b_above.tolist() == [0, 1]


def one_place_orderings(a, b):
    """All of b at one place of a, then all of a at one place of b."""
    for place in range(len(a) + 1):
        yield np.array([0] * place + [len(b)] * (len(a) - place))
    for place in range(len(b) + 1):
        yield np.full(len(a), place)


def assert_best_single_place(metric, a, b):
    ordering = order(a, b, metric=metric, solver="insertion")
    values = [interleaving_value(metric, a, b, path) for path in one_place_orderings(a, b)]
    smallest = min(abs(gap) for _, gap in values)
    assert abs(ordering.gap) == pytest.approx(smallest, abs=1e-12)
    # Of the places with that gap, the one of the highest AUC.
    assert ordering.auc == pytest.approx(max(auc for auc, gap in values if abs(gap) < smallest + 1e-9), abs=1e-12)
    assert any(np.array_equal(ordering.b_above, path) for path in one_place_orderings(a, b))


@pytest.mark.parametrize("metric", ["xauc", "prf", "parity"])
def test_insertion_is_the_best_single_place_of_a_few(metric):
    r = Random(0)
    for _ in range(20):
        assert_best_single_place(metric, draw_tied_table(r), draw_tied_table(r))


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["xauc", "prf", "parity"])
@given(a=tied_tables(), b=tied_tables())
@settings(max_examples=draws(100), deadline=None)
def test_insertion_is_the_best_single_place(metric, a, b):
    assert_best_single_place(metric, a, b)


@pytest.mark.parametrize("solver", ["greedy", "insertion"])
def test_the_tradeoff_only_enters_the_objective(solver):
    a, b = table("1011001"), table("0110")
    low, high = (order(a, b, tradeoff=tradeoff, solver=solver) for tradeoff in (0.0, 8.0))
    np.testing.assert_array_equal(low.b_above, high.b_above)
    assert low.objective == low.auc
    assert high.objective == pytest.approx(high.auc - 8 * abs(high.gap))


def largest_steps(a, b, metric):
    """The most that one score can move the gap in insertion, for each group as host."""
    n0 = a.n0 + b.n0
    if metric == "xauc":
        return [(t.positive / t.n1 + t.negative / t.n0).max() for t in (a, b)]
    if metric == "prf":
        return [(t.positive / t.n1 * (o.n0 / n0) + t.negative / n0).max() for t, o in ((a, b), (b, a))]
    return [2 * (t.mass / t.mass.sum()).max() for t in (a, b)]


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["xauc", "prf", "parity"])
@given(a=tied_tables(), b=tied_tables())
@settings(max_examples=draws(100), deadline=None)
def test_insertion_comes_within_half_a_step(metric, a, b):
    """Proposition 1 for tied and weighted rows: the gap passes 0 in steps, so one end of a step is within half."""
    ordering = order(a, b, metric=metric, solver="insertion")
    assert abs(ordering.gap) <= min(largest_steps(a, b, metric)) / 2 + 1e-12


@pytest.mark.slow
@given(a=tied_tables(), b=tied_tables())
@settings(max_examples=draws(100), deadline=None)
def test_greedy_comes_within_one_step(a, b):
    """The greedy lemma for tied and weighted rows, for the gaps whose credits end with either group."""
    ordering = order(a, b, metric="xauc", solver="greedy")
    assert abs(ordering.gap) <= max((t.positive / t.n1).max() for t in (a, b)) + 1e-12
    ordering = order(a, b, metric="parity", solver="greedy")
    assert abs(ordering.gap) <= max((t.mass / t.mass.sum()).max() for t in (a, b)) + 1e-12


def test_solvers_take_any_gains():
    a, b = table("1100"), table("0110")
    # Only pairs of positives count.
    positives = PairGains([[0.5, 0], [0, 0]], -1.0)
    for solver in ("greedy", "insertion"):
        ordering = order(a, b, metric=positives, solver=solver)
        assert ordering.gap == positives.value(pairs_of_ordering(a, b, ordering.b_above))
        assert abs(ordering.gap) <= 0.5


TRADEOFFS = [0.0, *(0.01 * 2.0**step for step in range(20))]

labels = st.text("01", min_size=2, max_size=25).filter(lambda text: len(set(text)) == 2)


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["xauc", "prf", "parity"])
@given(text_a=labels, text_b=labels, target=st.sampled_from([0.0, 0.01, 0.05, 0.2, 0.5]))
@settings(max_examples=draws(20), deadline=None)
def test_target_is_met_where_some_tradeoff_meets_it(metric, text_a, text_b, target):
    a, b = table(text_a), table(text_b)
    found = order_within(a, b, metric=metric, max_gap=target, solver="dp")
    tried = [order(a, b, metric=metric, tradeoff=tradeoff, solver="dp") for tradeoff in TRADEOFFS]
    good = [ordering for ordering in tried if abs(ordering.gap) <= target]
    if good:
        assert abs(found.gap) <= target
        # The first of the ladder that is enough is always among those compared.
        assert found.auc >= good[0].auc
    else:
        assert abs(found.gap) <= min(abs(ordering.gap) for ordering in tried)


@given(text_a=labels, text_b=labels)
@settings(max_examples=draws(20), deadline=None)
def test_a_target_that_is_met_anyway_costs_nothing(text_a, text_b):
    a, b = table(text_a), table(text_b)
    free = order(a, b, tradeoff=0.0, solver="dp")
    found = order_within(a, b, metric="xauc", max_gap=abs(free.gap), solver="dp")
    assert found.auc == free.auc
    assert found.tradeoff == 0.0


def test_a_looser_target_never_costs_more_auc():
    rng = np.random.default_rng(5)
    y = rng.random(400) < 0.4
    s = rng.normal(size=400) + y - np.arange(400) / 300
    a, b = (ScoreTable.from_arrays(y[part], s[part]) for part in (slice(250), slice(250, None)))
    found = [order_within(a, b, metric="xauc", max_gap=t, solver="dp") for t in (0.0, 0.01, 0.05, 0.1, 0.3, 1.0)]
    assert all(abs(o.gap) <= t for o, t in zip(found[1:], (0.01, 0.05, 0.1, 0.3, 1.0), strict=True))
    aucs = [ordering.auc for ordering in found]
    assert aucs == sorted(aucs)
    assert aucs[0] < aucs[-1]


def test_bisection_finds_a_cheaper_tradeoff_than_the_ladder():
    rng = np.random.default_rng(6)
    y = rng.random(300) < 0.4
    s = rng.normal(size=300) + y - np.arange(300) / 150
    a, b = (ScoreTable.from_arrays(y[part], s[part]) for part in (slice(150), slice(150, None)))
    found = order_within(a, b, metric="xauc", max_gap=0.1, solver="dp")
    ladder = next(
        ordering for tradeoff in TRADEOFFS if abs((ordering := order(a, b, tradeoff=tradeoff, solver="dp")).gap) <= 0.1
    )
    assert found.auc > ladder.auc
    assert found.tradeoff < ladder.tradeoff


@pytest.mark.parametrize("solver", ["greedy", "insertion"])
def test_solvers_without_a_tradeoff_give_their_one_answer(solver):
    a, b = table("110100"), table("011010")
    found = order_within(a, b, metric="xauc", max_gap=0.0, solver=solver)
    np.testing.assert_array_equal(found.b_above, order(a, b, solver=solver).b_above)


def test_what_cannot_be_met_ends_at_the_smallest_gap():
    # One score a group and pairs worth 2: the gap is -1 or 1, whatever is done.
    a = b = ScoreTable.from_arrays([1, 0], [0.5, 0.5])
    found = order_within(a, b, metric="parity", max_gap=0.1, solver="dp")
    assert abs(found.gap) == 1.0


def test_ready_made_gains_are_taken():
    a, b = table("1100"), table("0110")
    found = order_within(a, b, metric=PairGains(np.zeros((2, 2)), 0.25), max_gap=0.3, solver="dp")
    assert found.gap == 0.25
