from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings

from support.oracles import interleaving_value
from support.tables import table, tied_tables
from xorder import PairGains, order
from xorder.ordering._ordering import pairs_of_ordering


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
@settings(max_examples=100, deadline=None)
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


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["xauc", "prf", "parity"])
@given(a=tied_tables(), b=tied_tables())
@settings(max_examples=100, deadline=None)
def test_insertion_is_the_best_single_place(metric, a, b):
    ordering = order(a, b, metric=metric, solver="insertion")
    values = [interleaving_value(metric, a, b, path) for path in one_place_orderings(a, b)]
    smallest = min(abs(gap) for _, gap in values)
    assert abs(ordering.gap) == pytest.approx(smallest, abs=1e-12)
    # Of the places with that gap, the one of the highest AUC.
    assert ordering.auc == pytest.approx(max(auc for auc, gap in values if abs(gap) < smallest + 1e-9), abs=1e-12)
    assert any(np.array_equal(ordering.b_above, path) for path in one_place_orderings(a, b))


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
@settings(max_examples=100, deadline=None)
def test_insertion_comes_within_half_a_step(metric, a, b):
    """Proposition 1 for tied and weighted rows: the gap passes 0 in steps, so one end of a step is within half."""
    ordering = order(a, b, metric=metric, solver="insertion")
    assert abs(ordering.gap) <= min(largest_steps(a, b, metric)) / 2 + 1e-12


@pytest.mark.slow
@given(a=tied_tables(), b=tied_tables())
@settings(max_examples=100, deadline=None)
def test_greedy_comes_within_one_step(a, b):
    """The greedy lemma for tied and weighted rows, for the disparities whose credits end with either group."""
    ordering = order(a, b, metric="xauc", solver="greedy")
    assert abs(ordering.gap) <= max((t.positive / t.n1).max() for t in (a, b)) + 1e-12
    ordering = order(a, b, metric="parity", solver="greedy")
    assert abs(ordering.gap) <= max((t.mass / t.mass.sum()).max() for t in (a, b)) + 1e-12


def test_solvers_take_any_disparity():
    a, b = table("1100"), table("0110")
    # Only pairs of positives count.
    positives = PairGains([[0.5, 0], [0, 0]], -1.0)
    for solver in ("greedy", "insertion"):
        ordering = order(a, b, metric=positives, solver=solver)
        assert ordering.gap == positives.value(pairs_of_ordering(a, b, ordering.b_above))
        assert abs(ordering.gap) <= 0.5
