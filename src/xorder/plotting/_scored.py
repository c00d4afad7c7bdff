"""The rows that a display from an estimator shows: labels, groups, and scores before and after a repair."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from xorder._groups import group_labels, groups_in, naming_missing
from xorder._parameters import check_word
from xorder._repair import BaseRepair
from xorder._response import response
from xorder._table import FloatArray, Tables
from xorder._validation import check_scores, check_tables
from xorder.estimators import FairRanker
from xorder.exceptions import InputError
from xorder.plotting._style import Display

RESPONSES = ("auto", "predict_proba", "decision_function")


class ScoredRows(NamedTuple):
    """Rows as an estimator scores them; ``after`` is None where it repairs nothing."""

    y_true: Any
    before: FloatArray
    after: FloatArray | None
    groups: Any

    @property
    def final(self) -> FloatArray:
        """The score that the estimator gives in the end."""
        return self.before if self.after is None else self.after


class RowsDisplay(Display):
    """What displays of rows share: besides from predictions they are made from the estimator that predicts."""

    from_predictions: ClassVar[Callable[..., Any]]

    # Whether scores before a repair are shown beside those after it.
    _before_and_after: ClassVar[bool] = False

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        sensitive_features: Any = None,
        response_method: str = "auto",
        **options: Any,
    ) -> Self:
        """Score rows with a classifier or a repair, and compute the numbers from that as :meth:`from_predictions` does.

        Parameters
        ----------
        estimator : object
            Repair (:class:`xorder.XOrder`), :class:`xorder.FairRanker` or classifier, fitted.
        X : array-like
            Rows to score; for a repair, their scores before it.
        y : array-like of shape (n_samples,)
            Labels.
        sensitive_features : array-like of shape (n_samples,), default=None
            Group of each row; by default from the columns that a FairRanker was made for.
        response_method : {"auto", "predict_proba", "decision_function"}, default="auto"
            How a classifier scores rows.
        **options : dict
            Passed on to :meth:`from_predictions`, such as ``sample_weight`` and ``name``.

        Returns
        -------
        object
            The display with its numbers, ready to be drawn.
        """
        rows = scored_rows(estimator, X, y, sensitive_features=sensitive_features, response_method=response_method)
        score = rows.final
        if cls._before_and_after:
            score = rows.before
            options["y_adjusted"] = rows.after
        display: Self = cls.from_predictions(rows.y_true, score, sensitive_features=rows.groups, **options)
        return display


def tables_by_stage(y_true: Any, y_score: Any, y_adjusted: Any, *rows: Any, **options: Any) -> dict[str, Tables]:
    """Check rows as they are before a repair and, where adjusted scores are given, after it."""
    scores = {"before": y_score} if y_adjusted is None else {"before": y_score, "after": y_adjusted}
    return {stage: check_tables(y_true, score, *rows, **options) for stage, score in scores.items()}


def check_bins(bins: Any) -> int:
    """Return a number of bins, 1 to 1000."""
    if not isinstance(bins, int | np.integer) or not 1 <= bins <= 1000:
        raise InputError(f"bins must be a whole number from 1 to 1000; got {bins!r}.")
    return int(bins)


def scored_rows(
    estimator: Any, X: Any, y: Any, *, sensitive_features: Any = None, response_method: str = "auto"
) -> ScoredRows:
    """Score rows with a repair (``X`` is then the scores as they were), a FairRanker, or any other classifier.

    The groups come along, or from the columns that a FairRanker was made for.
    """
    check_word("response_method", response_method, RESPONSES)
    groups = _groups(estimator, X, sensitive_features)
    if isinstance(estimator, BaseRepair):
        score = np.asarray(check_scores(X), dtype=np.float64)
        return ScoredRows(y, score, estimator.transform(score, sensitive_features=groups), groups)
    positive = _positive(estimator, y)
    if isinstance(estimator, FairRanker):
        after = _score(estimator, X, response_method, sensitive_features=groups)
        _, inputs = estimator._groups_and_inputs(X, groups)
        before = np.mean([_score(model, inputs, response_method) for model in estimator.estimators_], axis=0)
        return ScoredRows(positive, before, after, groups)
    return ScoredRows(positive, _score(estimator, X, response_method, sensitive_features=groups), None, groups)


def repair_of(estimator: Any) -> Any:
    """Return the repair of a fitted FairRanker; anything else as it is."""
    if not isinstance(estimator, FairRanker):
        return estimator
    check_is_fitted(estimator, "repair_")
    return estimator.repair_


def _score(estimator: Any, X: Any, method: str, **params: Any) -> FloatArray:
    """Score rows in the way asked for, handing on the groups only to those that take them."""
    if method == "auto":
        method = "predict_proba" if hasattr(estimator, "predict_proba") else "decision_function"
    elif not hasattr(estimator, method):
        raise InputError(f"{type(estimator).__name__} has no {method}; leave response_method out, or name another.")
    taken = signature(getattr(estimator, method)).parameters if hasattr(estimator, method) else {}
    params = {name: value for name, value in params.items() if name in taken}
    if method == "decision_function" and hasattr(estimator, method):
        score = np.asarray(estimator.decision_function(X, **params), dtype=np.float64)
        return score[:, 0] if score.ndim == 2 and score.shape[1] == 1 else score
    return response(estimator, X, **params)


def _positive(estimator: Any, y: Any) -> Any:
    """Labels as 0 and 1, by what a classifier calls its second class."""
    classes = getattr(estimator, "classes_", None)
    if classes is None or len(classes) != 2:
        return y
    label = np.asarray(y)
    unknown = label[~np.isin(label, classes)]
    if unknown.size:
        raise InputError(f"y must hold the classes {list(classes)} that the estimator knows; got also {unknown[0]!r}.")
    return label == classes[1]


def _groups(estimator: Any, X: Any, sensitive_features: Any) -> Any:
    columns = estimator.sensitive_columns if isinstance(estimator, FairRanker) else None
    if sensitive_features is None and columns is None:
        raise InputError("sensitive_features must name the group of each row; pass it along with X and y.")
    groups = groups_in(X, columns) if sensitive_features is None else group_labels(sensitive_features)
    repair = getattr(estimator, "repair_", estimator)
    return groups if getattr(repair, "missing_group", "error") == "error" else naming_missing(groups)
