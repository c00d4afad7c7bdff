"""What linear models trained for fairness share: rows of two groups, each with both classes, and what came of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import roc_auc_score

from xorder._table import BoolArray, FloatArray
from xorder._validation import check_groups, check_tables, check_two_tables
from xorder.exceptions import InputError
from xorder.metrics import prf_difference, xauc_difference
from xorder.models.linear import LinearModel

GAP_OF = {"xauc": xauc_difference, "prf": prf_difference}


class GroupedRows(NamedTuple):
    """Inputs, whether each row is positive, its weight, and whether it belongs to the first of the two groups."""

    X: FloatArray
    positive: BoolArray
    weight: FloatArray
    in_first: BoolArray


class GroupedLinearModel(LinearModel):
    """A linear scorer fitted to rows of two groups; scoring does not need the group."""

    metric: str

    def _check_grouped_rows(self, X: Any, y: Any, sensitive_features: Any, sample_weight: Any) -> GroupedRows:
        if not isinstance(self.metric, str) or self.metric not in GAP_OF:
            raise InputError(f"metric must be one of {', '.join(GAP_OF)}; got {self.metric!r}.")
        everything = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
        X, positive, weight = self._check_rows(X, y, sample_weight)
        masks = dict(check_groups(sensitive_features, len(everything)))
        kept = {group: mask[everything > 0] for group, mask in masks.items()}
        groups = np.empty(len(X), dtype=object)
        for group, mask in kept.items():
            groups[mask] = [group] * int(mask.sum())
        (first, _), (second, _) = check_two_tables(check_tables(positive, np.zeros(len(X)), groups, weight))
        self.groups_ = (first, second)
        return GroupedRows(X, positive, weight, kept[first])

    def _set_training_figures(self, rows: GroupedRows) -> None:
        """Set ``auc_`` and ``disparity_`` (first group minus second) on the training rows, by counting pairs."""
        score = rows.X @ self.coef_
        self.auc_ = float(roc_auc_score(rows.positive, score, sample_weight=rows.weight))
        self.disparity_ = -GAP_OF[self.metric](
            rows.positive, score, sensitive_features=rows.in_first, sample_weight=rows.weight
        )
