"""What a repair lets one promise of all people, and the repair with the best AUC that keeps a promise asked for.

The promise is about the very map that is kept. A smooth map has one number per group, so its own rows, adjusted, have
the interval of any audit; the promise is made if that lies within the limit, by the rule that calls an audit "within".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

from xorder._metric import METRICS, gap_interval
from xorder.exceptions import InputError

if TYPE_CHECKING:
    from xorder._table import Tables
    from xorder.estimators._fitted import RepairSettings
    from xorder.estimators._learn import AucAndGaps, Repair

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
        gap = f"the {METRICS[self.metric].title} between any two repaired groups"
        cut = "the difference of sensitivities to the reference at any cut"
        asked = ((gap, self.limit, self.bound), (cut, self.cut_limit, self.cut_bound))
        parts = [f"{what} is {_at_most(limit, bound)}" for what, limit, bound in asked if limit is not None]
        lacks = "" if self.made else "The rows do not carry the promise asked for. "
        takes = f" The promise takes about {float(f'{self.needed:.2g}'):,.0f} rows (80 % power)." if self.needed else ""
        return (
            f"{lacks}With {100 * self.confidence:.4g} % confidence, among all people of whom these {self.rows:,.10g} "
            f"rows are a sample, {' and '.join(parts)}, while population, model and measurement stay the same.{takes}"
        )


def _at_most(limit: float, bound: float | None) -> str:
    return "not known" if bound is None else f"at most {f'{limit:g}' if bound <= limit else rounded_up(bound)}"


def promised(
    tables: Tables,
    settings: RepairSettings,
    reference: Hashable,
    before: AucAndGaps,
    fit: Callable[[RepairSettings], Repair],
    adjusted: Callable[[Repair], Tables],
) -> Repair:
    """Return the repair with the best AUC whose bounds keep the limits, with its promise.

    Scores whose bounds do so as they are stay. A bound is about as far above the gap of the sample whatever that is, so
    the gap to aim at is found in a few steps. Where no aim is low enough, the repair is the one that would be fitted
    without a confidence, and the promise says what it can.
    """
    limits = {name: limit for name in ("max_gap", "max_cut_gap") if (limit := getattr(settings, name))}
    free = replace(settings, confidence=None, do_no_harm=False, max_gap=0.0, max_cut_gap=None)
    bounds = _bounds(tables, reference, settings)
    if all(bounds[name] <= limit for name, limit in limits.items()):
        repair = replace(fit(free), maps={}, after=before, kept_share={}, notes=[])
        return replace(repair, promise=_promise(tables, settings, bounds))
    halves = {"max_gap": bounds["max_gap"] - before.worst, "max_cut_gap": bounds["max_cut_gap"] - before.worst_cut}
    aims = {name: limit - halves[name] for name, limit in limits.items()}
    best: tuple[Repair, dict[str, float]] | None = None
    for _ in range(_TRIED):
        aims = {name: min(max(aim, 0.0), 1.0) for name, aim in aims.items()}
        try:
            repair = fit(replace(free, **aims))
        except InputError:
            # No map of so few knots is within these cuts.
            break
        bounds = _bounds(adjusted(repair), reference, settings)
        # What is left of each limit, in half widths.
        spare = {name: (limit - bounds[name]) / halves[name] for name, limit in limits.items()}
        least = min(spare.values())
        if least >= 0 and (best is None or repair.after.auc > best[0].after.auc):
            best = repair, bounds
        if 0 <= least <= _CLOSE or not math.isfinite(least) or (least < 0 and not any(aims.values())):
            break
        # A little lower than would do, as steps of the sample's gap are not even.
        more = {name: left if left >= 0 else left - _CLOSE / 4 for name, left in spare.items()}
        aims = {name: aim + more[name] * halves[name] for name, aim in aims.items()}
    if best is not None:
        return replace(best[0], promise=_promise(tables, settings, best[1]))
    repair = fit(replace(settings, confidence=None, max_gap=0.0))
    after = adjusted(repair)
    found = _promise(tables, settings, _bounds(after, reference, settings))
    found = replace(found, needed=_rows_needed(found, after))
    return replace(repair, promise=found, notes=[*repair.notes, str(found)])


def _bounds(tables: Tables, reference: Hashable, settings: RepairSettings) -> dict[str, float]:
    """Return the farthest ends of the intervals of all gaps, and of the bands of the cuts if these are asked for."""
    from xorder.metrics._cuts import Cuts
    from xorder.metrics._units import moments_of

    confidence = settings.confidence or 0.0
    m, metric = moments_of(tables), METRICS[settings.metric]
    ends = [gap_interval(metric.estimate(m, a, b), confidence) for a, b in combinations(range(len(tables)), 2)]
    bands = []
    if settings.max_cut_gap is not None:
        if m.units is not None:
            raise InputError("clusters do not go with a promise at every cut, whose band cannot allow for them.")
        cuts = Cuts(tables, confidence)
        bands = [cuts.worst((reference, group), "sensitivity").interval for group in tables if group != reference]
    sizes = [
        [abs(end) if math.isfinite(end) else math.inf for pair in every for end in pair] for every in (ends, bands)
    ]
    return {"max_gap": max(sizes[0]), "max_cut_gap": max(sizes[1], default=math.inf)}


def _promise(tables: Tables, settings: RepairSettings, bounds: dict[str, float]) -> Promise:
    from xorder.metrics._plan import rows_of

    gap, cut = (bound if math.isfinite(bound) else None for bound in bounds.values())
    limit, confidence = settings.max_gap or None, float(settings.confidence or 0)
    return Promise(settings.metric, confidence, limit, gap, settings.max_cut_gap, cut, rows_of(tables))


def _rows_needed(promise: Promise, tables: Tables) -> int | None:
    """Return how many rows it takes to promise what these rows do not carry, if that is known to be more."""
    from xorder.metrics._make_audit import measured
    from xorder.metrics._plan import plan

    needed = 0.0
    if promise.cut_limit and promise.cut_bound is not None and promise.cut_bound > promise.cut_limit:
        needed = promise.rows * (promise.cut_bound / promise.cut_limit) ** 2
    if promise.limit is not None and not (promise.bound is not None and promise.bound <= promise.limit):
        asked: Any = {"limit": promise.limit, "confidence": promise.confidence, "metric": promise.metric}
        try:
            needed = max(needed, plan(measured(tables, promise.confidence)[0], repair=True, **asked).rows)
        except InputError:
            return None
    return math.ceil(needed) if needed > promise.rows else None


def rounded_up(gap: float) -> str:
    """Two significant digits, never less than the gap itself; plain zero where it is zero."""
    if gap == 0:
        return "0"
    digits = 1 - math.floor(math.log10(gap))
    return f"{math.ceil(gap * 10.0**digits) / 10.0**digits:.{max(digits, 0)}f}"
