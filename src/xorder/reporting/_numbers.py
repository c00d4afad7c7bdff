"""Everything the report says, as plain numbers: the page prints it, and ``--json`` is it."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from types import SimpleNamespace
from typing import Any

import numpy as np

from xorder._curves import bin_edges, cross_roc, histogram, quantiles, thin
from xorder._groups import unseen_error
from xorder._metric import METRICS, check_metric, shares
from xorder._present import known
from xorder._table import FloatArray, ScoreTable, Tables
from xorder.estimators import RepairSettings
from xorder.estimators._fitted import FittedRepair
from xorder.estimators._learn import learn_repair, mapped, measure
from xorder.exceptions import InputError
from xorder.metrics import Audit
from xorder.metrics._cuts import CUTS
from xorder.metrics._gaps import FEW, json_label, judge
from xorder.metrics._make_audit import measured, paired_changes, upside_down
from xorder.metrics._placements import moments
from xorder.ordering import best_auc, frontier
from xorder.transfer import OddsScale, ScoreMap, shifted_map, usual_bounds

# Groups that charts and tables of the page show; of more, the pair spoken of and the largest. The numbers have all.
MOST_SHOWN = 12

# Points of a drawn curve that come from either class, bars of a distribution, and decimals of what is only drawn.
_POINTS, _BINS, _DIGITS = 100, 24, 5

# Parts of the repair that the control of the page offers, besides none of it.
PARTS = (0.25, 0.5, 0.75, 1.0)

# More groups than this and a search takes minutes, for a repair that nobody could judge.
_MOST_GROUPS = 12

# Points of the curve that are drawn, and how far past the gaps of interest it is drawn.
_DRAWN = 200
_MARGIN = 0.15


# A change of rank worth counting, as a share of the list.
NOTICED = 0.01


@dataclass(slots=True)
class Drawn:
    """What is only drawn: thinned curves, one entry per stop; ``shown`` are the numbers of the groups drawn."""

    shown: list[int]
    edges: FloatArray
    curve: list[list[float]] = field(default_factory=list)
    roc: list[list[list[list[float]]]] = field(default_factory=list)
    found: list[list[list[list[float]]]] = field(default_factory=list)
    distributions: list[list[dict[str, list[float]]]] = field(default_factory=list)

    @property
    def keys(self) -> dict[int, str]:
        """What style and charts call the groups shown, by their number."""
        return {group: f"g{position}" for position, group in enumerate(self.shown)}

    def add(self, place: Standing, pair: list[int] | None) -> None:
        """Draw the curves of one stop."""
        tables = place.tables
        curves = [cross_roc(tables[a], tables[b], _POINTS) for a, b in (pair, pair[::-1])] if pair else []
        self.roc.append([_rounded(curve) for curve in curves])
        self.found.append([_rounded(thin(*place.found(g), _POINTS)) for g in self.shown])
        self.distributions.append([self._bars(tables[g]) for g in self.shown])

    def _bars(self, table: ScoreTable) -> dict[str, list[float]]:
        both = zip(("negative", "positive"), histogram(table, self.edges), strict=True)
        return {name: share[np.isfinite(share)].round(_DIGITS).tolist() for name, share in both}


def _rounded(curve: tuple[FloatArray, FloatArray]) -> list[list[float]]:
    """Return the points of a curve with the digits that can be seen, none of them twice in a row."""
    return [point for point, _ in groupby(np.column_stack(curve).round(_DIGITS).tolist())]


def report_numbers(
    tables: Tables,
    *,
    metric: str,
    confidence: float,
    repair: FittedRepair | None = None,
    tolerance: float | None = None,
) -> tuple[dict[str, Any], Drawn]:
    """Work out all numbers of a report, and the curves to draw, from one table per group."""
    check_metric(metric)
    groups, before = list(tables), list(tables.values())
    # The page names groups that are small or lack a class, and shows as not known what is not known.
    audit, _ = measured(tables, confidence)
    finding = find(audit, metric)
    pair = finding["pair"]
    position = standing(before)
    # Of few distinct scores each has a bar of its own.
    drawn = Drawn(_shown(audit, pair), bin_edges(before, min(_BINS, position.scores)))
    stops: list[dict[str, Any]] = []

    sheet: dict[str, Any] = {}

    def add_stop(kind: str, maps: dict[Hashable, ScoreMap], **more: Any) -> tuple[Standing, Audit]:
        at = mapped(tables, maps) if maps else tables
        place, after = position, audit
        if maps:
            place, (after, _) = standing(list(at.values())), measured(at, confidence)
        if len(tables) == 2 and kind == "repair":
            more["below_best"] = _below_best(tables, at, metric)
        sheet.update(_sheet(audit, None if kind == "as it is" else maps))
        stops.append(
            {"kind": kind, "verdict": None if tolerance is None else after.against(tolerance, metric=metric)}
            | _at_stop(audit, after, metric, pair)
            | _ranks(position, place)
            | {"sheet": _adjusted(sheet)}
            | more
        )
        drawn.add(place, pair)
        return place, after

    then, after = add_stop("as it is", {})
    finding["chances"] = stops[0]["chances"]
    # A repair can move the groups that have both classes.
    usable = tables.replacing({group: table for group, table in tables.items() if table.n1 > 0 and table.n0 > 0})
    why_not = _why_no_repair(usable)
    path: dict[str, Any] = {"stops": stops, "why_not": why_not, "moved": None, "reference": None, "left": []}
    outside = dict[Hashable, float]()
    if why_not is None:
        fitted = _fitted_to_close(tables, usable, metric)
        for part in PARTS:
            then, after = add_stop("repair", fitted.maps if part == 1 else part_way(tables, fitted, part), part=part)
        others = [groups.index(group) for group in fitted.moved]
        path |= {"reference": groups.index(fitted.reference), "moved": others, "careful": fitted.settings.is_careful}
        path["kept"] = [known(fitted.kept_share.get(group)) for group in groups]
        path["left"] = [number for number, group in enumerate(groups) if number not in (*others, path["reference"])]
        if len(usable) == 2 and pair and {groups[number] for number in pair} == set(usable):
            reference, moved = (before[number] for number in pair)
            drawn.curve = _drawn_frontier(reference, moved, metric, [stop["gap"] for stop in stops])
    if repair is not None:
        maps = {group: own for group in tables if (own := _map_of(repair, group, tables)).raw.size}
        outside = {group: _outside_share(tables[group], score_map) for group, score_map in maps.items()}
        then, after = add_stop("map", maps)
    changed = repair is not None or why_not is None
    numbers = {
        "metric": metric,
        "confidence": confidence,
        "groups": [json_label(group) for group in groups],
        "finding": finding,
        "audit": audit.to_dict(),
        "readings": {name: _readings(audit, name) for name in METRICS},
        "path": path,
        "tolerance": tolerance,
        "sheet": sheet,
        "after": _after(audit, finding, after, repair, outside) if changed else None,
        "data": _data(tables, audit, position)
        | {"warnings": [*tables.notes, *upside_down(audit.auc, audit.auc_interval)]},
    }
    return numbers | _top_and_moves(position, then if changed else None), drawn


def _fitted_to_close(tables: Tables, usable: Tables, metric: str) -> FittedRepair:
    """Fit the repair that closes the gap: with care, as it is by default, or in full where care would move nobody."""
    careful = learn_repair(tables, RepairSettings(metric=metric, small_groups="leave"))
    if careful.moved:
        return careful
    full = RepairSettings(metric=metric, do_no_harm=False, small_groups="repair")
    return learn_repair(replace(usable, held=None), full)


def part_way(tables: Tables, fitted: FittedRepair, part: float) -> dict[Hashable, ScoreMap]:
    """Return maps that go part of a smooth repair's way, on its scale of log odds."""
    falling = [tables[group].score for group in fitted.maps if group not in (*fitted.left, *fitted.merged)]
    bounds = usual_bounds(*falling)
    scale = OddsScale.of(falling, bounds)
    reach = bounds or (min(score[-1] for score in falling), max(score[0] for score in falling))
    maps = {}
    for group in fitted.moved:
        table = tables[group]
        change = scale.log_odds(fitted.maps[group].apply(table.score)) - scale.log_odds(table.score)
        maps[group] = shifted_map(table, scale, part * quantiles(change, table.mass, [0.5])[0], reach)
    return maps


# Tables of the audit that the report has, with what the repair makes of them; all can be had from the page.
SHEET = ("groups", "gaps", "cuts", "cut_gaps", "moves", "calibration", "net_benefit", "scores")


def _sheet(audit: Audit, maps: dict[Hashable, ScoreMap] | None) -> dict[str, Any]:
    """Make the tables of an audit, with adjusted scores where there are maps; one that is refused says why."""
    found: dict[str, Any] = {}
    every = None if maps is None else {group: maps.get(group, ScoreMap.identity()) for group in audit.groups}
    for name in SHEET if maps is None else ("cuts", "moves", "calibration", "net_benefit", "scores"):
        try:
            found[name] = audit.table(name, repair=None if every is None else SimpleNamespace(maps=every)).to_dict()
        except InputError as error:
            found[name] = {"table": name, "rows": [], "notes": [], "refused": str(error)}
    return found


def _adjusted(sheet: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Return what the tables of one stop say of adjusted scores, row by row; nothing where there are none."""
    calibration = [row for row in sheet["calibration"]["rows"] if row["scores"] == "adjusted"]
    rows = {name: [row for row in sheet[name]["rows"] if "change" in row] for name in ("cuts", "net_benefit")}
    keys = ("after", "change", "change_low", "change_high")
    others = {name: [{key: row[key] for key in keys} for row in each] for name, each in rows.items()}
    return {"calibration": calibration} | others


def _below_best(tables: Tables, after: Tables, metric: str) -> float | None:
    """How far the AUC of two groups may be below the best of any reordering at this gap."""
    found = measure(after, metric)
    return known(max(best_auc(list(tables.values()), metric, found.worst) - found.auc, 0.0))


def _why_no_repair(usable: Tables) -> str | None:
    """Say why there is no way to a smaller gap between some groups; None if there is one."""
    if len(usable) < 2:
        return "A repair needs two groups that each have people with and without the outcome; there are not two."
    if len(usable) > _MOST_GROUPS:
        return (
            f"There are {len(usable)} groups. The way to a smaller gap is worked out for {_MOST_GROUPS} at most; "
            "join groups, or look at two at a time."
        )
    return None


def _outside_share(table: ScoreTable, score_map: ScoreMap) -> float:
    """Share of a group's rows whose scores lie outside those that its map was fitted to."""
    outside = (table.score < score_map.raw[0]) | (table.score > score_map.raw[-1])
    return float(table.mass[outside].sum() / table.mass.sum())


def _drawn_frontier(reference: ScoreTable, moved: ScoreTable, metric: str, gaps: list[float]) -> list[list[float]]:
    """Return points (gap, AUC) of the trade-off curve around some gaps, few enough to draw."""
    curve = frontier(reference, moved, metric=metric)
    low, high = min(0.0, *gaps), max(0.0, *gaps)
    margin = max(_MARGIN * (high - low), 0.01)
    near = (curve.gap >= low - margin) & (curve.gap <= high + margin)
    return list(np.column_stack(thin(curve.gap[near], curve.auc[near], _DRAWN)).tolist())


def _map_of(repair: FittedRepair, group: Hashable, tables: Tables) -> ScoreMap:
    """Return the map of a group; labels match as they are written if need be."""
    if group in repair.maps:
        return repair.maps[group]
    alike = [known for known in repair.maps if str(known) == str(group)]
    if len(alike) == 1:
        return repair.maps[alike[0]]
    if repair.settings.unseen_group == "leave":
        return ScoreMap.identity()
    rows = None if tables.weighted else round(float(tables[group].mass.sum()))
    raise unseen_error(repr(group), repair.maps, rows)


def find(audit: Audit, metric: str) -> dict[str, Any]:
    """Return what was found, reduced to what the first paragraph needs: who, how much, how sure.

    ``pair`` has the favoured group first, so ``value`` is not negative; groups are given by their number. ``interval``
    and ``pvalue`` are those of the one pair, what begins with ``allowed`` allows for all pairs: it is what the verdict
    rests on.
    """
    verdict = judge(audit, metric)
    higher, lower = ([gap.pair[side] for gap in verdict.clear] for side in (0, 1))
    found: dict[str, Any] = {
        "metric": metric,
        "verdict": verdict.kind,
        "pairs": verdict.pairs,
        "clear_pairs": len(verdict.clear),
        "lower_in": [lower.count(group) for group in audit.groups],
        "higher_in": [higher.count(group) for group in audit.groups],
        "pair": None,
    }
    if verdict.gap is None:
        return found
    gap = audit.gap(metric, verdict.gap.pair)
    found |= gap.to_dict()
    return found | {
        "pair": [audit.groups.index(group) for group in gap.pair],
        "value": gap.value + 0.0,
        "allowed_confidence": verdict.confidence,
        "allowed_interval": [known(end) for end in verdict.interval],
        "allowed_pvalue": known(verdict.gap.pvalue_holm),
        "few": verdict.few,
    }


def _readings(audit: Audit, metric: str) -> list[str]:
    """Say of each gap of a metric, in the order of the audit, what the verdict makes of it."""
    readings = judge(audit, metric).readings
    return [readings[gap.pair] for gap in audit.gaps if gap.metric == metric]


def _after(
    audit: Audit, finding: dict[str, Any], found: Audit, repair: FittedRepair | None, outside: dict[Hashable, float]
) -> dict[str, Any]:
    """What was found after the repair that the report is about, and whether it was fitted to these very rows.

    ``gap`` is that of the pair spoken of before the repair.
    """
    metric, pair = finding["metric"], finding["pair"]
    return {
        "kind": "repair" if repair is None else "map",
        "method": "smooth" if repair is None else repair.settings.method,
        "learnt_here": repair is None or _fitted_to(audit, repair),
        "outside": [outside.get(group) for group in audit.groups],
        "audit": found.to_dict(),
        "gap": found.gap(metric, (found.groups[pair[0]], found.groups[pair[1]])).to_dict() if pair else None,
        "finding": find(found, metric),
    }


def _fitted_to(audit: Audit, repair: FittedRepair) -> bool:
    """Whether a repair's training sample had the AUC and the gap of this one, to the last digits."""
    first, second = repair.pair
    try:
        gap = audit.gap(repair.settings.metric, (first, second)).value
    except InputError:
        return False
    return math.isclose(audit.auc, repair.auc_before, abs_tol=1e-12) and math.isclose(gap, repair.gap_before)


def _at_stop(before: Audit, after: Audit, metric: str, pair: list[int] | None) -> dict[str, Any]:
    """AUC, matrix and gaps at one stop, with intervals, and paired ones of what has changed.

    ``gap`` is that of the pair spoken of, ``chances`` its two sides, ``cuts`` the differences of its sensitivities, and
    ``worst`` the largest gap of any pair.
    """
    gaps = [gap.value for gap in after.gaps if gap.metric == metric and math.isfinite(gap.value)]
    found: dict[str, Any] = {
        "auc": known(after.auc),
        "auc_interval": [known(end) for end in after.auc_interval],
        "auc_change": _change(before, after, metric, None),
        "gap": None,
        "gap_interval": [None, None],
        "gap_change": None,
        "chances": None,
        "cuts": [],
        "worst": max(map(abs, gaps), default=None),
        "xauc": [[known(value) for value in row] for row in after.xauc.values.tolist()],
        "prf": [known(value) for value in after.prf.values()],
    }
    if pair is None:
        return found
    groups = after.groups[pair[0]], after.groups[pair[1]]
    gap = after.gap(metric, groups)
    cuts = [(share, after.cut_gap(share, groups)) for share in CUTS]
    return found | {
        "gap": known(gap.value),
        "gap_interval": [known(end) for end in gap.interval],
        "gap_change": _change(before, after, metric, groups),
        "chances": _sides(after, metric, pair),
        "cuts": [
            {"percent": 100 * share, "value": known(cut.value), "interval": [known(end) for end in cut.interval]}
            for share, cut in cuts
        ],
    }


def _change(before: Audit, after: Audit, metric: str, pair: tuple[Hashable, Hashable] | None) -> dict[str, Any] | None:
    """After minus before of the AUC, or of the gap of a pair, with a paired interval; None where nothing changes."""
    if after is before:
        return None
    found = paired_changes(before, after, metric, "after")
    each = next(each for each in found if {*(each.pair or ())} == {*(pair or ())})
    # The pair may be the reverse of the audit's.
    sign = 1 if each.pair == pair else -1
    return {"value": known(sign * each.value), "interval": [known(sign * end) for end in each.interval[::sign]]}


def _sides(audit: Audit, metric: str, pair: list[int]) -> list[float | None]:
    """Two numbers whose difference is the gap of a pair: the first group's and the second's."""
    m = moments(list((audit._tables or {}).values()))
    record, of_negatives = METRICS[metric], shares(m.negatives)
    # A group without negatives has no part in what is averaged over them.
    chance = np.where(of_negatives == 0, 0.0, m.xauc) if record.by_label else m.above
    sides = record.side(chance, of_negatives)
    return [known(sides[a, b]) for a, b in (pair, pair[::-1])]


def _data(tables: Tables, audit: Audit, position: Standing) -> dict[str, Any]:
    """Count people, distinct scores and ties, and say which groups are too few or lack a class."""
    sizes = zip(tables.items(), audit.positives.values(), audit.negatives.values(), strict=True)
    groups = [
        {
            "people": n1 + n0,
            "share": (n1 + n0) / position.total,
            "positives": n1,
            "negatives": n0,
            "rate": n1 / (n1 + n0),
            "scores": len(table),
            "lowest": float(table.score[-1]),
            "highest": float(table.score[0]),
            "too_few": group in audit.too_few,
            "missing": [name for name, mass in (("positives", n1), ("negatives", n0)) if not mass > 0],
        }
        for (group, table), n1, n0 in sizes
    ]
    tied = zip(tables.values(), position.tied, strict=True)
    across = sum(float(table.mass[mass > table.mass * (1 + 1e-9)].sum()) for table, mass in tied)
    ties = {
        "scores": position.scores,
        "across": across / position.total,
        "commonest": max(float(mass.max()) for mass in position.tied) / position.total,
    }
    return {"people": position.total, "few": FEW, "groups": groups, "ties": ties}


def _ranks(now: Standing, then: Standing) -> dict[str, Any]:
    """Who stands in the top of the list at a stop, and who has moved by how much to be there."""
    moves = [group_moves(table, then.percentile(g) - now.percentile(g)) for g, table in enumerate(now.tables)]
    return {"top": [then.top(share) for share in CUTS], "moves": moves}


def _top_and_moves(now: Standing, then: Standing | None) -> dict[str, Any]:
    """Who stands in the top of the list, before and after, and who moves by how much."""
    top = [{"percent": 100 * share, "before": now.top(share), "after": then and then.top(share)} for share in CUTS]
    return {"top": top, "moves": then and _ranks(now, then)["moves"]}


def _shown(audit: Audit, pair: list[int] | None) -> list[int]:
    def size(number: int) -> tuple[bool, float]:
        group: Hashable = audit.groups[number]
        return number in (pair or ()), audit.positives[group] + audit.negatives[group]

    return sorted(sorted(range(len(audit.groups)), key=size, reverse=True)[:MOST_SHOWN])


@dataclass(frozen=True, slots=True, eq=False)
class Standing:
    """For each score of each table, the mass of people of any group ``above`` it and ``tied`` at it.

    ``total`` is the mass of all, ``scores`` the number of distinct scores.

    >>> a = ScoreTable.from_arrays([1, 0], [0.9, 0.4])
    >>> b = ScoreTable.from_arrays([1, 0], [0.4, 0.1])
    >>> place = standing([a, b])
    >>> place.above, place.tied
    ([array([0., 1.]), array([1., 3.])], [array([1., 2.]), array([2., 1.])])
    """

    tables: Sequence[ScoreTable]
    above: list[FloatArray]
    tied: list[FloatArray]
    total: float
    scores: int

    def percentile(self, group: int) -> FloatArray:
        """Share of all people below each score of a group, ties counting one half."""
        return np.asarray(1.0 - (self.above[group] + 0.5 * self.tied[group]) / self.total)

    def found(self, group: int) -> tuple[FloatArray, FloatArray]:
        """Shares of the list taken, from the top, and of the group's positives that are among them.

        Of people of equal score the same part of each is taken. Empty where the group has no positives.
        """
        table = self.tables[group]
        if not table.n1 > 0:
            return np.empty(0), np.empty(0)
        taken = np.column_stack([self.above[group], self.above[group] + self.tied[group]]).ravel() / self.total
        share = np.append(0.0, np.cumsum(table.positive)) / table.n1
        reached = np.column_stack([share[:-1], share[1:]]).ravel()
        return np.concatenate([[0.0], taken, [1.0]]), np.concatenate([[0.0], reached, [1.0]])

    def top(self, share: float) -> list[dict[str, Any]]:
        """Say of each group how much of the top of the list it is, and what its people there are.

        ``share`` is the group's part of the top, ``precision`` the part of those people who are positive, ``selected``
        the part of the group that made it there and ``found`` the part of its positives; None where there is nothing
        to divide.
        """
        rows = []
        for table, above, tied in zip(self.tables, self.above, self.tied, strict=True):
            # People of equal score at the cut are taken in part, all of them alike: nobody is preferred by chance.
            part = np.clip((share * self.total - above) / tied, 0.0, 1.0)
            positive, negative = float(part @ table.positive), float(part @ table.negative)
            rows.append(
                {
                    "share": _ratio(positive + negative, share * self.total),
                    "precision": _ratio(positive, positive + negative),
                    "selected": _ratio(positive + negative, table.n1 + table.n0),
                    "found": _ratio(positive, table.n1),
                }
            )
        return rows


def standing(tables: Sequence[ScoreTable]) -> Standing:
    """Find where the scores of each group stand among those of all."""
    scores, place = np.unique(-np.concatenate([table.score for table in tables]), return_inverse=True)
    tied = np.bincount(place, np.concatenate([table.mass for table in tables]))
    above = np.append(0.0, np.cumsum(tied))
    ends = np.cumsum([len(table) for table in tables])[:-1]
    above_by_group, tied_by_group = (np.split(mass[place], ends) for mass in (above, tied))
    return Standing(tables, above_by_group, tied_by_group, float(above[-1]), scores.size)


def moves_of(mass: FloatArray, change: FloatArray) -> dict[str, float | None]:
    """Describe changes of rank, as shares of the list, rising being positive: mean, spread, and who notices.

    All of it is None where there is nobody.
    """
    total = float(mass.sum())
    middle = map(known, quantiles(change, mass, (0.1, 0.5, 0.9)))
    # A change that rounding has left just below a whole step counts as one.
    step = NOTICED - 1e-9
    return {
        "mean": _ratio(float(mass @ change), total),
        **dict(zip(("low", "median", "high"), middle, strict=True)),
        "up": _ratio(float(mass[change >= step].sum()), total),
        "down": _ratio(float(mass[change <= -step].sum()), total),
    }


def group_moves(table: ScoreTable, change: FloatArray) -> dict[str, dict[str, float | None]]:
    """Describe the changes of rank of a group's people: all of them, the positives, the negatives."""
    masses = {"all": table.mass, "positive": table.positive, "negative": table.negative}
    return {who: moves_of(mass, change) for who, mass in masses.items()}


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole > 0 else None
