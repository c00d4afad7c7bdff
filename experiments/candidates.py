"""Repairs that the studies compare: each a function from tables of the groups to one map per group.

A way to move one group towards another is a function ``(pair, share) -> ScoreMap``, where ``share`` is how much of the
correction is kept. ``repaired(way)`` and ``repaired(way, careful=True)`` make candidates of it: the group on the
winning side of the xAUC gap stays, the other is moved, and the aim is no gap.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from experiments.calibrations import Calibration, bent_calibration, block_calibration, logistic_calibration
from xorder import ScoreMap, ScoreTable, XOrder
from xorder.exceptions import XorderWarning
from xorder.metrics import audit_tables
from xorder.ordering import as_scored, order, smallest_cut_gap, solve_multipliers
from xorder.transfer import OddsScale, map_at, map_through, shifted_map, spaced_map, usual_bounds

Tables = Mapping[Hashable, ScoreTable]
Maps = dict[Hashable, ScoreMap]
Candidate = Callable[[Tables], Maps]

# Groups with fewer positives or negatives than this are left alone, whatever the candidate.
FEW = 10

# Care keeps 1 - (NOISE / z)^2 of a correction, with z the gap in standard errors.
NOISE = 1.25

# Odds are multiplied by a hundred at most.
LARGEST_SHIFT = float(np.log(100.0))

# Knots of a smooth map at most, and positives of the smaller group per knot.
KNOTS = 12
POSITIVES_PER_KNOT = 25

# Knots besides, with which such a map is drawn.
DRAWN = 25

# No score is further out than this on the scale of log odds.
FURTHEST = 20.0


@dataclass(frozen=True)
class Pair:
    """The group that stays, the one that is moved, and the scale of log odds that their scores state."""

    stays: ScoreTable
    moves: ScoreTable

    @property
    def bounds(self) -> tuple[float, float]:
        """Lowest and highest score allowed: [0, 1] where all scores lie there, otherwise what was seen."""
        seen = (min(self.stays.score[-1], self.moves.score[-1]), max(self.stays.score[0], self.moves.score[0]))
        return usual_bounds(self.stays.score, self.moves.score) or seen

    @property
    def scale(self) -> OddsScale:
        scores = [self.stays.score, self.moves.score]
        return OddsScale.of(scores, usual_bounds(*scores))

    def position(self, table: ScoreTable) -> Any:
        """Log odds of a group's scores, highest first."""
        return np.clip(self.scale.log_odds(table.score), -FURTHEST, FURTHEST)

    def is_improved_by(self, score_map: ScoreMap) -> bool:
        """Whether the gap on these tables is smaller than without the map; of equal gaps the AUC counts."""
        moved = _at(self.moves, score_map.apply(self.moves.score))
        (auc, gap), (auc_before, gap_before) = (as_scored(self.stays, b, "xauc") for b in (moved, self.moves))
        if abs(abs(gap) - abs(gap_before)) > 1e-9:
            return bool(abs(gap) < abs(gap_before))
        return bool(auc > auc_before + 1e-12)


Way = Callable[[Pair, float], ScoreMap]


def constant(pair: Pair, share: float) -> ScoreMap:
    """One number is added to the log odds that scores state, and a share of that number kept."""
    shift = _closing_shift(pair, pair.scale)
    return shifted_map(
        pair.moves, pair.scale, share * float(np.clip(shift, -LARGEST_SHIFT, LARGEST_SHIFT)), pair.bounds
    )


def calibrated(calibration: Callable[..., Calibration], pair: Pair, share: float) -> ScoreMap:
    """One number is added to the log odds of a fit per group; a share of the way from raw to adjusted score is kept."""
    bounds = usual_bounds(pair.stays.score, pair.moves.score)
    stays, moves = (calibration(table, unit=bounds is not None) for table in (pair.stays, pair.moves))
    shift = solve_multipliers([pair.stays, pair.moves], [stays, moves], max_gap=0.0).shift[1]
    raw = pair.moves.score[::-1]
    whole = map_through(raw, stays.score(moves.log_odds(raw) + shift), bounds)
    return _part(whole, share) if pair.is_improved_by(whole) else ScoreMap.identity()


def quantiles(pair: Pair, share: float, *, knots: int | None = None, closed: bool = True) -> ScoreMap:
    """Quantiles of the groups' positives are matched; then one number on the log odds closes what gap is left."""
    _, own, others = _matched(pair, knots or _number_of_knots(pair))
    return _through(pair, own, others, share, closed=closed)


def bends(pair: Pair, share: float) -> ScoreMap:
    """Quantiles matched as far as they differ from one constant by more than chance; then the closing number.

    By as much as their weighted squares exceed what noise brings, the quantiles' differences are drawn away from their
    mean, as the positive part of the James-Stein rule does it.
    """
    at, own, others = _matched(pair, _number_of_knots(pair))
    noise = _quantile_variance(pair, pair.stays, at) + _quantile_variance(pair, pair.moves, at)
    weight, off = 1 / noise, others - own
    mean = float(weight @ off) / float(weight.sum())
    excess = float(weight @ (off - mean) ** 2)
    kept = max(0.0, 1 - (own.size - 1) / excess) if excess > 0 else 0.0
    return _through(pair, own, own + mean + kept * (off - mean), share)


def spread(pair: Pair, share: float) -> ScoreMap:
    """Mean and spread of the positives' log odds are matched; then the closing number."""
    (mean, deviation), (other_mean, other_deviation) = (_moments(pair, each) for each in (pair.moves, pair.stays))
    slope = float(np.clip(other_deviation / max(deviation, 1e-9), 0.2, 5.0))
    position = pair.position(pair.moves)
    own = np.linspace(position[-1], position[0], KNOTS)
    return _through(pair, own, other_mean + slope * (own - mean), share)


def half_way(pair: Pair, share: float) -> ScoreMap:
    """The middle, on the log odds, between matched quantiles and the logistic fit; then the closing number."""
    own = np.unique(np.quantile(pair.position(pair.moves), np.linspace(0, 1, DRAWN)))
    maps = [quantiles(pair, 1.0), calibrated(logistic_calibration, pair, 1.0)]
    ends = [pair.scale.log_odds(each.apply(pair.scale.score(own))) for each in maps]
    return _through(pair, own, (ends[0] + ends[1]) / 2, share)


def corridor(pair: Pair, share: float, *, closed: bool = False) -> ScoreMap:
    """The best order that keeps a limit at every cut, smoothed to twelve knots by quantiles of the moved group.

    The limit is one standard error of a difference of two sensitivities, or the least that any order keeps.
    """
    stays, moves = pair.stays, pair.moves
    limit = max(1.01 * smallest_cut_gap(stays, moves), float(np.sqrt(0.25 / stays.n1 + 0.25 / moves.n1)))
    found = order(stays, moves, max_cut_gap=limit)
    path = spaced_map(stays.score, moves.score, found.b_above, pair.bounds)
    raw = pair.position(moves)[::-1]
    adjusted = np.clip(pair.scale.log_odds(path.apply(moves.score[::-1])), -FURTHEST, FURTHEST)
    mass = moves.mass[::-1]
    part = np.minimum((np.cumsum(mass) - mass / 2) / mass.sum() * KNOTS, KNOTS - 1).astype(int)
    sums = [np.bincount(part, weights=mass * values) for values in (np.ones(raw.size), raw, adjusted)]
    total, own, others = (each[sums[0] > 0] for each in sums)
    return _through(pair, own / total, others / total, share, closed=closed)


def repaired(way: Way, *, careful: bool = False) -> Candidate:
    """Move the losing one of two groups in this way; with care, only as far as the evidence for a gap carries.

    Scores are left alone if a group is small, if nothing is kept, and if the repair is no better on its own sample.
    """

    def candidate(tables: Tables) -> Maps:
        maps = {group: ScoreMap.identity() for group in tables}
        reference, moved = roles(tables)
        pair = Pair(tables[reference], tables[moved])
        if min(total for table in tables.values() for total in (table.n1, table.n0)) < FEW:
            return maps
        share = evidence(tables) if careful else 1.0
        if share > 0:
            found = way(pair, share)
            if found.raw.size and pair.is_improved_by(found):
                maps[moved] = found
        return maps

    return candidate


def roles(tables: Tables) -> tuple[Hashable, Hashable]:
    """Of two groups, the one that stays and the one that is moved."""
    (first, a), (second, b) = tables.items()
    _, gap = as_scored(a, b, "xauc")
    return (first, second) if gap >= 0 else (second, first)


def evidence(tables: Tables) -> float:
    """Share of a correction that care keeps."""
    gap = audit_tables(tables).gap("xauc")
    known = np.isfinite(gap.stderr) and abs(gap.value) > 0
    return max(0.0, 1.0 - (NOISE * gap.stderr / gap.value) ** 2) if known else 0.0


def fitted(**settings: Any) -> Candidate:
    """What an ``XOrder`` of these settings fits."""

    def candidate(tables: Tables) -> Maps:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", XorderWarning)
            return XOrder(**settings).fit_tables(tables).maps_

    return candidate


WAYS: dict[str, Way] = {
    "constant": constant,
    "logistic": partial(calibrated, logistic_calibration),
    "quantiles": quantiles,
    "quantiles, 3 knots": partial(quantiles, knots=3),
    "quantiles, no shift": partial(quantiles, closed=False),
    "half way": half_way,
    "corridor": corridor,
    "corridor, shift": partial(corridor, closed=True),
    "spread": spread,
    "bends": bends,
    "blocks": partial(calibrated, block_calibration),
    "bent": partial(calibrated, bent_calibration),
}

SMOOTH: dict[str, Candidate] = {
    name + (", care" if careful else ""): repaired(way, careful=careful)
    for name, way in WAYS.items()
    for careful in (False, True)
}

ORDERS: dict[str, Candidate] = {
    "dp, tradeoff 1": fitted(method="dp", tradeoff=1.0),
    "frontier": fitted(method="frontier"),
}

REPAIRS: dict[str, Candidate] = {**ORDERS, **SMOOTH}
"""What the study of repairs compares; simulations leave out the orders."""

CANDIDATES: dict[str, Candidate] = {
    "dp": fitted(method="dp"),
    "frontier": fitted(method="frontier"),
    "blocks": repaired(WAYS["blocks"]),
    "bent": repaired(WAYS["bent"]),
    "logistic": repaired(WAYS["logistic"]),
    "logistic, no harm": repaired(WAYS["logistic"], careful=True),
}
"""What the study of training scores compares."""


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


@dataclass(frozen=True)
class _Curve:
    """The scale of log odds, bent at knots; beyond them it moves along with the outermost."""

    scale: OddsScale
    knots: Any
    adjusted: Any

    def log_odds(self, score: Any) -> Any:
        position = self.scale.log_odds(score)
        return position + np.interp(position, self.knots, self.adjusted - self.knots)


def _closing_shift(pair: Pair, curve: OddsScale | _Curve) -> float:
    """What is to be added to the moved group's log odds so that there is no gap."""
    return float(solve_multipliers([pair.stays, pair.moves], [pair.scale, curve], max_gap=0.0).shift[1])


def _through(pair: Pair, knots: Any, adjusted: Any, share: float, *, closed: bool = True) -> ScoreMap:
    """Map through knots on the log odds, closed by one number, of which a share is kept."""
    # Quantiles that tie would make the map flat.
    adjusted = np.maximum.accumulate(adjusted) + 1e-9 * np.arange(adjusted.size)
    shift = _closing_shift(pair, _Curve(pair.scale, knots, adjusted)) if closed else 0.0
    # A map is straight between scores, not between log odds: more knots let it follow what was solved for.
    dense = np.unique(np.concatenate([knots, np.quantile(pair.position(pair.moves), np.linspace(0, 1, DRAWN))]))
    moved = np.interp(dense, knots, adjusted + shift - knots)
    return map_at(pair.moves.score, pair.scale, dense, dense + share * moved, pair.bounds)


def _part(score_map: ScoreMap, share: float) -> ScoreMap:
    """Go a share of the way from each raw score to its adjusted one."""
    adjusted = score_map.raw + share * (score_map.adjusted - score_map.raw)
    # Of knots so close that rounding has joined them, the first is kept.
    rises = np.append(True, adjusted[1:] > np.maximum.accumulate(adjusted)[:-1])
    return score_map if share >= 1 else ScoreMap(score_map.raw[rises], adjusted[rises])


def _at(table: ScoreTable, falling: Any) -> ScoreTable:
    """Return the table with other scores, of which rounding may have joined some."""
    first = np.flatnonzero(np.append(True, np.diff(falling) < 0))
    return ScoreTable(falling[first], *(np.add.reduceat(mass, first) for mass in (table.positive, table.negative)))


def _number_of_knots(pair: Pair) -> int:
    return int(np.clip(min(pair.stays.n1, pair.moves.n1) // POSITIVES_PER_KNOT, 2, KNOTS))


def _matched(pair: Pair, number: int) -> tuple[Any, Any, Any]:
    """Shares of the positives, and the log odds below which they lie in the moved group and in the one that stays."""
    at = (np.arange(number) + 0.5) / number
    own, others = (_quantile(pair, table, at) for table in (pair.moves, pair.stays))
    rises = np.append(True, np.diff(own) > 0)
    return at[rises], own[rises], others[rises]


def _quantile(pair: Pair, table: ScoreTable, at: Any) -> Any:
    """Log odds below which shares of a group's positives lie; tied ones count half."""
    mass = table.positive[::-1]
    return np.interp(at, ((np.cumsum(mass) - mass / 2) / table.n1)[mass > 0], pair.position(table)[::-1][mass > 0])


def _quantile_variance(pair: Pair, table: ScoreTable, at: Any) -> Any:
    """Variance of such quantiles, with the density taken over the width of one knot."""
    half = 0.5 / at.size
    width = _quantile(pair, table, np.minimum(at + half, 1.0)) - _quantile(pair, table, np.maximum(at - half, 0.0))
    return at * (1 - at) / table.n1 * np.maximum(width / (2 * half), 1e-6) ** 2


def _moments(pair: Pair, table: ScoreTable) -> tuple[float, float]:
    """Mean and standard deviation of the positives' log odds."""
    position = pair.position(table)
    mean = float(np.average(position, weights=table.positive))
    return mean, float(np.sqrt(np.average((position - mean) ** 2, weights=table.positive)))
