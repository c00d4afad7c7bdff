"""Groups that a repair sets aside neither prevent an expectation nor are what it is about."""

import json
import math
import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from support.oracles import gap
from xorder import XOrder, expected_gap
from xorder._group_columns import naming_missing
from xorder._validation import check_tables
from xorder.datasets import simulate_population
from xorder.estimators import expected_gap_tables
from xorder.exceptions import InputError, XorderWarning

# What the repair and the audit say of the groups set aside is tested elsewhere.
pytestmark = pytest.mark.filterwarnings("ignore::xorder.exceptions.XorderWarning")

LEAVE_SMALL = {"small_groups": "leave", "min_group_size": 10}
MERGE_SMALL = {"small_groups": "merge", "min_group_size": 10}


class Leave(BaseEstimator):
    """A repair that asks nothing of its rows and moves nobody."""

    def fit(self, y_score, y_true, *, sensitive_features, sample_weight=None):
        return self

    def transform(self, y_score, *, sensitive_features):
        return y_score


def people(rare, rows, size=1500):
    """Two groups, and a few rows of which a third label takes possession."""
    drawn = simulate_population(size, random_state=0)
    group = drawn.group.astype(object)
    group[rows] = rare
    return drawn.y_score, drawn.y_true, group


def repair(**options):
    return XOrder(do_no_harm=False, **options)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rare", "options", "aside"),
    [
        # Rows without a group are left out, as they are of the fit.
        (None, {"missing_group": "leave"}, ((), ())),
        (np.nan, {"missing_group": "leave"}, ((), ())),
        ("tiny", LEAVE_SMALL, (("tiny",), ())),
        ("tiny", MERGE_SMALL, ((), ("tiny",))),
    ],
)
def test_one_row_set_aside_does_not_make_the_expectation_impossible(rare, options, aside):
    score, y, group = people(rare, [5])
    found = expected_gap(repair(**options), score, y, sensitive_features=group)
    assert tuple(found.aside) == aside
    assert found.before.groups == found.after.groups == ("A", "B", *(("tiny",) if rare == "tiny" else ()))
    known = np.arange(score.size) != 5
    assert {*found.gap().pair} == {"A", "B"}
    without = expected_gap(repair(), score[known], y[known], sensitive_features=group[known])
    # Other folds, else the same people: the two figures differ by far less than their error.
    assert abs(found.gap(("A", "B")).value - without.gap(("A", "B")).value) < 0.3 * found.gap().stderr


@pytest.mark.slow
@pytest.mark.parametrize("options", [LEAVE_SMALL, MERGE_SMALL])
def test_rows_set_aside_that_no_other_fold_holds_keep_their_scores(options):
    score, y, group = people("tiny", [5, 7])
    test = np.arange(score.size) < 300
    folds = [(np.flatnonzero(~test), np.flatnonzero(test)), (np.flatnonzero(test), np.flatnonzero(~test))]
    found = expected_gap(repair(**options), score, y, sensitive_features=group, cv=folds)
    adjusted = score.copy()
    for train, held in folds:
        learnt = repair(**options).fit(score[train], y[train], sensitive_features=group[train])
        rows = np.setdiff1d(held, [5, 7])
        adjusted[rows] = learnt.transform(score[rows], sensitive_features=group[rows])
    for pair in (("A", "tiny"), ("B", "tiny"), ("A", "B")):
        assert found.gap(pair).value == pytest.approx(gap("xauc", y, adjusted, group, *pair))


@pytest.mark.slow
@pytest.mark.parametrize("rare", ["tiny", "missing"])
@pytest.mark.parametrize("options", [LEAVE_SMALL, MERGE_SMALL, LEAVE_SMALL | {"missing_group": "leave"}])
def test_tables_set_the_same_aside(rare, options):
    score, y, group = people(rare, [5])
    tables = check_tables(y, score, group, None)
    found = expected_gap_tables(repair(**options), tables)
    left = options["small_groups"] == "leave"
    assert tuple(found.aside) == (((rare,), ()) if left else ((), (rare,)))
    assert {*found.gap().pair} == {"A", "B"}
    assert abs(found.gap().value) < 0.03
    assert found.after.positives[rare] == tables[rare].n1
    weight = np.full(score.size, 1.5)
    weighted = expected_gap_tables(repair(**options), check_tables(y, score, group, weight, weights_are="sampling"))
    assert weighted.gap().stderr == pytest.approx(found.gap().stderr, rel=0.02)


def test_a_group_that_is_unknown_for_other_reasons_is_refused():
    score, y, group = people("C", np.arange(0, 60))
    held = np.arange(score.size) < 60
    folds = [(np.flatnonzero(~held), np.flatnonzero(held)), (np.flatnonzero(held), np.flatnonzero(~held))]
    for options in (LEAVE_SMALL, MERGE_SMALL, {"missing_group": "leave"}):
        with pytest.raises(InputError, match="group 'C' was not seen in fit"):
            expected_gap(repair(**options), score, y, sensitive_features=group, cv=folds)
    group[5] = None
    with pytest.raises(InputError, match="name a group for each row"):
        expected_gap(repair(**LEAVE_SMALL), score, y, sensitive_features=group)


# What is said


def test_groups_set_aside_are_listed_and_the_others_make_the_headline():
    score, y, group = people("small", np.arange(25), size=3000)
    found = expected_gap(repair(small_groups="leave", min_group_size=100), score, y, sensitive_features=group)
    widest = found.after.gap("xauc")
    assert "small" in widest.pair, "the sample is made so that the widest gap is one that nobody repairs"
    assert {*found.gap().pair} == {"A", "B"}
    assert abs(found.gap().value) < abs(widest.value)
    assert f"{found.gap().value:+.4f} after repair" in repr(found)
    assert found.smallest_visible == pytest.approx(1.959964 * found.gap().stderr, rel=1e-6)
    assert found.caution is None
    lines = str(found).splitlines()
    (first, *others) = [line for line in lines if line.startswith("xauc gap")]
    assert "A - B" in first
    assert first.endswith("]")
    assert [line.endswith("(small left alone)") for line in others] == [True, True]
    assert f"a gap of about {found.likely_gap:.2g} between repaired groups" in str(found)
    record = json.loads(json.dumps(found.to_dict()))
    assert (record["left"], record["merged"]) == (["small"], [])
    assert found.gap(("A", "small")).value == found.after.gap("xauc", ("A", "small")).value


@pytest.mark.slow
def test_of_many_groups_those_set_aside_are_named_though_their_pairs_are_not():
    score, y, group = people("A", [], size=6000)
    group = np.array([f"{label}{number}" for label, number in zip(group, np.arange(6000) % 3, strict=True)], object)
    group[:20] = "small"
    found = expected_gap(repair(small_groups="merge", min_group_size=100), score, y, sensitive_features=group)
    assert "... and 11 more pairs; not repaired: small (counted with the reference)" in str(found)
    assert "small" not in str(found).split("...")[0]


def test_a_gap_of_unknown_error_is_the_most_uncertain_and_is_cautioned_about():
    score, y, group = people("C", np.arange(200), size=3000)
    y[(group == "C") & (np.cumsum((group == "C") & (y == 1)) > 1)] = 0
    assert y[group == "C"].sum() == 1
    found = expected_gap(Leave(), score, y, sensitive_features=group)
    assert math.isnan(found.smallest_visible)
    assert found.caution.startswith("With 1 positives in group 'C' the rows cannot tell how uncertain the gap in xauc")
    assert "below 0.05 cannot be known" in found.caution
    assert found.to_dict()["smallest_visible"] is None
    assert found.caution in str(found)


def test_nothing_is_set_aside_by_default():
    score, y, group = people("A", [])
    found = expected_gap(repair(), score, y, sensitive_features=group)
    assert tuple(found.aside) == ((), ())
    assert "between repaired groups" not in str(found)


def test_the_expectation_says_no_more_than_the_repair_of_all_rows():
    score, y, group = people("tiny", [5, 7])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", XorderWarning)
        expected_gap(repair(**LEAVE_SMALL), score, y, sensitive_features=naming_missing(group))
    assert len({str(warning.message) for warning in caught}) == len(caught) <= 1
