"""What linear models trained for fairness share: rows of two groups, each with both classes, and what came of them."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from sklearn.metrics import roc_auc_score

from xorder._parameters import check_word
from xorder._table import BoolArray, FloatArray, ScoreTable
from xorder._validation import check_both_classes, check_groups
from xorder.exceptions import InputError
from xorder.metrics import prf_difference, xauc_difference
from xorder.models._linear import LinearModel

GAP_OF = {"xauc": xauc_difference, "prf": prf_difference}


class GroupedRows(NamedTuple):
    """Inputs, whether each row is positive, its weight, and whether it belongs to the first of the two groups."""

    X: FloatArray
    positive: BoolArray
    weight: FloatArray
    in_first: BoolArray


class GroupedLinearModel(LinearModel):
    """A linear scorer fitted to rows of two groups; scoring does not need the group."""

    metric: Literal["xauc", "prf"]

    def _check_grouped_rows(self, X: Any, y: Any, sensitive_features: Any, sample_weight: Any) -> GroupedRows:
        """Check rows and groups, note the two groups, and return the rows that have any weight."""
        check_word("metric", self.metric, GAP_OF)
        X, positive, weight = self._check_all_rows(X, y, sample_weight)
        kept = weight > 0
        masks = {group: mask for group, mask in check_groups(sensitive_features, len(X)) if mask[kept].any()}
        if len(masks) != 2:
            raise InputError(
                f"sensitive_features must name exactly two groups to train with; got {len(masks)}: "
                f"{', '.join(map(repr, list(masks)[:10]))}. Leave out the rows of others, or join groups."
            )
        for group, mask in masks.items():
            check_both_classes(
                ScoreTable.from_arrays(positive[mask], np.zeros(mask.sum()), weight[mask]), f"group {group!r}"
            )
        first, second = masks
        self.groups_ = (first, second)
        return GroupedRows(X[kept], positive[kept], weight[kept], masks[first][kept])

    def _set_training_figures(self, rows: GroupedRows) -> None:
        """Set ``auc_`` and ``gap_`` (first group minus second) on the training rows, by counting pairs."""
        score = rows.X @ self.coef_
        self.auc_ = float(roc_auc_score(rows.positive, score, sample_weight=rows.weight))
        self.gap_ = -GAP_OF[self.metric](
            rows.positive, score, sensitive_features=rows.in_first, sample_weight=rows.weight
        )
