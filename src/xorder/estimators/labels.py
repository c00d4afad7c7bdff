"""What a ranker asks of the inputs and labels it is given."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted

from xorder.exceptions import InputError


def check_table(X: Any) -> None:
    """Raise for a row of numbers where a table is needed; a column of text may be for a pipeline to make one of."""
    if isinstance(X, np.ndarray) and X.ndim == 1 and X.dtype.kind in "biuf":
        raise InputError(
            f"X must have rows and columns; got shape {X.shape}. Reshape your data: one person is one row."
        )


def check_labels(y: Any, fitted: Any = None) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return labels of two classes, and the two: those found, or those that an estimator fitted already knows."""
    if y is None:
        raise InputError("fit requires y to be passed, but the target y is None.")
    labels: NDArray[Any] = np.asarray(column_or_1d(y, warn=True))
    check_classification_targets(labels)
    classes = np.unique(labels)
    if fitted is not None:
        check_is_fitted(fitted)
        classes, unknown = np.asarray(fitted.classes_), np.setdiff1d(labels, fitted.classes_)
        if unknown.size:
            raise InputError(f"y must hold classes the fitted estimator knows, {classes}; got also {unknown}.")
    if classes.size != 2:
        kind = type_of_target(labels, input_name="y") if classes.size > 2 else "one class"
        raise InputError(
            f"Only binary classification is supported. The type of the target is {kind}; y must hold two classes, got "
            f"{classes.size}."
        )
    return labels, classes
