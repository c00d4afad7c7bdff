"""Which groups a repair is about: small ones and people of unknown group are errors, left alone, or merged."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from xorder._table import ScoreTable
from xorder._validation import MISSING, Tables, sorted_groups
from xorder.exceptions import InputError

SMALL_GROUPS = ("error", "leave", "merge")
MISSING_GROUPS = ("error", "leave", "group")

# Sums of weights differ in their last digits by the order of adding up.
_NEARLY = 1 - 1e-12


@dataclass(frozen=True, slots=True)
class Settled:
    """Tables of the groups to repair; the groups whose scores are left, and those counted with the reference.

    ``unseen`` are groups to leave alone that nobody here belongs to: where those of unknown group are to be left, they
    are so whether or not there were any.
    """

    tables: Tables
    reference: Hashable | None
    left: tuple[Hashable, ...] = ()
    merged: tuple[Hashable, ...] = ()
    unseen: tuple[Hashable, ...] = ()

    def squares(self, squares: Mapping[Hashable, ScoreTable]) -> Sequence[ScoreTable]:
        """Return tables of squared weights as the tables are: those merged go with the reference."""
        kept = {group: squares[group] for group in self.tables}
        for group in self.merged:
            kept[self.reference] = kept[self.reference] + squares[group]
        return list(kept.values())

    def notes(self) -> list[str]:
        """Say what was set aside."""
        said = (
            (self.left, "left as they are"),
            (self.merged, "left as they are, and counted with the reference group"),
        )
        return [
            f"scores of group {', '.join(map(repr, groups))} are {what}: too few people, or their group is not known."
            for groups, what in said
            if groups
        ]


def checked(tables: Any) -> Tables:
    """Tables that somebody else has built, one for each group; that of people of unknown group is named so."""
    if not isinstance(tables, Mapping) or not all(isinstance(table, ScoreTable) for table in tables.values()):
        raise InputError("tables must be a dict that holds a ScoreTable for each group.")
    if any(group is None or group != group for group in tables):
        raise InputError(f"a group of the tables has no name; call the people of unknown group {MISSING!r}.")
    return {group: tables[group] for group in sorted_groups(tables)}


def checked_squares(squares: Any, tables: Tables) -> dict[Hashable, ScoreTable]:
    """Tables of squared weights that somebody else has built, one for each table and of the same scores."""
    alike = isinstance(squares, Mapping) and squares.keys() == tables.keys()
    if not alike or not all(
        isinstance(square, ScoreTable) and np.array_equal(square.score, tables[group].score)
        for group, square in squares.items()
    ):
        raise InputError("squares must be a dict that holds, for each of the tables, a ScoreTable of the same scores.")
    return dict(squares)


def settle_groups(
    tables: Tables, *, reference: Hashable | None, min_group_size: float, small_groups: str, missing_group: str
) -> Settled:
    """Set aside what is not to be repaired.

    A group is small if it has fewer rows (or less weight) than ``min_group_size``, or no positives, or no negatives.
    ``reference`` is the group that stays, if it is known already: small groups are merged with the largest otherwise.
    """
    kept = dict(tables)
    is_left = missing_group == "leave"
    left = [MISSING] if is_left and kept.pop(MISSING, None) is not None else []
    unseen = (MISSING,) if is_left and not left else ()
    small = [group for group, table in kept.items() if _is_small(table, min_group_size)]
    if not small:
        return Settled(kept, reference, tuple(left), unseen=unseen)
    if small_groups == "error":
        # Without a limit of the user's, what is missing is told by whoever needs it.
        too_few = [group for group in small if _size(kept[group]) < min_group_size * _NEARLY]
        if too_few:
            raise InputError(
                f"sensitive_features has groups below min_group_size {min_group_size:g}: {_listed(kept, too_few)}. "
                "Leave them as they are with small_groups='leave', or count them with the reference group with 'merge'."
            )
        return Settled(kept, reference, tuple(left), unseen=unseen)
    rest = {group: table for group, table in kept.items() if group not in small}
    if len(rest) < 2:
        raise InputError(
            f"sensitive_features leaves {len(rest)} group(s) to repair once the small ones are set aside: "
            f"{_listed(kept, small)}. At least two are needed."
        )
    if small_groups == "leave":
        return Settled(rest, reference, (*left, *small), unseen=unseen)
    into = reference if reference in rest else largest(rest)
    for group in small:
        rest[into] = rest[into] + kept[group]
    return Settled(rest, into, tuple(left), tuple(small), unseen)


def settled_by(repair: Any, tables: Tables) -> Settled:
    """Set groups aside as the settings of a repair say."""
    return settle_groups(
        tables,
        reference=repair.reference,
        min_group_size=repair.min_group_size,
        small_groups=repair.small_groups,
        missing_group=repair.missing_group,
    )


def largest(tables: Tables) -> Hashable:
    """Return the group with the most rows, or the most weight; of equals the first."""
    most = max(map(_size, tables.values()))
    return next(group for group, table in tables.items() if _size(table) >= most * _NEARLY)


def _is_small(table: ScoreTable, min_group_size: float) -> bool:
    return _size(table) < min_group_size * _NEARLY or not (table.n1 > 0 and table.n0 > 0)


def _size(table: ScoreTable) -> float:
    return float(table.n1 + table.n0)


def _listed(tables: Tables, groups: list[Hashable]) -> str:
    return ", ".join(
        f"{group!r} ({tables[group].n1:g} positives, {tables[group].n0:g} negatives)" for group in groups[:10]
    )
