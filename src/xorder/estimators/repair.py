"""A repair learnt from tables: who moves, through which maps, and what that does on the sample learnt from."""

from __future__ import annotations

from collections.abc import Collection, Hashable
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np

from xorder._table import ScoreTable
from xorder._validation import Tables
from xorder.exceptions import InputError
from xorder.ordering import Ordering, many_as_scored
from xorder.transfer import ScoreMap

# Gaps this close to each other, or to a limit, are the same; so are values of AUC, or of AUC less the price of a gap.
_SAME_GAP, _SAME_VALUE = 1e-9, 1e-12

Pair = tuple[Hashable, Hashable]
Bounds = tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class Measured:
    """AUC, and the signed gap of each pair of groups, the first of a pair minus the second."""

    auc: float
    gaps: dict[Pair, float]

    @property
    def worst(self) -> float:
        """The largest absolute gap."""
        return max(map(abs, self.gaps.values()))

    def gap(self, pair: Pair) -> float:
        """Return the gap of a pair, in the order given."""
        return self.gaps[pair] if pair in self.gaps else -self.gaps[pair[1], pair[0]]

    def among(self, groups: Collection[Hashable]) -> Measured:
        """Return the same with the gaps between these groups alone."""
        return Measured(self.auc, {pair: gap for pair, gap in self.gaps.items() if set(pair) <= set(groups)})


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a repair is to reach, as :class:`xorder.XOrder` has it."""

    metric: str
    tradeoff: float | None
    max_disparity: float
    adjust: Hashable
    bounds: Bounds

    def is_better(self, one: Measured, other: Measured) -> bool:
        """Whether one is worth more than the other: less of a gap beyond the limit, then AUC; or AUC less the price."""
        if self.tradeoff is not None:
            values = [measured.auc - self.tradeoff * measured.worst for measured in (one, other)]
            return values[0] > values[1] + _SAME_VALUE
        beyond = [max(measured.worst - self.max_disparity, 0.0) for measured in (one, other)]
        if abs(beyond[0] - beyond[1]) > _SAME_GAP:
            return beyond[0] < beyond[1]
        return one.auc > other.auc + _SAME_VALUE

    def missed(self, after: Measured, by: str) -> list[str]:
        """Say so if a gap wanted, other than none at all, was not reached."""
        if self.tradeoff is not None or not 0 < self.max_disparity < after.worst - 1e-9:
            return []
        gap = max(after.gaps.values(), key=abs)
        return [f"max_disparity {self.max_disparity:g} was not met on this sample by {by}; the gap is {gap:+.4g}."]


@dataclass(frozen=True, slots=True, eq=False)
class Repair:
    """What was learnt.

    Attributes
    ----------
    reference, maps : the group that stays, and the map of each that moves
    pair : the two groups whose gap is told, first minus second
    before, after : AUC and gaps on the tables learnt from
    bound, gap : what no objective exceeds, and how far below it this one is at most; ``nan`` where no bound is known
    ordering : how two groups interleave, where that was solved
    notes : what the user should hear
    """

    reference: Hashable
    maps: dict[Hashable, ScoreMap]
    pair: Pair
    before: Measured
    after: Measured
    bound: float = np.nan
    gap: float = np.nan
    ordering: Ordering | None = None
    notes: list[str] = field(default_factory=list)


def left_alone(repair: Repair, tables: Tables, what: str) -> Repair:
    """Return a repair that moves nothing, as ``what`` was found to be no better than the scores as they are."""
    distinct = np.unique(np.concatenate([table.score for table in tables.values()])).size
    ties = "; people of different groups share scores, and adjusting them breaks such ties"
    before, after = repair.before, repair.after
    note = (
        f"{what} is no better than the scores as they are (largest gap {before.worst:.4g} before and {after.worst:.4g} "
        f"after, AUC {before.auc:.4f} and {after.auc:.4f}{ties if distinct < sum(map(len, tables.values())) else ''}); "
        "the scores are left alone."
    )
    stay = {group: ScoreMap.identity() for group in repair.maps}
    return replace(repair, maps=stay, after=before, notes=[*repair.notes, note])


def measure(tables: Tables, metric: str) -> Measured:
    """Measure any number of groups as their scores stand."""
    auc, gaps = many_as_scored(list(tables.values()), metric)
    pairs = combinations(enumerate(tables), 2)
    return Measured(auc, {(first, second): float(gaps[a, b]) for (a, first), (b, second) in pairs})


def mapped(tables: Tables, maps: dict[Hashable, ScoreMap]) -> Tables:
    """Return tables with the scores of moved groups adjusted."""
    return {
        group: ScoreTable(maps[group].apply(table.score), table.positive, table.negative) if group in maps else table
        for group, table in tables.items()
    }


def check_bounds(bounds: Bounds, tables: Tables) -> Bounds:
    """Bounds that all scores lie between, or None."""
    if bounds is None:
        return None
    try:
        low, high = (float(end) for end in bounds)
    except (TypeError, ValueError):
        low, high = np.nan, np.nan
    lowest = min(table.score[-1] for table in tables.values())
    highest = max(table.score[0] for table in tables.values())
    if not (np.isfinite([low, high]).all() and low <= lowest and highest <= high):
        raise InputError(
            f"bounds must be two numbers with all scores, {lowest:g} to {highest:g}, between; got {bounds!r}."
        )
    return low, high
