"""The way from the score as it is to one without a gap: repairs that allow less and less of it."""

from __future__ import annotations

import warnings
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np

from xorder._groups import unseen_error
from xorder._table import ScoreTable, Tables
from xorder.estimators import RepairSettings, expected_gap_tables
from xorder.estimators._fitted import FittedRepair
from xorder.estimators._learn import learn_repair, measure
from xorder.exceptions import InputError, XorderWarning
from xorder.ordering import frontier
from xorder.plotting._curves import thin
from xorder.transfer import ScoreMap

if TYPE_CHECKING:
    from xorder.estimators import XOrder

# Repairs along the way: two groups are interleaved quickly, more take a search each.
_REPAIRS_OF_TWO, _REPAIRS_OF_MANY = 20, 10

# More groups than this and a search takes minutes, for a repair that nobody could judge.
MOST_GROUPS = 12

# Points of the curve that are drawn, and how far past the gaps of interest it is drawn.
_DRAWN = 200
_MARGIN = 0.15


FOLDS = 5
"""Folds by which the report finds out what to expect on new people."""


def fit_within(tables: Tables, metric: str, limit: float) -> FittedRepair:
    """Fit a full repair with gaps up to a limit: what the evidence carries of it is for the user to judge."""
    settings = RepairSettings(metric=metric, max_gap=limit, do_no_harm=False, small_groups="repair")
    return learn_repair(tables, settings)


def on_others(tables: Tables, metric: str, pair: list[int], confidence: float) -> dict[str, Any] | None:
    """AUC and gap on rows that the repair was not fitted to, by folds; None where there are too few for that."""
    settings = RepairSettings(metric=metric, small_groups="leave")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", XorderWarning)
            found = expected_gap_tables(settings, tables, cv=FOLDS, confidence=confidence)
    except InputError:
        return None
    first, second = (found.after.groups[number] for number in pair)
    gap = found.after.gap(metric, (first, second))
    if not np.isfinite([*gap.interval, gap.value, found.after.auc]).all():
        return None
    return {"gap": gap.value, "interval": list(gap.interval), "auc": found.after.auc, "folds": found.folds}


def repairable(tables: Tables) -> Tables:
    """Return the groups that a repair can move: those that have both classes."""
    return tables.replacing({group: table for group, table in tables.items() if table.n1 > 0 and table.n0 > 0})


def why_no_repair(usable: Tables) -> str | None:
    """Say why there is no way to a smaller gap between some groups; None if there is one."""
    if len(usable) < 2:
        return "A repair needs two groups that each have people with and without the outcome; there are not two."
    if len(usable) > MOST_GROUPS:
        return (
            f"There are {len(usable)} groups. The way to a smaller gap is worked out for {MOST_GROUPS} at most; "
            "join groups, or look at two at a time."
        )
    return None


def limits_to_no_gap(usable: Tables, metric: str) -> list[float]:
    """Return the largest gaps to allow, one after the other.

    They start where limits begin to bind: at the gap as it is, or at that of the highest AUC if that is smaller.
    """
    start = min(measure(usable, metric).worst, fit_within(usable, metric, 1.0).worst_gap)
    if start == 0:
        return [0.0]
    limits: list[float] = np.linspace(start, 0.0, _REPAIRS_OF_TWO if len(usable) == 2 else _REPAIRS_OF_MANY).tolist()
    return limits


def maps_of(tables: Tables, repair: XOrder) -> dict[Hashable, ScoreMap]:
    """Return the maps of the groups that a fitted repair moves; labels match as they are written if need be."""
    if not hasattr(repair, "maps_"):
        raise InputError("repair must be a fitted XOrder, such as xorder.load gives; fit it first.")
    found = {group: _map_of(repair, group, tables) for group in tables}
    return {group: score_map for group, score_map in found.items() if score_map.raw.size}


def outside_share(table: ScoreTable, score_map: ScoreMap) -> float:
    """Share of a group's rows whose scores lie outside those that its map was fitted to."""
    outside = (table.score < score_map.raw[0]) | (table.score > score_map.raw[-1])
    return float(table.mass[outside].sum() / table.mass.sum())


def drawn_frontier(reference: ScoreTable, moved: ScoreTable, metric: str, gaps: list[float]) -> list[list[float]]:
    """Return points (gap, AUC) of the trade-off curve around some gaps, few enough to draw."""
    curve = frontier(reference, moved, metric=metric)
    low, high = min(0.0, *gaps), max(0.0, *gaps)
    margin = max(_MARGIN * (high - low), 0.01)
    near = (curve.gap >= low - margin) & (curve.gap <= high + margin)
    points: list[list[float]] = np.column_stack(thin(curve.gap[near], curve.auc[near], _DRAWN)).tolist()
    return points


def _map_of(repair: XOrder, group: Hashable, tables: Tables) -> ScoreMap:
    if group in repair.maps_:
        return repair.maps_[group]
    alike = [known for known in repair.maps_ if str(known) == str(group)]
    if len(alike) == 1:
        return repair.maps_[alike[0]]
    if repair.unseen_group == "leave":
        return ScoreMap.identity()
    rows = None if tables.weighted else round(float(tables[group].mass.sum()))
    raise unseen_error(repr(group), repair.maps_, rows)
