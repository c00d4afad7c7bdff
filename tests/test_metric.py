from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.oracles import all_interleavings, auc, gap, interleaving_value, rows_of
from xorder import ScoreTable
from xorder._metric import METRICS, PairGains, auc_gains, check_pair_gains, normal_quantile
from xorder.exceptions import InputError
from xorder.ordering._dynamic import partial_objective
from xorder.ordering._ordering import (
    Places,
    as_scored,
    pairs_of_ordering,
)


@st.composite
def tables(draw, max_scores=4):
    """Tied and weighted scores, with both classes somewhere."""
    size = draw(st.integers(1, max_scores))
    masses = st.integers(0, 3).map(float)
    entries = [draw(st.tuples(masses, masses).filter(any)) for _ in range(size)]
    positive, negative = np.array(entries).T
    if not positive.any():
        positive[draw(st.integers(0, size - 1))] = 2.0
    if not negative.any():
        negative[draw(st.integers(0, size - 1))] = 1.5
    return ScoreTable(np.arange(size, 0, -1) / 8, positive, negative)


@st.composite
def pairs_with_path(draw):
    a, b = draw(tables()), draw(tables())
    b_above = sorted(draw(st.lists(st.integers(0, len(b)), min_size=len(a), max_size=len(a))))
    return a, b, np.array(b_above)


@pytest.mark.slow
@pytest.mark.parametrize("metric", METRICS)
@given(drawn=pairs_with_path())
def test_value_is_the_metric_of_the_interleaved_rows(metric, drawn):
    a, b, b_above = drawn
    y, s, g, w = rows_of(a, b, b_above)
    assert METRICS[metric].gains(a, b).value(pairs_of_ordering(a, b, b_above)) == pytest.approx(
        gap(metric, y, s, g, "a", "b", w), abs=1e-12
    )
    assert auc_gains(a, b).value(pairs_of_ordering(a, b, b_above)) == pytest.approx(auc(y, s, w), abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("metric", METRICS)
@given(drawn=pairs_with_path())
def test_swapping_the_groups_turns_the_sign(metric, drawn):
    a, b, b_above = drawn
    a_above = np.searchsorted(b_above, np.arange(len(b)), side="right")
    one = METRICS[metric].gains(a, b).value(pairs_of_ordering(a, b, b_above))
    other = METRICS[metric].gains(b, a).value(pairs_of_ordering(b, a, a_above))
    assert other == pytest.approx(-one, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("metric", METRICS)
@given(drawn=pairs_with_path())
def test_offset_is_the_gap_with_all_of_b_above(metric, drawn):
    a, b, _ = drawn
    _, expected = interleaving_value(metric, a, b, np.full(len(a), len(b)))
    assert METRICS[metric].gains(a, b).offset == pytest.approx(expected, abs=1e-12)


def test_matrices_are_those_of_the_design():
    a = ScoreTable([0.9, 0.5, 0.1], [1, 2, 0], [0, 1, 3])  # 3 positives, 4 negatives
    b = ScoreTable([0.8, 0.2], [5, 0], [1, 1])  # 5 positives, 2 negatives
    np.testing.assert_allclose(METRICS["xauc"].gains(a, b).matrix, [[0, 1 / 6], [1 / 20, 0]])
    np.testing.assert_allclose(METRICS["prf"].gains(a, b).matrix, [[0, 1 / 18], [1 / 30, 0]])
    np.testing.assert_allclose(METRICS["parity"].gains(a, b).matrix, np.full((2, 2), 2 / 49))
    np.testing.assert_allclose(auc_gains(a, b).matrix, [[0, 1 / 48], [-1 / 48, 0]])


def test_a_pair_is_worth_its_cell_of_the_matrix():
    a = ScoreTable([0.9, 0.1], [1, 2], [4, 8])
    b = ScoreTable([0.5, 0.4], [16, 32], [64, 128])
    # a's first score above both of b's, its second between them.
    masses = [[1 * 48 + 2 * 32, 1 * 192 + 2 * 128], [4 * 48 + 8 * 32, 4 * 192 + 8 * 128]]
    for row in (0, 1):
        for column in (0, 1):
            only = np.zeros((2, 2))
            only[row, column] = 0.5
            value = PairGains(only, 7.0).value(pairs_of_ordering(a, b, np.array([0, 1])))
            assert value == 7 + masses[row][column] / 2


@pytest.mark.slow
@pytest.mark.parametrize("metric", METRICS)
@given(a=tables(), b=tables(), shift=st.integers(-4, 4))
def test_as_scored_counts_equal_scores_across_groups_half(metric, a, b, shift):
    b = ScoreTable(b.score + shift / 8, b.positive, b.negative)
    rows = [
        (label, score, group, mass)
        for group, table in (("a", a), ("b", b))
        for label, column in ((1, table.positive), (0, table.negative))
        for score, mass in zip(table.score, column, strict=True)
        if mass > 0
    ]
    y, s, g, w = zip(*rows, strict=True)
    got_auc, got_gap = as_scored(a, b, metric)
    assert got_auc == pytest.approx(auc(y, s, w), abs=1e-12)
    assert got_gap == pytest.approx(gap(metric, y, s, g, "a", "b", w), abs=1e-12)


def test_pairs_by_hand():
    a, b = ScoreTable([0.9, 0.5], [1, 2], [0, 1]), ScoreTable([0.5, 0.1], [3, 0], [1, 5])
    # a's first score outranks all of b; its second ties with b's first and outranks its second.
    np.testing.assert_array_equal(Places(a, b).pairs(), [[3 + 2 * 1.5, 6 + 2 * 5.5], [1.5, 5.5]])


custom = st.builds(
    lambda cells, part, offset: PairGains(np.reshape(cells, (2, 2)), offset, a_part=np.reshape(part, (2, 2))),
    st.lists(st.integers(-4, 4), min_size=4, max_size=4),
    st.lists(st.integers(-4, 4), min_size=4, max_size=4),
    st.integers(-3, 3),
)


def credit(products, place, other):
    return sum(mass[:, place] * left[:, other] for mass, left in products)


@pytest.mark.slow
@given(drawn=pairs_with_path(), metric=st.sampled_from(list(METRICS)) | custom)
def test_credits_along_a_path_add_up_to_the_metric(drawn, metric):
    """What the solvers see half-way ends, at the last cell, in the gap and (but for a constant) the AUC."""
    a, b, b_above = drawn
    gains = check_pair_gains(metric, a, b)
    rule = partial_objective(a, b, gains)

    def walk(path):
        sums = np.array([0.0, rule.start])
        j = 0
        for i in range(len(a) + 1):
            until = path[i] if i < len(a) else len(b)
            for place in range(j, until):
                sums += credit(rule.from_b, place, i)
                sums[1] += rule.own_b[place]
            j = until
            if i < len(a):
                sums += credit(rule.from_a, i, j)
                sums[1] += rule.own_a[i]
        return sums

    auc_seen, gap_seen = walk(b_above)
    assert gap_seen * rule.gap_unit == pytest.approx(gains.value(pairs_of_ordering(a, b, b_above)), abs=1e-9)
    other = np.zeros(len(a), dtype=int)
    difference = rule.auc_unit * (auc_seen - walk(other)[0])
    pairs = auc_gains(a, b)
    assert difference == pytest.approx(
        pairs.value(pairs_of_ordering(a, b, b_above)) - pairs.value(pairs_of_ordering(a, b, other)), abs=1e-9
    )


def test_named_gaps_start_from_nothing():
    a = ScoreTable.from_arrays([1, 0, 1, 0, 0], [5, 4, 3, 2, 1])
    b = ScoreTable.from_arrays([0, 1, 1], [3, 2, 2])
    for metric in METRICS:
        assert partial_objective(a, b, METRICS[metric].gains(a, b)).start == 0.0


def test_a_part_is_one_half_unless_given():
    gains = PairGains([[1, 2], [3, 4]], 0.0)
    np.testing.assert_array_equal(gains.a_part, [[0.5, 1], [1.5, 2]])
    assert gains.name == "custom"


def test_arrays_cannot_be_changed():
    given_matrix = np.eye(2)
    gains = PairGains(given_matrix, 0.0)
    given_matrix[0, 0] = 7
    assert gains.matrix[0, 0] == 1
    for array in (gains.matrix, gains.a_part):
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0] = 3


@pytest.mark.parametrize(
    ("matrix", "offset"), [(np.eye(3), 0.0), (np.zeros(4), 0.0), ([[0, np.nan], [0, 0]], 0.0), (np.eye(2), np.inf)]
)
def test_what_is_not_gains_is_refused(matrix, offset):
    with pytest.raises(InputError, match="2 x 2 matrix and an offset, all finite"):
        PairGains(matrix, offset)


def test_an_unknown_metric_is_refused_with_the_known_ones():
    table = ScoreTable.from_arrays([1, 0], [2, 1])
    with pytest.raises(InputError, match=r"xauc, prf, parity.*'auc'"):
        check_pair_gains("auc", table, table)


def test_interleavings_of_the_oracle_are_complete():
    assert len({tuple(path) for path in all_interleavings(3, 4)}) == 35


def test_quantiles_are_two_sided():
    assert normal_quantile(0.95) == pytest.approx(NormalDist().inv_cdf(0.975))
