"""Repairs that the studies compare: each a function from tables of the groups to one map per group."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Mapping
from typing import Any

import numpy as np

from experiments.calibrations import Calibration, bent_calibration, block_calibration
from xorder import ScoreMap, ScoreTable, XOrder
from xorder.exceptions import XorderWarning
from xorder.ordering import as_scored, solve_multipliers
from xorder.transfer import map_through, usual_bounds

Tables = Mapping[Hashable, ScoreTable]
Maps = dict[Hashable, ScoreMap]
Candidate = Callable[[Tables], Maps]


def fitted(**settings: Any) -> Candidate:
    """What an ``XOrder`` of these settings fits."""

    def candidate(tables: Tables) -> Maps:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", XorderWarning)
            return XOrder(**settings).fit_tables(tables).maps_

    return candidate


def multiplied(calibration: Callable[..., Calibration]) -> Candidate:
    """One multiplier of the odds that a calibration gives, for two groups and no gap; no care."""

    def candidate(tables: Tables) -> Maps:
        (first, a), (second, b) = tables.items()
        _, gap = as_scored(a, b, "xauc")
        reference, moved = (first, second) if gap >= 0 else (second, first)
        bounds = usual_bounds(a.score, b.score)
        curves = {group: calibration(table, unit=bounds is not None) for group, table in tables.items()}
        found = solve_multipliers(
            [a, b], list(curves.values()), reference=[first, second].index(reference), max_gap=0.0
        )
        raw = tables[moved].score[::-1]
        odds = curves[moved].log_odds(raw) + found.shift[[first, second].index(moved)]
        return {reference: ScoreMap.identity(), moved: map_through(raw, curves[reference].score(odds), bounds)}

    return candidate


CANDIDATES: dict[str, Candidate] = {
    "dp": fitted(method="dp"),
    "frontier": fitted(method="frontier"),
    "blocks": multiplied(block_calibration),
    "bent": multiplied(bent_calibration),
    "logistic": fitted(do_no_harm=False),
    "logistic, no harm": fitted(),
}


def tables_of_rows(score: Any, y: Any, groups: Any) -> dict[Hashable, ScoreTable]:
    """One table per group, in sorted order."""
    return {
        group: ScoreTable.from_arrays(y[groups == group], score[groups == group])
        for group in np.unique(groups).tolist()
    }


def applied(maps: Maps, score: Any, groups: Any) -> Any:
    """Scores of rows, adjusted by the map of their group."""
    adjusted = np.array(score, dtype=np.float64)
    for group, score_map in maps.items():
        adjusted[groups == group] = score_map.apply(adjusted[groups == group])
    return adjusted
