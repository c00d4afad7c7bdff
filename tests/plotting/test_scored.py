"""Rows are scored as the estimator would, before and after its repair, with the groups they come with."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression, RidgeClassifier

from xorder import FairRanker, XOrder
from xorder.datasets import simulate_population
from xorder.exceptions import InputError
from xorder.plotting._scored import scored_rows

PEOPLE = simulate_population(3000, random_state=1)
X = pd.DataFrame({"score": PEOPLE.y_score, "more": PEOPLE.y_score**2, "group": PEOPLE.group})


def test_a_repair_takes_scores() -> None:
    repair = XOrder().fit(PEOPLE.y_score, PEOPLE.y_true, sensitive_features=PEOPLE.group)
    rows = scored_rows(repair, PEOPLE.y_score, PEOPLE.y_true, sensitive_features=PEOPLE.group)
    assert np.array_equal(rows.before, PEOPLE.y_score)
    assert np.array_equal(rows.final, repair.transform(PEOPLE.y_score, sensitive_features=PEOPLE.group))


def test_people_without_a_group_are_a_group_where_the_repair_says_so() -> None:
    groups = PEOPLE.group.astype(object)
    groups[:300] = None
    repair = XOrder(missing_group="leave")
    with pytest.warns(UserWarning, match="300 rows without a group are left out"):
        repair.fit(PEOPLE.y_score, PEOPLE.y_true, sensitive_features=groups)
    rows = scored_rows(repair, PEOPLE.y_score, PEOPLE.y_true, sensitive_features=groups)
    assert set(rows.groups) == {"A", "B", "missing"}
    assert np.array_equal(rows.final[:300], PEOPLE.y_score[:300])


@pytest.mark.slow
@pytest.mark.parametrize("response_method", ["auto", "predict_proba", "decision_function"])
def test_a_ranker_reads_its_column_and_keeps_it_from_its_models(response_method: str) -> None:
    ranker = FairRanker(LogisticRegression(), sensitive_columns="group", drop_sensitive_columns=True, cv=3)
    y = np.where(PEOPLE.y_true == 1, "yes", "no")
    ranker.fit(X, y)
    rows = scored_rows(ranker, X, y, response_method=response_method)
    assert np.array_equal(rows.y_true, PEOPLE.y_true == 1)
    assert np.array_equal(rows.groups, PEOPLE.group)
    if response_method == "decision_function":
        np.testing.assert_array_equal(rows.after, ranker.decision_function(X))
        before = [model.decision_function(X[["score", "more"]]) for model in ranker.estimators_]
    else:
        np.testing.assert_array_equal(rows.after, ranker.predict_proba(X)[:, 1])
        before = [model.predict_proba(X[["score", "more"]])[:, 1] for model in ranker.estimators_]
    np.testing.assert_allclose(rows.before, np.mean(before, axis=0))


def test_a_ranker_without_a_column_gets_the_groups_passed_along() -> None:
    inputs = X[["score", "more"]]
    ranker = FairRanker(LogisticRegression(), cv=3).fit(inputs, PEOPLE.y_true, sensitive_features=PEOPLE.group)
    rows = scored_rows(ranker, inputs, PEOPLE.y_true, sensitive_features=PEOPLE.group)
    np.testing.assert_array_equal(rows.after, ranker.predict_proba(inputs, sensitive_features=PEOPLE.group)[:, 1])
    with pytest.raises(InputError, match="sensitive_features must name the group of each row"):
        scored_rows(ranker, inputs, PEOPLE.y_true)


def test_any_classifier_scores_by_what_it_has() -> None:
    inputs = X[["score", "more"]].to_numpy()
    ridge = RidgeClassifier().fit(inputs, PEOPLE.y_true)
    rows = scored_rows(ridge, inputs, PEOPLE.y_true, sensitive_features=PEOPLE.group)
    assert rows.after is None
    assert np.array_equal(rows.final, ridge.decision_function(inputs))
    with pytest.raises(InputError, match="RidgeClassifier has no predict_proba; leave response_method out"):
        scored_rows(ridge, inputs, PEOPLE.y_true, sensitive_features=PEOPLE.group, response_method="predict_proba")
    with pytest.raises(InputError, match="response_method must be one of auto, predict_proba"):
        scored_rows(ridge, inputs, PEOPLE.y_true, sensitive_features=PEOPLE.group, response_method="predict")
    with pytest.raises(InputError, match="y must hold the classes"):
        scored_rows(ridge, inputs, PEOPLE.y_true + 1, sensitive_features=PEOPLE.group)
    with pytest.raises(InputError, match="must have predict_proba or decision_function"):
        scored_rows(object(), inputs, PEOPLE.y_true, sensitive_features=PEOPLE.group)


def test_several_attributes_are_combined() -> None:
    inputs = X[["score", "more"]].to_numpy()
    model = LogisticRegression().fit(inputs, PEOPLE.y_true)
    table = pd.DataFrame({"group": PEOPLE.group, "half": np.where(np.arange(3000) % 2, "odd", "even")})
    rows = scored_rows(model, inputs, PEOPLE.y_true, sensitive_features=table)
    assert set(rows.groups) == {"A & odd", "A & even", "B & odd", "B & even"}
