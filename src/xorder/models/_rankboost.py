"""Bipartite RankBoost (Freund, Iyer, Schapire and Singer 2003) over threshold stumps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from xorder._parameters import check_number, check_whole, check_word
from xorder._table import BoolArray, FloatArray
from xorder.models._base import BinaryScorer, all_or_nothing, midway_intercept

# A stump that errs on no pair would get an infinite weight; it gets that of one that errs on few.
_ALMOST_NONE = 1e-6


@dataclass(kw_only=True, eq=False, repr=False)
class RankBoost(BinaryScorer):
    r"""Boost stumps ``x_f > t`` so that positives end up above negatives.

    Weights of pairs factorise into weights of positives and of negatives. Each round takes the stump with the largest
    :math:`|r|`, :math:`r = p - q = \sum_+ v_i h(x_i) - \sum_- v_j h(x_j)`, found exactly from prefix sums over rows
    sorted once by each input, gives it a weight times the rate, and shifts weight to the positives it puts low and the
    negatives it puts high.

    Guarantee: each round's stump is the best there is, in time of rows times inputs.

    Parameters
    ----------
    n_estimators : int, default=50
        Rounds.
    learning_rate : float, default=1.0
        Factor on the weight of each stump.
    stump_weight : {"bound", "ratio"}, default="bound"
        Rule for the weight of a stump.
        ``"bound"`` is :math:`\tfrac12 \ln \frac{1 + r}{1 - r}`, which minimises Freund et al.'s bound on the loss.
        ``"ratio"`` is :math:`\tfrac12 \ln \frac{p}{q}`, of the stump turned so that p > q: the rule of the code behind
        the paper's figures, smaller steps that make the loss fall too.

    Attributes
    ----------
    features_ : ndarray of int
        Input of each stump.
    thresholds_ : ndarray
        Threshold of each stump.
    weights_ : ndarray
        Weight of each stump.
    loss_curve_ : list of float
        Exponential loss over pairs after each round, which bounds the share of pairs in the wrong order.
    intercept_ : float
        Puts 0 half-way between the classes' mean scores.

    References
    ----------
    .. [1] Y. Freund, R. Iyer, R. E. Schapire and Y. Singer (2003), An efficient boosting algorithm for combining
       preferences, Journal of Machine Learning Research 4, 933-969.
    """

    n_estimators: int = 50
    learning_rate: float = 1.0
    stump_weight: Literal["bound", "ratio"] = "bound"

    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> RankBoost:
        """Fit to rows and labels.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_inputs)
            Inputs.
        y : array-like of shape (n_samples,)
            Labels of two classes; the second in sorted order is to rank high.
        sample_weight : float or array-like of shape (n_samples,), optional
            Weights of rows; a pair weighs the product of its rows' weights.

        Returns
        -------
        RankBoost
            The estimator itself.
        """
        weigh = STUMP_WEIGHTS[check_word("stump_weight", self.stump_weight, STUMP_WEIGHTS)]
        check_whole("n_estimators", self.n_estimators)
        check_number("learning_rate", self.learning_rate, above=0)
        X, positive, weight, _ = self._check_rows(X, y, sample_weight)
        order = np.argsort(-X, axis=0, kind="stable")
        ranked = np.take_along_axis(X, order, axis=0)
        # A threshold can only lie where the value changes.
        cut = ranked[:-1] > ranked[1:]
        current = np.where(positive, weight / weight[positive].sum(), -weight / weight[~positive].sum())
        score, loss = np.zeros(len(X)), 1.0
        stumps: list[tuple[int, float, float]] = []
        self.loss_curve_: list[float] = []
        for _ in range(self.n_estimators):
            found = _best_stump(current, order, cut)
            if found is None:
                break
            last, feature = found
            threshold = ranked[last, feature] / 2 + ranked[last + 1, feature] / 2
            if not ranked[last + 1, feature] <= threshold < ranked[last, feature]:
                threshold = ranked[last + 1, feature]
            above = X[:, feature] > threshold
            stump_weight = self.learning_rate * weigh(
                current[positive] @ above[positive], -current[~positive] @ above[~positive]
            )
            stumps.append((feature, float(threshold), float(stump_weight)))
            score += stump_weight * above
            current = current * np.exp(np.where(positive, -stump_weight, stump_weight) * above)
            for rows in (positive, ~positive):
                total = np.abs(current[rows]).sum()
                loss *= total
                current[rows] /= total
            self.loss_curve_.append(loss)
        features, thresholds, weights = zip(*stumps, strict=True) if stumps else ((), (), ())
        self.features_ = np.array(features, dtype=np.intp)
        self.thresholds_, self.weights_ = np.array(thresholds), np.array(weights)
        self.intercept_ = midway_intercept(score, positive, weight)
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """Score rows; the higher, the higher the rank.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_inputs)
            Inputs, as in ``fit``.

        Returns
        -------
        ndarray of shape (n_samples,)
            Scores.
        """
        X = self._check_inputs(X)
        score = np.full(len(X), self.intercept_)
        for feature, threshold, weight in zip(self.features_, self.thresholds_, self.weights_, strict=True):
            score += weight * (X[:, feature] > threshold)
        return score


def _weight_by_bound(p: float, q: float) -> float:
    """Return the weight of a stump that is 1 for the share p of positives and q of negatives."""
    r = np.clip(p - q, _ALMOST_NONE - 1, 1 - _ALMOST_NONE)
    return float(0.5 * np.log((1 + r) / (1 - r)))


def _weight_by_ratio(p: float, q: float) -> float:
    """Return the weight of the same stump, taken from the side on which it is 1 for more positives than negatives."""
    if p < q:
        return -_weight_by_ratio(1 - p, 1 - q)
    return float(0.5 * np.log(max(p, _ALMOST_NONE) / max(q, _ALMOST_NONE)))


STUMP_WEIGHTS: dict[str, Callable[[float, float], float]] = {"bound": _weight_by_bound, "ratio": _weight_by_ratio}


def _best_stump(signed: FloatArray, order: NDArray[np.intp], cut: BoolArray) -> tuple[int, int] | None:
    """Return the last row above the threshold, and input, of the stump of the largest |r|; None if no input varies."""
    r = np.cumsum(signed[order[:-1]], axis=0)
    r[~cut] = 0.0
    size = np.abs(r)
    largest = size.max(initial=0.0)
    if not largest > 0:
        return None
    # Of stumps that are equally good but for rounding, the first input's, and of that the highest threshold.
    feature = int(np.argmax(size.max(axis=0) >= largest * (1 - 1e-12)))
    return int(np.argmax(size[:, feature] >= largest * (1 - 1e-12))), feature
