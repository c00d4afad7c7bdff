"""The score by which a fitted classifier ranks rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from xorder._table import FloatArray
from xorder.exceptions import InputError


def gives_probabilities(estimator: Any) -> bool:
    """Whether a classifier has probabilities; else it must have a decision function."""
    return hasattr(estimator, "predict_proba")


def response(estimator: Any, X: Any, method: str | None = None, **params: Any) -> FloatArray:
    """Score rows by the probability of the second of two classes, or by the decision function where there is none."""
    if method == "predict_proba" or (method is None and gives_probabilities(estimator)):
        both = np.asarray(estimator.predict_proba(X, **params), dtype=np.float64)
        if both.ndim != 2 or both.shape[1] != 2:
            name = type(estimator).__name__
            raise InputError(f"predict_proba of {name} must give two columns, one per class; got shape {both.shape}.")
        return both[:, 1]
    if not hasattr(estimator, "decision_function"):
        raise InputError(
            f"the estimator must have predict_proba or decision_function to rank by; {type(estimator).__name__} has "
            "neither."
        )
    score = np.asarray(estimator.decision_function(X, **params), dtype=np.float64)
    return score[:, 0] if score.ndim == 2 and score.shape[1] == 1 else score
