"""What a repair is asked for: its settings, its goal, and which groups it is about."""

from __future__ import annotations

from collections.abc import Collection, Hashable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from xorder._groups import MISSING_GROUPS, UNSEEN_GROUPS
from xorder._metric import METRICS
from xorder._table import MISSING, ScoreTable, Tables
from xorder._validation import DISADVANTAGED
from xorder.exceptions import InputError
from xorder.ordering import SOLVERS, logistic_calibration

INTERLEAVED = ("interpolate", "rank")
CALIBRATIONS = {"logistic": logistic_calibration}
TRANSFERS = (*INTERLEAVED, *CALIBRATIONS)
SMALL_GROUPS = ("error", "leave", "merge")

NO_WEIGHTS_BY_RANK = "transfer='rank' does not support sample_weight. Use transfer='interpolate'."

_CHOICES: dict[str, Collection[str]] = {
    "metric": METRICS,
    "solver": SOLVERS,
    "transfer": TRANSFERS,
    "small_groups": SMALL_GROUPS,
    "missing_group": MISSING_GROUPS,
    "unseen_group": UNSEEN_GROUPS,
}


@dataclass(frozen=True, slots=True)
class RepairSettings:
    """The parameters of :class:`xorder.XOrder`, of the same names and defaults."""

    metric: str = "xauc"
    tradeoff: float | None = None
    max_gap: float = 0.0
    solver: str = "frontier"
    transfer: str = "interpolate"
    adjust: Hashable = DISADVANTAGED
    reference: Hashable | None = None
    bounds: tuple[float, float] | None = None
    do_no_harm: bool = False
    min_group_size: float = 0
    small_groups: str = "error"
    missing_group: str = "error"
    unseen_group: str = "error"

    def checked(self) -> RepairSettings:
        """Refuse settings that are wrong, or that do not go together."""
        for name, allowed in _CHOICES.items():
            value: Any = getattr(self, name)
            if not isinstance(value, str) or value not in allowed:
                raise InputError(f"{name} must be one of {', '.join(allowed)}; got {value!r}.")
        for name in ("adjust", "reference"):
            value = getattr(self, name)
            if not isinstance(value, Hashable):
                raise InputError(f"{name} must be the label of a group, such as text; got {value!r}.")
        if self.reference is not None and self.adjust == self.reference != DISADVANTAGED:
            raise InputError(f"group {self.reference!r} cannot both stay and move; leave out reference= or adjust=.")
        if not isinstance(self.do_no_harm, bool | np.bool_):
            raise InputError(f"do_no_harm must be True or False; got {self.do_no_harm!r}.")
        if self.transfer in CALIBRATIONS and self.solver != "frontier":
            raise InputError(
                f"solver is not used with transfer={self.transfer!r}; leave out solver={self.solver!r}, or use "
                "transfer='interpolate'."
            )
        if self.transfer == "rank" and self.do_no_harm:
            raise InputError("transfer='rank' cannot go part of the way, which do_no_harm needs; use another transfer.")
        if not (isinstance(self.min_group_size, int | float | np.number) and self.min_group_size >= 0):
            raise InputError(f"min_group_size must be a number of rows from 0 up; got {self.min_group_size!r}.")
        if self.tradeoff is not None and self.max_gap != 0.0:
            raise InputError("give tradeoff or max_gap, not both.")
        if self.tradeoff is not None and not isinstance(self.tradeoff, int | float | np.number):
            raise InputError(f"tradeoff must be a finite number from 0 up; got {self.tradeoff!r}.")
        if not (isinstance(self.max_gap, int | float | np.number) and 0 <= self.max_gap <= 1):
            raise InputError(f"max_gap must lie between 0 and 1; got {self.max_gap!r}.")
        return self


# Sums of weights differ in their last digits by the order of adding up.
_NEARLY = 1 - 1e-12


class SetAside(NamedTuple):
    """Groups whose scores are left alone, and groups that are counted with the reference."""

    left: tuple[Hashable, ...] = ()
    merged: tuple[Hashable, ...] = ()

    def words(self, group: Hashable) -> str | None:
        """Say what became of a group; None if it is repaired."""
        if group in self.left:
            return "left alone"
        return "counted with the reference" if group in self.merged else None


NOBODY = SetAside()


@dataclass(frozen=True, slots=True)
class GroupPlan:
    """Tables of the groups to repair; the groups whose scores are left, and those counted with the reference.

    ``unseen`` are groups to leave alone that no row here belongs to: where those of unknown group are to be left, they
    are so whether or not there were any.
    """

    tables: Tables
    reference: Hashable | None
    left: tuple[Hashable, ...] = ()
    merged: tuple[Hashable, ...] = ()
    unseen: tuple[Hashable, ...] = ()

    @property
    def aside(self) -> SetAside:
        """The groups that are not repaired."""
        return SetAside(self.left, self.merged)

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


def plan_groups(tables: Tables, settings: RepairSettings) -> GroupPlan:
    """Set aside what is not to be repaired.

    A group is small if it has fewer rows (or less weight) than ``min_group_size``, or no positives, or no negatives.
    Small groups are merged with the reference, or with the largest where none is named.
    """
    reference = settings.reference
    kept = dict(tables)
    is_left = settings.missing_group == "leave"
    left = [MISSING] if is_left and kept.pop(MISSING, None) is not None else []
    unseen = (MISSING,) if is_left and not left else ()
    small = [group for group, table in kept.items() if _is_small(table, settings.min_group_size)]
    if not small:
        return GroupPlan(tables.replacing(kept), reference, tuple(left), unseen=unseen)
    if settings.small_groups == "error":
        # Without a limit of the user's, what is missing is told by whoever needs it.
        too_few = [group for group in small if _size(kept[group]) < settings.min_group_size * _NEARLY]
        if too_few:
            raise InputError(
                f"sensitive_features has groups below min_group_size {settings.min_group_size:g}: "
                f"{_listed(kept, too_few)}. Leave them as they are with small_groups='leave', or count them with the "
                "reference group with small_groups='merge'."
            )
        return GroupPlan(tables.replacing(kept), reference, tuple(left), unseen=unseen)
    rest = {group: table for group, table in kept.items() if group not in small}
    if len(rest) < 2:
        raise InputError(
            f"sensitive_features leaves {len(rest)} group(s) to repair once the small ones are set aside: "
            f"{_listed(kept, small)}. At least two are needed."
        )
    if settings.small_groups == "leave":
        return GroupPlan(tables.replacing(rest), reference, (*left, *small), unseen=unseen)
    into = reference if reference in rest else largest(Tables(rest))
    for group in small:
        rest[into] = rest[into] + kept[group]
    return GroupPlan(tables.replacing(rest), into, tuple(left), tuple(small), unseen)


def largest(tables: Tables) -> Hashable:
    """Return the group with the most rows, or the most weight; of equals the first."""
    most = max(map(_size, tables.values()))
    return next(group for group, table in tables.items() if _size(table) >= most * _NEARLY)


def _is_small(table: ScoreTable, min_group_size: float) -> bool:
    return _size(table) < min_group_size * _NEARLY or not (table.n1 > 0 and table.n0 > 0)


def _size(table: ScoreTable) -> float:
    return float(table.n1 + table.n0)


def _listed(tables: dict[Hashable, ScoreTable], groups: list[Hashable]) -> str:
    return ", ".join(
        f"{group!r} ({tables[group].n1:g} positives, {tables[group].n0:g} negatives)" for group in groups[:10]
    )
