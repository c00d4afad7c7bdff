"""What notebooks show of a result: small tables, and one curve, as HTML that holds no unescaped text of the user's.

They are functions of any object that has the attributes read here, so that results of all layers can use them. Colours
are the page's own, so that they are read in dark mode, too.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import numpy as np

from xorder._metric import METRICS
from xorder._present import (
    UNKNOWN,
    count,
    gap_title,
    group_names,
    interval_text,
    level,
    number,
    pvalue_text,
    shortened,
    signed,
)

# Characters of a cell that are shown, and of a note.
_LONGEST, _LONGEST_NOTE = 60, 600

# Groups whose matrix is shown, and gaps of a metric that are listed.
_MOST_GROUPS, _MOST_GAPS = 12, 4

_WORDS, _NUMBERS = "text-align:left;overflow-wrap:anywhere", "text-align:right;white-space:nowrap"
_CELL = "padding:0.15em 0.8em;border-bottom:1px solid rgba(128,128,128,0.35);"


def label(value: Any, longest: int = _LONGEST) -> str:
    """Write any text in one line of bounded length, escaped."""
    return escape(shortened(value, longest))


def html_table(
    header: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    caption: str = "",
    notes: Iterable[str] = (),
    words: int = 1,
) -> str:
    """Lay out a table, its first ``words`` columns to the left; cells are plain text, escaped and shortened here.

    >>> html_table(["a"], [["<b>"]]).count("&lt;b&gt;")
    1
    """

    def line(tag: str, cells: Sequence[str]) -> str:
        looks = [_WORDS if column < words else _NUMBERS for column in range(len(cells))]
        return "".join(
            f'<{tag} style="{_CELL}{look}">{label(cell)}</{tag}>' for look, cell in zip(looks, cells, strict=True)
        )

    head = f"<thead><tr>{line('th', header)}</tr></thead>" if any(header) else ""
    body = "".join(f"<tr>{line('td', row)}</tr>" for row in rows)
    above = f"<b>{label(caption, _LONGEST_NOTE)}</b>" if caption else ""
    below = "".join(f'<p style="margin:0.3em 0">{label(note, _LONGEST_NOTE)}</p>' for note in notes if note)
    return (
        f'<div style="overflow-x:auto">{above}<table style="border-collapse:collapse;margin:0.3em 0">'
        f"{head}<tbody>{body}</tbody></table>{below}</div>"
    )


def audit_html(audit: Any, reading: str = "") -> str:
    """Show an audit: AUC, the matrix (of up to twelve groups), the widest gaps of each metric, and what they mean."""
    percent = level(audit.confidence)
    caption = f"AUC {number(audit.auc)}, {percent} interval {interval_text(audit.auc_interval, sign='')}"
    names = dict(zip(audit.groups, group_names(audit.groups), strict=True))
    parts = []
    if len(names) <= _MOST_GROUPS:
        rows = [
            [names[group], *map(number, row), count(audit.positives[group]), count(audit.negatives[group])]
            for group, row in zip(audit.groups, audit.xauc.values, strict=True)
        ]
        note = "Chance that a positive of the row's group outranks a negative of the column's (xAUC)."
        parts.append(html_table(["", *names.values(), "positives", "negatives"], rows, caption=caption, notes=[note]))
        caption = ""
    by_metric = {metric: [gap for gap in audit.gaps if gap.metric == metric] for metric in METRICS}
    pairs = max(map(len, by_metric.values()))
    more = f"The {_MOST_GAPS} widest gaps of {pairs} pairs, for each metric." if pairs > _MOST_GAPS else ""
    rows = [
        [
            gap_title(metric),
            " − ".join(names[group] for group in gap.pair),
            signed(gap.value),
            interval_text(gap.interval),
            pvalue_text(gap.pvalue),
        ]
        for metric, gaps in by_metric.items()
        for gap in sorted(gaps, key=_narrowness)[:_MOST_GAPS]
    ]
    header = ["gap", "pair", "value", f"{percent} interval", "p (no gap)"]
    parts.append(html_table(header, rows, caption=caption, notes=[more, *reading.split("\n")], words=2))
    return "".join(parts)


def ordering_html(ordering: Any) -> str:
    """Show what an ordering achieves, and how far from the best it may be."""
    rows = [
        ["AUC", number(ordering.auc)],
        [f"{gap_title(ordering.metric)}, a − b", signed(ordering.gap)],
        [f"objective: AUC − {ordering.tradeoff:g} · |gap|", number(ordering.objective)],
        ["no ordering exceeds", number(ordering.bound)],
        [
            "at most below the best",
            f"{ordering.optimality_gap:.2g}" if math.isfinite(ordering.optimality_gap) else UNKNOWN,
        ],
    ]
    sizes = f"{len(ordering.a):,} and {len(ordering.b):,} distinct scores"
    return html_table(["", ""], rows, caption=f"Ordering of two groups by solver {ordering.solver}", notes=[sizes])


def frontier_html(curve: Any) -> str:
    """Show a trade-off curve as a small drawing, with its highest point and what is possible without a gap."""
    top = int(np.argmax(curve.auc))
    rows = [["highest AUC", signed(float(curve.gap[top])), number(float(curve.auc[top]))]]
    rising = np.argsort(curve.gap, kind="stable")
    if curve.gap.min() <= 0 <= curve.gap.max():
        without = float(np.interp(0.0, curve.gap[rising], curve.auc[rising]))
        rows.append(["no gap: at most", signed(0.0), number(without)])
    caption = f"Trade-off between AUC and the {gap_title(curve.metric.name)} (a − b), {curve.auc.size:,} corners"
    return html_table(["", "gap", "AUC"], rows, caption=caption) + _drawn(curve.gap[rising], curve.auc[rising])


def repair_html(repair: Any) -> str:
    """Show what a fitted repair did on the sample it was fitted to; nothing before it is fitted."""
    if not hasattr(repair, "maps_"):
        return ""
    found = repair.to_dict()
    pair = " − ".join(group_names(found["pair"]))
    rows = [
        ["AUC", number(found["auc_before"]), number(found["auc"])],
        [f"{gap_title(found['metric'])}   {pair}", signed(found["gap_before"]), signed(found["gap"])],
    ]
    if len(found["moved"]) > 1:
        rows.append(["widest gap of any two groups", "", number(found["worst_gap"])])
    headings = ["on the sample it was fitted to", "before", "after"]
    return html_table(headings, rows, caption="Repair", notes=[repair.describe().split("\n")[0]])


def _drawn(x: Any, y: Any) -> str:
    """Draw a curve of rising x, with a line where x is 0: in its own units, which the page stretches to a box."""
    kept = np.union1d(np.linspace(0, x.size - 1, min(x.size, 200)).astype(int), [int(np.argmax(y))])
    path = " ".join(f"{gap:.6g},{-auc:.6g}" for gap, auc in zip(x[kept], y[kept], strict=True))
    # Some room on all sides; of a single point there is nothing to stretch.
    width, height = float(np.ptp(x)) or 1.0, float(np.ptp(y)) or 1.0
    left, top = float(x[0]) - 0.03 * width, -float(y.max()) - 0.08 * height
    line = 'fill="none" stroke="currentColor" vector-effect="non-scaling-stroke"'
    return (
        '<svg width="300" height="130" role="img" aria-label="AUC against the gap" preserveAspectRatio="none" '
        f'viewBox="{left:.6g} {top:.6g} {1.06 * width:.6g} {1.16 * height:.6g}">'
        f'<line x1="0" x2="0" y1="{top:.6g}" y2="{top + 1.16 * height:.6g}" opacity="0.4" {line}/>'
        f'<polyline points="{path}" stroke-width="1.5" {line}/></svg>'
    )


def _narrowness(gap: Any) -> float:
    """What sorts the widest gap first and unknown ones last."""
    return -abs(gap.value) if math.isfinite(gap.value) else 1.0
