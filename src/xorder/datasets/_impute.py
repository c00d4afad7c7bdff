"""Filling what was not measured with means, as the MIMIC-III benchmark does: over the training rows only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from xorder.datasets._problem import IntArray
from xorder.exceptions import InputError

TrainingRows = Sequence[int] | IntArray
Impute = Literal["mean"] | TrainingRows | None


def impute_mean(X: Any, training_rows: TrainingRows) -> Any:
    """Replace each NaN by the mean of its column over the training rows, as the MIMIC-III benchmark does.

    A column without any value there is filled with 0. (The benchmark's tool would drop such a column.)

    Parameters
    ----------
    X : pandas.DataFrame
        Inputs, such as ``problem.X``.
    training_rows : array-like of int
        Numbers of rows of ``X``, such as ``problem.splits[0].train``.

    Returns
    -------
    pandas.DataFrame
        Inputs without NaN; ``X`` stays as it is.

    References
    ----------
    .. [1] H. Harutyunyan, H. Khachatrian, D. C. Kale, G. Ver Steeg and A. Galstyan (2019), Multitask learning and
       benchmarking with clinical time series data, Scientific Data 6, 96.
    """
    if not (hasattr(X, "iloc") and hasattr(X, "columns")):
        raise InputError(
            f"X must be a pandas DataFrame, such as problem.X; got {type(X).__name__}. For arrays, scikit-learn has "
            "SimpleImputer(keep_empty_features=True)."
        )
    return _filled(X, training_rows, "training_rows must be")


def imputed(X: Any, impute: Impute) -> Any:
    """Return ``X`` as it is (None), or filled with means over all rows (``"mean"``) or over the given ones."""
    if impute is None:
        return X
    rows = np.arange(len(X)) if isinstance(impute, str) and impute == "mean" else impute
    return _filled(X, rows, "impute must be None, 'mean' or")


def imputing_warnings(impute: Impute) -> list[str]:
    """What to know about inputs that were filled."""
    if impute is None:
        return []
    if isinstance(impute, str):
        return [
            "Values that were not measured are filled with means over all rows, those of any test part among them; "
            "name the training rows (impute=) for the benchmark's rule."
        ]
    return [f"Values that were not measured are filled with means over {len(impute):,} rows."]


def _filled(X: Any, rows: TrainingRows, must: str) -> Any:
    n_rows = len(X)
    try:
        numbers = np.asarray(rows)
    except ValueError:
        # Lists of unequal lengths.
        numbers = np.empty(0)
    whole = numbers.ndim == 1 and numbers.size > 0 and numbers.dtype.kind in "iu"
    if not whole or numbers.min() < 0 or numbers.max() >= n_rows:
        shown = repr(rows).replace("\n", " ")
        raise InputError(
            f"{must} numbers of training rows, at least one, each from 0 to {n_rows - 1:,}; got "
            f"{shown if len(shown) <= 80 else shown[:77] + '...'}. Of a mask, numpy.flatnonzero gives the numbers."
        )
    return X.fillna(X.iloc[numbers].mean().fillna(0.0))
