"""Linear scorers: one fitted row by row (cross-entropy), one pair by pair (AUC)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from xorder._parameters import check_number, check_whole
from xorder._table import BoolArray, FloatArray
from xorder.exceptions import warn_caller
from xorder.models._base import BinaryScorer, all_or_nothing, midway_intercept


class LinearModel(BinaryScorer):
    """A linear decision function, ``X @ coef_ + intercept_``."""

    coef_: FloatArray
    intercept_: float

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
        return np.asarray(self._check_inputs(X) @ self.coef_ + self.intercept_)


@dataclass(kw_only=True, eq=False, repr=False)
class LinearScorer(LinearModel):
    """Logistic scorer by full-batch gradient descent on cross-entropy, on the paper's schedule.

    Scale the inputs first: the step is the same for all of them. The coefficients of the lowest training loss are kept;
    where no step beats the start, all zeros, a warning says so.

    Parameters
    ----------
    learning_rate : float, default=1.0
        Size of a step along the mean gradient.
    max_epochs : int, default=100
        How often the training loss is measured at most, the first time before any step; so there are at most
        ``max_epochs - 1`` steps.
    patience : int, default=5
        Consecutive losses without progress after which to stop.
    accumulate_gradients : bool, default=False
        Whether to add each gradient to all before it, instead of stepping along it alone. This is the slip of the
        original code, whose published "linear" figures come from
        ``LinearScorer(learning_rate=0.1, max_epochs=99, accumulate_gradients=True)``.

    Attributes
    ----------
    coef_ : ndarray of shape (n_inputs,)
        Coefficients of the decision function.
    intercept_ : float
        Its intercept.
    loss_curve_ : list of float
        Training loss at the start and after each step.
    n_iter_ : int
        Steps taken, one less than there are losses.

    References
    ----------
    .. [1] S. Cui, W. Pan, C. Zhang and F. Wang (2021), Towards model-agnostic post-hoc adjustment for balancing ranking
       fairness and algorithm utility, KDD '21.
    """

    learning_rate: float = 1.0
    max_epochs: int = 100
    patience: int = 5
    accumulate_gradients: bool = False

    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LinearScorer:
        """Fit to rows and labels.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_inputs)
            Inputs.
        y : array-like of shape (n_samples,)
            Labels of two classes; the second in sorted order is to rank high.
        sample_weight : float or array-like of shape (n_samples,), optional
            Weights of rows, which multiply their loss.

        Returns
        -------
        LinearScorer
            The estimator itself.
        """
        check_number("learning_rate", self.learning_rate, above=0)
        check_whole("max_epochs", self.max_epochs, at_least=2)
        check_whole("patience", self.patience)
        X, positive, weight, _ = self._check_rows(X, y, sample_weight)
        inputs, share = np.column_stack([X, np.ones(len(X))]), weight / weight.sum()
        path, gradient = [np.zeros(inputs.shape[1])], np.zeros(inputs.shape[1])
        self.loss_curve_: list[float] = []
        # Steps far too long overflow; their loss is then no progress.
        with np.errstate(over="ignore", invalid="ignore"):
            while True:
                score = inputs @ path[-1]
                self.loss_curve_.append(float(share @ np.logaddexp(0.0, np.where(positive, -score, score))))
                waited = len(self.loss_curve_) - 1 - int(np.nanargmin(self.loss_curve_))
                if waited >= self.patience or len(self.loss_curve_) == self.max_epochs:
                    break
                step = inputs.T @ (share * (expit(score) - positive))
                gradient = gradient + step if self.accumulate_gradients else step
                path.append(path[-1] - self.learning_rate * gradient)
        best = int(np.nanargmin(self.loss_curve_))
        if best == 0 and path[1].any():
            warn_caller(
                f"no step of gradient descent beat a model that scores every row 0 (loss {self.loss_curve_[0]:.4f}), "
                "which is what is kept. Scale the inputs, for example with StandardScaler, or lower learning_rate."
            )
        self.n_iter_ = len(self.loss_curve_) - 1
        self.coef_, self.intercept_ = path[best][:-1], float(path[best][-1])
        return self


@dataclass(kw_only=True, eq=False, repr=False)
class PairwiseLinearScorer(LinearModel):
    r"""Linear scorer that maximises AUC through a smooth bound on it.

    It minimises the mean, over all pairs of a positive i and a negative j, of
    :math:`\max(0, 1 - (s_i - s_j))^2`, which is at least 1 for each pair in the wrong order. L-BFGS, which compares
    losses, gets as near to the minimum as losses can be distinguished; Newton's steps, which look at the gradient
    alone, go the rest of the way, so that the result does not depend on the order in which a processor adds.

    Guarantee: the sum over all pairs is exact, in time of sorting the rows for each iteration; with the scores sorted,
    each row's part of it is a polynomial in prefix sums.

    Parameters
    ----------
    alpha : float, default=1e-4
        Weight of the squared norm of the coefficients.
    max_iter : int, default=1000
        Iterations of L-BFGS at most.

    Attributes
    ----------
    coef_ : ndarray of shape (n_inputs,)
        Direction of the ranking.
    intercept_ : float
        Puts 0 half-way between the classes' mean scores.
    loss_ : float
        Mean pairwise loss reached, without the penalty.
    n_iter_ : int
        Iterations of L-BFGS.

    References
    ----------
    .. [1] S. Cui, W. Pan, C. Zhang and F. Wang (2021), Towards model-agnostic post-hoc adjustment for balancing ranking
       fairness and algorithm utility, KDD '21.
    """

    alpha: float = 1e-4
    max_iter: int = 1000

    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> PairwiseLinearScorer:
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
        PairwiseLinearScorer
            The estimator itself.
        """
        check_number("alpha", self.alpha, at_least=0)
        check_whole("max_iter", self.max_iter)
        X, positive, weight, _ = self._check_rows(X, y, sample_weight)
        share = np.where(positive, weight / weight[positive].sum(), weight / weight[~positive].sum())

        def objective(coefficients: FloatArray) -> tuple[float, FloatArray]:
            loss, slope = pairwise_squared_hinge(X @ coefficients, positive, share)
            penalty = 0.5 * self.alpha * float(coefficients @ coefficients)
            return loss + penalty, np.asarray(X.T @ slope + self.alpha * coefficients)

        settings = {"maxiter": self.max_iter, "ftol": 0.0, "gtol": 1e-10}
        found = minimize(objective, np.zeros(X.shape[1]), jac=True, method="L-BFGS-B", options=settings)

        coefficients, gradient = found.x, objective(found.x)[1]
        # Newton's steps, for as long as each halves the gradient, unless L-BFGS was stopped early.
        while found.nit < self.max_iter and gradient.any():
            curvature = pairwise_squared_hinge_curvature(X, X @ coefficients, positive, share)
            curvature[np.diag_indices_from(curvature)] += self.alpha
            following = coefficients - np.linalg.lstsq(curvature, gradient, rcond=None)[0]
            slope = objective(following)[1]
            if not np.abs(slope).max() < 0.5 * np.abs(gradient).max():
                break
            coefficients, gradient = following, slope
        self.coef_ = coefficients
        score = X @ self.coef_
        self.intercept_ = midway_intercept(score, positive, share)
        self.loss_ = pairwise_squared_hinge(score, positive, share)[0]
        self.n_iter_ = int(found.nit)
        return self


def pairwise_squared_hinge(score: FloatArray, positive: BoolArray, share: FloatArray) -> tuple[float, FloatArray]:
    """Return the sum over pairs of ``share_i share_j max(0, 1 - (s_i - s_j))^2``, and its slope in each score.

    Positive i and negative j add to it where ``s_j > s_i - 1``: with all rows sorted by that key, what each meets are
    sums over those before or after it.

    Guarantee: exact, in time of sorting the rows.

    Parameters
    ----------
    score : ndarray of shape (n_samples,)
        Scores.
    positive : ndarray of bool of shape (n_samples,)
        Whether each row is positive.
    share : ndarray of shape (n_samples,)
        Weights of rows; where those of each class sum to 1, the sum is a mean.

    Returns
    -------
    loss : float
        The sum.
    slope : ndarray of shape (n_samples,)
        Its derivative in each score.
    """
    key = np.where(positive, score - 1.0, score)
    order = np.argsort(key, kind="stable")
    k, is_positive, w = key[order], positive[order], share[order]
    # Each pair in question has (k_j - k_i)^2, i a positive before j, a negative.
    of_i, of_j = np.where(is_positive, w, 0.0), np.where(is_positive, 0.0, w)
    before = [np.cumsum(of_i * k**power) for power in range(3)]
    after = [np.cumsum((of_j * k**power)[::-1])[::-1] for power in range(2)]
    loss = float(of_j @ (k**2 * before[0] - 2 * k * before[1] + before[2]))
    slope = np.empty_like(score)
    slope[order] = 2 * (of_j * (k * before[0] - before[1]) - of_i * (after[1] - k * after[0]))
    return max(loss, 0.0), slope


def pairwise_squared_hinge_curvature(
    X: FloatArray, score: FloatArray, positive: BoolArray, share: FloatArray
) -> FloatArray:
    """Return the second derivative of :func:`pairwise_squared_hinge` of ``X @ coefficients`` in the coefficients.

    Guarantee: exact between the points where a pair enters or leaves the sum; rows times inputs squared in time.
    """
    order = np.argsort(np.where(positive, score - 1.0, score), kind="stable")
    rows, is_positive, w = X[order], positive[order], share[order]
    of_i, of_j = np.where(is_positive, w, 0.0), np.where(is_positive, 0.0, w)
    met = np.where(is_positive, np.cumsum(of_j[::-1])[::-1], np.cumsum(of_i)) * w
    # Each pair in question has twice the square of x_i - x_j.
    squares = rows.T @ (met[:, None] * rows)
    products = np.cumsum(of_i[:, None] * rows, axis=0).T @ (of_j[:, None] * rows)
    return np.asarray(2.0 * (squares - products - products.T))
