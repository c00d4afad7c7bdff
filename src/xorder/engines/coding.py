"""Groups and labels of a frame as small numbers, and what these columns must hold, in the words of every engine."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from xorder._validation import MAX_GROUPS, MISSING, sorted_groups
from xorder.engines.columns import label_class, positive_texts, quoted
from xorder.exceptions import InputError, XorderWarning

MOST_LABELS = 1000
"""More distinct values than this are no classes."""

# Added to the code of a row whose group or label is not among those known: whatever the other is, it is below 0.
_FAR_BELOW = -1000


@dataclass(frozen=True, slots=True)
class Coding:
    """Which number each value of the group column has, and which class each value of the label column.

    The code of a row is twice the number of its group, plus one if it is a positive. ``groups`` are in sorted order;
    ``missing`` is the number of the group of those whose group is not known, or None.
    """

    groups: tuple[Hashable, ...]
    group_values: tuple[tuple[Any, int], ...]
    label_values: tuple[tuple[Any, int], ...]
    missing: int | None = None

    @property
    def size(self) -> int:
        """How many codes there are."""
        return 2 * len(self.groups)

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
    groups: Sequence[Any],
    labels: Sequence[Any],
    *,
    group: str,
    label: str,
    positive: Any = None,
    missing_group: str = "error",
    blanks: bool = False,
) -> Coding:
    """Check the distinct values of the two columns, ``None`` standing for missing, and number them.

    With ``blanks``, text of nothing but blanks is missing too, as in files.
    """
    lost = [value for value in groups if _is_lost(value, blanks)]
    known = [value for value in groups if value not in lost]
    if lost and missing_group == "error":
        raise InputError(
            f"column {group!r} must name a group for each row; in some it is missing. "
            "Remove these rows, or give them a label of their own such as 'unknown'."
        )
    if len(known) > MAX_GROUPS:
        raise InputError(
            f"column {group!r} has more than {MAX_GROUPS} distinct values; at most {MAX_GROUPS} groups can be "
            "compared. Is it the right column?"
        )
    if lost and MISSING in known:
        raise InputError(
            f"column {group!r} has rows without a group, which are called {MISSING!r}, and a group that is called "
            f"{MISSING!r} too. Rename that group, or leave its cells empty if they are people whose group is not known."
        )
    names = sorted_groups({*known, *([MISSING] if lost else [])})
    places = [(value, names.index(value)) for value in known]
    places += [(value, names.index(MISSING)) for value in lost if value is not None]
    return Coding(
        groups=tuple(names),
        group_values=tuple(places),
        label_values=tuple(_classes(labels, label, positive, blanks)),
        missing=names.index(MISSING) if lost else None,
    )


def _is_lost(value: Any, blanks: bool) -> bool:
    return value is None or (blanks and isinstance(value, str) and not value.strip())


def _classes(labels: Sequence[Any], label: str, positive: Any, blanks: bool) -> Iterable[tuple[Any, int]]:
    """Pair each value of the label column with its class."""
    if any(_is_lost(value, blanks) for value in labels):
        raise InputError(f"column {label!r} must have a value in each row. Remove or complete the rows without one.")
    if len(labels) > MOST_LABELS:
        raise InputError(
            f"column {label!r} has more than {MOST_LABELS:,} distinct values, and labels are 0 and 1. "
            "Is it the right column?"
        )
    if positive is None:
        extra = sorted(_written(value) for value in labels if _class(value) is None)
        if extra:
            raise InputError(
                f"column {label!r} must hold only 0 and 1; got also {_some(extra)}. "
                "Encode the positive class as 1 and the other as 0, or name it with positive=."
            )
        return [(value, int(_class(value) or 0)) for value in labels]
    # As it is, or as it is written: on a command line and in csv files everything is text.
    chosen = [value for value in labels if type(value) is type(positive) and value == positive]
    if not chosen:
        texts = positive_texts(map(str, labels), str(positive))
        chosen = [value for value in labels if str(value) in texts]
    others = sorted(_written(value) for value in labels if value not in chosen)
    if not chosen:
        raise InputError(
            f"column {label!r} has no row that equals the positive value {positive!r}; it holds {_some(others)}. "
            "Name one of these with positive=."
        )
    if len(labels) > 2:
        warnings.warn(
            f"column {label!r} holds {len(labels)} values; {positive!r} counts as positive and all others as negative "
            f"({_some(others)}).",
            XorderWarning,
            stacklevel=2,
        )
    return [(value, int(value in chosen)) for value in labels]


def _class(value: Any) -> int | None:
    if isinstance(value, str):
        return label_class(value)
    return 1 if value == 1 else 0 if value == 0 else None


def _chosen(nw: Any, cases: list[tuple[Any, int]], known: bool) -> Any:
    """Return the number of the case that holds, in small numbers and with none left to null: what is plain is fast."""
    chosen = nw.lit(_FAR_BELOW, dtype=nw.Int16)
    if known and cases:
        chosen = nw.lit(cases.pop(0)[1], dtype=nw.Int16)
    for condition, number in cases:
        chosen = nw.when(condition).then(nw.lit(number, dtype=nw.Int16)).otherwise(chosen)
    return chosen


def _written(value: Any) -> str:
    return quoted(value) if isinstance(value, str) else repr(value)


def _some(words: Sequence[str]) -> str:
    return ", ".join(words[:5]) + (" and more" if len(words) > 5 else "")
