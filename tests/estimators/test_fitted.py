"""A fitted repair: applied to new scores, put in words."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from support.oracles import gap
from xorder import XOrder
from xorder.datasets import simulate_population
from xorder.estimators._promise import rounded_up
from xorder.exceptions import InputError, XorderWarning


def sample(size=300, seed=0):
    people = simulate_population(size, random_state=seed)
    return people.y_score, people.y_true, people.group


def test_the_record_says_before_and_after():
    score, label, group = sample()
    repair = XOrder(method="dp", tradeoff=1.0)
    adjusted = repair.fit_transform(score, label, sensitive_features=group)
    told = repair.to_dict()
    pair = told["reference"], *told["moved"]
    assert told["auc_before"] == pytest.approx(roc_auc_score(label, score))
    assert told["auc"] == pytest.approx(roc_auc_score(label, adjusted))
    assert told["gap_before"] == pytest.approx(gap("xauc", label, score, group, *pair))
    assert told["gap"] == pytest.approx(gap("xauc", label, adjusted, group, *pair), abs=1e-12)
    assert told["metric"] == "xauc"
    assert f"xauc gap  {told['gap_before']:+.4f} -> " in repair.describe()
    assert f"AUC       {told['auc_before']:.4f} -> {told['auc']:.4f}\n" in repair.describe()
    assert f"AUC {told['auc']:.4f} is within " in repair.describe()


def test_a_group_never_seen_is_named_with_the_known_ones():
    score, label, group = sample()
    repair = XOrder(method="dp", tradeoff=1.0).fit(score, label, sensitive_features=group)
    with pytest.raises(
        InputError, match=r"group 'C' was not seen in fit \(1 row, the first in row 1\); the known .* 'A', 'B'\. Fit"
    ):
        repair.transform([0.5, 0.5], sensitive_features=["A", "C"])
    repair.set_params(unseen_group="leave")
    assert repair.transform([0.5, 0.5], sensitive_features=["A", "C"]).tolist() == [0.5, 0.5]


def test_one_group_of_those_seen_is_enough_to_transform():
    score, label, group = sample()
    repair = XOrder(method="dp", tradeoff=1.0).fit(score, label, sensitive_features=group)
    both = repair.transform([0.3, 0.3], sensitive_features=["A", "B"])
    assert repair.transform([0.3], sensitive_features=["A"]) == [0.3] == both[:1]
    assert repair.transform([0.3], sensitive_features=["B"]) == both[1:]


def test_new_scores_are_interpolated_one_by_one():
    score, label, group = sample()
    repair = XOrder(method="dp", tradeoff=1.0).fit(score, label, sensitive_features=group)
    new = np.random.default_rng(3).random(50)
    batch = repair.transform(new, sensitive_features=["B"] * 50)
    alone = [repair.transform([value], sensitive_features=["B"])[0] for value in new]
    np.testing.assert_array_equal(batch, alone)
    assert (np.diff(batch[np.argsort(new)]) > 0).all()


def test_scores_on_another_scale_are_told():
    score, label, group = sample(400)
    repair = XOrder(method="frontier").fit(score, label, sensitive_features=group)
    with pytest.warns(XorderWarning, match=r"outside those seen in fit \(0 to 1\); is it the same score"):
        repair.transform(100 * score, sensitive_features=group)
    repair.transform(score, sensitive_features=group)


@pytest.mark.parametrize(
    ("value", "words"), [(0.0, "0"), (0.00641, "0.0065"), (1e-5, "0.000010"), (0.12, "0.12"), (0.121, "0.13")]
)
def test_a_distance_to_the_best_is_never_made_smaller(value, words):
    assert rounded_up(value) == words
    assert float(words) >= value
