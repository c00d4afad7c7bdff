"""Who gets what in the fit of a meta-estimator: its estimator, and the splitter that makes its folds."""

from __future__ import annotations

import warnings
from typing import Any

from sklearn import get_config
from sklearn.frozen import FrozenEstimator
from sklearn.utils.metadata_routing import process_routing
from sklearn.utils.validation import has_fit_parameter

from xorder.exceptions import XorderWarning


def routed_params(
    ranker: Any, sensitive_features: Any, sample_weight: Any, fit_params: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what goes to the estimator's ``fit`` and to the splitter; say so if weights do not reach the former.

    With metadata routing enabled each gets what it requests. Without it the estimator gets ``fit_params`` and, if its
    ``fit`` takes them, the weights.
    """
    name = type(ranker.estimator).__name__
    if get_config()["enable_metadata_routing"]:
        given = {"sensitive_features": sensitive_features, "sample_weight": sample_weight, **fit_params}
        routed = process_routing(ranker, "fit", **{key: value for key, value in given.items() if value is not None})
        for_fit = dict(routed["estimator"]["fit"])
        for_split = dict(routed["splitter"]["split"]) if hasattr(ranker.cv, "get_metadata_routing") else {}
        why = f"{name} requests no sample_weight"
    else:
        for_fit, for_split = dict(fit_params), {}
        if sample_weight is not None and has_fit_parameter(ranker.estimator, "sample_weight"):
            for_fit["sample_weight"] = sample_weight
        why = f"fit of {name} takes no sample_weight"
    unheard = not any(key.endswith("sample_weight") for key in for_fit)
    if sample_weight is not None and unheard and not isinstance(ranker.estimator, FrozenEstimator):
        warnings.warn(f"{why}: the weights serve the repair alone.", XorderWarning, stacklevel=3)
    return for_fit, for_split
