"""Groups that live in columns: found in X by name or place, taken out of X, and combined where there are several."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from xorder._groups import check_name_is_free, is_missing
from xorder._table import MISSING
from xorder.exceptions import InputError

BETWEEN = " & "
"""What stands between the parts of a label such as ``female & over 65``."""


def groups_in(X: Any, columns: Any) -> NDArray[Any]:
    """Return the group of each row of ``X``: the values of a column, or of several columns, combined.

    Columns of a DataFrame are meant by name, those of an array by place, counted from 0.
    """
    names = listed(columns)
    _check_there(X, names)
    found = {name: _values(X, name) for name in names}
    return found[names[0]] if len(names) == 1 else _combined(found)


def text_columns(X: Any) -> list[Hashable]:
    """Return the columns of a frame that hold text; nothing for what is no frame."""
    names = _names(X) or []
    return [name for name in names if any(isinstance(value, str) for value in np.asarray(X[name]).ravel().tolist())]


def without(X: Any, columns: Any) -> Any:
    """Return ``X`` less some columns, as the kind of frame or array it is."""
    names = listed(columns)
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


def naming_missing(groups: Any) -> NDArray[np.object_]:
    """Return groups with ``"missing"`` in place of None, NaN and the like; refuse a group that has that very name."""
    labels = np.asarray(group_labels(groups), dtype=object).tolist()
    lost = [is_missing(label) for label in labels]
    if any(lost):
        check_name_is_free("sensitive_features", labels)
    named = np.empty(len(labels), dtype=object)
    named[:] = [MISSING if gone else label for gone, label in zip(lost, labels, strict=True)]
    return named


def _combined(columns: dict[Hashable, NDArray[Any]]) -> NDArray[np.object_]:
    """Join the values of each row: text speaks for itself, other values are named, and with one missing it is None."""
    wordings = [_wording(name, values.tolist()) for name, values in columns.items()]
    rows = list(zip(*(values.tolist() for values in columns.values()), strict=True))
    labels = {row: _joined(row, wordings) for row in dict.fromkeys(rows)}
    written: dict[str, Any] = {}
    for row, label in labels.items():
        if label is not None and written.setdefault(label, row) != row:
            raise InputError(
                f"sensitive_features has the combinations {written[label]!r} and {row!r}, which would both be the "
                f"group {label!r}. Rename the values of one of the columns {_quoted(list(columns))}."
            )
    return np.array([labels[row] for row in rows], dtype=object)


def _wording(name: Hashable, values: Sequence[Any]) -> dict[Any, str]:
    """Return how each value of a column is written in a label.

    Text that holds what stands between parts is named and quoted: ``("x & y", "z")`` is not ``("x", "y & z")``. That
    hangs on the value alone, so that rows to predict are called what rows to learn from were called.
    """
    known = [value for value in dict.fromkeys(values) if not is_missing(value)]
    if not all(isinstance(value, str) for value in known):
        return {value: f"{name}={_written(value)}" for value in known}
    return {value: f"{name}={value!r}" if BETWEEN.strip() in value else value for value in known}


def _joined(row: Sequence[Any], wordings: Sequence[dict[Any, str]]) -> str | None:
    if any(map(is_missing, row)):
        return None
    return BETWEEN.join(words[value] for words, value in zip(wordings, row, strict=True))


def listed(columns: Any) -> list[Hashable]:
    """Return one column, or several, as a list of different ones."""
    names = list(columns) if isinstance(columns, list | tuple) else [columns]
    if not names or len(set(names)) < len(names):
        raise InputError(f"sensitive_columns must name one column of X, or several different ones; got {columns!r}.")
    return names


def _check_there(X: Any, names: Sequence[Hashable]) -> None:
    here = _names(X)
    if here is not None:
        missing = [name for name in names if here.count(name) != 1]
        if missing:
            more = ", ..." if len(here) > 10 else ""
            how = "more than one column" if missing[0] in here else "no column"
            raise InputError(
                f"sensitive_columns names {_quoted(missing[:1])}, but X has {how} of that name; "
                f"its columns are {_quoted(here[:10])}{more}."
            )
        return
    width = _width(X)
    for name in names:
        if not isinstance(name, int | np.integer):
            raise InputError(
                f"sensitive_columns names the column {name!r}, but X is an array, whose columns have no names. "
                "Pass a DataFrame (transformers of a pipeline give one after set_output(transform='pandas')), "
                "or the position of the column."
            )
        if not 0 <= name < width:
            raise InputError(f"sensitive_columns names column {name}, but X has {width} columns, counted from 0.")


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


def _quoted(names: Sequence[Hashable]) -> str:
    return ", ".join(map(repr, names))
