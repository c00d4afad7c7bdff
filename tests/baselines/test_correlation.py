"""Correlation regularisation: the closed form against all pairs, its slope, and its effect where the truth is known."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch

from xorder.baselines import CorrelationRegularized, pairwise_correlation
from xorder.exceptions import InputError


def draw(rows: int = 60, seed: int = 0):
    rng = np.random.default_rng(seed)
    positive, member = rng.random(rows) < 0.4, rng.random(rows) < 0.5
    return rng.normal(size=rows) + positive, positive, member, rng.integers(1, 4, rows).astype(float)


def correlation_of_all_pairs(score, positive, member, weight, metric):
    margins, memberships, masses = [], [], []
    for i, j in itertools.product(np.flatnonzero(positive), np.flatnonzero(~positive)):
        if metric == "prf" or member[i] != member[j]:
            margins.append(score[i] - score[j])
            memberships.append(float(member[i]))
            masses.append(weight[i] * weight[j])
    covariance = np.cov(margins, memberships, aweights=masses, ddof=0)
    return covariance[0, 1] / np.sqrt(covariance[0, 0] * covariance[1, 1])


@pytest.mark.parametrize("metric", ["xauc", "prf"])
@pytest.mark.parametrize("seed", range(3))
def test_no_pairs_need_be_formed(metric, seed):
    score, positive, member, weight = draw(seed=seed)
    tensors = [torch.from_numpy(part) for part in (score, positive, member)]
    found = pairwise_correlation(*tensors, metric=metric, sample_weight=torch.from_numpy(weight))
    assert float(found) == pytest.approx(correlation_of_all_pairs(score, positive, member, weight, metric), abs=1e-12)
    plain = pairwise_correlation(*tensors, metric=metric)
    ones = np.ones_like(weight)
    assert float(plain) == pytest.approx(correlation_of_all_pairs(score, positive, member, ones, metric), abs=1e-12)


@pytest.mark.parametrize("metric", ["xauc", "prf"])
def test_its_slope_is_that_of_finite_differences(metric):
    score, positive, member, weight = (torch.from_numpy(part) for part in draw(30))
    score.requires_grad_()

    def penalty(values):
        return pairwise_correlation(values, positive, member, metric=metric, sample_weight=weight).abs()

    assert torch.autograd.gradcheck(penalty, (score,), eps=1e-6, atol=1e-7)


def test_equal_scores_have_no_correlation_and_no_broken_slope():
    _, positive, member, _ = (torch.from_numpy(part) for part in draw())
    score = torch.zeros(60, dtype=torch.float64, requires_grad=True)
    value = pairwise_correlation(score, positive, member)
    value.backward()
    assert float(value.detach()) == 0.0
    assert torch.isfinite(score.grad).all()


def test_it_works_in_anybodys_loop():
    """A small network trained by the usual few lines learns scores that do not go with the group."""
    X, y, group = shifted()
    rows, positive, member = torch.from_numpy(X).float(), torch.from_numpy(y), torch.from_numpy(group)
    left = {}
    for price in (0.0, 1.0):
        torch.manual_seed(0)
        network = torch.nn.Sequential(torch.nn.Linear(X.shape[1], 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
        optimiser = torch.optim.Adam(network.parameters(), lr=0.02)
        for _ in range(150):
            score = network(rows).squeeze(1)
            penalty = pairwise_correlation(score.sigmoid(), positive, member).abs()
            loss = torch.nn.functional.binary_cross_entropy_with_logits(score, positive.float()) + price * penalty
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
        left[price] = float(penalty.detach())
    assert left[0.0] > 0.2
    assert left[1.0] < 0.1


def shifted(rows: int = 3000, seed: int = 0):
    """Two groups alike but for one input, which reads the second group lower and which a plain fit relies on."""
    rng = np.random.default_rng(seed)
    group = rng.random(rows) < 0.4
    risk = rng.normal(size=rows)
    y = rng.random(rows) < 1 / (1 + np.exp(-1.5 * risk))
    X = np.column_stack([risk + rng.normal(size=rows) + 1.2 * group, risk + 1.5 * rng.normal(size=rows), group])
    # The group itself is hidden but for a faint trace.
    X[:, 2] += 2 * rng.normal(size=rows)
    return X, y, group


@pytest.mark.parametrize("metric", ["xauc", "prf"])
def test_the_gap_falls_with_the_weight_until_its_floor(metric):
    X, y, group = shifted()
    gaps, aucs = [], []
    for weight in (0.0, 0.02, 0.05, 0.1, 0.3, 1.0, 10.0):
        model = CorrelationRegularized(weight=weight, metric=metric).fit(X, y, sensitive_features=group)
        gaps.append(abs(model.disparity_))
        aucs.append(model.auc_)
    assert gaps[0] > 0.12
    assert all(later <= earlier + 1e-3 for earlier, later in itertools.pairwise(gaps))
    assert gaps[-1] < 0.02
    assert gaps[-1] == pytest.approx(gaps[-2], abs=2e-3)
    assert aucs[-1] < aucs[0]


def test_weight_2_is_the_row_twice():
    X, y, group = shifted(400)
    weight = np.random.default_rng(1).integers(0, 3, 400)
    repeated = np.repeat(np.arange(400), weight)
    weighted = CorrelationRegularized(weight=0.1).fit(X, y, sensitive_features=group, sample_weight=weight)
    twice = CorrelationRegularized(weight=0.1).fit(X[repeated], y[repeated], sensitive_features=group[repeated])
    np.testing.assert_allclose(weighted.coef_, twice.coef_, rtol=1e-4, atol=1e-6)
    assert weighted.auc_ == pytest.approx(twice.auc_, abs=1e-4)
    assert weighted.disparity_ == pytest.approx(twice.disparity_, abs=1e-3)


def test_what_it_says_of_the_training_rows_is_true():
    from sklearn.metrics import roc_auc_score

    from xorder.metrics import xauc_difference

    X, y, group = shifted()
    names = np.where(group, "north", "south")
    model = CorrelationRegularized(weight=0.05).fit(X, y, sensitive_features=names)
    score = model.decision_function(X)
    assert model.groups_ == ("north", "south")
    assert model.auc_ == pytest.approx(roc_auc_score(y, score), abs=1e-12)
    assert model.disparity_ == pytest.approx(xauc_difference(y, score, sensitive_features=names), abs=1e-12)
    assert np.sign(model.correlation_) == np.sign(model.disparity_)
    np.testing.assert_array_equal(np.argsort(model.predict_proba(X)[:, 1]), np.argsort(score))


@pytest.mark.parametrize(
    ("settings", "groups", "words"),
    [
        ({"weight": -1}, None, "weight must be 0 or more; got -1"),
        ({"metric": "parity"}, None, "metric must be one of xauc, prf; got 'parity'"),
        ({}, ["a"] * 400, "exactly two groups"),
        ({}, ["a"] * 399, "399"),
        ({}, ["a", "b", "c", "d"] * 100, "got 4"),
    ],
)
def test_what_cannot_be_used_is_told(settings, groups, words):
    X, y, group = shifted(400)
    with pytest.raises(InputError, match=words):
        CorrelationRegularized(**settings).fit(X, y, sensitive_features=group if groups is None else groups)
