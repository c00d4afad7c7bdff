"""The rows that a display from an estimator shows: labels, groups, and scores before and after a repair."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import signature
from typing import Any, ClassVar, NamedTuple, Self, cast

import numpy as np
from sklearn.utils.validation import check_is_fitted

from xorder._groups import group_labels, groups_in, naming_missing
from xorder._parameters import WeightKind, check_confidence, check_word
from xorder._repair import BaseRepair
from xorder._response import response
from xorder._table import FloatArray
from xorder._validation import check_scores, check_tables
from xorder.estimators import FairRanker, XOrder
from xorder.exceptions import InputError
from xorder.metrics._audit import Audit
from xorder.metrics._cuts import CUTS, Cut
from xorder.metrics._gaps import Gap
from xorder.metrics._make_audit import measured
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
            score, options["y_adjusted"] = rows.before, rows.after
        return cast(Self, cls.from_predictions(rows.y_true, score, sensitive_features=rows.groups, **options))


class RepairDisplay(Display):
    """What displays of a repair share: besides from one that is fitted they are made by fitting one."""

    from_estimator: ClassVar[Callable[..., Any]]

    @classmethod
    def from_predictions(
        cls, y_true: Any, y_score: Any, *, sensitive_features: Any, sample_weight: Any = None, **settings: Any
    ) -> Self:
        """Fit an :class:`xorder.XOrder` to rows, and take everything from it as :meth:`from_estimator` does.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Labels, 1 for the positive class, 0 for the other.
        y_score : array-like of shape (n_samples,)
            Scores.
        sensitive_features : array-like of shape (n_samples,)
            Group of each row.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row.
        **settings : dict
            Settings of :class:`xorder.XOrder`, and options of :meth:`from_estimator`.

        Returns
        -------
        object
            The display with its numbers, ready to be drawn.
        """
        names = XOrder().get_params()
        repair = XOrder(**{name: value for name, value in settings.items() if name in names})
        repair.fit(y_score, y_true, sensitive_features=sensitive_features, sample_weight=sample_weight)
        options = {name: value for name, value in settings.items() if name not in names}
        return cast(Self, cls.from_estimator(repair, **options))


def stages_of(audit: Audit, adjusted: Audit | None) -> dict[str, Audit]:
    """Audits of scores by what they are called: those before a repair and, where given, those after it."""
    return {"before": audit} if adjusted is None else {"before": audit, "after": adjusted}


def widest_gaps(audit: Audit, metric: str = "xauc") -> list[Gap]:
    """Gaps of all pairs of groups, the widest first and unknown ones last, the group that is ranked higher first."""
    gaps = [gap.reversed() if gap.value < 0 else gap for gap in audit.gaps if gap.metric == metric]
    return sorted(gaps, key=lambda gap: -gap.value if np.isfinite(gap.value) else 1.0)


class AuditDisplay(RowsDisplay):
    """What displays of an audit share: besides from one they are made from rows."""

    from_audit: ClassVar[Callable[..., Any]]

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        sensitive_features: Any,
        sample_weight: Any = None,
        y_adjusted: Any = None,
        cuts: Sequence[Cut] = CUTS,
        confidence: float = 0.95,
        weights_are: WeightKind = "counts",
        **options: Any,
    ) -> Self:
        """Audit rows, and take the numbers from that as :meth:`from_audit` does.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Labels, 1 for the positive class, 0 for the other.
        y_score : array-like of shape (n_samples,)
            Scores.
        sensitive_features : array-like of shape (n_samples,)
            Group of each row.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row.
        y_adjusted : array-like of shape (n_samples,), default=None
            Scores after a repair, for displays that show them beside those before it.
        cuts : sequence of float, int or Threshold, default=(0.01, 0.05, 0.1, 0.2)
            Cuts of the audit, as in :func:`xorder.audit`.
        confidence : float, default=0.95
            Confidence of the intervals.
        weights_are : {"counts", "sampling"}, default="counts"
            What weights mean for the uncertainty, as in :func:`xorder.audit`.
        **options : dict
            Passed on to :meth:`from_audit`, such as ``name``.

        Returns
        -------
        object
            The display with its numbers, ready to be drawn.
        """
        check_confidence(confidence)
        scores = [y_score] if y_adjusted is None else [y_score, y_adjusted]
        if len(scores) == 2 and not cls._before_and_after:
            raise InputError(f"{cls.__name__} shows one score; pass the adjusted ones as y_score.")
        rows = (sensitive_features, sample_weight)
        every = [check_tables(y_true, score, *rows, weights_are=weights_are) for score in scores]
        return cast(Self, cls.from_audit(*(measured(tables, confidence, cuts)[0] for tables in every), **options))


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
    return response(estimator, X, method, **{name: value for name, value in params.items() if name in taken})


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
