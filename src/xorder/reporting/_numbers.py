"""Everything the report says, as plain numbers: the page prints it, and ``--json`` is it."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from xorder._metric import METRICS, auc_estimate, check_metric, prf_of
from xorder._table import ScoreTable, Tables
from xorder.estimators._learn import mapped
from xorder.exceptions import InputError, XorderWarning
from xorder.metrics import Audit, audit_tables
from xorder.metrics._audit import upside_down
from xorder.metrics._gaps import json_label
from xorder.metrics._placements import Moments, moments
from xorder.reporting._chart_data import bin_edges, cross_roc, distribution
from xorder.reporting._data_quality import data_notes, too_few
from xorder.reporting._finding import find
from xorder.reporting._ranks import TOP, Standing, group_moves, standing, top_of_list
from xorder.reporting._repair_path import after_maps, drawn_frontier, outside_share, way_to_no_gap

if TYPE_CHECKING:
    from xorder.estimators import XOrder

# Groups that charts and tables of the page show; of more, the pair spoken of and the largest. The numbers have all.
MOST_SHOWN = 8


@dataclass(slots=True)
class Drawn:
    """What is only drawn: thinned curves, one entry a stop; ``shown`` are the numbers of the groups drawn."""

    shown: list[int]
    curve: list[list[float]] = field(default_factory=list)
    roc: list[list[list[list[float]]]] = field(default_factory=list)
    edges: list[float] = field(default_factory=list)
    distributions: list[list[dict[str, list[float]]]] = field(default_factory=list)


def report_numbers(
    tables: Tables,
    *,
    metric: str,
    confidence: float,
    repair: XOrder | None = None,
) -> tuple[dict[str, Any], Drawn]:
    """Work out all numbers of a report, and the curves to draw, from one table per group."""
    check_metric(metric)
    groups, before = list(tables), list(tables.values())
    audit = _audit(tables, confidence)
    few = {name: too_few(before, name) for name in METRICS}
    finding_of = partial(find, metric=metric, few=[g for g, is_few in zip(groups, few[metric], strict=True) if is_few])
    finding = finding_of(audit)
    drawn = Drawn(_shown(audit, finding["pair"]))
    place, edges = standing(before), bin_edges(before)
    drawn.edges = edges.tolist()
    pair = finding["pair"]

    stops: list[dict[str, Any]] = []

    def add_stop(kind: str, at: Sequence[ScoreTable], **more: Any) -> None:
        stops.append({"kind": kind, **_measured(moments(at), metric, pair), **more})
        drawn.roc.append([cross_roc(at[a], at[b]) for a, b in (pair, pair[::-1])] if pair else [])
        drawn.distributions.append([_distributions(at[g], edges) for g in drawn.shown])

    add_stop("as it is", before)
    way = way_to_no_gap(tables, metric)
    path: dict[str, Any] = {"stops": stops, "why_not": None, "moved": None, "reference": None, "left": []}
    after, notes = tables, []
    if isinstance(way, str):
        path["why_not"] = way
    else:
        for limit, learnt in way.repairs():
            after = mapped(tables, learnt.maps)
            add_stop("repair", list(after.values()), limit=limit, below_best=_plain(learnt.optimality_gap))
            notes = list(learnt.notes)
            path |= {
                "reference": groups.index(learnt.reference),
                "moved": [groups.index(g) for g in learnt.maps if g != learnt.reference],
            }
        path["left"] = [groups.index(group) for group in way.left]
        if len(way.tables) == 2 and pair and {groups[number] for number in pair} == set(way.tables):
            reference, moved = (before[number] for number in pair)
            drawn.curve = drawn_frontier(reference, moved, metric, [stop["gap"] for stop in stops])
    if repair is not None:
        after = after_maps(tables, repair)
        add_stop("map", list(after.values()))
    changed = repair is not None or not isinstance(way, str)
    numbers = {
        "metric": metric,
        "confidence": confidence,
        "groups": [json_label(group) for group in groups],
        "finding": finding,
        "audit": audit.to_dict(),
        "path": path,
        "after": _after(audit, after, repair, finding_of) if changed else None,
        "data": data_notes(tables, audit, place, few)
        | {"warnings": [*tables.notes, *upside_down(audit.auc, audit.auc_interval), *notes]},
    }
    return numbers | _ranks(before, place, list(after.values()) if changed else None), drawn


def _audit(tables: Tables, confidence: float) -> Audit:
    with warnings.catch_warnings():
        # The page names groups that are small or lack a class, and shows as not known what is not known.
        warnings.simplefilter("ignore", XorderWarning)
        return audit_tables(tables, confidence=confidence)


def _after(
    audit: Audit,
    after: Tables,
    repair: XOrder | None,
    finding_of: Callable[[Audit], dict[str, Any]],
) -> dict[str, Any]:
    """Audit the scores after the repair that the report is about; say whether it was learnt from these very people."""
    found = _audit(after, audit.confidence)
    learnt_here = repair is None or _learnt_from(audit, repair)
    outside = {} if repair is None else outside_share(after, repair)
    return {
        "kind": "repair" if repair is None else "map",
        "method": "smooth" if repair is None else repair.method,
        "learnt_here": learnt_here,
        "outside": [outside.get(group) for group in after],
        "audit": found.to_dict(),
        "finding": finding_of(found),
    }


def _learnt_from(audit: Audit, repair: XOrder) -> bool:
    """Whether a repair's training sample had the AUC and the gap of this one, to the last digits."""
    first, second = repair.pair_
    try:
        gap = audit.gap(repair.metric, (first, second)).value
    except InputError:
        return False
    same = (math.isclose(audit.auc, repair.auc_before_, abs_tol=1e-12), math.isclose(gap, repair.gap_before_))
    return all(same)


def _measured(m: Moments, metric: str, pair: list[int] | None) -> dict[str, Any]:
    """AUC, matrix and gaps at one stop; ``gap`` is that of the pair spoken of, ``worst`` the largest of any."""
    size = m.positives.size
    gaps = [METRICS[metric].estimate(m, a, b)[0] for a, b in combinations(range(size), 2)]
    known = [abs(gap) for gap in gaps if math.isfinite(gap)]
    return {
        "auc": _plain(auc_estimate(m)[0]),
        "gap": _plain(METRICS[metric].estimate(m, pair[0], pair[1])[0]) if pair else None,
        "worst": max(known) if known else None,
        "xauc": [[_plain(value) for value in row] for row in m.xauc],
        "prf": [_plain(value) for value in prf_of(m)],
    }


def _ranks(before: list[ScoreTable], place: Standing, after: list[ScoreTable] | None) -> dict[str, Any]:
    """Who stands in the top of the list, before and after, and who moves by how much."""
    top = [{"percent": 100 * share, "before": top_of_list(before, place, share), "after": None} for share in TOP]
    if after is None:
        return {"top": top, "moves": None}
    then = standing(after)
    for entry, share in zip(top, TOP, strict=True):
        entry["after"] = top_of_list(after, then, share)
    moves = [group_moves(table, then.percentile(g) - place.percentile(g)) for g, table in enumerate(before)]
    return {"top": top, "moves": moves}


def _distributions(table: ScoreTable, edges: Any) -> dict[str, list[float]]:
    return {
        name: distribution(table, mass, edges)
        for name, mass in (("positive", table.positive), ("negative", table.negative))
    }


def _shown(audit: Audit, pair: list[int] | None) -> list[int]:
    def size(number: int) -> tuple[bool, float]:
        group: Hashable = audit.groups[number]
        return number in (pair or ()), audit.positives[group] + audit.negatives[group]

    return sorted(sorted(range(len(audit.groups)), key=size, reverse=True)[:MOST_SHOWN])


def _plain(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
