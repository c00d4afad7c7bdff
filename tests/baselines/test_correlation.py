"""Correlation regularisation: the closed form against all pairs, its slope, and its effect where the truth is known."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from support.needs import package
from support.shifted_rows import shifted
from xorder.exceptions import InputError

torch = package("torch", "torch")

from xorder.baselines import CorrelationRegularized, pairwise_correlation  # noqa: E402

pytestmark = pytest.mark.slow


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


@pytest.mark.parametrize("metric", ["xauc", "prf"])
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
@pytest.mark.parametrize("constant", [0.0, 0.1, 0.5, -7.3, 1234.5])
def test_equal_scores_have_no_correlation_and_a_slope_with_a_bound(metric, dtype, constant):
    _, positive, member, weight = (torch.from_numpy(part) for part in draw())
    score = torch.full((60,), constant, dtype=dtype, requires_grad=True)
    value = pairwise_correlation(score, positive, member, metric=metric, sample_weight=weight)
    value.backward()
    assert abs(float(value.detach())) < 1e-6
    # The four means have slopes of 1 in all; their difference is divided by twice the least spread.
    bound = 4 / (2 * 1e-4 * abs(constant)) if constant else 2
    assert float(score.grad.double().abs().sum()) <= 1.01 * bound


def test_scores_that_differ_have_the_same_correlation_on_any_scale():
    score, positive, member, weight = (torch.from_numpy(part) for part in draw())
    plain = pairwise_correlation(score, positive, member, sample_weight=weight)
    for factor, shift in ((1e-9, 0.0), (1e9, 0.0), (1.0, 1e3), (1e-3, 0.5)):
        found = pairwise_correlation(factor * score + shift, positive, member, sample_weight=weight)
        assert float(found) == pytest.approx(float(plain), abs=1e-9)


def test_labels_and_members_may_be_numbers():
    score, positive, member, _ = (torch.from_numpy(part) for part in draw())
    expected = float(pairwise_correlation(score, positive, member))
    for dtype in (torch.int64, torch.uint8, torch.float32):
        assert float(pairwise_correlation(score, positive.to(dtype), member.to(dtype))) == expected
    assert float(pairwise_correlation(score, positive.numpy(), member.numpy().astype(int))) == expected


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"metric": "xacu"}, "metric must be one of xauc, prf; got 'xacu'"),
        ({"positive": torch.tensor([1, -1] * 30)}, "positive must hold only 0 and 1"),
        ({"member": torch.full((60,), 0.5)}, "member must hold only 0 and 1"),
        ({"score": torch.zeros(60, 1)}, r"shape of score, \(60, 1\); got \(60,\).*squeeze"),
        ({"sample_weight": torch.ones(59)}, r"sample_weight must have one value per score; got shape \(59,\)"),
    ],
)
def test_what_the_penalty_cannot_use_is_told(wrong, words):
    score, positive, member, _ = (torch.from_numpy(part) for part in draw())
    with pytest.raises(InputError, match=words):
        pairwise_correlation(**{"score": score, "positive": positive, "member": member, **wrong})


@pytest.mark.parametrize("metric", ["xauc", "prf"])
def test_a_minibatch_without_some_kind_of_row_costs_nothing(metric):
    score, positive, member, _ = (torch.from_numpy(part) for part in draw())
    empty = [positive & member, positive & ~member, ~positive]
    empty += [~positive & member, ~positive & ~member] if metric == "xauc" else []
    for cell in empty:
        leaf = score.clone().requires_grad_()
        value = pairwise_correlation(leaf[~cell], positive[~cell], member[~cell], metric=metric)
        value.abs().backward()
        weighted = pairwise_correlation(score, positive, member, metric=metric, sample_weight=(~cell).double())
        assert float(value.detach()) == float(weighted) == 0.0
        assert not leaf.grad.any()


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


@pytest.mark.parametrize("metric", ["xauc", "prf"])
def test_the_gap_falls_with_the_weight_until_its_floor(metric):
    X, y, group = shifted()
    gaps, aucs = [], []
    for weight in (0.0, 0.02, 0.05, 0.1, 0.3, 1.0, 10.0):
        model = CorrelationRegularized(weight=weight, metric=metric).fit(X, y, sensitive_features=group)
        gaps.append(abs(model.gap_))
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
    assert weighted.gap_ == pytest.approx(twice.gap_, abs=1e-3)


def test_what_it_says_of_the_training_rows_is_true():
    from sklearn.metrics import roc_auc_score

    from xorder.metrics import xauc_difference

    X, y, group = shifted()
    names = np.where(group, "north", "south")
    model = CorrelationRegularized(weight=0.05).fit(X, y, sensitive_features=names)
    score = model.decision_function(X)
    assert model.groups_ == ("north", "south")
    assert model.auc_ == pytest.approx(roc_auc_score(y, score), abs=1e-12)
    assert model.gap_ == pytest.approx(xauc_difference(y, score, sensitive_features=names), abs=1e-12)
    assert np.sign(model.correlation_) == np.sign(model.gap_)
    np.testing.assert_array_equal(np.argsort(model.predict_proba(X)[:, 1]), np.argsort(score))


@pytest.mark.parametrize(
    ("settings", "groups", "words"),
    [
        ({"weight": -1}, None, "weight must be a finite number from 0 up; got -1"),
        ({"weight": "1"}, None, "weight must be a finite number from 0 up; got '1'"),
        ({"weight": float("inf")}, None, "weight must be a finite number from 0 up; got inf"),
        ({"alpha": None}, None, "alpha must be a finite number from 0 up; got None"),
        ({"max_iter": 2.5}, None, r"max_iter must be a whole number from 1 up; got 2\.5"),
        ({"metric": "parity"}, None, "metric must be one of xauc, prf; got 'parity'"),
        ({}, ["a"] * 400, "exactly two groups to train with; got 1: 'a'"),
        ({}, ["a"] * 399, "got 399 for 400"),
        ({}, np.ones(401), "got 401 for 400"),
        ({}, ["a", "b", "c", "d"] * 100, "got 4: 'a', 'b', 'c', 'd'"),
        ({}, ["a"] * 399 + [None], "1 row has none, row 399"),
    ],
)
def test_what_cannot_be_used_is_told(settings, groups, words):
    X, y, group = shifted(400)
    with pytest.raises(InputError, match=words):
        CorrelationRegularized(**settings).fit(X, y, sensitive_features=group if groups is None else groups)


def test_a_group_without_positives_is_named():
    X, y, group = shifted(400)
    with pytest.raises(InputError, match=r"group True has no positives \(positives 0, negatives \d+\)"):
        CorrelationRegularized().fit(X, y & ~group, sensitive_features=group)


def test_one_weight_for_all_is_none_and_labels_are_needed():
    X, y, group = shifted(400)
    plain = CorrelationRegularized(weight=0.1).fit(X, y, sensitive_features=group)
    weighted = CorrelationRegularized(weight=0.1).fit(X, y, sensitive_features=group, sample_weight=2.0)
    np.testing.assert_allclose(weighted.coef_, plain.coef_, rtol=1e-6)
    with pytest.raises(ValueError, match="requires y to be passed"):
        CorrelationRegularized().fit(X, None, sensitive_features=group)


def test_groups_whose_rows_have_no_weight_are_not_there():
    X, y, group = shifted(400)
    third = np.where(np.arange(400) < 50, "c", np.where(group, "a", "b"))
    model = CorrelationRegularized().fit(X, y, sensitive_features=third, sample_weight=(third != "c").astype(float))
    assert model.groups_ == ("a", "b")


def test_a_failed_fit_leaves_no_trace():
    X, y, group = shifted(400)
    model = CorrelationRegularized(weight=0.1)
    with pytest.raises(InputError, match="two groups"):
        model.fit(X, y, sensitive_features=["a"] * 400)
    with pytest.raises(NotFittedError):
        model.decision_function(X)
    before = model.fit(X, y, sensitive_features=group).decision_function(X)
    with pytest.raises(InputError, match="two groups"):
        model.fit(X[:, :2], y, sensitive_features=["a"] * 400)
    np.testing.assert_array_equal(model.decision_function(X), before)
    assert model.groups_ == (False, True)
