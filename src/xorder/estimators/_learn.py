"""Learn a repair from tables: plan the groups, interleave two or multiply the odds of many, keep what evidence carries.

Nothing here needs rows or scikit-learn; :class:`xorder.XOrder` is a thin estimator over :func:`learn_repair`.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np

from xorder._metric import METRICS
from xorder._table import FloatArray, ScoreTable, Tables, as_tables
from xorder._validation import DISADVANTAGED, check_both_classes
from xorder.estimators._fitted import FittedRepair
from xorder.estimators._settings import CALIBRATIONS, INTERLEAVED, GroupPlan, RepairSettings, largest, plan_groups
from xorder.exceptions import InputError
from xorder.metrics._placements import moments
from xorder.ordering import Ordering, as_scored, many_as_scored, order, order_within, solve_multipliers
from xorder.ordering._ordering import roles_of_two
from xorder.transfer import ScoreMap, map_through, middle_ranks, realises, spaced_map, usual_bounds

# Gaps this close to each other, or to a limit, are the same; so are values of AUC, or of AUC less the price of a gap.
_SAME_GAP, _SAME_VALUE = 1e-9, 1e-12

Pair = tuple[Hashable, Hashable]
Bounds = tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class AucAndGaps:
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

    def among(self, groups: Collection[Hashable]) -> AucAndGaps:
        """Return the same with the gaps between these groups alone."""
        return AucAndGaps(self.auc, {pair: gap for pair, gap in self.gaps.items() if set(pair) <= set(groups)})


@dataclass(frozen=True, slots=True)
class RepairGoal:
    """What a repair is to reach, as :class:`xorder.XOrder` has it."""

    metric: str
    tradeoff: float | None
    max_gap: float
    adjust: Hashable
    bounds: Bounds

    def is_better(self, one: AucAndGaps, other: AucAndGaps) -> bool:
        """Whether one is worth more than the other: less of a gap beyond the limit, then AUC; or AUC less the price."""
        if self.tradeoff is not None:
            values = [measured.auc - self.tradeoff * measured.worst for measured in (one, other)]
            return values[0] > values[1] + _SAME_VALUE
        beyond = [max(measured.worst - self.max_gap, 0.0) for measured in (one, other)]
        if abs(beyond[0] - beyond[1]) > _SAME_GAP:
            return beyond[0] < beyond[1]
        return one.auc > other.auc + _SAME_VALUE

    def missed(self, after: AucAndGaps, by: str) -> list[str]:
        """Say so if a gap wanted, other than none at all, was not reached."""
        if self.tradeoff is not None or not 0 < self.max_gap < after.worst - 1e-9:
            return []
        gap = max(after.gaps.values(), key=abs)
        return [f"max_gap {self.max_gap:g} was not met on this sample by {by}; the gap is {gap:+.4g}."]


@dataclass(frozen=True, slots=True, eq=False)
class Repair:
    """What was learnt.

    Attributes
    ----------
    reference, maps : the group that stays, and the map of each that moves
    pair : the two groups whose gap is told, first minus second
    before, after : AUC and gaps on the tables learnt from
    bound, optimality_gap : what no objective exceeds, and how far below it this one is at most; ``nan`` if not known
    ordering : how two groups interleave, where that was solved
    notes : what the user should hear
    """

    reference: Hashable
    maps: dict[Hashable, ScoreMap]
    pair: Pair
    before: AucAndGaps
    after: AucAndGaps
    bound: float = np.nan
    optimality_gap: float = np.nan
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


def measure(tables: Tables, metric: str) -> AucAndGaps:
    """Measure any number of groups as their scores stand."""
    auc, gaps = many_as_scored(list(tables.values()), metric)
    pairs = combinations(enumerate(tables), 2)
    return AucAndGaps(auc, {(first, second): float(gaps[a, b]) for (a, first), (b, second) in pairs})


def mapped(tables: Tables, maps: dict[Hashable, ScoreMap]) -> Tables:
    """Return tables with the scores of moved groups adjusted."""
    return Tables(
        {group: table.at(maps[group].apply(table.score)) if group in maps else table for group, table in tables.items()}
    )


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


# A gap of this many standard errors is not corrected at all; of one of twice as many, three quarters are. Chosen
# between what groups who differ by chance alone lose and what is left of a true gap (docs/generalisation.md).
NOISE = 1.25

# Digits, of base two, that the search sees of a mass: whole numbers up to a million millions are seen as they are.
_DIGITS = 40


def learn_repair(tables: Tables | Mapping[Hashable, ScoreTable], settings: RepairSettings) -> FittedRepair:
    """Learn what settings ask for from tables, group -> ScoreTable."""
    settings.checked()
    tables = as_tables(tables)
    plan = _checked_plan(tables, settings)
    goal = _goal(plan.tables, settings)
    found = learn_maps(plan.tables, goal, settings)
    trust = dict.fromkeys(found.maps, 1.0)
    if settings.do_no_harm:
        trust = trust_in_gaps(plan.tables, found.reference, settings.metric)
        found = shrink(found, plan.tables, trust, goal)
        trust = {group: trust[group] if learnt.raw.size else 0.0 for group, learnt in found.maps.items()}
    left = (*plan.left, *plan.unseen)
    everyone = (*plan.tables, *left, *plan.merged)
    return FittedRepair(
        settings=settings,
        maps={group: found.maps.get(group, ScoreMap.identity()) for group in everyone},
        reference=found.reference,
        moved=tuple(found.maps),
        pair=found.pair,
        left=left,
        merged=plan.merged,
        auc_before=found.before.auc,
        auc_after=found.after.auc,
        gap_before=found.before.gap(found.pair),
        gap_after=found.after.gap(found.pair),
        worst_gap=found.after.worst,
        bound=found.bound,
        optimality_gap=found.optimality_gap,
        trust=trust,
        ordering=found.ordering,
        notes=(*tables.notes, *plan.notes(), *found.notes),
    )


def learn_maps(tables: Tables, goal: RepairGoal, settings: RepairSettings) -> Repair:
    """Interleave two groups, or multiply the odds of any number."""
    if len(tables) == 2 and settings.transfer in INTERLEAVED:
        return interleave(tables, goal, solver=settings.solver, transfer=settings.transfer)
    for name, value, usual in (("transfer", settings.transfer, "interpolate"), ("solver", settings.solver, "frontier")):
        if value != usual and value not in CALIBRATIONS:
            raise InputError(f"{name}={value!r} is for two groups; got {len(tables)}. Leave it out.")
    calibration = "logistic" if settings.transfer == "interpolate" else settings.transfer
    return multiply_odds(tables, goal, calibration=calibration, reference=settings.reference)


def _checked_plan(tables: Tables, settings: RepairSettings) -> GroupPlan:
    plan = plan_groups(tables, settings)
    if len(plan.tables) < 2:
        only = f"got {', '.join(map(repr, plan.tables))} alone" if plan.tables else "there is none"
        said = "".join(f" {note}" for note in tables.notes)
        raise InputError(f"sensitive_features must name at least two groups to repair; {only}.{said}")
    for group, table in plan.tables.items():
        check_both_classes(table, f"group {group!r}")
    if settings.reference is not None and settings.reference not in plan.tables:
        raise InputError(f"reference must name one of the groups {list(plan.tables)!r}; got {settings.reference!r}.")
    return plan


def _goal(tables: Tables, settings: RepairSettings) -> RepairGoal:
    adjust = settings.adjust
    if settings.reference is not None and len(tables) == 2:
        other = next(group for group in tables if group != settings.reference)
        if adjust not in (DISADVANTAGED, other):
            raise InputError(
                f"adjust must be left out with reference {settings.reference!r}, or be {other!r}; got {adjust!r}."
            )
        adjust = other
    return RepairGoal(settings.metric, settings.tradeoff, settings.max_gap, adjust, settings.bounds)


def interleave(tables: Tables, goal: RepairGoal, *, solver: str, transfer: str) -> Repair:
    """Interleave two groups, and spread the moved one's scores in the gaps of the reference's."""
    metric, tradeoff, max_gap = goal.metric, goal.tradeoff, goal.max_gap
    roles = roles_of_two(tables, metric, goal.adjust)
    reference, moved = tables[roles.reference], tables[roles.moved]
    if tradeoff is not None:
        found = order(reference, moved, metric=metric, tradeoff=tradeoff, solver=solver)
    else:
        found = order_within(reference, moved, metric=metric, max_gap=max_gap, solver=solver)
    learnt = spaced_map(reference.score, moved.score, found.b_above, check_bounds(goal.bounds, tables))
    adjusted = learnt.adjusted[np.searchsorted(learnt.raw, moved.score[-1]) :][: len(moved)][::-1]
    auc, gap, notes = found.auc, found.gap, []
    if not realises(reference.score, adjusted, found.b_above):
        auc, gap = as_scored(reference, moved.at(adjusted), metric)
        if max(abs(found.auc - auc), abs(found.gap - gap)) > 1e-6:
            notes.append(_lost_room(roles.reference, found, auc, gap))
    if transfer == "rank":
        learnt = ScoreMap(middle_ranks(moved.score[::-1], moved.mass[::-1]), adjusted[::-1])

    pair = (roles.reference, roles.moved)
    before, after = AucAndGaps(roles.auc, {pair: roles.gap}), AucAndGaps(auc, {pair: gap})
    # Where people of both groups share scores, these may be better as they are than in any ordering.
    is_worse = solver == "frontier" and goal.is_better(before, after)
    kept = before if is_worse else after
    repair = Repair(
        reference=roles.reference,
        maps={roles.moved: learnt},
        pair=pair,
        before=before,
        after=after,
        bound=found.bound,
        optimality_gap=max(found.bound - (kept.auc - found.tradeoff * kept.worst), 0.0),
        ordering=found,
        notes=notes if is_worse else notes + goal.missed(after, f"solver {solver!r}"),
    )
    return left_alone(repair, tables, "the best ordering found") if is_worse else repair


def _lost_room(reference: Hashable, wanted: Ordering, auc: float, gap: float) -> str:
    """Scores may be unable to carry the ordering, e.g. no number fits above a reference score of 1."""
    return (
        f"the scores of group {reference!r} leave no room for the ordering that was found (scores "
        f"of exactly 0 or 1, or closer together than numbers can be): AUC is {auc:.4f} instead of {wanted.auc:.4f}, "
        f"the gap {gap:+.4f} instead of {wanted.gap:+.4f}."
    )


def multiply_odds(tables: Tables, goal: RepairGoal, *, calibration: str, reference: Hashable | None) -> Repair:
    """Put each group on the reference's scale: the same odds, times its number, get the same score.

    Calibrating may take apart people of different groups who share a score. Where the result is no better than the
    scores as they are, these are left alone.
    """
    metric, adjust = goal.metric, goal.adjust
    before = measure(tables, metric)
    if len(tables) == 2:
        roles = roles_of_two(tables, metric, adjust)
        reference, pair = roles.reference, (roles.reference, roles.moved)
    else:
        if adjust != DISADVANTAGED:
            raise InputError(f"adjust is for two groups; name the one that stays with reference=. Got {adjust!r}.")
        reference = largest(tables) if reference is None else reference
        pair = max(before.gaps, key=lambda pair: abs(before.gaps[pair]))
    bounds = check_bounds(goal.bounds, tables) or usual_bounds(*(table.score for table in tables.values()))
    seen = {group: _rounded(table) for group, table in tables.items()}
    curves = {group: CALIBRATIONS[calibration](table, unit=bounds == (0.0, 1.0)) for group, table in seen.items()}
    found = solve_multipliers(
        list(seen.values()),
        list(curves.values()),
        metric=metric,
        reference=list(tables).index(reference),
        tradeoff=goal.tradeoff,
        max_gap=goal.max_gap if goal.tradeoff is None else None,
    )
    maps = {}
    for (group, table), shift in zip(tables.items(), found.shift, strict=True):
        if group != reference:
            raw = table.score[::-1]
            odds = curves[group].log_odds(raw) + shift
            maps[group] = map_through(raw, curves[reference].score(odds), bounds)
    after = measure(mapped(tables, maps), metric)
    repair = Repair(reference, maps, pair, before, after, found.bound, found.optimality_gap)
    if goal.is_better(after, before):
        return replace(repair, notes=goal.missed(after, "one multiplier for each group"))
    # The bound holds for ties as well: they are worth the mean of the orderings that break them.
    value = before.auc - (0.0 if goal.tradeoff is None else goal.tradeoff * before.worst)
    gap = max(found.bound - value, 0.0) if np.isfinite(found.bound) else np.nan
    return left_alone(replace(repair, optimality_gap=gap), tables, "the best repair found")


def _rounded(table: ScoreTable) -> ScoreTable:
    """Return the table without the last digits of its masses, in which the order of adding up fractions shows."""
    return ScoreTable(table.score, _to_digits(table.positive), _to_digits(table.negative))


def _to_digits(mass: FloatArray) -> FloatArray:
    fraction, exponent = np.frexp(mass)
    return np.asarray(np.ldexp(np.rint(np.ldexp(fraction, _DIGITS)), exponent - _DIGITS))


def trust_in_gaps(tables: Tables, reference: Hashable, metric: str) -> dict[Hashable, float]:
    r"""Share of the correction to keep, for each group but the reference.

    With :math:`z` the gap to the reference in standard errors it is :math:`\max(0, 1 - (c / z)^2)`, the positive part
    of the James-Stein rule: what noise alone would bring is taken off the square of the gap. A gap whose uncertainty
    the sample cannot tell is not trusted.
    """
    groups = list(tables)
    found = moments(list(tables.values()))
    place = groups.index(reference)
    trust = {}
    for other, group in enumerate(groups):
        if group != reference:
            value, stderr = METRICS[metric].estimate(found, place, other)
            known = np.isfinite(stderr) and abs(value) > 0
            trust[group] = max(0.0, 1.0 - (NOISE * stderr / value) ** 2) if known else 0.0
    return trust


def shrink(repair: Repair, tables: Tables, trust: dict[Hashable, float], goal: RepairGoal) -> Repair:
    """Keep of each correction its share; leave alone, and say so, where that is nothing.

    A partial correction can be worse than none, for example with few distinct scores; the scores are then left alone.
    Judged are the groups that move and the reference: the gap of a group too small to tell, which may be the widest of
    all, says nothing about the others' repair.
    """
    notes = list(repair.notes)
    left = [group for group, share in trust.items() if share == 0]
    if left:
        notes.append(
            f"scores of group {', '.join(map(repr, left))} are left as they are: the gap to group "
            f"{repair.reference!r} cannot be told from chance with these rows."
        )
    maps = {group: shrunk(learnt, trust[group]) for group, learnt in repair.maps.items()}
    moved = {group for group, learnt in maps.items() if learnt.raw.size}
    after = measure(mapped(tables, maps), goal.metric) if moved else repair.before
    # The bound was one on full corrections.
    kept = replace(repair, maps=maps, after=after, bound=np.nan, optimality_gap=np.nan, notes=notes)
    judged = moved | {repair.reference}
    if not moved or goal.is_better(after.among(judged), repair.before.among(judged)):
        return kept
    return left_alone(kept, tables, "the share of the repair that the evidence for the gap carries")


def shrunk(learnt: ScoreMap, share: float) -> ScoreMap:
    """Go only a share of the way from each raw score to its adjusted one."""
    if share >= 1 or not learnt.raw.size:
        return learnt
    if share <= 0:
        return ScoreMap.identity()
    adjusted = learnt.raw + share * (learnt.adjusted - learnt.raw)
    # Of knots so close that rounding has joined them, the first is kept.
    rises = np.append(True, adjusted[1:] > np.maximum.accumulate(adjusted)[:-1])
    return ScoreMap(learnt.raw[rises], adjusted[rises])
