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

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

from xorder._table import MISSING
from xorder.exceptions import InputError

MISSING_GROUPS = ("error", "leave", "group")
UNSEEN_GROUPS = ("error", "leave")


def is_missing(value: Any, *, blanks: bool = False) -> bool:
    """None, NaN, NaT, and pandas' NA, whose equality is neither true nor false; with ``blanks``, empty text too."""
    if isinstance(value, str):
        return blanks and not value.strip()
    try:
        return value is None or not bool(value == value)
    except TypeError:
        return True


def check_group_choices(missing_group: Any, unseen_group: Any = "error") -> None:
    """Refuse what is no choice for missing and unseen groups."""
    for name, value, allowed in (
        ("missing_group", missing_group, MISSING_GROUPS),
        ("unseen_group", unseen_group, UNSEEN_GROUPS),
    ):
        if not isinstance(value, str) or value not in allowed:
            raise InputError(f"{name} must be one of {', '.join(allowed)}; got {value!r}.")


def missing_error(name: str, rows: int | None, first: str | None = None) -> InputError:
    """Return the complaint about rows without a group in the column called ``name``; ``first`` says where one is."""
    many = "some rows have none" if rows is None else "1 row has none" if rows == 1 else f"{rows:,} rows have none"
    where = "" if first is None else f", the first in {first}" if rows != 1 else f", {first}"
    return InputError(
        f"{name} must name a group for each row; {many}{where}. Remove these rows, or choose what becomes of them with "
        "missing_group='leave' or missing_group='group'."
    )


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
