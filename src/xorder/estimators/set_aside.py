"""Groups that a repair sets aside: too small, or people whose group is not known."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

from xorder._validation import Tables
from xorder.estimators.settings import check_settings
from xorder.estimators.settle import settled_by
from xorder.estimators.xorder import XOrder


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


def set_aside(adjuster: Any, tables: Tables) -> SetAside:
    """Return the groups that a repair learnt from these tables sets aside; only an :class:`xorder.XOrder` does so."""
    if not isinstance(adjuster, XOrder):
        return NOBODY
    check_settings(adjuster)
    settled = settled_by(adjuster, tables)
    return SetAside(settled.left, settled.merged)


def sets_aside(adjuster: Any) -> bool:
    """Whether a repair may set groups aside at all."""
    return isinstance(adjuster, XOrder) and (adjuster.small_groups != "error" or adjuster.missing_group == "leave")
