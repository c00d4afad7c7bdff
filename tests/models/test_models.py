"""The base scorers: scikit-learn's own checks, known truths, slow references."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import check_grad
from sklearn.metrics import roc_auc_score
from sklearn.utils.estimator_checks import estimator_checks_generator

from xorder.models import LinearScorer, PairwiseLinearScorer, RankBoost, pairwise_squared_hinge

SCORERS = (LinearScorer(), PairwiseLinearScorer(), RankBoost(), RankBoost(stump_weight="ratio"))


def checks():
    for scorer in SCORERS:
        for estimator, check in estimator_checks_generator(scorer):
            # Arrays of other libraries are turned into NumPy's; there is nothing of theirs to check.
            if check.func.__name__ != "check_array_api_input":
                yield pytest.param(estimator, check, id=f"{scorer!r}-{check.func.__name__}")


@pytest.mark.parametrize(("estimator", "check"), list(checks()))
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def sample(rows: int = 400, seed: int = 0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 6))
    y = rng.random(rows) < 1 / (1 + np.exp(-(X[:, 0] - 0.5 * X[:, 1] + 0.3)))
    return X, y


@pytest.mark.parametrize("scorer", SCORERS)
def test_the_order_of_probabilities_is_the_ranking(scorer):
    X, y = sample()
    scorer.fit(X, y)
    decision, proba = scorer.decision_function(X), scorer.predict_proba(X)[:, 1]
    assert roc_auc_score(y, decision) == roc_auc_score(y, proba) > 0.75
    np.testing.assert_array_equal(scorer.predict(X), scorer.classes_[(decision > 0).astype(int)])


def test_the_slip_adds_up_gradients():
    """Two steps by hand: the second goes along the first gradient plus the second."""
    X, y = sample(50)
    inputs = np.column_stack([X, np.ones(50)])

    def gradient(w):
        return inputs.T @ (1 / (1 + np.exp(-inputs @ w)) - y) / 50

    first = gradient(np.zeros(7))
    w = -0.1 * first
    w = w - 0.1 * (first + gradient(w))
    fitted = LinearScorer(learning_rate=0.1, max_epochs=3, accumulate_gradients=True).fit(X, y)
    np.testing.assert_allclose(np.append(fitted.coef_, fitted.intercept_), w, rtol=1e-12)
    plain = LinearScorer(learning_rate=0.1, max_epochs=3).fit(X, y)
    assert not np.allclose(plain.coef_, fitted.coef_)


def test_descent_stops_without_progress_and_keeps_the_best():
    X, y = sample(200)
    scorer = LinearScorer(learning_rate=1.0, max_epochs=99, accumulate_gradients=True).fit(X * 5, y)
    assert scorer.n_iter_ < 99
    assert min(scorer.loss_curve_[-5:]) >= min(scorer.loss_curve_)
    score = np.where(y, -1, 1) * scorer.decision_function(X * 5)
    assert np.logaddexp(0, score).mean() == pytest.approx(min(scorer.loss_curve_), rel=1e-12)


def slow_hinge(score, positive, share):
    return sum(
        share[i] * share[j] * max(0.0, 1 - (score[i] - score[j])) ** 2
        for i in np.flatnonzero(positive)
        for j in np.flatnonzero(~positive)
    )


@pytest.mark.parametrize("seed", range(5))
def test_the_pairwise_loss_is_exact_and_so_is_its_slope(seed):
    rng = np.random.default_rng(seed)
    score, positive, share = rng.normal(size=40) * 2, rng.random(40) < 0.4, rng.random(40)
    loss, slope = pairwise_squared_hinge(score, positive, share)
    assert loss == pytest.approx(slow_hinge(score, positive, share), rel=1e-10)
    error = check_grad(
        lambda s: pairwise_squared_hinge(s, positive, share)[0],
        lambda s: pairwise_squared_hinge(s, positive, share)[1],
        score,
    )
    assert error < 1e-6 * np.linalg.norm(slope)


def slow_round(X, positive, weight_of):
    """The largest |r| over all stumps of all inputs, one by one."""
    best = 0.0
    for feature in range(X.shape[1]):
        for threshold in np.unique(X[:, feature])[:-1]:
            above = X[:, feature] > threshold
            best = max(best, abs(weight_of[positive & above].sum() - weight_of[~positive & above].sum()))
    return best


def test_each_round_takes_the_best_stump_and_the_loss_falls():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 6, size=(60, 4)).astype(float)
    y = rng.random(60) < 0.4 + 0.1 * (X[:, 0] > 2)
    boosted = RankBoost(n_estimators=8).fit(X, y)
    weight_of = np.where(y, 1 / y.sum(), 1 / (~y).sum())
    score, previous = np.zeros(60), 1.0
    for number in range(8):
        r = slow_round(X, y, weight_of)
        assert abs(np.tanh(boosted.weights_[number])) == pytest.approx(r, rel=1e-9)
        above = X[:, boosted.features_[number]] > boosted.thresholds_[number]
        score += boosted.weights_[number] * above
        weight_of = weight_of * np.exp(np.where(y, -1, 1) * boosted.weights_[number] * above)
        for rows in (y, ~y):
            weight_of[rows] /= weight_of[rows].sum()
        pairs = np.exp(score[~y][:, None] - score[y][None, :])
        assert boosted.loss_curve_[number] == pytest.approx(pairs.mean(), rel=1e-9)
        assert boosted.loss_curve_[number] < previous
        previous = boosted.loss_curve_[number]


def test_the_ratio_rule_weighs_by_shares_and_its_loss_falls_too():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 6, size=(60, 4)).astype(float)
    y = rng.random(60) < 0.2 + 0.1 * X[:, 0]
    boosted = RankBoost(n_estimators=8, stump_weight="ratio").fit(X, y)
    above = X[:, boosted.features_[0]] > boosted.thresholds_[0]
    p, q = above[y].mean(), above[~y].mean()
    expected = np.log(p / q) / 2 if p > q else -np.log((1 - p) / (1 - q)) / 2
    assert boosted.weights_[0] == pytest.approx(expected, rel=1e-12)
    assert (np.diff([1.0, *boosted.loss_curve_]) < 0).all()
    # Inputs turned round give the same ranking.
    turned = RankBoost(n_estimators=8, stump_weight="ratio").fit(-X, y)
    np.testing.assert_allclose(np.diff(boosted.decision_function(X)), np.diff(turned.decision_function(-X)), atol=1e-9)


def test_an_unknown_rule_is_told():
    with pytest.raises(ValueError, match="stump_weight must be one of bound, ratio; got 'best'"):
        RankBoost(stump_weight="best").fit(*sample(20))


@pytest.mark.parametrize("rule", ["bound", "ratio"])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_perfect_stump_gives_no_infinities(rule, sign):
    X, y = sign * np.arange(10.0)[:, None], np.arange(10) >= 5
    boosted = RankBoost(stump_weight=rule).fit(X, y)
    assert np.isfinite(boosted.decision_function(X)).all()
    assert roc_auc_score(y, boosted.decision_function(X)) == 1.0


def test_inputs_that_do_not_vary_give_equal_scores():
    boosted = RankBoost().fit(np.ones((6, 2)), [0, 1, 0, 1, 1, 0])
    assert len(set(boosted.decision_function(np.ones((3, 2))))) == 1
