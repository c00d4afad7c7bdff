import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from support.oracles import gap
from xorder.datasets import simulate_population
from xorder.exceptions import InputError
from xorder.metrics._scorers import (
    auc_minus_prf_difference,
    auc_minus_xauc_difference,
    make_gap_scorer,
    neg_parity_difference,
    neg_prf_difference,
    neg_xauc_difference,
)

READY = {"xauc": neg_xauc_difference, "prf": neg_prf_difference, "parity": neg_parity_difference}
INPUTS = ["risk", "is_b"]


@pytest.fixture(scope="module")
def rows():
    people = simulate_population(300, random_state=1)
    frame = pd.DataFrame({"risk": people.y_score, "is_b": (people.group == "B") * 1.0, "race": people.group})
    return frame, people.y_true, people.group


class ByGroup(ClassifierMixin, BaseEstimator):
    """A classifier that cannot score anybody without the group."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X, *, sensitive_features):
        positive = np.asarray(X)[:, 0] / np.where(np.asarray(sensitive_features) == "B", 1.0, 2.0)
        return np.column_stack([1 - positive, positive])


@pytest.mark.parametrize("metric", READY)
@pytest.mark.parametrize("model", [LogisticRegression(), LinearSVC()])
def test_minus_the_size_of_the_gap(rows, metric, model):
    frame, y, group = rows
    fitted = model.fit(frame[INPUTS], y)
    score = fitted.decision_function(frame[INPUTS])
    expected = -abs(gap(metric, y, score, group, "A", "B"))
    assert READY[metric](fitted, frame[INPUTS], y, sensitive_features=group) == pytest.approx(expected)


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_the_group_may_be_a_column(rows, kind):
    frame, y, group = rows
    table = pl.from_pandas(frame) if kind == "polars" else frame
    keep = make_pipeline(Keep(INPUTS), LogisticRegression()).fit(table, y)
    scorer = make_gap_scorer("prf", sensitive_features="race")
    expected = neg_prf_difference(keep, table, y, sensitive_features=group)
    assert scorer(keep, table, y) == expected
    assert expected < -0.05


class Keep(BaseEstimator):
    """Keep some columns of a frame."""

    def __init__(self, names):
        self.names = names

    def fit(self, X, y=None):
        self.fitted_ = True
        return self

    def transform(self, X):
        return np.asarray(X[self.names], dtype=float)


def test_the_widest_of_many_gaps_counts(rows):
    frame, y, group = rows
    fitted = LogisticRegression().fit(frame[INPUTS], y)
    score = fitted.predict_proba(frame[INPUTS])[:, 1]
    age = np.where(np.arange(300) % 2, "old", "young")
    both = np.char.add(np.char.add(group.astype(str), " & "), age)
    names = np.unique(both).tolist()
    widest = max(abs(gap("xauc", y, score, both, a, b)) for a in names for b in names if a < b)
    table = frame.assign(age=age)
    found = make_gap_scorer("xauc", sensitive_features=["race", "age"])(Wide(fitted), table, y)
    assert found == pytest.approx(-widest)


class Wide:
    """A fitted model that is given more columns than it wants."""

    def __init__(self, model):
        self.model = model
        self.classes_ = model.classes_

    def predict_proba(self, X):
        return self.model.predict_proba(X[INPUTS])


@pytest.mark.parametrize(
    ("scorer", "metric", "tradeoff"),
    [
        (auc_minus_xauc_difference, "xauc", 1.0),
        (auc_minus_prf_difference, "prf", 1.0),
        (make_gap_scorer("xauc", tradeoff=0.3), "xauc", 0.3),
        (make_gap_scorer("parity", tradeoff=0), "parity", 0.0),
    ],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_auc_less_the_price_of_the_gap(rows, scorer, metric, tradeoff, weighted):
    frame, y, group = rows
    fitted = LogisticRegression().fit(frame[INPUTS], y)
    score = fitted.predict_proba(frame[INPUTS])[:, 1]
    weight = np.random.default_rng(0).integers(1, 4, 300) if weighted else None
    expected = roc_auc_score(y, score, sample_weight=weight)
    expected -= tradeoff * abs(gap(metric, y, score, group, "A", "B", weight))
    assert scorer(fitted, frame[INPUTS], y, sensitive_features=group, sample_weight=weight) == pytest.approx(expected)


def test_any_two_labels(rows):
    frame, y, group = rows
    words = np.where(y == 1, "yes", "no")
    first = neg_xauc_difference(LogisticRegression().fit(frame[INPUTS], y), frame[INPUTS], y, sensitive_features=group)
    named = LogisticRegression().fit(frame[INPUTS], words)
    assert neg_xauc_difference(named, frame[INPUTS], words, sensitive_features=group) == first


def test_a_group_without_positives_has_no_score(rows):
    frame, y, group = rows
    fitted = LogisticRegression().fit(frame[INPUTS], y)
    kept = (group == "A") | (y == 0)
    assert np.isnan(neg_xauc_difference(fitted, frame[INPUTS][kept], y[kept], sensitive_features=group[kept]))


# Among scikit-learn's own tools


@pytest.mark.slow
def test_search_in_parallel(rows):
    frame, y, _ = rows
    X = frame[INPUTS].to_numpy()
    scoring = {"auc": "roc_auc", "gap": make_gap_scorer("xauc", sensitive_features=1)}
    search = GridSearchCV(LogisticRegression(), {"C": [0.001, 1.0]}, scoring=scoring, refit="gap", n_jobs=2, cv=3)
    search.fit(X, y)
    one = GridSearchCV(LogisticRegression(), {"C": [0.001, 1.0]}, scoring=scoring, refit="gap", cv=3).fit(X, y)
    np.testing.assert_array_equal(search.cv_results_["mean_test_gap"], one.cv_results_["mean_test_gap"])
    assert np.isfinite(one.cv_results_["mean_test_gap"]).all()


def test_groups_are_routed(rows):
    frame, y, group = rows
    params = {"sensitive_features": group}
    with sklearn.config_context(enable_metadata_routing=True):
        routed = cross_validate(
            LogisticRegression(),
            frame[INPUTS],
            y,
            scoring={"auc": "roc_auc", "gap": neg_xauc_difference},
            params=params,
            error_score="raise",
        )
        handed_on = cross_val_score(
            ByGroup(), frame[INPUTS], y, scoring=neg_xauc_difference, params=params, error_score="raise"
        )
    by_place = cross_val_score(
        LogisticRegression(), frame[INPUTS].to_numpy(), y, scoring=make_gap_scorer("xauc", sensitive_features=1)
    )
    np.testing.assert_allclose(routed["test_gap"], by_place)
    assert np.isfinite(handed_on).all()


def test_weights_and_other_names_are_routed_on_request(rows):
    frame, y, group = rows
    weight = np.random.default_rng(0).integers(1, 4, 300)
    scorer = neg_xauc_difference.set_score_request(sample_weight="w", sensitive_features="who")
    with sklearn.config_context(enable_metadata_routing=True):
        model = make_pipeline(StandardScaler(), LogisticRegression())
        found = cross_val_score(
            model, frame[INPUTS], y, scoring=scorer, params={"w": weight, "who": group}, error_score="raise"
        )
        plain = cross_val_score(
            model,
            frame[INPUTS],
            y,
            scoring=neg_xauc_difference,
            params={"sensitive_features": group},
            error_score="raise",
        )
    assert (found != plain).all()
    assert neg_xauc_difference.requests == ()


def test_scorers_can_be_pickled_and_compared():
    scorer = make_gap_scorer("prf", sensitive_features=["race", "sex"], tradeoff=0.5)
    assert pickle.loads(pickle.dumps(scorer)) == scorer
    assert repr(scorer) == "make_gap_scorer('prf', sensitive_features=('race', 'sex'), tradeoff=0.5)"
    assert repr(neg_xauc_difference) == "make_gap_scorer('xauc')"


def test_what_cannot_be_is_told(rows):
    frame, y, group = rows
    fitted = LogisticRegression().fit(frame[INPUTS], y)
    with pytest.raises(InputError, match="needs the group of each row: make it for a column of X"):
        neg_xauc_difference(fitted, frame[INPUTS], y)
    with pytest.raises(InputError, match="all rows to be scored are of one"):
        neg_xauc_difference(fitted, frame[INPUTS], y, sensitive_features=np.full(300, "A"))
    with pytest.raises(InputError, match="X has no column of that name"):
        make_gap_scorer("xauc", sensitive_features="sex")(fitted, frame[INPUTS], y)
    with pytest.raises(InputError, match="metric must be one of xauc, prf, parity; got 'auc'"):
        make_gap_scorer("auc")
    with pytest.raises(InputError, match="tradeoff must be a finite number from 0 up"):
        make_gap_scorer("xauc", tradeoff=-1)
    with pytest.raises(InputError, match="knows sensitive_features and sample_weight; got groups"):
        neg_xauc_difference.set_score_request(groups=True)
    with pytest.raises(InputError, match="must have predict_proba or decision_function"):
        neg_xauc_difference(StandardScaler(), frame[INPUTS], y, sensitive_features=group)
