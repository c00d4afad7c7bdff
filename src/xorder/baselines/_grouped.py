"""What linear models trained for fairness share: rows of two groups, each with both classes, and what came of them."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np

from xorder._parameters import check_word
from xorder._table import BoolArray, FloatArray, ScoreTable, check_both_classes
from xorder._validation import check_groups
from xorder.exceptions import InputError
from xorder.models._linear import LinearModel
from xorder.ordering import as_scored

# The gaps that can be trained for.
TRAINABLE = ("xauc", "prf")


class GroupedRows(NamedTuple):
    """Inputs, whether each row is positive, its weight, and whether it belongs to the first of the two groups."""

    X: FloatArray
    positive: BoolArray
    weight: FloatArray
    in_first: BoolArray

    def tables(self, score: FloatArray) -> tuple[ScoreTable, ScoreTable]:
        """Return the tables of the two groups with these scores."""
        first, second = (
            ScoreTable.from_arrays(self.positive[own], score[own], self.weight[own])
            for own in (self.in_first, ~self.in_first)
        )
        return first, second

    def figures(self, coefficients: FloatArray, metric: str) -> tuple[float, float]:
        """Return AUC and gap, first group minus second, of a linear score, by counting pairs."""
        return as_scored(*self.tables(self.X @ coefficients), metric)


class GroupedLinearModel(LinearModel):
    """A linear scorer fitted to rows of two groups; scoring does not need the group."""

    metric: Literal["xauc", "prf"]

    def _check_grouped_rows(self, X: Any, y: Any, sensitive_features: Any, sample_weight: Any) -> GroupedRows:
        """Check rows and groups, note the two groups, and return the rows that have any weight."""
        check_word("metric", self.metric, TRAINABLE)
        X, positive, weight, kept = self._check_rows(X, y, sample_weight)
        masks = {group: mask[kept] for group, mask in check_groups(sensitive_features, kept.size) if mask[kept].any()}
        if len(masks) != 2:
            raise InputError(
                f"sensitive_features must name exactly two groups to train with; got {len(masks)}: "
                f"{', '.join(map(repr, list(masks)[:10]))}. Leave out the rows of others, or join groups."
            )
        first, second = masks
        rows = GroupedRows(X, positive, weight, masks[first])
        for group, table in zip(masks, rows.tables(np.zeros(len(rows.X))), strict=True):
            check_both_classes(table, f"group {group!r}")
        self.groups_ = (first, second)
        return rows
