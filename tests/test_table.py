"""ScoreTable: rows of one group become masses at distinct scores, and nothing is lost or changed on the way."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xorder import ScoreTable
from xorder._table import Tables, as_tables, pairs_within, scores_at
from xorder.exceptions import InputError
from xorder.metrics import audit_tables

# A few values that meet again and again, so that ties are common, and the ends of the range of floats.
SCORES = [-1e300, -2.5, -5e-324, -0.0, 0.0, 5e-324, 1e-300, 0.1, 0.25, 0.5, 1.0, 3.0, 1e300]
WHOLE = st.integers(0, 3).map(float)
REAL = st.one_of(st.just(0.0), st.floats(1e-6, 1e6))


@st.composite
def rows(draw: st.DrawFn, weights: st.SearchStrategy[float] = WHOLE, max_rows: int = 12):
    size = draw(st.integers(0, max_rows))
    columns = (st.integers(0, 1), st.sampled_from(SCORES), weights)
    y, s, w = (draw(st.lists(column, min_size=size, max_size=size)) for column in columns)
    return np.array(y, dtype=int), np.array(s), np.array(w)


def counted(y, s, w) -> list[tuple[float, float, float]]:
    """Positive and negative mass of each score with any, highest first, counted in a dict."""
    masses: dict[float, list[float]] = {}
    for label, score, weight in zip(y, s, w, strict=True):
        if weight:
            masses.setdefault(float(score), [0.0, 0.0])[0 if label == 1 else 1] += weight
    return sorted(((score, *mass) for score, mass in masses.items()), reverse=True)


def entries(table: ScoreTable) -> list[tuple[float, float, float]]:
    return list(zip(table.score.tolist(), table.positive.tolist(), table.negative.tolist(), strict=True))


@given(rows())
def test_masses_are_counted_at_each_distinct_score(data):
    y, s, w = data
    assert entries(ScoreTable.from_arrays(y, s, w)) == counted(y, s, w)
    assert entries(ScoreTable.from_arrays(y, s)) == counted(y, s, np.ones(len(y)))


@given(rows(REAL))
def test_real_weights_add_up(data):
    found, expected = entries(ScoreTable.from_arrays(*data)), counted(*data)
    assert [row[0] for row in found] == [row[0] for row in expected]
    np.testing.assert_allclose(np.array(found), np.array(expected), rtol=1e-14)


@given(rows())
def test_a_row_of_weight_w_is_w_rows(data):
    y, s, w = data
    times = w.astype(int)
    assert ScoreTable.from_arrays(y, s, w) == ScoreTable.from_arrays(np.repeat(y, times), np.repeat(s, times))


@pytest.mark.slow
@given(rows(), rows())
def test_a_sum_is_the_table_of_the_rows_together(one, two):
    together = [np.concatenate(columns) for columns in zip(one, two, strict=True)]
    assert ScoreTable.from_arrays(*one) + ScoreTable.from_arrays(*two) == ScoreTable.from_arrays(*together)
    unweighted = ScoreTable.from_arrays(*one[:2]) + ScoreTable.from_arrays(*two[:2])
    assert unweighted == ScoreTable.from_arrays(*together[:2])


@given(rows(REAL), rows(REAL))
def test_a_sum_of_real_weights_differs_by_rounding_only(one, two):
    merged = ScoreTable.from_arrays(*one) + ScoreTable.from_arrays(*two)
    expected = ScoreTable.from_arrays(*(np.concatenate(columns) for columns in zip(one, two, strict=True)))
    np.testing.assert_array_equal(merged.score, expected.score)
    np.testing.assert_allclose(merged.positive, expected.positive, rtol=1e-12, atol=0)
    np.testing.assert_allclose(merged.negative, expected.negative, rtol=1e-12, atol=0)


@given(rows(), rows(), rows())
def test_tables_may_be_added_in_any_order(first, second, third):
    one, two, three = (ScoreTable.from_arrays(*part) for part in (first, second, third))
    assert (one + two) + three == three + (two + one)


@given(rows(), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(data, random):
    order = list(range(len(data[0])))
    random.shuffle(order)
    assert ScoreTable.from_arrays(*data) == ScoreTable.from_arrays(*(column[order] for column in data))


@given(rows())
def test_totals_and_concordant_pairs(data):
    y, s, w = data
    table = ScoreTable.from_arrays(y, s, w)
    assert table.n1 == w[y == 1].sum()
    assert table.n0 == w[y == 0].sum()
    np.testing.assert_array_equal(table.mass, table.positive + table.negative)
    pairs = sum(
        w[i] * w[j] * (1.0 if s[i] > s[j] else 0.5 if s[i] == s[j] else 0.0)
        for i in np.flatnonzero(y == 1)
        for j in np.flatnonzero(y == 0)
    )
    assert table.concordant.sum() == pytest.approx(pairs, abs=1e-12)
    assert pairs_within(table) == pytest.approx(pairs, abs=1e-12)


@pytest.mark.parametrize("weight", [None, [1, 1, 1, 1]])
@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        (np.array([0.1, 0.5, 0.5, 0.9], dtype=np.float32), np.float32([0.9, 0.5, 0.1]).astype(float)),
        (np.array([0.1, 0.5, 0.5, 0.9], dtype=">f8"), [0.9, 0.5, 0.1]),
        (np.array([1, 7, 7, 10], dtype=np.int8), [10.0, 7.0, 1.0]),
        ([-3, 2, 2, 10**15], [1e15, 2.0, -3.0]),
        ([1e-300, 5e-324, 5e-324, 1e300], [1e300, 1e-300, 5e-324]),
        (np.array([1e-45, 0.0, -0.0, 3e38], dtype=np.float32), np.float32([3e38, 1e-45, 0]).astype(float)),
        ([-1.7e308, -1e-300, -1e-300, 1.7e308], [1.7e308, -1e-300, -1.7e308]),
    ],
)
def test_any_finite_scores(scores, expected, weight):
    table = ScoreTable.from_arrays([1, 0, 1, 0], scores, weight)
    assert table.score.dtype == np.float64
    assert table.score.tolist() == list(expected)
    assert table.mass.sum() == 4


def test_boolean_scores_and_labels():
    table = ScoreTable.from_arrays([True, False, True], [True, True, False])
    assert entries(table) == [(1.0, 1.0, 1.0), (0.0, 1.0, 0.0)]


@pytest.mark.parametrize("weight", [None, [2, 1, 1, 5]])
def test_the_two_zeros_are_one_score_and_stored_as_plus_zero(weight):
    one = ScoreTable.from_arrays([1, 0, 0, 1], [-0.0, 0.0, -0.0, 0.0], weight)
    assert len(one) == 1
    assert not np.signbit(one.score[0])
    assert len(one + ScoreTable.from_arrays([1], [-0.0])) == 1


def test_close_scores_stay_apart():
    score = [0.3, np.nextafter(0.3, 1), np.float32(0.3)]
    assert len(ScoreTable.from_arrays([1, 0, 1], score)) == 3


def test_rows_without_weight_vanish():
    table = ScoreTable.from_arrays([1, 0, 1, 0], [0.9, 0.5, 0.5, 0.1], [0, 0, 2, 0])
    assert entries(table) == [(0.5, 2.0, 0.0)]
    nothing = ScoreTable.from_arrays([1, 0], [0.9, 0.5], [0, 0])
    assert (len(nothing), nothing.n1, nothing.n0) == (0, 0.0, 0.0)
    assert nothing + table == table


def test_an_empty_table():
    table = ScoreTable.from_arrays([], [])
    assert (len(table), table.n1, table.n0, table.concordant.size) == (0, 0.0, 0.0, 0)


def test_a_table_cannot_be_changed():
    table = ScoreTable.from_arrays([1, 0, 1], [0.9, 0.5, 0.1]) + ScoreTable.from_arrays([1], [0.3], [2.5], squares=True)
    for column in filter(lambda column: column.init, fields(ScoreTable)):
        with pytest.raises(ValueError, match="read-only"):
            getattr(table, column.name)[0] = 7.0
        with pytest.raises(FrozenInstanceError):
            setattr(table, column.name, np.zeros(3))


def test_a_table_leaves_the_callers_arrays_alone():
    y, s, w = np.array([1, 0, 1]), np.array([0.1, 0.9, 0.9]), np.array([1.0, 2.0, 0.0])
    kept = [column.copy() for column in (y, s, w)]
    table = ScoreTable.from_arrays(y, s, w)
    ScoreTable.from_arrays(y, s)
    for column, before in zip((y, s, w), kept, strict=True):
        np.testing.assert_array_equal(column, before)
        column[:] = 5
    assert entries(table) == [(0.9, 0.0, 2.0), (0.1, 1.0, 0.0)]


def test_equality_is_that_of_the_contents():
    table = ScoreTable.from_arrays([1, 0], [0.9, 0.5])
    assert table == ScoreTable([0.9, 0.5], [1, 0], [0, 1])
    assert table != ScoreTable([0.9, 0.5], [1, 0], [0, 2])
    assert table != ScoreTable([0.9, 0.5], [1, 1], [0, 1])
    assert table != ScoreTable([0.9, 0.4], [1, 0], [0, 1])
    assert table != ScoreTable([0.9], [1], [0])
    assert table != "table"
    with pytest.raises(TypeError, match="unhashable"):
        hash(table)
    with pytest.raises(TypeError, match="unsupported operand"):
        table + 1


def test_copies_and_pickles_are_equal():
    table = ScoreTable.from_arrays([1, 0, 1], [0.9, 0.5, 0.1])
    assert copy.deepcopy(table) == table
    assert pickle.loads(pickle.dumps(table)) == table


def test_repr_tells_the_size():
    table = ScoreTable.from_arrays([1, 0, 1], [0.9, 0.5, 0.5], [1000, 0.5, 500])
    assert repr(table) == "ScoreTable(2 scores, positives 1,500, negatives 0.5)"


@pytest.mark.parametrize(
    ("columns", "complaint"),
    [
        (([0.5, 0.9], [1, 1], [0, 0]), "fall strictly"),
        (([0.9, 0.9], [1, 1], [0, 0]), "fall strictly"),
        (([0.9, np.nan, 0.5], [1, 1, 1], [0, 0, 0]), "fall strictly"),
        (([np.inf, 0.5], [1, 1], [0, 0]), "finite"),
        (([0.5, -np.inf], [1, 1], [0, 0]), "finite"),
        (([np.nan], [1], [0]), "finite"),
        (([0.9, 0.5], [1, -1], [0, 2]), "not negative"),
        (([0.9, 0.5], [1, 1], [0, -1e-9]), "not negative"),
        (([0.9, 0.5], [1, np.nan], [0, 1]), "not negative"),
        (([0.9, 0.5], [1, 1], [0, np.inf]), "finite"),
        (([0.9, 0.5], [1, 0], [0, 0]), "some mass"),
        (([0.9, 0.5], [1], [0, 1]), "one length"),
        (([0.9], [1, 1], [0]), "one length"),
        (([[0.9]], [[1]], [[1]]), "one-dimensional"),
    ],
)
def test_what_is_not_a_table_is_refused(columns, complaint):
    with pytest.raises(InputError, match=complaint):
        ScoreTable(*columns)


@pytest.mark.parametrize("weight", [None, [1, 1, 1]])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_rows_with_scores_that_are_not_finite_are_refused(bad, weight):
    with pytest.raises(InputError, match=r"finite|fall strictly"):
        ScoreTable.from_arrays([1, 0, 1], [0.5, bad, 0.1], weight)


@pytest.mark.parametrize("bad", [-1.0, np.nan, np.inf])
def test_rows_with_impossible_weights_are_refused(bad):
    with pytest.raises(InputError, match="sample_weight must be 0 or between"):
        ScoreTable.from_arrays([1, 0, 1], [0.5, 0.3, 0.1], [1.0, bad, 1.0])


@pytest.mark.parametrize("labels", [[2, 0], [-1, 1], ["1", "0"]])
def test_rows_with_other_labels_are_refused(labels):
    with pytest.raises(InputError, match="0 and 1"):
        ScoreTable.from_arrays(labels, [0.9, 0.5])


def test_a_table_does_not_follow_the_arrays_it_was_made_of():
    score = np.array([0.9, 0.5])
    table = ScoreTable(score, np.ones(2), np.ones(2))
    score[0] = -3.0
    assert table.score.tolist() == [0.9, 0.5]


class TestSquares:
    """Sums of squared weights, kept where weights come from a sampling design."""

    y, s, w = [1, 0, 1, 1], [0.9, 0.4, 0.4, 0.9], [0.5, 2.0, 3.0, 1.5]

    def test_they_are_sums_by_score_and_class(self):
        table = ScoreTable.from_arrays(self.y, self.s, self.w, squares=True)
        assert table.positive.tolist() == [2.0, 3.0]
        assert table.positive_squares.tolist() == [0.25 + 2.25, 9.0]
        assert table.negative_squares.tolist() == [0.0, 4.0]
        assert [spread.tolist() for spread in table.spreads] == [[2.5, 9.0], [0.0, 4.0]]

    def test_without_them_masses_count_rows(self):
        table = ScoreTable.from_arrays(self.y, self.s, self.w)
        assert table.positive_squares is None
        assert table.spreads == (table.positive, table.negative) or all(
            np.array_equal(one, other) for one, other in zip(table.spreads, table.sums, strict=True)
        )

    def test_no_row_vanishes_in_them(self):
        table = ScoreTable.from_arrays([1, 0], [0.9, 0.4], [1e-50, 1.0], squares=True)
        assert table.positive_squares[0] > 0

    def test_adding_up_keeps_them_and_a_row_that_counts_has_weight_one(self):
        weighted = ScoreTable.from_arrays(self.y, self.s, self.w, squares=True)
        plain = ScoreTable.from_arrays([1, 1, 0], [0.9, 0.9, 0.1])
        both = weighted + plain
        assert both == plain + weighted
        assert both.positive_squares.tolist() == [2.5 + 2.0, 9.0, 0.0]
        assert both.negative_squares.tolist() == [0.0, 4.0, 1.0]

    def test_other_scores_and_pickles_keep_them(self):
        table = ScoreTable.from_arrays(self.y, self.s, self.w, squares=True)
        moved = table.at(np.array([9.0, 4.0]))
        assert moved.score.tolist() == [9.0, 4.0]
        assert moved.positive_squares is table.positive_squares
        assert pickle.loads(pickle.dumps(table)) == table

    def test_those_of_one_class_alone_are_refused(self):
        with pytest.raises(InputError, match="of both classes, or of neither"):
            ScoreTable([0.5], [1.0], [1.0], [1.0])


class TestTables:
    a, b = ScoreTable.from_arrays([1, 0], [0.9, 0.4]), ScoreTable.from_arrays([1, 0], [0.8, 0.3])

    def test_groups_are_sorted_and_looked_up(self):
        tables = Tables({"B": self.b, "A": self.a}, rows=4)
        assert list(tables) == ["A", "B"]
        assert tables["B"] is self.b
        assert (len(tables), tables.rows, tables.binning_error, tables.notes) == (2, 4, None, ())
        assert as_tables(tables) is tables
        assert tables == {"A": self.a, "B": self.b}

    def test_days_add_up(self):
        first = Tables({"A": self.a, "B": self.b}, rows=4, notes=("one",))
        second = Tables({"B": self.a, "C": self.b}, rows=4, notes=("one", "two"))
        both = first + second
        assert list(both) == ["A", "B", "C"]
        assert both["B"] == self.a + self.b
        assert both["C"] == self.b
        assert (both.rows, both.notes) == (8, ("one", "two"))

    @pytest.mark.parametrize("wrong", [None, [1], {"A": None}, {"A": 3}])
    def test_what_are_no_tables(self, wrong):
        with pytest.raises(InputError, match="a dict that holds a ScoreTable for each group"):
            audit_tables(wrong)

    def test_no_groups_and_a_group_without_a_name(self):
        with pytest.raises(InputError, match="at least two groups; there is none"):
            audit_tables({})
        with pytest.raises(InputError, match="call the rows of unknown group 'missing'"):
            audit_tables({None: self.a, "B": self.b})


@given(rows(max_rows=30), st.integers(1, 4))
def test_sums_by_steps_are_those_of_the_whole(data, step):
    y, s, w = data
    table = ScoreTable.from_arrays(y, s, w)
    if not len(table):
        return
    shares = np.array([0.05, 0.3, 0.5, 0.99])
    below = np.cumsum(table.mass)
    thinned = table.thinned(3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("xorder._table.STEP", step)
        np.testing.assert_array_equal(
            scores_at(table, shares), [table.score[below >= share * below[-1]][0] for share in shares]
        )
        assert pairs_within(table) == table.concordant.sum()
        assert table.thinned(3) == thinned
