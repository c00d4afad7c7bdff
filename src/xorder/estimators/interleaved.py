"""Repair two groups by interleaving them: the paper's way, with any of the solvers."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from xorder._adjuster import roles_of_two
from xorder._table import ScoreTable
from xorder._validation import Tables
from xorder.estimators.repair import Measured, Repair, Wanted, check_bounds, left_alone
from xorder.ordering import Ordering, as_scored, order, order_within
from xorder.transfer import ScoreMap, middle_ranks, realises, spaced_map

TRANSFERS = ("interpolate", "rank")


def interleave(tables: Tables, wanted: Wanted, *, solver: str, transfer: str) -> Repair:
    """Interleave two groups, and spread the moved one's scores in the gaps of the reference's."""
    metric, tradeoff, max_disparity = wanted.metric, wanted.tradeoff, wanted.max_disparity
    roles = roles_of_two(tables, metric, wanted.adjust)
    reference, moved = tables[roles.reference], tables[roles.moved]
    if tradeoff is not None:
        found = order(reference, moved, metric=metric, tradeoff=tradeoff, solver=solver)
    else:
        found = order_within(reference, moved, metric=metric, max_disparity=max_disparity, solver=solver)
    learnt = spaced_map(reference.score, moved.score, found.b_above, check_bounds(wanted.bounds, tables))
    adjusted = learnt.adjusted[np.searchsorted(learnt.raw, moved.score[-1]) :][: len(moved)][::-1]
    auc, disparity, notes = found.auc, found.disparity, []
    if not realises(reference.score, adjusted, found.b_above):
        table = ScoreTable(adjusted, moved.positive, moved.negative)
        auc, disparity = as_scored(reference, table, metric)
        if max(abs(found.auc - auc), abs(found.disparity - disparity)) > 1e-6:
            notes.append(_lost_room(roles.reference, found, auc, disparity))
    if transfer == "rank":
        learnt = ScoreMap(middle_ranks(moved.score[::-1], moved.mass[::-1]), adjusted[::-1])

    pair = (roles.reference, roles.moved)
    before, after = Measured(roles.auc, {pair: roles.gap}), Measured(auc, {pair: disparity})
    # Where people of both groups share scores, these may be better as they are than in any ordering.
    is_worse = solver == "frontier" and wanted.is_better(before, after)
    kept = before if is_worse else after
    repair = Repair(
        reference=roles.reference,
        maps={roles.moved: learnt},
        pair=pair,
        before=before,
        after=after,
        bound=found.bound,
        gap=max(found.bound - (kept.auc - found.tradeoff * kept.worst), 0.0),
        ordering=found,
        notes=notes if is_worse else notes + wanted.missed(after, f"solver {solver!r}"),
    )
    return left_alone(repair, tables, "the best ordering found") if is_worse else repair


def _lost_room(reference: Hashable, wanted: Ordering, auc: float, disparity: float) -> str:
    """Scores may be unable to carry the ordering, e.g. no number fits above a reference score of 1."""
    return (
        f"the scores of group {reference!r} leave no room for the ordering that was found (scores "
        f"of exactly 0 or 1, or closer together than numbers can be): AUC is {auc:.4f} instead of {wanted.auc:.4f}, "
        f"the gap {disparity:+.4f} instead of {wanted.disparity:+.4f}."
    )
