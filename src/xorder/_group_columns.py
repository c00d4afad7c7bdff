"""Groups that live in columns: found in X by name or place, taken out of X, and combined where there are several."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from xorder.exceptions import InputError

BETWEEN = " & "
"""What stands between the parts of a label such as ``female & over 65``."""


def groups_in(X: Any, columns: Any) -> NDArray[Any]:
    """Return the group of each row of ``X``: the values of a column, or of several columns, combined.

    Columns of a DataFrame are meant by name, those of an array by place, counted from 0.
    """
    names = _listed(columns)
    _check_there(X, names)
    found = {name: _values(X, name) for name in names}
    return found[names[0]] if len(names) == 1 else _combined(found)


def without(X: Any, columns: Any) -> Any:
    """Return ``X`` less some columns, as the kind of frame or array it is."""
    names = _listed(columns)
    _check_there(X, names)
    here = _names(X)
    kept = [name for name in (range(_width(X)) if here is None else here) if name not in names]
    if not kept:
        raise InputError(f"nothing is left of X without {_quoted(names)}; a model needs at least one more column.")
    if here is None:
        return _array(X)[:, kept]
    return X.select(kept) if hasattr(X, "column_names") else X[kept]


def group_labels(sensitive_features: Any) -> NDArray[Any]:
    """Return groups as one column; a table of several attributes becomes the groups of their combinations."""
    names = _names(sensitive_features)
    if names is not None:
        return groups_in(sensitive_features, names)
    try:
        values = np.asanyarray(sensitive_features)
    except ValueError as error:
        raise InputError(f"sensitive_features must be a column of labels ({error}).") from error
    if isinstance(sensitive_features, list | tuple) and values.dtype.kind in "US":
        # Of a list of mixed values numpy makes text: of 1 '1', and of nan, which is no group, 'nan'.
        values = np.asarray(sensitive_features, dtype=object)
    return values if values.ndim != 2 else groups_in(values, list(range(values.shape[1])))


def _combined(columns: dict[Hashable, NDArray[Any]]) -> NDArray[np.object_]:
    """Join the values of each row: text speaks for itself, other values are named, and with one missing it is None."""
    parts = []
    for name, values in columns.items():
        known = [value for value in dict.fromkeys(values.tolist()) if not _is_missing(value)]
        plain = all(isinstance(value, str) for value in known)
        words = {value: value if plain else f"{name}={_written(value)}" for value in known}
        parts.append([None if _is_missing(value) else words[value] for value in values.tolist()])
    labels = [None if None in row else BETWEEN.join(row) for row in zip(*parts, strict=True)]
    return np.array(labels, dtype=object)


def _listed(columns: Any) -> list[Hashable]:
    names = list(columns) if isinstance(columns, list | tuple) else [columns]
    if not names or len(set(names)) < len(names):
        raise InputError(f"sensitive_features must name one column of X, or several different ones; got {columns!r}.")
    return names


def _check_there(X: Any, names: Sequence[Hashable]) -> None:
    here = _names(X)
    if here is not None:
        missing = [name for name in names if here.count(name) != 1]
        if missing:
            more = ", ..." if len(here) > 10 else ""
            how = "more than one column" if missing[0] in here else "no column"
            raise InputError(
                f"sensitive_features names {_quoted(missing[:1])}, but X has {how} of that name; "
                f"its columns are {_quoted(here[:10])}{more}."
            )
        return
    width = _width(X)
    for name in names:
        if not isinstance(name, int | np.integer):
            raise InputError(
                f"sensitive_features names the column {name!r}, but X is an array, whose columns have no names. "
                "Pass a DataFrame (transformers of a pipeline give one after set_output(transform='pandas')), "
                "or the place of the column."
            )
        if not 0 <= name < width:
            raise InputError(f"sensitive_features names column {name}, but X has {width} columns, counted from 0.")


def _names(X: Any) -> list[Hashable] | None:
    """Names of the columns of a frame (pandas, polars, pyarrow); None for what has no names."""
    for attribute in ("column_names", "columns"):
        if hasattr(X, attribute) and hasattr(X, "__getitem__"):
            return list(getattr(X, attribute))
    return None


def _values(X: Any, name: Any) -> NDArray[Any]:
    if _names(X) is not None:
        return np.asarray(X[name])
    column = _array(X)[:, [name]]
    return np.asarray(column.toarray() if issparse(X) else column).ravel()


def _array(X: Any) -> Any:
    # Rows of a sparse matrix of another kind, or of a list, cannot be picked by column.
    return X.tocsc() if issparse(X) else np.asarray(X)


def _width(X: Any) -> int:
    shape = X.shape if hasattr(X, "shape") else np.asarray(X).shape
    if len(shape) != 2:
        raise InputError(f"X must be a table of rows and columns to find groups in it; got shape {shape}.")
    return int(shape[1])


def _written(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _is_missing(value: Any) -> bool:
    """None, NaN, NaT, and pandas' NA, whose equality is neither true nor false."""
    try:
        return value is None or not bool(value == value)
    except TypeError:
        return True


def _quoted(names: Sequence[Hashable]) -> str:
    return ", ".join(map(repr, names))
