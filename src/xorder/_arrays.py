"""The door by which arrays of users come in: real values without masks, as columns or as numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from xorder.exceptions import InputError

# Weights and masses above 0 lie between these, so that no product of some of them leaves the range of numbers.
LEAST_MASS, MOST_MASS = 1e-50, 1e50


def as_column(values: Any, name: str) -> NDArray[Any]:
    """Return anything array-like, as it comes from numpy, pandas, polars or pyarrow."""
    try:
        column = np.asarray(values)
    except Exception as error:
        raise InputError(f"{name} must be a column of values; got {type(values).__name__} ({error}).") from error
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise InputError(f"{name} must have a value in each row; some are masked. Remove or complete these rows.")
    if np.iscomplexobj(column):
        raise InputError(f"{name} must hold real values; got complex ones. Complex data not supported.")
    return column


def as_numbers(values: Any, name: str) -> NDArray[Any]:
    """Return a column, or several, as float32 or float64."""
    column = as_column(values, name)
    if column.dtype in (np.float32, np.float64):
        return column
    if column.dtype.kind in "USMm":
        raise InputError(f"{name} must hold numbers; got values such as {column.ravel()[:1].tolist()}.")
    try:
        # NumPy would take dates and times among other things for numbers.
        if column.dtype == object and any(isinstance(value, np.datetime64 | np.timedelta64) for value in column.flat):
            raise TypeError("dates and times are not")
        return column.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{name} must hold numbers; got values that are not ({error}).") from error


def too_far_apart(mass: NDArray[Any]) -> bool:
    """Whether some value, none below 0, is beyond what weights and masses may be."""
    return bool(np.any((mass < LEAST_MASS) & (mass > 0)) or mass.max(initial=0.0) > MOST_MASS)
