"""Repair any number of groups by calibrated odds, times one number for each group."""

from __future__ import annotations

from collections.abc import Hashable

from xorder._adjuster import roles_of_two
from xorder._validation import DISADVANTAGED, Tables
from xorder.estimators.repair import Repair, Wanted, check_bounds, mapped, measure
from xorder.estimators.settle import largest
from xorder.exceptions import InputError
from xorder.ordering import CALIBRATIONS, solve_multipliers
from xorder.transfer import map_through, usual_bounds


def multiply_odds(tables: Tables, wanted: Wanted, *, calibration: str, reference: Hashable | None) -> Repair:
    """Put each group on the reference's scale: the same odds, times its number, get the same score."""
    metric, adjust = wanted.metric, wanted.adjust
    before = measure(tables, metric)
    if len(tables) == 2:
        roles = roles_of_two(tables, metric, adjust)
        reference, pair = roles.reference, (roles.reference, roles.moved)
    else:
        if adjust != DISADVANTAGED:
            raise InputError(f"adjust is for two groups; name the one that stays with reference. Got {adjust!r}.")
        reference = largest(tables) if reference is None else reference
        pair = max(before.gaps, key=lambda pair: abs(before.gaps[pair]))
    bounds = check_bounds(wanted.bounds, tables) or usual_bounds(*(table.score for table in tables.values()))
    curves = {group: CALIBRATIONS[calibration](table, unit=bounds == (0.0, 1.0)) for group, table in tables.items()}
    found = solve_multipliers(
        list(tables.values()),
        list(curves.values()),
        metric=metric,
        reference=list(tables).index(reference),
        tradeoff=wanted.tradeoff,
        max_disparity=wanted.max_disparity if wanted.tradeoff is None else None,
    )
    maps = {}
    for (group, table), shift in zip(tables.items(), found.shift, strict=True):
        if group != reference:
            raw = table.score[::-1]
            odds = curves[group].log_odds(raw) + shift
            maps[group] = map_through(raw, curves[reference].score(odds), bounds)
    after = measure(mapped(tables, maps), metric)
    notes = wanted.missed(after, "one multiplier for each group")
    return Repair(reference, maps, pair, before, after, found.bound, found.gap, notes=notes)
