"""Which rows a map is meant for: labels of maps against values of a column, in the words of every engine."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np

from xorder._group_columns import is_missing
from xorder.engines.columns import check_columns
from xorder.exceptions import InputError
from xorder.transfer import ScoreMap

PLACE = "\0"
"""Stands in a message where a row's own value goes."""

TEXT, BOOLEAN, NUMBER, DECIMAL, DATE, MOMENT, OTHER = "text", "boolean", "number", "decimal", "date", "moment", "other"
"""Kinds of columns; a number is a whole or a floating one, a moment a day with its time."""

# As programs write numbers: 01 is a code, not the number 1.
_WRITTEN = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?(e[+-]?[0-9]{1,3})?", re.IGNORECASE)
_MOST_DIGITS = 38


class Complaints:
    """What is said of a score, of a missing group and of an unknown one, :data:`PLACE` standing for the value."""

    def __init__(self, maps: Mapping[Hashable, ScoreMap], *, score: str, group: str) -> None:
        self.score = f"column {score!r} must be finite; a row holds {PLACE}. Remove these rows or score them."
        self.missing = (
            f"column {group!r} must name a group for each row; in some it is missing. "
            "Remove these rows, or give them a label of their own such as 'unknown'."
        )
        self.unknown = f"group {PLACE} was not seen in fit; the known groups are {', '.join(map(repr, maps))}."


class GroupNumbers:
    """The number of each group among the maps; complains of a group that has none."""

    def __init__(self, maps: Mapping[Hashable, ScoreMap], complaints: Complaints, missing: Hashable | None) -> None:
        self._places = {label: place for place, label in enumerate(maps)}
        self._numbers: dict[str, dict[Any, int]] = {}
        self._complaints, self._missing = complaints, missing

    def __getitem__(self, value: Any) -> int:
        if is_missing(value):
            if self._missing is None:
                raise InputError(self._complaints.missing)
            return self._places[self._missing]
        kind = _kind(value)
        if kind not in self._numbers:
            meant = values_of(self._places, kind, self._missing)
            self._numbers[kind] = {one: self._places[label] for label, one in meant.items()}
        try:
            return self._numbers[kind][value]
        except KeyError:
            raise InputError(self._complaints.unknown.replace(PLACE, repr(value))) from None
        except TypeError as error:
            raise InputError(f"groups must be plain labels such as text or numbers; a row holds {value!r}.") from error


def values_of(labels: Iterable[Hashable], kind: str, missing: Hashable | None = None) -> dict[Hashable, Any]:
    """Return the value of a column of this kind that each label stands for; a label that stands for none is left out.

    Where some label is of the column's own type, only such labels stand for a value: 1 is not "1" then. Else labels are
    matched by how they are written, so that maps learnt from text fit numbers, and the other way round. That rows
    without a group have a label, ``missing``, which is most often text, says nothing of the others.

    >>> values_of(["1", "2.5", "A"], "number")
    {'1': 1, '2.5': 2.5}
    >>> values_of([1, 2, "1"], "text"), values_of([1, 2], "text")
    ({'1': '1'}, {1: '1', 2: '2'})
    """
    plain = {label: label.item() if isinstance(label, np.bool_ | np.number) else label for label in labels}
    own = {label: value for label, value in plain.items() if _is_native(value, kind)}
    if own.keys() - {missing}:
        keep = {NUMBER: _as_number, DECIMAL: _as_decimal}.get(kind)
        found = {label: value if keep is None else keep(value) for label, value in own.items()}
    else:
        read = _READERS.get(kind)
        found = {} if read is None else {label: read(str(value)) for label, value in plain.items()}
    found = {label: value for label, value in found.items() if value is not None}
    first: dict[Any, Hashable] = {}
    for label, value in found.items():
        if first.setdefault(value, label) != label:
            raise InputError(
                f"the maps of the groups {first[value]!r} and {label!r} are both meant for rows whose group is "
                f"{value!r}; make the column text, or leave one of them out."
            )
    return found


def check_frame_columns(
    names: Sequence[Any],
    *,
    score: str,
    group: str,
    into: str,
    source: str = "the frame",
    ignores_case: str | None = None,
) -> None:
    """See that the rows have the columns to read, each once, and none yet of the name to add.

    ``ignores_case`` is the name of the engine, where it takes two names for one that differ in case alone.
    """
    for role, name in (("score", score), ("group", group), ("into", into)):
        if not isinstance(name, str) or not name:
            raise InputError(f"{role} must be the name of a column; got {name!r}.")
    # In pandas anything can be a name.
    texts = [str(name) for name in names]
    check_columns(Path(source), texts, [score, group])
    other = next((name for name in (score, group) if name not in names), None)
    if other is not None:
        raise InputError(
            f"{source} has a column {other!r} whose name is no text; rename it, as by rename(columns=str)."
        )
    if into in names:
        raise InputError(f"{source} has a column {into!r} already; choose another name with into=, or drop it first.")
    if ignores_case is not None and into.lower() in map(str.lower, texts):
        raise InputError(
            f"{ignores_case} does not tell {into!r} from a column that is there; choose another name with into=."
        )


def no_numbers(column: str, why: str) -> InputError:
    """Return the complaint about a column of scores that are no numbers."""
    return InputError(f"column {column!r} must hold numbers; got values that are not ({why}).")


def _kind(value: Any) -> str:
    # In Python a truth value is a whole number, and a moment is a day.
    for kinds, kind in _TYPES:
        if isinstance(value, kinds):
            return kind
    return OTHER


def _is_native(value: Any, kind: str) -> bool:
    numbers = (NUMBER, DECIMAL)
    own = _kind(value)
    return own == kind or (own in numbers and kind in numbers)


def _as_number(value: Any) -> int | float:
    if not isinstance(value, Decimal):
        return value  # type: ignore[no-any-return]
    is_whole = value.adjusted() < _MOST_DIGITS and value == value.to_integral_value()
    return int(value) if is_whole else float(value)


def _as_decimal(value: Any) -> Decimal:
    return Decimal(str(value))


def _read_number(text: str) -> int | float | None:
    if not _WRITTEN.fullmatch(text):
        return None
    if text.removeprefix("-").isdecimal() and len(text) <= _MOST_DIGITS:
        return int(text)
    return float(text) if math.isfinite(float(text)) else None


def _read_decimal(text: str) -> Decimal | None:
    return Decimal(text) if _WRITTEN.fullmatch(text) else None


def _read_date(text: str) -> date | None:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None
    return day if str(day) == text else None


def _read_moment(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if text in (str(moment), moment.isoformat(), str(moment.date())) else None


_TYPES: tuple[tuple[tuple[type, ...], str], ...] = (
    ((str,), TEXT),
    ((bool, np.bool_), BOOLEAN),
    ((int, float, np.number), NUMBER),
    ((Decimal,), DECIMAL),
    ((datetime,), MOMENT),
    ((date,), DATE),
)
_READERS: dict[str, Callable[[str], Any]] = {
    TEXT: str,
    BOOLEAN: {"True": True, "False": False}.get,
    NUMBER: _read_number,
    DECIMAL: _read_decimal,
    DATE: _read_date,
    MOMENT: _read_moment,
}
