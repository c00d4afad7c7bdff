"""What every repair of two groups shares: who moves, what it was before, and how new scores are adjusted."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_is_fitted

from xorder._table import FloatArray, ScoreTable
from xorder._validation import check_adjust, check_groups, check_scores, check_tables, check_two_tables
from xorder.exceptions import InputError
from xorder.ordering import as_scored


class ScoreAdjuster(BaseEstimator):
    """An estimator that leaves the scores of one group, the reference, and moves those of the other.

    A subclass has the parameters ``metric`` and ``adjust``, learns in ``fit``, which ends by setting the attribute
    that ``_learnt`` names, and moves scores in ``_move``.
    """

    _learnt: str

    # Scores and labels are the data, not metadata to be routed.
    __metadata_request__fit = {"y_score": UNUSED, "y_true": UNUSED}  # noqa: RUF012
    __metadata_request__transform = {"y_score": UNUSED}  # noqa: RUF012

    metric: str
    adjust: Hashable

    def fit(self, y_score: Any, y_true: Any, *, sensitive_features: Any, sample_weight: Any = None) -> Any:
        """Learn the adjustment from scores, labels and groups."""
        raise NotImplementedError

    def transform(self, y_score: Any, *, sensitive_features: Any) -> FloatArray:
        """Adjust scores; those of the reference group come back as they are."""
        check_is_fitted(self, self._learnt)
        score = check_scores(y_score)
        adjusted = np.array(score, dtype=np.float64)
        for group, mask in check_groups(sensitive_features, score.size):
            if group == self.moved_:
                adjusted[mask] = self._move(adjusted[mask])
            elif group != self.reference_:
                known = f"{self.reference_!r}, {self.moved_!r}"
                raise InputError(f"group {group!r} was not seen in fit; the known groups are {known}.")
        return adjusted

    def fit_transform(
        self, y_score: Any, y_true: Any, *, sensitive_features: Any, sample_weight: Any = None
    ) -> FloatArray:
        """Fit, then adjust the very same scores."""
        self.fit(y_score, y_true, sensitive_features=sensitive_features, sample_weight=sample_weight)
        return self.transform(y_score, sensitive_features=sensitive_features)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = False
        tags.target_tags.required = True
        return tags

    def _move(self, score: FloatArray) -> FloatArray:
        raise NotImplementedError

    def _set_roles(
        self, y_score: Any, y_true: Any, sensitive_features: Any, sample_weight: Any
    ) -> tuple[ScoreTable, ScoreTable]:
        """Note who stays, who moves, and the sample as it is; return the tables of the two."""
        tables = check_tables(y_true, y_score, sensitive_features, sample_weight)
        check_two_tables(tables)
        first, second = tables
        self.auc_before_, gap = as_scored(tables[first], tables[second], self.metric)
        self.moved_ = check_adjust(self.adjust, first, second, gap)
        self.reference_ = first if self.moved_ == second else second
        self.disparity_before_ = gap if self.moved_ == second else -gap
        return tables[self.reference_], tables[self.moved_]
