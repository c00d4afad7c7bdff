"""The base scorers: scikit-learn's own checks, known truths, slow references."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import check_grad
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score
from sklearn.utils.estimator_checks import estimator_checks_generator

from xorder.exceptions import InputError, XorderWarning
from xorder.models import LinearScorer, PairwiseLinearScorer, RankBoost, pairwise_squared_hinge
from xorder.models._linear import pairwise_squared_hinge_curvature

SCORERS = (LinearScorer(), PairwiseLinearScorer(), RankBoost(), RankBoost(stump_weight="ratio"))


def checks():
    for scorer in SCORERS:
        for estimator, check in estimator_checks_generator(scorer):
            # Arrays of other libraries are turned into NumPy's; there is nothing of theirs to check.
            if check.func.__name__ != "check_array_api_input":
                yield pytest.param(estimator, check, id=f"{scorer!r}-{check.func.__name__}")


# Some checks have inputs that were not scaled, for which a step of 1 is too long.
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:no step of gradient descent:xorder.exceptions.XorderWarning")
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
    scorer = LinearScorer(learning_rate=0.1, max_epochs=99, accumulate_gradients=True).fit(X, y)
    best = int(np.argmin(scorer.loss_curve_))
    assert 0 < best == len(scorer.loss_curve_) - 1 - 5
    assert scorer.n_iter_ == best + 5 < 98
    score = np.where(y, -1, 1) * scorer.decision_function(X)
    assert np.logaddexp(0, score).mean() == pytest.approx(min(scorer.loss_curve_), rel=1e-12)


def test_of_so_many_epochs_the_first_is_the_start_and_every_step_is_measured():
    X, y = sample(50)
    scorer = LinearScorer(max_epochs=2).fit(X, y)
    step = np.column_stack([X, np.ones(50)]).T @ (y - 0.5) / 50
    np.testing.assert_allclose(np.append(scorer.coef_, scorer.intercept_), step, rtol=1e-12)
    assert len(scorer.loss_curve_) == 2
    assert scorer.n_iter_ == 1
    assert scorer.loss_curve_[1] < scorer.loss_curve_[0] == pytest.approx(np.log(2), rel=1e-12)


@pytest.mark.parametrize("size", [1e3, 1e200])
def test_a_scorer_that_learnt_nothing_says_so(size):
    X, y = sample(200)
    with pytest.warns(XorderWarning, match=r"no step of gradient descent beat .* Scale the inputs") as told:
        scorer = LinearScorer().fit(X * size, y)
    assert told[0].filename == __file__
    assert not scorer.decision_function(X * size).any()
    # Where there is nothing to learn there is nothing to scale.
    LinearScorer().fit(np.ones((4, 2)), [0, 1, 0, 1])


@pytest.mark.parametrize(
    ("scorer", "words"),
    [
        (LinearScorer(learning_rate=0), "learning_rate must be a finite number above 0; got 0"),
        (LinearScorer(learning_rate=float("nan")), "learning_rate must be .* got nan"),
        (LinearScorer(learning_rate="fast"), "learning_rate must be .* got 'fast'"),
        (LinearScorer(max_epochs=1), "max_epochs must be a whole number from 2 up; got 1"),
        (LinearScorer(max_epochs=9.5), r"max_epochs must be a whole number from 2 up; got 9\.5"),
        (LinearScorer(patience=0), "patience must be a whole number from 1 up; got 0"),
        (PairwiseLinearScorer(alpha=-1), "alpha must be a finite number from 0 up; got -1"),
        (PairwiseLinearScorer(alpha=float("inf")), "alpha must be .* got inf"),
        (PairwiseLinearScorer(max_iter=0), "max_iter must be a whole number from 1 up; got 0"),
        (RankBoost(learning_rate=-1), "learning_rate must be .* got -1"),
        (RankBoost(n_estimators=0), "n_estimators must be a whole number from 1 up; got 0"),
        (RankBoost(n_estimators=True), "n_estimators must be a whole number from 1 up; got True"),
        (RankBoost(stump_weight=["bound"]), "stump_weight must be one of bound, ratio"),
    ],
)
def test_parameters_of_no_meaning_are_told_at_fit(scorer, words):
    with pytest.raises(InputError, match=words):
        scorer.fit(*sample(20))


@pytest.mark.parametrize("scorer", SCORERS)
def test_a_failed_fit_leaves_no_trace(scorer):
    X, y = sample()
    scorer = clone(scorer)
    with pytest.raises(ValueError, match="one class"):
        scorer.fit(X, np.zeros(len(y)))
    with pytest.raises(NotFittedError):
        scorer.decision_function(X)
    before = scorer.fit(X, np.where(y, "yes", "no")).decision_function(X)
    with pytest.raises(ValueError, match="one class"):
        scorer.fit(X[:, :2], np.zeros(len(y)))
    with pytest.raises(ValueError, match="sample_weight"):
        scorer.fit(X[:, :2], y, sample_weight=[1.0])
    np.testing.assert_array_equal(scorer.decision_function(X), before)
    assert list(scorer.classes_) == ["no", "yes"]


def test_an_interrupted_fit_leaves_no_trace(monkeypatch):
    X, y = sample()
    scorer = RankBoost().fit(X, y)
    before = scorer.decision_function(X)

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("xorder.models._rankboost._best_stump", interrupt)
    with pytest.raises(KeyboardInterrupt):
        scorer.fit(X[:, :3], y)
    np.testing.assert_array_equal(scorer.decision_function(X), before)
    assert len(scorer.loss_curve_) == 50


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


def test_the_curvature_of_the_pairwise_loss_is_exact():
    rng = np.random.default_rng(0)
    X, positive, share = rng.normal(size=(40, 3)), rng.random(40) < 0.4, rng.random(40)
    at = rng.normal(size=3)
    differences = [
        (X[i] - X[j], share[i] * share[j]) for i in np.flatnonzero(positive) for j in np.flatnonzero(~positive)
    ]
    expected = sum(2 * w * np.outer(d, d) for d, w in differences if d @ at < 1)
    np.testing.assert_allclose(
        pairwise_squared_hinge_curvature(X, X @ at, positive, share), expected, rtol=1e-12, atol=1e-12
    )


@pytest.mark.parametrize("size", [1.0, 100.0])
def test_the_pairwise_scorer_reaches_its_minimum(size):
    """To the last digits, where losses no longer differ: the order of rows, as of sums, leaves no trace."""
    X, y = sample(300)
    X *= size
    fitted, again = PairwiseLinearScorer().fit(X, y), PairwiseLinearScorer().fit(X[::-1], y[::-1])
    np.testing.assert_allclose(fitted.coef_, again.coef_, rtol=1e-10)
    share = np.where(y, 1 / y.sum(), 1 / (~y).sum())
    slope = X.T @ pairwise_squared_hinge(X @ fitted.coef_, y, share)[1] + 1e-4 * fitted.coef_
    assert np.abs(slope).max() < 1e-12 * size
    # Who limits the iterations gets what they reach.
    assert PairwiseLinearScorer(max_iter=1).fit(X, y).n_iter_ == 1
    assert PairwiseLinearScorer(max_iter=1).fit(X, y).loss_ > fitted.loss_


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


@pytest.mark.parametrize("rule", ["bound", "ratio"])
def test_weight_2_is_the_row_twice(rule):
    X, y = sample(150, seed=2)
    weight = np.random.default_rng(0).integers(0, 4, 150)
    rows = np.repeat(np.arange(150), weight)
    weighted = RankBoost(stump_weight=rule, n_estimators=20).fit(X, y, sample_weight=weight)
    repeated = RankBoost(stump_weight=rule, n_estimators=20).fit(X[rows], y[rows])
    unweighted = RankBoost(stump_weight=rule, n_estimators=20).fit(X, y)
    np.testing.assert_array_equal(weighted.features_, repeated.features_)
    np.testing.assert_allclose(weighted.thresholds_, repeated.thresholds_, rtol=1e-12)
    np.testing.assert_allclose(weighted.weights_, repeated.weights_, rtol=1e-9)
    np.testing.assert_allclose(weighted.loss_curve_, repeated.loss_curve_, rtol=1e-9)
    assert weighted.intercept_ == pytest.approx(repeated.intercept_, rel=1e-9)
    assert not np.allclose(weighted.decision_function(X), unweighted.decision_function(X))


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
