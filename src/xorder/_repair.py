"""What XOrder and PostLogit share as estimators of scikit-learn: tags, routing, and how new scores are adjusted."""

from __future__ import annotations

from collections.abc import Hashable
from inspect import signature
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import TransformerTags
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_is_fitted

from xorder._groups import unseen_error
from xorder._table import FloatArray, ScoreTable, Tables
from xorder._validation import check_groups, check_scores
from xorder.exceptions import InputError
from xorder.ordering._ordering import roles_of_two


class BaseRepair(BaseEstimator):
    """An estimator that leaves the scores of one group, the reference, and moves those of the other.

    A subclass has the parameters ``metric`` and ``reference``, ends its ``fit`` by setting the attribute that
    ``_learnt`` names, and moves scores in ``_move``.
    """

    _learnt: str

    # Scores and labels are the data, not metadata to be routed.
    __metadata_request__fit = {"y_score": UNUSED, "y_true": UNUSED}  # noqa: RUF012
    __metadata_request__transform = {"y_score": UNUSED}  # noqa: RUF012

    metric: str
    moved_: tuple[Hashable, ...]
    reference: Hashable | None

    def fit(self, y_score: Any, y_true: Any, *, sensitive_features: Any, sample_weight: Any = None) -> Any:
        """Fit the adjustment to scores, labels and groups."""
        raise NotImplementedError

    def transform(self, y_score: Any, *, sensitive_features: Any) -> FloatArray:
        """Adjust scores; those of the reference group come back as they are."""
        check_is_fitted(self, self._learnt)
        score = check_scores(y_score)
        adjusted = np.array(score, dtype=np.float64)
        for group, mask in check_groups(sensitive_features, score.size):
            if group in self.moved_:
                adjusted[mask] = self._move(adjusted[mask], group)
            elif group != self.reference_:
                known, rows = (self.reference_, *self.moved_), int(np.count_nonzero(mask))
                raise unseen_error(repr(group), known, rows, f"row {int(np.argmax(mask))}", choice=False)
        return adjusted

    def fit_transform(
        self, y_score: Any, y_true: Any, *, sensitive_features: Any, sample_weight: Any = None, **fit_params: Any
    ) -> FloatArray:
        """Fit, then adjust the very same scores; ``fit_params`` are those of ``fit``."""
        self.fit(y_score, y_true, sensitive_features=sensitive_features, sample_weight=sample_weight, **fit_params)
        return self.transform(y_score, sensitive_features=sensitive_features)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = False
        tags.target_tags.required = True
        tags.transformer_tags = TransformerTags()
        return tags

    def _move(self, score: FloatArray, group: Hashable) -> FloatArray:
        raise NotImplementedError

    def _set_roles(self, tables: Tables) -> tuple[ScoreTable, ScoreTable]:
        """Note who of two groups stays, who moves, and the sample as it is; return the tables of the two."""
        roles = roles_of_two(tables, self.metric, self.reference)
        self.reference_, self.moved_ = roles.reference, (roles.moved,)
        self.auc_before_, self.gap_before_ = roles.auc, roles.gap
        return tables[roles.reference], tables[roles.moved]


def check_repair(repair: Any) -> Any:
    """Return a repair that can be fitted; refuse what cannot, such as a class or a plain classifier."""
    fit = getattr(repair, "fit", None)
    takes_groups = not isinstance(repair, type) and callable(fit) and "sensitive_features" in signature(fit).parameters
    if not takes_groups or not callable(getattr(repair, "transform", None)):
        raise InputError(
            f"repair must be a repair such as XOrder() or PostLogit(), with fit(y_score, y_true, *, "
            f"sensitive_features) and transform; got {repair!r}."
        )
    return repair
