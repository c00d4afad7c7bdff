"""What the columns of any source must hold, and groups and labels as small numbers, in the words of every engine."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum, auto
from functools import reduce
from itertools import islice
from operator import and_, or_
from pathlib import Path
from typing import Any, NamedTuple, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from xorder._groups import Combinations, ValuesApart, check_name_is_free, is_missing, missing_error, number
from xorder._progress import Progress
from xorder._table import MISSING, FloatArray, sorted_groups
from xorder._validation import MAX_GROUPS, labels_error, no_value_error
from xorder.exceptions import InputError, warn_caller

CodeArray = NDArray[np.int32]

# What a source that has no name is called in a message.
FRAME = "the frame"

# A column of more distinct values than this does not hold classes.
MOST_LABELS = 1000

_CLASSES = {"false": 0, "true": 1}

# Added to the code of a row whose group or label is not among those known: whatever the other is, it is below 0.
_FAR_BELOW = -1000


class Kind(StrEnum):
    """Kinds of columns; a number is a whole or a floating one, a moment a day with its time."""

    TEXT = auto()
    BOOLEAN = auto()
    NUMBER = auto()
    DECIMAL = auto()
    DATE = auto()
    MOMENT = auto()
    OTHER = auto()


# The column that holds the group, or several, whose combinations of values are the groups.
GroupNames = str | Sequence[str]


@dataclass(frozen=True, slots=True)
class ColumnNames:
    """Names of the columns to read."""

    score: str
    group: GroupNames
    label: str | None = None
    weight: str | None = None
    cluster: str | None = None
    others: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        used: dict[str, str] = {}
        if not self.groups:
            raise InputError(f"group must name a column, or several; got {self.group!r}.")
        for numbered, name in self.roles.items():
            role = numbered.rstrip("0123456789").replace("other", "other score")
            if not isinstance(name, str) or not name:
                raise InputError(f"{role} must be the name of a column; got {name!r}.")
            if used.get(name) == role:
                raise InputError(f"{role} names the column {name!r} twice; its columns must differ.")
            if name in used:
                raise InputError(f"{used[name]} and {role} both name the column {name!r}; each needs one of its own.")
            used[name] = role

    @property
    def groups(self) -> tuple[str, ...]:
        """The columns of the group."""
        return tuple(self.group) if isinstance(self.group, list | tuple) else (cast("str", self.group),)

    @property
    def roles(self) -> dict[str, str]:
        """The names that are given, by what they are for; the columns of the group are numbered."""
        of_group = {f"group{number}": name for number, name in enumerate(self.groups)}
        may_be = {"label": self.label, "weight": self.weight, "cluster": self.cluster}
        given = {role: name for role, name in may_be.items() if name is not None}
        others = {f"other{number}": name for number, name in enumerate(self.others)}
        return {"score": self.score, **of_group, **given, **others}

    @property
    def more(self) -> list[str]:
        """The roles of columns that tables do not hold: of each row its other scores, and then its cluster."""
        return [role for role in self.roles if role.startswith("other")] + (["cluster"] if self.cluster else [])

    @property
    def all(self) -> list[str]:
        """The names that are given."""
        return list(self.roles.values())

    @property
    def group_called(self) -> str:
        """What to call the column of the group, or the several together, in a message."""
        *others, last = map(repr, self.groups)
        return f"the combination of columns {', '.join(others)} and {last}" if others else f"column {last}"


@dataclass(frozen=True, slots=True)
class ReadingOptions:
    """Which columns to read, what their values mean, whether to add up squared weights too, and how to get at rows.

    With ``apart``, groups are labels of :class:`~xorder._groups.ValuesApart`.
    """

    names: ColumnNames
    positive: Any = None
    missing_group: str = "error"
    squares: bool = False
    encoding: str = "utf-8"
    memory: str = "2GB"
    progress: Progress | None = None
    apart: bool = False

    @property
    def combinations(self) -> type[Combinations]:
        """What makes one label of the values of several columns."""
        return ValuesApart if self.apart else Combinations

    def watch(self, step: str, share: float | None) -> None:
        """Say how far a step is."""
        if self.progress is not None:
            self.progress(step, share)


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

    def kind(self, column: str) -> Kind:
        """Return which kind of values the column holds."""

    def place(self, row: int) -> str:
        """Where the row stands in the file, in words."""

    def cell(self, column: str, row: int) -> str | None:
        """Return one cell as text, ``None`` if it is missing."""


class NewColumns(NamedTuple):
    """Columns to add to a file: their names, those to read for them, how to compute them, and whom to call on the way.

    The first holds numbers, others hold text.
    """

    names: tuple[str, ...]
    wanted: Sequence[str]
    compute: Callable[[Any], Sequence[Any]]
    watch: Callable[[float], None]


def check_columns(source: str, header: Sequence[Any], wanted: Iterable[str]) -> None:
    """See that each of the wanted columns is there exactly once."""
    # In pandas anything can be a name.
    texts = list(map(str, header))
    for name in wanted:
        count = texts.count(name)
        if count > 1:
            raise InputError(f"{source} has {count} columns named {name!r}; rename all but one of them.")
        if not count:
            raise InputError(f"{source} has no column {name!r}; {_hint(name, texts)}")
        if name not in header:
            raise InputError(
                f"{source} has a column {name!r} whose name is not text; rename it, as by rename(columns=str)."
            )


def check_new_columns(source: str, header: Sequence[Any], name: Any, *others: str) -> None:
    """Refuse a new column whose name is not text, or is taken; that of others is not for the user to choose."""
    if not isinstance(name, str) or not name:
        raise InputError(f"into must be the name of a column; got {name!r}.")
    if name in header:
        raise InputError(f"{source} has a column {name!r} already; choose another name with into=, or drop it first.")
    for other in others:
        if other in header:
            raise InputError(f"{source} has a column {other!r} already, which cut= adds; rename it or drop it first.")


def scores(batch: FileBatch, column: str) -> FloatArray:
    """Return the scores of a batch, all of them finite."""
    return _numbers(batch, column, -np.inf, "must be finite")


def weights(batch: FileBatch, column: str) -> FloatArray:
    """Return the weights of a batch, finite and not negative."""
    return _numbers(batch, column, 0.0, "must be finite and not negative")


def _numbers(batch: FileBatch, column: str, least: float, rule: str) -> FloatArray:
    values = batch.floats(column)
    good = np.isfinite(values) & (values >= least)
    if good.all():
        return values
    row = int(np.argmin(good))
    cell = batch.cell(column, row)
    came, hint = f"holds {quoted(cell)}" if cell else "is empty", "Correct or remove this row."
    if cell and "," in cell and not np.isnan(number(cell.replace(",", "."))):
        hint = "Write decimals with a point and no thousands separator."
    raise InputError(f"{batch.path}: column {column!r} {rule}; {batch.place(row)} {came}. {hint}")


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


class TextColumn:
    """A column of texts as it is read, batch by batch: numbers of its texts, and where and how often each occurs.

    Several columns are read as one, of their combinations; without a value in one of them, the text is empty. A single
    column is its own texts, unless ``combined`` says how to word them.
    """

    def __init__(self, columns: tuple[str, ...], combined: type[Combinations] = Combinations) -> None:
        self.columns, self.codes, self.kind = columns, Codes(), Kind.TEXT
        self._parts = [Codes() for _ in columns]
        self._is_plain = len(columns) == 1 and combined is Combinations
        self._combinations = combined(columns, blanks=True, called="the file")
        self._first: dict[str, str] = {}
        self._rows: Counter[str] = Counter()

    def encode(self, batch: FileBatch) -> CodeArray:
        """Return the numbers of the texts of a batch."""
        if self._is_plain:
            self.kind = batch.kind(self.columns[0])
            return batch.encode(self.columns[0], self.codes)
        numbers = [batch.encode(column, codes) for column, codes in zip(self.columns, self._parts, strict=True)]
        labels, rows = self._combinations.of_codes(list(zip(map(list, self._parts), numbers, strict=True)))
        return np.array([self.codes[label or ""] for label in labels], dtype=np.int32)[rows]

    def read(self, batch: FileBatch) -> CodeArray:
        """Return the numbers of the texts of a batch, and note where each occurs and how often."""
        seen = len(self.codes)
        numbers = self.encode(batch)
        if len(self.codes) > MOST_LABELS:
            return numbers
        counts = np.bincount(numbers, minlength=len(self.codes)).tolist()
        self._rows.update(dict(zip(self.codes, counts, strict=True)))
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
    ``missing`` is the number of the group of rows without one, or None. Where such rows are to be left out, it is that
    behind the last group. Where several columns make up the group, its values are tuples, one value for each.
    """

    groups: tuple[Hashable, ...]
    group_values: tuple[tuple[Any, int], ...]
    label_values: tuple[tuple[Any, int], ...]
    missing: int | None = None

    @property
    def size(self) -> int:
        """How many codes there are; rows with one from there up are left out."""
        return 2 * len(self.groups)

    def of_texts(self, groups: Codes, group_rows: CodeArray, labels: Codes, label_rows: CodeArray) -> NDArray[np.int16]:
        """Return the codes of rows whose groups and labels are numbered texts."""
        numbers, classes = dict(self.group_values), dict(self.label_values)
        of_group = np.array([2 * numbers[text] for text in groups], dtype=np.int16)
        of_label = np.array([classes[text] for text in labels], dtype=np.int16)
        return np.asarray(of_group[group_rows] + of_label[label_rows], dtype=np.int16)

    def columns(self, frame: Any, roles: Sequence[str], *, known: bool) -> list[Any]:
        """Return score, code and weight, if there is one, as expressions of narwhals; ``roles`` are those of the group.

        The code is below 0 for unknown values; with ``known`` there are none, and none is looked for.
        """
        import narwhals as nw

        groups, cases = [nw.col(role) for role in roles], []
        for values, index in self.group_values:
            parts = values if len(groups) > 1 else (values,)
            same = [
                column.is_null() if value is None else column == value
                for column, value in zip(groups, parts, strict=True)
            ]
            cases.append((reduce(and_, same), 2 * index))
        if self.missing is not None:
            cases.append((reduce(or_, [column.is_null() for column in groups]), 2 * self.missing))
        labels = [(nw.col("label") == value, index) for value, index in self.label_values]
        code = (_chosen(nw, cases, known) + _chosen(nw, labels, known)).cast(nw.Int16)
        weight = [nw.col("weight")] if "weight" in frame.columns else []
        return [nw.col("score"), code.alias("code"), *weight]


def coding(groups: Distinct, labels: Distinct, options: ReadingOptions, *, file: str | None = None) -> Coding:
    """Check the distinct values of the two columns, ``None`` standing for missing, and number them.

    Where they are those of a file, text of nothing but blanks is missing too.
    """
    names, missing_group, blanks = options.names, options.missing_group, file is not None
    within = "" if file is None else f"{file}: "
    name = f"{within}{names.group_called}"
    lost = [value for value in groups.values if is_missing(value, blanks=blanks)]
    known = [value for value in groups.values if not is_missing(value, blanks=blanks)]
    if lost and missing_group == "error":
        raise missing_error(name, groups.rows_of(lost), groups.first_of(lost))
    if len(known) > MAX_GROUPS:
        raise InputError(
            f"{name} has more than {MAX_GROUPS} distinct values; at most {MAX_GROUPS} groups can be compared. Is it "
            "the right column?"
        )
    if missing_group != "error":
        check_name_is_free(name, known)
    is_group = bool(lost) and missing_group == "group"
    sorted_ = sorted_groups([*known, MISSING] if is_group else known)
    missing = sorted_.index(MISSING) if is_group else len(sorted_) if lost else None
    numbered = [(value, sorted_.index(value)) for value in known]
    numbered += [(value, missing) for value in lost if value is not None and missing is not None]
    return Coding(
        groups=tuple(sorted_),
        group_values=tuple(numbered),
        label_values=tuple(_classes(labels, f"{within}column {names.label!r}", options.positive, blanks)),
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
        classes = [(value, label_class(value)) for value in labels.values]
        extra = [value for value, one in classes if one is None]
        if extra:
            raise labels_error(name, sorted(map(_shown, extra)), labels.first_of(extra), named=True)
        return [(value, int(one or 0)) for value, one in classes]
    # As it is, or as it is written: on a command line and in csv files everything is text.
    chosen = [value for value in labels.values if type(value) is type(positive) and value == positive]
    if not chosen:
        alike = [value for value in labels.values if _plain(str(value)) == _plain(str(positive))]
        chosen = [value for value in alike if str(value) == str(positive)] or alike
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


def label_class(value: Any) -> int | None:
    """Return the class that a label stands for: 0 or 1, however the number is written, or false or true; else None."""
    if isinstance(value, str):
        value = _CLASSES.get(_plain(value), number(_plain(value)))
    return 1 if value == 1 else 0 if value == 0 else None


def quoted(text: str) -> str:
    """Return the text in quotes on one line, cut if long, for a message."""
    return repr(text if len(text) <= 40 else f"{text[:37]}...")


def some(texts: Iterable[str], most: int = 5) -> str:
    """List the first few texts, and say whether there are more."""
    shown = list(islice(texts, most + 1))
    return ", ".join(shown) if len(shown) <= most else f"{', '.join(shown[:most])} and more"


def not_numbers(column: str, why: str) -> InputError:
    """Return the complaint about a column that does not hold numbers."""
    return InputError(f"column {column!r} must hold numbers; got values that are not ({why}).")


def no_rows(source: str) -> InputError:
    """Return the complaint about a source that has columns but no rows."""
    return InputError(f"{source} has columns but no rows; nothing can be computed from it.")


def not_labels(column: str, why: str) -> InputError:
    """Return the complaint about a column of lists and the like, which cannot be groups or labels."""
    return InputError(f"column {column!r} must hold plain labels such as text or numbers; {why}.")


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


def _hint(name: str, header: Sequence[str]) -> str:
    lowered: dict[str, str] = {}
    for column in header:
        lowered.setdefault(column.strip().lower(), column)
    near = difflib.get_close_matches(_plain(name), lowered, n=3)
    if near:
        return f"did you mean {' or '.join(repr(lowered[text]) for text in near)}?"
    return f"its columns are {some(map(quoted, header), most=10)}."
