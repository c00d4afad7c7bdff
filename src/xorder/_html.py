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

# Signs of a label that are shown, groups whose matrix is, and gaps of a metric that are listed; signs of a note.
_LONGEST, _MOST_GROUPS, _MOST_GAPS = 60, 12, 4

_LONGEST_NOTE = 600

_METRICS = {"xauc": "xAUC", "prf": "PRF", "parity": "parity"}

_WORDS, _NUMBERS = "text-align:left;overflow-wrap:anywhere", "text-align:right;white-space:nowrap"
_CELL = "padding:0.15em 0.8em;border-bottom:1px solid rgba(128,128,128,0.35);"


def label(value: Any, longest: int = _LONGEST) -> str:
    """Write any text in one line of bounded length, escaped."""
    return escape(_short(value, longest))


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
        looks = [_WORDS if place < words else _NUMBERS for place in range(len(cells))]
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
    percent = f"{100 * audit.confidence:.4g} %"
    low, high = audit.auc_interval
    caption = f"AUC {_number(audit.auc)}, {percent} interval {_number(low)} to {_number(high)}"
    names = [_short(group) for group in audit.groups]
    parts = []
    if len(names) <= _MOST_GROUPS:
        rows = [
            [name, *(_number(value) for value in row), _count(audit.positives[group]), _count(audit.negatives[group])]
            for name, group, row in zip(names, audit.groups, audit.xauc.values, strict=True)
        ]
        note = "Chance that a positive of the row's group outranks a negative of the column's (xAUC)."
        parts.append(html_table(["", *names, "positives", "negatives"], rows, caption=caption, notes=[note]))
        caption = ""
    gaps: dict[str, list[Any]] = {}
    for gap in audit.gaps:
        gaps.setdefault(gap.metric, []).append(gap)
    shown = [gap for found in gaps.values() for gap in sorted(found, key=_narrowness)[:_MOST_GAPS]]
    pairs = len(audit.gaps) // max(len(gaps), 1)
    more = f"The {_MOST_GAPS} widest gaps of {pairs} pairs, for each metric." if pairs > _MOST_GAPS else ""
    rows = [
        [
            _METRICS.get(gap.metric, gap.metric),
            _pair(gap.pair),
            _signed(gap.value),
            f"{_signed(gap.interval[0])} to {_signed(gap.interval[1])}" if math.isfinite(gap.stderr) else "not known",
            _pvalue(gap.pvalue),
        ]
        for gap in shown
    ]
    header = ["gap", "pair", "value", f"{percent} interval", "p (no gap)"]
    parts.append(html_table(header, rows, caption=caption, notes=[more, *reading.split("\n")], words=2))
    return "".join(parts)


def ordering_html(ordering: Any) -> str:
    """Show what an ordering achieves, and how far from the best it may be."""
    metric = _METRICS.get(ordering.metric, ordering.metric)
    rows = [
        ["AUC", _number(ordering.auc)],
        [f"{metric} gap, a − b", _signed(ordering.gap)],
        [f"objective: AUC − {ordering.tradeoff:g} · |gap|", _number(ordering.objective)],
        ["no ordering exceeds", _number(ordering.bound)],
        [
            "at most below the best",
            f"{ordering.optimality_gap:.2g}" if math.isfinite(ordering.optimality_gap) else "not known",
        ],
    ]
    sizes = f"{len(ordering.a):,} and {len(ordering.b):,} distinct scores"
    return html_table(["", ""], rows, caption=f"Ordering of two groups by solver {ordering.solver}", notes=[sizes])


def frontier_html(curve: Any) -> str:
    """Show a trade-off curve as a small drawing, with its highest point and what is possible without a gap."""
    metric = _METRICS.get(curve.metric.name, curve.metric.name)
    top = int(np.argmax(curve.auc))
    rows = [["highest AUC", _signed(float(curve.gap[top])), _number(float(curve.auc[top]))]]
    rising = np.argsort(curve.gap, kind="stable")
    if curve.gap.min() <= 0 <= curve.gap.max():
        without = float(np.interp(0.0, curve.gap[rising], curve.auc[rising]))
        rows.append(["no gap: at most", _signed(0.0), _number(without)])
    caption = f"Trade-off between AUC and the {metric} gap (a − b), {curve.auc.size:,} corners"
    return html_table(["", "gap", "AUC"], rows, caption=caption) + _drawn(curve.gap[rising], curve.auc[rising])


def repair_html(repair: Any) -> str:
    """Show what a fitted repair did on the sample it was learnt from; nothing before it is fitted."""
    if not hasattr(repair, "maps_"):
        return ""
    found = repair.to_dict()
    metric = _METRICS.get(found["metric"], found["metric"])
    rows = [
        ["AUC", _number(found["auc_before"]), _number(found["auc"])],
        [
            f"{metric} gap   {_pair(found['pair'])}",
            _signed(found["gap_before"]),
            _signed(found["gap"]),
        ],
    ]
    if len(found["moved"]) > 1:
        rows.append(["widest gap of any two groups", "", _number(found["worst_gap"])])
    headings = ["on the sample it was fitted to", "before", "after"]
    return html_table(headings, rows, caption="Repair", notes=[repair.describe().split("\n")[0]])


def _drawn(x: Any, y: Any) -> str:
    """Draw a curve of rising x into a box of 300 x 130, with a line where x is 0."""
    kept = np.union1d(np.linspace(0, x.size - 1, min(x.size, 200)).astype(int), [int(np.argmax(y))])
    width, height = float(np.ptp(x)) or 1.0, float(np.ptp(y)) or 1.0
    places = [
        (10 + 280 * (float(a) - float(x[0])) / width, 120 - 110 * (float(b) - float(y.min())) / height)
        for a, b in zip(x[kept], y[kept], strict=True)
    ]
    path = " ".join(f"{a:.1f},{b:.1f}" for a, b in places)
    zero = 10 + 280 * (0.0 - float(x[0])) / width
    axis = f'<line x1="{zero:.1f}" x2="{zero:.1f}" y1="5" y2="125" stroke="currentColor" opacity="0.4"/>'
    return (
        '<svg width="300" height="130" viewBox="0 0 300 130" role="img" aria-label="AUC against the gap">'
        f"{axis if 10 <= zero <= 290 else ''}"
        f'<polyline points="{path}" fill="none" stroke="currentColor" stroke-width="1.5"/></svg>'
    )


def _short(value: Any, longest: int = 28) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _pair(pair: Sequence[Any]) -> str:
    return " − ".join(_short(group) for group in pair)


def _narrowness(gap: Any) -> float:
    """What sorts the widest gap first and unknown ones last."""
    return -abs(gap.value) if math.isfinite(gap.value) else 1.0


def _number(value: float | None) -> str:
    return "n/a" if value is None or not math.isfinite(value) else f"{value:.4f}"


def _signed(value: float | None) -> str:
    """Four decimals with a sign, and no minus before nothing."""
    return "n/a" if value is None or not math.isfinite(value) else f"{round(value, 4) + 0.0:+.4f}"


def _count(value: float) -> str:
    return f"{value:,.10g}"


def _pvalue(value: float) -> str:
    if not math.isfinite(value):
        return "not known"
    return "< 0.0001" if value < 0.0001 else f"{value:.4f}"
