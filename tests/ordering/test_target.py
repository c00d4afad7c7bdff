import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.tables import table
from xorder import PairGains, ScoreTable, order
from xorder.ordering import order_within

TRADEOFFS = [0.0, *(0.01 * 2.0**step for step in range(20))]

labels = st.text("01", min_size=2, max_size=25).filter(lambda text: len(set(text)) == 2)


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["xauc", "prf", "parity"])
@given(text_a=labels, text_b=labels, target=st.sampled_from([0.0, 0.01, 0.05, 0.2, 0.5]))
@settings(max_examples=20, deadline=None)
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
@settings(max_examples=20, deadline=None)
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


def test_a_ready_made_disparity_is_taken():
    a, b = table("1100"), table("0110")
    found = order_within(a, b, metric=PairGains(np.zeros((2, 2)), 0.25), max_gap=0.3, solver="dp")
    assert found.gap == 0.25
