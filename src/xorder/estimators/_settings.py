"""What a repair is asked for: its settings, and which groups it is about."""

from __future__ import annotations

from collections.abc import Collection, Hashable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from xorder._groups import MISSING_GROUPS, UNSEEN_GROUPS
from xorder._metric import METRICS
from xorder._table import MISSING, ScoreTable, Tables
from xorder.exceptions import InputError
from xorder.metrics._verdict import FEW, is_too_few
from xorder.ordering._frontier import check_tradeoff

METHODS = ("smooth", "frontier", "dp")
SMALL_GROUPS = ("leave", "merge", "error", "repair")

_CHOICES: dict[str, Collection[str]] = {
    "method": METHODS,
    "metric": METRICS,
    "small_groups": SMALL_GROUPS,
    "missing_group": MISSING_GROUPS,
    "unseen_group": UNSEEN_GROUPS,
}


@dataclass(frozen=True, slots=True)
class RepairSettings:
    """The parameters of :class:`xorder.XOrder`, of the same names and defaults.

    Parameters
    ----------
    method, metric : str
        How scores are adjusted, and the gap to close.
    max_gap, tradeoff : float
        Largest gap wanted, or points of AUC worth giving for one point of the gap.
    reference : group label
        The group whose scores stay.
    bounds : tuple of float
        Lowest and highest score allowed.
    do_no_harm : bool
        Whether only as much is corrected as the evidence carries.
    min_group_size : float
        Rows below which a group is small.
    small_groups, missing_group, unseen_group : str
        What becomes of small groups, and of rows whose group is missing or unseen.
    """

    method: str = "smooth"
    metric: str = "xauc"
    max_gap: float = 0.0
    tradeoff: float | None = None
    reference: Hashable | None = None
    bounds: tuple[float, float] | None = None
    do_no_harm: bool | None = None
    min_group_size: float = 0
    small_groups: str = "leave"
    missing_group: str = "error"
    unseen_group: str = "error"

    @property
    def is_careful(self) -> bool:
        """Whether only as much is corrected as the evidence carries; by default the method decides."""
        return self.method == "smooth" if self.do_no_harm is None else bool(self.do_no_harm)

    def checked(self) -> RepairSettings:
        """Refuse settings that are wrong, or that do not go together.

        Returns
        -------
        RepairSettings
            The settings themselves.
        """
        for name, allowed in _CHOICES.items():
            value: Any = getattr(self, name)
            if not isinstance(value, str) or value not in allowed:
                raise InputError(f"{name} must be one of {', '.join(allowed)}; got {value!r}.")
        if not isinstance(self.reference, Hashable):
            raise InputError(f"reference must be the label of a group, such as text; got {self.reference!r}.")
        if not isinstance(self.do_no_harm, bool | np.bool_ | None):
            raise InputError(f"do_no_harm must be True, False or None; got {self.do_no_harm!r}.")
        if not (isinstance(self.min_group_size, int | float | np.number) and self.min_group_size >= 0):
            raise InputError(f"min_group_size must be a number of rows from 0 up; got {self.min_group_size!r}.")
        if self.tradeoff is not None and self.max_gap != 0.0:
            raise InputError("give tradeoff or max_gap, not both.")
        if self.tradeoff is not None:
            check_tradeoff(self.tradeoff)
        if not (isinstance(self.max_gap, int | float | np.number) and 0 <= self.max_gap <= 1):
            raise InputError(f"max_gap must lie between 0 and 1; got {self.max_gap!r}.")
        return self

    def _checked_bounds(self, tables: Tables) -> tuple[float, float] | None:
        """Return bounds that all scores lie between, or None."""
        if self.bounds is None:
            return None
        try:
            low, high = (float(end) for end in self.bounds)
        except (TypeError, ValueError):
            low, high = np.nan, np.nan
        lowest = min(table.score[-1] for table in tables.values())
        highest = max(table.score[0] for table in tables.values())
        if not (np.isfinite([low, high]).all() and low <= lowest and highest <= high):
            raise InputError(
                f"bounds must be two numbers with all scores, {lowest:g} to {highest:g}, between; got {self.bounds!r}."
            )
        return low, high


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
    are so whether or not there were any. ``notes`` say what was set aside, and why.
    """

    tables: Tables
    reference: Hashable | None
    left: tuple[Hashable, ...] = ()
    merged: tuple[Hashable, ...] = ()
    unseen: tuple[Hashable, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def aside(self) -> SetAside:
        """The groups that are not repaired."""
        return SetAside(self.left, self.merged)


def plan_groups(tables: Tables, settings: RepairSettings) -> GroupPlan:
    """Set aside what is not to be repaired.

    A group is small if it has fewer than ten positives or negatives, or fewer rows (or less weight) than
    ``min_group_size``. Small groups are left, merged with the reference (or with the largest where none is named),
    refused, or repaired like the others.
    """
    kept, notes = dict(tables), []
    is_left = settings.missing_group == "leave"
    left = [MISSING] if is_left and kept.pop(MISSING, None) is not None else []
    unseen = (MISSING,) if is_left and not left else ()
    if left:
        notes.append("scores of rows without a group are left as they are.")
    small = [] if settings.small_groups == "repair" else [g for g, table in kept.items() if _is_small(table, settings)]
    if small and settings.small_groups == "error":
        raise InputError(
            f"sensitive_features has groups that are too small: {_listed(kept, small)}. {_what_is_small(settings)} "
            "Leave them as they are with small_groups='leave', count them with the reference group with "
            "small_groups='merge', or repair them all the same with small_groups='repair'."
        )
    rest = {group: table for group, table in kept.items() if group not in small}
    merged: list[Hashable] = []
    reference = settings.reference
    if small and settings.small_groups == "merge" and rest:
        reference = reference if reference in rest else largest(Tables(rest))
        for group in small:
            rest[reference] = rest[reference] + kept[group]
        merged, small = small, []
    for groups, done in ((small, "left as they are"), (merged, "left as they are, and counted with the reference")):
        if groups:
            notes.append(
                f"scores of group {_listed(kept, groups)} are {done}: too few rows to say. {_what_is_small(settings)} "
                "small_groups='repair' repairs them all the same."
            )
    return GroupPlan(tables.replacing(rest), reference, (*left, *small), tuple(merged), unseen, tuple(notes))


def largest(tables: Tables) -> Hashable:
    """Return the group with the most rows, or the most weight; of equals the first."""
    most = max(map(_size, tables.values()))
    return next(group for group, table in tables.items() if _size(table) >= most * _NEARLY)


def _is_small(table: ScoreTable, settings: RepairSettings) -> bool:
    return is_too_few(table) or _size(table) < settings.min_group_size * _NEARLY


def _what_is_small(settings: RepairSettings) -> str:
    rows = f", and min_group_size asks for {settings.min_group_size:g} rows" if settings.min_group_size else ""
    return f"At least {FEW} positives and {FEW} negatives are needed{rows}."


def _size(table: ScoreTable) -> float:
    return float(table.n1 + table.n0)


def _listed(tables: dict[Hashable, ScoreTable], groups: list[Hashable]) -> str:
    return ", ".join(
        f"{group!r} ({tables[group].n1:g} positives, {tables[group].n0:g} negatives)" for group in groups[:10]
    )
