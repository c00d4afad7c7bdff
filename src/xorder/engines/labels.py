"""What the rows of a frame must hold for maps to be applied, in the words of every engine."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any

from xorder._validation import _is_missing
from xorder.engines.columns import check_columns
from xorder.exceptions import InputError
from xorder.transfer import ScoreMap

PLACE = "\0"
"""Stands in a message where a row's own value goes."""


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
        self._numbers = {label: number for number, label in enumerate(maps)}
        self._complaints, self._missing = complaints, missing

    def __getitem__(self, label: Any) -> int:
        if _is_missing(label):
            if self._missing is None:
                raise InputError(self._complaints.missing)
            label = self._missing
        try:
            return self._numbers[label]
        except KeyError:
            raise InputError(self._complaints.unknown.replace(PLACE, repr(label))) from None
        except TypeError as error:
            raise InputError(f"groups must be plain labels such as text or numbers; a row holds {label!r}.") from error


def check_frame_columns(names: Sequence[str], *, score: str, group: str, into: str, source: str = "the frame") -> None:
    """See that the rows have the columns to read, each once, and none yet of the name to add."""
    for role, name in (("score", score), ("group", group), ("into", into)):
        if not isinstance(name, str) or not name:
            raise InputError(f"{role} must be the name of a column; got {name!r}.")
    check_columns(Path(source), names, [score, group])
    if into in names:
        raise InputError(f"{source} has a column {into!r} already; choose another name with into=, or drop it first.")


def no_numbers(column: str, why: str) -> InputError:
    """Return the complaint about a column of scores that are no numbers."""
    return InputError(f"column {column!r} must hold numbers; got values that are not ({why}).")
