"""The only place where user input is checked; it speaks in the user's terms and hands on ScoreTables."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xorder._group_columns import group_labels, is_missing
from xorder._table import BoolArray, FloatArray, ScoreTable
from xorder._threads import in_threads
from xorder.exceptions import InputError

Tables = dict[Hashable, ScoreTable]

# The group whose scores move, if none is named.
DISADVANTAGED = "disadvantaged"

# The group of people whose group is unknown, where they are one.
MISSING = "missing"

# More groups than this and the "group" column is most likely an identifier.
MAX_GROUPS = 100


def check_tables(y_true: Any, y_score: Any, sensitive_features: Any, sample_weight: Any = None) -> Tables:
    """Check rows and turn them into one table per group, in the sorted order of the groups."""
    score = check_scores(y_score)
    positive = _check_labels(y_true, score.size)
    weight = None if sample_weight is None else check_weights(sample_weight, score.size)
    if weight is not None and not 1e-150 < weight.max() < 1e150:
        raise InputError(f"sample_weight is out of range: its largest value is {weight.max():g}. Scale it towards 1.")
    masks = dict(check_groups(sensitive_features, score.size))

    def table(mask: BoolArray) -> ScoreTable:
        if weight is None:
            return ScoreTable._from_classes(score[mask & positive], score[mask & ~positive])
        return ScoreTable.from_arrays(positive[mask], score[mask], weight[mask])

    return dict(zip(masks, in_threads(score.size, table, masks.values()), strict=True))


def check_two_tables(tables: Tables) -> tuple[tuple[Hashable, ScoreTable], tuple[Hashable, ScoreTable]]:
    """Two groups, each with positives and negatives; or an error that names what is missing where."""
    if len(tables) != 2:
        raise InputError(
            f"sensitive_features must name exactly two groups to repair; got {len(tables)}: "
            f"{', '.join(map(repr, list(tables)[:10]))}. An audit takes any number."
        )
    for group, table in tables.items():
        check_both_classes(table, f"group {group!r}")
    first, second = tables.items()
    return first, second


def check_adjust(adjust: Hashable, first: Hashable, second: Hashable, gap: float) -> Hashable:
    """Return the group whose scores move: the one named, or the one on the losing side of a gap, first minus second."""
    if isinstance(adjust, str) and adjust == DISADVANTAGED and adjust not in (first, second):
        return second if gap >= 0 else first
    if adjust not in (first, second):
        raise InputError(f"adjust must name one of the groups {[first, second]!r}; got {adjust!r}.")
    return adjust


def check_both_classes(table: ScoreTable, name: str) -> None:
    """Raise if the table has no positives or no negatives, naming it."""
    if not isinstance(table, ScoreTable):
        raise InputError(f"{name} must be a ScoreTable; got {type(table).__name__}. Build one with from_arrays.")
    missing = [word for word, mass in (("positives", table.n1), ("negatives", table.n0)) if not mass > 0]
    if missing:
        raise InputError(
            f"{name} has no {' and no '.join(missing)} (positives {table.n1:g}, negatives {table.n0:g}); "
            "both are needed to compare how its members are ranked."
        )


def check_scores(y_score: Any, name: str = "y_score") -> NDArray[Any]:
    """One-dimensional finite scores, as float32 or float64."""
    score = _column(y_score, name)
    if score.ndim == 2:
        hint = f"From predict_proba take the column of the positive class: {name}[:, 1]."
        if score.shape[1] == 1:
            hint = "Pass the column itself, not a table of one column."
        raise InputError(f"{name} must be one-dimensional; got shape {score.shape}. {hint}")
    if score.dtype not in (np.float32, np.float64):
        if score.dtype.kind in "USMm":
            raise InputError(f"{name} must hold numbers; got values such as {score.ravel()[:1].tolist()}.")
        try:
            score = score.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(f"{name} must hold numbers; got values that are not ({error}).") from error
    _check_one_dimensional(score, name)
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


def check_groups(sensitive_features: Any, rows: int) -> Iterator[tuple[Hashable, BoolArray]]:
    """Yield each group, in sorted order, with the mask of its rows."""
    name = "sensitive_features"
    values = _column(sensitive_features, name)
    if values.dtype.kind in "US" and isinstance(sensitive_features, list | tuple):
        # Of a list of mixed values numpy makes text: of 1 '1', and of nan, which is no group, 'nan'.
        values = np.asarray(sensitive_features, dtype=object)
    if values.ndim == 2:
        # Several attributes: their combinations are the groups.
        values = np.asarray(group_labels(sensitive_features), dtype=object)
    _check_one_dimensional(values, name)
    _check_length(values, rows, name)
    masks: dict[Hashable, BoolArray] = {}
    unseen = np.ones(rows, dtype=bool)
    while unseen.any():
        row = int(unseen.argmax())
        label = values[row].item() if isinstance(values[row], np.generic) else values[row]
        if isinstance(label, list | tuple | set | dict | np.ndarray):
            raise InputError(f"{name} must hold plain labels such as text or numbers; row {row} holds {label!r}.")
        if is_missing(label):
            raise InputError(
                f"{name} must name a group for each row; row {row} holds {label!r}. "
                "Remove these rows, or give them a label of their own such as 'unknown'."
            )
        if len(masks) == MAX_GROUPS:
            raise InputError(
                f"{name} has {len(set(values.tolist())):,} distinct values; at most {MAX_GROUPS} groups can be "
                "compared. Is it the right column?"
            )
        masks[label] = _equal(values, values[row], name)
        unseen &= ~masks[label]
    for label in sorted_groups(masks):
        yield label, masks[label]


def name_missing(sensitive_features: Any) -> NDArray[np.object_]:
    """Return groups with :data:`MISSING` in place of None, NaN and the like; refuse a group that has that very name."""
    values = np.asarray(group_labels(sensitive_features), dtype=object)
    lost = [is_missing(label) for label in values.tolist()]
    if any(lost) and any(isinstance(label, str) and label == MISSING for label in values.tolist()):
        raise InputError(
            f"sensitive_features has rows without a group, which are called {MISSING!r}, and a group that is called "
            f"{MISSING!r} too. Rename that group, or make its rows None if they are people whose group is not known."
        )
    named = [MISSING if gone else label for gone, label in zip(lost, values.tolist(), strict=True)]
    labels = np.empty(len(named), dtype=object)
    labels[:] = named
    return labels


def sorted_groups(groups: Any) -> list[Any]:
    """Sort labels by value, or, where they cannot be compared with each other, by how they are written."""
    try:
        return sorted(groups)
    except TypeError:
        return sorted(groups, key=lambda label: (type(label).__name__, str(label)))


def _check_labels(y_true: Any, rows: int) -> BoolArray:
    label = _column(y_true, "y_true")
    _check_one_dimensional(label, "y_true")
    _check_length(label, rows, "y_true")
    if label.dtype == bool:
        return label
    positive = _equal(label, 1, "y_true")
    valid = positive | _equal(label, 0, "y_true")
    if not valid.all():
        bad = np.flatnonzero(~valid)
        extra = sorted({repr(value) for value in label[bad[:1000]].tolist()})[:5]
        raise InputError(
            f"y_true must hold only 0 and 1; got also {', '.join(extra)} (first in row {bad[0]}). "
            "Encode the positive class as 1 and the other as 0."
        )
    return positive


def check_weights(sample_weight: Any, rows: int | None = None) -> FloatArray:
    """Weights that are finite and not negative, one a row, not all 0."""
    try:
        weight = _column(sample_weight, "sample_weight").astype(np.float64, copy=False)
    except (TypeError, ValueError) as error:
        raise InputError(f"sample_weight must hold numbers; got values that are not ({error}).") from error
    _check_one_dimensional(weight, "sample_weight")
    if rows is not None:
        _check_length(weight, rows, "sample_weight")
    bad = ~((weight >= 0) & (weight < np.inf))
    if bad.any():
        row = int(bad.argmax())
        raise InputError(f"sample_weight must be finite and not negative; row {row} holds {weight[row]}.")
    if not weight.any():
        raise InputError("sample_weight must be above 0 for some row; all weights are zero.")
    return weight


def _column(values: Any, name: str) -> NDArray[Any]:
    """Anything array-like, as it comes from numpy, pandas, polars or pyarrow."""
    try:
        column = np.asarray(values)
    except Exception as error:
        raise InputError(f"{name} must be a column of values; got {type(values).__name__} ({error}).") from error
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise InputError(f"{name} must have a value in each row; some are masked. Remove or complete these rows.")
    if np.iscomplexobj(column):
        raise InputError(f"{name} must hold real values; got complex ones.")
    return column


def _check_one_dimensional(values: NDArray[Any], name: str) -> None:
    if values.ndim != 1:
        raise InputError(f"{name} must be one-dimensional; got shape {values.shape}.")
    if not values.size:
        raise InputError(f"{name} is empty; at least one row is needed.")


def _check_length(values: NDArray[Any], rows: int, name: str) -> None:
    if values.size != rows:
        raise InputError(f"{name} must have one value a row; got {values.size:,} for {rows:,} scores.")


def _equal(values: NDArray[Any], value: Any, name: str) -> BoolArray:
    """Compare element by element; pandas' NA, which answers neither yes nor no, is told as missing."""
    try:
        return np.asarray(values == value, dtype=bool)
    except TypeError as error:
        row = next((row for row, label in enumerate(values.tolist()) if is_missing(label)), None)
        where = "" if row is None else f"; row {row} holds {values[row]!r}"
        raise InputError(f"{name} must have a value in each row{where}. Remove or complete these rows.") from error
