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
    """Lay out AUC and gaps before and after, with the interval after, and say how large a gap remains.

    Pairs with groups that the repair sets aside come last, marked.
    """
    before, after = expected.before, expected.after
    percent = f"{100 * after.confidence:.4g} %"
    pairs = sorted(
        ((_mark(expected, gap), gap) for gap in after.gaps if gap.metric == expected.metric),
        key=lambda pair: (pair[0] != "", -abs(_or_zero(pair[1].value))),
    )
    rows = [("AUC", "", before.auc, after.auc, after.auc_interval, "", "")]
    for mark, gap in pairs[:_MOST_PAIRS]:
        was = before.gap(expected.metric, gap.pair)
        names = f"{gap.pair[0]} - {gap.pair[1]}"
        rows.append((f"{gap.metric} gap", names, was.value, gap.value, gap.interval, "+", mark))
    first, second = max(len(row[0]) for row in rows), max(len(row[1]) for row in rows)
    lines = [
        f"On new people ({expected.folds} folds, each adjusted by what was learnt from the others):",
        "",
        f"{'':<{first}}  {'':<{second}}  {'before':>8}  {'after':>8}  {percent} interval after",
    ]
    for name, pair, old, new, (low, high), sign, mark in rows:
        ends = f"[{low:{sign}.4f}, {high:{sign}.4f}]" if math.isfinite(low) else "not known"
        lines.append(f"{name:<{first}}  {pair:<{second}}  {old:>{sign}8.4f}  {new:>{sign}8.4f}  {ends}{mark}")
    if len(pairs) > _MOST_PAIRS:
        aside = [f"{group} ({expected.aside.words(group)})" for groups in expected.aside for group in groups]
        which = f"more pairs; not repaired: {', '.join(aside)}" if aside else "pairs of groups with narrower gaps"
        lines.append(f"... and {len(pairs) - _MOST_PAIRS} {which}")
    if math.isfinite(expected.likely_gap):
        whom = " between repaired groups" if any(expected.aside) else ""
        lines += ["", f"Among all such people a gap of about {expected.likely_gap:.2g}{whom} is to be expected."]
    return "\n".join([*lines, expected.caution] if expected.caution else lines)


def caution_text(gap: Gap, audit: Audit, visible: float, target: float) -> str:
    """Say which class of which group is too small for the target, and what gap, if any, the rows could show."""
    cells = [
        (masses[group], word, group)
        for group in gap.pair
        for word, masses in (("positives", audit.positives), ("negatives", audit.negatives))
    ]
    count, word, group = min(cells, key=lambda cell: cell[0])
    if not math.isfinite(visible):
        first, second = gap.pair
        return (
            f"With {count:,.10g} {word} in group {group!r} the rows cannot tell how uncertain the gap in {gap.metric} "
            f"between {first!r} and {second!r} is. Whether it is below {target:g} cannot be known from them."
        )
    return (
        f"With {count:,.10g} {word} in group {group!r} a gap in {gap.metric} below {visible:.2g} cannot be told from "
        f"0. Whether it is below {target:g} cannot be known from these rows; it takes about "
        f"{_rounded((visible / target) ** 2)} times as many."
    )


def _mark(expected: ExpectedDisparity, gap: Gap) -> str:
    """Say of which of the pair's groups the scores are not repaired."""
    said = [f"{group} {words}" for group in gap.pair if (words := expected.aside.words(group))]
    return f"  ({', '.join(said)})" if said else ""


def _rounded(number: float) -> str:
    """Two digits of a number, written out."""
    return f"{number:.2g}" if number < 10 else f"{float(f'{number:.2g}'):,.0f}"


def _or_zero(value: float) -> float:
    return value if math.isfinite(value) else 0.0
