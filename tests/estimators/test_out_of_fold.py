import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from xorder.estimators._fair_ranker import out_of_fold_scores
from xorder.estimators._folds import Fold, make_folds
from xorder.exceptions import InputError


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    y = np.where(X[:, 0] + rng.normal(size=120) > 0, "yes", "no")
    return X, y, rng.integers(1, 4, 120).astype(float)


def folds_of(y, n_folds=4):
    return [Fold(*pair) for pair in KFold(n_folds, shuffle=True, random_state=1).split(y)]


@pytest.mark.parametrize("as_frame", [np.asarray, pd.DataFrame, pl.DataFrame, csr_array, np.ndarray.tolist])
def test_they_are_those_of_cross_val_predict(rows, as_frame):
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
def test_in_parallel_it_is_the_same(rows):
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
        (OddProbabilities(), r"OddProbabilities must give two columns, one a class; got shape \(30, 3\)"),
        (OddDecisions(), r"OddDecisions gave shape \(30, 2\) for 30 rows"),
    ],
)
def test_answers_of_a_wrong_shape_are_told(rows, model, words):
    X, y, _ = rows
    with pytest.raises(InputError, match=words):
        out_of_fold_scores(model, X, y, folds_of(y))
