"""What the columns of any source must hold, and groups and labels as small numbers, in the words of every engine."""

from __future__ import annotations

import difflib
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from xorder._groups import check_name_is_free, is_missing, missing_error
from xorder._table import MISSING, FloatArray, sorted_groups
from xorder._validation import MAX_GROUPS, labels_error, no_value_error
from xorder.exceptions import InputError, warn_caller

CodeArray = NDArray[np.int32]

MOST_LABELS = 1000
"""More distinct values than this are no classes."""

_CLASSES = {"false": 0, "true": 1}

# Added to the code of a row whose group or label is not among those known: whatever the other is, it is below 0.
_FAR_BELOW = -1000


@dataclass(frozen=True, slots=True)
class ColumnNames:
    """Names of the columns to read."""

    score: str
    group: str
    label: str | None = None
    weight: str | None = None

    def __post_init__(self) -> None:
        used: dict[str, str] = {}
        for role, name in {"score": self.score, "group": self.group, **self.by_role()}.items():
            if not isinstance(name, str) or not name:
                raise InputError(f"{role} must be the name of a column; got {name!r}.")
            if name in used:
                raise InputError(f"{used[name]} and {role} both name the column {name!r}; each needs one of its own.")
            used[name] = role

    def by_role(self) -> dict[str, str]:
        """Return the names that are given, by what they are names of."""
        roles = {"score": self.score, "group": self.group, "label": self.label, "weight": self.weight}
        return {role: name for role, name in roles.items() if name is not None}


class Codes(dict[str, int]):
    """Distinct texts of a column, each with its number; a text that is new gets the next number."""

    def __missing__(self, text: str) -> int:
        code = self[text] = len(self)
        return code


class FileBatch(Protocol):
    """Some consecutive rows of a file, as a format hands them over."""

    @property
    def path(self) -> Path:
        """The file, for messages."""

    def floats(self, column: str) -> FloatArray:
        """Return the column as numbers, NaN where a cell is missing or not a number."""

    def encode(self, column: str, codes: Codes) -> CodeArray:
        """Return the column as numbers of its texts in ``codes``; a missing cell counts as an empty text."""

    def kind(self, column: str) -> str:
        """Return which kind of values the column holds: one of those of :mod:`xorder.engines.match_groups`."""

    def place(self, row: int) -> str:
        """Where the row stands in the file, in words."""

    def cell(self, column: str, row: int) -> str | None:
        """Return one cell as text, ``None`` if it is missing."""


def check_columns(source: str, header: Sequence[str], wanted: Iterable[str]) -> None:
    """See that each of the wanted columns is there exactly once."""
    for name in wanted:
        count = header.count(name)
        if count > 1:
            raise InputError(f"{source} has {count} columns named {name!r}; rename all but one of them.")
        if not count:
            raise InputError(f"{source} has no column {name!r}; {_hint(name, header)}")


def check_new_column(source: str, header: Sequence[Any], name: Any) -> None:
    """Refuse a name for an added column that is none or in use."""
    if not isinstance(name, str) or not name:
        raise InputError(f"into must be the name of a column; got {name!r}.")
    if name in header:
        raise InputError(f"{source} has a column {name!r} already; choose another name with into=, or drop it first.")


def scores(batch: FileBatch, column: str) -> FloatArray:
    """Return the scores of a batch, all of them finite."""
    values = batch.floats(column)
    _refuse_first(~np.isfinite(values), batch, column, "must be finite")
    return values


def weights(batch: FileBatch, column: str) -> FloatArray:
    """Return the weights of a batch, finite and not negative."""
    values = batch.floats(column)
    _refuse_first(~(np.isfinite(values) & (values >= 0)), batch, column, "must be finite and not negative")
    return values


class Distinct(NamedTuple):
    """The distinct values of a column and, where that is known, the first row and the number of rows of each."""

    values: Sequence[Any]
    first: Mapping[Any, str] = {}
    rows: Mapping[Any, int] = {}

    def first_of(self, values: Iterable[Any]) -> str | None:
        """Where the first row with one of some values stands; they come in the order of the rows."""
        return next((self.first[value] for value in values if value in self.first), None)

    def rows_of(self, values: Iterable[Any]) -> int | None:
        """How many rows have one of some values."""
        return sum(self.rows[value] for value in values) if self.rows else None


@dataclass(slots=True)
class TextColumn:
    """A column of texts as it is read, batch by batch: numbers of its texts, and where and how often each occurs."""

    codes: Codes = field(default_factory=Codes)
    kind: str = ""
    _first: dict[str, str] = field(default_factory=dict)
    _rows: dict[str, int] = field(default_factory=dict)

    def read(self, batch: FileBatch, column: str) -> CodeArray:
        """Return the numbers of the texts of a batch."""
        self.kind = batch.kind(column)
        seen = len(self.codes)
        numbers = batch.encode(column, self.codes)
        if len(self.codes) > MOST_LABELS:
            return numbers
        for text, count in zip(self.codes, np.bincount(numbers, minlength=len(self.codes)).tolist(), strict=True):
            self._rows[text] = self._rows.get(text, 0) + count
        for text in islice(self.codes, seen, None):
            self._first[text] = batch.place(int(np.argmax(numbers == self.codes[text])))
        return numbers

    @property
    def distinct(self) -> Distinct:
        """What was read."""
        known = len(self.codes) <= MOST_LABELS
        return Distinct(list(self.codes), self._first, self._rows if known else {})


@dataclass(frozen=True, slots=True)
class Coding:
    """Which number each value of the group column has, and which class each value of the label column.

    The code of a row is twice the number of its group, plus one if it is a positive. ``groups`` are in sorted order;
    ``missing`` is the number of the group of rows without one, or None. Where such rows are to be left out, it is the
    last, and called None.
    """

    groups: tuple[Hashable, ...]
    group_values: tuple[tuple[Any, int], ...]
    label_values: tuple[tuple[Any, int], ...]
    missing: int | None = None

    @property
    def size(self) -> int:
        """How many codes there are."""
        return 2 * len(self.groups)

    @property
    def left_out(self) -> int:
        """The lowest code of rows that are left out; as many as there are codes if there are none."""
        return self.size - 2 if self.groups and self.groups[-1] is None else self.size

    def of_texts(self, groups: Codes, group_rows: CodeArray, labels: Codes, label_rows: CodeArray) -> NDArray[np.int16]:
        """Return the codes of rows whose groups and labels are numbered texts."""
        numbers, classes = dict(self.group_values), dict(self.label_values)
        of_group = np.array([2 * numbers[text] for text in groups], dtype=np.int16)
        of_label = np.array([classes[text] for text in labels], dtype=np.int16)
        return np.asarray(of_group[group_rows] + of_label[label_rows], dtype=np.int16)

    def expression(self, nw: Any, group: Any, label: Any, *, known: bool = False) -> Any:
        """Return the code as an expression of narwhals, of those for the two columns.

        It is below 0 for values that are none of these; with ``known``, that all are is taken for granted.
        """
        groups = [(group == value, 2 * place) for value, place in self.group_values]
        if self.missing is not None:
            groups.append((group.is_null(), 2 * self.missing))
        labels = [(label == value, place) for value, place in self.label_values]
        return (_chosen(nw, groups, known) + _chosen(nw, labels, known)).cast(nw.Int16)


def coding(
    groups: Distinct,
    labels: Distinct,
    *,
    source: str | None = None,
    group: str,
    label: str,
    positive: Any = None,
    missing_group: str = "error",
    blanks: bool = False,
) -> Coding:
    """Check the distinct values of the two columns, ``None`` standing for missing, and number them.

    With ``blanks``, text of nothing but blanks is missing too, as in files. ``source`` is the file, for messages.
    """
    name = _column_name(source, group)
    lost = [value for value in groups.values if is_missing(value, blanks=blanks)]
    known = [value for value in groups.values if not is_missing(value, blanks=blanks)]
    if lost and missing_group == "error":
        raise missing_error(name, groups.rows_of(lost), groups.first_of(lost))
    if len(known) > MAX_GROUPS:
        raise InputError(
            f"{name} has more than {MAX_GROUPS} distinct values; at most {MAX_GROUPS} groups can be compared. Is it "
            "the right column?"
        )
    names = sorted_groups(known)
    missing = None
    if missing_group != "error":
        check_name_is_free(name, known)
    if lost and missing_group == "group":
        names = sorted_groups([*known, MISSING])
        missing = names.index(MISSING)
    elif lost:
        names.append(None)
        missing = len(names) - 1
    places = [(value, names.index(value)) for value in known]
    places += [(value, missing) for value in lost if value is not None and missing is not None]
    return Coding(
        groups=tuple(names),
        group_values=tuple(places),
        label_values=tuple(_classes(labels, _column_name(source, label), positive, blanks)),
        missing=missing,
    )


def _classes(labels: Distinct, name: str, positive: Any, blanks: bool) -> Iterable[tuple[Any, int]]:
    """Pair each value of the label column with its class."""
    lost = [value for value in labels.values if is_missing(value, blanks=blanks)]
    if lost:
        raise no_value_error(name, labels.rows_of(lost), labels.first_of(lost))
    if len(labels.values) > MOST_LABELS:
        raise InputError(
            f"{name} has more than {MOST_LABELS:,} distinct values, and labels are 0 and 1. Is it the right column?"
        )
    if positive is None:
        extra = [value for value in labels.values if _class(value) is None]
        if extra:
            raise labels_error(name, sorted(map(_shown, extra)), labels.first_of(extra), named=True)
        return [(value, int(_class(value) or 0)) for value in labels.values]
    # As it is, or as it is written: on a command line and in csv files everything is text.
    chosen = [value for value in labels.values if type(value) is type(positive) and value == positive]
    if not chosen:
        texts = positive_texts(map(str, labels.values), str(positive))
        chosen = [value for value in labels.values if str(value) in texts]
    others = sorted(_shown(value) for value in labels.values if value not in chosen)
    if not chosen:
        raise InputError(
            f"{name} has no row that equals the positive value {positive!r}; it holds {some(others)}. "
            "Name one of these with positive=."
        )
    if len(labels.values) > 2:
        warn_caller(
            f"{name} holds {len(labels.values)} values; {positive!r} counts as positive and all others as negative "
            f"({some(others)})."
        )
    return [(value, int(value in chosen)) for value in labels.values]


def _class(value: Any) -> int | None:
    if isinstance(value, str):
        return label_class(value)
    return 1 if value == 1 else 0 if value == 0 else None


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
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        # pandas makes such numbers of whole ones where some are missing.
        return str(int(value))
    return "" if value is None or value != value else str(value)


def quoted(text: str) -> str:
    """Return the text in quotes on one line, cut if long, for a message."""
    return repr(text if len(text) <= 40 else f"{text[:37]}...")


def some(texts: Iterable[str], most: int = 5) -> str:
    """List the first few texts, and say whether there are more."""
    shown = list(islice(texts, most + 1))
    return ", ".join(shown) if len(shown) <= most else f"{', '.join(shown[:most])} and more"


def no_numbers(column: str, why: str) -> InputError:
    """Return the complaint about a column that holds no numbers."""
    return InputError(f"column {column!r} must hold numbers; got values that are not ({why}).")


def no_rows(source: str) -> InputError:
    """Return the complaint about a source that has columns alone."""
    return InputError(f"{source} has columns but no rows; nothing can be computed from it.")


def no_labels(column: str, why: str) -> InputError:
    """Return the complaint about a column of lists and the like, which are no groups."""
    return InputError(f"column {column!r} must hold plain labels such as text or numbers; {why}.")


def _column_name(source: str | None, column: str) -> str:
    return f"column {column!r}" if source is None else f"{source}: column {column!r}"


def _chosen(nw: Any, cases: list[tuple[Any, int]], known: bool) -> Any:
    """Nested when/then over ``cases``, as Int16 and without nulls; both make the expression faster."""
    chosen = nw.lit(_FAR_BELOW, dtype=nw.Int16)
    if known and cases:
        chosen = nw.lit(cases.pop(0)[1], dtype=nw.Int16)
    for condition, code in cases:
        chosen = nw.when(condition).then(nw.lit(code, dtype=nw.Int16)).otherwise(chosen)
    return chosen


def _shown(value: Any) -> str:
    return quoted(value) if isinstance(value, str) else repr(value)


def _plain(text: str) -> str:
    return text.strip().lower()


def _refuse_first(bad: NDArray[np.bool_], batch: FileBatch, column: str, rule: str) -> None:
    if not bad.any():
        return
    row = int(np.argmax(bad))
    cell = batch.cell(column, row)
    came = f"holds {quoted(cell)}" if cell else "is empty"
    hint = "Correct or remove this row."
    if cell and "," in cell and not np.isnan(number(cell.replace(",", "."))):
        hint = "Write decimals with a point and no thousands separator."
    raise InputError(f"{batch.path}: column {column!r} {rule}; {batch.place(row)} {came}. {hint}")


def _hint(name: str, header: Sequence[str]) -> str:
    lowered: dict[str, str] = {}
    for column in header:
        lowered.setdefault(column.strip().lower(), column)
    near = difflib.get_close_matches(_plain(name), lowered, n=3)
    if near:
        return f"did you mean {' or '.join(repr(lowered[text]) for text in near)}?"
    return f"its columns are {some(map(quoted, header), most=10)}."
