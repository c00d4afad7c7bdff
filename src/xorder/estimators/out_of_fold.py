"""Out-of-fold scores: each row scored by a model that has not seen it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _check_method_params

from xorder._response import response
from xorder._table import FloatArray
from xorder.estimators.folds import Fold
from xorder.exceptions import InputError


def out_of_fold_scores(
    estimator: Any,
    X: Any,
    y: NDArray[Any],
    folds: Sequence[Fold],
    *,
    fit_params: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
) -> tuple[FloatArray, list[Any]]:
    """Fit a clone of the estimator for each fold; return the scores of all rows, held out, and the fitted clones.

    Entries of ``fit_params`` with one value a row are cut to the rows of the fold.
    """
    found = Parallel(n_jobs=n_jobs)(
        delayed(_fit_and_score)(clone(estimator), X, y, fold, dict(fit_params or {})) for fold in folds
    )
    score = np.empty(len(y), dtype=np.float64)
    for fold, (_, held_out) in zip(folds, found, strict=True):
        score[fold.test] = held_out
    return score, [model for model, _ in found]


def _fit_and_score(
    model: Any, X: Any, y: NDArray[Any], fold: Fold, fit_params: dict[str, Any]
) -> tuple[Any, FloatArray]:
    params = _check_method_params(X, params=fit_params, indices=fold.train)
    model.fit(_safe_indexing(X, fold.train), y[fold.train], **params)
    held_out = response(model, _safe_indexing(X, fold.test))
    if held_out.shape != fold.test.shape:
        raise InputError(
            f"the estimator must give one score a row; {type(model).__name__} gave shape {held_out.shape} for "
            f"{fold.test.size:,} rows."
        )
    return model, held_out
