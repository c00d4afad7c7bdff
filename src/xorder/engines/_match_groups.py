"""Which rows a map is meant for: labels of maps against values of a column, in the words of every engine."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from xorder._groups import check_group_choices, is_missing, missing_error, part_texts, unseen_error, written
from xorder._table import MISSING, IntArray
from xorder.engines._cells import FRAME, ColumnNames, Kind, check_columns, check_new_columns
from xorder.exceptions import InputError, warn_caller
from xorder.transfer import ScoreMap

# Stands in a message for a row's own value.
VALUE = "\0"

# As programs write numbers: 01 is a code, not the number 1.
_WRITTEN = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?(e[+-]?[0-9]{1,3})?", re.IGNORECASE)
_MOST_DIGITS = 38


@dataclass(frozen=True, slots=True)
class GroupMaps:
    """Score maps by group, and what becomes of rows whose group is missing or has no map.

    Parameters
    ----------
    maps : mapping of group to ScoreMap
        The map of each group, as ``XOrder.maps_`` holds them.
    missing_group : {"error", "leave", "group"}, default="error"
        Whether rows without a group are refused, keep their scores, or go through the map of the group ``"missing"``.
    unseen_group : {"error", "leave"}, default="error"
        Whether rows whose group has no map are refused or keep their scores.
    """

    maps: Mapping[Hashable, ScoreMap]
    missing_group: str = "error"
    unseen_group: str = "error"

    def __post_init__(self) -> None:
        values = self.maps.values() if isinstance(self.maps, Mapping) else ()
        if not values or not all(isinstance(one, ScoreMap) for one in values):
            raise InputError("maps must hold a ScoreMap for each group, as XOrder.maps_ does.")
        check_group_choices(self.missing_group, self.unseen_group)

    @property
    def stays(self) -> int:
        """The number, behind those of the maps, of rows whose score stays."""
        return len(self.maps)

    @property
    def of_unseen(self) -> int | None:
        """The number of rows whose group has no map; None refuses them."""
        return self.stays if self.unseen_group == "leave" else None

    @property
    def of_missing(self) -> int | None:
        """The number of rows without a group; None refuses them."""
        if self.missing_group == "group":
            return list(self.maps).index(MISSING) if MISSING in self.maps else self.of_unseen
        return self.stays if self.missing_group == "leave" else None

    @property
    def missing(self) -> Hashable | None:
        """Label of the map for rows without a group; its type says nothing about the type of the others."""
        return MISSING if self.missing_group != "error" and MISSING in self.maps else None


def warn_of_other_scale(group: Hashable, score_map: ScoreMap, outside: int, rows: int) -> None:
    """Warn where many scores lie outside those that the map was fitted to: of another score, or on another scale."""
    if outside > max(20, 0.1 * rows):
        warn_caller(
            f"more than a tenth of the scores of group {group!r} lie outside those seen in fit "
            f"({score_map.raw[0]:g} to {score_map.raw[-1]:g}); is it the same score, on the same scale?"
        )


def nothing_seen(maps: GroupMaps) -> IntArray:
    """Return zeros to count rows in, by number: all in the first line, those beyond the knots of their map below."""
    return np.zeros((2, maps.stays + 1), dtype=np.int64)


class UnusableRowError(InputError):
    """A row that cannot be adjusted; which row it is, and how many others there are, is not known yet."""


def not_finite(names: ColumnNames, shown: str) -> InputError:
    """Return the complaint about a row whose score is not finite."""
    return InputError(f"column {names.score!r} must be finite; a row holds {shown}. Remove these rows or score them.")


def refused_group(
    maps: GroupMaps, names: ColumnNames, shown: str | None, rows: int | None = None, first: str | None = None
) -> InputError:
    """Return the complaint about rows of a group that is refused, written as ``shown``, or missing if that is None."""
    if shown is None and maps.missing_group == "error":
        return missing_error(names.group_called, rows, first)
    return unseen_error(repr(MISSING) if shown is None else shown, maps.maps, rows, first)


class GroupNumbers:
    """The number of each group among the maps."""

    def __init__(self, maps: GroupMaps) -> None:
        self._maps = maps
        self._positions = {label: position for position, label in enumerate(maps.maps)}
        self._numbers: dict[Kind, dict[Any, int]] = {}

    def of_text(self, text: str, kind: Kind) -> int | None:
        """Return the number of a group of a file, as it is written in a column of this kind; None refuses it."""
        value = text if kind == Kind.TEXT else _READERS[kind](text)
        return self.get((text if value is None else value) if text.strip() else None)

    def get(self, value: Any) -> int | None:
        """Return the number of a group; None refuses it."""
        if is_missing(value):
            return self._maps.of_missing
        kind = _kind(value)
        if kind not in self._numbers:
            meant = values_of(self._positions, kind, self._maps.missing)
            self._numbers[kind] = {one: self._positions[label] for label, one in meant.items()}
        try:
            return self._numbers[kind].get(value, self._maps.of_unseen)
        except TypeError as error:
            raise InputError(f"groups must be plain labels such as text or numbers; a row holds {value!r}.") from error


def values_of(labels: Iterable[Hashable], kind: Kind, missing: Hashable | None = None) -> dict[Hashable, Any]:
    """Return the value of a column of this kind that each label stands for; a label that stands for none is left out.

    Where some label is of the column's own type, only such labels stand for a value: 1 is not "1" then. Else labels are
    matched by how they are written, so that a map of the text "1" serves the number 1, and the other way round. The
    label of rows without a group, ``missing``, is most often text, and says nothing of the others.

    >>> values_of(["1", "2.5", "A"], "number")
    {'1': 1, '2.5': 2.5}
    >>> values_of([1, 2, "1"], "text"), values_of([1, 2], "text")
    ({'1': '1'}, {1: '1', 2: '2'})
    """
    plain = {label: label.item() if isinstance(label, np.bool_ | np.number) else label for label in labels}
    alike = {Kind.NUMBER, Kind.DECIMAL} if kind in (Kind.NUMBER, Kind.DECIMAL) else {kind}
    own = {label: value for label, value in plain.items() if _kind(value) in alike}
    if own.keys() - {missing}:
        # What is not read back, such as infinity, stays as it is.
        found = {label: value if (read := _READERS[kind](str(value))) is None else read for label, value in own.items()}
    else:
        values = {label: _READERS[kind](str(value)) for label, value in plain.items()}
        found = {label: value for label, value in values.items() if value is not None}
    first: dict[Any, Hashable] = {}
    for label, value in found.items():
        if (other := first.setdefault(value, label)) != label:
            both = f"the maps of the groups {other!r} and {label!r} are both meant for rows whose group is {value!r}"
            raise InputError(f"{both}; make the column text, or leave one of them out.")
    return found


def columns_of(maps: GroupMaps, names: ColumnNames, kinds: Sequence[Kind]) -> list[tuple[Hashable, tuple[Any, ...]]]:
    """Pair each label with the values that its rows have in the columns of the group, which are of these kinds."""
    if len(kinds) == 1:
        found = values_of(maps.maps, kinds[0], maps.missing)
        return [(label, (value,)) for label, value in found.items()]
    return [
        (label, values)
        for label in maps.maps
        for values in product(*map(_values_written, part_texts(label, names.groups), kinds))
        if values
    ]


def _values_written(texts: Sequence[str], kind: Kind) -> list[Any]:
    """Return the values of a column of this kind that are written in one of these ways."""
    values = [(text, _READERS[kind](text)) for text in texts]
    return [value for text, value in values if value is not None and written(value) == text]


def check_frame_columns(here: Sequence[Any], names: ColumnNames, *, into: str, ignores_case: str | None = None) -> None:
    """See that the rows have the columns to read, each once, and none yet of the name to add.

    ``ignores_case`` is the name of the engine, where it takes two names for one that differ in case alone.
    """
    check_columns(FRAME, here, names.all)
    check_new_columns(FRAME, here, into)
    if ignores_case is not None and into.lower() in map(str.lower, here):
        raise InputError(
            f"{ignores_case} takes {into!r} for the name of a column that is there already; choose another name with "
            "into=."
        )


def _kind(value: Any) -> Kind:
    # In Python a truth value is a whole number, and a moment is a day.
    return next((kind for kind, types in _TYPES.items() if isinstance(value, types)), Kind.OTHER)


def _read_number(text: str) -> int | float | None:
    if not _WRITTEN.fullmatch(text):
        return None
    if text.removeprefix("-").isdecimal() and len(text) <= _MOST_DIGITS:
        return int(text)
    return float(text) if math.isfinite(float(text)) else None


def _read_day(kind: type[date], text: str) -> date | None:
    """Read a day or, as a kind of day, a moment; midnight is written as its day, too."""
    try:
        day = kind.fromisoformat(text)
    except ValueError:
        return None
    return day if text in (str(day), day.isoformat(), str(day)[:10]) else None


_TYPES: dict[Kind, tuple[type, ...]] = {
    Kind.TEXT: (str,),
    Kind.BOOLEAN: (bool, np.bool_),
    Kind.NUMBER: (int, float, np.number),
    Kind.DECIMAL: (Decimal,),
    Kind.MOMENT: (datetime,),
    Kind.DATE: (date,),
}
_READERS: dict[Kind, Callable[[str], Any]] = {
    Kind.TEXT: str,
    Kind.BOOLEAN: {"True": True, "False": False}.get,
    Kind.NUMBER: _read_number,
    Kind.DECIMAL: lambda text: Decimal(text) if _WRITTEN.fullmatch(text) else None,
    Kind.DATE: partial(_read_day, date),
    Kind.MOMENT: partial(_read_day, datetime),
    Kind.OTHER: dict[str, Any]().get,
}
