"""What a user says of columns, to a ranker: where the group is, and what the estimator cannot take."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold, cross_val_score, cross_validate

from support.odds_shift import OddsShift
from xorder import XOrder
from xorder.datasets import simulate_population
from xorder.estimators._fair_ranker import FairRanker
from xorder.exceptions import InputError

pytestmark = pytest.mark.filterwarnings("ignore::xorder.exceptions.XorderWarning")

INPUTS = ["risk", "noise", "is_b"]


def people(size=500):
    """A frame with a good input, noise, the group as a number, and the group as text; labels; and the group."""
    drawn = simulate_population(size, random_state=0)
    noise, is_b = np.random.default_rng(0).normal(size=size), (drawn.group == "B").astype(float)
    frame = pd.DataFrame({"risk": drawn.y_score, "noise": noise, "is_b": is_b, "race": drawn.group})
    return frame, drawn.y_true, drawn.group


def plain(**options):
    return FairRanker(LogisticRegression(), **({"repair": OddsShift()} | options))


def by_column(**options):
    return plain(**({"sensitive_columns": "race", "drop_sensitive_columns": True} | options))


# Columns named in fit


@pytest.mark.parametrize("name", ["race", ["race"]])
def test_a_column_named_in_fit_is_one_named_at_construction(name):
    frame, y, group = people()
    found = plain(drop_sensitive_columns=True).fit(frame, y, sensitive_features=name)
    expected = by_column().fit(frame, y)
    for method in ("predict_proba", "decision_function", "predict"):
        wanted = getattr(expected, method)(frame)
        for passed in (None, name, group):
            np.testing.assert_array_equal(getattr(found, method)(frame, sensitive_features=passed), wanted)
    assert found.score(frame, y, sensitive_features=name) == expected.score(frame, y)
    assert found.group_columns_ == name
    assert found.estimators_[0].n_features_in_ == 3


def test_several_columns_named_in_fit_are_combined():
    frame, y, _ = people(1000)
    frame["age"] = np.where(np.arange(1000) % 3, "under 65", "over 65")
    found = plain(drop_sensitive_columns=True).fit(frame, y, sensitive_features=["race", "age"])
    assert list(found.repair_.shifts_) == ["A & over 65", "A & under 65", "B & over 65", "B & under 65"]
    assert found.estimators_[0].n_features_in_ == 3
    assert found.predict_proba(frame[:4]).shape == (4, 2)


def test_a_place_named_in_fit():
    frame, y, _ = people()
    X = frame[INPUTS].to_numpy()
    found = plain().fit(X, y, sensitive_features=2)
    np.testing.assert_array_equal(found.predict(X), plain(sensitive_features=2).fit(X, y).predict(X))


def test_columns_named_twice_in_different_ways_are_both_kept_from_the_estimator():
    frame, y, _ = people()
    frame["sex"] = np.where(np.arange(500) % 2, "f", "m")
    found = by_column().fit(frame, y, sensitive_features="sex")
    assert set(found.repair_.shifts_) == {"f", "m"}
    assert found.estimators_[0].n_features_in_ == 3
    np.testing.assert_array_equal(found.predict(frame), found.predict(frame, sensitive_features="sex"))


def test_fit_again_forgets_the_columns():
    frame, y, group = people()
    found = plain().fit(frame[INPUTS], y, sensitive_features="is_b")
    found.fit(frame[INPUTS], y, sensitive_features=group)
    with pytest.raises(InputError, match="must name the group of each row"):
        found.predict(frame[INPUTS])


def test_a_list_with_one_text_a_row_is_labels():
    frame, y, group = people()
    frame["A"] = frame["B"] = 0.0
    found = plain().fit(frame[[*INPUTS, "A", "B"]], y, sensitive_features=group.tolist())
    two = frame[[*INPUTS, "A", "B"]][:2]
    np.testing.assert_array_equal(
        found.predict_proba(two, sensitive_features=["A", "B"]),
        found.predict_proba(two, sensitive_features=np.array(["A", "B"])),
    )


@pytest.mark.parametrize("passed", ["town", ["town", "race"], ["town", "land"]])
def test_texts_that_name_no_column_are_told(passed):
    frame, y, group = people(200)
    with pytest.raises(InputError, match="'town'"):
        plain().fit(frame, y, sensitive_features=passed)
    fitted = plain().fit(frame[INPUTS], y, sensitive_features=group)
    for method in ("predict_proba", "decision_function", "predict"):
        with pytest.raises(InputError, match="'town'"):
            getattr(fitted, method)(frame[INPUTS], sensitive_features=passed)


def test_a_column_named_in_fit_goes_through_routing():
    frame, y, _ = people()
    with sklearn.config_context(enable_metadata_routing=True):
        ranker = plain(drop_sensitive_columns=True).set_fit_request(sensitive_features=True)
        found = cross_validate(ranker, frame, y, scoring="roc_auc", params={"sensitive_features": "race"}, cv=3)
    np.testing.assert_array_equal(
        found["test_score"], cross_validate(by_column(), frame, y, scoring="roc_auc", cv=3)["test_score"]
    )


# Columns the estimator cannot take


def test_text_columns_are_pointed_out_where_the_group_is_passed_along():
    frame, y, group = people(200)
    with pytest.raises(ValueError, match="could not convert string to float") as caught:
        plain().fit(frame, y, sensitive_features=group)
    (note,) = caught.value.__notes__
    assert note.startswith("X has columns that are no numbers: 'race'. If LogisticRegression cannot take that: ")
    assert "FairRanker(..., sensitive_columns='race', drop_sensitive_columns=True)" in note


def test_other_columns_of_text_are_pointed_out_too():
    frame, y, _ = people(200)
    frame["town"] = "Ulm"
    for drop, starts in ((True, ["X has"]), (False, ["LogisticRegression was given the column 'race' too", "X has"])):
        with pytest.raises(ValueError, match="could not convert string to float") as caught:
            by_column(drop_sensitive_columns=drop).fit(frame, y)
        notes = caught.value.__notes__
        assert [note.startswith(start) for note, start in zip(notes, starts, strict=True)] == [True] * len(starts)
        assert "X has columns that are no numbers: 'town'. " in notes[-1]
        assert "FairRanker(" not in notes[-1]


def test_a_column_named_in_fit_is_pointed_out():
    frame, y, _ = people(200)
    with pytest.raises(ValueError, match="could not convert string to float") as caught:
        plain().fit(frame, y, sensitive_features="race")
    assert caught.value.__notes__[0].startswith("LogisticRegression was given the column 'race' too")


def test_frozen_models_are_no_exception():
    frame, y, _ = people(200)
    frozen = FrozenEstimator(LogisticRegression().fit(frame[INPUTS], y))
    with pytest.raises(ValueError, match="Feature names unseen at fit time") as caught:
        FairRanker(frozen).fit(frame, y, sensitive_features=frame["race"])
    assert "'race'" in caught.value.__notes__[-1]


def test_errors_of_other_kinds_have_no_hint():
    frame, y, group = people(200)
    with pytest.raises(InputError) as caught:
        FairRanker(LogisticRegression(), repair=OddsShift(), cv=1).fit(frame, y, sensitive_features=group)
    assert not hasattr(caught.value, "__notes__")


# Rows that belong together


@pytest.mark.parametrize("splitter", [GroupKFold(3), StratifiedGroupKFold(3)])
@pytest.mark.parametrize("routing", [False, True])
def test_a_splitter_that_is_not_told_who_belongs_together(splitter, routing):
    frame, y, group = people(200)
    words = rf"cv=list\({type(splitter).__name__}\(\)\.split\(X, y, person\)\).*pass groups=person to fit"
    with sklearn.config_context(enable_metadata_routing=routing), pytest.raises(InputError, match=words):
        plain(cv=splitter).fit(frame[INPUTS], y, sensitive_features=group)


# Rows set aside


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rare", "options"),
    [
        (None, {"missing_group": "leave"}),
        ("tiny", {"small_groups": "leave", "min_group_size": 10}),
        ("tiny", {"small_groups": "merge", "min_group_size": 10}),
    ],
)
def test_one_row_set_aside_leaves_the_expectation(rare, options):
    frame, y, _ = people(900)
    frame.loc[5, "race"] = rare
    ranker = by_column(repair=XOrder(do_no_harm=False, **options)).fit(frame, y)
    assert {*ranker.expected_.gap().pair} == {"A", "B"}
    assert ranker.predict_proba(frame).shape == (900, 2)


@pytest.mark.slow
def test_people_without_a_group_may_be_in_any_fold():
    frame, y, _ = people(900)
    frame.loc[5, "race"] = None
    ranker = by_column(repair=XOrder(do_no_harm=False, missing_group="leave"))
    assert np.isfinite(cross_val_score(ranker, frame, y, scoring="roc_auc", cv=3, error_score="raise")).all()
