"""What to expect on new people, in words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xorder.estimators.expected import ExpectedDisparity
    from xorder.metrics import Audit, Gap

# Pairs of groups to list at most, the widest first.
_MOST_PAIRS = 10


def expected_text(expected: ExpectedDisparity) -> str:
    """Lay out AUC and gaps before and after, with the interval after, and say how large a gap remains."""
    before, after = expected.before, expected.after
    percent = f"{100 * after.confidence:.4g} %"
    pairs = sorted(
        (gap for gap in after.gaps if gap.metric == expected.metric), key=lambda gap: -abs(_or_zero(gap.value))
    )
    rows = [("AUC", "", before.auc, after.auc, after.auc_interval, "")]
    for gap in pairs[:_MOST_PAIRS]:
        was = before.gap(expected.metric, gap.pair)
        rows.append((f"{gap.metric} gap", f"{gap.pair[0]} - {gap.pair[1]}", was.value, gap.value, gap.interval, "+"))
    first, second = max(len(row[0]) for row in rows), max(len(row[1]) for row in rows)
    lines = [
        f"On new people ({expected.folds} folds, each adjusted by what was learnt from the others):",
        "",
        f"{'':<{first}}  {'':<{second}}  {'before':>8}  {'after':>8}  {percent} interval after",
    ]
    for name, pair, old, new, (low, high), sign in rows:
        ends = f"[{low:{sign}.4f}, {high:{sign}.4f}]" if math.isfinite(low) else "not known"
        lines.append(f"{name:<{first}}  {pair:<{second}}  {old:>{sign}8.4f}  {new:>{sign}8.4f}  {ends}")
    if len(pairs) > _MOST_PAIRS:
        lines.append(f"... and {len(pairs) - _MOST_PAIRS} pairs of groups with narrower gaps")
    if math.isfinite(expected.likely_gap):
        lines += ["", f"Among all such people a gap of about {expected.likely_gap:.2g} is to be expected."]
    return "\n".join([*lines, expected.caution] if expected.caution else lines)


def caution_text(gap: Gap, audit: Audit, visible: float, target: float) -> str:
    """Say which class of which group is too small for the target, and what gap the rows could show."""
    cells = [
        (masses[group], word, group)
        for group in gap.pair
        for word, masses in (("positives", audit.positives), ("negatives", audit.negatives))
    ]
    count, word, group = min(cells, key=lambda cell: cell[0])
    return (
        f"With {count:,.10g} {word} in group {group!r} a gap in {gap.metric} below {visible:.2g} cannot be told from "
        f"0. Whether it is below {target:g} cannot be known from these rows; it takes about "
        f"{_rounded((visible / target) ** 2)} times as many."
    )


def _rounded(number: float) -> str:
    """Two digits of a number, written out."""
    return f"{number:.2g}" if number < 10 else f"{float(f'{number:.2g}'):,.0f}"


def _or_zero(value: float) -> float:
    return value if math.isfinite(value) else 0.0
