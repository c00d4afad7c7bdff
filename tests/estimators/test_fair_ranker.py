import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    StratifiedGroupKFold,
    cross_val_predict,
    cross_val_score,
    cross_validate,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from support.odds_shift import Leave, OddsShift
from support.real_data import stored_problem
from xorder import XOrder, expected_gap
from xorder.baselines import PostLogit
from xorder.datasets import simulate_population
from xorder.estimators._fair_ranker import FairRanker, out_of_fold_scores
from xorder.estimators._folds import Fold, make_folds
from xorder.exceptions import InputError, XorderWarning
from xorder.metrics import xauc_difference
from xorder.metrics._scorers import make_gap_scorer, neg_xauc_difference

# The samples are small on purpose, and every fit says so.
pytestmark = pytest.mark.filterwarnings("ignore:With .* cannot be told from 0:xorder.exceptions.XorderWarning")


@pytest.fixture(autouse=True)
def _no_plan(monkeypatch):
    """How many more people it takes, which test_expected.py is about, is most of the time of a fit."""

    def none(audit, **asked):
        raise InputError("there is no plan")

    monkeypatch.setattr("xorder.estimators._expected.plan", none)


def people(size=500, seed=0):
    """A frame with a good input, noise, the group as a number, and the group as text; labels in words."""
    drawn = simulate_population(size, random_state=seed)
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "risk": drawn.y_score,
            "noise": rng.normal(size=size),
            "is_b": (drawn.group == "B").astype(float),
            "race": drawn.group,
        }
    )
    return frame, np.where(drawn.y_true == 1, "yes", "no"), drawn.group


INPUTS = ["risk", "noise", "is_b"]


def by_column(model=None, **options):
    settings = {"repair": OddsShift(), "sensitive_columns": "race", "drop_sensitive_columns": True, "cv": 3} | options
    return FairRanker(LogisticRegression() if model is None else model, **settings)


def by_values(**options):
    return FairRanker(LogisticRegression(), **({"repair": OddsShift(), "cv": 3} | options))


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.mark.slow
def test_settings_of_the_default_repair_can_be_searched():
    frame, y, _ = people()
    ranker = FairRanker(LogisticRegression(), sensitive_columns="race", drop_sensitive_columns=True, cv=2)
    search = GridSearchCV(ranker, {"repair__max_gap": [0.0, 0.1]}, scoring="roc_auc", cv=2)
    search.fit(frame, y == "yes")
    wanted = XOrder(max_gap=search.best_params_["repair__max_gap"])
    assert search.best_estimator_.repair.get_params() == wanted.get_params()


def test_a_column_that_the_estimator_cannot_take_is_pointed_out():
    frame, y, _ = people(200)
    with pytest.raises(ValueError, match="could not convert string to float") as caught:
        by_column(drop_sensitive_columns=False).fit(frame, y)
    (note,) = caught.value.__notes__
    assert note.startswith("LogisticRegression was given the column 'race' too")
    assert "drop_sensitive_columns=True" in note


@pytest.mark.parametrize("repair", [XOrder, "xauc", LogisticRegression(), StandardScaler()])
def test_what_is_no_repair(repair):
    frame, y, group = people(60)
    with pytest.raises(InputError, match="repair must be a repair such as"):
        FairRanker(LogisticRegression(), repair=repair).fit(frame[INPUTS], y, sensitive_features=group)
    with pytest.raises(InputError, match="repair must be a repair such as"):
        expected_gap(repair, frame["risk"], y == "yes", sensitive_features=group)


# What fit learns


@pytest.mark.slow
@pytest.mark.parametrize("final_model", ["refit", "folds"])
@pytest.mark.parametrize("repair", [XOrder(), PostLogit(), OddsShift()])
def test_the_repair_is_that_of_out_of_fold_scores(repair, final_model):
    frame, y, group = people()
    X = frame[INPUTS].to_numpy()
    ranker = FairRanker(LogisticRegression(), repair=repair, final_model=final_model)
    ranker.fit(X, y, sensitive_features=group)
    folds = make_folds(5, X, y, group)
    held_out = cross_val_predict(LogisticRegression(), X, y, cv=folds, method="predict_proba")[:, 1]
    np.testing.assert_allclose(ranker.out_of_fold_, held_out)
    repair = clone(repair).fit(held_out, y == "yes", sensitive_features=group)
    new, _, new_group = people(200, seed=5)
    parts = [fold.train for fold in folds] if final_model == "folds" else [np.arange(len(y))]
    models = [LogisticRegression().fit(X[rows], y[rows]) for rows in parts]
    raw = [model.predict_proba(new[INPUTS].to_numpy())[:, 1] for model in models]
    expected = np.mean([repair.transform(score, sensitive_features=new_group) for score in raw], axis=0)
    found = ranker.predict_proba(new[INPUTS].to_numpy(), sensitive_features=new_group)
    np.testing.assert_allclose(found, np.column_stack([1 - expected, expected]), atol=1e-12)
    assert len(ranker.estimators_) == len(parts)


@pytest.mark.slow
def test_a_model_that_knows_its_rows_by_heart_is_repaired_for_others():
    """A forest's scores of its own training rows tell little of how it ranks others, nor does a repair of these."""
    frame, y, group = people(5000)
    new, new_y, new_group = people(4000, seed=9)
    forest = RandomForestClassifier(20, max_depth=14, random_state=0)
    ranker = FairRanker(forest, repair=OddsShift()).fit(frame[INPUTS], y, sensitive_features=group)
    forest.fit(frame[INPUTS], y)
    own, raw = (forest.predict_proba(rows[INPUTS])[:, 1] for rows in (frame, new))
    in_sample = OddsShift().fit(own, y == "yes", sensitive_features=group).transform(raw, sensitive_features=new_group)
    adjusted = ranker.predict_proba(new[INPUTS], sensitive_features=new_group)[:, 1]
    learnt_on_own, learnt_on_others = (
        abs(xauc_difference(new_y == "yes", score, sensitive_features=new_group)) for score in (in_sample, adjusted)
    )
    assert learnt_on_others < learnt_on_own / 2


def test_what_to_expect_is_what_comes():
    frame, y, group = people(1500)
    new, new_y, new_group = people(4000, seed=9)
    ranker = FairRanker(LogisticRegression(), repair=OddsShift()).fit(frame[INPUTS], y, sensitive_features=group)
    adjusted = ranker.predict_proba(new[INPUTS], sensitive_features=new_group)[:, 1]
    low, high = ranker.expected_.gap(("A", "B")).interval
    assert low < xauc_difference(new_y == "yes", adjusted, sensitive_features=new_group) < high
    assert ranker.expected_.after.auc == pytest.approx(roc_auc_score(new_y, adjusted), abs=0.03)
    assert ranker.expected_.folds == 5
    assert abs(ranker.expected_.before.gap("xauc").value) > 0.15


@pytest.mark.slow
def test_scores_of_real_people():
    problem = stored_problem("framingham")
    X, y, group = problem.X.to_numpy(), problem.y, problem.sensitive_features
    train, test = problem.splits[0]
    train = np.random.default_rng(0).permutation(train)[:1000]
    model = RandomForestClassifier(30, random_state=0)
    ranker = FairRanker(model, repair=OddsShift()).fit(X[train], y[train], sensitive_features=group[train])
    alone = clone(model).fit(X[train], y[train])
    fair, plain = (
        neg_xauc_difference(found, X[test], y[test], sensitive_features=group[test]) for found in (ranker, alone)
    )
    assert plain < -0.08
    assert fair > plain / 2


def test_many_groups():
    frame, y, _ = people(1200)
    group = np.random.default_rng(0).choice(["a", "b", "c", "d"], 1200)
    ranker = FairRanker(LogisticRegression(), repair=OddsShift()).fit(frame[INPUTS], y, sensitive_features=group)
    assert set(ranker.repair_.shifts_) == {"a", "b", "c", "d"}
    assert len([g for g in ranker.expected_.after.gaps if g.metric == "xauc"]) == 6


# What it gives


@pytest.mark.parametrize("final_model", ["refit", "folds"])
def test_probabilities_decisions_and_classes_agree(final_model):
    frame, y, _ = people()
    ranker = by_column(final_model=final_model).fit(frame, y)
    both, decision = ranker.predict_proba(frame), ranker.decision_function(frame)
    np.testing.assert_allclose(both.sum(axis=1), 1.0)
    assert ((both >= 0) & (both <= 1)).all()
    np.testing.assert_array_equal(np.argsort(both[:, 1], kind="stable"), np.argsort(decision, kind="stable"))
    np.testing.assert_array_equal(ranker.predict(frame), np.where(both[:, 1] > 0.5, "yes", "no"))
    assert ranker.classes_.tolist() == ["no", "yes"]
    assert ranker.score(frame, y) == np.mean(ranker.predict(frame) == y)
    only = (y == "yes").astype(float)
    assert ranker.score(frame, y, only) == np.mean(ranker.predict(frame)[y == "yes"] == "yes")


def test_certain_probabilities_have_finite_log_odds():
    frame, y, group = people()
    neighbours = FairRanker(KNeighborsClassifier(1), repair=PostLogit()).fit(frame[INPUTS], y, sensitive_features=group)
    assert {0.0, 1.0} <= set(neighbours.predict_proba(frame[INPUTS], sensitive_features=group)[:, 1].tolist())
    decision = neighbours.decision_function(frame[INPUTS], sensitive_features=group)
    assert np.isfinite(decision).all()
    np.testing.assert_array_equal(decision > 0, neighbours.predict(frame[INPUTS], sensitive_features=group) == "yes")


@pytest.mark.parametrize("model", [LinearSVC(), RidgeClassifier()])
def test_without_probabilities_there_are_decisions_only(model):
    frame, y, group = people()
    ranker = FairRanker(model)
    assert not hasattr(ranker, "predict_proba")
    ranker.fit(frame[INPUTS], y, sensitive_features=group)
    assert not hasattr(ranker, "predict_proba")
    decision = ranker.decision_function(frame[INPUTS], sensitive_features=group)
    np.testing.assert_array_equal(ranker.predict(frame[INPUTS], sensitive_features=group) == "yes", decision > 0)
    raw = np.mean([fitted.decision_function(frame[INPUTS]) for fitted in ranker.estimators_], axis=0)
    stays = group == ranker.repair_.reference_
    np.testing.assert_allclose(decision[stays], raw[stays])


@pytest.mark.parametrize("labels", [(0, 1), (False, True), (-1, 1), ("no", "yes"), (3.0, 7.0)])
def test_any_two_labels(labels):
    frame, y, group = people()
    named = np.array(labels)[(y == "yes").astype(int)]
    ranker, expected = (by_values().fit(frame[INPUTS], each, sensitive_features=group) for each in (named, y))
    np.testing.assert_array_equal(
        ranker.predict_proba(frame[INPUTS], sensitive_features=group),
        expected.predict_proba(frame[INPUTS], sensitive_features=group),
    )
    assert set(ranker.predict(frame[INPUTS], sensitive_features=group).tolist()) == set(labels)


class Bare:
    """A classifier of another library: fit, predict_proba, classes_ and parameters, and nothing of scikit-learn."""

    def __init__(self, strength=1.0):
        self.strength = strength

    def get_params(self, deep=True):
        return {"strength": self.strength}

    def set_params(self, **params):
        vars(self).update(params)
        return self

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.model_ = LogisticRegression(C=self.strength).fit(np.asarray(X), y)
        return self

    def predict_proba(self, X):
        return self.model_.predict_proba(np.asarray(X))


@pytest.mark.slow
def test_classifiers_of_other_libraries():
    frame, y, _ = people()
    found = by_column(Bare()).fit(frame, y).predict_proba(frame)
    np.testing.assert_allclose(found, by_column().fit(frame, y).predict_proba(frame))
    searched = GridSearchCV(by_column(Bare()), {"estimator__strength": [0.1, 1]}, scoring="roc_auc", cv=2).fit(frame, y)
    assert searched.best_params_["estimator__strength"] in (0.1, 1)


# A model that is fitted already


def test_a_frozen_model_is_left_as_it_is():
    frame, y, group = people(900)
    model = LogisticRegression().fit(frame[INPUTS][:300], y[:300])
    before = pickle.dumps(model)
    rest, rest_y, rest_group = frame[INPUTS][300:], y[300:], group[300:]
    ranker = FairRanker(FrozenEstimator(model), repair=OddsShift()).fit(rest, rest_y, sensitive_features=rest_group)
    assert pickle.dumps(model) == before
    raw = model.predict_proba(rest)[:, 1]
    np.testing.assert_array_equal(ranker.out_of_fold_, raw)
    repair = OddsShift().fit(raw, rest_y == "yes", sensitive_features=rest_group)
    np.testing.assert_allclose(
        ranker.predict_proba(rest, sensitive_features=rest_group)[:, 1],
        repair.transform(raw, sensitive_features=rest_group),
    )
    assert ranker.expected_.folds == 5
    assert ranker.expected_.before.auc == pytest.approx(roc_auc_score(rest_y, raw))


def test_a_frozen_model_must_be_fitted_and_know_the_labels():
    frame, y, group = people(300)
    with pytest.raises(NotFittedError):
        FairRanker(FrozenEstimator(LogisticRegression())).fit(frame[INPUTS], y, sensitive_features=group)
    model = FrozenEstimator(LogisticRegression().fit(frame[INPUTS], y))
    with pytest.raises(InputError, match="must hold classes the fitted estimator knows"):
        FairRanker(model).fit(frame[INPUTS], y == "yes", sensitive_features=group)


# Where the group is found


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_the_group_may_be_a_column(kind):
    frame, y, group = people()
    table = pl.from_pandas(frame) if kind == "polars" else frame
    ranker = by_column().fit(table, y)
    apart = by_values().fit(frame[INPUTS], y, sensitive_features=group)
    np.testing.assert_allclose(
        ranker.predict_proba(table), apart.predict_proba(frame[INPUTS], sensitive_features=group), rtol=1e-9
    )
    assert ranker.feature_names_in_.tolist() == [*INPUTS, "race"]
    assert ranker.n_features_in_ == 4


def test_in_an_array_the_group_is_a_position():
    frame, y, _ = people()
    X = frame[INPUTS].to_numpy()
    kept, dropped = (
        FairRanker(LogisticRegression(), repair=OddsShift(), sensitive_columns=2, drop_sensitive_columns=drop)
        for drop in (False, True)
    )
    assert kept.fit(X, y).estimators_[0].n_features_in_ == 3
    assert dropped.fit(X, y).estimators_[0].n_features_in_ == 2
    assert set(kept.repair_.shifts_) == {0.0, 1.0}


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_several_columns_are_combined(kind):
    frame, y, _ = people(1000)
    frame["age"] = np.where(np.arange(1000) % 3, "under 65", "over 65")
    frame["urban"] = np.arange(1000) % 2
    table = pl.from_pandas(frame) if kind == "polars" else frame
    ranker = by_column(sensitive_columns=["race", "age"]).fit(table, y)
    assert list(ranker.repair_.shifts_) == ["A & over 65", "A & under 65", "B & over 65", "B & under 65"]
    assert ranker.estimators_[0].n_features_in_ == 4
    named = by_column(sensitive_columns=["race", "urban"]).fit(
        table.drop("age", **({} if kind == "polars" else {"axis": 1})), y
    )
    assert list(named.repair_.shifts_) == ["A & urban=0", "A & urban=1", "B & urban=0", "B & urban=1"]
    passed = by_values()
    passed.fit(frame[INPUTS], y, sensitive_features=table[["race", "age"]])
    assert list(passed.repair_.shifts_) == list(ranker.repair_.shifts_)


@pytest.mark.parametrize("method", ["fit", "predict", "predict_proba", "decision_function"])
def test_a_name_passed_along_is_no_group(method):
    frame, y, group = people(200)
    ranker = by_values(cv=2).fit(frame[INPUTS], y, sensitive_features=group)
    rows = (frame, y) if method == "fit" else (frame[INPUTS],)
    with pytest.raises(
        InputError, match=r"got the text 'race'. If that is a column of X, name it with sensitive_columns="
    ):
        getattr(ranker, method)(*rows, sensitive_features="race")


def test_what_is_passed_comes_before_the_column():
    frame, y, group = people()
    other = np.where(group == "A", "x", "y")
    ranker = by_column().fit(frame, y, sensitive_features=other)
    assert set(ranker.repair_.shifts_) == {"x", "y"}
    assert ranker.estimators_[0].n_features_in_ == 3


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"sensitive_columns": "sex"}, "names 'sex', but X has no column of that name; its columns are 'risk', "),
        ({"sensitive_columns": []}, "must name one column of X, or several different ones"),
        ({"sensitive_columns": ["race", "race"]}, "must name one column of X, or several different ones"),
        ({"sensitive_columns": None}, "must name the group of each row: pass it along with X, or name the column"),
        ({"sensitive_columns": ["race", *INPUTS]}, "nothing is left of X"),
        ({"final_model": "best"}, "final_model must be one of refit, folds; got 'best'"),
        ({"cv": 1}, "cv must be from 2 up to the number of rows"),
    ],
)
def test_wrong_settings_are_told_at_fit(options, words):
    frame, y, _ = people(60)
    with pytest.raises(InputError, match=words):
        by_column(**options).fit(frame, y)


def test_wrong_rows_are_told():
    frame, y, group = people(60)
    X = frame[INPUTS].to_numpy()
    ranker = by_column(sensitive_columns=None)
    with pytest.raises(InputError, match="'race', but X is an array, whose columns have no names"):
        by_column().fit(X, y)
    with pytest.raises(InputError, match="names column 7, but X has 3 columns"):
        by_column(sensitive_columns=7).fit(X, y)
    with pytest.raises(InputError, match="Only binary classification is supported"):
        ranker.fit(X, np.arange(60) % 3, sensitive_features=group)
    with pytest.raises(InputError, match="y must hold two classes, got 1"):
        ranker.fit(X, np.ones(60), sensitive_features=group)
    with pytest.raises(InputError, match="sensitive_features must have one value per row; got 59 for 60"):
        ranker.fit(X, y, sensitive_features=group[1:])
    with pytest.raises(InputError, match="two classes with weights above 0"):
        ranker.fit(X, y, sensitive_features=group, sample_weight=(y == "yes").astype(float))
    one = np.where(np.arange(60) == 0, "yes", "no")
    with pytest.raises(InputError, match="each fold must leave rows of both classes"):
        ranker.fit(X, one, sensitive_features=group)
    with pytest.raises(NotFittedError):
        ranker.predict(X, sensitive_features=group)
    ranker.fit(X, y, sensitive_features=group)
    with pytest.raises(InputError, match="'C' was not seen in fit"):
        ranker.predict(X[:1], sensitive_features=["C"])
    with pytest.raises(InputError, match="Reshape your data"):
        ranker.predict(X[0], sensitive_features=["A"])


def test_text_goes_through_a_pipeline():
    rng = np.random.default_rng(0)
    y, group = rng.integers(0, 2, 200), rng.choice(["A", "B"], 200)
    texts = [
        f"{'good' if label ^ (noise < 0.2) else 'bad'} word" for label, noise in zip(y, rng.random(200), strict=True)
    ]
    ranker = FairRanker(make_pipeline(CountVectorizer(), LogisticRegression()), repair=OddsShift())
    found = ranker.fit(texts, y, sensitive_features=group).predict_proba(texts, sensitive_features=group)
    assert roc_auc_score(y, found[:, 1]) > 0.7


# Columns named at construction


def test_a_column_is_its_values_passed_along():
    frame, y, group = people()
    found = by_column(sensitive_columns=["race"]).fit(frame, y)
    expected = by_values().fit(frame[INPUTS], y, sensitive_features=group)
    for method in ("predict_proba", "decision_function", "predict"):
        wanted = getattr(expected, method)(frame[INPUTS], sensitive_features=group)
        for passed in (None, group, frame["race"], group.tolist()):
            np.testing.assert_array_equal(getattr(found, method)(frame, sensitive_features=passed), wanted)
    assert found.score(frame, y) == expected.score(frame[INPUTS], y, sensitive_features=group)
    assert found.estimators_[0].n_features_in_ == 3


def test_texts_passed_along_are_groups_also_where_columns_are_called_so():
    frame, y, group = people()
    frame["A"] = frame["B"] = 0.0
    found = by_values().fit(frame[[*INPUTS, "A", "B"]], y, sensitive_features=group.tolist())
    two = frame[[*INPUTS, "A", "B"]][:2]
    np.testing.assert_array_equal(
        found.predict_proba(two, sensitive_features=["A", "B"]),
        found.predict_proba(two, sensitive_features=np.array(["A", "B"])),
    )


# Columns the estimator cannot take


def test_text_columns_are_pointed_out_where_the_group_is_passed_along():
    frame, y, group = people(200)
    with pytest.raises(ValueError, match="could not convert string to float") as caught:
        by_values().fit(frame, y, sensitive_features=group)
    (note,) = caught.value.__notes__
    assert note.startswith("X has columns that are not numbers: 'race'. If LogisticRegression cannot take that: ")
    assert "FairRanker(..., sensitive_columns='race', drop_sensitive_columns=True)" in note


def test_other_columns_of_text_are_pointed_out_too():
    frame, y, _ = people(200)
    frame["town"] = "Ulm"
    for drop, starts in ((True, ["X has"]), (False, ["LogisticRegression was given the column 'race' too", "X has"])):
        with pytest.raises(ValueError, match="could not convert string to float") as caught:
            by_column(drop_sensitive_columns=drop).fit(frame, y)
        notes = caught.value.__notes__
        assert [note.startswith(start) for note, start in zip(notes, starts, strict=True)] == [True] * len(starts)
        assert "X has columns that are not numbers: 'town'. " in notes[-1]
        assert "FairRanker(" not in notes[-1]


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
        by_values(cv=splitter).fit(frame[INPUTS], y, sensitive_features=group)


# Rows set aside


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::xorder.exceptions.XorderWarning")
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
@pytest.mark.filterwarnings("ignore::xorder.exceptions.XorderWarning")
def test_people_without_a_group_may_be_in_any_fold():
    frame, y, _ = people(900)
    frame.loc[5, "race"] = None
    ranker = by_column(repair=XOrder(do_no_harm=False, missing_group="leave"))
    assert np.isfinite(cross_val_score(ranker, frame, y, scoring="roc_auc", cv=3, error_score="raise")).all()


# Among scikit-learn's own tools


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_cross_validation_and_search_by_column(kind):
    frame, y, _ = people(600)
    table = pl.from_pandas(frame) if kind == "polars" else frame
    scoring = {"auc": "roc_auc", "gap": make_gap_scorer("xauc", sensitive_features="race"), "accuracy": "accuracy"}
    fair = cross_validate(by_column(), table, y, scoring=scoring, cv=3, error_score="raise")
    keep = make_pipeline(make_column_transformer(("passthrough", INPUTS)), LogisticRegression())
    plain = cross_validate(keep, table, y, scoring=scoring, cv=3, error_score="raise")
    assert fair["test_gap"].mean() > plain["test_gap"].mean() + 0.05
    assert fair["test_auc"].mean() > 0.7
    search = GridSearchCV(
        by_column(cv=2),
        {"estimator__C": [1e-4, 1.0], "repair": [OddsShift(), Leave()]},
        scoring=make_gap_scorer("xauc", sensitive_features="race", tradeoff=1.0),
        cv=2,
        error_score="raise",
    ).fit(table, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.predict_proba(table).shape == (600, 2)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_pipelines_around_and_inside(kind):
    frame, y, _ = people()
    table = pl.from_pandas(frame) if kind == "polars" else frame
    inside = by_column(make_pipeline(StandardScaler(), LogisticRegression()))
    scale = make_column_transformer(
        (StandardScaler(), INPUTS), remainder="passthrough", verbose_feature_names_out=False
    ).set_output(transform=kind)
    around = make_pipeline(scale, by_column())
    scores = {"auc": "roc_auc", "gap": make_gap_scorer("prf", sensitive_features="race")}
    for model in (inside, around):
        found = cross_validate(model, table, y, scoring=scores, cv=3, error_score="raise")
        assert np.isfinite(found["test_gap"]).all()
        assert found["test_auc"].mean() > 0.7
    np.testing.assert_allclose(
        inside.fit(table, y).predict_proba(table), around.fit(table, y).predict_proba(table), atol=0.02
    )
    numbers = make_column_transformer((StandardScaler(), make_column_selector(dtype_include=float)))
    whole = by_column(make_pipeline(numbers, LogisticRegression()), drop_sensitive_columns=False)
    assert whole.fit(frame, y).predict_proba(frame).shape == (500, 2)


@pytest.mark.slow
@pytest.mark.usefixtures("routing")
def test_metadata_is_routed():
    frame, y, group = people(600)
    X = frame[INPUTS]
    weight = np.random.default_rng(0).integers(1, 4, 600)
    model = LogisticRegression().set_fit_request(sample_weight=True)
    ranker = FairRanker(model, repair=OddsShift(), cv=3).set_fit_request(sensitive_features=True, sample_weight=True)
    params = {"sensitive_features": group, "sample_weight": weight}
    scorer = neg_xauc_difference.set_score_request(sample_weight=True)
    found = cross_validate(ranker, X, y, scoring=scorer, params=params, cv=3, error_score="raise")
    unweighted = cross_validate(
        clone(ranker).set_fit_request(sample_weight=False),
        X,
        y,
        scoring=neg_xauc_difference.set_score_request(sample_weight=False),
        params=params,
        cv=3,
        error_score="raise",
    )
    assert (found["test_score"] != unweighted["test_score"]).all()
    search = GridSearchCV(ranker, {"estimator__C": [0.01, 1.0]}, scoring=scorer, cv=2, error_score="raise")
    search.fit(X, y, **params)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


@pytest.mark.usefixtures("routing")
def test_metadata_is_routed_through_a_pipeline():
    frame, y, group = people(600)
    last = by_values()
    for method in ("fit", "predict", "predict_proba", "decision_function", "score"):
        getattr(last, f"set_{method}_request")(sensitive_features=True)
    whole = make_pipeline(StandardScaler(), last).fit(frame[INPUTS], y, sensitive_features=group)
    assert whole.predict_proba(frame[INPUTS], sensitive_features=group).shape == (600, 2)
    assert whole.score(frame[INPUTS], y, sensitive_features=group) > 0.6
    found = cross_validate(
        whole,
        frame[INPUTS],
        y,
        scoring=neg_xauc_difference,
        params={"sensitive_features": group},
        cv=3,
        error_score="raise",
    )
    assert found["test_score"].mean() > -0.15


@pytest.mark.usefixtures("routing")
def test_a_splitter_gets_the_people_that_rows_belong_to():
    frame, y, group = people(300)
    person = np.arange(300) // 3
    routed = FairRanker(LogisticRegression(), repair=OddsShift(), cv=GroupKFold(4))
    routed.fit(frame[INPUTS], y, sensitive_features=group, groups=person)
    listed = FairRanker(LogisticRegression(), repair=OddsShift(), cv=list(GroupKFold(4).split(frame, y, person)))
    listed.fit(frame[INPUTS], y, sensitive_features=group)
    np.testing.assert_array_equal(routed.out_of_fold_, listed.out_of_fold_)


@pytest.mark.slow
def test_models_can_be_pickled_and_fitted_in_parallel():
    frame, y, _ = people()
    one, two = by_column().fit(frame, y), by_column(n_jobs=2).fit(frame, y)
    np.testing.assert_array_equal(one.predict_proba(frame), two.predict_proba(frame))
    again = pickle.loads(pickle.dumps(one))
    np.testing.assert_array_equal(one.predict_proba(frame), again.predict_proba(frame))


def test_the_same_again():
    frame, y, _ = people()
    first, second, other = by_column().fit(frame, y), by_column().fit(frame, y), by_column(random_state=1).fit(frame, y)
    np.testing.assert_array_equal(first.decision_function(frame), second.decision_function(frame))
    assert not np.array_equal(first.out_of_fold_, other.out_of_fold_)
    assert first.expected_.to_dict() == second.expected_.to_dict()


# Weights


@pytest.mark.slow
@pytest.mark.parametrize("final_model", ["refit", "folds"])
@pytest.mark.parametrize("repair", [XOrder(), PostLogit(), OddsShift()])
def test_a_row_of_weight_2_is_the_row_twice(repair, final_model):
    frame, y, group = people(300)
    X = frame[INPUTS].to_numpy()
    weight = np.random.default_rng(0).integers(1, 4, 300)
    copies = np.repeat(np.arange(300), weight)
    fold_of = np.arange(300) % 4
    # Close to where its objective is lowest, so that both ways come to the same point.
    model = LogisticRegression(solver="newton-cholesky", tol=1e-13, max_iter=1000)
    found = []
    for rows, weights in ((np.arange(300), weight), (copies, None)):
        cv = [(np.flatnonzero(fold_of[rows] != k), np.flatnonzero(fold_of[rows] == k)) for k in range(4)]
        ranker = FairRanker(model, repair=repair, cv=cv, final_model=final_model)
        ranker.fit(X[rows], y[rows], sensitive_features=group[rows], sample_weight=weights)
        found.append((ranker.predict_proba(X, sensitive_features=group), ranker.expected_))
    (first, told), (second, told_of_copies) = found
    np.testing.assert_allclose(first, second, rtol=0, atol=1e-10)
    assert told.gap().value == pytest.approx(told_of_copies.gap().value, abs=1e-10)
    assert told.gap().stderr == pytest.approx(told_of_copies.gap().stderr, abs=1e-10)


def test_weights_an_estimator_cannot_take_are_told():
    frame, y, group = people()
    weight = np.ones(500)
    ranker = FairRanker(KNeighborsClassifier(), repair=OddsShift())
    with pytest.warns(XorderWarning, match="fit of KNeighborsClassifier takes no sample_weight: the weights serve"):
        ranker.fit(frame[INPUTS], y, sensitive_features=group, sample_weight=weight)
    whole = FairRanker(make_pipeline(StandardScaler(), LogisticRegression()), repair=OddsShift())
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*sample_weight.*")
        options = {"sample_weight": weight, "logisticregression__sample_weight": weight}
        whole.fit(frame[INPUTS], y, sensitive_features=group, **options)


# What is said


@pytest.mark.filterwarnings("error")
def test_too_few_rows_for_the_target_are_told():
    frame, y, _ = people(300)
    with pytest.warns(
        XorderWarning, match=r"With \d+ positives in group 'B' a gap in xauc below 0\.\d+ cannot"
    ) as caught:
        by_column().fit(frame, y)
    assert caught[0].filename == __file__
    big, big_y, _ = people(9000)
    by_column().fit(big, big_y)


def test_where_the_repair_cannot_be_tried_it_is_told():
    frame, y, group = people(200)
    y = np.where(group == "B", "no", y)
    y[np.flatnonzero(group == "B")[0]] = "yes"
    with pytest.warns(XorderWarning) as caught:
        ranker = by_column().fit(frame, y)
    assert ranker.expected_ is None
    assert any("what to expect on new people is not known" in str(warning.message) for warning in caught)
    assert ranker.predict_proba(frame).shape == (200, 2)


def test_a_fit_that_failed_leaves_nothing_to_predict_with():
    frame, y, _ = people(60)
    ranker = by_column(repair=XOrder(max_gap=-1))
    with pytest.raises(InputError, match="max_gap"):
        ranker.fit(frame, y)
    with pytest.raises(NotFittedError):
        ranker.predict(frame)


# Scores of rows that no model has seen


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    y = np.where(X[:, 0] + rng.normal(size=120) > 0, "yes", "no")
    return X, y, rng.integers(1, 4, 120).astype(float)


def folds_of(y, n_folds=4):
    return [Fold(*pair) for pair in KFold(n_folds, shuffle=True, random_state=1).split(y)]


@pytest.mark.parametrize("as_frame", [np.asarray, pd.DataFrame, pl.DataFrame, csr_array, np.ndarray.tolist])
def test_out_of_fold_scores_are_those_of_cross_val_predict(rows, as_frame):
    X, y, _ = rows
    folds = folds_of(y)
    score, models = out_of_fold_scores(LogisticRegression(), as_frame(X), y, folds)
    expected = cross_val_predict(LogisticRegression(), X, y, cv=folds, method="predict_proba")[:, 1]
    np.testing.assert_allclose(score, expected, rtol=1e-6)
    assert len(models) == 4


def test_without_probabilities_the_decision_function_ranks(rows):
    X, y, _ = rows
    score, _ = out_of_fold_scores(LinearSVC(), X, y, folds_of(y))
    expected = cross_val_predict(LinearSVC(), X, y, cv=folds_of(y), method="decision_function")
    np.testing.assert_allclose(score, expected)


def test_no_row_is_scored_by_a_model_that_has_seen_it(rows):
    """A full tree knows the rows it has seen by heart, even where labels are noise."""
    X, _, _ = rows
    y = np.random.default_rng(1).integers(0, 2, 120)
    tree = DecisionTreeClassifier(random_state=0)
    score, _ = out_of_fold_scores(tree, X, y, make_folds(5, X, y, np.zeros(120)))
    assert np.mean((score > 0.5) == y) < 0.7
    assert np.mean((clone(tree).fit(X, y).predict_proba(X)[:, 1] > 0.5) == y) == 1.0


def test_weights_are_cut_to_the_fold(rows):
    X, y, weight = rows
    folds = folds_of(y)
    score, _ = out_of_fold_scores(LogisticRegression(), X, y, folds, fit_params={"sample_weight": weight})
    for fold in folds:
        alone = LogisticRegression().fit(X[fold.train], y[fold.train], sample_weight=weight[fold.train])
        np.testing.assert_array_equal(score[fold.test], alone.predict_proba(X[fold.test])[:, 1])


@pytest.mark.slow
def test_out_of_fold_scores_in_parallel_are_the_same(rows):
    X, y, _ = rows
    one, _ = out_of_fold_scores(LogisticRegression(), X, y, folds_of(y))
    two, _ = out_of_fold_scores(LogisticRegression(), X, y, folds_of(y), n_jobs=2)
    np.testing.assert_array_equal(one, two)


class Odd(ClassifierMixin, BaseEstimator):
    """A classifier with answers of a wrong shape."""

    def __init__(self, answer="three"):
        self.answer = answer

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self


class OddProbabilities(Odd):
    def predict_proba(self, X):
        return np.ones((len(X), 3))


class OddDecisions(Odd):
    def decision_function(self, X):
        return np.ones((len(X), 2))


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (Odd(), "must have predict_proba or decision_function to rank by; Odd has neither"),
        (OddProbabilities(), r"OddProbabilities must give two columns, one per class; got shape \(30, 3\)"),
        (OddDecisions(), r"OddDecisions gave shape \(30, 2\) for 30 rows"),
    ],
)
def test_answers_of_a_wrong_shape_are_told(rows, model, words):
    X, y, _ = rows
    with pytest.raises(InputError, match=words):
        out_of_fold_scores(model, X, y, folds_of(y))


# scikit-learn's own checks


class GroupedRanker(FairRanker):
    """A ranker that makes up the group of each row from its last input, as the checks know of no groups."""

    def _groups_and_inputs(self, X, sensitive_features):
        dense = X.toarray() if hasattr(X, "toarray") else X
        try:
            last = np.asarray(dense, dtype=np.float64)[:, -1]
            odd = np.floor(np.abs(np.nan_to_num(last)) % 1e6 * 997.5) % 2 == 1
        except (TypeError, ValueError, IndexError):
            # Inputs that are wrong on purpose: the estimator is to say so, not this class.
            odd = np.arange(np.shape(dense)[0]) % 2 == 1
        return np.where(odd, "odd", "even"), X


ONE_CLASS_A_GROUP = "its 16 rows have four distinct inputs, and any group made from the last of them has one class"

CLASS_IS_GROUP = {
    "check_sample_weights_shape": ONE_CLASS_A_GROUP,
    "check_sample_weights_not_overwritten": ONE_CLASS_A_GROUP,
}


def not_applicable(ranker):
    """Checks that cannot pass, by name, with the reason; a repair that leaves such groups alone passes them, too."""
    return {} if ranker.repair is None or isinstance(ranker.repair, Leave) else CLASS_IS_GROUP


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::xorder.exceptions.XorderWarning")
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast:RuntimeWarning")
@parametrize_with_checks(
    [
        GroupedRanker(LogisticRegression()),
        # Five folds prove no more than two, and the first has them.
        GroupedRanker(LogisticRegression(), repair=XOrder(small_groups="repair", do_no_harm=False), cv=2),
        GroupedRanker(LogisticRegression(), repair=OddsShift(), cv=2),
        GroupedRanker(LogisticRegression(), repair=Leave(), final_model="refit", cv=2),
        GroupedRanker(LinearSVC(random_state=0), repair=Leave(), cv=2),
    ],
    expected_failed_checks=not_applicable,
)
def test_scikit_learn_checks(estimator, check):
    # Arrays of other libraries are turned into NumPy's; there is nothing of theirs to check.
    if getattr(check, "func", check).__name__ != "check_array_api_input":
        check(estimator)


def test_clusters_reach_folds_repair_and_expectation():
    rng = np.random.default_rng(0)
    person = np.repeat(np.arange(150), 4)
    group = np.where(rng.random(150) < 0.5, "a", "b")[person]
    risk = rng.normal(size=150)[person]
    label = (risk + 0.5 * rng.normal(size=600) > 0).astype(int)
    inputs = np.column_stack([risk - (group == "b"), rng.normal(size=600)])
    ranker = FairRanker(LogisticRegression()).fit(inputs, label, sensitive_features=group, clusters=person)
    alone = FairRanker(LogisticRegression()).fit(inputs, label, sensitive_features=group)
    assert ranker.expected_.after.clusters == 150
    assert ranker.expected_.gap().stderr > 1.2 * alone.expected_.gap().stderr
    with pytest.raises(InputError, match="clusters are for repairs by XOrder; got repair=PostLogit"):
        FairRanker(LogisticRegression(), repair=PostLogit()).fit(
            inputs, label, sensitive_features=group, clusters=person
        )
