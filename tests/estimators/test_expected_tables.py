import numpy as np
import pytest

from xorder import XOrder, expected_gap
from xorder._table import ScoreTable
from xorder._validation import check_tables
from xorder.datasets import simulate_population
from xorder.estimators._expected import _shares, expected_gap_tables
from xorder.exceptions import InputError


def people(size=3000, seed=0):
    drawn = simulate_population(size, random_state=seed)
    # Two digits, so that many people share a score and a table has far fewer entries than there are rows.
    return np.round(drawn.y_score, 2), drawn.y_true, drawn.group


@pytest.mark.parametrize("metric", ["xauc", "prf", "parity"])
def test_tables_tell_what_rows_tell(metric):
    """Both deal people to folds at random, each in its own way: the figures agree within a part of the error."""
    score, y, group = people()
    repair = XOrder(metric=metric, do_no_harm=False)
    by_rows = expected_gap(repair, score, y, sensitive_features=group)
    by_tables = expected_gap_tables(repair, check_tables(y, score, group, None))
    assert by_tables.before.to_dict() == by_rows.before.to_dict()
    rows, tables = by_rows.gap(), by_tables.gap()
    assert tables.stderr == pytest.approx(rows.stderr, rel=0.1)
    assert abs(tables.value - rows.value) < 0.5 * rows.stderr
    assert by_tables.after.auc == pytest.approx(by_rows.after.auc, abs=0.003)
    assert by_tables.target == by_rows.target
    assert by_tables.after.positives == by_tables.before.positives


@pytest.mark.slow
def test_it_is_the_same_every_time_and_the_repair_is_not_touched():
    score, y, group = people(600)
    tables = check_tables(y, score, group, None)
    repair = XOrder()
    first, again = (expected_gap_tables(repair, tables) for _ in range(2))
    assert first.to_dict() == again.to_dict()
    assert not hasattr(repair, "maps_")
    other = expected_gap_tables(repair, tables, random_state=1)
    assert other.to_dict() != first.to_dict()


@pytest.mark.slow
def test_a_repair_of_noise_is_not_praised():
    """On the sample itself the gap is closed; on people it was not learnt from it is not."""
    score, y, group = people(200, seed=3)
    tables = check_tables(y, score, group, None)
    assert abs(XOrder().fit_tables(tables).gap_) < 0.002
    assert expected_gap_tables(XOrder(), tables).likely_gap > 0.03


def test_weights_that_are_no_counts_need_their_squares():
    score, y, group = people()
    weight = np.random.default_rng(0).uniform(0.2, 3.0, score.size)
    repair = XOrder(do_no_harm=False)
    settings = {"sensitive_features": group, "sample_weight": weight, "weights_are": "sampling"}
    by_rows = expected_gap(repair, score, y, **settings)
    by_tables = expected_gap_tables(repair, check_tables(y, score, group, weight, weights_are="sampling"))
    assert by_tables.before.gap("xauc").stderr == pytest.approx(by_rows.before.gap("xauc").stderr)
    assert by_tables.gap().stderr == pytest.approx(by_rows.gap().stderr, rel=0.1)
    assert abs(by_tables.gap().value - by_rows.gap().value) < 0.5 * by_rows.gap().stderr


def test_weighted_rows_are_dealt_whole():
    score, y, group = people(1000)
    # The largest weight at a score is more than all others: it shows in which fold its row is.
    weight = 2.0 ** (np.arange(score.size) % 40)
    tables = check_tables(y, score, group, weight, weights_are="sampling", folds=5)
    for name, table in tables.items():
        dealt = tables.folds[name]
        assert dealt.shape == (4, 5, len(table))
        np.testing.assert_allclose(dealt.sum(axis=1), table.sums, rtol=1e-12)
        # Each fold has its share of rows: sums of zero powers are none, and the squares are those of whole weights.
        single = table.positive**2 == table.positive_squares
        assert single.any()
        assert ((dealt[0][:, single] == 0) | (dealt[0][:, single] == table.positive[single])).all()
    by_rows = expected_gap(
        XOrder(do_no_harm=False), score, y, sensitive_features=group, sample_weight=weight, weights_are="sampling"
    )
    by_tables = expected_gap_tables(XOrder(do_no_harm=False), tables)
    assert by_tables.gap().stderr == pytest.approx(by_rows.gap().stderr, rel=0.3)


def test_folds_are_equal_and_hold_everybody_once():
    units = np.array([1, 0, 7, 500, 3, 1, 1, 88])
    shares = _shares(units, 5, np.random.default_rng(0))
    dealt = shares * units[:, np.newaxis]
    np.testing.assert_allclose(dealt, np.rint(dealt), atol=1e-9)
    np.testing.assert_allclose(dealt.sum(axis=1), units)
    assert np.ptp(dealt.sum(axis=0)) <= 1.001
    assert (dealt[3] > 80).all(), "a score that many share goes to all folds"


def test_billions_are_dealt_too():
    units = np.array([3_000_000_000, 1, 2_000_000_000])
    dealt = _shares(units, 5, np.random.default_rng(0)) * units[:, np.newaxis]
    np.testing.assert_allclose(dealt.sum(axis=1), units)
    assert dealt[0].min() > 0.19 * units[0]


def test_too_few_people_are_said_so():
    tables = {
        "A": ScoreTable.from_arrays([1, 0, 1, 0, 1, 0], [0.9, 0.4, 0.7, 0.1, 0.6, 0.3]),
        "B": ScoreTable.from_arrays([1, 0, 0], [0.8, 0.2, 0.3]),
    }
    with (
        pytest.warns(match="single row of a class"),
        pytest.raises(InputError, match=r"cannot be learnt without fold .* Each group needs at least two rows"),
    ):
        expected_gap_tables(XOrder(), tables)
    with pytest.raises(InputError, match="cv must be a whole number of folds from 2 up; got 1"):
        expected_gap_tables(XOrder(), tables, cv=1)


def test_a_repair_from_tables_is_that_from_rows():
    score, y, group = people()
    by_rows = XOrder(max_gap=0.02).fit(score, y, sensitive_features=group)
    by_tables = XOrder(max_gap=0.02).fit_tables(check_tables(y, score, group, None))
    assert by_tables.to_dict() == by_rows.to_dict()
    np.testing.assert_array_equal(by_tables.maps_["B"].adjusted, by_rows.maps_["B"].adjusted)


@pytest.mark.slow
def test_tables_of_several_days_add_up_to_the_repair_of_all():
    score, y, group = people()
    days = [check_tables(y[part], score[part], group[part], None) for part in np.array_split(np.arange(score.size), 3)]
    together = {name: days[0][name] + days[1][name] + days[2][name] for name in ("A", "B")}
    whole = XOrder().fit(score, y, sensitive_features=group)
    assert XOrder().fit_tables(together).to_dict() == whole.to_dict()


@pytest.mark.parametrize(
    ("tables", "words"),
    [
        ([ScoreTable.from_arrays([1, 0], [0.9, 0.4])], "a dict that holds a ScoreTable for each group"),
        ({"A": np.zeros(3)}, "a dict that holds a ScoreTable for each group"),
        ({None: ScoreTable.from_arrays([1, 0], [0.9, 0.4])}, "call the rows of unknown group 'missing'"),
    ],
)
def test_what_are_no_tables(tables, words):
    with pytest.raises(InputError, match=words):
        XOrder().fit_tables(tables)


def test_groups_of_tables_are_sorted():
    score, y, group = people(600)
    tables = check_tables(y, score, group, None)
    backwards = dict(reversed(list(tables.items())))
    first, other = (XOrder(do_no_harm=False).fit_tables(each).to_dict() for each in (tables, backwards))
    assert first == other


def test_parameters_are_checked_before_tables_are_used():
    with pytest.raises(InputError, match="metric must be one of"):
        XOrder(metric="auc").fit_tables({})
