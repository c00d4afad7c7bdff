"""What each column must hold, whatever the format of its file; complaints name the file and the place."""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from xorder.exceptions import InputError, XorderWarning

FloatArray = NDArray[np.float64]
CodeArray = NDArray[np.int32]
LabelArray = NDArray[np.int8]
TextArray = NDArray[Any]

_CLASSES = {"false": 0, "true": 1}


class Codes(dict[str, int]):
    """Distinct texts of a column, each with its number; a text that is new gets the next number."""

    def __missing__(self, text: str) -> int:
        code = self[text] = len(self)
        return code

    def decode(self, codes: CodeArray) -> TextArray:
        """Return the texts that ``codes`` stand for; equal texts are one object."""
        return np.array(list(self), dtype=object)[codes]


class Batch(Protocol):
    """Some consecutive rows of a file, as a format hands them over."""

    @property
    def path(self) -> Path:
        """The file, for messages."""

    def floats(self, column: str) -> FloatArray:
        """Return the column as numbers, NaN where a cell is missing or not a number."""

    def encode(self, column: str, codes: Codes) -> CodeArray:
        """Return the column as numbers of its texts in ``codes``; a missing cell counts as an empty text."""

    def place(self, row: int) -> str:
        """Where the row stands in the file, in words."""

    def cell(self, column: str, row: int) -> str | None:
        """Return one cell as text, ``None`` if it is missing."""


def check_columns(path: Path, header: Sequence[str], wanted: Iterable[str]) -> None:
    """See that each of the wanted columns is there exactly once."""
    for name in wanted:
        count = header.count(name)
        if count > 1:
            raise InputError(f"{path} has {count} columns named {name!r}; rename all but one of them.")
        if not count:
            raise InputError(f"{path} has no column {name!r}; {_hint(name, header)}")


def check_new_column(path: Path, header: Sequence[str], name: str) -> None:
    """Refuse a name for an added column that is empty or in use."""
    if not name:
        raise InputError("the name of the new column is empty; choose one with --into.")
    if name in header:
        raise InputError(f"{path} has a column {name!r} already; choose another name with --into.")


def scores(batch: Batch, column: str) -> FloatArray:
    """Return the scores of a batch, all of them finite."""
    values = batch.floats(column)
    _refuse_first(~np.isfinite(values), batch, column, "the score must be a finite number")
    return values


def weights(batch: Batch, column: str) -> FloatArray:
    """Return the weights of a batch, finite and not negative."""
    values = batch.floats(column)
    _refuse_first(~np.isfinite(values), batch, column, "the weight must be a finite number")
    _refuse_first(values < 0, batch, column, "the weight must not be negative")
    return values


def groups(batch: Batch, column: str, codes: Codes, missing: str | None = None) -> CodeArray:
    """Return the groups of a batch as numbers in ``codes``; rows without one are of ``missing``, or refused."""
    seen = len(codes)
    rows = batch.encode(column, codes)
    blank = [codes[text] for text in codes if not text.strip()] if missing else []
    if blank:
        return np.where(np.isin(rows, blank), np.int32(codes[missing or ""]), rows).astype(np.int32)
    blank = [codes[text] for text in islice(codes, seen, None) if not text.strip()]
    if blank:
        where = batch.place(_first(np.isin(rows, blank)))
        raise InputError(
            f"{batch.path}, {where}: column {column!r} is empty, but the group must be known for each row. "
            "Remove these rows or give them a value of their own, such as 'unknown'."
        )
    return rows


def label_codes(batch: Batch, column: str, codes: Codes, positive: str | None) -> CodeArray:
    """Return the labels of a batch as numbers in ``codes``, checked as far as one batch can tell."""
    seen = len(codes)
    rows = batch.encode(column, codes)
    for text in islice(codes, seen, None):
        if text.strip() and (positive is not None or label_class(text) is not None):
            continue
        where = f"{batch.path}, {batch.place(_first(rows == codes[text]))}: column {column!r}"
        if not text.strip():
            raise InputError(f"{where} is empty, but each row needs a label. Fill it in or remove the row.")
        raise InputError(
            f"{where} holds {quoted(text)}, but labels must be 0 and 1 (or true and false); "
            f"values found: {_some(codes)}. Say which value is the positive one with --positive VALUE."
        )
    return rows


def binary_labels(path: Path, column: str, codes: Codes, rows: CodeArray, positive: str | None) -> LabelArray:
    """Turn the label numbers of a whole file into 0 and 1; with ``positive``, rows equal to it are 1."""
    if positive is None:
        return np.array([label_class(text) or 0 for text in codes], dtype=np.int8)[rows]
    chosen = positive_texts(codes, positive)
    if not chosen:
        raise InputError(
            f"{path}: no row of column {column!r} equals the positive value {positive!r}; "
            f"values found: {_some(codes)}. Give one of these with --positive VALUE."
        )
    if len(codes) > 2:
        others = _some(text for text in codes if text not in chosen)
        warnings.warn(
            f"{path}: column {column!r} holds {len(codes)} values; {positive!r} counts as positive and all "
            f"others as negative ({others}).",
            XorderWarning,
            stacklevel=4,
        )
    return np.array([text in chosen for text in codes], dtype=np.int8)[rows]


def label_class(text: str) -> int | None:
    """Return the class that a label stands for: 0 or 1, however the number is written, or false or true; else None."""
    plain = _plain(text)
    if plain in _CLASSES:
        return _CLASSES[plain]
    value = number(plain)
    return int(value) if value in (0.0, 1.0) else None


def positive_texts(texts: Iterable[str], positive: str) -> set[str]:
    """Return those texts that are the positive value: as it is written, or else but for case and blanks around it."""
    texts = set(texts)
    return texts & {positive} or {text for text in texts if _plain(text) == _plain(positive)}


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
    return "" if value is None or value != value else str(value)


def quoted(text: str) -> str:
    """Return the text in quotes on one line, cut if long, for a message."""
    return repr(text if len(text) <= 40 else f"{text[:37]}...")


def _plain(text: str) -> str:
    return text.strip().lower()


def _first(mask: NDArray[np.bool_]) -> int:
    return int(np.argmax(mask))


def _refuse_first(bad: NDArray[np.bool_], batch: Batch, column: str, rule: str) -> None:
    if not bad.any():
        return
    row = _first(bad)
    cell = batch.cell(column, row)
    came = quoted(cell) if cell else "an empty cell"
    hint = "Correct the cell or remove the row."
    if cell and "," in cell and not np.isnan(number(cell.replace(",", "."))):
        hint = "Write decimals with a point and no thousands separator."
    raise InputError(f"{batch.path}, {batch.place(row)}: {rule}; column {column!r} holds {came}. {hint}")


def _some(texts: Iterable[str], most: int = 5) -> str:
    """List the first few texts, and say whether there are more."""
    shown = [quoted(text) for text in islice(texts, most + 1)]
    return ", ".join(shown) if len(shown) <= most else f"{', '.join(shown[:most])} and more"


def _hint(name: str, header: Sequence[str]) -> str:
    lowered: dict[str, str] = {}
    for column in header:
        lowered.setdefault(column.strip().lower(), column)
    near = difflib.get_close_matches(_plain(name), lowered, n=3)
    if near:
        return f"did you mean {' or '.join(repr(lowered[text]) for text in near)}?"
    return f"its columns are {_some(header, most=10)}."
