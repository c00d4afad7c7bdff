"""Fit a repair to tables: plan the groups, find a map for each that moves, keep as much as the evidence carries.

Nothing here needs rows or scikit-learn; :class:`xorder.XOrder` is a thin estimator over :func:`learn_repair`.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import NamedTuple

import numpy as np

from xorder._metric import METRICS
from xorder._table import MISSING, FloatArray, ScoreTable, Tables, as_tables, check_both_classes
from xorder.estimators._fitted import FittedRepair, LearntFrom, Pair, RepairSettings
from xorder.estimators._promise import Promise, promised
from xorder.exceptions import InputError
from xorder.metrics._cuts import worst_cut
from xorder.metrics._gaps import FEW, is_too_few
from xorder.metrics._placements import pairs_of_rows
from xorder.metrics._units import moments_of
from xorder.ordering import Ordering, best_auc, order, order_within, smallest_cut_gap, solve_multipliers, standing
from xorder.ordering._ordering import Places, gaps_of_pairs
from xorder.transfer import OddsScale, ScoreMap, map_at, realises, shifted_map, spaced_map, usual_bounds

# Odds are multiplied or divided by a hundred at most: no step between two scores gets a hundred times as wide.
_LARGEST_SHIFT = float(np.log(100.0))

# Levels of each group's scores that the multipliers are looked for on: gaps are off by far less than their errors.
_SEARCHED = 8192

# Quantiles of positives that are matched for a limit at every cut, and steps on the way there.
_MATCHED = 12
_PARTS_OF_THE_WAY = 20

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
    """Tables of the groups to repair, and the groups that are not repaired.

    ``unseen`` are groups to leave alone that no row here belongs to: where those of unknown group are to be left, they
    are so whether or not there were any. ``notes`` say what was set aside, and why.
    """

    tables: Tables
    reference: Hashable | None
    aside: SetAside = NOBODY
    unseen: tuple[Hashable, ...] = ()
    notes: tuple[str, ...] = ()


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
    planned = tables.replacing(rest)
    if merged and planned.held is not None:
        labels = tuple(reference if label in merged else label for label in planned.held.labels)
        planned = replace(planned, held=planned.held._replace(labels=labels))
    return GroupPlan(planned, reference, SetAside((*left, *small), tuple(merged)), unseen, tuple(notes))


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
    return ", ".join(f"{g!r} ({tables[g].n1:g} positives, {tables[g].n0:g} negatives)" for g in groups[:10])


# Gaps this close to each other, or to a limit, are the same.
_SAME_GAP = 1e-9

# Values of AUC, or of AUC less the price of a gap, this close to each other are the same.
_SAME_VALUE = 1e-12


@dataclass(frozen=True, slots=True)
class AucAndGaps:
    """AUC, the signed gap of each pair of groups, the first of a pair minus the second, and the widest cut gap."""

    auc: float
    gaps: dict[Pair, float]
    worst_cut: float = np.nan

    @property
    def worst(self) -> float:
        """The largest absolute gap."""
        return max(map(abs, self.gaps.values()), default=np.nan)

    def gap(self, pair: Pair) -> float:
        """Return the gap of a pair, in the order given; ``nan`` if it is not known."""
        return self.gaps[pair] if pair in self.gaps else -self.gaps.get(pair[::-1], np.nan)

    def among(self, groups: Collection[Hashable]) -> AucAndGaps:
        """Return the same with the gaps between these groups alone."""
        return replace(self, gaps={pair: gap for pair, gap in self.gaps.items() if set(pair) <= set(groups)})


@dataclass(frozen=True, slots=True, eq=False)
class Repair:
    """A repair of tables.

    Attributes
    ----------
    reference, maps : the group that stays, and the map of each other
    pair : the two groups whose gap is reported, first minus second
    before, after : AUC and gaps on the tables it was fitted to
    ordering : how two groups interleave, where that was solved
    kept_share : of each moved group, the share of its correction that the evidence carries
    notes : what the user should hear
    promise : what can be said of all people
    """

    reference: Hashable
    maps: dict[Hashable, ScoreMap]
    pair: Pair
    before: AucAndGaps
    after: AucAndGaps
    kept_share: dict[Hashable, float] = field(default_factory=dict)
    ordering: Ordering | None = None
    notes: list[str] = field(default_factory=list)
    promise: Promise | None = None


def learn_repair(tables: Tables | Mapping[Hashable, ScoreTable], settings: RepairSettings) -> FittedRepair:
    """Fit the repair that settings ask for to tables.

    Parameters
    ----------
    tables : Tables or mapping of group to ScoreTable
        What the repair is fitted to.
    settings : RepairSettings
        What is asked for.

    Returns
    -------
    FittedRepair
        Maps of all groups, and what they do to these tables.
    """
    settings.checked()
    tables = as_tables(tables)
    plan = plan_groups(tables, settings)
    found = find_repair(tables, plan, settings)
    moved = tuple(group for group, score_map in found.maps.items() if score_map.raw.size)
    left, merged = (*plan.aside.left, *plan.unseen), plan.aside.merged
    bound = best_auc(list(plan.tables.values()), settings.metric, found.after.worst)
    return FittedRepair(
        settings=settings,
        maps={group: found.maps.get(group, ScoreMap.identity()) for group in (*plan.tables, *left, *merged)},
        reference=found.reference,
        moved=moved,
        pair=found.pair,
        left=left,
        merged=merged,
        auc_before=found.before.auc,
        gap_before=found.before.gap(found.pair),
        auc=found.after.auc,
        gap=found.after.gap(found.pair),
        worst_gap=found.after.worst,
        bound=bound,
        optimality_gap=max(bound - found.after.auc, 0.0) if np.isfinite(bound) else np.nan,
        worst_cut_before=found.before.worst_cut,
        worst_cut=found.after.worst_cut,
        learnt_from=LearntFrom.of(tables, plan.tables, found.maps),
        kept_share={group: share if group in moved else 0.0 for group, share in found.kept_share.items()},
        ordering=found.ordering,
        notes=(*tables.notes, *plan.notes, *found.notes),
        promise=found.promise,
    )


def find_repair(tables: Tables, plan: GroupPlan, settings: RepairSettings) -> Repair:
    """Find the repair of the groups that a plan does not set aside."""
    _check_plan(tables, plan, settings)
    if len(plan.tables) < 2:
        return _nothing(tables, settings)

    def fit(settings: RepairSettings) -> Repair:
        return (smooth if settings.method == "smooth" else interleave)(plan.tables, settings, plan.reference)

    if settings.confidence is None:
        return fit(settings)
    tables, before = plan.tables, measure(plan.tables, settings.metric)
    reference = largest(tables) if plan.reference is None else plan.reference
    return promised(tables, settings, reference, before, fit, lambda repair: mapped(tables, repair.maps))


def _check_plan(tables: Tables, plan: GroupPlan, settings: RepairSettings) -> None:
    if len(tables) < 2 or not {*tables} - {*plan.unseen}:
        only = f"got {', '.join(map(repr, tables))} alone" if tables else "there is none"
        raise InputError(f"sensitive_features must name at least two groups to repair; {only}.")
    for group, table in plan.tables.items():
        check_both_classes(table, f"group {group!r}")
    able = plan.tables if len(plan.tables) > 1 else tables
    named = settings.reference
    if named is not None and (named not in tables or plan.reference not in able):
        few = ", which has too few rows" if named in tables else ""
        raise InputError(f"reference must name one of the groups {list(able)!r}; got {named!r}{few}.")
    if settings.method != "smooth" and len(plan.tables) > 2:
        raise InputError(
            f"method={settings.method!r} interleaves two groups; got {len(plan.tables)}. Use method='smooth', which "
            "takes any number."
        )


def _nothing(tables: Tables, settings: RepairSettings) -> Repair:
    """Leave all scores alone, as no two groups have the rows that a repair needs."""
    usable = tables.replacing({group: table for group, table in tables.items() if table.n1 > 0 and table.n0 > 0})
    before = measure(usable, settings.metric) if len(usable) > 1 else AucAndGaps(np.nan, {})
    reference = largest(tables) if settings.reference is None else settings.reference
    other = next(group for group in tables if group != reference)
    return Repair(reference, {}, (reference, other), before, before, notes=["all scores are left as they are."])


def smooth(tables: Tables, settings: RepairSettings, reference: Hashable | None) -> Repair:
    """Multiply the odds that each group's scores state by one number of its own; the reference's stay.

    With care, of the logarithm of that number the share is kept that the evidence carries. Rows of different groups
    that share a score may come apart; where the result is no better than the scores as they are, these are left alone.
    """
    metric = settings.metric
    before = measure(tables, metric)
    if len(tables) == 2:
        reference, _ = pair = _reference_first(tables, before, reference)
    else:
        reference = largest(tables) if reference is None else reference
        pair = max(before.gaps, key=lambda pair: abs(before.gaps[pair]))
    scores = [table.score for table in tables.values()]
    bounds = settings._checked_bounds(tables) or usual_bounds(*scores)
    scale = OddsScale.of(scores, bounds)
    bounds = bounds or (min(each[-1] for each in scores), max(each[0] for each in scores))
    thinned = tables.replacing({group: table.thinned(_SEARCHED) for group, table in tables.items()})
    found = solve_multipliers(
        [_rounded(table) for table in thinned.values()],
        [scale] * len(tables),
        metric=metric,
        reference=list(tables).index(reference),
        tradeoff=settings.tradeoff,
        max_gap=settings.max_gap if settings.tradeoff is None else None,
    )
    needs_errors = settings.is_careful or len(tables) > 2
    stderrs = _stderrs(tables if tables.held else thinned, metric) if needs_errors else {}
    kept, notes = dict.fromkeys(tables, 1.0), _out_of_reach(found.worst, stderrs, settings)
    if settings.is_careful:
        kept = share_to_keep(before, stderrs, tables, reference)
        notes += _left_to_chance([group for group, share in kept.items() if share == 0], reference)
    maps = {}
    for (group, table), shift in zip(tables.items(), found.shift.tolist(), strict=True):
        if group != reference:
            wanted = kept[group] * float(np.clip(shift, -_LARGEST_SHIFT, _LARGEST_SHIFT))
            maps[group] = shifted_map(table, scale, wanted, bounds)
            if settings.max_cut_gap is not None:
                both = (reference, group)
                maps[group] = _within_cuts(tables, both, scale, maps[group], bounds, settings.max_cut_gap)
    moved = {group for group, score_map in maps.items() if score_map.raw.size}
    after = measure(mapped(tables, maps), metric) if moved else before
    repair = Repair(reference, maps, pair, before, after, {group: kept[group] for group in maps}, notes=notes)
    # A group whose gap may be chance says nothing about the others' repair, though it may be the widest of all.
    judged = {group for group, share in kept.items() if share > 0} | {reference}
    helps = moved and is_better(after.among(judged), before.among(judged), settings)
    if settings.max_cut_gap is None and any(kept.values()) and not helps:
        share = "the share of the repair that the evidence for the gap carries"
        return left_alone(repair, tables, share if settings.is_careful and moved else "the best repair found")
    # With care less is corrected on purpose, and why more than two groups miss a target has been said.
    return repair if needs_errors else replace(repair, notes=[*notes, *_missed(after, settings)])


def _out_of_reach(worst: float, stderrs: dict[Pair, float], settings: RepairSettings) -> list[str]:
    """Say why more than two groups cannot all come as close as they should, if what is left is more than noise."""
    if len(stderrs) < 2 or settings.tradeoff is not None or not worst > settings.max_gap + max(stderrs.values()):
        return []
    return [
        f"max_gap {settings.max_gap:g} is out of reach of method 'smooth' on this sample: there are {len(stderrs)} "
        "gaps between the groups, which one number for each group cannot close all at once; the widest left would "
        f"be {worst:.2g}."
    ]


def _reference_first(tables: Tables, before: AucAndGaps, reference: Hashable | None) -> Pair:
    """Who of two groups stays, then who moves: the one named stays, or the one that the gap favours."""
    first, second = tables
    if reference is None:
        reference = first if before.gap((first, second)) >= 0 else second
    return (first, second) if reference == first else (second, first)


def _within_cuts(
    tables: Tables, pair: Pair, scale: OddsScale, wanted: ScoreMap, bounds: tuple[float, float], limit: float
) -> ScoreMap:
    """Return the map wanted, or the nearest to it with no cut gap to the reference above a limit.

    Matching the quantiles of the groups' positives makes their sensitivities equal at every cut; as much of the way
    towards that is gone as the limit asks for. The pair is the reference and the group that moves.
    """
    reference, table = (tables[group] for group in pair)

    def cut_gap(score_map: ScoreMap) -> float:
        return Places(reference, table.at(score_map.apply(table.score))).worst_cut()

    if cut_gap(wanted) <= limit:
        return wanted
    share = (np.arange(_MATCHED) + 0.5) / _MATCHED
    own, others = (_positive_quantiles(each, scale, share) for each in (table, reference))
    kept = np.append(True, np.diff(own) > 0)
    knots, matched = own[kept], others[kept]
    moved = scale.log_odds(wanted.apply(scale.score(knots)))

    def at(part: float) -> ScoreMap:
        return map_at(table.score, scale, knots, (1 - part) * moved + part * matched, bounds)

    parts = np.linspace(0.0, 1.0, _PARTS_OF_THE_WAY + 1)[1:]
    gaps = [cut_gap(at(part)) for part in parts]
    good = [part for part, gap in zip(parts.tolist(), gaps, strict=True) if gap <= limit]
    if not good:
        raise InputError(
            f"max_cut_gap {limit:g} cannot be kept for group {pair[1]!r} by a map of so few knots; the smallest that "
            f"can is {np.ceil(min(gaps) * 1e3) / 1e3:g}. Of two groups method='frontier' can keep "
            f"{np.ceil(smallest_cut_gap(reference, table) * 1e3) / 1e3:g}."
        )
    return at(good[0])


def _positive_quantiles(table: ScoreTable, scale: OddsScale, share: FloatArray) -> FloatArray:
    """Log odds below which shares of a group's positives lie; tied ones count half."""
    has_any = table.positive > 0
    mass, position = table.positive[has_any][::-1], scale.log_odds(table.score[has_any][::-1])
    return np.interp(share, (np.cumsum(mass) - mass / 2) / table.n1, position)


def _left_to_chance(groups: list[Hashable], reference: Hashable) -> list[str]:
    if not groups:
        return []
    return [
        f"scores of group {', '.join(map(repr, groups))} are left as they are: the gap to group {reference!r} may be "
        "chance with these rows."
    ]


def interleave(tables: Tables, settings: RepairSettings, reference: Hashable | None) -> Repair:
    """Interleave two groups, and spread the moved one's scores in the spaces between the reference's."""
    metric, solver = settings.metric, settings.method
    before = measure(tables, metric)
    reference, moved = pair = _reference_first(tables, before, reference)
    bounds = settings._checked_bounds(tables)
    stays, moves = tables[reference], tables[moved]
    limit = settings.max_cut_gap
    if settings.tradeoff is not None:
        found = order(stays, moves, metric=metric, tradeoff=settings.tradeoff, solver=solver, max_cut_gap=limit)
    else:
        found = order_within(stays, moves, metric=metric, max_gap=settings.max_gap, solver=solver, max_cut_gap=limit)
    score_map = spaced_map(stays.score, moves.score, found.b_above, bounds)
    adjusted = score_map.adjusted[np.searchsorted(score_map.raw, moves.score[-1]) :][: len(moves)][::-1]
    after, notes = measure(mapped(tables, {moved: score_map}), metric), []
    if realises(stays.score, adjusted, found.b_above):
        after = replace(after, auc=found.auc, gaps={pair: found.gap})
    elif max(abs(found.auc - after.auc), abs(found.gap - after.gap(pair))) > 1e-6:
        # Scores may be unable to carry the ordering, e.g. no number fits above a reference score of 1.
        notes.append(
            f"the scores of group {reference!r} leave no room for the ordering that was found (scores of exactly 0 or "
            f"1, or closer together than numbers can be): AUC is {after.auc:.4f} instead of {found.auc:.4f}, the gap "
            f"{after.gap(pair):+.4f} instead of {found.gap:+.4f}."
        )
    repair = Repair(reference, {moved: score_map}, pair, before, after, {moved: 1.0}, ordering=found, notes=notes)
    # Where rows of both groups share scores, these may be better as they are than in any ordering.
    if solver == "frontier" and limit is None and is_better(before, after, settings):
        return left_alone(repair, tables, "the best ordering found")
    if settings.is_careful:
        return shrink(repair, tables, share_to_keep(before, _stderrs(tables, metric), tables, reference), settings)
    return replace(repair, notes=[*notes, *_missed(after, settings)])


def is_better(one: AucAndGaps, other: AucAndGaps, settings: RepairSettings) -> bool:
    """Whether one is worth more than the other: less of a gap beyond the limit, then AUC; or AUC less the price."""
    if settings.tradeoff is not None:
        values = [measured.auc - settings.tradeoff * measured.worst for measured in (one, other)]
        return values[0] > values[1] + _SAME_VALUE
    beyond = [max(measured.worst - settings.max_gap, 0.0) for measured in (one, other)]
    if abs(beyond[0] - beyond[1]) > _SAME_GAP:
        return beyond[0] < beyond[1]
    return one.auc > other.auc + _SAME_VALUE


def _missed(after: AucAndGaps, settings: RepairSettings) -> list[str]:
    """Say so if a gap wanted, other than none at all, was missed by more than 0.001 of AUC's own scale."""
    if settings.tradeoff is not None or not 0 < settings.max_gap < after.worst - 1e-3:
        return []
    gap = max(after.gaps.values(), key=abs)
    return [
        f"max_gap {settings.max_gap:g} was not met on this sample by method {settings.method!r}; the gap is {gap:+.4g}."
    ]


def left_alone(repair: Repair, tables: Tables, what: str) -> Repair:
    """Return a repair that moves nothing, as ``what`` was found to be no better than the scores as they are."""
    distinct = np.unique(np.concatenate([table.score for table in tables.values()])).size
    ties = "; rows of different groups share scores, and adjusting them breaks such ties"
    before, after = repair.before, repair.after
    note = (
        f"{what} is no better than the scores as they are (largest gap {before.worst:.4g} before and {after.worst:.4g} "
        f"after, AUC {before.auc:.4f} and {after.auc:.4f}{ties if distinct < sum(map(len, tables.values())) else ''}); "
        "the scores are left alone."
    )
    stay = {group: ScoreMap.identity() for group in repair.maps}
    return replace(repair, maps=stay, after=before, notes=[*repair.notes, note])


def measure(tables: Tables, metric: str) -> AucAndGaps:
    """Measure any number of groups as their scores stand."""
    if tables.ranking is None:
        auc, gaps, worst = standing(list(tables.values()), metric)
    else:
        pairs, groups, (n1, n0) = pairs_of_rows(tables.ranking), range(len(tables)), tables.totals[:2]
        within = np.array([pairs[group, 0, group, 1] for group in groups])
        auc, gaps = gaps_of_pairs(metric, n1, n0, within, [pairs[a, :, b] for a, b in combinations(groups, 2)])
        worst = worst_cut(tables)
    of_pairs = combinations(enumerate(tables), 2)
    return AucAndGaps(auc, {(first, second): float(gaps[a, b]) for (a, first), (b, second) in of_pairs}, worst)


def mapped(tables: Tables, maps: dict[Hashable, ScoreMap]) -> Tables:
    """Return tables with the scores of moved groups adjusted."""
    adjusted = tables.moved({group: maps[group].apply for group in tables if group in maps})
    held = tables.held
    if held is None:
        return adjusted
    score = held.scores[0].copy()
    for place, label in enumerate(held.labels):
        if label in maps:
            own = held.group == place
            score[own] = maps[label].apply(score[own])
    return replace(adjusted, held=held._replace(scores=(score, *held.scores[1:])))


# Bits that the search sees of a mass: whole numbers up to a million millions are seen as they are.
_BITS = 40


def _rounded(table: ScoreTable) -> ScoreTable:
    """Return the table without the last bits of its masses, in which the order of adding up fractions shows."""
    parts = map(np.frexp, (table.positive, table.negative))
    return ScoreTable(table.score, *(np.ldexp(np.rint(np.ldexp(part, _BITS)), power - _BITS) for part, power in parts))


# A gap of this many standard errors is not corrected at all; of one of twice as many, three quarters are. Chosen
# between what groups who differ by chance alone lose and what is left of a true gap (docs/generalisation.md).
NOISE = 1.25


def share_to_keep(
    before: AucAndGaps, stderrs: dict[Pair, float], groups: Collection[Hashable], reference: Hashable
) -> dict[Hashable, float]:
    r"""Share of the correction to keep, for each group but the reference.

    With :math:`z` the gap to the reference in standard errors it is :math:`\max(0, 1 - (c / z)^2)`, the positive part
    of the James-Stein rule: what noise alone would bring is taken off the square of the gap. Nothing is kept where the
    sample does not show how uncertain the gap is.
    """
    kept = {}
    for group in groups:
        if group != reference:
            pair = (reference, group)
            value, stderr = before.gap(pair), stderrs[pair if pair in stderrs else pair[::-1]]
            known = np.isfinite(stderr) and abs(value) > 0
            kept[group] = max(0.0, 1.0 - (NOISE * stderr / value) ** 2) if known else 0.0
    return kept


def _stderrs(tables: Tables, metric: str) -> dict[Pair, float]:
    """Standard error of the gap of each pair."""
    found = moments_of(tables)
    pairs = combinations(enumerate(tables), 2)
    return {(first, second): METRICS[metric].estimate(found, a, b)[1] for (a, first), (b, second) in pairs}


def shrink(repair: Repair, tables: Tables, kept_share: dict[Hashable, float], settings: RepairSettings) -> Repair:
    """Keep of the correction of two groups its share; leave alone, and say so, where that is nothing.

    A partial correction can be worse than none, for example with few distinct scores; the scores are then left alone.
    """
    left = [group for group, share in kept_share.items() if share == 0 and repair.maps[group].raw.size]
    notes = [*repair.notes, *_left_to_chance(left, repair.reference)]
    maps = {group: shrunk(score_map, kept_share[group]) for group, score_map in repair.maps.items()}
    moved = any(score_map.raw.size for score_map in maps.values())
    after = measure(mapped(tables, maps), settings.metric) if moved else repair.before
    kept = replace(repair, maps=maps, after=after, kept_share=kept_share, notes=notes)
    if not moved or is_better(after, repair.before, settings):
        return kept
    return left_alone(kept, tables, "the share of the repair that the evidence for the gap carries")


def shrunk(score_map: ScoreMap, share: float) -> ScoreMap:
    """Go only a share of the way from each raw score to its adjusted one."""
    if share >= 1 or not score_map.raw.size:
        return score_map
    if share <= 0:
        return ScoreMap.identity()
    adjusted = score_map.raw + share * (score_map.adjusted - score_map.raw)
    # Of knots so close that rounding has joined them, the first is kept.
    rises = np.append(True, adjusted[1:] > np.maximum.accumulate(adjusted)[:-1])
    return ScoreMap(score_map.raw[rises], adjusted[rises])
