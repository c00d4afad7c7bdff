"""Post-logit against brute force over its grid, and its effect where the truth is known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score

from xorder.baselines import PostLogit
from xorder.baselines.post_logit import ALPHAS, BETAS
from xorder.datasets import simulate_population
from xorder.exceptions import InputError
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
    assert reached == pytest.approx(repair.disparity_, abs=1e-12)
    assert abs(reached) <= min(gaps) + 1e-12
    assert repair.auc_ == pytest.approx(roc_auc_score(label, adjusted), abs=1e-12)
    assert repair.disparity_before_ == pytest.approx(GAPS[metric](label, score, sensitive_features=group), abs=1e-12)


def test_the_gap_falls_with_alpha_until_it_changes_sign():
    """Group B is read too low; the larger alpha, the higher its scores."""
    score, label, group = people(2000)
    gaps = [
        xauc_difference(label, np.where(group == "B", expit(alpha * score - 2), score), sensitive_features=group)
        for alpha in np.linspace(0.5, 10, 20)
    ]
    assert np.all(np.diff(gaps) < 0)
    repair = PostLogit().fit(score, label, sensitive_features=group)
    assert (repair.moved_, repair.reference_, repair.beta_) == ("B", "A", -2.0)
    assert abs(repair.disparity_) < 0.01 < repair.disparity_before_


def test_a_search_over_beta_is_no_worse():
    score, label, group = people(400, seed=2)
    fixed = PostLogit().fit(score, label, sensitive_features=group)
    searched = PostLogit(beta="search").fit(score, label, sensitive_features=group)
    assert abs(searched.disparity_) <= abs(fixed.disparity_)
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
    repair = PostLogit(metric="prf", adjust="A")
    assert clone(repair).get_params() == repair.get_params()
    with pytest.raises(NotFittedError):
        repair.transform(score, sensitive_features=group)
    assert repair.fit(score, label, sensitive_features=group).moved_ == "A"
    with pytest.raises(InputError, match=r"'C' was not seen in fit; the known groups are 'B', 'A'"):
        repair.transform([0.5], sensitive_features=["C"])
    for settings, words in (
        ({"beta": "all"}, "beta must be"),
        ({"metric": "f1"}, "metric must be"),
        ({"adjust": "Z"}, "adjust"),
    ):
        with pytest.raises(InputError, match=words):
            PostLogit(**settings).fit(score, label, sensitive_features=group)
