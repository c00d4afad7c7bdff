"""Rows that users pass as arrays, checked and turned into Tables, in the user's terms."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from xorder._arrays import LEAST_MASS, MOST_MASS, as_column, as_numbers, too_far_apart
from xorder._groups import (
    check_group_choices,
    check_name_is_free,
    group_labels,
    is_missing,
    look_alike,
    missing_error,
    notes_on_missing,
    without_value,
)
from xorder._parameters import WeightKind, check_weights_are
from xorder._ranking import rows_in_order
from xorder._table import MISSING, BoolArray, FloatArray, HeldRows, IntArray, Tables, sorted_groups, tables_of_rows
from xorder.exceptions import InputError, warn_caller

# More groups than this and the "group" column is most likely an identifier.
MAX_GROUPS = 100

# Counts that are this large on average may be the weights of a survey.
_LARGE_COUNT = 10


class CheckedRows(NamedTuple):
    """Rows that can be used: scores, whether each is positive, weights or None, the rows of each group, and notes."""

    score: NDArray[Any]
    positive: BoolArray
    weight: FloatArray | None
    masks: dict[Hashable, BoolArray]
    notes: tuple[str, ...]
    is_sampling: bool

    def tables(self, score: NDArray[Any] | None = None, *, settled: bool = True) -> Tables:
        """Turn the rows into one table per group, at these scores or at others, at once or when they are asked for."""
        rows = (self.score if score is None else score, self.positive, self.weight, self.masks)
        found = tables_of_rows(*rows, squares=self.is_sampling, settled=settled)
        return replace(found, notes=self.notes)

    def held(self, clusters: Any = None, others: Sequence[NDArray[Any]] = ()) -> HeldRows:
        """Return the rows that belong to a group, with their clusters and other scores."""
        unit = None if clusters is None else check_clusters(clusters, self.score.size)
        # Few bytes for each of many rows.
        group = np.full(self.score.size, -1, dtype=np.int16)
        for number, mask in enumerate(self.masks.values()):
            group += np.multiply(mask, number + 1, dtype=np.int16)
        scores = [np.asarray(score, dtype=np.float64) for score in (self.score, *others)]
        columns: list[Any] = [group, self.positive, self.weight, *scores, unit]
        kept = group >= 0
        if unit is not None or not kept.all():
            # An audit keeps rows with clusters, and those of the caller may be written to.
            columns = [None if column is None else column[kept] for column in columns]
        group, positive, weight, *of_rows, unit = columns
        return HeldRows(tuple(self.masks), group, positive, weight, tuple(of_rows), unit)


def check_rows(
    y_true: Any,
    y_score: Any,
    sensitive_features: Any,
    sample_weight: Any = None,
    *,
    weights_are: WeightKind = "counts",
    missing_group: str = "error",
    beside: Mapping[str, Any] | None = None,
) -> CheckedRows:
    """Check rows; groups are in their sorted order. What comes ``beside`` them is matched by position as well."""
    check_weights_are(weights_are)
    check_group_choices(missing_group)
    score = check_scores(y_score)
    positive = _check_labels(y_true, score.size)
    weight = None if sample_weight is None else check_weights(sample_weight, score.size)
    is_sampling = weights_are == "sampling"
    notes: list[str] = []
    if weight is not None:
        if too_far_apart(weight):
            low, high = float(weight[weight > 0].min()), float(weight.max())
            if not is_sampling or low < 2 * LEAST_MASS * high:
                raise out_of_range("sample_weight", low, high)
            # Their scale means nothing, but squares must stay in range.
            weight = np.ldexp(weight, -np.frexp(high)[1])
        if not is_sampling:
            whole = bool(np.all(weight == np.floor(weight)))
            notes = notes_on_counts("sample_weight", whole, float(weight.sum()), int(np.count_nonzero(weight)))
    masks = dict(check_groups(sensitive_features, score.size, missing_group))
    rows = int(sum(np.count_nonzero(mask) for mask in masks.values()))
    notes += [*look_alike(list(masks)), *notes_on_missing(score.size - rows)]
    columns = {"y_true": y_true, "y_score": y_score, "sensitive_features": sensitive_features}
    _check_indexes({**columns, "sample_weight": sample_weight, **(beside or {})})
    return CheckedRows(score, positive, weight, masks, tuple(notes), is_sampling)


def check_tables(
    y_true: Any,
    y_score: Any,
    sensitive_features: Any,
    sample_weight: Any = None,
    *,
    weights_are: WeightKind = "counts",
    missing_group: str = "error",
) -> Tables:
    """Check rows and turn them into one table per group, in the sorted order of the groups.

    With ``weights_are="sampling"`` the tables hold sums of squared weights, too.
    """
    return check_rows(
        y_true, y_score, sensitive_features, sample_weight, weights_are=weights_are, missing_group=missing_group
    ).tables()


def out_of_range(name: str, low: float, high: float) -> InputError:
    """Return the complaint about weights that are too small, too large or too far apart."""
    return InputError(
        f"{name} must be 0 or between {LEAST_MASS:g} and {MOST_MASS:g}; values above 0 go from {low:g} to {high:g}. "
        "Scale them towards 1, and make those 0 that count for nothing."
    )


def check_clusters(clusters: Any, rows: int) -> IntArray:
    """Return a number for each row's cluster, the same for the same label alone; every row must belong to one."""
    labels = as_column(clusters, "clusters")
    if labels.shape != (rows,):
        raise InputError(f"clusters must have one value per row; got shape {labels.shape} for {rows:,} rows.")
    plain = labels.dtype == object and {*map(type, labels.tolist())} <= {str, int}
    if not plain and _some_missing(labels):
        # Times lose what they are on their way to a list, and differ from themselves where they are missing.
        lost = labels != labels if labels.dtype.kind in "fmM" else np.array([*map(is_missing, labels.tolist())])
        raise no_cluster("clusters", int(lost.sum()), f"row {lost.argmax()}")
    if labels.dtype.kind in "biumM":
        return labels.view(np.int64) if labels.dtype.itemsize == 8 else labels.astype(np.int64)
    # Rows of one cluster mostly follow each other.
    starts = np.flatnonzero(np.append(True, labels[1:] != labels[:-1]))
    if 2 * starts.size < rows:
        return np.repeat(_numbered(labels[starts]), np.diff(np.append(starts, rows)))
    return _numbered(labels)


def no_cluster(name: str, rows: int, first: str | None = None) -> InputError:
    """Return the complaint about rows without a cluster; ``first`` says where one is."""
    return InputError(
        f"{name} must name a cluster for each row; {without_value(rows, first)}. Give a row that stands alone a "
        "cluster of its own."
    )


def _numbered(labels: NDArray[Any]) -> IntArray:
    """Return numbers in place of labels, the same for the same label alone."""
    if labels.dtype == object:
        numbers: dict[Any, int] = {}
        return np.array([numbers.setdefault(label, len(numbers)) for label in labels.tolist()], dtype=np.int64)
    if labels.dtype.kind == "U":
        words = _words(labels)
        hashes = _hashes(words)
        # Of labels of one word no two have the same hash; of others it has to be seen.
        if len(words) == 1:
            return hashes.view(np.int64)
        order, is_next = rows_in_order(hashes, lambda part: part)
        if all(bool(np.all(is_next[1:] | (np.diff(word.take(order)) == 0))) for word in words):
            return hashes.view(np.int64)
    return np.asarray(np.unique(labels, return_inverse=True)[1], dtype=np.int64)


def _words(labels: NDArray[Any]) -> list[NDArray[np.uint64]]:
    """Return text as columns of 64 bits: of eight letters each, where a letter is a byte."""
    letters: NDArray[Any] = np.ascontiguousarray(labels).view(np.uint32).reshape(labels.size, -1)
    highest = letters.max(axis=0, initial=0)
    # Room that no label needs is left out.
    letters = letters[:, : max(int(np.count_nonzero(np.cumsum(highest[::-1]))), 1)]
    letters = np.ascontiguousarray(letters, dtype=np.uint8 if highest.max(initial=0) < 256 else np.uint32).view(
        np.uint8
    )
    padded = np.zeros((labels.size, -(-letters.shape[1] // 8) * 8), dtype=np.uint8)
    padded[:, : letters.shape[1]] = letters
    return [np.ascontiguousarray(word) for word in padded.view(np.uint64).T]


def _hashes(words: list[NDArray[np.uint64]]) -> NDArray[np.uint64]:
    """Return a number for each label, the same for the same label and nearly always another for another.

    Each step can be undone, so that labels of a single word always differ.
    """
    found = np.zeros(words[0].size, dtype=np.uint64)
    for word in words:
        found ^= word
        found *= np.uint64(0x9E3779B97F4A7C15)
        found ^= found >> np.uint64(32)
    return found


def notes_on_counts(name: str, whole: bool, total: float, rows: int) -> list[str]:
    """Say what makes weights that are read as counts look like something else."""
    if not whole:
        return [
            f"{name} is not whole, yet read as counts of rows; if the weights come from a sampling design, pass "
            "weights_are='sampling' for honest intervals."
        ]
    if total < _LARGE_COUNT * rows:
        return []
    return [
        f"{name} adds up to {total:,.0f} and is read as counts, so {rows:,} rows pass for that many; if the weights "
        "come from a survey or another sampling design, pass weights_are='sampling' for honest intervals."
    ]


def _check_indexes(columns: Mapping[str, Any]) -> None:
    """Warn of pandas columns whose indexes hold the same labels in another order: rows are matched by position."""
    indexed = {name: column.index for name, column in columns.items() if hasattr(column, "iloc")}
    for (first, index), (second, other) in pairwise(indexed.items()):
        if not index.equals(other) and index.isin(other).all() and other.isin(index).all():
            warn_caller(
                f"{first} and {second} have the same pandas index in another order, and rows are matched by position; "
                f"if the labels say which rows belong together, pass {second}.loc[{first}.index]."
            )


def check_scores(y_score: Any, name: str = "y_score") -> NDArray[Any]:
    """One-dimensional finite scores, as float32 or float64."""
    score = as_numbers(y_score, name)
    if score.ndim == 2:
        hint = f"From predict_proba take the column of the positive class: {name}[:, 1]."
        if score.shape[1] == 1:
            hint = "Pass the column itself, not a table of one column."
        raise InputError(f"{name} must be one-dimensional; got shape {score.shape}. {hint}")
    _check_column(score, name)
    # Adding up is faster than testing each: a sum is finite only if every term is.
    with np.errstate(over="ignore", invalid="ignore"):
        total = score.sum()
    if not np.isfinite(total):
        bad = ~np.isfinite(score)
        if bad.any():
            row = int(bad.argmax())
            raise InputError(
                f"{name} must be finite; row {row} holds {score[row]} ({int(bad.sum()):,} such rows). "
                "Remove these rows or score them."
            )
    return score


def check_groups(
    sensitive_features: Any, rows: int, missing_group: str = "error", *, reserved: bool = True
) -> Iterator[tuple[Hashable, BoolArray]]:
    """Yield each group, in sorted order, with the mask of its rows.

    Rows without a group are refused, not yielded, or of the group ``"missing"``, as ``missing_group`` says; unless they
    are refused, no other group may have that name, where it is ``reserved``.
    """
    name = "sensitive_features"
    values = as_column(group_labels(sensitive_features), name)
    _check_column(values, name, rows)
    lost = np.zeros(rows, dtype=bool)
    if _some_missing(values):
        lost = np.fromiter(map(is_missing, values.tolist()), dtype=bool, count=rows)
        if missing_group == "error":
            raise missing_error(name, int(lost.sum()), f"row {int(lost.argmax())}")
        if values.dtype == object:
            # None is equal to no label; pandas' NA answers neither yes nor no.
            values = values.copy()
            values[lost] = None
    unseen = ~lost
    masks: dict[Hashable, BoolArray] = {}
    while unseen.any():
        row = int(unseen.argmax())
        label = values[row].item() if isinstance(values[row], np.generic) else values[row]
        if not isinstance(label, Hashable) or isinstance(label, tuple):
            raise InputError(f"{name} must hold plain labels such as text or numbers; row {row} holds {label!r}.")
        if len(masks) == MAX_GROUPS:
            distinct = len(set(values[~lost].tolist()))
            raise InputError(
                f"{name} has {distinct:,} distinct values; at most {MAX_GROUPS} groups can be compared. Is it the "
                "right column?"
            )
        # As an array: of a text alone, NumPy would drop NUL characters at its end.
        masks[label] = _equal(values, values[row : row + 1], name)
        np.greater(unseen, masks[label], out=unseen)
    if missing_group != "error" and reserved:
        check_name_is_free(name, masks)
    if missing_group == "group" and lost.any():
        masks[MISSING] = lost
    for label in sorted_groups(masks):
        yield label, masks[label]


def _some_missing(values: NDArray[Any]) -> bool:
    """Whether some label is missing; of text and whole numbers none is, and others differ from themselves if so."""
    if values.dtype.kind in "fmM":
        return bool(np.any(values != values))
    if values.dtype != object:
        return False
    try:
        return bool(np.any(np.asarray(values != values, dtype=bool))) or any(label is None for label in values.tolist())
    except TypeError:
        # pandas' NA answers neither yes nor no.
        return True


def _check_labels(y_true: Any, rows: int) -> BoolArray:
    label = as_column(y_true, "y_true")
    _check_column(label, "y_true", rows)
    if label.dtype == bool:
        return label
    positive = _equal(label, 1, "y_true")
    valid = positive | _equal(label, 0, "y_true")
    if not valid.all():
        bad = np.flatnonzero(~valid)
        extra = sorted({repr(value) for value in label[bad[:1000]].tolist()})
        raise labels_error("y_true", extra, f"row {bad[0]}")
    return positive


def labels_error(name: str, extra: list[str], first: str | None = None, *, named: bool = False) -> InputError:
    """Return the complaint about values that are not labels, as they are written; ``first`` says where one is."""
    shown = f"{', '.join(extra[:5])}{' and more' if len(extra) > 5 else ''}"
    where = "" if first is None else f" (first in {first})"
    hint = ", or name it with positive=" if named else ""
    return InputError(
        f"{name} must hold only 0 and 1; got also {shown}{where}. Encode the positive class as 1 and the other as "
        f"0{hint}."
    )


def no_value_error(name: str, rows: int | None = None, first: str | None = None) -> InputError:
    """Return the complaint about rows without a value; ``first`` says where one is."""
    none = without_value(rows, first)
    return InputError(f"{name} must have a value in each row; {none}. Remove or complete these rows.")


def check_weights(sample_weight: Any, rows: int) -> FloatArray:
    """Weights that are finite and not negative, one per row, not all 0."""
    weight = as_numbers(sample_weight, "sample_weight").astype(np.float64, copy=False)
    _check_column(weight, "sample_weight", rows)
    bad = ~((weight >= 0) & (weight < np.inf))
    if bad.any():
        row = int(bad.argmax())
        raise InputError(f"sample_weight must be finite and not negative; row {row} holds {weight[row]}.")
    if not weight.any():
        raise InputError("sample_weight must be above 0 for some row; all weights are zero.")
    return weight


def _check_column(values: NDArray[Any], name: str, rows: int | None = None) -> None:
    if values.ndim != 1:
        raise InputError(f"{name} must be one-dimensional; got shape {values.shape}.")
    if not values.size:
        raise InputError(f"{name} is empty; at least one row is needed.")
    if rows is not None and values.size != rows:
        raise InputError(f"{name} must have one value per row; got {values.size:,} for {rows:,} scores.")


def _equal(values: NDArray[Any], value: Any, name: str) -> BoolArray:
    """Compare element by element; pandas' NA, which answers neither yes nor no, is reported as missing."""
    try:
        return np.asarray(values == value, dtype=bool)
    except TypeError as error:
        lost = [row for row, label in enumerate(values.tolist()) if is_missing(label)]
        raise no_value_error(name, len(lost) or None, f"row {lost[0]}" if lost else None) from error
