"""Post-logit against brute force over its grid, and its effect where the truth is known."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pytest
from scipy.special import expit
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score

from support.effort import draws
from xorder.baselines import PostLogit
from xorder.baselines._post_logit import ALPHAS, BETAS
from xorder.datasets import simulate_population
from xorder.exceptions import InputError, XorderWarning
from xorder.metrics import parity_difference, prf_difference, xauc_difference

GAPS = {"xauc": xauc_difference, "prf": prf_difference, "parity": parity_difference}


def people(size: int = 300, seed: int = 0, *, rounded: bool = False):
    drawn = simulate_population(size, random_state=seed)
    score = drawn.y_score.round(1) if rounded else drawn.y_score
    return score, drawn.y_true, drawn.group


@pytest.mark.parametrize("metric", GAPS)
@pytest.mark.parametrize("rounded", [False, True])
def test_the_whole_grid_is_measured_right(metric, rounded):
    score, label, group = people(rounded=rounded)
    repair = PostLogit(metric=metric).fit(score, label, sensitive_features=group)
    gaps = []
    for alpha in ALPHAS[::20]:
        adjusted = np.where(group == "B", expit(alpha * score - 2.0), score)
        gaps.append(abs(GAPS[metric](label, adjusted, sensitive_features=group)))
    adjusted = repair.transform(score, sensitive_features=group)
    reached = GAPS[metric](label, adjusted, sensitive_features=group)
    assert reached == pytest.approx(repair.gap_, abs=1e-12)
    assert abs(reached) <= min(gaps) + 1e-12
    assert repair.auc_ == pytest.approx(roc_auc_score(label, adjusted), abs=1e-12)
    assert repair.gap_before_ == pytest.approx(GAPS[metric](label, score, sensitive_features=group), abs=1e-12)


def few_people(seed: int, kind: str):
    """A dozen or two, of both groups and classes, whose scores tie, nearly tie, or are no probabilities."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(8, 25))
    group, label = np.arange(size) % 2, np.arange(size) // 2 % 2
    score = rng.random(size) + 0.2 * label * rng.random()
    if kind == "rounded":
        score = score.round(1)
    elif kind == "nearly tied":
        score = score.round(1) + rng.integers(0, 3, size) * 1e-16
    elif kind == "decision":
        score = rng.normal(size=size) * 20 + label
    return np.clip(score, 0, 1) if kind != "decision" else score, label, group


def gap_of_all_pairs(metric, label, score, group):
    """Group 0's figure minus group 1's, over a matrix of who is above whom."""
    above = (np.sign(score[:, None] - score[None, :]) + 1) / 2
    if metric == "parity":
        return 2 * above[np.ix_(group == 0, group == 1)].mean() - 1
    rivals = [(label == 0) & ((metric == "prf") | (group != g)) for g in (0, 1)]
    return np.subtract(*(above[np.ix_((label == 1) & (group == g), rivals[g])].mean() for g in (0, 1)))


def told_of_decisions(kind: str):
    if kind == "decision":
        return pytest.warns(XorderWarning, match=r"from 0 to 1 .* Pass probabilities")
    return nullcontext()


@pytest.mark.slow
@pytest.mark.parametrize("metric", GAPS)
@pytest.mark.parametrize("kind", ["plain", "rounded", "nearly tied", "decision"])
@pytest.mark.parametrize("beta", [-2.0, 35.0, -720.0])
def test_what_it_says_of_the_sample_is_what_the_metrics_say_of_the_outcome(metric, kind, beta):
    for seed in range(draws(4, 2)):
        score, label, group = few_people(seed, kind)
        weight = np.random.default_rng(seed).random(score.size) if seed % 2 else None
        with told_of_decisions(kind):
            repair = PostLogit(metric=metric, beta=beta)
            repair.fit(score, label, sensitive_features=group, sample_weight=weight)
        adjusted = repair.transform(score, sensitive_features=group)
        gap = GAPS[metric](label, adjusted, sensitive_features=group, sample_weight=weight)
        assert repair.gap_ == pytest.approx(gap if repair.moved_ == (1,) else -gap, abs=1e-12)
        assert repair.auc_ == pytest.approx(roc_auc_score(label, adjusted, sample_weight=weight), abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("metric", GAPS)
@pytest.mark.parametrize("kind", ["plain", "rounded", "nearly tied", "decision"])
@pytest.mark.parametrize("beta", [-2.0, 35.0])
def test_the_first_of_the_smallest_gaps_of_the_whole_grid_is_found(metric, kind, beta):
    for seed in range(draws(6, 2)):
        score, label, group = few_people(seed, kind)
        with told_of_decisions(kind):
            repair = PostLogit(metric=metric, beta=beta).fit(score, label, sensitive_features=group)
        (moved,) = repair.moved_
        gaps = [
            abs(gap_of_all_pairs(metric, label, np.where(group == moved, expit(a * score + beta), score), group))
            for a in ALPHAS
        ]
        assert abs(repair.gap_) == pytest.approx(min(gaps), abs=1e-12)
        assert repair.alpha_ == ALPHAS[int(np.argmax(np.array(gaps) <= min(gaps) + 1e-12))]


def test_one_score_for_all_of_a_group_can_be_best_and_is_counted_right():
    """Group 1 is ranked upside down: its PRF rises if its pairs tie."""
    score = np.array([0.9, 0.1, 0.05, 0.01, 0.2, 0.3])
    label, group = np.array([1, 0, 1, 1, 0, 0]), np.array([0, 0, 1, 1, 1, 1])
    repair = PostLogit(metric="prf", beta=-1.0).fit(score, label, sensitive_features=group)
    assert repair.alpha_ == 0
    adjusted = repair.transform(score, sensitive_features=group)
    assert len(set(adjusted[group == 1])) == 1
    # The positive of group 0 outranks all three negatives; those of group 1 outrank one and tie with two.
    assert repair.gap_ == pytest.approx(1 - 2 / 3, abs=1e-12)
    assert repair.auc_ == pytest.approx((3 + 2 * 2) / 9, abs=1e-12)


def test_the_gap_falls_with_alpha_until_it_changes_sign():
    """Group B is read too low; the larger alpha, the higher its scores."""
    score, label, group = people(2000)
    gaps = [
        xauc_difference(label, np.where(group == "B", expit(alpha * score - 2), score), sensitive_features=group)
        for alpha in np.linspace(0.5, 10, 20)
    ]
    assert np.all(np.diff(gaps) < 0)
    repair = PostLogit().fit(score, label, sensitive_features=group)
    assert (repair.moved_, repair.reference_, repair.beta_) == (("B",), "A", -2.0)
    assert abs(repair.gap_) < 0.01 < repair.gap_before_


def test_a_search_over_beta_is_no_worse():
    score, label, group = people(400, seed=2)
    fixed = PostLogit().fit(score, label, sensitive_features=group)
    searched = PostLogit(beta="search").fit(score, label, sensitive_features=group)
    assert abs(searched.gap_) <= abs(fixed.gap_)
    adjusted = searched.transform(score, sensitive_features=group)
    gap = xauc_difference(label, adjusted, sensitive_features=group)
    assert searched.gap_ == pytest.approx(gap, abs=1e-12)
    assert BETAS[0] <= searched.beta_ <= BETAS[-1]


def test_weight_two_is_the_row_twice():
    score, label, group = people(200, seed=3)
    weight = np.random.default_rng(0).integers(1, 4, 200)
    weighted = PostLogit().fit(score, label, sensitive_features=group, sample_weight=weight)
    rows = np.repeat(np.arange(200), weight)
    repeated = PostLogit().fit(score[rows], label[rows], sensitive_features=group[rows])
    assert (weighted.alpha_, weighted.beta_) == (repeated.alpha_, repeated.beta_)
    assert weighted.auc_ == pytest.approx(repeated.auc_, abs=1e-12)


def test_manners():
    score, label, group = people()
    repair = PostLogit(metric="prf", reference="B")
    assert clone(repair).get_params() == repair.get_params()
    with pytest.raises(NotFittedError):
        repair.transform(score, sensitive_features=group)
    assert repair.fit(score, label, sensitive_features=group).moved_ == ("A",)
    with pytest.raises(InputError, match=r"'C' was not seen in fit .*; the known groups are 'B', 'A'"):
        repair.transform([0.5], sensitive_features=["C"])
    for settings, words in (
        ({"beta": "all"}, "beta must be a finite number or 'search'; got 'all'"),
        ({"beta": float("nan")}, "beta must be .* got nan"),
        ({"beta": float("inf")}, "beta must be .* got inf"),
        ({"beta": None}, "beta must be .* got None"),
        ({"metric": "f1"}, "metric must be one of xauc, prf, parity; got 'f1'"),
        ({"reference": "Z"}, "reference must be one of 'A', 'B'; got 'Z'"),
    ):
        with pytest.raises(InputError, match=words):
            clone(repair).set_params(**settings).fit(score, label, sensitive_features=group)


def test_a_failed_fit_leaves_the_repair_as_it_was():
    score, label, group = people()
    repair = PostLogit().fit(score, label, sensitive_features=group)
    before = repair.transform(score, sensitive_features=group)
    with pytest.raises(InputError, match="beta"):
        repair.set_params(beta=None).fit(score, label, sensitive_features=np.where(group == "A", "B", "A"))
    np.testing.assert_array_equal(repair.transform(score, sensitive_features=group), before)


def test_a_search_takes_no_longer_than_some_evaluations_of_the_grid(monkeypatch):
    """Of 41,041 pairs of parameters a few dozen for each beta are measured."""
    measured = []
    monkeypatch.setattr("xorder.baselines._post_logit.expit", lambda z: measured.append(z.size) or 1 / (1 + np.exp(-z)))
    score, label, group = people(2000)
    for metric in GAPS:
        PostLogit(metric=metric, beta="search").fit(score, label, sensitive_features=group)
        assert 41 * 5 < len(measured) < 41 * 80
        measured.clear()
