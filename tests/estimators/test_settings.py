"""What a repair may be asked for, its defaults, and which groups it is about."""

from __future__ import annotations

import warnings
from dataclasses import asdict
from inspect import signature

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import xorder
from support.shifted_groups import population
from xorder import FairRanker, XOrder
from xorder._validation import check_tables
from xorder.datasets import simulate_population
from xorder.estimators import METHODS, RepairSettings, expected_gap, expected_gap_tables
from xorder.estimators._learn import plan_groups
from xorder.exceptions import InputError, XorderWarning

# Defaults


def test_there_is_one_default():
    usual = asdict(RepairSettings())
    assert XOrder().get_params() == usual
    assert list(signature(XOrder).parameters) == list(usual)
    people = simulate_population(400)
    inputs = people.y_score.reshape(-1, 1)
    ranker = FairRanker(LogisticRegression())
    assert ranker.repair is None
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="With .* cannot be told from 0")
        ranker.fit(inputs, people.y_true, sensitive_features=people.group)
    assert ranker.repair_.get_params() == usual
    assert ranker.set_params(repair__metric="xauc").repair.get_params() == usual


def test_care_is_the_default_of_smooth_repairs_alone():
    assert [RepairSettings(method=method).is_careful for method in METHODS] == [True, False, False]
    for choice in (True, False, np.True_):
        assert {RepairSettings(method=method, do_no_harm=choice).is_careful for method in METHODS} == {bool(choice)}


# What is refused


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"tradeoff": 1.0, "max_gap": 0.1}, "tradeoff or max_gap, not both"),
        ({"metric": "auc"}, "metric must be one of xauc, prf, parity; got 'auc'"),
        ({"method": "best"}, "method must be one of smooth, frontier, dp; got 'best'"),
        ({"max_gap": -0.1}, "max_gap must lie between 0 and 1; got -0.1"),
        ({"max_gap": 2}, "max_gap must lie between 0 and 1"),
        ({"max_gap": float("nan")}, "max_gap must lie between 0 and 1"),
        ({"max_gap": "0"}, "max_gap must lie between 0 and 1"),
        ({"tradeoff": -1.0}, "tradeoff must be a finite number from 0 up"),
        ({"tradeoff": float("inf")}, "tradeoff must be a finite number from 0 up"),
        ({"tradeoff": float("nan")}, "tradeoff must be a finite number from 0 up"),
        ({"tradeoff": "1"}, "tradeoff must be a finite number from 0 up"),
        ({"reference": ["A"]}, r"reference must be the label of a group, such as text; got \['A'\]"),
        ({"do_no_harm": "no"}, "do_no_harm must be True, False or None; got 'no'"),
        ({"min_group_size": -1}, "min_group_size must be a number of rows from 0 up; got -1"),
        ({"small_groups": "drop"}, "small_groups must be one of leave, merge, error, repair; got 'drop'"),
        ({"missing_group": "drop"}, "missing_group must be one of error, leave, group; got 'drop'"),
        ({"unseen_group": "drop"}, "unseen_group must be one of error, leave; got 'drop'"),
    ],
)
@pytest.mark.parametrize("rows", [40, 400])
def test_wrong_settings_are_refused_at_fit_whatever_the_rows(options, words, rows):
    people = simulate_population(rows)
    repair = XOrder(**options)
    with pytest.raises(InputError, match=words):
        repair.fit(people.y_score, people.y_true, sensitive_features=people.group)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"reference": "Z"}, r"reference must name one of the groups \['A', 'B', 'C', 'D'\]; got 'Z'\."),
        ({"method": "frontier"}, "^method='frontier' interleaves two groups; got 4. Use method='smooth', which takes "),
        ({"method": "dp"}, "^method='dp' interleaves two groups; got 4. Use method='smooth', which takes any number.$"),
        (
            {"min_group_size": 700, "small_groups": "error"},
            r"groups that are too small: 'D' \(\d+ positives, \d+ negatives\). At least 10 positives and 10 negatives "
            "are needed, and min_group_size asks for 700 rows. Leave them as they are with small_groups='leave'",
        ),
        (
            {"min_group_size": 700, "small_groups": "merge", "reference": "Z"},
            r"reference must name one of the groups \['A', 'B', 'C'\]; got 'Z'\.",
        ),
        (
            {"min_group_size": 700, "reference": "D"},
            r"reference must name one of the groups \['A', 'B', 'C'\]; got 'D', which has too few rows\.",
        ),
    ],
)
def test_what_does_not_go_with_these_groups_is_refused(options, words):
    score, y, group = population()
    with pytest.raises(InputError, match=words):
        XOrder(**options).fit(score, y, sensitive_features=group)


def test_numpy_numbers_are_numbers():
    people = simulate_population(300)
    for options in ({"max_gap": np.float32(0.25)}, {"tradeoff": np.float32(0.25)}, {"tradeoff": np.int64(2)}):
        repair = XOrder(method="dp", **options)
        assert repair.fit(people.y_score, people.y_true, sensitive_features=people.group).moved_ == ("B",)


# Groups that are small


def with_tiny(rows: int = 4000, groups: int = 4, size: int = 10):
    score, y, group = population(rows, groups)
    group = group.astype("U4")
    group[:size] = "tiny"
    return score, y, group


def test_small_groups_are_left_by_default_or_merged_and_it_is_said():
    score, y, group = with_tiny()
    with pytest.warns(XorderWarning, match=r"scores of group 'tiny' \(.*\) are left as they are: too few rows to say"):
        left = XOrder().fit(score, y, sensitive_features=group)
    with pytest.warns(XorderWarning, match=r"'tiny' \(.*\) are left as they are, and counted with the reference: too"):
        merged = XOrder(small_groups="merge").fit(score, y, sensitive_features=group)
    for repair in (left, merged):
        adjusted = repair.transform(score, sensitive_features=group)
        np.testing.assert_array_equal(adjusted[:10], score[:10])
        assert repair.moved_ == ("B", "C", "D")
    assert (left.left_, left.merged_, merged.left_, merged.merged_) == (("tiny",), (), (), ("tiny",))
    rest = XOrder().fit(score[10:], y[10:], sensitive_features=group[10:])
    assert left.auc_ == pytest.approx(rest.auc_, abs=1e-12)
    as_reference = XOrder().fit(score, y, sensitive_features=np.where(group == "tiny", "A", group))
    assert merged.auc_ == pytest.approx(as_reference.auc_, abs=1e-12)
    assert "left alone: group tiny" in left.describe()
    assert "counted with the reference: group tiny" in merged.describe()


def test_small_groups_may_be_repaired_all_the_same():
    score, y, group = with_tiny(size=24)
    assert min(y[:24].sum(), 24 - y[:24].sum()) < 10
    repair = XOrder(small_groups="repair", do_no_harm=False).fit(score, y, sensitive_features=group)
    assert repair.moved_ == ("B", "C", "D", "tiny")
    assert repair.left_ == repair.merged_ == ()


@pytest.mark.parametrize("reference", [None, "A", "B", "tiny"])
@pytest.mark.parametrize("groups", [2, 3])
def test_merged_groups_are_counted_with_the_group_that_stays(groups, reference):
    """Of two groups, too, the reference is the one they are counted with, not the one on the winning side."""
    score, y, group = with_tiny(3000, groups)
    # Now A is the losing side, and still the largest.
    score = np.where(group == "A", score**3, score)
    tables = check_tables(y, score, group)
    settings = RepairSettings(small_groups="merge", reference=reference)
    plan = plan_groups(tables, settings)
    expected = reference if reference in ("A", "B") else "A"
    assert (plan.reference, plan.aside.merged) == (expected, ("tiny",))
    assert plan.tables[expected].n1 == tables[expected].n1 + tables["tiny"].n1
    with pytest.warns(XorderWarning, match="counted with the reference"):
        repair = XOrder(small_groups="merge", reference=reference).fit(score, y, sensitive_features=group)
    assert repair.reference_ == expected
    assert expected not in repair.moved_
    together = np.where(group == "tiny", expected, group)
    same = XOrder(reference=expected).fit(score, y, sensitive_features=together)
    assert (repair.auc_, repair.gap_) == (same.auc_, same.gap_)
    adjusted = repair.transform(score, sensitive_features=group)
    np.testing.assert_array_equal(adjusted, same.transform(score, sensitive_features=together))


@pytest.mark.parametrize(("positives", "small"), [(9, True), (10, False)])
@pytest.mark.parametrize("few", [0, 1])
def test_ten_of_each_class_are_enough(positives, small, few):
    score, y, group = population(1000, groups=2)
    own = np.flatnonzero((group == "B") & (y == few))
    kept = np.setdiff1d(np.arange(y.size), own[positives:])
    plan = plan_groups(check_tables(y[kept], score[kept], group[kept]), RepairSettings())
    assert plan.aside.left == (("B",) if small else ())


def test_weights_count_as_many_rows_as_tell_as_much():
    score, y, group = population(1000, groups=2)
    weight = np.where((group == "B") & (y == 1), 1e-3, 1.0)
    heavy = np.flatnonzero((group == "B") & (y == 1))[:9]
    weight[heavy] = 50.0
    tables = check_tables(y, score, group, weight, weights_are="sampling")
    assert plan_groups(tables, RepairSettings()).aside.left == ("B",)
    assert plan_groups(check_tables(y, score, group, weight), RepairSettings()).aside.left == ()


def test_a_group_without_positives_is_small():
    score, y, group = population(1000, groups=3)
    y = np.where(group == "C", 0, y)
    with pytest.raises(InputError, match="group 'C' has no positives"):
        XOrder(small_groups="repair").fit(score, y, sensitive_features=group)
    with pytest.warns(XorderWarning, match=r"'C' \(0 positives, \d+ negatives\)"):
        repair = XOrder().fit(score, y, sensitive_features=group)
    assert (repair.moved_, repair.left_) == (("B",), ("C",))


# Nothing to repair


def few_people(one_class: bool = False):
    people = simulate_population(40)
    label = np.where(people.group == "B", 0, people.y_true) if one_class else people.y_true
    return people.y_score, label, people.group


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("one_class", [False, True])
def test_where_all_groups_are_too_small_all_scores_are_left_alone(tmp_path, method, one_class):
    score, y, group = few_people(one_class)
    with pytest.warns(XorderWarning) as heard:
        repair = XOrder(method=method).fit(score, y, sensitive_features=group)
    told = [str(warning.message) for warning in heard]
    assert [message.startswith("scores of group 'A' (") for message in told] == [True, False]
    assert told[1] == "all scores are left as they are."
    assert (repair.moved_, repair.left_, repair.kept_share_) == ((), ("A", "B"), {})
    assert all(score_map.raw.size == 0 for score_map in repair.maps_.values())
    np.testing.assert_array_equal(repair.transform(score, sensitive_features=group), score)
    found = repair.to_dict()
    assert (found["auc"], found["gap"]) == (found["auc_before"], found["gap_before"])
    assert (found["gap"] is None) == one_class
    assert repair.describe().startswith("All scores are left as they are.")
    assert ("not known" in repair.describe()) == one_class
    assert "nan" not in repair.describe()
    repair.save(tmp_path / "map.json")
    again = xorder.load(tmp_path / "map.json")
    assert again.describe() == repair.describe()
    np.testing.assert_array_equal(again.transform(score, sensitive_features=group), score)


def test_one_group_that_is_large_enough_is_not_enough():
    score, y, group = population(500, groups=3)
    too_few = pytest.warns(XorderWarning, match="min_group_size asks for 200 rows")
    with too_few, pytest.warns(XorderWarning, match="all scores are left as they are"):
        repair = XOrder(min_group_size=200).fit(score, y, sensitive_features=group)
    assert (repair.reference_, repair.moved_, repair.left_) == ("A", (), ("B", "C"))
    np.testing.assert_array_equal(repair.transform(score, sensitive_features=group), score)


@pytest.mark.filterwarnings("ignore:With .* cannot:xorder.exceptions.XorderWarning")
def test_a_ranker_of_few_people_ranks_as_its_model_does():
    score, y, group = few_people()
    inputs = score.reshape(-1, 1)
    too_few = pytest.warns(XorderWarning, match="too few rows to say")
    with too_few, pytest.warns(XorderWarning, match="all scores are left as they are"):
        ranker = FairRanker(LogisticRegression(), final_model="refit").fit(inputs, y, sensitive_features=group)
    np.testing.assert_allclose(
        ranker.predict_proba(inputs, sensitive_features=group),
        LogisticRegression().fit(inputs, y).predict_proba(inputs),
    )
    assert ranker.expected_.gap().value == ranker.expected_.before.gap("xauc").value
    assert ranker.expected_.caution.startswith("With ")


def test_of_few_people_the_scores_as_they_are_are_expected():
    score, y, group = few_people()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*single row of a class")
        by_rows = expected_gap(XOrder(), score, y, sensitive_features=group)
        by_tables = expected_gap_tables(XOrder(), check_tables(y, score, group))
    for found in (by_rows, by_tables):
        assert found.after.to_dict() == found.before.to_dict()
        assert found.aside.left == ("A", "B")
        assert "(A left alone, B left alone)" in str(found)


def test_what_is_small_of_all_rows_is_small_in_every_fold_and_no_more():
    """Eleven positives are enough of all rows; the nine or so that four folds hold must be, too."""
    score, y, group = population(900, groups=2)
    own = np.flatnonzero((group == "B") & (y == 1))
    y[own[11:]] = 0
    repair = XOrder(do_no_harm=False).fit(score, y, sensitive_features=group)
    assert repair.moved_ == ("B",)
    for found in (
        expected_gap(XOrder(do_no_harm=False), score, y, sensitive_features=group),
        expected_gap_tables(XOrder(do_no_harm=False), check_tables(y, score, group)),
    ):
        assert found.aside.left == ()
        assert abs(found.gap().value) < 0.3 * abs(found.before.gap("xauc").value)


# Rows without a group


def test_a_missing_group_is_an_error_left_alone_or_a_group():
    score, y, group = population(3000, groups=2)
    unknown = group.astype(object)
    unknown[::7] = None
    unknown[1::70] = float("nan")
    nobody = np.array([label is None or label != label for label in unknown])
    with pytest.raises(InputError, match="472 rows have none, the first in row 0"):
        XOrder().fit(score, y, sensitive_features=unknown)
    with pytest.warns(XorderWarning, match="^472 rows without a group are left out.$"):
        left = XOrder(missing_group="leave").fit(score, y, sensitive_features=unknown)
    adjusted = left.transform(score, sensitive_features=unknown)
    np.testing.assert_array_equal(adjusted[nobody], score[nobody])
    known = XOrder().fit(score[~nobody], y[~nobody], sensitive_features=group[~nobody])
    assert left.gap_ == pytest.approx(known.gap_, abs=1e-12)
    assert left.left_ == ("missing",)
    own = XOrder(missing_group="group", do_no_harm=False).fit(score, y, sensitive_features=unknown)
    assert sorted(own.maps_) == ["A", "B", "missing"]
    assert own.worst_gap_ < 0.02


@pytest.mark.parametrize("settings", [{}, {"small_groups": "merge", "min_group_size": 30}])
def test_a_missing_group_is_left_alone_whether_or_not_fit_saw_one(tmp_path, settings):
    score, y, group = population(1500, groups=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        repair = XOrder(missing_group="leave", **settings).fit(score, y, sensitive_features=group)
    assert repair.moved_ == ("B",)
    repair.save(tmp_path / "map.json")
    again = xorder.load(tmp_path / "map.json")
    assert again.to_dict() == repair.to_dict()
    assert again.describe() == repair.describe()
    frame = pd.DataFrame({"s": [0.2, 0.2, 0.2], "g": ["A", None, "B"]})
    for one in (repair, again):
        adjusted = one.transform([0.2, 0.2, 0.2], sensitive_features=["A", None, "B"])
        assert adjusted[0] == adjusted[1] == 0.2 != adjusted[2]
        np.testing.assert_array_equal(one.transform_frame(frame, score="s", group="g")["adjusted"], adjusted)
    with pytest.raises(InputError, match="group 'Z' was not seen in fit"):
        repair.transform([0.2], sensitive_features=["Z"])
    own = XOrder(missing_group="group").fit(score, y, sensitive_features=group)
    with pytest.raises(InputError, match="group 'missing' was not seen in fit"):
        own.transform([0.2], sensitive_features=[None])
