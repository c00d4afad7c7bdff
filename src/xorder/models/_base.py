"""What the base scorers share: a binary classifier whose ranking is its decision function."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from numbers import Real
from typing import Any, TypeVar, cast

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from xorder._table import BoolArray, FloatArray
from xorder._validation import check_weights

Fit = TypeVar("Fit", bound=Callable[..., Any])


def all_or_nothing(fit: Fit) -> Fit:
    """Make a ``fit`` that fails leave the estimator as it was: unfitted, or fitted to what it was fitted to before."""

    @wraps(fit)
    def whole(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = dict(vars(self))
        try:
            return fit(self, *args, **kwargs)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    return cast(Fit, whole)


def midway_intercept(score: FloatArray, positive: BoolArray, weight: FloatArray) -> float:
    """Return what puts 0 half-way between the classes' mean scores."""
    return -0.5 * float(sum(np.average(score[side], weights=weight[side]) for side in (positive, ~positive)))


class BinaryScorer(ClassifierMixin, BaseEstimator):
    """A binary classifier that ranks by its decision function; probabilities are the logistic function of that.

    A subclass has a ``decision_function``, and a ``fit``, which is :func:`all_or_nothing` and sets ``intercept_`` among
    others.
    """

    decision_function: Callable[[Any], FloatArray]

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the logistic function of the decision function, as probabilities of the two classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_inputs)
            Inputs, as in ``fit``.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Probabilities, in the order of ``classes_``.
        """
        positive = expit(self.decision_function(X))
        return np.column_stack([1.0 - positive, positive])

    def predict(self, X: Any) -> Any:
        """Return the class on whose side of 0 the decision function lies.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_inputs)
            Inputs, as in ``fit``.

        Returns
        -------
        ndarray of shape (n_samples,)
            Classes.
        """
        above = self.decision_function(X) > 0
        return self.classes_[above.astype(int)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _check_rows(self, X: Any, y: Any, sample_weight: Any) -> tuple[FloatArray, BoolArray, FloatArray, BoolArray]:
        """Return inputs, whether each row is positive, and weights, of the rows with any weight; and which they are."""
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        kind = type_of_target(y, input_name="y")
        if kind != "binary":
            raise ValueError(f"Only binary classification is supported. The type of the target is {kind}.")
        # One number stands for all rows, as in scikit-learn.
        given = 1.0 if sample_weight is None else sample_weight
        weight = check_weights(np.full(len(X), given) if isinstance(given, Real) else given, len(X))
        self.classes_ = np.unique(y)
        positive = y == self.classes_[-1]
        if self.classes_.size < 2 or not (weight[positive].any() and weight[~positive].any()):
            raise ValueError(
                "Rows of two classes with weights above 0 are needed to rank one above the other; got one class."
            )
        kept = weight > 0
        return (X, positive, weight, kept) if kept.all() else (X[kept], positive[kept], weight[kept], kept)

    def _check_inputs(self, X: Any) -> FloatArray:
        check_is_fitted(self, "intercept_")
        return np.asarray(validate_data(self, X, dtype=np.float64, reset=False))
