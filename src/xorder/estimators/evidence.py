"""Do no harm: how much of a correction the evidence for the gap carries."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

import numpy as np

from xorder._validation import Tables
from xorder.estimators.repair import Repair, mapped, measure
from xorder.metrics.gaps import GAPS
from xorder.metrics.moments import moments
from xorder.transfer import ScoreMap

# A gap of this many standard errors is not corrected at all; of one of twice as many, three quarters are. Chosen
# between what groups who differ by chance alone lose and what is left of a true gap (docs/generalisation.md).
NOISE = 1.25


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
            value, stderr = GAPS[metric](found, place, other)
            known = np.isfinite(stderr) and abs(value) > 0
            trust[group] = max(0.0, 1.0 - (NOISE * stderr / value) ** 2) if known else 0.0
    return trust


def shrink(repair: Repair, tables: Tables, trust: dict[Hashable, float], metric: str) -> Repair:
    """Keep of each correction its share; leave alone, and say so, where that is nothing."""
    notes = list(repair.notes)
    left = [group for group, share in trust.items() if share == 0]
    if left:
        notes.append(
            f"scores of group {', '.join(map(repr, left))} are left as they are: the gap to group "
            f"{repair.reference!r} cannot be told from chance with these rows."
        )
    maps = {group: shrunk(learnt, trust[group]) for group, learnt in repair.maps.items()}
    # The bound was one on full corrections.
    after = measure(mapped(tables, maps), metric)
    return replace(repair, maps=maps, after=after, bound=np.nan, gap=np.nan, notes=notes)


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
