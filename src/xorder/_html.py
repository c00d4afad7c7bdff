"""What notebooks show of a result: one small table, and one curve, as HTML that holds no unescaped text of the user's.

They are functions of any object that has the attributes read here, so that results of all layers can use them. Colours
are the page's own, so that they are read in dark mode, too.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from xorder._present import UNKNOWN, count, gap_title, group_names, interval_text, level, number, shortened, signed

# Characters that are shown: of a name, of a cell, which may name two groups, and of a note.
_LONGEST, _LONGEST_CELL, _LONGEST_NOTE = 140, 300, 900

# Groups, or pairs of them, that are listed.
_MOST_ROWS = 20

# A column of words is never squeezed to single letters: a table that is too wide for its cell can be scrolled.
_WORDS = "text-align:left;min-width:9em;max-width:26em;white-space:normal;overflow-wrap:break-word"
_NUMBERS, _LEFTMOST = (f"text-align:{side};white-space:nowrap" for side in ("right", "left"))
_CELL = "padding:0.15em 0.5em;vertical-align:top;border-bottom:1px solid rgba(128,128,128,0.35);"
_TABLE = "border-collapse:collapse;table-layout:auto;margin:0.3em 0"

# Size of a drawing, and the room for what is written at its left and below.
_WIDTH, _HEIGHT, _MARGIN, _BELOW = 380, 220, 52, 40


def label(value: Any, longest: int = _LONGEST_CELL) -> str:
    """Write any text in one line of bounded length, escaped."""
    return escape(shortened(value, longest))


def html_table(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    caption: str = "",
    notes: Iterable[str] = (),
    words: Iterable[int] = (0,),
) -> str:
    """Lay out a table, columns of ``words`` to the left; cells are plain text, escaped and shortened here.

    Of many rows the first are shown, with the number of the others.

    >>> html_table(["a"], [["<b>"]]).count("&lt;b&gt;")
    1
    """
    looks = [_WORDS if column in {*words} else _NUMBERS if column else _LEFTMOST for column in range(len(header))]

    def line(tag: str, cells: Sequence[str]) -> str:
        return "".join(
            f'<{tag} style="{_CELL}{look}">{label(cell)}</{tag}>' for look, cell in zip(looks, cells, strict=True)
        )

    head = f"<thead><tr>{line('th', header)}</tr></thead>" if any(header) else ""
    body = "".join(f"<tr>{line('td', row)}</tr>" for row in rows[:_MOST_ROWS])
    above = f"<b>{label(caption, _LONGEST_NOTE)}</b>" if caption else ""
    below = html_notes([f"… and {len(rows) - _MOST_ROWS} more" if len(rows) > _MOST_ROWS else "", *notes])
    return (
        f'<div style="overflow-x:auto">{above}<table style="{_TABLE}">{head}<tbody>{body}</tbody></table>{below}</div>'
    )


def html_notes(notes: Iterable[str]) -> str:
    """Write sentences below a table, each a paragraph; those that are empty are left out."""
    return "".join(f'<p style="margin:0.3em 0">{label(note, _LONGEST_NOTE)}</p>' for note in notes if note)


def audit_html(audit: Any, notes: Iterable[str], readings: Mapping[Any, str]) -> str:
    """Show an audit: AUC, and each group with its own AUC and how far it is ranked from the largest; then notes."""
    percent = level(audit.confidence)
    caption = f"AUC {number(audit.auc)}, {percent} interval {interval_text(audit.auc_interval, sign='')}"
    names = dict(zip(audit.groups, group_names(audit.groups, _LONGEST), strict=True))
    largest = max(names, key=lambda group: audit.positives[group] + audit.negatives[group])
    rows = []
    for group, name in names.items():
        own = [count(audit.positives[group]), count(audit.negatives[group]), number(audit.xauc[group, group])]
        compared = ["", "", ""]
        if group != largest:
            gap = audit.gap("xauc", (group, largest))
            compared = [signed(gap.value), interval_text(gap.interval), readings.get(gap.pair, "")]
        rows.append([name, *own, *compared])
    if len(rows) > _MOST_ROWS:
        # The widest gap first and unknown ones last.
        rows.sort(key=lambda row: -abs(float(row[4])) if row[4][:1] in ("+", "-") else 1.0)
    header = ["group", "positives", "negatives", "AUC", "xAUC gap", f"{percent} interval", "reading"]
    against = f"xAUC gap: each group less {names[largest]}, the largest." if len(names) > 1 else ""
    return html_table(header, rows, caption=caption, notes=[against, *notes])


def ordering_html(ordering: Any) -> str:
    """Show what an ordering achieves, and how far from the best it may be."""
    below = ordering.optimality_gap
    rows = [
        ["AUC", number(ordering.auc)],
        [f"{gap_title(ordering.metric)}, a − b", signed(ordering.gap)],
        [f"objective: AUC − {ordering.tradeoff:g} · |gap|", number(ordering.objective)],
        ["no ordering exceeds", number(ordering.bound)],
        ["at most below the best", f"{below:.2g}" if math.isfinite(below) else UNKNOWN],
    ]
    sizes = f"{len(ordering.a):,} and {len(ordering.b):,} distinct scores"
    return html_table(["", ""], rows, caption=f"Ordering of two groups by solver {ordering.solver}", notes=[sizes])


def frontier_html(curve: Any) -> str:
    """Show a trade-off curve as a small drawing, with its highest point and what is possible without a gap."""
    top, rising = int(np.argmax(curve.auc)), np.argsort(curve.gap, kind="stable")
    points = [("highest AUC", float(curve.gap[top]), float(curve.auc[top]))]
    if curve.gap.min() <= 0 <= curve.gap.max():
        points.append(("no gap: at most", 0.0, float(np.interp(0.0, curve.gap[rising], curve.auc[rising]))))
    rows = [[name, signed(gap), number(auc)] for name, gap, auc in points]
    title = f"{gap_title(curve.metric.name)}, a − b"
    caption = f"Trade-off between AUC and the {title}: {curve.auc.size:,} corners"
    drawing = _drawn(curve.gap[rising], curve.auc[rising], [point[1:] for point in points], title)
    return html_table(["", "gap", "AUC"], rows, caption=caption) + drawing


def repair_html(repair: Any) -> str:
    """Show what a fitted repair did on the sample it was fitted to; nothing before it is fitted."""
    if not hasattr(repair, "fitted_"):
        return ""
    found = repair.to_dict()
    pair = " − ".join(group_names(found["pair"], _LONGEST))
    rows = [
        ["AUC", number(found["auc_before"]), number(found["auc"])],
        [f"{gap_title(found['metric'])}   {pair}", signed(found["gap_before"]), signed(found["gap"])],
    ]
    if len(found["moved"]) > 1:
        rows.append(["widest gap of any two groups", "", number(found["worst_gap"])])
    headings = ["on the sample it was fitted to", "before", "after"]
    return html_table(headings, rows, caption="Repair") + repair_notes(repair)


def repair_notes(repair: Any) -> str:
    """Say whose scores a repair adjusts, and whose it leaves alone."""
    return html_notes(repair.fitted_.headline().split("\n") if hasattr(repair, "fitted_") else ())


class NumbersBelowDiagram:
    """An estimator whose numbers, once it is fitted, stand below scikit-learn's diagram of it."""

    def _numbers_html(self) -> str:
        return repair_html(self)

    def _repr_html_inner(self) -> str:
        return str(super()._repr_html_inner()) + self._numbers_html()  # type: ignore[misc]

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        shown = dict(super()._repr_mimebundle_(**kwargs))  # type: ignore[misc]
        if "text/html" in shown:
            shown["text/html"] += self._numbers_html()
        return shown


def _drawn(x: Any, y: Any, points: Iterable[Sequence[float]], title: str) -> str:
    """Draw a curve of rising x with points on it, its axes, and a line where x is 0."""
    kept = np.union1d(np.linspace(0, x.size - 1, min(x.size, 200)).astype(int), [int(np.argmax(y))])
    # Some room around; of a single point there is nothing to stretch.
    rooms = [0.05 * (float(np.ptp(each)) or 1.0) for each in (x, y)]
    left, bottom = (float(each.min()) - room for each, room in zip((x, y), rooms, strict=True))
    right, top = (float(each.max()) + room for each, room in zip((x, y), rooms, strict=True))
    base, middle = _HEIGHT - _BELOW, 'font-size="11" fill="currentColor" text-anchor="middle"'

    def place(gap: float, auc: float) -> tuple[float, float]:
        across = _MARGIN + (gap - left) / (right - left) * (_WIDTH - _MARGIN - 4)
        return round(across, 1), round(base - (auc - bottom) / (top - bottom) * (base - 4), 1)

    line = 'fill="none" stroke="currentColor"'
    parts = [f'<path d="M{_MARGIN} 4V{base}H{_WIDTH}" opacity="0.5" {line}/>']
    for value in _ticks(left, right):
        at, _ = place(value, bottom)
        parts.append(f'<path d="M{at} {base if value else 4}V{base + 4}" opacity="0.5" {line}/>')
        parts.append(f'<text x="{at}" y="{base + 15}" {middle}>{f"{value:+.4g}" if value else 0}</text>')
    heights = [(value, place(left, value)[1] + 4) for value in _ticks(bottom, top)]
    parts += [f'<text x="{_MARGIN - 20}" y="{at:.1f}" {middle}>{value:.4g}</text>' for value, at in heights]
    path = " ".join("{},{}".format(*place(*each)) for each in zip(x[kept].tolist(), y[kept].tolist(), strict=True))
    parts.append(f'<polyline points="{path}" stroke-width="1.5" {line}/>')
    parts += ['<circle cx="{}" cy="{}" r="4" fill="currentColor"/>'.format(*place(*each)) for each in points]
    parts.append(f'<text x="{(_MARGIN + _WIDTH) / 2}" y="{_HEIGHT - 6}" {middle}>{escape(title)}</text>')
    parts.append(f'<text x="12" y="{base / 2}" transform="rotate(-90 12 {base / 2})" {middle}>AUC</text>')
    look = f'width="{_WIDTH}" height="{_HEIGHT}" role="img" aria-label="AUC against the gap"'
    return f"<svg {look}>{''.join(parts)}</svg>"


def _ticks(low: float, high: float) -> list[float]:
    """Return three to six round numbers between two others."""
    step = next(
        step
        for power in range(math.floor(math.log10(high - low)), -320, -1)
        for step in (5 * 10.0**power, 2 * 10.0**power, 10.0**power)
        if (high - low) / step >= 3
    )
    return [round(place * step, 12) + 0.0 for place in range(math.ceil(low / step), math.floor(high / step) + 1)]
