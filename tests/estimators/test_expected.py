import json
import math
import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import KFold

from support.odds_shift import OddsShift
from support.oracles import gap
from xorder import XOrder, audit
from xorder.baselines import PostLogit
from xorder.datasets import simulate_population
from xorder.estimators import expected_gap
from xorder.exceptions import InputError, XorderWarning


class Knowing(BaseEstimator):
    """A cheat that knows the rows it was fitted to: it ranks their positives of B above everybody."""

    metric = "xauc"

    def fit(self, y_score, y_true, *, sensitive_features, sample_weight=None):
        lifted = (np.asarray(y_true) == 1) & (np.asarray(sensitive_features) == "B")
        self.lifted_ = np.asarray(y_score)[lifted]
        return self

    def transform(self, y_score, *, sensitive_features):
        return np.where(np.isin(y_score, self.lifted_), 1.0, y_score)


def sample(size=600, seed=0):
    people = simulate_population(size, random_state=seed)
    return people.y_score, people.y_true, people.group


def test_it_is_the_audit_of_folds_adjusted_by_the_others():
    score, label, group = sample()
    folds = list(KFold(4, shuffle=True, random_state=3).split(score))
    adjusted = np.empty_like(score)
    for train, test in folds:
        repair = OddsShift().fit(score[train], label[train], sensitive_features=group[train])
        adjusted[test] = repair.transform(score[test], sensitive_features=group[test])
    found = expected_gap(OddsShift(), score, label, sensitive_features=group, cv=folds)
    assert found.after.auc == pytest.approx(roc_auc_score(label, adjusted))
    assert found.gap().value == pytest.approx(gap("xauc", label, adjusted, group, "A", "B"))
    assert found.before.to_dict() == audit(label, score, sensitive_features=group).to_dict()
    assert found.after.to_dict() == audit(label, adjusted, sensitive_features=group).to_dict()
    assert found.folds == 4


def test_a_repair_that_only_knows_its_own_rows_is_seen_through():
    score, label, group = sample()
    found = expected_gap(Knowing(), score, label, sensitive_features=group)
    assert found.gap().value == pytest.approx(found.before.gap("xauc").value)
    told = Knowing().fit(score, label, sensitive_features=group)
    adjusted = told.transform(score, sensitive_features=group)
    assert gap("xauc", label, adjusted, group, "A", "B") < 0 < found.gap().value


@pytest.mark.parametrize("repair", [XOrder(), XOrder(metric="prf"), PostLogit(), PostLogit(metric="parity")])
def test_any_repair_will_do_and_none_is_changed(repair):
    score, label, group = sample()
    settings = repair.get_params()
    found = expected_gap(repair, score, label, sensitive_features=group)
    assert found.metric == repair.metric
    assert abs(found.gap().value) < abs(found.before.gap(repair.metric).value)
    assert repair.get_params() == settings
    assert not [name for name in vars(repair) if name.endswith("_")]


@pytest.mark.slow
def test_the_interval_holds_the_gap_among_all_people():
    """Of 40 repairs learnt from samples, about 38 should leave a gap in the population that their interval holds."""
    everybody = simulate_population(60_000, random_state=999)
    held, sizes, likely = 0, [], []
    for seed in range(40):
        score, label, group = sample(500, seed)
        found = expected_gap(OddsShift(), score, label, sensitive_features=group)
        repair = OddsShift().fit(score, label, sensitive_features=group)
        adjusted = repair.transform(everybody.y_score, sensitive_features=everybody.group)
        true = audit(everybody.y_true, adjusted, sensitive_features=everybody.group).gap("xauc").value
        low, high = found.gap(("A", "B")).interval
        held += low <= true <= high
        sizes.append(abs(true))
        likely.append(found.likely_gap)
    assert held >= 35
    assert np.mean(likely) == pytest.approx(np.mean(sizes), rel=0.4)


def test_likely_gap_is_the_mean_size_of_a_normal_gap():
    score, label, group = sample()
    found = expected_gap(OddsShift(), score, label, sensitive_features=group)
    drawn = np.random.default_rng(0).normal(found.gap().value, found.gap().stderr, 400_000)
    assert found.likely_gap == pytest.approx(np.abs(drawn).mean(), rel=0.01)


# Groups too small for the target


def test_rows_too_few_for_the_target_are_told():
    score, label, group = sample(300)
    positives = int(label[group == "B"].sum())
    found = expected_gap(OddsShift(), score, label, sensitive_features=group)
    assert found.target == 0.05
    assert found.smallest_visible == pytest.approx(1.959964 * found.gap().stderr, rel=1e-6)
    words = f"With {positives} positives in group 'B' a gap in xauc below {found.smallest_visible:.2g} cannot be told"
    assert found.caution.startswith(words)
    assert "below 0.05 cannot be known" in found.caution
    assert found.caution in str(found)


def test_a_target_above_0_is_the_measure():
    score, label, group = sample(1000)
    wide = expected_gap(OddsShift(max_gap=0.2), score, label, sensitive_features=group)
    assert wide.target == 0.2
    assert wide.caution is None
    narrow = expected_gap(OddsShift(max_gap=0.01), score, label, sensitive_features=group)
    assert "below 0.01 cannot be known" in narrow.caution


def test_of_many_rows_nothing_is_said():
    score, label, group = sample(8000)
    found = expected_gap(OddsShift(), score, label, sensitive_features=group)
    assert found.smallest_visible < 0.05
    assert found.caution is None
    assert "cannot be told" not in str(found)


# Manners


def test_text_and_dict():
    score, label, group = sample()
    found = expected_gap(OddsShift(), score, label, sensitive_features=group, confidence=0.9)
    text, record = str(found), found.to_dict()
    assert "On new people (5 folds" in text
    assert "90 % interval after" in text
    assert f"{found.before.auc:.4f}    {found.after.auc:.4f}" in text
    assert f"{found.before.gap('xauc').value:+.4f}" in text
    assert json.loads(json.dumps(record)) == record
    assert record["likely_gap"] == found.likely_gap
    assert record["after"] == found.after.to_dict()
    assert repr(found).startswith("<ExpectedGap in xauc: ")
    assert found.gap(("B", "A")).value == -found.gap(("A", "B")).value


def test_the_same_again_and_otherwise_with_other_folds():
    score, label, group = sample()

    def auc(**options):
        return expected_gap(OddsShift(), score, label, sensitive_features=group, **options).after.auc

    assert auc() == auc()
    assert auc(random_state=1) != auc()
    assert auc(cv=3) != auc()


def test_a_row_of_weight_2_is_the_row_twice():
    score, label, group = sample(200)
    weight = np.random.default_rng(0).integers(1, 4, 200)
    twice = np.repeat(np.arange(200), weight)
    fold_of = np.arange(200) % 4
    weighted, copied = (
        expected_gap(
            OddsShift(),
            score[rows],
            label[rows],
            sensitive_features=group[rows],
            sample_weight=weights,
            cv=[(np.flatnonzero(fold_of[rows] != k), np.flatnonzero(fold_of[rows] == k)) for k in range(4)],
        )
        for rows, weights in ((np.arange(200), weight), (twice, None))
    )
    assert weighted.after.auc == pytest.approx(copied.after.auc, abs=1e-10)
    assert weighted.gap().value == pytest.approx(copied.gap().value, abs=1e-10)
    assert weighted.gap().stderr == pytest.approx(copied.gap().stderr, abs=1e-10)


def test_the_scale_of_sampling_weights_means_nothing_and_counts_that_are_none_are_questioned():
    score, label, group = sample()
    weight = np.random.default_rng(0).random(600) + 0.5
    rows = {"sensitive_features": group, "sample_weight": weight}
    with pytest.warns(XorderWarning, match="sample_weight is not whole, yet read as counts"):
        expected_gap(OddsShift(), score, label, **rows)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        first, second = (
            expected_gap(OddsShift(), score, label, **rows | {"sample_weight": scale * weight}, weights_are="sampling")
            for scale in (1, 100)
        )
    assert first.gap().stderr == pytest.approx(second.gap().stderr)


def test_several_attributes_are_combined():
    score, label, group = sample()
    table = np.column_stack([group, np.where(np.arange(600) % 2, "old", "young")])
    found = expected_gap(Knowing(), score, label, sensitive_features=table)
    assert found.after.groups == ("A & old", "A & young", "B & old", "B & young")
    assert len([line for line in str(found).splitlines() if line.startswith("xauc gap")]) == 6


def test_one_positive_of_a_group_is_too_few_to_try():
    score, label, group = sample(100)
    label = np.where(group == "B", 0, label)
    label[np.flatnonzero(group == "B")[0]] = 1
    with (
        pytest.warns(XorderWarning, match="single row of a class"),
        pytest.raises(InputError, match=r"cannot be learnt without fold \d of 5 .*at least two rows of each class"),
    ):
        expected_gap(OddsShift(), score, label, sensitive_features=group)


def test_wrong_rows_are_told_in_the_users_words():
    score, label, group = sample(60)
    with pytest.raises(InputError, match="y_true must hold only 0 and 1"):
        expected_gap(OddsShift(), score, label + 1, sensitive_features=group)
    with pytest.raises(InputError, match="sensitive_features must have one value a row"):
        expected_gap(OddsShift(), score, label, sensitive_features=group[1:])
    with pytest.raises(InputError, match="sample_weight must have one value a row"):
        expected_gap(OddsShift(), score, label, sensitive_features=group, sample_weight=np.ones(3))


def test_where_nothing_is_uncertain_nothing_is_claimed():
    """The two classes are apart: placements do not vary, and no size of gap can be named."""
    group = np.tile(["A", "B"], 20)
    label = np.repeat([0, 1], 20)
    score = label * 0.5 + 0.25
    with pytest.warns(XorderWarning, match="placements do not vary"):
        found = expected_gap(clone(PostLogit()), score, label, sensitive_features=group)
    assert math.isnan(found.smallest_visible)
    assert "cannot tell how uncertain the gap in xauc between 'A' and 'B' is" in found.caution
    assert found.to_dict()["likely_gap"] is None
    assert "not known" in str(found)


def test_it_tells_training_scores_from_others():
    """Used as meant, on scores of people the model was not trained on, the AUC is that of new people."""
    rng = np.random.default_rng(0)
    X, group = rng.normal(size=(3000, 30)), np.where(rng.random(3000) < 0.4, "B", "A")
    label = (X[:, 0] - (group == "B") + rng.normal(size=3000) > 0).astype(int)
    model = LogisticRegression(C=100).fit(X[:500], label[:500])
    held = np.arange(500, 1500)
    score = model.predict_proba(X)[:, 1]
    found = expected_gap(OddsShift(), score[held], label[held], sensitive_features=group[held])
    repair = OddsShift().fit(score[held], label[held], sensitive_features=group[held])
    new = repair.transform(score[1500:], sensitive_features=group[1500:])
    assert found.after.auc == pytest.approx(roc_auc_score(label[1500:], new), abs=0.03)
