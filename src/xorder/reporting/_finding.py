"""What was found, reduced to what the first paragraph needs: who, how much, how sure."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable
from typing import Any

from xorder.metrics import Audit, Gap
from xorder.metrics._gaps import interval

# Below this a gap may be beyond doubt and still be small.
SMALL = 0.02

VERDICTS = ("clear", "small", "chance", "unsure", "none", "unknown")
"""A gap that is there; one that is there and small; one that may be chance; one whose uncertainty the sample cannot
tell; none at all, to the last digit, among people whose ranks do not vary; and none that can be computed."""


def find(audit: Audit, metric: str, few: Collection[Hashable] = ()) -> dict[str, Any]:
    """Pick the gap to speak of: the widest that is not chance or, if all may be, the widest.

    Of groups with ``few`` people no gap is taken for real, however small its p-value, and others are spoken of first.

    As many pairs are looked at as there are, and the widest of many is wide by chance more often than one, p-values
    are multiplied by their number (Bonferroni's rule). ``pair`` has the favoured group first, so ``value`` is not
    negative; groups are given by their number. ``interval`` and ``pvalue`` are those of the one pair, what begins with
    ``allowed`` allows for all: it is what the verdict rests on.
    """
    gaps = [gap for gap in audit.gaps if gap.metric == metric]
    known = [gap for gap in gaps if math.isfinite(gap.value)]
    enough = [gap for gap in known if not {*gap.pair} & {*few}]
    clear = [gap for gap in enough if is_clear(gap, len(gaps), audit.confidence)]
    losing = dict.fromkeys(audit.groups, 0)
    for gap in clear:
        losing[gap.pair[gap.value >= 0]] += 1
    found: dict[str, Any] = {
        "metric": metric,
        "verdict": "unknown",
        "pairs": len(gaps),
        "clear_pairs": len(clear),
        "losing": [losing[group] for group in audit.groups],
        "pair": None,
    }
    if not known:
        return found
    gap = max(clear or enough or known, key=lambda gap: abs(gap.value))
    gap = gap if gap.value >= 0 else gap.reversed()
    favoured, lower = gap.pair
    return found | {
        "verdict": _verdict(gap, clear=bool(clear), enough=bool(enough)),
        "pair": [audit.groups.index(favoured), audit.groups.index(lower)],
        "value": gap.value + 0.0,
        "stderr": _plain(gap.stderr),
        "interval": [_plain(end) for end in gap.interval],
        "pvalue": _plain(gap.pvalue),
        **_allowing_for(gap, len(gaps), audit.confidence),
        "few": not enough,
        "chances": [_plain(chance) for chance in _chances(audit, metric, favoured, lower, gap.value)],
        "people": audit.positives[lower] if metric != "parity" else audit.positives[lower] + audit.negatives[lower],
    }


def is_clear(gap: Gap, pairs: int, confidence: float) -> bool:
    """Whether a gap cannot be put down to chance, with so many pairs looked at."""
    return math.isfinite(gap.pvalue) and gap.pvalue * pairs <= 1 - confidence


def _allowing_for(gap: Gap, pairs: int, confidence: float) -> dict[str, Any]:
    """Interval and p-value of a gap with so many pairs looked at; of a single pair, its own."""
    allowed = confidence if pairs == 1 else 1 - (1 - confidence) / pairs
    ends = gap.interval if pairs == 1 else interval((gap.value, gap.stderr), allowed)
    return {
        "allowed_confidence": allowed,
        "allowed_interval": [_plain(end) for end in ends],
        "allowed_pvalue": _plain(min(1.0, gap.pvalue * pairs) if math.isfinite(gap.pvalue) else gap.pvalue),
    }


def _verdict(gap: Gap, *, clear: bool, enough: bool) -> str:
    if clear:
        return "clear" if abs(gap.value) >= SMALL else "small"
    if gap.value == 0 and not math.isfinite(gap.stderr):
        return "none"
    return "chance" if enough and math.isfinite(gap.stderr) else "unsure"


def _chances(audit: Audit, metric: str, favoured: Hashable, lower: Hashable, gap: float) -> tuple[float, float]:
    """Two chances whose difference is the gap, of the favoured group and of the other."""
    if metric == "xauc":
        return audit.xauc[favoured, lower], audit.xauc[lower, favoured]
    if metric == "prf":
        return audit.prf[favoured], audit.prf[lower]
    return (1 + gap) / 2, (1 - gap) / 2


def _plain(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
