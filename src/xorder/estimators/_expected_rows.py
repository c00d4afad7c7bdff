"""What to expect on new people, from rows: any repair, tried on folds that it was not fitted to."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Hashable, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from xorder._group_columns import group_labels
from xorder._groups import is_missing
from xorder._repair import check_repair
from xorder._table import MISSING, BoolArray, FloatArray, Tables
from xorder._validation import WeightKind, check_scores, check_tables
from xorder.estimators._expected import ExpectedGap, target_of
from xorder.estimators._folds import Fold, make_folds
from xorder.estimators._learn import NOBODY, GroupPlan, plan_groups
from xorder.estimators._xorder import XOrder
from xorder.exceptions import InputError, XorderWarning
from xorder.metrics import audit_tables


def expected_gap(
    repair: Any,
    y_score: Any,
    y_true: Any,
    *,
    sensitive_features: Any,
    sample_weight: Any = None,
    cv: Any = 5,
    random_state: Any = 0,
    confidence: float = 0.95,
    weights_are: WeightKind = "counts",
) -> ExpectedGap:
    """Estimate AUC and gaps that a repair will have on new people.

    The rows are cut into folds. Those of each fold are adjusted by a clone of ``repair`` fitted to the other folds,
    and all adjusted scores are audited together. Its interval is one for the gap among all people of the kind the rows
    were drawn from; in a new sample of people chance adds to it.

    Parameters
    ----------
    repair : XOrder, PostLogit or alike
        The repair; it is not changed.
    y_score : array-like of shape (n_samples,)
        Scores of rows that their model was *not* trained on, such as out-of-fold scores.
    y_true : array-like of shape (n_samples,)
        Labels, 1 for the outcome that counts, else 0.
    sensitive_features : array-like of shape (n_samples,) or (n_samples, n_attributes)
        The group of each row.
    sample_weight : array-like of shape (n_samples,), default=None
        Weight of each row.
    cv : int, splitter, or iterable of (train, test) row numbers, default=5
        Number of folds, dealt out by label and group; or how else rows are cut.
    random_state : int, RandomState or None, default=0
        How the folds are drawn, if ``cv`` is a number.
    confidence : float, default=0.95
        Confidence of the intervals.
    weights_are : {"counts", "sampling"}, default="counts"
        What weights mean, as in :func:`xorder.audit`.

    Returns
    -------
    ExpectedGap
        Audits before and after, and what they let one expect.

    Examples
    --------
    >>> from xorder import XOrder
    >>> from xorder.datasets import simulate_population
    >>> people = simulate_population(4000)
    >>> found = expected_gap(XOrder(), people.y_score, people.y_true, sensitive_features=people.group)
    >>> round(found.before.gap("xauc").value, 3), abs(found.gap().value) < 0.01, round(found.likely_gap, 2)
    (0.254, True, 0.01)
    """
    check_repair(repair)
    score, label = check_scores(y_score), np.asarray(y_true)
    groups = group_labels(sensitive_features)
    missing = getattr(repair, "missing_group", "error")

    def tables_at(scores: Any) -> Tables:
        return check_tables(label, scores, groups, sample_weight, weights_are=weights_are, missing_group=missing)

    # The audit of the scores as they are checks all columns before anything is cut.
    tables = tables_at(score)
    before = audit_tables(tables, confidence=confidence)
    folds = make_folds(cv, score.reshape(-1, 1), label, groups, random_state=random_state)
    plan = plan_groups(tables, repair._settings()) if isinstance(repair, XOrder) else None
    adjusted = cross_adjusted(repair, score, label, groups, sample_weight, folds, plan, weights_are)
    with warnings.catch_warnings():
        # Of groups without a class, or with a single row of one, the audit before has told already.
        warnings.simplefilter("ignore", XorderWarning)
        after = audit_tables(tables_at(adjusted), confidence=confidence)
    metric = getattr(repair, "metric", "xauc")
    return ExpectedGap(metric, before, after, len(folds), target_of(repair), plan.aside if plan else NOBODY)


def cross_adjusted(
    repair: Any,
    y_score: FloatArray,
    y_true: Any,
    groups: Any,
    sample_weight: Any,
    folds: Sequence[Fold],
    plan: GroupPlan | None,
    weights_are: WeightKind = "counts",
) -> FloatArray:
    """Adjust the scores of each fold by what is fitted to all others.

    ``plan`` is that of an XOrder for all rows: what it sets aside is set aside in each fold, and no more. Repairs of
    others' making have none, and know nothing of what weights are.
    """
    weight = None if sample_weight is None else np.asarray(sample_weight)
    adjusted = np.array(y_score, dtype=np.float64)
    stays, meaning = np.zeros(len(adjusted), dtype=bool), {}
    if plan is not None:
        if len(plan.tables) < 2:
            return adjusted
        repair = clone(repair).set_params(reference=plan.reference, small_groups="repair")
        meaning = {"weights_are": weights_are}
        stays, merged = (_are_of(aside, groups) for aside in plan.aside)
        if merged.any():
            groups = np.array(groups, dtype=object)
            groups[merged] = plan.reference
    for number, fold in enumerate(folds):
        rest = np.setdiff1d(np.flatnonzero(~stays), fold.test)
        held_out = fold.test[~stays[fold.test]]
        try:
            with warnings.catch_warnings():
                # What they say is said of the repair of all rows, too, where it matters.
                warnings.simplefilter("ignore", XorderWarning)
                learnt = clone(repair).fit(
                    y_score[rest],
                    y_true[rest],
                    sensitive_features=groups[rest],
                    sample_weight=None if weight is None else weight[rest],
                    **meaning,
                )
                adjusted[held_out] = learnt.transform(y_score[held_out], sensitive_features=groups[held_out])
        except InputError as error:
            raise InputError(
                f"the repair cannot be fitted without fold {number} of {len(folds)} and applied to it: {error} "
                "Each group needs at least two rows of each class, in different folds."
            ) from error
    return adjusted


def _are_of(some: Collection[Hashable], groups: Any) -> BoolArray:
    """Whether each row belongs to one of some groups."""
    labels = np.asarray(groups).tolist()
    return np.fromiter(((MISSING if is_missing(label) else label) in some for label in labels), bool, len(labels))
