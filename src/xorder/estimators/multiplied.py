"""Repair any number of groups by calibrated odds, times one number for each group."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

import numpy as np

from xorder._adjuster import roles_of_two
from xorder._table import FloatArray, ScoreTable
from xorder._validation import DISADVANTAGED, Tables
from xorder.estimators.repair import Repair, Wanted, check_bounds, left_alone, mapped, measure
from xorder.estimators.settle import largest
from xorder.exceptions import InputError
from xorder.ordering import CALIBRATIONS, solve_multipliers
from xorder.transfer import map_through, usual_bounds

# Digits, of base two, that the search sees of a mass: whole numbers up to a million millions are seen as they are.
_DIGITS = 40


def multiply_odds(tables: Tables, wanted: Wanted, *, calibration: str, reference: Hashable | None) -> Repair:
    """Put each group on the reference's scale: the same odds, times its number, get the same score.

    Calibrating may take apart people of different groups who share a score. Where the result is no better than the
    scores as they are, these are left alone.
    """
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
    seen = {group: _rounded(table) for group, table in tables.items()}
    curves = {group: CALIBRATIONS[calibration](table, unit=bounds == (0.0, 1.0)) for group, table in seen.items()}
    found = solve_multipliers(
        list(seen.values()),
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
    repair = Repair(reference, maps, pair, before, after, found.bound, found.gap)
    if wanted.is_better(after, before):
        return replace(repair, notes=wanted.missed(after, "one multiplier for each group"))
    # The bound holds for ties as well: they are worth the mean of the orderings that break them.
    value = before.auc - (0.0 if wanted.tradeoff is None else wanted.tradeoff * before.worst)
    gap = max(found.bound - value, 0.0) if np.isfinite(found.bound) else np.nan
    return left_alone(replace(repair, gap=gap), tables, "the best repair found")


def _rounded(table: ScoreTable) -> ScoreTable:
    """Return the table without the last digits of its masses, in which the order of adding up fractions shows."""
    return ScoreTable(table.score, _to_digits(table.positive), _to_digits(table.negative))


def _to_digits(mass: FloatArray) -> FloatArray:
    fraction, exponent = np.frexp(mass)
    return np.asarray(np.ldexp(np.rint(np.ldexp(fraction, _DIGITS)), exponent - _DIGITS))
