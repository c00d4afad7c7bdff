"""Do no harm: how much of a correction the evidence for the gap carries."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from xorder._table import ScoreTable
from xorder._validation import Tables, check_tables, check_weights
from xorder.estimators.repair import Repair, Wanted, left_alone, mapped, measure
from xorder.metrics.gaps import GAPS
from xorder.metrics.moments import moments
from xorder.transfer import ScoreMap

# A gap of this many standard errors is not corrected at all; of one of twice as many, three quarters are. Chosen
# between what groups who differ by chance alone lose and what is left of a true gap (docs/generalisation.md).
NOISE = 1.25


def tables_with_squares(
    y_true: Any, y_score: Any, sensitive_features: Any, sample_weight: Any, *, wanted: bool
) -> tuple[Tables, Tables | None]:
    """Check rows and turn them into tables; where weights are no counts, and it is wanted, of squared weights too."""
    tables = check_tables(y_true, y_score, sensitive_features, sample_weight)
    weight = check_weights(sample_weight) if wanted and sample_weight is not None else None
    if weight is None or np.array_equal(weight, np.floor(weight)):
        return tables, None
    if weight.max() < 1e-100:
        # Their scale means nothing, but squares must stay in range.
        weight = np.ldexp(weight, -np.frexp(weight.max())[1])
        tables = check_tables(y_true, y_score, sensitive_features, weight)
    # No row may vanish in them.
    square = np.where(weight > 0, np.maximum(weight**2, np.finfo(np.float64).tiny), 0.0)
    return tables, check_tables(y_true, y_score, sensitive_features, square)


def trust_in_gaps(
    tables: Tables, reference: Hashable, metric: str, squares: Sequence[ScoreTable] | None = None
) -> dict[Hashable, float]:
    r"""Share of the correction to keep, for each group but the reference.

    With :math:`z` the gap to the reference in standard errors it is :math:`\max(0, 1 - (c / z)^2)`, the positive part
    of the James-Stein rule: what noise alone would bring is taken off the square of the gap. A gap whose uncertainty
    the sample cannot tell is not trusted. ``squares`` are tables of squared weights, where weights are no counts: the
    scale of such weights tells nothing.
    """
    groups = list(tables)
    found = moments(list(tables.values()), squares)
    place = groups.index(reference)
    trust = {}
    for other, group in enumerate(groups):
        if group != reference:
            value, stderr = GAPS[metric](found, place, other)
            known = np.isfinite(stderr) and abs(value) > 0
            trust[group] = max(0.0, 1.0 - (NOISE * stderr / value) ** 2) if known else 0.0
    return trust


def shrink(repair: Repair, tables: Tables, trust: dict[Hashable, float], wanted: Wanted) -> Repair:
    """Keep of each correction its share; leave alone, and say so, where that is nothing.

    Part of the way can be worse than none, as from one of a few levels to between two others. Then none of it is gone.
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
    after = measure(mapped(tables, maps), wanted.metric) if moved else repair.before
    # The bound was one on full corrections.
    kept = replace(repair, maps=maps, after=after, bound=np.nan, gap=np.nan, notes=notes)
    judged = moved | {repair.reference}
    if not moved or wanted.is_better(after.among(judged), repair.before.among(judged)):
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
