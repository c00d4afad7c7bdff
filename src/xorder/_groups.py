"""What a missing or an unseen group is, and what becomes of its rows: one rule for arrays, frames, files and maps.

A group is missing where it is None, NaN or another null, and in files also where a cell holds nothing but blanks. It is
unseen where a repair was fitted without it. What becomes of such rows is the user's to say:

========== =================================================== ===============================================
           ``missing_group``                                   ``unseen_group``
========== =================================================== ===============================================
"error"    refused, with the first such row and their number   refused likewise
"leave"    audits and fits leave them out, scores stay         scores stay
"group"    they are a group of their own, ``"missing"``
========== =================================================== ===============================================
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xorder._parameters import MISSING_GROUPS, UNSEEN_GROUPS, check_word
from xorder._table import MISSING, IntArray
from xorder.exceptions import InputError


def is_missing(value: Any, *, blanks: bool = False) -> bool:
    """None, NaN, NaT, and pandas' NA, whose equality is neither true nor false; with ``blanks``, empty text too."""
    if isinstance(value, str):
        return blanks and not value.strip()
    try:
        return value is None or not bool(value == value)
    except TypeError:
        return True


def check_group_choices(missing_group: Any, unseen_group: Any = "error") -> None:
    """Refuse a choice for missing or unseen groups that is not one of those above."""
    check_word("missing_group", missing_group, MISSING_GROUPS)
    check_word("unseen_group", unseen_group, UNSEEN_GROUPS)


def missing_error(name: str, rows: int | None, first: str | None = None) -> InputError:
    """Return the complaint about rows without a group in the column called ``name``; ``first`` says where one is."""
    return InputError(
        f"{name} must name a group for each row; {without_value(rows, first)}. Remove these rows, or choose what "
        "becomes of them with missing_group='leave' or missing_group='group'."
    )


def without_value(rows: int | None, first: str | None) -> str:
    """Say how many rows have no value, and where one is.

    >>> without_value(1200, "line 5"), without_value(1, "row 3"), without_value(None, None)
    ('1,200 rows have none, the first in line 5', '1 row has none, row 3', 'some rows have none')
    """
    if rows == 1:
        return "1 row has none" + ("" if first is None else f", {first}")
    many = "some" if rows is None else f"{rows:,}"
    return f"{many} rows have none" + ("" if first is None else f", the first in {first}")


def unseen_error(
    group: str, known: Iterable[Hashable], rows: int | None = None, first: str | None = None, *, choice: bool = True
) -> InputError:
    """Return the complaint about rows of a group, as it is written, that a repair was fitted without.

    ``choice`` says that the repair has the setting ``unseen_group``.
    """
    many = "" if rows is None else f" ({rows:,} {'row' if rows == 1 else 'rows'}"
    where = "" if rows is None else ")" if first is None else f", the first in {first})"
    remedy = ", or leave its scores as they are with unseen_group='leave'" if choice else ""
    return InputError(
        f"group {group} was not seen in fit{many}{where}; the known groups are {', '.join(map(repr, known))}. Fit "
        f"again with it{remedy}."
    )


def check_name_is_free(name: str, known: Iterable[Any]) -> None:
    """Refuse a group that is called what rows without a group are called."""
    if any(isinstance(label, str) and label == MISSING for label in known):
        raise InputError(
            f"{name} has a group that is called {MISSING!r}, as rows without a group are called with any missing_group "
            "but 'error'. Rename that group, or leave its cells empty if they are rows whose group is not known."
        )


def look_alike(groups: Sequence[Hashable]) -> list[str]:
    """Say which labels differ in nothing but blanks or upper and lower case."""
    written: dict[str, list[str]] = {}
    for group in groups:
        if isinstance(group, str):
            written.setdefault(" ".join(group.split()).casefold(), []).append(group)
    return [
        f"groups {', '.join(map(repr, alike))} differ in blanks or case alone and are taken for different groups; if "
        "they are one, write them alike."
        for alike in written.values()
        if len(alike) > 1
    ]


# What stands between the parts of a label such as ``female & over 65``.
BETWEEN = " & "


class Combinations(dict[tuple[Any, ...], "str | None"]):
    """The group of each combination of values of some columns, worked out when it is first asked for; None if missing.

    With ``blanks``, text of nothing but blanks is missing too, as in files. Two combinations that would have one name
    are refused.
    """

    def __init__(self, names: Iterable[Hashable], *, blanks: bool = False, called: str = "sensitive_features") -> None:
        self._names, self._blanks, self._called = list(names), blanks, called
        self._first: dict[str, tuple[Any, ...]] = {}

    def __missing__(self, values: tuple[Any, ...]) -> str | None:
        if any(is_missing(value, blanks=self._blanks) for value in values):
            return None
        label = self[values] = BETWEEN.join(map(_wording, self._names, values))
        if self._first.setdefault(label, values) != values:
            raise InputError(
                f"{self._called} has the combinations {self._first[label]!r} and {values!r}, which would both be the "
                f"group {label!r}. Rename the values of one of the columns {_quoted(self._names)}."
            )
        return label

    def of_codes(
        self, columns: Sequence[tuple[Sequence[Any], NDArray[np.integer[Any]]]]
    ) -> tuple[list[str | None], IntArray]:
        """Return labels, in the order of their first rows, and each row's index among them.

        A column comes as its distinct values and each row's index among these, below 0 where it is missing.
        """
        code: IntArray = np.zeros(columns[0][1].size, dtype=np.int64)
        for values, codes in columns:
            # Numbered anew for each column, so that no number grows beyond its type.
            _, code = np.unique(code * (len(values) + 1) + codes + 1, return_inverse=True)
        _, rows, code = np.unique(code, return_index=True, return_inverse=True)
        order = np.argsort(rows)
        labels = [
            self[tuple(values[codes[row]] if codes[row] >= 0 else None for values, codes in columns)]
            for row in rows[order].tolist()
        ]
        return labels, np.argsort(order)[code]


class ValuesApart(Combinations):
    """Combinations whose labels keep the values apart, and none of which is missing: a list of texts, as JSON.

    >>> ValuesApart(["sex", "race"])["female", None]
    '["female", ""]'
    """

    def __missing__(self, values: tuple[Any, ...]) -> str:
        texts = ["" if is_missing(value) else written(value) for value in values]
        label = self[values] = json.dumps(texts, ensure_ascii=False)
        return label


def part_texts(label: Any, names: Sequence[str]) -> list[list[str]]:
    """Return what may be written in each column of the rows that a label is for; nothing if it is for none.

    >>> part_texts("female & smoker=1", ["sex", "smoker"])
    [['female'], ['1', 'smoker=1']]
    """
    quoted = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
    pattern = BETWEEN.join(rf"({re.escape(name)}=(?:{quoted})|[^&]*)" for name in names)
    found = re.fullmatch(pattern, label, re.DOTALL) if isinstance(label, str) else None
    if found is None:
        return []
    parts = zip(names, found.groups(), strict=True)
    texts = [[text for text in _candidates(name, part) if _wording(name, text) == part] for name, part in parts]
    return texts if all(texts) else []


def _candidates(name: str, part: str) -> list[str]:
    named = part.removeprefix(f"{name}=")
    # What repr writes in quotes, less the quotes and the backslashes.
    inside = re.sub(r"\\(.)", r"\1", named[1:-1], flags=re.DOTALL)
    return list(dict.fromkeys([named, inside, part]))


def _wording(name: Hashable, value: Any) -> str:
    """Return how a value is written in a label: ``("x & y", "z")`` is not ``("x", "y & z")``."""
    text = written(value)
    if BETWEEN.strip() in text:
        quoted = text.replace("\\", "\\\\").replace("'", "\\'")
        return f"{name}='{quoted}'"
    speaks = math.isnan(number(text)) and text.strip().lower() not in ("true", "false")
    return text if speaks else f"{name}={text}"


def number(text: str) -> float:
    """Return the number that a text stands for, NaN if it is none."""
    try:
        # float() reads 1_000 as a number, which no writer of files means.
        return float("nan" if "_" in text else text)
    except ValueError:
        return float("nan")


def written(value: Any) -> str:
    """Return the value of a cell as text; null and NaN as an empty one."""
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        # pandas makes such numbers of whole ones where some are missing.
        return str(int(value))
    return "" if value is None or value != value else str(value)


def groups_in(X: Any, columns: Any) -> NDArray[Any]:
    """Return the group of each row of ``X``: the values of a column, or of several columns, combined.

    Columns of a DataFrame are meant by name, those of an array by position, counted from 0.
    """
    names = listed(columns)
    frame = _frame(X)
    _check_there(X, frame, names)
    if frame is not None:
        found = [frame.get_column(name).to_numpy() for name in names]
    else:
        parts = _array(X)[:, names]
        found = list((parts.toarray() if _is_sparse(parts) else parts).T)
    if len(names) == 1:
        return np.asarray(found[0])
    combinations = Combinations(names)
    rows = zip(*(values.tolist() for values in found), strict=True)
    return np.array([combinations[row] for row in rows], dtype=object)


def text_columns(X: Any) -> list[Hashable]:
    """Return the columns of a frame that hold text; none for what is not a frame."""
    frame = _frame(X)
    if frame is None:
        return []
    return [
        name
        for name, kind in frame.schema.items()
        if not (kind.is_numeric() or kind.is_temporal())
        and any(isinstance(value, str) for value in frame.get_column(name).to_list())
    ]


def without(X: Any, columns: Any) -> Any:
    """Return ``X`` less some columns, as the kind of frame or array it is."""
    names = listed(columns)
    frame = _frame(X)
    _check_there(X, frame, names)
    kept = [name for name in (range(_width(X)) if frame is None else frame.columns) if name not in names]
    if not kept:
        raise InputError(f"nothing is left of X without {_quoted(names)}; a model needs at least one more column.")
    return _array(X)[:, kept] if frame is None else frame.drop(names).to_native()


def group_labels(sensitive_features: Any) -> NDArray[Any]:
    """Return groups as one column; a table of several attributes becomes the groups of their combinations."""
    frame = _frame(sensitive_features)
    if frame is not None:
        return groups_in(sensitive_features, frame.columns)
    try:
        values = np.asanyarray(sensitive_features)
    except ValueError as error:
        raise InputError(f"sensitive_features must be a column of labels ({error}).") from error
    if isinstance(sensitive_features, list | tuple) and values.dtype.kind in "US":
        # Of a list of mixed values numpy makes text: of 1 '1', and of nan, which is not a group, 'nan'.
        values = np.asarray(sensitive_features, dtype=object)
    return values if values.ndim != 2 else groups_in(values, list(range(values.shape[1])))


def feature_columns(sensitive_features: Any) -> dict[str, NDArray[Any]]:
    """Return attributes by name, from a frame, a dict of columns, or an array; a column without a name is ``group``."""
    if isinstance(sensitive_features, Mapping):
        return {str(name): group_labels(column) for name, column in sensitive_features.items()}
    frame = _frame(sensitive_features)
    if frame is not None:
        return {str(name): frame.get_column(name).to_numpy() for name in frame.columns}
    if isinstance(sensitive_features, list | tuple):
        sensitive_features = np.asarray(sensitive_features, dtype=object)
    if np.ndim(sensitive_features) == 2:
        return {str(number): column for number, column in enumerate(np.asarray(sensitive_features).T)}
    return {str(getattr(sensitive_features, "name", None) or "group"): group_labels(sensitive_features)}


def naming_missing(groups: Any) -> NDArray[np.object_]:
    """Return groups with ``"missing"`` in place of None, NaN and the like; refuse a group that has that very name."""
    labels = np.asarray(group_labels(groups), dtype=object).tolist()
    lost = [is_missing(label) for label in labels]
    if any(lost):
        check_name_is_free("sensitive_features", labels)
    named = np.empty(len(labels), dtype=object)
    named[:] = [MISSING if gone else label for gone, label in zip(lost, labels, strict=True)]
    return named


def listed(columns: Any) -> list[Hashable]:
    """Return one column, or several, as a list of different ones."""
    names = list(columns) if isinstance(columns, list | tuple) else [columns]
    if not names or len(set(names)) < len(names):
        raise InputError(f"sensitive_columns must name one column of X, or several different ones; got {columns!r}.")
    return names


def _check_there(X: Any, frame: Any, names: Sequence[Hashable]) -> None:
    if frame is not None:
        missing = [name for name in names if name not in frame.columns]
        if missing:
            more = ", ..." if len(frame.columns) > 10 else ""
            raise InputError(
                f"sensitive_columns names {missing[0]!r}, but X has no column of that name; "
                f"its columns are {_quoted(frame.columns[:10])}{more}."
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


def _frame(X: Any) -> Any:
    """Return a frame of pandas, polars or pyarrow as one of narwhals; None for what has no names of columns."""
    if not (hasattr(X, "column_names") or hasattr(X, "columns")) or not hasattr(X, "__getitem__"):
        return None
    import narwhals

    try:
        return narwhals.from_native(X, eager_only=True)
    except narwhals.exceptions.DuplicateError as error:
        raise InputError("a table must have each column once; some have the same name. Rename them.") from error
    except TypeError as error:
        raise InputError(f"a table must be an array or a frame that is in memory; got {type(X).__name__}.") from error


def _array(X: Any) -> Any:
    # Rows of a sparse matrix of another kind, or of a list, cannot be picked by column.
    return X.tocsc() if _is_sparse(X) else np.asarray(X)


def _is_sparse(X: Any) -> bool:
    """Whether this is a sparse matrix or array of SciPy; to ask SciPy would take a quarter of all loading."""
    return hasattr(X, "tocsc")


def _width(X: Any) -> int:
    shape = X.shape if hasattr(X, "shape") else np.asarray(X).shape
    if len(shape) != 2:
        raise InputError(f"X must be a table of rows and columns to find groups in it; got shape {shape}.")
    return int(shape[1])


def _quoted(names: Iterable[Hashable]) -> str:
    return ", ".join(map(repr, names))


def notes_on_missing(rows: int) -> list[str]:
    """Say how many rows were left out for want of a group."""
    were = "1 row without a group is" if rows == 1 else f"{rows:,} rows without a group are"
    return [f"{were} left out."] if rows else []
