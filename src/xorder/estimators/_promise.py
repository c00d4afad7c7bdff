"""What a repair lets one promise of all people, and the repair with the best AUC that keeps a promise asked for.

The promise is about the very map that is kept. A smooth map has one number per group, so its own rows, adjusted, have
the interval of any audit; the promise is made if that lies within the limit, by the rule that calls an audit "within".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

from xorder._metric import METRICS, gap_interval
from xorder.exceptions import InputError

if TYPE_CHECKING:
    from xorder._table import Tables
    from xorder.estimators._fitted import RepairSettings
    from xorder.estimators._learn import Repair

# Repairs that are tried, at most, and how close to its limit a bound should come, in half widths of the interval.
_TRIED, _CLOSE = 4, 0.15


@dataclass(frozen=True, slots=True)
class Promise:
    """What a repair lets one say of all people of whom its rows are a sample, with a confidence.

    Parameters
    ----------
    metric : str
        The gap.
    confidence : float
        The confidence.
    limit : float or None
        Largest gap asked for, between any two repaired groups.
    bound : float or None
        Largest gap that can be promised: the farther end of the interval of this very map.
    cut_limit : float or None
        Largest difference of sensitivities asked for at any cut, between the reference and each other repaired group.
    cut_bound : float or None
        The largest that can be promised; None where that was not asked for, or is not known.
    rows : float
        Rows that this rests on.
    needed : int or None
        Rows that what was asked for takes, where these do not carry it (80 % power).
    """

    metric: str
    confidence: float
    limit: float | None
    bound: float | None
    cut_limit: float | None
    cut_bound: float | None
    rows: float
    needed: int | None = None

    @property
    def made(self) -> bool:
        """Whether all that was asked for is promised."""
        asked = ((self.limit, self.bound), (self.cut_limit, self.cut_bound))
        return all(limit is None or (bound is not None and bound <= limit) for limit, bound in asked)

    def __str__(self) -> str:
        parts = [
            f"{what} is at most {limit if made else rounded_up(bound)}" if bound is not None else f"{what} is not known"
            for what, limit, bound in (
                (f"the {METRICS[self.metric].title} between any two repaired groups", self.limit, self.bound),
                ("the difference of sensitivities to the reference at any cut", self.cut_limit, self.cut_bound),
            )
            if limit is not None
            for made in [bound is not None and bound <= limit]
        ]
        lacks = "" if self.made else "The rows do not carry the promise asked for. "
        takes = (
            ""
            if self.needed is None
            else f" The promise takes about {float(f'{self.needed:.2g}'):,.0f} rows (80 % power)."
        )
        return (
            f"{lacks}With {100 * self.confidence:.4g} % confidence, among all people of whom these {self.rows:,.10g} "
            f"rows are a sample, {' and '.join(parts)}, while population, model and measurement stay the same.{takes}"
        )


def promised(
    tables: Tables,
    settings: RepairSettings,
    fit: Callable[[RepairSettings], Repair],
    adjusted: Callable[[Repair], Tables],
) -> Repair:
    """Return the repair with the best AUC whose bounds keep the limits, with its promise.

    Scores whose bounds do so as they are stay. A bound is about as far above the gap of the sample whatever that is, so
    the gap to aim at is found in a few steps. Where no aim is low enough, the repair is the one that would be fitted
    without a confidence, and the promise says what it can.
    """
    limits = (settings.max_gap or None, settings.max_cut_gap)
    free = replace(settings, confidence=None, do_no_harm=False)
    first = fit(replace(free, max_gap=settings.max_gap, max_cut_gap=None))
    alone = replace(first, maps={}, after=first.before, kept_share={}, notes=[])
    bounds = _bounds(tables, first.reference, settings)
    if _are_kept(limits, bounds):
        return replace(alone, promise=_promise(tables, settings, bounds))
    halves = [bound - size for bound, size in zip(bounds, (first.before.worst, first.before.worst_cut), strict=True)]
    aims = [None if limit is None else limit - half for limit, half in zip(limits, halves, strict=True)]
    best: tuple[Repair, tuple[float, float]] | None = None
    for _ in range(_TRIED):
        aims = [None if aim is None else min(max(aim, 0.0), 1.0) for aim in aims]
        try:
            repair = fit(replace(free, max_gap=aims[0] or 0.0, max_cut_gap=aims[1]))
        except InputError:
            # No map of so few knots is within these cuts.
            break
        bounds = _bounds(adjusted(repair), repair.reference, settings)
        slack = [math.inf if limit is None else limit - bound for limit, bound in zip(limits, bounds, strict=True)]
        if min(slack) >= 0 and (best is None or repair.after.auc > best[0].after.auc):
            best = repair, bounds
        spare = [left / half for left, half in zip(slack, halves, strict=True) if half > 0]
        if 0 <= min(spare, default=0.0) <= _CLOSE or -math.inf in slack or (min(slack) < 0 and not any(aims)):
            break
        # A little lower than would do, as steps of the sample's gap are not even.
        aims = [
            None if aim is None else aim + left - (_CLOSE * half / 4 if left < 0 else 0.0)
            for aim, left, half in zip(aims, slack, halves, strict=True)
        ]
    if best is not None:
        return replace(best[0], promise=_promise(tables, settings, best[1]))
    repair = fit(replace(settings, confidence=None, max_gap=0.0))
    after = adjusted(repair)
    found = _promise(tables, settings, _bounds(after, repair.reference, settings))
    found = replace(found, needed=_rows_needed(found, after))
    return replace(repair, promise=found, notes=[*repair.notes, str(found)])


def _are_kept(limits: tuple[float | None, float | None], bounds: tuple[float, float]) -> bool:
    return all(limit is None or bound <= limit for limit, bound in zip(limits, bounds, strict=True))


def _bounds(tables: Tables, reference: Hashable, settings: RepairSettings) -> tuple[float, float]:
    """Return the farthest ends of the intervals of all gaps, and of the bands of the cuts if these are asked for."""
    from xorder.metrics._audit import units_of
    from xorder.metrics._cuts import Cuts
    from xorder.metrics._placements import moments

    confidence, units = settings.confidence or 0.0, units_of(tables)
    m, metric = moments(list(tables.values()), units), METRICS[settings.metric]
    ends = [gap_interval(metric.estimate(m, a, b), confidence) for a, b in combinations(range(len(tables)), 2)]
    bands = []
    if settings.max_cut_gap is not None:
        if units is not None:
            raise InputError("clusters do not go with a promise at every cut, whose band cannot allow for them.")
        cuts = Cuts(tables, confidence)
        bands = [cuts.worst((reference, group), "sensitivity").interval for group in tables if group != reference]
    gap, cut = (
        max((abs(end) if math.isfinite(end) else math.inf for pair in every for end in pair), default=0.0)
        for every in (ends, bands)
    )
    return gap, cut


def _promise(tables: Tables, settings: RepairSettings, bounds: tuple[float, float]) -> Promise:
    from xorder.metrics._plan import rows_of

    gap, cut = (bound if math.isfinite(bound) else None for bound in bounds)
    return Promise(
        metric=settings.metric,
        confidence=float(settings.confidence or 0),
        limit=settings.max_gap or None,
        bound=gap,
        cut_limit=settings.max_cut_gap,
        cut_bound=None if settings.max_cut_gap is None else cut,
        rows=rows_of(tables),
    )


def _rows_needed(promise: Promise, tables: Tables) -> int | None:
    """Return how many rows it takes to promise what these rows do not carry, if that is known to be more."""
    from xorder.metrics._audit import measured
    from xorder.metrics._plan import plan

    needed = [0.0]
    limit, bound = promise.cut_limit, promise.cut_bound
    if limit and bound is not None and bound > limit:
        needed.append(promise.rows * (bound / limit) ** 2)
    if promise.limit is not None and not (promise.bound is not None and promise.bound <= promise.limit):
        audit, _ = measured(tables, promise.confidence)
        try:
            found = plan(audit, limit=promise.limit, repair=True, confidence=promise.confidence, metric=promise.metric)
            needed.append(found.rows)
        except InputError:
            return None
    return math.ceil(max(needed)) if max(needed) > promise.rows else None


def rounded_up(gap: float) -> str:
    """Two significant digits, never less than the gap itself; plain zero where it is zero."""
    if gap == 0:
        return "0"
    digits = 1 - math.floor(math.log10(gap))
    return f"{math.ceil(gap * 10.0**digits) / 10.0**digits:.{max(digits, 0)}f}"
