"""Which groups a repair is about: small ones and people of unknown group are errors, left alone, or merged."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

from xorder._table import ScoreTable
from xorder._validation import MISSING, Tables, sorted_groups
from xorder.exceptions import InputError

SMALL_GROUPS = ("error", "leave", "merge")
MISSING_GROUPS = ("error", "leave", "group")


@dataclass(frozen=True, slots=True)
class Settled:
    """Tables of the groups to repair; the groups whose scores are left, and those counted with the reference."""

    tables: Tables
    reference: Hashable | None
    left: tuple[Hashable, ...] = ()
    merged: tuple[Hashable, ...] = ()

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


def settle_groups(
    tables: Tables, *, reference: Hashable | None, min_group_size: float, small_groups: str, missing_group: str
) -> Settled:
    """Set aside what is not to be repaired.

    A group is small if it has fewer rows (or less weight) than ``min_group_size``, or no positives, or no negatives.
    ``reference`` is the group that stays, if it is known already: small groups are merged with the largest otherwise.
    """
    kept, left = dict(tables), []
    if missing_group == "leave" and MISSING in kept:
        kept.pop(MISSING)
        left.append(MISSING)
    small = [group for group, table in kept.items() if _is_small(table, min_group_size)]
    if not small:
        return Settled(kept, reference, tuple(left))
    if small_groups == "error":
        # Without a limit of the user's, what is missing is told by whoever needs it.
        too_few = [group for group in small if _size(kept[group]) < min_group_size]
        if too_few:
            raise InputError(
                f"sensitive_features has groups below min_group_size {min_group_size:g}: {_listed(kept, too_few)}. "
                "Leave them as they are with small_groups='leave', or count them with the reference group with 'merge'."
            )
        return Settled(kept, reference, tuple(left))
    rest = {group: table for group, table in kept.items() if group not in small}
    if len(rest) < 2:
        raise InputError(
            f"sensitive_features leaves {len(rest)} group(s) to repair once the small ones are set aside: "
            f"{_listed(kept, small)}. At least two are needed."
        )
    if small_groups == "leave":
        return Settled(rest, reference, (*left, *small))
    into = reference if reference in rest else largest(rest)
    for group in small:
        rest[into] = rest[into] + kept[group]
    return Settled(rest, into, tuple(left), tuple(small))


def largest(tables: Tables) -> Hashable:
    """Return the group with the most rows, or the most weight."""
    return max(tables, key=lambda group: _size(tables[group]))


def _is_small(table: ScoreTable, min_group_size: float) -> bool:
    return _size(table) < min_group_size or not (table.n1 > 0 and table.n0 > 0)


def _size(table: ScoreTable) -> float:
    return float(table.n1 + table.n0)


def _listed(tables: Tables, groups: list[Hashable]) -> str:
    return ", ".join(
        f"{group!r} ({tables[group].n1:g} positives, {tables[group].n0:g} negatives)" for group in groups[:10]
    )
