"""What XOrder and PostLogit share as estimators of scikit-learn: tags, routing, and fitting and adjusting at once."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.utils import TransformerTags
from sklearn.utils.metadata_routing import UNUSED

from xorder._table import FloatArray
from xorder.exceptions import InputError


class BaseRepair(BaseEstimator):
    """An estimator that leaves the scores of one group, the reference, and moves those of others."""

    # Scores and labels are the data, not metadata to be routed.
    __metadata_request__fit = {"y_score": UNUSED, "y_true": UNUSED}  # noqa: RUF012
    __metadata_request__transform = {"y_score": UNUSED}  # noqa: RUF012

    metric: str
    fit: Callable[..., Any]
    transform: Callable[..., FloatArray]

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
