"""What a ranker asks of the inputs and labels it is given."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted

from xorder._group_columns import text_columns
from xorder.exceptions import InputError


def check_table(X: Any) -> None:
    """Raise for a row of numbers where a table is needed; a column of text may be for a pipeline to make one of."""
    if isinstance(X, np.ndarray) and X.ndim == 1 and X.dtype.kind in "biuf":
        raise InputError(
            f"X must have rows and columns; got shape {X.shape}. Reshape your data: one person is one row."
        )


@contextmanager
def hints_at_columns(estimator: Any, X: Any, group_columns: Sequence[Hashable], *, dropped: bool) -> Iterator[None]:
    """Point out columns that an estimator may be unable to take, if it fails: those of the group, and those of text."""
    try:
        yield
    except InputError:
        raise
    except (TypeError, ValueError) as error:
        name = type(estimator).__name__
        if group_columns and not dropped:
            given = group_columns[0] if len(group_columns) == 1 else list(group_columns)
            error.add_note(
                f"{name} was given the column {given!r} too. "
                "If that is what it cannot take: drop_sensitive_features=True keeps the column from it."
            )
        text = [column for column in text_columns(X) if column not in group_columns]
        if text:
            hint = "encode them in a pipeline, or leave them out"
            if not group_columns:
                hint += (
                    "; if the group is one of them, name it: "
                    f"FairRanker(..., sensitive_features={text[0]!r}, drop_sensitive_features=True)"
                )
            columns = ", ".join(map(repr, text))
            error.add_note(f"X has columns that are no numbers: {columns}. If {name} cannot take that: {hint}.")
        raise


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
